# SPDX-License-Identifier: Apache-2.0
"""What an answer is measured by: kept as copies, worked out when asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from humanoid_dynamics.contact.cone import WrenchCone
from humanoid_dynamics.contact.wrench import ContactWrench, measure_wrench
from humanoid_dynamics.resolution.contact_motion import Measured
from humanoid_dynamics.resolution.limits import ContactRows
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.spatial.arrays import Indices, Vector
from humanoid_dynamics.status import StatusEnum

RESIDUAL_TOLERANCE = 1e-8  # of the weight of the robot
TORQUE_TOLERANCE = 1e-9  # of the limit
REACHED = MappingProxyType(
    {
        "pulls": "bears nothing, and cannot pull",
        "overload": "bears as much as it may",
        "tips": "the centre of pressure is at the rim",
        "slips": "friction is used up",
        "turns": "friction about the normal is used up",
    }
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


class Evidence:
    """The push and the forces of one answer.

    Attributes:
        fading: Of the contacts that faded, where the motion lacks something, what it lacks without them; see ``fading``.
        shares: Of the contacts, where the motion lacks something; those with none did not touch.
        measured: How surfaces move that do not all rest; None where all do.
        tolerance: What each row of the equation of motion may be missed by [N or N·m].
        problem: What was asked.
        rows: Limits of its contacts.
        question: Configuration, velocity, acceleration and known force that were asked about.
    """

    __slots__ = (
        "_generation",
        "_left",
        "_tau",
        "_torn",
        "_x",
        "fading",
        "measured",
        "problem",
        "question",
        "rows",
        "shares",
        "tolerance",
    )

    def __init__(
        self, problem: DynamicsProblem, rows: ContactRows, x: Vector, left: Vector, tau: Vector
    ) -> None:
        """Keep what belongs to this answer alone.

        Args:
            problem: What was asked.
            rows: Limits of its contacts.
            x: (size,) the push.
            left: (nv,) tau_0 - J'x - S'tau, what the equation of motion misses.
            tau: (na,) what motors give.
        """
        self.problem, self.rows, self._x, self._left, self._tau = problem, rows, x, left, tau
        self.question: Question = (problem.q, problem.v, problem.a, problem.force)
        self._generation = problem.generation
        self._torn = problem.loops.torn if problem.loops else ""
        self.fading: tuple[str, ...] = ()
        self.shares: list[float] = []
        self.measured: Measured | None = None
        self.tolerance = RESIDUAL_TOLERANCE * problem.unit_force

    def keep(self, question: Question, torn: str) -> None:
        """Belong to a question that was asked before the last one.

        Args:
            question: Configuration, velocity, acceleration and known force.
            torn: Which loop its motion does not close; empty where none.
        """
        self.question, self._generation, self._torn = question, -1, torn

    @classmethod
    def of_nothing(cls, problem: DynamicsProblem, rows: ContactRows, reason: str) -> Evidence:
        """Return what there is for a question that could not be computed with: no wrench, every margin minus infinity."""
        nothing = _Nothing(problem, rows, np.zeros(0), np.zeros(0), np.zeros(0))
        nothing.reason = reason
        return nothing

    def missing(self) -> Vector:
        """Return the forces that the motion lacks, (nv,) [N or N·m]."""
        return np.array(self._left)

    def needed(self) -> Vector:
        """Return what motors would have to give beside the contact wrenches, (na,) [N or N·m]."""
        needed: Vector = self._left[self.problem.driven_v] + self._tau
        return needed

    def residual(self) -> float:
        """Return the largest of them."""
        return float(np.max(np.abs(self._left), initial=0.0))

    def wrenches(self) -> Mapping[str, ContactWrench]:
        """Return the wrench of each contact."""
        problem, found = self.problem, {}
        for k, contact in enumerate(problem.contacts):
            R_WC = problem.rotation(k, self.question[0], self._generation)
            found[contact.name] = measure_wrench(
                contact.surface, contact.held @ self._x[contact.part], R_WC
            )
        return MappingProxyType(found)

    def margins(self) -> Margins:
        """Return the distances to all limits."""
        wrenches = self._local_wrenches()
        shares = np.abs(self._tau) / self.problem.robot.limits.effort[self.problem.driven_v]
        yaws = [
            yaw_margin(contact.cone, self._x[contact.part]) for contact in self.problem.contacts
        ]
        return Margins(
            normal=min((wrench.normal_margin for wrench in wrenches), default=np.inf),
            friction=min((wrench.friction_margin for wrench in wrenches), default=np.inf),
            cop=min((wrench.cop_margin for wrench in wrenches), default=np.inf),
            yaw=min(yaws, default=np.inf),
            torque=float(1.0 - np.max(shares, initial=0.0)),
        )

    def status(self) -> AnswerStatus:
        """Return the first of what is wrong, as a status."""
        lacking = self._left[self.problem.undriven_v]
        if self._torn or not np.max(np.abs(lacking), initial=0.0) <= self.tolerance:
            return AnswerStatus.UNSUPPORTED
        if self.rows.faults(self._x):
            return AnswerStatus.INFEASIBLE_CONTACT
        if len(self._overloads()):
            return AnswerStatus.SATURATED
        if len(self._mismatches()):
            return AnswerStatus.UNSUPPORTED
        return AnswerStatus.INCONSISTENT_CONTACT if self.moves() else AnswerStatus.OK

    def reasons(self) -> tuple[str, ...]:
        """Return all that is wrong, in words."""
        return (
            *self._missing_reasons(),
            *self._contact_reasons(),
            *self._torque_reasons(),
            *self._motion_reasons(),
        )

    def _motion_reasons(self) -> list[str]:
        if self.measured is None:
            return []
        moving = self.problem.find_moving(self._x, self.measured)
        return [
            reason for k in moving for reason in self.measured.motion.describe(self.measured, k)
        ]

    def moves(self) -> bool:
        """Whether a surface that pushes does not rest."""
        return (
            self.measured is not None
            and next(self.problem.find_moving(self._x, self.measured), None) is not None
        )

    def _local_wrenches(self) -> list[ContactWrench]:
        problem = self.problem
        return [
            measure_wrench(contact.surface, contact.held @ self._x[contact.part], np.eye(3))
            for contact in problem.contacts
        ]

    def _missing_reasons(self) -> list[str]:
        problem, lacking, reasons = self.problem, np.abs(self._left), []
        lacking[problem.driven_v] = 0.0
        if np.max(lacking, initial=0.0) > self.tolerance:
            worst = int(np.argmax(lacking))
            reasons.append(
                f"{problem.robot.coordinates[worst]} lacks {lacking[worst]:.3g} {problem.units[worst]}"
            )
            reasons += self._reached()
            reasons += self.fading
        if self._torn:
            reasons.append(self._torn)
        return reasons

    def _reached(self) -> list[str]:
        """Tell which limits the push has come to, where it misses the motion: they are what keeps it from it."""
        problem, limits = self.problem, self.problem.robot.limits.effort[self.problem.driven_v]
        reached = [
            at
            for at in self.rows.reached(self._x)
            if not self.shares or self.shares[at.contact] != 0.0
        ]
        told = [f"{problem.surfaces[at.contact].name}: {REACHED[at.kind]}" for at in reached]
        for i in np.flatnonzero(np.abs(self._tau) >= limits * (1.0 - TORQUE_TOLERANCE)):
            told.append(
                f"{problem.robot.actuated[i]} gives all of its {limits[i]:.4g} {problem.units[problem.driven_v[i]]}"
            )
        return told

    def _contact_reasons(self) -> list[str]:
        faults, reasons = self.rows.faults(self._x), []
        wrenches = self._local_wrenches() if faults else []
        for fault in faults:
            contact = self.problem.contacts[fault.contact]
            yaw = yaw_margin(contact.cone, self._x[contact.part])
            reasons.append(tell_fault(fault.kind, wrenches[fault.contact], yaw))
        return reasons

    def _overloads(self) -> Indices:
        limits = self.problem.robot.limits.effort[self.problem.driven_v]
        return np.flatnonzero(np.abs(self.needed()) > limits * (1.0 + TORQUE_TOLERANCE))

    def _mismatches(self) -> Indices:
        """Return motors whose torque, inside its limit, is another than the motion needs."""
        limits = self.problem.robot.limits.effort[self.problem.driven_v]
        rounding = np.where(
            np.isfinite(limits), TORQUE_TOLERANCE * limits, 0.0
        )  # torques are cut to their limits to the last digit
        wrong = ~(np.abs(self._left[self.problem.driven_v]) <= self.tolerance + rounding)
        wrong[self._overloads()] = False
        return np.flatnonzero(wrong)

    def _torque_reasons(self) -> list[str]:
        problem, reasons = self.problem, []
        needed, limits = self.needed(), problem.robot.limits.effort[problem.driven_v]
        for i in self._overloads():
            unit = problem.units[problem.driven_v[i]]
            reasons.append(
                f"{problem.robot.actuated[i]} needs {needed[i]:.4g} {unit}, its limit is {limits[i]:.4g} {unit}"
            )
        for i in self._mismatches():
            unit = problem.units[problem.driven_v[i]]
            reasons.append(
                f"{problem.robot.actuated[i]} gives {self._tau[i]:.6g} {unit}, the motion needs {needed[i]:.6g} {unit}"
            )
        return reasons


class _Nothing(Evidence):
    """No evidence at all."""

    __slots__ = ("reason",)

    reason: str

    def missing(self) -> Vector:
        return np.full(self.problem.robot.nv, np.inf)

    def status(self) -> AnswerStatus:
        return AnswerStatus.INVALID_INPUT

    def reasons(self) -> tuple[str, ...]:
        return (self.reason,)

    def residual(self) -> float:
        return np.inf

    def wrenches(self) -> Mapping[str, ContactWrench]:
        return MappingProxyType({})

    def margins(self) -> Margins:
        return Margins(-np.inf, -np.inf, -np.inf, -np.inf, -np.inf)


def yaw_margin(cone: WrenchCone, x: Vector) -> float:
    """Return how far the moment about the normal may still grow, either way, before the patch turns [N·m].

    Infinite for a point, and where the friction force alone is outside the pyramid that the rows are made of.

    Args:
        cone: What the surface can carry.
        x: (r,) push in the basis of the cone.
    """
    labels = np.array(cone.labels)
    rows = labels == "yaw"
    slack = cone.b - cone.A @ x
    if not rows.any() or np.any(slack[labels == "friction"] < 0.0):
        return np.inf
    turning = np.abs(cone.A[rows, -1])
    turns = turning > 0.0
    return float(np.min(slack[rows][turns] / turning[turns], initial=np.inf))


def tell_fault(kind: str, wrench: ContactWrench, yaw: float) -> str:
    """Tell in words what a contact cannot do of what it would have to.

    Args:
        kind: The fault.
        wrench: The wrench it has.
        yaw: Its margin about the normal [N·m].
    """
    if kind == "pulls":
        text = f"pulls with {-wrench.normal_force:.4g} N"
    elif kind == "overload":
        text = f"normal force {wrench.normal_force:.4g} N is {-wrench.normal_margin:.4g} N beyond its limit"
    elif kind == "slips":
        text = f"slips, {-wrench.friction_margin:.4g} N beyond the friction cone"
    elif kind == "turns":
        text = f"turns, {-yaw:.4g} N·m beyond the friction about its normal"
    elif np.isinf(wrench.cop_margin):
        text = f"tips, a moment of {float(np.linalg.norm(wrench.m_W)):.4g} N·m without pressing"
    else:
        text = f"tips, centre of pressure {-wrench.cop_margin * 1e3:.4g} mm outside"
    return f"{wrench.surface}: {text}"
