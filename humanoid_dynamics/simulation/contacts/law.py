# SPDX-License-Identifier: Apache-2.0
"""The law of contact of a world: which impulses rows get, by Coulomb's friction or by the procedure of the paper."""

from __future__ import annotations

from math import inf

import numpy as np

from humanoid_dynamics.simulation.contacts.cone_problem import (
    FAR,
    FARTHER,
    FARTHEST,
    HARD,
    MOST_PASSES,
    MOST_STALLS,
    NEARER,
    STALLED,
    ConeAnswer,
    ConeProblem,
    Solver,
)
from humanoid_dynamics.simulation.contacts.cones import certify, solve_cones, spread_softness
from humanoid_dynamics.simulation.contacts.contact_rows import Rows
from humanoid_dynamics.simulation.contacts.point_table import PointTable
from humanoid_dynamics.simulation.contacts.yielding_kernel import find_lead
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector


class ContactLaw:
    """Poses and solves the contact problems of one world.

    Attributes:
        name: ``friction`` or ``paper``.
        solver: Solves a contact problem with friction.
        handed: Why the procedure of the paper handed contacts of this step to friction; empty where it did not.
    """

    def __init__(
        self, table: PointTable, joints: Indices, name: str, solver: Solver = solve_cones
    ) -> None:
        """Prepare.

        Args:
            table: All touch points.
            joints: (n,) the joint that carries each.
            name: ``friction`` or ``paper``.
            solver: Solves a contact problem with friction.
        """
        self.name, self.solver, self._joints = name, solver, joints
        self.handed = ""
        if name == "paper":  # what loads slowly is loaded now, and only for those who need it
            from humanoid_dynamics.simulation.contacts.procedure import solve_by_procedure

            self._solve_by_procedure = solve_by_procedure
        surfaces = [name.rpartition(".")[0] or name for name in table.names]
        first: dict[str, int] = {}
        self._surface = np.array(
            [first.setdefault(name, k) for k, name in enumerate(surfaces)], dtype=np.intp
        )
        self._yielding: tuple[bytes, int, Matrix] = (b"", 0, np.zeros((0, 0)))

    def pose(self, rows: Rows, G: Matrix, b: Vector) -> ConeProblem:
        """Return the problem of some rows; how their bodies share what they yield stays the same while the same rows take part.

        Args:
            rows: The rows.
            G: (k, k) velocity of each row per unit of impulse.
            b: (k,) velocity of each without impulses, shifted by what it should be.
        """
        points, count, owner = rows.point.tobytes(), len(rows.gap), self._joints[rows.point]
        if (points, count) != self._yielding[:2]:
            self._yielding = (points, count, spread_softness(owner, count))
        return ConeProblem(G, b, rows.mu, count, owner, self._yielding[2])

    def solve(self, problem: ConeProblem, rows: Rows, guess: Vector | None) -> ConeAnswer:
        """Find the impulses, and again around the answer until nothing yields: two passes but for what is far lighter than the rest.

        Args:
            problem: The problem.
            rows: Its rows.
            guess: (k,) impulses of the last step, zero for what is new; None for an impact.

        Returns:
            Impulses, with velocities and a certificate of the problem in which nothing yields.
        """
        if self.name == "friction":
            return self._solve_hard(problem, guess)
        patches: dict[
            tuple[float, ...], list[int]
        ] = {}  # corners of one surface on one side of one shape
        told = np.column_stack(
            (self._surface[rows.point], rows.key - rows.point, rows.axes[0].round(6))
        )
        for corner, patch in enumerate(told.tolist()):
            patches.setdefault(tuple(patch), []).append(corner)
        groups = [np.array(corners, dtype=np.intp) for _, corners in sorted(patches.items())]
        plane = np.einsum("akj,kj->ka", rows.axes[1:], rows.place)
        answer = self._solve_by_procedure(problem, groups, plane, guess, self._solve_hard)
        self.handed = answer.handed or self.handed
        return answer

    def _solve_hard(self, problem: ConeProblem, guess: Vector | None) -> ConeAnswer:
        """Solve with friction until nothing yields; where it was not solved, while that comes nearer.

        Passes that lead straight on, each a share of the one before, are led on at once as far as all that follow would go.
        """
        around = self.solver(problem, guess)
        best, before, rounds, stalls, far = certify(problem, around), inf, around.rounds, 0, FAR
        start, last = np.zeros_like(problem.b) if guess is None else guess, np.zeros_like(problem.b)
        for _ in range(MOST_PASSES):
            if (
                best.residual <= HARD
                or stalls == MOST_STALLS
                or not (around.exact or best.residual <= NEARER * before)
            ):
                break
            moved = around.p - start
            share = find_lead(moved.dot(moved), moved.dot(last), last.dot(last), far)
            far = min(FARTHER * far, FARTHEST) if share >= far else far
            start, last, before = around.p + share * moved, moved, best.residual
            around = self.solver(problem, start)
            answer, rounds, stalls = certify(problem, around), rounds + around.rounds, stalls + 1
            if answer.residual < STALLED * before or answer.residual <= HARD:
                best, stalls = answer, 0
        return best._replace(rounds=rounds)
