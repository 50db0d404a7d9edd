# SPDX-License-Identifier: Apache-2.0
"""Which web sites and host names may use the page: its own and those that were named."""

import socket
from collections.abc import Iterator
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import pytest

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.viewer.origins import OriginCheck, parse_origin

viser = pytest.importorskip("viser", reason="the page's extra is not installed")
client = pytest.importorskip("websockets.sync.client", reason="comes with viser")
Headers = pytest.importorskip("websockets.datastructures", reason="comes with viser").Headers
ConnectionClosed = pytest.importorskip(
    "websockets.exceptions", reason="comes with viser"
).ConnectionClosed

from visitors import Diary, shown

from humanoid_dynamics.viewer import server
from humanoid_dynamics.viewer.page import Page

NAMED = ("https://robot.example", "http://bench.local:9000")
Served = tuple[Diary, Page, int]


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    session = Diary()
    with shown(session, rate=5.0, origins=NAMED) as page:
        yield session, page, int(page.address.rpartition(":")[2])


def get(port: int, *headers: str, path: str = "/") -> tuple[int, dict[str, str]]:
    """Send a request with these headers alone; return status and headers of the answer."""
    with closing(socket.create_connection(("127.0.0.1", port), timeout=10.0)) as line:
        line.sendall("\r\n".join([f"GET {path} HTTP/1.1", *headers, "", ""]).encode())
        received = b""
        while b"\r\n\r\n" not in received and (more := line.recv(65536)):
            received += more
    status, *lines = received.partition(b"\r\n\r\n")[0].decode().split("\r\n")
    return int(status.split()[1]), {
        name.lower(): value for name, _, value in (text.partition(": ") for text in lines)
    }


HANDSHAKE = (
    *(
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ),
    f"Sec-WebSocket-Protocol: viser-v{viser.__version__}",
)
OWN_HOSTS = [
    "127.0.0.1:{port}",
    "localhost:{port}",
    "LocalHost:{port}",
    "[::1]:{port}",
    "robot.example",
    "robot.example:443",
    "bench.local:9000",
]
FOREIGN_HOSTS = [
    *(
        "evil.example:{port}",
        "evil.example",
        "127.0.0.1",
        "127.0.0.1:80",
        "127.0.0.1:{port}0",
        "localhost.:{port}",
        "127.0.0.1.:{port}",
    ),
    *(
        "127.0.0.1.nip.io:{port}",
        "localhost.evil.example:{port}",
        "evil.localhost:{port}",
        "0.0.0.0:{port}",
        "2130706433:{port}",
    ),
    *(
        "[::ffff:127.0.0.1]:{port}",
        "192.0.2.1:{port}",
        "user@localhost:{port}",
        "localhost:{port},evil.example",
        "robot.example:{port}",
    ),
    *("bench.local", "", "localhost:{port}/", "::1:{port}"),
]
OWN_ORIGINS = [
    "http://127.0.0.1:{port}",
    "http://localhost:{port}",
    "http://[::1]:{port}",
    "HTTP://LOCALHOST:{port}",
    *NAMED,
]
FOREIGN_ORIGINS = [
    *(
        "null",
        "",
        "http://evil.example",
        "http://evil.example:{port}",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1",
        "http://127.0.0.1:80",
    ),
    *(
        "http://localhost:{port}.evil.example",
        "http://localhost.:{port}",
        "http://localhost",
        "http://localhost:1",
        "file://",
        "*",
    ),
    *(
        "http://robot.example",
        "https://robot.example.",
        "https://robot.example:8443",
        "https://evil.example/https://robot.example",
    ),
    *(
        "http://bench.local",
        "chrome-extension://abcdefghijklmnop",
        "http://127.0.0.1:{port}/",
        "http://user@127.0.0.1:{port}",
    ),
]


@pytest.mark.parametrize("upgrade", [(), HANDSHAKE], ids=["page", "socket"])
class TestRequests:
    """Every request is checked, that for the page as well as that for its socket."""

    @pytest.mark.parametrize("host", OWN_HOSTS)
    def test_its_own_hosts_are_answered(
        self, served: Served, host: str, upgrade: tuple[str, ...]
    ) -> None:
        assert get(served[2], f"Host: {host.format(port=served[2])}", *upgrade)[0] == (
            101 if upgrade else 200
        )

    @pytest.mark.parametrize("host", FOREIGN_HOSTS)
    def test_other_hosts_are_refused(
        self, served: Served, host: str, upgrade: tuple[str, ...]
    ) -> None:
        assert get(served[2], f"Host: {host.format(port=served[2])}", *upgrade)[0] == 403

    @pytest.mark.parametrize("origin", OWN_ORIGINS)
    def test_its_own_origins_are_answered(
        self, served: Served, origin: str, upgrade: tuple[str, ...]
    ) -> None:
        lines = (
            f"Host: 127.0.0.1:{served[2]}",
            f"Origin: {origin.format(port=served[2])}",
            "Sec-Fetch-Site: cross-site",
        )
        assert get(served[2], *lines, *upgrade)[0] == (101 if upgrade else 200)

    @pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
    def test_other_origins_are_refused(
        self, served: Served, origin: str, upgrade: tuple[str, ...]
    ) -> None:
        assert (
            get(
                served[2],
                f"Host: 127.0.0.1:{served[2]}",
                f"Origin: {origin.format(port=served[2])}",
                *upgrade,
            )[0]
            == 403
        )

    def test_a_host_or_origin_that_comes_twice_or_not_at_all_is_refused(
        self, served: Served, upgrade: tuple[str, ...]
    ) -> None:
        own = f"Host: 127.0.0.1:{served[2]}"
        assert get(served[2], "Accept: */*", *upgrade)[0] == 403
        assert get(served[2], own, own, *upgrade)[0] == 403
        assert get(served[2], own, "Host: evil.example", *upgrade)[0] == 403
        assert (
            get(
                served[2],
                own,
                f"Origin: http://127.0.0.1:{served[2]}",
                "Origin: http://evil.example",
                *upgrade,
            )[0]
            == 403
        )

    @pytest.mark.parametrize("site", ["cross-site", "same-site"])
    def test_no_other_site_loads_parts_of_it(
        self, served: Served, site: str, upgrade: tuple[str, ...]
    ) -> None:
        own, fetched = f"Host: 127.0.0.1:{served[2]}", f"Sec-Fetch-Site: {site}"
        assert (
            get(
                served[2],
                own,
                fetched,
                "Sec-Fetch-Mode: no-cors",
                "Sec-Fetch-Dest: script",
                *upgrade,
            )[0]
            == 403
        )
        assert (
            get(
                served[2],
                own,
                fetched,
                "Sec-Fetch-Mode: navigate",
                "Sec-Fetch-Dest: iframe",
                *upgrade,
            )[0]
            == 403
        )
        assert get(served[2], own, fetched, *upgrade)[0] == 403

    def test_it_connects_to_no_other_server(self, served: Served, upgrade: tuple[str, ...]) -> None:
        own = f"Host: 127.0.0.1:{served[2]}"
        for query in (
            "websocket=ws://evil.example",
            "a=1&w%65bsocket=",
            "playbackPath=http://evil.example/x.viser",
        ):
            assert get(served[2], own, *upgrade, path=f"/?{query}")[0] == 403


def test_a_link_elsewhere_leads_to_the_page(served: Served) -> None:
    lines = "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"
    assert get(served[2], f"Host: 127.0.0.1:{served[2]}", *lines)[0] == 200


def test_the_page_loads_nothing_from_elsewhere_and_stands_in_no_other_page(served: Served) -> None:
    policy = get(served[2], f"Host: localhost:{served[2]}")[1]["content-security-policy"]
    rules = {name: values for name, *values in (rule.split() for rule in policy.split(";"))}
    assert rules["default-src"] == ["'none'"]
    assert rules["connect-src"] == [
        "'self'",
        "data:",
        "blob:",
        f"ws://localhost:{served[2]}",
        f"wss://localhost:{served[2]}",
    ]
    assert rules["frame-ancestors"] == ["'self'", *NAMED]
    assert "content-security-policy" in get(served[2], "Host: evil.example")[1]


def test_a_refusal_names_the_option() -> None:
    refusal = OriginCheck("0.0.0.0").refuse(
        "/", Headers({"Host": "robot.local:8080"}), ("192.0.2.5", 8080)
    )
    assert "--origin http://robot.local:8080" in refusal


def test_a_page_on_a_network_has_the_address_it_was_reached_at() -> None:
    check = OriginCheck("0.0.0.0")
    assert not check.refuse(
        "/",
        Headers({"Host": "192.0.2.5:8080", "Origin": "http://192.0.2.5:8080"}),
        ("192.0.2.5", 8080),
    )
    assert check.refuse("/", Headers({"Host": "192.0.2.6:8080"}), ("192.0.2.5", 8080))
    assert check.refuse("/", Headers({"Host": "0.0.0.0:8080"}), ("192.0.2.5", 8080))
    assert not OriginCheck("::").refuse(
        "/", Headers({"Host": "[fe80::1]:8080"}), ("fe80::1%eth0", 8080)
    )
    assert not OriginCheck("Robot.local").refuse(
        "/", Headers({"Host": "robot.LOCAL:8080"}), ("192.0.2.5", 8080)
    )
    assert not OriginCheck("127.0.0.1").refuse(
        "/", Headers({"Host": "localhost"}), ("127.0.0.1", 80)
    )


@pytest.mark.parametrize(
    "text",
    [
        "*",
        "null",
        "robot.example",
        "ftp://robot.example",
        "http://",
        "http://a/b",
        "http://a:0",
        "http://a:99999",
        "http://a b",
    ],
)
def test_what_is_no_origin_is_refused_at_the_door(text: str) -> None:
    with pytest.raises(HumanoidDynamicsError, match="expected scheme, host and port"):
        parse_origin(text)
    with pytest.raises(HumanoidDynamicsError, match="expected scheme, host and port"):
        Page(Diary(), port=17322, origins=[text])


def test_origins_are_compared_as_browsers_write_them() -> None:
    assert str(parse_origin("HTTPS://Robot.Example:443")) == "https://robot.example"
    assert str(parse_origin("http://[::1]:8080")) == "http://[::1]:8080"


def read_until_it_ends(visitor: Any) -> None:
    while True:
        visitor.recv(timeout=10)


def test_a_large_message_ends_the_connection_and_the_page_lives(served: Served) -> None:
    def connect() -> Any:
        return client.connect(
            served[1].address.replace("http", "ws"),
            subprotocols=[f"viser-v{viser.__version__}"],
            max_size=None,
        )

    with connect() as visitor:
        visitor.recv(timeout=10)
        visitor.send(b"x" * (server.LARGEST_MESSAGE + 1))
        with pytest.raises(ConnectionClosed, match="1009"):
            read_until_it_ends(visitor)
    with connect() as visitor:
        assert visitor.recv(timeout=10)


def test_a_viser_that_cannot_be_checked_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = SimpleNamespace(asyncio=SimpleNamespace(server=SimpleNamespace(serve=None)))
    monkeypatch.setattr(server, "websockets", elsewhere)
    with pytest.raises(HumanoidDynamicsError, match="does not know"):
        Page(Diary(), port=17323)


def test_the_field_for_the_token_is_shared_with_no_other_visitor() -> None:
    with shown(Diary(), rate=5.0, token="a token of some length") as page:
        labels = {
            handle.label
            for handle in page._server.gui._gui_input_handle_from_uuid.values()
            if hasattr(handle, "label")
        }
        assert "Scene" in labels
        assert "Token" not in labels
