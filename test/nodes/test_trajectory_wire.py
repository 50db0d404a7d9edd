# SPDX-License-Identifier: Apache-2.0
"""Trajectories read as bytes: the same numbers as ROS reads, whatever the layout, and long ones in no time."""

import contextlib
from time import perf_counter

import numpy as np
import pytest

rclpy = pytest.importorskip(
    "rclpy",
    reason="needs ROS 2: pip install 'humanoid_dynamics[ros]', or source a ROS installation",
)

from rclpy.serialization import serialize_message  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint, MultiDOFJointTrajectory  # noqa: E402

from humanoid_dynamics.nodes.messages import write_base_trajectory, write_joint_trajectory  # noqa: E402
from humanoid_dynamics.nodes.trajectory_wire import (  # noqa: E402
    TrajectoryRefusedError,
    read_base_message,
    read_joint_message,
)


@pytest.mark.parametrize("names", [("a",), ("a", "bc"), ("a", "bc", "defg")])
@pytest.mark.parametrize("points", [0, 1, 2, 3, 50])
@pytest.mark.parametrize(
    "fields",
    [("positions",), ("positions", "velocities"), ("positions", "velocities", "accelerations")],
)
@pytest.mark.parametrize("frame", ["", "odom"])
def test_joints_are_read_as_they_were_written(names, points, fields, frame):
    rng = np.random.default_rng(points)
    tables = {name: rng.normal(size=(points, len(names))) for name in fields}
    message = write_joint_trajectory(names, 12.5, 0.02 * np.arange(points) - 0.1, tables)
    message.header.frame_id = frame
    read, times, found = read_joint_message(bytes(serialize_message(message)), 7)
    assert tuple(read) == names
    assert times == [12_400_000_000 + 20_000_000 * k for k in range(points)]
    if points:
        assert found.keys() == tables.keys()
        for name, table in tables.items():
            np.testing.assert_array_equal(found[name], table)


@pytest.mark.parametrize("points", [1, 2, 3, 50])
@pytest.mark.parametrize("moves", [True, False])
def test_a_base_is_read_as_it_was_written(points, moves):
    rows = np.random.default_rng(points).normal(size=(points, 13))
    message = write_base_trajectory("pelvis", 0.0, 0.02 * np.arange(points), rows)
    for point in () if moves else message.points:
        point.velocities = []
    times, found = read_base_message(bytes(serialize_message(message)), 7)
    assert times == [7 + 20_000_000 * k for k in range(points)]
    np.testing.assert_array_equal(found, rows * (np.arange(13) < (13 if moves else 7)))


def ragged():
    points = [JointTrajectoryPoint(positions=[0.0] * n) for n in (2, 2, 3, 2)]
    return JointTrajectory(joint_names=["a", "b"], points=points)


REFUSED = {
    "too long": write_joint_trajectory(
        ("a",), 0.0, 1e-3 * np.arange(10_000), {"positions": np.zeros((10_000, 1))}
    ),
    "ragged": ragged(),
    "too many names": JointTrajectory(joint_names=["a"] * 5_000),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_trajectory_is_refused(case):
    with pytest.raises(TrajectoryRefusedError):
        read_joint_message(bytes(serialize_message(REFUSED[case])), 0)


def test_whatever_bytes_come_nothing_else_is_raised():
    rng = np.random.default_rng(5)
    joints = bytes(
        serialize_message(
            write_joint_trajectory(("a", "b"), 0.0, np.arange(5.0), {"positions": np.ones((5, 2))})
        )
    )
    base = bytes(
        serialize_message(write_base_trajectory("b", 0.0, np.arange(5.0), np.ones((5, 13))))
    )
    empty = bytes(serialize_message(MultiDOFJointTrajectory()))
    for data, read in (
        (joints, read_joint_message),
        (base, read_base_message),
        (empty, read_base_message),
    ):
        for _ in range(500):
            broken = np.frombuffer(data, np.uint8).copy()
            broken[rng.integers(len(broken), size=3)] = rng.integers(256, size=3)
            cut = bytes(broken[: rng.integers(len(broken) + 1)] if rng.random() < 0.3 else broken)
            with contextlib.suppress(TrajectoryRefusedError):
                read(cut, 0)


def test_a_long_trajectory_costs_little():
    """As a control callback hears it: 30 joints, positions to accelerations, the most points that are taken, and five times as many."""
    rng = np.random.default_rng(0)
    names = [f"joint_{k}" for k in range(30)]

    def cost(points):
        table = rng.normal(size=(points, 30))
        fields = dict.fromkeys(("positions", "velocities", "accelerations"), table)
        data = bytes(
            serialize_message(write_joint_trajectory(names, 1.0, 0.02 * np.arange(points), fields))
        )
        spans = []
        for _ in range(5):
            begin = perf_counter()
            try:
                read_joint_message(data, 0)
            except TrajectoryRefusedError:
                assert points > 2_000
            spans.append(perf_counter() - begin)
        return min(spans)

    assert cost(2_000) < 10e-3
    assert cost(10_000) < 10e-3
