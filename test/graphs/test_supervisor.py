# SPDX-License-Identifier: Apache-2.0
"""A graph of processes is up once each of them says so; only then its time begins."""

import sys
from time import monotonic

import pytest

from humanoid_dynamics.graphs import supervisor
from humanoid_dynamics.graphs.description import GraphNode, load_graph
from humanoid_dynamics.graphs.supervisor import Supervisor

SLOW = (
    "import signal, time; time.sleep(1.5); from humanoid_dynamics.program import tell_ready; tell_ready(); "
    "signal.sigtimedwait({signal.SIGINT}, 60)"
)


@pytest.fixture
def graph(monkeypatch, tmp_path):
    def make(program):
        monkeypatch.setattr(
            supervisor, "node_command", lambda _node: [sys.executable, "-c", program]
        )
        said = []
        return Supervisor([GraphNode("monitor", "slow", {}, {})], tmp_path, said.append), said

    return make


def test_time_begins_when_all_are_ready(graph, tmp_path):
    run, _ = graph(SLOW)
    start = monotonic()
    assert run.run(0.5) == 0
    assert monotonic() - start > 1.9
    assert not list(tmp_path.glob("*.ready"))


def test_what_takes_long_to_start_is_explained(graph, monkeypatch):
    monkeypatch.setattr(supervisor, "QUICK", 0.3)
    run, said = graph(SLOW)
    run.run(0.1)
    assert [line for line in said if line.startswith("getting ready: slow")] == said
    assert len(said) == 1


REFUSING = "import sys; print('[FATAL] [1.0] [x]: cannot start: the legs are too short', file=sys.stderr); sys.exit(2)"


@pytest.mark.parametrize("optional", [True, False])
def test_a_refusal_is_shown_and_ends_the_graph_only_where_the_node_is_needed(
    monkeypatch, tmp_path, optional
):
    programs = {"robot": SLOW, "motion": REFUSING}
    monkeypatch.setattr(
        supervisor, "node_command", lambda node: [sys.executable, "-c", programs[node.name]]
    )
    said = []
    nodes = [
        GraphNode("simulator", "robot", {}, {}),
        GraphNode("motion_player", "motion", {}, {}, optional=optional),
    ]
    assert Supervisor(nodes, tmp_path, said.append).run(0.3) == (0 if optional else 2)
    assert [line for line in said if "motion" in line and "the legs are too short" in line] == said
    assert len(said) == 1


def test_the_demo_stands_where_the_motion_is_refused():
    optional = {node.name: node.optional for node in load_graph("demo").resolve({})}
    assert optional["motion_player"]
    assert not optional["simulator"]
    assert not optional["inverse_dynamics"]
