"""Parameter files and the configurations they project; no ROS needed."""

from dataclasses import fields
from pathlib import Path

import pytest
import yaml

from humanoid_dynamics.nodes.configs import SnakeDriverConfig, StandingTorquesConfig
from humanoid_dynamics.resolution.rules import RULES

FOLDER = Path(__file__).parents[2] / "config" / "nodes"
CONFIGS = {"standing_torques": StandingTorquesConfig, "snake_driver": SnakeDriverConfig}


def test_every_file_has_a_configuration_and_the_reverse():
    assert {path.stem for path in FOLDER.glob("*.yaml")} == set(CONFIGS)


@pytest.mark.parametrize("node", CONFIGS)
def test_file_equals_the_defaults(node):
    content = yaml.safe_load((FOLDER / f"{node}.yaml").read_text(encoding="utf-8"))
    assert list(content) == [f"/**/{node}"]
    written = content[f"/**/{node}"]["ros__parameters"]
    defaults = {entry.name: entry.default for entry in fields(CONFIGS[node])}
    assert list(written.items()) == list(defaults.items())
    assert [type(value) for value in written.values()] == [type(value) for value in defaults.values()]


@pytest.mark.parametrize("node", CONFIGS)
def test_file_tells_the_ranges(node):
    lines = {line.split(":")[0].strip(): line for line in (FOLDER / f"{node}.yaml").read_text(encoding="utf-8").splitlines()}
    for entry in fields(CONFIGS[node]):
        told = entry.metadata
        if told["lowest"] is not None:
            assert f"# {told['unit']}, {told['lowest']} to {told['highest']}" in lines[entry.name]


@pytest.mark.parametrize("node", CONFIGS)
def test_defaults_are_described_and_within_range(node):
    for entry in fields(CONFIGS[node]):
        assert entry.metadata["description"]
        if isinstance(entry.default, float):
            assert entry.metadata["unit"]
            assert entry.metadata["lowest"] <= entry.default <= entry.metadata["highest"]


def test_rules_are_listed():
    line = next(line for line in (FOLDER / "standing_torques.yaml").read_text(encoding="utf-8").splitlines() if "rule:" in line)
    assert line.split("# ")[1] == " or ".join(RULES)
