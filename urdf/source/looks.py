# SPDX-License-Identifier: Apache-2.0
"""How a segment of the body looks and where it can be touched: pills, balls and boxes in the frame of the segment."""

from __future__ import annotations

from source.anthropometry import H, length
from source.tree import Shape, capsule


def segment_shapes(segment: str) -> tuple[Shape, ...]:
    """Return the shapes of a segment, such as ``left_thigh``."""
    return {
        "upper_arm": lambda: _limb("upper_arm", 0.027),
        "thigh": lambda: _limb("thigh", 0.044),
        "shank": lambda: _limb("shank", 0.032),
        "forearm": lambda: _limb("forearm", 0.021),
        "hand": _hand,
        "foot": _foot,
        "pelvis": _pelvis,
        "abdomen": _abdomen,
        "thorax": _thorax,
        "neck": _neck,
        "head": _head,
    }[segment.removeprefix("left_").removeprefix("right_")]()


def sole_polygon() -> list[tuple[float, float]]:
    """Return the corners of a sole about the ankle, counter-clockwise from the right corner of the toes."""
    toe, heel, side = 0.75 * length("foot"), -0.25 * length("foot"), length("foot_width") / 2
    return [(toe, -side), (toe, side), (heel, side), (heel, -side)]


def palm_polygon() -> list[tuple[float, float]]:
    """Return the corners of a palm about its middle, the first axis along the width of the hand."""
    across, along = PALM[0] / 2, PALM[2] / 2
    return [(across, -along), (across, along), (-across, along), (-across, -along)]


PALM = (0.050 * H, 0.018 * H, 0.056 * H)
PALM_MIDDLE = -0.033 * H


def _limb(name: str, thickness: float) -> tuple[Shape, ...]:
    radius = thickness * H
    ball = Shape("sphere", (1.04 * radius,), material="joint")
    return (ball, *capsule(radius, (0, 0, 0), (0, 0, -length(name)))[:1])


def _hand() -> tuple[Shape, ...]:
    fingers = length("hand") + PALM_MIDDLE - PALM[2] / 2
    return (
        Shape("sphere", (0.020 * H,), material="joint"),
        Shape("box", PALM, (0, 0, PALM_MIDDLE)),
        Shape(
            "box",
            (0.045 * H, 0.013 * H, fingers),
            (0, 0, -length("hand") + fingers / 2),
            material="joint",
        ),
    )


def _foot() -> tuple[Shape, ...]:
    thick = 0.018 * H
    size, middle = (
        (length("foot"), length("foot_width"), thick),
        (length("foot") / 4, 0, thick / 2 - length("ankle_height")),
    )
    sole = Shape("box", size, middle, material="joint")
    instep = capsule(0.019 * H, (0, 0, -0.014 * H), (0.060 * H, 0, -0.020 * H))
    return (Shape("sphere", (0.030 * H,), material="joint"), sole, *instep)


def _pill(
    radius: float, half_width: float, height: float, material: str = "body"
) -> tuple[Shape, ...]:
    return capsule(
        radius * H, (0, -half_width * H, height * H), (0, half_width * H, height * H), material
    )


def _pelvis() -> tuple[Shape, ...]:
    return (*_pill(0.050, 0.046, 0.004, "joint"), *_pill(0.056, 0.038, 0.045))


def _abdomen() -> tuple[Shape, ...]:
    return (*_pill(0.055, 0.036, 0.022, "joint"), *_pill(0.055, 0.036, 0.075))


def _thorax() -> tuple[Shape, ...]:
    return (
        *_pill(0.060, 0.048, 0.000),
        *_pill(0.062, 0.066, 0.045, "accent"),
        *_pill(0.036, 0.100, 0.078, "accent"),
    )


def _neck() -> tuple[Shape, ...]:
    return capsule(0.033 * H, (0, 0, -0.01 * H), (0, 0, length("neck")), "joint")


def _head() -> tuple[Shape, ...]:
    crown = length("cervicale_to_vertex") - length("neck")
    skull = 0.054 * H
    return (
        Shape("sphere", (skull,), (0, 0, crown - skull)),
        Shape("sphere", (0.042 * H,), (0.012 * H, 0, crown - 1.55 * skull)),
        Shape(
            "box",
            (0.018 * H, 0.070 * H, 0.018 * H),
            (0.047 * H, 0, crown - 0.95 * skull),
            material="accent",
        ),
    )
