# SPDX-License-Identifier: Apache-2.0
"""Results of a batch on disk: whole or not there, and remembered, so that a batch that was stopped goes on where it was.

A result is written beside its place and moved there, then its record is, in the hidden folder ``.batch``.  The record says that the clip is
done: whatever is killed before it was written did nothing, whatever is killed afterwards did everything.  The result of a clip that is not
finished is called ``NAME.rejected.npz``.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from humanoid_dynamics.errors import BatchError

HIDDEN = ".batch"
RESULT = ".npz"
REJECTED = ".rejected"  # before the ending of a result that is not to be used as one
TABLE = "clean.csv"  # the table of a data set beside its results
BEGUN = ".begun"  # beside the place of a part, from the beginning on


@dataclass(frozen=True)
class Store:
    """A folder of results.

    Attributes:
        folder: The folder.
        ending: Ending of the results.
    """

    folder: Path
    ending: str = RESULT

    def result(self, name: str, *, rejected: bool = False) -> Path:
        """Return where the result of a clip is.

        Args:
            name: Name of the clip.
            rejected: Whether it is no motion to use: the clip is not finished.
        """
        return place_result(self.folder, name, rejected=rejected, ending=self.ending)

    def find(self, name: str, key: str) -> dict[str, Any] | None:
        """Return what was told about a clip that is done.

        Args:
            name: Name of the clip.
            key: Fingerprint of what was to be done.

        Returns:
            What its job told; None where it is not done, was done from something else, or its result is gone.
        """
        try:
            record = json.loads(self._record(name).read_text(encoding="utf-8"))
            facts = record["facts"]
            same = (
                record["key"] == key
                and record["bytes"]
                == self.result(name, rejected=_is_rejected(facts)).stat().st_size
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return facts if same and isinstance(facts, dict) else None

    def remembers(self, name: str) -> bool:
        """Whether a result of that name was written, from whatever.

        Args:
            name: Name of the clip.
        """
        return self._record(name.removesuffix(REJECTED)).is_file()

    @contextmanager
    def part(self, name: str) -> Iterator[Path]:
        """Give a place of its own to write a result to; what is left there in the end is removed.

        Args:
            name: Name of the clip.

        Yields:
            The path.
        """
        folder = self._parts / f"{_flat(name)}-{uuid4().hex}"
        folder.mkdir(parents=True)
        begun = self._parts / f"{folder.name}{BEGUN}"
        begun.touch()
        try:
            yield folder / f"{Path(name).name}{self.ending}"  # some formats contain the name
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            begun.unlink(missing_ok=True)

    def count_parts(self, name: str) -> int:
        """Return how many in this batch have begun a clip and not ended: those who were killed, and who is at it now.

        Args:
            name: Name of the clip.
        """
        begun = (path.name.rpartition("-")[0] for path in self._parts.glob(f"*{BEGUN}"))
        return sum(part == _flat(name) for part in begun)

    def commit(self, name: str, key: str, part: Path, facts: dict[str, Any]) -> None:
        """Move a result to its place and remember it.

        Args:
            name: Name of the clip.
            key: Fingerprint of what was done.
            part: The result, whole.
            facts: What is to be told about it.
        """
        rejected = _is_rejected(facts)
        result, record = self.result(name, rejected=rejected), self._record(name)
        text = json.dumps(
            {"key": key, "bytes": part.stat().st_size, "facts": facts}, allow_nan=False
        )
        self.forget(name)
        _move(part, result)
        self.result(name, rejected=not rejected).unlink(missing_ok=True)
        with self.part(name) as beside:
            beside.write_text(text, encoding="utf-8")
            _move(beside, record)

    def forget(self, name: str) -> None:
        """Take a clip as not done.

        Args:
            name: Name of the clip.
        """
        self._record(name).unlink(missing_ok=True)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep other batches out of the folder, and clear away what a killed one left half written.

        Yields:
            Nothing.

        Raises:
            BatchError: If another batch is writing there, or the folder cannot be written.
        """
        try:
            (self.folder / HIDDEN).mkdir(parents=True, exist_ok=True)
            file = (self.folder / HIDDEN / "lock").open("w", encoding="utf-8")
        except OSError as cause:
            raise BatchError(f"the folder of results cannot be written: {cause}") from cause
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as cause:
                raise BatchError(f"another batch is writing into {str(self.folder)!r}") from cause
            with suppress(OSError):
                shutil.rmtree(self._parts)
            yield

    @property
    def _parts(self) -> Path:
        return self.folder / HIDDEN / "parts"

    def _record(self, name: str) -> Path:
        return self.folder / HIDDEN / "records" / f"{name}.json"


def place_result(folder: Path, name: str, *, rejected: bool, ending: str = RESULT) -> Path:
    """Return where the result of a clip goes.

    Args:
        folder: Folder of the results.
        name: Name of the clip.
        rejected: Whether the clip is not finished: its result never has the usual name.
        ending: Ending of the results.
    """
    return folder / f"{name}{REJECTED if rejected else ''}{ending}"


def _is_rejected(facts: Any) -> bool:
    return isinstance(facts, dict) and bool(facts.get("rejected"))


def _flat(name: str) -> str:
    return name.replace("/", "+")


def _move(path: Path, place: Path) -> None:
    """Move a file, whole on disk, to its place in one step."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with path.open("rb") as file:
        os.fsync(file.fileno())
    path.replace(place)
