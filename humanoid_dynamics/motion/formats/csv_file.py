# SPDX-License-Identifier: Apache-2.0
"""Motions as tables of text.

With a header: `time`, then `base_x` .. `base_qw` and joints by name; columns `contact:NAME` are 0 or 1.  Velocities and accelerations stand
in files beside it: `walk_v.csv` and `walk_a.csv` for `walk.csv` or `walk_q.csv`, with `base_vx` .. `base_wz` and the joints.

Without a header: each row is a configuration in the order of the robot, a free base first.  Such a file has no clock; its rate is given, or
stands in a comment `# fps: 60`.  Without either it is refused: 30, 50, 60 and 120 Hz are all common, and a guess changes every torque.

Columns stand between commas, semicolons or tabs, names in quotation marks or without.

Tables of OpenSim are read too, with a header of their own; it may state that angles are in degrees.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from humanoid_dynamics.errors import ClipError, count
from humanoid_dynamics.motion.clip import Clip, check_times
from humanoid_dynamics.motion.formats.joint_orders import order_joints
from humanoid_dynamics.motion.formats.opensim_file import is_opensim, split_opensim
from humanoid_dynamics.motion.formats.recording import (
    ASK_RATE,
    CLOCKS,
    Recording,
    check_names,
    check_rate,
    find_rate,
)
from humanoid_dynamics.series.bounded_reading import ReadLimitError, check_lines
from humanoid_dynamics.spatial.arrays import Matrix, Vector

TIME = "time"
CONTACT = "contact:"
SEPARATORS = (";", "\t", ",")  # the first of them that a table holds separates its columns
SAME_TIME = 1e-6  # s
FOREIGN = {  # first words of files that are no tables of joints or plates
    "PathFileType": "holds places of markers, no joints; find the angles of joints from them first, by inverse kinematics",
    "[Force Data]": "holds force plates in a layout of its own; write columns time, R_Fx .. R_Fz, R_Px .. R_Pz, R_Mx .. R_Mz",
}
DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?([eE][+-]?\d+)?")
COMMENT = re.compile(r"#\s*(?:fps|rate)\s*[:=]\s*(\S+)")


@dataclass(frozen=True, eq=False)
class Table:
    """A table of text, read.

    Attributes:
        columns: Names, empty where there is no header.
        values: (n, columns) numbers.
        lines: Line of each row in the file.
        rate: Rate in a comment [Hz], or None.
        degrees: Whether angles are in degrees.
        header: Line of the names, or None.
    """

    columns: tuple[str, ...]
    values: Matrix
    lines: tuple[int, ...]
    rate: float | None
    degrees: bool = False
    header: int | None = None


def read_csv(path: Path, rate: float | None = None, *, beside: bool = True) -> Recording:
    """Read a motion from a table of text, with the velocities and accelerations beside it.

    Args:
        path: The file.
        rate: Samples per second of a file without times [Hz].
        beside: Whether files of velocities and accelerations beside it are read too; otherwise one frame is enough.

    Returns:
        The recording.

    Raises:
        ClipError: Naming line, row and column of what is wrong.
    """
    table, origin = read_table(path), str(path)
    times = _find_times(table, rate, origin)
    labels = {name: index for index, name in enumerate(table.columns) if name.startswith(CONTACT)}
    kept = (
        [i for i, name in enumerate(table.columns) if name != TIME and name not in labels]
        if table.columns
        else slice(None)
    )
    columns = tuple(name for name in table.columns if name != TIME and name not in labels)
    rates, rows = _read_siblings(path, times, table.degrees) if beside else ((), [None, None])
    contacts = {
        name.removeprefix(CONTACT): table.values[:, index] != 0.0 for name, index in labels.items()
    }
    try:
        if beside:
            check_times(times, origin)
        recording = Recording(
            origin, times, columns, table.values[:, kept], rates, rows[0], rows[1], contacts
        )
    except ClipError as fault:
        raise fault.in_lines(table.lines) from None
    return replace(recording, degrees=table.degrees, header=table.header)


def write_csv(
    recording: Recording, path: Path, *, header: bool = True, comments: Sequence[str] = ()
) -> None:
    """Write a motion as a table of text, in full precision; velocities and accelerations go into files beside it.

    Args:
        recording: The motion.
        path: The file.
        header: Whether names and times are written; without them only configurations are, and the rate as a comment.
        comments: Comments after the last row.

    Raises:
        ClipError: If a header is asked for and the recording has no names.
    """
    if not header:
        rate = (len(recording.times) - 1) / np.ptp(recording.times)
        _write(path, [f"# fps: {float(rate)!r}"], recording.values)
        return
    if not recording.columns:
        raise ClipError(recording.origin, "has no names of columns to write")
    names = [TIME, *recording.columns, *(CONTACT + name for name in recording.contacts)]
    _write(
        path,
        [",".join(names)],
        np.column_stack((recording.times, recording.values, *recording.contacts.values())),
        comments,
    )
    for letter, rows in (("v", recording.velocities), ("a", recording.accelerations)):
        if rows is not None:
            _write(
                _sibling(path, letter),
                [",".join((TIME, *recording.rates))],
                np.column_stack((recording.times, rows)),
            )


def write_table_of_configurations(clip: Clip, path: Path, comments: Sequence[str] = ()) -> None:
    """Write a clip as a table without names, as LAFAN1 for robots has it; comments stand behind the last row.

    Args:
        clip: A clip at an even rate.
        path: The file.
        comments: Comments beside the rate.
    """
    joints = [clip.robot.joint(name).q.start for name in order_joints(clip.robot)]
    table = np.hstack((clip.q[:, :7], clip.q[:, joints]))
    _write(path, [], table, (f"fps: {clip.rate!r}", *comments))


def _sibling(path: Path, letter: str) -> Path:
    return path.with_name(f"{path.stem.removesuffix('_q')}_{letter}{path.suffix}")


def _write(path: Path, head: list[str], values: Matrix, comments: Sequence[str] = ()) -> None:
    rows = (",".join(repr(float(number)) for number in row) for row in values)
    tail = (f"# {comment}" for comment in comments)
    path.write_text("\n".join((*head, *rows, *tail)) + "\n", encoding="utf-8")


def _read_siblings(
    path: Path, times: Vector, degrees: bool
) -> tuple[tuple[str, ...], list[Matrix | None]]:
    """Read the files of velocities and accelerations, where they are."""
    rates: tuple[str, ...] = ()
    rows: list[Matrix | None] = []
    for letter in ("v", "a"):
        beside = _sibling(path, letter)
        if not beside.is_file() or beside == path:
            rows.append(None)
            continue
        table = read_table(beside)
        names = table.columns[1:]
        if table.columns[:1] != (TIME,) or (rates and names != rates):
            raise ClipError(
                str(beside),
                f"received the columns {', '.join(table.columns) or 'without names'}, expected time and {rates or 'names'}",
            )
        if len(table.values) != len(times) or np.abs(table.values[:, 0] - times).max() > SAME_TIME:
            raise ClipError(str(beside), f"has other instants than {path.name}", column=TIME)
        if table.degrees != degrees:
            raise ClipError(
                str(beside),
                f"has angles in {_unit(table.degrees)}, {path.name} in {_unit(degrees)}",
            )
        rates = names
        rows.append(table.values[:, 1:])
    return rates, rows


def _find_times(table: Table, rate: float | None, origin: str) -> Vector:
    said = table.rate
    if TIME in table.columns:
        times = table.values[:, table.columns.index(TIME)]
        said = find_rate(times)
    check_rate(rate, said, origin)
    if TIME in table.columns:
        return times
    found = rate if rate is not None else said
    if found is None:
        clocks = [name for name in table.columns if name.lower() in CLOCKS]
        rename = f"rename column {clocks[0]!r} to 'time', or " if clocks else ""
        raise ClipError(
            origin,
            f"has no column 'time' and no comment '# fps: 30', so its rate is unknown; {rename}{ASK_RATE}",
        )
    if not (np.isfinite(found) and found > 0.0):
        raise ClipError(origin, f"received a rate of {found} Hz, expected a positive number")
    return np.asarray(np.arange(len(table.values)) / found)


def read_table(path: Path, *, gaps: bool = False) -> Table:
    """Read a table of text: names in the first row if they are no numbers, comments behind ``#``.

    Args:
        path: The file.
        gaps: Whether numbers may be missing, ``nan`` or nothing at all.

    Returns:
        Its names, numbers and lines.

    Raises:
        ClipError: Naming line, row and column of what is no finite number.
    """
    origin = str(path)
    try:
        told = path.read_text(encoding="utf-8-sig").splitlines()
        check_lines(told)
    except (OSError, UnicodeDecodeError, ReadLimitError) as cause:
        raise ClipError(origin, f"cannot be read: {cause}") from cause
    lines = [(number, line.strip()) for number, line in enumerate(told, start=1) if line.strip()]
    for word, problem in FOREIGN.items():
        if lines and lines[0][1].startswith(word):
            raise ClipError(origin, problem, line=lines[0][0])
    if is_opensim([line for _, line in lines]):
        rows, degrees = split_opensim(lines, origin)
        return _build_table(rows, origin, degrees=degrees, gaps=gaps)
    comments = [found for _, line in lines if (found := COMMENT.match(line))]
    rate = _number(comments[0].group(1)) if comments else None
    kept = [(number, line) for number, line in lines if not line.startswith("#")]
    if not kept:
        raise ClipError(origin, "is empty")
    mark = next((mark for mark in SEPARATORS if mark in kept[0][1]), ",")
    rows = [
        (number, [cell.strip().strip('"') for cell in line.split(mark)]) for number, line in kept
    ]
    width = len(rows[0][1])
    if width > 1 and all(len(cells) == width and not cells[-1] for _, cells in rows):
        rows = [(number, cells[:-1]) for number, cells in rows]  # each line ends with a separator
    return _build_table(rows, origin, rate, gaps=gaps)


def _build_table(
    rows: list[tuple[int, list[str]]],
    origin: str,
    rate: float | None = None,
    *,
    degrees: bool = False,
    gaps: bool = False,
) -> Table:
    columns: tuple[str, ...] = ()
    header: int | None = None
    if any(_number(cell) is None for cell in rows[0][1]) and all(
        _number(cell) is None for cell in rows[0][1]
    ):
        header, names = rows[0]
        if all(DECIMAL_COMMA.fullmatch(name) for name in names):
            raise ClipError(
                origin,
                f"received {names[0]!r}, expected a finite number with a point, or names of columns",
                line=header,
            )
        columns, rows = tuple(names), rows[1:]
        check_names(columns, origin, header)
    width = len(columns) or len(rows[0][1])
    values = np.array(
        [
            _read_row(cells, width, columns, (origin, index, line), gaps)
            for index, (line, cells) in enumerate(rows)
        ]
    )
    return Table(
        columns,
        values.reshape(len(rows), width),
        tuple(line for line, _ in rows),
        rate,
        degrees,
        header,
    )


def _read_row(
    cells: list[str], width: int, columns: tuple[str, ...], place: tuple[str, int, int], gaps: bool
) -> list[float]:
    origin, row, line = place
    if len(cells) != width:
        raise ClipError(
            origin, f"has {count(len(cells), 'column')}, expected {width}", row=row, line=line
        )
    numbers = []
    for index, cell in enumerate(cells):
        number = math.nan if gaps and not cell else _number(cell)
        if number is None or not (math.isfinite(number) or (gaps and math.isnan(number))):
            name = columns[index] if columns else str(index)
            point = " with a point" if "," in cell else ""
            raise ClipError(
                origin,
                f"received {cell!r}, expected a finite number{point}",
                row=row,
                column=name,
                line=line,
            )
        numbers.append(number)
    return numbers


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _unit(degrees: bool) -> str:
    return "degrees" if degrees else "radians"
