# SPDX-License-Identifier: Apache-2.0
"""One joint of a robot: what it is called, which coordinates it owns, who drives it."""

from __future__ import annotations

from dataclasses import dataclass

from humanoid_dynamics.spatial.arrays import Vector


@dataclass(frozen=True)
class Mimic:
    """A joint that follows another one: position = ratio * leader + offset.

    Attributes:
        joint: The follower.
        leader: The joint it follows.
        ratio: Dimensionless for like joints, rad/m or m/rad otherwise.
        offset: Position of the follower where the leader stands at zero [rad or m].
    """

    joint: str
    leader: str
    ratio: float
    offset: float


@dataclass(frozen=True)
class Joint:
    """A joint of the tree.

    Attributes:
        name: Name in the URDF, or of the group for a spherical joint read from three revolutes.
        kind: ``revolute``, ``continuous``, ``prismatic``, ``spherical``, ``universal``, ``free_flyer``, ``planar``, or
            ``mimic`` where it has no coordinate of its own.
        parent: Link nearer to the root.
        child: Link it carries.
        index: Index of the joint in the pinocchio model.
        q: Its part of the configuration.
        v: Its part of the velocity.
        coordinates: Names of its velocity coordinates; the joint's own name where it has one freedom.
        actuated: Whether a motor drives it.
    """

    name: str
    kind: str
    parent: str
    child: str
    index: int
    q: slice
    v: slice
    coordinates: tuple[str, ...]
    actuated: bool


@dataclass(frozen=True, eq=False)
class Limits:
    """What the joints can bear; infinite where the model sets no limit.

    Attributes:
        lower: (nq,) lowest position [rad or m].
        upper: (nq,) highest position [rad or m].
        velocity: (nv,) largest speed [rad/s or m/s].
        effort: (nv,) largest force or torque [N or N·m]; zero where nothing drives the coordinate.
    """

    lower: Vector
    upper: Vector
    velocity: Vector
    effort: Vector
