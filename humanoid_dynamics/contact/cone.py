# SPDX-License-Identifier: Apache-2.0
"""The wrenches a patch can carry: a cone of corner forces, as generators and as rows.

A patch pushes through its corners.  Each corner carries a force inside a friction pyramid, which lies inside its Coulomb cone; what all
corners add up to is the set of wrenches of the patch.  Unilateral contact, friction, centre of pressure and friction about the normal (yaw)
are all in it; none is an assumption of its own.  For a rectangle and four facets the rows are the closed form of [Caron].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.spatial import ConvexHull

from humanoid_dynamics.contact.wrench import reference_point, wrench_basis
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only

FACETS = 4
SAME_ROW = 1e-9


@dataclass(frozen=True, eq=False)
class WrenchCone:
    """What one surface can carry, as rows on its wrench: A w <= b.

    Attributes:
        basis: (6, r) wrenches that the kind of the surface lets through, as columns, w = basis x; a face all six, an edge five, a point
            three.  The first three columns are forces at ``point``, in the axes of the surface; the others moments.
        point: (3,) where these forces act: the origin of a face, the middle of an edge, the point, in the surface frame [m].
        A: (m, r) rows on x, each of unit length in forces and in moments per length of the patch.
        b: (m,) bounds, zero except for the largest normal force [N].
        labels: What each row keeps: ``friction``, ``cop``, ``yaw`` (friction about the normal, together with the others) or ``load``.
    """

    basis: Matrix
    point: Vector
    A: Matrix
    b: Vector
    labels: tuple[str, ...]


@lru_cache(maxsize=256)
def build_wrench_cone(surface: ContactSurface, facets: int = FACETS) -> WrenchCone:
    """Build the rows of what a surface can carry.

    Args:
        surface: The surface; its friction and largest normal force are used.
        facets: Sides of the friction pyramid, which lies inside the cone; three or more.

    Returns:
        The cone.
    """
    basis, point = wrench_basis(surface), reference_point(surface)
    size = max(float(np.max(np.linalg.norm(surface.vertices - point, axis=1))), SAME_ROW)
    unit = np.concatenate((np.ones(3), np.full(basis.shape[1] - 3, size)))
    # With forces in units of friction x normal force the section at unit normal force does not depend on the coefficient.
    section = np.linalg.lstsq(basis, _corner_forces(surface.vertices, 1.0, facets).T, rcond=None)[
        0
    ].T * (1.0 / unit)
    free = [i for i in range(basis.shape[1]) if i != 2]
    equations = ConvexHull(section[:, free]).equations
    equations = equations[_distinct(equations)]
    rows = np.insert(equations[:, :-1], 2, equations[:, -1], axis=1)
    frictional = np.array([0, 1, *range(3 + _tilts(surface), basis.shape[1])])
    rubs = np.max(np.abs(rows[:, frictional]), axis=1) > SAME_ROW
    others = np.setdiff1d(np.arange(basis.shape[1]), frictional)
    rows[np.ix_(rubs, others)] *= surface.friction
    if (
        surface.kind == "edge"
    ):  # where friction holds both ends these follow; they tell a tipping edge from a turning one
        rows = np.vstack((rows, [[0.0, 0.0, -1.0, 1.0, 0.0], [0.0, 0.0, -1.0, -1.0, 0.0]]))
    labels = [_label(row, frictional) for row in rows]
    rows /= np.linalg.norm(rows, axis=1)[:, None] * unit
    b: Vector = np.zeros(len(rows))
    if np.isfinite(surface.normal_force_limit):
        rows = np.vstack((rows, np.eye(basis.shape[1])[2]))
        b, labels = np.append(b, surface.normal_force_limit), [*labels, "load"]
    return WrenchCone(
        read_only(basis), read_only(point), read_only(rows), read_only(b), tuple(labels)
    )


def build_generators(surface: ContactSurface, facets: int = FACETS) -> Matrix:
    """Return the wrenches of corner forces along the edges of the friction pyramids, each of unit normal force.

    Args:
        surface: The surface.
        facets: Sides of the friction pyramid.

    Returns:
        (6, corners * facets) wrenches at the origin of the surface, its own axes; every wrench of the cone is a sum of them.
    """
    generators: Matrix = _corner_forces(surface.vertices, surface.friction, facets).T
    return generators


def build_pushes(surface: ContactSurface, facets: int = FACETS) -> Matrix:
    """Return what the generators of ``build_wrench_cone`` are in the basis of its rows.

    Args:
        surface: The surface.
        facets: Sides of the friction pyramid.

    Returns:
        (r, corners * facets) pushes of unit normal force; every push that keeps all rows but that of the load is a sum of them.
    """
    return np.asarray(
        np.linalg.lstsq(wrench_basis(surface), build_generators(surface, facets), rcond=None)[0],
        dtype=np.float64,
    )


def _corner_forces(vertices: Matrix, friction: float, facets: int) -> Matrix:
    angles = 2.0 * np.pi * (np.arange(facets) + 0.5) / facets
    forces = np.column_stack(
        (friction * np.cos(angles), friction * np.sin(angles), np.ones(facets))
    )
    return np.vstack([np.hstack((forces, np.cross(vertex, forces))) for vertex in vertices])


def _tilts(surface: ContactSurface) -> int:
    """Moments that shift the centre of pressure; they need no friction."""
    return {"face": 2, "edge": 1, "point": 0}[surface.kind]


def _distinct(equations: Matrix) -> list[int]:
    """Facets of a hull are simplices; those in one plane are one row."""
    _, first = np.unique(np.round(equations / SAME_ROW / 1e3), axis=0, return_index=True)
    return sorted(int(i) for i in first)


def _label(row: Vector, frictional: Vector) -> str:
    if np.max(np.abs(row[frictional])) <= SAME_ROW:
        return "cop"
    return "friction" if np.max(np.abs(row[3:]), initial=0.0) <= SAME_ROW else "yaw"
