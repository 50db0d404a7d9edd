# SPDX-License-Identifier: Apache-2.0
"""Which surface touches the ground when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

import numpy as np

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.spatial.arrays import Vector

ALONE = 1.0  # s that a single sample lasts
SAME_TIME = 1e-9  # s; instants this near are one

Interval = tuple[float, float]


@dataclass(frozen=True)
class Phase:
    """A time in which the same surfaces touch.

    Attributes:
        start: When it begins [s].
        end: When it ends [s].
        surfaces: What touches; empty in flight.
    """

    start: float
    end: float
    surfaces: frozenset[str]


@dataclass(frozen=True, eq=False)
class TouchTimes:
    """For each surface the times it touches the ground.

    An interval holds its start, not its end; the last instant of the schedule belongs to the interval that reaches it.

    Attributes:
        start: First instant [s].
        end: Last instant [s].
        intervals: Surface -> intervals (start, end) [s], ascending and apart.
    """

    start: float
    end: float
    intervals: Mapping[str, tuple[Interval, ...]]

    def __post_init__(self) -> None:
        if not (np.isfinite(self.start) and np.isfinite(self.end) and self.start < self.end):
            raise ClipError(
                "schedule",
                f"received a schedule from {self.start} s to {self.end} s, expected a positive time",
            )
        checked = {
            name: tuple((float(a), float(b)) for a, b in intervals)
            for name, intervals in self.intervals.items()
        }
        for name, intervals in checked.items():
            edges = np.array(
                [self.start, *(edge for interval in intervals for edge in interval), self.end]
            )
            ascending = np.diff(edges) >= 0.0
            if not (
                np.isfinite(edges).all() and ascending.all() and all(a < b for a, b in intervals)
            ):
                raise ClipError(
                    "schedule",
                    f"intervals {intervals} do not ascend from {self.start} s to {self.end} s",
                    column=name,
                )
        object.__setattr__(self, "intervals", MappingProxyType(checked))

    def labels(self, times: Vector) -> dict[str, Labels]:
        """Return whether each surface touches, instant by instant.

        Args:
            times: (n,) instants [s].

        Returns:
            Surface -> (n,) labels.
        """
        found = {}
        same = max(
            SAME_TIME, 2.0 * float(np.spacing(max(abs(self.start), abs(self.end))))
        )  # seconds since 1970 are coarser
        for name, intervals in self.intervals.items():
            touches = np.zeros(len(times), dtype=bool)
            for start, end in intervals:
                last = end + same if end == self.end else end - same
                touches |= (times >= start - same) & (times < last)
            found[name] = touches
        return found

    def phases(self) -> tuple[Phase, ...]:
        """Return the times between changes, in order."""
        edges = {
            self.start,
            self.end,
            *(
                edge
                for intervals in self.intervals.values()
                for interval in intervals
                for edge in interval
            ),
        }
        ordered = np.array(sorted(edges))
        middles = 0.5 * (ordered[1:] + ordered[:-1])
        labels = self.labels(middles)
        found: list[Phase] = []
        for row, (start, end) in enumerate(pairwise(ordered)):
            surfaces = frozenset(name for name, touches in labels.items() if touches[row])
            if found and found[-1].surfaces == surfaces:
                start = found.pop().start
            found.append(Phase(float(start), float(end), surfaces))
        return tuple(found)


def schedule_from_labels(times: Vector, labels: Mapping[str, Labels]) -> TouchTimes:
    """Turn labels into intervals: a contact lasts from its first sample to the first one without it, that of a single sample a second.

    Args:
        times: (n,) instants [s], ascending.
        labels: Surface -> (n,) whether it touches.

    Returns:
        The schedule, whose labels at these instants are the same.
    """
    if len(times) == 1:
        times, labels = (
            times[0] + np.array([0.0, ALONE]),
            {name: np.repeat(touches, 2) for name, touches in labels.items()},
        )
    return TouchTimes(
        float(times[0]),
        float(times[-1]),
        {name: _intervals(times, touches) for name, touches in labels.items()},
    )


def runs(labels: Labels) -> list[tuple[int, int, bool]]:
    """Return the stretches of equal labels.

    Args:
        labels: (n,) labels.

    Returns:
        (first row, row after the last, label) of each, in order.
    """
    if not len(labels):
        return []
    edges = [0, *(np.flatnonzero(labels[1:] != labels[:-1]) + 1).tolist(), len(labels)]
    return [(a, b, bool(labels[a])) for a, b in pairwise(edges)]


def _intervals(times: Vector, labels: Labels) -> tuple[Interval, ...]:
    last = len(times) - 1
    found = [
        (float(times[a]), float(times[min(b, last)]))
        for a, b, touches in runs(np.asarray(labels, dtype=bool))
        if touches
    ]
    return tuple(interval for interval in found if interval[0] < interval[1])
