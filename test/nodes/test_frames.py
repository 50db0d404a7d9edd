# SPDX-License-Identifier: Apache-2.0
"""Frames go out as transforms where tf2_msgs is installed, and as stamped poses, with a word in the log, where it is not."""

import random
import sys
import types
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
import pytest

rclpy = pytest.importorskip(
    "rclpy",
    reason="needs ROS 2: pip install 'humanoid_dynamics[ros]', or source a ROS installation",
)

from builtin_interfaces.msg import Time  # noqa: E402

import humanoid_dynamics as hd  # noqa: E402
from humanoid_dynamics.motion.body_points import find_soles  # noqa: E402
from humanoid_dynamics.nodes import frames  # noqa: E402
from humanoid_dynamics.nodes.frames import FramePublisher, footprint  # noqa: E402

POSES = {"base_link": np.array([1.0, 2.0, 0.9, 0.0, 0.0, np.sin(0.25), np.cos(0.25)])}
POSES |= {
    "l_sole": np.array([1.1, 2.1, 0.02, 0.0, 0.0, 0.0, 1.0]),
    "r_sole": np.array([1.1, 1.9, 0.01, 0.0, 0.0, 0.0, 1.0]),
}


@dataclass
class Transforms:
    """Stands for tf2_msgs/TFMessage."""

    transforms: list = field(default_factory=list)


class Publisher:
    def __init__(self):
        self.sent = []

    def publish(self, message):
        self.sent.append(message)


class Wall:
    """Stands for a node: keeps what is published and logged."""

    def __init__(self):
        self.made, self.said = {}, []

    def create_publisher(self, kind, topic, qos):
        self.made[topic] = (kind, qos, Publisher())
        return self.made[topic][2]

    def get_logger(self):
        return types.SimpleNamespace(info=self.said.append)


def test_without_tf2_frames_are_poses_and_the_log_says_so_once(monkeypatch):
    monkeypatch.setattr(frames, "find_spec", lambda name: None)
    wall = Wall()
    publisher = FramePublisher(wall, tuple(POSES))
    assert publisher.as_poses == (*POSES, "base_footprint")
    for _ in range(3):
        sent = publisher.publish(POSES, Time(sec=4), "odom")
        assert set(sent) == {*POSES, "base_footprint"}
    assert wall.made == {}
    assert len(wall.said) == 1
    assert "tf2_msgs" in wall.said[0]


def test_with_tf2_frames_are_transforms(monkeypatch):
    package, messages = types.ModuleType("tf2_msgs"), types.ModuleType("tf2_msgs.msg")
    messages.TFMessage = Transforms
    for name, module in (("tf2_msgs", package), ("tf2_msgs.msg", messages)):
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(frames, "find_spec", lambda name: object())
    wall = Wall()
    publisher = FramePublisher(wall, tuple(POSES))
    assert publisher.as_poses == ()
    assert wall.said == []
    assert publisher.publish(POSES, Time(sec=4, nanosec=5), "odom") == {}
    kind, qos, out = wall.made["/tf"]
    assert (kind, qos) == (Transforms, 100)
    found = {transform.child_frame_id: transform for transform in out.sent[0].transforms}
    assert set(found) == {*POSES, "base_footprint"}
    assert all(
        (t.header.frame_id, t.header.stamp.sec, t.header.stamp.nanosec) == ("odom", 4, 5)
        for t in found.values()
    )
    sole = found["l_sole"].transform
    assert (sole.translation.x, sole.translation.z, sole.rotation.w) == (1.1, 0.02, 1.0)


def test_with_tf2_itself(tmp_path):
    """The real messages, where they are installed."""
    tf2 = pytest.importorskip(
        "tf2_msgs.msg", reason="needs tf2_msgs, which any ROS installation has"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_LOG_DIR", str(tmp_path))
        patch.setenv("ROS_DOMAIN_ID", str(random.SystemRandom().randint(1, 101)))
        rclpy.init()
        try:
            node = rclpy.create_node("frames")
            assert FramePublisher(node, tuple(POSES)).publish(POSES, Time(sec=4), "odom") == {}
            assert node.count_publishers("/tf") == 1
            assert tf2.TFMessage
            node.destroy_node()
        finally:
            rclpy.try_shutdown()


def test_the_footprint_is_between_the_feet_and_headed_as_the_base():
    pose = footprint(POSES["base_link"], [POSES["l_sole"], POSES["r_sole"]])
    np.testing.assert_allclose(
        pose, [1.1, 2.0, 0.01, 0.0, 0.0, np.sin(0.25), np.cos(0.25)], atol=1e-15
    )
    np.testing.assert_allclose(footprint(POSES["base_link"], [])[:3], [1.0, 2.0, 0.0], atol=1e-15)


@pytest.mark.parametrize("name", ["g1", "human", "icub"])
def test_the_footprint_looks_where_the_feet_do_whichever_axis_of_the_base_looks_ahead(name):
    robot = hd.load_robot(name)
    q, turn = np.array(robot.posture), pin.Quaternion(pin.utils.rotate("z", 2.5))
    q[3:7] = (turn * pin.Quaternion(q[3:7])).coeffs()
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, q)
    soles = [pin.SE3ToXYZQUAT(data.oMf[sole.frame]) for sole in find_soles(robot)]
    pose = footprint(q[:7], soles, robot.posture[3:7])
    ahead = data.oMf[find_soles(robot)[0].frame].rotation[:, 0]
    np.testing.assert_allclose(pin.Quaternion(pose[3:]).matrix()[:, 0], ahead, atol=1e-6)
