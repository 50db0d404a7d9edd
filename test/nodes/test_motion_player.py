# SPDX-License-Identifier: Apache-2.0
"""Whom a motion waits for, and what those hear who come late."""

from time import monotonic, sleep

import pytest

rclpy = pytest.importorskip(
    "rclpy",
    reason="needs ROS 2: pip install 'humanoid_dynamics[ros]', or source a ROS installation",
)

from rclpy.node import Node  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, MultiDOFJointTrajectory  # noqa: E402

from humanoid_dynamics.nodes.motion_player import SETTLED, MotionPlayerNode  # noqa: E402

pytestmark = pytest.mark.usefixtures("ros")
PATIENCE = 60.0  # s


class Listener(Node):
    """Hears the reference, or the joints of it alone."""

    def __init__(self, name, *, follows):
        super().__init__(name)
        self.times = []
        self.create_subscription(JointTrajectory, "reference/joints", self.hear, 10)
        if follows:
            self.create_subscription(MultiDOFJointTrajectory, "reference/base", lambda _: None, 10)

    def hear(self, message):
        start = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        self.times += [
            start + p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in message.points
        ]


@pytest.fixture
def player():
    values = {"robot": "human28", "motion": "squat", "play": True}
    node = MotionPlayerNode(
        parameter_overrides=[Parameter(name, value=value) for name, value in values.items()]
    )
    node.start()
    yield node
    node.destroy_node()


def tick(player, *listeners, until):
    end = monotonic() + PATIENCE
    while not until() and monotonic() < end:
        player.tick()
        for listener in listeners:
            rclpy.spin_once(listener, timeout_sec=0.01)
        sleep(0.02)
    assert until()


def test_who_only_watches_is_not_waited_for_and_who_comes_late_hears_the_rest(player):
    watcher = Listener("watcher", follows=False)
    tick(player, until=lambda: player._listeners[0] == 1)
    since = monotonic()
    tick(player, until=lambda: monotonic() > since + 2.0 * SETTLED)
    assert player.status == "IDLE"
    follower = Listener("follower", follows=True)
    tick(player, follower, until=lambda: len(follower.times) > 5)
    assert player.status == "PLAYING"
    late = Listener("late", follows=True)
    tick(player, follower, late, until=lambda: late.times and late.times[-1] >= follower.times[-1])
    assert late.times[0] < follower.times[-1]
    assert late.times == sorted(late.times)
    for node in (watcher, follower, late):
        node.destroy_node()
