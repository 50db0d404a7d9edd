# SPDX-License-Identifier: Apache-2.0
"""Safe output of a free-standing robot: the balance controller holds the posture found at the fault; damping where state is missing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from humanoid_dynamics.control.balance import BalanceController
from humanoid_dynamics.control.balance_settings import BalanceSettings
from humanoid_dynamics.control.safe_output import KINDS, SafeTorques
from humanoid_dynamics.errors import UnsupportedRobotError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector, read_only

SAFE_OUTPUTS = {
    **KINDS,
    "balance_hold": "balance control that keeps a free-standing robot on its feet; needs joint states and odometry, damping without them",
}
# A foot in the air is put down: a robot that was walking does not stop on one foot.
LANDING = BalanceSettings(land=True)


class BalanceHold:
    """Standing torques after a fault, from the state measured last; not for several threads at once.

    States are timed by receipt. Where joint states or odometry are older than the time-out, the last torques fade to damping.
    A contact counts as closed until its measured normal force indicates otherwise; a sole in the air is put down.
    """

    def __init__(
        self,
        robot: RobotModel | None,
        names: Sequence[str],
        limits: Vector,
        *,
        damping: float = 0.02,
        fade_out_duration: float = 1.0,
        period: float = 0.002,
        timeout: float = 0.05,
    ) -> None:
        """Prepare.

        Args:
            robot: The robot.
            names: The joints, in order.
            limits: (n,) largest torque of each [N·m or N].
            damping: Damping of each joint per torque limit [s/rad].
            fade_out_duration: Time in which the last torques fade where state is missing [s].
            period: Time between outputs [s].
            timeout: Age at which a state is stale [s].

        Raises:
            UnsupportedRobotError: If there is no robot, its root is not free, or a joint has several freedoms.
        """
        if robot is None:
            raise UnsupportedRobotError(
                "safe output balance_hold",
                names[:3],
                "requires a robot model, received joint names only",
            )
        self.timeout, self._fade_out_duration = timeout, fade_out_duration
        self._damping = SafeTorques(names, limits, damping=damping, period=period, robot=robot)
        self._controller = BalanceController(robot, LANDING)
        self._order = np.array([robot.actuated.index(name) for name in names])
        self._last: Vector = read_only(np.zeros(len(names)))
        self._fresh = self._stands = False

    @property
    def soles(self) -> tuple[str, ...]:
        """Surfaces whose normal force it takes."""
        return self._controller.law.names

    def begin(self) -> None:
        """Hold the posture that the next state shows."""
        self._controller.hold_posture()
        self._fresh, self._stands = True, False

    def observe(
        self, names: Sequence[str], positions: Vector, velocities: Vector, now: float = 0.0
    ) -> None:
        """Take a joint state; one that is not usable is passed over.

        Args:
            names: Joint names.
            positions: (len(names),) positions [rad or m].
            velocities: (len(names),) velocities [rad/s or m/s]; may be empty.
            now: When it came [s].
        """
        self._damping.observe(names, positions, velocities)
        self._fresh |= self._controller.observe_joints(names, positions, velocities, now, now)

    def observe_base(self, pose: Vector, twist: Vector, now: float) -> None:
        """Take odometry; one that is not usable is passed over.

        Args:
            pose: (7,) position and quaternion of the root link [m].
            twist: (6,) velocity in axes of the root link [m/s, rad/s].
            now: When it came [s].
        """
        self._fresh |= self._controller.observe_base(pose, twist, now, now)

    def observe_contact(self, surface: str, normal_force: float, now: float) -> None:
        """Take the normal force on a sole.

        Args:
            surface: Its name.
            normal_force: The force [N].
            now: When it came [s].
        """
        self._controller.observe_contact(surface, normal_force, now)

    def torques(self, elapsed: float, now: float = 0.0) -> Vector:
        """Return what goes out, (n,) [N·m or N].

        Args:
            elapsed: Time since the fault [s].
            now: The time [s].
        """
        measured = self._controller.measured
        age = now - min(measured.joints_at, measured.base_at)
        if not measured.missing and age <= self.timeout:
            if self._fresh:
                self._last = self._controller.command(now).tau[self._order]
                self._fresh, self._stands = False, True
            return self._last
        share = (
            max(0.0, 1.0 - (age - self.timeout) / self._fade_out_duration)
            if self._stands and np.isfinite(age)
            else 0.0
        )
        return share * self._last + self._damping.torques(elapsed)
