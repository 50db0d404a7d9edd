# SPDX-License-Identifier: Apache-2.0
"""Records as numpy archives, written as they come: memory does not grow with the length of a run.

    t                   (n,) instants [s]
    TABLE               (n, columns) numbers, with TABLE_columns (columns,) their names
    about, layouts      what it is a record of, and what samples are made of, as JSON

``numpy.load`` reads it without this package.  Samples wait in nameless files beside the archive until it is closed; a run that is killed
leaves none, a bag does.
"""

from __future__ import annotations

import json
import math
import os
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.errors import RecordError
from humanoid_dynamics.series.bounded_reading import ReadLimitError, check_size, find_limit
from humanoid_dynamics.series.layout import Layout, parse_layout
from humanoid_dynamics.series.record import Record, Table
from humanoid_dynamics.series.sink import TIME, Spool
from humanoid_dynamics.spatial.arrays import Vector

COLUMNS = "_columns"
BROKEN = (  # what a flipped bit of an archive can lead to
    *(
        OSError,
        ValueError,
        EOFError,
        AttributeError,
        KeyError,
        TypeError,
        OverflowError,
        MemoryError,
        NotImplementedError,
        RuntimeError,
    ),
    *(zipfile.BadZipFile, zlib.error, struct.error),
)
FAST = 1  # level of compression
MOST_MEMBERS = 10_000  # of an archive


class NpzSink:
    """Streams samples to disk and packs them when it is closed."""

    def __init__(self, path: Path, about: Mapping[str, str]) -> None:
        """Prepare.

        Args:
            path: The archive; missing folders are made, an older file goes when the new one is whole.
            about: What it is a record of.

        Raises:
            RecordError: If nothing can be written there.
        """
        self._path, self._about = path, dict(about)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                raise IsADirectoryError(f"{path} is a folder")
            tempfile.TemporaryFile(dir=path.parent).close()
        except OSError as cause:
            raise RecordError(str(path), f"cannot be written: {cause}") from cause
        self._spool = Spool(self._make_stream)

    def begin(self, layout: Layout) -> None:
        """Take note of what the samples to come are made of."""
        self._spool.begin(layout)

    def write(self, t: float, rows: Mapping[str, Vector]) -> None:
        """Take a sample."""
        self._spool.write(t, rows)

    def close(self) -> None:
        """Pack all samples into the archive."""
        part = self._path.with_name(self._path.name + ".part")
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=FAST) as archive:
            for name, columns in self._spool.columns().items():
                self._pack(archive, name, columns)
            layouts = {str(row): layout.dump() for row, layout in self._spool.layouts.items()}
            for name, content in (("about", self._about), ("layouts", layouts)):
                with _entry(archive, name) as file:
                    np.lib.format.write_array(
                        file, np.array(json.dumps(content)), allow_pickle=False
                    )
        self._spool.close()
        os.replace(part, self._path)

    def _pack(self, archive: zipfile.ZipFile, name: str, columns: tuple[str, ...]) -> None:
        shape = (len(self._spool),) if name == TIME else (len(self._spool), len(columns))
        with _entry(archive, name) as file:
            np.lib.format.write_array_header_2_0(
                file, {"descr": "<f8", "fortran_order": False, "shape": shape}
            )
            for block in self._spool.blocks(name):
                file.write(block.tobytes())
        if name != TIME:
            with _entry(archive, name + COLUMNS) as file:
                np.lib.format.write_array(
                    file, np.array(columns, dtype=np.str_), allow_pickle=False
                )

    def _make_stream(self) -> BinaryIO:
        return cast("BinaryIO", tempfile.TemporaryFile(dir=self._path.parent))


def load_archive(path: Path) -> dict[str, NDArray[np.generic]]:
    """Read a numpy archive whole, after a look at what it declares.

    Args:
        path: The file.

    Returns:
        Its arrays by name.

    Raises:
        ReadLimitError: If its arrays together are larger than may be read; other errors are among ``BROKEN``.
    """
    limit = find_limit(path.stat().st_size)
    with path.open("rb") as file:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            if len(members) > MOST_MEMBERS:
                raise ReadLimitError(
                    f"it has {len(members)} members, expected at most {MOST_MEMBERS}"
                )
            check_size("the unpacked archive", sum(member.file_size for member in members), limit)
            for member in members:
                with archive.open(member) as entry:
                    check_size(f"array {member.filename!r}", _declared_size(entry), limit)
        file.seek(0)
        with np.load(file, allow_pickle=False) as loaded:
            return {name: loaded[name] for name in loaded.files}


def _declared_size(entry: IO[bytes]) -> int:
    """Return what the header of an array says of its size [bytes]; zero where it is no array."""
    if entry.read(len(np.lib.format.MAGIC_PREFIX)) != np.lib.format.MAGIC_PREFIX:
        return 0
    major, _ = entry.read(2)
    read = (
        np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
    )
    shape, _, dtype = read(entry)
    if any(length < 0 for length in shape):
        raise ReadLimitError(f"an array of shape {shape}, expected lengths of at least zero")
    return math.prod(shape) * max(dtype.itemsize, 1)


def read_npz_record(path: Path) -> Record:
    """Read a record from a numpy archive.

    Args:
        path: The file.

    Returns:
        The record.

    Raises:
        RecordError: If it is broken, or an archive of something else.
    """
    origin = str(path)
    try:
        arrays = load_archive(path)
        for array in arrays.values():
            array.flags.writeable = False
    except BROKEN as cause:
        raise RecordError(origin, f"cannot be read as a numpy archive: {cause}") from cause
    missing = [name for name in (TIME, "about", "layouts") if name not in arrays]
    if missing:
        listed = ", ".join(arrays) or "none"
        raise RecordError(
            origin,
            f"is a numpy archive without {', '.join(missing)}; its keys are {listed}; a record of simulate has them",
        )
    try:
        layouts = {
            int(row): parse_layout(text) for row, text in json.loads(str(arrays["layouts"])).items()
        }
        about = json.loads(str(arrays["about"]))
    except (ValueError, AttributeError) as cause:
        raise RecordError(origin, f"its layouts cannot be read: {cause}") from cause
    tables = {}
    for name in (key.removesuffix(COLUMNS) for key in arrays if key.endswith(COLUMNS)):
        if name not in arrays:
            raise RecordError(
                origin,
                f"names the columns of table {name!r}, but has none; its keys are {', '.join(arrays)}",
            )
        tables[name] = Table(
            tuple(str(column) for column in arrays[name + COLUMNS]),
            np.asarray(arrays[name], dtype=np.float64),
        )
    return Record(about, np.asarray(arrays[TIME], dtype=np.float64), tables, layouts)


def _entry(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """Open an entry; opened by name it is dated 1980, so that equal records make equal files."""
    return archive.open(f"{name}.npy", "w", force_zip64=True)
