# SPDX-License-Identifier: Apache-2.0
"""Quadratic programs that no step at all is an answer to, by least distance: slower than ``quadratic``, and surer.

An active-set method takes rows that nearly depend on each other, such as those of soles on ice, for rows that contradict each other.
Here they only ask for the nonnegative combination of rows that comes nearest to a vector, which there always is.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.optimize import nnls

from humanoid_dynamics.spatial.arrays import Matrix, Vector

MOST_CHANGES = 50  # for each row


def solve_from_zero(H: Matrix, g: Vector, A: Matrix, b: Vector) -> Vector | None:
    """Minimise x'Hx/2 - g'x with A x <= b, where b >= 0.

    With H = U'U, U x_0 = U'^-1 g and U x = U x_0 + r z, r = |U x_0|, it asks for the least z with A U^-1 z <= (b - A x_0) / r, as Lawson
    and Hanson do.  Zero fulfils the rows, so that z is one long at most, and what is divided by at the end is a half at least.

    Args:
        H: (n, n) Hessian, symmetric and positive definite.
        g: (n,) linear term.
        A: (m, n) rows.
        b: (m,) bounds, none negative; infinite ones do not count.

    Returns:
        (n,) the minimum; None where numbers are not finite or H is not positive definite.
    """
    bounded = np.isfinite(b)
    A, b = A[bounded], b[bounded]
    try:
        U = cholesky(H)
        y_0 = solve_triangular(U, g, trans=1)
        length = float(np.linalg.norm(y_0))
        if length == 0.0 or not len(A):
            return np.asarray(solve_triangular(U, y_0))
        rows = np.vstack(
            (solve_triangular(U, A.T, trans=1), (b - A @ solve_triangular(U, y_0)) / length)
        )
        sizes = np.linalg.norm(rows, axis=0)
        rows = -rows[:, sizes > 0.0] / sizes[sizes > 0.0]
        wanted = np.append(np.zeros(len(g)), 1.0)
        forces, _ = nnls(rows, wanted, maxiter=MOST_CHANGES * len(b))
    except (LinAlgError, ValueError, RuntimeError):
        return None
    left = wanted - rows @ forces
    return np.asarray(solve_triangular(U, y_0 - length * left[:-1] / left[-1]))
