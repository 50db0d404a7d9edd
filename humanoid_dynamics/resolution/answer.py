"""An answer and its proof: residual, margins, and the reason where something is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from humanoid_dynamics.contact.wrench import ContactWrench
from humanoid_dynamics.spatial.arrays import Vector

STATUSES = {
    "ok": "the equation of motion holds and every limit is kept",
    "infeasible_contact": "a contact would have to pull, slip or tip",
    "saturated": "a motor would have to give more than its limit",
    "unsupported": "contacts and motors cannot produce the motion; the largest force they lack is the residual",
    "invalid_input": "the question held a number that is not finite",
}


@dataclass(frozen=True, eq=False)
class Certificate:
    """The proof that goes with an answer.

    Attributes:
        status: One of ``STATUSES``.
        reasons: What is wrong, in words with numbers; empty where the status is ``ok``.
        residual: Largest error of the equation of motion over all coordinates [N or N·m].
        normal_margin: Smallest distance of a contact to lift-off or overload [N]; infinite without contacts.
        friction_margin: Smallest distance of a contact to slipping [N].
        cop_margin: Smallest distance of a centre of pressure inside its patch [m].
        torque_margin: Smallest share of a torque limit that is left [-]; negative beyond it.
        redundancy: Freedom left to choose wrenches after the equation of motion [-].
        rank: Rank of the equations that the wrenches must fulfil [-].
        path: How the answer was found.
        time: Time it took [s].
    """

    status: str
    reasons: tuple[str, ...]
    residual: float
    normal_margin: float
    friction_margin: float
    cop_margin: float
    torque_margin: float
    redundancy: int
    rank: int
    path: str
    time: float


@dataclass(frozen=True, eq=False)
class Answer:
    """Torques and contact wrenches for one motion at one instant.

    Attributes:
        tau: (na,) torques of the actuated coordinates, in the order of ``robot.actuated`` [N·m or N].
        wrenches: Contact wrenches by surface.
        certificate: How right they are.
    """

    tau: Vector
    wrenches: Mapping[str, ContactWrench]
    certificate: Certificate
