# SPDX-License-Identifier: Apache-2.0
"""What joints do by themselves: drives that hold a posture, damping, dry friction; stiff ones are taken implicitly.

An explicit proportional-derivative law at a millisecond makes a light wrist explode.  Here tau = Kp (q_ref - q) - Kd v is taken within
the step, at a share s of it: in the middle, which is of second order and keeps the energy of a spring, and the nearer to the end the
stiffer the joint is, where nothing rings.  This adds s (dt Kd + dt^2/2 Kp) to the diagonal of the inertia, stable for any gain.  Dry
friction is a damping that grows until it carries its whole force, and nearly locks a joint that stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike
from scipy.linalg import lapack

from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.simulation.steps.rows import (
    CUT,
    DAMPING,
    DRAG,
    DRY,
    DT,
    EFFORT,
    EXTRA,
    GIVEN,
    INERTIA,
    KD,
    KP,
    LOSS,
    LOST,
    MOTOR,
    OFFSET,
    OVERLOADED,
    PULL,
    SAG,
    V_END,
    V_MIDDLE,
    V,
)
from humanoid_dynamics.simulation.steps.tree_kernels import CARE, CREEP, SLACK
from humanoid_dynamics.spatial.arrays import Matrix, Vector, check_number, check_vector, read_only

MOST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class Drive:
    """Joint position control.

    Attributes:
        kp: (nv,) stiffness [N·m/rad, N/m].
        kd: (nv,) damping [N·m·s/rad, N·s/m].
        q_ref: (nq,) configuration to hold.
    """

    kp: Vector
    kd: Vector
    q_ref: Vector


def build_drive(
    robot: RobotModel,
    kp: float | Mapping[str, float],
    kd: float | Mapping[str, float],
    q_ref: ArrayLike | None = None,
) -> Drive:
    """Return a drive of the motors of a robot.

    Args:
        robot: The robot.
        kp: Stiffness of every motor, or coordinate name -> stiffness [N·m/rad, N/m].
        kd: Damping likewise [N·m·s/rad, N·s/m].
        q_ref: (nq,) configuration to hold; the resting posture where left out.

    Returns:
        The drive.

    Raises:
        UnknownNameError: If a coordinate has no motor.
        ShapeError: If a gain is negative or the configuration does not fit.
    """
    posture = robot.posture if q_ref is None else check_vector("q_ref", q_ref, robot.nq)
    return Drive(_spread(robot, "kp", kp), _spread(robot, "kd", kd), read_only(posture))


def rebind_drive(drive: Drive, old: RobotModel, new: RobotModel) -> Drive:
    """Return a drive for another tree of the same bodies; joints that have changed are no longer driven.

    Args:
        drive: The drive of the old robot.
        old: The old robot.
        new: The new robot.

    Returns:
        The drive of the new robot.
    """
    kp, kd, q_ref = np.zeros(new.nv), np.zeros(new.nv), np.array(new.posture)
    before = {joint.name: joint for joint in old.joints}
    for joint in new.joints:
        was = before.get(joint.name)
        if was is not None and was.kind == joint.kind:
            kp[joint.v], kd[joint.v], q_ref[joint.q] = (
                drive.kp[was.v],
                drive.kd[was.v],
                drive.q_ref[was.q],
            )
    return Drive(read_only(kp), read_only(kd), read_only(q_ref))


class JointForces:
    """Damping, friction and drive of a robot's coordinates, in the table of the coordinates.

    A drive and the motor it uses together give no more than the motor can: a drive that would is cut to what is left, a constant torque,
    and the step is solved again.

    Attributes:
        drive: The drive; None where it gives nothing.
        idle: Whether there is nothing to compute.
    """

    def __init__(
        self, robot: RobotModel, drive: Drive | None = None, *, off: Iterable[str] = ()
    ) -> None:
        """Prepare.

        Args:
            robot: The robot.
            drive: Its drive.
            off: Motors that are switched off, and whose drive gives nothing.

        Raises:
            ShapeError: If the drive does not fit, or a gain is negative.
        """
        self.drive = None if drive is None else _check_drive(robot, drive, set(off))
        if self.drive is not None and not (self.drive.kp.any() or self.drive.kd.any()):
            self.drive = None
        self._robot = robot
        self._dry = bool(robot.friction.any())
        self._loses = self._dry or bool(robot.damping.any())
        self.idle = self.drive is None and not self._loses
        self._most = robot.limits.effort
        self._steady: Vector | None = (
            None  # length of the steps that are resisted as the last one was
        )
        self._inertia = np.zeros(robot.nv) if self.idle else find_inertia(robot)
        self._lead, self._trail, self._resists = np.zeros((3, robot.nv))

    def enter(self, dofs: Matrix) -> None:
        """Write all that does not change into the table.

        Args:
            dofs: Table of the coordinates.
        """
        robot, driven = self._robot, np.zeros(self._robot.nv)
        dofs[DAMPING], dofs[DRY], dofs[LOSS] = robot.damping, robot.friction, robot.damping
        dofs[EFFORT], dofs[INERTIA] = np.inf, self._inertia
        if self.drive is not None:
            driven = self.drive.kp + self.drive.kd
            dofs[KP], dofs[KD] = self.drive.kp, self.drive.kd
            dofs[EFFORT] = np.where(driven > 0.0, robot.limits.effort, np.inf)
        self._most = dofs[EFFORT] * (1.0 + SLACK)

    def prepare(self, rows: Sequence[Vector], dt: Vector) -> Vector:
        """Write what drives, damping and dry friction do in a step; return the force they start with (nv,).

        Args:
            rows: Rows of the table of the coordinates.
            dt: Length of the step, the same array as long as it is the same [s].
        """
        return np.asarray(self.pull(rows, dt) - self._resists * rows[V])

    def pull(self, rows: Sequence[Vector], dt: Vector, *, free: bool = False) -> Vector:
        """Do what ``prepare`` does; return the force (nv,) at the start without that which resists the velocity at the end.

        Args:
            rows: Rows of the table of the coordinates.
            dt: Length of the step, the same array as long as it is the same [s].
            free: Whether it is known that no drive is at its limit.
        """
        cut, pull = not free and np.count_nonzero(rows[CUT]) > 0, rows[PULL]
        if cut or self._steady is not dt:
            self._resist(rows, dt)
            self._steady = None if cut or self._dry else dt
        if self.drive is not None:
            np.multiply(rows[KP], rows[OFFSET], pull)
            pull += self._lead * rows[V]
        if cut:
            at = rows[CUT] != 0.0
            pull[at] = rows[CUT][at] * rows[EFFORT][at] - rows[MOTOR][at]
        if not self._loses:
            return pull
        np.multiply(self._trail, rows[V], rows[DRAG])
        return np.asarray(pull + rows[DRAG])

    def _resist(self, rows: Sequence[Vector], dt: Vector) -> None:
        """Write what resists motion, per velocity; a drive at its limit does not."""
        loss = (
            rows[DAMPING] + rows[DRY] / np.maximum(np.abs(rows[V_MIDDLE]), CREEP)
            if self._dry
            else rows[DAMPING]
        )
        sag = np.where(rows[CUT] == 0.0, (0.5 * dt) * rows[KP] + rows[KD], 0.0)
        share = find_shares(dt * (loss + sag), rows[INERTIA])
        self._lead, self._trail = (1.0 - share) * (dt * rows[KP] - sag), (share - 1.0) * loss
        np.multiply(share, sag, rows[SAG])
        np.multiply(share, loss, rows[LOSS])
        np.add(rows[LOSS], rows[SAG], self._resists)
        np.multiply(dt, self._resists, rows[EXTRA])

    def end(self, rows: Sequence[Vector]) -> None:
        """Write the forces of drives, damping and dry friction in a step.

        Args:
            rows: Rows of the table of the coordinates.
        """
        np.subtract(rows[PULL], rows[SAG] * rows[V_END], rows[GIVEN])
        if self._loses:
            np.subtract(rows[DRAG], rows[LOSS] * rows[V_END], rows[LOST])

    def is_too_much(self, rows: Sequence[Vector]) -> bool:
        """Return whether a drive, none of which is at its limit, would have to give more than its motor can.

        Args:
            rows: Rows of the table of the coordinates.
        """
        if self.drive is None:
            return False
        wanted = rows[GIVEN] + rows[MOTOR]
        return bool(np.count_nonzero(np.abs(wanted, wanted) > self._most))

    def check(self, rows: Sequence[Vector], numbers: Vector) -> None:
        """Find drives that would have to give more than their motor can, and those that no longer would.

        Args:
            rows: Rows of the table of the coordinates; CUT is changed.
            numbers: Numbers in and out; OVERLOADED says whether it was.
        """
        numbers[OVERLOADED] = 0.0
        if self.drive is None:
            return
        cut, limit, drive = rows[CUT], rows[EFFORT], rows[GIVEN]
        some = np.count_nonzero(cut) > 0
        if some:
            drive = np.where(cut == 0.0, drive, _give_freely(rows, numbers[DT]))
        wanted = drive + rows[MOTOR]
        over = np.abs(wanted) > self._most
        if not some and not np.count_nonzero(over):
            return
        after = np.where(
            cut == 0.0,
            np.where(over, np.sign(wanted), 0.0),
            np.where(cut * wanted < limit, 0.0, cut),
        )
        numbers[OVERLOADED] = bool((after != cut).any())
        cut[:] = after


def find_inertia(robot: RobotModel) -> Vector:
    """Return (nv,) the inertia of each coordinate in the posture where all others give way, zero where there is none.

    Args:
        robot: The robot.
    """
    factor, fails = lapack.dpotrf(pin.crba(robot.model, robot.data(), robot.posture))
    return np.zeros(robot.nv) if fails else np.asarray(1.0 / np.diagonal(lapack.dpotri(factor)[0]))


def find_shares(drag: Vector, inertia: Vector) -> Vector:
    """Return (nv,) where in a step what resists motion is taken, as ``find_share`` does.

    Args:
        drag: (nv,) what resists per velocity, times the length of the step.
        inertia: (nv,) of each coordinate.
    """
    soft = CARE * drag <= 2.0 * inertia
    return np.where(soft, 0.5, 1.0 - inertia / (CARE * np.where(soft, 1.0, drag)))


def _give_freely(rows: Sequence[Vector], dt: float) -> Vector:
    """Return (nv,) what drives would give with the velocities that were found, if none were at its limit."""
    stiff = 0.5 * dt * rows[KP] + rows[KD]
    share = find_shares(dt * stiff, rows[INERTIA])
    early, late = (1.0 - share) * rows[V], share * rows[V_END]
    return np.asarray(rows[KP] * (rows[OFFSET] + dt * early) - stiff * (early + late))


def _check_drive(robot: RobotModel, drive: Drive, off: set[str]) -> Drive:
    """Return a drive that fits a robot, without motors that are switched off."""
    gains, on = [], np.array([name not in off for name in robot.coordinates], dtype=bool)
    for field, given in (("drive.kp", drive.kp), ("drive.kd", drive.kd)):
        gain = check_vector(field, given, robot.nv)
        for index in np.flatnonzero(gain < 0.0)[:1]:
            raise ShapeError(
                f"{field}.{robot.coordinates[index]}",
                f"{gain[index]}",
                "a finite number of at least zero",
            )
        gains.append(np.where(on, gain, 0.0))
    return Drive(gains[0], gains[1], check_vector("drive.q_ref", drive.q_ref, robot.nq))


def _spread(robot: RobotModel, field: str, gain: float | Mapping[str, float]) -> Vector:
    if not isinstance(gain, Mapping):
        check_number(field, gain, 0.0, MOST, "a number, or motor -> number, of at least zero")
    gains = dict(gain) if isinstance(gain, Mapping) else dict.fromkeys(robot.actuated, gain)
    spread = np.zeros(robot.nv)
    for name, value in gains.items():
        if name not in robot.actuated:
            raise UnknownNameError("motor", name, robot.actuated)
        check_number(f"{field}.{name}", value, 0.0, MOST, "a finite number of at least zero")
        spread[robot.coordinates.index(name)] = value
    return read_only(spread)
