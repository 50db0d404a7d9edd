# SPDX-License-Identifier: Apache-2.0
"""The tick of the paper behind the same conditioning: local, without look-ahead at forces, the control the balanced one is measured by."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.filtering.ticks.step import TickAnswer
from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.filtering.ticks.terms import BASE
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.papers.dynamics_filter.filter import PaperFilter, PaperReference
from humanoid_dynamics.papers.dynamics_filter.style import PaperStyle
from humanoid_dynamics.spatial.arrays import Matrix, Vector


class LiteralTick:
    """Feedback, the nearest motion that the equation of motion allows, contacts as they are found [DF, sec. 4]."""

    def __init__(self, robot: RobotModel, *, unilateral: bool = True) -> None:
        """Prepare.

        Args:
            robot: The robot.
            unilateral: Whether contact forces are looked at.
        """
        self._robot, self._unilateral = robot, unilateral
        self._names = [sole.name for sole in find_soles(robot)]
        self._driven = robot.actuated_v - BASE
        self._paper: PaperFilter | None = None

    def restart(self) -> None:
        """Forget what was."""
        self._paper = None

    def landings(self) -> list[tuple[int, Vector, Matrix]]:
        """Return none: soles stand where they find ground, and the conditioning is not told."""
        return []

    def prepare(self, q: Vector, v: Vector) -> None:
        """Nothing can be known before the target is."""

    def step(
        self, target: Target, q: Vector, v: Vector, dt: float, *, measured: bool = False
    ) -> TickAnswer:
        """Answer one tick; nothing raises.

        Args:
            target: What is wanted; its configuration counts.
            q: (nq,) configuration.
            v: (nv,) velocity.
            dt: Time until the next tick [s].
            measured: Whether the state comes from a robot; all the same here.

        Returns:
            The answer; its velocity is that after collisions.
        """
        del measured
        if self._paper is None:
            style = PaperStyle(dt=dt, unilateral=self._unilateral)
            self._paper = PaperFilter(self._robot, style=style, surfaces=self._names)
        paper = self._paper
        paper.q, paper.v = np.array(q), np.array(v)
        frame = paper.step(PaperReference(target.q, target.v, target.a))
        tau = np.zeros(self._robot.nv - BASE)
        tau[self._driven] = frame.tau
        stands = (bool(len(frame.held[0])), bool(len(frame.held[1])))
        return TickAnswer(
            np.array(frame.a), tau, np.array(frame.wrenches), stands, 0, np.array(frame.v)
        )
