"""Which joint owns which numbers, who drives them, and how far they go."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.checks import root_link
from humanoid_dynamics.model.description import Description
from humanoid_dynamics.model.joint import Joint, Limits, Mimic
from humanoid_dynamics.model.robot import Notice
from humanoid_dynamics.model.tree import ROOT_JOINT, Replacement
from humanoid_dynamics.model.urdf import Urdf, UrdfJoint
from humanoid_dynamics.spatial.arrays import Vector, read_only

UNDRIVEN_KINDS = ("free_flyer", "floating", "planar", "mimic")
KIND_OF_REPLACEMENT = {"SPHERICAL": "spherical"}


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The joints of a robot and the numbers that belong to each coordinate.

    Attributes:
        joints: All joints in tree order.
        limits: Their limits.
        armature: (nv,) rotor inertia seen at the joint [kg·m² or kg].
        friction: (nv,) Coulomb friction [N·m or N].
        damping: (nv,) viscous friction [N·m·s/rad or N·s/m].
        mimics: Followers that still have a coordinate.
        notices: What was assumed.
    """

    joints: tuple[Joint, ...]
    limits: Limits
    armature: Vector
    friction: Vector
    damping: Vector
    mimics: tuple[Mimic, ...]
    notices: tuple[Notice, ...]


def read_coordinates(
    model: pin.Model, urdf: Urdf, root: str, replacements: tuple[Replacement, ...], description: Description
) -> Coordinates:
    """Collect the joints of a tree and what the URDF and its description say of each.

    Args:
        model: The tree.
        urdf: The records it was built from.
        root: ``free_flyer``, ``fixed`` or ``planar``.
        replacements: Joints that stand for URDF joints.
        description: What the YAML file adds.

    Returns:
        Joints, limits and per-coordinate numbers.
    """
    members = _members(model, urdf, replacements)
    kinds = {replacement.name: KIND_OF_REPLACEMENT.get(replacement.kind, "universal") for replacement in replacements}
    joints = tuple(
        _read_joint(
            model,
            index,
            records=members[str(model.names[index])],
            root=root,
            root_link=root_link(urdf),
            kinds=kinds,
            driven=_driven(description),
        )
        for index in range(1, model.njoints)
    )
    lower, upper = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
    velocity, effort = np.full(model.nv, np.inf), np.zeros(model.nv)
    armature, friction, damping = np.zeros(model.nv), np.zeros(model.nv), np.zeros(model.nv)
    silent: list[str] = []
    unbounded: list[str] = []
    for joint in joints:
        for offset, record in enumerate(members[joint.name]):
            i = joint.v.start + offset
            if joint.kind in {"revolute", "prismatic"}:
                # An absent bound is zero by the letter of URDF, which would lock the joint; nobody means that.
                lower[joint.q], upper[joint.q] = record.limit.get("lower", -np.inf), record.limit.get("upper", np.inf)
                unbounded += [] if {"lower", "upper"} <= record.limit.keys() else [record.name]
            velocity[i] = record.limit.get("velocity", 0.0) or np.inf
            driven = description.effort.get(record.name, record.limit.get("effort", 0.0))
            effort[i] = (driven or np.inf) if joint.actuated else 0.0
            silent += [record.name] if joint.actuated and not driven else []
            armature[i] = description.armature.get(record.name, 0.0)
            friction[i] = description.friction.get(record.name, record.dynamics.get("friction", 0.0))
            damping[i] = description.damping.get(record.name, record.dynamics.get("damping", 0.0))
    return Coordinates(
        joints=joints,
        limits=Limits(read_only(lower), read_only(upper), read_only(velocity), read_only(effort)),
        armature=read_only(armature),
        friction=read_only(friction),
        damping=read_only(damping),
        mimics=_followers(model, urdf),
        notices=_tell("effort", silent) + _tell("position", unbounded),
    )


def _members(model: pin.Model, urdf: Urdf, replacements: tuple[Replacement, ...]) -> Mapping[str, tuple[UrdfJoint, ...]]:
    """Return the URDF joints behind each joint of the tree, one for each coordinate where there are several."""
    replaced = {replacement.name: tuple(urdf.joints[name] for name in replacement.joints) for replacement in replacements}
    names = list(model.names)[1:]
    return {name: replaced[name] if name in replaced else (urdf.joints[name],) if name in urdf.joints else () for name in names}


def _read_joint(
    model: pin.Model,
    index: int,
    *,
    records: tuple[UrdfJoint, ...],
    root: str,
    root_link: str,
    kinds: Mapping[str, str],
    driven: Callable[[str, tuple[UrdfJoint, ...]], bool],
) -> Joint:
    name = str(model.names[index])
    nv = int(model.nvs[index])
    kind = "mimic" if nv == 0 else _kind(name, root, records, kinds)
    return Joint(
        name=name,
        kind=kind,
        parent=records[0].parent if records else "world",
        child=records[-1].child if records else root_link,
        index=index,
        q=slice(int(model.idx_qs[index]), int(model.idx_qs[index] + model.nqs[index])),
        v=slice(int(model.idx_vs[index]), int(model.idx_vs[index] + nv)),
        coordinates=_coordinate_names(name, kind, nv),
        actuated=kind not in UNDRIVEN_KINDS and driven(name, records),
    )


def _kind(name: str, root: str, records: tuple[UrdfJoint, ...], kinds: Mapping[str, str]) -> str:
    if name == ROOT_JOINT and not records:
        return root
    if name in kinds:
        return kinds[name]
    return "free_flyer" if records[0].kind == "floating" else records[0].kind


def _coordinate_names(name: str, kind: str, nv: int) -> tuple[str, ...]:
    if nv == 1:
        return (name,)
    parts = {
        "free_flyer": ("vx", "vy", "vz", "wx", "wy", "wz"),
        "spherical": ("wx", "wy", "wz"),
        "planar": ("vx", "vz", "wy") if name == ROOT_JOINT else ("vx", "vy", "wz"),
    }.get(kind, tuple(str(i) for i in range(nv)))
    return tuple(f"{name}.{part}" for part in parts)[:nv]


def _driven(description: Description) -> Callable[[str, tuple[UrdfJoint, ...]], bool]:
    """Return the question whether a joint has a motor."""

    def driven(name: str, records: tuple[UrdfJoint, ...]) -> bool:
        names = {name, *(record.name for record in records)}
        if description.motors is not None:
            return not names.isdisjoint(description.motors)
        return names.isdisjoint(description.passive) and all(record.mimic is None for record in records)

    return driven


def _followers(model: pin.Model, urdf: Urdf) -> tuple[Mimic, ...]:
    """Return the mimic joints that keep a coordinate of their own, where their leader has one too."""
    found = (Mimic(joint.name, *joint.mimic) for joint in urdf.joints.values() if joint.mimic is not None)
    moving = {str(name) for index, name in enumerate(model.names) if model.nvs[index] > 0}
    return tuple(mimic for mimic in found if mimic.joint in moving and mimic.leader in moving)


def _tell(kind: str, joints: list[str]) -> tuple[Notice, ...]:
    if not joints:
        return ()
    listed = ", ".join(joints[:4]) + (", ..." if len(joints) > 4 else "")
    return (Notice("info", f"{len(joints)} joints", f"give no {kind} limit, so they have none here ({listed})"),)
