# SPDX-License-Identifier: Apache-2.0
"""Terrain of a scene file: planes, boxes and steps."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.errors import DescriptionError, HumanoidDynamicsError
from humanoid_dynamics.simulation.contacts.shapes import Shape
from humanoid_dynamics.simulation.contacts.terrain import build_box, build_plane, build_steps
from humanoid_dynamics.simulation.scenes.reader import SceneReader


def read_shapes(reader: SceneReader, content: object, index: int) -> tuple[Shape, ...]:
    """Read one entry of the terrain.

    Args:
        reader: Reads values.
        content: What stands there.
        index: Its number.

    Returns:
        One shape or several.

    Raises:
        DescriptionError: If a value makes no sense.
    """
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
    numbers = {
        name: reader.number(value, f"{key}.{name}")
        for name, value in table.items()
        if name not in {"size", "xyz", "rpy"}
    }
    vectors = {
        name: reader.vector(value, f"{key}.{name}", low=1e-6 if name == "size" else -np.inf)
        for name, value in table.items()
        if name in {"size", "xyz", "rpy"}
    }
    try:
        if kind == "plane":
            return (build_plane(name=f"plane{index}", **numbers),)
        if kind == "steps":
            count = reader.number(table.get("count", 3), f"{key}.count", 1, 100)
            if count != int(count):
                raise reader.refuse(f"{key}.count", f"received {count:g}, expected a whole number")
            return build_steps(int(count), **{k: v for k, v in numbers.items() if k != "count"})
        size, xyz = vectors.pop("size", None), vectors.pop("xyz", None)
        if size is None or xyz is None:
            raise reader.refuse(key, "a box needs size and xyz")
        return (
            build_box(
                size, xyz, rpy=vectors.get("rpy", (0.0, 0.0, 0.0)), name=f"box{index}", **numbers
            ),
        )
    except HumanoidDynamicsError as cause:
        raise (
            cause if isinstance(cause, DescriptionError) else reader.refuse(key, str(cause))
        ) from cause
