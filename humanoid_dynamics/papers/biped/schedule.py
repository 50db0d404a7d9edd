# SPDX-License-Identifier: Apache-2.0
"""All rules of the paper through one step, and how far torques jump where contacts change [BP, sec. 3.1.3]."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.papers.biped.body import BipedBody
from humanoid_dynamics.papers.biped.chain import BipedMotion, view_from
from humanoid_dynamics.papers.biped.ground import compute_ground_wrench
from humanoid_dynamics.papers.biped.step import (
    PHASES,
    Phase,
    StepTorques,
    compute_torques,
    find_phase,
    find_points,
)
from humanoid_dynamics.papers.biped.transition import (
    find_balanced_share,
    linear_share,
    recommend_share,
    smooth_share,
)
from humanoid_dynamics.spatial.arrays import Vector, check_vector

STEP_RULES: Mapping[str, str] = MappingProxyType(
    {
        "pseudo_inverse": "pseudo_inverse",
        "minimum_torque": "minimum_torque",
        "linear_transition": "force_transition",
        "smooth_transition": "force_transition",
        "recommended_transition": "force_transition",
    }
)
"""Rules by name: (27); procedures 1 and 2; (28) or procedures 3 and 4; the same with a smooth share; with a share that keeps feet flat."""


@dataclass(frozen=True, eq=False)
class Step:
    """A step as a function of time.

    Attributes:
        body: The biped.
        motion_at: Time [s] -> motion of all links.
        times: t0, t1, t2: heel strike, rear heel rises, toe off [s].
        balanced: Share s* of the instant t1 with which no torque jumps [-].
    """

    body: BipedBody
    motion_at: Callable[[float], BipedMotion]
    times: tuple[float, float, float]
    balanced: float


def build_step(
    body: BipedBody, motion_at: Callable[[float], BipedMotion], times: tuple[float, float, float]
) -> Step:
    """Build a step.

    Args:
        body: The biped.
        motion_at: Time [s] -> motion of all links.
        times: t0, t1, t2 [s].

    Returns:
        The step, with the balanced share of its instant t1, kept within 0 and 1.

    Raises:
        ShapeError: If times are not in order.
    """
    if not np.all(np.diff(check_vector("times", times, 3)) > 0.0):
        raise ShapeError("times", f"{times}", "three times in order")
    motion, phase = motion_at(times[1]), PHASES["DSP1"]
    zmp = compute_ground_wrench(body, view_from(motion, phase.base)).zmp
    balanced = find_balanced_share(zmp, find_points(body, motion, phase))
    return Step(body, motion_at, times, min(max(balanced, 0.0), 1.0))


def compute_step_torques(
    step: Step, t: float, rule: str = "recommended_transition", phase: Phase | None = None
) -> StepTorques:
    """Compute torques and ground forces at one instant of a step.

    Args:
        step: The step.
        t: Time [s].
        rule: Of ``STEP_RULES``.
        phase: The phase to take; that of the time where None. At a switch both neighbours are possible.

    Returns:
        Torques and forces.

    Raises:
        UnknownNameError: If there is no such rule.
    """
    if rule not in STEP_RULES:
        raise UnknownNameError("rule", rule, STEP_RULES)
    phase = find_phase(t, step.times) if phase is None else phase
    motion = step.motion_at(t)
    share = 0.0 if phase.tip is None else _choose_share(step, motion, t, rule, phase)
    return compute_torques(step.body, motion, phase, STEP_RULES[rule], share=share)


def measure_jumps(step: Step, rule: str) -> Vector:
    """Return the largest jump of a torque at each of the three switches, (3,) [N·m].

    Args:
        step: The step.
        rule: Of ``STEP_RULES``.
    """
    phases = tuple(PHASES.values())
    jumps = np.zeros(3)
    for i, t in enumerate(step.times):
        before, after = (
            compute_step_torques(step, t, rule, phase).tau for phase in phases[i : i + 2]
        )
        jumps[i] = np.abs(after - before).max()
    return jumps


def _choose_share(step: Step, motion: BipedMotion, t: float, rule: str, phase: Phase) -> float:
    t0, _, t2 = step.times
    if rule == "smooth_transition":
        return smooth_share(t, t0, t2)
    if rule == "recommended_transition":
        zmp = compute_ground_wrench(step.body, view_from(motion, phase.base)).zmp
        return recommend_share(
            t, step.times, step.balanced, zmp, find_points(step.body, motion, phase)
        )
    return linear_share(t, t0, t2)
