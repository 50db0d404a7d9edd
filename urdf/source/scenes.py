# SPDX-License-Identifier: Apache-2.0
"""What a figure hangs from or sits on: swing, rigid swing, high bar, ropes.

The root is on the ground, beams lie along y, so that a figure faces x.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from source.planar import Built
from source.tree import Inertia, Joint, Link, Range, Shape, Tree, Triple, capsule, vector

CEILING = 3.0
BALL = (Range(-math.pi, math.pi, 20, 0),) * 3

ROPE, ROPE_MASS, ROPE_MOMENTS = 1.6, 0.5, (0.1, 0.1, 0.001)
BAR_HALF, BAR_MASS, BAR_RADIUS = 0.25, 2.0, 0.015
GRIP = 0.15

PIVOT, SWING_MASS, SWING_COM, PLATE_DROP = 2.5, 6.0, 1.6, 1.8
ROD_Y, ROD_GRIP_DROP, SLOT_Y = 0.30, 1.2, 0.16
PLATE = (0.30, 0.60, 0.03)

HIGH_BAR, HIGH_BAR_GRIP = 2.2, 0.18

ROPES_Y, SEGMENT, SEGMENT_MASS, SEGMENT_RADIUS = 0.45, 0.6, 0.3, 0.012

SIDES = (("left", 1.0), ("right", -1.0))


def build_swing() -> Built:
    """Return the swing of two ropes and a bar; the tree reaches the bar by the left rope, the ball of the right rope at the bar is cut."""
    tree = Tree("swing")
    tree.add(_ceiling(BAR_HALF + 0.1))
    rope_inertia = Inertia(ROPE_MASS, vector(0, 0, -ROPE / 2), np.diag(ROPE_MOMENTS))
    for side, sign in SIDES:
        rope = Link(f"{side}_rope", rope_inertia, capsule(0.01, (0, 0, 0), (0, 0, -ROPE)))
        tree.add_spherical(
            f"{side}_ceiling_ball", "ceiling", rope, (0, sign * BAR_HALF, CEILING), BALL
        )
        if side == "left":
            tree.add_spherical("left_bar_ball", rope.name, _swing_bar(), (0, 0, -ROPE), BALL)
    a, b = (
        {"link": "right_rope", "xyz": [0, 0, -ROPE], "rpy": [0, 0, 0]},
        {"link": "bar", "xyz": [0, -2 * BAR_HALF, 0], "rpy": [0, 0, 0]},
    )
    points = {
        f"{side}_grip": {"link": "bar", "xyz": [0, sign * GRIP - BAR_HALF, 0]}
        for side, sign in SIDES
    }
    about = [
        "Swing: two stiff ropes with balls at ceiling and bar; the tree reaches the bar by the left one, the other is cut from it.",
        "The frame of the bar is at its left end.",
    ]
    loops = {"right_bar_ball": {"kind": "spherical", "a": a, "b": b}}
    return tree, about, _scene(tree, points) | {"loops": loops}


def build_rigid_swing() -> Built:
    """Return the swing as one rigid frame that turns at its pivot: two rods and a plate of the given mass and centre of mass."""
    tree = Tree("rigid_swing")
    tree.add(
        Link(
            "stand",
            shapes=capsule(0.03, (0, -ROD_Y - 0.15, PIVOT), (0, ROD_Y + 0.15, PIVOT), "scene"),
        )
    )
    plate_mass = SWING_MASS * (2 * SWING_COM / PLATE_DROP - 1)
    plate = Inertia(plate_mass, vector(0, 0, -PLATE_DROP), _box(plate_mass, PLATE))
    both_rods = SWING_MASS - plate_mass
    across = both_rods * PLATE_DROP**2 / 12
    rods = Inertia(
        both_rods,
        vector(0, 0, -PLATE_DROP / 2),
        np.diag([across + both_rods * ROD_Y**2, across, both_rods * ROD_Y**2]),
    )
    shapes = [
        shape
        for _, y in SIDES
        for shape in capsule(0.012, (0, y * ROD_Y, 0), (0, y * ROD_Y, -PLATE_DROP))
    ]
    shapes.append(Shape("box", PLATE, (0, 0, -PLATE_DROP), material="accent"))
    link = Link("swing", rods.joined(plate), tuple(shapes))
    tree.add(
        link,
        Joint(
            "pivot",
            "continuous",
            "stand",
            "swing",
            (0, 0, PIVOT),
            axis=(0, 1, 0),
            range=Range(velocity=10, effort=0),
        ),
    )
    top = PLATE[2] / 2 - PLATE_DROP
    points = {
        f"{side}_rod": {"link": "swing", "xyz": [0, sign * ROD_Y, -ROD_GRIP_DROP]}
        for side, sign in SIDES
    }
    points |= {
        f"{side}_slot": {"link": "swing", "xyz": [0, sign * SLOT_Y, top]} for side, sign in SIDES
    }
    seat = {
        "link": "swing",
        "xyz": [0, 0, top],
        "rpy": [math.pi, 0, 0],
        "polygon": _rectangle(PLATE[0] / 2, PLATE[1] / 2),
    }
    about = [
        "Rigid swing: two rods and a plate that turn as one about the pivot; grips on the rods, slots for the thighs on the plate."
    ]
    return tree, about, _scene(tree, points) | {"surfaces": {"seat": seat}}


def build_highbar() -> Built:
    """Return the high bar: a fixed bar with two places to grip."""
    tree = Tree("highbar")
    tree.add(Link("ground"))
    posts = (capsule(0.03, (0, y, -HIGH_BAR), (0, y, 0), "scene") for y in (-1.2, 1.2))
    bar = Link(
        "bar",
        None,
        (*capsule(0.014, (0, -1.2, 0), (0, 1.2, 0)), *(shape for post in posts for shape in post)),
    )
    tree.add(bar, Joint("bar_fixed", "fixed", "ground", "bar", (0, 0, HIGH_BAR)))
    points = {
        f"{side}_grip": {"link": "bar", "xyz": [0, sign * HIGH_BAR_GRIP, 0]} for side, sign in SIDES
    }
    about = [
        "High bar: a fixed bar 2.2 m above the ground. The grips are narrower than the shoulders: at their width",
        "an arm with one hinge at the elbow is singular in every pose, and wider it cannot close.",
    ]
    return tree, about, _scene(tree, points)


def build_ropes() -> Built:
    """Return two ropes of two segments; the ball that joins a rope to a hand belongs to the connection with the figure."""
    tree = Tree("ropes")
    tree.add(_ceiling(ROPES_Y + 0.1))
    across = SEGMENT_MASS * (3 * SEGMENT_RADIUS**2 + SEGMENT**2) / 12
    moments = np.diag([across, across, SEGMENT_MASS * SEGMENT_RADIUS**2 / 2])
    inertia = Inertia(SEGMENT_MASS, vector(0, 0, -SEGMENT / 2), moments)
    for side, sign in SIDES:
        upper, lower = (
            Link(f"{side}_{name}", inertia, capsule(SEGMENT_RADIUS, (0, 0, 0), (0, 0, -SEGMENT)))
            for name in ("upper_rope", "lower_rope")
        )
        tree.add_spherical(
            f"{side}_ceiling_ball", "ceiling", upper, (0, sign * ROPES_Y, CEILING), BALL
        )
        hinge = Range(velocity=20, effort=0)
        tree.add(
            lower,
            Joint(
                f"{side}_hinge",
                "continuous",
                upper.name,
                lower.name,
                (0, 0, -SEGMENT),
                axis=(0, 1, 0),
                range=hinge,
            ),
        )
    points = {
        f"{side}_end": {"link": f"{side}_lower_rope", "xyz": [0, 0, -SEGMENT]} for side, _ in SIDES
    }
    about = [
        "Two ropes from the ceiling, each of two stiff segments: a ball at the ceiling and a hinge between the segments."
    ]
    return tree, about, _scene(tree, points)


def _scene(tree: Tree, points: dict[str, Any]) -> dict[str, Any]:
    passive = [joint.name for joint in tree.joints if joint.kind != "fixed"]
    found: dict[str, Any] = {"urdf": f"{tree.name}.urdf", "root": "fixed", "control_points": points}
    return found | ({"passive": passive} if passive else {})


def _ceiling(half: float) -> Link:
    return Link("ceiling", shapes=capsule(0.03, (0, -half, CEILING), (0, half, CEILING), "scene"))


def _swing_bar() -> Link:
    across = BAR_MASS * (3 * BAR_RADIUS**2 + (2 * BAR_HALF) ** 2) / 12
    inertia = Inertia(
        BAR_MASS, vector(0, -BAR_HALF, 0), np.diag([across, BAR_MASS * BAR_RADIUS**2 / 2, across])
    )
    return Link("bar", inertia, capsule(BAR_RADIUS, (0, 0, 0), (0, -2 * BAR_HALF, 0), "accent"))


def _box(mass: float, size: Triple) -> np.ndarray[Any, np.dtype[np.float64]]:
    x, y, z = size
    return np.diag(
        [mass * (y**2 + z**2) / 12, mass * (x**2 + z**2) / 12, mass * (x**2 + y**2) / 12]
    )


def _rectangle(x: float, y: float) -> list[list[float]]:
    return [[x, -y], [x, y], [-x, y], [-x, -y]]
