# SPDX-License-Identifier: Apache-2.0
"""A record: what went on, sample by sample, in tables with named columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from humanoid_dynamics.errors import RecordError, UnknownNameError
from humanoid_dynamics.series.layout import WRENCH, Layout, Patch
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only


@dataclass(frozen=True, eq=False)
class Table:
    """One table of a record.

    Attributes:
        columns: Names of its columns.
        values: (n, columns) numbers; NaN where a column did not exist at that time.
    """

    columns: tuple[str, ...]
    values: Matrix = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _keep(self.values))

    def column(self, name: str) -> Vector:
        """Return one column.

        Args:
            name: Its name.

        Returns:
            (n,) numbers.

        Raises:
            UnknownNameError: If there is none of that name.
        """
        if name not in self.columns:
            raise UnknownNameError("column", name, self.columns)
        return np.asarray(self.values[:, self.columns.index(name)])


@dataclass(frozen=True, eq=False)
class Record:
    """Time series of a run.

    Attributes:
        about: What it is a record of, in words: scene, title, robot, and the URDF where there is one.
        t: (n,) instants [s], ascending.
        tables: Tables by name, one row per instant.
        layouts: First row -> what samples are made of from there on; more than one where the tree of bodies changed.
    """

    about: Mapping[str, str]
    t: Vector = field(repr=False)
    tables: Mapping[str, Table] = field(repr=False)
    layouts: Mapping[int, Layout] = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "t", _keep(self.t))
        for name in ("about", "tables", "layouts"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        origin = self.about.get("scene", "record")
        late = np.flatnonzero(~(np.diff(self.t) > 0.0))
        if late.size:
            row = int(late[0]) + 1
            raise RecordError(
                origin,
                f"row {row}: {self.t[row]:.9g} s comes after {self.t[row - 1]:.9g} s; times must ascend",
            )
        for name, table in self.tables.items():
            if table.values.shape != (len(self.t), len(table.columns)):
                expected = (len(self.t), len(table.columns))
                raise RecordError(
                    origin, f"table {name!r} has shape {table.values.shape}, expected {expected}"
                )

    def __len__(self) -> int:
        return len(self.t)

    @property
    def patches(self) -> tuple[Patch, ...]:
        """All contacts that ever were, each once."""
        found = {patch.name: patch for layout in self.layouts.values() for patch in layout.patches}
        return tuple(found.values())

    def table(self, name: str) -> Table:
        """Return a table.

        Args:
            name: Its name.

        Returns:
            The table.

        Raises:
            UnknownNameError: If there is none of that name.
        """
        if name not in self.tables:
            raise UnknownNameError("table", name, self.tables)
        return self.tables[name]

    def wrench(self, patch: str) -> Matrix:
        """Return the wrenches of a contact in its frame.

        Args:
            patch: Name of the contact.

        Returns:
            (n, 6) force and moment [N, N·m].
        """
        table = self.table("wrench")
        return np.column_stack([table.column(f"{patch}.{axis}") for axis in WRENCH])

    def segments(self) -> Iterator[tuple[slice, Layout]]:
        """Yield rows with one layout, in order of time."""
        starts = sorted(self.layouts)
        for start, stop in zip(starts, (*starts[1:], len(self)), strict=True):
            yield slice(start, stop), self.layouts[start]


def _keep(values: Matrix) -> Matrix:
    """Return read-only numbers; those that are so already are not copied, as long runs are large."""
    return read_only(values) if values.flags.writeable or values.dtype != np.float64 else values
