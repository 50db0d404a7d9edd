# SPDX-License-Identifier: Apache-2.0
"""The tick as a quadratic program over joint accelerations: everything else follows from them.

A standing sole moves as it is told, which gives the acceleration of the base from those of the joints; the equation of motion of the base
then gives the wrench under that sole.  Where no sole stands, that equation gives the acceleration of the base.  What is left to choose are
the accelerations of the joints and, where two soles stand, the wrench under the second one; no equation is left but that the second sole
rests.  The torques are M va + h - J'w with the mass matrix of a robot that is bolted to the ground at the first sole.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.filtering.ticks.joint_room import JointAccelerationBounds
from humanoid_dynamics.filtering.ticks.nearest_kernels import CHANGE, FOUND, HOPELESS
from humanoid_dynamics.filtering.ticks.program_kernels import read_answer, solve_program
from humanoid_dynamics.filtering.ticks.terms import BASE, DynamicsTerms
from humanoid_dynamics.filtering.ticks.wishes import TaskReferences
from humanoid_dynamics.solvers.qp import QpStatus, QpWorkspace
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel
from humanoid_dynamics.spatial.fours import FOUR

WRENCH = 6
CORNERS = 4  # of a sole, that stay above the ground
NEAR = 0.06  # m; a sole lower than this is near the ground
HAIR = 5e-7  # of the weight: push that limits of a contact do not count on; more than rounding breaks them by, less than counts as load
SIZE = 10.0  # of unknowns, rad/s^2 and N
BOTH = 12
VECTORS = 4  # of the length of an active set
ENDED = {FOUND: QpStatus.OPTIMAL, HOPELESS: QpStatus.INFEASIBLE}
CHANGES = 12  # of soles that are told apart, at most


@dataclass(frozen=True)
class Weights:
    """What a deviation from a wish costs, per squared acceleration.

    Attributes:
        com: Centre of mass, seen from above [s^4/m^2].
        height: Its height.
        base: Orientation of the base [s^4/rad^2].
        swing: Swinging soles, high above the ground [s^4/m^2].
        landing: How many times more near the ground [-].
        swing_turn: Share of that for their orientation [m^2/rad^2].
        joints: Joints.
        force: Wrenches under two soles, per squared unit of force.
        lever: Length by which moments are compared with forces [m].
        unit: Unit of force, in weights of the robot.
    """

    com: float = 1e5
    height: float = 5e2
    base: float = 20.0
    swing: float = 300.0
    landing: float = 4.0
    swing_turn: float = 0.2
    joints: float = 4.0
    force: float = 1e-3
    lever: float = 0.1
    unit: float = 0.1


@dataclass(slots=True, eq=False)
class QpAnswer:
    """What a program chose.

    Attributes:
        vdot: (nv,) acceleration.
        wrenches: (2, 6) wrenches of the ground on the soles, in axes of each.
        tau: (na,) torques of all coordinates but those of the base.
        status: How the program ended.
    """

    vdot: Vector
    wrenches: Matrix
    tau: Vector
    status: QpStatus


@dataclass(frozen=True, slots=True, eq=False)
class ExtraRows:
    """Further rows on the accelerations of the robot; the arrays are read at every tick.

    Attributes:
        G: (k, nv) soft rows.
        g: (k,) their values.
        W: (k,) their weights.
        rows: (m, nv) limits from below.
        lower: (m,) least values of those.
        count: Returns how many of the limits count.
    """

    G: Matrix
    g: Vector
    W: Vector
    rows: Matrix
    lower: Vector
    count: Callable[[], int]


def no_rows(nv: int) -> ExtraRows:
    """Return no further rows.

    Args:
        nv: Number of velocities.
    """
    nothing = np.zeros((0, nv))
    return ExtraRows(nothing, np.zeros(0), np.zeros(0), nothing, np.zeros(0), lambda: 0)


class ReducedQp:
    """The program for one set of standing soles: make once, ``solve`` at every tick; it begins where the last one ended."""

    def __init__(
        self,
        feet: tuple[int, ...],
        cones: tuple[Matrix, Matrix],
        effort: Vector,
        weights: Weights,
        weight: float,
        *,
        extra: ExtraRows | None = None,
        free: int = -1,
    ) -> None:
        """Take the memory.

        Args:
            feet: Soles that stand: none, one or both.
            cones: Rows of what each sole can carry, cone @ wrench <= 0, of which it keeps a hair inside.
            effort: (na,) largest torques; infinite where there is no limit.
            weights: What deviations cost.
            weight: That of the robot [N].
            extra: Further rows.
            free: Motion of the second sole that is free, and no wrench acts along; none where negative.
        """
        na, w, nobody = len(effort), weights, np.zeros((0, WRENCH))
        first, second = (*feet, -1, -1)[:2]
        n = FOUR * math.ceil(
            (na + (WRENCH if second >= 0 else 0)) / FOUR
        )  # the last ones stay zero
        units = w.unit * weight * np.array([1.0] * 3 + [w.lever] * 3)
        numbers = (w.com, w.height, w.base, w.swing, w.landing, w.swing_turn, w.joints, w.force)
        plan: Indices = np.array((first, second, free), dtype=np.intp)
        one, other = (np.array(cones[foot]) if foot >= 0 else nobody for foot in (first, second))
        self._given = (
            plan,
            np.array(effort),
            one,
            other,
            np.concatenate((units, np.where(np.arange(WRENCH) == free, 0.0, units))),
            np.array((*numbers, NEAR, HAIR * weight)),
        )
        self._extra = extra or no_rows(BASE + na)
        e, swings = self._extra, 2 - len(feet)
        always = BASE + WRENCH * max(swings, 1) + len(e.g) + (WRENCH if second >= 0 else 0)
        limits = na + len(one) + len(other) + len(feet) + CORNERS * swings + len(e.lower)
        self._soft = len(e.g) + BASE + WRENCH * max(swings, 1)
        self._rows = (
            (np.zeros((always, n)), np.zeros(always)),
            (np.zeros((limits, n)), np.zeros(limits), np.zeros(limits), np.zeros(limits)),
        )
        self._reduced = (
            np.zeros((2 * BASE, na)),
            np.zeros((WRENCH, n)),
            np.zeros((6, WRENCH)),
            np.zeros((7, n)),
            np.zeros((3 * BASE, na)),
            np.zeros((na, BASE)),
            np.zeros(always),
        )
        most = always + n + 1
        room = most + FOUR
        tags: Indices = np.zeros((2 + CHANGES, most), dtype=np.intp)
        state: Indices = np.zeros(CHANGE + len(tags), dtype=np.intp)
        shapes = (room, n), (room, room), (VECTORS, room)
        self._work = *(np.zeros(shape) for shape in shapes), tags, state
        self._memory = self._reduced, *self._rows, self._work
        self._size = BASE + na, na
        self._kernel = compile_kernel(solve_program)
        self._changes: dict[tuple[int, ...], int] = {}

    def begin(self, before: tuple[int, ...]) -> None:
        """Begin the next time with the rows that were active when soles changed like this the last time.

        Args:
            before: Soles that stood until now.
        """
        self._work[4][CHANGE] = self._changes.setdefault(before, len(self._changes) + 2)

    def solve(
        self, terms: DynamicsTerms, wishes: TaskReferences, room: JointAccelerationBounds
    ) -> QpAnswer:
        """Choose accelerations, wrenches and torques.

        Args:
            terms: The robot in its state.
            wishes: Accelerations to come near to; those of standing soles are met.
            room: Bounds on the accelerations of joints.

        Returns:
            The choice; not to be used unless its status is ``OPTIMAL``.
        """
        nv, na = self._size
        out, e = np.empty(nv + BOTH + na), self._extra
        extra = e.G, e.g, e.W, e.rows, e.lower, e.count()
        ended = self._kernel(
            terms.seen, wishes.seen, room.bounds, self._given, extra, self._memory, out
        )
        status = ENDED.get(ended) or self._solve_rows(out)
        wrenches = out[nv : nv + BOTH].reshape(2, BASE)
        return QpAnswer(out[:nv], wrenches, out[nv + BOTH :], status)

    def _solve_rows(self, out: Vector) -> QpStatus:
        """Solve the rows that the kernel wrote with another solver, where rounding or the number of steps is against its own."""
        (N, b), (A, lower, upper, size) = self._rows
        vectors, soft, n, na = self._reduced[3], self._soft, N.shape[1], self._size[1]
        qp = QpWorkspace(n, len(b) - soft, len(b) - soft + na + len(A), SIZE)
        qp.H[:] = np.eye(n) + N[:soft].T @ N[:soft]
        qp.f[:] = -N[:soft].T @ b[:soft]
        none = np.where(size > 0.0, 0.0, np.inf)  # a row of length zero is none
        qp.A[:] = np.vstack((N[soft:], np.eye(na, n), A))
        qp.lower[:] = np.concatenate((b[soft:], vectors[2, :na], lower - none))
        qp.upper[:] = np.concatenate((b[soft:], vectors[3, :na], upper + none))
        solution = qp.solve()
        vectors[4] = solution.x
        read_answer(self._given, self._reduced, self._rows[1], out)
        return solution.status
