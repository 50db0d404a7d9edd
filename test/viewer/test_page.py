# SPDX-License-Identifier: Apache-2.0
"""The page and those who do not mean well: their messages change nothing and kill nothing."""

import json
import os
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from visitors import Diary, shown, wait_for

viser = pytest.importorskip("viser", reason="the page's extra is not installed")
msgspec = pytest.importorskip("msgspec", reason="comes with viser")
client = pytest.importorskip("websockets.sync.client", reason="comes with viser")


def connect(address: str, version: str = viser.__version__):
    return client.connect(
        address.replace("http", "ws"), subprotocols=[f"viser-v{version}"], max_size=None
    )


def hostile_messages() -> list[bytes]:
    rng = np.random.default_rng(11)
    forged = [
        {"type": "GuiUpdateMessage", "uuid": "no such thing", "updates": {"value": [None] * 1000}},
        {
            "type": "TransformControlsUpdateMessage",
            "name": "/lead/head",
            "wxyz": [float("nan")] * 4,
            "position": [1e308] * 3,
        },
        {"type": "SceneNodeDragMessage", "name": "/robot/pelvis", "phase": "update"},
        {"type": "ShareUrlRequest"},
        {"type": "Nonsense", "a": {"b": [{}] * 50}},
        {},
        [],
        "text",
        7,
    ]
    return (
        [msgspec.msgpack.encode(message) for message in forged]
        + [rng.bytes(n) for n in (1, 7, 100, 100_000)]
        + [json.dumps({"a": 1}).encode()]
    )


def test_the_page_is_served_and_no_other_file() -> None:
    with shown(Diary()) as page:
        with urllib.request.urlopen(page.address, timeout=10) as answer:
            assert b"<html" in answer.read(2000).lower()
        for path in ("/../../../../etc/passwd", "/%2e%2e/%2e%2e/%2e%2e/etc/passwd"):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(page.address + path, timeout=10)
            assert refused.value.code in {400, 403, 404}


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # sockets the server drops with the visitor
def test_hostile_messages_change_nothing_and_kill_nothing() -> None:
    session = Diary()
    with shown(session) as page:
        for message in hostile_messages():
            with connect(page.address) as visitor:
                visitor.recv(timeout=10)
                visitor.send(message)
        t = session.t
        assert wait_for(lambda: session.t > t + 0.3), "the page has died"
        with connect(page.address) as visitor:
            assert visitor.recv(timeout=10)
    assert session.asked == []


def test_another_version_is_turned_away() -> None:
    with (
        shown(Diary()) as page,
        pytest.raises(Exception, match=r"1002|closed|ersion"),
        connect(page.address, "0.0.1") as visitor,
    ):
        visitor.recv(timeout=10)


def test_nobody_looks_so_time_stands_still() -> None:
    from humanoid_dynamics.viewer.opening import show
    from humanoid_dynamics.viewer.page import Page

    session = Diary()
    page = Page(session, port=17321)
    try:
        assert show(page, session, seconds=0.5) == 0
        assert session.t == 0.0
    finally:
        page.close()


def test_it_listens_where_it_is_told() -> None:
    with shown(Diary()) as page:
        port = int(page.address.rpartition(":")[2])
        tables = [path for path in ("/proc/net/tcp", "/proc/net/tcp6") if os.path.isfile(path)]
        if not tables:
            pytest.skip("needs /proc/net")
        rows = [line.split() for path in tables for line in Path(path).read_text().splitlines()[1:]]
        listening = [row[1] for row in rows if row[3] == "0A" and row[1].endswith(f":{port:04X}")]
        assert listening == [f"0100007F:{port:04X}"]


def test_a_flood_of_wishes_is_bounded() -> None:
    session = Diary()
    with shown(session, rate=5.0) as page:
        for _ in range(20_000):
            page.wish(None, lambda own: own.step())
        assert wait_for(lambda: session.find("step"))
        assert page._wishes.qsize() <= 1000
