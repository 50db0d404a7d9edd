# SPDX-License-Identifier: Apache-2.0
"""The snake by Kane's equations: beside Pinocchio's tree of the same chain, longer, and in operations beside the paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pinocchio as pin

from benchmarks.interleave import Contender, Timing
from benchmarks.rows import Measurement, Race, compare
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.papers.snake import (
    PreparedSnake,
    SnakeModel,
    SnakeState,
    build_snake_urdf,
    compute_kinetic_energy,
    to_robot_state,
)
from humanoid_dynamics.papers.snake.counts import PAPER_TOTALS, measure_operations, sum_paper_steps

PATH = "snake"
SHORT, LONG = 100, 1000
COUNTED = 40  # links up to which operations are counted one by one
RNEA = f"pin.rnea, {SHORT} links"


def build_snake() -> Race:
    """Return snakes of two lengths and Pinocchio's inverse dynamics of the shorter.

    Returns:
        The race.
    """
    short, long = _Question(SHORT), _Question(LONG)
    robot = load_robot(build_snake_urdf(short.model), root="fixed")

    def measure(times: Mapping[str, Timing]) -> dict[str, Measurement]:
        error = max(short.measure_error(), short.measure_energy_error(robot))
        return {
            f"{PATH}.rnea": compare(times[short.name], times[RNEA], error),
            f"{PATH}.growth": compare(times[long.name], times[short.name]),
            f"{PATH}.compiled": Measurement(times[long.name].median, times[long.name].median),
            f"{PATH}.operations": Measurement(compare_operations()),
        }

    contenders = [
        Contender(short.name, short.build_tick()),
        Contender(long.name, long.build_tick()),
    ]
    return Race(PATH, [*contenders, Contender(RNEA, _build_rnea(robot, short))], measure)


def compare_operations() -> float:
    """Return our operations over the paper's for the number of links where that is largest [SN, tab. I].

    The paper's are the fewer of what it prints as the total of Kane's method and what its steps add up to.  Ours grow by the same number
    with every link, the paper's by ever more; so no longer chain can be worse than the longest looked at.

    Returns:
        The largest ratio for two links or more; infinite if ours did not grow evenly.
    """
    links = range(2, COUNTED + 1)
    ours = [measure_operations("linear", n).total for n in links]
    paper = [
        min(PAPER_TOTALS["kane"].at(n).total, sum_paper_steps("kane").at(n).total) for n in links
    ]
    if (
        np.diff(ours, 2).any()
        or (np.diff(paper, 2) < 0).any()
        or paper[-1] - paper[-2] <= ours[-1] - ours[-2]
    ):
        return float("inf")
    return max(mine / theirs for mine, theirs in zip(ours, paper, strict=True))


class _Question:
    """A snake of equal links in a wave, moving under torques."""

    def __init__(self, n: int) -> None:
        rng = np.random.default_rng(n)
        self.name = f"snake, {n} links"
        self.model = SnakeModel.uniform(n)
        self.theta = 0.3 * np.sin(np.arange(n))
        self.u = np.array([0.3, 0.2])
        self.torques = 0.1 * rng.standard_normal(n - 1)

    def build_tick(self) -> Callable[[], object]:
        snake, theta, u, torques = PreparedSnake(self.model), self.theta, self.u, self.torques
        return lambda: snake.tick(theta, u, torques)

    def measure_error(self) -> float:
        """Return how far the accelerations are from those of Lagrange's method, relative to the larger of 1 and the largest."""
        ours, theirs = (
            PreparedSnake(self.model, mode).tick(self.theta, self.u, self.torques).u_dot
            for mode in ("linear", "lagrange")
        )
        return float(np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max()))

    def measure_energy_error(self, robot: RobotModel) -> float:
        """Return the relative difference of the kinetic energies, which shows that both chains are the same."""
        state = SnakeState(self.theta, self.u)
        energy = compute_kinetic_energy(self.model, state)
        return abs(
            float(
                pin.computeKineticEnergy(
                    robot.model, robot.data(), *to_robot_state(self.model, state)
                )
            )
            / energy
            - 1.0
        )


def _build_rnea(robot: RobotModel, question: _Question) -> Callable[[], object]:
    q, v = to_robot_state(question.model, SnakeState(question.theta, question.u))
    a = np.random.default_rng(0).standard_normal(robot.nv)
    model, data = robot.model, robot.data()
    return lambda: pin.rnea(model, data, q, v, a)
