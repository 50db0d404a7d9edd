# SPDX-License-Identifier: Apache-2.0
"""Small, dense, strictly convex quadratic programs, solved in memory that is made once.

The solver behind is daqp, a dual active-set method: exact, without a tail, deterministic.  Why it and not another: ``docs/qp_solver.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import daqp
import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.spatial.arrays import Matrix, Vector

ITERATION_LIMIT = 500
SOLVER_TOLERANCE = 1e-9  # of the size of x
ACCEPTED_VIOLATION = 1e-7  # of the size of x
ACCEPTED_ROUNDING = 1e-11  # of the largest product in a row, where that says more
LARGEST = 1e300  # beyond it a number counts as infinite
EQUALITY = 5  # how daqp marks an equation


class QpStatus(Enum):
    """How a quadratic program ended; only ``OPTIMAL`` is an answer."""

    OPTIMAL = "optimal"
    INFEASIBLE = "no x fulfils all rows"
    UNBOUNDED = "the objective has no minimum"
    NOT_CONVEX = "the Hessian is not positive definite"
    CYCLING = "the active set repeats itself"
    ITERATION_LIMIT = "too many iterations"
    INACCURATE = "an answer came that violates its rows"
    INVALID = "a number is not finite"


_STATUS_OF_FLAG = {
    1: QpStatus.OPTIMAL,
    -1: QpStatus.INFEASIBLE,
    -2: QpStatus.CYCLING,
    -3: QpStatus.UNBOUNDED,
    -4: QpStatus.ITERATION_LIMIT,
    -5: QpStatus.NOT_CONVEX,
    -6: QpStatus.INFEASIBLE,
}


@dataclass(frozen=True, slots=True, eq=False)
class QpSolution:
    """Where a quadratic program ended, and how right that is.

    Attributes:
        x: (n,) the minimum; not to be used unless the status is ``OPTIMAL``.
        multipliers: (m,) forces of the rows, H x + f + A' multipliers = 0; positive at an upper bound, negative at a lower one.
        status: How it ended.
        iterations: Changes of the active set.
        violation: Largest violation of a row; infinite where there is no answer.
    """

    x: Vector
    multipliers: Vector
    status: QpStatus
    iterations: int
    violation: float


class QpWorkspace:
    """Minimise x'Hx/2 + f'x with A x = b in the first rows and lower <= A x <= upper in the others: make once, ``solve`` many times.

    Fill ``H``, ``f``, ``A``, ``lower`` and ``upper`` in place, then ``solve``.  H is read whole; it must be symmetric and positive
    definite with a condition number of at most 1e10.  An equation has its right-hand side in both bounds; a bound that is not there is
    infinite.  Rows may repeat or depend on each other.
    """

    __slots__ = (
        "A",
        "H",
        "_H_scaled",
        "_f_scaled",
        "_sense",
        "_size",
        "_x_of_rows",
        "f",
        "lower",
        "upper",
    )

    H: Matrix
    f: Vector
    A: Matrix
    lower: Vector
    upper: Vector

    def __init__(self, n: int, n_equal: int, n_rows: int, size: float = 1.0) -> None:
        """Take the memory.

        Args:
            n: Number of unknowns.
            n_equal: Number of equations, the first rows of A.
            n_rows: Number of rows in all, equations included.
            size: Typical size of the unknowns, by which tolerances scale.

        Raises:
            ShapeError: If there is no unknown, or more equations than rows.
        """
        if n < 1 or not 0 <= n_equal <= n_rows or not 0.0 < size < np.inf:
            received = f"{n} unknowns, {n_equal} equations in {n_rows} rows, size {size}"
            raise ShapeError(
                "QpWorkspace",
                received,
                "one unknown or more, no more equations than rows, a positive size",
            )
        self.H, self.f, self.A = np.zeros((n, n)), np.zeros(n), np.zeros((n_rows, n))
        self.lower, self.upper = np.full(n_rows, -np.inf), np.full(n_rows, np.inf)
        self.lower[:n_equal] = self.upper[:n_equal] = 0.0
        self._sense: NDArray[np.intc] = np.zeros(n_rows, dtype=np.intc)
        self._sense[:n_equal] = EQUALITY
        self._H_scaled, self._f_scaled, self._x_of_rows = (
            np.zeros((n, n)),
            np.zeros(n),
            np.zeros(n_rows),
        )
        self._size = size

    @np.errstate(all="ignore")  # what is not finite is told by the status
    def solve(self) -> QpSolution:
        """Solve what the arrays hold now; trouble is a status, never an exception.

        Returns:
            The solution, with the violation of its rows measured on the arrays themselves and not taken from the solver.
        """
        trace = float(self.H.trace())
        if not 0.0 < trace < np.inf:
            return self._none(self._explain(-5), 0)
        scale = self.f.shape[0] / trace  # the solver's own pivot tolerance is absolute
        np.multiply(self.H, scale, self._H_scaled)
        np.multiply(self.f, scale, self._f_scaled)
        x, _, flag, details = daqp.solve(
            self._H_scaled,
            self._f_scaled,
            self.A,
            self.upper,
            self.lower,
            self._sense,
            primal_tol=SOLVER_TOLERANCE * self._size,
            eps_prox=0.0,
            iter_limit=ITERATION_LIMIT,
        )
        if flag != 1:
            return self._none(self._explain(flag), details["iterations"])
        multipliers = details["lam"]
        multipliers /= scale
        violation = self._measure_violation(x)
        # A violation that is not a number compares false, so it is caught as well.
        accepted = violation <= ACCEPTED_VIOLATION * self._size or self._is_rounding(x, violation)
        return QpSolution(
            x,
            multipliers,
            QpStatus.OPTIMAL if accepted else self._explain(flag, False),
            details["iterations"],
            violation,
        )

    def optimality(self, solution: QpSolution) -> float:
        """Return the largest entry of H x + f + A' multipliers, zero at the minimum, in the unit of f."""
        H = np.triu(self.H) + np.triu(self.H, 1).T
        return float(np.max(np.abs(H @ solution.x + self.f + solution.multipliers @ self.A)))

    def _measure_violation(self, x: Vector) -> float:
        if not self._x_of_rows.size:
            return 0.0 if np.isfinite(x).all() else np.nan
        above = np.dot(self.A, x, self._x_of_rows) - self.upper
        below = self.lower - self._x_of_rows
        one, other = (
            float(above[above.argmax()]),
            float(below[below.argmax()]),
        )  # argmax, unlike Python's max, stops at what is no number
        return max(one, other, 0.0) if one == one and other == other else np.nan

    def _is_rounding(self, x: Vector, violation: float) -> bool:
        if not self._x_of_rows.size:
            return False
        return violation <= ACCEPTED_ROUNDING * min(
            float((np.abs(self.A) @ np.abs(x)).max()), LARGEST
        )

    def _explain(self, flag: int, trusted: bool = True) -> QpStatus:
        bounds = np.isnan(self.lower).any() or np.isnan(self.upper).any()
        if bounds or not all(np.isfinite(part).all() for part in (self.H, self.f, self.A)):
            return QpStatus.INVALID
        return _STATUS_OF_FLAG.get(flag, QpStatus.INACCURATE) if trusted else QpStatus.INACCURATE

    def _none(self, status: QpStatus, iterations: int) -> QpSolution:
        return QpSolution(
            np.zeros(self.f.shape[0]), np.zeros(self.A.shape[0]), status, iterations, np.inf
        )
