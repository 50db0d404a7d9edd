# SPDX-License-Identifier: Apache-2.0
"""The state of a robot as a filter that runs along uses it: fresh, or told to be missing.

What the filter sends is followed by the robot a little later.  Would each tick begin just where the robot is, nothing would ever call it
back to where it was to be, and its noise would go out with the commands.  So the filter goes on from its own last state, and that is
drawn to the robot: by the difference of what was measured from what was asked for at the same time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from humanoid_dynamics.control.measured import MeasuredState
from humanoid_dynamics.filtering.live.command import LiveFilterStatus, Troubles
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector

DRAWN = 0.5  # s; time in which our state is drawn to that of the robot
ASTRAY = 0.5  # rad or m; a robot whose base is farther from what was asked is followed at once; joints draw as if they were no farther
BASE = 6
KEPT = 0.5  # s of what was asked for that are kept


class LiveState:
    """Takes joint states and odometry, where a filter starts its ticks from them.

    Attributes:
        measured: What is known.
        drawn: (nv,) by how much the velocity was changed at the last ``draw``; zero where it was not.
    """

    def __init__(
        self, robot: RobotModel, troubles: Troubles, timeout: float, *, used: bool
    ) -> None:
        """Prepare.

        Args:
            robot: The robot.
            troubles: Where it is told what was left out.
            timeout: Age at which a state is stale, and how far a stamp may be from now [s].
            used: Whether there is any use for it.
        """
        self.measured = MeasuredState(robot)
        self._troubles, self._timeout, self._used = troubles, timeout, used
        self._asked: deque[tuple[float, Vector, Vector]] = deque()
        self._off: Vector = np.zeros(robot.nv)
        self._still: Vector = np.zeros(robot.nv)
        self.drawn = self._still

    def forget(self) -> None:
        """Forget the state."""
        self.measured.forget()
        self._asked.clear()

    def observe_joints(
        self, names: Sequence[str], positions: Vector, velocities: Vector, stamp: float, now: float
    ) -> None:
        """Take a joint state, see ``MeasuredState.put_joints``; nothing raises."""
        if self._is_fresh(stamp, now) and not self.measured.put_joints(
            names, positions, velocities, stamp
        ):
            self._troubles.put(LiveFilterStatus.STATE_REFUSED, self.measured.fault, now)

    def observe_base(self, pose: Vector, twist: Vector, stamp: float, now: float) -> None:
        """Take odometry, see ``MeasuredState.put_base``; nothing raises."""
        if self._is_fresh(stamp, now) and not self.measured.put_base(pose, twist, stamp):
            self._troubles.put(LiveFilterStatus.STATE_REFUSED, self.measured.fault, now)

    def start(self) -> tuple[Vector, Vector] | None:
        """Return configuration and velocity of the robot where a tick is to start there; None where it goes on from our own."""
        self.drawn = self._still
        if not self._used:
            return None
        measured, at = (
            (self.measured.q, self.measured.v),
            min(self.measured.joints_at, self.measured.base_at),
        )
        while len(self._asked) > 1 and self._asked[1][0] <= at:
            self._asked.popleft()
        if self._asked:
            self._off = pin.difference(self.measured.robot.model, self._asked[0][1], measured[0])
        return None if self._asked and np.abs(self._off[:BASE]).max() < ASTRAY else measured

    def draw(self, v: Vector, dt: float) -> Vector:
        """Return the velocity of the filter, drawn to the state of the robot, after ``start``; as it is where that is not used, (nv,).

        Only the velocity is changed, so that places, velocities and accelerations that go out belong together.

        Args:
            v: (nv,) velocity of the filter.
            dt: Time between ticks [s].
        """
        if not self._used or not self._asked:
            return v
        off = np.minimum(np.maximum(self._off, -ASTRAY), ASTRAY)
        self.drawn = dt / DRAWN * (off / DRAWN + 2.0 * (self.measured.v - self._asked[0][2]))
        after: Vector = v + self.drawn
        return after

    def ask(self, stamp: float, q: Vector, v: Vector) -> None:
        """Note what is asked of the robot.

        Args:
            stamp: When it is to be there [s].
            q: (nq,) configuration.
            v: (nv,) velocity.
        """
        if self._used:
            self._asked.append((stamp, q, v))
            while self._asked[0][0] < stamp - KEPT:
                self._asked.popleft()

    def object_to(self, now: float) -> tuple[LiveFilterStatus, str] | None:
        """Return status and reason of why there is no state to start from; None where all is well.

        Args:
            now: The time [s].
        """
        if not self._used:
            return None
        if self.measured.missing:
            return LiveFilterStatus.WAITING, self.measured.missing
        late = self.measured.explain_age(now, self._timeout)
        return (LiveFilterStatus.STATE_STALE, late) if late else None

    def _is_fresh(self, stamp: float, now: float) -> bool:
        if abs(stamp - now) <= self._timeout:
            return True
        self._troubles.put(
            LiveFilterStatus.STATE_REFUSED, f"a state is stamped {stamp - now:+.2f} s from now", now
        )
        return False
