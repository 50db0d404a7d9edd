# SPDX-License-Identifier: Apache-2.0
"""A whole step, phase by phase: which foot is the base, what touches, and which torques a rule chooses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.papers.biped.body import BipedBody
from humanoid_dynamics.papers.biped.chain import BipedMotion, order_from_rear, view_from
from humanoid_dynamics.papers.biped.ground import (
    GroundWrench,
    compute_flat_cop,
    compute_ground_wrench,
)
from humanoid_dynamics.papers.biped.lagrange import (
    build_terms,
    build_tip_constraint,
    solve_open_chain,
)
from humanoid_dynamics.papers.biped.procedures import solve_procedure_2
from humanoid_dynamics.papers.biped.pseudo_inverse import solve_pseudo_inverse
from humanoid_dynamics.papers.biped.recursion import build_legs
from humanoid_dynamics.papers.biped.transition import FootPoints
from humanoid_dynamics.spatial.arrays import Vector, read_only
from humanoid_dynamics.spatial.records import Sealed

RULES = ("pseudo_inverse", "minimum_torque", "force_transition")


@dataclass(frozen=True)
class Phase:
    """A part of a step.

    Attributes:
        name: ``SSP``, ``DSP1``, ``DSP2`` or ``SSP_NEXT``.
        base: The foot that is flat, ``rear`` or ``front``.
        tip: What of the other foot touches: ``heel``, ``toe``, or None while it swings.
    """

    name: str
    base: str
    tip: str | None


PHASES: Mapping[str, Phase] = MappingProxyType(
    {
        phase.name: phase
        for phase in (
            Phase("SSP", "rear", None),
            Phase("DSP1", "rear", "heel"),
            Phase("DSP2", "front", "toe"),
            Phase("SSP_NEXT", "front", None),
        )
    }
)
"""The phases of a step in their order; in the last one the rear foot swings."""


@dataclass(frozen=True, eq=False)
class StepTorques(Sealed):
    """Torques and ground forces at one instant of a step.

    Attributes:
        tau: (6,) torques, order of ``JOINTS``, serial sign from the rear foot [N·m].
        rear_force: (2,) force of the ground on the rear foot [N].
        front_force: (2,) the same of the front foot [N].
        base_cop: Centre of pressure of the flat foot, ahead of its ankle [m]; nan where it does not press.
        share: Vertical share of the front foot [-].
    """

    tau: Vector
    rear_force: Vector
    front_force: Vector
    base_cop: float
    share: float


def find_phase(t: float, times: tuple[float, float, float]) -> Phase:
    """Return the phase of a time; a switch belongs to the later phase.

    Args:
        t: Time [s].
        times: t0, t1, t2: begin of double support, rear heel rises, its end [s].
    """
    passed = sum(t >= switch for switch in times)
    return tuple(PHASES.values())[passed]


def find_points(body: BipedBody, motion: BipedMotion, phase: Phase) -> FootPoints:
    """Return where the feet of double support are on the ground, ahead of the ankle of the base [m].

    Args:
        body: The biped.
        motion: Of all links.
        phase: ``DSP1`` or ``DSP2``.

    Raises:
        UnknownNameError: If it is a phase of single support.
    """
    if phase.tip is None:
        raise UnknownNameError("phase of double support", phase.name, ("DSP1", "DSP2"))
    x_tip = float(build_tip_constraint(body, view_from(motion, phase.base), phase.tip).p[0])
    foot = body.heel + body.toe
    if phase.base == "rear":
        return FootPoints(-body.heel, body.toe, x_tip, x_tip + foot)
    return FootPoints(x_tip - foot, x_tip, -body.heel, body.toe)


def compute_torques(
    body: BipedBody,
    motion: BipedMotion,
    phase: Phase,
    rule: str = "force_transition",
    *,
    share: float = 0.0,
    tau_f: Vector | None = None,
) -> StepTorques:
    """Compute the torques of one instant.

    Args:
        body: The biped.
        motion: Of all links.
        phase: Of the step.
        rule: Of ``RULES``; single support leaves no choice.
        share: Of the force the front foot carries, for ``force_transition`` [-].
        tau_f: (6,) friction of the joints, order of ``JOINTS``, serial sign from the rear foot [N·m]; none where None.

    Returns:
        Torques and ground forces.

    Raises:
        UnknownNameError: If there is no such rule.
    """
    if rule not in RULES:
        raise UnknownNameError("rule", rule, RULES)
    chain = view_from(motion, phase.base)
    total = compute_ground_wrench(body, chain)
    friction = None if tau_f is None else order_from_rear(tau_f, phase.base)
    terms = build_terms(body, chain, friction)
    if phase.tip is None:
        return _describe(phase, solve_open_chain(terms), np.zeros(2), total, 0.0)
    constraint = build_tip_constraint(body, chain, phase.tip)
    if rule == "pseudo_inverse":
        tau, lam = solve_pseudo_inverse(terms, constraint)
    else:
        carried = share if phase.base == "rear" else 1.0 - share
        minimum = rule == "minimum_torque"
        lam = (
            solve_procedure_2(build_legs(body, chain, phase.tip, friction)).f7[:2]
            if minimum
            else carried * total.force
        )
        tau = solve_open_chain(terms, constraint.J.T @ lam)
    return _describe(phase, tau, lam, total, float(constraint.p[0]))


def _describe(
    phase: Phase, tau: Vector, lam: Vector, total: GroundWrench, x_tip: float
) -> StepTorques:
    base = total.force - lam
    front = lam if phase.base == "rear" else base
    carried = float(lam[1] / total.force[1]) if total.force[1] > 0.0 else np.nan
    cop = compute_flat_cop(total.zmp, carried, x_tip) if base[1] > 0.0 else np.nan
    return StepTorques(
        tau=read_only(order_from_rear(tau, phase.base)),
        rear_force=read_only(base if phase.base == "rear" else lam),
        front_force=read_only(front),
        base_cop=cop,
        share=float(front[1] / total.force[1]) if total.force[1] > 0.0 else np.nan,
    )
