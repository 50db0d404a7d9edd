"""Draw the pictures of the documentation: ``python docs/pictures.py [NAME]``; some minutes for all of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from humanoid_dynamics.filtering.paper_experiments import EXPERIMENTS
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.plotting.filter import draw_experiment
from humanoid_dynamics.plotting.snake import draw_comparisons
from humanoid_dynamics.snake.experiment import run_snake_experiment

IMAGES = Path(__file__).resolve().parent / "images"
LARGEST = 120_000  # bytes


def draw_snake() -> list[Path]:
    """Draw the three comparisons of the snake paper."""
    return draw_comparisons(run_snake_experiment(), IMAGES)


def draw_filter() -> list[Path]:
    """Draw the experiments of the dynamics filter."""
    robot = load_robot("human28")
    return [file for run in EXPERIMENTS.values() for file in draw_experiment(run(robot, None), IMAGES)]


PICTURES: Mapping[str, Callable[[], list[Path]]] = {"snake": draw_snake, "filter": draw_filter}


def main(names: list[str]) -> int:
    """Draw all pictures, or those of the given names; return 1 where one is too large for a page."""
    files = [file for name in names or PICTURES for file in PICTURES[name]()]
    sizes = {file.name: file.stat().st_size for file in files}
    sys.stdout.write("".join(f"{name} {size} bytes\n" for name, size in sizes.items()))
    return int(max(sizes.values()) > LARGEST)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
