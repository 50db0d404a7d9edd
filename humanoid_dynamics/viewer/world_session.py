# SPDX-License-Identifier: Apache-2.0
"""Our own world on the page: the library alone, nothing on any topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import HumanoidDynamicsError, UnknownNameError
from humanoid_dynamics.simulation.contacts.shapes import Box, Plane
from humanoid_dynamics.simulation.contacts.terrain import build_plane
from humanoid_dynamics.simulation.contacts.touch_points import list_body_points
from humanoid_dynamics.simulation.scenes.file import load_scene
from humanoid_dynamics.simulation.scenes.names import scene_names
from humanoid_dynamics.simulation.scenes.run import (
    Phase,
    Summary,
    build_world,
    let_happen,
    step_scene,
)
from humanoid_dynamics.simulation.scenes.scene import Moment, Scene
from humanoid_dynamics.simulation.scenes.snake_pilot import SnakePilot
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.polygon import hull_of, margin_inside
from humanoid_dynamics.structure.events import Cut
from humanoid_dynamics.viewer.bodies import build_bodies
from humanoid_dynamics.viewer.picture import SMALLEST_FORCE, Painter, Picture, Touch
from humanoid_dynamics.viewer.reaching import Reaching
from humanoid_dynamics.viewer.session import Offer, Session
from humanoid_dynamics.viewer.strength import Strength, check_pull

WARMING = 3  # steps: those that touch for the first time call more
LONGEST_ADVANCE = 0.1  # s; a page that was away does not make the world catch up
BELOW = 0.4  # m between what hangs in the air and the floor
EDGES = (
    (0, 1),
    (2, 3),
    (4, 5),
    (6, 7),
    (0, 2),
    (1, 3),
    (4, 6),
    (5, 7),
    (0, 4),
    (1, 5),
    (2, 6),
    (3, 7),
)  # corners x, y, z from - to +


class WorldSession(Session):
    """A scene that runs in real time and can be touched.

    Attributes:
        bodies: What is drawn.
        offer: What the user may do.
    """

    _driving = False
    _phases = 0

    def __init__(self, scene: str, *, simple: bool = False) -> None:
        """Load a scene.

        Args:
            scene: Name of a scene, or path of a scene file.
            simple: Whether to leave out meshes.

        Raises:
            UnknownNameError: If there is no such scene.
        """
        self._simple = simple
        self._paused = False
        self._reaching: dict[str, Reaching] = {}
        self._pending: list[Moment] = []
        self._pull: tuple[str, Vector, Vector] | None = None
        self._asked, self._paused = scene, False
        self._start(load_scene(scene))

    def prepare(self) -> None:
        """Compile, or load, what steps call, in another world of the same scene."""
        world = build_world(self._scene)
        world.warm_up()
        for _ in range(WARMING):
            world.step(self._scene.dt)

    def advance(self, seconds: float) -> None:
        """Let time go on [s]; a world that has stopped says so and stays."""
        if self._paused:
            return
        self._debt += min(seconds, LONGEST_ADVANCE)
        while self._debt >= self._scene.dt and not (self._world.reason or self._paused):
            self._debt -= self._scene.dt
            self.step()

    def step(self) -> None:
        """Take one step; events that are played happen when they are due, until the user touches the scene."""
        world, scene = self._world, self._scene
        if self._driving and world.t >= scene.seconds:
            self._driving, self._paused = False, True
            self._told = "The scene is over. Reset plays it again, go on lets it run."
            return
        while self._pending and self._pending[0].at <= world.t + 0.5 * scene.dt:
            let_happen(scene, world, self._pending.pop(0), self._summary)
        if self._pull is not None:
            link, point, force = self._pull
            force = self._strength.bound(link, point, force, world.q, world.v)
            world.push(link, force.tolist(), scene.dt, point=point.tolist())
        for name in [
            name for name, reaching in self._reaching.items() if reaching.act(world, scene.dt)
        ]:
            del self._reaching[name]
            self._tell_connections()
        step_scene(scene, world, self._watches, self._summary)
        self._missing, self._told = world.books.missing, world.reason
        if len(self._summary.phases) != self._phases:
            self._phases = len(self._summary.phases)
            self._tell_connections()

    def picture(self) -> Picture:
        """Return how things are now."""
        world = self._world
        touches = [Touch(force.link, force.place, force.force) for force in world.contact_forces()]
        picture = self._painter.paint(
            world.t,
            world.q,
            touches,
            numbers=self._numbers(touches),
            status=self._told or self._announce(),
        )
        return replace(picture, torques=self._torques(), fallen=self._strength.has_fallen(picture))

    def pull(self, body: str, point: Vector, force: Vector) -> None:
        """Pull a body, no more than the limit."""
        if body not in self._names:
            raise UnknownNameError("body", body, self._names)
        check_pull(point, force)
        self._take_over()
        self._pull = (body, np.array(point), np.array(force)) if np.any(force) else None

    def limit_pull(self, force: float) -> None:
        """Let no pull be stronger than a force [N]."""
        self._strength.ask(force)

    def switch(self, connection: str, closed: bool) -> None:
        """Close or open a connection of the scene; ends that are apart are drawn together first."""
        if connection not in self._scene.connections:
            raise UnknownNameError("connection", connection, self._scene.connections)
        self._take_over()
        if closed and not self.offer.connections[connection]:
            self._reaching[connection] = Reaching(self._world, self._scene.connections[connection])
        elif not closed:
            self._reaching.pop(connection, None)
            if self.offer.connections[connection]:
                self._world.apply([Cut(connection)])
            self._tell_connections()

    def choose_scene(self, scene: str) -> None:
        """Show another scene."""
        self._asked, self._paused = scene, False
        self._start(load_scene(scene))

    def steer(self, heading: float) -> None:
        """Let the snake of the scene go another way [rad]."""
        pilot = self._world.pilot
        if not isinstance(pilot, SnakePilot):
            super().steer(heading)
        elif not np.isfinite(heading):
            raise HumanoidDynamicsError("a heading that is not a number was left out")
        else:
            self._take_over()
            pilot.heading = heading

    def play_events(self) -> None:
        """Begin the scene again and play its events."""
        if not self._scene.moments:
            super().play_events()
        self.reset()
        self._pending = list(self._scene.moments)

    def pause(self, paused: bool) -> None:
        """Stop the time, or let it go on."""
        self._paused = paused

    def reset(self) -> None:
        """Begin the scene again."""
        self._paused = False
        self._start(self._loaded)

    def _start(self, scene: Scene) -> None:
        self._loaded, scene = scene, add_floor(scene)
        world = build_world(scene)
        self._scene, self._world = scene, world
        self._pending = []
        self._watches = list(scene.watches)
        self._summary = Summary([Phase(0.0, "start", world.count_freedoms())])
        self._phases = len(self._summary.phases)
        self._driven = (
            world.pilot is not None or scene.driver is not None or scene.setup.drive is not None
        )
        self._pull = None
        self._debt, self._missing, self._told = 0.0, 0.0, ""
        self._driving = scene.driver is not None
        self._reaching.clear()
        self.bodies = build_bodies(world.robot, simple=self._simple)
        self._names = {body.name for body in self.bodies}
        self._painter = Painter(world.robot, self.bodies)
        others = tuple(name for name in scene_names() if name != self._asked)
        floors = [
            shape.offset
            for shape in scene.setup.terrain
            if isinstance(shape, Plane) and shape.normal[2] == 1.0
        ]
        floor = floors[0] if floors else 0.0 if world.robot.wheels else None
        self._stands = floor is not None and scene is self._loaded
        self._strength: Strength = Strength(world.robot, world.q, stands=self._stands)
        still = [box_edges(shape) for shape in scene.setup.terrain if isinstance(shape, Box)]
        self.offer = Offer(
            scene.title,
            scenes=(self._asked, *others),
            connections=dict.fromkeys(scene.connections, True),
            pushable=True,
            still=np.vstack(still) if still else None,
            floor=floor,
            events=bool(scene.moments),
            heading=world.pilot.heading if isinstance(world.pilot, SnakePilot) else None,
            motors=world.actuated if self._driven else (),
            strength=self._strength.range,
            weight=self._strength.weight,
        )
        self._tell_connections()

    def _take_over(self) -> None:
        """Leave what happens from now on to the user."""
        self._pending.clear()
        self._driving = False

    def _announce(self) -> str:
        """Return which event comes next, while events are played."""
        if not self._pending:
            return ""
        return f"next event, in {max(0.0, self._pending[0].at - self._world.t):.1f} s: {self._pending[0].label}"

    def _tell_connections(self) -> None:
        closed = set(self._world.mechanism.constraints.names)
        self.offer = replace(
            self.offer, connections={name: name in closed for name in self._scene.connections}
        )

    def _numbers(self, touches: list[Touch]) -> Mapping[str, float]:
        world, sides = self._world, {"left": 0.0, "right": 0.0, "other": 0.0}
        for touch in touches:
            sides[next((side for side in ("left", "right") if side in touch.link), "other")] += (
                float(touch.force[2])
            )
        stands = {
            side
            for side in sides
            if self._stands and any(side in link for link in world.robot.links)
        }
        return {
            **{
                f"normal force, {side} [N]": round(force, 2)
                for side, force in sides.items()
                if force or side in stands
            },
            **self._margins(touches),
            "energy [J]": round(world.books.energy, 2),
            "energy error [J]": round(self._missing, 3),
        }

    def _margins(self, touches: list[Touch]) -> Mapping[str, float]:
        """Return how far the centre of pressure is from the rim of what is touched, and what the most loaded motor has left.

        About an edge alone nothing holds: there the margin is zero, but for what moves in a plane, whose soles are edges.
        """
        margins = {}
        effort = self._world.robot.limits.effort[self._world.mechanism.actuated]
        if self._driven and np.isfinite(effort).any():
            margins["margin, torque [-]"] = 1.0 - float(
                np.max(np.abs(list(self._torques().values())) / effort)
            )
        loads = np.array([touch.force[2] for touch in touches])
        if loads.sum() > SMALLEST_FORCE:
            places = np.array([touch.place[:2] for touch in touches])
            patch = hull_of(places[loads > 0.0])
            face = len(patch) > 2 or self._world.robot.root == "planar"
            margins["margin, pressure [m]"] = (
                margin_inside(patch, loads @ places / loads.sum()) if face else 0.0
            )
        return margins

    def _torques(self) -> Mapping[str, float]:
        """Return motor -> what it and its drive gave in the last step [N·m, N]."""
        world = self._world
        if not self._driven:
            return {}
        return dict(zip(world.actuated, (world.tau + world.drive_torques).tolist(), strict=True))


def add_floor(scene: Scene) -> Scene:
    """Return a scene that hangs in the air with a floor below it, on which what is let go lands.

    Args:
        scene: The scene; returned as it is where it has a ground of its own, or wheels.
    """
    robot = scene.robot
    if (
        scene.setup.terrain
        or scene.setup.contact != "friction"
        or scene.driver is not None
        or robot.wheels
        or not robot.solids
    ):
        return scene
    q = build_world(scene).q
    bodies, data = build_bodies(robot), robot.data()
    pin.forwardKinematics(robot.model, data, q)
    lowest = min(
        float(
            np.min((data.oMi[body.joint].rotation @ body.surface.vertices.T)[2])
            + data.oMi[body.joint].translation[2]
        )
        for body in bodies
    )
    points = list_body_points(robot)
    return replace(
        scene, setup=replace(scene.setup, terrain=(build_plane(lowest - BELOW),), points=points)
    )


def box_edges(box: Box) -> Matrix:
    """Return the edges of a box that stands still, as lines (12, 2, 3) [m]."""
    signs = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    corners = (signs * box.half) @ box.X_WB.rotation.T + box.X_WB.translation
    return np.asarray(corners[np.array(EDGES)])
