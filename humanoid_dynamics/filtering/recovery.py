# SPDX-License-Identifier: Apache-2.0
"""How the filter comes back to its feet after a fall: once the reference stands, it goes there and on."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.filtering.fallen import WayBack
from humanoid_dynamics.filtering.start import SEARCHED, Placer
from humanoid_dynamics.filtering.ticks.joint_room import INSIDE, limited_positions
from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.filtering.ticks.terms import BASE
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector

PATIENCE = 0.5  # s; a reference that has not stood for so long after a fall is made to stand
HELD = 0.15  # s that the reference must have stood still
QUIET = (0.1, 1.0)  # m/s and rad/s: base, and joints, of a reference that stands still


class Recovery:
    """Holds the posture after a fall, then goes back to where the reference stands on both soles.

    Attributes:
        active: Whether the robot has fallen and is not back yet.
        due: Whether it looks for where to stand from the next tick on.
        looks: Whether it does.
        way: The way back.
    """

    def __init__(self, robot: RobotModel, dt: float, placer: Placer, *, keep_limits: bool) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base.
            dt: Time between ticks [s].
            placer: What finds where to stand.
            keep_limits: Whether joints stay inside their position limits.
        """
        self._dt, self._keep, self._placer, self.way = dt, keep_limits, placer, WayBack(robot, dt)
        self._still: Vector = np.zeros(robot.nv)
        self._index, self._low, self._high = limited_positions(robot)
        self.restart()

    def restart(self) -> None:
        """Forget the fall."""
        self.active, self.due, self.looks, self._waited, self._moved = False, False, False, 0.0, 0.0
        self.way.restart()

    def begin(self, q: Vector) -> Vector:
        """Hold a posture.

        Args:
            q: (nq,) the last configuration.

        Returns:
            It, with joints inside their limits.
        """
        self.restart()
        self.active = True
        held = np.array(q)
        if self._keep:
            held[self._index] = np.clip(held[self._index], self._low + INSIDE, self._high - INSIDE)
        return held

    def may_return(self, target: Target) -> bool:
        """Whether the reference has stood still on both soles for a while, and does for as long as is seen; to be asked at every tick.

        Args:
            target: What is wanted.
        """
        still = (
            float(np.max(np.abs(target.v[:BASE]))) < QUIET[0]
            and float(np.max(np.abs(target.v[BASE:]))) < QUIET[1]
        )
        stands = still and all(target.touches) and bool(np.isinf(target.until).all())
        self._waited = self._waited + self._dt if stands else 0.0
        self._moved += 0.0 if stands else self._dt
        return self._waited >= HELD

    def follow(self, target: Target, q: Vector, *, last: bool) -> bool:
        """Look whether the way back may begin, and where it goes, a little at every tick; return whether planning is to begin anew.

        Args:
            target: What is wanted.
            q: (nq,) configuration now.
            last: Whether nothing else is planned yet.
        """
        may_return = self.may_return(target)
        if self.returning and not may_return:
            self.begin(q)
        elif self.due or self.looks:
            self._look_where_to_stand(target, q)
        elif not self.returning and last and may_return:
            self.due = True
            return True
        return False

    def _look_where_to_stand(self, target: Target, q: Vector) -> None:
        """Look for it, and set out once it is found."""
        if self.due:  # the first target of a plan that knows nothing of the fall
            self._placer.begin(target)
            self.due, self.looks = False, True
        self._placer.advance(SEARCHED)
        if self._placer.done:
            self.go(q, self._placer.q)

    @property
    def impatient(self) -> bool:
        """Whether the reference does not come to stand by itself."""
        return self._moved >= PATIENCE

    @property
    def returning(self) -> bool:
        """Whether it is on its way back."""
        return self.way.begun

    def go(self, q: Vector, goal: Vector) -> None:
        """Set out.

        Args:
            q: (nq,) configuration now.
            goal: (nq,) configuration on both soles.
        """
        self.due = self.looks = False
        self.way.set_out(q, goal)

    def advance(self, q: Vector) -> tuple[Vector, Vector, Vector, bool]:
        """Return what comes next.

        Args:
            q: (nq,) configuration now.

        Returns:
            Velocity and acceleration now, (nv,) each; configuration after the step; whether it is back.
        """
        return self.way.advance() if self.returning else (self._still, self._still, q, False)
