# SPDX-License-Identifier: Apache-2.0
"""The question all routes are asked: a robot on its soles, moving a little, the soles at rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from humanoid_dynamics.constraints.contact import build_contact
from humanoid_dynamics.contact.wrench import wrench_basis
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.errors import UnsupportedRobotError
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector

STATES = 16
SEED = 20
WHOLE_WRENCH = 6
POSTURE_SPREAD, SPEED, ACCELERATION = 0.02, 0.2, 1.0  # rad, rad/s, rad/s²


@dataclass(frozen=True, eq=False)
class Motion:
    """Where the robot is and how it moves at one instant.

    Attributes:
        q: (nq,) configuration.
        v: (nv,) velocity; the soles are at rest.
        a: (nv,) acceleration; the soles stay at rest.
    """

    q: Vector
    v: Vector
    a: Vector


@dataclass(frozen=True, eq=False)
class Stand:
    """A robot on its soles and motions to ask about; ``use`` writes one of them where every route reads it.

    Attributes:
        robot: The robot, without armature.
        frames: Frames of the soles.
        motions: What is asked, by turns.
        q: (nq,) configuration asked about now.
        v: (nv,) velocity asked about now.
        a: (nv,) acceleration asked about now.
    """

    robot: RobotModel
    frames: tuple[int, ...]
    motions: tuple[Motion, ...]
    q: Vector
    v: Vector
    a: Vector

    def use(self, number: int) -> None:
        """Ask about the motion of a round.

        Args:
            number: Number of the round; the motions take turns.
        """
        motion = self.motions[number % len(self.motions)]
        self.q[:], self.v[:], self.a[:] = motion.q, motion.v, motion.a

    def mechanism(self) -> Mechanism:
        """Return the robot with its soles held, a work space of its own."""
        return Mechanism(
            self.robot, [build_contact(self.robot, name) for name in self.robot.stance]
        )

    def worst(self, difference: Callable[[], float]) -> float:
        """Return the largest of a number over all motions.

        Args:
            difference: The number for the motion in use.

        Returns:
            The largest; NaN if one is not a number.
        """
        values = []
        for number in range(len(self.motions)):
            self.use(number)
            values.append(difference())
        return float(np.max(values))


def build_stand(name: str) -> Stand:
    """Load a robot, take its armature away and make motions for it.

    Args:
        name: Catalogue name, or path of a URDF or xacro file.

    Returns:
        The robot with motions.

    Raises:
        UnsupportedRobotError: If it stands on nothing, on points, or has loops of its own.
    """
    loaded = load_robot(name)
    _check_soles(loaded)
    model = loaded.model.copy()
    model.armature = np.zeros(model.nv)
    robot = replace(loaded, model=model)
    robot.check_inertia("bench")
    frames = tuple(robot.surface(surface).frame for surface in robot.stance)
    motions = _build_motions(robot)
    return Stand(robot, frames, motions, np.zeros(robot.nq), np.zeros(robot.nv), np.zeros(robot.nv))


def _check_soles(robot: RobotModel) -> None:
    """Refuse a robot whose only constraints are not soles that carry whole wrenches: floors and literal routes are made for those."""
    if not robot.stance:
        raise UnsupportedRobotError(
            "bench", [robot.name], "a robot that stands on no contact surface"
        )
    points = [
        name for name in robot.stance if wrench_basis(robot.surface(name)).shape[1] < WHOLE_WRENCH
    ]
    if points:
        raise UnsupportedRobotError("bench", points, "soles that carry no whole wrench")
    if robot.loops or robot.mimics:
        closures = [loop.name for loop in robot.loops] + [mimic.joint for mimic in robot.mimics]
        raise UnsupportedRobotError(
            "bench", closures, "a robot with loops or joints that follow others"
        )


def _build_motions(robot: RobotModel) -> tuple[Motion, ...]:
    rng = np.random.default_rng(SEED)
    mechanism = Mechanism(robot, [build_contact(robot, name) for name in robot.stance])
    motions = []
    for _ in range(STATES):
        q = np.array(
            pin.integrate(
                robot.model, robot.posture, POSTURE_SPREAD * rng.standard_normal(robot.nv)
            )
        )
        mechanism.place(q)
        v = mechanism.null_space.Gamma @ (SPEED * rng.standard_normal(mechanism.nu))
        mechanism.update(q, v)
        a = (
            mechanism.null_space.Gamma @ (ACCELERATION * rng.standard_normal(mechanism.nu))
            + mechanism.null_space.beta
        )
        motions.append(Motion(q, v, a))
    return tuple(motions)
