# SPDX-License-Identifier: Apache-2.0
"""An answer: torques and contact wrenches with their certificate."""

from __future__ import annotations

from collections.abc import Mapping

from numpy.typing import ArrayLike

from humanoid_dynamics.contact.ground import AnyGround
from humanoid_dynamics.contact.wrench import ContactWrench
from humanoid_dynamics.resolution.certificate import AnswerStatus, Certificate
from humanoid_dynamics.resolution.certify import AnyWrench, verify
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.status import StatusEnum


class Answer:
    """Torques and contact wrenches for one motion at one instant.

    Attributes:
        tau: (na,) torques of the actuated coordinates, in the order of ``robot.actuated`` [N·m or N].
        certificate: How right they are.
    """

    __slots__ = ("_wrenches", "certificate", "tau")

    def __init__(self, tau: Vector, certificate: Certificate) -> None:
        """Bind torques to their proof.

        Args:
            tau: (na,) torques, read-only.
            certificate: How right they are.
        """
        self.tau, self.certificate = tau, certificate
        self._wrenches: Mapping[str, ContactWrench] | None = None

    @property
    def wrenches(self) -> Mapping[str, ContactWrench]:
        """Contact wrenches by surface, worked out when first asked for."""
        if self._wrenches is None:
            self._wrenches = self.certificate.wrenches()
        return self._wrenches

    @property
    def missing(self) -> Vector:
        """What the motion lacks beyond motors and contacts, (nv,) in the coordinates of the velocity [N or N·m]."""
        return self.certificate.missing

    def verify(
        self,
        *,
        tau: ArrayLike | None = None,
        wrenches: Mapping[str, AnyWrench] | None = None,
        ground: AnyGround = None,
    ) -> Certificate:
        """Recompute the certificate from published torques and wrenches alone, by Pinocchio's recursion; slower than a tick.

        Args:
            tau: (na,) torques; those of the answer where None.
            wrenches: Wrenches by surface, or force and moment about its origin in axes of the world, (6,); those of the answer where None.
                A surface without one does not push.
            ground: Ground that contacts are on, as in ``inverse_dynamics``; that of the question where None.

        Returns:
            The certificate; that of the answer where the question could not be computed with.

        Raises:
            ShapeError: If a size is wrong or a number is not finite.
            UnknownNameError: If a surface is none of those that were asked about.
        """
        if self.certificate.status is AnswerStatus.INVALID_INPUT:
            return self.certificate
        return verify(
            self.certificate,
            self.tau if tau is None else tau,
            self.wrenches if wrenches is None else wrenches,
            ground,
        )

    def __repr__(self) -> str:
        return f"Answer(tau={self.tau!r}, certificate={self.certificate!r})"


class RelaxationStatus(StatusEnum):
    """What an answer of whole-body control had to give up."""

    NONE = "NONE", "equations and all limits are kept"
    JOINT_BOUNDS = "JOINT_BOUNDS", "the bounds of positions and speeds could not be kept"
    CONTACTS = "CONTACTS", "contacts cannot rest inside friction cones and torque limits"
    HELD = "HELD", "no answer was found; the torques are the last good ones inside their limits"


class WholeBodyAnswer(Answer):
    """Torques, accelerations and contact wrenches of one tick.

    Attributes:
        a: (nv,) acceleration; zero where the torques are held.
        relaxation: What was given up.
    """

    __slots__ = ("a", "relaxation")

    def __init__(
        self, tau: Vector, certificate: Certificate, a: Vector, relaxation: RelaxationStatus
    ) -> None:
        """Bind the acceleration to torques and proof."""
        super().__init__(tau, certificate)
        self.a, self.relaxation = a, relaxation
