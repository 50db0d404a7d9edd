# SPDX-License-Identifier: Apache-2.0
"""The filter as it is used: a walk sample by sample through conditioning and ticks, and two hands that are led."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter_ns

import numpy as np

from benchmarks.interleave import MICROSECOND, Contender, Timing
from benchmarks.rows import Measurement, Race
from benchmarks.stand import Stand
from humanoid_dynamics.filtering.clip_feed import samples_with_holds
from humanoid_dynamics.filtering.filter import DynamicsFilter
from humanoid_dynamics.filtering.poses.teleoperation import Teleoperation
from humanoid_dynamics.filtering.target_stream import ROWS_AT_A_TIME
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.gait import plan_walk
from humanoid_dynamics.motion.walking.footsteps import WalkStyle
from humanoid_dynamics.spatial.arrays import Vector

PATH = "filter_stream"
LED = "Teleoperation.tick, two hands"
HANDS = ("left_hand", "right_hand")
LOOKS = 5
STEPS, SAMPLES = 2, 50.0  # of the walk, Hz
RATE, CIRCLE, PERIOD = 500.0, 0.05, 1.5  # Hz, m, s; of the hands


@dataclass(frozen=True, eq=False)
class StreamTimes:
    """How long the parts of a stream took, each by the fastest of its looks.

    Attributes:
        ticks: (n,) ticks [us].
        pushes: (k,) samples that were taken in, with the plans they made possible [us].
        begun: How many of them there are up to the first plan.
        period: Time between two frames [us].
    """

    ticks: Vector
    pushes: Vector
    begun: int
    period: float

    @property
    def conditioning(self) -> float:
        """Time of samples for each frame, from the first plan on, at which the robot is placed on its feet [us]."""
        return float(self.pushes[self.begun :].sum()) / (len(self.ticks) - ROWS_AT_A_TIME)

    @property
    def worst(self) -> float:
        """The slowest tick but the first, for which a robot does not wait yet [us]."""
        return float(self.ticks[1:].max())

    @property
    def pace(self) -> float:
        """How many times faster than the motion the filter is."""
        return self.period / (float(self.ticks.mean()) + self.conditioning)


def build_filter_stream(stand: Stand) -> Race:
    """Return led hands, and what times the walk.

    Args:
        stand: The robot.
    """

    def measure(times: Mapping[str, Timing]) -> dict[str, Measurement]:
        found, led = time_stream(stand.robot), times[LED].median
        median = float(np.median(found.ticks))
        note = f"{len(found.ticks)} frames of a walk, certificates and all; each part by the fastest of {LOOKS} looks"
        return {
            f"{PATH}.worst": Measurement(found.worst / median, found.worst, median, note=note),
            f"{PATH}.conditioning": Measurement(
                found.conditioning, found.conditioning, note="samples and plans, for each frame"
            ),
            f"{PATH}.pace": Measurement(
                found.pace, note="one core, conditioning, ticks and certificates"
            ),
            f"{PATH}.teleoperation": Measurement(
                led,
                led,
                note="hands go round at 500 Hz; balance, all limits, clearance, certificate",
            ),
        }

    return Race(PATH, [_lead_hands(stand.robot)], measure)


def time_stream(robot: RobotModel) -> StreamTimes:
    """Time a walk through the filter.

    Args:
        robot: The robot.
    """
    samples = list(samples_with_holds(plan_walk(robot, WalkStyle(steps=STEPS, rate=SAMPLES)).clip))
    flow = DynamicsFilter(robot)
    looks = [_look(flow, samples) for _ in range(LOOKS)]
    ticks, pushes = (
        np.min(parts, axis=0)
        for parts in ([look[0] for look in looks], [look[1] for look in looks])
    )
    return StreamTimes(ticks, pushes, looks[0][2], flow.settings.dt * 1e6)


def _look(flow: DynamicsFilter, samples: list[tuple[float, Vector]]) -> tuple[Vector, Vector, int]:
    """Return times of ticks and of samples, and how many samples there are up to the first plan [us]."""
    ticks, pushes, begun = [], [], 0
    flow.restart()
    for time, q in samples:
        start = perf_counter_ns()
        flow.update(time, q)
        pushes.append((perf_counter_ns() - start) / MICROSECOND)
        begun = begun or (len(pushes) if flow.ready else 0)
        while flow.ready:
            start = perf_counter_ns()
            flow.step()
            ticks.append((perf_counter_ns() - start) / MICROSECOND)
    return np.array(ticks), np.array(pushes), begun


def _lead_hands(robot: RobotModel) -> Contender:
    """Return a tick with two hands that go round in circles."""
    tool, now = Teleoperation(robot, HANDS, rate=RATE), [0.0]
    start = [tool.pose(name) for name in HANDS]

    def move() -> None:
        now[0] += tool.dt
        phase = 2.0 * np.pi * now[0] / PERIOD
        for name, pose in zip(HANDS, start, strict=True):
            goal = pose.copy()
            goal.translation = pose.translation + CIRCLE * np.array(
                [1.0 - np.cos(phase), 0.0, np.sin(phase)]
            )
            tool.update(name, now[0], goal, now[0])

    return Contender(LED, lambda: tool.step(now[0]), move)
