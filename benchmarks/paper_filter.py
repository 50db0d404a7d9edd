# SPDX-License-Identifier: Apache-2.0
"""The filter of the paper: whole ticks in motion, compiled, in arrays, and with its least squares as printed [DF, sec. 4]."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from benchmarks import balanced_filter
from benchmarks.floors import FLOOR_DYN, build_floor_dyn
from benchmarks.interleave import Contender, Timing
from benchmarks.rows import Measurement, Race, build_warm_race, compare, compare_faster
from benchmarks.stand import SEED, Stand
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import State
from humanoid_dynamics.papers.dynamics_filter.feedback import Gains, PaperReference
from humanoid_dynamics.papers.dynamics_filter.filter import PaperFilter
from humanoid_dynamics.papers.dynamics_filter.frame import PaperFrame
from humanoid_dynamics.papers.dynamics_filter.style import PaperStyle
from humanoid_dynamics.spatial.arrays import Vector

PATH = "filter"
TICK, ARRAYS, LITERAL = (
    "PaperFilter.tick",
    "PaperFilter.tick in arrays",
    "PaperFilter.tick, pinv and projector",
)
PLAIN = "PaperFilter.tick without control point"
NOTE = (
    "a whole tick in motion: detection, control point, contact procedure, certificate, integration"
)
STATES, EVERY = 16, 10  # ticks
SWAY, PERIOD = 0.02, 0.8  # rad, s


@dataclass(frozen=True, eq=False)
class Moment:
    """Where the filter was and what it was asked.

    Attributes:
        state: Its state.
        reference: What it was asked.
    """

    state: State
    reference: PaperReference


def build_paper_filter(stand: Stand) -> Race:
    """Return ticks of the filter by several routes, and the floor.

    Args:
        stand: The robot; the filter moves it in its own way, for its soles are to stay on the ground.

    Returns:
        The race.
    """
    robot, literally = stand.robot, PaperStyle(solver="literal")
    tools = {
        TICK: PaperFilter(robot),
        PLAIN: PaperFilter(robot, style=PaperStyle(gains=Gains(share=0.0))),
        LITERAL: PaperFilter(robot, style=literally, compiled=False),
        ARRAYS: PaperFilter(robot, compiled=False),
    }
    moments = record_moments(robot)
    now = list(moments[:1])

    def use(number: int) -> None:
        stand.use(number)
        now[0] = moments[number % len(moments)]

    def contend(name: str) -> Contender:
        tool = tools[name]
        return Contender(name, lambda: tool.step(now[0].reference), _place(tool, now))

    def measure(times: Mapping[str, Timing]) -> dict[str, Measurement]:
        worst = max(
            _difference(*(_ask(tools[name], moment) for name in (TICK, LITERAL)))
            for moment in moments
        )
        both, one = times[balanced_filter.BOTH], times[balanced_filter.ONE]
        return {
            f"{PATH}.floor": compare(times[TICK], times[FLOOR_DYN], note=NOTE),
            f"{PATH}.literal": replace(
                compare_faster(times[TICK], times[LITERAL], worst), note=NOTE
            ),
            f"{PATH}.balanced": compare(both, times[FLOOR_DYN], note=balanced_filter.NOTE),
            f"{PATH}.balanced_time": Measurement(
                both.median, both.median, note=balanced_filter.NOTE
            ),
            f"{PATH}.balanced_one": Measurement(one.median, one.median, note=balanced_filter.NOTE),
        }

    contenders = [
        build_floor_dyn(stand),
        *(contend(name) for name in tools),
        *balanced_filter.build_balanced(stand),
    ]
    return build_warm_race(PATH, contenders, measure, use)


def record_moments(robot: RobotModel) -> list[Moment]:
    """Return moments of a robot that sways on its soles.

    Args:
        robot: The robot.

    Returns:
        States of the filter and its references.
    """
    tool, rng = PaperFilter(robot, compiled=False), np.random.default_rng(SEED)
    direction = np.zeros(robot.nv)
    direction[robot.actuated_v] = rng.standard_normal(len(robot.actuated_v))
    rate, moments = 2.0 * np.pi / PERIOD, []
    for row in range(STATES * EVERY):
        phase = rate * row * tool.style.dt
        q = pin.integrate(
            robot.model, robot.posture, 0.5 * SWAY * (1.0 - np.cos(phase)) * direction
        )
        v, a = (
            0.5 * SWAY * rate * np.sin(phase) * direction,
            0.5 * SWAY * rate**2 * np.cos(phase) * direction,
        )
        moment = Moment(State(tool.q, tool.v), PaperReference(q, v, a))
        tool.step(moment.reference)
        if row % EVERY == EVERY - 1:
            moments.append(moment)
    return moments


def _place(tool: PaperFilter, now: list[Moment]) -> Callable[[], None]:
    """Return what puts a filter where a tick begins; soles remember what they touched."""

    def place() -> None:
        tool.q, tool.v = now[0].state.q, now[0].state.v

    return place


def _ask(tool: PaperFilter, moment: Moment) -> PaperFrame:
    tool.reset(moment.state)
    tool.step(moment.reference)  # soles begin to touch later than they go on
    tool.q, tool.v = moment.state.q, moment.state.v
    return tool.step(moment.reference)


def _difference(one: PaperFrame, other: PaperFrame) -> float:
    """Return the largest difference, of wrenches and torques as a share of the largest."""
    return max(
        _share(one.a, other.a), _share(one.wrenches, other.wrenches), _share(one.tau, other.tau)
    )


def _share(x: Vector, y: Vector) -> float:
    return float(np.abs(x - y).max(initial=0.0)) / max(1.0, float(np.abs(y).max(initial=0.0)))
