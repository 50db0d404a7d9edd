# SPDX-License-Identifier: Apache-2.0
"""Where samples go: into memory or into a file, one by one."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO, Protocol

import numpy as np

from humanoid_dynamics.series.layout import Layout
from humanoid_dynamics.series.record import Record, Table
from humanoid_dynamics.spatial.arrays import Matrix, Vector

TIME = "t"
BLOCK = 2**20  # bytes that are in memory at a time
FLOAT = 8  # bytes


class Sink(Protocol):
    """Takes samples."""

    def begin(self, layout: Layout) -> None:
        """Take note of what the samples to come are made of.

        Args:
            layout: The layout.
        """

    def write(self, t: float, rows: Mapping[str, Vector]) -> None:
        """Take a sample.

        Args:
            t: Its instant [s].
            rows: Table -> (columns,) numbers.
        """

    def close(self) -> None:
        """Finish; no sample comes after this."""


class Spool:
    """Samples as bytes, one stream for each table of each layout; what becomes of them is decided in the end."""

    def __init__(self, make_stream: Callable[[], BinaryIO] = io.BytesIO) -> None:
        """Prepare.

        Args:
            make_stream: Makes an empty stream: of memory, or a file.
        """
        self._make_stream = make_stream
        self._parts: list[tuple[Layout, dict[str, BinaryIO]]] = []
        self._counts: list[int] = []

    @property
    def layouts(self) -> dict[int, Layout]:
        """First row -> layout; one that no sample followed is left out."""
        starts = np.cumsum([0, *self._counts]).tolist()
        return {
            start: layout
            for start, (layout, _), count in zip(starts, self._parts, self._counts, strict=False)
            if count
        }

    def __len__(self) -> int:
        return sum(self._counts)

    def begin(self, layout: Layout) -> None:
        """Take note of what the samples to come are made of."""
        self._parts.append(
            (layout, {name: self._make_stream() for name in (TIME, *layout.columns)})
        )
        self._counts.append(0)

    def write(self, t: float, rows: Mapping[str, Vector]) -> None:
        """Take a sample."""
        streams = self._parts[-1][1]
        for name, row in rows.items():
            streams[name].write(row.tobytes())
        streams[TIME].write(np.float64(t).tobytes())
        self._counts[-1] += 1

    def columns(self) -> dict[str, tuple[str, ...]]:
        """Return all tables with all their columns, in the order they came."""
        found: dict[str, dict[str, None]] = {TIME: {TIME: None}}
        for layout, _ in self._parts:
            for name, columns in layout.columns.items():
                found.setdefault(name, {}).update(dict.fromkeys(columns))
        return {name: tuple(columns) for name, columns in found.items()}

    def blocks(self, name: str) -> Iterator[Matrix]:
        """Yield a table piece by piece.

        Args:
            name: The table.

        Yields:
            (rows, columns) numbers; NaN where a column did not exist.
        """
        everything = self.columns()[name]
        for (layout, streams), count in zip(self._parts, self._counts, strict=True):
            here = (TIME,) if name == TIME else layout.columns.get(name, ())
            places = [everything.index(column) for column in here]
            stream = streams.get(name)
            if stream is not None:
                stream.seek(0)
            most = max(1, BLOCK // (FLOAT * max(1, len(everything))))
            for start in range(0, count, most):
                rows = min(most, count - start)
                block = np.full((rows, len(everything)), np.nan)
                if stream is not None:
                    block[:, places] = np.frombuffer(stream.read(rows * len(here) * FLOAT)).reshape(
                        rows, len(here)
                    )
                yield block
            if stream is not None:
                stream.seek(0, io.SEEK_END)

    def close(self) -> None:
        """Give back all streams."""
        for _, streams in self._parts:
            for stream in streams.values():
                stream.close()


class MemorySink(Spool):
    """Keeps samples in memory."""

    def record(self, about: Mapping[str, str]) -> Record:
        """Return what was taken until now.

        Args:
            about: What it is a record of.

        Returns:
            The record.
        """
        tables = {}
        for name, columns in self.columns().items():
            blocks = list(self.blocks(name))
            values = np.vstack(blocks) if blocks else np.zeros((0, len(columns)))
            values.flags.writeable = False
            tables[name] = Table(columns, values)
        t = tables.pop(TIME).values[:, 0]
        return Record(about, t, tables, self.layouts)


def pour(record: Record, sink: Sink) -> None:
    """Write a record into a sink, and close it.

    Args:
        record: The record.
        sink: Where it goes.
    """
    for rows, layout in record.segments():
        sink.begin(layout)
        parts = {}
        for name, columns in layout.columns.items():
            table = record.table(name)
            places = [table.columns.index(column) for column in columns]
            parts[name] = np.ascontiguousarray(table.values[rows][:, places])
        for k, t in enumerate(record.t[rows].tolist()):
            sink.write(t, {name: values[k] for name, values in parts.items()})
    sink.close()
