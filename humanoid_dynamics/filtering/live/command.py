# SPDX-License-Identifier: Apache-2.0
"""What a filter that runs along with the world says: its statuses, its commands, its beat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.filtering.frame import Frame
from humanoid_dynamics.filtering.poses.answer import TeleoperationFrame
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.status import StatusEnum

SHOWN = 0.25  # s; how long a trouble of one message is told
MOST_BEATS = 4  # at a time, where some were missed
LATEST = 0.25  # s; beats that are later are left out


class LiveFilterStatus(StatusEnum):
    """How the filter follows references or poses in real time."""

    WAITING = "WAITING", "no reference, pose or state has come; nothing is sent"
    FOLLOWING = "FOLLOWING", "the filter follows, and all limits are kept"
    LIMITED = (
        "LIMITED",
        "the reference jumped or exceeds the limits of the robot; the filter follows as fast as the robot can",
    )
    FALLEN = (
        "FALLEN",
        "the robot has fallen; its posture is held until the reference stands, then the robot returns to its feet",
    )
    RELAXED = "RELAXED", "the filter follows, and a limit is relaxed; the reason names it"
    HOLDING = "HOLDING", "the posture is held on request"
    REFERENCE_ENDED = (
        "REFERENCE_ENDED",
        "the last posture of the reference is held until more comes",
    )
    REFERENCE_REJECTED = (
        "REFERENCE_REJECTED",
        "a piece of the reference was rejected; the reason states why",
    )
    REFERENCE_STALE = (
        "REFERENCE_STALE",
        "a piece of the reference ended before now or begins much too late; it was rejected",
    )
    TIME_BACK = (
        "TIME_BACK",
        "time went back; the filter starts again, or a pose waits until stamps advance",
    )
    STATE_STALE = "STATE_STALE", "no state has come within the timeout; nothing is sent"
    STATE_REFUSED = "STATE_REFUSED", "a state was rejected; the reason states why"
    POSE_REFUSED = "POSE_REFUSED", "a pose was rejected; the reason states why"
    POSE_JUMP = (
        "POSE_JUMP",
        "position or orientation of a pose jumped; its frame stays until poses agree with each other",
    )
    POSE_SWAPPED = "POSE_SWAPPED", "a pose belongs to the other one of a pair; its frame stays"
    POSE_FROZEN = (
        "POSE_FROZEN",
        "poses of a frame come and do not change by one bit; the frame stays",
    )
    POSE_LOST = "POSE_LOST", "poses of a frame do not come; the frame stays, and is released later"
    OUT_OF_REACH = (
        "OUT_OF_REACH",
        "a pose is out of reach of the limb, or its foot cannot be led now",
    )
    HEARTBEAT_LOST = (
        "HEARTBEAT_LOST",
        "the heartbeat of the reference stopped; the rest of the reference is followed, then held",
    )


GOOD = (
    LiveFilterStatus.WAITING,
    LiveFilterStatus.FOLLOWING,
    LiveFilterStatus.LIMITED,
    LiveFilterStatus.HOLDING,
    LiveFilterStatus.REFERENCE_ENDED,
    LiveFilterStatus.OUT_OF_REACH,
)


@dataclass(frozen=True, slots=True, eq=False)
class LiveCommand:
    """A frame, and when it is due.

    Attributes:
        stamp: When the robot should be there, by our clock [s].
        frame: The frame.
        v: (nv,) velocity at the instant itself, between that before it and that after it.
    """

    stamp: float
    frame: Frame | TeleoperationFrame
    v: Vector

    @classmethod
    def of(
        cls, stamp: float, frame: Frame | TeleoperationFrame, dt: float, drawn: Vector
    ) -> LiveCommand:
        """Return the command of a frame, whose own velocity is that at the beginning of its tick.

        Args:
            stamp: When the robot should be there, by our clock [s].
            frame: The frame.
            dt: Time between ticks [s].
            drawn: (nv,) by how much the velocity jumped just before.
        """
        return cls(stamp, frame, frame.v + 0.5 * (dt * frame.vdot - drawn))


class Beat:
    """Tells the instants that are due, by a clock that may jump."""

    def __init__(self, period: float) -> None:
        """Begin with the next look.

        Args:
            period: Time between two beats [s].
        """
        self.period = period
        self._due = np.nan
        self._last = -np.inf

    def take(self, now: float) -> tuple[float, ...] | None:
        """Return the instants that are due, evenly apart whenever one looks; None where the clock went back.

        Args:
            now: The time [s].
        """
        if now < self._last:
            self._due, self._last = now + self.period, now
            return None
        self._last = now
        if not now - self._due < LATEST:
            self._due = now
        late = int((now - self._due) / self.period + 1.0 + 1e-9) if now >= self._due - 1e-9 else 0
        beats = tuple(self._due + k * self.period for k in range(min(late, MOST_BEATS)))
        self._due += len(beats) * self.period
        return beats


class Troubles:
    """Remembers the last trouble for as long as it is told."""

    def __init__(self) -> None:
        """Begin without any."""
        self._status, self._reason, self._until = LiveFilterStatus.WAITING, "", -np.inf

    def put(self, status: LiveFilterStatus, reason: str, now: float) -> None:
        """Take a trouble.

        Args:
            status: Its status.
            reason: In words.
            now: The time [s].
        """
        self._status, self._reason, self._until = status, reason, now + SHOWN

    def tell(self, now: float) -> tuple[LiveFilterStatus, str] | None:
        """Return status and reason of what is still told.

        Args:
            now: The time [s].
        """
        return (
            (self._status, self._reason)
            if self._until - SHOWN <= now + 1e-9 <= self._until
            else None
        )
