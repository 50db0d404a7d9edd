# SPDX-License-Identifier: Apache-2.0
"""What happens in a scene, and when: events, pushes, and conditions that cut a connection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.simulation.push import LARGEST_PUSH
from humanoid_dynamics.simulation.scenes.reader import SceneReader
from humanoid_dynamics.simulation.scenes.scene import Moment, TimedPush
from humanoid_dynamics.simulation.scenes.watch import Watch
from humanoid_dynamics.structure.events import Connect, Cut, Event

PARTS = ("force", "moment", "point")  # of a push


def read_moments(
    reader: SceneReader,
    table: Mapping[str, Any],
    connections: Mapping[str, LoopClosure],
    robot: RobotModel,
) -> tuple[Moment, ...]:
    """Read what happens when.

    Args:
        reader: Reads values.
        table: The scene.
        connections: Connections by name.
        robot: All figures and objects.

    Returns:
        Moments in order of time; what happens at one time happens together.

    Raises:
        DescriptionError: If a value makes no sense.
    """
    moments: dict[float, list[Moment]] = {}
    for k, content in enumerate(reader.listed(table.get("events", []), "events")):
        key = f"events[{k}]"
        entry = reader.table(content, key, ("at", "push", "cut", "connect", "grasp", "heading"))
        at = reader.number(entry.get("at"), f"{key}.at", 0.0)
        events: list[Event] = []
        said = []
        for verb in ("cut", "connect"):
            for name in _names(entry.get(verb, [])):
                reader.word(name, f"{key}.{verb}", connections)
                events.append(Cut(name) if verb == "cut" else Connect(connections[name]))
                said.append(f"{verb} {name}")
        grasps = tuple(
            connections[reader.word(name, f"{key}.grasp", connections)]
            for name in _names(entry.get("grasp", []))
        )
        said += [f"grasp {loop.name}" for loop in grasps]
        pushes = (
            (_read_push(reader, entry["push"], f"{key}.push", robot),) if "push" in entry else ()
        )
        said += [f"push {push.link}" for push in pushes]
        heading = _read_heading(reader, entry, key, is_driven="snake" in table)
        said += [] if heading is None else [f"heading {heading:g} rad"]
        if not said:
            raise reader.refuse(
                key, "contains no event; expected push, cut, connect, grasp or heading"
            )
        moments.setdefault(at, []).append(
            Moment(at, tuple(events), pushes, ", ".join(said), grasps, heading)
        )
    return tuple(_join(group) for _, group in sorted(moments.items()))


def _join(group: list[Moment]) -> Moment:
    """Return several moments of one time as one; of several headings the last counts."""
    headings = [moment.heading for moment in group if moment.heading is not None]
    events, pushes = (
        tuple(e for m in group for e in m.events),
        tuple(p for m in group for p in m.pushes),
    )
    grasps = tuple(loop for m in group for loop in m.grasps)
    return Moment(
        group[0].at,
        events,
        pushes,
        ", ".join(m.label for m in group),
        grasps,
        headings[-1] if headings else None,
    )


def _read_heading(
    reader: SceneReader, entry: Mapping[str, Any], key: str, *, is_driven: bool
) -> float | None:
    if "heading" not in entry:
        return None
    if not is_driven:
        raise reader.refuse(
            f"{key}.heading", "needs a snake that is driven; the scene has no key `snake`"
        )
    return reader.number(entry["heading"], f"{key}.heading")


def read_watches(
    reader: SceneReader, content: object, connections: Mapping[str, LoopClosure], robot: RobotModel
) -> tuple[Watch, ...]:
    """Read conditions that cut a connection.

    Args:
        reader: Reads values.
        content: What stands under the key.
        connections: Connections by name.
        robot: All figures and objects.

    Returns:
        The conditions.

    Raises:
        DescriptionError: If a value makes no sense.
    """
    watches = []
    for k, entry in enumerate(reader.listed(content, "watches")):
        key = f"watches[{k}]"
        table = reader.table(entry, key, ("cut", "link", "xyz", "plate", "half"))
        plate = reader.table(table.get("plate", {}), f"{key}.plate", ("link", "xyz", "rpy"))
        cut = reader.word(table.get("cut", ""), f"{key}.cut", connections)
        ends, links = ((table, key), (plate, f"{key}.plate")), (*robot.links, "world")
        link, carrier = (
            reader.word(end.get("link", ""), f"{where}.link", links) for end, where in ends
        )
        point = reader.vector(table.get("xyz", [0.0, 0.0, 0.0]), f"{key}.xyz")
        half = reader.vector(table.get("half"), f"{key}.half", 2)
        if not half.min() > 0.0:
            raise reader.refuse(
                f"{key}.half",
                f"{half.tolist()}, expected two positive lengths, half the edges of the rectangle",
            )
        watches.append(Watch(cut, link, point, carrier, reader.pose(plate, f"{key}.plate"), half))
    return tuple(watches)


def _read_push(reader: SceneReader, content: object, key: str, robot: RobotModel) -> TimedPush:
    table = reader.table(content, key, ("link", "force", "moment", "point", "duration"))
    link = reader.word(table.get("link", ""), f"{key}.link", (*robot.links, *robot.aliases))
    vectors = {
        name: reader.vector(
            table.get(name, [0.0, 0.0, 0.0]), f"{key}.{name}", 3, -LARGEST_PUSH, LARGEST_PUSH
        )
        for name in PARTS
    }
    return TimedPush(
        link, **vectors, duration=reader.number(table.get("duration", 0.1), f"{key}.duration", 0.0)
    )


def _names(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]
