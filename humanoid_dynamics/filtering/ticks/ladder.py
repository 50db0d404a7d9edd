# SPDX-License-Identifier: Apache-2.0
"""The ladder of a tick: what gives way, and in which order, where not all limits can be kept."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.filtering.ticks.joint_room import BRAKING, EMERGENCY, JointRoom
from humanoid_dynamics.filtering.ticks.program import WRENCH, Choice
from humanoid_dynamics.filtering.ticks.programs import Feet, Programs
from humanoid_dynamics.filtering.ticks.sliding import Sliding
from humanoid_dynamics.filtering.ticks.step import RUNGS
from humanoid_dynamics.filtering.ticks.terms import BASE, BodyTerms
from humanoid_dynamics.filtering.ticks.wishes import Wishes
from humanoid_dynamics.solvers.qp import QpStatus
from humanoid_dynamics.spatial.arrays import Vector


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


class Rung(NamedTuple):
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
    Rung("all", Joints.EASY, Soles.SHARE),
    Rung("hard_braking", Joints.HARD, Soles.SHARE),
    Rung("hard_braking", Joints.HARD, Soles.TAKE),
    Rung("soles_give_way", Joints.HARD, Soles.YIELD),
    Rung("soles_give_way", Joints.HARD, Soles.HANG),
    Rung("joints_give_way", Joints.WISHED, Soles.YIELD),
    Rung("joints_give_way", Joints.WISHED, Soles.HANG),
)  # for the filter's own state
MEASURED = (
    Rung("all", Joints.EASY, Soles.SHARE),
    Rung("joints_give_way", Joints.OPEN, Soles.SHARE),
    Rung("joints_give_way", Joints.OPEN, Soles.SLIDE),
)  # for a robot: its joints have stops; where a sole is still in the air its ankle would spin under more than its part of the load
FREE = RUNGS.index("free")
BRAKE = {Joints.EASY: BRAKING, Joints.HARD: EMERGENCY}
STANDING = Soles.SHARE, Soles.TAKE


class Ladder:
    """Goes down the rungs until one has an answer; below the last one the robot falls freely, without torques."""

    def __init__(
        self,
        programs: Programs,
        terms: BodyTerms,
        wishes: Wishes,
        room: JointRoom,
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
    ) -> tuple[Choice, int]:
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

    def _give_way(self, rung: Rung, feet: Feet, slides: NDArray[np.bool_], dt: float) -> Choice:
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


def fall(terms: BodyTerms) -> Choice:
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
    return Choice(finite, np.zeros((2, WRENCH)), np.zeros(nv - BASE), QpStatus.OPTIMAL)
