# SPDX-License-Identifier: Apache-2.0
"""How fast joints may accelerate so that they stay inside their ranges of position and speed."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel

BASE = 6
FASTEST = 600.0  # rad/s^2; no joint is asked for more
FREELY = 200.0  # rad/s^2; where positions are not limited
INSIDE = 1e-4  # rad; ranges end this far before the limits, so that rounding does not matter
BRAKING = 25.0  # 1/s; how a joint comes to rest before its limit, in comfort
EMERGENCY = 90.0  # 1/s; and where that is not possible


class JointAccelerationBounds:
    """Bounds on the accelerations of all coordinates but those of the base.

    Attributes:
        bounds: (2, na) least and largest accelerations of the last update.
        lower: (na,) least accelerations of the last update.
        upper: (na,) largest.
    """

    def __init__(self, robot: RobotModel, *, keep: bool = True) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base.
            keep: Whether position and speed are limited at all.
        """
        n = robot.nv - BASE
        self._v: Indices
        self._q: Indices
        self._q, self._v = (
            _one_freedom(robot)
            if keep
            else (np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp))
        )
        self._low, self._high = (
            robot.limits.lower[self._q] + INSIDE,
            robot.limits.upper[self._q] - INSIDE,
        )
        self._speed = robot.limits.velocity[BASE:] if keep else np.full(n, np.inf)
        self.bounds: Matrix = np.array([np.full(n, -FASTEST), np.full(n, FASTEST)])
        self.lower, self.upper = self.bounds
        self._place: Indices = np.zeros(n, dtype=np.intp)
        self._lowest, self._highest = np.full(n, -np.inf), np.full(n, np.inf)
        self._place[self._v], self._lowest[self._v], self._highest[self._v] = (
            self._q,
            self._low,
            self._high,
        )
        self._kernel = compile_kernel(update_room)
        self._limits = self._place, np.array([self._lowest, self._highest, self._speed]), FASTEST

    @property
    def ranges(self) -> tuple[Indices, Vector, Vector]:
        """Places of limited joints in the configuration, and where their ranges begin and end."""
        return self._q, self._low, self._high

    def update(
        self, q: Vector, v: Vector, dt: float, braking: float = BRAKING, *, measured: bool = False
    ) -> None:
        """Compute the bounds in a state: a joint may approach its limit no faster than in proportion to what is left.

        One that had to brake harder is faster than that, and goes on braking as hard: in comfort it would pass its limit.  That of a
        robot has a stop, and is asked for no more: a push throws joints about, and who is to be caught has better to do.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            dt: Time until the next tick [s].
            braking: Rate of the approach [1/s].
            measured: Whether the state comes from a robot.
        """
        rules = braking, braking if measured else EMERGENCY
        self._kernel(q, v, dt, rules, self._limits, self.bounds)

    def open(self) -> None:
        """Let joints accelerate as they like, as far as motors can be trusted to."""
        self.lower[:], self.upper[:] = -FREELY, FREELY


def limited_positions(robot: RobotModel) -> tuple[Indices, Vector, Vector]:
    """Return the joints of one freedom that have limits.

    Args:
        robot: The robot.

    Returns:
        Their places in the configuration, their lowest and their highest positions [rad or m].
    """
    index, _ = _one_freedom(robot)
    return index, np.array(robot.limits.lower[index]), np.array(robot.limits.upper[index])


def _is_limited(robot: RobotModel, place: slice) -> bool:
    """Whether a joint of one freedom has a lower or an upper limit."""
    return bool(np.isfinite([robot.limits.lower[place][0], robot.limits.upper[place][0]]).any())


def _one_freedom(robot: RobotModel) -> tuple[Indices, Indices]:
    """Return, in the configuration and behind the base in the velocity, the joints with one limited freedom."""
    pairs = [
        (joint.q.start, joint.v.start - BASE)
        for joint in robot.joints
        if joint.q.stop - joint.q.start == joint.v.stop - joint.v.start == 1
        and _is_limited(robot, joint.q)
    ]
    table = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def update_room(
    q: Vector,
    v: Vector,
    dt: float,
    braking: tuple[float, float],
    ranges: tuple[Indices, Matrix, float],
    out: Matrix,
) -> None:
    """Write least and largest accelerations of joints.

    Args:
        q: (nq,) configuration.
        v: (nv,) velocity.
        dt: Time until the next tick [s].
        braking: Rate of the approach to a limit, and the hardest: a joint that is faster than by the first brakes by that [1/s].
        ranges: Places in the configuration; (3, na) lowest and highest positions and fastest speeds; largest acceleration.
        out: (2, na) least and largest accelerations; overwritten.
    """
    place, limits, fastest = ranges
    for i in range(len(place)):
        rate, at = v[BASE + i], q[place[i]]
        above, below = limits[1, i] - at, limits[0, i] - at
        low = max(
            (-limits[2, i] - rate) / dt,
            approach(below, rate, braking[0]),
            approach(below, rate, braking[1]),
        )
        high = min(
            (limits[2, i] - rate) / dt,
            approach(above, rate, braking[0]),
            approach(above, rate, braking[1]),
        )
        high = min(max(high, -fastest), fastest)
        out[0, i], out[1, i] = min(min(max(low, -fastest), fastest), high), high


def approach(left: float, rate: float, braking: float) -> float:
    """Return the acceleration with which a coordinate comes to rest on a limit [rad/s^2].

    Args:
        left: How far the limit is away [rad].
        rate: Speed [rad/s].
        braking: Rate of the approach [1/s].
    """
    return -2.0 * braking * rate + braking * braking * left
