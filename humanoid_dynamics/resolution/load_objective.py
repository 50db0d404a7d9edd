# SPDX-License-Identifier: Apache-2.0
"""The objective of load fractions, and the elimination of forces inside a robot from its equations.

Forces inside a robot are those of gears between joints that mimic each other and of closed loops.  With contact forces x_c and inner
forces y the equations of the coordinates without motor are U'x_c + G'y = b.  Contacts answer alone for the equations that G does not
reach, Z'U'x_c = Z'b with G Z = 0; inner forces then make up for the rest.  A rule about contacts is so exact whatever mechanism a leg has.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from humanoid_dynamics.contact.wrench import reference_point
from humanoid_dynamics.resolution.equation_kernels import FACE, stiffen
from humanoid_dynamics.resolution.objectives import GEAR_WEIGHT, Fast, Objective
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.spatial.arrays import Matrix, Vector

RIGID_LEVER = 1e4  # m; forces follow their shares this much more stiffly than moments where no face bears, see ``stiffen``
RANK = 1e-10  # of the largest singular value, and of one where that is smaller; what is below it reaches nothing
BASE_COORDINATES = {"free_flyer": 6, "planar": 3}


class InnerForces:
    """Elimination of inner forces: make once, ``reduce`` at every tick, then ``complete``."""

    def __init__(self, contacts: int, base: int) -> None:
        """Prepare.

        Args:
            contacts: Number of unknowns that belong to contacts, the first ones.
            base: Number of equations that belong to the base, the first ones; forces between links of one robot do not reach them.
        """
        self._contacts, self._base = contacts, base
        self._ways: tuple[Matrix, Vector, Matrix] = (
            np.zeros((0, 0)),
            np.zeros(0),
            np.zeros((0, 0)),
        )

    def reduce(self, J_u: Matrix) -> Matrix:
        """Return the combinations of equations that contacts alone answer for, as columns (equations, k), those of the base first.

        Args:
            J_u: (size, equations) what contacts and inner forces do.
        """
        U, G = J_u[: self._contacts], J_u[self._contacts :]
        base = (
            self._base if np.abs(G[:, : self._base]).max(initial=0.0) <= RANK else 0
        )  # a loop through the world reaches the base
        left, sigma, right = np.linalg.svd(G[:, base:])
        rank = int(np.count_nonzero(sigma > RANK * sigma.max(initial=1.0)))
        self._ways = left[:, :rank], sigma[:rank], np.hstack((np.zeros((rank, base)), right[:rank]))
        beyond = right[rank:].T
        reached = U[:, base:] @ beyond
        if (
            np.abs(reached).max(initial=0.0) > RANK
        ):  # passive joints that no inner force holds, among them rods that spin idly
            _, sigma, turned = np.linalg.svd(reached)
            beyond = beyond @ turned[: np.count_nonzero(sigma > RANK * max(sigma[0], 1.0))].T
        else:
            beyond = beyond[:, :0]
        Z = np.zeros((J_u.shape[1], base + beyond.shape[1]))
        Z[range(base), range(base)] = 1.0
        Z[base:, base:] = beyond
        return Z

    def complete(self, x: Vector, J_u: Matrix, free: Vector) -> None:
        """Write the least inner forces that make up for what contacts leave.

        Args:
            x: (size,) unknowns, those of contacts given.
            J_u: (size, equations) what they do, as in the last ``reduce``.
            free: (equations,) what is asked.
        """
        left, sigma, right = self._ways
        rest = free - x[: self._contacts] @ J_u[: self._contacts]
        x[self._contacts :] = left @ (right @ rest / sigma)


class ShareObjective(Objective):
    """Distance to the push in which each contact takes its share of the total force [BP, eq. 28-29], in any number of contacts.

    Forces are shares of the total force, all parallel, so that every contact of a level ground has the friction of the whole.  The moment
    that is left goes to faces and edges by the same shares, so that all centres of pressure move alike.  What turns about the normal is
    counted about the origin of a surface's frame, also for an edge: a sole and its heel or toe, which have one frame, turn alike, and
    nothing jumps where a step rolls over.  A contact with share zero carries nothing at all: the push is continuous where contacts come
    and go.

    Attributes:
        is_force: (size,) which parts of the push are forces of contacts.
        to_faces: (contacts,) one for each face, zero for others.
    """

    takes_load = True
    is_force: Vector
    to_faces: Vector

    def __init__(self, problem: DynamicsProblem) -> None:
        """Prepare.

        Args:
            problem: What is asked.
        """
        super().__init__(problem)
        n, contacts = problem.size, len(problem.parts)
        self._to_forces, self._to_compliance = np.zeros((n, contacts)), np.zeros((n, contacts))
        self.to_faces = np.array([float(part.stop - part.start == FACE) for part in problem.parts])
        self.is_force = np.zeros(n, dtype=bool)
        self._twist = np.zeros((n, 2))
        for surface, part in zip(problem.surfaces, problem.parts, strict=True):
            if surface.kind == "edge":
                x, y, _ = reference_point(surface)
                self._twist[part.start + 4] = y, -x
        self._twisted = np.flatnonzero(self._twist.any(axis=1))
        outer = problem.parts[-1].stop if contacts else 0
        base = int(
            np.count_nonzero(problem.bearing_v < BASE_COORDINATES.get(problem.robot.root, 0))
        )
        self._inner = InnerForces(outer, base) if outer < n else None
        for k, part in enumerate(problem.parts):
            forces = slice(part.start, part.start + 3)
            self._to_forces[forces, k] = 1.0
            self._to_compliance[part, k] = 1.0
            self._to_compliance[forces, k] = RIGID_LEVER**-2
            self.is_force[forces] = True
        self._metric = np.where(
            np.arange(n) < outer, 1.0, GEAR_WEIGHT
        )  # inner forces follow from those of contacts
        np.fill_diagonal(self.H, self._metric)

    def write(self, shares: Vector) -> None:
        """Fill ``g``: distances weigh alike in N and N·m, so that forces keep to their shares and moments give way first."""
        choice = self.choose(shares)
        self.g[:] = self._metric * (self.target(shares) if choice is None else choice)

    def target(self, shares: Vector) -> Vector:
        """Return the forces by shares, without moments about the normals through the origins, (size,).

        Args:
            shares: (contacts,) shares; where more numbers follow, these are the push, (size,).
        """
        contacts = len(self.problem.parts)
        if len(shares) > contacts:
            return np.array(shares[contacts:])
        linear = self.problem.base_linear
        force: Vector = self.problem.J_span[:, linear].dot(
            self.problem.free[linear]
        )  # the total force, in the axes of each contact
        force *= self._to_forces.dot(shares)
        for row in self._twisted:
            force[row] = self._twist[row].dot(force[row - 4 : row - 2])
        return force

    def choose(self, shares: Vector) -> Vector | None:
        """Return the push by shares; None where the moments of these contacts cannot make up what is left."""
        x, J_u, compliance, missing = self.give_way(shares)
        if not J_u.shape[1]:
            return self.complete(x)
        yielding = J_u * compliance[:, None]
        _, multipliers, info = lapack.dposv(
            J_u.T.dot(yielding), missing, overwrite_a=1, overwrite_b=1
        )
        if info:
            return None
        x += yielding.dot(multipliers)
        return self.complete(x)

    def complete(self, x: Vector) -> Vector:
        """Return a push with the inner forces that follow from its contacts, written in place.

        Args:
            x: (size,) push.
        """
        if self._inner is not None:
            self._inner.complete(
                x,
                self.problem.J_span[:, self.problem.bearing],
                self.problem.free[self.problem.bearing],
            )
        return x

    def give_way(self, shares: Vector) -> tuple[Vector, Matrix, Vector, Vector]:
        """Return the target, what each part of the push does, how much each gives way, and what the target leaves.

        Equations are those that contacts answer for alone, see ``InnerForces``.

        Args:
            shares: (contacts,) shares; where more numbers follow, these are the target.
        """
        problem = self.problem
        x, J_u, missing = (
            self.target(shares),
            problem.J_span[:, problem.bearing],
            problem.free[problem.bearing],
        )
        missing = missing - x.dot(J_u)
        if self._inner is not None:
            Z = self._inner.reduce(J_u)
            J_u, missing = J_u @ Z, missing @ Z
        shares = shares[: len(problem.parts)]
        compliance = self._to_compliance.dot(shares)
        compliance[self.is_force] *= stiffen(
            self.to_faces.dot(shares), J_u.shape[1], problem.base_linear.stop
        )
        return x, J_u, compliance, missing

    def fast(self) -> Fast:
        """Return the kernel of shares."""
        n, width = self.problem.J_span.shape
        owner, softness = np.full(n, -1, dtype=np.intp), np.ones(n)
        for k, part in enumerate(self.problem.parts):
            owner[part] = k
            softness[part.start : part.start + 3] = RIGID_LEVER**-2
        return Fast(
            "load",
            "closed",
            np.ones(n),
            np.ones(width),
            softness,
            self._twist,
            owner,
        )
