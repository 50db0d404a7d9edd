# SPDX-License-Identifier: Apache-2.0
"""Certificate of a plan: how it was made, whether its terminal constraint holds, and how far the robot is from a fall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.filtering.plan.footsteps import SIDE
from humanoid_dynamics.filtering.plan.geometry import WalkGeometry
from humanoid_dynamics.filtering.plan.state import PhaseKind, WalkState
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.status import StatusEnum


class PlanStatus(StatusEnum):
    """How the plan that is followed was made, from best to worst."""

    OPTIMAL = "OPTIMAL", "all constraints of the plan hold"
    SLACK = "SLACK", "the terminal constraint holds with a slack only"
    SHIFTED = "SHIFTED", "no new plan was found; the last one is followed"
    RELAXED = "RELAXED", "friction and angular momentum of the plan are not limited"
    BOUNDED = "BOUNDED", "the centre of mass is kept bounded on the schedule that runs"
    STOPPING = "STOPPING", "the robot stops on both soles"


@dataclass(frozen=True, slots=True)
class PlanCertificate:
    """What is true of a plan.

    Attributes:
        status: How it was made.
        slack: Slack of the terminal constraint [m].
        capture_margin: How far the divergent component may move before neither standing nor the next footstep captures it [m]; negative
            where none does.
        dcm_error: Distance of the divergent component from that of the plan before [m].
        repairs: Changes of the schedule by feedback so far.
    """

    status: PlanStatus
    slack: float
    capture_margin: float
    dcm_error: float
    repairs: int


def measure_capture_margin(state: WalkState, com: Matrix, geometry: WalkGeometry) -> float:
    """Return how far the divergent component may move before neither standing nor the next footstep captures it.

    Args:
        state: The state of walking.
        com: (2, 3) centre of mass and its velocity.
        geometry: Tables of the robot.
    """
    w = geometry.rate
    dcm = com[0, :2] + com[1, :2] / w
    feet = [0, 1] if state.kind is not PhaseKind.SINGLE else [1 - state.foot]
    middle = state.foothold[feet].mean(axis=0)
    heading = float(state.heading[feet].mean())
    spread = 0.5 * np.abs(_turn_back(state.foothold[0] - state.foothold[1], heading))
    half = geometry.half.min(axis=0) + (spread if len(feet) > 1 else 0.0)
    off = _turn_back(dcm - middle, heading)
    standing = float(np.min(half - np.abs(off)))
    if state.kind is PhaseKind.STAND:
        left, options = 1.0 / w, [0, 1]
    else:
        left, options = max(state.duration - state.elapsed, 0.0), [state.foot]
        left += 1.5 / w if state.kind is PhaseKind.DOUBLE else 0.0
    margins = [_step_margin(state, dcm, foot, left, geometry) for foot in options]
    return max(standing, *margins)


def _step_margin(
    state: WalkState, dcm: Vector, foot: int, left: float, geometry: WalkGeometry
) -> float:
    """Return the margin of a footstep in some time, as a distance now."""
    g, other = geometry, 1 - foot
    growth = float(np.exp(g.rate * left))
    half = g.half.min(axis=0)
    off = _turn_back(dcm - state.foothold[other], float(state.heading[other]))
    # the centre of pressure moves against the error as far as the sole allows
    pressed = np.clip(off, -half, half)
    after = (off - pressed) * growth + pressed
    after[1] *= SIDE[foot]
    low = np.array([-g.stride, g.least_width]) - half
    high = np.array([g.stride, g.most_width]) + half
    if after[1] < low[1]:  # a component between the feet is caught by standing still on this one
        low[1] = -half[1]
    return float(np.min(np.minimum(after - low, high - after))) / growth


def _turn_back(way: Vector, heading: float) -> Vector:
    c, s = np.cos(heading), np.sin(heading)
    return np.array([c * way[0] + s * way[1], c * way[1] - s * way[0]])
