# SPDX-License-Identifier: Apache-2.0
"""The planar mechanisms: four-bar, parallelogram, five-bar, two arms that hold one bar.

Their closed forms are written in an x-y plane with gravity along -y and counter-clockwise angles.  Here that plane is x-z, so that the
usual gravity is right, and every axis is -y, so that every angle is the one of the closed form.  A link's x axis runs along the rod.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from source.tree import Inertia, Joint, Link, Range, Tree, Triple, capsule, vector

Built: TypeAlias = tuple[Tree, list[str], dict[str, Any]]
AXIS: Triple = (0, -1, 0)
ABOUT_AXIS = [math.pi / 2, 0, 0]
"""Roll, pitch and yaw of a frame whose z is the joint axis and whose x is along the rod."""
RADIUS = 0.01
PLANE = "Plane x-z, joint axes -y: positive angles are counter-clockwise from x towards z."


def rod(name: str, length: float, mass: float, radius: float = RADIUS) -> Link:
    """Return a uniform rod along x; across it the moment is that of a thin one, m l^2/12, so that closed forms are met."""
    across = mass * length**2 / 12
    inertia = Inertia(
        mass, vector(length / 2, 0, 0), np.diag([mass * radius**2 / 2, across, across])
    )
    return Link(name, inertia, capsule(1.5 * radius, (0, 0, 0), (length, 0, 0)))


def build_fourbar() -> Built:
    """Return the four-bar with its crank at 60 degrees, elbow up."""
    about = [
        "Four-bar: crank 0.2 m, coupler 0.5 m, rocker 0.4 m, ground 0.45 m; the joint of coupler and rocker is cut."
    ]
    return _four_bar("fourbar", about, (0.2, 0.5, 0.4, 0.45), math.radians(60))


def build_parallelogram() -> Built:
    """Return the parallelogram with its crank at 50 degrees."""
    about = [
        "Parallelogram: crank and rocker 0.3 m, coupler and ground 0.5 m; flat it gains a freedom. The joint of coupler and rocker is cut."
    ]
    return _four_bar("parallelogram", about, (0.3, 0.5, 0.3, 0.5), math.radians(50))


def build_fivebar() -> Built:
    """Return the five-bar with its motors at 120 and 70 degrees, upper branch."""
    tree = Tree("fivebar")
    tree.add(Link("base", shapes=capsule(RADIUS, (-0.1, 0, 0), (0.1, 0, 0), "scene")))
    posture = {}
    theta = {"left": math.radians(120), "right": math.radians(70)}
    knees = {
        side: (x + 0.3 * math.cos(theta[side]), 0.3 * math.sin(theta[side]))
        for side, x in (("left", -0.1), ("right", 0.1))
    }
    tip = _meet(knees["left"], 0.4, knees["right"], 0.4)
    for side, x in (("left", -0.1), ("right", 0.1)):
        tree.add(
            rod(f"{side}_proximal", 0.3, 0.4),
            _hinge(f"{side}_motor", "base", f"{side}_proximal", (x, 0, 0)),
        )
        tree.add(
            rod(f"{side}_distal", 0.4, 0.5),
            _hinge(f"{side}_elbow", f"{side}_proximal", f"{side}_distal", (0.3, 0, 0)),
        )
        posture[f"{side}_motor"] = theta[side]
        posture[f"{side}_elbow"] = (
            math.atan2(tip[1] - knees[side][1], tip[0] - knees[side][0]) - theta[side]
        )
    about = [
        "Five-bar: two motors 0.2 m apart, rods of 0.3 m and 0.4 m on each side; the joint of the two tips is cut."
    ]
    loops = {"tip": _loop("revolute", "left_distal", [0.4, 0, 0], "right_distal", [0.4, 0, 0])}
    points = {"tip": {"link": "left_distal", "xyz": [0.4, 0, 0]}}
    return (
        tree,
        [*about, PLANE],
        _description(tree, points, posture, ["left_elbow", "right_elbow"], loops),
    )


def build_two_arms_bar() -> Built:
    """Return two arms of three joints that hold one bar, hands upright, elbows outward, middle of the bar at (0.02, 0.45)."""
    tree = Tree("two_arms_bar")
    tree.add(Link("base", shapes=capsule(RADIUS, (-0.25, 0, 0), (0.25, 0, 0), "scene")))
    posture: dict[str, float] = {}
    for side, sign in (("left", -1.0), ("right", 1.0)):
        names = [f"{side}_{part}" for part in ("upper_arm", "forearm", "hand")]
        tree.add(
            rod(names[0], 0.3, 1.0),
            _hinge(f"{side}_shoulder", "base", names[0], (sign * 0.25, 0, 0)),
        )
        tree.add(rod(names[1], 0.3, 1.0), _hinge(f"{side}_elbow", names[0], names[1], (0.3, 0, 0)))
        tree.add(rod(names[2], 0.1, 0.2), _hinge(f"{side}_wrist", names[1], names[2], (0.3, 0, 0)))
        if side == "left":
            tree.add(
                rod("bar", 0.2, 3.0),
                Joint("bar_fixed", "fixed", names[2], "bar", (0.1, 0, 0), (0, math.pi / 2, 0)),
            )
        shoulder, wrist = (sign * 0.25, 0.0), (0.02 + sign * 0.1, 0.35)
        elbow = (
            _meet(shoulder, 0.3, wrist, 0.3) if side == "left" else _meet(wrist, 0.3, shoulder, 0.3)
        )
        upper = math.atan2(elbow[1] - shoulder[1], elbow[0] - shoulder[0])
        lower = math.atan2(wrist[1] - elbow[1], wrist[0] - elbow[0])
        posture |= {
            f"{side}_shoulder": upper,
            f"{side}_elbow": lower - upper,
            f"{side}_wrist": math.pi / 2 - lower,
        }
    about = [
        "Two planar arms of three joints, one bar welded to both hands; the weld of the right hand is cut."
    ]
    a, b = (
        {"link": "bar", "xyz": [0.2, 0, 0], "rpy": [0, 0, 0]},
        {"link": "right_hand", "xyz": [0.1, 0, 0], "rpy": [0, math.pi / 2, 0]},
    )
    points = {"bar": {"link": "bar", "xyz": [0.1, 0, 0]}}
    return (
        tree,
        [*about, PLANE],
        _description(tree, points, posture, [], {"right_weld": {"kind": "fixed", "a": a, "b": b}}),
    )


def _four_bar(
    name: str, about: list[str], lengths: tuple[float, float, float, float], phi: float
) -> Built:
    a, b, c, d = lengths
    crank_tip = (a * math.cos(phi), a * math.sin(phi))
    joint = _meet(crank_tip, b, (d, 0.0), c)
    chi = math.atan2(joint[1] - crank_tip[1], joint[0] - crank_tip[0])
    psi = math.atan2(joint[1], joint[0] - d)
    tree = Tree(name)
    tree.add(Link("base", shapes=capsule(RADIUS, (0, 0, 0), (d, 0, 0), "scene")))
    tree.add(rod("crank", a, 0.3), _hinge("crank_joint", "base", "crank", (0, 0, 0)))
    tree.add(rod("coupler", b, 0.6), _hinge("coupler_joint", "crank", "coupler", (a, 0, 0)))
    tree.add(rod("rocker", c, 0.5), _hinge("rocker_joint", "base", "rocker", (d, 0, 0)))
    posture = {"crank_joint": phi, "coupler_joint": chi - phi, "rocker_joint": psi}
    loops = {"rocker_tip": _loop("revolute", "coupler", [b, 0, 0], "rocker", [c, 0, 0])}
    points = {"rocker_tip": {"link": "rocker", "xyz": [c, 0, 0]}}
    return (
        tree,
        [*about, PLANE],
        _description(tree, points, posture, ["coupler_joint", "rocker_joint"], loops),
    )


def _hinge(name: str, parent: str, child: str, xyz: Triple) -> Joint:
    return Joint(
        name, "continuous", parent, child, xyz, axis=AXIS, range=Range(velocity=20, effort=50)
    )


def _loop(
    kind: str, link_a: str, xyz_a: list[float], link_b: str, xyz_b: list[float]
) -> dict[str, Any]:
    return {
        "kind": kind,
        "a": {"link": link_a, "xyz": xyz_a, "rpy": ABOUT_AXIS},
        "b": {"link": link_b, "xyz": xyz_b, "rpy": ABOUT_AXIS},
    }


def _description(
    tree: Tree,
    points: dict[str, Any],
    posture: dict[str, float],
    passive: list[str],
    loops: dict[str, Any],
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "urdf": f"{tree.name}.urdf",
        "root": "fixed",
        "control_points": points,
        "posture": posture,
    }
    return found | ({"passive": passive} if passive else {}) | {"loops": loops}


def _meet(
    one: tuple[float, float], from_one: float, other: tuple[float, float], from_other: float
) -> tuple[float, float]:
    """Return the point at given distances of two points, on the left of the way from one to the other."""
    dx, dy = other[0] - one[0], other[1] - one[1]
    apart = math.hypot(dx, dy)
    along = (from_one**2 - from_other**2 + apart**2) / (2 * apart)
    aside = math.sqrt(from_one**2 - along**2)
    return one[0] + (along * dx - aside * dy) / apart, one[1] + (along * dy + aside * dx) / apart
