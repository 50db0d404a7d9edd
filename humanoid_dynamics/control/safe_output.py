# SPDX-License-Identifier: Apache-2.0
"""What goes to motors when nobody can be believed: nothing, damping, or the torques that hold, fading."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from humanoid_dynamics.control.holding import HoldingTorques
from humanoid_dynamics.errors import UnknownNameError, UnsupportedRobotError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector, check_vector, read_only

KINDS = {
    "zero": "no torque",
    "damping": "torque against the motion of each joint",
    "gravity_hold": "torques that hold the measured posture, fading to damping alone",
}
SHARE_OF_STABLE = 0.25  # of the damping at which a joint alone, sampled at a period, begins to ring


class SafeTorques:
    """Torques after a fault, from the joint states heard last.

    Attributes:
        kind: One of ``KINDS``.
    """

    def __init__(
        self,
        names: Sequence[str],
        limits: Vector,
        *,
        kind: str = "damping",
        damping: float = 0.02,
        fade_out_duration: float = 1.0,
        period: float = 0.002,
        robot: RobotModel | None = None,
    ) -> None:
        """Prepare.

        Args:
            names: The joints, in order.
            limits: (n,) largest torque of each [N·m or N].
            kind: One of ``KINDS``.
            damping: Damping of each joint per torque limit: at a speed of 1 / damping it takes the whole torque [s/rad].
            fade_out_duration: Time in which what holds fades [s].
            period: Time between outputs [s].
            robot: The robot, which holding needs; with it damping stays below what a light joint bears.

        Raises:
            UnknownNameError: If the kind does not exist.
            UnsupportedRobotError: If holding is asked for and there is no robot.
        """
        if kind not in KINDS:
            raise UnknownNameError("safe output", kind, KINDS)
        if kind == "gravity_hold" and robot is None:
            raise UnsupportedRobotError(
                "safe output gravity_hold",
                names[:3],
                "requires a robot model, received joint names only",
            )
        self.kind = kind
        self._index = {name: i for i, name in enumerate(names)}
        self._fade_out_duration = fade_out_duration
        self._gain = damping * np.minimum(check_vector("limits", limits, len(names)), 1e6)
        if robot is not None:
            self._gain = np.minimum(
                self._gain, SHARE_OF_STABLE / period * joint_inertia(robot, names)
            )
        self._zero = read_only(np.zeros(len(names)))
        self._v: Vector = np.zeros(len(names))
        self._order = (
            np.array([robot.actuated.index(name) for name in names]) if robot is not None else None
        )
        self._holding = (
            HoldingTorques(robot) if robot is not None and kind == "gravity_hold" else None
        )
        self._heard: tuple[Sequence[str], Vector] | None = None

    def begin(self) -> None:
        """Called at a fault."""

    def observe(
        self, names: Sequence[str], positions: Vector, velocities: Vector, now: float = 0.0
    ) -> None:
        """Take a joint state; what is not finite, or no joint of these, is passed over.

        Args:
            names: Joint names.
            positions: (len(names),) positions [rad or m]; may be empty.
            velocities: (len(names),) velocities [rad/s or m/s]; may be empty.
            now: When it came [s].
        """
        del now
        if len(velocities) == len(names) and np.isfinite(velocities).all():
            for name, v in zip(names, velocities, strict=True):
                if name in self._index:
                    self._v[self._index[name]] = v
        if (
            self._holding is not None
            and len(positions) == len(names)
            and np.isfinite(positions).all()
        ):
            self._heard = (list(names), np.array(positions))

    def torques(self, elapsed: float, now: float = 0.0) -> Vector:
        """Return what goes out so long after the fault, (n,) [N·m or N].

        Args:
            elapsed: Time since the fault [s].
            now: The time [s].
        """
        del now
        if self.kind == "zero":
            return self._zero
        tau = -self._gain * self._v
        if (
            self._holding is not None
            and self._order is not None
            and elapsed < self._fade_out_duration
        ):
            if self._heard is not None:
                self._holding.observe(*self._heard)
                self._heard = None
            tau = (
                tau
                + (1.0 - elapsed / self._fade_out_duration)
                * self._holding.command(0.0).tau[self._order]
            )
        return tau


def joint_inertia(robot: RobotModel, names: Sequence[str]) -> Vector:
    """Return the inertia that each joint feels where all others are locked, (n,) [kg·m² or kg], in the resting posture.

    Args:
        robot: The robot.
        names: Names of coordinates with a motor.
    """
    data = robot.data()
    pin.crba(robot.model, data, robot.posture)
    return np.array(
        [
            data.M[robot.actuated_v[i], robot.actuated_v[i]]
            for i in (robot.actuated.index(name) for name in names)
        ]
    )
