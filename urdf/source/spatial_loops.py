# SPDX-License-Identifier: Apache-2.0
"""The mechanisms that need all three dimensions: the linkage of Bennett and the platform of Stewart."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from source.planar import RADIUS, Built
from source.tree import (
    Inertia,
    Joint,
    Link,
    Matrix,
    Range,
    Shape,
    Tree,
    Vector,
    capsule,
    rotation,
    vector,
)

ALPHA, BETA = math.radians(30), math.radians(70)
SHORT = 0.3
LONG = SHORT * math.sin(BETA) / math.sin(ALPHA)
THETA = math.radians(50)
DENSITY = 1.0
"""Mass of the links of the Bennett linkage for each metre [kg/m]."""

LEGS = 6
BASE_RADIUS, BASE_ANGLES = 0.6, (10, 110, 130, 230, 250, 350)
PLATFORM_RADIUS, PLATFORM_ANGLES = 0.35, (50, 70, 170, 190, 290, 310)
PLATFORM_MASS, PLATFORM_HEIGHT = 20.0, 0.04
POSITION = (0.05, -0.03, 0.7)
YAW, PITCH, ROLL = 0.2, -0.15, 0.1


def build_bennett() -> Built:
    """Return Bennett's four-bar: four hinges askew that move although counting says they cannot."""
    tree = Tree("bennett")
    tree.add(Link("base", shapes=capsule(RADIUS, (0, 0, 0), _closing()[0], "scene")))
    tree.add(_bennett_link("link1", SHORT), _turn("joint1", "base", "link1", (0, 0, 0), 0.0))
    tree.add(_bennett_link("link2", LONG), _turn("joint2", "link1", "link2", (SHORT, 0, 0), ALPHA))
    tree.add(_bennett_link("link3", SHORT), _turn("joint3", "link2", "link3", (LONG, 0, 0), BETA))
    second = 2 * math.atan(
        math.sin((BETA + ALPHA) / 2) / math.sin((BETA - ALPHA) / 2) / math.tan(THETA / 2)
    )
    posture = {"joint1": THETA, "joint2": second, "joint3": -THETA}
    xyz, rpy = _closing()
    a = {"link": "link3", "xyz": [SHORT, 0, 0], "rpy": [ALPHA, 0, 0]}
    b = {"link": "base", "xyz": list(xyz), "rpy": list(rpy)}
    about = [
        "Bennett linkage: four hinges, twists 30 and 70 degrees, lengths a and a sin(70)/sin(30); it moves although counting says no.",
        "The fourth hinge is cut. Its axis is fixed to the base, which is the second long link.",
    ]
    description = {
        "urdf": "bennett.urdf",
        "root": "fixed",
        "posture": posture,
        "passive": ["joint2", "joint3"],
        "loops": {"joint4": {"kind": "revolute", "a": a, "b": b}},
    }
    return tree, about, description


def _closing() -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Return the axis of the fourth hinge in the base: the inverse of a step of the long length along x and its twist about x."""
    return (-LONG, 0.0, 0.0), (-BETA, 0.0, 0.0)


def _bennett_link(name: str, length: float) -> Link:
    mass = DENSITY * length
    across = mass * length**2 / 12
    inertia = Inertia(
        mass, vector(length / 2, 0, 0), np.diag([mass * RADIUS**2 / 2, across, across])
    )
    return Link(name, inertia, capsule(1.5 * RADIUS, (0, 0, 0), (length, 0, 0)))


def _turn(
    name: str, parent: str, child: str, xyz: tuple[float, float, float], roll: float
) -> Joint:
    return Joint(
        name,
        "continuous",
        parent,
        child,
        xyz,
        (roll, 0, 0),
        (0, 0, 1),
        Range(velocity=20, effort=50),
    )


def build_stewart() -> Built:
    """Return the platform on six massless legs: universal joint, motor along the leg, ball."""
    tree = Tree("stewart")
    tree.add(
        Link(
            "base",
            shapes=(Shape("cylinder", (BASE_RADIUS, 0.02), (0, 0, -0.03), material="scene"),),
        )
    )
    R = rotation((0, 0, 1), YAW) @ rotation((0, 1, 0), PITCH) @ rotation((1, 0, 0), ROLL)
    anchors = [_on_circle(PLATFORM_RADIUS, angle) for angle in PLATFORM_ANGLES]
    posture: dict[str, float] = {}
    for number, angle in enumerate(BASE_ANGLES):
        foot = _on_circle(BASE_RADIUS, angle)
        rod = vector(*POSITION) + R @ anchors[number] - foot
        posture |= _add_leg(tree, number, foot, rod)
        if number == 0:
            x, y = posture["leg0_x"], posture["leg0_y"]
            posture |= _ball_angles((rotation((1, 0, 0), x) @ rotation((0, 1, 0), y)).T @ R)
            tree.add_spherical(
                "platform_ball",
                "leg0_rod",
                _platform(anchors),
                (0, 0, 0),
                (Range(-math.pi, math.pi, 10, 0),) * 3,
            )
    loops = {
        f"leg{number}_ball": _ball(f"leg{number}_rod", anchors[number] - anchors[0])
        for number in range(1, LEGS)
    }
    about = [
        "Stewart platform on six massless legs (universal joint, motor along the leg, ball): it hangs on leg 0, five balls are cut.",
        "The frame of the platform is at the ball of leg 0; the control point platform_middle is its middle.",
    ]
    description = {
        "urdf": "stewart.urdf",
        "root": "fixed",
        "control_points": {
            "platform_middle": {"link": "platform", "xyz": [float(value) for value in -anchors[0]]}
        },
        "posture": posture,
        "passive": [joint.name for joint in tree.joints if joint.kind != "prismatic"],
        "loops": loops,
    }
    return tree, about, description


def _on_circle(radius: float, degrees: float) -> Vector:
    return vector(
        radius * math.cos(math.radians(degrees)), radius * math.sin(math.radians(degrees)), 0
    )


def _add_leg(tree: Tree, number: int, foot: Vector, rod: Vector) -> dict[str, float]:
    """Hang a leg into the tree that points along z when its joints are zero; return the angles and the length that give ``rod``."""
    name = f"leg{number}"
    x, y, z = (float(value) for value in foot)
    passive, motor = Range(-math.pi / 2, math.pi / 2, 10, 0), Range(0.45, 0.95, 2, 500)
    yoke, barrel, piston = f"{name}_yoke", f"{name}_barrel", f"{name}_rod"
    tree.add(
        Link(yoke),
        Joint(f"{name}_x", "revolute", "base", yoke, (x, y, z), axis=(1, 0, 0), range=passive),
    )
    barrel_shapes = capsule(0.025, (0, 0, 0), (0, 0, 0.4), "joint")
    tree.add(
        Link(barrel, shapes=barrel_shapes),
        Joint(f"{name}_y", "revolute", yoke, barrel, axis=(0, 1, 0), range=passive),
    )
    piston_shapes = capsule(0.015, (0, 0, -0.45), (0, 0, 0))
    tree.add(
        Link(piston, shapes=piston_shapes),
        Joint(f"{name}_length", "prismatic", barrel, piston, axis=(0, 0, 1), range=motor),
    )
    size = float(np.linalg.norm(rod))
    dx, dy, dz = (float(value) for value in rod / size)
    return {f"{name}_x": math.atan2(-dy, dz), f"{name}_y": math.asin(dx), f"{name}_length": size}


def _ball_angles(R: Matrix) -> dict[str, float]:
    """Return the angles of the three revolutes x, y, z, in this order, that make a rotation."""
    return {
        "platform_ball_x": math.atan2(-R[1, 2], R[2, 2]),
        "platform_ball_y": math.asin(R[0, 2]),
        "platform_ball_z": math.atan2(-R[0, 1], R[0, 0]),
    }


def _platform(anchors: list[Vector]) -> Link:
    across = PLATFORM_MASS * (3 * PLATFORM_RADIUS**2 + PLATFORM_HEIGHT**2) / 12
    tensor = np.diag([across, across, PLATFORM_MASS * PLATFORM_RADIUS**2 / 2])
    x, y, z = (float(value) for value in -anchors[0])
    plate = Shape("cylinder", (PLATFORM_RADIUS, PLATFORM_HEIGHT), (x, y, z), material="accent")
    balls = (
        Shape("sphere", (0.03,), tuple(float(v) for v in anchor - anchors[0]), material="joint")
        for anchor in anchors
    )  # type: ignore[arg-type]
    return Link("platform", Inertia(PLATFORM_MASS, vector(x, y, z), tensor), (plate, *balls))


def _ball(rod: str, place: Vector) -> dict[str, Any]:
    a = {"link": rod, "xyz": [0, 0, 0], "rpy": [0, 0, 0]}
    return {
        "kind": "spherical",
        "a": a,
        "b": {"link": "platform", "xyz": [float(value) for value in place], "rpy": [0, 0, 0]},
    }
