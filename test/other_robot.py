# SPDX-License-Identifier: Apache-2.0
"""A robot in MuJoCo behind the topics of a robot: torque motors, soft ground, sensors that err, a line that delays and loses."""

from collections import deque
from dataclasses import dataclass
from threading import Condition

import mujoco
import numpy as np
import pinocchio as pin
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from benchmarks.mujoco_step import build_model
from humanoid_dynamics.nodes.messages import (
    SECOND,
    doubles,
    nanoseconds,
    to_stamp,
    write_odometry,
    write_wrench,
)

STEP = 1e-3  # s
SUNK = 8e-4  # m; how deep soles that bear the robot are in the soft ground
BEGIN = 1.0  # s; time does not begin at zero, which stands for no time


@dataclass(frozen=True)
class Line:
    """Standard deviations of what is measured, and what becomes of it on the way.

    Attributes:
        place: Of the place of the base [m].
        turn: Of its axes [rad].
        joints: Of joint angles [rad].
        velocity: Of the velocity of the base [m/s, rad/s], and of the joints [rad/s].
        force: Of normal forces [N].
        delay: How old a state is when it is told [s].
        loss: Share of the states, and of the commands, that never come [-].
    """

    place: float = 1e-3
    turn: float = np.deg2rad(0.2)
    joints: float = np.deg2rad(0.02)
    velocity: float = 5e-3
    force: float = 5.0
    delay: float = 0.01
    loss: float = 0.01


class OtherRobot:
    """The robot in its resting posture on the ground; it hangs on its gantry until the first command."""

    def __init__(self, robot, friction=0.8):
        self.robot, self.hangs, self.t = robot, True, BEGIN
        self.model = build_model(mujoco, robot)
        self.model.opt.timestep = STEP
        self.model.geom_friction[:, 0] = friction
        self.data = data = mujoco.MjData(self.model)
        joints = {joint.name: self.model.joint(joint.name).id for joint in robot.joints[1:]}
        self.names, numbers = list(joints), list(joints.values())
        self._q, self._v = self.model.jnt_qposadr[numbers], self.model.jnt_dofadr[numbers]
        self._motors = self.model.jnt_dofadr[[joints[name] for name in robot.actuated]]
        self._effort = robot.limits.effort[robot.actuated_v]
        self._owner = {}
        for name in robot.stance:
            body = self.model.body(robot.surface(name).link).id
            self._owner |= {
                geom: name
                for geom in range(self.model.ngeom)
                if self.model.geom_bodyid[geom] == body
            }
        q = robot.posture
        data.qpos[:7] = (*q[:2], q[2] - SUNK, q[6], *q[3:6])
        data.qpos[self._q] = [q[joint.q.start] for joint in robot.joints[1:]]
        mujoco.mj_forward(self.model, data)
        self.tau, self.force, self._start = np.zeros(len(robot.actuated)), np.zeros(3), np.array(q)

    def sense(self, line, rng):
        """Return time, pose, twist, angles, rates and normal forces as they are measured now."""
        data = self.data
        w, x, y, z = data.qpos[3:7]
        R = pin.Quaternion(w, x, y, z).normalized().matrix()
        turned = pin.Quaternion(R @ pin.exp3(line.turn * rng.normal(size=3))).coeffs()
        pose = np.concatenate((data.qpos[:3] + line.place * rng.normal(size=3), turned))
        twist = np.concatenate((R.T @ data.qvel[:3], data.qvel[3:6])) + line.velocity * rng.normal(
            size=6
        )
        angles = data.qpos[self._q] + line.joints * rng.normal(size=len(self._q))
        rates = data.qvel[self._v] + line.velocity * rng.normal(size=len(self._v))
        forces, wrench = dict.fromkeys(self.robot.stance, 0.0), np.zeros(6)
        for i in range(data.ncon):
            name = self._owner.get(data.contact[i].geom2) or self._owner.get(data.contact[i].geom1)
            mujoco.mj_contactForce(self.model, data, i, wrench)
            if name:
                forces[name] += wrench[0]
        return (
            self.t,
            pose,
            twist,
            angles,
            rates,
            {name: force + line.force * rng.normal() for name, force in forces.items()},
        )

    def step(self):
        self.t += STEP
        if self.hangs:
            return
        self.data.qfrc_applied[:] = 0.0
        self.data.qfrc_applied[self._motors] = np.clip(self.tau, -self._effort, self._effort)
        self.data.qfrc_applied[:3] += self.force
        mujoco.mj_step(self.model, self.data)

    @property
    def com(self):
        return np.array(self.data.subtree_com[0])

    @property
    def upright(self):
        x, y = self.data.qpos[4:6]
        return self.data.qpos[2] > 0.7 * self._start[2] and 1.0 - 2.0 * (x * x + y * y) > 0.7


class OtherRobotNode(Node):
    """Shows the robot on topics; its time stands still until a state that was told is answered."""

    def __init__(self, robot, line, seed, rate=500.0, patience=2.0):
        super().__init__(
            "other_robot", namespace="/other", cli_args=["--ros-args", "-r", "/clock:=/other/clock"]
        )
        self.robot, self.line, self.rng = OtherRobot(robot), line, np.random.default_rng(seed)
        self.every, self.patience, self.worst_step = round(1.0 / (rate * STEP)), patience, 0.0
        self._waiting, self._answered, self._came = deque(), -1, Condition()
        kinds = {"odom": Odometry, "joint_states": JointState, "clock": Clock}
        kinds |= {f"contact_wrenches/{name}": WrenchStamped for name in robot.stance}
        self._told = {name: self.create_publisher(kind, name, 10) for name, kind in kinds.items()}
        self.create_subscription(JointState, "joint_torque_commands", self._on_command, 10)

    def _on_command(self, message):
        with self._came:
            tau = np.array(message.effort)
            assert np.isfinite(tau).all()
            assert list(message.name) == list(self.robot.robot.actuated)
            if self.rng.random() >= self.line.loss:
                if not self.robot.hangs:
                    self.worst_step = max(
                        self.worst_step, float(np.abs(tau - self.robot.tau).max())
                    )
                self.robot.tau, self.robot.hangs = tau, False
            self._answered = nanoseconds(message.header.stamp)
            self._came.notify()

    def advance(self):
        """Tell a state, wait for its answer, and take a period."""
        robot = self.robot
        self._waiting.append(robot.sense(self.line, self.rng))
        self._told["clock"].publish(Clock(clock=to_stamp(robot.t)))
        while self._waiting and self._waiting[0][0] <= robot.t - self.line.delay + 0.5 * STEP:
            state = self._waiting.popleft()
            if self.rng.random() >= self.line.loss:
                self._tell(*state)
        for _ in range(self.every):
            robot.step()

    def _tell(self, t, pose, twist, angles, rates, forces):
        stamp = to_stamp(t)
        if not self.robot.hangs:
            for name, force in forces.items():
                message = write_wrench(np.array((0.0, 0.0, force)), np.zeros(3), stamp, name)
                self._told[f"contact_wrenches/{name}"].publish(message)
        self._told["odom"].publish(
            write_odometry(pose, twist, stamp, ("odom", self.robot.robot.links[0]))
        )
        message = JointState(name=self.names, position=doubles(angles), velocity=doubles(rates))
        message.header.stamp = stamp
        self._told["joint_states"].publish(message)
        with self._came:
            self._came.wait_for(lambda: self._answered >= round(t * SECOND), self.patience)

    @property
    def names(self):
        return self.robot.names
