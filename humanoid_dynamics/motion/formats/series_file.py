# SPDX-License-Identifier: Apache-2.0
"""Measured series: a table of text or a numpy archive with `time` and named columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.errors import ClipError, UnknownNameError, count, listed
from humanoid_dynamics.motion.clip import LARGEST, tell_number
from humanoid_dynamics.motion.formats.columns import BASE_VELOCITY
from humanoid_dynamics.motion.formats.csv_file import TIME, read_table
from humanoid_dynamics.motion.formats.detect import ZIP
from humanoid_dynamics.motion.formats.npz_file import load_arrays, read_times
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only

AXES = ("x", "y", "z")
JOINT_RATES = {"joint_vel": "base_vel", "joint_acc": "base_acc"}


@dataclass(frozen=True, eq=False)
class Series:
    """Numbers over time by name.

    Attributes:
        origin: The file, for messages.
        times: (n,) instants [s], ascending.
        columns: Names.
        values: (n, columns) numbers.
        lines: Line of each row in the file; empty where it has none.
        degrees: Whether angles are in degrees.
    """

    origin: str
    times: Vector
    columns: tuple[str, ...]
    values: Matrix
    lines: tuple[int, ...] = ()
    degrees: bool = False

    def take(self, names: Iterable[str]) -> Matrix:
        """Return columns by name, (n, names).

        Args:
            names: Their names.

        Raises:
            ClipError: Naming all that are missing.
        """
        wanted = tuple(names)
        missing = [name for name in wanted if name not in self.columns]
        if missing:
            line = self.lines[0] - 1 if self.lines else None
            known = ", ".join(self.columns) or "none"
            raise ClipError(
                self.origin, f"lacks the {listed('column', missing)}; it has {known}", line=line
            )
        return self.values[:, [self.columns.index(name) for name in wanted]]

    def fault(self, row: int, column: str, problem: str) -> ClipError:
        """Return an error about one number.

        Args:
            row: Its row.
            column: Its column.
            problem: What is wrong.
        """
        return ClipError(
            self.origin,
            problem,
            row=row,
            column=column,
            line=self.lines[row] if self.lines else None,
        )


def read_series(path: Path, *, gaps: bool = False) -> Series:
    """Read a series.

    In a numpy archive an array of one dimension is a column; one of three columns, ``NAME``, is ``NAMEx``, ``NAMEy`` and ``NAMEz``;
    ``joint_vel`` or ``joint_acc`` with ``rate_names`` or ``joint_names``, and ``base_vel`` or ``base_acc``, are the rates of a motion.

    Args:
        path: The file.
        gaps: Whether numbers other than times may be missing, ``nan``.

    Returns:
        The series.

    Raises:
        ClipError: Naming line, row and column of what is no finite number or too large, or of times that do not ascend.
    """
    try:
        with path.open("rb") as file:
            archive = file.read(len(ZIP)) == ZIP
    except OSError as cause:
        raise ClipError(str(path), f"cannot be read: {cause}") from cause
    series = _read_archive(path) if archive else _read_text(path, gaps)
    _check(series, gaps)
    return series


def _read_text(path: Path, gaps: bool) -> Series:
    table = read_table(path, gaps=gaps)
    if TIME not in table.columns:
        first = table.lines[0] - 1 if table.columns and table.lines else None
        problem = (
            f"lacks the column {TIME!r}; it has {', '.join(table.columns) or 'no names of columns'}"
        )
        raise ClipError(str(path), problem, line=first)
    kept = [index for index, name in enumerate(table.columns) if name != TIME]
    times = table.values[:, table.columns.index(TIME)]
    columns, values = tuple(table.columns[i] for i in kept), read_only(table.values[:, kept])
    return Series(str(path), read_only(times), columns, values, table.lines, table.degrees)


def _read_archive(path: Path) -> Series:
    arrays, origin = load_arrays(path), str(path)
    columns = _name_columns(arrays, origin)
    n = len(next(iter(columns.values()))) if columns else 0
    times = read_times(arrays, n, origin)
    short = next((name for name, values in columns.items() if len(values) != n), None)
    if short is not None:
        raise ClipError(
            origin, f"has {count(len(columns[short]), 'row')}, others have {n}", column=short
        )
    values = np.column_stack(tuple(columns.values())) if columns else np.zeros((n, 0))
    return Series(origin, read_only(times), tuple(columns), read_only(values))


def _name_columns(arrays: dict[str, NDArray[np.generic]], origin: str) -> dict[str, Vector]:
    columns: dict[str, Vector] = {}
    for name, array in arrays.items():
        if array.dtype.kind not in "fiu" or name in {TIME, "times", "fps"}:
            continue
        if array.ndim == 1:
            names: tuple[str, ...] = (name,)
        elif name in JOINT_RATES:
            names = _joint_names(arrays, name, origin)
        elif name in JOINT_RATES.values():
            names = BASE_VELOCITY
        else:
            names = tuple(name + axis for axis in AXES)
        if array.ndim > 2 or (array.ndim == 2 and array.shape[1] != len(names)):
            raise ClipError(
                origin,
                f"{name} has shape {array.shape}, expected one row per instant, columns {', '.join(names)}",
            )
        columns.update(
            zip(names, np.asarray(array, dtype=np.float64).reshape(len(array), -1).T, strict=True)
        )
    return columns


def _joint_names(arrays: dict[str, NDArray[np.generic]], name: str, origin: str) -> tuple[str, ...]:
    for key in ("rate_names", "joint_names"):
        if key in arrays and arrays[key].dtype.kind == "U":
            return tuple(map(str, arrays[key]))
    raise ClipError(
        origin, str(UnknownNameError(f"list of names for {name}", "rate_names", arrays))
    )


def _check(series: Series, gaps: bool) -> None:
    if not len(series.times):
        raise ClipError(series.origin, "has no rows")
    sizes = np.abs(series.values)
    bad = np.argwhere((sizes > LARGEST) if gaps else ~(sizes <= LARGEST))
    if bad.size:
        row, column = (int(index) for index in bad[0])
        raise series.fault(row, series.columns[column], tell_number(series.values[row, column]))
    wrong = np.flatnonzero(~np.isfinite(series.times))
    if wrong.size:
        raise series.fault(
            int(wrong[0]), TIME, f"received {series.times[wrong[0]]}, expected a finite time"
        )
    late = np.flatnonzero(np.diff(series.times) <= 0.0)
    if late.size:
        row = int(late[0]) + 1
        raise series.fault(
            row,
            TIME,
            f"{series.times[row]:.9g} s comes after {series.times[row - 1]:.9g} s; times must ascend",
        )
