"""The filter of the paper: its least squares as printed and structured, and a whole tick [DF, sec. 4]."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from humanoid_dynamics.benchmarks import balanced_filter
from humanoid_dynamics.benchmarks.floors import FLOOR_DYN, build_floor_dyn
from humanoid_dynamics.benchmarks.interleave import Contender, Timing
from humanoid_dynamics.benchmarks.rows import Measurement, Race, compare, compare_faster
from humanoid_dynamics.benchmarks.stand import Stand
from humanoid_dynamics.filtering.paper_feedback import PaperReference
from humanoid_dynamics.filtering.paper_filter import PaperFilter
from humanoid_dynamics.filtering.paper_frame import PaperFrame
from humanoid_dynamics.filtering.paper_solution import Balance, Solution, StructuredSolution, Units, solve_literally
from humanoid_dynamics.spatial.arrays import Vector

PATH = "filter"
TICK, OURS, LITERAL = "PaperFilter.tick", "structured", "pinv and projector"
NOTE = "a whole tick, standing: detection, control point, contact procedure, certificate"
MOMENT_ARM = 0.1  # m


def build_paper_filter(stand: Stand) -> Race:
    """Return a tick of the filter, its least squares in both forms, and the floor.

    Args:
        stand: The robot and what it is asked.

    Returns:
        The race.
    """
    robot, units = stand.robot, Units()
    tool, still = PaperFilter(robot), np.zeros(robot.nv)
    reference = PaperReference(robot.posture, still, still)
    mechanism, structured = stand.mechanism(), StructuredSolution(robot.nv, robot.actuated_v, units)
    weight = robot.mass * float(np.linalg.norm(robot.model.gravity.linear))
    arms = np.where(mechanism.constraints.scale < 1.0, MOMENT_ARM, 1.0)
    now: list[Balance] = []

    def use(number: int) -> None:
        stand.use(number)
        mechanism.update(stand.q, stand.v)
        upper = np.triu(mechanism.inertia())
        M = upper + np.triu(upper, 1).T
        now[:] = [Balance(M, np.array(mechanism.bias()), np.array(mechanism.J), np.array(mechanism.gamma), weight * arms)]

    def tick() -> PaperFrame:
        return tool.tick(reference)

    def solve() -> Solution:
        return structured.solve(now[0], stand.a)

    def solve_printed() -> Solution:
        return solve_literally(now[0], robot.actuated_v, stand.a, units)

    def measure(times: Mapping[str, Timing]) -> dict[str, Measurement]:
        worst, both, one = 0.0, times[balanced_filter.BOTH], times[balanced_filter.ONE]
        for number in range(len(stand.motions)):
            use(number)
            worst = max(worst, _difference(solve(), solve_printed()))
        return {
            f"{PATH}.floor": compare(times[TICK], times[FLOOR_DYN], note=NOTE),
            f"{PATH}.literal": compare_faster(times[OURS], times[LITERAL], worst),
            f"{PATH}.balanced": compare(both, times[FLOOR_DYN], note=balanced_filter.NOTE),
            f"{PATH}.balanced_time": Measurement(both.median, both.median, note=balanced_filter.NOTE),
            f"{PATH}.balanced_one": Measurement(one.median, one.median, note=balanced_filter.NOTE),
        }

    use(0)
    contenders = [build_floor_dyn(stand), Contender(TICK, tick), Contender(OURS, solve), Contender(LITERAL, solve_printed)]
    contenders += balanced_filter.build_balanced(stand)
    return Race(PATH, contenders, measure, use)


def _difference(one: Solution, other: Solution) -> float:
    """Return the largest difference, of forces and torques as a share of the largest."""
    return max(_share(one.a, other.a), _share(one.lam, other.lam), _share(one.tau, other.tau))


def _share(x: Vector, y: Vector) -> float:
    return float(np.abs(x - y).max(initial=0.0)) / max(1.0, float(np.abs(y).max(initial=0.0)))
