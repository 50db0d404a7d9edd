# SPDX-License-Identifier: Apache-2.0
"""Records in files, by ending when written and by content when read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from humanoid_dynamics.errors import RecordError
from humanoid_dynamics.series.bag_reader import is_bag, read_bag
from humanoid_dynamics.series.bag_record import record_from_bag
from humanoid_dynamics.series.bag_writer import BagSink
from humanoid_dynamics.series.npz_file import NpzSink, read_npz_record
from humanoid_dynamics.series.record import Record
from humanoid_dynamics.series.sink import Sink, pour

KINDS = "a numpy archive (.npz), an MCAP file (.mcap), or the folder of a bag"
ZIP = b"PK"
SHOWN = 8  # bytes of an unknown file in a message


def open_sink(path: str | Path, about: Mapping[str, str]) -> Sink:
    """Open a file for samples: by its ending a numpy archive, an MCAP file or, without ending, the folder of a bag.

    Args:
        path: The file or folder.
        about: What it will be a record of.

    Returns:
        What takes the samples.

    Raises:
        RecordError: If the ending is another one.
    """
    path = Path(path)
    if path.suffix == ".npz":
        return NpzSink(path, about)
    if path.suffix in {".mcap", ""} and path.name:
        return BagSink(path, about)
    raise RecordError(str(path), f"ends in {path.suffix!r}, expected {KINDS}")


def save_record(record: Record, path: str | Path) -> None:
    """Write a record into a file.

    Args:
        record: The record.
        path: The file, or the folder of a bag.
    """
    pour(record, open_sink(path, record.about))


def load_record(path: str | Path) -> Record:
    """Read a record from a file.

    Args:
        path: The file, or the folder of a bag.

    Returns:
        The record.

    Raises:
        RecordError: If it is none.
    """
    path = Path(path)
    if not path.exists():
        raise RecordError(str(path), f"does not exist; expected {KINDS}")
    if is_bag(path):
        return record_from_bag(read_bag(path))
    if path.is_dir():
        listed = ", ".join(sorted(entry.name for entry in path.iterdir())[:SHOWN]) or "nothing"
        raise RecordError(
            str(path), f"is a folder without metadata.yaml; it holds {listed}; expected {KINDS}"
        )
    with path.open("rb") as file:
        head = file.read(SHOWN)
    if head.startswith(ZIP):
        return read_npz_record(path)
    raise RecordError(str(path), f"begins with {head!r}, expected {KINDS}")
