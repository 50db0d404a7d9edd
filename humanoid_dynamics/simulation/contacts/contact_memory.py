# SPDX-License-Identifier: Apache-2.0
"""What contacts remember from one step to the next: who carried force, how fast it moved at the end, and its impulse."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.simulation.contacts.contact_rows import Rows, compose, resolve, select_points
from humanoid_dynamics.simulation.contacts.slides import SLIDES, find_stops, may_stop
from humanoid_dynamics.simulation.contacts.thresholds import CARRIES, REACH, SLOWEST_IMPACT
from humanoid_dynamics.simulation.steps.rows import FIRST_KEPT, M_DEEP, M_TOUCHES, M_U, SPAN, STOPS
from humanoid_dynamics.simulation.steps.tables import Tables
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector, read_only

INSTANT = 1e-30  # length of an impact: since then rows turned from where it was to the middle of the step [s]
HALF = read_only(0.5)  # as an array, by which numpy multiplies twice as fast as by a number


class ContactMemory:
    """Memory of one world, in its tables: points by pair with a shape, in axes of the world, and joint limits.

    Attributes:
        touches: (pairs,) one where a point carried force in the last step.
        deep: (pairs,) how deep points were that took part in it [m].
    """

    def __init__(self, tables: Tables) -> None:
        """Prepare.

        Args:
            tables: Tables of the step.
        """
        self._points, self._numbers = tables.memory, tables.numbers
        self.touches, self.deep, self._motions = (
            tables.memory[:, M_TOUCHES],
            tables.memory[:, M_DEEP],
            tables.memory[:, M_U:],
        )
        self._limits = tables.limits[:, -1]

    @property
    def carrying(self) -> int:
        """How many points carried force in the last step."""
        return int(np.count_nonzero(self.touches))

    def touched(self, key: Indices) -> NDArray[np.bool_]:
        """Return which of some pairs carried force in the last step.

        Args:
            key: (m,) pairs of point and shape.
        """
        return self.touches.take(key) > 0.0

    def recall(self, rows: Rows, v: Vector, dt: float) -> tuple[Vector, Vector]:
        """Return the shift of each row, how fast a gap may close and what rows turn by until the end, and a guess of its impulse.

        Args:
            rows: The rows.
            v: (nv,) velocity at the start of the step.
            dt: Its length [s].
        """
        m, count, share = len(rows.point), len(rows.gap), dt / float(self._numbers[SPAN])
        turned, carried = self._follow(rows, v, share)
        if rows.limits is None:
            shift, guess = turned, carried
        else:
            none = np.zeros(count - m)
            shift = np.concatenate((turned[:m], none, turned[m:]))
            guess = np.concatenate(
                (carried[:m], share * self._limits[rows.limits.row], carried[m:])
            )
        if rows.diving is not None:
            shift[:count] += (
                np.where(rows.diving, 2.0 * (rows.gap + REACH), np.maximum(rows.gap, 0.0)) / dt
            )
        elif rows.gap[rows.gap.argmax()] > 0.0:
            shift[:count] += np.maximum(rows.gap, 0.0) / dt
        return shift, guess

    def _follow(self, rows: Rows, v: Vector, share: float) -> tuple[Vector, Vector]:
        """Return what the rows of points turn by until the end, and their impulses (3m,); zero where nothing was carried."""
        kept = self._points.take(rows.key, 0)
        was = kept[:, M_TOUCHES]
        touched = np.count_nonzero(was)
        if not touched:
            return np.zeros(3 * len(was)), np.zeros(3 * len(was))
        ended, carried = resolve(rows, kept[:, M_U:])
        turned = select_points(rows, rows.J.dot(v))
        turned -= ended
        turned *= (
            HALF if share == 1.0 else share / (1.0 + share)
        )  # rows turn from the middle of the last step to that of this one
        if touched < len(was):
            own = np.concatenate((was, was, was))
            turned *= own
            carried *= own
        return turned, carried if share == 1.0 else share * carried

    def remember(self, rows: Rows, p: Vector, u: Vector) -> Matrix:
        """Keep what a step or an impact found; return the impulses of the points in the world (m, 3).

        Args:
            rows: The rows.
            p: (k,) impulses.
            u: (k,) velocities at the end.
        """
        m, count = len(rows.point), len(rows.gap)
        motions = compose(rows, select_points(rows, np.array((u, p))))
        self.let_go()
        self._numbers[FIRST_KEPT] = -1.0
        slip = u[count:]
        if slip.dot(slip) > SLIDES * SLIDES and may_stop(slip):
            before = np.einsum("akj,kj->ka", rows.axes[1:], self._motions[rows.key, :3])
            self._numbers[STOPS] = find_stops(
                before, slip.reshape(2, m).T, float(self._numbers[SPAN])
            )
        if rows.limits is not None:
            self._limits[rows.limits.row] = p[m:count]
        deep = np.maximum(-rows.gap[:m], 0.0)
        if m == len(self.touches):  # all of them, in order
            self.touches[:], self.deep[:], self._motions[:] = p[:m] > CARRIES, deep, motions
        else:
            self.touches[:] = self.deep[:] = 0.0
            self.touches[rows.key], self.deep[rows.key], self._motions[rows.key] = (
                p[:m] > CARRIES,
                deep,
                motions,
            )
        return motions[:, 3:]

    def rebound(self, rows: Rows, u: Vector) -> None:
        """Forget the impulses of an impact, which say nothing about the next step, and what it threw off.

        Args:
            rows: The rows.
            u: (k,) velocities after it.
        """
        self._motions[rows.key, 3:], self._numbers[SPAN] = 0.0, INSTANT
        self.touches[rows.key] *= u[: len(rows.point)] < SLOWEST_IMPACT

    def let_go(self) -> None:
        """Forget the impulses of limits, and when slides end."""
        self._limits[:], self._numbers[STOPS] = 0.0, 0.0

    def forget(self) -> None:
        """Forget who carried force, and how deep it was."""
        self.touches[:] = self.deep[:] = self._numbers[STOPS] = self._numbers[FIRST_KEPT] = 0.0
