# SPDX-License-Identifier: Apache-2.0
"""One tick: a target and a state in, consistent accelerations, wrenches and torques out, always."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from humanoid_dynamics.filtering.proportions import Proportions, measure_proportions
from humanoid_dynamics.filtering.sole_edges import TOE
from humanoid_dynamics.filtering.ticks.cascade import (
    FallbackCascade,
    QpCache,
    build_cones,
    find_rectangles,
    read_efforts,
)
from humanoid_dynamics.filtering.ticks.edges import EdgeSeat
from humanoid_dynamics.filtering.ticks.footing import ContactTracker
from humanoid_dynamics.filtering.ticks.joint_room import JointAccelerationBounds
from humanoid_dynamics.filtering.ticks.program import ExtraRows, QpAnswer, Weights
from humanoid_dynamics.filtering.ticks.sliding import Sliding
from humanoid_dynamics.filtering.ticks.stance_kernels import FIRST_LOAD
from humanoid_dynamics.filtering.ticks.step import TickAnswer
from humanoid_dynamics.filtering.ticks.target import Target, stand_still
from humanoid_dynamics.filtering.ticks.terms import BASE, DynamicsTerms
from humanoid_dynamics.filtering.ticks.wishes import TaskGains, TaskReferences
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector

COMMON = 0.005  # s between ticks, for a first one that nobody needs
LEAPING = 0.75  # share of the stiffness that holds standing soles before a leap: its legs are there to push


@dataclass(frozen=True)
class TickSettings:
    """How the balanced tick decides.

    Attributes:
        gains: How deviations are corrected.
        weights: What deviations cost.
        joint_limits: Whether position and speed limits of joints are kept.
        torque_limits: Whether torque limits are kept.
        inside: How far inside the soles the pressure stays [m]; more where sole or ground give way.
        unilateral: Whether contacts are limited at all; for controls that must fail.
        edges: Whether soles may stand on their front or rear edge.
    """

    gains: TaskGains = field(default_factory=TaskGains)
    weights: Weights = field(default_factory=Weights)
    joint_limits: bool = True
    torque_limits: bool = True
    inside: float = 0.001
    unilateral: bool = True
    edges: bool = False


class BalancedTick:
    """The tick with all limits, and a ladder below it that always gives a command.

    Rungs: all limits, joints brake comfortably; joints brake hard; standing soles may give way; joints may leave their room; free fall
    without torques.  The equation of motion, the limits of contacts and those of motors hold on every rung, and a sole that slides bears
    next to nothing.
    """

    def __init__(
        self,
        robot: RobotModel,
        settings: TickSettings | None = None,
        proportions: Proportions | None = None,
        extra: ExtraRows | None = None,
    ) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base and two soles.
            settings: How it decides.
            proportions: Measures of the robot; taken from it where None.
            extra: Further rows of the program.
        """
        settings = settings or TickSettings()
        proportions = proportions or measure_proportions(robot)
        self._settings = settings
        self.footing, self._stop = ContactTracker(proportions), 1.0 / settings.gains.stance[1]
        self._weight = proportions.mass * proportions.gravity
        self.terms = DynamicsTerms(robot, proportions)
        self._wishes = TaskReferences(
            robot, settings.gains, find_rectangles(robot, settings.inside)
        )
        self._room = JointAccelerationBounds(robot, keep=settings.joint_limits)
        effort = read_efforts(robot) if settings.torque_limits else np.full(robot.nv - BASE, np.inf)
        cones = (
            build_cones(robot, settings.inside)
            if settings.unilateral
            else (np.zeros((0, 6)), np.zeros((0, 6)))
        )
        sliding = Sliding(proportions.centres, self._weight)
        programs = QpCache(
            (cones, effort),
            (settings.weights, self._weight),
            sliding,
            extra,
        )
        self._edges: EdgeSeat | None = None
        if settings.edges:
            self._edges = programs.add_edges(
                robot, settings.inside, settings.gains, unilateral=settings.unilateral
            )
        self._ladder = FallbackCascade(programs, self.terms, self._wishes, self._room, sliding)
        self._leaps = False
        self._prepared: tuple[Vector, Vector] | None = None  # state whose terms are known
        self._warm_up(robot, programs, sliding)

    def _seat(self, target: Target, pull: float) -> tuple[tuple[int, ...], tuple[int, int]]:
        """Return the soles that stand, flat ones first, and what they stand on; terms of those on an edge become those of the edge."""
        standing = tuple(foot for foot in (0, 1) if target.touches[foot])
        edges = self.footing.edges
        if self._edges is None or not any(edges[foot] for foot in standing):
            return standing, (0, 0)
        for foot in standing:
            if edges[foot]:
                flat = self.footing.place[foot], self.footing.turn[foot]
                self._edges.seat(foot, edges[foot], target, self.terms, self._wishes, flat, pull)
        stance = sorted(foot + 2 if edges[foot] else foot for foot in standing)
        return tuple(stance), (edges[0] if 0 in standing else 0, edges[1] if 1 in standing else 0)

    def _warm_up(self, robot: RobotModel, programs: QpCache, sliding: Sliding) -> None:
        """Compile, or load what is compiled, before a robot waits for it."""
        q, v = np.array(robot.posture), np.zeros(robot.nv)
        self.terms.update(q, v)
        target = stand_still(q, robot.nv, self.terms.com, self.terms.place, self.terms.turn)
        self.footing.update(target, self.terms, COMMON)
        self.footing.restart()
        self._wishes.update(target, q, v, self.terms)
        self._room.update(q, v, COMMON)
        sliding.spare(self.terms, self._wishes, COMMON)
        programs.rehearse((self.terms, self._wishes, self._room), FIRST_LOAD * self._weight)
        if self._edges is not None:
            flat = np.array(self.terms.place[0]), np.array(self.terms.turn[0])
            self._edges.seat(0, TOE, target, self.terms, self._wishes, flat, 1.0)
            self._edges.read(0, TOE, np.zeros(BASE))

    def prepare(self, q: Vector, v: Vector) -> None:
        """Compute beforehand what a step in this state needs, whatever is wanted.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
        """
        self.terms.update(q, v)
        self._prepared = q.copy(), v.copy()

    def restart(self) -> None:
        """Forget where soles stand."""
        self.footing.restart()

    def landings(self) -> list[tuple[int, Vector, Matrix]]:
        """Return the soles that touched down since this was asked the last time, or slipped, with place and orientation."""
        return self.footing.landings()

    def step(
        self, target: Target, q: Vector, v: Vector, dt: float, *, measured: bool = False
    ) -> TickAnswer:
        """Answer one tick; nothing raises.

        Args:
            target: What is wanted; which soles bear load and where they stand is written into it.
            q: (nq,) configuration.
            v: (nv,) velocity.
            dt: Time until the next tick [s].
            measured: Whether the state comes from a robot and not from the filter itself.

        Returns:
            The answer.
        """
        ready, self._prepared = self._prepared, None
        if ready is None or not (np.array_equal(ready[0], q) and np.array_equal(ready[1], v)):
            self.terms.update(q, v)
        self.footing.update(target, self.terms, dt, measured=measured)
        pull = (
            0.0 if measured else min(1.0, self._stop / dt)
        )  # no more than stops soles in one tick
        if target.leaps and np.isfinite(target.until).all():
            pull = min(pull, LEAPING)
        settled = self.footing.settled
        self._wishes.update(target, q, v, self.terms, pull=pull, settled=settled)
        feet, edges = self._seat(target, pull)
        np.multiply(target.load, self._weight, self._wishes.load)
        self._add_wishes(target, q, v)
        self._leaps = target.leaps
        choice, rung = self._descend(feet, q, v, dt, measured)
        if self._edges is not None:
            self._edges.read_all(edges, choice.wrenches)
        return TickAnswer(choice.vdot, choice.tau, choice.wrenches, settled, rung, edges=edges)

    def _add_wishes(self, target: Target, q: Vector, v: Vector) -> None:
        """Add to the wishes of a tick; here nothing."""

    def _descend(
        self, feet: tuple[int, ...], q: Vector, v: Vector, dt: float, measured: bool
    ) -> tuple[QpAnswer, int]:
        return self._ladder.descend(feet, (q, v, dt), measured=measured, leaps=self._leaps)
