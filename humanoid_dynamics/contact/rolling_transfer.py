# SPDX-License-Identifier: Apache-2.0
"""Load handed from a foot to the one ahead tick by tick: the step rolls over when the rear foot presses at its toe, not at a time.

Rear foot flat and front foot on its heel, the centre of pressure of the rear foot walks to its toe.  There, and nowhere else, the rear foot
can rise onto its toe and the front foot come down flat without a step of torque [BP, eq. 28-29], and the share is that of ``switch_share``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from humanoid_dynamics.contact.transfer import feasible_shares, switch_share, transfer_share
from humanoid_dynamics.errors import ShapeError


@dataclass(frozen=True)
class RolledShare:
    """Who bears the load at one tick of a step.

    Attributes:
        share: Part of the force that the front foot bears.
        rolled: Whether the rear foot has pressed at its toe: it may rise onto it, and the front foot come down flat.
        feasible: Whether both centres of pressure lie in their feet.
    """

    share: float
    rolled: bool
    feasible: bool


class RollingTransfer:
    """The transition in two segments, with the event in place of the time between them.

    Until the event the share rises to the planned one and waits there; from then on it rises from where it is to one.  It is kept where
    both centres of pressure lie in their feet, and moves no faster than asked for.
    """

    def __init__(
        self, start: float, durations: tuple[float, float], middle: float, fastest: float = math.inf
    ) -> None:
        """Begin at touch-down.

        Args:
            start: Touch-down [s].
            durations: Planned time from touch-down to the event, and from the event to lift-off [s].
            middle: Planned share at the event, from ``switch_share`` of the planned motion.
            fastest: Most the share may change [1/s]; what does not fit the feet for that is told.

        Raises:
            ShapeError: If a duration or the rate is not positive, or the share not within 0 and 1.
        """
        if not (
            min(durations) > 0.0
            and math.isfinite(sum(durations))
            and math.isfinite(start)
            and 0.0 <= middle <= 1.0
            and fastest > 0.0
        ):
            expected = "finite times, positive durations and rate, a share within 0 and 1"
            raise ShapeError(
                "rolling transfer",
                f"start {start} s, durations {durations} s, middle {middle}, fastest {fastest} 1/s",
                expected,
            )
        self._start, self._durations, self._middle, self._fastest = (
            start,
            durations,
            middle,
            fastest,
        )
        self._clock, self._share = start, 0.0
        self._event: tuple[float, float] | None = None  # its time and share

    def tick(
        self, t: float, zmp: float, rear: tuple[float, float], front: tuple[float, float]
    ) -> RolledShare:
        """Return the share now.

        Args:
            t: Time, never before the last one [s].
            zmp: Zero-moment point of the whole robot, measured or planned [m]; the feet are not asked where it is no number.
            rear: Heel and toe of the rear foot along the way [m].
            front: Heel and toe of the front foot, ahead of the rear one [m].
        """
        wanted, feasible = self._wanted(t), True
        if math.isfinite(zmp) and self._start < t:
            if self._event is None and wanted <= (zmp - rear[1]) / (front[0] - rear[1]):
                self._event = t, switch_share(zmp, rear[1], front[0])
                wanted = self._event[1]
            edge = (front[0], front[0]) if self._event is None else front
            low, high = feasible_shares(
                zmp, rear if self._event is None else (rear[1], rear[1]), edge
            )
            feasible = low <= high
            wanted = (
                min(max(wanted, low), high) if feasible else min(max(0.5 * (low + high), 0.0), 1.0)
            )
        most = self._fastest * max(t - self._clock, 0.0) if self._fastest < math.inf else math.inf
        share = min(max(wanted, self._share - most), self._share + most)
        self._share, self._clock = share, max(t, self._clock)
        return RolledShare(share, self._event is not None, feasible and share == wanted)

    def _wanted(self, t: float) -> float:
        """Return the share that time alone asks for."""
        if self._event is None:
            return self._middle * transfer_share(
                t, self._start, self._start + self._durations[0], "quintic"
            )
        since, begun = self._event
        return begun + (1.0 - begun) * transfer_share(
            t, since, since + self._durations[1], "quintic"
        )
