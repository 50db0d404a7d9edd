# SPDX-License-Identifier: Apache-2.0
"""What the filter answers: one frame of consistent motion, and what the statuses of a tick mean."""

from __future__ import annotations

from dataclasses import dataclass

from humanoid_dynamics.filtering.certificate import FrameCertificate
from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.status import StatusEnum


class FilterStatus(StatusEnum):
    """How the filter answered its last tick."""

    WAITING = "WAITING", "the look-ahead is not there yet"
    INPUT_TIMEOUT = (
        "INPUT_TIMEOUT",
        "no usable sample comes; known ones are followed, then the reference stands still until more come",
    )
    OK = "OK", "all limits that are checked are kept"
    RELAXED = "RELAXED", "a limit is relaxed; the reason names the level"
    LIMIT_VIOLATED = "LIMIT_VIOLATED", "a limit is violated; the certificate names it"
    STATE_NOT_FINITE = (
        "STATE_NOT_FINITE",
        "the measured state is not finite or its quaternion not of unit length; the last good one is used",
    )
    STATE_WRONG_SHAPE = (
        "STATE_WRONG_SHAPE",
        "the measured state is not a configuration and a velocity of this robot; the last good one is used",
    )
    FALLEN = (
        "FALLEN",
        "the robot fell; its posture is held until the reference stands on both soles, then the robot returns to its feet",
    )
    ENDED = "ENDED", "no frame is left"


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One frame of consistent motion.

    Attributes:
        time: Its instant, evenly from the start of the reference on [s].
        reference: Instant of the reference it belongs to, by the stamps of its sender [s]; behind where time had to stand still before a
            foot was lifted, ahead where time ran faster.
        q: (nq,) configuration.
        v: (nv,) velocity.
        vdot: (nv,) acceleration with which motion goes on.
        tau: (na,) torques of all coordinates but those of the base.
        wrenches: (2, 6) wrenches of the ground on the soles, in axes of each.
        stands: Whether each sole bears load.
        rung: Place on the ladder of the tick: 0 where all limits were kept.
        certificate: How consistent it is.
        target: What was wanted.
        edges: What each standing sole stands on: 0 all of it, 1 the front edge, -1 the rear edge.
    """

    time: float
    reference: float
    q: Vector
    v: Vector
    vdot: Vector
    tau: Vector
    wrenches: Vector
    stands: tuple[bool, bool]
    rung: int
    certificate: FrameCertificate
    target: Target
    edges: tuple[int, int] = (0, 0)
