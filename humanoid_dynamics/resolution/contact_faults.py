# SPDX-License-Identifier: Apache-2.0
"""Limits of contacts that a force breaks or has come to: lift-off, overload, slipping, tipping and turning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.contact.cone import WrenchCone
from humanoid_dynamics.resolution.constraint_rows import FRICTION, SOLID, YAW, Contact
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.spatial.arrays import Vector

TIGHT = 2e-7  # of the weight of the robot: a row counts as kept
BROKEN = 3e-7  # and from here on as broken


@dataclass(frozen=True, slots=True)
class Fault:
    """A limit of a contact that a force breaks.

    Attributes:
        contact: Index of the contact.
        kind: ``pulls``, ``overload``, ``slips``, ``tips`` or ``turns``.
    """

    contact: int
    kind: str


def find_faults(problem: DynamicsProblem, f: Vector) -> list[Fault]:
    """Return which limits forces break; friction by the round cone, of which the rows are the inside.

    Args:
        problem: The contacts.
        f: (size,) the forces.
    """
    broken = BROKEN * problem.unit_force
    return [
        Fault(k, kind)
        for k, contact in enumerate(problem.contacts)
        for kind in _find_broken(contact, f[contact.part], broken)
    ]


def find_reached(problem: DynamicsProblem, f: Vector) -> list[Fault]:
    """Return which limits forces have come to without breaking them, at most one of a kind for each contact.

    Args:
        problem: The contacts.
        f: (size,) the forces.
    """
    found, broken = [], BROKEN * problem.unit_force
    for k, contact in enumerate(problem.contacts):
        cone, kinds, x = contact.cone, contact.kinds, f[contact.part]
        if x[2] <= broken:
            found.append(Fault(k, "pulls"))
            continue
        at = cone.A.dot(x) > cone.b - broken
        rows = {
            "overload": at & (cone.b > 0.0),
            "tips": at & (kinds == SOLID) & (cone.b == 0.0),
            "slips": at & (kinds == FRICTION),
            "turns": at & (kinds == YAW),
        }
        found += [Fault(k, kind) for kind, reached in rows.items() if reached.any()]
    return found


def _find_broken(contact: Contact, x: Vector, broken: float) -> list[str]:
    surface, cone, kinds = contact.surface, contact.cone, contact.kinds
    along, across, normal = x[:3].tolist()
    if normal < -broken:
        return ["pulls"]
    over = cone.A.dot(x)
    over -= cone.b
    rows = {
        "overload": normal > surface.normal_force_limit + broken,
        "slips": (along * along + across * across) ** 0.5 > surface.friction * normal + broken,
        "tips": bool((over[(kinds == SOLID) & (cone.b == 0.0)] > broken).any()),
    }
    found = [kind for kind, breaks in rows.items() if breaks]
    turns = (over[kinds == FRICTION] <= broken).all() and (over[kinds == YAW] > broken).any()
    return found or (["turns"] if turns else [])


def yaw_margin(cone: WrenchCone, x: Vector) -> float:
    """Return how far the moment about the normal may still grow, either way, before the patch turns [N·m].

    Infinite for a point, and where the friction force alone is outside the pyramid that the rows are made of.

    Args:
        cone: What the surface can carry.
        x: (r,) force in the basis of the cone.
    """
    labels = np.array(cone.labels)
    rows = labels == "yaw"
    slack = cone.b - cone.A @ x
    if not rows.any() or np.any(slack[labels == "friction"] < 0.0):
        return np.inf
    turning = np.abs(cone.A[rows, -1])
    turns = turning > 0.0
    return float(np.min(slack[rows][turns] / turning[turns], initial=np.inf))
