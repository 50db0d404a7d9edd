# SPDX-License-Identifier: Apache-2.0
"""A whole clip as a stream: what is fed, what became of every sample, and how long frames took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.filtering.conditioning.sample_clock import ACCEPTED, SampleStatus
from humanoid_dynamics.filtering.fallen import FALLEN, has_fallen
from humanoid_dynamics.filtering.filter import DynamicsFilter
from humanoid_dynamics.filtering.frame import Frame
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.motion.clip import FEWEST_FRAMES, Clip, count_frames
from humanoid_dynamics.motion.resampling import align_signs, sample_configurations
from humanoid_dynamics.spatial.arrays import Vector, read_only

HOLD = 1.0  # s the reference stands still before and after a clip
HOLD_RATE = 50.0  # Hz
LONGEST_STEP = 1.0  # s; a longer one between samples is filled
SAME = 1e-9  # s
AT_REST = 0.02  # rad/s or m/s; a robot that stands on both soles and moves less stands still
NOTHING = read_only(np.zeros(0))  # in place of what is not measured
SPIKE = 100.0  # times as long as usual a frame takes where something is compiled first
FAST = 0.25  # speed of the base, of sqrt(g height); what is slower stops by itself
SEEN = 0.1  # s at the end that tell how fast it is
LAST = 0.8  # s that run out, in twice that time


@dataclass(slots=True, eq=False)
class Feed:
    """What became of a clip that was fed to a filter.

    Attributes:
        clip: The clip.
        frames: All frames.
        told: Status -> how many samples of the clip had it.
        rows: Status -> the first row that had it.
        refused: Rows that were refused.
        spent: Time each frame took, the samples before it included [s].
    """

    clip: Clip
    frames: list[Frame] = field(default_factory=list)
    told: Counter[SampleStatus] = field(default_factory=Counter)
    rows: dict[SampleStatus, int] = field(default_factory=dict)
    refused: set[int] = field(default_factory=set)
    spent: list[float] = field(default_factory=list)

    @property
    def microseconds(self) -> float:
        """Time per frame, without those in which something was compiled [us]."""
        usual = SPIKE * float(np.median(self.spent)) if self.spent else 0.0
        return (
            1e6 * float(np.mean([time for time in self.spent if time <= usual]))
            if self.spent
            else 0.0
        )

    @property
    def notices(self) -> tuple[str, ...]:
        """What became of samples that were not simply taken, in words."""
        said = []
        for status, count in self.told.items():
            if status is not SampleStatus.OK:
                what = f"{status}" if status in ACCEPTED else f"refused, {status}"
                said.append(
                    f"{count} of {len(self.clip)} samples {what}, the first in row {self.rows[status]}: {status.description}"
                )
        return tuple(said)

    def check(self) -> None:
        """Refuse a clip nothing came of that could be judged at its own rate.

        Raises:
            ClipError: Naming the row of the first sample that was refused, and why.
        """
        frames = self.frames
        if (
            len(frames) >= FEWEST_FRAMES
            and frames[-1].time - frames[0].time >= (FEWEST_FRAMES - 1) / self.clip.rate
        ):
            return
        refused = [status for status in self.told if status not in ACCEPTED]
        notices = "".join(f"; {notice}" for notice in self.clip.notices)
        if not refused:
            problem = f"the robot falls at once: {count_frames(len(frames))}, shorter than {FEWEST_FRAMES} samples of the clip"
            raise ClipError(
                self.clip.origin,
                problem + "".join(f"; {notice}" for notice in self.notices) + notices,
                row=0,
            )
        first = min(refused, key=lambda status: self.rows[status])
        counts = ", ".join(f"{self.told[status]} {status}" for status in refused)
        problem = f"{first}: {first.description}; refused of {len(self.clip)} samples: {counts}"
        raise ClipError(self.clip.origin, problem + notices, row=self.rows[first])

    def end_at_rest(self) -> None:
        """Leave out a step back to where the reference has the feet that the end of the clip cuts short: the robot stands before it."""
        end = HOLD + self.clip.duration
        for k in range(len(self.frames), 0, -1):
            frame = self.frames[k - 1]
            if frame.reference < end:
                return
            if all(frame.stands) and float(np.max(np.abs(frame.v))) < AT_REST:
                del self.frames[k:], self.spent[k:]
                return


def feed_clip(
    flow: DynamicsFilter, clip: Clip, watch: Callable[[float], None] | None = None
) -> Feed:
    """Feed a clip to a filter, standing still before and after it, until it ends or the robot falls.

    Args:
        flow: The filter, to which nothing was fed.
        clip: The clip.
        watch: Called with the share that is done.

    Returns:
        What became of it.
    """
    feed, length = Feed(clip), clip.duration + 2.0 * HOLD
    instants = clip.times - clip.times[0] + HOLD
    began = perf_counter()
    for time, q in samples_with_holds(clip):
        status = flow.update(time, q)
        row = int(np.searchsorted(instants, time - SAME))
        if row < len(clip) and abs(instants[row] - time) <= SAME:
            feed.told[status] += 1
            feed.rows.setdefault(status, row)
            if status not in ACCEPTED:
                feed.refused.add(row)
        stands = _drain(flow, feed, began)
        if not stands:
            return feed
        began = perf_counter()
        if watch is not None:
            watch(time / length)
    flow.finish()
    if _drain(flow, feed, began):
        feed.end_at_rest()
    return feed


def samples_with_holds(clip: Clip) -> Iterator[tuple[float, Vector]]:
    """Return the samples of a clip, standing still for a second before and after it; long steps are filled.

    Args:
        clip: The clip.

    Yields:
        Time from the beginning of the hold [s], and (nq,) configuration.
    """
    q = align_signs(clip.robot, clip.q)
    for k in range(round(HOLD * HOLD_RATE)):
        yield k / HOLD_RATE, q[0]
    start = float(clip.times[0]) - HOLD
    for k, time in enumerate(clip.times):
        step = float(time - clip.times[k - 1]) if k else 0.0
        if step > LONGEST_STEP:
            between = np.linspace(clip.times[k - 1], time, int(step * HOLD_RATE) + 1)[1:-1]
            for instant, row in zip(between, sample_configurations(clip, between), strict=True):
                yield float(instant) - start, row
        yield float(time) - start, q[k]
    end = HOLD + clip.duration
    for k in range(1, round(HOLD * HOLD_RATE) + 1):
        yield end + k / HOLD_RATE, q[-1]


def _keep_measured(target: Target) -> Target:
    """Return a target with only what clips are measured by: a long clip has many."""
    return Target(
        target.touches,
        target.com,
        *(NOTHING,) * 2,
        np.array(target.q[:3]),
        *(NOTHING,) * 8,
        until=NOTHING,
        load=NOTHING,
        time=target.time,
        aloft=target.aloft,
        leaps=target.leaps,
        edges=target.edges,
    )


def _drain(flow: DynamicsFilter, feed: Feed, began: float) -> bool:
    """Take all frames that are ready; return whether the robot is on its feet."""
    frames = feed.frames
    while flow.ready and (frame := flow.step()) is not None:
        if frame.rung == FALLEN and frames:
            return False
        frames.append(replace(frame, target=_keep_measured(frame.target)))
        now = perf_counter()
        feed.spent.append(now - began)
        began = now
        if has_fallen(frame.q, flow.proportions.pelvis, flow.proportions.up):
            return False
    return True


def run_out(clip: Clip, proportions: Proportions) -> Clip:
    """Let the end of a clip run out where it is in motion: samples come ever later, down to no pace at all.

    Args:
        clip: The clip.
        proportions: Measures of the robot.

    Returns:
        The clip with later last instants, and a notice of it; itself where it ends slowly, or is too short.
    """
    times = np.array(clip.times)
    first = int(np.searchsorted(times, times[-1] - SEEN, side="right")) - 1
    if clip.duration <= LAST or first < 0:
        return clip
    speed = float(np.hypot(*(clip.q[-1, :2] - clip.q[first, :2]))) / (times[-1] - times[first])
    if speed < FAST * np.sqrt(proportions.gravity * proportions.height):
        return clip
    start = times[-1] - LAST
    late = times > start
    times[late] = start + 2.0 * LAST * (
        1.0 - np.sqrt(1.0 - np.minimum((times[late] - start) / LAST, 1.0))
    )
    notice = f"ends at {speed:.2g} m/s: its last {LAST:g} s run out to a stand, in {2.0 * LAST:g} s"
    return clip.change(times=times, v=None, a=None, notices=(*clip.notices, notice))
