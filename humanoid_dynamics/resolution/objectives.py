# SPDX-License-Identifier: Apache-2.0
"""What rules make small, as costs on what contacts and gears push with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lapack

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.resolution.equation_kernels import (
    CLEAR,
    MOST_PASSES,
    SETTLED,
    weigh,
)
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

Weights: TypeAlias = "float | tuple[float, ...] | tuple[tuple[float, ...], ...]"
TYPICAL_TORQUE = 100.0  # N·m; what a wrench is weighed against, so that weights have no unit
TYPICAL_ARM = 0.15  # m; what turns a push into the torque by which small weights count it, whatever a robot weighs
TYPICAL_LEVER = 0.1  # m; half a foot, turns the moments of a wrench into forces
GEAR_WEIGHT = 1e-6
LOOP_WEIGHT = 1e-9  # as small as a well conditioned program allows: loops bear what they have to


@dataclass(frozen=True, eq=False)
class Fast:
    """The kernel that answers for an objective in one go, and what it weighs; what it does not use is all ones.

    Attributes:
        kernel: Kind of its ticks in ``kernels``: ``torque`` or ``load``.
        path: How it finds the push.
        push_weights: (size,) weights of the push.
        torque_weights: (width of span,) weights of the torques.
        softness: (size,) how much of what is left each part of the push takes for a share of one, below 1 for a force.
        twist: (size, 2) how the moment of an edge about its normal follows from the two forces along it, zero elsewhere [m].
        owner: (size,) the contact that each part of the push belongs to, minus one for a gear.
        light: Whether weights of the push only keep it bounded, see ``settling``.
    """

    kernel: str
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
            "torque",
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


def as_value(weights: ArrayLike) -> Weights:
    """Return weights as numbers and tuples, equal to others of the same numbers.

    Args:
        weights: A number, a vector or a matrix.
    """
    listed = np.asarray(weights, dtype=np.float64).tolist()
    return (
        listed
        if isinstance(listed, float)
        else tuple(tuple(row) if isinstance(row, list) else row for row in listed)
    )


def build_weights(name: str, weights: ArrayLike, size: int) -> Matrix:
    """Return weights as a matrix.

    Args:
        name: What they are called where they are refused.
        weights: One positive number, (size,) positive numbers, or a (size, size) symmetric, positive definite matrix.
        size: How many squares there are.

    Returns:
        (size, size) the weights.

    Raises:
        ShapeError: If they are neither.
    """
    values = np.asarray(weights, dtype=np.float64)
    whole = np.diag(np.broadcast_to(values, size)) if values.shape in {(), (size,)} else values
    fits = (
        whole.shape == (size, size)
        and bool(np.isfinite(values).all())
        and np.array_equal(whole, whole.T)
    )
    if (
        not fits
        or not np.all(values.diagonal() > 0.0 if values.ndim > 1 else values > 0.0)
        or (size and lapack.dpotrf(whole)[1])
    ):
        expected = f"a positive, finite number, ({size},) of them, or a symmetric, positive definite ({size}, {size}) matrix"
        raise ShapeError(
            name, f"{values}" if values.ndim == 0 else f"shape {values.shape}", expected
        )
    return np.array(whole)


def is_diagonal(weights: Matrix) -> bool:
    """Whether a matrix of weights is one number for each square.

    Args:
        weights: (n, n) the weights.
    """
    return not np.any(weights - np.diag(weights.diagonal()))
