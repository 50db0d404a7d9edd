# SPDX-License-Identifier: Apache-2.0
"""Every bundled robot by its name, and the text of its two files."""

from __future__ import annotations

from source.anthropometry import check_tables
from source.biped import build_biped
from source.figures import FIGURES
from source.people import describe_figure
from source.planar import (
    Built,
    build_fivebar,
    build_fourbar,
    build_parallelogram,
    build_two_arms_bar,
)
from source.scenes import build_highbar, build_rigid_swing, build_ropes, build_swing
from source.snake import build_snake
from source.spatial_loops import build_bennett, build_stewart
from source.text import write_urdf, write_yaml


def build_robots() -> list[Built]:
    """Return every robot: its tree, the comment lines of its YAML, and its description."""
    figures = [describe_figure(figure) for figure in FIGURES]
    planar = [build_fourbar(), build_fivebar(), build_parallelogram(), build_two_arms_bar()]
    scenes = [build_swing(), build_rigid_swing(), build_highbar(), build_ropes()]
    return [
        build_biped(),
        *figures,
        *planar,
        build_bennett(),
        build_stewart(),
        *scenes,
        build_snake(5),
    ]


def build_files() -> dict[str, str]:
    """Return the text of every generated file by its name."""
    check_tables()
    files = {}
    for tree, about, description in build_robots():
        files[f"{tree.name}.urdf"] = write_urdf(tree, about[0])
        files[f"{tree.name}.yaml"] = write_yaml(about, description)
    return files
