# SPDX-License-Identifier: Apache-2.0
"""The tick as a quadratic program over joint accelerations: everything else follows from them.

A standing sole moves as it is told, which gives the acceleration of the base from those of the joints; the equation of motion of the base
then gives the wrench under that sole.  What is left to choose are the accelerations of the joints and, where two soles stand, the wrench
under the second one; no equation is left but that the second sole rests.  The torques are M va + h - J'w with the mass matrix of a robot
that is bolted to the ground at the first sole.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.filtering.ticks.joint_room import JointRoom
from humanoid_dynamics.filtering.ticks.terms import BASE, BodyTerms
from humanoid_dynamics.filtering.ticks.wishes import Wishes
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only
from humanoid_dynamics.spatial.quadratic import QpStatus, QpWorkspace

WRENCH = 6
CORNERS = 4  # of a sole, that stay above the ground
NEAR = 0.06  # m; a sole lower than this is near the ground
HAIR = 5e-7  # of the weight: push that limits of a contact do not count on; more than rounding breaks them by, less than counts as load
PUSH = read_only([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
SIZE = 10.0  # of unknowns, rad/s^2 and N


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
class Choice:
    """What a program chose.

    Attributes:
        vdot: (nv,) acceleration.
        wrenches: (2, 6) wrenches of the ground on the soles, in axes of each.
        tau: (na,) torques of all coordinates but those of the base.
        status: How the program ended.
        iterations: Changes of its active set.
    """

    vdot: Vector
    wrenches: Matrix
    tau: Vector
    status: QpStatus
    iterations: int


class ReducedProgram:
    """The program for one set of standing soles: make once, ``solve`` at every tick."""

    free = -1  # motion of the second sole that is free; none

    def __init__(
        self,
        feet: tuple[int, ...],
        cones: tuple[Matrix, Matrix],
        effort: Vector,
        weights: Weights,
        weight: float,
    ) -> None:
        """Take the memory.

        Args:
            feet: Soles that stand: none, one or both.
            cones: Rows of what each sole can carry, cone @ wrench <= 0, of which it keeps a hair inside.
            effort: (na,) largest torques; infinite where there is no limit.
            weights: What deviations cost.
            weight: That of the robot [N].
        """
        na, self.feet, self._weights = len(effort), feet, weights
        second = WRENCH * max(len(feet) - 1, 0)
        units = weights.unit * weight * np.array([1.0] * 3 + [weights.lever] * 3)
        self.units = (
            units,
            np.where(np.arange(WRENCH) == self.free, 0.0, units),
        )  # of the wrenches under the first and the second sole
        held = np.flatnonzero(np.arange(WRENCH) != self.free)
        self._held, self._equal = held, len(held) * max(len(feet) - 1, 0)
        self._limited = np.flatnonzero(np.isfinite(effort))
        self._effort = effort[self._limited]
        self._cones, self.hair = cones, HAIR * weight
        swinging = tuple(foot for foot in (0, 1) if foot not in feet)
        self._swinging = swinging
        rows = (
            self._equal
            + na
            + len(self._limited)
            + sum(len(cones[foot]) for foot in feet)
            + CORNERS * len(swinging)
            + len(feet)
        )
        self._n, self._na = na + second, na
        self.qp = QpWorkspace(na + second, self._equal, rows, SIZE)
        self._place_rows(self._equal)
        self._G: Matrix = np.zeros(
            (BASE + WRENCH * len(swinging) + (WRENCH if second else 0), na + second)
        )
        self._g: Vector = np.zeros(len(self._G))
        self._W: Vector = self._stack_weights()
        self._tau: Matrix = np.zeros((na, na + second))

    def _place_rows(self, second: int) -> None:
        na, start = self._na, second
        self._room = slice(start, start + na)
        self.qp.A[self._room, :na] = np.eye(na)
        start += na
        self._torques = slice(start, start + len(self._limited))
        start = self._torques.stop
        self._under = []
        for k, foot in enumerate(self.feet):
            rows = slice(start, start + len(self._cones[foot]))
            start = rows.stop
            self._under.append(rows)
            if k:
                self.qp.A[rows, na:] = self._cones[foot] * self.units[1]
            self.qp.upper[rows] = self.hair * self._cones[foot][:, 2]
        self._above = slice(start, start + CORNERS * len(self._swinging))
        self._load = self._above.stop
        if len(self.feet) > 1:
            self.qp.A[self._load + 1, na + 2] = self.units[1][2]

    def _stack_weights(self) -> Vector:
        weights = self._weights
        force = (weights.force if len(self.feet) > 1 else 0.0) / self.units[0] ** 2
        parts = [[weights.com, weights.com, weights.height], [weights.base] * 3]
        parts += [
            [weights.swing] * 3 + [weights.swing * weights.swing_turn] * 3 for _ in self._swinging
        ]
        if len(self.feet) > 1:
            parts.append(list(force))
        return np.concatenate(parts)

    def solve(self, terms: BodyTerms, wishes: Wishes, room: JointRoom) -> Choice:
        """Choose accelerations, wrenches and torques.

        Args:
            terms: The robot in its state.
            wishes: Accelerations to come near to; those of standing soles are met.
            room: Bounds on the accelerations of joints.

        Returns:
            The choice; not to be used unless its status is ``OPTIMAL``.
        """
        self._fill(terms, wishes, room)
        solution = self.qp.solve()
        vdot, wrenches, tau = self._read(solution.x)
        return Choice(vdot, wrenches, tau, solution.status, solution.iterations)

    def build_extra(self) -> tuple[Matrix, Vector, Vector, Matrix, Vector]:
        """Return further rows on the accelerations of the robot: soft ones, values, weights; limits, least values; here none."""
        nv = BASE + self._na
        return np.zeros((0, nv)), np.zeros(0), np.zeros(0), np.zeros((0, nv)), np.zeros(0)

    def count_extra(self) -> int:
        """Return how many of the further limits count."""
        return 0

    def _fill(self, terms: BodyTerms, wishes: Wishes, room: JointRoom) -> None:
        T, t = self._T, self._t = self._eliminate_base(terms, wishes)
        P, p, B = self._fill_motion(terms, T, t)
        S, s = self._S, self._s = self._fill_wrench(terms, P, p, B)
        self._fill_objective(terms, wishes, (T, t), (S, s))
        qp = self.qp
        qp.lower[self._room], qp.upper[self._room] = room.lower, room.upper
        qp.A[self._torques] = self._tau[self._limited]
        np.subtract(self._effort, self._h[self._limited], qp.upper[self._torques])
        np.subtract(-self._effort, self._h[self._limited], qp.lower[self._torques])
        if self.feet:
            cone = self._cones[self.feet[0]]
            np.dot(cone, S, qp.A[self._under[0]])
            np.dot(cone, self.hair * PUSH - s, qp.upper[self._under[0]])
            qp.A[self._load] = S[2]
            qp.upper[self._load] = wishes.load[self.feet[0]] - s[2]
        if len(self.feet) > 1:
            foot = self.feet[1]
            qp.A[: self._equal, : self._na] = self._J_second[self._held]
            right = wishes.soles[foot] - terms.drift[foot] - terms.J[foot][:, :BASE] @ t
            qp.lower[: self._equal] = qp.upper[: self._equal] = right[self._held]
            qp.upper[self._load + 1] = wishes.load[foot]

    def _read(self, x: Vector) -> tuple[Vector, Matrix, Vector]:
        """Return accelerations, wrenches and torques that belong to a solution."""
        va = x[: self._na]
        wrenches = np.zeros((2, WRENCH))
        if self.feet:
            wrenches[self.feet[0]] = self._S @ x + self._s
        if len(self.feet) > 1:
            wrenches[self.feet[1]] = self.units[1] * x[self._na :]
        return np.concatenate((self._T @ va + self._t, va)), wrenches, self._tau @ x + self._h

    def _eliminate_base(self, terms: BodyTerms, wishes: Wishes) -> tuple[Matrix, Vector]:
        """Return T and t: the base accelerates by T va + t."""
        if not self.feet:
            right = np.column_stack((terms.M[:BASE, BASE:], terms.h[:BASE]))
            solved = -np.linalg.solve(terms.M[:BASE, :BASE], right)
            return np.ascontiguousarray(solved[:, :-1]), np.ascontiguousarray(solved[:, -1])
        foot = self.feet[0]
        J = terms.J[foot]
        self._B = terms.to_base[foot]
        return -self._B @ J[:, BASE:], self._B @ (wishes.soles[foot] - terms.drift[foot])

    def _fill_motion(self, terms: BodyTerms, T: Matrix, t: Vector) -> tuple[Matrix, Vector, Matrix]:
        """Write torques as rows on the unknowns; return the force that the base needs, P va + p, and the wrench it comes from."""
        M, h, na = terms.M, terms.h, self._na
        P = M[:BASE, :BASE] @ T + M[:BASE, BASE:]
        p = M[:BASE, :BASE] @ t + h[:BASE]
        self._tau[:, :na] = M[BASE:, BASE:] + M[BASE:, :BASE] @ T
        self._h = h[BASE:] + M[BASE:, :BASE] @ t
        if self.feet:
            self._tau[:, :na] += T.T @ P
            self._h += T.T @ p
        if len(self.feet) > 1:
            J = terms.J[self.feet[1]]
            self._J_second = J[:, BASE:] + J[:, :BASE] @ T
            self._tau[:, na:] = -self._J_second.T * self.units[1]
        self._P, self._p = P, p
        return P, p, self._B if self.feet else np.zeros((0, 0))

    def _fill_wrench(
        self, terms: BodyTerms, P: Matrix, p: Vector, B: Matrix
    ) -> tuple[Matrix, Vector]:
        """Return S and s: the wrench under the first sole is S x + s."""
        if not self.feet:
            return np.zeros((0, self._n)), np.zeros(0)
        S = np.empty((WRENCH, self._n))
        S[:, : self._na] = B.T @ P
        if len(self.feet) > 1:
            S[:, self._na :] = -(B.T @ terms.J[self.feet[1]][:, :BASE].T) * self.units[1]
        return S, B.T @ p

    def _share_load(self, terms: BodyTerms, wishes: Wishes) -> tuple[Vector, Vector]:
        """Return the least wrenches under both soles that the wished motion needs, the second one in its units."""
        needed = self._P @ wishes.joints + self._p
        A = np.hstack(
            [
                terms.J[foot][:, :BASE].T * units
                for foot, units in zip(self.feet, self.units, strict=True)
            ]
        )
        shares = A.T @ np.linalg.solve(A @ A.T, needed)
        return self.units[0] * shares[:WRENCH], shares[WRENCH:]

    def _weigh_swing(self, rows: slice, height: float) -> None:
        weights = self._weights
        near = 1.0 + (weights.landing - 1.0) * max(0.0, 1.0 - height / NEAR)
        self._W[rows] = weights.swing * near
        self._W[rows.start + 3 : rows.stop] *= weights.swing_turn

    def _fill_objective(
        self,
        terms: BodyTerms,
        wishes: Wishes,
        base: tuple[Matrix, Vector],
        wrench: tuple[Matrix, Vector],
    ) -> None:
        (T, t), (S, s) = base, wrench
        G, g, na = self._G, self._g, self._na
        G[:3, :na] = terms.J_com[:, :BASE] @ T + terms.J_com[:, BASE:]
        g[:3] = wishes.com - terms.com_drift - terms.J_com[:, :BASE] @ t
        G[3:6, :na], g[3:6], self._W[3:6] = (
            T[3:],
            wishes.base - t[3:],
            self._weights.base * wishes.upright[0],
        )
        row = BASE
        for k, foot in enumerate(self._swinging):
            J = terms.J[foot]
            rows = slice(row, row + WRENCH)
            self._weigh_swing(rows, wishes.height[foot])
            G[rows, :na] = J[:, :BASE] @ T + J[:, BASE:]
            g[rows] = wishes.soles[foot] - terms.drift[foot] - J[:, :BASE] @ t
            above = slice(self._above.start + CORNERS * k, self._above.start + CORNERS * (k + 1))
            self.qp.A[above, :na] = wishes.up[foot] @ G[rows, :na]
            self.qp.lower[above] = wishes.rise[foot] - wishes.up[foot] @ (
                wishes.soles[foot] - g[rows]
            )
            row += WRENCH
        if len(self.feet) > 1:
            first, second = self._share_load(terms, wishes)
            G[row:], g[row:] = S, first - s
            self._second = second
        WG = self._W[:, None] * G
        np.dot(G.T, WG, self.qp.H)
        np.dot(WG.T, g, self.qp.f)
        diagonal = np.einsum("ii->i", self.qp.H)
        diagonal[:na] += self._weights.joints
        self.qp.f[:na] += self._weights.joints * wishes.joints
        if len(self.feet) > 1:
            diagonal[na:] += self._weights.force
            self.qp.f[na:] += self._weights.force * self._second
        np.negative(self.qp.f, self.qp.f)
