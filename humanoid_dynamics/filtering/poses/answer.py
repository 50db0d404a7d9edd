"""What teleoperation answers: one command, how well each frame is led, and what every status means."""

from __future__ import annotations

from dataclasses import dataclass

from humanoid_dynamics.filtering.certificate import FrameCertificate
from humanoid_dynamics.filtering.ticks.step import RUNGS
from humanoid_dynamics.spatial.arrays import Matrix, Vector

STATUSES = {
    "ok": "all limits are kept",
    "clearance_gives_way": "parts of the body may come nearer than they should, so that soles stand and joints keep their limits",
    "foot_comes_down": "the robot was about to fall, so a lifted foot is put down, and frames wait",
    "hard_braking": "all limits are kept, joints brake as hard as they can",
    "soles_give_way": "standing soles may slide or lift; all other limits are kept",
    "joints_give_way": "joints may leave their room; contact and torque limits are kept",
    "free": "no wrench within limits holds the robot",
    "state_not_finite": "the measured state is no number; the command follows from the last one that was",
    "fallen": "the robot fell, or its state ran away; it comes to rest and goes back to where it stood; measured, its motors brake",
    "restarted": "the robot is back at rest on its feet",
}


@dataclass(frozen=True, slots=True)
class StreamReport:
    """How well one frame is led.

    Attributes:
        status: One of ``pose_stream.STATUSES``.
        reason: What that means, in words.
        share: How far the frame is led: one while it is known, zero when it is given up.
        place_error: Distance of the frame from its goal [m].
        turn_error: Angle between the two [rad].
        age: Time since the last pose that was believed [s].
        refused: How many poses were refused.
        operator_error: Distance of the frame from where the operator has it, in reach or not; no number until that is known [m].
    """

    status: str
    reason: str
    share: float
    place_error: float
    turn_error: float
    age: float
    refused: int
    operator_error: float = float("nan")


@dataclass(frozen=True, slots=True, eq=False)
class TeleoperationFrame:
    """One command.

    Attributes:
        time: Our time [s].
        q: (nq,) configuration.
        v: (nv,) velocity.
        vdot: (nv,) acceleration with which motion goes on.
        tau: (na,) torques of all coordinates but those of the base.
        wrenches: (2, 6) wrenches of the ground on the soles, in axes of each.
        stands: Whether each sole bears load.
        rung: Place on the ladder of the tick: 0 where all limits were kept.
        status: One of ``STATUSES``.
        certificate: How consistent it is.
        clearance: By how much more than is kept parts of the body are apart [m].
        streams: How well each frame is led.
    """

    time: float
    q: Vector
    v: Vector
    vdot: Vector
    tau: Vector
    wrenches: Matrix
    stands: tuple[bool, bool]
    rung: int
    status: str
    certificate: FrameCertificate
    clearance: float
    streams: dict[str, StreamReport]

    @property
    def reason(self) -> str:
        """What the status means, in words."""
        return STATUSES[self.status]


def name_status(rung: int, *, gave_way: bool, rescues: bool = False) -> str:
    """Return the status of a tick.

    Args:
        rung: Its place on the ladder.
        gave_way: Whether clearance gave way.
        rescues: Whether a foot is put down because the robot was about to fall.
    """
    if rung:
        return RUNGS[rung]
    if rescues:
        return "foot_comes_down"
    return "clearance_gives_way" if gave_way else "ok"
