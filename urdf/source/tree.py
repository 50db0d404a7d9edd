# SPDX-License-Identifier: Apache-2.0
"""A robot as a tree of links and joints, and the little arithmetic its generation needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
Triple: TypeAlias = tuple[float, float, float]


def vector(*values: float) -> Vector:
    """Return values as an array."""
    return np.array(values, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Inertia:
    """Mass, centre of mass in the link frame, and the inertia tensor about that centre in the axes of the link."""

    mass: float
    com: Vector
    tensor: Matrix

    def seen_from(self, point: Vector) -> Inertia:
        """Return the same body in a parallel frame with this origin."""
        return Inertia(self.mass, self.com - point, self.tensor)

    def joined(self, other: Inertia) -> Inertia:
        """Return both bodies as one."""
        return self._combined(other, 1.0)

    def without(self, other: Inertia) -> Inertia:
        """Return what is left when a part is taken away."""
        return self._combined(other, -1.0)

    def _combined(self, other: Inertia, sign: float) -> Inertia:
        mass = self.mass + sign * other.mass
        com = (self.mass * self.com + sign * other.mass * other.com) / mass
        tensor = self._about(com) + sign * other._about(com)
        return Inertia(mass, com, tensor)

    def _about(self, point: Vector) -> Matrix:
        d = self.com - point
        return self.tensor + self.mass * (d @ d * np.eye(3) - np.outer(d, d))


@dataclass(frozen=True)
class Shape:
    """A box (x, y, z), a cylinder (radius, length along z) or a sphere (radius), to be seen and to be touched."""

    kind: str
    size: tuple[float, ...]
    xyz: Triple = (0, 0, 0)
    rpy: Triple = (0, 0, 0)
    material: str = "body"

    def moved(self, offset: Vector) -> Shape:
        """Return the shape shifted by an offset."""
        x, y, z = (float(a + b) for a, b in zip(self.xyz, offset, strict=True))
        return Shape(self.kind, self.size, (x, y, z), self.rpy, self.material)


@dataclass(frozen=True, eq=False)
class Link:
    """A rigid body; without inertia where it only connects two joints."""

    name: str
    inertia: Inertia | None = None
    shapes: tuple[Shape, ...] = ()


@dataclass(frozen=True)
class Range:
    """How far, how fast and how strongly a joint can move; without ends it turns for ever."""

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = 20.0
    effort: float = 100.0

    def mirrored(self) -> Range:
        """Return the range of the joint on the other side of the body."""
        return Range(-self.upper, -self.lower, self.velocity, self.effort)


@dataclass(frozen=True)
class Joint:
    """What connects a link to its parent: ``fixed``, ``revolute``, ``continuous`` or ``prismatic``."""

    name: str
    kind: str
    parent: str
    child: str
    xyz: Triple = (0, 0, 0)
    rpy: Triple = (0, 0, 0)
    axis: Triple = (0, 0, 1)
    range: Range = field(default_factory=Range)


@dataclass
class Tree:
    """A robot while it is being put together, root link first, every joint after the joints above it."""

    name: str
    links: list[Link] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    spherical: dict[str, tuple[str, str, str]] = field(default_factory=dict)

    def add(self, link: Link, joint: Joint | None = None) -> None:
        """Hang a link into the tree; the first one needs no joint."""
        self.links.append(link)
        if joint is not None:
            self.joints.append(joint)

    def add_spherical(
        self, name: str, parent: str, link: Link, xyz: Triple, ranges: tuple[Range, Range, Range]
    ) -> None:
        """Hang a link at a ball joint: three revolutes x, y, z in one point, and the tag that makes them one joint again."""
        members = (f"{name}_x", f"{name}_y", f"{name}_z")
        between = [Link(f"{name}_x_link"), Link(f"{name}_y_link"), link]
        above = parent
        for number, (member, below, limits) in enumerate(
            zip(members, between, ranges, strict=True)
        ):
            axis = tuple(float(number == k) for k in range(3))
            self.add(
                below,
                Joint(
                    member,
                    "revolute",
                    above,
                    below.name,
                    xyz if number == 0 else (0, 0, 0),
                    axis=axis,
                    range=limits,
                ),
            )  # type: ignore[arg-type]
            above = below.name
        self.spherical[name] = members

    def poses(self, q: Mapping[str, float]) -> dict[str, tuple[Matrix, Vector]]:
        """Return rotation and position of every link in the root frame, joints not named in ``q`` at zero."""
        found: dict[str, tuple[Matrix, Vector]] = {self.links[0].name: (np.eye(3), np.zeros(3))}
        for joint in self.joints:
            R, p = found[joint.parent]
            p = p + R @ vector(*joint.xyz)
            R = R @ rotation_rpy(joint.rpy)
            value = q.get(joint.name, 0.0)
            if joint.kind == "prismatic":
                p = p + R @ vector(*joint.axis) * value
            elif joint.kind != "fixed":
                R = R @ rotation(joint.axis, value)
            found[joint.child] = (R, p)
        return found

    def com(self, q: Mapping[str, float]) -> Vector:
        """Return the centre of mass in the root frame."""
        poses = self.poses(q)
        bodies = [
            (link.inertia, *poses[link.name]) for link in self.links if link.inertia is not None
        ]
        total = sum(inertia.mass for inertia, _, _ in bodies)
        weighted = [inertia.mass * (p + R @ inertia.com) for inertia, R, p in bodies]
        return np.asarray(np.sum(weighted, axis=0) / total)


def zero_between(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function changes its sign, by halving the interval."""
    at_low = function(low)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) * at_low > 0 else (low, middle)
    return low


def rotation(axis: Triple, angle: float) -> Matrix:
    """Return the rotation about a unit axis."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * (K @ K))


def rotation_rpy(rpy: Triple) -> Matrix:
    """Return the rotation of URDF's roll, pitch and yaw."""
    return rotation((0, 0, 1), rpy[2]) @ rotation((0, 1, 0), rpy[1]) @ rotation((1, 0, 0), rpy[0])


def capsule(radius: float, start: Triple, end: Triple, material: str = "body") -> tuple[Shape, ...]:
    """Return a cylinder with round ends between two points."""
    a, b = vector(*start), vector(*end)
    d = b - a
    span = float(np.linalg.norm(d))
    middle = tuple(float(v) for v in (a + b) / 2)
    rpy = (0.0, math.atan2(math.hypot(d[0], d[1]), d[2]), math.atan2(d[1], d[0]))
    if rpy[1] > math.pi - 1e-12:
        rpy = (0.0, 0.0, 0.0)
    ends = tuple(Shape("sphere", (radius,), point, material=material) for point in (start, end))
    return (Shape("cylinder", (radius, span), middle, rpy, material), *ends)  # type: ignore[arg-type]
