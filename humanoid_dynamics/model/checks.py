"""Is this URDF a robot?  The tree must be one, axes and limits must mean something, masses must be physical."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from humanoid_dynamics.errors import UrdfError
from humanoid_dynamics.model.robot import Notice
from humanoid_dynamics.model.urdf import Urdf, UrdfJoint, UrdfLink

AXIS_KINDS = ("revolute", "continuous", "prismatic", "planar")
TRIANGLE_TOLERANCE = 1e-3
INFINITESIMAL_MASS = 1e-6
NO_INERTIA = 1e-12


def check_urdf(urdf: Urdf) -> tuple[Notice, ...]:
    """Refuse what is not a robot; list what can be lived with.

    Args:
        urdf: The records.

    Returns:
        Warnings: inertias no rigid body has, axes that are not of unit length, leaders that do not exist.

    Raises:
        UrdfError: If the links do not form one tree, or a joint or a mass makes no sense.
    """
    check_tree(urdf)
    for joint in urdf.joints.values():
        _check_joint(urdf, joint)
    notices = [notice for link in urdf.links.values() for notice in _check_inertia(urdf, link)]
    notices += [notice for joint in urdf.joints.values() for notice in _check_manners(urdf, joint)]
    return tuple(notices)


def root_link(urdf: Urdf) -> str:
    """Return the link that is no joint's child.

    Raises:
        UrdfError: If there is none, or more than one.
    """
    children = {joint.child for joint in urdf.joints.values()}
    roots = [name for name in urdf.links if name not in children]
    if not roots:
        joint = next(iter(urdf.joints.values()))
        raise UrdfError(urdf.origin, f"joint {joint.name!r}", "closes a cycle: every link is some joint's child", joint.line)
    if len(roots) > 1:
        extra = urdf.links[roots[1]]
        raise UrdfError(urdf.origin, f"link {extra.name!r}", f"is a second root beside {roots[0]!r}: no joint carries it", extra.line)
    return roots[0]


def check_tree(urdf: Urdf) -> None:
    """Refuse joints on unknown links, links with two parents, several roots and cycles.

    Raises:
        UrdfError: Naming the joint or link.
    """
    carried: dict[str, str] = {}
    for joint in urdf.joints.values():
        where = f"joint {joint.name!r}"
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in urdf.links:
                raise UrdfError(urdf.origin, where, f"{role} link {link!r} does not exist", joint.line)
        if joint.child in carried:
            problem = f"carries link {joint.child!r}, which joint {carried[joint.child]!r} carries already"
            raise UrdfError(urdf.origin, where, problem, joint.line)
        carried[joint.child] = joint.name
    reached = set(walk(urdf, root_link(urdf)))
    for joint in urdf.joints.values():
        if joint.child not in reached:
            raise UrdfError(urdf.origin, f"joint {joint.name!r}", "is part of a cycle that no root link reaches", joint.line)


def walk(urdf: Urdf, root: str) -> Iterator[str]:
    """Yield the links below and including a root, parents first."""
    below: dict[str, list[str]] = {}
    for joint in urdf.joints.values():
        below.setdefault(joint.parent, []).append(joint.child)
    pending = [root]
    while pending:
        link = pending.pop()
        yield link
        pending.extend(below.get(link, []))


def _check_joint(urdf: Urdf, joint: UrdfJoint) -> None:
    where = f"joint {joint.name!r}"
    if joint.kind in AXIS_KINDS and not np.any(joint.axis):
        raise UrdfError(urdf.origin, where, "has a zero axis", joint.line)
    lower, upper = joint.limit.get("lower"), joint.limit.get("upper")
    if joint.kind != "fixed" and lower is not None and upper is not None and lower > upper:
        raise UrdfError(urdf.origin, where, f"limits upside down: lower {lower:g} above upper {upper:g}", joint.line)
    for key in ("velocity", "effort"):
        if joint.limit.get(key, 0.0) < 0.0:
            raise UrdfError(urdf.origin, where, f"negative {key} limit {joint.limit[key]:g}", joint.line)
    if joint.mimic is not None and joint.mimic[0] == joint.name:
        raise UrdfError(urdf.origin, where, "mimics itself", joint.line)


def _check_inertia(urdf: Urdf, link: UrdfLink) -> Iterator[Notice]:
    where = f"link {link.name!r}"
    if link.mass < 0.0:
        raise UrdfError(urdf.origin, where, f"negative mass {link.mass:g} kg", link.line)
    if link.mass <= INFINITESIMAL_MASS:
        return
    low, middle, high = np.linalg.eigvalsh(link.inertia)
    if high < NO_INERTIA:
        return
    if low < -TRIANGLE_TOLERANCE * high:
        yield Notice("warning", where, f"inertia has a negative principal moment ({low:.3g} kg·m²); no body has that")
    elif low + middle < high * (1.0 - TRIANGLE_TOLERANCE):
        principal = f"{low:.3g}, {middle:.3g}, {high:.3g} kg·m²"
        yield Notice("warning", where, f"inertia violates the triangle inequality (principal moments {principal}); no body has that")


def _check_manners(urdf: Urdf, joint: UrdfJoint) -> Iterator[Notice]:
    where = f"joint {joint.name!r}"
    length = float(np.linalg.norm(joint.axis))
    if joint.kind in AXIS_KINDS and abs(length - 1.0) > TRIANGLE_TOLERANCE:
        yield Notice("info", where, f"axis of length {length:g} was scaled to one")
    if joint.mimic is not None and joint.mimic[0] not in urdf.joints:
        yield Notice("warning", where, f"mimics joint {joint.mimic[0]!r}, which does not exist; it moves by itself, without a motor")
