# SPDX-License-Identifier: Apache-2.0
"""Draw the pictures of the documentation.

``python docs/pictures.py`` draws them all, which needs matplotlib (extra ``plot``); ``--only NAME`` draws one.  ``--check`` draws
nothing: it computes the numbers anew that pictures carry in their files, and exits 1 where they differ.  A picture of measurements that are
not there is left as it is.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from number_pictures import PICTURES, differs, read_numbers
from scene_pictures import draw_scene

from humanoid_dynamics.errors import MissingExtraError
from humanoid_dynamics.filtering.experiments.experiments import EXPERIMENTS
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.plotting.filter import draw_experiment
from humanoid_dynamics.simulation.scenes.names import scene_names

IMAGES = Path(__file__).resolve().parent / "images"
SCENE, FILTER = "scene_", "filter_"


def list_pictures() -> tuple[str, ...]:
    """Return the names of all pictures."""
    runs = (*(SCENE + name for name in scene_names()), *(FILTER + name for name in EXPERIMENTS))
    return (*(path.removesuffix(".png") for path in PICTURES), *runs)


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw or check the pictures.

    Args:
        arguments: Of the command line.

    Returns:
        Exit code: 1 where ``--check`` found a difference.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only",
        metavar="NAME",
        action="append",
        choices=list_pictures(),
        help="draw this picture alone",
    )
    parser.add_argument(
        "--dir", type=Path, default=IMAGES, help="where to; docs/images where not given"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="draw nothing; exit 1 and name the pictures whose numbers differ",
    )
    options = parser.parse_args(arguments)
    names = options.only or list_pictures()
    if options.check:
        return check(names)
    for name in names:
        path = options.dir / f"{name}.png"
        try:
            told = draw(name, path)
        except MissingExtraError as missing:
            told = f"left out: {missing}"
        sys.stdout.write(f"{path.name}: {told}\n")
    return 0


def draw(name: str, path: Path) -> str:
    """Draw a picture and tell its size.

    Args:
        name: One of ``list_pictures``.
        path: The PNG.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if name.startswith(SCENE):
        draw_scene(name.removeprefix(SCENE), path)
    elif name.startswith(FILTER):
        draw_experiment(
            EXPERIMENTS[name.removeprefix(FILTER)](load_robot("human28"), None), path.parent
        )
    else:
        compute, draw_numbers = PICTURES[f"{name}.png"]
        numbers = compute()
        if numbers is None:
            return "left as it is: nothing measured beside the project"
        draw_numbers(path, numbers)
    return f"{path.stat().st_size / 1000:.0f} kB"


def check(names: Sequence[str]) -> int:
    """Compare the numbers that pictures carry with those of the code.

    Args:
        names: Pictures; those of scenes and experiments carry none.

    Returns:
        1 where some differ.
    """
    differing = []
    for name in names:
        if not name.startswith((SCENE, FILTER)):
            numbers, path = PICTURES[f"{name}.png"][0](), IMAGES / f"{name}.png"
            if numbers is not None and (not path.exists() or differs(numbers, read_numbers(path))):
                differing.append(name)
    sys.stdout.write(
        "".join(
            f"docs/images/{name}.png is not what docs/pictures.py draws\n" for name in differing
        )
    )
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
