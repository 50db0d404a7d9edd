# SPDX-License-Identifier: Apache-2.0
"""Stage A7: the path of the centre of mass that stays bounded, as what is added to the path of the reference.

The reference's own centre of mass c is the bounded path of its own pivot p = c - c''/w^2, whatever follows after the window.  If the pivot
has to move by d, the centre of mass moves by the bounded solution x of x'' = w^2 (x - d): xi(t) = w int_0^inf exp(-w s) d(t + s) ds and
x' = w (xi - x).  Where nothing has to move nothing is added.
"""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.filtering.conditioning.centre_kernels import shift_path
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel

TAIL = 0.25  # s; what the pivot moves by beyond the window is the mean of this time before its end


class BoundedShift:
    """The shift of the centre of mass, carried from plan to plan.

    Attributes:
        x: (2,) shift now [m].
    """

    def __init__(self, w: float, dt: float) -> None:
        """Prepare.

        Args:
            w: Rate of the pendulum [1/s].
            dt: Time between rows [s].
        """
        self._w, self._dt = w, dt
        self.x: Vector | None = None

    def advance(self, d: Matrix, count: int) -> tuple[Matrix, Matrix, Matrix]:
        """Go on for some rows.

        Args:
            d: (n, 2) by how much the pivot has to move, from now on [m].
            count: Rows to go, fewer than n.

        Returns:
            x: (count, 2) shift of the centre of mass, from now on [m].
            rate: (count, 2) its velocity [m/s].
            second: (count, 2) its acceleration [m/s^2].
        """
        out = np.empty((count, 2)), np.empty((count, 2)), np.empty((count, 2))
        x = np.full(2, np.nan) if self.x is None else np.array(self.x)
        mean = max(1, min(round(TAIL / self._dt), len(d)))
        compile_kernel(shift_path)(d, x, (self._w, self._dt, mean), out)
        self.x = x
        return out

    def leap(
        self, d: Matrix, stiffness: Vector, force: Matrix, count: int
    ) -> tuple[Matrix, Matrix, Matrix]:
        """Go on for some rows in which the weight on the soles changes: x'' = s (x - d) + f, with s = 0 in flight.

        Args:
            d: (n, 2) by how much the pivot has to move, from now on [m].
            stiffness: (n,) s, the weight on the soles over mass and height [1/s^2].
            force: (n, 2) f [m/s^2].
            count: Rows to go, fewer than n.

        Returns:
            As ``advance`` does.
        """
        w, dt, n = self._w, self._dt, len(d)
        tail = d[-max(1, min(round(TAIL / dt), n)) :].mean(axis=0)
        A = np.zeros((n, n))
        right = dt * dt * (force - stiffness[:, None] * d)
        inner = np.arange(1, n - 1)
        A[inner, inner - 1] = A[inner, inner + 1] = 1.0
        A[inner, inner] = -2.0 - dt * dt * stiffness[inner]
        A[0, 0], A[-1, -1], A[-1, -2] = (
            1.0,
            1.0 + w * dt,
            -1.0,
        )  # where it is now; in the end, bounded
        right[-1] = w * dt * tail
        if (
            self.x is None
        ):  # nothing was planned before: begin at the bounded solution of where the pivot is now
            A[0, 1], right[0] = -1.0 / (1.0 + w * dt), w * dt / (1.0 + w * dt) * d[0]
        else:
            right[0] = self.x
        x: Matrix = np.asarray(np.linalg.solve(A, right), dtype=np.float64)
        self.x = np.array(x[count])
        rate: Matrix = (x[1 : count + 1] - np.vstack((2.0 * x[:1] - x[1:2], x[: count - 1]))) / (
            2.0 * dt
        )
        return x[:count], rate, stiffness[:count, None] * (x[:count] - d[:count]) + force[:count]
