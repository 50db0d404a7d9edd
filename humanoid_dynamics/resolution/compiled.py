# SPDX-License-Identifier: Apache-2.0
"""A rule's tick compiled by numba, with the memory it works in."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.resolution import (
    active_set,
    corner_forces,
    free_ways,
    halves,
    inside,
    kernels,
    memory,
    parallel,
    rows,
    settling,
    small,
    torque_system,
)
from humanoid_dynamics.resolution.inside import AS_IT_IS, FAILED, HARD, SOFT
from humanoid_dynamics.resolution.kernels import MISSING, SINGULAR, VERDICTS
from humanoid_dynamics.resolution.limits import (
    CHOICE_FLOOR,
    CHOICE_WEIGHT,
    ContactRows,
    miss_weights,
)
from humanoid_dynamics.resolution.memory import Sizes, build_memory, open_memory
from humanoid_dynamics.resolution.objectives import Fast
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.spatial.arrays import Indices, Vector, writable
from humanoid_dynamics.spatial.compiling import Kernel, compile_kernel, functions_of

EXACT = 1e-10  # of the weight of the robot: what a row of a limited push may be broken by
MODULES = (
    small,
    memory,
    rows,
    active_set,
    corner_forces,
    free_ways,
    inside,
    parallel,
    settling,
    torque_system,
    halves,
    kernels,
)
PARTS: tuple[Kernel, ...] = tuple(
    part for module in MODULES for part in functions_of(module) if "_tick" not in part.__name__
)


class CompiledTick:
    """A tick of a robot whose equations have full rank: make once, ``answer`` many times.

    Attributes:
        verdict: What is wrong first with the last answer, see ``kernels``.
        path: How its push was found.
        lacking: What each of the answers of which it is the mean lacked of the motion, where contacts fade [N].
    """

    def __init__(
        self,
        problem: DynamicsProblem,
        contacts: ContactRows,
        fast: Fast,
        tolerances: tuple[float, float, float],
        limited: bool,
    ) -> None:
        """Take the memory and compile, which takes about ten seconds the first time on a machine.

        Args:
            problem: What is asked.
            contacts: Limits of its contacts.
            fast: Kernels of the objective.
            tolerances: Square of what the equation of motion may miss, the largest share of a torque limit that may be used, and the share
                below which a contact fades, zero where none does.
            limited: Whether limits are kept.
        """
        self._problem = problem
        self._sizes = (problem.size, problem.robot.nv, len(problem.driven_v))
        self._most = problem.robot.limits.effort[problem.driven_v]
        self._least = -self._most
        self._tick, self._limited = compile_kernel(fast.kernels[limited], PARTS), limited
        self._paths = {AS_IT_IS: fast.path, HARD: "qp", SOFT: "qp_soft", FAILED: "none"}
        self._memory = _fill(problem, contacts, fast, tolerances)
        self.verdict, self.path, self.lacking = (
            SINGULAR,
            fast.path,
            open_memory(*self._memory).lacking,
        )
        self.answer(np.full(len(problem.parts), 1.0 / max(len(problem.parts), 1)))

    def answer(self, shares: Vector) -> tuple[Vector, Vector, Vector] | None:
        """Answer for the last update of the dynamics.

        Args:
            shares: (contacts,) part of the load that each contact is to take.

        Returns:
            The push, the forces tau_0 - J'x, and torques; None where it takes more care than the kernel has.
        """
        n, nv, na = self._sizes
        x, forces, tau = np.empty(n), np.empty(nv), np.empty(na)
        told = self._tick(
            self._problem.J,
            self._problem.tau_0,
            writable(shares),
            x,
            forces,
            tau,
            *self._memory,
        )
        way, self.verdict = divmod(told, VERDICTS)
        self.path = self._paths[way]
        if way == FAILED or (self.verdict <= MISSING and way != SOFT):
            return None
        if self._limited:  # also where all is well: to the last digit
            np.maximum(tau, self._least, out=tau)
            np.minimum(tau, self._most, out=tau)
        return x, forces, tau


def _fill(
    problem: DynamicsProblem,
    contacts: ContactRows,
    fast: Fast,
    tolerances: tuple[float, float, float],
) -> tuple[Vector, Indices]:
    effort = problem.robot.limits.effort
    limited = problem.acted_v[np.isfinite(effort[problem.acted_v])]
    limit = effort[problem.driven_v]
    with np.errstate(divide="ignore"):
        per_limit = np.where(limit > 0.0, 1.0 / limit, 0.0)
    of_contacts = contacts.for_kernel()
    sizes = Sizes(
        n=problem.size,
        m=len(problem.bearing_v),
        width=problem.J_span.shape[1],
        first=problem.span.start,
        contacts=len(problem.parts),
        rows=len(contacts.b),
        undriven=len(problem.undriven_v),
        driven=len(problem.driven_v),
        torques=len(limited),
        linear=problem.base_linear.stop,
    )
    missing, used, fade = tolerances
    of_soft = (EXACT, CHOICE_WEIGHT, CHOICE_FLOOR, problem.unit_force)
    settings = (
        missing,
        contacts.tight,
        contacts.broken,
        used,
        *of_soft,
        float(fast.light),
        1.0,
        fade,
    )
    of_body = (problem.bearing_v, problem.undriven_v, problem.driven_v, limited)
    indices = (*of_body, *of_contacts.indices, of_contacts.corner_ends, fast.owner)
    weights = (fast.push_weights, fast.torque_weights, fast.softness, fast.twist)
    corners = of_contacts.corners, *np.zeros((2, of_contacts.corners.shape[1]))
    rows = (
        of_contacts.rows,
        of_contacts.b,
        np.zeros(len(of_contacts.b)),
        *corners,
        per_limit,
        of_contacts.friction,
        of_contacts.load,
    )
    return build_memory(
        sizes, indices, (*weights, *rows, effort[limited], miss_weights(problem), settings)
    )
