# SPDX-License-Identifier: Apache-2.0
"""A goal beside what was measured: one row of the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from benchmarks.goals import NOT_HERE, Goal
from benchmarks.interleave import Contender, Timing


@dataclass(frozen=True)
class Measurement:
    """What a goal is about, measured.

    Attributes:
        value: The number, in the unit of the goal.
        ours: Time of our route [us], where there is one.
        against: Time of what it is compared with [us], where there is one.
        error: Largest difference between the answers, in the unit of the answer; None where the questions differ.
        note: What a reader should know.
    """

    value: float
    ours: float | None = None
    against: float | None = None
    error: float | None = None
    note: str = ""


@dataclass(frozen=True, eq=False)
class Race:
    """Contenders that are timed together, and what their times say.

    Attributes:
        name: Path of the goals it measures.
        contenders: What is timed.
        measure: From times by contender to measurements by goal; also compares the answers.
        before_round: Puts the inputs of a round where all contenders read them.
    """

    name: str
    contenders: Sequence[Contender]
    measure: Callable[[Mapping[str, Timing]], Mapping[str, Measurement]]
    before_round: Callable[[int], object] | None = None


def build_warm_race(
    name: str,
    contenders: Sequence[Contender],
    measure: Callable[[Mapping[str, Timing]], Mapping[str, Measurement]],
    use: Callable[[int], object],
) -> Race:
    """Return a race in which every call comes after one about another motion, which does not count.

    Whose turn it was before must not matter: a large program empties the caches of whoever comes next.

    Args:
        name: Path of the goals it measures.
        contenders: What is timed.
        measure: From times by contender to measurements by goal.
        use: Puts the motion of a number where all contenders read it.

    Returns:
        The race.
    """
    now = 0

    def begin(number: int) -> None:
        nonlocal now
        now = number
        use(number)

    def warm(each: Contender) -> None:
        ready = each.before or (lambda: None)
        use(now + 1)
        ready()
        each.call()
        use(now)
        ready()

    return Race(
        name, [replace(each, before=partial(warm, each)) for each in contenders], measure, begin
    )


@dataclass(frozen=True)
class Row:
    """A goal, what was measured, and whether that is good.

    Attributes:
        goal: The goal.
        measured: What was measured, or None.
        judged: Whether the bound holds for the robot at hand.
        note: What a reader should know.
    """

    goal: Goal
    measured: Measurement | None
    judged: bool
    note: str

    @property
    def ok(self) -> bool | None:
        """Whether the answers agree and the bound is kept; None where nothing was measured or the bound is not for this robot."""
        if self.measured is None:
            return None
        error, tolerance = self.measured.error, self.goal.tolerance
        if error is not None and tolerance is not None and not error <= tolerance:
            return False
        return self.goal.is_met(self.measured.value) if self.judged else None

    def facts(self) -> dict[str, Any]:
        """Return the row as plain data, ready for JSON."""
        goal, measured = self.goal, self.measured
        return {
            "name": goal.name,
            "value": None if measured is None else measured.value,
            "goal": goal.limit,
            "unit": goal.unit,
            "ok": self.ok,
            "sense": goal.sense,
            "path": goal.path,
            "against": goal.against,
            "ours_us": None if measured is None else measured.ours,
            "against_us": None if measured is None else measured.against,
            "error": None if measured is None else measured.error,
            "tolerance": goal.tolerance,
            "note": self.note,
        }


def build_row(
    goal: Goal, measured: Measurement | None, *, judged: bool, note: str = NOT_HERE
) -> Row:
    """Return the row of a goal.

    Args:
        goal: The goal.
        measured: What was measured, or None.
        judged: Whether the robot is the one the goal was set for.
        note: Why nothing was measured.

    Returns:
        The row.
    """
    if measured is None:
        return Row(goal, None, judged, note)
    counts = judged or not goal.on_robot
    return Row(goal, measured, counts, measured.note)


def compare(
    ours: Timing, against: Timing, error: float | None = None, note: str = ""
) -> Measurement:
    """Return our time over another.

    Args:
        ours: Our route.
        against: What it is compared with.
        error: Largest difference of their answers.
        note: What a reader should know.

    Returns:
        The ratio of the medians.
    """
    return Measurement(ours.median / against.median, ours.median, against.median, error, note)


def compare_faster(ours: Timing, against: Timing, error: float | None = None) -> Measurement:
    """Return how many times faster we are than another.

    Args:
        ours: Our route.
        against: What it is compared with.
        error: Largest difference of their answers.

    Returns:
        The inverse ratio of the medians.
    """
    return Measurement(against.median / ours.median, ours.median, against.median, error)
