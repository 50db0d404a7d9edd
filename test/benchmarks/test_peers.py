# SPDX-License-Identifier: Apache-2.0
"""Peers in other interpreters: what they answer is what is compared, and they are ended."""

import json
import stat
import sys

import pytest

from benchmarks import bench
from benchmarks.peers import open_peers
from benchmarks.stand import build_stand
from humanoid_dynamics.errors import HumanoidDynamicsError

NANOSECONDS = 5_000_000
PEER = f"""
import json, sys
order = json.loads(sys.stdin.readline())
if order["peer"] != "placo":
    print(json.dumps({{"problem": "does not take the robot: too many legs"}}), flush=True)
    sys.exit()
print(json.dumps({{"version": "0.0"}}), flush=True)
for number, line in enumerate(sys.stdin):
    if number == LAST:
        sys.exit(3)
    print({NANOSECONDS}, flush=True)
"""


@pytest.fixture(scope="module")
def stand():
    return build_stand("human28")


@pytest.fixture
def build_python(tmp_path):
    """Return an interpreter that has a peer whose every tick takes 5 ms, until it ends."""

    def build(last=-1):
        (tmp_path / "peer.py").write_text(PEER.replace("LAST", str(last)))
        python = tmp_path / "python"
        python.write_text(f"#!/bin/sh\nexec {sys.executable} {tmp_path / 'peer.py'}\n")
        python.chmod(python.stat().st_mode | stat.S_IXUSR)
        return str(python)

    return build


def test_time_of_a_peer_is_what_it_tells(build_python):
    report = bench.run_bench("human28", 3, "inverse_dynamics", pythons=[build_python()])
    told = {timing.name: timing for timing in report.times["inverse_dynamics"]}
    assert (told["placo"].median, told["placo"].p99, told["placo"].calls) == (5e3, 5e3, 3)
    rows = {row.goal.name: row for row in report.rows}
    assert rows["inverse_dynamics.placo"].measured.value == pytest.approx(
        told["minimum_torque"].median / 5e3
    )
    assert "placo 0.0" in rows["inverse_dynamics.placo"].note
    assert rows["inverse_dynamics.tsid"].measured is None
    assert "tsid does not take the robot: too many legs" in rows["inverse_dynamics.tsid"].note


def test_peer_that_ends_is_an_error(build_python):
    with pytest.raises(HumanoidDynamicsError, match="placo ended in the middle of the run"):
        bench.run_bench("human28", 3, "inverse_dynamics.placo", pythons=[build_python(last=2)])


def test_interpreter_that_does_not_start(stand):
    with (
        pytest.raises(HumanoidDynamicsError, match="--peer-python: received '/no/python'"),
        open_peers(["/no/python"], stand),
    ):
        pass


def test_interpreter_without_peers_says_so(stand, monkeypatch):
    monkeypatch.setenv("PYTHONNOUSERSITE", "1")
    bare = sys.executable
    with open_peers([bare], stand) as peers:
        assert peers.contenders.keys() | peers.problems.keys() == {"tsid", "placo"}
        for problem in peers.problems.values():
            assert "is in no --peer-python" in problem or "does not take" in problem


def test_order_is_plain_data(stand, tmp_path):
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\nhead -n 1 >> {tmp_path / 'order'}\n")
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    with open_peers([str(python)], stand) as peers:
        assert all(
            problem.startswith("ended with exit code 0 before its first word")
            for problem in peers.problems.values()
        )
    orders = [json.loads(line) for line in (tmp_path / "order").read_text().splitlines()]
    assert [order["peer"] for order in orders] == ["tsid", "placo"]
    assert [sole["friction"] for sole in orders[0]["soles"]] == [
        stand.robot.surface(name).friction for name in stand.robot.stance
    ]
    assert len(orders[0]["motions"]) == len(stand.motions)
    assert "<visual" not in orders[0]["urdf"]


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ("kill -ABRT $$", "ended with SIGABRT before its first word"),
        ("exit 3", "ended with exit code 3 before"),
    ],
)
def test_peer_that_ends_before_its_first_word_tells_how(stand, tmp_path, end, told):
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{end}\n")
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    with open_peers([str(python)], stand) as peers:
        assert not peers.contenders
        assert told in peers.problems["tsid"]
