# SPDX-License-Identifier: Apache-2.0
"""A world that is driven from outside while it runs: commands that come late or wrong, pushes, pauses, a fresh start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from humanoid_dynamics.dynamics.placements import Placements
from humanoid_dynamics.errors import ShapeError, UnknownNameError, UrdfError
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.simulation.contacts.contact_wrenches import LINK, find_owner
from humanoid_dynamics.simulation.contacts.felt_kernel import turn_wrenches
from humanoid_dynamics.simulation.contacts.terrain import build_plane
from humanoid_dynamics.simulation.scenes.run import build_world
from humanoid_dynamics.simulation.scenes.scene import Scene
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel
from humanoid_dynamics.structure.events import Connect, Cut

COMMON = 1e-3  # s; a step
SUNKEN = 5e-3  # m; how deep a centre of mass is under the ground in a body that did not touch it


@dataclass(frozen=True, eq=False)
class FeltWrench:
    """What the ground does to a surface.

    Attributes:
        surface: Its name.
        force: (3,) force, axes of the surface [N].
        moment: (3,) moment about its origin, likewise [N·m].
    """

    surface: str
    force: Vector
    moment: Vector


class LiveWorld:
    """A world with the motors it is told to use; not for several threads at once.

    It stands still until the first command that is not zero, as a robot hangs on its gantry until its controller is there.

    Attributes:
        world: The world.
        paused: Whether it stands still because somebody asked for it.
        begun: Whether a command has come.
        fault: Why the latest command was refused; empty where it was not.
        connections: Connections that can be closed and opened, by name.
        links: Links that can touch without a contact surface.
    """

    def __init__(
        self, make: Callable[[], World], connections: dict[str, LoopClosure] | None = None
    ) -> None:
        """Make the world.

        Args:
            make: Makes it, at its beginning.
            connections: Connections that can be closed and opened, by name.
        """
        self._make = make
        self.connections = connections or {}
        self.reset()

    @classmethod
    def of_robot(
        cls, robot: RobotModel, *, points: str = "body", compiled: bool | None = False
    ) -> LiveWorld:
        """Return a robot in its resting posture on a plane.

        Contact surfaces alone touch where the robot holds no shapes, or where its shapes reach into the ground in its resting posture.

        Args:
            robot: The robot.
            points: What touches the ground: ``body`` for all bodies, ``surfaces`` for contact surfaces alone.
            compiled: Whether numba compiles its steps; they are compiled if None.

        Raises:
            UnknownNameError: If there is no such choice of touch points.
        """
        soles = Setup(terrain=(build_plane(),), compiled=compiled)

        def make() -> World:
            try:
                return World(robot, replace(soles, points=points))
            except (UrdfError, ShapeError):
                return World(robot, soles)

        return cls(make)

    @classmethod
    def of_scene(cls, scene: Scene) -> LiveWorld:
        """Return a scene at its beginning; its moments are left to whoever drives it.

        Args:
            scene: The scene.
        """
        connections = dict(scene.connections)
        for moment in scene.moments:
            connections |= {
                event.loop.name: event.loop for event in moment.events if isinstance(event, Connect)
            }
        return cls(lambda: build_world(scene), connections)

    def reset(self) -> None:
        """Begin anew where it began."""
        self.world = self._make()
        self.paused, self.begun, self.fault = False, False, ""
        self._tau = np.zeros(len(self.world.actuated))
        self._known: Sequence[str] = ()
        self._robot: RobotModel | None = None
        self._bind()

    def warm_up(self) -> None:
        """Take two steps and begin anew: compiled code is compiled, or loaded, before anybody waits for it."""
        for _ in range(2):
            self.world.step(COMMON, self._tau)
            self.feel()
        self.world.warm_up()
        self.reset()

    def command(self, names: Sequence[str], effort: Vector) -> bool:
        """Take efforts by name; motors it does not name keep what they have.

        Args:
            names: Names of coordinates with a motor.
            effort: (len(names),) efforts [N·m or N].

        Returns:
            Whether they were taken; where not, ``fault`` says why.
        """
        unknown: list[str] = []
        if names != self._known:
            unknown = [name for name in names if name not in self._motors]
            self._known = () if unknown else names
            self._places = np.array(
                [self._motors[name] for name in names if name in self._motors], dtype=np.intp
            )
        if len(names) != len(effort) or not names:
            self.fault = f"a command has {len(names)} names and {len(effort)} efforts"
        elif unknown:
            self.fault = f"a command names {unknown[0]!r}, which has no motor"
        elif not np.isfinite(effort).all():
            self.fault = "a command holds an effort that is not finite"
        else:
            self._tau[self._places] = effort
            self.begun, self.fault = self.begun or bool(effort.any()), ""
            return True
        return False

    def release(self) -> None:
        """Switch all motors off."""
        self._tau[:] = 0.0

    def advance(self, dt: float, steps: int) -> str:
        """Take some steps with the efforts commanded last, unless it stands still.

        Args:
            dt: Length of a step [s].
            steps: How many.

        Returns:
            Why the world has stopped; empty while it runs.
        """
        world = self.world
        if self.begun and not self.paused and steps > 0:
            self._before[:], self._time_before = 0.0, 0.0
            for left in reversed(range(steps)):
                world.step(dt, self._tau)
                if left:
                    world.sum_wrenches(self._owner, self._room)
                    self._before += self._room
                    self._time_before += world.length
        return world.reason

    def push(self, link: str, force: Vector, moment: Vector, duration: float) -> None:
        """Push a link from now on.

        Args:
            link: The link, or the REP-120 name of one.
            force: (3,) force, axes of the world [N].
            moment: (3,) moment, likewise [N·m].
            duration: How long [s].

        Raises:
            UnknownNameError: If there is no such link.
            ShapeError: If a number is not finite.
        """
        self.world.push(
            self.world.robot.aliases.get(link, link),
            force.tolist(),
            duration,
            moment=moment.tolist(),
        )

    def connect(self, name: str, closed: bool) -> None:
        """Close or open a connection.

        Args:
            name: Its name.
            closed: Whether it is to be closed.

        Raises:
            UnknownNameError: If there is none.
            HumanoidDynamicsError: If what is to be connected is apart.
        """
        if name not in self.connections:
            raise UnknownNameError("connection", name, self.connections)
        self.world.apply([Connect(self.connections[name]) if closed else Cut(name)])
        self._bind()

    def feel(self) -> list[FeltWrench]:
        """Return what the ground does to every surface, as its sensor would measure it in the last step.

        A surface stands for its whole link where the link has no other.
        """
        return [
            FeltWrench(name, *np.split(row, 2))
            for name, row in zip(self.world.robot.surfaces, self.measure_wrenches(), strict=True)
        ]

    def feel_links(self) -> list[FeltWrench]:
        """Return what the ground did in the last step to links that touch without a surface, in their own axes."""
        rows = self._measure(whole=False)[len(self.world.robot.surfaces) :]
        return [
            FeltWrench(name, *np.split(row, 2)) for name, row in zip(self.links, rows, strict=True)
        ]

    def measure_wrenches(self) -> Matrix:
        """Return what ``feel`` does as a table: (surfaces, 6) force and moment, in the order of the robot's surfaces [N, N·m]."""
        return self._measure(whole=False)[: len(self.world.robot.surfaces)]

    def mean_wrenches(self) -> Matrix:
        """Return the mean over all steps of the last ``advance``: (surfaces and links, 6) in their axes at its end [N, N·m]."""
        return self._measure(whole=True)

    def find_sunken(self) -> str:
        """Return which body has its centre of mass under the ground and how deep, in words; empty where none has."""
        world = self.world
        pin.forwardKinematics(world.robot.model, self._data, world.q)
        centres = np.array(
            [self._data.oMi[k].act(world.robot.model.inertias[k].lever) for k in self._heavy]
        ).reshape(-1, 3)
        depth = (
            np.array([-shape.probe(centres)[0] for shape in world.setup.terrain])
            .reshape(-1, len(centres))
            .max(axis=0, initial=-np.inf)
        )
        if not len(depth) or depth.max() < SUNKEN:
            return ""
        deepest = int(np.argmax(depth))
        return f"the centre of mass of joint {world.robot.model.names[self._heavy[deepest]]!r} is {depth[deepest]:.3g} m under the ground"

    def _measure(self, *, whole: bool) -> Matrix:
        """Return mean wrenches on surfaces and links, of the last step or of all steps of the last ``advance``."""
        world = self.world
        pin.forwardKinematics(world.robot.model, self._data, world.q)
        if not self._placements.shared:
            self._placements.refresh()
        felt: Matrix = np.empty_like(self._room)
        world.sum_wrenches(self._owner, felt)
        if whole:
            felt += self._before
        self._turn(
            felt, self._mounts, self._placements.poses, world.length + whole * self._time_before
        )
        return felt

    def place(self, name: str) -> Vector:
        """Return the pose of a link or REP-120 frame in the world, (7,), where ``feel`` was called last.

        Args:
            name: Its name.

        Raises:
            UnknownNameError: If there is none.
        """
        robot = self.world.robot
        return np.asarray(
            pin.SE3ToXYZQUAT(
                pin.updateFramePlacement(robot.model, self._data, robot.link_frame(name))
            )
        )

    def _bind(self) -> None:
        world = self.world
        if world.robot is self._robot:
            return
        self._robot, self._data = world.robot, world.robot.data()
        self._motors = {name: i for i, name in enumerate(world.actuated)}
        self._tau = np.zeros(len(world.actuated))
        self._known = ()
        self._placements = Placements(world.robot.model, self._data)
        surfaces = world.robot.surfaces
        owners = [
            find_owner(world.robot, *pair)
            for pair in zip(world.point_names, world.point_links, strict=True)
        ]
        self.links = tuple(
            name.removeprefix(LINK) for name in dict.fromkeys(owners) if name not in surfaces
        )
        rows = {
            name: row for row, name in enumerate((*surfaces, *(LINK + link for link in self.links)))
        }
        self._owner = np.full(len(world.tables.points), -1, dtype=np.intp)
        self._owner[: len(owners)] = [rows[name] for name in owners]
        self._before, self._room, self._time_before = (
            np.zeros((len(rows), 6)),
            np.zeros((len(rows), 6)),
            0.0,
        )
        self._heavy = [
            k
            for k in range(1, world.robot.model.njoints)
            if world.robot.model.inertias[k].mass > 0.0
        ]
        places = [
            *(surface.frame for surface in surfaces.values()),
            *(world.robot.link_frame(link) for link in self.links),
        ]
        frames = [world.robot.model.frames[place] for place in places]
        self._mounts = (
            np.array([frame.parentJoint for frame in frames], dtype=np.intp),
            np.array([frame.placement.rotation for frame in frames]).reshape(-1, 3, 3),
            np.array([frame.placement.translation for frame in frames]).reshape(-1, 3),
        )
        self._turn = (
            compile_kernel(turn_wrenches) if world.setup.compiled is not False else turn_wrenches
        )
