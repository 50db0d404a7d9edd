# SPDX-License-Identifier: Apache-2.0
"""Where the links of a robot are, for those who draw it: each joint of its URDF as a frame in the frame before it.

Bodies that move freely stand in the frame of the world.  Joints that the record has no single number for are left out, with all that hangs
on them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from lxml import etree

from humanoid_dynamics.series.layout import Layout
from humanoid_dynamics.series.transforms import Edge
from humanoid_dynamics.spatial.arrays import Matrix, Vector

Origin = tuple[Vector, Vector]  # place, quaternion x y z w


@dataclass(frozen=True, eq=False)
class Hinge:
    """A joint of one freedom between two frames.

    Attributes:
        edge: Its frames.
        origin: Where it stands in the first.
        axis: (3,) unit vector.
        slides: Whether it is a slider.
        column: Column of its coordinate in table ``q``.
        scale: What the coordinate is multiplied by, and what is added.
    """

    edge: Edge
    origin: Origin
    axis: Vector
    slides: bool
    column: int
    scale: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Frames:
    """All frames of a layout.

    Attributes:
        world: Frame that free bodies stand in.
        bodies: Link and first column of each free body.
        hinges: Joints of one freedom.
        fixed: Joints that do not move: frames and origins.
    """

    world: str
    bodies: tuple[tuple[str, int], ...]
    hinges: tuple[Hinge, ...]
    fixed: tuple[tuple[Edge, Origin], ...]

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Parent and child of all frames."""
        free = tuple((self.world, link) for link, _ in self.bodies)
        return (*free, *(hinge.edge for hinge in self.hinges), *(edge for edge, _ in self.fixed))

    def place(self, q: Vector) -> Matrix:
        """Return (n, 7) place and quaternion x y z w of each frame in its parent.

        Args:
            q: (nq,) configuration.
        """
        poses = [q[first : first + 7] for _, first in self.bodies]
        poses += [_move(hinge, float(q[hinge.column])) for hinge in self.hinges]
        poses += [np.concatenate(origin) for _, origin in self.fixed]
        return np.array(poses).reshape(-1, 7)


def find_frames(layout: Layout, urdf: str, world: str) -> Frames:
    """Return the frames of a layout.

    Args:
        layout: The layout.
        urdf: The robot; only free bodies are placed where it is empty or no URDF.
        world: Frame that free bodies stand in.

    Returns:
        The frames.
    """
    columns = {joint.name: joint.q for joint in layout.joints}
    hinges, fixed = [], []
    for joint in _list_joints(urdf):
        edge, origin, kind = (
            (_attribute(joint, "parent", "link"), _attribute(joint, "child", "link")),
            _read_origin(joint),
            joint.get("type"),
        )
        if kind == "fixed":
            fixed.append((edge, origin))
            continue
        leader = _attribute(joint, "mimic", "joint") or joint.get("name", "")
        if leader in columns:
            scale = (
                float(_attribute(joint, "mimic", "multiplier") or 1.0),
                float(_attribute(joint, "mimic", "offset") or 0.0),
            )
            axis = _numbers(_attribute(joint, "axis", "xyz") or "1 0 0")
            hinges.append(
                Hinge(
                    edge,
                    origin,
                    axis / np.linalg.norm(axis),
                    kind == "prismatic",
                    columns[leader],
                    scale,
                )
            )
    return Frames(
        world, tuple((body.link, body.q) for body in layout.bodies), tuple(hinges), tuple(fixed)
    )


def _list_joints(urdf: str) -> list[etree._Element]:
    try:
        root = etree.fromstring(
            urdf.encode(), etree.XMLParser(resolve_entities=False, no_network=True)
        )
    except etree.XMLSyntaxError:
        return []
    return list(root.findall("{*}joint"))


def _attribute(element: etree._Element, child: str, name: str) -> str:
    found = element.find("{*}" + child)
    return "" if found is None else str(found.get(name, ""))


def _numbers(text: str) -> Vector:
    return np.array([float(word) for word in text.split()])


def _read_origin(joint: etree._Element) -> Origin:
    xyz, rpy = (_numbers(_attribute(joint, "origin", name) or "0 0 0") for name in ("xyz", "rpy"))
    roll, pitch, yaw = (
        _turn(axis, float(angle)) for axis, angle in zip(np.eye(3), rpy, strict=True)
    )
    return xyz, _multiply(yaw, _multiply(pitch, roll))


def _move(hinge: Hinge, coordinate: float) -> Vector:
    """Return (7,) place and quaternion of what a hinge carries."""
    place, turned = hinge.origin
    value = hinge.scale[0] * coordinate + hinge.scale[1]
    if hinge.slides:
        return np.concatenate((place + _rotate(turned, value * hinge.axis), turned))
    return np.concatenate((place, _multiply(turned, _turn(hinge.axis, value))))


def _turn(axis: Vector, angle: float) -> Vector:
    return np.append(np.sin(0.5 * angle) * axis, np.cos(0.5 * angle))


def _multiply(a: Vector, b: Vector) -> Vector:
    """Return the product of two quaternions x y z w."""
    vector = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.append(vector, a[3] * b[3] - a[:3].dot(b[:3]))


def _rotate(turn: Vector, vector: Vector) -> Vector:
    return vector + 2.0 * np.cross(turn[:3], np.cross(turn[:3], vector) + turn[3] * vector)
