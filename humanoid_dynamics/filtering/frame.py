"""What the filter answers: one frame of consistent motion, and what the statuses of a tick mean."""

from __future__ import annotations

from dataclasses import dataclass

from humanoid_dynamics.filtering.certificate import FrameCertificate
from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.spatial.arrays import Vector

STATUSES = {
    "waiting": "the look-ahead is not there yet",
    "silent": "no sample comes that can be taken; what came before is handed out, then the reference stands still until more come",
    "ok": "all limits that are judged are kept",
    "rung": "a limit gives way; the number says which of ``step.RUNGS``",
    "outside": "a limit is broken; the certificate says which",
    "state_not_finite": "the measured state is no state; the last one that was is used",
    "fallen": "the robot fell; its posture is held until the reference stands on both soles, or is made to, then it goes back there and on",
    "ended": "nothing is left",
}


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
