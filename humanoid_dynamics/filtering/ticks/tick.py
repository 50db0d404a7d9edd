"""One tick: a target and a state in, consistent accelerations, wrenches and torques out, always."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from humanoid_dynamics.contact.cone import build_wrench_cone
from humanoid_dynamics.filtering.proportions import Proportions, inner_rectangle, measure_proportions
from humanoid_dynamics.filtering.sole_edges import TOE, find_edges
from humanoid_dynamics.filtering.ticks.compiled_program import CompiledProgram
from humanoid_dynamics.filtering.ticks.edges import EdgeProgram, EdgeSeat, build_edge_cone
from humanoid_dynamics.filtering.ticks.footing import Footing
from humanoid_dynamics.filtering.ticks.joint_room import EMERGENCY, JointRoom
from humanoid_dynamics.filtering.ticks.program import Choice, ReducedProgram, Weights
from humanoid_dynamics.filtering.ticks.sliding import Sliding
from humanoid_dynamics.filtering.ticks.soft_program import SoftProgram
from humanoid_dynamics.filtering.ticks.stance_kernels import FIRST_LOAD
from humanoid_dynamics.filtering.ticks.step import Step
from humanoid_dynamics.filtering.ticks.target import Target, stand_still
from humanoid_dynamics.filtering.ticks.terms import BASE, BodyTerms
from humanoid_dynamics.filtering.ticks.wishes import Gains, Wishes
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import choose_compiler
from humanoid_dynamics.spatial.quadratic import QpStatus

HARDER, GIVE_WAY, OPENED, FREE = range(1, 5)  # places in the rungs
COMMON = 0.005  # s between ticks, for a first one that nobody needs
LEAPING = 0.27  # share of the stiffness that holds standing soles before a leap: its legs are there to push
EFFORT_KEPT = 1.0 - 1e-6  # share of the torque limits that the programs use


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
        compiled: Whether kernels of numba do the work; where None, if numba is installed.
        edges: Whether soles may stand on their front or rear edge.
    """

    gains: Gains = field(default_factory=Gains)
    weights: Weights = field(default_factory=Weights)
    joint_limits: bool = True
    torque_limits: bool = True
    inside: float = 0.001
    unilateral: bool = True
    compiled: bool | None = None
    edges: bool = False


class BalancedTick:
    """The tick with all limits, and a ladder below it that always gives a command.

    Rungs: all limits, joints brake comfortably; joints brake hard; standing soles may give way; joints may leave their room; free fall
    without torques.  The equation of motion, the limits of contacts and those of motors hold on every rung, and a sole that slides bears
    next to nothing.
    """

    def __init__(self, robot: RobotModel, settings: TickSettings | None = None, proportions: Proportions | None = None) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base and two soles.
            settings: How it decides.
            proportions: Measures of the robot; taken from it where None.
        """
        settings = settings or TickSettings()
        proportions = proportions or measure_proportions(robot)
        self._settings = settings
        self.footing, self._stop = Footing(proportions), 1.0 / settings.gains.stance[1]
        rectangles = _rectangles(robot, settings.inside)
        compiled = choose_compiler(settings.compiled)
        self.terms = BodyTerms(robot, proportions, compiled=compiled)
        self._wishes = Wishes(robot, settings.gains, rectangles, compiled=compiled)
        self._room = JointRoom(robot, keep=settings.joint_limits, compiled=compiled)
        effort = EFFORT_KEPT * _efforts(robot) if settings.torque_limits else np.full(robot.nv - BASE, np.inf)
        cones = _cones(robot, settings.inside) if settings.unilateral else (np.zeros((0, 6)), np.zeros((0, 6)))
        weight = self._weight = proportions.mass * proportions.gravity
        sets: tuple[tuple[int, ...], ...] = ((), (0,), (1,), (0, 1))
        plain = {feet: self._build_program(feet, cones, effort, settings.weights, weight) for feet in sets}
        self._reduced: dict[tuple[int, ...], ReducedProgram | CompiledProgram] = {
            feet: CompiledProgram(program, cones, effort, settings.weights) if compiled and feet else program
            for feet, program in plain.items()
        }
        self._leaps = False
        self._prepared: tuple[Vector, Vector] | None = None  # state whose terms are known
        firm = replace(settings.weights, height=settings.weights.com)
        leaping = self._build_program((0, 1), cones, effort, firm, weight)
        self._leaping = CompiledProgram(leaping, cones, effort, firm) if compiled else leaping
        self._feet: tuple[int, ...] = ()  # soles of the last program
        self._sliding = Sliding(proportions.centres, weight)
        given = cones, effort, settings.weights, weight
        self._soft = {feet: SoftProgram(feet, *given, sliding=self._sliding) for feet in sets}
        self._softest = {feet: SoftProgram(feet, *given, sliding=self._sliding, keep_room=False) for feet in sets}
        self._edges = self._prepare_edges(robot, cones, effort, compiled=compiled) if settings.edges else None
        if compiled:
            self._warm_up(robot)

    def _prepare_edges(self, robot: RobotModel, cones: tuple[Matrix, Matrix], effort: Vector, *, compiled: bool) -> EdgeSeat:
        """Make the programs for soles on edges; such a sole is called by its number and two, and comes after a flat one."""
        settings, weight = self._settings, self._weight
        surfaces = find_soles(robot)
        soles = find_edges(np.array(surfaces[0].vertices), settings.inside), find_edges(np.array(surfaces[1].vertices), settings.inside)
        seat = EdgeSeat(soles, settings.gains, robot.nv)
        for stance in ((2,), (3,), (0, 3), (1, 2), (2, 3)):
            feet, turning = tuple(sole % 2 for sole in stance), tuple(sole % 2 for sole in stance if sole > 1)
            carried = list(cones)
            for k, foot in enumerate(feet):
                if foot in turning and settings.unilateral:
                    carried[foot] = build_edge_cone(surfaces[foot], min(soles[foot].halves), closed=k == 0)
            given = feet, (carried[0], carried[1]), effort, settings.weights
            plain = EdgeProgram(*given, weight, seat.turn) if len(feet) > 1 else ReducedProgram(*given, weight)
            self._reduced[stance] = CompiledProgram(plain, *given[1:]) if compiled else plain
            self._soft[stance] = SoftProgram(*given, weight, sliding=self._sliding, turning=turning)
            self._softest[stance] = SoftProgram(*given, weight, sliding=self._sliding, keep_room=False, turning=turning)
        return seat

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

    def _build_program(
        self, feet: tuple[int, ...], cones: tuple[Matrix, Matrix], effort: Vector, weights: Weights, weight: float
    ) -> ReducedProgram:
        """Return the program for a set of standing soles, in arrays."""
        return ReducedProgram(feet, cones, effort, weights, weight)

    def _warm_up(self, robot: RobotModel) -> None:
        """Compile, or load what is compiled, before a robot waits for it."""
        q, v = np.array(robot.posture), np.zeros(robot.nv)
        self.terms.update(q, v)
        target = stand_still(q, robot.nv, self.terms.com, self.terms.place, self.terms.turn)
        self.footing.update(target, self.terms, COMMON)
        self.footing.restart()
        self._wishes.update(target, q, v, self.terms)
        self._room.update(q, v, COMMON)
        self._sliding.spare(self.terms, self._wishes, COMMON)
        for feet in ((0,), (0, 1), (1,), (0, 1)):
            self._wishes.load[:] = [np.inf if foot in self._feet else FIRST_LOAD * self._weight for foot in (0, 1)]
            self._solve_first(feet)
        self._feet = ()
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

    def step(self, target: Target, q: Vector, v: Vector, dt: float, *, measured: bool = False) -> Step:
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
        pull = 0.0 if measured else min(1.0, self._stop / dt)  # no more than stops soles in one tick
        if target.leaps and np.isfinite(target.until).all():
            pull = min(pull, LEAPING)
        self._wishes.update(target, q, v, self.terms, pull=pull)
        feet, edges = self._seat(target, pull)
        np.multiply(target.load, self._weight, self._wishes.load)
        self._add_wishes(target, q, v)
        self._leaps = target.leaps
        choice, rung = self._descend(feet, q, v, dt, measured)
        if self._edges is not None:
            self._edges.read_all(edges, choice.wrenches)
        return Step(choice.vdot, choice.tau, choice.wrenches, target.touches, rung, edges=edges)

    def _add_wishes(self, target: Target, q: Vector, v: Vector) -> None:
        """Add to the wishes of a tick; here nothing."""

    def _first(self, feet: tuple[int, ...]) -> ReducedProgram | CompiledProgram:
        return self._leaping if self._leaps and feet == (0, 1) else self._reduced[feet]

    def _solve_first(self, feet: tuple[int, ...]) -> Choice:
        """Solve the program of the first rung; when soles change it begins as it did the last time they changed so."""
        program, before = self._first(feet), self._feet
        if feet == before or program is self._leaping or not isinstance(program, CompiledProgram):
            return program.solve(self.terms, self._wishes, self._room)
        self._feet = feet
        program.begin(before)
        return program.solve(self.terms, self._wishes, self._room)

    def _descend(self, feet: tuple[int, ...], q: Vector, v: Vector, dt: float, measured: bool) -> tuple[Choice, int]:
        """Go down the ladder; a robot's joints have stops, so there they give way before soles do."""
        room = self._room
        room.update(q, v, dt, measured=measured)
        if not measured:
            self._sliding.spare(self.terms, self._wishes, dt)
        choice = self._solve_first(feet)
        if choice.status is QpStatus.OPTIMAL:
            return choice, 0
        room.update(q, v, dt, EMERGENCY, measured=measured)
        if measured:  # where a sole that came down is still in the air, its ankle would spin under more than its part of the load
            return self._descend_measured(feet)
        return self._brake_harder(feet, dt)

    def _brake_harder(self, feet: tuple[int, ...], dt: float) -> tuple[Choice, int]:
        """Let joints brake hard, then load be on either sole that does not slide, then soles give way, then joints leave their room."""
        slides, first = self._sliding.spare(self.terms, self._wishes, dt), self._first(feet)
        choice = first.solve(self.terms, self._wishes, self._room)
        if choice.status is not QpStatus.OPTIMAL:
            self._wishes.load[~slides] = np.inf
            choice = first.solve(self.terms, self._wishes, self._room)
        if choice.status is QpStatus.OPTIMAL:
            return choice, HARDER
        still = tuple(sole for sole in feet if not slides[sole % 2])
        for rung, programs in ((GIVE_WAY, self._soft), (OPENED, self._softest)):
            for bears in dict.fromkeys((still, ())):  # at last none bears load
                program = programs[bears]
                program.keep_from_sliding(self.terms, dt)
                choice = program.solve(self.terms, self._wishes, self._room)
                if choice.status is QpStatus.OPTIMAL:
                    return choice, rung
        return _fall(self.terms), FREE

    def _descend_measured(self, feet: tuple[int, ...]) -> tuple[Choice, int]:
        """Let joints leave their room, then standing soles give way: joints of a robot have stops."""
        self._room.open()
        self._softest[feet].let_slide()
        for program in (self._first(feet), self._softest[feet]):
            choice = program.solve(self.terms, self._wishes, self._room)
            if choice.status is QpStatus.OPTIMAL:
                return choice, OPENED
        return _fall(self.terms), FREE


def _fall(terms: BodyTerms) -> Choice:
    """Return free fall without torques; at rest in the air where even that is no number."""
    nv = len(terms.h)
    try:
        vdot = -np.linalg.solve(terms.M, terms.h)
    except np.linalg.LinAlgError:
        vdot = np.zeros(nv)
    finite: Vector = np.zeros(nv)
    np.copyto(finite, vdot, where=np.isfinite(vdot))
    return Choice(finite, np.zeros((2, 6)), np.zeros(nv - BASE), QpStatus.OPTIMAL, 0)


def _efforts(robot: RobotModel) -> Vector:
    """Return the largest torques of all coordinates but those of the base; what turns a follower is its leader, not a motor of its own."""
    effort = np.array(robot.limits.effort[BASE:])
    for mimic in robot.mimics:
        effort[robot.joint(mimic.joint).v.start - BASE] = np.inf
    return effort


def _cones(robot: RobotModel, inside: float) -> tuple[Matrix, Matrix]:
    """Return what the largest rectangles inside the soles can carry, as rows."""
    inner = [
        build_wrench_cone(replace(sole, vertices=corners))
        for sole, corners in zip(find_soles(robot), _rectangles(robot, inside), strict=True)
    ]
    rows = [np.asarray(cone.A @ cone.basis.T) for cone in inner]
    return rows[0], rows[1]


def _rectangles(robot: RobotModel, inside: float) -> tuple[Matrix, Matrix]:
    left, right = (inner_rectangle(np.array(sole.vertices), inside) for sole in find_soles(robot))
    return left, right
