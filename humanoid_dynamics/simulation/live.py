"""A world that is driven from outside while it runs: commands that come late or wrong, pushes, pauses, a fresh start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.dynamics.placements import Placements
from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.simulation.contacts.felt_kernel import turn_wrenches
from humanoid_dynamics.simulation.contacts.terrain import build_plane
from humanoid_dynamics.simulation.scenes.run import build_world
from humanoid_dynamics.simulation.scenes.scene import Scene
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import choose_compiler, compile_kernel
from humanoid_dynamics.structure.events import Connect, Cut

COMMON = 1e-3  # s; a step


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
    """

    def __init__(self, make: Callable[[], World], connections: dict[str, LoopClosure] | None = None) -> None:
        """Make the world.

        Args:
            make: Makes it, at its beginning.
            connections: Connections that can be closed and opened, by name.
        """
        self._make = make
        self.connections = connections or {}
        self.reset()

    @classmethod
    def of_robot(cls, robot: RobotModel, *, compiled: bool | None = False) -> LiveWorld:
        """Return a robot in its resting posture on a plane.

        Args:
            robot: The robot.
            compiled: Whether numba compiles its steps; where it is installed, if None.

        Raises:
            MissingExtraError: If numba is asked for and not installed.
        """
        return cls(lambda: World(robot, Setup(terrain=(build_plane(),), compiled=compiled)))

    @classmethod
    def of_scene(cls, scene: Scene) -> LiveWorld:
        """Return a scene at its beginning; its moments are left to whoever drives it.

        Args:
            scene: The scene.
        """
        connections = dict(scene.connections)
        for moment in scene.moments:
            connections |= {event.loop.name: event.loop for event in moment.events if isinstance(event, Connect)}
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
            self._places = np.array([self._motors[name] for name in names if name in self._motors], dtype=np.intp)
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
        if self.begun and not self.paused:
            for _ in range(steps):
                self.world.step(dt, self._tau)
        return self.world.reason

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
        self.world.push(self.world.robot.aliases.get(link, link), force.tolist(), duration, moment=moment.tolist())

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
        """Return what the ground does to every surface, as its sensor would measure it in the last step."""
        return [FeltWrench(name, row[:3], row[3:]) for name, row in zip(self.world.robot.surfaces, self.measure_wrenches(), strict=True)]

    def measure_wrenches(self) -> Matrix:
        """Return the same as a table: (surfaces, 6) force and moment, in the order of the robot's surfaces [N, N·m]."""
        world = self.world
        pin.forwardKinematics(world.robot.model, self._data, world.q)
        if not self._placements.shared:
            self._placements.refresh()
        felt: Matrix = np.empty((len(world.robot.surfaces), 6))
        world.sum_wrenches(self._owner, felt)
        self._turn(felt, self._mounts, self._placements.poses, world.span)
        return felt

    def place(self, name: str) -> Vector:
        """Return the pose of a link or REP-120 frame in the world, (7,), where ``feel`` was called last.

        Args:
            name: Its name.

        Raises:
            UnknownNameError: If there is none.
        """
        robot = self.world.robot
        return np.asarray(pin.SE3ToXYZQUAT(pin.updateFramePlacement(robot.model, self._data, robot.link_frame(name))))

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
        rows = {name: row for row, name in enumerate(surfaces)}
        self._owner = np.full(len(world.tables.points), -1, dtype=np.intp)
        self._owner[: len(world.point_names)] = [rows.get(name.rpartition(".")[0], -1) for name in world.point_names]
        frames = [world.robot.model.frames[surface.frame] for surface in surfaces.values()]
        self._mounts = (
            np.array([frame.parentJoint for frame in frames], dtype=np.intp),
            np.array([frame.placement.rotation for frame in frames]).reshape(-1, 3, 3),
            np.array([frame.placement.translation for frame in frames]).reshape(-1, 3),
        )
        self._turn = compile_kernel(turn_wrenches) if choose_compiler(world.setup.compiled) else turn_wrenches
