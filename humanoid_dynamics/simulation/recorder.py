# SPDX-License-Identifier: Apache-2.0
"""What a world did, sample by sample: in memory, on disk, and as one number that tells two runs apart.

    q, v      configuration and velocity
    tau       torque of each motor and its drive [N·m, N]
    wrench    force and moment of each contact, in its frame at its origin [N, N·m]: contact surfaces, and links that touch otherwise
    energy    kinetic, potential, and work since the start by who did it; ``missing`` is the energy error [J]
    audit     depth, closure and certificate of the contacts, points that carry force, momentum that nobody gave in a step
    balance   centre of mass [m], momentum [kg·m/s], spin about the centre of mass [kg·m²/s], force of what stands still [N]

and what the gauges of the world read.  Contact forces are means over the whole of a step, impacts included.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.formats.columns import entry_names, velocity_columns
from humanoid_dynamics.series.files import save_record
from humanoid_dynamics.series.layout import WRENCH, BodyPlace, JointPlace, Layout
from humanoid_dynamics.series.record import Record
from humanoid_dynamics.series.sink import MemorySink, Sink
from humanoid_dynamics.simulation.books import ENTRIES, find_forgotten_rotors, measure_kinetic
from humanoid_dynamics.simulation.contacts.contact_wrenches import ContactWrenches
from humanoid_dynamics.simulation.scenes.scene import Scene
from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.spatial.arrays import Vector

ENERGY = ("kinetic", "potential", *ENTRIES, "missing")
AUDIT = ("depth", "closure", "residual", "complementarity", "cone", "touching", "momentum", "spin")
BALANCE = tuple(f"{what}_{axis}" for what in ("com", "momentum", "spin", "force") for axis in "xyz")


class Recorder:
    """Takes a sample after every so many steps of a world.

    Attributes:
        world: The world.
        every: Steps between samples.
        about: What it is a record of.
    """

    def __init__(
        self,
        world: World,
        every: int = 1,
        *,
        sinks: Sequence[Sink] | None = None,
        about: Mapping[str, str] | None = None,
    ) -> None:
        """Begin.

        Args:
            world: The world.
            every: Steps between samples.
            sinks: Where samples go; into memory where left out.
            about: What it is a record of, in words.
        """
        self.world, self.every = world, max(1, every)
        self.about = dict(about or {})
        self._sinks: list[Sink] = [MemorySink()] if sinks is None else list(sinks)
        self._total = hashlib.sha256()
        self._steps = self._count = 0
        self._robot: RobotModel | None = None
        self.take()
        world.add_hook("after_step", self._after_step)

    def __len__(self) -> int:
        return self._count

    def take(self) -> None:
        """Take a sample now."""
        world = self.world
        if world.robot is not self._robot:
            self._begin(world)
        for numbers in (np.float64(world.t), world.q, world.v, world.tau, world.books.account):
            self._total.update(numbers.tobytes())
        if self._sinks:
            rows = self._measure(world)
            for sink in self._sinks:
                sink.write(world.t, rows)
        self._count += 1

    def record(self) -> Record:
        """Return what was taken until now.

        Raises:
            HumanoidDynamicsError: If samples do not go into memory.
        """
        for sink in self._sinks:
            if isinstance(sink, MemorySink):
                return sink.record(self.about)
        raise HumanoidDynamicsError("this recorder streams its samples to a file; read that file")

    def digest(self) -> str:
        """Return the SHA-256 of time, state, torques and books at all samples; equal for equal runs, in any process, whoever keeps them.

        To find it takes a quarter of a compiled step; what a sample holds besides is measured only where samples go somewhere.
        """
        return self._total.hexdigest()

    def save(self, path: str | Path) -> None:
        """Write what was taken until now into a file: ``.npz``, ``.mcap``, or the folder of a bag.

        Args:
            path: The file; missing folders are made.
        """
        save_record(self.record(), path)

    def close(self) -> None:
        """Finish the files."""
        for sink in self._sinks:
            sink.close()

    def _begin(self, world: World) -> None:
        """Take note of a tree of bodies that is new."""
        self._robot, self._data = world.robot, world.robot.data()
        self._names = frozenset(world.point_names)
        self._forgotten = find_forgotten_rotors(world.robot.model)
        self._wrenches = ContactWrenches(world.robot, world.setup.points, world.point_names)
        layout = build_layout(world, self._wrenches)
        self._total.update(layout.dump().encode())
        for sink in self._sinks:
            sink.begin(layout)

    def _measure(self, world: World) -> dict[str, Vector]:
        model, data, books = world.robot.model, self._data, world.books
        *certificate, _, depth = world._stepper.certificate
        kinetic = measure_kinetic(model, data, world.q, world.v, self._forgotten)
        potential = pin.computePotentialEnergy(model, data)
        h = pin.computeCentroidalMomentum(model, data)
        forces = world.point_forces()
        edges = world.contact_forces() if len(forces) < len(world.tables.points) else ()
        edges = tuple(edge for edge in edges if edge.point not in self._names)
        wrench = self._wrenches.measure(data, forces, world._stepper.whole_touching)
        self._wrenches.add_edges(data, edges, wrench)
        touching = float(np.count_nonzero(forces.any(axis=1)) + len(edges))
        return {
            "q": world.q,
            "v": world.v,
            "tau": world.tau + world.drive_torques,
            "wrench": wrench,
            "energy": np.array(
                [kinetic, potential, *(books.work[name] for name in ENTRIES), books.missing]
            ),
            "audit": np.array(
                [depth, world._stepper.closure, *certificate, touching, *world.unexplained]
            ),
            "balance": np.concatenate((data.com[0], h.linear, h.angular, world.ground_force())),
            **{name: gauge.read() for name, gauge in world.gauges.items()},
        }

    def _after_step(self, _world: World) -> None:
        self._steps += 1
        if self._steps % self.every == 0:
            self.take()


def describe_run(scene: Scene) -> dict[str, str]:
    """Tell what a record of a scene is a record of.

    Args:
        scene: The scene.

    Returns:
        Scene, title and robot, and its URDF where it is a single one that has one.
    """
    about = {"scene": scene.name, "title": scene.title, "robot": scene.robot.name}
    return {**about, "urdf": scene.robot.urdf} if scene.robot.urdf else about


def build_layout(world: World, wrenches: ContactWrenches) -> Layout:
    """Return what samples of a world are made of.

    Args:
        world: The world.
        wrenches: Its contacts.

    Returns:
        The layout.
    """
    robot, motors = world.robot, list(world.actuated)
    joints = tuple(
        JointPlace(
            joint.name,
            joint.q.start,
            joint.v.start,
            motors.index(joint.name) if joint.name in motors else -1,
        )
        for joint in robot.joints
        if joint.q.stop - joint.q.start == 1 and joint.v.stop - joint.v.start == 1
    )
    bodies = tuple(
        BodyPlace(joint.child, joint.q.start, joint.v.start)
        for joint in robot.joints
        if joint.kind == "free_flyer"
    )
    columns = {
        "q": entry_names(robot),
        "v": velocity_columns(robot),
        "tau": world.actuated,
        "wrench": tuple(f"{patch.name}.{axis}" for patch in wrenches.patches for axis in WRENCH),
        "energy": ENERGY,
        "audit": AUDIT,
        "balance": BALANCE,
        **{name: gauge.columns for name, gauge in world.gauges.items()},
    }
    return Layout(columns, joints, bodies, wrenches.patches)
