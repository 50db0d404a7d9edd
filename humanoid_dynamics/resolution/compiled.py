# SPDX-License-Identifier: Apache-2.0
"""A rule's tick compiled by numba, with the memory it works in."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from types import MappingProxyType

import numpy as np

from humanoid_dynamics.contact.cone import build_pushes
from humanoid_dynamics.resolution.any_rank import (
    CHOICE_FLOOR,
    CHOICE_WEIGHT,
    ForceSolution,
    miss_weights,
)
from humanoid_dynamics.resolution.constraint_rows import YAW
from humanoid_dynamics.resolution.kernels import (
    MISSING,
    VERDICTS,
    share_tick,
    share_tick_inside,
    torque_tick,
    torque_tick_inside,
)
from humanoid_dynamics.resolution.limit_kernels import AS_IT_IS, FAILED, HARD, SOFT
from humanoid_dynamics.resolution.memory import WRENCH, Sizes, build_memory, open_memory
from humanoid_dynamics.resolution.objectives import Fast
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.resolution.violations import TIGHT
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector, writable
from humanoid_dynamics.spatial.compiling import Kernel, compile_kernel

EXACT = 1e-10  # of the weight of the robot: what a row of a limited push may be broken by
KERNELS: Mapping[str, tuple[Kernel, Kernel]] = MappingProxyType(
    {"torque": (torque_tick, torque_tick_inside), "load": (share_tick, share_tick_inside)}
)  # without limits and inside them


class CompiledTick:
    """A tick of a robot whose equations have full rank: make once, ``solve`` many times."""

    def __init__(
        self,
        problem: DynamicsProblem,
        fast: Fast,
        tolerances: tuple[float, float, float],
        limited: bool,
    ) -> None:
        """Take the memory and compile, which takes about ten seconds the first time on a machine.

        Args:
            problem: The equation of motion.
            fast: Kernels of the objective.
            tolerances: Square of what the equation of motion may miss, the largest share of a torque limit that may be used, and the share
                below which a contact fades, zero where none does.
            limited: Whether limits are kept.
        """
        self._problem, self._limited = problem, limited
        self._sizes = (problem.size, problem.robot.nv, len(problem.driven_v))
        self._most, self._least = problem.effort, -problem.effort
        self._tick = compile_kernel(KERNELS[fast.kernel][limited])
        self._paths = {AS_IT_IS: fast.path, HARD: "qp", SOFT: "qp_soft", FAILED: "none"}
        self._memory = _fill(problem, fast, tolerances)
        self._lacking, self._rank = open_memory(*self._memory).lacking, len(problem.bearing_v)
        self.solve(np.full(len(problem.parts), 1.0 / max(len(problem.parts), 1)))

    def solve(self, shares: Vector) -> ForceSolution | None:
        """Solve at the last update of the problem.

        Args:
            shares: (contacts,) part of the load that each contact is to take.

        Returns:
            Forces and torques; None where the system is singular or numbers are too large.
        """
        n, nv, na = self._sizes
        f, forces, tau = np.empty(n), np.empty(nv), np.empty(na)
        told = self._tick(
            self._problem.J,
            self._problem.tau_0,
            writable(shares),
            f,
            forces,
            tau,
            *self._memory,
        )
        way, verdict = divmod(told, VERDICTS)
        if way == FAILED or (verdict <= MISSING and way != SOFT):
            return None
        if self._limited:  # also where all is well: to the last digit
            np.maximum(tau, self._least, out=tau)
            np.minimum(tau, self._most, out=tau)
        return ForceSolution(f, tau, self._paths[way], self._rank, self._lacking)


def _fill(
    problem: DynamicsProblem, fast: Fast, tolerances: tuple[float, float, float]
) -> tuple[Vector, Indices]:
    limited = problem.acted_v[np.isfinite(problem.robot.limits.effort[problem.acted_v])]
    with np.errstate(divide="ignore"):
        per_limit = np.where(problem.effort > 0.0, 1.0 / problem.effort, 0.0)
    firsts, ends, rows, b = _stack_rows(problem)
    corner_ends, corners = _stack_corners(problem)
    sizes = Sizes(
        n=problem.size,
        m=len(problem.bearing_v),
        width=problem.J_span.shape[1],
        first=problem.span.start,
        contacts=len(problem.parts),
        rows=len(b),
        undriven=len(problem.undriven_v),
        driven=len(problem.driven_v),
        torques=len(limited),
        linear=problem.base_linear.stop,
    )
    missing, used, fade = tolerances
    weight = problem.unit_force
    of_soft = (EXACT, CHOICE_WEIGHT, CHOICE_FLOOR, weight)
    settings = (
        *(missing, TIGHT * weight, used),
        *(*of_soft, float(fast.light), 1.0, fade),
    )
    of_body = (problem.bearing_v, problem.undriven_v, problem.driven_v, limited)
    weights = (fast.push_weights, fast.torque_weights, fast.softness, fast.twist)
    effort = problem.robot.limits.effort[limited]
    return build_memory(
        sizes,
        (*of_body, firsts, ends, corner_ends, fast.owner),
        (
            *weights,
            *(rows, b, np.zeros(len(b)), corners, *np.zeros((2, corners.shape[1]))),
            *(per_limit, effort, miss_weights(problem), settings),
        ),
    )


def _stack_rows(problem: DynamicsProblem) -> tuple[Indices, Indices, Matrix, Vector]:
    """Return rows of contacts: first those of pressure, load and friction of all, then those about their normals.

    Where the unknowns of each contact start (contacts + 1,), where its rows do (2 contacts + 1,), rows (6, m) and bounds (m,).
    """
    groups = [
        (contact, (contact.kinds == YAW) == turns)
        for turns in (False, True)
        for contact in problem.contacts
    ]
    return (
        np.array([0, *(part.stop for part in problem.parts)], dtype=np.intp),
        np.array([0, *accumulate(int(chosen.sum()) for _, chosen in groups)], dtype=np.intp),
        np.hstack([np.zeros((WRENCH, 0)), *(_fill_up(c.cone.A[chosen].T) for c, chosen in groups)]),
        np.concatenate([np.zeros(0), *(c.cone.b[chosen] for c, chosen in groups)]),
    )


def _stack_corners(problem: DynamicsProblem) -> tuple[Indices, Matrix]:
    """Return where the forces at the corners of each contact start (contacts + 1,), and these forces in f (6, k)."""
    corners = [build_pushes(surface) for surface in problem.surfaces]
    ends = np.array([0, *accumulate(part.shape[1] for part in corners)], dtype=np.intp)
    return ends, np.hstack([np.zeros((WRENCH, 0)), *map(_fill_up, corners)])


def _fill_up(part: Matrix) -> Matrix:
    return np.pad(part, ((0, WRENCH - len(part)), (0, 0)))
