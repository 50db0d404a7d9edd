# SPDX-License-Identifier: Apache-2.0
"""The human body in numbers: masses, centres of mass, radii of gyration, lengths; nothing about joints or looks.

Sources: Winter, Biomechanics and Motor Control of Human Movement, table 4.1 (planar); de Leva, J. Biomech. 29 (1996) 1223-1230, table 4,
male (3-D); Drillis and Contini as tabulated by Winter, fig. 4.1 (lengths).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from source.tree import Inertia, Vector, vector

H = 1.70
"""Stature [m]."""
W = 65.0
"""Body mass [kg]."""


@dataclass(frozen=True)
class Planar:
    """Winter: mass as a fraction of W, centre of mass from the proximal end and radius of gyration as fractions of the length."""

    mass: float
    com: float
    gyration: float


@dataclass(frozen=True)
class Solid:
    """De Leva: mass, centre of mass from the proximal end, radii of gyration about the sagittal, transverse and long axis."""

    mass: float
    com: float
    sagittal: float
    transverse: float
    longitudinal: float


WINTER = {
    "hand": Planar(0.006, 0.506, 0.297),
    "forearm": Planar(0.016, 0.430, 0.303),
    "upper_arm": Planar(0.028, 0.436, 0.322),
    "foot": Planar(0.0145, 0.50, 0.475),
    "shank": Planar(0.0465, 0.433, 0.302),
    "thigh": Planar(0.100, 0.433, 0.323),
    "head": Planar(0.081, 1.0, 0.495),
    "trunk": Planar(0.497, 0.50, 0.406),
    "hat": Planar(0.678, 0.626, 0.496),
}

DE_LEVA = {
    "head": Solid(0.0694, 0.5976, 0.362, 0.376, 0.312),
    "thorax": Solid(0.1596, 0.2999, 0.716, 0.454, 0.659),
    "abdomen": Solid(0.1633, 0.4502, 0.482, 0.383, 0.468),
    "pelvis": Solid(0.1117, 0.6115, 0.615, 0.551, 0.587),
    "upper_arm": Solid(0.0271, 0.5772, 0.285, 0.269, 0.158),
    "forearm": Solid(0.0162, 0.4574, 0.276, 0.265, 0.121),
    "hand": Solid(0.0061, 0.7900, 0.628, 0.513, 0.401),
    "thigh": Solid(0.1416, 0.4095, 0.329, 0.329, 0.149),
    "shank": Solid(0.0433, 0.4395, 0.251, 0.246, 0.102),
    "foot": Solid(0.0137, 0.4415, 0.257, 0.245, 0.124),
}

LIMBS = ("hand", "forearm", "upper_arm", "foot", "shank", "thigh")

LENGTH = {
    # Drillis and Contini, fractions of H
    "foot": 0.152,
    "foot_width": 0.055,
    "ankle_height": 0.039,
    "shank": 0.246,
    "thigh": 0.245,
    "shoulder_half_width": 0.129,
    "upper_arm": 0.186,
    "forearm": 0.146,
    "hand": 0.108,
    "hip_to_shoulder": 0.288,
    # de Leva, fractions of the stature of his subjects: the sections of the trunk, knuckles, chin to crown, base of the neck to crown
    "pelvis": 0.0837,
    "abdomen": 0.1238,
    "thorax": 0.0980,
    "knuckles": 0.0495,
    "head": 0.1168,
    "cervicale_to_vertex": 0.1395,
    # half the distance of the hip joint centres; the 0.0955 of Drillis and Contini is half the outer breadth of the hips
    "hip_half_width": 0.0520,
    # ours: the neck up to the joint that nods the head
    "neck": 0.0450,
}

NECK_RADIUS = 0.033 * H
NECK_DENSITY = 1100.0


def length(name: str) -> float:
    """Return a length of the body [m]."""
    return LENGTH[name] * H


def check_tables() -> None:
    """Refuse tables whose masses do not make one body.

    Raises:
        ValueError: If the fractions do not add up to one.
    """
    sums = {
        "Winter, trunk and head": WINTER["head"].mass
        + WINTER["trunk"].mass
        + 2 * sum(WINTER[name].mass for name in LIMBS),
        "Winter, HAT": WINTER["hat"].mass + 2 * sum(WINTER[name].mass for name in LIMBS[3:]),
        "de Leva": sum(DE_LEVA[name].mass for name in DE_LEVA)
        + sum(DE_LEVA[name].mass for name in LIMBS),
    }
    for table, total in sums.items():
        if not math.isclose(total, 1.0, abs_tol=1e-12):
            raise ValueError(f"{table}: the mass fractions add up to {total}, not to 1")


def limb(name: str) -> Inertia:
    """Return a segment that hangs from its proximal joint along -z."""
    return _solid(name, (0, 0, -DE_LEVA[name].com * _reference_length(name)), "xyz")


def trunk_section(name: str) -> Inertia:
    """Return a section of the trunk whose frame is at its lower end, z up."""
    return _solid(name, (0, 0, (1 - DE_LEVA[name].com) * length(name)), "xyz")


def hand() -> Inertia:
    """Return a hand that hangs from the wrist, palm towards the body: the sagittal axis of the table is y."""
    return _solid("hand", (0, 0, -DE_LEVA["hand"].com * length("knuckles")), "yxz")


def foot() -> Inertia:
    """Return a foot in the frame of its ankle: the long axis is x, the heel a quarter of the length behind."""
    row = DE_LEVA["foot"]
    return _solid(
        "foot", ((row.com - 0.25) * length("foot"), 0, -length("ankle_height") / 2), "zyx"
    )


def neck() -> Inertia:
    """Return the neck, a uniform cylinder that stands on the joint at its base."""
    height = length("neck")
    mass = NECK_DENSITY * math.pi * NECK_RADIUS**2 * height
    across = mass * (3 * NECK_RADIUS**2 + height**2) / 12
    return Inertia(
        mass, vector(0, 0, height / 2), np.diag([across, across, mass * NECK_RADIUS**2 / 2])
    )


def head() -> Inertia:
    """Return what the head of the table leaves when the neck is taken away, in the frame of the joint that nods it."""
    whole = _solid(
        "head", (0, 0, length("cervicale_to_vertex") - DE_LEVA["head"].com * length("head")), "xyz"
    )
    return whole.without(neck()).seen_from(vector(0, 0, length("neck")))


def _reference_length(name: str) -> float:
    return length("knuckles" if name == "hand" else name)


def _solid(name: str, com: tuple[float, float, float], axes: str) -> Inertia:
    """Return a row of de Leva; ``axes`` are the link axes of the sagittal, transverse and longitudinal radius, in this order."""
    row = DE_LEVA[name]
    mass = row.mass * W
    radii = dict(zip(axes, (row.sagittal, row.transverse, row.longitudinal), strict=True))
    moments: Vector = np.array(
        [mass * (radii[axis] * _reference_length(name)) ** 2 for axis in "xyz"]
    )
    return Inertia(mass, vector(*com), np.diag(moments))
