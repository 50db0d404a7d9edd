"""What joints do by themselves: drives that hold a posture, damping, dry friction; stiff ones are taken implicitly.

An explicit proportional-derivative law at a millisecond makes a light wrist explode.  Here tau = Kp (q_ref - q+) - Kd v+ is taken at the
end of the step, which adds dt Kd + dt^2/2 Kp to the diagonal of the inertia and is stable for any gain.  Dry friction is a damping
that grows until it carries its whole force, and nearly locks a joint that stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector, check_vector, read_only

CREEP = 1e-4  # speed below which dry friction becomes a stiff damper [rad/s, m/s]


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
    robot: RobotModel, kp: float | Mapping[str, float], kd: float | Mapping[str, float], q_ref: ArrayLike | None = None
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
            kp[joint.v], kd[joint.v], q_ref[joint.q] = drive.kp[was.v], drive.kd[was.v], drive.q_ref[was.q]
    return Drive(read_only(kp), read_only(kd), read_only(q_ref))


class JointForces:
    """Damping, friction and drive of a robot's coordinates.

    Attributes:
        drive: The drive, or None.
    """

    def __init__(self, robot: RobotModel, drive: Drive | None = None) -> None:
        self.drive = drive
        self._model = robot.model
        self._damping, self._friction = np.array(robot.damping), np.array(robot.friction)
        self._dry, self._wet = bool(self._friction.any()), bool(self._damping.any())
        self._zero = np.zeros(robot.nv)
        self.saturated: Vector | None = None
        self._loss = self._zero
        self._pull = self._zero
        self._sag = self._zero

    @property
    def idle(self) -> bool:
        """Whether there is nothing to compute."""
        return self.drive is None and not self._dry and not self._wet

    def prepare(self, q_M: Vector, v: Vector, dt: float) -> tuple[Vector, Vector]:
        """Return the explicit force and what is implicit.

        Args:
            q_M: (nq,) configuration in the middle of the step.
            v: (nv,) velocity at its start.
            dt: Its length [s].

        Returns:
            (nv,) force at v, and (nv,) what to add to the diagonal of the inertia.
        """
        loss = np.array(self._damping)
        if self._dry:
            loss += self._friction / np.maximum(np.abs(v), CREEP)
        self._loss, self._pull, self._sag = loss, self._zero, self._zero
        force, implicit = -loss * v, dt * loss
        if self.drive is not None:
            kp, kd = self.drive.kp, self.drive.kd
            sag = (0.5 * dt) * kp + kd  # of the force, per velocity at the end of the step
            pull = kp * pin.difference(self._model, q_M, self.drive.q_ref)
            if self.saturated is not None:
                cut = np.isfinite(self.saturated)
                pull = np.where(cut, self.saturated, pull)
                sag = np.where(cut, 0.0, sag)
            self._pull, self._sag = pull, sag
            force += pull - sag * v
            implicit += dt * sag
        return force, implicit

    def drive_torque(self, v_next: Vector) -> Vector:
        """Return (nv,) the torque the drive gave in a step that ended with this velocity."""
        return self._pull - self._sag * v_next

    def loss_force(self, v_next: Vector) -> Vector:
        """Return (nv,) the force of damping and dry friction in a step that ended with this velocity."""
        return -self._loss * v_next


def _spread(robot: RobotModel, field: str, gain: float | Mapping[str, float]) -> Vector:
    gains = dict.fromkeys(robot.actuated, gain) if isinstance(gain, int | float) else dict(gain)
    spread = np.zeros(robot.nv)
    for name, value in gains.items():
        if name not in robot.actuated:
            raise UnknownNameError("motor", name, robot.actuated)
        if not 0.0 <= value < np.inf:
            raise ShapeError(f"{field}.{name}", f"{value}", "a finite number of at least zero")
        spread[robot.coordinates.index(name)] = value
    return read_only(spread)
