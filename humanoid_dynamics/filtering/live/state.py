"""The state of a robot as a filter that runs along uses it: fresh, or told to be missing."""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_dynamics.control.measured import MeasuredState
from humanoid_dynamics.filtering.live.command import Troubles
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector


class LiveState:
    """Takes joint states and odometry, where a filter starts its ticks from them.

    Attributes:
        measured: What is known.
    """

    def __init__(self, robot: RobotModel, troubles: Troubles, timeout: float, *, used: bool) -> None:
        """Prepare.

        Args:
            robot: The robot.
            troubles: Where it is told what was left out.
            timeout: Age at which a state is stale, and how far a stamp may be from now [s].
            used: Whether there is any use for it.
        """
        self.measured = MeasuredState(robot)
        self._troubles, self._timeout, self._used = troubles, timeout, used

    def forget(self) -> None:
        """Forget the state."""
        self.measured.forget()

    def observe_joints(self, names: Sequence[str], positions: Vector, velocities: Vector, stamp: float, now: float) -> None:
        """Take a joint state, see ``MeasuredState.put_joints``; nothing raises."""
        if self._is_fresh(stamp, now) and not self.measured.put_joints(names, positions, velocities, stamp):
            self._troubles.put("state_refused", self.measured.fault, now)

    def observe_base(self, pose: Vector, twist: Vector, stamp: float, now: float) -> None:
        """Take odometry, see ``MeasuredState.put_base``; nothing raises."""
        if self._is_fresh(stamp, now) and not self.measured.put_base(pose, twist, stamp):
            self._troubles.put("state_refused", self.measured.fault, now)

    def now(self) -> tuple[Vector, Vector] | None:
        """Return configuration and velocity; None where the filter has its own."""
        return (self.measured.q, self.measured.v) if self._used else None

    def object_to(self, now: float) -> tuple[str, str] | None:
        """Return status and reason of why there is no state to start from; None where all is well.

        Args:
            now: The time [s].
        """
        if not self._used:
            return None
        if self.measured.missing:
            return "waiting", self.measured.missing
        age = now - min(self.measured.joints_at, self.measured.base_at)
        return ("state_stale", f"no state for {age:.2f} s") if age > self._timeout else None

    def _is_fresh(self, stamp: float, now: float) -> bool:
        if abs(stamp - now) <= self._timeout:
            return True
        self._troubles.put("state_refused", f"a state is stamped {stamp - now:+.2f} s from now", now)
        return False
