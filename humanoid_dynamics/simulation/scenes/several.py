# SPDX-License-Identifier: Apache-2.0
"""Several figures and objects as one tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.simulation.scenes.figures import Figure
from humanoid_dynamics.simulation.steps.joint_forces import Drive
from humanoid_dynamics.spatial.arrays import read_only
from humanoid_dynamics.structure.joining import join


def join_figures(figures: Mapping[str, Figure]) -> Figure:
    """Return all figures as one; a single one keeps its names, several get theirs in front: ``human/left_foot``.

    Args:
        figures: Figures by name.

    Returns:
        The whole.

    Raises:
        HumanoidDynamicsError: If there is none.
    """
    if not figures:
        raise HumanoidDynamicsError("a scene needs at least one figure or object")
    if len(figures) == 1:
        return next(iter(figures.values()))
    robot = join([figure.robot for figure in figures.values()], tuple(figures))
    points = tuple(
        replace(point, name=f"{name}/{point.name}", link=f"{name}/{point.link}")
        for name, figure in figures.items()
        for point in figure.points
    )
    shapes = tuple(
        replace(shape, link=f"{name}/{shape.link}")
        for name, figure in figures.items()
        for shape in figure.shapes
    )
    q = np.concatenate([figure.q for figure in figures.values()])
    v = np.concatenate([figure.v for figure in figures.values()])
    passive = tuple(
        f"{name}/{motor}" for name, figure in figures.items() for motor in figure.passive
    )
    drives = [(figure.drive, figure.robot.nv) for figure in figures.values()]
    if not any(drive for drive, _ in drives):
        return Figure(robot, q, v, points, None, passive, shapes)
    kp, kd = (
        read_only(
            np.concatenate(
                [np.zeros(nv) if drive is None else getattr(drive, gain) for drive, nv in drives]
            )
        )
        for gain in ("kp", "kd")
    )
    return Figure(robot, q, v, points, Drive(kp, kd, read_only(q)), passive, shapes)
