# SPDX-License-Identifier: Apache-2.0
"""The program that always has an answer: standing soles may give way, never the laws of motion, the contacts or the motors.

A hair of push and no torque are inside all limits, and then the robot falls as good as freely: so an answer exists.  Soles that bear load
may be kept from sliding; then there is one where none bears any.
"""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.filtering.ticks.edges import ABOUT
from humanoid_dynamics.filtering.ticks.joint_room import JointAccelerationBounds
from humanoid_dynamics.filtering.ticks.program import HAIR, SIZE, WRENCH, QpAnswer, Weights
from humanoid_dynamics.filtering.ticks.sliding import SLOW, Sliding
from humanoid_dynamics.filtering.ticks.terms import BASE, DynamicsTerms
from humanoid_dynamics.filtering.ticks.wishes import TaskReferences
from humanoid_dynamics.solvers.qp import QpWorkspace
from humanoid_dynamics.spatial.arrays import Matrix, Vector

ALONG = 2  # directions along a sole
STANCE = 1e5  # weight of a standing sole that must give way
JOINT = 1e4  # weight of a joint's room that must give way


class RelaxedQp:
    """The program over accelerations and wrenches where standing soles are wishes."""

    def __init__(
        self,
        feet: tuple[int, ...],
        cones: tuple[Matrix, Matrix],
        effort: Vector,
        weights: Weights,
        weight: float,
        *,
        sliding: Sliding,
        keep_room: bool = True,
        turning: tuple[int, ...] = (),
    ) -> None:
        """Take the memory.

        Args:
            feet: Soles that stand: none, one or both.
            cones: Rows of what each sole can carry, cone @ wrench <= 0.
            effort: (na,) largest torques; infinite where there is no limit.
            weights: What deviations cost.
            weight: That of the robot [N].
            sliding: How fast soles slide.
            keep_room: Whether the bounds on joints are kept, or wished for.
            turning: Soles that turn about an edge.
        """
        na, self.feet, self._weights, self._keep_room = len(effort), feet, weights, keep_room
        nv = na + BASE
        self._nv, self._n = nv, nv + WRENCH * len(feet)
        self._limited = np.flatnonzero(np.isfinite(effort))
        self._effort = effort[self._limited]
        room = na if keep_room else 0
        rows = BASE + room + len(self._limited) + sum(len(cones[foot]) + ALONG for foot in feet)
        self.qp = QpWorkspace(self._n, BASE, rows, SIZE)
        start = BASE
        self._room = slice(start, start + room)
        if keep_room:
            self.qp.A[self._room, BASE:nv] = np.eye(na)
        self._torques = slice(start + room, start + room + len(self._limited))
        self._units = (
            weights.unit * weight * np.tile([1.0, 1.0, 1.0, *[weights.lever] * 3], len(feet))
        )
        for k, foot in enumerate(feet):
            if foot in turning:
                self._units[WRENCH * k + ABOUT] = 0.0
        self._turning, start = turning, self._torques.stop
        for k, foot in enumerate(feet):
            rows_k = slice(start, start + len(cones[foot]))
            start = rows_k.stop
            self.qp.A[rows_k, nv + WRENCH * k : nv + WRENCH * (k + 1)] = (
                cones[foot] * self._units[WRENCH * k : WRENCH * (k + 1)]
            )
            self.qp.upper[rows_k] = HAIR * weight * cones[foot][:, 2]
        self._sliding, self._slip = sliding, start
        self.let_slide()

    def let_slide(self) -> None:
        """Let soles slide that bear load."""
        self.qp.lower[self._slip :], self.qp.upper[self._slip :] = -np.inf, np.inf

    def keep_from_sliding(self, terms: DynamicsTerms, dt: float) -> None:
        """Let no sole slide; one that turns about an edge may.

        Args:
            terms: The robot in its state.
            dt: Time until the next tick [s].
        """
        qp, row = self.qp, self._slip
        for foot in self.feet:
            if foot not in self._turning:
                now, rows = self._sliding.rows(foot, terms.twist[foot]), slice(row, row + ALONG)
                qp.A[rows, : self._nv] = self._sliding.rows(foot, terms.J[foot])
                qp.lower[rows], qp.upper[rows] = (-SLOW - now) / dt, (SLOW - now) / dt
            row += ALONG

    def solve(
        self, terms: DynamicsTerms, wishes: TaskReferences, room: JointAccelerationBounds
    ) -> QpAnswer:
        """Choose accelerations, wrenches and torques.

        Args:
            terms: The robot in its state.
            wishes: Accelerations to come near to.
            room: Bounds on the accelerations of joints.

        Returns:
            The choice; not to be used unless its status is ``OPTIMAL``.
        """
        qp, nv, M, h = self.qp, self._nv, terms.M, terms.h
        self._fill_objective(terms, wishes, room)
        J = np.vstack([np.zeros((0, nv)), *(terms.J[foot] for foot in self.feet)])
        qp.A[:BASE, :nv], qp.A[:BASE, nv:] = M[:BASE], -J[:, :BASE].T * self._units
        qp.lower[:BASE] = qp.upper[:BASE] = -h[:BASE]
        if self._keep_room:
            qp.lower[self._room], qp.upper[self._room] = room.lower, room.upper
        index = self._limited + BASE
        qp.A[self._torques, :nv], qp.A[self._torques, nv:] = M[index], -J[:, index].T * self._units
        qp.lower[self._torques], qp.upper[self._torques] = (
            -self._effort - h[index],
            self._effort - h[index],
        )
        solution = qp.solve()
        vdot, pushes = np.array(solution.x[:nv]), self._units * solution.x[nv:]
        wrenches = np.zeros((2, WRENCH))
        for k, foot in enumerate(self.feet):
            wrenches[foot] = pushes[WRENCH * k : WRENCH * (k + 1)]
        # The equation of motion of the base holds to rounding, whatever the solver left.
        vdot[:BASE] -= np.linalg.solve(
            M[:BASE, :BASE], M[:BASE] @ vdot + h[:BASE] - J[:, :BASE].T @ pushes
        )
        tau = M[BASE:] @ vdot + h[BASE:] - J[:, BASE:].T @ pushes
        return QpAnswer(vdot, wrenches, tau, solution.status)

    def _fill_objective(
        self, terms: DynamicsTerms, wishes: TaskReferences, room: JointAccelerationBounds
    ) -> None:
        weights, nv, qp = self._weights, self._nv, self.qp
        G = np.vstack((terms.J_com, np.eye(nv)[3:6], terms.J[0], terms.J[1]))
        W = np.repeat(
            [weights.com, weights.height, weights.base * wishes.upright[0], STANCE, STANCE],
            [2, 1, 3, WRENCH, WRENCH],
        )
        for foot in (0, 1):
            if foot not in self.feet:
                W[BASE + WRENCH * foot : BASE + WRENCH * (foot + 1)] = weights.swing
                W[BASE + WRENCH * foot + 3 : BASE + WRENCH * (foot + 1)] *= weights.swing_turn
        for foot in self._turning:
            W[BASE + WRENCH * foot + ABOUT] = weights.base
        g = np.concatenate(
            (wishes.com - terms.com_drift, wishes.base, *(wishes.soles - terms.drift))
        )
        joints = np.full(nv - BASE, weights.joints)
        wish = wishes.joints
        if not self._keep_room:
            kept = np.clip(wish, room.lower, room.upper)
            joints = np.where(kept != wish, JOINT, joints)
            wish = kept
        qp.H[:] = 0.0
        qp.H[:nv, :nv] = G.T @ (W[:, None] * G)
        diagonal = np.einsum("ii->i", qp.H)
        diagonal[BASE:nv] += joints
        diagonal[nv:] = weights.force
        qp.f[:] = 0.0
        qp.f[:nv] = -(G.T @ (W * g))
        qp.f[BASE:nv] -= joints * wish
