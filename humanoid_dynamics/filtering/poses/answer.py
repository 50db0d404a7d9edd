# SPDX-License-Identifier: Apache-2.0
"""What teleoperation answers: one command, how well each frame is led, and what every status means."""

from __future__ import annotations

from dataclasses import dataclass

from humanoid_dynamics.filtering.certificate import FrameCertificate
from humanoid_dynamics.filtering.poses.gate import PoseStreamStatus
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.status import StatusEnum


class TeleoperationStatus(StatusEnum):
    """Which limits a command keeps."""

    OK = "OK", "all limits are kept"
    CLEARANCE_RELAXED = (
        "CLEARANCE_RELAXED",
        "the clearance between bodies is reduced, so that soles stand and joints keep their limits",
    )
    FOOT_COMES_DOWN = (
        "FOOT_COMES_DOWN",
        "the robot was about to fall, so a lifted foot is put down, and frames wait",
    )
    HARD_BRAKING = "HARD_BRAKING", "all limits are kept, joints brake as hard as they can"
    CONTACT_RELAXED = (
        "CONTACT_RELAXED",
        "standing soles may slide or lift; all other limits are kept",
    )
    JOINTS_RELAXED = (
        "JOINTS_RELAXED",
        "joints may exceed their position limits; contact and torque limits are kept",
    )
    FREE = "FREE", "no wrench within limits supports the robot"
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
        "the robot fell or its state diverged; it comes to rest and returns to where it stood; a measured robot brakes",
    )
    RESTARTED = "RESTARTED", "the robot is back at rest on its feet"


OF_RUNG = (
    TeleoperationStatus.OK,
    TeleoperationStatus.HARD_BRAKING,
    TeleoperationStatus.CONTACT_RELAXED,
    TeleoperationStatus.JOINTS_RELAXED,
    TeleoperationStatus.FREE,
    TeleoperationStatus.FALLEN,
)  # in the order of ``step.RUNGS``


@dataclass(frozen=True, slots=True)
class StreamReport:
    """How well one frame is led.

    Attributes:
        status: How the frame follows its poses.
        reason: What that means, in words.
        share: How far the frame is led: one while it is known, zero when it is given up.
        place_error: Distance of the frame from its goal [m].
        turn_error: Angle between the two [rad].
        age: Time since the last pose that was believed [s].
        refused: How many poses were refused.
        operator_error: Distance of the frame from where the operator has it, in reach or not; no number until that is known [m].
    """

    status: PoseStreamStatus
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
        status: Which limits are kept.
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
    status: TeleoperationStatus
    certificate: FrameCertificate
    clearance: float
    streams: dict[str, StreamReport]

    @property
    def reason(self) -> str:
        """What the status means, in words."""
        return self.status.description


def name_status(rung: int, *, gave_way: bool, rescues: bool = False) -> TeleoperationStatus:
    """Return the status of a tick.

    Args:
        rung: Its place on the ladder.
        gave_way: Whether clearance gave way.
        rescues: Whether a foot is put down because the robot was about to fall.
    """
    if rung:
        return OF_RUNG[rung]
    if rescues:
        return TeleoperationStatus.FOOT_COMES_DOWN
    return TeleoperationStatus.CLEARANCE_RELAXED if gave_way else TeleoperationStatus.OK
