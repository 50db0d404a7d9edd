# SPDX-License-Identifier: Apache-2.0
"""The soles as closed loops: inverse dynamics by W and S [CK, sec. 3.1]."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from benchmarks.floors import FLOOR_ID, build_floor_id
from benchmarks.interleave import Contender, Timing
from benchmarks.rows import Measurement, Race, compare
from benchmarks.stand import Stand
from humanoid_dynamics.dynamics.inverse import solve_inverse
from humanoid_dynamics.dynamics.results import InverseResult
from humanoid_dynamics.resolution.inverse import InverseDynamics

PATH = "closed_chain"
OURS = "W and S"
UNVERIFIED = "W and S, motion vouched for"


def build_closed_chain(stand: Stand) -> Race:
    """Return the route by W and S, with and without a look at the motion, and the floor.

    Args:
        stand: The robot and what it is asked.

    Returns:
        The race.
    """
    mechanism, unverified, q, v, a = stand.mechanism(), stand.mechanism(), stand.q, stand.v, stand.a
    structured = InverseDynamics(stand.robot, rule="minimum_torque")

    def solve() -> InverseResult:
        return solve_inverse(mechanism, q, v, a)

    def solve_unverified() -> InverseResult:
        return solve_inverse(unverified, q, v, a, verify=False)

    def measure(times: Mapping[str, Timing]) -> dict[str, Measurement]:
        difference = stand.worst(
            lambda: float(np.abs(solve().tau - structured.solve(q, v, a).tau).max())
        )
        return {
            f"{PATH}.floor": compare(times[OURS], times[FLOOR_ID], difference),
            f"{PATH}.difference": Measurement(difference),
        }

    contenders = [
        build_floor_id(stand),
        Contender(OURS, solve),
        Contender(UNVERIFIED, solve_unverified),
    ]
    return Race(PATH, contenders, measure, stand.use)
