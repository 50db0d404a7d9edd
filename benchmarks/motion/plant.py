# SPDX-License-Identifier: Apache-2.0
"""MuJoCo as an independent plant: torque-driven joints, four corner spheres a sole, Coulomb friction.

The plant knows nothing of our dynamics; states are exchanged in our coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.optimize import nnls

from benchmarks.mujoco_step import build_model, import_mujoco
from humanoid_dynamics.filtering.fallen import has_fallen
from humanoid_dynamics.filtering.filter import DynamicsFilter
from humanoid_dynamics.filtering.frame import Frame
from humanoid_dynamics.filtering.proportions import upward_of
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.filtering.ticks.tick import TickSettings
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.contact_detection import detect_contacts
from humanoid_dynamics.motion.derivatives import differentiate
from humanoid_dynamics.motion.resampling import resample
from humanoid_dynamics.spatial.arrays import Matrix, Vector

FRICTION, STEP = 0.8, 1e-3  # -, s
CONTROL, HOLD = (
    0.005,
    1.0,
)  # s: period of a controller; time a motion is held still before and after it
SUNK = 8e-4  # m; depth of loaded soles in MuJoCo's soft ground
EFFORT_SLACK = 1e-9  # N·m
SOFT = 0.005  # m; margin of the centre of pressure that soft ground asks for
STIFF = 0.004  # s; time constant of stiffer ground
GAINS = {"hip": 100.0, "knee": 150.0, "ankle": 40.0}  # N·m/rad; other joints have that of the ankle
SMOOTHING = 6.0  # Hz; low-pass of recorded motions before they are differentiated
State = tuple[Vector, Vector]


@dataclass(frozen=True)
class Noise:
    """Standard deviations of measurements: place [m], turn [rad], joints [rad], velocity [m/s], rates [rad/s]."""

    place: float = 1e-3
    turn: float = np.deg2rad(0.2)
    joints: float = 1e-3
    velocity: float = 5e-3
    rates: float = 0.02


class Plant:
    """A robot in MuJoCo.

    Args:
        robot: The robot, with a floating base.
        friction: Coulomb coefficient of the ground.
        mass: Factor on mass and inertia of every body.
    """

    def __init__(self, robot: RobotModel, friction: float = FRICTION, mass: float = 1.0) -> None:
        self.robot = robot
        self.mujoco: Any = import_mujoco()
        self.model = build_model(self.mujoco, robot)
        self.model.opt.timestep = STEP
        self.model.geom_friction[:, 0] = friction
        self.model.body_mass *= mass
        self.model.body_inertia *= mass
        self.data = self.mujoco.MjData(self.model)
        joints = [self.model.joint(joint.name).id for joint in robot.joints[1:]]
        self._q, self._v = self.model.jnt_qposadr[joints], self.model.jnt_dofadr[joints]
        self._effort = robot.limits.effort[6:] + EFFORT_SLACK

    def place(self, q: Vector, v: Vector) -> None:
        """Set the state."""
        data = self.data
        R = pin.Quaternion(q[3:7]).matrix()
        data.qpos[:7] = (*q[:2], q[2] - SUNK, q[6], *q[3:6])
        data.qpos[self._q], data.qvel[self._v] = q[7:], v[6:]
        data.qvel[:3], data.qvel[3:6] = R @ v[:3], v[3:6]
        self.mujoco.mj_forward(self.model, data)

    def state(self) -> State:
        """Return configuration and velocity."""
        data = self.data
        w, x, y, z = data.qpos[3:7]
        q = np.concatenate((data.qpos[:3], [x, y, z, w], data.qpos[self._q]))
        q[3:7] /= np.linalg.norm(q[3:7])
        R = pin.Quaternion(q[3:7]).matrix()
        return q, np.concatenate((R.T @ data.qvel[:3], data.qvel[3:6], data.qvel[self._v]))

    def soften(self, damping: Vector, base: Vector | None = None) -> None:
        """Give joints, and the base where wanted, damping that MuJoCo integrates implicitly: explicit damping is unstable."""
        self.model.dof_damping[self._v] = damping
        if base is not None:
            self.model.dof_damping[:6] = base

    def drive(
        self, tau: Vector, count: int, push: Vector | None = None, twist: Vector | None = None
    ) -> None:
        """Take steps with joint torques, damping included, inside the limits of the motors.

        Args:
            tau: (nv - 6,) torques [N·m].
            count: Steps.
            push: (3,) force at the base in world axes [N].
            twist: (3,) moment at the base in its own axes [N·m].
        """
        data = self.data
        data.qfrc_applied[:] = 0.0
        damping = self.model.dof_damping[self._v] * data.qvel[self._v]
        data.qfrc_applied[self._v] = np.clip(tau - damping, -self._effort, self._effort) + damping
        if push is not None:
            data.qfrc_applied[:3] += push
        if twist is not None:
            data.qfrc_applied[3:6] += twist
        for _ in range(count):
            self.mujoco.mj_step(self.model, data)


def measure(
    robot: RobotModel, state: State, noise: Noise | None, rng: np.random.Generator
) -> State:
    """Return a state as sensors measure it."""
    q, v = state
    if noise is None:
        return q, v
    error = rng.normal(size=robot.nv) * np.concatenate(
        ([noise.place] * 3, [noise.turn] * 3, np.full(robot.nv - 6, noise.joints))
    )
    rates = rng.normal(size=robot.nv) * np.concatenate(
        ([noise.velocity] * 3, np.full(robot.nv - 3, noise.rates))
    )
    return pin.integrate(robot.model, q, error), v + rates


def run_closed_loop(
    robot: RobotModel,
    samples: Iterable[tuple[float, Vector]],
    *,
    seed: int | None = None,
    settings: Settings | None = None,
    tick: TickSettings | None = None,
    push: Callable[[float], Vector | None] | None = None,
    plant: Plant | None = None,
) -> tuple[float | None, list[Frame], list[State]]:
    """Let the filter drive the plant with torques alone, from the measured state.

    Args:
        robot: The robot.
        samples: Time and configuration of the reference.
        seed: Of the noise; measurements are exact where None.
        settings: Settings of the filter.
        tick: Settings of its tick.
        push: Force at the base at a time.
        plant: The plant; one of the robot where None.

    Returns:
        Time of the fall or None, frames of the filter, and states of the plant.
    """
    flow = DynamicsFilter(robot, settings=settings, tick=tick or TickSettings(inside=SOFT))
    plant, rng = plant or Plant(robot), np.random.default_rng(seed)
    noise = None if seed is None else Noise()
    count = round(flow.settings.dt / STEP)
    frames: list[Frame] = []
    states: list[State] = []

    def advance() -> bool:
        while flow.ready:
            frame = flow.step(measure(robot, plant.state(), noise, rng) if frames else None)
            if frame is None:
                break
            if not frames:
                plant.place(frame.q, frame.v)
            plant.drive(frame.tau, count, None if push is None else push(frame.time))
            frames.append(frame)
            states.append(plant.state())
            if has_fallen(states[-1][0], flow.proportions.pelvis, flow.proportions.up):
                return False
        return True

    for time, q in samples:
        flow.update(time, q)
        if not advance():
            return frames[-1].time, frames, states
    flow.finish()
    fell = None if advance() else frames[-1].time
    return fell, frames, states


def joint_gains(robot: RobotModel) -> Vector:
    """Return a stiffness for each joint [N·m/rad]."""
    gains = [
        next((gain for part, gain in GAINS.items() if part in joint.name), GAINS["ankle"])
        for joint in robot.joints[1:]
    ]
    return np.array(gains)


def replay(
    robot: RobotModel,
    clip: Clip,
    stiffness: float,
    torques: list[Vector] | None = None,
    stiff_ground: bool = False,
) -> float | None:
    """Let the plant follow a clip with torques of inverse dynamics, and springs and dampers at the joints.

    Args:
        robot: The robot.
        clip: The motion.
        stiffness: Factor on ``GAINS``; damping goes with its square root.
        torques: Those of a clip that stands still before and after; by inverse dynamics where None, and the clip is held before and after.
        stiff_ground: Whether the ground is twenty-five times stiffer than MuJoCo's default.

    Returns:
        The time of the fall [s], or None.
    """
    if torques is None:
        moving, feed, hold = *explain(robot, clip), round(HOLD / CONTROL)
    else:
        moving, feed, hold = clip, torques, 0
    kp = stiffness * joint_gains(robot)
    kd = 0.1 * kp / np.sqrt(stiffness)
    plant = Plant(robot)
    plant.soften(kd)
    if stiff_ground:
        plant.model.geom_solref[:, 0] = STIFF
    start = settle(robot, moving)
    plant.place(start, np.zeros(robot.nv))
    for row in range(-hold, len(moving) + hold):
        k = min(max(row, 0), len(moving) - 1)
        still = 0.0 if row != k else 1.0
        for _ in range(round(CONTROL / STEP)):
            plant.drive(
                feed[k]
                + kp * (moving.q[k][7:] - plant.state()[0][7:])
                + still * kd * _rates(moving)[k][6:],
                1,
            )
        if has_fallen(plant.state()[0], start[2], upward_of(robot.posture)):
            return (row + hold) * CONTROL
    return None


def settle(robot: RobotModel, clip: Clip) -> Vector:
    """Return the first configuration of a clip with its lowest sole corner on the ground."""
    start = np.array(clip.q[0])
    start[2] -= float(np.min(_corners(robot, start)[:, 2]))
    return start


def explain(robot: RobotModel, clip: Clip) -> tuple[Clip, list[Vector]]:
    """Return a motion at every period of the controller, and joint torques with contact forces inside cones that explain it best.

    Args:
        robot: The robot.
        clip: The motion, as recorded.

    Returns:
        The motion with velocities and accelerations, and (nv - 6,) torques of each row.
    """
    even = resample(clip, 1.0 / CONTROL)
    moving = differentiate(even.change(v=None, a=None), SMOOTHING)
    labels, soles, data = detect_contacts(even).labels(even.times), find_soles(robot), robot.data()
    return moving, [
        _feed_forward(robot, data, moving, row, [bool(labels[s.name][row]) for s in soles])
        for row in range(len(moving))
    ]


def _rates(clip: Clip) -> Matrix:
    if clip.v is None:
        raise ValueError("expected a clip with velocities")
    return clip.v


def _corners(robot: RobotModel, q: Vector) -> Matrix:
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, q)
    return np.vstack(
        [
            [data.oMf[sole.frame].act(corner) for corner in np.asarray(sole.vertices)]
            for sole in find_soles(robot)
        ]
    )


def _feed_forward(
    robot: RobotModel, data: pin.Data, moving: Clip, row: int, stands: list[bool]
) -> Vector:
    """Return the torques of a motion with ground forces at the corners of standing soles that explain as much of it as they can."""
    if moving.v is None or moving.a is None:
        raise ValueError("expected a clip with velocities and accelerations")
    q, v, a = moving.q[row], moving.v[row], moving.a[row]
    tau = pin.rnea(robot.model, data, q, v, a)
    pin.computeJointJacobians(robot.model, data, q)
    pin.updateFramePlacements(robot.model, data)
    columns = []
    for sole, stand in zip(find_soles(robot), stands, strict=True):
        if not stand:
            continue
        J = pin.getFrameJacobian(
            robot.model, data, sole.frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        )
        for corner in np.asarray(sole.vertices):
            arm = data.oMf[sole.frame].rotation @ corner
            at = J[:3] - pin.skew(arm) @ J[3:]
            columns += [
                at.T @ np.array((FRICTION * x, FRICTION * y, 1.0))
                for x, y in ((0.7, 0), (-0.7, 0), (0, 0.7), (0, -0.7))
            ]
    if not columns:
        return np.array(tau[6:])
    A = np.column_stack(columns)
    force, _ = nnls(A[:6], tau[:6], maxiter=1000)
    return np.array((tau - A @ force)[6:])
