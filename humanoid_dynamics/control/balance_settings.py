# SPDX-License-Identifier: Apache-2.0
"""What the balance controller says, what it can be told, and what it sends."""

from __future__ import annotations

from dataclasses import dataclass

from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.resolution.answer import Answer
from humanoid_dynamics.resolution.rules import DEFAULT_RULE, find_rule
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.status import StatusEnum


class BalanceStatus(StatusEnum):
    """How the balance controller follows its reference."""

    WAITING = (
        "WAITING",
        "the position of a joint, the base or an awaited reference has not come; nothing is sent",
    )
    STANDING = "STANDING", "no reference has come; the initial posture is held"
    FOLLOWING = "FOLLOWING", "the controller follows the reference"
    REFERENCE_ENDED = (
        "REFERENCE_ENDED",
        "the reference has ended or stopped coming; its last posture is held",
    )
    REFERENCE_REJECTED = (
        "REFERENCE_REJECTED",
        "the latest piece of the reference was rejected; the one before is followed, then held",
    )
    VELOCITIES_ESTIMATED = (
        "VELOCITIES_ESTIMATED",
        "the state has no velocities; they are differentiated, the reason names the status besides",
    )
    LIMITED = (
        "LIMITED",
        "a contact or a motor is at its limit; the torques are the nearest within all limits",
    )
    INFEASIBLE = (
        "INFEASIBLE",
        "no torques and contact forces within their limits produce the motion; the nearest torques are sent",
    )
    CONTACT_WAITING = (
        "CONTACT_WAITING",
        "a scheduled contact has not closed; the reference waits for it",
    )
    CONTACT_LOST = "CONTACT_LOST", "a contact that carries load has opened; the others carry it"
    STATE_REFUSED = (
        "STATE_REFUSED",
        "the latest state was rejected; the torques of the last good one are sent",
    )
    STATE_STALE = (
        "STATE_STALE",
        "good states stopped coming, or those of the joints in the reason; the last torques fade to zero",
    )
    STATE_SKEWED = (
        "STATE_SKEWED",
        "stamps of states are too far from now; these states are not used, and the last torques fade to zero",
    )
    TIME_BACK = (
        "TIME_BACK",
        "stamps went back by more than the permitted clock skew; the controller starts again",
    )
    FALLEN = (
        "FALLEN",
        "the root link is tilted too far; joints are damped until it is upright again",
    )
    HEARTBEAT_LOST = (
        "HEARTBEAT_LOST",
        "the heartbeat of the reference stopped; the rest of the reference is followed, then held",
    )


SOURCES = {
    "assumed": "the soles of the resting posture, or those of the schedule, always stand",
    "wrench": "a sole stands while its measured normal force says so, with two thresholds and a time",
    "estimate": "a sole stands while the contact probability of the state estimator says so",
    "geometry": "a sole stands while it is near the height of the ground",
}


@dataclass(frozen=True)
class BalanceSettings:
    """How a controller behaves.

    Attributes:
        rule: Rule that chooses among the torques.
        timeout: Age at which a state is stale [s].
        skew: How far a stamp may lie after now, or before the one before [s].
        fade_out_duration: Time in which torques of a stale state fade [s].
        contact_source: One of ``SOURCES``.
        contact_on_threshold: Normal force at which a contact closes, as a share of the weight [-].
        contact_off_threshold: Normal force below which it opens, likewise [-].
        contact_on_probability: Contact probability of the state estimator at which a contact closes [-].
        contact_off_probability: Probability below which it opens [-].
        ground_gap: Height of a sole above the ground at which it opens; half of it closes it [m].
        debounce: How long a change of contact must last [s].
        blend: Time in which a jump of the reference of up to 0.25 rad or m is taken [s].
        rule_blend: Time in which a new rule takes over [s].
        fall_tilt: Tilt of the root link against the reference that counts as a fall [rad].
        await_reference: Whether nothing is sent before a reference has come.
        joint_friction: Whether the torques overcome the friction of the joints that the robot model has, at the velocity of the reference.
        land: Whether every sole in the air goes down, not only one that should touch.
    """

    rule: str = DEFAULT_RULE
    timeout: float = 0.05
    skew: float = 0.01
    fade_out_duration: float = 0.3
    contact_source: str = "wrench"
    contact_on_threshold: float = 0.02
    contact_off_threshold: float = 0.01
    contact_on_probability: float = 0.55
    contact_off_probability: float = 0.45
    ground_gap: float = 0.01
    debounce: float = 0.01
    blend: float = 0.5
    rule_blend: float = 0.1
    fall_tilt: float = 1.0
    await_reference: bool = False
    joint_friction: bool = True
    land: bool = False

    def __post_init__(self) -> None:
        find_rule(self.rule)
        if self.contact_source not in SOURCES:
            raise UnknownNameError("source of contacts", self.contact_source, SOURCES)


@dataclass(frozen=True, eq=False)
class Torques:
    """What is sent, and why.

    Attributes:
        tau: (na,) torques in the order of ``robot.actuated`` [N·m or N]; finite and within limits.
        status: How the reference is followed.
        reason: What is wrong, in words; empty where nothing is.
        answer: Wrenches and certificate; None where the torques did not come from the state.
    """

    tau: Vector
    status: BalanceStatus
    reason: str = ""
    answer: Answer | None = None
