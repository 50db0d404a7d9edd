# SPDX-License-Identifier: Apache-2.0
"""Graphs as data; no ROS needed."""

import pytest

from humanoid_dynamics.errors import DescriptionError, UnknownNameError
from humanoid_dynamics.graphs import description
from humanoid_dynamics.graphs.description import graph_names, load_graph, substitute
from humanoid_dynamics.graphs.supervisor import as_argument, node_command
from humanoid_dynamics.nodes.configs import CONFIGS
from humanoid_dynamics.nodes.interfaces import ANY, INTERFACES


def everything(graph):
    """Choose all nodes that run only where they are asked for."""
    return {
        name: value
        for name, value in {"viewer": "true", "record": "run.mcap"}.items()
        if name in graph.arguments
    }


@pytest.mark.parametrize("name", graph_names())
def test_graph_names_nodes_parameters_and_topics_that_exist(name):
    graph = load_graph(name)
    assert graph.title
    assert all(argument.description for argument in graph.arguments.values())
    for node in graph.resolve(everything(graph)):
        known = {*CONFIGS[node.node].__dataclass_fields__, "use_sim_time"}
        assert set(node.parameters) <= known
        topics = {topic.name for topic in INTERFACES[node.node].topics}
        assert set(node.remappings) <= topics or ANY in topics


@pytest.mark.parametrize("name", graph_names())
def test_values_have_the_types_of_the_parameters(name):
    graph = load_graph(name)
    for node in graph.resolve(everything(graph)):
        fields = CONFIGS[node.node].__dataclass_fields__
        for key, value in node.parameters.items():
            value = tuple(value) if isinstance(value, list) else value
            assert key == "use_sim_time" or type(value) is type(fields[key].default), (
                node.name,
                key,
                value,
            )


CONTROLLERS = {"inverse_dynamics", "snake_driver"}
MOTORS = {"joint_torque_commands", "effort_commands"}


@pytest.mark.parametrize("name", graph_names())
def test_only_the_guard_publishes_what_motors_take(name):
    """Names as motors take them, after remapping, in every graph; where there is a controller there is a guard."""
    graph = load_graph(name)
    nodes = graph.resolve(
        everything(graph) | ({"efforts": "effort_commands"} if "efforts" in graph.arguments else {})
    )
    publishers = {
        (node.node, node.remappings.get(topic.name, topic.name))
        for node in nodes
        for topic in INTERFACES[node.node].topics
        if topic.way == "out" and topic.name != ANY
    }
    programs = {node.node for node in nodes}
    guards = {"effort_guard"} & programs
    assert {(node, topic) for node, topic in publishers if topic in MOTORS} == {
        (node, topic) for node in guards for topic in MOTORS
    }
    assert bool(programs & CONTROLLERS) == bool(guards)
    for node in nodes:
        heard = {
            node.remappings.get(topic.name, topic.name)
            for topic in INTERFACES[node.node].topics
            if topic.way == "in"
        }
        assert (
            node.node == "effort_guard"
            or not {name for name in heard if name.startswith("unguarded/")}
            or node.node == "monitor"
        )


def test_arguments_reach_the_command():
    chosen = {"robot": "g1", "rate": "1000.0", "headless": "true", "viewer": "false"}
    nodes = {node.name: node for node in load_graph("demo").resolve(chosen)}
    assert "monitor" not in nodes
    assert not {"viewer", "recorder"} & set(nodes)
    assert "recorder" in {node.name for node in load_graph("demo").resolve({"record": "run.mcap"})}
    assert "viewer" not in {node.name for node in load_graph("demo").resolve({"viewer": "false"})}
    assert "viewer" in {node.name for node in load_graph("demo").resolve({})}
    command = node_command(nodes["simulator"])
    assert "robot:='g1'" in command
    assert "rate:=1000.0" in command


@pytest.mark.parametrize("installed", [True, False])
def test_a_node_runs_only_where_its_package_is_installed(monkeypatch, installed):
    monkeypatch.setattr(description, "find_spec", lambda name: object() if installed else None)
    assert ("viewer" in {node.name for node in load_graph("demo").resolve({})}) == installed


@pytest.mark.parametrize(
    ("value", "expected"),
    [("$x", 2.5), ("a $x", "a 2.5"), (3.0, 3.0), ("$empty", ""), ("$flag", True)],
)
def test_substitution(value, expected):
    assert substitute(value, {"x": "2.5", "empty": "", "flag": "true"}) == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [("human28", "'human28'"), ("", "''"), (True, "true"), (500.0, "500.0"), (["a"], '["a"]')],
)
def test_parameters_are_written_as_ros_reads_them(value, text):
    assert as_argument(value) == text


def test_origins_reach_the_page():
    nodes = {
        node.name: node
        for node in load_graph("demo").resolve({"origins": '["https://robot.example"]'})
    }
    assert 'origins:=["https://robot.example"]' in node_command(nodes["viewer"])
    assert 'origins:=[""]' in node_command(
        {node.name: node for node in load_graph("teleop").resolve({})}["viewer"]
    )


def test_unknown_names_are_told():
    with pytest.raises(UnknownNameError, match="demo"):
        load_graph("dmo")
    with pytest.raises(UnknownNameError, match="robot"):
        load_graph("demo").resolve({"robt": "g1"})


@pytest.mark.parametrize(
    "text", ["nodes: [{node: simulator, paramters: {}}]\ntitle: x", "titel: x", "- 1"]
)
def test_broken_file_is_refused(tmp_path, text):
    path = tmp_path / "graph.yaml"
    path.write_text(text)
    with pytest.raises(DescriptionError):
        load_graph(str(path))


def test_unknown_argument_in_a_file_is_refused(tmp_path):
    path = tmp_path / "graph.yaml"
    path.write_text("title: x\nnodes: [{node: simulator, parameters: {robot: $robot}}]")
    with pytest.raises(DescriptionError, match="robot"):
        load_graph(str(path))


@pytest.mark.parametrize("name", graph_names())
def test_every_graph_goes_into_a_namespace(name):
    graph = load_graph(name)
    plain = graph.resolve(everything(graph))
    assert not any("__ns" in word for node in plain for word in node_command(node))
    for node in graph.resolve(
        everything(graph) | {"namespace": "a", "clock": "/clock", "frame_prefix": "x/"}
    ):
        command = node_command(node)
        assert "__ns:=/a" in command
        assert "clock:=/clock" in command
        assert "frame_prefix:='x/'" in command
    for node in plain:
        names = [*node.remappings, *node.remappings.values()]
        assert not [topic for topic in names if topic.startswith("/")]
