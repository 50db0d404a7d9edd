"""Node ``state_estimator``: odometry at the stamps of joint states, contact states, and a status for each fault of an input."""

import numpy as np
import pytest

pytest.importorskip(
    "rclpy",
    reason="needs ROS 2: pip install 'humanoid_dynamics[ros]', or source a ROS installation",
)

from wires import Clock, Wires

import humanoid_dynamics as hd
from humanoid_dynamics.nodes.messages import write_imu, write_joint_state
from humanoid_dynamics.nodes.state_estimator import EffortOrder, StateEstimatorNode

pytestmark = pytest.mark.usefixtures("ros")
PERIOD = 0.005
UP = np.array((0.0, 0.0, 9.81))


class Robot:
    """A standing robot behind the topics of the node."""

    def __init__(self, wires):
        self.wires, self.clock = wires, Clock(wires.node, PERIOD)
        self.robot = robot = wires.node.robot
        self.names = robot.coordinates[6:]
        answer = hd.inverse_dynamics(
            robot, hd.State.at_rest(robot), np.zeros(robot.nv), contacts=robot.stance
        )
        self.q, self.tau = robot.posture[7:].copy(), np.zeros(robot.nv - 6)
        self.tau[robot.actuated_v - 6] = answer.tau
        self.k = 0

    def step(self, gyro=(0.0, 0.0, 0.0), acc=UP, joints=True, shift=0.0):
        """Publish a sample of each sensor; joints flicker as encoders do."""
        self.clock.t += PERIOD + shift
        self.k += 1
        stamp, node = self.clock.stamp(), self.wires.node
        sample = write_imu(np.array(gyro, dtype=float), np.array(acc, dtype=float), stamp, "imu")
        self.send("imu samples", "imu", sample)
        if joints:
            q = self.q + 1e-5 * (-1.0) ** self.k
            message = write_joint_state(self.names, q, 0.0 * q, stamp, self.tau)
            self.send("joint samples", "joint_states", message)
        return node.facts()

    def send(self, counter, topic, message):
        counts, before = self.wires.node._counts, self.wires.node._counts[counter]
        self.wires.out[topic].publish(message)
        self.wires.wait(lambda: counts[counter] > before, f"{topic} is received")

    def stand(self, periods=80):
        for _ in range(periods):
            self.step()

    def expect(self, status, **fault):
        """Publish a fault, and wait until the node reports it."""
        self.step(**fault)
        self.wires.expect(status)


@pytest.fixture(scope="module")
def standing():
    wires = Wires(StateEstimatorNode, robot="g1").begin()
    robot = Robot(wires)
    yield robot
    wires.end()


@pytest.fixture
def robot(standing):
    assert standing.wires.call("reset").success
    standing.wires.counts["odom"] = 0
    standing.stand()
    standing.wires.wait(lambda: standing.wires.counts["odom"], "odometry comes")
    return standing


def test_odometry_of_a_standing_robot(robot):
    robot.step()
    stamp = robot.clock.stamp()
    wires = robot.wires
    wires.wait(lambda: wires.heard["odom"].header.stamp == stamp, "odometry of this state comes")
    odom, contacts = wires.heard["odom"], wires.heard["contact_states"]
    assert (odom.header.frame_id, odom.child_frame_id) == ("odom", "pelvis")
    p, o, v = odom.pose.pose.position, odom.pose.pose.orientation, odom.twist.twist.linear
    np.testing.assert_allclose((p.x, p.y, p.z), robot.robot.posture[:3] * (0, 0, 1), atol=0.01)
    np.testing.assert_allclose((o.x, o.y, o.z, o.w), (0, 0, 0, 1), atol=2e-3)
    np.testing.assert_allclose((v.x, v.y, v.z), 0.0, atol=0.01)
    pose, twist = (np.reshape(part.covariance, (6, 6)) for part in (odom.pose, odom.twist))
    assert np.all(np.diag(pose) > 0.0)
    assert np.all(np.diag(twist) > 0.0)
    np.testing.assert_allclose(pose, pose.T, atol=1e-12)
    assert sorted(contacts.name) == ["left_foot", "right_foot"]
    assert min(contacts.position) > 0.9
    assert sum(contacts.effort) == pytest.approx(robot.robot.mass * 9.81, rel=0.1)
    assert wires.status in {"RUNNING", "CALIBRATING"}
    assert set(robot.step()) >= {"gyro bias", "accelerometer bias", "contacts", "estimates"}


@pytest.mark.parametrize(
    ("status", "fault"),
    [
        ("IMU_INVALID", {"acc": (np.nan, 0.0, 9.81)}),
        ("IMU_SATURATED", {"gyro": (40.0, 0.0, 0.0)}),
        ("IMU_GAP", {"shift": 0.06}),
        ("TIME_JUMP", {"shift": 2.0}),
        ("IMPACT", {"acc": (0.0, 0.0, 60.0)}),
    ],
)
def test_faults_are_reported_and_odometry_stays_finite(robot, status, fault):
    robot.expect(status, **fault)
    robot.stand(20)
    odom = robot.wires.heard["odom"]
    assert np.isfinite(odom.pose.pose.position.z)
    assert np.isfinite(odom.pose.covariance).all()


def test_joints_that_are_invalid_or_stop_are_reported(robot):
    good = robot.q
    robot.q = good * np.nan
    robot.expect("JOINTS_INVALID")
    robot.q = good
    robot.stand(60)
    before = robot.wires.node._counts["estimates"]
    for _ in range(40):
        robot.step(joints=False)
        robot.wires.node.tick()
    robot.wires.expect("JOINTS_STALE")
    assert robot.wires.node._counts["estimates"] == before


def test_without_imu_samples_no_odometry_is_published(robot):
    before = robot.wires.node._counts["estimates"]
    for k in range(60):
        robot.clock.t += PERIOD
        q = robot.q + 1e-5 * (-1.0) ** k
        robot.send(
            "joint samples",
            "joint_states",
            write_joint_state(robot.names, q, 0.0 * q, robot.clock.stamp(), robot.tau),
        )
    robot.wires.expect("IMU_STALE")
    assert robot.wires.node._counts["estimates"] - before < 30
    assert robot.wires.level == b"\x02"


def test_frozen_joints_are_reported(robot):
    for _ in range(60):
        robot.k = 0
        robot.step(gyro=(0.0, 0.0, 0.4))
    robot.wires.expect("JOINTS_FROZEN")


def test_efforts_follow_their_names():
    order = EffortOrder(("a", "b", "c"))
    np.testing.assert_array_equal(order.sort(["c", "x", "a"], np.array((3.0, 9.0, 1.0))), (1, 0, 3))
    assert order.sort(["a"], np.zeros(0)) is None


def test_an_imu_that_the_robot_lacks_is_refused():
    with pytest.raises(hd.HumanoidDynamicsError, match=r"IMU.*head.*base"):
        Wires(StateEstimatorNode, robot="g1", imu="head").begin()
