# SPDX-License-Identifier: Apache-2.0
"""What the YAML of a figure says beyond its URDF: soles, palms, control points, posture, REP-120 names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from source.anthropometry import length
from source.figures import SIDES, Figure, build_figure
from source.looks import PALM, PALM_MIDDLE, palm_polygon, sole_polygon
from source.tree import Tree, Vector, vector

FRICTION = 0.7


def describe_figure(figure: Figure) -> tuple[Tree, list[str], dict[str, Any]]:
    """Return a figure, the comment lines of its YAML, and its description."""
    tree, posture, places = build_figure(figure)
    has_arms = figure.freedoms["shoulder"] != "one body"
    chest, head = (places[segment][0] for segment in ("thorax", "head"))
    description = {
        "urdf": f"{figure.name}.urdf",
        "root": "free_flyer",
        "surfaces": _soles(places) | (_palms(places) if has_arms else {}),
        "control_points": _control_points(places, has_arms),
        "posture": posture,
        "aliases": {"torso": chest, "head": head, "gaze": head}
        | {f"{side[0]}_gripper": places[f"{side}_hand"][0] for side in SIDES if has_arms},
    }
    return tree, [figure.about], description


def _soles(places: Mapping[str, tuple[str, Vector]]) -> dict[str, Any]:
    found = {}
    for side in SIDES:
        link, xyz = _point(places, f"{side}_foot", vector(0, 0, -length("ankle_height")))
        found[f"{side}_foot"] = {
            "link": link,
            "xyz": xyz,
            "rpy": [0, 0, 0],
            "polygon": sole_polygon(),
            "friction": FRICTION,
        }
    return found


def _palms(places: Mapping[str, tuple[str, Vector]]) -> dict[str, Any]:
    found = {}
    for side, sign in SIDES.items():
        link, xyz = _point(places, f"{side}_hand", vector(0, -sign * PALM[1] / 2, PALM_MIDDLE))
        rpy = [-sign * math.pi / 2, 0, 0]
        found[f"{side}_palm"] = {
            "link": link,
            "xyz": xyz,
            "rpy": rpy,
            "polygon": palm_polygon(),
            "friction": FRICTION,
        }
    return found


def _control_points(places: Mapping[str, tuple[str, Vector]], has_arms: bool) -> dict[str, Any]:
    shoulders = length("hip_to_shoulder") - length("pelvis") - length("abdomen")
    segments = {
        "pelvis": ("pelvis", vector(0, 0, 0)),
        "chest": ("thorax", vector(0, 0, shoulders)),
        "neck": ("neck", vector(0, 0, 0)),
        "head": ("head", vector(0, 0, (length("cervicale_to_vertex") - length("neck")) / 2)),
    }
    for side in SIDES:
        if has_arms:
            segments[f"{side}_elbow"] = (f"{side}_forearm", vector(0, 0, 0))
            segments[f"{side}_hand"] = (f"{side}_hand", vector(0, 0, PALM_MIDDLE))
        segments[f"{side}_knee"] = (f"{side}_shank", vector(0, 0, 0))
        segments[f"{side}_ankle"] = (f"{side}_foot", vector(0, 0, 0))
        segments[f"{side}_toe"] = (
            f"{side}_foot",
            vector(0.75 * length("foot"), 0, -length("ankle_height")),
        )
    found = {}
    for name, (segment, offset) in segments.items():
        link, xyz = _point(places, segment, offset)
        found[name] = {"link": link, "xyz": xyz}
    return found


def _point(
    places: Mapping[str, tuple[str, Vector]], segment: str, offset: Vector
) -> tuple[str, list[float]]:
    link, origin = places[segment]
    return link, [float(value) for value in origin + offset]
