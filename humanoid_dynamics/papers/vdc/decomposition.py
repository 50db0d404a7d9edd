# SPDX-License-Identifier: Apache-2.0
"""Cutting a robot into links and joints; what does not change with its posture [BP, def. 1, fig. 4].

Every joint is a cut with two frames: T on the link it hangs from (the driving side) and B on the link it carries (the driven side), where B
is also the frame of that link.  Links that are fixed to each other are one link.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import ShapeError, UnknownNameError, count
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.papers.vdc.joint import JointParameters
from humanoid_dynamics.papers.vdc.link import build_link_mass
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector, read_only
from humanoid_dynamics.spatial.records import Sealed

WORLD = -1


@dataclass(frozen=True, eq=False)
class Cut:
    """A cutting point, made by a joint.

    Attributes:
        joint: Name of the joint.
        kind: Kind of the joint, such as ``revolute``.
        driving: Number of the link it hangs from, ``WORLD`` for the world.
        driven: Number of the link it carries.
        X_PT: Pose of the driving frame T in the frame of the link it hangs from.
        coordinates: Its part of the velocity.
        groups: Columns of its motion subspace that turn together: one group for a simple joint, one for each part of a composite one.
    """

    joint: str
    kind: str
    driving: int
    driven: int
    X_PT: pin.SE3
    coordinates: slice
    groups: tuple[slice, ...]


@dataclass(frozen=True, eq=False)
class Decomposition(Sealed):
    """A robot as n links and n cuts, link i driven by cut i, parents before children.

    Attributes:
        robot: The robot.
        links: (n) names of the links.
        cuts: (n) cutting points.
        parent: (n,) number of the link each one hangs from, ``WORLD`` for the world.
        m: (n,) masses [kg].
        r: (n, 3) centres of mass in the link frame B [m].
        I_com: (n, 3, 3) moments of inertia about the centre of mass, axes of B [kg·m²].
        M: (n, 6, 6) mass matrices M_B.
        up: (3,) minus the acceleration of gravity, axes of the world [m/s²].
        joint_parameters: Gear inertia and friction.
    """

    robot: RobotModel = field(repr=False)
    links: tuple[str, ...]
    cuts: tuple[Cut, ...] = field(repr=False)
    parent: Indices = field(repr=False)
    m: Vector = field(repr=False)
    r: Matrix = field(repr=False)
    I_com: Matrix = field(repr=False)
    M: Matrix = field(repr=False)
    up: Vector = field(repr=False)
    joint_parameters: JointParameters = field(repr=False)

    def link(self, name: str) -> int:
        """Return the number of a link.

        Raises:
            UnknownNameError: If there is none of that name that moves on its own.
        """
        if name not in self.links:
            raise UnknownNameError("link", name, self.links)
        return self.links.index(name)

    def link_parameters(self) -> Matrix:
        """Return the ten parameters of every link, (n, 10), in the order of ``LINK_PARAMETERS``."""
        return np.array(
            [inertia.toDynamicParameters() for inertia in list(self.robot.model.inertias)[1:]]
        )


def decompose(robot: RobotModel, joint_parameters: JointParameters | None = None) -> Decomposition:
    """Cut a robot at all its joints.

    Args:
        robot: The robot.
        joint_parameters: Gear inertia and friction; those of the robot where None.

    Returns:
        Links and cuts.

    Raises:
        ShapeError: If the joint parameters belong to a robot with another number of coordinates.
    """
    model = robot.model
    parameters = JointParameters.of(robot) if joint_parameters is None else joint_parameters
    if parameters.inertia.shape != (robot.nv,):
        raise ShapeError(
            "joint_parameters",
            f"those of {count(parameters.inertia.size, 'coordinate')}",
            f"those of {robot.nv}, the velocity coordinates of {robot.name}",
        )
    inertias = list(model.inertias)[1:]
    m = read_only([inertia.mass for inertia in inertias])
    r = read_only(np.reshape([inertia.lever for inertia in inertias], (-1, 3)))
    I_com = read_only(np.reshape([inertia.inertia for inertia in inertias], (-1, 3, 3)))
    parent = np.array([int(model.parents[i]) - 1 for i in range(1, model.njoints)], dtype=np.intp)
    parent.flags.writeable = False
    return Decomposition(
        robot=robot,
        links=tuple(joint.child for joint in robot.joints),
        cuts=tuple(_read_cut(robot, i) for i in range(1, model.njoints)),
        parent=parent,
        m=m,
        r=r,
        I_com=I_com,
        M=read_only(build_link_mass(m, r, I_com)),
        up=read_only(-model.gravity.linear),
        joint_parameters=parameters,
    )


def _read_cut(robot: RobotModel, index: int) -> Cut:
    model = robot.model
    joint, start = model.joints[index], int(model.idx_vs[index])
    width = max(
        int(joint.nvExtended), int(model.nvs[index])
    )  # a follower of another joint moves by its leader's coordinate
    return Cut(
        joint=str(model.names[index]),
        kind=robot.joints[index - 1].kind,
        driving=int(model.parents[index]) - 1,
        driven=index - 1,
        X_PT=model.jointPlacements[index].copy(),
        coordinates=slice(start, start + width),
        groups=_find_groups(joint, width),
    )


def _find_groups(joint: pin.JointModel, width: int) -> tuple[slice, ...]:
    """Split the columns of a joint's motion subspace into parts that are fixed to one body each, parent first."""
    name = joint.shortname()
    if name in {"JointModelUniversal", "JointModelSphericalZYX"}:
        return tuple(slice(i, i + 1) for i in range(width))
    if name != "JointModelComposite":
        return (slice(0, width),)
    groups: list[slice] = []
    at = 0
    for part in joint.extract().joints:
        groups += [
            slice(at + group.start, at + group.stop) for group in _find_groups(part, int(part.nv))
        ]
        at += int(part.nv)
    return tuple(groups)
