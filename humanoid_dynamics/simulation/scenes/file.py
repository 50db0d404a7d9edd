# SPDX-License-Identifier: Apache-2.0
"""Scene files: YAML with one schema, read key by key.

    title: A humanoid stands and is pushed.
    figures:                       # name -> robot of the catalogue or path
      human: {robot: human28, drive: {kp: 3000, kd: 60}, points: surfaces}   # points: surfaces, body or none
      legs: {robot: path/of.urdf, effort: 200}       # what its motors give, where its description says nothing of use
    objects:
      crate: {mass: 5, box: [0.3, 0.3, 0.3], xyz: [1, 0, 0.15], velocity: [2, 0, 0, 0, 0, 0], friction: 0.4}
    terrain:
      - plane: {slope: 0.1, friction: 0.8}         # height, slope and heading in m and rad
      - box: {size: [1, 1, 0.2], xyz: [2, 0, 0.1]}
      - steps: {count: 3, rise: 0.15, run: 0.3, start: 0.5}
    contact: friction              # or paper
    integrator: fast               # or accurate
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
    watches:                       # a connection is cut when a point leaves a rectangle, found to 10 us
      - {cut: left_slot, link: figure/left_thigh, xyz: [0, 0, -0.2], plate: {link: swing/swing, xyz: [0, 0, -1.8]}, half: [0.15, 0.3]}
    gait: {rule: minimum_torque, kp: 600, kd: 12}    # drives the planar biped through a step
    tolerated: {penetration: {limit: 2e-3, why: It lands hard.}}   # a figure of the run that may be larger than a step promises
    parameters: {release: 0.8}     # `$release` elsewhere stands for the value, which may be given when the scene is run

A connection with `here: true` is closed where its links are; so is one that an event closes by `grasp`.  With a single figure names
are those of its robot; with several they begin with the name of the figure.  Objects touch one another and the figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_dynamics.control.snake_driver import GAIT
from humanoid_dynamics.errors import HumanoidDynamicsError, UnknownNameError
from humanoid_dynamics.model.loop import LOOP_KINDS, LoopClosure
from humanoid_dynamics.model.reading.description_file import load_yaml
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import State
from humanoid_dynamics.papers.biped.schedule import STEP_RULES
from humanoid_dynamics.papers.snake.robot import find_snake
from humanoid_dynamics.simulation.scenes.events import read_moments, read_watches
from humanoid_dynamics.simulation.scenes.figures import Figure, read_figure, read_object
from humanoid_dynamics.simulation.scenes.gait_driver import GaitDriver
from humanoid_dynamics.simulation.scenes.names import scene_folder, scene_names
from humanoid_dynamics.simulation.scenes.order import check_order
from humanoid_dynamics.simulation.scenes.parameters import fill_parameters
from humanoid_dynamics.simulation.scenes.reader import SceneReader
from humanoid_dynamics.simulation.scenes.scene import CHECKS, Scene, Tolerated
from humanoid_dynamics.simulation.scenes.several import join_figures
from humanoid_dynamics.simulation.scenes.snake_pilot import Driving
from humanoid_dynamics.simulation.scenes.terrain import read_shapes
from humanoid_dynamics.simulation.setup import CONTACTS, INTEGRATORS, LONGEST_STEP, Setup

KEYS = (
    "title",
    "figures",
    "objects",
    "terrain",
    "contact",
    "gravity",
    "connections",
    "events",
    "seconds",
    "dt",
    "limits",
    "integrator",
    "watches",
    "gait",
    "snake",
    "tolerated",
)
DRIVING_KEYS = (
    "heading",
    "friction",
    "turn_rate",
    "speed",
    "swing",
    "period",
    "speed_gain",
    "stiffness",
    "damping",
    "largest_torque",
)
LONGEST = 3600.0


def load_scene(name: str, parameters: Mapping[str, str] | None = None) -> Scene:
    """Load a scene.

    Args:
        name: Name of a scene that comes with the package, or path of a YAML file.
        parameters: Name -> value, as it would stand in the file, for parameters of the scene; those of the file where left out.

    Returns:
        The scene.

    Raises:
        UnknownNameError: If it is neither.
        DescriptionError: If the file breaks the schema or names what does not exist.
    """
    path = scene_folder() / f"{name}.yaml" if name in scene_names() else Path(name).expanduser()
    if not path.is_file():
        raise UnknownNameError("scene or YAML file", name, scene_names())
    return read_scene(load_yaml(path), str(path), path.stem, parameters)


def read_scene(
    content: object,
    origin: str = "scene",
    name: str = "scene",
    parameters: Mapping[str, str] | None = None,
) -> Scene:
    """Turn the content of a scene file into a scene.

    Args:
        content: What the file holds.
        origin: Where it came from, for messages.
        name: Name of the scene.
        parameters: Name -> value for parameters of the scene.

    Returns:
        The scene.

    Raises:
        DescriptionError: Naming the key that is unknown or makes no sense.
    """
    reader = SceneReader(origin)
    table = reader.table(fill_parameters(reader, content, parameters or {}), "", KEYS)
    whole = _read_figures(reader, table)
    connections, closed, here = _read_connections(reader, table, whole.robot)
    driver = _read_driver(reader, table, whole.robot)
    terrain = [
        shape
        for k, entry in enumerate(reader.listed(table.get("terrain", []), "terrain"))
        for shape in read_shapes(reader, entry, k)
    ]
    gravity = reader.vector(table.get("gravity", [0.0, 0.0, -9.81]), "gravity")
    contact = reader.word(table.get("contact", "friction"), "contact", CONTACTS)
    setup = Setup(
        tuple(terrain),
        whole.points,
        contact,
        (gravity[0], gravity[1], gravity[2]),
        reader.truth(table, "limits", "limits", default=True),
        whole.drive,
        whole.passive,
        shapes=whole.shapes,
        integrator=reader.word(table.get("integrator", "fast"), "integrator", INTEGRATORS),
    )
    moments = read_moments(reader, table, connections, whole.robot)
    watches = read_watches(reader, table.get("watches", []), connections, whole.robot)
    check_order(reader, table, (*closed, *here), [watch.cut for watch in watches])
    return Scene(
        name,
        reader.word(table.get("title", name), "title"),
        whole.robot,
        setup,
        State(whole.q, whole.v) if driver is None else driver.start(),
        {key: connections[key] for key in closed},
        moments,
        reader.number(table.get("seconds", 2.0), "seconds", 0.0, LONGEST),
        reader.number(table.get("dt", 1e-3), "dt", 1e-6, LONGEST_STEP),
        {key: connections[key] for key in here},
        watches,
        driver,
        _read_driving(reader, table["snake"], whole.robot) if "snake" in table else None,
        _read_tolerated(reader, table.get("tolerated", {})),
    )


def _read_figures(reader: SceneReader, table: Mapping[str, Any]) -> Figure:
    figures: dict[str, Figure] = {}
    for group, read in (("figures", read_figure), ("objects", read_object)):
        for name, content in reader.table(table.get(group, {}), group).items():
            if name in figures:
                raise reader.refuse(f"{group}.{name}", "is also the name of a figure")
            figures[name] = read(reader, content, f"{group}.{name}")
    try:
        return join_figures(figures)
    except HumanoidDynamicsError as cause:
        raise reader.refuse("figures", str(cause)) from cause


def _read_connections(
    reader: SceneReader, table: Mapping[str, Any], robot: RobotModel
) -> tuple[dict[str, LoopClosure], list[str], list[str]]:
    """Return all connections, and the names of those that are closed at the start, and of those that are where their links are."""
    connections: dict[str, LoopClosure] = {}
    closed: list[str] = []
    here: list[str] = []
    for name, content in reader.table(table.get("connections", {}), "connections").items():
        key = f"connections.{name}"
        entry = reader.table(content, key, ("kind", "a", "b", "open", "here"))
        kind = reader.word(entry.get("kind", "fixed"), f"{key}.kind", LOOP_KINDS)
        ends = []
        for end in ("a", "b"):
            frame = reader.table(
                entry.get(end, {}), f"{key}.{end}", ("link", "point", "xyz", "rpy")
            )
            if "point" in frame:
                point = robot.control_points[
                    reader.word(frame["point"], f"{key}.{end}.point", robot.control_points)
                ]
                ends.append((point.link, point.X_LP * reader.pose(frame, f"{key}.{end}")))
            else:
                link = reader.word(
                    frame.get("link", ""), f"{key}.{end}.link", (*robot.links, "world")
                )
                ends.append((link, reader.pose(frame, f"{key}.{end}")))
        connections[name] = LoopClosure(name, kind, *ends[0], *ends[1])
        is_open, is_here = (
            reader.truth(entry, word, f"{key}.{word}", default=False) for word in ("open", "here")
        )
        if not is_open:
            (here if is_here else closed).append(name)
    return connections, closed, here


def _read_driver(
    reader: SceneReader, table: Mapping[str, Any], robot: RobotModel
) -> GaitDriver | None:
    if "gait" not in table:
        return None
    entry = reader.table(table["gait"], "gait", ("rule", "kp", "kd"))
    gains = {
        name: reader.number(entry[name], f"gait.{name}", 0.0)
        for name in ("kp", "kd")
        if name in entry
    }
    rule = reader.word(entry.get("rule", "recommended_transition"), "gait.rule", STEP_RULES)
    try:
        return GaitDriver(robot, rule, **gains)
    except HumanoidDynamicsError as cause:
        raise reader.refuse("gait", str(cause)) from cause


def _read_tolerated(reader: SceneReader, content: object) -> dict[str, Tolerated]:
    found = {}
    for name, entry in reader.table(content, "tolerated", CHECKS).items():
        table = reader.table(entry, f"tolerated.{name}", ("limit", "why"))
        limit = reader.number(table.get("limit"), f"tolerated.{name}.limit", 0.0)
        found[name] = Tolerated(limit, reader.word(table.get("why"), f"tolerated.{name}.why"))
    return found


def _read_driving(reader: SceneReader, content: object, robot: RobotModel) -> Driving:
    table = reader.table(content, "snake", DRIVING_KEYS)
    low = {"heading": -np.inf, "speed": 0.0, "swing": 0.0}
    numbers = {
        name: reader.number(value, f"snake.{name}", low.get(name, 1e-6))
        for name, value in table.items()
    }
    own = {
        name: numbers.pop(name) for name in ("heading", "friction", "turn_rate") if name in numbers
    }
    try:
        find_snake(robot)
    except HumanoidDynamicsError as cause:
        raise reader.refuse("snake", str(cause)) from cause
    return Driving(**own, gait=replace(GAIT, **numbers))
