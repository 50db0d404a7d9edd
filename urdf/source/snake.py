# SPDX-License-Identifier: Apache-2.0
"""The planar snake on passive wheels, of any number of links."""

from __future__ import annotations

import math

import numpy as np

from source.planar import Built
from source.tree import Inertia, Joint, Link, Range, Shape, Tree, Triple, vector

LENGTH, MASS, MOMENT = 0.2, 1.0, 0.005
ZIGZAG = math.pi / 6
WIDTH, WHEEL_RADIUS = 0.05, 0.03


def build_snake(n: int) -> Built:
    """Return a snake of n links in the plane z = 0.

    The first link slides and turns freely by three joints without motors, its frame being at its centre of mass; every other link
    has its frame at the joint to the link before.

    Args:
        n: Number of links, at least one.

    Returns:
        The tree, the comment lines of its YAML, and its description.
    """
    tree = Tree(f"snake{n}")
    tree.add(Link("ground"))
    for name, axis in (("slide_x", (1, 0, 0)), ("slide_y", (0, 1, 0))):
        limits = Range(-100, 100, 10, 0)
        tree.add(
            Link(f"{name}_link"),
            Joint(name, "prismatic", tree.links[-1].name, f"{name}_link", axis=axis, range=limits),
        )
    tree.add(
        _body(1, n),
        Joint("heading", "continuous", "slide_y_link", "link1", range=Range(velocity=20, effort=0)),
    )
    for k in range(1, n):
        origin: Triple = (LENGTH if k > 1 else LENGTH / 2, 0, 0)
        limits = Range(-math.pi, math.pi, 20, 20)
        tree.add(
            _body(k + 1, n),
            Joint(f"joint{k}", "revolute", f"link{k}", f"link{k + 1}", origin, range=limits),
        )
    posture = {"heading": -ZIGZAG} | {f"joint{k}": -2 * ZIGZAG * (-1) ** k for k in range(1, n)}
    about = [
        f"Planar snake of {n} links in the plane z = 0, one passive wheel at the middle of each link; folded to a zigzag of 30 degrees.",
        "slide_x, slide_y and heading are the centre of mass and the angle of the first link; joint k turns link k + 1 against link k.",
        "Links point ahead: the last one is the head.",
    ]
    description = {
        "urdf": f"{tree.name}.urdf",
        "root": "fixed",
        "control_points": {"head": {"link": f"link{n}", "xyz": [_middle(n) + LENGTH / 2, 0, 0]}},
        "posture": posture,
        "passive": ["slide_x", "slide_y", "heading"],
        "wheels": {
            f"wheel{k}": {"link": f"link{k}", "xyz": [_middle(k), 0, 0], "rpy": [0, 0, 0]}
            for k in range(1, n + 1)
        },
    }
    return tree, about, description


def _middle(k: int) -> float:
    """Return where the centre of mass lies along the link, seen from its frame."""
    return 0.0 if k == 1 else LENGTH / 2


def _body(k: int, head: int) -> Link:
    """Return a link whose moment about z is given; across, that of a box as flat as it looks."""
    inertia = Inertia(MASS, vector(_middle(k), 0, 0), np.diag([0.1 * MOMENT, MOMENT, MOMENT]))
    wheels = [
        Shape(
            "cylinder",
            (WHEEL_RADIUS, 0.01),
            (_middle(k), sign * WIDTH / 2, WHEEL_RADIUS),
            (math.pi / 2, 0, 0),
            "joint",
        )
        for sign in (1, -1)
    ]
    back = Shape(
        "box",
        (0.85 * LENGTH, 0.8 * WIDTH, 0.04),
        (_middle(k), 0, 0.05),
        material="accent" if k == head else "body",
    )
    return Link(f"link{k}", inertia, (back, *wheels))
