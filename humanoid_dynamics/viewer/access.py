"""Who may touch: everyone on this machine; over a network only who knows the token, while all may watch."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket

from humanoid_dynamics.errors import HumanoidDynamicsError


class Access:
    """Keeps the token and who has shown it.

    Attributes:
        token: What opens the controls; empty where none is needed.
    """

    def __init__(self, host: str, token: str = "") -> None:
        """Decide whether a token is needed.

        Args:
            host: Address the page listens on.
            token: The token; a fresh one where left out and one is needed.
        """
        self.token = token or ("" if is_local(host) else secrets.token_urlsafe(9))
        self._trusted: set[int] = set()

    @property
    def open(self) -> bool:
        """Whether everyone may touch."""
        return not self.token

    def show(self, client: int, token: str) -> bool:
        """Take a token from a visitor and return whether it is right."""
        right = hmac.compare_digest(token.encode(), self.token.encode())
        if right:
            self._trusted.add(client)
        return right

    def allows(self, client: int | None) -> bool:
        """Return whether a visitor may touch; None is this program itself."""
        return self.open or client is None or client in self._trusted

    def forget(self, client: int) -> None:
        """Forget a visitor who has gone."""
        self._trusted.discard(client)


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
        raise HumanoidDynamicsError(f"host: received {host!r}, expected a name or address of this machine, such as 127.0.0.1") from cause
