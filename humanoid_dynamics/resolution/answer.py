# SPDX-License-Identifier: Apache-2.0
"""An answer and its proof: residual, margins, and the reason where something is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any

from numpy.typing import ArrayLike

from humanoid_dynamics.contact.ground import AnyGround
from humanoid_dynamics.contact.wrench import ContactWrench
from humanoid_dynamics.resolution.evidence import AnswerStatus, Evidence, Margins
from humanoid_dynamics.resolution.verification import AnyWrench, verify
from humanoid_dynamics.spatial.arrays import Vector

FIELDS = (
    "status",
    "reasons",
    "residual",
    "normal_margin",
    "friction_margin",
    "cop_margin",
    "yaw_margin",
    "torque_margin",
    "redundancy",
    "rank",
    "path",
    "time",
)


class Certificate:
    """The proof that goes with an answer.

    What decides the status is checked when the answer is made; how far each limit is, is worked out when first asked for.

    Attributes:
        status: Whether the answer is right, and what is wrong otherwise.
        redundancy: Freedom left to choose wrenches after the equation of motion [-].
        rank: Rank of the equations that the wrenches must fulfil [-].
        path: How the answer was found: ``closed`` by a formula, ``kkt`` by one linear system, ``svd`` where that was singular, ``qp``
            inside limits, ``qp_soft`` inside limits with the equation of motion as near as can be, ``none`` without contacts,
            ``unpressed`` by shares alone where pushes that press inside were not found.
        time: Time it took [s].
    """

    __slots__ = ("_evidence", "_margins", "path", "rank", "redundancy", "status", "time")

    def __init__(
        self, status: AnswerStatus, found: tuple[str, int, int], time: float, evidence: Evidence
    ) -> None:
        """Bind what was decided to what proves it.

        Args:
            status: Whether the answer is right, and what is wrong otherwise.
            found: Path, rank and redundancy.
            time: Time it took [s].
            evidence: What the margins are worked out from.
        """
        self.status = status
        self.path, self.rank, self.redundancy = found
        self.time = time
        self._evidence = evidence
        self._margins: Margins | None = None

    @property
    def reasons(self) -> tuple[str, ...]:
        """What is wrong, in words with numbers; empty where the status is ``OK``."""
        return () if self.status is AnswerStatus.OK else self._evidence.reasons()

    @property
    def residual(self) -> float:
        """Largest error of the equation of motion over all coordinates [N or N·m]."""
        return self._evidence.residual()

    @property
    def normal_margin(self) -> float:
        """Smallest distance of a contact to lift-off or overload [N]; infinite without contacts."""
        return self.margins.normal

    @property
    def friction_margin(self) -> float:
        """Smallest distance of a contact to slipping [N]; infinite without contacts."""
        return self.margins.friction

    @property
    def cop_margin(self) -> float:
        """Smallest distance of a centre of pressure inside its patch [m]; infinite without contacts."""
        return self.margins.cop

    @property
    def yaw_margin(self) -> float:
        """Smallest distance of a moment about a normal to turning on the spot [N·m]; infinite where no contact can turn."""
        return self.margins.yaw

    @property
    def torque_margin(self) -> float:
        """Smallest share of a torque limit that is left [-]; negative beyond it."""
        return self.margins.torque

    @property
    def margins(self) -> Margins:
        """All margins at once."""
        if self._margins is None:
            self._margins = self._evidence.margins()
        return self._margins

    def as_dict(self) -> dict[str, Any]:
        """Return all fields by name."""
        return {name: getattr(self, name) for name in FIELDS}

    def __repr__(self) -> str:
        return f"Certificate({', '.join(f'{name}={value!r}' for name, value in self.as_dict().items())})"


class Answer:
    """Torques and contact wrenches for one motion at one instant.

    Attributes:
        tau: (na,) torques of the actuated coordinates, in the order of ``robot.actuated`` [N·m or N].
        certificate: How right they are.
    """

    __slots__ = ("_evidence", "_wrenches", "certificate", "tau")

    def __init__(self, tau: Vector, certificate: Certificate, evidence: Evidence) -> None:
        """Bind torques to their proof.

        Args:
            tau: (na,) torques, read-only.
            certificate: How right they are.
            evidence: What the wrenches are worked out from.
        """
        self.tau, self.certificate = tau, certificate
        self._evidence = evidence
        self._wrenches: Mapping[str, ContactWrench] | None = None

    @property
    def wrenches(self) -> Mapping[str, ContactWrench]:
        """Contact wrenches by surface, worked out when first asked for."""
        if self._wrenches is None:
            self._wrenches = self._evidence.wrenches()
        return self._wrenches

    @property
    def missing(self) -> Vector:
        """What the motion lacks beyond motors and contacts, (nv,) in the coordinates of the velocity [N or N·m]."""
        return self._evidence.missing()

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
        start, of = perf_counter(), self.certificate
        found = verify(
            self._evidence,
            self.tau if tau is None else tau,
            self.wrenches if wrenches is None else wrenches,
            ground,
        )
        return Certificate(
            found.status(), (of.path, of.rank, of.redundancy), perf_counter() - start, found
        )

    def __repr__(self) -> str:
        return f"Answer(tau={self.tau!r}, certificate={self.certificate!r})"
