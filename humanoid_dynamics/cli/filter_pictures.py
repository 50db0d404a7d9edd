# SPDX-License-Identifier: Apache-2.0
"""Pictures and films of ``humanoid-dynamics filter``."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from humanoid_dynamics.cli.filter_batch import check_folder
from humanoid_dynamics.cli.progress import show_progress
from humanoid_dynamics.errors import HumanoidDynamicsError

if TYPE_CHECKING:
    from humanoid_dynamics.filtering.clip_filter import FilteredClip
    from humanoid_dynamics.filtering.slope import GroundSlope
    from humanoid_dynamics.motion.clip import Clip


class Pictures(NamedTuple):
    """Files to draw into; empty where none is asked for."""

    picture: str
    film: str


def check_pictures(pictures: Pictures) -> None:
    """Refuse, before the work is done, what cannot be written after it."""
    for option, path, ending in (
        ("--picture", pictures.picture, ".png"),
        ("--film", pictures.film, ".gif"),
    ):
        if path and Path(path).suffix.lower() != ending:
            raise HumanoidDynamicsError(
                f"{option}: received {path!r}, expected the path of a {ending} file"
            )
        check_folder(option, path)
    if any(pictures):
        from humanoid_dynamics.plotting.canvas import style

        style()


def draw_pictures(
    pictures: Pictures, clip: "Clip", found: "FilteredClip", slope: "GroundSlope | None" = None
) -> None:
    """Draw what is asked for, in axes of the ground."""
    if not any(pictures) or len(found.frames) < 3:
        return
    from humanoid_dynamics.plotting.filtered import draw_filtered, film_filtered

    if slope is not None:
        clip, found = slope.clip_to_ground(clip), slope.found_to_ground(found)
    for path, draw in ((pictures.picture, draw_filtered), (pictures.film, film_filtered)):
        if path:
            with show_progress(f"drawing {Path(path).name}") as bar:
                draw(clip, found, Path(path), bar.tell)
