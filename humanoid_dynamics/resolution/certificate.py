# SPDX-License-Identifier: Apache-2.0
"""The certificate of an answer: its status from all rows with the published torques and forces, residual, margins and reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from humanoid_dynamics.contact.wrench import ContactWrench, measure_wrench
from humanoid_dynamics.resolution.contact_motion import Measured
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.resolution.violations import (
    TORQUE_TOLERANCE,
    explain,
    find_faults,
    yaw_margin,
)
from humanoid_dynamics.spatial.arrays import Indices, Vector
from humanoid_dynamics.status import StatusEnum

RESIDUAL_TOLERANCE = 1e-8  # of the weight of the robot
FIELDS = (
    "status",
    "reasons",
    "residual",
    "normal_margin",
    "friction_margin",
    "cop_margin",
    "yaw_margin",
    "torque_margin",
    "load_error",
    "redundancy",
    "rank",
    "path",
    "time",
)
Question: TypeAlias = tuple[Vector, Vector, Vector, Vector | None]


class AnswerStatus(StatusEnum):
    """What the certificate of an answer states."""

    OK = "OK", "the equation of motion holds and every limit is kept"
    INFEASIBLE_CONTACT = "INFEASIBLE_CONTACT", "a contact would have to pull, slip or tip"
    INCONSISTENT_CONTACT = (
        "INCONSISTENT_CONTACT",
        "as `OK`, but a contact that carries force slides, turns, lifts off, penetrates the ground or is off it",
    )
    SATURATED = "SATURATED", "a motor would have to exceed its torque limit"
    UNSUPPORTED = (
        "UNSUPPORTED",
        "contacts and motors cannot produce the motion, or only with a contact that fades out; the residual is the largest missing force",
    )
    INVALID_INPUT = (
        "INVALID_INPUT",
        "no input has come, an input has a wrong size, a NaN or a bad quaternion or share, or a rule raised; the reason names the cause",
    )


KEPT, MISSING, CONTACT, MOTOR, MISMATCH = range(5)  # kinds of rows in the order they are judged in
STATUS_OF = (
    None,
    AnswerStatus.UNSUPPORTED,
    AnswerStatus.INFEASIBLE_CONTACT,
    AnswerStatus.SATURATED,
)  # by the first kind of row that is violated


@dataclass(frozen=True, slots=True)
class Margins:
    """The smallest distance to each kind of limit; infinite where there is none of the kind.

    Attributes:
        normal: To lift-off or overload [N].
        friction: To slipping [N].
        cop: To the rim of a patch [m].
        yaw: To turning about a normal [N·m].
        torque: Share of a torque limit that is left [-].
    """

    normal: float
    friction: float
    cop: float
    yaw: float
    torque: float


class Certificate:
    """The proof that goes with an answer.

    The status is found when the answer is made; the distances to limits are computed when first asked for.

    Attributes:
        status: Whether the answer is right, and what is wrong otherwise.
        redundancy: Freedom left to choose wrenches after the equation of motion [-].
        rank: Rank of the equations that the wrenches must fulfil [-].
        path: How the answer was found: ``closed`` by a formula, ``kkt`` by one linear system, ``svd`` where that was singular, ``qp``
            inside limits, ``qp_soft`` inside limits with the equation of motion as near as can be, ``none`` without contacts,
            ``unpressed`` by shares alone where pushes that press inside were not found.
        time: Time it took [s].
        problem: The equation of motion that was solved.
        f, tau: (size,) forces and (na,) torques.
        left: (nv,) tau_0 - J'f - S'tau, what the equation of motion misses.
        torn: Which loop the motion does not close; empty where none.
        question: Configuration, velocity, acceleration and known force that were asked about.
        tolerance: What each row of the equation of motion may be missed by [N or N·m].
        measured: Motion of surfaces that are not all at rest; None where all are.
        shares: (contacts,) load fractions that were asked for; a contact with none did not touch.
        takes_load: Whether the rule distributes load by them.
        fading: Of the contacts that faded, where the motion lacks something, what it lacks without them; see ``fading``.
    """

    __slots__ = (
        "_generation",
        "_margins",
        "f",
        "fading",
        "left",
        "measured",
        "path",
        "problem",
        "question",
        "rank",
        "redundancy",
        "shares",
        "status",
        "takes_load",
        "tau",
        "time",
        "tolerance",
        "torn",
    )

    def __init__(
        self, problem: DynamicsProblem, f: Vector, tau: Vector, left: Vector, found: tuple[str, int]
    ) -> None:
        """Keep what belongs to this answer alone.

        Args:
            problem: The equation of motion.
            f: (size,) forces.
            tau: (na,) torques.
            left: (nv,) tau_0 - J'f - S'tau, what the equation of motion misses.
            found: Path and rank.
        """
        self.problem, self.f, self.tau, self.left = problem, f, tau, left
        self.question: Question = (problem.q, problem.v, problem.a, problem.force)
        self.path, self.rank = found
        self.redundancy = problem.size - self.rank
        self.status = AnswerStatus.INVALID_INPUT
        self.time = 0.0
        self.tolerance = RESIDUAL_TOLERANCE * problem.unit_force
        self.measured: Measured | None = None
        self.shares: tuple[float, ...] = ()
        self.takes_load = False
        self.fading: tuple[str, ...] = ()
        self._generation = problem.generation
        self.torn = problem.loops.torn if problem.loops else ""
        self._margins: Margins | None = None

    def keep(self, question: Question, torn: str) -> None:
        """Belong to a question that was asked before the last one.

        Args:
            question: Configuration, velocity, acceleration and known force.
            torn: Which loop its motion does not close; empty where none.
        """
        self.question, self._generation, self.torn = question, -1, torn

    def decide(self, violation: int = MISMATCH, moves: bool = False) -> None:
        """Find the status: the first of what is wrong.

        Args:
            violation: The first kind of row that is known to be violated; ``MISMATCH`` where that is to be found out.
            moves: Whether a surface that carries force is known to move.
        """
        if self.torn or violation == MISMATCH:
            self.status = self._find_first_violation()
        else:
            resting = AnswerStatus.INCONSISTENT_CONTACT if moves else AnswerStatus.OK
            self.status = STATUS_OF[violation] or resting

    @property
    def reasons(self) -> tuple[str, ...]:
        """What is wrong, in words with numbers; empty where the status is ``OK``."""
        return () if self.status is AnswerStatus.OK else explain(self)

    @property
    def residual(self) -> float:
        """Largest error of the equation of motion over all coordinates [N or N·m]."""
        return float(np.max(np.abs(self.left), initial=0.0))

    @property
    def missing(self) -> Vector:
        """(nv,) forces that the motion lacks [N or N·m]."""
        return np.array(self.left)

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
            self._margins = self._measure_margins()
        return self._margins

    @property
    def load(self) -> tuple[float, ...]:
        """Load fraction of each contact: its part of the total contact force, along that [-]; all zero without a force."""
        forces = np.array([wrench.f_W for wrench in self.wrenches().values()]).reshape(-1, 3)
        total = forces.sum(axis=0)
        square = float(total @ total)
        return tuple((forces @ total / square).tolist() if square > 0.0 else np.zeros(len(forces)))

    @property
    def load_error(self) -> float:
        """Largest difference between the load fractions carried and those asked for [-]; zero for rules that take none."""
        if not self.takes_load or not any(self.shares):
            return 0.0
        return float(np.max(np.abs(np.subtract(self.load, self.shares)), initial=0.0))

    def wrenches(self) -> Mapping[str, ContactWrench]:
        """Return the wrench of each contact."""
        problem, found = self.problem, {}
        for k, contact in enumerate(problem.contacts):
            R_WC = problem.rotation(k, self.question[0], self._generation)
            w_C = contact.held @ self.f[contact.part]
            found[contact.name] = measure_wrench(contact.surface, w_C, R_WC)
        return MappingProxyType(found)

    def as_dict(self) -> dict[str, Any]:
        """Return all fields by name."""
        return {name: getattr(self, name) for name in FIELDS}

    def __repr__(self) -> str:
        return f"Certificate({', '.join(f'{name}={value!r}' for name, value in self.as_dict().items())})"

    def _find_resting(self) -> AnswerStatus:
        moves = self.measured is not None and any(
            True for _ in self.problem.find_moving(self.f, self.measured)
        )
        return AnswerStatus.INCONSISTENT_CONTACT if moves else AnswerStatus.OK

    def _find_first_violation(self) -> AnswerStatus:
        lacking = self.left[self.problem.undriven_v]
        if self.torn or not np.max(np.abs(lacking), initial=0.0) <= self.tolerance:
            return AnswerStatus.UNSUPPORTED
        if find_faults(self.problem, self.f):
            return AnswerStatus.INFEASIBLE_CONTACT
        if len(self.find_overloads()):
            return AnswerStatus.SATURATED
        return AnswerStatus.UNSUPPORTED if len(self.find_mismatches()) else self._find_resting()

    def _measure_margins(self) -> Margins:
        wrenches, contacts = self.local_wrenches(), self.problem.contacts
        used = np.abs(self.tau) / self.problem.effort
        yaws = [yaw_margin(contact.cone, self.f[contact.part]) for contact in contacts]
        return Margins(
            normal=min((wrench.normal_margin for wrench in wrenches), default=np.inf),
            friction=min((wrench.friction_margin for wrench in wrenches), default=np.inf),
            cop=min((wrench.cop_margin for wrench in wrenches), default=np.inf),
            yaw=min(yaws, default=np.inf),
            torque=float(1.0 - np.max(used, initial=0.0)),
        )

    def local_wrenches(self) -> list[ContactWrench]:
        """Return the wrenches of all contacts with axes of their surfaces for those of the world."""
        return [
            measure_wrench(contact.surface, contact.held @ self.f[contact.part], np.eye(3))
            for contact in self.problem.contacts
        ]

    @property
    def needed(self) -> Vector:
        """What motors would have to give beside the contact wrenches, (na,) [N or N·m]."""
        needed: Vector = self.left[self.problem.driven_v] + self.tau
        return needed

    def find_overloads(self) -> Indices:
        """Return motors that would have to exceed their limits."""
        return np.flatnonzero(np.abs(self.needed) > self.problem.effort * (1.0 + TORQUE_TOLERANCE))

    def find_mismatches(self) -> Indices:
        """Return motors whose torque, inside its limit, is another than the motion needs."""
        limits = self.problem.effort
        # Torques are cut to their limits to the last digit.
        rounding = np.where(np.isfinite(limits), TORQUE_TOLERANCE * limits, 0.0)
        wrong = ~(np.abs(self.left[self.problem.driven_v]) <= self.tolerance + rounding)
        wrong[self.find_overloads()] = False
        return np.flatnonzero(wrong)


class RefusedCertificate(Certificate):
    """The certificate of a question that could not be computed with: no wrench, every margin minus infinity."""

    __slots__ = ("_reason",)

    def __init__(self, problem: DynamicsProblem, reason: str) -> None:
        """Keep the reason.

        Args:
            problem: The equation of motion.
            reason: What is wrong with the question.
        """
        super().__init__(problem, np.zeros(0), np.zeros(0), np.zeros(0), ("none", 0))
        self.redundancy, self._reason = 0, reason

    @property
    def reasons(self) -> tuple[str, ...]:
        """What is wrong with the question."""
        return (self._reason,)

    @property
    def residual(self) -> float:
        """Infinity."""
        return np.inf

    @property
    def missing(self) -> Vector:
        """(nv,) infinity."""
        return np.full(self.problem.robot.nv, np.inf)

    @property
    def load(self) -> tuple[float, ...]:
        """Zero for every contact."""
        return (0.0,) * len(self.problem.contacts)

    def wrenches(self) -> Mapping[str, ContactWrench]:
        """Return none."""
        return MappingProxyType({})

    def _measure_margins(self) -> Margins:
        return Margins(-np.inf, -np.inf, -np.inf, -np.inf, -np.inf)
