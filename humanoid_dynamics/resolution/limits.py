# SPDX-License-Identifier: Apache-2.0
"""Quadratic programs that keep the limits of contacts and motors, for systems of any rank [DF, sec. 4].

Contacts may never pull, slip or tip: these rows are hard always.  Where no push inside them and inside the torque limits fulfils the
equation of motion, the equation gives way, as little as possible.  Only where limbs move so wildly that no push at all keeps their motors
inside their limits do these give way as well; commands are then cut to them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.resolution.problem import DynamicsProblem, as_slice
from humanoid_dynamics.solvers.qp import QpStatus, QpWorkspace
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.least_distance import solve_from_zero

NONE: Indices = np.zeros(0, dtype=np.intp)
MOMENT_LEVER = 0.3  # m; weighs a moment that is missing at the base against a force
CHOICE_WEIGHT = (
    1e-6  # of the rule's objective against the equation of motion, where that cannot be met
)
CHOICE_FLOOR = (
    1e-2  # of the mean curvature of the objective, so that the program stays well conditioned
)


@dataclass(frozen=True, eq=False)
class LimitedPush:
    """A push inside limits.

    Attributes:
        x: (size,) the push.
        path: ``qp`` where the equation of motion is met, ``qp_soft`` where it gives way, ``none`` where no program had an answer.
    """

    x: Vector
    path: str


@dataclass(frozen=True, eq=False)
class _Program:
    """A quadratic program whose first rows are equations, if any, then those of contacts, then torques.

    Attributes:
        workspace: Its memory.
        torques: How many of its last rows are torques.
    """

    workspace: QpWorkspace
    torques: int


class LimitedChoice:
    """The push inside limits with the least cost [DF, eq. 1]: make once, ``choose`` many times."""

    def __init__(self, problem: DynamicsProblem) -> None:
        """Take the memory of the quadratic programs.

        Args:
            problem: What is asked.
        """
        self._problem = problem
        effort = problem.robot.limits.effort
        limited = problem.acted_v[np.isfinite(effort[problem.acted_v])]
        self._torque, self._effort = as_slice(limited - problem.span.start), effort[limited]
        self._hard = self._build_program(len(problem.bearing_v), len(limited))
        self._soft = [
            self._build_program(0, torques) for torques in dict.fromkeys((len(limited), 0))
        ]
        self._misses = miss_weights(problem)

    def choose(self, H: Matrix, g: Vector) -> LimitedPush:
        """Choose the push of least cost x'Hx/2 - g'x.

        Args:
            H: (size, size) Hessian.
            g: (size,) linear term.

        Returns:
            The push; the closest one where no push fulfils everything.
        """
        self._ask_hard(self._hard, H, g)
        solution = self._hard.workspace.solve()
        if solution.status is QpStatus.OPTIMAL:
            return LimitedPush(solution.x, "qp")
        for program in self._soft:
            scale = self._ask_soft(program, H, g)
            solution = program.workspace.solve()
            if solution.status is QpStatus.OPTIMAL:
                return LimitedPush(solution.x * scale, "qp_soft")
            x = self._choose_surely(program)
            if x is not None:
                return LimitedPush(x * scale, "qp_soft")
        return LimitedPush(np.zeros(self._problem.size), "none")

    def _choose_surely(self, kind: _Program) -> Vector | None:
        """Choose slowly what a soft program asks to which no push at all is an answer, if not the nearest."""
        program, m = kind.workspace, len(self._problem.b)
        if not self._problem.size or (program.upper < 0.0).any() or (program.lower > 0.0).any():
            return None
        A, b = (
            np.vstack((program.A, -program.A[m:])),
            np.concatenate((program.upper, -program.lower[m:])),
        )
        return solve_from_zero(program.H, -program.f, A, b)

    def _build_program(self, equations: int, torques: int) -> _Program:
        n, A, b = self._problem.size, self._problem.A, self._problem.b
        workspace = QpWorkspace(
            max(n, 1), equations, equations + len(b) + torques, self._problem.unit_force
        )
        workspace.A[equations : equations + len(b), :n] = A
        workspace.upper[equations : equations + len(b)] = b
        return _Program(workspace, torques)

    def _ask_hard(self, kind: _Program, H: Matrix, g: Vector) -> None:
        problem, program, m = self._problem, kind.workspace, len(self._problem.bearing_v)
        program.H[:] = H
        np.negative(g, program.f)
        program.A[:m] = problem.J_span[:, problem.bearing].T
        program.upper[:m] = program.lower[:m] = problem.free[problem.bearing]
        self._ask_torques(kind, 1.0)

    def _ask_torques(self, kind: _Program, scale: float) -> None:
        if kind.torques:
            free, program = self._problem.free[self._torque], kind.workspace
            program.A[-kind.torques :] = self._problem.J_span[:, self._torque].T
            program.upper[-kind.torques :] = (free + self._effort) / scale
            program.lower[-kind.torques :] = (free - self._effort) / scale

    def _ask_soft(self, kind: _Program, H: Matrix, g: Vector) -> float:
        """Fill the program; return the unit of force in which it is asked, in weights of the robot, large in wild states."""
        problem, n, program = self._problem, self._problem.size, kind.workspace
        J_u, missing = problem.J_span[:, problem.bearing], problem.free[problem.bearing]
        choice = CHOICE_WEIGHT / max(float(np.trace(H)) / max(n, 1), 1e-300)
        program.H[:] = (J_u * self._misses) @ J_u.T + choice * H
        program.H[range(n), range(n)] += CHOICE_WEIGHT * CHOICE_FLOOR
        asked = np.concatenate((missing, problem.free[self._torque] if kind.torques else NONE))
        scale = max(1.0, float(np.max(np.abs(asked), initial=0.0)) / problem.unit_force)
        np.multiply(J_u @ (self._misses * missing) + choice * g, -1.0 / scale, program.f)
        np.multiply(self._problem.b, 1.0 / scale, program.upper[: len(self._problem.b)])
        self._ask_torques(kind, scale)
        return scale


def miss_weights(problem: DynamicsProblem) -> Vector:
    """Return how much what each equation misses weighs, squared, where not all can be met; a force on a slide weighs one.

    Args:
        problem: What is asked.
    """
    slides = np.array([problem.units[i] == "N" for i in problem.bearing_v], dtype=bool)
    return np.where(slides, 1.0, MOMENT_LEVER**-2)
