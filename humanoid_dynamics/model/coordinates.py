# SPDX-License-Identifier: Apache-2.0
"""Which joint owns which numbers, who drives them, and how far they go."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import TypeAlias

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.checks import root_link
from humanoid_dynamics.model.description import Description
from humanoid_dynamics.model.joint import Joint, Limits, Mimic
from humanoid_dynamics.model.reading.tree import Replacement, unit
from humanoid_dynamics.model.reading.urdf import Urdf, UrdfJoint
from humanoid_dynamics.model.robot import Notice
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only

Share: TypeAlias = tuple[Joint, UrdfJoint, slice]
"""A joint, a URDF joint behind it, and the velocity coordinates the latter speaks for."""

UNDRIVEN_KINDS = ("free_flyer", "planar", "mimic")
BOUNDED_KINDS = ("revolute", "prismatic")
PARTS = {
    "free_flyer": ("vx", "vy", "vz", "wx", "wy", "wz"),
    "spherical": ("wx", "wy", "wz"),
    "planar": ("vx", "vy", "wz"),
}
PARTS_OF_PLANAR_ROOT = ("vx", "vz", "wy")


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The joints of a robot and the numbers that belong to each coordinate.

    Attributes:
        joints: All joints in tree order.
        limits: Their limits.
        armature: (nv,) rotor inertia seen at the joint [kg·m² or kg].
        friction: (nv,) Coulomb friction [N·m or N].
        damping: (nv,) viscous friction [N·m·s/rad or N·s/m].
        mimics: Followers that have a coordinate of their own.
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
    model: pin.Model,
    urdf: Urdf,
    root: str,
    replacements: tuple[Replacement, ...],
    description: Description,
    *,
    mimics: tuple[Mimic, ...] = (),
) -> Coordinates:
    """Collect the joints of a tree and what the URDF and its description say of each.

    Args:
        model: The tree.
        urdf: The records it was built from.
        root: ``free_flyer``, ``fixed`` or ``planar``.
        replacements: Joints that stand for URDF joints.
        description: What the YAML file adds.
        mimics: Followers that have a coordinate of their own.

    Returns:
        Joints, limits and per-coordinate numbers.
    """
    replaced = {replacement.name: replacement for replacement in replacements}
    members = {str(name): _members(urdf, str(name), replaced) for name in list(model.names)[1:]}
    joints = tuple(
        _read_joint(
            model,
            urdf,
            index + 1,
            root=root,
            records=members[name],
            replaced=replaced,
            description=description,
        )
        for index, name in enumerate(members)
    )
    shares = tuple(
        (joint, record, v) for joint in joints for record, v in _shares(joint, members[joint.name])
    )
    limits, notices = _read_limits(model, shares, description)
    return Coordinates(
        joints=joints,
        limits=limits,
        armature=read_only(
            _gather(model.nv, shares, lambda record: description.armature.get(record.name, 0.0))
        ),
        friction=read_only(
            _gather(
                model.nv,
                shares,
                lambda record: description.friction.get(
                    record.name, record.dynamics.get("friction", 0.0)
                ),
            )
        ),
        damping=read_only(
            _gather(
                model.nv,
                shares,
                lambda record: description.damping.get(
                    record.name, record.dynamics.get("damping", 0.0)
                ),
            )
        ),
        mimics=mimics,
        notices=notices,
    )


def _gather(nv: int, shares: tuple[Share, ...], number: Callable[[UrdfJoint], float]) -> Vector:
    """Return (nv,) a number of each URDF joint at the coordinates it speaks for, zero elsewhere."""
    values = np.zeros(nv)
    for _, record, v in shares:
        values[v] = number(record)
    return values


def _read_limits(
    model: pin.Model, shares: tuple[Share, ...], description: Description
) -> tuple[Limits, tuple[Notice, ...]]:
    """Return the limits, infinite where none is given, and what was not given; nothing but a motor has an effort."""
    lower, upper = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
    effort = np.zeros(model.nv)
    silent, unbounded = [], []
    for joint, record, v in shares:
        if joint.kind in BOUNDED_KINDS:
            # An absent bound is zero by the letter of URDF, which would lock the joint; nobody means that.
            lower[joint.q], upper[joint.q] = (
                record.limit.get("lower", -np.inf),
                record.limit.get("upper", np.inf),
            )
            unbounded += [] if {"lower", "upper"} <= record.limit.keys() else [record.name]
        if joint.actuated:
            strength = description.effort.get(record.name, record.limit.get("effort", 0.0))
            effort[v] = strength if strength > 0.0 else np.inf
            silent += [] if strength > 0.0 else [record.name]
    velocity = _gather(model.nv, shares, lambda record: record.limit.get("velocity", 0.0))
    limits = Limits(
        read_only(lower),
        read_only(upper),
        read_only(np.where(velocity > 0.0, velocity, np.inf)),
        read_only(effort),
    )
    return limits, _tell("effort", silent) + _tell("position", unbounded)


def _members(urdf: Urdf, name: str, replaced: Mapping[str, Replacement]) -> tuple[UrdfJoint, ...]:
    """Return the URDF joints behind a joint of the tree; none behind a root that was added."""
    if name in replaced:
        return tuple(urdf.joints[member] for member in replaced[name].joints)
    return (urdf.joints[name],) if name in urdf.joints and urdf.joints[name].kind != "fixed" else ()


def _read_joint(
    model: pin.Model,
    urdf: Urdf,
    index: int,
    *,
    root: str,
    records: tuple[UrdfJoint, ...],
    replaced: Mapping[str, Replacement],
    description: Description,
) -> Joint:
    name, nq, nv = str(model.names[index]), int(model.nqs[index]), int(model.nvs[index])
    kind = "mimic" if nv == 0 else _kind(name, root, records, replaced)
    return Joint(
        name=name,
        kind=kind,
        parent=records[0].parent if records else "world",
        child=records[-1].child if records else root_link(urdf),
        index=index,
        q=slice(int(model.idx_qs[index]), int(model.idx_qs[index]) + nq),
        v=slice(int(model.idx_vs[index]), int(model.idx_vs[index]) + nv),
        coordinates=_coordinate_names(name, kind, nv, replaced, added=not records),
        actuated=kind not in UNDRIVEN_KINDS and _driven(name, records, description),
    )


def _kind(
    name: str, root: str, records: tuple[UrdfJoint, ...], replaced: Mapping[str, Replacement]
) -> str:
    if not records:
        return root
    if name in replaced:
        return "spherical" if replaced[name].kind == "SPHERICAL" else "universal"
    return "free_flyer" if records[0].kind == "floating" else records[0].kind


def _coordinate_names(
    name: str, kind: str, nv: int, replaced: Mapping[str, Replacement], *, added: bool
) -> tuple[str, ...]:
    if nv <= 1:
        return (name,) * nv
    if kind == "universal":
        parts = tuple(replaced[name].kind.removeprefix("UJOINT_").lower())
    else:
        parts = PARTS_OF_PLANAR_ROOT if kind == "planar" and added else PARTS[kind]
    return tuple(f"{name}.{part}" for part in parts)


def _driven(name: str, records: tuple[UrdfJoint, ...], description: Description) -> bool:
    names = {name, *(record.name for record in records)}
    if description.motors is not None:
        return not names.isdisjoint(description.motors)
    return names.isdisjoint(description.passive) and all(record.mimic is None for record in records)


def _shares(joint: Joint, records: tuple[UrdfJoint, ...]) -> Iterator[tuple[UrdfJoint, slice]]:
    """Yield each URDF joint of a joint with the coordinates it speaks for: all, or of three revolutes the one nearest to its axis."""
    if joint.kind == "mimic":
        return
    if len(records) < 3:
        yield from ((record, joint.v) for record in records)
        return
    directions = np.abs(_axes_in_child(records))
    order = max(
        permutations(range(3)),
        key=lambda places: sum(directions[i, place] for i, place in enumerate(places)),
    )
    for record, place in zip(records, order, strict=True):
        yield record, slice(joint.v.start + place, joint.v.start + place + 1)


def _axes_in_child(records: tuple[UrdfJoint, ...]) -> Matrix:
    """Return the (3, 3) unit axes of three revolutes, one per row, in the link the last one carries with all at zero."""
    axes = []
    R_CJ = np.eye(3)
    for record in reversed(records):
        axes.append(R_CJ @ unit(record.axis))
        R_CJ = R_CJ @ record.X_PJ.rotation.T
    return np.array(axes[::-1])


def _tell(kind: str, joints: list[str]) -> tuple[Notice, ...]:
    if not joints:
        return ()
    listed = ", ".join(joints[:4]) + (", ..." if len(joints) > 4 else "")
    if len(joints) == 1:
        return (
            Notice("info", "1 joint", f"gives no {kind} limit, so it has none here ({listed})"),
        )
    return (
        Notice(
            "info",
            f"{len(joints)} joints",
            f"give no {kind} limit, so they have none here ({listed})",
        ),
    )
