# SPDX-License-Identifier: Apache-2.0
"""Robot YAML files: read against the schema of ``description``, refused key by key."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import yaml

from humanoid_dynamics.errors import DescriptionError, ShapeError
from humanoid_dynamics.model.description import (
    ROOTS,
    Description,
    FrameSpec,
    ImuSpec,
    LoopSpec,
    SurfaceSpec,
)
from humanoid_dynamics.model.imu import ImuErrors
from humanoid_dynamics.model.loop import LOOP_KINDS
from humanoid_dynamics.model.standing.corners import order_corners
from humanoid_dynamics.model.surface import DEFAULT_FRICTION

PARALLEL_LOOP_KINDS = {"6d": "fixed", "3d": "spherical"}
SUBSTITUTES = (
    "SPHERICAL",
    "UJOINT_XY",
    "UJOINT_YX",
    "UJOINT_XZ",
    "UJOINT_ZX",
    "UJOINT_YZ",
    "UJOINT_ZY",
)
LOCKED = "FIXED"
LARGEST_YAML = 200_000
DEEPEST_YAML = 20
MERGE = "tag:yaml.org,2002:merge"


def load_description(path: Path) -> Description:
    """Read a robot YAML file.

    Args:
        path: The file.

    Returns:
        The description.

    Raises:
        DescriptionError: If the file is not YAML or breaks the schema.
    """
    content = load_yaml(path)
    return read_description({} if content is None else content, str(path))


def is_description(path: Path) -> bool:
    """Return whether a YAML file is empty or has at least one key of the schema.

    Raises:
        DescriptionError: If the file is not YAML.
    """
    content = load_yaml(path)
    return content is None or (
        isinstance(content, dict) and any(key in {*KEYS, *PARALLEL_KEYS} for key in content)
    )


def read_description(content: object, origin: str) -> Description:
    """Check a mapping against the schema and turn it into a description.

    Args:
        content: What a YAML file of the schema holds.
        origin: Where it came from, for messages.

    Returns:
        The description.

    Raises:
        DescriptionError: Naming the key that is unknown or malformed.
    """
    reader = _Reader(origin)
    table = reader.table(content, "", (*KEYS, *PARALLEL_KEYS))
    read: dict[str, Any] = {
        key: KEYS[key](reader, value, key) for key, value in table.items() if key in KEYS
    }
    for key, value in _read_parallel(reader, table).items():
        if key in read:
            raise DescriptionError(
                origin, key, "is given twice, also by the keys of example-parallel-robots"
            )
        read[key] = value
    return Description(origin=origin, **read)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Plain YAML data; a key that comes twice is refused instead of lost."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != MERGE:
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"key {key.value!r} comes twice", key.start_mark
                    )
                seen.add(key.value)
        return dict(super().construct_mapping(node, deep))


def load_yaml(path: Path) -> object:
    """Read a small YAML file, as plain data.

    Args:
        path: The file.

    Returns:
        What it holds; None where it is empty.

    Raises:
        DescriptionError: If it is too large, too deep, not YAML, or has a key twice.
    """
    try:
        size = path.stat().st_size
        if size > LARGEST_YAML:
            raise DescriptionError(
                str(path), "file", f"has {size} bytes, expected at most {LARGEST_YAML}"
            )
        text = path.read_text(encoding="utf-8-sig")
        _check_depth(text)
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe loader
    except (OSError, UnicodeDecodeError) as cause:
        raise DescriptionError(str(path), "file", f"cannot be read: {cause}") from cause
    except (yaml.YAMLError, ValueError) as cause:
        raise DescriptionError(str(path), "YAML", " ".join(str(cause).split())) from cause


def _check_depth(text: str) -> None:
    """Refuse what would overflow the stack of libyaml, which builds nested data by recursion and does not look."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(
            event, yaml.CollectionEndEvent
        )
        if depth > DEEPEST_YAML:
            line = event.start_mark.line + 1 if event.start_mark else 1
            raise ValueError(f"nested deeper than {DEEPEST_YAML} on line {line}")


class _Reader:
    """Reads YAML values of one file and knows where it stands when something is wrong."""

    def __init__(self, origin: str) -> None:
        self._origin = origin

    def fail(self, key: str, value: object, expected: str) -> DescriptionError:
        return DescriptionError(
            self._origin, key or "file", f"holds {reprlib.repr(value)}, expected {expected}"
        )

    def table(self, value: object, key: str, known: tuple[str, ...] = ()) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.fail(key, value, "a mapping")
        for name in value:
            if not isinstance(name, str):
                raise self.fail(key, name, "a name as key")
            if known and name not in known:
                close = get_close_matches(name, known, n=1)
                hint = f"; did you mean {close[0]!r}?" if close else "."
                raise DescriptionError(
                    self._origin,
                    f"{key}.{name}".lstrip("."),
                    f"is not a key{hint} Known: {', '.join(known)}",
                )
        return dict(value)

    def text(self, value: object, key: str) -> str:
        if not isinstance(value, str):
            raise self.fail(key, value, "a name")
        return value

    def number(self, value: object, key: str) -> float:
        try:
            number = (
                float(value)
                if isinstance(value, int | float | str) and not isinstance(value, bool)
                else math.nan
            )
        except (ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise self.fail(key, value, "a finite number")
        return number

    def positive(self, value: object, key: str) -> float:
        number = self.number(value, key)
        if number < 0.0:
            raise self.fail(key, value, "a number that is not negative")
        return number

    def strength(self, value: object, key: str) -> float:
        number = self.number(value, key)
        if number <= 0.0:
            raise self.fail(
                key, value, "a positive number; a joint without a motor is named under `passive`"
            )
        return number

    def choice(self, value: object, key: str, choices: tuple[str, ...]) -> str:
        if not isinstance(value, str) or value not in choices:
            raise self.fail(key, value, f"one of {', '.join(choices)}")
        return value

    def names(self, value: object, key: str) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise self.fail(key, value, "a list of names")
        return tuple(self.text(entry, f"{key}[{i}]") for i, entry in enumerate(value))

    def vector(self, value: object, key: str, sizes: tuple[int, ...] = (3,)) -> tuple[float, ...]:
        if not isinstance(value, list) or len(value) not in sizes:
            raise self.fail(key, value, f"{' or '.join(map(str, sizes))} numbers")
        return tuple(self.number(entry, f"{key}[{i}]") for i, entry in enumerate(value))

    def frame(self, value: object, key: str, others: tuple[str, ...] = ()) -> FrameSpec:
        table = self.table(value, key, ("link", "xyz", "rpy", *others))
        xyz = self.vector(table.get("xyz", [0.0, 0.0, 0.0]), f"{key}.xyz")
        rpy = self.vector(table.get("rpy", [0.0, 0.0, 0.0]), f"{key}.rpy")
        return FrameSpec(
            self.text(table.get("link"), f"{key}.link"),
            pin.SE3(pin.rpy.rpyToMatrix(*rpy), np.array(xyz)),
        )

    def surface(self, value: object, key: str) -> SurfaceSpec:
        frame = self.frame(value, key, ("polygon", "points", "friction", "normal_force_limit"))
        table = self.table(value, key)
        given = [name for name in ("polygon", "points") if name in table]
        if len(given) != 1:
            raise DescriptionError(self._origin, key, "needs a polygon or points, and not both")
        corners = table[given[0]]
        if not isinstance(corners, list) or not corners:
            raise self.fail(f"{key}.{given[0]}", corners, "a list of points")
        where = f"{key}.{given[0]}"
        points = np.array(
            [
                (*self.vector(corner, f"{where}[{i}]", (2, 3)), 0.0)[:3]
                for i, corner in enumerate(corners)
            ]
        )
        try:
            vertices = order_corners(points, where, any_order=given[0] == "points")
        except ShapeError as cause:
            raise DescriptionError(
                self._origin, where, str(cause).removeprefix(f"{where}: ")
            ) from cause
        friction = self.positive(table.get("friction", DEFAULT_FRICTION), f"{key}.friction")
        limit = table.get("normal_force_limit")
        return SurfaceSpec(
            frame,
            vertices,
            friction,
            np.inf if limit is None else self.positive(limit, f"{key}.normal_force_limit"),
        )

    def loop(self, value: object, key: str) -> LoopSpec:
        table = self.table(value, key, ("kind", "a", "b"))
        kind = self.choice(table.get("kind"), f"{key}.kind", LOOP_KINDS)
        return LoopSpec(
            kind, self.frame(table.get("a"), f"{key}.a"), self.frame(table.get("b"), f"{key}.b")
        )

    def imu(self, value: object, key: str) -> ImuSpec:
        frame = self.frame(value, key, ("noise", "bias", "delay"))
        table = self.table(value, key)
        errors = {"delay": self.positive(table.get("delay", 0.0), f"{key}.delay")}
        for kind in ("noise", "bias"):
            given = self.table(table.get(kind, {}), f"{key}.{kind}", ("gyro", "acc"))
            for sensor, size in given.items():
                errors[f"{sensor}_{kind}"] = self.positive(size, f"{key}.{kind}.{sensor}")
        return ImuSpec(frame, ImuErrors(**errors))

    def group(self, value: object, key: str) -> tuple[str, ...]:
        names = self.names(value, key)
        if len(names) != 3:
            raise self.fail(key, value, "the names of three revolute joints")
        return names


def _each(read: Any) -> Any:
    """Return a reader of a mapping whose values are read by ``read``."""
    return lambda reader, value, key: {
        name: read(reader, entry, f"{key}.{name}")
        for name, entry in reader.table(value, key).items()
    }


KEYS: Mapping[str, Any] = {
    "urdf": _Reader.text,
    "package": _Reader.text,
    "root": lambda reader, value, key: reader.choice(value, key, ROOTS),
    "surfaces": _each(_Reader.surface),
    "control_points": _each(_Reader.frame),
    "posture": _each(_Reader.number),
    "passive": _Reader.names,
    "motors": _Reader.names,
    "fixed": _Reader.names,
    "spherical": _each(_Reader.group),
    "loops": _each(_Reader.loop),
    "wheels": _each(_Reader.frame),
    "imus": _each(_Reader.imu),
    "aliases": _each(_Reader.text),
    "armature": _each(_Reader.positive),
    "friction": _each(_Reader.positive),
    "damping": _each(_Reader.positive),
    "effort": _each(_Reader.strength),
}
PARALLEL_KEYS = ("closed_loop", "type", "name_mot", "joint_name", "joint_type")


def _read_parallel(reader: _Reader, table: Mapping[str, Any]) -> dict[str, Any]:
    """Read the keys of example-parallel-robots: pairs of frames, motor names, joint substitutions."""
    read: dict[str, Any] = {}
    if "closed_loop" in table:
        pairs = [
            reader.names(pair, f"closed_loop[{i}]")
            for i, pair in enumerate(_list(reader, table["closed_loop"], "closed_loop"))
        ]
        kinds = [
            reader.choice(
                kind.lower() if isinstance(kind, str) else kind,
                f"type[{i}]",
                tuple(PARALLEL_LOOP_KINDS),
            )
            for i, kind in enumerate(_list(reader, table.get("type"), "type"))
        ]
        for i, pair in enumerate(pairs):
            if len(pair) != 2:
                raise reader.fail(f"closed_loop[{i}]", list(pair), "the names of two frames")
        if len(kinds) != len(pairs):
            raise reader.fail("type", kinds, f"{len(pairs)} kinds for {len(pairs)} pairs of frames")
        here = pin.SE3.Identity()
        read["loops"] = {
            f"loop{i + 1}": LoopSpec(
                PARALLEL_LOOP_KINDS[kind], FrameSpec(pair[0], here), FrameSpec(pair[1], here)
            )
            for i, (pair, kind) in enumerate(zip(pairs, kinds, strict=True))
        }
    if "name_mot" in table:
        read["motors"] = reader.names(table["name_mot"], "name_mot")
    if "joint_name" in table:
        names = reader.names(table["joint_name"], "joint_name")
        kinds = [
            reader.choice(kind, f"joint_type[{i}]", (*SUBSTITUTES, LOCKED))
            for i, kind in enumerate(_list(reader, table.get("joint_type"), "joint_type"))
        ]
        if len(kinds) != len(names):
            raise reader.fail("joint_type", kinds, f"{len(names)} kinds for {len(names)} joints")
        read["substitutions"] = {
            name: kind for name, kind in zip(names, kinds, strict=True) if kind != LOCKED
        }
        read["fixed"] = tuple(
            name for name, kind in zip(names, kinds, strict=True) if kind == LOCKED
        )
    return read


def _list(reader: _Reader, value: object, key: str) -> list[Any]:
    if not isinstance(value, list):
        raise reader.fail(key, value, "a list")
    return value
