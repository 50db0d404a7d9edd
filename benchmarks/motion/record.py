# SPDX-License-Identifier: Apache-2.0
"""The frozen record: one compressed JSON file, whose parts are replaced one by one."""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.motion.runs import Run
from humanoid_dynamics.errors import HumanoidDynamicsError

RECORD = Path(__file__).with_name("record.json.gz")
PARTS = ("inverse_dynamics", "scenes", "streams", "clips")


def load_record(path: Path = RECORD) -> dict[str, Any]:
    """Return the parts of a record; none where there is no file."""
    if not path.is_file():
        return {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        record: dict[str, Any] = json.load(file)
    return record


def replace_part(name: str, part: Any, path: Path = RECORD) -> None:
    """Write a part of the record; the others stay.

    The same content makes the same bytes: the file has no time stamp.
    """
    if name not in PARTS:
        raise HumanoidDynamicsError(
            f"--freeze: received {name!r}, expected one of {', '.join(PARTS)}"
        )
    record = load_record(path) | {name: part}
    data = json.dumps(
        {key: record[key] for key in PARTS if key in record}, allow_nan=False, separators=(",", ":")
    ).encode()
    path.write_bytes(gzip.compress(data, mtime=0))


def runs_to_part(runs: list[Run]) -> list[dict[str, Any]]:
    """Return runs as a part of the record."""
    return [asdict(run) for run in runs]


def part_to_runs(part: list[dict[str, Any]]) -> list[Run]:
    """Return runs of a part of the record."""
    return [Run(**entry) for entry in part]
