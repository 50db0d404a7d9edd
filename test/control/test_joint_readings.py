"""Joint states put together to a configuration and a velocity."""

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.control.joint_readings import JointReadings
from humanoid_dynamics.errors import UnsupportedRobotError


@pytest.fixture(scope="module")
def snake():
    return hd.load_robot("snake5")


def test_order_is_free_and_turning_joints_become_cosine_and_sine(snake):
    readings, names = JointReadings(snake), [joint.name for joint in snake.joints]
    positions, velocities = 0.1 * np.arange(1.0, 8.0), np.arange(7.0)
    assert readings.take([*names[::-1], "gripper"], np.append(positions[::-1], np.nan), np.append(velocities[::-1], np.nan)) == ""
    assert readings.missing == ""
    np.testing.assert_array_equal(readings.v, velocities)
    for joint, position in zip(snake.joints, positions, strict=True):
        told = [np.cos(position), np.sin(position)] if joint.kind == "continuous" else [position]
        np.testing.assert_array_equal(readings.q[joint.q], told)


def test_joints_come_one_by_one(snake):
    readings = JointReadings(snake)
    assert readings.missing.startswith("no joint state yet of ")
    for joint in snake.joints:
        assert joint.name in readings.missing or readings.missing.endswith(", ...")
        assert readings.take([joint.name], [0.2], [0.3]) == ""
    assert readings.missing == ""


@pytest.mark.parametrize(
    ("names", "positions", "velocities", "complaint"),
    [
        (["joint2", "joint1"], [9.0, np.nan], [9.0, 0.0], "not finite, or far too large: joint1"),
        (["joint1"], [0.0], [np.inf], "not finite, or far too large: joint1"),
        (["joint1"], [0.0], [1e30], "not finite, or far too large: joint1"),
        (["joint1"], [0.0], [], "1 names, 1 positions, 0 velocities"),
        (["neck"], [0.0], [0.0], "names no joint of snake5"),
        ([], [], [], "names no joint of snake5"),
    ],
)
def test_what_is_refused_leaves_all_as_it_was(snake, names, positions, velocities, complaint):
    readings = JointReadings(snake)
    assert readings.take(["joint1", "joint2"], [0.1, 0.2], [0.3, 0.4]) == ""
    q, v = readings.q.copy(), readings.v.copy()
    assert complaint in readings.take(names, positions, velocities)
    np.testing.assert_array_equal(readings.q, q)
    np.testing.assert_array_equal(readings.v, v)


def test_a_robot_whose_base_no_joint_tells_is_refused():
    with pytest.raises(UnsupportedRobotError, match="one position does not tell where they are"):
        JointReadings(hd.load_robot("human28"))
