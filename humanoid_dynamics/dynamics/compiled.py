# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics by Pinocchio's compiled proximal algorithm, for loops that step: the same answer as ``solve_forward``, sooner.

It knows welds, ball joints, flat faces and points; anything else goes the way of ``solve_forward``.  It reports no rank: whoever wants to
know whether the constraint forces are unique asks ``solve_forward``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.constraints.block import ConstraintBlock
from humanoid_dynamics.constraints.contact import ContactBlock
from humanoid_dynamics.constraints.loop import LoopBlock
from humanoid_dynamics.constraints.null_space import DynamicsStatus
from humanoid_dynamics.dynamics.forward import solve_forward
from humanoid_dynamics.dynamics.mechanism import Mechanism, all_finite
from humanoid_dynamics.spatial.arrays import Matrix, Vector

# With mu = 0, the default, redundant contacts give NaN; the residual the solver reports is no stopping signal, so few iterations are fixed.
REGULARIZATION, ITERATIONS = 1e-8, 5
LOOPS = {"fixed": pin.ContactType.CONTACT_6D, "spherical": pin.ContactType.CONTACT_3D}
CONTACTS = {"face": pin.ContactType.CONTACT_6D, "point": pin.ContactType.CONTACT_3D}


@dataclass(frozen=True, eq=False)
class CompiledResult:
    """How the mechanism accelerates.

    Attributes:
        a: (nv,) generalized acceleration [m/s², rad/s²].
        lam: (k,) constraint forces on the robot [N, N·m], in the order of the rows.
        status: ``INVALID_INPUT``, or what became of the question.
    """

    a: Vector
    lam: Vector
    status: DynamicsStatus


class CompiledForward:
    """Work space for one mechanism; follows its constraints as they come and go."""

    def __init__(self, mechanism: Mechanism) -> None:
        """Prepare.

        Args:
            mechanism: The mechanism.
        """
        self._mechanism = mechanism
        self._data = mechanism.robot.data()
        self._generation = -1
        self._settings = pin.ProximalSettings(1e-14, REGULARIZATION, ITERATIONS)

    @property
    def is_compiled(self) -> bool:
        """Whether all present constraints are known to the compiled algorithm."""
        self._follow()
        return self._known

    def solve(
        self, q: Vector, v: Vector, tau: Vector, force: Vector | None = None
    ) -> CompiledResult:
        """Return how the mechanism accelerates.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            tau: (na,) motor torques.
            force: (nv,) further generalized force.

        Returns:
            Acceleration and constraint forces.

        Raises:
            ShapeError: If an array has the wrong size.
        """
        mechanism = self._mechanism
        if not self.is_compiled:
            answer = solve_forward(mechanism, q, v, tau, force)
            return CompiledResult(answer.a, answer.lam, answer.status)
        mechanism.check_sizes(q=q, v=v, tau=tau, force=force)
        applied = mechanism.spread(tau, force)
        if not all_finite(q, v, applied):
            return CompiledResult(
                np.zeros(mechanism.robot.nv),
                np.zeros(mechanism.constraints.size),
                DynamicsStatus.INVALID_INPUT,
            )
        model, data = mechanism.robot.model, self._data
        a = np.array(
            pin.constraintDynamics(
                model, data, q, v, applied, self._models, self._works, self._settings
            )
        )
        return CompiledResult(a, self._forces(), DynamicsStatus.OK)

    def _follow(self) -> None:
        """Take over the constraints if they have changed."""
        constraints = self._mechanism.constraints
        if constraints.generation == self._generation:
            return
        self._generation = constraints.generation
        blocks = [block for block in constraints if not block.inert]
        self._parts: list[tuple[ConstraintBlock, int, pin.RigidConstraintData]] = []
        contacts = [_compile(block, self._mechanism.robot.model) for block in blocks]
        known = [contact for contact in contacts if contact is not None]
        self._known = len(known) == len(contacts)
        self._models, self._works = (
            pin.StdVec_RigidConstraintModel(),
            pin.StdVec_RigidConstraintData(),
        )
        if not self._known:
            return
        for contact in known:
            self._models.append(contact)
            self._works.append(contact.createData())
        pin.initConstraintDynamics(
            self._mechanism.robot.model, self._data, self._models, self._works
        )
        self._parts = [
            (block, len(block.labels), work)
            for block, work in zip(blocks, self._works, strict=True)
        ]

    def _forces(self) -> Vector:
        """Collect the constraint forces, in axes of frame B for loops and of the world for contacts."""
        forces: list[Vector] = [np.zeros(0)]
        for block, count, work in self._parts:
            force = work.contact_force.vector[:count]
            forces.append(
                _turn(self._axes(block), force) if isinstance(block, LoopBlock) else force
            )
        return np.concatenate(forces)

    def _axes(self, block: LoopBlock) -> Matrix:
        poses = self._data.oMi
        R_WB = (poses[block.B.joint] * block.B.X_JF).rotation
        turn: Matrix = R_WB.T @ (poses[block.A.joint] * block.A.X_JF).rotation
        return turn


def _turn(R: Matrix, force: Vector) -> Vector:
    return np.concatenate([R @ force[start : start + 3] for start in range(0, len(force), 3)])


def _compile(block: ConstraintBlock, model: pin.Model) -> pin.RigidConstraintModel | None:
    """Return the block as Pinocchio knows it, or None."""
    if isinstance(block, LoopBlock) and block.kind in LOOPS and block.A.joint:
        frames = (block.A.joint, block.A.X_JF, block.B.joint, block.B.X_JF)
        return pin.RigidConstraintModel(LOOPS[block.kind], model, *frames, pin.LOCAL)
    if (
        isinstance(block, ContactBlock)
        and block.kind in CONTACTS
        and bool((np.eye(3) == block.R_WG).all())
    ):
        return pin.RigidConstraintModel(
            CONTACTS[block.kind], model, block.C.joint, block.C.X_JF, pin.LOCAL_WORLD_ALIGNED
        )
    return None
