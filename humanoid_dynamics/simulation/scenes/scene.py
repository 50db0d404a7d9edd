# SPDX-License-Identifier: Apache-2.0
"""A scene: who is where, what holds what together, and what happens when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import State
from humanoid_dynamics.simulation.scenes.gait_driver import GaitDriver
from humanoid_dynamics.simulation.scenes.snake_pilot import Driving, SnakePilot
from humanoid_dynamics.simulation.scenes.watch import Watch
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.structure.events import Event

CHECKS = (
    "contact residual",
    "complementarity",
    "outside the cone",
    "penetration",
    "inside boxes and bodies",
    "closure",
    "impacts beside their law",
    "energy made by an impact",
    "energy made by pushing out",
    "energy error",
    "momentum error",
    "angular momentum error",
    "steps that stopped",
)


@dataclass(frozen=True, eq=False)
class TimedPush:
    """A push to come.

    Attributes:
        link: The link.
        force: (3,) force [N].
        moment: (3,) moment [N·m].
        point: (3,) where, in the link [m].
        duration: How long [s].
    """

    link: str
    force: Vector
    moment: Vector
    point: Vector
    duration: float


@dataclass(frozen=True, eq=False)
class Moment:
    """What happens at one time, together.

    Attributes:
        at: When [s].
        events: Changes of structure.
        pushes: Pushes that begin.
        label: In words.
        grasps: Connections that close where their links are then.
        heading: Where the snake goes from now on [rad]; None for no change.
    """

    at: float
    events: tuple[Event, ...] = ()
    pushes: tuple[TimedPush, ...] = ()
    label: str = ""
    grasps: tuple[LoopClosure, ...] = ()
    heading: float | None = None


@dataclass(frozen=True)
class Tolerated:
    """What a scene allows of a figure, where that is more than a step promises.

    Attributes:
        limit: The largest that passes.
        why: Why.
    """

    limit: float
    why: str


@dataclass(frozen=True, eq=False)
class Scene:
    """A scene, ready to run.

    Attributes:
        name: Its name.
        title: What it shows, in a sentence.
        robot: All figures and objects as one tree.
        setup: Surroundings.
        state: Where all begins, with the connections open.
        connections: Connections that are closed at the start.
        moments: What happens, in order of time.
        seconds: How long it lasts [s].
        dt: Time step [s].
        here: Connections that are closed where their links are once the others are closed.
        watches: Conditions that cut a connection.
        driver: What gives torques; none where None.
        driving: How its snake is driven; None without one.
        tolerated: Name of a check -> what is allowed instead of what a step promises.
    """

    name: str
    title: str
    robot: RobotModel
    setup: Setup
    state: State
    connections: Mapping[str, LoopClosure] = field(default_factory=dict)
    moments: tuple[Moment, ...] = ()
    seconds: float = 2.0
    dt: float = 1e-3
    here: Mapping[str, LoopClosure] = field(default_factory=dict)
    watches: tuple[Watch, ...] = ()
    driver: GaitDriver | None = None
    driving: Driving | None = None
    tolerated: Mapping[str, Tolerated] = field(default_factory=dict)

    def push_into(self, world: World, moment: Moment) -> None:
        """Let the pushes of a moment begin, and its snake take the new heading.

        Args:
            world: The world of this scene.
            moment: The moment.
        """
        for push in moment.pushes:
            world.push(
                push.link,
                push.force.tolist(),
                push.duration,
                moment=push.moment.tolist(),
                point=push.point.tolist(),
            )
        if moment.heading is not None and isinstance(world.pilot, SnakePilot):
            world.pilot.heading = moment.heading
