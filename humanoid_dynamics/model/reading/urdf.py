# SPDX-License-Identifier: Apache-2.0
"""A URDF as typed records.

One element is our own, since URDF has no spherical joint: ``<spherical name="hip" joints="hip_x hip_y hip_z"/>`` beside the joints says
that three revolutes about one point are one.  Other tools overlook it and see three revolutes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pinocchio as pin

from humanoid_dynamics.model.shape import Geometry
from humanoid_dynamics.spatial.arrays import Matrix, Vector

KINDS = ("revolute", "continuous", "prismatic", "floating", "planar", "fixed")


@dataclass(frozen=True, eq=False)
class UrdfLink:
    """One link as written.

    Attributes:
        name: Its name.
        line: Line of the file.
        mass: Mass [kg], zero where the link has no inertial element.
        X_LI: Pose of the inertial frame, at the centre of mass, in the link.
        inertia: (3, 3) inertia about the centre of mass, axes of the inertial frame [kg·m²].
        visuals: Shapes to draw.
        collisions: Shapes that touch.
    """

    name: str
    line: int
    mass: float
    X_LI: pin.SE3
    inertia: Matrix
    visuals: tuple[Geometry, ...]
    collisions: tuple[Geometry, ...]


@dataclass(frozen=True, eq=False)
class UrdfJoint:
    """One joint as written.

    Attributes:
        name: Its name.
        kind: URDF type.
        line: Line of the file.
        parent: Parent link.
        child: Child link.
        X_PJ: Pose of the joint in the parent link.
        axis: (3,) axis in the joint frame, as written [-].
        limit: What the limit element says, by attribute; what is absent is absent.
        dynamics: Friction and damping, by attribute.
        mimic: Leader, ratio and offset, or None.
    """

    name: str
    kind: str
    line: int
    parent: str
    child: str
    X_PJ: pin.SE3
    axis: Vector
    limit: Mapping[str, float]
    dynamics: Mapping[str, float]
    mimic: tuple[str, float, float] | None


@dataclass(frozen=True, eq=False)
class Urdf:
    """A URDF, read.

    Attributes:
        name: Name of the robot.
        origin: File or source it came from.
        text: The XML as it came.
        links: Links by name, in the order of the file.
        joints: Joints by name, in the order of the file.
        spherical: Groups of three revolutes that mean one spherical joint, by name.
        ignored: Links with a shape no URDF has, with the name of its element.
    """

    name: str
    origin: str
    text: str = field(repr=False)
    links: Mapping[str, UrdfLink] = field(repr=False)
    joints: Mapping[str, UrdfJoint] = field(repr=False)
    spherical: Mapping[str, tuple[str, ...]] = field(repr=False)
    ignored: tuple[tuple[str, str], ...] = field(repr=False)

    @property
    def mesh_files(self) -> tuple[str, ...]:
        """Mesh files it refers to, each once."""
        shapes = (
            shape for link in self.links.values() for shape in (*link.visuals, *link.collisions)
        )
        return tuple(dict.fromkeys(shape.filename for shape in shapes if shape.filename))
