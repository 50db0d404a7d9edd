# SPDX-License-Identifier: Apache-2.0
"""Violated limits: which limits of contacts are broken or reached, and the reasons of a certificate in words and numbers."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from humanoid_dynamics.contact.cone import WrenchCone
from humanoid_dynamics.contact.wrench import ContactWrench
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


if TYPE_CHECKING:
    from humanoid_dynamics.resolution.certificate import Certificate

TORQUE_TOLERANCE = 1e-9  # of the limit
REACHED = MappingProxyType(
    {
        "pulls": "bears nothing, and cannot pull",
        "overload": "bears as much as it may",
        "tips": "the centre of pressure is at the rim",
        "slips": "friction is used up",
        "turns": "friction about the normal is used up",
    }
)


def explain(certificate: Certificate) -> tuple[str, ...]:
    """Return all that is wrong with an answer.

    Args:
        certificate: The certificate.
    """
    return (
        *_explain_missing(certificate),
        *_explain_contacts(certificate),
        *_explain_torques(certificate),
        *_explain_motion(certificate),
    )


def _explain_missing(certificate: Certificate) -> list[str]:
    problem, lacking, reasons = certificate.problem, np.abs(certificate.left), []
    lacking[problem.driven_v] = 0.0
    if np.max(lacking, initial=0.0) > certificate.tolerance:
        worst = int(np.argmax(lacking))
        reasons.append(
            f"{problem.robot.coordinates[worst]} lacks {lacking[worst]:.3g} {problem.units[worst]}"
        )
        reasons += _explain_reached(certificate)
        reasons += certificate.fading
    if certificate.torn:
        reasons.append(certificate.torn)
    return reasons


def _explain_reached(certificate: Certificate) -> list[str]:
    """Return which limits forces and torques have come to."""
    problem, shares = certificate.problem, certificate.shares
    found = [
        f"{problem.surfaces[at.contact].name}: {REACHED[at.kind]}"
        for at in find_reached(problem, certificate.f)
        if not shares or shares[at.contact] != 0.0
    ]
    used = np.abs(certificate.tau) >= problem.effort * (1.0 - TORQUE_TOLERANCE)
    for i in np.flatnonzero(used):
        limit = f"{problem.effort[i]:.4g} {problem.units[problem.driven_v[i]]}"
        found.append(f"{problem.robot.actuated[i]} gives all of its {limit}")
    return found


def _explain_contacts(certificate: Certificate) -> list[str]:
    problem, f = certificate.problem, certificate.f
    faults = find_faults(problem, f)
    wrenches, reasons = certificate.local_wrenches() if faults else [], []
    for fault in faults:
        contact = problem.contacts[fault.contact]
        yaw = yaw_margin(contact.cone, f[contact.part])
        reasons.append(describe_fault(fault.kind, wrenches[fault.contact], yaw))
    return reasons


def _explain_torques(certificate: Certificate) -> list[str]:
    problem, needed, tau, reasons = (
        certificate.problem,
        certificate.needed,
        certificate.tau,
        [],
    )
    units = [problem.units[i] for i in problem.driven_v]
    for i in certificate.find_overloads():
        limit = f"its limit is {problem.effort[i]:.4g} {units[i]}"
        reasons.append(f"{problem.robot.actuated[i]} needs {needed[i]:.4g} {units[i]}, {limit}")
    for i in certificate.find_mismatches():
        asked = f"the motion needs {needed[i]:.6g} {units[i]}"
        reasons.append(f"{problem.robot.actuated[i]} gives {tau[i]:.6g} {units[i]}, {asked}")
    return reasons


def _explain_motion(certificate: Certificate) -> list[str]:
    measured = certificate.measured
    if measured is None:
        return []
    moving = certificate.problem.find_moving(certificate.f, measured)
    return [reason for k in moving for reason in measured.motion.describe(measured, k)]


def describe_fault(kind: str, wrench: ContactWrench, yaw: float) -> str:
    """Describe in words and numbers which limit of a contact is broken.

    Args:
        kind: The fault.
        wrench: The wrench of the contact.
        yaw: Its margin about the normal [N·m].
    """
    if kind == "pulls":
        text = f"pulls with {-wrench.normal_force:.4g} N"
    elif kind == "overload":
        text = f"normal force {wrench.normal_force:.4g} N is {-wrench.normal_margin:.4g} N beyond its limit"
    elif kind == "slips":
        text = f"slips, {-wrench.friction_margin:.4g} N beyond the friction cone"
    elif kind == "turns":
        text = f"turns, {-yaw:.4g} N·m beyond the friction about its normal"
    elif np.isinf(wrench.cop_margin):
        text = f"tips, a moment of {float(np.linalg.norm(wrench.m_W)):.4g} N·m without pressing"
    else:
        text = f"tips, centre of pressure {-wrench.cop_margin * 1e3:.4g} mm outside"
    return f"{wrench.surface}: {text}"
