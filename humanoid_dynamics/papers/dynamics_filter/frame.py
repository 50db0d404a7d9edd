# SPDX-License-Identifier: Apache-2.0
"""What one tick of the filter gives: motion, torques, contact wrenches, and how right they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from humanoid_dynamics.contact.wrench import ContactWrench, measure_wrench
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.status import StatusEnum


class PaperFilterStatus(StatusEnum):
    """What the certificate of a frame states."""

    OK = "OK", "the equation of motion holds and every contact keeps its limits"
    SLIPPING = "SLIPPING", "a contact would need more friction than available"
    SATURATED = "SATURATED", "a motor would have to exceed its torque limit"
    INFEASIBLE_CONTACT = (
        "INFEASIBLE_CONTACT",
        "no contact forces produce a motion near the reference",
    )
    INVALID_INPUT = (
        "INVALID_INPUT",
        "the reference held NaN, infinity or a quaternion not of unit length; the last good one is kept",
    )
    DIVERGED = "DIVERGED", "the motion is not finite or far too fast; the last good state is kept"


class PaperCertificate(NamedTuple):
    """How right a frame is.

    Attributes:
        status: Whether the frame is right, and what is wrong otherwise.
        reason: In words, empty where all is well.
        residual: Largest miss of the equation of motion where no motor acts [N, N·m].
        constraint: Largest miss of an acceleration that is held [m/s², rad/s²].
        normal_margin: Least normal force of a sole that touches [N]; infinite in flight.
        cop_margin: How far the worst centre of pressure lies inside its sole [m]; infinite in flight.
        friction_margin: Least distance from slipping [N]; infinite in flight.
        torque_margin: Least share of its limit a motor has left.
        depth: How deep the lowest corner is in the ground [m].
        energy: Change of kinetic energy by a collision [J].
        solves: Systems solved by the contact procedure.
        way: How the contact forces were found.
    """

    status: PaperFilterStatus
    reason: str
    residual: float
    constraint: float
    normal_margin: float
    cop_margin: float
    friction_margin: float
    torque_margin: float
    depth: float
    energy: float
    solves: int
    way: str


@dataclass(frozen=True, eq=False)
class PaperFrame:
    """A consistent instant.

    Attributes:
        time: Its time [s].
        q: (nq,) configuration.
        v: (nv,) velocity, after a collision where there was one.
        a: (nv,) acceleration.
        tau: (na,) torques of the motors [N·m].
        wrenches: (s, 6) what the ground does to the soles, in their own axes [N, N·m].
        loops: (c,) forces of loops and grasps.
        held: For each sole the corners it holds: a face, an edge, a point, nothing.
        certificate: How right it is.
        surfaces: The soles.
        orientations: (s, 3, 3) of the soles in the world.
    """

    time: float
    q: Vector
    v: Vector
    a: Vector
    tau: Vector
    wrenches: Matrix
    loops: Vector
    held: tuple[tuple[int, ...], ...]
    certificate: PaperCertificate
    surfaces: Sequence[ContactSurface] = field(repr=False)
    orientations: Matrix = field(repr=False)

    @cached_property
    def contacts(self) -> tuple[ContactWrench, ...]:
        """Wrenches in axes of the world, with their margins."""
        rows = zip(self.surfaces, self.wrenches, self.orientations, strict=True)
        return tuple(measure_wrench(surface, w, R) for surface, w, R in rows)

    @property
    def states(self) -> tuple[str, ...]:
        """``face``, ``edge``, ``point`` or ``free`` for each sole."""
        return tuple(
            ("free", "point", "edge")[len(corners)] if len(corners) < 3 else "face"
            for corners in self.held
        )


def least_margins(
    surfaces: Sequence[ContactSurface], wrenches: Matrix, planes: Sequence[tuple[Matrix, Vector]]
) -> tuple[float, float, float]:
    """Return the least normal, CoP and friction margin of all soles that carry anything.

    Args:
        surfaces: The soles.
        wrenches: (s, 6) their wrenches, in their own axes [N, N·m].
        planes: Edges of each face as half planes.

    Returns:
        Normal force [N], distance of the centre of pressure inside [m], distance from slipping [N]; infinite where nothing touches.
    """
    normal, inside, friction = np.inf, np.inf, np.inf
    for surface, w, (A, b) in zip(surfaces, wrenches.tolist(), planes, strict=True):
        if not any(w):
            continue
        normal = min(normal, w[2])
        friction = min(friction, surface.friction * w[2] - (w[0] * w[0] + w[1] * w[1]) ** 0.5)
        if len(A) and w[2] > 0.0:
            inside = min(inside, float((b + (A[:, 0] * w[4] - A[:, 1] * w[3]) / w[2]).min()))
        elif len(A):
            inside = -np.inf
    return normal, inside, friction
