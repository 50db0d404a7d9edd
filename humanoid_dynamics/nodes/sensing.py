# SPDX-License-Identifier: Apache-2.0
"""Topics of the simulator's sensors: IMUs, and joint states with noise and efforts."""

from __future__ import annotations

from builtin_interfaces.msg import Time

from humanoid_dynamics.model.imu import BASE, Imu
from humanoid_dynamics.nodes.adapter import AdapterNode
from humanoid_dynamics.nodes.configs import SimulatorConfig
from humanoid_dynamics.nodes.messages import to_stamp, write_imu, write_joint_state
from humanoid_dynamics.nodes.wire import Form, mark
from humanoid_dynamics.simulation.live import LiveWorld
from humanoid_dynamics.simulation.sensors import Sensors, SensorSettings


class SensorPublisher:
    """Publishes what the sensors of a simulated robot measure.

    Attributes:
        imus: Names of the IMUs.
    """

    def __init__(self, node: AdapterNode, live: LiveWorld, config: SimulatorConfig) -> None:
        """Prepare messages.

        Args:
            node: The node that publishes.
            live: Its simulation.
            config: Its parameters.
        """
        self._node = node
        self._settings = SensorSettings(
            config.encoder_noise, config.velocity_noise, config.effort_noise, config.seed
        )
        self._sensors = Sensors(live.world, self._settings)
        imus, n, still = live.world.robot.imus, len(self._sensors.names), Time()
        self.imus = tuple(imus)
        self._imu_forms = {
            name: Form(write_imu(mark(0, 3), mark(1, 3), still, name_frame(imu, node)), 3, 3)
            for name, imu in imus.items()
        }
        states = write_joint_state(self._sensors.names, mark(0, n), mark(1, n), still, mark(2, n))
        self._joint_form = Form(states, n, n, n)

    def publish(self, live: LiveWorld, t: float) -> None:
        """Sample and publish; the joints last, because controllers wait for them.

        Args:
            live: The simulation.
            t: Time that the samples are stamped with [s].
        """
        if live.world is not self._sensors.world:  # after a reset
            self._sensors = Sensors(live.world, self._settings)
        sensors = self._sensors
        sensors.sample(t, still=live.paused or not live.begun)
        for name in self.imus:
            for sample in sensors.deliver(name, t):
                message = self._imu_forms[name].write(to_stamp(sample.t), sample.gyro, sample.acc)
                self._node.out("imu/<imu>", name).publish(message)
                if name == BASE:
                    self._node.out("imu").publish(message)
        joints = sensors.joints
        self._node.out("joint_states").publish(
            self._joint_form.write(to_stamp(t), joints.position, joints.velocity, joints.effort)
        )


def name_frame(imu: Imu, node: AdapterNode) -> str:
    """Return the frame of an IMU: that of its link, or one of its own where it has another pose.

    Args:
        imu: The IMU.
        node: The node that publishes.
    """
    same = imu.X_LI.isIdentity()
    return node.frame_prefix + (imu.link if same else f"imu_{imu.name}")
