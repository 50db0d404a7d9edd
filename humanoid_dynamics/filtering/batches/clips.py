# SPDX-License-Identifier: Apache-2.0
"""The clips of a batch: from files, folders and patterns to paths with names of their own."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.filtering.batches.parts import WHOLE, Part
from humanoid_dynamics.filtering.batches.store import RESULT, TABLE, Store
from humanoid_dynamics.motion.formats.pickle_file import ENDINGS as PICKLES
from humanoid_dynamics.motion.formats.sonic_file import is_sonic
from humanoid_dynamics.series.bag_reader import is_bag

ENDINGS = (
    ".npz",
    ".csv",
    ".bvh",
    ".json",
    ".mcap",
    ".npy",
    *PICKLES,
)  # what is taken from a folder; a file that is named may end as it likes


@dataclass(frozen=True)
class BatchClip:
    """A clip of a batch.

    Attributes:
        name: Where its result goes below the folder of results, without ending; no two of a batch have the same.
        path: The file, or the folder of a bag.
        part: The part of the file.
    """

    name: str
    path: Path
    part: Part = WHOLE


def find_clips(
    sources: Sequence[str], *, results: Path | None = None, ending: str = RESULT
) -> tuple[BatchClip, ...]:
    """Find the clips that files, folders (whole trees) and glob patterns name.

    Below its folder a clip keeps its path; a file that is named itself keeps its name.  Where two would get the same name they get the
    path below the folder that all have in common, and where that is still the same, the ending too.

    Args:
        sources: What was named.
        results: Folder of the results, which are no clips where a folder or a pattern meets them.
        ending: Ending of the results.

    Returns:
        The clips in the order they were named, sorted within a folder, each once.

    Raises:
        ClipError: If something named does not exist, holds or matches no motion files, or is where a result would go.
    """
    found: dict[Path, Path] = {}
    for source in sources:
        for path, base in _expand(source):
            place = Path(os.path.abspath(path))
            if path == Path(source) or not _is_result(place, results):
                found.setdefault(place, Path(os.path.abspath(base)))
    if not found:
        raise ClipError(", ".join(sources), "received results of a batch, expected motion files")
    clips = tuple(BatchClip(name, path) for path, name in zip(found, _name(found), strict=True))
    for clip in clips:
        if results is not None and clip.path == Path(
            os.path.abspath(results / f"{clip.name}{ending}")
        ):
            raise ClipError(
                str(clip.path),
                "would be overwritten by its own result; choose another folder for the results",
            )
    return clips


def _is_result(place: Path, results: Path | None) -> bool:
    folder = Path(os.path.abspath(results or os.curdir))
    if results is None or not place.is_relative_to(folder):
        return False
    return place == folder / TABLE or Store(folder).remembers(_bare(place.relative_to(folder)))


def _expand(source: str) -> Iterator[tuple[Path, Path]]:
    """Yield the path of each clip, and the folder below which it keeps its path."""
    path = Path(source)
    if path.is_file() or _is_folder_of_clip(path):
        yield path, path.parent
    elif path.is_dir():
        yield from ((member, path) for member in _members(path))
    elif has_magic(source):
        yield from _matches(source)
    else:
        raise ClipError(source, "no such file or folder")


def _is_folder_of_clip(path: Path) -> bool:
    return path.is_dir() and (is_bag(path) or is_sonic(path))


def _members(folder: Path) -> list[Path]:
    """Return the motion files of a whole tree; nothing hidden, and a bag as one."""
    members: list[Path] = []
    for place, folders, files in os.walk(folder):
        here = Path(place)
        bags = [name for name in sorted(folders) if _is_folder_of_clip(here / name)]
        folders[:] = sorted(
            name for name in folders if name not in bags and not name.startswith(".")
        )
        members += [here / name for name in bags]
        members += [
            here / name
            for name in sorted(files)
            if name.lower().endswith(ENDINGS) and not name.startswith(".")
        ]
    if not members:
        raise ClipError(str(folder), f"holds no motion files ({', '.join(ENDINGS)})")
    return members


def _matches(pattern: str) -> list[tuple[Path, Path]]:
    parts = Path(pattern).parts
    fixed = next(index for index, part in enumerate(parts) if has_magic(part))
    paths = [Path(match) for match in sorted(glob(pattern, recursive=True))]
    clips = [
        (path, Path(*parts[:fixed])) for path in paths if path.is_file() or _is_folder_of_clip(path)
    ]
    if not clips:
        raise ClipError(pattern, "matches no files")
    return clips


def _name(found: dict[Path, Path]) -> list[str]:
    common = Path(os.path.commonpath([path.parent for path in found]))
    choices = [
        (
            _bare(path.relative_to(base)),
            _bare(path.relative_to(common)),
            path.relative_to(common).as_posix(),
        )
        for path, base in found.items()
    ]
    levels = [0] * len(choices)
    while True:
        names = [choice[level] for choice, level in zip(choices, levels, strict=True)]
        often = Counter(names)
        if len(often) == len(names):
            return names
        levels = [
            min(level + (often[name] > 1), 2) for level, name in zip(levels, names, strict=True)
        ]


def _bare(path: Path) -> str:
    return path.with_suffix("").as_posix() if path.suffix else path.as_posix()
