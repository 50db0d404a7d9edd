# SPDX-License-Identifier: Apache-2.0
"""Reasons of a certificate in words and numbers: what the motion lacks, and which limits of contacts and motors are broken."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from humanoid_dynamics.contact.wrench import ContactWrench
from humanoid_dynamics.resolution.contact_faults import find_faults, find_reached, yaw_margin

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
