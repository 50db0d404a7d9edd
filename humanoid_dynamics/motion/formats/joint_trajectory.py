# SPDX-License-Identifier: Apache-2.0
"""Motions as the dictionaries of ``trajectory_msgs``: a JointTrajectory for the joints, a MultiDOFJointTrajectory for a free base.

    {"joint_trajectory": {"joint_names": [...], "points": [{"positions": [...], "velocities": [...], "accelerations": [...],
                                                           "time_from_start": {"sec": 0, "nanosec": 5000000}}]},
     "multi_dof_joint_trajectory": {"joint_names": ["root_joint"], "points": [{"transforms": [{"translation": {"x": 0, ...},
                                    "rotation": {"x": 0, ...}}], "velocities": [{"linear": {...}, "angular": {...}}], ...}]}}

Field by field the messages of ROS 2, without ROS.  Twists of the base are in its own axes.  Times are rounded to the nanosecond, all
else is exact.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.motion.formats.columns import (
    BASE_POSE,
    BASE_VELOCITY,
    PLANAR_BASE,
    PLANAR_BASE_VELOCITY,
)
from humanoid_dynamics.motion.formats.recording import Recording
from humanoid_dynamics.spatial.arrays import Matrix, Vector

JOINTS, BASE = "joint_trajectory", "multi_dof_joint_trajectory"
NANO = 1_000_000_000
FRAME = "odom"
PLANAR_RATES = dict(zip(PLANAR_BASE, PLANAR_BASE_VELOCITY, strict=True))


def recording_from_trajectory(content: Mapping[str, Any], origin: str = "trajectory") -> Recording:
    """Turn trajectory dictionaries into a recording.

    Args:
        content: A joint trajectory, or a dictionary with ``joint_trajectory`` and ``multi_dof_joint_trajectory``.
        origin: Where it came from, for messages.

    Returns:
        The recording.

    Raises:
        ClipError: Naming the point and the field that is wrong.
    """
    joints = content.get(JOINTS, content if "points" in content else None)
    names, points = _head(joints, JOINTS, origin)
    times = np.array([_seconds(point, origin, row) for row, point in enumerate(points)])
    tables = [
        _column(points, key, names, origin) for key in ("positions", "velocities", "accelerations")
    ]
    columns, rates = names, tuple(PLANAR_RATES.get(name, name) for name in names)
    if content.get(BASE) is not None:
        _, base_points = _head(content[BASE], BASE, origin)
        base = _read_base(base_points, times, origin)
        if tables[0] is None:
            raise ClipError(origin, "has no positions")
        columns, rates = BASE_POSE + names, BASE_VELOCITY + rates
        tables = [
            None if table is None or part is None else np.hstack((part, table))
            for part, table in zip(base, tables, strict=True)
        ]
    positions, velocities, accelerations = tables
    if positions is None:
        raise ClipError(origin, "has no positions")
    known = velocities is not None or accelerations is not None
    return Recording(
        origin, times, columns, positions, rates if known else (), velocities, accelerations
    )


def trajectory_from_recording(recording: Recording) -> dict[str, Any]:
    """Turn a recording into trajectory dictionaries.

    Args:
        recording: The recording.

    Returns:
        ``joint_trajectory``, and ``multi_dof_joint_trajectory`` where there is a free base.

    Raises:
        ClipError: If there are spherical joints, which these messages cannot hold.
    """
    place = {name: index for index, name in enumerate(recording.columns)}
    base = [place[name] for name in BASE_POSE] if set(BASE_POSE) <= set(place) else []
    names = [name for name in recording.columns if place[name] not in base]
    several = [name.removesuffix(".qw") for name in names if name.endswith(".qw")]
    if several:
        raise ClipError(
            recording.origin,
            f"a JointTrajectory cannot hold joints of several degrees of freedom: {', '.join(several)}",
        )
    asked = [PLANAR_RATES.get(name, name) for name in names]
    rates = (
        [recording.rates.index(name) for name in asked]
        if set(asked) <= set(recording.rates)
        else []
    )
    head = {"stamp": {"sec": 0, "nanosec": 0}, "frame_id": FRAME if base else ""}
    points = []
    for row, time in enumerate(recording.times):
        point = {"positions": [float(recording.values[row, place[name]]) for name in names]}
        for key, table in (
            ("velocities", recording.velocities),
            ("accelerations", recording.accelerations),
        ):
            point[key] = (
                [float(table[row, index]) for index in rates] if table is not None and rates else []
            )
        points.append({**point, "effort": [], "time_from_start": _duration(float(time))})
    written: dict[str, Any] = {JOINTS: {"header": head, "joint_names": names, "points": points}}
    if base:
        written[BASE] = {
            "header": head,
            "joint_names": ["root_joint"],
            "points": _write_base(recording, base),
        }
    return written


def read_trajectory(path: Path) -> Recording:
    """Read trajectory dictionaries from a JSON file.

    Args:
        path: The file.

    Returns:
        The recording.

    Raises:
        ClipError: If it is not one.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as cause:
        raise ClipError(str(path), f"cannot be read as JSON: {cause}") from cause
    if not isinstance(content, dict):
        raise ClipError(str(path), f"holds {type(content).__name__}, expected a trajectory")
    return recording_from_trajectory(content, str(path))


def write_trajectory(recording: Recording, path: Path) -> None:
    """Write trajectory dictionaries as a JSON file.

    Args:
        recording: The motion.
        path: The file.
    """
    path.write_text(json.dumps(trajectory_from_recording(recording)) + "\n", encoding="utf-8")


def _head(content: Any, key: str, origin: str) -> tuple[tuple[str, ...], list[Mapping[str, Any]]]:
    if not isinstance(content, Mapping):
        raise ClipError(origin, f"has no {key} with joint_names and points")
    names, points = content.get("joint_names"), content.get("points")
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise ClipError(origin, f"{key}: joint_names is not a list of names")
    if not isinstance(points, list | tuple):
        raise ClipError(origin, f"{key}: points is not a list of points")
    for row, point in enumerate(points):
        if not isinstance(point, Mapping):
            raise ClipError(origin, f"received {point!r}, expected a point of {key}", row=row)
    return tuple(names), list(points)


def _seconds(point: Mapping[str, Any], origin: str, row: int) -> float:
    given = point.get("time_from_start")
    parts: list[Any] = (
        [given.get("sec", 0), given.get("nanosec", 0)] if isinstance(given, Mapping) else [given, 0]
    )
    if not all(isinstance(part, int | float) and not isinstance(part, bool) for part in parts):
        raise ClipError(
            origin,
            f"received {given!r}, expected sec and nanosec",
            row=row,
            column="time_from_start",
        )
    return float(parts[0]) + float(parts[1]) / NANO


def _duration(time: float) -> dict[str, int]:
    sec, nanosec = divmod(round(time * NANO), NANO)
    return {"sec": sec, "nanosec": nanosec}


def _column(
    points: list[Mapping[str, Any]], key: str, names: tuple[str, ...], origin: str
) -> Matrix | None:
    """Stack one field of all points; None where it is empty in all."""
    rows = [point.get(key) for point in points]
    for index, row in enumerate(rows):
        if not isinstance(row, list | tuple | None):
            raise ClipError(
                origin, f"received {row!r}, expected a list of numbers", row=index, column=key
            )
    if all(row is None or len(row) == 0 for row in rows):
        return None
    for index, row in enumerate(rows):
        if row is None or len(row) != len(names):
            raise ClipError(
                origin,
                f"has {0 if row is None else len(row)} {key}, expected {len(names)}",
                row=index,
            )
    return _table(rows, origin, names)


def _table(rows: list[Any], origin: str, columns: tuple[str, ...]) -> Matrix:
    for index, row in enumerate(rows):
        for column, value in zip(columns, row, strict=True):
            if value is not None and (isinstance(value, bool) or not isinstance(value, Real)):
                raise ClipError(
                    origin, f"received {value!r}, expected a number", row=index, column=column
                )
    return np.array(rows, dtype=np.float64)


def _read_base(points: list[Mapping[str, Any]], times: Vector, origin: str) -> list[Matrix | None]:
    clock = np.array([_seconds(point, origin, row) for row, point in enumerate(points)])
    if clock.shape != times.shape or np.abs(clock - times).max(initial=0.0) > 2.0 / NANO:
        raise ClipError(
            origin, f"{BASE} has other instants than {JOINTS}", column="time_from_start"
        )
    shapes = (
        ("transforms", "translation", "rotation", "xyzw"),
        ("velocities", "linear", "angular", "xyz"),
        ("accelerations", "linear", "angular", "xyz"),
    )
    found: list[Matrix | None] = []
    for key, first, second, axes in shapes:
        if key != "transforms" and not any(point.get(key) for point in points):
            found.append(None)
            continue
        rows = [
            _six(point, key, (first, second), axes, (origin, row))
            for row, point in enumerate(points)
        ]
        entries = tuple(
            f"{key}.{part}.{axis}"
            for part, letters in ((first, "xyz"), (second, axes))
            for axis in letters
        )
        found.append(_table(rows, origin, entries))
    return found


def _six(
    point: Mapping[str, Any], key: str, parts: tuple[str, str], axes: str, place: tuple[str, int]
) -> list[float]:
    origin, row = place
    try:
        entry = point[key][0]
        return [
            *(entry[parts[0]][axis] for axis in "xyz"),
            *(entry[parts[1]][axis] for axis in axes),
        ]
    except (KeyError, IndexError, TypeError) as cause:
        raise ClipError(origin, f"has no {parts[0]} and {parts[1]}", row=row, column=key) from cause


def _write_base(recording: Recording, base: list[int]) -> list[dict[str, Any]]:
    rates = (
        [recording.rates.index(name) for name in BASE_VELOCITY]
        if set(BASE_VELOCITY) <= set(recording.rates)
        else []
    )
    points = []
    for row, time in enumerate(recording.times):
        pose = [float(recording.values[row, index]) for index in base]
        transform = {
            "translation": dict(zip("xyz", pose[:3], strict=True)),
            "rotation": dict(zip("xyzw", pose[3:], strict=True)),
        }
        point: dict[str, Any] = {
            "transforms": [transform],
            "time_from_start": _duration(float(time)),
        }
        for key, table in (
            ("velocities", recording.velocities),
            ("accelerations", recording.accelerations),
        ):
            six = (
                [float(table[row, index]) for index in rates] if table is not None and rates else []
            )
            point[key] = (
                [
                    {
                        "linear": dict(zip("xyz", six[:3], strict=True)),
                        "angular": dict(zip("xyz", six[3:], strict=True)),
                    }
                ]
                if six
                else []
            )
        points.append(point)
    return points
