# SPDX-License-Identifier: Apache-2.0
"""What a motion file holds, before any robot is used: a table with named columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.motion.clip import Labels, check_table, check_times
from humanoid_dynamics.motion.formats.columns import BASE_TURN
from humanoid_dynamics.spatial.arrays import Matrix, Vector

SAME_RATE = 0.01  # share by which a rate that is asked for may differ from that of the file
CLOCKS = {"t", "time", "timestamp"}  # names of columns of instants in other programs, in lower case
ASK_RATE = "give it as fps= (fps on a node, --fps on the command line)"
ROUNDED = 1e-3  # a quaternion this near to unit length was rounded, and is scaled


@dataclass(frozen=True, eq=False)
class Recording:
    """A table of positions by name, such as a file holds it.

    Attributes:
        origin: The file, for messages.
        times: (n,) instants [s].
        columns: Names of the columns: base pose, then joints; empty where the file has none and means the order of the robot.
        values: (n, columns) positions [m, rad, -].
        rates: Names of the columns of velocities and accelerations; empty where there are none, and they have the order of the robot.
        velocities: (n, rates) velocities, or None.
        accelerations: (n, rates) accelerations, or None.
        contacts: Surface -> (n,) whether it touches the ground.
        extras: All else the file holds, by name; kept, not read.
        notices: What was assumed.
        degrees: Whether angles and their rates are in degrees.
        header: Line of the names in the file, or None.
    """

    origin: str
    times: Vector
    columns: tuple[str, ...]
    values: Matrix
    rates: tuple[str, ...] = ()
    velocities: Matrix | None = None
    accelerations: Matrix | None = None
    contacts: Mapping[str, Labels] = field(default_factory=dict)
    extras: Mapping[str, NDArray[np.generic]] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    degrees: bool = False
    header: int | None = None

    def __post_init__(self) -> None:
        check_names(self.columns, self.origin)
        check_names(self.rates, self.origin)
        object.__setattr__(self, "times", check_times(self.times, self.origin, 1))
        values = np.array(self.values, dtype=np.float64)
        names = self.columns or tuple(
            f"q[{index}]" for index in range(values.shape[-1] if values.ndim else 0)
        )
        table = np.array(
            check_table(values, (len(self.times), len(names)), names, self.origin, "positions")
        )
        for block in find_quaternions(self.columns):
            normalize_rows(table, block, names, self.origin)
        table.flags.writeable = False
        object.__setattr__(self, "values", table)
        for name in ("velocities", "accelerations"):
            given = getattr(self, name)
            if given is not None:
                rates = self.rates or tuple(
                    f"{name[0]}[{index}]"
                    for index in range(np.shape(given)[-1] if np.ndim(given) else 0)
                )
                object.__setattr__(
                    self,
                    name,
                    check_table(given, (len(self.times), len(rates)), rates, self.origin, name),
                )
        object.__setattr__(self, "contacts", MappingProxyType(dict(self.contacts)))
        object.__setattr__(self, "extras", MappingProxyType(dict(self.extras)))


def check_rate(rate: float | None, said: float | None, origin: str) -> None:
    """Refuse a rate that is no rate, or not that of the file.

    Args:
        rate: Samples per second that were asked for, or None [Hz].
        said: Those of the file, or None [Hz].
        origin: Where it came from, for messages.

    Raises:
        ClipError: Naming both.
    """
    if rate is None:
        return
    if not (np.isfinite(rate) and rate > 0.0):
        raise ClipError(origin, f"received a rate of {rate} Hz, expected a positive number")
    if said is not None and abs(rate - said) > SAME_RATE * said:
        raise ClipError(
            origin,
            f"has {said:.6g} samples per second, received a rate of {rate:.6g}; resample it after reading",
        )


def find_rate(times: Vector) -> float | None:
    """Return the mean number of samples per second of instants [Hz], None where they do not ascend.

    Args:
        times: (n,) instants [s].
    """
    return (
        (len(times) - 1) / float(times[-1] - times[0])
        if len(times) > 1 and times[-1] > times[0]
        else None
    )


def check_names(names: tuple[str, ...], origin: str, line: int | None = None) -> None:
    """Refuse a name that comes twice.

    Args:
        names: Names of columns.
        origin: Where they came from, for messages.
        line: Line of the names, for messages.

    Raises:
        ClipError: Naming it.
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ClipError(origin, "comes twice", column=name, line=line)
        seen.add(name)


def find_quaternions(columns: tuple[str, ...]) -> tuple[list[int], ...]:
    """Find the columns that are quaternions: of the base, and ``joint.qx`` .. ``joint.qw``.

    Args:
        columns: Names of columns.

    Returns:
        Indices of x, y, z, w of each quaternion.
    """
    place = {name: index for index, name in enumerate(columns)}
    stems = [name.removesuffix(".qx") for name in columns if name.endswith(".qx")]
    groups = [
        BASE_TURN,
        *(tuple(f"{stem}.{part}" for part in ("qx", "qy", "qz", "qw")) for stem in stems),
    ]
    return tuple(
        [place[name] for name in group] for group in groups if all(name in place for name in group)
    )


def normalize_rows(
    table: Matrix,
    block: list[int],
    columns: tuple[str, ...],
    origin: str,
    tolerance: float = ROUNDED,
) -> None:
    """Scale rounded quaternions to unit length, in place.

    Args:
        table: (n, columns) numbers.
        block: Indices of one quaternion.
        columns: Names, for messages.
        origin: Where they came from, for messages.
        tolerance: How far a length may be from one [-].

    Raises:
        ClipError: Naming the row of a quaternion that was never one.
    """
    lengths = np.linalg.norm(table[:, block], axis=1)
    bad = np.flatnonzero(np.abs(lengths - 1.0) > tolerance)
    if bad.size:
        row = int(bad[0])
        problem = f"quaternion of length {lengths[row]:.9g}, expected 1 to {tolerance:g}"
        raise ClipError(
            origin, problem, row=row, column=f"{columns[block[0]]}..{columns[block[-1]]}"
        )
    table[:, block] /= lengths[:, None]
