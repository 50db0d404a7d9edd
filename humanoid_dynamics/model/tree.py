"""From URDF records to a pinocchio tree, depth-first, with joints replaced where a URDF could not say what they are.

Pinocchio wants its joints depth-first: with any other order ``crba`` is silently wrong while ``rnea`` stays right, so every tree made
here is checked before it leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pinocchio as pin
from lxml import etree

from humanoid_dynamics.errors import UrdfError
from humanoid_dynamics.model.urdf import Urdf

ROOT_JOINT = "root_joint"
KEPT_OF_ROBOT = {"link", "joint"}
KEPT_OF_LINK = {"inertial"}
AXES = {"X": pin.JointModelRX, "Y": pin.JointModelRY, "Z": pin.JointModelRZ}


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


def build_tree(urdf: Urdf, root: str, replacements: tuple[Replacement, ...] = (), *, reduce_mimics: bool = False) -> pin.Model:
    """Build the pinocchio model of a URDF.

    Args:
        urdf: The records, checked.
        root: ``free_flyer``, ``fixed`` or ``planar``.
        replacements: Joints that stand for others.
        reduce_mimics: Whether mimic joints lose their coordinate instead of keeping one of their own.

    Returns:
        The model, depth-first.

    Raises:
        UrdfError: If pinocchio cannot build it, or a replacement cannot be made.
    """
    xml = etree.tostring(_kinematic_xml(urdf), encoding="unicode")
    try:
        if root == "fixed":
            model = pin.buildModelFromXML(xml, reduce_mimics)
        else:
            model = pin.buildModelFromXML(xml, _root_joint(root), ROOT_JOINT, reduce_mimics)
    except (ValueError, RuntimeError) as cause:
        raise UrdfError(urdf.origin, "robot", f"pinocchio cannot build it: {cause}") from cause
    if replacements:
        model = replace_joints(model, replacements, urdf.origin)
    if not model.check(model.createData()):
        raise UrdfError(urdf.origin, "robot", "the joints are not in depth-first order")
    return model


def replace_joints(model: pin.Model, replacements: tuple[Replacement, ...], origin: str) -> pin.Model:
    """Copy a model, putting new joints in the place of old ones.

    A joint that stands for a chain of three takes the pose of the first; what hung on the third hangs on it, at the pose it had with
    all three at zero.

    Args:
        model: The model to copy.
        replacements: What to replace.
        origin: Where the model came from, for messages.

    Returns:
        The new model.

    Raises:
        UrdfError: If a joint does not exist, or three joints are no chain about one point.
    """
    first, inner = _plan(model, replacements, origin)
    new = pin.Model()
    new.name = model.name
    new.gravity = model.gravity
    moved = {0: (0, pin.SE3.Identity())}
    for index in range(1, model.njoints):
        parent, X_parent = moved[int(model.parents[index])]
        placement = X_parent * model.jointPlacements[index]
        if index in inner:
            moved[index] = (parent, placement)
        else:
            joint, name = (
                (_new_joint(first[index].kind), first[index].name) if index in first else (model.joints[index], model.names[index])
            )
            moved[index] = (new.addJoint(parent, joint, placement, name), pin.SE3.Identity())
            if index not in first:
                _copy_coordinates(model, index, new, moved[index][0])
        owner, X_owner = moved[index]
        new.appendBodyToJoint(owner, model.inertias[index], X_owner)
    _copy_frames(model, new, moved, inner)
    return new


def _kinematic_xml(urdf: Urdf) -> etree._Element:
    """Copy the URDF with nothing but links, inertias and joints, and with the limits its parser insists on."""
    robot = etree.fromstring(urdf.text.encode(), etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True))
    robot.attrib.pop("version", None)
    for child in list(robot):
        if child.tag not in KEPT_OF_ROBOT:
            robot.remove(child)
        elif child.tag == "link":
            for part in list(child):
                if part.tag not in KEPT_OF_LINK:
                    child.remove(part)
        else:
            _mend_joint(child, urdf)
    return robot


def _mend_joint(joint: etree._Element, urdf: Urdf) -> None:
    """Complete a limit element; the limits that count are read from the records, not from here."""
    bounded = joint.get("type") in {"revolute", "prismatic"}
    dropped = {"calibration", "safety_controller", "dynamics"} | (set() if bounded else {"limit"})
    for part in list(joint):
        if part.tag in dropped or (part.tag == "mimic" and part.get("joint") not in urdf.joints):
            joint.remove(part)
    if bounded:
        limit = joint.find("limit")
        limit = etree.SubElement(joint, "limit") if limit is None else limit
        for key in ("effort", "velocity", "lower", "upper"):
            limit.set(key, limit.get(key, "0"))


def _root_joint(root: str) -> pin.JointModel:
    if root == "free_flyer":
        return pin.JointModelFreeFlyer()
    planar = pin.JointModelComposite(3)
    for joint in (pin.JointModelPX(), pin.JointModelPZ(), pin.JointModelRY()):
        planar.addJoint(joint)
    return planar


def _new_joint(kind: str) -> pin.JointModel:
    if kind == "SPHERICAL":
        return pin.JointModelSpherical()
    universal = pin.JointModelComposite(2)
    for axis in kind.removeprefix("UJOINT_"):
        universal.addJoint(AXES[axis]())
    return universal


def _plan(model: pin.Model, replacements: tuple[Replacement, ...], origin: str) -> tuple[Mapping[int, Replacement], frozenset[int]]:
    """Return the joints to be replaced, and those that vanish into the one before them."""
    first: dict[int, Replacement] = {}
    inner: set[int] = set()
    for replacement in replacements:
        where = f"spherical joint {replacement.name!r}"
        for name in replacement.joints:
            if not model.existJointName(name):
                raise UrdfError(origin, where, f"is made of joint {name!r}, which does not exist or does not move")
        indices = [int(model.getJointId(name)) for name in replacement.joints]
        for before, after in pairwise(indices):
            chained = int(model.parents[after]) == before and not np.any(model.jointPlacements[after].translation)
            if not chained or model.inertias[before].mass > 0.0:
                raise UrdfError(origin, where, f"joints {', '.join(replacement.joints)} do not turn one link about one point")
            inner.add(after)
        first[indices[0]] = replacement
    return first, frozenset(inner)


def _copy_coordinates(model: pin.Model, index: int, new: pin.Model, new_index: int) -> None:
    old_v, new_v = (slice(m.idx_vs[i], m.idx_vs[i] + m.nvs[i]) for m, i in ((model, index), (new, new_index)))
    old_q, new_q = (slice(m.idx_qs[i], m.idx_qs[i] + m.nqs[i]) for m, i in ((model, index), (new, new_index)))
    for field in ("lowerPositionLimit", "upperPositionLimit"):
        getattr(new, field)[new_q] = getattr(model, field)[old_q]
    for field in ("upperEffortLimit", "lowerEffortLimit", "upperVelocityLimit", "lowerVelocityLimit", "armature"):
        getattr(new, field)[new_v] = getattr(model, field)[old_v]


def _copy_frames(model: pin.Model, new: pin.Model, moved: Mapping[int, tuple[int, pin.SE3]], inner: frozenset[int]) -> None:
    renamed = {0: 0}
    for index, frame in enumerate(model.frames):
        if index == 0:
            continue
        old_owner = int(frame.parentJoint)
        parent = renamed[int(frame.parentFrame)]
        if frame.type == pin.FrameType.JOINT and old_owner in inner:
            renamed[index] = parent
            continue
        owner, X_owner = moved[old_owner]
        name = new.names[owner] if frame.type == pin.FrameType.JOINT else frame.name
        renamed[index] = new.addFrame(pin.Frame(name, owner, parent, X_owner * frame.placement, frame.type), False)
