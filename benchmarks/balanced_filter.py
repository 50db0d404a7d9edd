# SPDX-License-Identifier: Apache-2.0
"""The balanced tick of the filter, with all limits: standing on two soles, and on one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from benchmarks.floors import FLOOR_DYN, build_floor_dyn
from benchmarks.interleave import Contender, Timing
from benchmarks.rows import Measurement, Race, build_warm_race, compare
from benchmarks.stand import Stand
from humanoid_dynamics.filtering.ticks.target import stand_still
from humanoid_dynamics.filtering.ticks.tick import BalancedTick
from humanoid_dynamics.resolution import CenterOfMassTask, FrameTask, PostureTask, WholeBody

PATH = "filter"
BOTH, ONE = "BalancedTick.step, two soles", "BalancedTick.step, one sole"
NOTE = "friction, pressure, torques, ranges and speeds of joints; the certificate is not in it"
TASKS = "WholeBody.solve: centre of mass, hand, posture"
TASKS_NOTE = "all limits, certificate included"
PERIOD = 0.005  # s


def build_balanced_filter(stand: Stand) -> Race:
    """Return the tick on two soles and on one, and the floor.

    Args:
        stand: The robot and where it is; it is asked to go back to its posture.
    """

    def measure(times: Mapping[str, Timing]) -> dict[str, Measurement]:
        both, one, tasks = times[BOTH], times[ONE], times[TASKS]
        return {
            f"{PATH}.balanced": compare(both, times[FLOOR_DYN], note=NOTE),
            f"{PATH}.balanced_time": Measurement(both.median, both.median, note=NOTE),
            f"{PATH}.balanced_one": Measurement(one.median, one.median, note=NOTE),
            f"{PATH}.tasks": compare(tasks, times[FLOOR_DYN], note=TASKS_NOTE),
        }

    contenders = [
        build_floor_dyn(stand),
        _build(stand, BOTH, (True, True)),
        _build(stand, ONE, (True, False)),
        _build_tasks(stand),
    ]
    return build_warm_race(PATH, contenders, measure, stand.use)


def _build_tasks(stand: Stand) -> Contender:
    tasks = [CenterOfMassTask(weight=100.0), PostureTask(weight=0.1)]
    hand = FrameTask(stand.robot.joints[-1].child, weight=10.0, rows=(0, 1, 2))
    control = WholeBody(stand.robot, [*tasks, hand])
    return Contender(TASKS, lambda: control.solve(stand.q, stand.v))


def _build(stand: Stand, name: str, touches: tuple[bool, bool]) -> Contender:
    robot, tick = stand.robot, BalancedTick(stand.robot)
    q, v, zero = stand.q, stand.v, np.zeros(robot.nv)
    terms = tick.terms
    terms.update(robot.posture, zero)
    wish = stand_still(
        np.array(robot.posture), robot.nv, terms.com.copy(), terms.place.copy(), terms.turn.copy()
    )
    wish = replace(wish, touches=touches)

    def step() -> int:
        wish.touches = touches
        return tick.step(wish, q, v, PERIOD).rung

    return Contender(name, step)
