"""After a fall: what leaves the filter while nothing holds the robot, and how it comes back to its feet."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.start import SEARCHED, Placer
from humanoid_dynamics.filtering.ticks.joint_room import INSIDE, limited_positions
from humanoid_dynamics.filtering.ticks.step import RUNGS, Step
from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.filtering.ticks.terms import BASE
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.quintic import quintic
from humanoid_dynamics.spatial.arrays import Vector

FALLEN = RUNGS.index("fallen")
LOWEST = 0.55  # of the height of the base in the resting posture
STEEPEST = np.deg2rad(70.0)
FASTEST = 20.0  # m/s or rad/s; a base that is faster is none any more
PATIENCE = 0.5  # s; a reference that has not stood for so long after a fall is made to stand
HELD = 0.15  # s that the reference must have stood still
QUIET = (0.1, 1.0)  # m/s and rad/s: base, and joints, of a reference that stands still
SHORTEST = 0.3  # s of the way back
PACE = (0.8, 3.0, 6.0)  # share of the speed limits of joints; m/s; rad/s on the way back
PEAK = 1.875  # largest speed of a quintic, in times of its mean


def has_fallen(q: Vector, height: float) -> bool:
    """Whether a robot lies or falls.

    Args:
        q: (nq,) configuration.
        height: Height of the base in the resting posture [m].
    """
    x, y = float(q[3]), float(q[4])
    upright = 1.0 - 2.0 * (x * x + y * y)
    return bool(q[2] < LOWEST * height or upright < np.cos(STEEPEST))


class Recovery:
    """Holds the posture after a fall, then goes back to where the reference stands on both soles.

    On the way nothing holds the robot: no torques, no wrenches, and the certificate says what is missing.

    Attributes:
        active: Whether the robot has fallen and is not back yet.
        due: Whether it looks for where to stand from the next tick on.
        looks: Whether it does.
    """

    def __init__(self, robot: RobotModel, dt: float, placer: Placer, *, keep_limits: bool) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base.
            dt: Time between ticks [s].
            placer: What finds where to stand.
            keep_limits: Whether joints stay inside their position limits.
        """
        self._model, self._dt, self._keep, self._placer = robot.model, dt, keep_limits, placer
        self._index, self._low, self._high = limited_positions(robot)
        speed = PACE[0] * np.array(robot.limits.velocity)
        speed[:3], speed[3:BASE] = PACE[1], PACE[2]
        self._pace = np.where(np.isfinite(speed) & (speed > 0.0), speed, PACE[2])
        effort = np.array(robot.limits.effort[BASE:])
        self._effort = np.where(np.isfinite(effort), effort, 0.0)
        self.restart()

    def restart(self) -> None:
        """Forget the fall."""
        self.active, self.due, self.looks, self._waited, self._moved = False, False, False, 0.0, 0.0
        self._start: Vector | None = None
        self._way: Vector = np.zeros(0)
        self._row, self._rows = 0, 0

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
        still = float(np.max(np.abs(target.v[:BASE]))) < QUIET[0] and float(np.max(np.abs(target.v[BASE:]))) < QUIET[1]
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
        return self._start is not None

    def go(self, q: Vector, goal: Vector) -> None:
        """Set out.

        Args:
            q: (nq,) configuration now.
            goal: (nq,) configuration on both soles.
        """
        self.due = self.looks = False
        self._start, self._way = np.array(q), np.asarray(pin.difference(self._model, q, goal))
        longest = max(SHORTEST, PEAK * float(np.max(np.abs(self._way) / self._pace)))
        self._row, self._rows = 0, max(round(longest / self._dt), 1)

    def advance(self, q: Vector) -> tuple[Vector, Vector, Vector, bool]:
        """Return what comes next.

        Args:
            q: (nq,) configuration now.

        Returns:
            Velocity and acceleration now, (nv,) each; configuration after the step; whether it is back.
        """
        if self._start is None:
            return np.zeros(self._model.nv), np.zeros(self._model.nv), q, False
        share = quintic((self._row + np.array([-1.0, 0.0, 1.0])) / self._rows)
        v = (share[1] - share[0]) / self._dt * self._way
        vdot = (share[2] - 2.0 * share[1] + share[0]) / self._dt**2 * self._way
        after = np.asarray(pin.integrate(self._model, self._start, share[2] * self._way))
        self._row += 1
        return v, vdot, after, self._row >= self._rows + 1

    def brake(self, q: Vector, v: Vector, data: pin.Data) -> Step:
        """Answer for a robot that lies or falls: motors brake, by the share of their torque that is the share of their speed limit.

        Args:
            q: (nq,) measured configuration.
            v: (nv,) measured velocity.
            data: Memory of the model.
        """
        tau = -self._effort * np.clip(PACE[0] * v[BASE:] / self._pace[BASE:], -1.0, 1.0)
        vdot = np.asarray(pin.aba(self._model, data, q, v, np.concatenate((np.zeros(BASE), tau))))
        vdot = np.where(np.isfinite(vdot), vdot, 0.0)
        return Step(vdot, tau, np.zeros((2, 6)), (False, False), FALLEN)
