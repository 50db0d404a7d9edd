# SPDX-License-Identifier: Apache-2.0
"""From URDF records to a pinocchio tree, with joints replaced where a URDF could not say what they are.

The tree is built joint by joint, depth-first with siblings in alphabetical order, which is the order pinocchio's own URDF reader has.
Pinocchio wants its joints depth-first: with any other order ``crba`` is silently wrong while ``rnea`` stays right, so every tree made
here is checked before it leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import UrdfError
from humanoid_dynamics.model.checks import INFINITESIMAL_MASS, branches, root_link
from humanoid_dynamics.model.joint import Mimic
from humanoid_dynamics.model.reading.urdf import Urdf, UrdfJoint, UrdfLink
from humanoid_dynamics.spatial.arrays import Vector

ROOT_JOINT = "root_joint"
TURNING_KINDS = ("revolute", "continuous")
MOST_FREEDOMS = 200  # pinocchio's work space grows with the cube: half a gigabyte here
SAME_POINT = 1e-9
SAME_AXIS = 1e-6
TURNS = {"X": pin.JointModelRX, "Y": pin.JointModelRY, "Z": pin.JointModelRZ}
ALIGNED = {
    "revolute": (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ),
    "continuous": (pin.JointModelRUBX, pin.JointModelRUBY, pin.JointModelRUBZ),
    "prismatic": (pin.JointModelPX, pin.JointModelPY, pin.JointModelPZ),
}
UNALIGNED = {
    "revolute": pin.JointModelRevoluteUnaligned,
    "prismatic": pin.JointModelPrismaticUnaligned,
}
ABOUT_Z = {"continuous": pin.JointModelRUBZ, "planar": pin.JointModelPlanar}


@dataclass(frozen=True)
class Replacement:
    """A joint to put in the place of one or three URDF joints.

    Attributes:
        name: Name of the new joint.
        kind: ``SPHERICAL`` or ``UJOINT_XY`` and its kin.
        joints: The URDF joints it stands for, parent first.
    """

    name: str
    kind: str
    joints: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Place:
    """Where a link sits: on which joint of the tree, at which pose, and its frame."""

    joint: int
    X: pin.SE3
    frame: int


def build_tree(urdf: Urdf, root: str, replacements: tuple[Replacement, ...] = ()) -> pin.Model:
    """Build the pinocchio model of a URDF.

    A spherical joint that stands for three revolutes has the axes of the link it carries; the frames of the links between turn with it.

    Args:
        urdf: The records, checked.
        root: ``free_flyer``, ``fixed`` or ``planar``; a floating joint on a massless root link is a free flyer already.
        replacements: Joints that stand for others.

    Returns:
        The model, depth-first, every link a BODY frame.

    Raises:
        UrdfError: If a replacement cannot be made, a name is taken, or there are more freedoms than pinocchio can bear.
    """
    check_replacements(urdf, replacements)
    first = {replacement.joints[0]: replacement for replacement in replacements}
    inner = {name for replacement in replacements for name in replacement.joints[1:]}
    model = pin.Model()
    model.name = urdf.name
    places = {root_link(urdf): _add_root(model, urdf, root)}
    below = branches(urdf)
    pending = below.get(root_link(urdf), [])[::-1]
    while pending:
        joint = pending.pop()
        pending += below.get(joint.child, [])[::-1]
        place = places[joint.parent]
        if joint.name in inner:
            places[joint.child] = _add_body(
                model, urdf.links[joint.child], place.joint, place.X * joint.X_PJ, place.frame
            )
        else:
            places[joint.child] = _add_joint(model, urdf, joint, place, first.get(joint.name))
    if not model.check(model.createData()):
        raise UrdfError(urdf.origin, "robot", "the joints are not in depth-first order")
    return model


def reduce_mimics(
    model: pin.Model, mimics: tuple[Mimic, ...]
) -> tuple[pin.Model, tuple[Mimic, ...]]:
    """Take the coordinate of followers away, where pinocchio can.

    Args:
        model: The tree.
        mimics: Followers and their leaders.

    Returns:
        The new tree, and the followers that keep their coordinate: those before their leader in the tree, and continuous ones.
    """
    kept = []
    for mimic in mimics:
        leader, follower = model.getJointId(mimic.leader), model.getJointId(mimic.joint)
        if leader < follower and model.nqs[leader] == model.nqs[follower] == 1:
            model = pin.transformJointIntoMimic(model, leader, follower, mimic.ratio, mimic.offset)
        else:
            kept.append(mimic)
    return model, tuple(kept)


def check_replacements(urdf: Urdf, replacements: tuple[Replacement, ...]) -> None:
    """Refuse to replace joints that are not there, twice, or that do not turn one link about one point.

    Raises:
        UrdfError: Naming the new joint and the old one.
    """
    taken: dict[str, str] = {}
    for replacement in replacements:
        where = f"{'spherical' if replacement.kind == 'SPHERICAL' else 'universal'} joint {replacement.name!r}"
        if replacement.name in urdf.joints and replacement.name not in replacement.joints:
            raise UrdfError(
                urdf.origin,
                where,
                "has the name of an existing joint",
                urdf.joints[replacement.name].line,
            )
        records = [_check_member(urdf, where, name) for name in replacement.joints]
        for name in replacement.joints:
            if name in taken:
                raise UrdfError(
                    urdf.origin,
                    where,
                    f"refers to joint {name!r}, which is part of {taken[name]!r} already",
                )
            taken[name] = replacement.name
        for before, after in pairwise(records):
            _check_pair(urdf, where, before, after)


def _check_member(urdf: Urdf, where: str, name: str) -> UrdfJoint:
    record = urdf.joints.get(name)
    if record is None:
        raise UrdfError(urdf.origin, where, f"refers to joint {name!r}, which does not exist")
    if record.kind not in TURNING_KINDS:
        raise UrdfError(
            urdf.origin,
            where,
            f"refers to joint {name!r}, which is {record.kind}, expected revolute",
            record.line,
        )
    if record.mimic is not None:
        raise UrdfError(
            urdf.origin,
            where,
            f"refers to joint {name!r}, which mimics {record.mimic[0]!r}",
            record.line,
        )
    return record


def _check_pair(urdf: Urdf, where: str, before: UrdfJoint, after: UrdfJoint) -> None:
    pair = f"joints {before.name!r} and {after.name!r}"
    between = urdf.links[before.child]
    if after.parent != before.child:
        raise UrdfError(urdf.origin, where, f"{pair} are not joined by one link", after.line)
    if np.linalg.norm(after.X_PJ.translation) > SAME_POINT:
        raise UrdfError(urdf.origin, where, f"{pair} do not turn about one point", after.line)
    if between.mass > INFINITESIMAL_MASS:
        raise UrdfError(
            urdf.origin, where, f"link {between.name!r} between {pair} has a mass", between.line
        )
    if sum(joint.parent == between.name for joint in urdf.joints.values()) > 1:
        raise UrdfError(
            urdf.origin,
            where,
            f"link {between.name!r} between {pair} carries something else too",
            between.line,
        )
    if (
        np.linalg.norm(np.cross(unit(before.axis), after.X_PJ.rotation @ unit(after.axis)))
        < SAME_AXIS
    ):
        raise UrdfError(urdf.origin, where, f"{pair} turn about the same axis", after.line)


def _add_root(model: pin.Model, urdf: Urdf, root: str) -> _Place:
    link = root_link(urdf)
    joint, frame = 0, 0
    floats = urdf.links[link].mass == 0.0 and any(
        record.kind == "floating" for record in branches(urdf).get(link, [])
    )
    if root == "planar" or (root == "free_flyer" and not floats):
        kind = (
            pin.JointModelFreeFlyer()
            if root == "free_flyer"
            else _composite(pin.JointModelPX, pin.JointModelPZ, pin.JointModelRY)
        )
        joint = model.addJoint(0, kind, pin.SE3.Identity(), ROOT_JOINT)
        frame = model.addJointFrame(joint, 0)
    return _add_body(model, urdf.links[link], joint, pin.SE3.Identity(), frame)


def _add_joint(
    model: pin.Model, urdf: Urdf, joint: UrdfJoint, place: _Place, replacement: Replacement | None
) -> _Place:
    """Add a joint and the link it carries."""
    X = place.X * joint.X_PJ
    name = joint.name if replacement is None else replacement.name
    if joint.kind == "fixed":
        frame = model.addFrame(
            pin.Frame(name, place.joint, place.frame, X, pin.FrameType.FIXED_JOINT), False
        )
        return _add_body(model, urdf.links[joint.child], place.joint, X, frame)
    if model.existJointName(name):
        raise UrdfError(
            urdf.origin,
            f"joint {name!r}",
            "has the reserved name of the root joint or of the world",
            joint.line,
        )
    X_after = pin.SE3.Identity()
    if replacement is not None:
        for follower in replacement.joints[1:]:
            X_after = X_after * urdf.joints[follower].X_PJ
    kind, X_turned = _joint_model(joint, replacement)
    index = model.addJoint(place.joint, kind, X * X_after * X_turned, name)
    if model.nv > MOST_FREEDOMS:
        raise UrdfError(
            urdf.origin,
            f"joint {name!r}",
            f"exceeds the maximum of {MOST_FREEDOMS} degrees of freedom",
            joint.line,
        )
    frame = model.addJointFrame(index, place.frame)
    return _add_body(model, urdf.links[joint.child], index, (X_after * X_turned).inverse(), frame)


def _add_body(model: pin.Model, link: UrdfLink, joint: int, X: pin.SE3, frame: int) -> _Place:
    body = pin.Inertia(link.mass, link.X_LI.translation, np.eye(3))
    body.inertia = (
        link.X_LI.rotation @ link.inertia @ link.X_LI.rotation.T
    )  # set afterwards: the constructor refuses odd ones
    model.appendBodyToJoint(joint, body, X)
    return _Place(
        joint,
        X,
        model.addFrame(pin.Frame(link.name, joint, frame, X, pin.FrameType.BODY, body), False),
    )


def _joint_model(
    joint: UrdfJoint, replacement: Replacement | None
) -> tuple[pin.JointModel, pin.SE3]:
    """Return the joint, and the turn that brings z to its axis where the joint knows no other."""
    here = pin.SE3.Identity()
    if replacement is not None:
        if replacement.kind == "SPHERICAL":
            return pin.JointModelSpherical(), here
        return _composite(*(TURNS[axis] for axis in replacement.kind.removeprefix("UJOINT_"))), here
    if joint.kind == "floating":
        return pin.JointModelFreeFlyer(), here
    axis = unit(joint.axis)
    for model, direction in zip(ALIGNED.get(joint.kind, ()), np.eye(3), strict=False):
        if np.allclose(axis, direction, rtol=0.0, atol=1e-12):
            return model(), here
    if joint.kind in UNALIGNED:
        return UNALIGNED[joint.kind](axis), here
    turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), axis).matrix()
    return ABOUT_Z[joint.kind](), pin.SE3(turn, np.zeros(3))


def _composite(*parts: type[pin.JointModel]) -> pin.JointModel:
    joint = pin.JointModelComposite(len(parts))
    for part in parts:
        joint.addJoint(part())
    return joint


def unit(axis: Vector) -> Vector:
    """Return an axis scaled to length one."""
    scaled = axis / np.abs(axis).max()  # first, so that no length overflows
    return np.asarray(scaled / np.linalg.norm(scaled))
