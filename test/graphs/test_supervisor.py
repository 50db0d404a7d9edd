"""A graph of processes is up once each of them says so; only then its time begins."""

import sys
from time import monotonic

import pytest

from humanoid_dynamics.graphs import supervisor
from humanoid_dynamics.graphs.description import GraphNode
from humanoid_dynamics.graphs.supervisor import Supervisor

SLOW = (
    "import signal, time; time.sleep(1.5); from humanoid_dynamics.program import tell_ready; tell_ready(); "
    "signal.sigtimedwait({signal.SIGINT}, 60)"
)


@pytest.fixture
def graph(monkeypatch, tmp_path):
    def make(program):
        monkeypatch.setattr(supervisor, "node_command", lambda _node: [sys.executable, "-c", program])
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
