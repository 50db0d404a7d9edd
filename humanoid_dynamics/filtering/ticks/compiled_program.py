# SPDX-License-Identifier: Apache-2.0
"""The tick's program written and solved by one compiled kernel."""

from __future__ import annotations

import math

import numpy as np

from humanoid_dynamics.filtering.ticks import basis_kernels, nearest_kernels, program_kernels
from humanoid_dynamics.filtering.ticks.joint_room import JointRoom
from humanoid_dynamics.filtering.ticks.nearest_kernels import CHANGE, FOUND, HOPELESS, STEPS
from humanoid_dynamics.filtering.ticks.program import (
    CORNERS,
    NEAR,
    WRENCH,
    Choice,
    ReducedProgram,
    Weights,
)
from humanoid_dynamics.filtering.ticks.program_kernels import solve_program
from humanoid_dynamics.filtering.ticks.terms import BASE, BodyTerms
from humanoid_dynamics.filtering.ticks.wishes import Wishes
from humanoid_dynamics.resolution import small
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel, functions_of
from humanoid_dynamics.spatial.fours import FOUR
from humanoid_dynamics.spatial.quadratic import QpStatus

MODULES = (small, basis_kernels, nearest_kernels, program_kernels)
PARTS = tuple(
    part for module in MODULES for part in functions_of(module) if part is not solve_program
)
BOTH = 12
VECTORS = 4  # of the length of an active set
CHANGES = 12  # of soles that are told apart, at most


class CompiledProgram:
    """The program for one or two standing soles; answers as ``ReducedProgram`` does, to rounding, and begins where the last one ended."""

    def __init__(
        self, plain: ReducedProgram, cones: tuple[Matrix, Matrix], effort: Vector, weights: Weights
    ) -> None:
        """Take the memory.

        Args:
            plain: The same program in arrays, which is asked where rounding or the number of steps is against the kernel.
            cones: Rows of what each sole can carry, cone @ wrench <= 0.
            effort: (na,) largest torques; infinite where there is no limit.
            weights: What deviations cost.
        """
        self.plain, self.feet = plain, plain.feet
        na, feet, w = len(effort), plain.feet, weights
        two = len(feet) > 1
        n = FOUR * math.ceil(
            (na + (WRENCH if two else 0)) / FOUR
        )  # unknowns beyond those that are there stay zero
        numbers = (
            w.com,
            w.height,
            w.base,
            w.swing,
            w.landing,
            w.swing_turn,
            w.joints,
            w.force,
            NEAR,
            plain.hair,
        )
        plan: Indices = np.array((feet[0], feet[1] if two else -1, plain.free), dtype=np.intp)
        units = np.concatenate(plain.units)
        second = cones[feet[1]] if two else np.zeros((0, WRENCH))
        self._given = (
            plan,
            np.array(effort),
            np.array(cones[feet[0]]),
            np.array(second),
            units,
            np.array(numbers),
        )
        self._extra = plain.build_extra()
        soft, clear = len(self._extra[1]), len(self._extra[4])
        always = 2 * BASE + soft + (WRENCH if two else 0)
        limits = na + len(cones[feet[0]]) + 1 + (len(second) + 1 if two else CORNERS) + clear
        self._rows = (
            (np.zeros((always, n)), np.zeros(always)),
            (np.zeros((limits, n)), np.zeros(limits), np.zeros(limits), np.zeros(limits)),
        )
        vectors = (
            np.zeros((5, WRENCH)),
            np.zeros((6, n)),
            np.zeros((3 * BASE, na)),
            np.zeros((na, BASE)),
            np.zeros(always),
        )
        self._reduced = (np.zeros((2 * BASE, na)), np.zeros((WRENCH, n)), *vectors)
        most = always + n + 1
        tags: Indices = np.zeros((2 + CHANGES, most), dtype=np.intp)
        state: Indices = np.zeros(CHANGE + len(tags), dtype=np.intp)
        room = most + FOUR
        self._work = (
            np.zeros((room, n)),
            np.zeros((room, room)),
            np.zeros((VECTORS, room)),
            tags,
            state,
        )
        self._memory = self._reduced, *self._rows, self._work
        self._size = BASE + na, na
        self._kernel = compile_kernel(solve_program, PARTS)
        self._changes: dict[tuple[int, ...], int] = {}

    def begin(self, before: tuple[int, ...]) -> None:
        """Begin the next time with the rows that were active when soles changed like this the last time.

        Args:
            before: Soles that stood until now.
        """
        self._work[4][CHANGE] = self._changes.setdefault(before, len(self._changes) + 2)

    def solve(self, terms: BodyTerms, wishes: Wishes, room: JointRoom) -> Choice:
        """Choose accelerations, wrenches and torques; see ``ReducedProgram.solve``."""
        nv, na = self._size
        out = np.empty(nv + BOTH + na)
        extra = (*self._extra, self.plain.count_extra())
        ended = self._kernel(
            terms.seen, wishes.seen, room.bounds, self._given, extra, self._memory, out
        )
        if ended not in {FOUND, HOPELESS}:
            return self.plain.solve(terms, wishes, room)
        status = QpStatus.OPTIMAL if ended == FOUND else QpStatus.INFEASIBLE
        wrenches = out[nv : nv + BOTH].reshape(2, BASE)
        return Choice(out[:nv], wrenches, out[nv + BOTH :], status, int(self._work[-1][STEPS]))
