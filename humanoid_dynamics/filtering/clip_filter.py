# SPDX-License-Identifier: Apache-2.0
"""Whole clips through the filter: the same stream, fed to its end, and again with other settings where the robot falls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.filtering.clip_feed import HOLD, HOLD_RATE, Feed, feed_clip, run_out
from humanoid_dynamics.filtering.clip_report import ClipReport, PerturbedRun, judge_clip
from humanoid_dynamics.filtering.filter import DynamicsFilter
from humanoid_dynamics.filtering.frame import FilterStatus, Frame
from humanoid_dynamics.filtering.preservation import (
    PreservationMeasures,
    measure_preservation,
    unmeasured,
)
from humanoid_dynamics.filtering.sensitivity import perturbations
from humanoid_dynamics.filtering.settings import RANGES, Settings
from humanoid_dynamics.filtering.slope import GroundSlope
from humanoid_dynamics.filtering.ticks.tick import TickSettings
from humanoid_dynamics.model.doubt import tell_doubtful
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.motion.clip import Clip, check_duration
from humanoid_dynamics.motion.resampling import sample_configurations
from humanoid_dynamics.spatial.arrays import Matrix, Vector

GROUNDED = "on the ground"  # an attempt without the flights of the one before


@dataclass(frozen=True)
class Attempt:
    """One way to filter a clip.

    Attributes:
        name: What is different.
        stride: What is taken off the share of the way.
        lower: How much lower the pelvis is [m].
        slower: How many times longer the clip takes.
        inside: Share of one sole that the zero-moment point keeps to; as the settings say where None.
        farther: How many times farther the look-ahead reaches.
        flights: Whether short flights are made.
    """

    name: str
    stride: float = 0.0
    lower: float = 0.0
    slower: float = 1.0
    inside: float | None = None
    farther: float = 1.0
    flights: bool = True


LADDER = (
    Attempt("as it is"),
    Attempt("looking farther", farther=1.5),
    Attempt("lower", lower=0.015),
    Attempt("shorter strides", stride=0.15),
    Attempt("slower", slower=1.25),
    Attempt("slower and lower", slower=1.5, lower=0.015, inside=0.3),
    Attempt("much slower", slower=2.0, lower=0.03, stride=0.3),
)


@dataclass(frozen=True, eq=False)
class FilteredClip:
    """A clip after the filter.

    Attributes:
        clip: The consistent motion: configurations, velocities, accelerations, contacts.
        frames: All frames, with torques, wrenches and certificates; those of the hold before and after the clip too.
        report: What is true of it.
        attempt: How it was done.
        reports: Reports of all attempts by name, in order.
    """

    clip: Clip
    frames: tuple[Frame, ...]
    report: ClipReport
    attempt: Attempt
    reports: dict[str, ClipReport]


def filter_clip(  # noqa: PLR0913
    robot: RobotModel,
    clip: Clip,
    mode: str = "balanced",
    *,
    settings: Settings | None = None,
    tick: TickSettings | None = None,
    ladder: Sequence[Attempt] = LADDER,
    watch: Callable[[float], None] | None = None,
    normal: ArrayLike | None = None,
    sensitivity: bool = False,
) -> FilteredClip:
    """Filter a whole clip; where the robot falls, with the next settings of a ladder.

    Args:
        robot: The robot.
        clip: The clip.
        mode: How a tick is answered.
        settings: Times and lengths of the conditioning.
        tick: How the tick decides.
        ladder: Attempts, in order; the first whose robot stays on its feet is kept, the longest where none does.
        watch: Called with the share of the present attempt that is done.
        normal: (3,) normal of the ground, through the origin; upward where None.  Targets of frames are in axes of the ground.
        sensitivity: Whether five perturbed runs are made as well, each with the first attempt; see ``sensitivity.perturbations``.

    Returns:
        The clip after the filter.

    Raises:
        ClipError: If the clip is shorter than one tick or longer than a day, or nothing comes of it: then it names the first row that was
            refused, and why.
        ShapeError: If the normal is no direction of ground.
    """
    if normal is not None:
        slope = GroundSlope(robot, normal)
        clip_G = slope.clip_to_ground(clip)
        found = filter_clip(
            slope.robot,
            clip_G,
            mode,
            settings=settings,
            tick=tick,
            ladder=ladder,
            watch=watch,
            sensitivity=sensitivity,
        )
        frames_W = tuple(slope.frame_to_world(frame) for frame in found.frames)
        return replace(found, clip=build_clip_of(robot, frames_W, clip.origin), frames=frames_W)
    settings = settings or Settings()
    if clip.duration < settings.dt:
        raise ClipError(
            clip.origin, f"lasts {clip.duration:.4g} s, less than one tick of {settings.dt:.4g} s"
        )
    check_duration(clip)
    ladder = ladder or LADDER[:1]
    found = _climb(robot, clip, mode, (settings, tick, ladder), watch)
    if not sensitivity:
        return found
    how = (settings, tick, ladder[0])
    runs = tuple(
        PerturbedRun(name, _run_perturbed(other, moved, mode, how))
        for name, moved, other in perturbations(clip, robot)
    )
    return replace(found, report=replace(found.report, perturbed=runs))


def _run_perturbed(
    robot: RobotModel, clip: Clip, mode: str, how: tuple[Settings, TickSettings | None, Attempt]
) -> tuple[str, ...]:
    """Return what is outside its bound where a perturbed clip is filtered."""
    try:
        return _attempt(robot, clip, mode, how, None)[1].broken
    except ClipError:
        return ("refused",)


def build_clip_of(robot: RobotModel, frames: Sequence[Frame], origin: str) -> Clip:
    """Return frames as a clip.

    Args:
        robot: The robot.
        frames: The frames.
        origin: What it is called.

    Returns:
        The clip, with contacts of the soles.
    """
    times = np.array([frame.time for frame in frames])
    contacts = {
        sole.name: np.array([frame.stands[foot] for frame in frames])
        for foot, sole in enumerate(find_soles(robot))
    }
    q = np.array([frame.q for frame in frames])
    return Clip(
        robot,
        times,
        q,
        np.array([f.v for f in frames]),
        np.array([f.vdot for f in frames]),
        contacts,
        f"{origin}, filtered",
    )


def _climb(
    robot: RobotModel,
    clip: Clip,
    mode: str,
    how: tuple[Settings, TickSettings | None, Sequence[Attempt]],
    watch: Callable[[float], None] | None,
) -> FilteredClip:
    """Make one attempt after the other, until the robot stays on its feet."""
    settings, tick, ladder = how
    reports: dict[str, ClipReport] = {}
    best: tuple[Attempt, list[Frame]] | None = None
    problem: ClipError | None = None
    attempts, tried = list(ladder), 0
    while attempts:
        attempt = attempts.pop(0)
        try:
            frames, report = _attempt(robot, clip, mode, (settings, tick, attempt), watch)
        except ClipError as nothing:
            problem, tried = problem or nothing, tried + 1
            continue
        reports[attempt.name] = report = replace(report, first_attempt=not tried)
        tried += 1
        good = report.fell is None and not (
            report.flown and report.all_limits is not None and report.all_limits < 1.0
        )
        if best is None or good or len(frames) / attempt.slower > len(best[1]) / best[0].slower:
            best = (attempt, frames)
        if good:
            break
        if report.flown:
            attempts.insert(0, replace(attempt, name=f"{attempt.name}, {GROUNDED}", flights=False))
    if best is None:
        raise problem or ClipError(clip.origin, "no attempt produced a motion")
    kept, frames = best
    return FilteredClip(
        build_clip_of(robot, frames, clip.origin), tuple(frames), reports[kept.name], kept, reports
    )


def _attempt(
    robot: RobotModel,
    clip: Clip,
    mode: str,
    how: tuple[Settings, TickSettings | None, Attempt],
    watch: Callable[[float], None] | None,
) -> tuple[list[Frame], ClipReport]:
    settings, tick, attempt = how
    original = clip
    settings = _changed(settings, attempt)
    longest = max(attempt.slower * float(np.max(np.diff(clip.times))), 1.0 / HOLD_RATE)
    flow = DynamicsFilter(robot, mode, settings=settings, tick=tick)
    clip = clip if settings.toe_roll else run_out(clip, flow.proportions)
    times = clip.times[0] + attempt.slower * (clip.times - clip.times[0])
    paced = clip if attempt.slower == 1.0 else clip.change(times=times, v=None, a=None)
    feed = feed_clip(flow, paced, watch)
    feed.check()
    notices = (*clip.notices, *feed.notices, *tell_doubtful(flow.doubtful))
    report = judge_clip(
        robot,
        flow.proportions,
        feed.frames,
        _wanted(paced, feed.frames),
        microseconds=feed.microseconds,
        notices=notices,
        lost=flow.status is FilterStatus.FALLEN,
        measures=_measure(original, paced, feed),
    )
    report = replace(report, delay=flow.delay_at(1.0 / longest))
    return feed.frames, report.without_limits() if flow.doubtful else report


def reference_instants(clip: Clip, frames: Sequence[Frame]) -> Vector:
    """Return the instant of a clip that each of its frames belongs to, (n,) [s]; a hold precedes the clip."""
    return np.array([frame.reference for frame in frames]) - HOLD + float(clip.times[0])


def _measure(original: Clip, paced: Clip, feed: Feed) -> PreservationMeasures:
    """Measure what is kept of a clip whose rows came at other instants; NaN where a clip has too little to be measured."""
    stamps = reference_instants(paced, feed.frames)
    early, late = (
        np.minimum(stamps - paced.times[0], 0.0),
        np.maximum(stamps - paced.times[-1], 0.0),
    )
    taken = np.array([row not in feed.refused for row in range(len(original))])
    try:
        filtered = build_clip_of(original.robot, feed.frames, original.origin)
        return measure_preservation(
            original,
            filtered,
            np.interp(stamps, paced.times, original.times) + early + late,
            taken=taken,
        )
    except ClipError:
        return unmeasured()


def _wanted(clip: Clip, frames: Sequence[Frame]) -> Matrix:
    return sample_configurations(clip, reference_instants(clip, frames))


def _changed(settings: Settings, attempt: Attempt) -> Settings:
    inside = settings.inside_one if attempt.inside is None else attempt.inside
    stride = min(attempt.stride + settings.shorter, RANGES["shorter"][1])
    lower = min(settings.extra_lower + attempt.lower, RANGES["extra_lower"][1])
    ahead = min(settings.lookahead * attempt.farther, RANGES["lookahead"][1])
    return replace(
        settings,
        shorter=stride,
        extra_lower=lower,
        inside_one=inside,
        lookahead=ahead,
        flights=attempt.flights,
    )
