# SPDX-License-Identifier: Apache-2.0
"""Parameter files, configurations and interfaces of the nodes; no ROS needed."""

import xml.etree.ElementTree as ElementTree
from dataclasses import fields
from pathlib import Path

import pytest
import yaml

from humanoid_dynamics.nodes.configs import CONFIGS, write_parameter_file
from humanoid_dynamics.nodes.interfaces import INTERFACES, QOS
from humanoid_dynamics.nodes.security import write_policy

FOLDER = Path(__file__).parents[2] / "config" / "nodes"


def test_every_node_has_a_configuration_an_interface_and_a_file():
    assert {path.stem for path in FOLDER.glob("*.yaml")} == set(CONFIGS) == set(INTERFACES)


@pytest.mark.parametrize("node", CONFIGS)
def test_file_is_written_from_the_configuration_and_holds_its_defaults(node):
    text = (FOLDER / f"{node}.yaml").read_text(encoding="utf-8")
    assert text == write_parameter_file(node)
    written = yaml.safe_load(text)[f"/**/{node}"]["ros__parameters"]
    defaults = {
        entry.name: entry.default
        for entry in fields(CONFIGS[node])
        if not isinstance(entry.default, tuple)
    }
    assert written == defaults
    assert [type(value) for value in written.values()] == [
        type(value) for value in defaults.values()
    ]


@pytest.mark.parametrize("node", CONFIGS)
def test_defaults_are_described_and_allowed(node):
    for entry in fields(CONFIGS[node]):
        about = entry.metadata
        assert about["description"]
        if isinstance(entry.default, float):
            assert about["unit"]
            assert about["lowest"] <= entry.default <= about["highest"]
        if about["choices"]:
            assert entry.default in about["choices"]


@pytest.mark.parametrize("node", INTERFACES)
def test_interface_is_complete(node):
    interface = INTERFACES[node]
    assert interface.purpose
    assert all(
        topic.qos in QOS and topic.way in {"in", "out"} and topic.content
        for topic in interface.topics
    )
    names = [(topic.name, topic.way) for topic in interface.topics]
    assert len(set(names)) == len(names)
    assert {("~/status", "out"), ("/diagnostics", "out")} <= set(names)
    assert 0 < len(interface.statuses) < 256


def test_what_one_node_says_another_hears_with_the_same_type():
    kinds = {}
    for interface in INTERFACES.values():
        for topic in interface.topics:
            assert kinds.setdefault(topic.name, (topic.kind, topic.qos)) == (
                topic.kind,
                topic.qos,
            ), topic.name


def test_policy_gives_each_node_what_it_says_and_hears():
    root = ElementTree.fromstring(write_policy().partition("?>")[2])
    assert [enclave.get("path") for enclave in root.iter("enclave")] == [
        f"/hd/{node}" for node in INTERFACES
    ]
    guard = next(
        profile for profile in root.iter("profile") if profile.get("node") == "effort_guard"
    )
    said = {
        topic.text
        for topics in guard.findall("topics")
        if topics.get("publish")
        for topic in topics
    }
    assert {"joint_torque_commands", "effort_commands"} <= said
    assert "joint_states" not in said
