# SPDX-License-Identifier: Apache-2.0
"""The programs of a tick: one for every set of soles that may stand, on the first rung and below it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from humanoid_dynamics.contact.cone import build_wrench_cone
from humanoid_dynamics.filtering.proportions import inner_rectangle
from humanoid_dynamics.filtering.sole_edges import find_edges
from humanoid_dynamics.filtering.ticks.edge_kernels import ABOUT
from humanoid_dynamics.filtering.ticks.edges import EdgeSeat, build_edge_cone
from humanoid_dynamics.filtering.ticks.joint_room import JointRoom
from humanoid_dynamics.filtering.ticks.program import Choice, ExtraRows, ReducedProgram, Weights
from humanoid_dynamics.filtering.ticks.sliding import Sliding
from humanoid_dynamics.filtering.ticks.soft_program import SoftProgram
from humanoid_dynamics.filtering.ticks.terms import BASE, BodyTerms
from humanoid_dynamics.filtering.ticks.wishes import Gains, Wishes
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.spatial.arrays import Matrix, Vector

EFFORT_KEPT = 1.0 - 1e-6  # share of the torque limits that the programs use
BOTH = (0, 1)
FLAT: tuple[tuple[int, ...], ...] = ((), (0,), (1,), BOTH)  # soles that stand
ROLLING: tuple[tuple[int, ...], ...] = (
    (2,),
    (3,),
    (0, 3),
    (1, 2),
    (2, 3),
)  # one on an edge by its number and two, after a flat one

Feet = tuple[int, ...]
Cones = tuple[Matrix, Matrix]
Seen = tuple[BodyTerms, Wishes, JointRoom]


class Programs:
    """All programs of one robot.

    Attributes:
        soft: Standing soles -> the program in which these may give way.
        softest: Standing soles -> the same, where joints may leave their room as well.
    """

    def __init__(
        self,
        limits: tuple[Cones, Vector],
        weighed: tuple[Weights, float],
        sliding: Sliding,
        extra: ExtraRows | None,
    ) -> None:
        """Make those for soles that stand flat.

        Args:
            limits: Rows of what each sole can carry, and (na,) largest torques.
            weighed: What deviations cost, and the weight of the robot [N].
            sliding: How fast soles slide.
            extra: Further rows of the first rung.
        """
        self._limits, self._weighed, self._sliding = limits, weighed, sliding
        firm = replace(weighed[0], height=weighed[0].com)
        self._firsts = {feet: ReducedProgram(feet, *limits, *weighed, extra=extra) for feet in FLAT}
        self._leaping = ReducedProgram(BOTH, *limits, firm, weighed[1], extra=extra)
        self._feet: Feet = ()  # soles of the last one
        self.soft = {feet: SoftProgram(feet, *limits, *weighed, sliding=sliding) for feet in FLAT}
        self.softest = {
            feet: SoftProgram(feet, *limits, *weighed, sliding=sliding, keep_room=False)
            for feet in FLAT
        }

    def add_edges(
        self, robot: RobotModel, inside: float, gains: Gains, *, unilateral: bool
    ) -> EdgeSeat:
        """Make those for soles on edges.

        Args:
            robot: The robot.
            inside: How far inside the soles the pressure stays [m].
            gains: How deviations are corrected.
            unilateral: Whether contacts are limited.

        Returns:
            What turns the terms of soles into those of edges.
        """
        surfaces, (cones, effort), weighed = find_soles(robot), self._limits, self._weighed
        soles = (
            find_edges(np.array(surfaces[0].vertices), inside),
            find_edges(np.array(surfaces[1].vertices), inside),
        )
        seat = EdgeSeat(soles, gains, robot.nv)
        for stance in ROLLING:
            feet, turning = (
                tuple(sole % 2 for sole in stance),
                tuple(sole % 2 for sole in stance if sole > 1),
            )
            carried = list(cones)
            for k, foot in enumerate(feet):
                if foot in turning and unilateral:
                    carried[foot] = build_edge_cone(
                        surfaces[foot], min(soles[foot].halves), closed=k == 0
                    )
            limits = (carried[0], carried[1]), effort
            two = len(feet) > 1
            self._firsts[stance] = ReducedProgram(
                feet,
                *limits,
                *weighed,
                extra=seat.turn if two else None,
                free=ABOUT if two else -1,
            )
            self.soft[stance] = SoftProgram(
                feet, *limits, *weighed, sliding=self._sliding, turning=turning
            )
            self.softest[stance] = SoftProgram(
                feet, *limits, *weighed, sliding=self._sliding, keep_room=False, turning=turning
            )
        return seat

    def solve_first(self, feet: Feet, seen: Seen, *, leaps: bool = False) -> Choice:
        """Solve the program of the first rung; when soles change it begins as it did the last time they changed so.

        Args:
            feet: Soles that stand.
            seen: The robot in its state, what is wished for, and bounds on joints.
            leaps: Whether the robot is on the way into a flight, or out of it.

        Returns:
            The choice; not to be used unless its status is ``OPTIMAL``.
        """
        if leaps and feet == BOTH:
            return self._leaping.solve(*seen)
        program, before = self._firsts[feet], self._feet
        if feet != before and feet:
            self._feet = feet
            program.begin(before)
        return program.solve(*seen)

    def rehearse(self, seen: Seen, first_load: float) -> None:
        """Compile, or load what is compiled; begin as each change of soles does.

        Args:
            seen: The robot in its state, what is wished for, and bounds on joints.
            first_load: What a sole bears that has just come down [N].
        """
        for feet in ((0,), BOTH, (1,), BOTH):
            seen[1].load[:] = [np.inf if foot in self._feet else first_load for foot in BOTH]
            self.solve_first(feet, seen)
        self._feet = ()


def read_efforts(robot: RobotModel) -> Vector:
    """Return the largest torques of all coordinates but those of the base, (na,); what turns a follower is its leader, not its own motor.

    Args:
        robot: The robot.
    """
    effort = np.array(robot.limits.effort[BASE:])
    for mimic in robot.mimics:
        effort[robot.joint(mimic.joint).v.start - BASE] = np.inf
    return EFFORT_KEPT * effort


def build_cones(robot: RobotModel, inside: float) -> Cones:
    """Return what the largest rectangles inside the soles can carry, as rows.

    Args:
        robot: The robot.
        inside: How far inside the soles they stay [m].
    """
    inner = [
        build_wrench_cone(replace(sole, vertices=corners))
        for sole, corners in zip(find_soles(robot), find_rectangles(robot, inside), strict=True)
    ]
    rows = [np.asarray(cone.A @ cone.basis.T) for cone in inner]
    return rows[0], rows[1]


def find_rectangles(robot: RobotModel, inside: float) -> tuple[Matrix, Matrix]:
    """Return the corners of the largest rectangles inside the soles, (4, 3) each [m].

    Args:
        robot: The robot.
        inside: How far inside the soles they stay [m].
    """
    left, right = (inner_rectangle(np.array(sole.vertices), inside) for sole in find_soles(robot))
    return left, right
