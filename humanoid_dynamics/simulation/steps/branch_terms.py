# SPDX-License-Identifier: Apache-2.0
"""The equation of motion factored along the branches of the tree by compiled kernels, in place of the dense factor of ``terms.py``."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.constraints.constraint_set import ConstraintSet
from humanoid_dynamics.constraints.kinematics import Kinematics
from humanoid_dynamics.simulation.steps.body_table import Body, list_bodies
from humanoid_dynamics.simulation.steps.compiled import StepKernels
from humanoid_dynamics.simulation.steps.loop_table import LoopTable
from humanoid_dynamics.simulation.steps.terms import Terms
from humanoid_dynamics.simulation.steps.tie_table import TieTable
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector


class BranchTerms(Terms):
    """Work space: M = L^T L, where velocities are seen as z = L v.

    Attributes:
        L: (nv, nv) factor of M plus what is implicit; it has entries only where one coordinate carries another.
        parents: (nv,) coordinate that carries each.
        lower: (nv, nv) the inertia, of which the lower triangle counts.
        JT: (nv, 6) joint Jacobian of the world.
        body: The tree as compiled sweeps read it; None where Pinocchio has to sweep.
    """

    def __init__(
        self,
        kinematics: Kinematics,
        constraints: ConstraintSet,
        tree: tuple[Indices, Indices],
        kernels: StepKernels,
    ) -> None:
        """Prepare.

        Args:
            kinematics: Work space.
            constraints: Bilateral rows.
            tree: (nj, 3) joint above, first and last coordinate of each joint, and (nv,) the coordinate that carries each.
            kernels: Compiled functions.
        """
        super().__init__(kinematics, constraints)
        joints, parents = tree
        nv = len(parents)
        self.L: Matrix = np.eye(nv)
        self.parents, self._kernels, self._none = parents, kernels, np.zeros(nv)
        self.lower: Matrix = self.M.reshape(nv, nv).T
        self.JT: Matrix = self.data.J.T.reshape(-1, 6)
        self._joints, self._tree, self._views = joints, (self.L, parents), (self.poses, self.JT)
        self._table = LoopTable(constraints, joints)
        body = list_bodies(self.model, parents) if self._placements.shared else None
        self.body: Body | None = (
            None
            if body is None
            else (body.joints, body.bodies, body.chains, body.gravity, body.rotors)
        )

    def place(self, q: Vector, v: Vector | None = None) -> None:
        """Compute poses, Jacobians, inertia and bias.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity; no bias is computed where left out.
        """
        if self.body is None or v is None:
            super().place(q, v)
        else:
            self._kernels.sweep_bodies(
                self.body, (q, v), (self.poses, self.JT), (self.lower, self.h)
            )

    def factor(self, extra: Vector | None = None) -> None:
        """Factor the inertia.

        Args:
            extra: (nv,) what implicit joint forces add to its diagonal.
        """
        self.ok = bool(
            self._kernels.factor(
                self.lower, self._none if extra is None else extra, self.parents, self.L
            )
        )

    def hold_placed(self, q: Vector) -> None:
        """Take the bilateral rows into the basis Q where inertia was evaluated last.

        Args:
            q: (nq,) configuration it was evaluated for.
        """
        if self._read_table().compiled:
            self.hold_here()
        else:
            self.hold(q)

    def hold_here(self) -> None:
        """Take the bilateral rows, where the poses are, into the basis Q."""
        table, self._scale = self._read_table(), np.array(self.constraints.scale)
        self.rows = table.rows
        if table.compiled:
            rank = self._kernels.hold_loops(
                table.loops, self._views, self._tree, (table.rows, self._scale), table.found
            )
        else:
            table.rows[:] = self.constraints.jacobian(self.kinematics)
            rank = self._kernels.hold_rows(table.rows, self._scale, self._tree, table.found)
        basis, R, order = table.found
        self.Q, self._R, self._order = basis[:rank].T, R[:rank, :rank], order[:rank]

    def hold_ties(self, ties: TieTable) -> None:
        """Take over what a step in one go found of its ties.

        Args:
            ties: The ties.
        """
        self.rows, self._scale, self._R, self._order, self.Q = (
            ties.rows,
            ties.scale,
            ties.R,
            ties.order,
            ties.basis.T,
        )

    def find_error(self) -> tuple[Vector, float]:
        """Return (k,) the position error of the bilateral rows, where the poses are, and the largest of it, scaled [m]."""
        table = self._read_table()
        if not table.compiled:
            return super().find_error()
        return table.phi, float(
            self._kernels.find_errors(
                table.loops, self.poses, (self.constraints.scale, table.rows), table.phi
            )
        )

    def _read_table(self) -> LoopTable:
        """Return the table of the bilateral rows there are now."""
        if self._table.generation != self.constraints.generation:
            self._table = LoopTable(self.constraints, self._joints)
        return self._table

    def whiten(self, rows_T: Matrix) -> Matrix:
        """Return L^-T X for rows or forces X (nv, k)."""
        rows = np.array(rows_T.T, order="C")
        if rows.ndim == 1:
            self._kernels.whiten_rows(self.L, self.parents, rows[None])
        else:
            self._kernels.whiten_rows(self.L, self.parents, rows)
        return rows.T

    def velocity(self, z: Vector) -> Vector:
        """Return L^-1 z."""
        v = np.empty(len(z))
        self._kernels.find_velocity(self.L, self.parents, z, v)
        return v

    def momentum(self, v: Vector) -> Vector:
        """Return z = L v."""
        z = np.empty(len(v))
        self._kernels.find_momentum(self.L, self.parents, v, z)
        return z

    def force(self, z: Vector) -> Vector:
        """Return L^T z, the generalized impulse of a change of whitened velocity."""
        return np.asarray(self.L.T.dot(z))
