# SPDX-License-Identifier: Apache-2.0
"""Which web addresses the page answers: its own and named ones, so that no other web site reaches it through a visitor's browser."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import parse_qs, urlsplit

from humanoid_dynamics.errors import HumanoidDynamicsError

DEFAULT_PORTS = {"http": 80, "https": 443}
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
WILDCARDS = ("", "0.0.0.0", "::")  # noqa: S104 - compared, not bound
SAME_SITE = ("same-origin", "none")
ORIGIN = re.compile(r"(https?)://(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?")
FOREIGN_SOURCES = (
    "websocket",
    "playbackPath",
)  # query parameters with which viser's client connects to, or loads from, another server
EXPECTED = "such as http://robot.local:8080 or https://robot.example"


class Headers(Protocol):
    """Headers of a request; one name can come several times."""

    def get_all(self, key: str) -> Sequence[str]:
        """Return all values of a header."""


@dataclass(frozen=True)
class Origin:
    """Origin of a web page [RFC 6454].

    Attributes:
        scheme: http or https.
        host: Name or address, in lower case; IPv6 in brackets.
        port: Port.
    """

    scheme: str
    host: str
    port: int

    @property
    def hosts(self) -> tuple[str, ...]:
        """``Host`` headers of requests to it; a default port can be left out."""
        full = f"{self.host}:{self.port}"
        return (full, self.host) if self.port == DEFAULT_PORTS[self.scheme] else (full,)

    def __str__(self) -> str:
        """Return it as browsers send it."""
        return f"{self.scheme}://{self.hosts[-1]}"


def parse_origin(text: str) -> Origin:
    """Return an origin from its text.

    Args:
        text: Scheme, host and, unless it is the default, port.

    Raises:
        HumanoidDynamicsError: If it is no origin; ``*`` and ``null`` are none.
    """
    match = ORIGIN.fullmatch(text.lower())
    port = int(match[3] or DEFAULT_PORTS[match[1]]) if match else 0
    if match is None or not 0 < port < 2**16:
        raise HumanoidDynamicsError(
            f"origin: received {text!r}, expected scheme, host and port, {EXPECTED}"
        )
    return Origin(match[1], match[2], port)


class OriginCheck:
    """Accepts requests whose ``Host`` and ``Origin`` are the page's own or named.

    A browser sends both truthfully, whatever site it shows. A program that is no browser can forge them: the token is for that.

    Attributes:
        named: Origins named by the user.
    """

    def __init__(self, host: str, named: Iterable[str] = ()) -> None:
        """Prepare.

        Args:
            host: Address the page listens on.
            named: Other origins under which the page is reached, such as that of a proxy; empty ones are ignored.

        Raises:
            HumanoidDynamicsError: If a named one is no origin.
        """
        self.named = tuple(parse_origin(text) for text in named if text)
        self._bound = () if host in WILDCARDS else (_bracket(host.lower()),)

    def refuse(self, path: str, headers: Headers, local: tuple[str, int]) -> str:
        """Return why a request is refused; empty where it is accepted.

        Args:
            path: Path and query.
            headers: Headers.
            local: Address and port at which the request arrived.
        """
        own = {
            Origin("http", name, local[1]) for name in (*LOOPBACK, *self._bound, _bracket(local[0]))
        }
        accepted = own | set(self.named)
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        if len(hosts) != 1 or hosts[0].lower() not in {
            host for origin in accepted for host in origin.hosts
        }:
            return f"the page has no address {', '.join(hosts) or 'without a Host header'}{_advise(hosts)}"
        if len(origins) > 1 or (
            origins and origins[0].lower() not in {str(origin) for origin in accepted}
        ):
            return f"pages of {', '.join(origins) or 'no origin'} cannot use this page{_advise(origins)}"
        if not origins and not _is_own_request(headers):
            return "another web site cannot load parts of this page"
        if set(FOREIGN_SOURCES) & set(parse_qs(urlsplit(path).query, keep_blank_values=True)):
            return f"the page takes no {' or '.join(FOREIGN_SOURCES)} from its address"
        return ""


def _is_own_request(headers: Headers) -> bool:
    """Return whether a request without ``Origin`` comes from the page itself, the address bar, a link, or no browser."""
    sites, modes, uses = (headers.get_all(f"Sec-Fetch-{name}") for name in ("Site", "Mode", "Dest"))
    linked = list(modes) == ["navigate"] and list(uses) == ["document"]
    return linked or all(site in SAME_SITE for site in sites)


def _bracket(host: str) -> str:
    """Return an address as it stands in a URL; an IPv4 address in IPv6 is IPv4."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address):
        return str(address.ipv4_mapped or f"[{address}]")
    return str(address)


def _advise(received: Sequence[str]) -> str:
    """Return which option accepts a host or origin, where one does."""
    try:
        origin = (
            parse_origin(received[0] if "://" in received[0] else f"http://{received[0]}")
            if len(received) == 1
            else None
        )
    except HumanoidDynamicsError:
        origin = None
    return (
        f"; if it is yours, name it: --origin {origin} (parameter origins of the node viewer)"
        if origin
        else ""
    )
