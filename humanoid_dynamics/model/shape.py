# SPDX-License-Identifier: Apache-2.0
"""What a link looks like, and what of it can touch."""

from __future__ import annotations

from dataclasses import dataclass

import pinocchio as pin

GEOMETRIES = {
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "mesh": ("scale",),
}


@dataclass(frozen=True, eq=False)
class Geometry:
    """A shape on a link.

    Attributes:
        kind: ``box``, ``sphere``, ``cylinder``, ``capsule`` or ``mesh``.
        size: Full edge lengths, radius, radius and length, or the three scales of a mesh [m, m, m, -].
        X_LG: Pose of the shape in the link.
        filename: Mesh file, empty for the other kinds.
    """

    kind: str
    size: tuple[float, ...]
    X_LG: pin.SE3
    filename: str = ""
