# SPDX-License-Identifier: Apache-2.0
"""Mesh files a URDF refers to: found where they can be, never required."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from humanoid_dynamics.model.reading.urdf import Urdf
from humanoid_dynamics.model.robot import Notice
from humanoid_dynamics.model.shape import Geometry


def find_mesh(filename: str, folder: Path | None) -> Path | None:
    """Return the local file behind a mesh name, or None; nothing is fetched.

    Args:
        filename: As written: a ``package://``, ``model://`` or ``file://`` address, or a path.
        folder: Folder of the URDF, or None.
    """
    scheme, _, rest = filename.rpartition("://")
    if scheme in {"package", "model"}:
        candidates = _in_packages(rest.lstrip("/"), folder)
    elif scheme in {"", "file"}:
        candidates = iter((Path(rest), *([folder / rest] if folder is not None else [])))
    else:
        return None
    return next((path for path in candidates if os.path.isfile(path)), None)


def list_shapes(urdf: Urdf, folder: Path | None) -> dict[str, tuple[Geometry, ...]]:
    """Return what each link looks like, by link: its visual shapes, or those it touches with where it has none, meshes where they lie."""
    return {
        name: _place(link.visuals or link.collisions, folder) for name, link in urdf.links.items()
    }


def list_solids(urdf: Urdf, folder: Path | None) -> dict[str, tuple[Geometry, ...]]:
    """Return what each link touches with, by link: its collision shapes, or what it looks like where it has none, meshes where they lie."""
    return {
        name: _place(link.collisions or link.visuals, folder) for name, link in urdf.links.items()
    }


def check_meshes(urdf: Urdf, folder: Path | None) -> tuple[Notice, ...]:
    """Return a warning if meshes cannot be found; the robot is complete without them."""
    files = urdf.mesh_files
    missing = [name for name in files if find_mesh(name, folder) is None]
    if not missing:
        return ()
    links = (
        link.name
        for link in urdf.links.values()
        if any(g.filename == missing[0] for g in (*link.visuals, *link.collisions))
    )
    text = f"mesh {missing[0]} not found, nor {len(missing) - 1} of {len(files) - 1} others; the robot is complete without them"
    return (
        Notice(
            "warning",
            f"link {next(links)!r}",
            text if len(missing) > 1 else f"mesh {missing[0]} not found; not needed",
        ),
    )


def _place(shapes: tuple[Geometry, ...], folder: Path | None) -> tuple[Geometry, ...]:
    """Return shapes with the files of meshes where they lie, empty where they are not found."""
    return tuple(
        replace(s, filename=str(find_mesh(s.filename, folder) or "")) if s.filename else s
        for s in shapes
    )


def _in_packages(path: str, folder: Path | None) -> Iterator[Path]:
    package, _, inside = path.partition("/")
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        if prefix:
            yield Path(prefix) / "share" / path
    for root in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep):
        if root:
            yield Path(root) / path
    for parent in (folder, *folder.parents) if folder is not None else ():
        if parent.name == package:
            yield parent / inside
        yield parent / path
