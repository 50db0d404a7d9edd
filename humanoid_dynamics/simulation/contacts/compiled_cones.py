# SPDX-License-Identifier: Apache-2.0
"""The contact problem of ``cones.py`` solved by the kernel of ``yielding_kernel.py``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.simulation.contacts.cone_problem import CLOSE, ConeAnswer, ConeProblem
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.spatial.compiling import Kernel


@dataclass(frozen=True, eq=False)
class CompiledCones:
    """Solves as ``solve_cones`` does.

    Attributes:
        kernel: ``solve_problem``, compiled.
    """

    kernel: Kernel

    def __call__(self, problem: ConeProblem, guess: Vector | None) -> ConeAnswer:
        """Solve a contact problem.

        Args:
            problem: The problem.
            guess: (k,) impulses of the last step, zero for what is new.

        Returns:
            Impulses with their certificate; the nearest that was found where none is exact.
        """
        size, m = len(problem.b), len(problem.mu)
        owner = (
            np.arange(m)
            if problem.owner is None
            else np.unique(problem.owner, return_inverse=True)[1]
        )
        p, u = np.zeros(size), np.zeros(size)
        posed = (
            np.array(problem.G, order="C"),
            np.array(problem.b),
            np.asarray(problem.mu),
            problem.normals,
        )
        residual, rounds, complementarity, cone = self.kernel(
            posed, owner, np.zeros(size) if guess is None else guess, p, u
        )
        return ConeAnswer(p, u, residual, complementarity, cone, rounds, residual <= CLOSE)
