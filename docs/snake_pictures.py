# SPDX-License-Identifier: Apache-2.0
"""Draw the pictures of the page about the snake: ``python docs/snake_pictures.py`` for all, with names for some."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from humanoid_dynamics.papers.snake.chain import STANDARD_GRAVITY, SnakeState
from humanoid_dynamics.papers.snake.experiment import run_snake_experiment
from humanoid_dynamics.papers.snake.robot import find_snake
from humanoid_dynamics.plotting.canvas import save_png, style
from humanoid_dynamics.plotting.snake import draw_comparisons, draw_drive
from humanoid_dynamics.simulation.scenes.file import load_scene
from humanoid_dynamics.simulation.scenes.run import build_world, run_scene
from humanoid_dynamics.simulation.world import World

IMAGES = Path(__file__).resolve().parent / "images"
LARGEST = 120_000  # bytes


def draw_snake() -> list[Path]:
    """Draw the three comparisons of the snake paper."""
    return draw_comparisons(run_snake_experiment(), IMAGES)


def draw_snake_drive() -> list[Path]:
    """Draw the scene ``snake``."""
    scene = load_scene("snake")
    world = build_world(scene)
    snake, data = find_snake(world.robot), world.robot.data()
    times, states, aims, forces = [], [], [], []

    def sample(world: World) -> None:
        if round(world.t / scene.dt) % 20 == 0:
            theta, u, position = snake.read(world.q, world.v, data)
            times.append(world.t)
            states.append(SnakeState(theta, u, position))
            aims.append(world.gauges["heading"].read()[1])
            forces.append(world.gauges["side_force"].read())

    world.add_hook("after_step", sample)
    run_scene(scene, world)
    bound = scene.driving.friction * STANDARD_GRAVITY * snake.model.masses.min()
    with style():
        figure = draw_drive(
            snake.model,
            np.array(times),
            states,
            aim=np.array(aims),
            forces=np.array(forces),
            bound=bound,
        )
        save_png(figure, IMAGES / "snake_drive.png")
    return [IMAGES / "snake_drive.png"]


PICTURES: Mapping[str, Callable[[], list[Path]]] = {
    "snake": draw_snake,
    "snake_drive": draw_snake_drive,
}


def main(names: list[str]) -> int:
    """Draw all pictures, or those of the given names; return 1 where one is too large for a page."""
    files = [file for name in names or PICTURES for file in PICTURES[name]()]
    sizes = {file.name: file.stat().st_size for file in files}
    sys.stdout.write("".join(f"{name} {size} bytes\n" for name, size in sizes.items()))
    return int(max(sizes.values()) > LARGEST)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
