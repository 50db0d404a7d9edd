# SPDX-License-Identifier: Apache-2.0
"""From the stamps of a sender to a time that goes on, whatever its clock does."""

from __future__ import annotations

import math

import numpy as np

from humanoid_dynamics.status import StatusEnum

AHEAD = 1.5  # s; a stamp that is farther beyond the newest is not believed
LARGEST = (1e4, 30.0)  # m and rad; no base, and no joint, is beyond
FARTHEST = 1e10  # s; no clock has run for so long
SETTLED = 0.15  # s; stamps that run on elsewhere for so long are those of another clock
FEWEST = 3  # samples; likewise
STEP = (0.002, 0.1)  # s; how much time passes where a clock changes, at least and at most
SOON = 0.2  # 1/s; how fast the share of time that is left out changes
OLD = 1.0  # s; what piled up while nothing came, and is older, is left out
RUSH = 0.05  # s; samples that are ahead of twice the pace of time by so much come in a heap


class SampleStatus(StatusEnum):
    """What the filter does with a sample of its reference."""

    OK = "OK", "the sample is followed"
    CLOCK_RESYNC = (
        "CLOCK_RESYNC",
        "stamps continue on another clock; time continues from where it was",
    )
    BASE_JUMP = "BASE_JUMP", "the reference jumped to another position or heading"
    POSTURE_JUMP = (
        "POSTURE_JUMP",
        "the posture jumped, was frozen or is all noise; it is held, then the filter returns to the reference",
    )
    CLAMPED_POSTURE = (
        "CLAMPED_POSTURE",
        "the reference leans or sinks farther or faster than a robot can, or its weight is far from its feet; it is held back",
    )
    SLIDE_LIMITED = (
        "SLIDE_LIMITED",
        "both soles of the reference slide or turn faster than small steps can follow; its position and heading come later",
    )
    VELOCITY_LIMITED = "VELOCITY_LIMITED", "the reference is faster than the robot"
    RECOVERING = (
        "RECOVERING",
        "the robot has fallen while the reference moves on; the reference is held standing until the robot is back on its feet",
    )
    NOISY = "NOISY", "the reference oscillates from sample to sample; noise is filtered out"
    WRONG_SHAPE = "WRONG_SHAPE", "not as many numbers as the robot has coordinates"
    NOT_FINITE = "NOT_FINITE", "a number, or the time, is not finite"
    OUT_OF_RANGE = (
        "OUT_OF_RANGE",
        f"a joint is more than {LARGEST[1]:g} rad, or the base more than {LARGEST[0]:g} m, from zero: no radians or metres",
    )
    NOT_UNIT = "NOT_UNIT", "a quaternion is not of unit length"
    STAMP_IN_PAST = "STAMP_IN_PAST", "the stamp is not later than the one before"
    STAMP_IN_FUTURE = (
        "STAMP_IN_FUTURE",
        f"the stamp is more than {AHEAD:g} s later than the one before",
    )
    LEANING = (
        "LEANING",
        "the base leans by more than 75 deg, or its quaternion is not in the order x y z w",
    )


ACCEPTED = frozenset(
    {
        SampleStatus.OK,
        SampleStatus.CLOCK_RESYNC,
        SampleStatus.BASE_JUMP,
        SampleStatus.POSTURE_JUMP,
        SampleStatus.CLAMPED_POSTURE,
        SampleStatus.SLIDE_LIMITED,
        SampleStatus.VELOCITY_LIMITED,
        SampleStatus.NOISY,
        SampleStatus.RECOVERING,
    }
)  # statuses of samples that are followed; all others are rejected


class SampleClock:
    """Reads stamps: those in order are taken, single ones that are elsewhere are refused, a run of these is another clock.

    Time goes on from where it was when the clock changes, and does not wait for what was missed.

    Attributes:
        newest: The newest time that was read [s].
        stamp: The stamp it was read from [s].
        changed: Whether the last stamp that was read belongs to another clock than the one before.
        share: What share of the time between samples is left out now, negative where it lasts longer.
    """

    def __init__(self) -> None:
        """Prepare; no sample has come."""
        self.newest, self.changed, self.share = -np.inf, False, 0.0
        self.stamp, self._offset, self._step = 0.0, 0.0, STEP[0]
        self._first = self._last = np.nan  # of the run of stamps that are elsewhere
        self._count = 0
        self._missed, self._passed, self._rush = 0.0, 0.0, 0.0

    @property
    def pace(self) -> float:
        """How many times as fast as stamps say time runs now [-]."""
        return 1.0 / (1.0 - self.share)

    def read(self, stamp: float, share: float = 0.0) -> float | SampleStatus:
        """Return the time of a sample.

        Args:
            stamp: What its sender says [s].
            share: What share of the time between samples is to be left out; it is come to bit by bit.

        Returns:
            The time, later than all before [s]; or ``STAMP_IN_PAST`` or ``STAMP_IN_FUTURE``.
        """
        self.changed = False
        if abs(stamp) > FARTHEST:
            return SampleStatus.STAMP_IN_FUTURE
        time = stamp + self._offset
        begun = math.isfinite(self.newest)
        if begun and not 0.0 < time - self.newest <= AHEAD:
            if self._comes_in_a_heap(stamp, self.newest - time):
                return SampleStatus.STAMP_IN_PAST
            if not self._is_other(stamp):
                return (
                    SampleStatus.STAMP_IN_PAST
                    if time <= self.newest
                    else SampleStatus.STAMP_IN_FUTURE
                )
            time = self.newest + self._step + (stamp - self._first)
            self._offset, self.changed = time - stamp, True
        elif begun:
            self._step = min(max(time - self.newest, STEP[0]), STEP[1])
            time = self._hurry(time, share)
        self.newest, self.stamp = time, stamp
        self._count, self._missed, self._passed, self._rush = 0, 0.0, 0.0, 0.0
        return time

    def wait_until(self, time: float, *, missed: bool = False) -> float:
        """Let time go on without a sample; return it.

        Args:
            time: Until when [s].
            missed: Whether samples should have come.
        """
        self._missed += max(time - self.newest, 0.0) if missed else 0.0
        self.newest = max(self.newest, time)
        self.changed = False
        return time

    def pass_by(self, time: float) -> None:
        """Say that time passes by our own clock.

        Args:
            time: How much [s].
        """
        self._passed += time

    def leave_out(self, time: float) -> None:
        """Leave out some time that is still to come by the clock of the sender.

        Args:
            time: How much [s].
        """
        self._offset -= time

    def skip(self, time: float) -> None:
        """Leave out some time.

        Args:
            time: How much [s].
        """
        self._offset -= time
        self.newest -= time
        self.changed = True

    def _hurry(self, time: float, share: float) -> float:
        """Leave out a share of the time since the last sample; return what is left."""
        most = SOON * self._step
        self.share += min(max(share - self.share, -most), most)
        left_out = self.share * (time - self.newest)
        self._offset -= left_out
        return time - left_out

    def _comes_in_a_heap(self, stamp: float, age: float) -> bool:
        """Whether a stamp is one of many that come at once, of a time in which nothing came, and long ago."""
        if not OLD < age <= self._missed:
            return False
        step = stamp - self._last if self._count else 0.0
        self._rush, self._passed = max(self._rush + step - 2.0 * self._passed, 0.0), 0.0
        if self._rush <= RUSH:
            return False
        self._last, self._count = stamp, 1
        self._first = stamp
        return True

    def _is_other(self, stamp: float) -> bool:
        """Whether stamps have run on elsewhere for long enough."""
        if self._count == 0 or not 0.0 < stamp - self._last <= AHEAD:
            self._first, self._count = stamp, 0
        self._last, self._count = stamp, self._count + 1
        return self._count >= FEWEST and stamp - self._first >= SETTLED
