# SPDX-License-Identifier: Apache-2.0
"""The equation of motion at one instant, factored once: M = U^T U, and velocities seen as z = U v, where inertia is one."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from scipy.linalg import blas, lapack

from humanoid_dynamics.constraints.constraint_set import ConstraintSet
from humanoid_dynamics.constraints.kinematics import Kinematics
from humanoid_dynamics.dynamics.placements import Placements
from humanoid_dynamics.spatial.arrays import Matrix, Vector

RANK_TOLERANCE = 1e-6  # share of a row that the rows before it have to leave
SMALLEST = 1e-8  # share of the largest row, below which a row is rounding


class Terms:
    """Work space: kinematics, factor of the inertia, and an orthonormal basis of what the bilateral rows hold.

    Attributes:
        kinematics: Poses and Jacobians of the last ``place``.
        M: (nv, nv) inertia, of which the *upper triangle* counts, without what is implicit.
        J: (6, nv) joint Jacobian of the world.
        h: (nv,) Coriolis, centrifugal and gravity forces.
        U: (nv, nv) upper factor of M plus what is implicit.
        Q: (nv, r) basis of the bilateral rows in z.
        poses: (nj, 12) poses of all joints, rotation column by column and translation.
        rows: (k, nv) the bilateral rows themselves, since the last ``hold``.
        ok: Whether the inertia could be factored.
    """

    def __init__(self, kinematics: Kinematics, constraints: ConstraintSet) -> None:
        self.kinematics = kinematics
        self.constraints = constraints
        self.model, self.data = kinematics.model, kinematics.data
        nv = int(self.model.nv)
        self.U = self._U = np.eye(nv, order="F")
        self._diagonal: Vector = self._U.ravel(order="K")[:: nv + 1]
        self.M: Matrix = self.data.M
        self.J: Matrix = np.reshape(self.data.J, (6, nv), order="F")
        self._diagonal_of_M: Vector = self.M.ravel(order="K")[:: nv + 1]
        self._all_of_U, self._all_of_M = (
            self._U.ravel(order="K"),
            self.M.ravel(order="K"),
        )  # in a row, which numpy copies faster
        self.h: Vector = self.data.nle
        self.Q: Matrix = np.zeros((nv, 0))
        self.rows: Matrix = np.zeros((0, nv))
        self.ok = True
        self._R, self._order, self._scale = (
            np.zeros((0, 0)),
            np.zeros(0, dtype=np.intp),
            np.zeros(0),
        )
        self._placements = Placements(self.model, self.data)
        self.poses: Matrix = self._placements.poses

    def place(self, q: Vector, v: Vector | None = None) -> None:
        """Compute poses, Jacobians, inertia and bias.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity; no bias is computed where left out.
        """
        pin.crba(self.model, self.data, q, pin.Convention.WORLD)
        if v is not None:
            pin.nonLinearEffects(self.model, self.data, q, v)
        if not self._placements.shared:
            self._placements.refresh()

    def factor(self, extra: Vector | None = None) -> None:
        """Factor the inertia.

        Args:
            extra: (nv,) what implicit joint forces add to its diagonal.
        """
        U = self._U
        self._all_of_U[:] = self._all_of_M
        if extra is not None:
            self._diagonal += extra
        self.U, info = lapack.dpotrf(U, lower=0, clean=0, overwrite_a=1)
        self.ok = info == 0

    def factor_here(self, extra: Vector | None = None) -> None:
        """Do what ``factor`` does in the memory of the inertia, which is lost until the next ``place``: a copy costs as much again.

        Args:
            extra: (nv,) what implicit joint forces add to its diagonal.
        """
        if extra is not None:
            self._diagonal_of_M += extra
        self.U, info = lapack.dpotrf(self.M, 0, 0, 1)
        self.ok = info == 0

    def evaluate(self, q: Vector) -> None:
        """Compute poses, Jacobians and inertia, and factor it.

        Args:
            q: (nq,) configuration.
        """
        self.place(q)
        self.factor()

    def whiten(self, rows_T: Matrix) -> Matrix:
        """Return U^-T X for rows or forces X (nv, k)."""
        if rows_T.ndim == 1:
            return np.asarray(blas.dtrsv(self.U, rows_T, trans=1))
        return np.asarray(
            blas.dtrsm(1.0, self.U, rows_T, trans_a=1)
        )  # LAPACK's would start threads for any number of rows

    def whiten_rows(self, rows: Matrix) -> Matrix:
        """Return X U^-1 for rows or forces X (k, nv), which are overwritten if they lie column by column: this is faster.

        Args:
            rows: (k, nv) rows.
        """
        whitened: Matrix = blas.dtrsm(1.0, self.U, rows, 1, 0, 0, 0, 1)
        return whitened

    def velocity(self, z: Vector) -> Vector:
        """Return U^-1 z."""
        v: Vector = lapack.dtrtrs(self.U, z)[0]
        return v

    def momentum(self, v: Vector) -> Vector:
        """Return z = U v."""
        return np.asarray(
            blas.dtrmm(1.0, self.U, v[:, None])[:, 0]
        )  # dtrmv would start threads for any number of coordinates

    def force(self, z: Vector) -> Vector:
        """Return U^T z, the generalized impulse of a change of whitened velocity."""
        return np.asarray(blas.dtrmm(1.0, self.U, z[:, None], trans_a=1)[:, 0])

    def warm_up(self) -> None:
        """Call once what only impacts and events ask for, so that it is compiled before anybody waits for it."""
        self.factor()
        self.whiten(np.zeros((len(self.M), 1)))
        self.momentum(self.velocity(np.zeros(len(self.M))))

    def hold(self, q: Vector) -> None:
        """Take the bilateral rows at q into the basis Q.

        Args:
            q: (nq,) configuration; the inertia may be that of a configuration nearby.
        """
        if not len(self.constraints):
            return
        self.look(q)
        self.hold_here()

    def look(self, q: Vector) -> None:
        """Compute poses and Jacobians alone.

        Args:
            q: (nq,) configuration.
        """
        self.kinematics.place(q)
        if not self._placements.shared:
            self._placements.refresh()

    def find_error(self) -> tuple[Vector, float]:
        """Return (k,) the position error of the bilateral rows, where the kinematics are, and the largest of it, scaled [m]."""
        error = self.constraints.error(self.kinematics)
        return error, float(np.abs(self.constraints.scale * error).max(initial=0.0))

    def hold_here(self) -> None:
        """Take the bilateral rows, where the kinematics are, into the basis Q."""
        J = self.rows = self.constraints.jacobian(self.kinematics)
        self._scale = self.constraints.scale
        B = self.whiten((self._scale[:, None] * J).T)
        nv, k = B.shape
        if k == 0:
            self.Q = np.zeros((nv, 0))
            return
        sizes = np.linalg.norm(
            B, axis=0
        )  # made one: a row of a light body hides none of a heavy one
        sizes = np.maximum(sizes, SMALLEST * max(float(sizes.max()), 1e-12))
        B, self._scale = B / sizes, self._scale / sizes
        qr, order, reflectors, _, _ = lapack.dgeqp3(B, lwork=2 * k + (k + 1) * 32, overwrite_a=1)
        pivots = np.abs(qr.diagonal())
        rank = int((pivots > RANK_TOLERANCE * max(float(pivots[0]), 1e-12)).sum())
        self._R, self._order = qr[:rank, :rank], order[:rank] - 1
        self.Q = lapack.dorgqr(
            np.asfortranarray(qr[:, :rank]), reflectors[:rank], lwork=32 * max(k, 1)
        )[0]

    def release(self) -> None:
        """Forget the bilateral rows."""
        self.Q = np.zeros((len(self.h), 0))

    def restrain(self, X: Matrix) -> Matrix:
        """Return X without what the bilateral rows hold."""
        return X - self.Q.dot(self.Q.T.dot(X)) if self.Q.shape[1] else X

    def multipliers(self, held: Vector) -> Vector:
        """Return impulses of the bilateral rows (k,) whose whitened sum is Q held; dependent rows carry none.

        Args:
            held: (r,) components along Q.

        Returns:
            (k,) impulses in the order of the rows.
        """
        impulses = np.zeros(len(self._scale))
        if len(held):
            impulses[self._order] = lapack.dtrtrs(self._R, held)[0] * self._scale[self._order]
        return impulses

    def closing(self, error: Vector) -> Vector:
        """Return the whitened displacement (nv,) that undoes a position error of the bilateral rows.

        Args:
            error: (k,) position error.

        Returns:
            The smallest displacement.
        """
        scaled = (self._scale * error)[self._order]
        return np.asarray(-self.Q.dot(lapack.dtrtrs(self._R, scaled, trans=1)[0]))
