# SPDX-License-Identifier: Apache-2.0
"""Which poses of a tracker can be believed: each sample is taken, or refused with a reason."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_dynamics.filtering.measured import read_vector
from humanoid_dynamics.motion.poses import NORMAL
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.status import StatusEnum

NUMBERS = 7  # x y z and quaternion x y z w
FASTEST, PLACE = (
    6.0,
    0.1,
)  # m/s and m; a pose that went farther than FASTEST * time + PLACE has jumped
FASTEST_TURN, TURN = 20.0, 0.5  # rad/s and rad; likewise
LONGEST = 0.1  # s; the room for what moved unseen does not grow beyond this
FLIP = 2.2  # rad; nor for orientations beyond this
SETTLED, SETTLED_FLIP = (
    0.15,
    0.8,
)  # s; poses that agree with each other this long are believed though they jumped
SETTLED_SWAP = 3.0  # s; likewise where each of a pair is where the other one was
FROZEN = 0.5  # s; a pose that has not changed by one bit for so long is not measured any more
NEW_CLOCK = 0.15  # s; stamps that run on this long after they went back are another clock
SLOW_CLOCK = (
    0.01  # by which the delay of the quickest sample is forgotten, so that clocks may drift apart
)
LATE = 0.2  # s; stamps that are older than the newest by less were overtaken on their way
FARTHEST = 1e4  # m; there is no robot beyond
SWAPPED, AWAY, MUCH_NEARER = (
    0.15,
    0.2,
    0.35,
)  # m, m, -; a pose this near to the other one of a pair, this far from its own, is of the other


class PoseStreamStatus(StatusEnum):
    """What the validator does with a pose, and how a frame follows its poses."""

    WAITING = "WAITING", "no pose has come; the frame is free and rests"
    OK = "OK", "the pose is accepted"
    POSE_JUMP = "POSE_JUMP", "the pose is accepted after a jump"
    TRACKING = "TRACKING", "poses come and the frame follows"
    APPROACHING = "APPROACHING", "poses come and the frame moves to them at limited speed"
    OUT_OF_REACH = (
        "OUT_OF_REACH",
        "the pose is farther than the limb is long; the frame goes as near as it can",
    )
    GAP = "GAP", "no pose for a while; the goal coasts to a stop at the last good one"
    LOST = "LOST", "no pose for long; the frame is released and goes to rest"
    FROZEN = "FROZEN", "poses come and do not change by one bit; the goal stands still"
    OUTLIER = (
        "OUTLIER",
        "the pose jumped; the goal stays at the last good one until poses agree with it or with each other",
    )
    FLIPPED = (
        "FLIPPED",
        "the orientation jumped, the position did not; the goal stays at the last good one",
    )
    SWAPPED = (
        "SWAPPED",
        "the pose belongs to the other one of a pair; the goal stays at the last good one",
    )
    STAMP_IN_PAST = "STAMP_IN_PAST", "stamps went back; the goal stays until they advance"
    REPEATED = "REPEATED", "the stamp is that of the pose before; the pose is ignored"
    OVERTAKEN = "OVERTAKEN", "newer poses came before this one; the pose is ignored"
    NOT_FINITE = (
        "NOT_FINITE",
        "a number of the pose or its stamp is not finite; the pose is ignored",
    )
    NOT_UNIT = "NOT_UNIT", "the quaternion is not of unit length; the pose is ignored"
    NOT_A_POSE = "NOT_A_POSE", "the pose does not have seven numbers; it is ignored"
    UNKNOWN_FRAME = "UNKNOWN_FRAME", "the frame of the pose is not led; the pose is ignored"
    DISENGAGED = "DISENGAGED", "the clutch is open; the frame stays"
    REFUSED = "REFUSED", "the foot cannot be led now; the reason states why"


BELIEVED = (PoseStreamStatus.OK, PoseStreamStatus.POSE_JUMP, PoseStreamStatus.FROZEN)


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A pose that came.

    Attributes:
        time: When it was measured, by our clock [s].
        p: (3,) place [m].
        R: (3, 3) orientation.
    """

    time: float
    p: Vector
    R: Matrix


def read_pose(pose: ArrayLike | pin.SE3) -> tuple[Vector, Matrix] | PoseStreamStatus:
    """Read a pose.

    Args:
        pose: x y z [m] and quaternion x y z w, or an SE3.

    Returns:
        Place and orientation, or why there is none: ``NOT_A_POSE``, ``NOT_FINITE``, ``OUTLIER`` or ``NOT_UNIT``.
    """
    if isinstance(pose, pin.SE3):
        pose = pin.SE3ToXYZQUAT(pose)
    x = read_vector(pose)
    if x is None or x.shape != (NUMBERS,):
        return PoseStreamStatus.NOT_A_POSE
    if not np.isfinite(x).all():
        return PoseStreamStatus.NOT_FINITE
    if float(np.max(np.abs(x[:3]))) > FARTHEST:
        return PoseStreamStatus.OUTLIER
    with np.errstate(over="ignore"):
        length = float(np.sqrt(x[3:] @ x[3:]))
    if abs(length - 1.0) > NORMAL:
        return PoseStreamStatus.NOT_UNIT
    x[3:] /= length
    return x[:3], np.asarray(pin.Quaternion(x[3:]).matrix())


def angle_between(A: Matrix, B: Matrix) -> float:
    """Return the angle of the rotation from one orientation to another [rad].

    Args:
        A: (3, 3) one.
        B: (3, 3) the other.
    """
    return float(np.arccos(min(1.0, max(-1.0, 0.5 * (float(np.vdot(A, B)) - 1.0)))))


class StampClock:
    """From stamps of a sender, whose clock is not ours, to our time: the quickest sample had no delay."""

    def __init__(self) -> None:
        """Prepare; no sample has come."""
        self._stamp = self._received = -np.inf
        self._offset = np.inf
        self._other: tuple[float, float, float] | None = (
            None  # stamp and receipt of the newest of another clock, receipt of its first
        )

    def read(self, stamp: float, now: float) -> float | PoseStreamStatus:
        """Return when a sample was measured.

        Args:
            stamp: What the sender says; zero where it says nothing [s].
            now: When it came [s].

        Returns:
            The instant by our clock [s], or why there is none: ``NOT_FINITE``, ``REPEATED``, ``OVERTAKEN`` or ``STAMP_IN_PAST``.
        """
        if not np.isfinite(stamp):
            return PoseStreamStatus.NOT_FINITE
        if stamp <= 0.0:
            return now
        if stamp == self._stamp:
            return PoseStreamStatus.REPEATED
        if self._stamp - LATE < stamp < self._stamp:
            return PoseStreamStatus.OVERTAKEN
        if stamp < self._stamp and not self._is_new_clock(stamp, now):
            return PoseStreamStatus.STAMP_IN_PAST
        self._other = None
        elapsed = min(max(now - self._received, 0.0), 1.0) if np.isfinite(self._received) else 0.0
        self._offset = min(self._offset + SLOW_CLOCK * elapsed, now - stamp)
        self._stamp, self._received = stamp, now
        return stamp + self._offset

    def _is_new_clock(self, stamp: float, now: float) -> bool:
        other = self._other
        if other is None or stamp <= other[0]:
            self._other = (stamp, now, now)
            return False
        self._other = (stamp, now, other[2])
        if now - other[2] < NEW_CLOCK:
            return False
        self._offset = np.inf
        return True


class PoseGate:
    """The door of one stream of poses.

    Attributes:
        last: The newest sample that was believed, as it came.
        refused: How many samples were refused.
        swapped: Whether the newest pose was that of the other one of a pair.
    """

    def __init__(self) -> None:
        """Prepare; no sample has come."""
        self._clock = StampClock()
        self.last: Sample | None = None
        self.refused, self.swapped = 0, False
        self._before: Sample | None = (
            None  # the last one believed before a long way that was believed
        )
        self._first: Sample | None = (
            None  # the first and the newest of a run of samples that jumped but agree with each other
        )
        self._newest: Sample | None = None
        self._changed = self._swapped_since = -np.inf

    def take(
        self, stamp: float, pose: ArrayLike | pin.SE3, now: float, other: PoseGate | None = None
    ) -> PoseStreamStatus:
        """Take one sample; nothing raises.

        Args:
            stamp: What its sender says when it was measured; zero where that is not known [s].
            pose: x y z [m] and quaternion x y z w, or an SE3.
            now: When it came, by our clock, which never goes back [s].
            other: The other one of a pair that a tracker may take for this one.

        Returns:
            ``OK``; ``POSE_JUMP`` where it is believed after a jump; ``FROZEN`` where it is believed and did not change; or why it is
            refused: ``NOT_A_POSE``, ``NOT_FINITE``, ``NOT_UNIT``, ``REPEATED``, ``OVERTAKEN``, ``STAMP_IN_PAST``, ``OUTLIER``,
            ``FLIPPED``, ``SWAPPED``.
        """
        found = read_pose(pose)
        time = found if isinstance(found, PoseStreamStatus) else self._clock.read(stamp, now)
        if isinstance(found, PoseStreamStatus):
            self.refused += 1
            return found
        if isinstance(time, PoseStreamStatus):
            self.refused += 1
            return time
        verdict = self._weigh(Sample(time, *found), now, other)
        self.refused += verdict not in BELIEVED
        return verdict

    def _weigh(self, sample: Sample, now: float, other: PoseGate | None) -> PoseStreamStatus:
        last = self.last
        if last is None:
            self._changed, self.last = now, sample
            return PoseStreamStatus.POSE_JUMP
        came_back = self._before is not None and all(_fit(self._before, sample))
        if other is not None and not came_back and self._is_of(sample, other):
            return self._doubt(sample, now, other)
        self.swapped = False
        near, level = _fit(last, sample)
        if near and level:
            if not np.array_equal(sample.p, last.p) or not np.array_equal(sample.R, last.R):
                self._changed = now
            if float(np.linalg.norm(sample.p - last.p)) > AWAY:
                self._before = last
            self.last, self._first = sample, None
            return PoseStreamStatus.FROZEN if now - self._changed >= FROZEN else PoseStreamStatus.OK
        if came_back:
            return self._believe(sample, now)
        return self._settle(sample, now, flipped=near)

    def _is_of(self, sample: Sample, other: PoseGate) -> bool:
        last = self.last
        if last is None or other.last is None:
            return False
        there, here = (
            float(np.linalg.norm(sample.p - other.last.p)),
            float(np.linalg.norm(sample.p - last.p)),
        )
        return here > AWAY and there < min(SWAPPED, MUCH_NEARER * here)

    def _doubt(self, sample: Sample, now: float, other: PoseGate) -> PoseStreamStatus:
        """Refuse a sample that is where the other one is, for some time; longer where the other one is here."""
        if not self.swapped:
            self._swapped_since = now
        self.swapped = True
        if other.swapped and now - self._swapped_since < SETTLED_SWAP:
            return PoseStreamStatus.SWAPPED
        verdict = self._settle(sample, now, flipped=False)
        self.swapped = verdict is not PoseStreamStatus.POSE_JUMP
        return verdict if verdict is PoseStreamStatus.POSE_JUMP else PoseStreamStatus.SWAPPED

    def _settle(self, sample: Sample, now: float, *, flipped: bool) -> PoseStreamStatus:
        """Believe a sample that jumped where those since then agree with each other."""
        newest = self._newest
        if self._first is None or newest is None or not all(_fit(newest, sample)):
            self._first = Sample(now, sample.p, sample.R)
        self._newest = sample
        if now - self._first.time < (SETTLED_FLIP if flipped else SETTLED):
            return PoseStreamStatus.FLIPPED if flipped else PoseStreamStatus.OUTLIER
        return self._believe(sample, now)

    def _believe(self, sample: Sample, now: float) -> PoseStreamStatus:
        self._before, self.last, self._first = self.last, sample, None
        self._changed = now
        return PoseStreamStatus.POSE_JUMP


def _fit(known: Sample, sample: Sample) -> tuple[bool, bool]:
    """Return whether place and orientation of a sample can be reached from a known one in the time between them."""
    elapsed = min(max(sample.time - known.time, 0.0), LONGEST)
    way = sample.p - known.p
    near = float(way @ way) <= (FASTEST * elapsed + PLACE) ** 2
    return near, angle_between(known.R, sample.R) <= min(FASTEST_TURN * elapsed + TURN, FLIP)
