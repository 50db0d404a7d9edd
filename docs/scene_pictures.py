# SPDX-License-Identifier: Apache-2.0
"""Pictures of scenes: ``docs/images/scene_NAME.png``.

A picture shows the bodies at six instants, red arrows for contact forces (half a metre is the weight), and the curve that matters.  A scene
that is not in the table below gets its height and its contact force.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import radians
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.standing.footprint import CORNERS
from humanoid_dynamics.plotting.filmstrip import Graph, Instant, draw_filmstrip
from humanoid_dynamics.plotting.silhouette import Outline, list_solids, outline, see, see_box, view
from humanoid_dynamics.series.record import Record
from humanoid_dynamics.simulation.contacts.terrain import Plane
from humanoid_dynamics.simulation.recorder import Recorder
from humanoid_dynamics.simulation.scenes.file import load_scene
from humanoid_dynamics.simulation.scenes.run import Summary, build_world, run_scene
from humanoid_dynamics.simulation.scenes.scene import Scene
from humanoid_dynamics.simulation.world import World

COUNT = 6


@dataclass(frozen=True)
class Look:
    """How a scene is shown.

    Attributes:
        graph: Makes the curve from the record and the summary.
        azimuth: Where one looks, about z [degrees]; zero is from the right side.
        elevation: How far from above [degrees].
        instants: When [s]; evenly over the scene where left out.
        reach: How much of a plane is drawn around the bodies [m].
        together: Whether all instants are drawn where the bodies were, instead of side by side.
    """

    graph: Callable[[Scene, Record, Summary], Graph]
    azimuth: float = 35.0
    elevation: float = 12.0
    instants: tuple[float, ...] = ()
    reach: float = 0.55
    together: bool = False


def show_energy(_scene: Scene, record: Record, summary: Summary) -> Graph:
    """Kinetic and potential energy, and freedoms of each phase."""
    energy = record.table("energy")
    kinetic, potential = energy.column("kinetic"), energy.column("potential")
    height = potential - potential[0]
    missing = np.abs(energy.column("missing")).max()
    marks = {
        phase.t: f"N_F = {phase.mobility}" + (f", {phase.label}" if phase.t else "")
        for phase in summary.phases
    }
    curves = {"kinetic": kinetic, "potential": height, "total": kinetic + height}
    return Graph(
        f"energy from the start; error at most {missing:.1e} J", "J", record.t, curves, marks
    )


def show_load(scene: Scene, record: Record, _summary: Summary) -> Graph:
    """Vertical contact force, whole and of each surface that carries some."""
    weight = scene.robot.mass * 9.81
    total = record.table("balance").column("force_z")
    curves = {"all contacts": total}
    for patch in record.patches:
        wrench = record.wrench(patch.name)
        if (
            len(patch.corners) > 2
            and wrench[:, 2].max() > 0.05 * weight
            and wrench[:, 2].min() > -1.0
        ):
            curves[patch.name] = wrench[:, 2]
    ceiling = 4.0 * weight
    drawn = {name: np.minimum(values, ceiling) for name, values in curves.items()}
    peak = f"; peak {total.max():.0f} N" if total.max() > 1.05 * weight else ""
    return Graph(
        f"normal force; weight {weight:.1f} N, at the end {total[-1]:.1f} N{peak}",
        "N",
        record.t,
        drawn,
        _pushes(scene),
        weight,
    )


def show_way(scene: Scene, record: Record, _summary: Summary) -> Graph:
    """How far a body came."""
    x = record.table("q").column("base_x")
    return Graph(
        f"way; it stops at {x[-1]:.4f} m, v²/(2 mu g) = 0.5097 m",
        "m",
        record.t,
        {"x": x},
        _pushes(scene),
        0.5097,
    )


def show_tilt(scene: Scene, record: Record, _summary: Summary) -> Graph:
    """How far a body leans."""
    q = record.table("q")
    turn = np.column_stack([q.column(f"base_q{axis}") for axis in "xyzw"])
    tilt = np.degrees(2.0 * np.arctan2(turn[:, 1], turn[:, 3]))
    return Graph(
        f"tilt; it lies at {tilt[-1]:.2f} degrees",
        "degrees",
        record.t,
        {"tilt": tilt},
        _pushes(scene),
        90.0,
    )


def show_heights(scene: Scene, record: Record, _summary: Summary) -> Graph:
    """Height of every body that moves freely, or of the centre of mass where there is one."""
    q = record.table("q")
    names = [name for name in q.columns if name in {"base_z"} or name.endswith(("_joint.z", ".z"))]
    curves = {_owner(scene, name): q.column(name) for name in names} or {
        "com": record.table("balance").column("com_z")
    }
    ends = ", ".join(f"{name} {values[-1]:.3f} m" for name, values in curves.items())
    return Graph(f"height; at the end {ends}", "m", record.t, curves, _pushes(scene))


def show_grip(scene: Scene, record: Record, _summary: Summary) -> Graph:
    """Largest side force of the wheels of a snake, beside the force at which one slips."""
    forces, margins = np.abs(record.table("side_force").values), record.table("slip_margin").values
    bound = float((forces + margins).min())
    curves = {"largest of the wheels": forces.max(axis=1)}
    return Graph(
        f"side force; a wheel slips at {bound:.2f} N, least margin {margins.min():.2f} N",
        "N",
        record.t,
        curves,
        _pushes(scene),
        bound,
    )


LOOKS: dict[str, Look] = {
    "swing": Look(show_energy, 20.0, instants=(0.0, 0.9, 1.15, 1.35, 1.5, 1.75)),
    "highbar": Look(show_energy, 15.0),
    "ropes": Look(show_energy, 30.0),
    "standing": Look(show_load, 40.0),
    "closed_legs": Look(show_load, 40.0),
    "pushed": Look(show_load, 40.0, instants=(0.4, 0.8, 1.6, 2.15, 2.6, 3.8)),
    "falling": Look(show_load, 25.0, instants=(0.1, 0.5, 0.8, 1.1, 1.5, 3.8)),
    "talos_drop": Look(show_load, 40.0, instants=(0.0, 0.1, 0.16, 0.3, 0.8, 2.8)),
    "g1_drop": Look(show_load, 40.0, instants=(0.0, 0.1, 0.16, 0.3, 0.8, 2.8)),
    "sliding_box": Look(
        show_way, 20.0, 18.0, instants=(0.0, 0.15, 0.3, 0.95), reach=1.0, together=True
    ),
    "tipping_box": Look(show_tilt, 20.0, instants=(0.0, 0.3, 0.4, 0.5, 0.6, 2.8)),
    "snake": Look(show_grip, 0.0, 89.0, instants=(0.0, 4.0, 8.0, 11.0, 14.0, 19.0), together=True),
    "steps": Look(
        show_heights, 3.0, 9.0, instants=(0.0, 0.2, 0.38, 0.65, 1.0, 1.4), reach=2.0, together=True
    ),
}


def draw_scene(name: str, path: Path) -> None:
    """Run a scene and draw it.

    Args:
        name: The scene.
        path: The PNG.
    """
    scene = load_scene(name)
    look = LOOKS.get(name, Look(show_heights))
    world = build_world(scene)
    camera = Camera(scene, world, look)
    recorder = Recorder(world)
    world.add_hook("after_step", camera.watch)
    summary = run_scene(scene, world)
    draw_filmstrip(
        f"{name}: {scene.title}",
        camera.instants,
        look.graph(scene, recorder.record(), summary),
        path,
        together=look.together,
    )


class Camera:
    """Takes what is seen at the instants of a picture.

    Attributes:
        instants: What was taken.
    """

    def __init__(self, scene: Scene, world: World, look: Look) -> None:
        self.instants: list[Instant] = []
        self._axes = view(radians(look.azimuth), radians(look.elevation))
        self._robot: Any = None
        self._points = scene.setup.points
        self._terrain = scene.setup.terrain
        self._reach = look.reach
        self._weight = scene.robot.mass * 9.81
        last = scene.seconds - scene.dt
        self._wanted = list(look.instants or np.linspace(0.0, last, COUNT))
        self.watch(world)

    def watch(self, world: World) -> None:
        """Take an instant if it is time."""
        if not self._wanted or world.t < self._wanted[0] - 1e-9:
            return
        self._wanted.pop(0)
        if world.robot is not self._robot:
            self._robot, self._data = world.robot, world.robot.data()
            balls = (
                []
                if isinstance(self._points, str)
                else [(point.link, point.p_L, point.radius) for point in self._points]
            )
            self._solids = list_solids(world.robot, balls)
        seen = see(world.robot, self._solids, self._data, world.q, self._axes)
        middle = pin.centerOfMass(world.robot.model, self._data, world.q)
        forces = np.array(
            [
                (self._axes[:2] @ f.place, self._axes[:2] @ f.force / self._weight)
                for f in _sum_by_link(world)
            ]
        )
        ground = sorted(
            (
                one
                for shape in self._terrain
                for one in _see_shape(shape, middle, self._reach, self._axes)
            ),
            key=lambda one: -one.depth,
        )
        owners = list(dict.fromkeys(solid.owner for solid in self._solids))
        self.instants.append(Instant(world.t, seen, ground, owners, forces.reshape(-1, 2, 2)))


@dataclass(frozen=True)
class _Force:
    place: Any
    force: Any


def _sum_by_link(world: World) -> list[_Force]:
    """Return one force for each link that touches, where it acts."""
    groups: dict[str, list[Any]] = {}
    for force in world.contact_forces():
        groups.setdefault(force.link, []).append(force)
    found = []
    for group in groups.values():
        sizes = np.array([np.linalg.norm(one.force) for one in group])
        place = sizes @ np.array([one.place for one in group]) / sizes.sum()
        found.append(_Force(place, np.sum([one.force for one in group], axis=0)))
    return [one for one in found if np.linalg.norm(one.force) > 0.02 * world.robot.mass * 9.81]


def _see_shape(shape: Any, middle: Any, reach: float, axes: Any) -> list[Outline]:
    if isinstance(shape, Plane):
        normal = np.asarray(shape.normal)
        foot = middle - (normal @ middle - shape.offset) * normal
        first = np.cross(normal, [0.0, 1.0, 0.0])
        first /= np.linalg.norm(first)
        second = np.cross(normal, first)
        corners = np.array(
            [foot + reach * (a * first + b * second) for a in (-1, 1) for b in (-1, 1)]
        )
        seen = outline(corners, 0.0, axes)
        return [Outline(seen.corners, seen.depth + 1e3, "")]
    corners = 2.0 * CORNERS * shape.half
    return see_box(corners @ shape.X_WB.rotation.T + shape.X_WB.translation, axes)


def _pushes(scene: Scene) -> dict[float, str]:
    return {moment.at: moment.label for moment in scene.moments}


def _owner(scene: Scene, column: str) -> str:
    stem = column.rpartition(".")[0].rpartition("/")[0]
    return stem or scene.robot.model.name.partition("/")[0]
