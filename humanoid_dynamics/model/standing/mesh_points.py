# SPDX-License-Identifier: Apache-2.0
"""Vertices of a mesh file, read for its size alone: STL, OBJ and COLLADA, nothing executed and nothing fetched."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from lxml import etree

from humanoid_dynamics.spatial.arrays import Matrix, read_only

LARGEST_MESH = 50_000_000
STL_HEADER = 80
STL_TRIANGLE = np.dtype([("normal", "<f4", 3), ("vertices", "<f4", (3, 3)), ("attribute", "<u2")])
Y_UP_TO_Z_UP = read_only([1.0, -1.0, 1.0])  # signs of (x, z, y)
NO_POINTS = read_only(np.zeros((0, 3)))


def read_mesh_points(path: Path, *, turn_y_up: bool = False) -> Matrix:
    """Read the vertices of a mesh.

    Args:
        path: STL, OBJ or DAE file.
        turn_y_up: Whether a COLLADA file that says its y axis points up is turned until z does.  Viewers disagree about that, and
            so do the robots made for them.

    Returns:
        (n, 3) vertices [m] in the frame of the mesh, each once; none where the file is of another kind, too large or broken.
    """
    try:
        if path.stat().st_size > LARGEST_MESH:
            return NO_POINTS
        points = np.asarray(
            _read(path.suffix.lower(), path.read_bytes(), turn_y_up), dtype=np.float64
        ).reshape(-1, 3)
    except (OSError, ValueError, TypeError, KeyError, IndexError, etree.XMLSyntaxError):
        return NO_POINTS  # a broken mesh is a missing mesh: the robot is complete without it
    return list_once(points) if len(points) and np.isfinite(points).all() else NO_POINTS


def list_once(points: Matrix) -> Matrix:
    """Return points in order, each once, as ``np.unique`` does along an axis in several times as long.

    Args:
        points: (n, k) at least one point.
    """
    ordered = points[np.lexsort(points.T[::-1])]
    new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
    return np.asarray(ordered[new])


def _read(suffix: str, content: bytes, turn_y_up: bool) -> Matrix:
    if suffix == ".dae":
        return _read_dae(content, turn_y_up)
    reader = {".stl": _read_stl, ".obj": _read_obj}.get(suffix)
    return NO_POINTS if reader is None else reader(content)


def _read_stl(content: bytes) -> Matrix:
    count = (
        int(np.frombuffer(content, "<u4", 1, STL_HEADER)[0])
        if len(content) >= STL_HEADER + 4
        else -1
    )
    if len(content) == STL_HEADER + 4 + count * STL_TRIANGLE.itemsize:
        triangles = np.frombuffer(content, STL_TRIANGLE, count, STL_HEADER + 4)
        return np.asarray(triangles["vertices"], dtype=np.float64).reshape(-1, 3)
    return _read_lines(content, b"vertex")


def _read_obj(content: bytes) -> Matrix:
    return _read_lines(content, b"v")


def _read_lines(content: bytes, keyword: bytes) -> Matrix:
    rows = (line.split() for line in content.splitlines())
    return np.array(
        [[float(word) for word in row[1:4]] for row in rows if row and row[0] == keyword]
    )


def _read_dae(content: bytes, turn_y_up: bool) -> Matrix:
    """Read the vertices a COLLADA scene shows, in its unit."""
    root = etree.fromstring(
        content,
        etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True, huge_tree=True),
    )
    unit = root.find("{*}asset/{*}unit")
    scale = 1.0 if unit is None else float(unit.get("meter", "1"))
    shapes = {
        shape.get("id", ""): _read_dae_positions(shape)
        for shape in root.iterfind("{*}library_geometries/{*}geometry")
    }
    pending = [
        (node, np.eye(4))
        for node in root.iterfind("{*}library_visual_scenes/{*}visual_scene/{*}node")
    ]
    points: list[Matrix] = []
    while pending:
        node, X_parent = pending.pop()
        X = X_parent @ _read_dae_pose(node)
        pending.extend((child, X) for child in node.iterfind("{*}node"))
        for instance in node.iterfind("{*}instance_geometry"):
            points.append(shapes[instance.get("url", "").lstrip("#")] @ X[:3, :3].T + X[:3, 3])
    vertices = scale * np.vstack(points or [*shapes.values(), NO_POINTS])
    turned = turn_y_up and (root.findtext("{*}asset/{*}up_axis") or "Y_UP").strip() == "Y_UP"
    return vertices[:, [0, 2, 1]] * Y_UP_TO_Z_UP if turned else vertices


def _read_dae_positions(geometry: etree._Element) -> Matrix:
    """Return the arrays that the vertices of a geometry take their positions from."""
    arrays = {
        source.get("id", ""): source.findtext("{*}float_array") or ""
        for source in geometry.iterfind("{*}mesh/{*}source")
    }
    inputs = geometry.iterfind("{*}mesh/{*}vertices/{*}input")
    texts = [
        arrays[entry.get("source", "").lstrip("#")]
        for entry in inputs
        if entry.get("semantic") == "POSITION"
    ]
    return np.array(" ".join(texts).split(), dtype=np.float64).reshape(-1, 3)


def _read_dae_pose(node: etree._Element) -> Matrix:
    X = np.eye(4)
    for part in node:
        kind = etree.QName(part).localname if isinstance(part.tag, str) else ""
        step = np.eye(4)
        if kind == "matrix":
            step = np.array((part.text or "").split(), dtype=np.float64).reshape(4, 4)
        elif kind == "translate":
            step[:3, 3] = np.array((part.text or "").split(), dtype=np.float64)
        elif kind == "scale":
            step[:3, :3] = np.diag(np.array((part.text or "").split(), dtype=np.float64))
        elif kind == "rotate":
            x, y, z, angle = np.array((part.text or "").split(), dtype=np.float64)
            cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
            angle = np.deg2rad(angle)
            step[:3, :3] += np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
        X = X @ step
    return X
