"""Scene files: YAML with one schema, read key by key.

    title: A humanoid stands and is pushed.
    figures:                       # name -> robot of the catalogue or path
      human: {robot: human28, drive: {kp: 3000, kd: 60}, points: surfaces}   # points: surfaces, body or none
    objects:
      crate: {mass: 5, box: [0.3, 0.3, 0.3], xyz: [1, 0, 0.15], velocity: [2, 0, 0, 0, 0, 0], friction: 0.4}
    terrain:
      - plane: {slope: 0.1, friction: 0.8}         # height, slope and heading in m and rad
      - box: {size: [1, 1, 0.2], xyz: [2, 0, 0.1]}
      - steps: {count: 3, rise: 0.15, run: 0.3, start: 0.5}
    contact: friction              # or paper
    gravity: [0, 0, -9.81]
    connections:                   # closed at the start unless `open: true`
      left_hand: {kind: spherical, a: {link: human/left_hand}, b: {link: swing/bar, xyz: [0, -0.1, 0]}}
    events:                        # things at one time happen together
      - {at: 1.0, push: {link: torso, force: [60, 0, 0], duration: 0.1}}
      - {at: 2.0, cut: [left_hand]}                # likewise `connect`
      - {at: 3.0, heading: 1.2}                     # of the snake [rad]
    snake: {heading: 0, speed: 0.3, swing: 0.6, period: 2, friction: 0.6}   # drives what has wheels like a snake
    seconds: 3
    dt: 0.001
    limits: true                   # whether joints stop at their limits

With a single figure names are those of its robot; with several they begin with the name of the figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from humanoid_dynamics.control.snake_driver import GAIT
from humanoid_dynamics.errors import DescriptionError, HumanoidDynamicsError, UnknownNameError
from humanoid_dynamics.model.loop import LOOP_KINDS, LoopClosure
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import State
from humanoid_dynamics.simulation.figures import Figure, read_figure, read_object
from humanoid_dynamics.simulation.scene import Moment, Scene, TimedPush
from humanoid_dynamics.simulation.scene_reader import SceneReader
from humanoid_dynamics.simulation.setup import CONTACTS, LONGEST_STEP, Setup, ShapeSpec
from humanoid_dynamics.simulation.several import join_figures
from humanoid_dynamics.simulation.snake_pilot import Driving
from humanoid_dynamics.simulation.terrain import build_box, build_plane, build_steps
from humanoid_dynamics.snake.robot import find_snake
from humanoid_dynamics.structure.events import Connect, Cut, Event

KEYS = ("title", "figures", "objects", "terrain", "contact", "gravity", "connections", "events", "seconds", "dt", "limits", "snake")
DRIVING_KEYS = ("heading", "friction", "turn_rate", "speed", "swing", "period", "speed_gain", "stiffness", "damping", "largest_torque")
LONGEST = 3600.0
LARGEST_FILE = 200_000


def scene_names() -> tuple[str, ...]:
    """Return the names of all scenes that come with the package, sorted."""
    return tuple(sorted(path.stem for path in _folder().glob("*.yaml")))


def load_scene(name: str) -> Scene:
    """Load a scene.

    Args:
        name: Name of a scene that comes with the package, or path of a YAML file.

    Returns:
        The scene.

    Raises:
        UnknownNameError: If it is neither.
        DescriptionError: If the file breaks the schema or names what does not exist.
    """
    path = _folder() / f"{name}.yaml" if name in scene_names() else Path(name).expanduser()
    if not path.is_file():
        raise UnknownNameError("scene or YAML file", name, scene_names())
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise DescriptionError(str(path), "file", f"has more than {LARGEST_FILE} bytes")
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as cause:
        raise DescriptionError(str(path), "YAML", " ".join(str(cause).split())) from cause
    return read_scene(content, str(path), path.stem)


def read_scene(content: object, origin: str = "scene", name: str = "scene") -> Scene:
    """Turn the content of a scene file into a scene.

    Args:
        content: What the file holds.
        origin: Where it came from, for messages.
        name: Name of the scene.

    Returns:
        The scene.

    Raises:
        DescriptionError: Naming the key that is unknown or makes no sense.
    """
    reader = SceneReader(origin)
    table = reader.table(content, "", KEYS)
    whole = _read_figures(reader, table)
    connections, closed = _read_connections(reader, table, whole.robot)
    terrain = [
        shape for k, entry in enumerate(reader.listed(table.get("terrain", []), "terrain")) for shape in _read_shapes(reader, entry, k)
    ]
    gravity = reader.vector(table.get("gravity", [0.0, 0.0, -9.81]), "gravity")
    limits = table.get("limits", True)
    if not isinstance(limits, bool):
        raise reader.refuse("limits", f"received {limits!r:.60}, expected true or false")
    contact = reader.word(table.get("contact", "friction"), "contact", CONTACTS)
    setup = Setup(tuple(terrain), whole.points, contact, (gravity[0], gravity[1], gravity[2]), limits, whole.drive, whole.passive)
    return Scene(
        name,
        reader.word(table.get("title", name), "title"),
        whole.robot,
        setup,
        State(whole.q, whole.v),
        {key: connections[key] for key in closed},
        _read_moments(reader, table, connections, whole.robot),
        reader.number(table.get("seconds", 2.0), "seconds", 0.0, LONGEST),
        reader.number(table.get("dt", 1e-3), "dt", 1e-6, LONGEST_STEP),
        _read_driving(reader, table["snake"], whole.robot) if "snake" in table else None,
    )


def _read_figures(reader: SceneReader, table: Mapping[str, Any]) -> Figure:
    figures: dict[str, Figure] = {}
    for group, read in (("figures", read_figure), ("objects", read_object)):
        for name, content in reader.table(table.get(group, {}), group).items():
            if name in figures:
                raise reader.refuse(f"{group}.{name}", "is the name of a figure too")
            figures[name] = read(reader, content, f"{group}.{name}")
    try:
        return join_figures(figures)
    except HumanoidDynamicsError as cause:
        raise reader.refuse("figures", str(cause)) from cause


def _read_connections(reader: SceneReader, table: Mapping[str, Any], robot: RobotModel) -> tuple[dict[str, LoopClosure], list[str]]:
    """Return all connections, and the names of those that are closed at the start."""
    connections, closed = {}, []
    for name, content in reader.table(table.get("connections", {}), "connections").items():
        key = f"connections.{name}"
        entry = reader.table(content, key, ("kind", "a", "b", "open"))
        kind = reader.word(entry.get("kind", "fixed"), f"{key}.kind", LOOP_KINDS)
        ends = []
        for end in ("a", "b"):
            frame = reader.table(entry.get(end, {}), f"{key}.{end}", ("link", "point", "xyz", "rpy"))
            if "point" in frame:
                point = robot.control_points[reader.word(frame["point"], f"{key}.{end}.point", robot.control_points)]
                ends.append((point.link, point.X_LP * reader.pose(frame, f"{key}.{end}")))
            else:
                link = reader.word(frame.get("link", ""), f"{key}.{end}.link", (*robot.links, "world"))
                ends.append((link, reader.pose(frame, f"{key}.{end}")))
        connections[name] = LoopClosure(name, kind, *ends[0], *ends[1])
        if not entry.get("open", False):
            closed.append(name)
    return connections, closed


def _read_shapes(reader: SceneReader, content: object, index: int) -> tuple[ShapeSpec, ...]:
    key = f"terrain[{index}]"
    entry = reader.table(content, key, ("plane", "box", "steps"))
    if len(entry) != 1:
        raise reader.refuse(key, "expected one of plane, box, steps")
    kind, values = next(iter(entry.items()))
    key = f"{key}.{kind}"
    known = {
        "plane": ("height", "slope", "heading", "friction", "restitution"),
        "box": ("size", "xyz", "rpy", "friction", "restitution"),
        "steps": ("count", "rise", "run", "width", "start", "friction"),
    }[kind]
    table = reader.table({} if values is None else values, key, known)
    numbers = {name: reader.number(value, f"{key}.{name}") for name, value in table.items() if name not in {"size", "xyz", "rpy"}}
    vectors = {name: reader.vector(value, f"{key}.{name}") for name, value in table.items() if name in {"size", "xyz", "rpy"}}
    try:
        if kind == "plane":
            return (build_plane(name=f"plane{index}", **numbers),)
        if kind == "steps":
            return build_steps(
                int(reader.number(table.get("count", 3), f"{key}.count", 1, 100)), **{k: v for k, v in numbers.items() if k != "count"}
            )
        size, xyz = vectors.pop("size", None), vectors.pop("xyz", None)
        if size is None or xyz is None:
            raise reader.refuse(key, "a box needs size and xyz")
        return (build_box(size, xyz, rpy=vectors.get("rpy", (0.0, 0.0, 0.0)), name=f"box{index}", **numbers),)
    except HumanoidDynamicsError as cause:
        raise cause if isinstance(cause, DescriptionError) else reader.refuse(key, str(cause)) from cause


def _read_moments(
    reader: SceneReader, table: Mapping[str, Any], connections: Mapping[str, LoopClosure], robot: RobotModel
) -> tuple[Moment, ...]:
    moments: dict[float, list[Moment]] = {}
    for k, content in enumerate(reader.listed(table.get("events", []), "events")):
        key = f"events[{k}]"
        entry = reader.table(content, key, ("at", "push", "cut", "connect", "heading"))
        at = reader.number(entry.get("at"), f"{key}.at", 0.0)
        events: list[Event] = []
        said = []
        for verb in ("cut", "connect"):
            for name in _names(entry.get(verb, [])):
                reader.word(name, f"{key}.{verb}", connections)
                events.append(Cut(name) if verb == "cut" else Connect(connections[name]))
                said.append(f"{verb} {name}")
        pushes = (_read_push(reader, entry["push"], f"{key}.push", robot),) if "push" in entry else ()
        heading = _read_heading(reader, entry, key, "snake" in table)
        said += [f"push {push.link}" for push in pushes] + ([] if heading is None else [f"heading {heading:g} rad"])
        moments.setdefault(at, []).append(Moment(at, tuple(events), pushes, ", ".join(said), heading))
    return tuple(_merge(group) for _, group in sorted(moments.items()))


def _merge(group: list[Moment]) -> Moment:
    """Return things that happen at one time as one; of several headings the last counts."""
    headings = [moment.heading for moment in group if moment.heading is not None]
    events = tuple(event for moment in group for event in moment.events)
    pushes = tuple(push for moment in group for push in moment.pushes)
    return Moment(group[0].at, events, pushes, ", ".join(moment.label for moment in group), headings[-1] if headings else None)


def _read_heading(reader: SceneReader, entry: Mapping[str, Any], key: str, is_driven: bool) -> float | None:
    if "heading" not in entry:
        return None
    if not is_driven:
        raise reader.refuse(f"{key}.heading", "needs a snake that is driven; the scene has no key `snake`")
    return reader.number(entry["heading"], f"{key}.heading")


def _read_driving(reader: SceneReader, content: object, robot: RobotModel) -> Driving:
    table = reader.table(content, "snake", DRIVING_KEYS)
    low = {"heading": -np.inf, "speed": 0.0, "swing": 0.0}
    numbers = {name: reader.number(value, f"snake.{name}", low.get(name, 1e-6)) for name, value in table.items()}
    own = {name: numbers.pop(name) for name in ("heading", "friction", "turn_rate") if name in numbers}
    try:
        find_snake(robot)
    except HumanoidDynamicsError as cause:
        raise reader.refuse("snake", str(cause)) from cause
    return Driving(**own, gait=replace(GAIT, **numbers))


def _read_push(reader: SceneReader, content: object, key: str, robot: RobotModel) -> TimedPush:
    table = reader.table(content, key, ("link", "force", "moment", "point", "duration"))
    link = reader.word(table.get("link", ""), f"{key}.link", (*robot.links, *robot.aliases))
    vectors = {name: reader.vector(table.get(name, [0.0, 0.0, 0.0]), f"{key}.{name}") for name in ("force", "moment", "point")}
    return TimedPush(link, **vectors, duration=reader.number(table.get("duration", 0.1), f"{key}.duration", 0.0))


def _names(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _folder() -> Path:
    return Path(str(resources.files("humanoid_dynamics"))) / "config" / "scenes"
