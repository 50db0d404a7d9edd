# SPDX-License-Identifier: Apache-2.0
"""The ladder of a tick: what gives way, and in which order, where not all limits can be kept."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum, auto
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.contact.cone import build_wrench_cone
from humanoid_dynamics.filtering.proportions import inner_rectangle
from humanoid_dynamics.filtering.sole_edges import find_edges
from humanoid_dynamics.filtering.ticks.edges import ABOUT, EdgeSeat, build_edge_cone
from humanoid_dynamics.filtering.ticks.joint_room import BRAKING, EMERGENCY, JointAccelerationBounds
from humanoid_dynamics.filtering.ticks.program import (
    WRENCH,
    ExtraRows,
    QpAnswer,
    ReducedQp,
    Weights,
)
from humanoid_dynamics.filtering.ticks.sliding import Sliding
from humanoid_dynamics.filtering.ticks.soft_program import RelaxedQp
from humanoid_dynamics.filtering.ticks.step import RUNGS
from humanoid_dynamics.filtering.ticks.terms import BASE, DynamicsTerms
from humanoid_dynamics.filtering.ticks.wishes import TaskGains, TaskReferences
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.solvers.qp import QpStatus
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
Seen = tuple[DynamicsTerms, TaskReferences, JointAccelerationBounds]


class QpCache:
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
        self._firsts = {feet: ReducedQp(feet, *limits, *weighed, extra=extra) for feet in FLAT}
        self._leaping = ReducedQp(BOTH, *limits, firm, weighed[1], extra=extra)
        self._feet: Feet = ()  # soles of the last one
        self.soft = {feet: RelaxedQp(feet, *limits, *weighed, sliding=sliding) for feet in FLAT}
        self.softest = {
            feet: RelaxedQp(feet, *limits, *weighed, sliding=sliding, keep_room=False)
            for feet in FLAT
        }

    def add_edges(
        self, robot: RobotModel, inside: float, gains: TaskGains, *, unilateral: bool
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
            self._firsts[stance] = ReducedQp(
                feet,
                *limits,
                *weighed,
                extra=seat.turn if two else None,
                free=ABOUT if two else -1,
            )
            self.soft[stance] = RelaxedQp(
                feet, *limits, *weighed, sliding=self._sliding, turning=turning
            )
            self.softest[stance] = RelaxedQp(
                feet, *limits, *weighed, sliding=self._sliding, keep_room=False, turning=turning
            )
        return seat

    def solve_first(self, feet: Feet, seen: Seen, *, leaps: bool = False) -> QpAnswer:
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


class Joints(Enum):
    """How far joints keep to their room."""

    EASY = auto()  # they brake in comfort
    HARD = auto()  # they brake hard
    WISHED = auto()  # they brake hard, as well as they can
    OPEN = auto()  # they accelerate as they like


class Soles(Enum):
    """What standing soles do."""

    SHARE = auto()  # they stand, each with its part of the load
    TAKE = auto()  # they stand, and each that does not slide takes all load at once
    YIELD = auto()  # they may give way, so slowly that those that bear load do not slide
    HANG = auto()  # none bears load
    SLIDE = auto()  # they may give way at any speed


class RelaxationLevel(NamedTuple):
    """One way to answer a tick.

    Attributes:
        name: The one of ``step.RUNGS`` it is.
        joints: How far joints keep to their room.
        soles: What standing soles do.
    """

    name: str
    joints: Joints
    soles: Soles


OWN = (
    RelaxationLevel("all", Joints.EASY, Soles.SHARE),
    RelaxationLevel("hard_braking", Joints.HARD, Soles.SHARE),
    RelaxationLevel("hard_braking", Joints.HARD, Soles.TAKE),
    RelaxationLevel("soles_give_way", Joints.HARD, Soles.YIELD),
    RelaxationLevel("soles_give_way", Joints.HARD, Soles.HANG),
    RelaxationLevel("joints_give_way", Joints.WISHED, Soles.YIELD),
    RelaxationLevel("joints_give_way", Joints.WISHED, Soles.HANG),
)  # for the filter's own state
MEASURED = (
    RelaxationLevel("all", Joints.EASY, Soles.SHARE),
    RelaxationLevel("joints_give_way", Joints.OPEN, Soles.SHARE),
    RelaxationLevel("joints_give_way", Joints.OPEN, Soles.SLIDE),
)  # for a robot: its joints have stops; where a sole is still in the air its ankle would spin under more than its part of the load
FREE = RUNGS.index("free")
BRAKE = {Joints.EASY: BRAKING, Joints.HARD: EMERGENCY}
STANDING = Soles.SHARE, Soles.TAKE


class FallbackCascade:
    """Goes down the rungs until one has an answer; below the last one the robot falls freely, without torques."""

    def __init__(
        self,
        programs: QpCache,
        terms: DynamicsTerms,
        wishes: TaskReferences,
        room: JointAccelerationBounds,
        sliding: Sliding,
    ) -> None:
        """Prepare.

        Args:
            programs: What answers.
            terms: The robot in its state.
            wishes: What is wished for; what soles may bear is changed.
            room: Bounds on joints; changed.
            sliding: Which soles slide.
        """
        self._programs, self._sliding, self._seen = programs, sliding, (terms, wishes, room)
        self._nobody: NDArray[np.bool_] = np.zeros(2, dtype=np.bool_)

    def descend(
        self, feet: Feet, state: tuple[Vector, Vector, float], *, measured: bool, leaps: bool
    ) -> tuple[QpAnswer, int]:
        """Answer a tick.

        Args:
            feet: Soles that stand.
            state: (nq,) configuration, (nv,) velocity and time until the next tick [s].
            measured: Whether the state comes from a robot.
            leaps: Whether the robot is on the way into a flight, or out of it.

        Returns:
            The answer, and the place of its rung in ``step.RUNGS``.
        """
        (q, v, dt), (terms, wishes, room) = state, self._seen
        slides = self._nobody if measured else self._sliding.spare(terms, wishes, dt)
        joints = None
        for rung in MEASURED if measured else OWN:
            if rung.joints is not joints:
                joints = rung.joints
                if joints in BRAKE:
                    room.update(q, v, dt, BRAKE[joints], measured=measured)
                elif joints is Joints.OPEN:
                    room.open()
            if rung.soles is Soles.TAKE:
                wishes.load[~slides] = np.inf
            if rung.soles in STANDING:  # noqa: SIM108
                choice = self._programs.solve_first(feet, self._seen, leaps=leaps)
            else:
                choice = self._give_way(rung, feet, slides, dt)
            if choice.status is QpStatus.OPTIMAL:
                return choice, RUNGS.index(rung.name)
        return fall(terms), FREE

    def _give_way(
        self, rung: RelaxationLevel, feet: Feet, slides: NDArray[np.bool_], dt: float
    ) -> QpAnswer:
        """Answer where standing soles may give way."""
        programs = self._programs.soft if rung.joints is Joints.HARD else self._programs.softest
        if rung.soles is Soles.SLIDE:
            program = programs[feet]
            program.let_slide()
        else:
            program = programs[
                ()
                if rung.soles is Soles.HANG
                else tuple(sole for sole in feet if not slides[sole % 2])
            ]
            program.keep_from_sliding(self._seen[0], dt)
        return program.solve(*self._seen)


def fall(terms: DynamicsTerms) -> QpAnswer:
    """Return free fall without torques; at rest in the air where even that is no number.

    Args:
        terms: The robot in its state.
    """
    nv = len(terms.h)
    try:
        vdot = -np.linalg.solve(terms.M, terms.h)
    except np.linalg.LinAlgError:
        vdot = np.zeros(nv)
    finite: Vector = np.zeros(nv)
    np.copyto(finite, vdot, where=np.isfinite(vdot))
    return QpAnswer(finite, np.zeros((2, WRENCH)), np.zeros(nv - BASE), QpStatus.OPTIMAL)
