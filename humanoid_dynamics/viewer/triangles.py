# SPDX-License-Identifier: Apache-2.0
"""Shapes as triangles, coarse enough that a page without a graphics card keeps up."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import trimesh

from humanoid_dynamics.model.shape import Geometry
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

SECTIONS = 16
GRAIN = 4e-3  # m; corners of a mesh closer than this become one


@dataclass(frozen=True, eq=False)
class Triangles:
    """A surface.

    Attributes:
        vertices: (n, 3) corners [m].
        faces: (m, 3) corners of each triangle, counter-clockwise seen from outside.
    """

    vertices: Matrix
    faces: Indices

    def moved(self, X: pin.SE3) -> Triangles:
        """Return the surface at another pose."""
        return Triangles(self.vertices @ X.rotation.T + X.translation, self.faces)


NOTHING = Triangles(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.intp))


def merge(parts: list[Triangles]) -> Triangles:
    """Return several surfaces as one."""
    if not parts:
        return NOTHING
    offsets = np.cumsum([0, *(len(part.vertices) for part in parts[:-1])])
    faces = [part.faces + offset for part, offset in zip(parts, offsets, strict=True)]
    return Triangles(np.vstack([part.vertices for part in parts]), np.vstack(faces))


def triangulate(shape: Geometry) -> Triangles:
    """Return a shape as triangles in the frame of its link; nothing where its mesh is missing or broken.

    Args:
        shape: The shape; the file of a mesh is where it lies.
    """
    if shape.kind == "mesh":
        return (
            _read_mesh(Path(shape.filename), np.array(shape.size)).moved(shape.X_LG)
            if shape.filename
            else NOTHING
        )
    if shape.kind == "box":
        made = trimesh.creation.box(extents=shape.size)
        made.unmerge_vertices()  # each face has corners of its own, so that edges look sharp
    elif shape.kind == "sphere":
        made = trimesh.creation.icosphere(subdivisions=2, radius=shape.size[0])
    elif shape.kind == "cylinder":
        made = trimesh.creation.cylinder(
            radius=shape.size[0], height=shape.size[1], sections=SECTIONS
        )
    else:
        made = trimesh.creation.capsule(
            radius=shape.size[0], height=shape.size[1], count=(SECTIONS, SECTIONS // 2)
        )
        made.apply_translation(
            (0.0, 0.0, -made.bounds.mean(axis=0)[2])
        )  # older trimesh begins a capsule at its end
    return Triangles(np.array(made.vertices), np.array(made.faces)).moved(shape.X_LG)


def capsule_between(start: Vector, end: Vector, radius: float) -> Triangles:
    """Return a capsule from one point to another.

    Args:
        start: (3,) one end [m].
        end: (3,) the other end [m].
        radius: Its radius [m].
    """
    along = np.asarray(end) - np.asarray(start)
    length = float(np.linalg.norm(along))
    turn = (
        pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), along).matrix()
        if length > 0.0
        else np.eye(3)
    )
    X = pin.SE3(turn, 0.5 * (np.asarray(start) + np.asarray(end)))
    return triangulate(Geometry("capsule", (radius, length), X))


def coarsen(surface: Triangles, grain: float = GRAIN) -> Triangles:
    """Return a surface whose corners lie at least about a grain apart.

    Args:
        surface: The surface.
        grain: Edge of the cells whose corners become one [m].
    """
    cells = np.round(surface.vertices / grain).astype(np.int64)
    _, first, cell = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    faces = cell.reshape(-1)[surface.faces]
    a, b, c = faces.T
    return Triangles(surface.vertices[first], faces[(a != b) & (b != c) & (c != a)])


def _read_mesh(path: Path, scale: Vector) -> Triangles:
    """Read a mesh; any trouble with the file means that there is no mesh."""
    try:
        loaded: Any = trimesh.load(path, force="mesh", process=False)
        vertices, faces = (
            np.asarray(loaded.vertices, dtype=np.float64) * scale,
            np.asarray(loaded.faces, dtype=np.intp),
        )
    except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, ImportError):
        return NOTHING
    return (
        coarsen(Triangles(vertices, faces))
        if len(faces) and np.isfinite(vertices).all()
        else NOTHING
    )
