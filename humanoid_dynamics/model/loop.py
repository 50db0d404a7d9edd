# SPDX-License-Identifier: Apache-2.0
"""What closes a chain, and what rolls: constraints a URDF tree cannot hold."""

from __future__ import annotations

from dataclasses import dataclass

import pinocchio as pin

LOOP_KINDS = ("fixed", "revolute", "prismatic", "universal", "spherical", "planar")


@dataclass(frozen=True, eq=False)
class LoopClosure:
    """Two frames that stay together, up to the freedoms of the joint between them.

    The joint was cut to make the robot a tree.  Frames A and B coincide where the loop is closed; a ``revolute`` or ``prismatic`` cut
    joint moves about or along their common z axis, a ``universal`` one about x of A and y of B, a ``planar`` one in their x-y plane.

    Attributes:
        name: Name of the loop.
        kind: What the cut joint still lets move; ``fixed`` closes all six rows, ``spherical`` the three of the position.
        link_a: Link that carries frame A.
        X_LA: Pose of A in that link.
        link_b: Link that carries frame B.
        X_LB: Pose of B in that link.
    """

    name: str
    kind: str
    link_a: str
    X_LA: pin.SE3
    link_b: str
    X_LB: pin.SE3


@dataclass(frozen=True, eq=False)
class Wheel:
    """A passive wheel: the link may not move along the axle at the wheel's centre.

    Attributes:
        name: Name of the wheel.
        link: Link that carries it.
        X_LW: Pose of the wheel in the link; x rolls, y is the axle.
    """

    name: str
    link: str
    X_LW: pin.SE3
