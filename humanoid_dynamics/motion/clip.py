# SPDX-License-Identifier: Apache-2.0
"""A motion of a robot: instants, configurations, and what is known of velocities, accelerations and contacts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_dynamics.errors import ClipError, UnknownNameError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import QUATERNION_TOLERANCE, State
from humanoid_dynamics.motion.formats.columns import entry_names, unit_blocks, velocity_columns
from humanoid_dynamics.spatial.arrays import Matrix, Vector, as_real, read_only

Labels: TypeAlias = NDArray[np.bool_]

FEWEST_FRAMES = (
    3  # an acceleration needs as many; one is enough where velocities and accelerations are known
)
FEWEST_FOR_RATE = 2
LARGEST = 1e12  # any unit; squares of what is beyond may overflow, and nothing that moves is
LONGEST = 86400.0  # s; a clip of more than a day has times that are no seconds
GAP = 4.5  # usual steps; what is longer is told
EVEN = 1e-3  # a clip whose steps differ by less than this share of a step has one rate


@dataclass(frozen=True, eq=False)
class Clip:
    """A motion on the configurations of one robot.

    Attributes:
        robot: The robot that moves.
        times: (n,) instants [s], ascending.
        q: (n, nq) configurations.
        v: (n, nv) velocities, or None where they are not known.
        a: (n, nv) accelerations, or None where they are not known.
        contacts: Surface -> (n,) whether it touches the ground.
        origin: Where it came from, for messages.
        notices: What was assumed on the way.
    """

    robot: RobotModel
    times: Vector
    q: Matrix = field(repr=False)
    v: Matrix | None = field(default=None, repr=False)
    a: Matrix | None = field(default=None, repr=False)
    contacts: Mapping[str, Labels] = field(default_factory=dict, repr=False)
    origin: str = "clip"
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        fewest = FEWEST_FRAMES if self.v is None or self.a is None else 1
        object.__setattr__(self, "times", check_times(self.times, self.origin, fewest))
        n = len(self.times)
        q = check_table(self.q, (n, self.robot.nq), entry_names(self.robot), self.origin, "q")
        check_unit_blocks(self.robot, q, self.origin)
        object.__setattr__(self, "q", q)
        for name in ("v", "a"):
            values = getattr(self, name)
            if values is not None:
                table = check_table(
                    values, (n, self.robot.nv), velocity_columns(self.robot), self.origin, name
                )
                object.__setattr__(self, name, table)
        object.__setattr__(self, "contacts", MappingProxyType(_check_contacts(self)))

    def __len__(self) -> int:
        return len(self.times)

    @property
    def duration(self) -> float:
        """Time from the first to the last sample [s]."""
        return float(self.times[-1] - self.times[0])

    @property
    def rate(self) -> float:
        """Samples per second, on average [Hz].

        Raises:
            ClipError: If there is one sample only.
        """
        if len(self) < FEWEST_FOR_RATE:
            raise ClipError(
                self.origin,
                f"has {count_frames(len(self))}, a rate needs at least {FEWEST_FOR_RATE}",
            )
        return (len(self) - 1) / self.duration

    @property
    def is_even(self) -> bool:
        """Whether all steps are equally long, to a thousandth."""
        steps = np.diff(self.times)
        return not steps.size or bool(np.ptp(steps) <= EVEN * np.mean(steps))

    def state(self, row: int) -> State:
        """Return one sample; at rest where velocities are not known.

        Args:
            row: Index of the sample.
        """
        return State(self.q[row], np.zeros(self.robot.nv) if self.v is None else self.v[row])

    def change(self, **fields: object) -> Clip:
        """Return this clip with other fields, checked anew.

        Args:
            fields: Fields of the record.
        """
        return replace(self, **fields)  # type: ignore[arg-type]


def count_frames(count: int) -> str:
    """Return a number of frames in words.

    Args:
        count: How many.
    """
    return f"{count} frame{'' if count == 1 else 's'}"


def check_duration(clip: Clip) -> None:
    """Refuse a clip of more than a day.

    Args:
        clip: The clip.

    Raises:
        ClipError: Saying how long it lasts.
    """
    if clip.duration > LONGEST:
        raise ClipError(
            clip.origin,
            f"lasts {clip.duration:.4g} s, more than a day: its times or its rate (fps) are wrong",
            column="time",
        )


def tell_gap(times: Vector) -> str:
    """Tell of the longest gap between samples, empty where none is longer than some steps.

    Args:
        times: (n,) instants [s], ascending.
    """
    steps = np.diff(times)
    worst = int(np.argmax(steps)) if steps.size else 0
    if not steps.size or steps[worst] <= GAP * float(np.median(steps)):
        return ""
    return f"nothing was measured from {times[worst]:.3f} to {times[worst + 1]:.3f} s"


def check_times(times: ArrayLike, origin: str, fewest: int = FEWEST_FRAMES) -> Vector:
    """Return instants that are finite, ascending and enough.

    Args:
        times: (n,) instants [s].
        origin: Where they came from, for messages.
        fewest: How many are enough.

    Returns:
        (n,) read-only instants [s].

    Raises:
        ClipError: Naming the row that is not.
    """
    values = _numbers(times, origin, "times")
    if values.ndim != 1:
        raise ClipError(
            origin, f"received shape {values.shape}, expected one instant per row", column="time"
        )
    if len(values) < fewest:
        enough = f"at least {fewest} {'are' if fewest > 1 else 'is'} needed{' for an acceleration' if fewest > 1 else ''}"
        raise ClipError(origin, f"has {count_frames(len(values))}, {enough}")
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ClipError(
            origin, f"received {values[row]}, expected a finite time", row=row, column="time"
        )
    late = np.flatnonzero(np.diff(values) <= 0.0)
    if late.size:
        row = int(late[0]) + 1
        raise ClipError(
            origin,
            f"{values[row]:.9g} s comes after {values[row - 1]:.9g} s; times must ascend",
            row=row,
            column="time",
        )
    return values


def check_table(
    values: ArrayLike, shape: tuple[int, int], columns: tuple[str, ...], origin: str, name: str
) -> Matrix:
    """Return a table of finite numbers of the right size.

    Args:
        values: (n, columns) numbers.
        shape: Expected shape.
        columns: Names of the columns, for messages.
        origin: Where they came from, for messages.
        name: What they are, for messages.

    Returns:
        Read-only table.

    Raises:
        ClipError: If the shape is different, or naming row and column of the first number that is not finite or too large.
    """
    table = _numbers(values, origin, name)
    if table.shape != shape:
        listed = ", ".join(columns)
        raise ClipError(
            origin,
            f"{name} has shape {table.shape}, expected {shape}: one row per instant, columns {listed}",
        )
    bad = np.argwhere(~(np.abs(table) <= LARGEST))
    if bad.size:
        row, column = (int(index) for index in bad[0])
        raise ClipError(origin, tell_number(table[row, column]), row=row, column=columns[column])
    return table


def tell_number(number: float) -> str:
    """Tell what is wrong with a number that no measurement holds.

    Args:
        number: It is not finite, or larger than ``LARGEST``.
    """
    return f"received {number}, expected {f'at most {LARGEST:g} in size' if np.isfinite(number) else 'a finite number'}"


def check_unit_blocks(
    robot: RobotModel, q: Matrix, origin: str, tolerance: float = QUATERNION_TOLERANCE
) -> None:
    """Refuse quaternions, and pairs of cosine and sine, that are not of unit length.

    Args:
        robot: The robot.
        q: (n, nq) configurations.
        origin: Where they came from, for messages.
        tolerance: How far the length may be from one [-].

    Raises:
        ClipError: Naming the first row and the columns.
    """
    names = entry_names(robot)
    for block in unit_blocks(robot):
        lengths = np.linalg.norm(q[:, block], axis=1)
        bad = np.flatnonzero(np.abs(lengths - 1.0) > tolerance)
        if bad.size:
            row = int(bad[0])
            what = "quaternion" if block.stop - block.start == 4 else "cosine and sine"
            problem = f"{what} of length {lengths[row]:.9g}, expected 1 to {tolerance:g}"
            raise ClipError(
                origin, problem, row=row, column=f"{names[block.start]}..{names[block.stop - 1]}"
            )


def _numbers(values: ArrayLike, origin: str, name: str) -> Matrix:
    try:
        return read_only(as_real(values))
    except (TypeError, ValueError) as cause:
        raise ClipError(
            origin, f"{name}: received {type(values).__name__}, expected numbers ({cause})"
        ) from cause


def _check_contacts(clip: Clip) -> dict[str, Labels]:
    checked = {}
    for name, labels in clip.contacts.items():
        if name not in clip.robot.surfaces:
            raise ClipError(
                clip.origin, str(UnknownNameError("contact surface", name, clip.robot.surfaces))
            )
        array = np.array(labels, dtype=bool)
        if array.shape != clip.times.shape:
            raise ClipError(
                clip.origin,
                f"contact labels of shape {array.shape}, expected {clip.times.shape}",
                column=name,
            )
        array.flags.writeable = False
        checked[name] = array
    return checked
