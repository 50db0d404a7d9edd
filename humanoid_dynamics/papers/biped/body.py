# SPDX-License-Identifier: Apache-2.0
"""Lengths, masses and moments of a planar biped with two equal legs."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from humanoid_dynamics.errors import ShapeError

LINKS = (
    "rear_foot",
    "rear_shank",
    "rear_thigh",
    "trunk",
    "front_thigh",
    "front_shank",
    "front_foot",
)
JOINTS = ("rear_ankle", "rear_knee", "rear_hip", "front_hip", "front_knee", "front_ankle")


@dataclass(frozen=True)
class BipedBody:
    """A planar biped; x forward, y up, angles counter-clockwise.

    A shank points from ankle to knee, a thigh from knee to hip, the trunk from hip to head; their centres of mass lie on these lines.

    Attributes:
        shank: Length [m].
        thigh: Length [m].
        trunk: Length [m].
        ankle_height: Of the ankle above the sole [m].
        heel: Distance of the heel behind the ankle [m].
        toe: Distance of the toe ahead of the ankle [m].
        m_foot: Mass of one foot [kg].
        m_shank: Mass of one shank [kg].
        m_thigh: Mass of one thigh [kg].
        m_trunk: Mass of head, arms and trunk [kg].
        com_shank: Of the centre of mass above the ankle [m].
        com_thigh: Of the centre of mass above the knee [m].
        com_trunk: Of the centre of mass above the hip [m].
        com_foot: Of the centre of mass ahead of and above the ankle [m].
        I_foot: Moment of inertia about the centre of mass [kg·m²].
        I_shank: The same of a shank [kg·m²].
        I_thigh: The same of a thigh [kg·m²].
        I_trunk: The same of the trunk [kg·m²].
        gravity: Acceleration of gravity [m/s²].
    """

    shank: float
    thigh: float
    trunk: float
    ankle_height: float
    heel: float
    toe: float
    m_foot: float
    m_shank: float
    m_thigh: float
    m_trunk: float
    com_shank: float
    com_thigh: float
    com_trunk: float
    com_foot: tuple[float, float]
    I_foot: float
    I_shank: float
    I_thigh: float
    I_trunk: float
    gravity: float = 9.81

    def __post_init__(self) -> None:
        for field in fields(self):
            values = getattr(self, field.name)
            if not all(
                math.isfinite(value)
                for value in (values if isinstance(values, tuple) else (values,))
            ):
                raise ShapeError(field.name, f"{values}", "finite numbers")
        for name in (
            "shank",
            "thigh",
            "m_foot",
            "m_shank",
            "m_thigh",
            "m_trunk",
            "I_foot",
            "I_shank",
            "I_thigh",
            "I_trunk",
        ):
            if getattr(self, name) <= 0.0:
                raise ShapeError(name, f"{getattr(self, name):g}", "a positive number")
        if self.heel + self.toe <= 0.0:
            raise ShapeError(
                "toe", f"{self.toe:g} with a heel at {self.heel:g}", "a toe ahead of the heel"
            )

    @property
    def mass(self) -> float:
        """Total mass, both feet included [kg]."""
        return 2.0 * (self.m_foot + self.m_shank + self.m_thigh) + self.m_trunk


def build_body(height: float = 1.70, mass: float = 65.0) -> BipedBody:
    """Build a biped with the proportions of a person [Winter]: fractions of stature, masses and radii of gyration.

    Args:
        height: Stature [m].
        mass: Body mass [kg].

    Returns:
        The biped; the defaults are those of the reference gait.
    """
    shank, thigh, trunk, foot, ankle = (
        share * height for share in (0.246, 0.245, 0.288, 0.152, 0.039)
    )
    m_foot, m_shank, m_thigh, m_trunk = (share * mass for share in (0.0145, 0.0465, 0.1, 0.678))
    return BipedBody(
        shank=shank,
        thigh=thigh,
        trunk=trunk,
        ankle_height=ankle,
        heel=0.25 * foot,
        toe=0.75 * foot,
        m_foot=m_foot,
        m_shank=m_shank,
        m_thigh=m_thigh,
        m_trunk=m_trunk,
        com_shank=0.567 * shank,
        com_thigh=0.567 * thigh,
        com_trunk=0.626 * trunk,
        com_foot=(0.25 * foot, -0.5 * ankle),
        I_foot=m_foot * (0.475 * foot) ** 2,
        I_shank=m_shank * (0.302 * shank) ** 2,
        I_thigh=m_thigh * (0.323 * thigh) ** 2,
        I_trunk=m_trunk * (0.496 * trunk) ** 2,
    )
