"""Sensors of the simulator over topics: off by default; IMUs, noise and efforts where they are asked for."""

import numpy as np
import pytest

pytest.importorskip(
    "rclpy",
    reason="needs ROS 2: pip install 'humanoid_dynamics[ros]', or source a ROS installation",
)

from rclpy.parameter import Parameter
from sensor_msgs.msg import Imu, JointState
from wires import Wires

from humanoid_dynamics.nodes.messages import nanoseconds
from humanoid_dynamics.nodes.simulator import SimulatorNode

pytestmark = pytest.mark.usefixtures("ros")


def test_sensors_are_off_by_default():
    node = SimulatorNode(parameter_overrides=[Parameter("robot", value="g1")])
    node.start()
    assert node.names("imu") == ()
    assert node.count_publishers("imu/base") == 0
    assert not node.config.sensors
    node.silence()
    node.destroy_node()


def test_time_goes_on_for_sensors_of_a_robot_that_waits_in_lock_step():
    overrides = {"robot": "g1", "sensors": True, "lock_step": True, "rate": 500.0}
    node = SimulatorNode(
        parameter_overrides=[Parameter(name, value=value) for name, value in overrides.items()]
    )
    node.start()
    stamps, publish = [], node._sensing.publish
    node._sensing.publish = lambda live, t: (stamps.append(t), publish(live, t))
    assert node.pace() == 500.0
    for _ in range(4):
        node.tick()
    assert not node._live.begun
    np.testing.assert_allclose(np.diff(stamps), 0.002, atol=1e-6)
    node.silence()
    node.destroy_node()


def test_imus_and_joint_states_with_noise_and_efforts():
    wires = Wires(SimulatorNode, robot="g1", rate=100.0, sensors=True, encoder_noise=1e-3, seed=3)
    try:
        wires.begin()
        heard = []
        wires.probe.create_subscription(
            Imu,
            "imu/torso",
            lambda message: heard.append(message),
            10,
        )
        wires.wait(lambda: wires.node.is_heard("imu/<imu>", "torso"), "the torso's IMU is heard")
        wires.node.tick()
        wires.wait(lambda: heard and wires.counts["joint_states"], "sensors are published")
        joints, imu, torso = wires.heard["joint_states"], wires.heard["imu"], heard[0]
        assert (imu.header.frame_id, torso.header.frame_id) == ("imu_in_pelvis", "imu_in_torso")
        assert nanoseconds(imu.header.stamp) == nanoseconds(joints.header.stamp)
        assert imu.orientation_covariance[0] == -1.0
        acc = imu.linear_acceleration
        np.testing.assert_allclose((acc.x, acc.y, acc.z), (0.0, 0.0, 9.81), atol=0.02)
        moved = np.asarray(joints.position) - wires.node._live.world.q[7:]
        assert 3e-4 < moved.std() < 3e-3
        assert not np.any(joints.effort)
        command = JointState(name=["left_knee_joint"], effort=[5.0])
        command.header.stamp = wires.now()
        wires.out["joint_torque_commands"].publish(command)
        wires.wait(lambda: wires.node._live.begun, "the command has come")
        wires.node.tick()
        wires.wait(lambda: np.any(wires.heard["joint_states"].effort), "efforts are published")
        efforts = dict(zip(joints.name, wires.heard["joint_states"].effort, strict=True))
        assert efforts.pop("left_knee_joint") == 5.0
        assert not any(efforts.values())
    finally:
        wires.end()
