# SPDX-License-Identifier: Apache-2.0
"""Joints that follow others: read from the URDF, chains resolved to the joint that leads them all."""

from __future__ import annotations

from collections.abc import Collection

from humanoid_dynamics.errors import UrdfError
from humanoid_dynamics.model.joint import Mimic
from humanoid_dynamics.model.reading.urdf import Urdf, UrdfJoint
from humanoid_dynamics.model.robot import Notice

SINGLE_KINDS = ("revolute", "continuous", "prismatic")


def find_mimics(
    urdf: Urdf, replaced: Collection[str] = ()
) -> tuple[tuple[Mimic, ...], tuple[Notice, ...]]:
    """List the joints that follow another one.

    Args:
        urdf: The records.
        replaced: Joints that a spherical or universal one stands for; nothing can follow them.

    Returns:
        The followers, each with a leader that follows nobody; and a warning for each that has nobody to follow.

    Raises:
        UrdfError: If joints follow each other in a circle.
    """
    mimics: list[Mimic] = []
    notices: list[Notice] = []
    for joint in urdf.joints.values():
        if joint.mimic is None or joint.kind == "fixed":
            continue
        found = _resolve(urdf, joint)
        problem = _why_not(urdf, joint, found.leader, replaced)
        if problem:
            text = f"mimics joint {found.leader!r}, {problem}; it moves by itself, without a motor"
            notices.append(Notice("warning", f"joint {joint.name!r}", text))
        else:
            mimics.append(found)
    return tuple(mimics), tuple(notices)


def _resolve(urdf: Urdf, joint: UrdfJoint) -> Mimic:
    """Follow the leaders of leaders: position = ratio * leader + offset all along."""
    seen = [joint.name]
    ratio, offset = 1.0, 0.0
    step = joint.mimic
    leader = joint.name
    while step is not None:
        leader, factor, shift = step
        ratio, offset = ratio * factor, ratio * shift + offset
        if leader in seen:
            way = " -> ".join((*seen, leader)) if len(seen) > 1 else "itself"
            raise UrdfError(urdf.origin, f"joint {joint.name!r}", f"mimics {way}", joint.line)
        seen.append(leader)
        step = urdf.joints[leader].mimic if leader in urdf.joints else None
    return Mimic(joint.name, leader, ratio, offset)


def _why_not(urdf: Urdf, joint: UrdfJoint, leader: str, replaced: Collection[str]) -> str:
    if leader not in urdf.joints:
        return "which does not exist"
    if leader in replaced:
        return "which is part of a spherical or universal joint"
    kind = urdf.joints[leader].kind
    if kind not in SINGLE_KINDS:
        return f"which is {kind}"
    return "" if joint.kind in SINGLE_KINDS else f"but is {joint.kind} itself"
