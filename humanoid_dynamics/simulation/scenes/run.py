# SPDX-License-Identifier: Apache-2.0
"""A scene from beginning to end, and what can be said about it afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np
import pinocchio as pin

from humanoid_dynamics.constraints.block import ConstraintBlock
from humanoid_dynamics.constraints.constraint_set import ConstraintSet
from humanoid_dynamics.constraints.loop import build_loop
from humanoid_dynamics.dynamics.closure import close_position
from humanoid_dynamics.dynamics.impact import project_velocity
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.errors import HumanoidDynamicsError, ShapeError
from humanoid_dynamics.model.state import State
from humanoid_dynamics.simulation.contacts.inside import Inside
from humanoid_dynamics.simulation.contacts.moving_shapes import note_boxes
from humanoid_dynamics.simulation.contacts.terrain_points import note_edges
from humanoid_dynamics.simulation.reach import measure_gap
from humanoid_dynamics.simulation.scenes.anchors import place_here
from humanoid_dynamics.simulation.scenes.scene import Moment, Scene
from humanoid_dynamics.simulation.scenes.snake_pilot import SnakePilot
from humanoid_dynamics.simulation.scenes.watch import Watch, find_event
from humanoid_dynamics.simulation.setup import SHORTEST_STEP, SimulationStatus, StepReport
from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.structure.events import Connect, Cut

CLOSED = 1e-9
FASTEST = 1e6  # that anything begins with [m/s, rad/s]; squares of much more are no numbers
NOW_AND_THEN = 50  # steps
FIRST = 2  # steps in which code is loaded or compiled


@dataclass(frozen=True)
class Phase:
    """A part of a scene between two changes of structure.

    Attributes:
        t: When it begins [s].
        label: What began it.
        mobility: Freedoms left by the bilateral rows; contacts do not count.
        energy_change: Energy that the change itself took or gave [J].
        velocity_change: Largest jump of a velocity coordinate [rad/s, m/s].
    """

    t: float
    label: str
    mobility: int
    energy_change: float = 0.0
    velocity_change: float = 0.0


@dataclass(eq=False)
class Summary:
    """What a run showed.

    Attributes:
        phases: Parts of the scene.
        steps: Steps taken.
        pace: Mean time of a step, without the first ones, which load or compile their code [s].
        statuses: How many steps ended with which status.
        reason: The first thing that was wrong; empty where nothing was.
        residual: Largest distance of contact impulses from a solution, as a velocity [m/s].
        complementarity: Largest product of a normal impulse and the velocity along it [J].
        cone: Largest force outside its cone, as an impulse [N·s].
        depth: Largest depth in the ground [m].
        closure: Largest position error of the bilateral rows [m].
        impacts: Number of impacts.
        momentum: Largest momentum of all bodies that nobody gave in a step [N·s].
        spin: The same about its centre of mass [N·m·s].
        rebound: Largest velocity by which an impact missed its law [m/s].
        created: Largest energy that an impact made [J].
        lifted: Largest work of a push out of the ground beyond that of lifting all by the depth [J].
        reach: Radius of gyration of all bodies at the start [m].
        missed: Moments and watches of the scene that did not come before the run ended.
        handed: In how many steps contacts were handed from the law of the paper to friction, by why.
        inside: What was deepest inside a box, a ball or a capsule, as seen every fifty steps and at the end; None where nothing was.
    """

    phases: list[Phase] = field(default_factory=list)
    steps: int = 0
    pace: float = 0.0
    statuses: dict[SimulationStatus, int] = field(default_factory=dict)
    reason: str = ""
    residual: float = 0.0
    complementarity: float = 0.0
    cone: float = 0.0
    depth: float = 0.0
    closure: float = 0.0
    impacts: int = 0
    momentum: float = 0.0
    spin: float = 0.0
    rebound: float = 0.0
    created: float = 0.0
    lifted: float = 0.0
    reach: float = 0.0
    missed: list[str] = field(default_factory=list)
    handed: dict[str, int] = field(default_factory=dict)
    inside: Inside | None = None

    def enter(self, report: StepReport) -> None:
        """Enter the report of a step."""
        self.steps += 1
        self.statuses[report.status] = self.statuses.get(report.status, 0) + 1
        self.reason = self.reason or report.reason
        if report.handed:
            self.handed[report.handed] = self.handed.get(report.handed, 0) + 1
        self.residual, self.cone = max(self.residual, report.residual), max(self.cone, report.cone)
        self.complementarity = max(self.complementarity, report.complementarity)
        self.depth, self.closure = max(self.depth, report.depth), max(self.closure, report.closure)
        self.impacts += report.impacts
        self.momentum, self.spin = max(self.momentum, report.momentum), max(self.spin, report.spin)
        self.rebound, self.created = (
            max(self.rebound, report.rebound),
            max(self.created, report.created),
        )
        self.lifted = max(self.lifted, report.lifted)

    def look(self, world: World) -> None:
        """Enter what is inside something that lets it pass."""
        found = world.find_inside()
        if found and (self.inside is None or found[0].depth > self.inside.depth):
            self.inside = found[0]


def build_world(scene: Scene) -> World:
    """Return the world of a scene at its beginning: connections closed by as small a motion as possible.

    Args:
        scene: The scene.

    Returns:
        The world.

    Raises:
        HumanoidDynamicsError: If the connections cannot be closed, or bodies begin inside one another, too fast,
            or with joints beyond their limits.
    """
    blocks: list[ConstraintBlock] = [
        build_loop(scene.robot, loop) for loop in scene.connections.values()
    ]
    q, v = _close(scene, blocks)
    if scene.here:
        blocks += [
            build_loop(scene.robot, place_here(scene.robot, q, loop))
            for loop in scene.here.values()
        ]
        q, v = _close(replace(scene, state=State(q, v)), blocks)
    fastest = float(np.abs(v).max(initial=0.0))
    if fastest > FASTEST:
        raise HumanoidDynamicsError(
            f"scene {scene.name!r}: a velocity of {fastest:.2g} at the start, expected at most {FASTEST:.0e} m/s or rad/s"
        )
    held = {
        link
        for loop in (*scene.connections.values(), *scene.here.values())
        for link in (loop.link_a, loop.link_b)
    }
    try:
        robot = note_boxes(scene.robot, [s for s in scene.setup.shapes if s.link not in held])
        world = World(
            note_edges(robot, scene.setup.terrain, scene.setup.shapes),
            scene.setup,
            State(q, v),
            blocks,
        )
    except ShapeError as cause:
        raise HumanoidDynamicsError(f"scene {scene.name!r}: {cause}") from cause
    if scene.driving is not None:
        SnakePilot(world, scene.driving)
    return world


def _close(scene: Scene, blocks: list[ConstraintBlock]) -> tuple[Vector, Vector]:
    """Return configuration and velocity of a scene with some connections closed."""
    mechanism = Mechanism(scene.robot, ConstraintSet.of(scene.robot, blocks))
    q, v = scene.state.q, scene.state.v
    if mechanism.constraints.size:
        closed = close_position(mechanism, q)
        if closed.residual > CLOSED:
            mechanism.kinematics.place(closed.q)
            row, gap, _ = measure_gap(mechanism.kinematics, mechanism.constraints)
            raise HumanoidDynamicsError(
                f"scene {scene.name!r}: its connections cannot be closed; row {row!r} stays open by {gap:.2g} (m or rad)"
            )
        q, v = closed.q, project_velocity(mechanism, closed.q, v)
    return q, v


def run_scene(
    scene: Scene,
    world: World,
    seconds: float | None = None,
    watch: Callable[[float], None] | None = None,
) -> Summary:
    """Run a scene.

    Args:
        scene: The scene.
        world: Its world, as ``build_world`` makes it.
        seconds: How long [s]; as long as the scene lasts where left out.
        watch: Called with the time now and then.

    Returns:
        What it showed.
    """
    length = scene.seconds if seconds is None else seconds
    summary = Summary([Phase(0.0, "start", world.count_freedoms())])
    summary.reach = find_reach(world)
    pending, watches = list(scene.moments), list(scene.watches)
    world.warm_up()
    began, late = perf_counter(), 0
    for k in range(round(length / scene.dt)):
        if k == FIRST:
            began, late = perf_counter(), summary.steps
        while pending and pending[0].at <= world.t + 0.5 * scene.dt:
            let_happen(scene, world, pending.pop(0), summary)
        step_scene(scene, world, watches, summary)
        if world.reason:
            break
        if k % NOW_AND_THEN == 0:
            summary.look(world)
            if watch is not None:
                watch(world.t)
    summary.look(world)
    summary.missed = [f"{moment.label} at {moment.at:g} s" for moment in pending] + [
        f"{watch.cut} leaves" for watch in watches
    ]
    summary.pace = (perf_counter() - began) / max(summary.steps - late, 1)
    return summary


def find_reach(world: World) -> float:
    """Return the radius of gyration of all bodies about their common centre of mass: the lever by which momentum makes spin [m].

    Args:
        world: The world.
    """
    data = world.robot.data()
    pin.ccrba(world.robot.model, data, world.q, world.v)
    return float(np.sqrt(0.5 * np.trace(data.Ig.inertia) / data.Ig.mass))


def step_scene(scene: Scene, world: World, watches: list[Watch], summary: Summary) -> None:
    """Take a step, in parts where a condition comes true within it.

    Args:
        scene: The scene.
        world: Its world.
        watches: Conditions that have not come true; those that do are taken away.
        summary: Told what happens.
    """
    tau = (
        None
        if scene.driver is None or world.t > scene.seconds
        else scene.driver.torque(world.t, world.q, world.v)
    )
    left = scene.dt
    while watches:
        event = find_event(world, watches, left, tau)
        if event is None:
            break
        when, watch = event
        summary.enter(world.step(when, tau))
        watches.remove(watch)
        let_happen(
            scene, world, Moment(world.t, (Cut(watch.cut),), (), f"{watch.cut} leaves"), summary
        )
        left -= when
    if left > SHORTEST_STEP:
        summary.enter(world.step(left, tau))


def let_happen(scene: Scene, world: World, moment: Moment, summary: Summary) -> None:
    """Let a moment of the scene come.

    Args:
        scene: The scene.
        world: Its world.
        moment: The moment.
        summary: Told what happens.
    """
    scene.push_into(world, moment)
    events = [
        *moment.events,
        *(Connect(place_here(world.robot, world.q, loop)) for loop in moment.grasps),
    ]
    if not events:
        return
    v, energy = world.v.copy(), world.books.energy
    world.apply(events)
    jump = float(np.abs(world.v - v).max(initial=0.0))
    summary.phases.append(
        Phase(world.t, moment.label, world.count_freedoms(), world.books.energy - energy, jump)
    )
