# SPDX-License-Identifier: Apache-2.0
"""Parts of a file that are clips of their own: the motions of a library, and pieces of a long clip, so that memory is bounded."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from humanoid_dynamics.filtering.settings import PieceSettings
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.editing import crop
from humanoid_dynamics.motion.formats.pickle_file import list_motions

PIECES = PieceSettings()
SMALL_FILE = 100_000  # bytes; no clip of a smaller file is cut


@dataclass(frozen=True)
class Part:
    """A part of a file.

    Attributes:
        motion: Name of the motion in a library; empty for the only one.
        start: First instant [s].
        stop: Last instant [s]; the end of the clip where None.
    """

    motion: str = ""
    start: float = 0.0
    stop: float | None = None

    def cut(self, clip: Clip) -> Clip:
        """Return the piece of a clip between the instants.

        Args:
            clip: The clip.
        """
        if self.stop is None:
            return clip
        return crop(clip, self.start, self.stop)


WHOLE = Part()


def list_parts(
    path: Path, load: Callable[[str], Clip], longest: float = 0.0
) -> Iterator[tuple[str, Part]]:
    """Yield the parts of a file, each with what its name adds to that of the file.

    Args:
        path: The file.
        load: Returns the clip of a motion of the file.
        longest: Longest clip that stays whole [s]; zero for any.

    Raises:
        ClipError: If the file cannot be read.
    """
    motions = list_motions(path)
    several = len(motions) > 1
    for index, motion in enumerate(motions):
        stem = f"/{index:04d}_{_plain(motion)}" if several else ""
        name = motion if several else ""
        if not longest or not path.is_file() or path.stat().st_size < SMALL_FILE:
            yield stem, Part(name)
            continue
        cuts = find_cuts(load(name), longest)
        if len(cuts) <= 2:  # beginning and end
            yield stem, Part(name)
            continue
        for piece, (start, stop) in enumerate(pairwise(cuts), start=1):
            yield f"{stem}_{piece:03d}", Part(name, start, stop)


def find_cuts(clip: Clip, longest: float) -> list[float]:
    """Return instants that cut a clip where it moves least, its beginning and end included.

    Args:
        clip: The clip.
        longest: Longest piece [s].
    """
    times = clip.times
    speeds = np.linalg.norm(np.gradient(clip.q, times, axis=0), axis=1)
    cuts = [float(times[0])]
    while times[-1] - cuts[-1] > longest:
        rows = np.flatnonzero(
            (times > cuts[-1] + PIECES.latest * longest) & (times <= cuts[-1] + longest)
        )
        if not rows.size:
            break
        cuts.append(float(times[rows[np.argmin(speeds[rows])]]))
    return [*cuts, float(times[-1])]


def _plain(name: str) -> str:
    """Return a name of a motion as the name of a file."""
    return re.sub(r"[^\w.-]+", "_", name).strip("._")[-100:]
