# SPDX-License-Identifier: Apache-2.0
"""The filter before the controller, over topics: the robot stands and does what it is led to, and all statuses are well."""

import numpy as np
import pinocchio as pin
import pytest

rclpy = pytest.importorskip(
    "rclpy",
    reason="needs ROS 2: pip install 'humanoid_dynamics[ros]', or source a ROS installation",
)

from geometry_msgs.msg import PoseStamped  # noqa: E402
from rclpy.node import Node  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rclpy.qos import QoSCompatibility, QoSProfile, ReliabilityPolicy, qos_check_compatible  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from trajectory_msgs.msg import MultiDOFJointTrajectory  # noqa: E402

from humanoid_dynamics.filtering import Teleoperation  # noqa: E402
from humanoid_dynamics.model.load import load_robot  # noqa: E402
from humanoid_dynamics.nodes import together  # noqa: E402
from humanoid_dynamics.nodes.adapter import make_qos  # noqa: E402
from humanoid_dynamics.nodes.dynamics_filter import DynamicsFilterNode  # noqa: E402
from humanoid_dynamics.nodes.interfaces import LED, Topic  # noqa: E402
from humanoid_dynamics.nodes.messages import seconds, write_pose  # noqa: E402
from humanoid_dynamics.nodes.together import run_in_lock_step  # noqa: E402

HANDS = ("left_hand", "right_hand")
POLICIES = {"best effort": ReliabilityPolicy.BEST_EFFORT, "reliable": ReliabilityPolicy.RELIABLE}
LATE = make_qos(Topic("", "in", "", "clock", ""))


pytestmark = pytest.mark.usefixtures("ros")


class Operator(Node):
    """Lifts both hands, at 30 to 100 Hz with gaps, by the clock of the simulator."""

    def __init__(self, robot):
        super().__init__("operator")
        teleoperation = Teleoperation(load_robot(robot), HANDS)
        self.rise, self.rest = 0.0, float(teleoperation.q[2])
        self.homes = {name: pin.SE3ToXYZQUAT(teleoperation.pose(name)) for name in HANDS}
        self.out = {
            name: self.create_publisher(PoseStamped, f"/together/teleop/{name}/pose", 10)
            for name in HANDS
        }
        self.create_subscription(Clock, "/together/clock", self.lead, LATE)
        self.create_subscription(JointState, "/together/joint_states", self.see, LATE)
        self.create_subscription(MultiDOFJointTrajectory, "/together/filtered/base", self.hear, 10)
        self.rng, self.due, self.elbows = np.random.default_rng(7), 0.0, []

    def lead(self, clock):
        t = seconds(clock.clock)
        if t < self.due:
            return
        self.due = t + self.rng.uniform(0.01, 0.033)
        for name, home in self.homes.items():
            message = PoseStamped()
            message.header.stamp = clock.clock
            way = 0.08 * (1.0 - np.cos(3.0 * t))
            write_pose(message.pose, home + np.array([0.5 * way, 0.0, way, 0.0, 0.0, 0.0, 0.0]))
            self.out[name].publish(message)

    def hear(self, message):
        self.rise = message.points[0].transforms[0].translation.z - self.rest

    def see(self, message):
        self.elbows.append(message.position[message.name.index("left_elbow")])


@pytest.mark.parametrize("state", ["own", "measured"])
def test_hands_that_are_led(state, monkeypatch):
    """The filter goes on from its own state, or is drawn to that of the robot."""
    make = together.make_nodes

    def make_nodes(*arguments, **keywords):
        nodes = make(*arguments, **keywords)
        for node in nodes:
            if isinstance(node, DynamicsFilterNode):
                assert node.set_parameters([Parameter("state", value=state)])[0].successful
        return nodes

    monkeypatch.setattr(together, "make_nodes", make_nodes)
    operator = Operator("human28")
    run = run_in_lock_step("human28", 1.2, rate=500.0, follow="poses", others=[operator])
    operator.destroy_node()
    assert run.statuses["dynamics_filter"] == "FOLLOWING"
    assert run.statuses["inverse_dynamics"] == "FOLLOWING"
    assert run.statuses["effort_guard"] == "PASSING"
    assert run.seen.get("FOLLOWING", 0) > 500
    assert "FALLEN" not in run.seen
    assert abs(run.height - operator.rise) < 2e-3
    assert np.ptp(operator.elbows) > 0.2  # rad


@pytest.mark.slow
def test_a_squat_through_the_filter():
    run = run_in_lock_step(
        "human28", 6.5, rate=500.0, motion="squat", follow="motion", patience=200.0
    )
    assert run.statuses["dynamics_filter"] == "REFERENCE_ENDED"
    assert "FALLEN" not in run.seen
    assert run.seen["FOLLOWING"] > 2000
    assert abs(run.height) < 5e-3


@pytest.mark.parametrize("reliability", list(POLICIES))
def test_poses_are_heard_from_trackers_of_either_quality_of_service(reliability):
    """Trackers send as sensors do, best effort; who asked them for more would hear nothing."""
    heard = make_qos(LED)
    sent = QoSProfile(depth=10, reliability=POLICIES[reliability])
    compatible, reason = qos_check_compatible(sent, heard)
    assert compatible != QoSCompatibility.ERROR, reason
