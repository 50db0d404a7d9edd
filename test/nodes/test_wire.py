# SPDX-License-Identifier: Apache-2.0
"""Messages as bytes: what is read and written in place is what ROS reads and writes."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2")

from builtin_interfaces.msg import Time
from fuzzing import spoil
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from humanoid_dynamics.nodes.messages import (
    doubles,
    write_efforts,
    write_joint_state,
    write_odometry,
    write_wrench,
)
from humanoid_dynamics.nodes.wire import Form, JointStateReader, NumbersReader, OdometryReader, mark

STAMP = Time(sec=3, nanosec=4)


def test_joint_states_of_any_shape_are_read():
    rng, reader = np.random.default_rng(0), JointStateReader()
    for k in range(300):
        names = ["x" * rng.integers(0, 7) for _ in range(rng.integers(0, 6))]
        fields = [rng.normal(size=rng.integers(0, 5)) for _ in range(3)]
        position, velocity, effort = (doubles(field) for field in fields)
        message = JointState(name=names, position=position, velocity=velocity, effort=effort)
        message.header.frame_id, message.header.stamp = (
            "f" * rng.integers(0, 6),
            Time(sec=k, nanosec=5 * k),
        )
        for _ in range(2):
            found = reader.read(serialize_message(message))
            assert found[0] == names
            assert found[4] == k * 10**9 + 5 * k
            for ours, theirs in zip(found[1:4], fields, strict=True):
                np.testing.assert_array_equal(ours, theirs)


def test_odometry_and_wrenches_are_read():
    rng, odometry, wrench = (
        np.random.default_rng(1),
        OdometryReader(),
        NumbersReader(WrenchStamped, 1, 6),
    )
    for k in range(100):
        pose, twist, words = (
            rng.normal(size=7),
            rng.normal(size=6),
            ("w" * rng.integers(0, 6), "b" * rng.integers(0, 6)),
        )
        found = odometry.read(serialize_message(write_odometry(pose, twist, Time(sec=k), words)))
        np.testing.assert_array_equal(found[0], pose)
        np.testing.assert_array_equal(found[1], twist)
        assert found[2] == k * 10**9
        numbers, stamp = wrench.read(
            serialize_message(write_wrench(twist[:3], twist[3:], Time(nanosec=k), words[0]))
        )
        np.testing.assert_array_equal(numbers, twist)
        assert stamp == k


def understand(data, kind):
    try:
        return deserialize_message(data, kind)
    except RuntimeError:
        return None


def test_bytes_that_are_no_message_are_none_and_leave_the_next_one_alone():
    """What ROS reads is read alike, what it does not read never raises."""
    rng, reader = np.random.default_rng(3), JointStateReader()
    names = [f"joint_{k}" for k in range(5)]
    good = serialize_message(write_joint_state(names, np.arange(5.0), np.ones(5), STAMP))
    count = 0
    for _ in range(1500):
        data = spoil(rng, good)
        theirs, found = understand(data, JointState), reader.read(data)
        count += theirs is None
        if theirs is None:
            assert found is None or len(found) == 5
        else:
            assert found[0] == list(theirs.name)
            for ours, field in zip(
                found[1:4], (theirs.position, theirs.velocity, theirs.effort), strict=True
            ):
                np.testing.assert_array_equal(ours, field)
        again = reader.read(good)
        assert again[0] == names
        np.testing.assert_array_equal(again[1], np.arange(5.0))
    assert 200 < count < 1300


@pytest.mark.parametrize("kind", [Odometry, WrenchStamped])
def test_bytes_that_are_no_numbers_are_none_and_leave_the_next_one_alone(kind):
    rng, pose, twist = np.random.default_rng(4), np.arange(7.0), np.arange(6.0)
    if kind is Odometry:
        reader, good = (
            OdometryReader(),
            serialize_message(write_odometry(pose, twist, STAMP, ("odom", "pelvis"))),
        )
    else:
        reader, good = (
            NumbersReader(kind, 1, 6),
            serialize_message(write_wrench(twist[:3], twist[3:], STAMP, "left_foot")),
        )
    read = 0
    for _ in range(1500):
        data = spoil(rng, good)
        theirs, found = understand(data, kind), reader.read(data)
        if theirs is not None:
            read += 1
            assert found[-1] == theirs.header.stamp.sec * 10**9 + theirs.header.stamp.nanosec
            last = theirs.twist.twist.angular if kind is Odometry else theirs.wrench.torque
            np.testing.assert_array_equal(found[-2][3:], (last.x, last.y, last.z))
        np.testing.assert_array_equal(reader.read(good)[-2], twist)
    assert reader.read(good[:-1]) is None
    assert 200 < read < 1300


def test_forms_are_what_ros_writes():
    rng, names = np.random.default_rng(2), [f"joint_{k}" for k in range(28)]
    p, v, pose, twist = (
        rng.normal(size=28),
        rng.normal(size=28),
        rng.normal(size=7),
        rng.normal(size=6),
    )
    still = Time()
    form = Form(write_joint_state(names, mark(0, 28), mark(1, 28), still), 28, 28)
    assert deserialize_message(form.write(STAMP, p, v), JointState) == write_joint_state(
        names, p, v, STAMP
    )
    form = Form(write_efforts(names, mark(0, 28), still), 28)
    for tau in (p, v):
        assert deserialize_message(form.write(STAMP, tau), JointState) == write_efforts(
            names, tau, STAMP
        )
    form = Form(write_odometry(mark(0, 7), mark(1, 6), still, ("odom", "pelvis")), 7, 6)
    assert deserialize_message(form.write(STAMP, pose, twist), Odometry) == write_odometry(
        pose, twist, STAMP, ("odom", "pelvis")
    )


def test_other_byte_orders_are_left_to_ros():
    data = serialize_message(write_wrench(np.arange(3.0), np.arange(3.0, 6.0), STAMP, "left_foot"))
    swapped = b"\x00\x00\x00\x00"
    words = b"\x00\x00\x00\x0aleft_foot\x00"
    swapped += b"\x00\x00\x00\x03\x00\x00\x00\x04" + words
    swapped += b"\x00" * (-(len(swapped) - 4) % 8) + np.arange(6.0).astype(">f8").tobytes()
    for each in (data, swapped, data):
        numbers, stamp = NumbersReader(WrenchStamped, 1, 6).read(each)
        np.testing.assert_array_equal(numbers, np.arange(6.0))
        assert stamp == 3 * 10**9 + 4
