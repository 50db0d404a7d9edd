# SPDX-License-Identifier: Apache-2.0
"""Motions as numpy archives.

    fps            samples per second, or `times`, `time` or `t` (n,); `fps` and `times` are written, and instants win
    base_pos       (n, 3) and base_quat_xyzw (n, 4): pose of the root link in the world
    joint_pos      (n, k) with joint_names (k,)
    base_vel       (n, 6) in axes of the base, linear first, and joint_vel (n, r) with rate_names (r,), by default the joint names;
                   likewise base_acc and joint_acc
    contact_NAME   (n,) whether the surface touches the ground

Whatever else the archive holds is kept under its name.  Pairs `NAME_pos`, `NAME_quat_xyzw` are also poses of frames.  An archive of bare
configurations, one array `q` or `NAME_q`, has no names of columns; `v` and `a` beside `q` have none either.  An archive without any of
these is a table whose columns are its arrays of one dimension: `time`, `base_x`, ..., as in a table of text.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.errors import ClipError, count
from humanoid_dynamics.motion.formats.columns import BASE_POSE, BASE_VELOCITY
from humanoid_dynamics.motion.formats.csv_file import CONTACT as LABEL
from humanoid_dynamics.motion.formats.csv_file import TIME
from humanoid_dynamics.motion.formats.holosoma_file import is_holosoma, read_holosoma
from humanoid_dynamics.motion.formats.joint_positions_file import (
    is_joint_positions,
    read_joint_positions,
)
from humanoid_dynamics.motion.formats.mjlab_file import is_mjlab, read_mjlab
from humanoid_dynamics.motion.formats.recording import ASK_RATE, Recording, check_rate, find_rate
from humanoid_dynamics.motion.formats.robot_motion import RobotMotion
from humanoid_dynamics.motion.poses import PoseStream, read_recorded_poses
from humanoid_dynamics.motion.retargeting.joint_positions import JointPositions
from humanoid_dynamics.series.npz_file import BROKEN, load_archive
from humanoid_dynamics.spatial.arrays import Matrix, Vector

BODY_MODEL = {"poses", "trans"}  # keys of AMASS
INSTANTS = ("times", TIME, "t")
CONTACT = "contact_"
SHOWN = 5  # names in a message
POSITION, TURN = "_pos", "_quat_xyzw"
READ = (
    "fps",
    "times",
    "base_pos",
    "base_quat_xyzw",
    "joint_pos",
    "joint_names",
    "rate_names",
    "base_vel",
    "joint_vel",
    "base_acc",
    "joint_acc",
)

Arrays = Mapping[str, NDArray[np.generic]]


def read_archive(path: Path, rate: float | None = None) -> Recording | RobotMotion | JointPositions:
    """Read a motion from a numpy archive of this package or of a trainer, by its keys.

    Args:
        path: The file.
        rate: Samples per second of an archive without instants and without ``fps`` [Hz].

    Raises:
        ClipError: Naming the key, row and column that are wrong.
    """
    arrays, origin = load_arrays(path), str(path)
    if is_mjlab(arrays):
        return read_mjlab(arrays, origin, rate)
    if is_holosoma(arrays):
        return read_holosoma(arrays, origin, rate)
    if is_joint_positions(arrays):
        return read_joint_positions(arrays, origin, rate)
    if set(arrays) >= BODY_MODEL:
        problem = "holds parameters of a body model (AMASS, SMPL-X), which are not read"
        raise ClipError(origin, f"{problem}; write the positions of its joints as joint_positions")
    return _read_arrays(arrays, origin, rate)


def read_npz(path: Path, rate: float | None = None) -> Recording:
    """Read a motion from a numpy archive of this package.

    Args:
        path: The file.
        rate: Samples per second of an archive without instants and without ``fps`` [Hz].

    Returns:
        The recording.

    Raises:
        ClipError: Naming the key, row and column that are wrong.
    """
    return _read_arrays(load_arrays(path), str(path), rate)


def _read_arrays(arrays: Arrays, origin: str, rate: float | None) -> Recording:
    columns, values = _positions(arrays, origin)
    rates, velocities = _rates(arrays, "vel", origin)
    more_rates, accelerations = _rates(arrays, "acc", origin)
    if not columns and "q" in arrays:
        velocities, accelerations = (
            _numbers(arrays, name, origin) if name in arrays else None for name in ("v", "a")
        )
    if rates and more_rates and rates != more_rates:
        raise ClipError(
            origin, "base_vel and joint_vel have other columns than base_acc and joint_acc"
        )
    return Recording(
        origin,
        read_times(arrays, len(values), origin, rate),
        columns,
        values,
        rates or more_rates,
        velocities,
        accelerations,
        {
            name.removeprefix(CONTACT): np.asarray(array, dtype=bool)
            for name, array in arrays.items()
            if name.startswith(CONTACT)
        },
        {
            name: array
            for name, array in arrays.items()
            if name not in READ and not name.startswith(CONTACT)
        },
    )


def read_pose_streams(path: Path) -> tuple[PoseStream, ...]:
    """Read the poses of all frames in a numpy archive: its pairs ``NAME_pos`` and ``NAME_quat_xyzw``.

    Args:
        path: The file.

    Returns:
        One stream per frame; the base is one too.  Rows in which a tracker had no pose are left out, and told.

    Raises:
        ClipError: If there is no such pair, or no pose in one.
    """
    arrays, origin = load_arrays(path), str(path)
    names = [key.removesuffix(TURN) for key in arrays if key.endswith(TURN)]
    streams = []
    for name in names:
        if name + POSITION in arrays:
            poses = _stack(arrays, (name + POSITION, name + TURN), (3, 4), origin)
            streams.append(
                read_recorded_poses(name, read_times(arrays, len(poses), origin), poses, origin)
            )
    if not streams:
        raise ClipError(
            origin,
            f"holds no poses: no pair of keys NAME_pos and NAME_quat_xyzw among {', '.join(arrays)}",
        )
    return tuple(streams)


def write_npz(recording: Recording, path: Path) -> None:
    """Write a motion as a numpy archive, in full precision.

    Args:
        recording: The motion.
        path: The file.
    """
    n, place = len(recording.times), {name: index for index, name in enumerate(recording.columns)}
    arrays: dict[str, NDArray[np.generic]] = {**recording.extras}
    arrays |= {"times": recording.times} | (
        {"fps": np.array((n - 1) / np.ptp(recording.times))} if n > 1 else {}
    )
    base = [place[name] for name in BASE_POSE] if set(BASE_POSE) <= set(place) else []
    if base:
        arrays |= {
            "base_pos": recording.values[:, base[:3]],
            "base_quat_xyzw": recording.values[:, base[3:]],
        }
    rest = [index for index in range(recording.values.shape[1]) if index not in base]
    if recording.columns:
        arrays |= {
            "joint_pos": recording.values[:, rest],
            "joint_names": np.array([recording.columns[i] for i in rest], dtype=str),
        }
    else:
        arrays["robot_q"] = recording.values
    for suffix, table in (("vel", recording.velocities), ("acc", recording.accelerations)):
        if table is not None:
            arrays |= _split_rates(recording.rates, table, suffix)
    arrays |= {CONTACT + name: labels for name, labels in recording.contacts.items()}
    with path.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def load_arrays(path: Path) -> dict[str, NDArray[np.generic]]:
    """Read a numpy archive whole.

    Args:
        path: The file.

    Returns:
        Its arrays by name.

    Raises:
        ClipError: If it is none.
    """
    try:
        with path.open("rb") as file:
            single = file.read(len(np.lib.format.MAGIC_PREFIX)) == np.lib.format.MAGIC_PREFIX
        arrays = {} if single else load_archive(path)
    except BROKEN as cause:
        raise ClipError(str(path), f"cannot be read as a numpy archive: {cause}") from cause
    if single:
        raise ClipError(str(path), "is a single array, expected an archive with named arrays")
    others = [name for name, array in arrays.items() if not isinstance(array, np.ndarray)]
    if others:
        listed = ", ".join(map(repr, others[:SHOWN]))
        problem = f"is an archive with {count(len(others), 'member')} that are no arrays: {listed}"
        raise ClipError(str(path), f"{problem}; torch files are written with numpy.savez before")
    return arrays


def _positions(arrays: Arrays, origin: str) -> tuple[tuple[str, ...], Matrix]:
    if "joint_pos" not in arrays:
        bare = [
            name
            for name, array in arrays.items()
            if (name == "q" or name.endswith("_q")) and array.ndim == 2
        ]
        if len(bare) == 1:
            return (), _numbers(arrays, bare[0], origin)
        single = tuple(name for name, array in arrays.items() if _is_column(name, array))
        if single and not bare:
            return single, _columns(arrays, single, origin)
        raise ClipError(origin, f"has no joint_pos; its keys are {', '.join(arrays) or 'none'}")
    joints = _numbers(arrays, "joint_pos", origin)
    names = _names(arrays, "joint_names", origin)
    if joints.ndim != 2 or joints.shape[1] != len(names):
        raise ClipError(
            origin,
            f"joint_pos has shape {joints.shape}, but joint_names has {count(len(names), 'name')}",
        )
    if "base_pos" not in arrays and "base_quat_xyzw" not in arrays:
        return names, joints
    base = _stack(arrays, ("base_pos", "base_quat_xyzw"), (3, 4), origin)
    if len(base) != len(joints):
        raise ClipError(
            origin, f"base_pos has {count(len(base), 'row')}, joint_pos has {len(joints)}"
        )
    return BASE_POSE + names, np.hstack((base, joints))


def _is_column(name: str, array: NDArray[np.generic]) -> bool:
    return (
        array.ndim == 1
        and array.dtype.kind in "fiu"
        and name not in {*READ, *INSTANTS}
        and not name.startswith((CONTACT, LABEL))
    )


def _columns(arrays: Arrays, names: tuple[str, ...], origin: str) -> Matrix:
    """Return arrays of one dimension side by side."""
    n = len(arrays[names[0]])
    for name in names:
        if len(arrays[name]) != n:
            raise ClipError(
                origin, f"has {count(len(arrays[name]), 'row')}, {names[0]} has {n}", column=name
            )
    return np.column_stack([_numbers(arrays, name, origin) for name in names])


def _rates(arrays: Arrays, suffix: str, origin: str) -> tuple[tuple[str, ...], Matrix | None]:
    keys = [key for key in (f"base_{suffix}", f"joint_{suffix}") if key in arrays]
    if not keys:
        return (), None
    joints = _names(arrays, "rate_names" if "rate_names" in arrays else "joint_names", origin)
    widths = {f"base_{suffix}": BASE_VELOCITY, f"joint_{suffix}": joints}
    table = _stack(arrays, tuple(keys), tuple(len(widths[key]) for key in keys), origin)
    return tuple(name for key in keys for name in widths[key]), table


def _split_rates(
    rates: tuple[str, ...], table: Matrix, suffix: str
) -> dict[str, NDArray[np.generic]]:
    base = [rates.index(name) for name in BASE_VELOCITY] if set(BASE_VELOCITY) <= set(rates) else []
    rest = [index for index in range(len(rates)) if index not in base]
    arrays: dict[str, NDArray[np.generic]] = {
        f"joint_{suffix}": table[:, rest],
        "rate_names": np.array([rates[i] for i in rest], dtype=str),
    }
    return arrays | ({f"base_{suffix}": table[:, base]} if base else {})


def read_times(arrays: Arrays, n: int, origin: str, rate: float | None = None) -> Vector:
    """Return the instants of an archive: ``times``, ``time``, ``t``, or those of ``fps``.

    Args:
        arrays: Its arrays.
        n: Number of samples.
        origin: The file, for messages.
        rate: Samples per second of an archive that has neither [Hz].

    Returns:
        (n,) instants [s].

    Raises:
        ClipError: If there are none, or another number.
    """
    found = next((name for name in INSTANTS if name in arrays), "")
    if found:
        times = _numbers(arrays, found, origin)
        if times.shape != (n,):
            raise ClipError(origin, f"{found} has shape {times.shape}, expected ({n},)")
        check_rate(rate, find_rate(times), origin)
        return times
    if "fps" not in arrays:
        if rate is None:
            keys = f"expected one of the keys {', '.join(INSTANTS)}, fps; its keys are {', '.join(arrays)}"
            raise ClipError(origin, f"has no instants, {keys}; where its rate is known, {ASK_RATE}")
        check_rate(rate, None, origin)
        return np.asarray(np.arange(n) / rate)
    fps = _numbers(arrays, "fps", origin)
    if fps.size != 1 or not (np.isfinite(fps).all() and float(fps.reshape(-1)[0]) > 0.0):
        raise ClipError(origin, f"received fps {fps}, expected one positive number")
    check_rate(rate, float(fps.reshape(-1)[0]), origin)
    return np.asarray(np.arange(n) / float(fps.reshape(-1)[0]))


def _stack(arrays: Arrays, keys: tuple[str, ...], widths: tuple[int, ...], origin: str) -> Matrix:
    tables = [_numbers(arrays, key, origin) for key in keys]
    for key, width, table in zip(keys, widths, tables, strict=True):
        if table.ndim != 2 or table.shape[1] != width or len(table) != len(tables[0]):
            raise ClipError(
                origin, f"{key} has shape {table.shape}, expected ({len(tables[0])}, {width})"
            )
    return np.hstack(tables)


def _numbers(arrays: Arrays, key: str, origin: str) -> Matrix:
    if key not in arrays:
        raise ClipError(origin, f"has no {key}; its keys are {', '.join(arrays)}")
    if arrays[key].dtype.kind not in "fiub":
        raise ClipError(origin, f"{key} holds {arrays[key].dtype}, expected numbers")
    return np.asarray(arrays[key], dtype=np.float64)


def _names(arrays: Arrays, key: str, origin: str) -> tuple[str, ...]:
    if key not in arrays or arrays[key].ndim != 1 or arrays[key].dtype.kind != "U":
        raise ClipError(origin, f"has no list of names {key}; its keys are {', '.join(arrays)}")
    return tuple(str(name) for name in arrays[key])
