# SPDX-License-Identifier: Apache-2.0
"""Who may touch: everyone on this machine; over a network only who knows the token, while all may watch."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from collections.abc import Callable, Iterable
from time import monotonic

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.viewer.origins import Origin

SHORTEST_TOKEN = 16  # characters
MOST_WRONG, LOCKOUT = (
    5,
    60.0,
)  # wrong tokens within so many seconds; as long no token of that network is accepted
MOST_NETWORKS = 10_000  # networks whose wrong tokens are remembered


class Access:
    """Keeps the token and who has shown it.

    Attributes:
        token: What opens the controls; empty where none is needed.
    """

    def __init__(
        self,
        host: str,
        token: str = "",
        origins: Iterable[Origin] = (),
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Decide whether a token is needed.

        Args:
            host: Address the page listens on.
            token: The token; a fresh one where left out and one is needed.
            origins: Other origins under which the page is reached.
            clock: Time [s].

        Raises:
            HumanoidDynamicsError: If the token is too short.
        """
        if token and len(token.strip()) < SHORTEST_TOKEN:
            raise HumanoidDynamicsError(
                f"token: received {len(token.strip())} characters, expected {SHORTEST_TOKEN} or more"
            )
        local = is_local(host) and all(is_local(origin.host.strip("[]")) for origin in origins)
        self.token = token or ("" if local else secrets.token_urlsafe(SHORTEST_TOKEN))
        self._trusted: set[int] = set()
        self._wrong: dict[str, list[float]] = {}
        self._clock = clock

    @property
    def open(self) -> bool:
        """Whether everyone may touch."""
        return not self.token

    def show(self, client: int, token: str, address: str = "") -> bool:
        """Take a token from a visitor and return whether it is right.

        Args:
            client: The visitor.
            token: The token.
            address: Network address of the visitor; after too many wrong tokens none is accepted from there for a while.
        """
        if self.lockout(address):
            return False
        right = hmac.compare_digest(
            *(text.encode("utf-8", "surrogatepass") for text in (token, self.token))
        )
        if right:
            self._trusted.add(client)
        else:
            self._count_wrong(find_network(address))
        return right

    def lockout(self, address: str) -> float:
        """Return how long no token is accepted from an address [s]."""
        times = self._wrong.get(find_network(address), [])
        return max(0.0, times[-1] + LOCKOUT - self._clock()) if len(times) >= MOST_WRONG else 0.0

    def allows(self, client: int | None) -> bool:
        """Return whether a visitor may touch; None is this program itself."""
        return self.open or client is None or client in self._trusted

    def forget(self, client: int) -> None:
        """Forget a visitor who has gone."""
        self._trusted.discard(client)

    def _count_wrong(self, network: str) -> None:
        now = self._clock()
        times = [t for t in self._wrong.pop(network, []) if t > now - LOCKOUT]
        if len(self._wrong) >= MOST_NETWORKS:
            self._wrong.pop(next(iter(self._wrong)))
        self._wrong[network] = [*times, now]


def find_network(address: str) -> str:
    """Return what wrong tokens are counted by: an IPv4 address, or the network of 64 bits of an IPv6 address."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(parsed.ipv4_mapped or ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)


def is_local(host: str) -> bool:
    """Return whether an address can be reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_host(host: str) -> None:
    """Tell whether this machine can listen on an address; a server that cannot would wait for itself without end.

    Args:
        host: Name or address.

    Raises:
        HumanoidDynamicsError: If it cannot.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.bind(address)
    except (OSError, UnicodeError) as cause:
        raise HumanoidDynamicsError(
            f"host: received {host!r}, expected a name or address of this machine, such as 127.0.0.1"
        ) from cause
