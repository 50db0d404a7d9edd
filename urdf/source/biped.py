# SPDX-License-Identifier: Apache-2.0
"""The planar biped of seven links that the reference gait walks with; its numbers are given, not taken from the 3-D table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from source.anthropometry import WINTER, W
from source.figures import SIDES
from source.tree import Inertia, Joint, Link, Range, Shape, Tree, capsule, vector, zero_between

SHANK, THIGH, TRUNK = 0.4182, 0.4165, 0.4896
FOOT, ANKLE_HEIGHT = 0.2584, 0.0663
HEEL, TOE = 0.0646, 0.1938
KNEE = 0.4
HIP = Range(math.radians(-120), math.radians(60), 12, 150)
KNEE_RANGE = Range(0, math.radians(140), 15, 180)
ANKLE = Range(math.radians(-60), math.radians(45), 15, 140)
# wider than a person's: the gait walks crouched and takes the hip to 42 degrees of extension, the ankle to 46 degrees of flexion

ASIDE = 0.06
"""How far the legs are drawn beside the plane; their joints and masses lie in it [m]."""

ABOUT = [
    "Planar biped of seven links (x forward, z up, joints about y): the parameters of the reference gait R1.",
    "The gait writes absolute angles theta, counter-clockwise from x in the x-up plane, each from the distal to the proximal joint",
    "(ankle -> knee -> hip -> top of the trunk) and 0 for a flat foot. With REP-103 axes a positive pitch is nose-down:",
    "  pitch of the trunk = pi/2 - theta_trunk;  hip = theta_trunk - theta_thigh;  knee = theta_thigh - theta_shank;",
    "  ankle = theta_shank - theta_foot - pi/2.",
    "Its torques have serial sign from the rear foot: equal to ours at the joints of the rear leg, opposite at those of the front leg.",
]


def build_biped() -> tuple[Tree, list[str], dict[str, Any]]:
    """Return the biped, the comment lines of its YAML, and its description."""
    tree = Tree("biped7")
    tree.add(Link("trunk", _slender("hat", TRUNK, 0.626 * TRUNK), _trunk_shapes()))
    for side, sign in SIDES.items():
        y = sign * ASIDE
        thigh = Link(
            f"{side}_thigh",
            _slender("thigh", THIGH, -0.433 * THIGH),
            capsule(0.06, (0, y, 0), (0, y, -THIGH)),
        )
        shank = Link(
            f"{side}_shank",
            _slender("shank", SHANK, -0.433 * SHANK),
            capsule(0.045, (0, y, 0), (0, y, -SHANK)),
        )
        foot = Link(f"{side}_foot", _foot(), _foot_shapes(y))
        tree.add(thigh, _joint(f"{side}_hip", "trunk", thigh, 0.0, HIP))
        tree.add(shank, _joint(f"{side}_knee", thigh.name, shank, -THIGH, KNEE_RANGE))
        tree.add(foot, _joint(f"{side}_ankle", shank.name, foot, -SHANK, ANKLE))
    return tree, ABOUT, _description(tree)


def _joint(name: str, parent: str, link: Link, z: float, limits: Range) -> Joint:
    return Joint(name, "revolute", parent, link.name, (0, 0, z), axis=(0, 1, 0), range=limits)


def _slender(name: str, size: float, com: float) -> Inertia:
    """Return a segment along z: the moment about y is the table's, about its own axis a tenth of it."""
    row = WINTER[name]
    moment = row.mass * W * (row.gyration * size) ** 2
    return Inertia(row.mass * W, vector(0, 0, com), np.diag([moment, moment, 0.1 * moment]))


def _foot() -> Inertia:
    row = WINTER["foot"]
    moment = row.mass * W * (row.gyration * FOOT) ** 2
    return Inertia(
        row.mass * W,
        vector(0.25 * FOOT, 0, -ANKLE_HEIGHT / 2),
        np.diag([0.1 * moment, moment, moment]),
    )


def _foot_shapes(y: float) -> tuple[Shape, ...]:
    thick = 0.03
    sole = Shape(
        "box",
        (FOOT, 0.09, thick),
        ((TOE - HEEL) / 2, y, thick / 2 - ANKLE_HEIGHT),
        material="joint",
    )
    return (Shape("sphere", (0.045,), (0, y, 0), material="joint"), sole)


def _trunk_shapes() -> tuple[Shape, ...]:
    head = Shape("sphere", (0.1,), (0, 0, TRUNK + 0.2))
    visor = Shape("box", (0.03, 0.12, 0.03), (0.09, 0, TRUNK + 0.22), material="accent")
    neck = capsule(0.05, (0, 0, TRUNK), (0, 0, TRUNK + 0.12), "joint")
    return (*capsule(0.10, (0, 0, 0.02), (0, 0, TRUNK - 0.04), "accent"), *neck, head, visor)


def _description(tree: Tree) -> dict[str, Any]:
    sole = {
        "xyz": [0, 0, -ANKLE_HEIGHT],
        "rpy": [0, 0, 0],
        "polygon": [[TOE, 0], [-HEEL, 0]],
        "friction": 0.7,
    }
    return {
        "urdf": "biped7.urdf",
        "root": "planar",
        "surfaces": {f"{side}_foot": {"link": f"{side}_foot"} | sole for side in SIDES},
        "control_points": {
            "pelvis": {"link": "trunk", "xyz": [0, 0, 0]},
            "chest": {"link": "trunk", "xyz": [0, 0, TRUNK]},
            "head": {"link": "trunk", "xyz": [0, 0, TRUNK + 0.2]},
        }
        | {f"{side}_ankle": {"link": f"{side}_foot", "xyz": [0, 0, 0]} for side in SIDES},
        "posture": _half_sitting(tree),
        "aliases": {"torso": "trunk", "head": "trunk", "gaze": "trunk"},
    }


def _half_sitting(tree: Tree) -> dict[str, float]:
    """Return bent knees, flat soles and the centre of mass over their middle, found by halving the interval of the hip."""

    def posture(hip: float) -> dict[str, float]:
        angles = {"hip": -hip, "knee": KNEE, "ankle": hip - KNEE}
        return {f"{side}_{joint}": angle for side in SIDES for joint, angle in angles.items()}

    def ahead(hip: float) -> float:
        q = posture(hip)
        return float(tree.com(q)[0] - tree.poses(q)["left_foot"][1][0] - (TOE - HEEL) / 2)

    return posture(round(zero_between(ahead, 0.0, KNEE), 6))
