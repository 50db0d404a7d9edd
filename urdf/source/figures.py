# SPDX-License-Identifier: Apache-2.0
"""Human figures: one skeleton of sixteen joints; each figure says what every joint lets move."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from source import anthropometry as body
from source.anthropometry import length
from source.looks import segment_shapes
from source.tree import Inertia, Joint, Link, Range, Shape, Tree, Vector, vector, zero_between

SIDES = {"left": 1.0, "right": -1.0}
AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
Solid: TypeAlias = tuple[Inertia, tuple[Shape, ...]]
TURNS = {"x": "roll", "y": "pitch", "z": "yaw"}

DEGREES = {
    # of the left side, about x forward, y left, z up: raising a knee or an arm forward is negative about y
    "waist": {"x": (-30, 30), "y": (-30, 30), "z": (-30, 30)},
    "chest": {"x": (-30, 30), "y": (-30, 30), "z": (-30, 30)},
    "neck": {"x": (-45, 45), "y": (-45, 45), "z": (-45, 45)},
    "nod": {"x": (-45, 45), "y": (-45, 45), "z": (-45, 45)},
    "hip": {"x": (-40, 40), "y": (-120, 30), "z": (-40, 40)},
    "knee": {"y": (0, 140)},
    "ankle": {"x": (-25, 25), "y": (-25, 40), "z": (-25, 25)},
    "shoulder": {"x": (-20, 150), "y": (-170, 60), "z": (-80, 80)},
    "elbow": {"y": (-145, 0)},
    "wrist": {"x": (-60, 60), "y": (-60, 60), "z": (-60, 60)},
}
STRENGTH = {
    # speed [rad/s], torque [N m]
    "waist": (10, 150),
    "chest": (10, 150),
    "neck": (10, 20),
    "nod": (10, 20),
    "hip": (12, 150),
    "knee": (15, 180),
    "ankle": (15, 140),
    "shoulder": (12, 60),
    "elbow": (15, 50),
    "wrist": (20, 15),
}

HOUSING_SHARE = 0.03
"""Mass of a link between two hinges of one joint, as a share of the segment: simulators refuse links without any."""
HOUSING_RADIUS = 0.03  # m

KNEE = 0.4
"""Flexion of the knees in the half-sitting pose [rad]."""
ARMS = {("shoulder", "y"): 0.1, ("shoulder", "x"): 0.12, ("elbow", "y"): -0.5}


@dataclass(frozen=True)
class Figure:
    """What a figure lets move: per joint ``ball``, ``fixed``, ``one body``, or the axes of its revolutes from the parent."""

    name: str
    about: str
    freedoms: Mapping[str, str]
    links: Mapping[str, str] = field(default_factory=dict)
    joints: Mapping[str, str] = field(default_factory=dict)


ONE_BODY_TRUNK = {"waist": "one body", "chest": "one body", "nod": "one body"}
FIGURES = (
    Figure(
        "legs12",
        "Two legs of six joints under one rigid upper body: 12 freedoms and a free base.",
        {
            **ONE_BODY_TRUNK,
            "neck": "one body",
            "shoulder": "one body",
            "elbow": "one body",
            "wrist": "one body",
        }
        | {"hip": "zxy", "knee": "y", "ankle": "yx"},
        {"pelvis": "trunk"},
    ),
    Figure(
        "human16",
        "Figure of 16 freedoms: ball joints at shoulders and hips, hinges at elbows and knees; hands and feet are rigid.",
        {**ONE_BODY_TRUNK, "neck": "fixed", "hip": "ball", "knee": "y", "ankle": "fixed"}
        | {"shoulder": "ball", "elbow": "y", "wrist": "fixed"},
        {"pelvis": "trunk", "neck": "head"},
    ),
    Figure(
        "human28",
        "Humanoid of 28 hinges: legs 3+1+2, arms 3+1+2, waist 2, neck 2.",
        {
            "waist": "zy",
            "chest": "one body",
            "neck": "zy",
            "nod": "one body",
            "hip": "zxy",
            "knee": "y",
            "ankle": "yx",
        }
        | {"shoulder": "yxz", "elbow": "y", "wrist": "zy"},
        {"abdomen": "torso", "neck": "head"},
    ),
    Figure(
        "human40",
        "Figure of 40 freedoms: 12 ball joints, four of them in the spine, and hinges at elbows and knees; 17 links.",
        {
            "waist": "ball",
            "chest": "ball",
            "neck": "ball",
            "nod": "ball",
            "hip": "ball",
            "knee": "y",
            "ankle": "ball",
        }
        | {"shoulder": "ball", "elbow": "y", "wrist": "ball"},
        joints={"neck": "neck_lower", "nod": "neck_upper"},
    ),
)


@dataclass(frozen=True, eq=False)
class Bone:
    """A joint of the skeleton: what it carries and where it sits in its parent."""

    joint: str
    side: str
    parent: str
    child: str
    xyz: Vector


def skeleton() -> Iterator[Bone]:
    """Yield the sixteen joints in depth-first order, the pelvis being the root; its frame lies between the hips."""
    for side, sign in SIDES.items():
        yield Bone(
            "hip", side, "pelvis", f"{side}_thigh", vector(0, sign * length("hip_half_width"), 0)
        )
        yield Bone("knee", side, f"{side}_thigh", f"{side}_shank", vector(0, 0, -length("thigh")))
        yield Bone("ankle", side, f"{side}_shank", f"{side}_foot", vector(0, 0, -length("shank")))
    yield Bone("waist", "", "pelvis", "abdomen", vector(0, 0, length("pelvis")))
    yield Bone("chest", "", "abdomen", "thorax", vector(0, 0, length("abdomen")))
    chest = length("pelvis") + length("abdomen")
    crown = 1.0 * body.H - length("ankle_height") - length("shank") - length("thigh")
    yield Bone(
        "neck", "", "thorax", "neck", vector(0, 0, crown - length("cervicale_to_vertex") - chest)
    )
    yield Bone("nod", "", "neck", "head", vector(0, 0, length("neck")))
    for side, sign in SIDES.items():
        shoulder = vector(
            0, sign * length("shoulder_half_width"), length("hip_to_shoulder") - chest
        )
        yield Bone("shoulder", side, "thorax", f"{side}_upper_arm", shoulder)
        yield Bone(
            "elbow",
            side,
            f"{side}_upper_arm",
            f"{side}_forearm",
            vector(0, 0, -length("upper_arm")),
        )
        yield Bone(
            "wrist", side, f"{side}_forearm", f"{side}_hand", vector(0, 0, -length("forearm"))
        )


def build_figure(figure: Figure) -> tuple[Tree, dict[str, Any], dict[str, tuple[str, Vector]]]:
    """Return a figure.

    Returns:
        The tree, its posture, and for every segment the link that holds it and the place of the segment's frame there.
    """
    bodies = {
        name: (_inertia(name), segment_shapes(name))
        for name in ("pelvis", *(bone.child for bone in skeleton()))
    }
    for bone in reversed(list(skeleton())):
        if figure.freedoms[bone.joint] == "one body":
            bodies[bone.parent] = _joined(bodies[bone.parent], bodies[bone.child], bone.xyz)
    places: dict[str, tuple[str, Vector]] = {
        "pelvis": (figure.links.get("pelvis", "pelvis"), vector(0, 0, 0))
    }
    tree = Tree(figure.name)
    tree.add(Link(places["pelvis"][0], *bodies["pelvis"]))
    for bone in skeleton():
        parent, offset = places[bone.parent]
        if figure.freedoms[bone.joint] == "one body":
            places[bone.child] = (parent, offset + bone.xyz)
            continue
        places[bone.child] = (figure.links.get(bone.child, bone.child), vector(0, 0, 0))
        _hang(
            tree,
            figure,
            bone,
            Link(places[bone.child][0], *bodies[bone.child]),
            places[bone.parent],
        )
    return tree, _half_sitting(tree, figure, places), places


def coordinate(figure: Figure, joint: str, side: str, axis: str) -> str | None:
    """Return the name of the revolute that turns a joint about an axis, or None where the figure has none."""
    freedoms = figure.freedoms[joint]
    name = _joint_name(figure, joint, side)
    if freedoms == "ball":
        return f"{name}_{axis}"
    if freedoms in {"fixed", "one body"} or axis not in freedoms:
        return None
    return name if len(freedoms) == 1 else f"{name}_{TURNS[axis]}"


def _joint_name(figure: Figure, joint: str, side: str) -> str:
    name = figure.joints.get(joint, joint)
    return f"{side}_{name}" if side else name


def _inertia(segment: str) -> Inertia:
    name = segment.removeprefix("left_").removeprefix("right_")
    special = {"hand": body.hand, "foot": body.foot, "neck": body.neck, "head": body.head}
    if name in special:
        return special[name]()
    return body.trunk_section(name) if name in {"pelvis", "abdomen", "thorax"} else body.limb(name)


def _joined(host: Solid, part: Solid, xyz: Vector) -> Solid:
    return host[0].joined(part[0].seen_from(-xyz)), (
        *host[1],
        *(shape.moved(xyz) for shape in part[1]),
    )


def _hang(tree: Tree, figure: Figure, bone: Bone, link: Link, place: tuple[str, Vector]) -> None:
    freedoms, name = figure.freedoms[bone.joint], _joint_name(figure, bone.joint, bone.side)
    parent = place[0]
    x, y, z = (float(value) for value in place[1] + bone.xyz)
    if freedoms == "fixed":
        tree.add(link, Joint(f"{name}_fixed", "fixed", parent, link.name, (x, y, z)))
    elif freedoms == "ball":
        tree.add_spherical(
            name, parent, link, (x, y, z), tuple(_range(bone, axis) for axis in "xyz")
        )  # type: ignore[arg-type]
    else:
        housing = _housing(link)
        for _ in freedoms[1:]:
            link = Link(
                link.name, link.inertia.without(housing) if link.inertia else None, link.shapes
            )
        for number, axis in enumerate(freedoms):
            member = str(coordinate(figure, bone.joint, bone.side, axis))
            below = link if number == len(freedoms) - 1 else Link(f"{member}_link", housing)
            tree.add(
                below,
                Joint(
                    member,
                    "revolute",
                    parent,
                    below.name,
                    (x, y, z),
                    axis=AXES[axis],
                    range=_range(bone, axis),
                ),
            )
            parent, (x, y, z) = below.name, (0.0, 0.0, 0.0)


def _housing(link: Link) -> Inertia:
    """Return what a link between two hinges weighs: a ball at the joint's centre, taken from the segment, so that no pose changes by it."""
    mass = HOUSING_SHARE * (link.inertia.mass if link.inertia else 0.0)
    return Inertia(mass, vector(0, 0, 0), 0.4 * mass * HOUSING_RADIUS**2 * np.eye(3))


def _range(bone: Bone, axis: str) -> Range:
    lower, upper = (math.radians(degrees) for degrees in DEGREES[bone.joint][axis])
    limits = Range(lower, upper, *STRENGTH[bone.joint])
    return limits.mirrored() if bone.side == "right" and axis != "y" else limits


def _half_sitting(
    tree: Tree, figure: Figure, places: Mapping[str, tuple[str, Vector]]
) -> dict[str, float]:
    """Return bent knees, flat soles, trunk upright and the centre of mass over the middle of the soles; straight legs without ankles."""
    foot, offset = places["left_foot"]
    if figure.freedoms["ankle"] == "fixed":
        return _named(figure, ARMS)

    def ahead(hip: float) -> float:
        """Return how far the centre of mass is ahead of the middle of the soles."""
        q = _named(figure, _legs(hip) | ARMS)
        R, p = tree.poses(q)[foot]
        return float(tree.com(q)[0] - (p + R @ offset)[0] - length("foot") / 4)

    return _named(figure, _legs(round(zero_between(ahead, 0.0, KNEE), 6)) | ARMS)


def _legs(hip: float) -> dict[tuple[str, str], float]:
    return {("hip", "y"): -hip, ("knee", "y"): KNEE, ("ankle", "y"): hip - KNEE}


def _named(figure: Figure, angles: Mapping[tuple[str, str], float]) -> dict[str, float]:
    found = {}
    for side, sign in SIDES.items():
        for (joint, axis), angle in angles.items():
            name = coordinate(figure, joint, side, axis)
            if name is not None:
                found[name] = angle if axis == "y" else sign * angle
    return found
