# SPDX-License-Identifier: Apache-2.0
"""The YAML on the page about robots is read as it is, and the robot of its five steps stands."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml

import humanoid_dynamics as hd
from humanoid_dynamics.model.loop import LOOP_KINDS
from humanoid_dynamics.model.reading.description_file import KEYS, PARALLEL_KEYS, read_description

PROJECT = Path(__file__).resolve().parents[2]
TEXT = (PROJECT / "docs" / "robots.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("block", BLOCKS)
def test_yaml_keeps_the_schema(block):
    read_description(yaml.safe_load(block), "docs/robots.md")


def test_table_of_keys_is_complete():
    section = TEXT.partition("## The YAML file")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)`", section, re.MULTILINE) == list(KEYS)
    assert all(f"`{key}`" in TEXT for key in PARALLEL_KEYS)


def test_table_of_loops_is_complete():
    section = TEXT.partition("## Loops")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)`", section, re.MULTILINE) == list(LOOP_KINDS)


def test_robot_of_the_five_steps_stands(tmp_path):
    shutil.copy(PROJECT / "urdf" / "legs12.urdf", tmp_path / "my_robot.urdf")
    (tmp_path / "my_robot.yaml").write_text(BLOCKS[0], encoding="utf-8")
    robot = hd.load_robot(tmp_path / "my_robot.urdf")
    assert robot.stance == ("left_foot", "right_foot")
    answer = hd.inverse_dynamics(robot, hd.State.at_rest(robot), np.zeros(robot.nv))
    assert answer.certificate.status == "OK"
    weight = robot.mass * 9.81
    assert sum(wrench.normal_force for wrench in answer.wrenches.values()) == pytest.approx(
        weight, abs=1e-9 * weight
    )
    assert robot.model.armature[robot.joint("left_knee").v] == pytest.approx([0.02], abs=0.0)
    assert robot.link_frame("l_ankle") == robot.link_frame("left_foot")
    assert robot.link_frame("gaze") == robot.control_points["pelvis"].frame
    assert robot.link_frame("l_sole") == robot.surface("left_foot").frame
