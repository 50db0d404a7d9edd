# SPDX-License-Identifier: Apache-2.0
"""Small, dense, strictly convex quadratic programs, solved in memory that is made once.

The solver is the compiled dual active-set method of ``active_set``.  Why it and not another: ``docs/qp_solver.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

import numpy as np

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.solvers import active_set
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import Kernel, compile_kernel


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


_STATUS = {
    active_set.OPTIMAL: QpStatus.OPTIMAL,
    active_set.INFEASIBLE: QpStatus.INFEASIBLE,
    active_set.NOT_CONVEX: QpStatus.NOT_CONVEX,
    active_set.ITERATION_LIMIT: QpStatus.ITERATION_LIMIT,
    active_set.INVALID: QpStatus.INVALID,
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
        "_kernel",
        "_lengths",
        "_memory",
        "_n_equal",
        "_size",
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
        self._memory = _allocate(n)
        self._lengths, self._n_equal = np.zeros(n_rows), n_equal
        self._kernel = _compile_solver()
        self._size = float(size)

    def solve(self) -> QpSolution:
        """Solve what the arrays hold now; trouble is a status, never an exception.

        Returns:
            The solution, with the violation of its rows measured on the arrays themselves.
        """
        x, forces = np.empty(len(self.f)), np.empty(len(self.lower))
        rows = self.A, self.lower, self.upper, self._lengths
        ended, iterations, violation = self._kernel(
            (self.H, self.f), rows, self._n_equal, self._size, self._memory, x, forces
        )
        status = _STATUS[ended]
        if status is QpStatus.OPTIMAL:
            return QpSolution(x, forces, status, iterations, violation)
        return QpSolution(np.zeros(len(x)), np.zeros(len(forces)), status, iterations, np.inf)

    def optimality(self, solution: QpSolution) -> float:
        """Return the largest entry of H x + f + A' multipliers, zero at the minimum, in the unit of f."""
        H = np.triu(self.H) + np.triu(self.H, 1).T
        return float(np.max(np.abs(H @ solution.x + self.f + solution.multipliers @ self.A)))


def _allocate(n: int) -> tuple[Any, ...]:
    """Return the memory of the active set."""
    matrices = (np.zeros((n, n)) for _ in range(3))
    return *matrices, np.zeros((active_set.VECTORS, n)), np.zeros(n, dtype=np.intp)


@cache
def _compile_solver() -> Kernel:
    """Return the compiled solver, called once: no loop waits for its compilation."""
    kernel, one = compile_kernel(active_set.solve_program), np.ones((1, 1))
    rows = one, np.zeros(1), np.ones(1), np.zeros(1)
    kernel((one, np.ones(1)), rows, 0, 1.0, _allocate(1), np.zeros(1), np.zeros(1))
    return kernel
