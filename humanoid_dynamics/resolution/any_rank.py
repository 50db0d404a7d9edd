# SPDX-License-Identifier: Apache-2.0
"""Forces for systems of any rank and for objectives without a kernel: one linear system, a null space, quadratic programs.

Contacts may never pull, slip or tip: these rows are hard always.  Where no force inside them and inside the torque limits fulfils the
equation of motion, the equation gives way, as little as possible [DF, sec. 4].  Only where limbs move so wildly that no force at all keeps
their motors inside their limits do these give way as well; commands are then cut to them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.resolution.certificate import RESIDUAL_TOLERANCE
from humanoid_dynamics.resolution.certify import Certifier
from humanoid_dynamics.resolution.fading import URGENT, split_shares, weigh_halves
from humanoid_dynamics.resolution.objectives import Objective
from humanoid_dynamics.resolution.problem import LARGEST, DynamicsProblem
from humanoid_dynamics.resolution.violations import TIGHT
from humanoid_dynamics.solvers.qp import QpStatus, QpWorkspace
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector, as_slice
from humanoid_dynamics.spatial.least_squares import solve_constrained

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
        return LimitedPush(np.zeros(self._problem.size), "none")

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


PATHS = ("closed", "kkt", "svd", "qp", "qp_soft", "none")  # from the best to the worst


@dataclass(frozen=True, eq=False, slots=True)
class ForceSolution:
    """Forces and torques of one rule.

    Attributes:
        f: (size,) forces of contacts, gears and loops.
        tau: (na,) torques.
        path: How they were found, see ``Certificate``.
        rank: Rank of the equations.
        lacking: With and without contacts that fade, what each answer lacks of the motion [N].
    """

    f: Vector
    tau: Vector
    path: str
    rank: int
    lacking: Vector


class AnyRankSolver:
    """Solves for forces whatever the rank of the equations and however large the numbers."""

    def __init__(
        self,
        problem: DynamicsProblem,
        certifier: Certifier,
        objective: Objective,
        limited: bool,
        fade: float,
    ) -> None:
        """Take the memory.

        Args:
            problem: The equation of motion.
            certifier: What holds forces against their rows.
            objective: What the rule makes small.
            limited: Whether the rule keeps limits.
            fade: Load fraction below which a contact fades; zero where none does.
        """
        self._problem, self._certifier, self._objective = problem, certifier, objective
        self._limited = LimitedChoice(problem) if limited else None
        self._fade = fade
        self._tolerance = (RESIDUAL_TOLERANCE * problem.unit_force) ** 2
        self._miss_weights = miss_weights(problem)

    @np.errstate(all="ignore")  # the certificate finds what is not finite
    def solve(self, shares: Vector) -> ForceSolution:
        """Solve at the last update of the problem.

        Args:
            shares: (contacts,) load fractions; where more numbers follow, these are forces.
        """
        fades = any(0.0 < share < self._fade for share in shares.tolist())
        return self._mix(shares) if fades else self._solve(shares)

    def _mix(self, shares: Vector) -> ForceSolution:
        """Return a mean of the answers with and without contacts that fade."""
        problem = self._problem
        J, full_rank, found = np.array(problem.J), problem.full_rank, []
        for some in split_shares(shares, self._fade):
            problem.leave_out([share > 0.0 for share in some.tolist()])
            found.append(self._solve(some))
            problem.put_back(J, full_rank)
        lacking = np.concatenate([one.lacking for one in found])
        parts = shares[(shares > 0.0) & (shares < self._fade)] / self._fade
        weights = np.zeros(len(found))
        weigh_halves(parts, lacking, weights, len(found), URGENT * problem.unit_force)
        counted = np.flatnonzero(weights)
        f = weights[counted] @ np.array([found[i].f for i in counted])
        tau = weights[counted] @ np.array([found[i].tau for i in counted])
        # A mean of numbers may round beyond all of them.
        tau = np.minimum(np.maximum(tau, -problem.effort), problem.effort)
        path = max((found[i].path for i in counted), key=PATHS.index)
        return ForceSolution(f, tau, path, found[0].rank, lacking)

    def _solve(self, shares: Vector) -> ForceSolution:
        problem = self._problem
        f, path, rank = self._choose(shares)
        forces = self._find_forces(f)
        if self._limited is not None and problem.size and not self._is_kept(f, forces):
            push = self._limited.choose(self._objective.H, self._objective.g)
            f, path = push.x, push.path
            forces = self._find_forces(f)
        if not forces.dot(forces) < LARGEST:
            f, path = np.zeros(problem.size), "none"
            forces = self._find_forces(f)
        tau = forces[problem.driven_v]
        if self._limited is not None:  # also where all is well: to the last digit
            tau = np.minimum(np.maximum(tau, -problem.effort), problem.effort)
        lacking = np.sqrt(self._miss_weights @ forces[problem.bearing_v] ** 2)
        return ForceSolution(f, tau, path, rank, np.array([lacking]))

    def _choose(self, shares: Vector) -> tuple[Vector, str, int]:
        """Choose forces that fulfil the equation of motion as well as can be, without limits."""
        problem, objective = self._problem, self._objective
        if not problem.size:
            return np.zeros(0), "none", 0
        J_u, free = problem.J_span[:, problem.bearing], problem.free[problem.bearing]
        f = objective.choose(shares)
        if f is not None and self._misses(free - f.dot(J_u)):
            f = None
        objective.write(shares)
        chosen = solve_constrained(objective.H, objective.g, J_u.T, free)
        if f is not None:
            return f, "closed", chosen.rank
        nothing = np.zeros(len(free))
        f = objective.settle(
            chosen.x, lambda g: solve_constrained(objective.H, g, J_u.T, nothing).x
        )
        return f, chosen.path, chosen.rank

    def _find_forces(self, f: Vector) -> Vector:
        """Return what motors must give and what is missing, (nv,)."""
        return np.asarray(self._problem.tau_0 - f.dot(self._problem.J))

    def _is_kept(self, f: Vector, forces: Vector) -> bool:
        """Whether all holds, friction by its rows, which are inside the round cone."""
        problem = self._problem
        if problem.loops is not None and problem.loops.torn:
            return False
        over = np.max(problem.A.dot(f) - problem.b, initial=-np.inf)
        inside = bool(over <= TIGHT * problem.unit_force)
        return inside and self._certifier.keeps(f, forces[problem.driven_v])

    def _misses(self, lacking: Vector) -> bool:
        return not lacking.dot(lacking) <= self._tolerance
