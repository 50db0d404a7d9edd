# SPDX-License-Identifier: Apache-2.0
"""The reference step on a robot: down on the heel, flat, up on the toe; in its plane, or in space with a sway from foot to foot.

The left foot is the rear one.  Before t0 it bears all; from t0 on the front foot stands on its heel, from t1 on it is flat and the rear
foot stands on its toe, which lifts off at t2.  Feet land without speed [BP, assumption 3].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import UnsupportedRobotError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.walking.gait_r1 import GaitR1, Track
from humanoid_dynamics.papers.biped.step import find_phase
from humanoid_dynamics.spatial.arrays import Matrix, Vector

REAR, FRONT = "left_foot", "right_foot"
HEEL, TOE = "_heel", "_toe"
CONTACTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "SSP": (REAR,),
        "DSP1": (REAR, FRONT + HEEL),
        "DSP2": (REAR + TOE, FRONT),
        "SSP_NEXT": (FRONT,),
    }
)
"""What touches in each phase, the rear foot first."""

LWA = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
EXACT = 1e-13  # m or rad; miss of the feet
MOST_STEPS = 30
GRAVITY = 9.81

MotionAt: TypeAlias = Callable[[float], tuple[Vector, Vector, Vector]]


@dataclass(frozen=True, eq=False)
class RollingStep:
    """A step that a robot can be asked about at any time.

    Attributes:
        robot: The robot, with heels and toes among its surfaces.
        gait: The gait it follows.
        at: Time [s] -> configuration, velocity, acceleration.
    """

    robot: RobotModel
    gait: GaitR1
    at: MotionAt = field(repr=False)

    @property
    def switches(self) -> tuple[float, float, float]:
        """t0, t1, t2: where contacts change [s]."""
        return self.gait.switches

    def phase(self, t: float) -> str:
        """Return the phase of a time; a switch belongs to the later phase."""
        return find_phase(t, self.switches).name


def build_planar_step(robot: RobotModel, gait: GaitR1 | None = None) -> RollingStep:
    """Put the step on a planar robot, such as ``biped7``, joint by joint.

    Args:
        robot: A robot with the joints of ``biped7`` and a planar root.
        gait: The gait; R1 where None.

    Returns:
        The step.

    Raises:
        UnsupportedRobotError: If the root is not planar or soles are not those of the gait.
    """
    gait = gait or GaitR1()
    if robot.root != "planar":
        raise UnsupportedRobotError("a planar step", [robot.root], "the root must be planar, it is")
    rolling = add_heels_and_toes(robot, gait)
    return RollingStep(rolling, gait, lambda t: _planar_motion(rolling, gait, t))


def build_spatial_step(robot: RobotModel, gait: GaitR1 | None = None) -> RollingStep:
    """Put the step on a robot with a free base and two legs of six joints, such as ``legs12`` or ``human28``.

    Hip, trunk and feet move in the plane of walking as those of the planar gait do; feet stand below the hips of the resting posture, and
    the hip sways from above one to above the other as an inverted pendulum on the feet does.  Legs follow by inverse kinematics, joints
    beside them rest.

    Args:
        robot: The robot; the origin of its base is the middle between its hips.
        gait: The gait; R1 where None.

    Returns:
        The step.

    Raises:
        UnsupportedRobotError: If the base is not free, or soles are not those of the gait.
    """
    gait = gait or GaitR1()
    if robot.root != "free_flyer":
        raise UnsupportedRobotError("a step in space", [robot.root], "the root must be free, it is")
    rolling = add_heels_and_toes(robot, gait)
    legs = _SpatialLegs(rolling, gait)
    return RollingStep(rolling, gait, legs.motion)


def add_heels_and_toes(robot: RobotModel, gait: GaitR1) -> RobotModel:
    """Return the robot with the hindmost and foremost corners of each sole as surfaces of their own.

    Args:
        robot: The robot, with soles ``left_foot`` and ``right_foot``.
        gait: The gait whose feet they must be.

    Returns:
        The robot with surfaces such as ``left_foot_heel`` and ``left_foot_toe``.

    Raises:
        UnsupportedRobotError: If heel and toe are not where the gait has them.
    """
    surfaces, body = dict(robot.surfaces), gait.parameters.body
    for foot in (REAR, FRONT):
        sole = robot.surface(foot)
        x = sole.vertices[:, 0]
        if (
            max(
                abs(x.min() + body.heel),
                abs(x.max() - body.toe),
                abs(sole.X_LC.translation[2] + body.ankle_height),
            )
            > 1e-9
        ):
            raise UnsupportedRobotError(
                "a step", [foot], "heel, toe and height of the ankle must be those of the gait"
            )
        for ending, edge in ((HEEL, x == x.min()), (TOE, x == x.max())):
            surfaces[foot + ending] = replace(
                sole, name=foot + ending, vertices=sole.vertices[edge]
            )
    return replace(robot, surfaces=MappingProxyType(surfaces))


def _planar_motion(robot: RobotModel, gait: GaitR1, t: float) -> tuple[Vector, Vector, Vector]:
    """Absolute angles to joint angles."""
    motion, hip = gait.at(t), gait.points(t)[4]
    q, v, a = np.zeros(robot.nq), np.zeros(robot.nv), np.zeros(robot.nv)
    for out, theta, place, turn in (
        (q, motion.theta, hip.value, 0.5 * np.pi),
        (v, motion.rate, hip.rate, 0.0),
        (a, motion.acceleration, hip.acceleration, 0.0),
    ):
        out[:2], out[2] = place, turn - theta[3]
        for side, foot, shank, thigh in (("left", 0, 1, 2), ("right", 6, 5, 4)):
            for joint, value in (
                ("hip", theta[3] - theta[thigh]),
                ("knee", theta[thigh] - theta[shank]),
                ("ankle", theta[shank] - theta[foot] - turn),
            ):
                out[robot.joint(f"{side}_{joint}").q.start] = value
    return q, v, a


class _SpatialLegs:
    """Legs that follow feet and hip."""

    def __init__(self, robot: RobotModel, gait: GaitR1) -> None:
        self._robot, self._gait, self._data = robot, gait, robot.data()
        pin.framesForwardKinematics(robot.model, self._data, robot.posture)
        soles = [robot.surfaces[foot] for foot in (REAR, FRONT)]
        self._soles = [sole.frame for sole in soles]
        self._ankles = [sole.X_LC.translation for sole in soles]
        self._aside = [float(self._data.oMf[sole.frame].translation[1]) for sole in soles]
        chains = [
            robot.model.supports[robot.model.frames[sole.frame].parentJoint] for sole in soles
        ]
        self._legs = np.array(
            sorted({robot.model.idx_vs[j] for chain in chains for j in chain if j > 1})
        )
        t0, _, t2, t3 = *gait.switches, gait.parameters.times[3]
        self._middle, self._rate = 0.5 * (t0 + t2), math.pi / (t3 - t0)
        height = float(gait.points(self._middle)[4].value[1])
        self._sway = (
            0.5 * (self._aside[0] - self._aside[1]) / (1.0 + self._rate**2 * height / GRAVITY)
        )

    def motion(self, t: float) -> tuple[Vector, Vector, Vector]:
        model = self._robot.model
        rear_pitch, rear, front_pitch, front, hip = self._gait.points(t)
        feet = ((rear_pitch, rear), (front_pitch, front))
        pose, base_v, base_a = self._base(t, hip)
        q = np.array(self._robot.posture)
        q[:7] = pin.SE3ToXYZQUAT(pose)
        wanted = [self._place(k, *foot) for k, foot in enumerate(feet)]
        columns = self._legs - model.nv + model.nq
        for _ in range(MOST_STEPS):
            J, now, _ = self._kinematics(q, np.zeros(model.nv))
            miss = np.concatenate(
                [_difference(X, X_now) for X, X_now in zip(wanted, now, strict=True)]
            )
            q[columns] += np.linalg.solve(J[:, self._legs], miss)
            if np.abs(miss).max() < EXACT:
                break
        J, _, _ = self._kinematics(q, np.zeros(model.nv))
        rates, accelerations = (
            np.concatenate([self._move(name, k, *foot) for k, foot in enumerate(feet)])
            for name in ("rate", "acceleration")
        )
        v, a = np.zeros(model.nv), np.zeros(model.nv)
        v[:6], a[:6] = base_v, base_a
        v[self._legs] = np.linalg.solve(J[:, self._legs], rates - J[:, :6] @ base_v)
        J, _, drift = self._kinematics(q, v)
        a[self._legs] = np.linalg.solve(J[:, self._legs], accelerations - drift - J[:, :6] @ base_a)
        return q, v, a

    def _base(self, t: float, hip: Track) -> tuple[pin.SE3, Vector, Vector]:
        R = pin.utils.rotate("y", 0.5 * math.pi - self._gait.parameters.trunk)
        angle = self._rate * (t - self._middle)
        aside = -self._sway * np.array(
            [math.sin(angle), self._rate * math.cos(angle), -(self._rate**2) * math.sin(angle)]
        )
        p, dp, ddp = (
            np.array([x[0], y, x[1]])
            for x, y in zip((hip.value, hip.rate, hip.acceleration), aside, strict=True)
        )
        zero = np.zeros(3)
        return pin.SE3(R, p), np.concatenate((R.T @ dp, zero)), np.concatenate((R.T @ ddp, zero))

    def _place(self, foot: int, pitch: Track, ankle: Track) -> pin.SE3:
        R = pin.utils.rotate("y", -float(pitch.value))
        return pin.SE3(
            R,
            np.array([ankle.value[0], self._aside[foot], ankle.value[1]]) + R @ self._ankles[foot],
        )

    def _move(self, what: str, foot: int, pitch: Track, ankle: Track) -> Vector:
        """Return velocity or acceleration of a sole, axes of the world, linear first."""
        arm = pin.utils.rotate("y", -float(pitch.value)) @ self._ankles[foot]
        turning, along = np.array([0.0, -float(getattr(pitch, what)), 0.0]), getattr(ankle, what)
        linear = np.array([along[0], 0.0, along[1]]) + np.cross(turning, arm)
        if what == "acceleration":
            linear -= float(pitch.rate) ** 2 * arm * np.array([1.0, 0.0, 1.0])
        return np.concatenate((linear, turning))

    def _kinematics(self, q: Vector, v: Vector) -> tuple[Matrix, list[pin.SE3], Vector]:
        """Return the Jacobian of both soles, where they are, and their accelerations at a = 0."""
        model, data = self._robot.model, self._data
        pin.computeJointJacobians(model, data, q)
        pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
        places = [pin.SE3(pin.updateFramePlacement(model, data, frame)) for frame in self._soles]
        J = np.vstack([pin.getFrameJacobian(model, data, frame, LWA) for frame in self._soles])
        drift = np.concatenate(
            [
                pin.getFrameClassicalAcceleration(model, data, frame, LWA).vector
                for frame in self._soles
            ]
        )
        return J, places, drift


def _difference(wanted: pin.SE3, now: pin.SE3) -> Vector:
    return np.concatenate(
        (wanted.translation - now.translation, pin.log3(wanted.rotation @ now.rotation.T))
    )
