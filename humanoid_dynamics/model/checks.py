# SPDX-License-Identifier: Apache-2.0
"""Is this URDF a robot?  The tree must be one, axes and limits must mean something, masses must be physical."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

import numpy as np

from humanoid_dynamics.errors import UrdfError
from humanoid_dynamics.model.reading.urdf import Urdf, UrdfJoint, UrdfLink
from humanoid_dynamics.model.robot import Notice

AXIS_KINDS = ("revolute", "continuous", "prismatic", "planar")
BOUNDED_KINDS = ("revolute", "prismatic")
UNLIMITED = -1.0  # how a URDF that was once an SDF says so
TRIANGLE_TOLERANCE = 1e-3
INFINITESIMAL_MASS = 1e-6
NO_INERTIA = 1e-12
NEGATIVE = "inertia has a negative principal moment"
NO_TRIANGLE = "inertia violates the triangle inequality"
SCALED = "was scaled to one"
UNKNOWN = "which is not part of URDF; ignored"
MOST_ALONE = 3  # notices of one kind, beyond which one notice tells them all


def check_urdf(urdf: Urdf) -> tuple[Notice, ...]:
    """Refuse what is not a robot; list what can be lived with.

    Args:
        urdf: The records.

    Returns:
        Inertias no rigid body has, axes that are not of unit length, shapes that are left out.

    Raises:
        UrdfError: If the links do not form one tree, or a joint or a mass makes no sense.
    """
    check_tree(urdf)
    for joint in urdf.joints.values():
        _check_joint(urdf, joint)
    inertias = [_check_inertia(urdf, link) for link in urdf.links.values()]
    axes = [_check_axis(joint) for joint in urdf.joints.values()]
    shapes = [
        Notice("info", f"link {link!r}", f"has a shape <{kind}>, {UNKNOWN}")
        for link, kind in urdf.ignored
    ]
    return (
        *_gather(inertias, NEGATIVE, f"{NEGATIVE}; not physically possible"),
        *_gather(inertias, NO_TRIANGLE, f"{NO_TRIANGLE}; not physically possible"),
        *_gather(axes, SCALED, f"axis {SCALED}"),
        *_gather(shapes, UNKNOWN, f"have shapes {UNKNOWN}"),
    )


def root_link(urdf: Urdf) -> str:
    """Return the link that is no joint's child.

    Raises:
        UrdfError: If there is none, or more than one.
    """
    children = {joint.child for joint in urdf.joints.values()}
    roots = [name for name in urdf.links if name not in children]
    if not roots:
        raise _cycle(urdf, next(iter(urdf.joints.values())))
    if len(roots) > 1:
        extra = urdf.links[roots[1]]
        raise UrdfError(
            urdf.origin,
            f"link {extra.name!r}",
            f"is a second root beside {roots[0]!r}: no joint carries it",
            extra.line,
        )
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
                raise UrdfError(
                    urdf.origin,
                    where,
                    f"{role} link {link!r} does not exist{_near(link, urdf.links)}",
                    joint.line,
                )
        if joint.child in carried:
            problem = f"carries link {joint.child!r}, which joint {carried[joint.child]!r} carries already"
            raise UrdfError(urdf.origin, where, problem, joint.line)
        carried[joint.child] = joint.name
    reached = set(walk(urdf, root_link(urdf)))
    for joint in urdf.joints.values():
        if joint.child not in reached:
            raise _cycle(urdf, joint)


def branches(urdf: Urdf) -> dict[str, list[UrdfJoint]]:
    """Return the joints on each link that carries some, in alphabetical order."""
    below: dict[str, list[UrdfJoint]] = {}
    for name in sorted(urdf.joints):
        below.setdefault(urdf.joints[name].parent, []).append(urdf.joints[name])
    return below


def walk(urdf: Urdf, root: str) -> Iterator[str]:
    """Yield the links below and including a root, depth-first."""
    below = branches(urdf)
    pending = [root]
    while pending:
        link = pending.pop()
        yield link
        pending += [joint.child for joint in reversed(below.get(link, []))]


def _cycle(urdf: Urdf, joint: UrdfJoint) -> UrdfError:
    """Follow the parents of a joint that no root reaches until a link comes twice."""
    carrier = {other.child: other for other in urdf.joints.values()}
    seen: dict[str, int] = {}
    link = joint.child
    while link not in seen:
        seen[link] = len(seen)
        link = carrier[link].parent
    ring = [*list(seen)[seen[link] :], link][::-1]
    guilty = carrier[link]
    path = " -> ".join(ring if len(ring) < 8 else [*ring[:4], "...", *ring[-2:]])
    return UrdfError(
        urdf.origin, f"joint {guilty.name!r}", f"is part of a cycle of links: {path}", guilty.line
    )


def _near(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _check_joint(urdf: Urdf, joint: UrdfJoint) -> None:
    where = f"joint {joint.name!r}"
    if joint.kind in AXIS_KINDS and not np.any(joint.axis):
        raise UrdfError(urdf.origin, where, "has a zero axis", joint.line)
    lower, upper = joint.limit.get("lower"), joint.limit.get("upper")
    if joint.kind in BOUNDED_KINDS and lower is not None and upper is not None and lower > upper:
        raise UrdfError(
            urdf.origin, where, f"lower limit {lower:g} is above upper limit {upper:g}", joint.line
        )
    for key in ("velocity", "effort"):
        if joint.limit.get(key, 0.0) < 0.0 and joint.limit[key] != UNLIMITED:
            raise UrdfError(
                urdf.origin, where, f"negative {key} limit {joint.limit[key]:g}", joint.line
            )
    for key, value in joint.dynamics.items():
        if value < 0.0:
            raise UrdfError(urdf.origin, where, f"negative {key} {value:g}", joint.line)


def _check_inertia(urdf: Urdf, link: UrdfLink) -> Notice | None:
    where = f"link {link.name!r}"
    if link.mass < 0.0:
        raise UrdfError(urdf.origin, where, f"negative mass {link.mass:g} kg", link.line)
    if link.mass <= INFINITESIMAL_MASS:
        return None
    low, middle, high = np.linalg.eigvalsh(link.inertia)
    if max(-low, high) < NO_INERTIA:
        return None
    if low < -TRIANGLE_TOLERANCE * abs(high):
        return Notice(
            "warning", where, f"{NEGATIVE} ({low:.3g} kg·m²), which is not physically possible"
        )
    if low + middle < high * (1.0 - TRIANGLE_TOLERANCE):
        return Notice(
            "warning",
            where,
            f"{NO_TRIANGLE} (principal moments {low:.3g}, {middle:.3g}, {high:.3g} kg·m²), which is not physically possible",
        )
    return None


def _check_axis(joint: UrdfJoint) -> Notice | None:
    length = math.hypot(*joint.axis)
    if joint.kind in AXIS_KINDS and abs(length - 1.0) > TRIANGLE_TOLERANCE:
        return Notice("info", f"joint {joint.name!r}", f"axis of length {length:g} {SCALED}")
    return None


def _gather(notices: Iterable[Notice | None], fault: str, together: str) -> tuple[Notice, ...]:
    """Return the notices of one fault: each, or where they are many one that names all elements."""
    found = [notice for notice in notices if notice is not None and fault in notice.text]
    if len(found) <= MOST_ALONE:
        return tuple(found)
    names = ", ".join(notice.element.partition(" ")[2].strip("'") for notice in found)
    return (
        Notice(
            found[0].severity,
            f"{len(found)} {found[0].element.partition(' ')[0]}s",
            f"{together} ({names})",
        ),
    )
