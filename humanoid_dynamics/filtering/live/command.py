"""What a filter that runs along with the world says: its statuses, its commands, its beat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from humanoid_dynamics.filtering.frame import Frame
from humanoid_dynamics.filtering.poses.answer import TeleoperationFrame
from humanoid_dynamics.spatial.arrays import Vector

SHOWN = 0.25  # s; how long a trouble of one message is told
MOST_BEATS = 4  # at a time, where some were missed
LATEST = 0.25  # s; beats that are later are left out

STATUSES: Mapping[str, str] = MappingProxyType(
    {
        "waiting": "nothing to follow has come yet, or no state; nothing is sent",
        "following": "it follows, and all limits are kept",
        "limited": "what came jumped, or is faster than the robot; it follows as fast as it can",
        "fallen": "the robot lies or falls; its posture is held until the reference stands, or is made to, then it goes back there",
        "gave_way": "it follows, and a limit gives way; the reason says which",
        "holding": "somebody asked it to stay where it is",
        "reference_ended": "the last posture of the reference is held until more comes",
        "reference_refused": "a piece of the reference was left out; the reason says why",
        "reference_stale": "a piece of the reference is all over, or begins much too late; it was left out",
        "time_back": "time went back; all begins anew, or the pose waits until stamps run on",
        "state_stale": "no state has come for long; nothing is sent",
        "state_refused": "a state was left out; the reason says why",
        "pose_refused": "a pose was left out; the reason says why",
        "pose_jumped": "place or orientation of a pose jumped; its frame stays until poses agree with each other",
        "pose_swapped": "a pose is that of the other one of a pair; its frame stays where it is",
        "pose_frozen": "poses of a frame come and do not change by one bit; the frame stays where it is",
        "pose_lost": "poses of a frame do not come; the frame stays, and is given up later",
        "out_of_reach": "a pose is farther than the limb is long, or its foot cannot be led now",
        "sender_lost": "who sends the reference has gone silent; what was sent is followed to its end, then its last posture is held",
    }
)
GOOD = ("waiting", "following", "limited", "holding", "reference_ended", "out_of_reach")


@dataclass(frozen=True, slots=True, eq=False)
class Command:
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
    def of(cls, stamp: float, frame: Frame | TeleoperationFrame, dt: float, drawn: Vector) -> Command:
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
        self._status, self._reason, self._until = "", "", -np.inf

    def put(self, status: str, reason: str, now: float) -> None:
        """Take a trouble.

        Args:
            status: One of ``STATUSES``.
            reason: In words.
            now: The time [s].
        """
        self._status, self._reason, self._until = status, reason, now + SHOWN

    def tell(self, now: float) -> tuple[str, str] | None:
        """Return status and reason of what is still told.

        Args:
            now: The time [s].
        """
        return (self._status, self._reason) if self._until - SHOWN <= now + 1e-9 <= self._until else None
