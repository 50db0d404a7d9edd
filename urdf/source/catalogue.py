"""Every bundled robot by its name, and the text of its two files."""

from __future__ import annotations

from typing import Any

from source.anthropometry import check_tables
from source.figures import FIGURES
from source.people import describe_figure
from source.text import write_urdf, write_yaml
from source.tree import Tree


def build_robots() -> list[tuple[Tree, list[str], dict[str, Any]]]:
    """Return every robot: its tree, the comment lines of its YAML, and its description."""
    return [describe_figure(figure) for figure in FIGURES]


def build_files() -> dict[str, str]:
    """Return the text of every generated file by its name."""
    check_tables()
    files = {}
    for tree, about, description in build_robots():
        files[f"{tree.name}.urdf"] = write_urdf(tree, about[0])
        files[f"{tree.name}.yaml"] = write_yaml(about, description)
    return files
