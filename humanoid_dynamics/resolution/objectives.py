# SPDX-License-Identifier: Apache-2.0
"""What rules make small, as costs on what contacts and gears push with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lapack

from humanoid_dynamics.contact.wrench import reference_point
from humanoid_dynamics.resolution.inner_forces import BASE_COORDINATES, InnerForces
from humanoid_dynamics.resolution.kernels import (
    share_tick,
    share_tick_inside,
    torque_tick,
    torque_tick_inside,
)
from humanoid_dynamics.resolution.parallel import FACE, stiffen
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.resolution.settling import CLEAR, MOST_PASSES, SETTLED, weigh
from humanoid_dynamics.resolution.weights import build_weights, is_diagonal
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.compiling import Kernel

TYPICAL_TORQUE = 100.0  # N·m; what a wrench is weighed against, so that weights have no unit
TYPICAL_ARM = 0.15  # m; what turns a push into the torque by which small weights count it, whatever a robot weighs
TYPICAL_LEVER = 0.1  # m; half a foot, turns the moments of a wrench into forces
RIGID_LEVER = 1e4  # m; forces follow their shares this much more stiffly than moments where no face bears, see ``stiffen``
GEAR_WEIGHT = 1e-6
LOOP_WEIGHT = 1e-9  # as small as a well conditioned program allows: loops bear what they have to


@dataclass(frozen=True, eq=False)
class Fast:
    """The kernel that answers for an objective in one go, and what it weighs; what it does not use is all ones.

    Attributes:
        kernels: Ticks of ``kernels``, one that knows no limits and one that keeps them.
        path: How it finds the push.
        push_weights: (size,) weights of the push.
        torque_weights: (width of span,) weights of the torques.
        softness: (size,) how much of what is left each part of the push takes for a share of one, below 1 for a force.
        twist: (size, 2) how the moment of an edge about its normal follows from the two forces along it, zero elsewhere [m].
        owner: (size,) the contact that each part of the push belongs to, minus one for a gear.
        light: Whether weights of the push only keep it bounded, see ``settling``.
    """

    kernels: tuple[Kernel, Kernel]
    path: str
    push_weights: Vector
    torque_weights: Vector
    softness: Vector
    twist: Matrix
    owner: Indices
    light: bool = False


class Objective(ABC):
    """The cost x'Hx/2 - g'x of a push x at one tick; made once for a ``DynamicsProblem`` and read from it at every tick.

    Attributes:
        H: (size, size) Hessian, positive definite.
        g: (size,) linear term.
        lost: Whether the last ``adapt`` found no answer where there is one, and left shares as they are.
        takes_load: Whether it distributes the load by the load fractions that are asked for.
    """

    lost = False
    takes_load = False

    def __init__(self, problem: DynamicsProblem) -> None:
        """Take the memory.

        Args:
            problem: What is asked.
        """
        self.problem = problem
        self.H: Matrix = np.zeros((problem.size, problem.size))
        self.g: Vector = np.zeros(problem.size)

    def adapt(self, shares: Vector) -> Vector:
        """Return the shares that are taken for those asked for, at the last update of the dynamics.

        Args:
            shares: (contacts,) part of the load that each contact is to take, of sum 1.
        """
        return shares

    @abstractmethod
    def write(self, shares: Vector) -> None:
        """Fill ``H`` and ``g`` for the last update of the dynamics.

        Args:
            shares: (contacts,) part of the load that each contact is to take, of sum 1.
        """

    def choose(self, shares: Vector) -> Vector | None:
        """Return the push itself where the objective knows it without solving for a minimum under the equation of motion, else None.

        Args:
            shares: (contacts,) part of the load that each contact is to take, of sum 1.
        """
        del shares
        return None

    def settle(self, x: Vector, solve: Callable[[Vector], Vector]) -> Vector:
        """Return the push that is meant where ``H`` and ``g`` are only near to what is, and move ``g`` with it.

        Args:
            x: (size,) push of least cost by ``H`` and ``g`` under the equation of motion.
            solve: From another linear term to the push of least cost that moves no coordinate without motor.
        """
        del solve
        return x

    def fast(self) -> Fast | None:
        """Return the kernel that answers for this objective, or None."""
        return None


class TorqueObjective(Objective):
    """Squared torques [BP, eq. 65], or these plus weighted, squared pushes [BP, eq. 27].

    Least torques have weights of pushes too, because a straight leg carries load without torque.  They only keep pushes bounded: they count
    by as much as is needed, and ``settle`` gives back what they take from torques.

    Attributes:
        H_x: (size, size) weights of the pushes.
        W: (nv, nv) weights of the forces on all coordinates, or None where all are 1.
    """

    def __init__(
        self,
        problem: DynamicsProblem,
        wrench_weight: ArrayLike,
        torque_weights: ArrayLike | None = None,
        unit_wrench: bool = False,
        *,
        scaled: bool = False,
    ) -> None:
        """Prepare.

        Args:
            problem: What is asked.
            wrench_weight: Largest weight of a push against the torque it makes at ``TYPICAL_ARM`` [-], which keeps it bounded.  With
                ``unit_wrench`` the weight of 1 N and 1 N·m: one for all, one for each number that contacts push with, or a matrix.
            torque_weights: Weights of the squared torques: one for all, (na,) one for each motor, or a (na, na) matrix; 1 where None.
            unit_wrench: Whether pushes count beside torques, by their bare numbers in N and N·m.
            scaled: With ``unit_wrench``, whether they count by body weight against ``TYPICAL_TORQUE`` instead, so that no unit matters.

        Raises:
            ShapeError: If weights are not positive and finite, or of another size.
        """
        super().__init__(problem)
        n = problem.parts[-1].stop if problem.parts else 0
        of_contacts = build_weights("wrench_weight", wrench_weight, n)
        sizes = np.full(
            n,
            TYPICAL_ARM
            if not unit_wrench
            else TYPICAL_TORQUE / problem.unit_force
            if scaled
            else 1.0,
        )
        for part in problem.parts if scaled or not unit_wrench else ():
            sizes[part.start + 3 : part.stop] /= TYPICAL_LEVER
        of_gears = (
            float(np.asarray(wrench_weight))
            if unit_wrench and np.ndim(wrench_weight) == 0
            else GEAR_WEIGHT
        )
        self.H_x: Matrix = np.diag(np.full(problem.size, of_gears))
        self.H_x[:n, :n] = of_contacts * np.outer(sizes, sizes)
        self.H_x[problem.held, problem.held] = np.diag(
            np.full(problem.held.stop - problem.held.start, LOOP_WEIGHT)
        )
        self._light, self._pivot = not unit_wrench, 0.0
        self.W: Matrix | None = None
        if torque_weights is not None:
            self.W, driven = np.eye(problem.robot.nv), problem.driven_v
            self.W[np.ix_(driven, driven)] = build_weights(
                "torque_weights", torque_weights, len(driven)
            )

    def write(self, shares: Vector) -> None:
        """Fill ``H`` and ``g``; shares play no part.

        Forces on coordinates without motor count like torques: the equation of motion fixes them, so that they choose nothing, and the
        system is better conditioned.
        """
        del shares
        J, forces = self.problem.J, self.problem.tau_0
        weighted = self._weigh(J)
        self.H[:] = weighted.dot(J.T)
        weighted.dot(forces, self.g)
        self._pivot = self._find_pivot() if self._light else 0.0
        self.H += weigh(self._pivot) * self.H_x

    def settle(self, x: Vector, solve: Callable[[Vector], Vector]) -> Vector:
        """Return the push of least torques, the least one where these leave a choice; see ``settling``."""
        if not self._light or self._pivot >= CLEAR:
            return x
        J = self.problem.J
        left, whole, last = (
            self.problem.tau_0 - x.dot(J),
            float(self.problem.tau_0.dot(self.problem.tau_0)),
            x,
        )
        for _ in range(MOST_PASSES):
            last, way = x, solve(self._weigh(J).dot(left))
            x, change = x + way, way.dot(J)
            left -= change
            if not change.dot(change) > SETTLED * whole:
                break
        self.g += weigh(self._pivot) * self.H_x.dot(last)
        return x

    def fast(self) -> Fast | None:
        """Return the kernel of least torques; None where weights are matrices."""
        n = len(self.H_x)
        if not is_diagonal(self.H_x) or not (self.W is None or is_diagonal(self.W)):
            return None
        weights = np.ones(self.problem.robot.nv) if self.W is None else self.W.diagonal()
        of_push = (np.ones(n), np.zeros((n, 2)), np.zeros(n, dtype=np.intp))
        weights = np.array(weights[self.problem.span])
        return Fast(
            (torque_tick, torque_tick_inside),
            "kkt",
            self.H_x.diagonal().copy(),
            weights,
            *of_push,
            self._light,
        )

    def _weigh(self, J: Matrix) -> Matrix:
        return J if self.W is None else J.dot(self.W)

    def _find_pivot(self) -> float:
        """Return the least pivot of ``H`` as a share of its diagonal; what no coordinate feels weighs itself."""
        diagonal = self.H.diagonal()
        unfelt = np.flatnonzero(diagonal == 0.0)
        self.H[unfelt, unfelt] = self.H_x[unfelt, unfelt]
        factor, info = lapack.dpotrf(self.H)
        return 0.0 if info else float(np.min(factor.diagonal() ** 2 / diagonal, initial=1.0))


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
            (share_tick, share_tick_inside),
            "closed",
            np.ones(n),
            np.ones(width),
            softness,
            self._twist,
            owner,
        )
