# SPDX-License-Identifier: Apache-2.0
"""The live side of the filter: samples as they come to targets as they are due, whatever comes or does not."""

from __future__ import annotations

import math
from collections.abc import Iterable

from humanoid_dynamics.filtering.conditioning.bridging import (
    HOLE,
    SHORT,
    STEP,
    WAY,
    GapInterpolator,
)
from humanoid_dynamics.filtering.conditioning.gate import FAR_ENOUGH
from humanoid_dynamics.filtering.conditioning.intake import HOLD_STEP, InputStage
from humanoid_dynamics.filtering.conditioning.leash import Leash
from humanoid_dynamics.filtering.conditioning.pace import RateAdapter, hurry
from humanoid_dynamics.filtering.conditioning.planner import Planner
from humanoid_dynamics.filtering.conditioning.posture_bound import PostureBound
from humanoid_dynamics.filtering.conditioning.sample_clock import ACCEPTED, SampleStatus
from humanoid_dynamics.filtering.conditioning.track import ReferenceTrack
from humanoid_dynamics.filtering.frame import FilterStatus
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.filtering.start import FirstPlace, Placer
from humanoid_dynamics.filtering.status import tell_awaited
from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector

ROWS_AT_A_TIME = 8
NEEDED = ROWS_AT_A_TIME + 3  # rows that a plan needs at least
SETTLED = 1  # rows after those that are planned that stay as they are
FEWEST = 3  # rows known with which one more can be planned
PATIENCE = (
    0.25  # share of the look-ahead that samples may be late before the reference stands still
)
SLOWEST = 0.04  # s between samples that are no pause, however short the look-ahead
PAUSE = 0.1  # s; samples that do not come for so long have paused, and are not merely slow

Landing = tuple[int, Vector, Matrix]


class TargetStream:
    """Takes samples and plans targets a few rows at a time, as far as the look-ahead is there.

    Where samples are late it looks less far ahead, and where they do not come the reference stands still until they do.

    Attributes:
        place: Where the robot stands before its first tick.
        started: Whether a target was handed out.
        ended: Whether no sample will follow.
        refused: What became of the last sample where it was left out.
        stood: For how long the reference has stood still because nothing comes [s].
        late: By how much frames are sent later than their time says, for who sends them by a clock [s]; None for who does not.
    """

    def __init__(
        self,
        robot: RobotModel,
        proportions: Proportions,
        settings: Settings,
        placer: Placer,
        *,
        keep_limits: bool,
    ) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base and two soles.
            proportions: Its measures.
            settings: Times and lengths of the conditioning.
            placer: What finds where the robot stands at first.
            keep_limits: Whether samples are moved into the limits of joints.
        """
        self._settings, self._p, self._placer = settings, proportions, placer
        ahead, spare = round(settings.lookahead * settings.rate), round(SLOWEST * settings.rate)
        self._ahead = max(
            ahead, NEEDED, FEWEST + spare
        )  # rows that are known before the next ones are planned
        self._patience = max(
            round(PATIENCE * ahead), min(self._ahead - FEWEST, spare)
        )  # rows that samples may be late
        bound = PostureBound(robot, proportions, leaps=settings.flights)
        leash = (
            None if settings.flights else Leash(robot, proportions)
        )  # in a leap both soles move alike as well
        self._intake = InputStage(robot, keep_limits=keep_limits, bound=bound, leash=leash)
        self._bridge = GapInterpolator(robot, proportions)
        self._doubts = (
            settings.lookahead >= FAR_ENOUGH
        )  # whether samples can be waited for that agree
        self._good, self._usual = (
            -math.inf,
            0.0,
        )  # when the last sample was, and the time between samples
        self._track = ReferenceTrack(robot, proportions, settings)
        self._planner = Planner(proportions, settings, self._track)
        self._pace = RateAdapter(settings, self._patience)
        self._targets: list[Target] = []
        self.place = FirstPlace(placer)
        self.started, self.ended, self.stood = False, False, 0.0
        self.refused: SampleStatus | None = None
        self.late: float | None = None

    @property
    def start(self) -> float:
        """Time of the first row [s]."""
        return self._track.start

    @property
    def pace(self) -> float:
        """How many times as fast as its stamps say the reference runs at its newest sample [-]."""
        return self._intake.sight.clock.pace

    @property
    def lag(self) -> float:
        """By how much the target that comes next is later than the newest sample, now [s]; zero before the first sample."""
        if self._intake.q is None:
            return 0.0
        return (
            self._intake.time
            - self._track.start
            - (self._planner.now - len(self._targets)) * self._settings.dt
        )

    def delay_at(self, rate: float) -> float:
        """Return by how much a target is later than the newest sample, at most, where these come evenly.

        Args:
            rate: Samples per second [Hz].
        """
        return (
            self._ahead + self._track.half - 1
        ) * self._settings.dt + self._track.samples_behind / rate

    @property
    def ready(self) -> bool:
        """Whether samples have led to a target that is not handed out yet."""
        return self.place.found and (self.planned or self._known >= self._least)

    @property
    def planned(self) -> bool:
        """Whether a target is left."""
        return bool(self._targets)

    @property
    def is_due(self) -> bool:
        """Whether rows are to be planned: none are left, and the look-ahead is there."""
        return not self.planned and self._known >= self._least

    @property
    def behind(self) -> float:
        """By how much the newest sample is later than its stamp says [s]."""
        return 0.0 if self._intake.q is None else self._intake.time - self._intake.sight.clock.stamp

    @property
    def _known(self) -> int:
        """How many rows that come next are known."""
        return self._track.end - self._planner.now

    @property
    def _least(self) -> int:
        """How many of them are enough."""
        return NEEDED if self.ended else self._ahead

    def take(self, time: float, q: Vector) -> SampleStatus:
        """Take one sample of the reference; nothing raises.

        Args:
            time: Its instant [s].
            q: (nq,) configuration.

        Returns:
            What became of it, see ``InputStage.take``.
        """
        self._intake.sight.share = (
            self._pace.share if self.late is None else hurry(self.late + self.behind)
        )
        status = self._intake.see(time, q)
        if status is None and self._doubts and self._intake.doubt():
            self.refused = SampleStatus.POSTURE_JUMP
            return self.refused
        if status is None:
            told, status = self._close_hole(), self._intake.accept()
            status = told if status is SampleStatus.OK else status
        if (
            status is SampleStatus.LEANING and self._intake.sight.leans
        ):  # it was to be seen; what is held until it comes back is no hole
            self._good = self._intake.sight.due
        if (
            status is SampleStatus.POSTURE_JUMP
            and not (self.started or self.planned)
            and self._intake.begin_at_rest()
        ):
            self._track.restart()
            self.place = FirstPlace(self._placer)
        self.refused = None if status in ACCEPTED else status
        if status in ACCEPTED and self._intake.q is not None:
            self.stood = 0.0
            self._good = self._intake.time
            self._track.add(self._intake.time, self._intake.q, self.behind)
            if status is SampleStatus.BASE_JUMP:
                self._track.break_off()
        return status

    def stand_still(self, time: float, *, missed: bool = False) -> None:
        """Let the reference stand still where it is; where no samples are missed that is as good as samples.

        Args:
            time: For how long [s].
            missed: Whether samples should have come.
        """
        if self._intake.wait(time, missed=missed) and self._intake.q is not None:
            self.stood += time
            self._good = self._good if missed else self._intake.time
            self._track.add(self._intake.time, self._intake.q, self.behind)

    def _close_hole(self) -> SampleStatus:
        """Before the first sample after a hole: take back what has stood still and is not settled, and lead to that sample instead.

        Returns:
            What became of that sample; ``OK`` where motion goes on.
        """
        intake, sight, track = self._intake, self._intake.sight, self._track
        hole, last, jumped = sight.due - self._good, self._good - STEP, sight.doubts.jumped
        least, self._usual = (
            max(HOLE[0], HOLE[1] * self._usual),
            min(sight.due - intake.time, HOLE[0]),
        )
        if not (jumped or hole >= least) or not intake.follows or intake.is_near:
            return SampleStatus.OK
        settled = track.start + (self._planner.now + SETTLED + track.half) * self._settings.dt
        told = (
            SampleStatus.BASE_JUMP
            if intake.is_elsewhere
            else SampleStatus.POSTURE_JUMP
            if jumped or hole >= SHORT
            else SampleStatus.OK
        )
        goes_on = told is SampleStatus.OK
        last = min(sight.doubts.since - STEP, sight.due - WAY) if jumped else last
        if settled > last if goes_on else sight.due - max(settled, last) < SHORT:
            return SampleStatus.OK  # it is too late
        start, (before, q), late = track.take_back(max(settled, last))
        intake.go_back(start, q)
        lasts, later = sight.due - start, sight.due - sight.clock.stamp - late
        for time, each in intake.bridge(
            self._bridge, (self._settings.dt, before) if goes_on else None
        ):
            track.add(time, each, late + later * (time - start) / lasts)
        return told

    def leave_out(self, time: float) -> None:
        """Leave out some time that is still to come by the clock of the sender.

        Args:
            time: How much [s].
        """
        self._intake.sight.clock.leave_out(time)

    def finish(self) -> None:
        """Say that no sample will follow."""
        self._track.finish()
        self.ended = True

    def seek_place(self) -> bool:
        """Look for where the robot stands before its first tick, a little at a time where more is to come; return whether it is found."""
        if not (self.place.begun or self._targets) and self._known >= NEEDED:  # as much as is known
            self.place.begin(Planner(self._p, self._settings, self._track).plan(1)[0])
        return self.place.seek(self._targets[0] if self._targets else None, at_once=self.ended)

    def plan(
        self,
        landings: Iterable[Landing],
        centre: tuple[Vector, Vector] | None,
        most: int = ROWS_AT_A_TIME,
        *,
        measured: bool = False,
    ) -> None:
        """Plan the next targets.

        Args:
            landings: Feet that have touched down since: which one, (3,) origin [m] and (3, 3) orientation of its sole.
            centre: Centre of mass [m] and its velocity [m/s] of the robot; None where it does not follow.
            most: How many targets, at most.
            measured: Whether these are measured: a robot may be pushed.
        """
        for foot, place, turn in landings:
            self._planner.landed(foot, place, turn)
        if measured and centre is not None:
            self._planner.catcher.see(centre)
        self._targets = self._planner.plan(most, centre)

    def go_without(self) -> int:
        """Make do although samples are late: with less look-ahead, and where that is used up with a reference that stands still.

        Returns:
            How many targets can be planned then.
        """
        least = max(self._ahead - self._patience, FEWEST)
        while self._known < least:
            self.stand_still(HOLD_STEP, missed=True)
        return min(ROWS_AT_A_TIME, self._known - FEWEST + 1)

    def watch_pace(self) -> None:
        """Look at a tick: how much is known beyond what is needed."""
        if not self.started or self.stood > PAUSE:
            self._pace.restart()
        else:
            self._pace.see(self._known + len(self._targets) - self._ahead)

    def next(self) -> Target | None:
        """Hand out the next target; None where none is planned, or where the robot stands is not known."""
        if not (self._targets and self.place.found):
            return None
        self.started = True
        self._intake.sight.clock.pass_by(self._settings.dt)
        return self._targets.pop(0)

    def instant_of(self, target: Target) -> float:
        """Return the instant of a target by the stamps of its sender [s].

        Args:
            target: What was handed out.
        """
        row = round(target.time / self._settings.dt)
        return self._track.start + target.time - float(self._track.behind.between(row, row + 1)[0])

    def tell_awaited(self) -> tuple[FilterStatus, str]:
        """Return status and reason where there is no target."""
        dt = self._settings.dt
        seconds = None if self._intake.q is None else (self._known * dt, self._ahead * dt)
        return tell_awaited(self.refused, seconds, planned=self.planned, ended=self.ended)

    def lie_down(self) -> None:
        """Say that the robot fell: no foot makes small steps any more."""
        self._planner.lie_down()

    def plan_anew(self) -> None:
        """Go on from the next row as if motion began there."""
        self._planner.restart()

    def wait_standing(self) -> None:
        """Make the reference stand until ``go_on``: the robot is on its way back to its feet."""
        self._intake.wait_standing()

    def go_on(self) -> None:
        """Follow samples again."""
        self._intake.go_on()
