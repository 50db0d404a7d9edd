# SPDX-License-Identifier: Apache-2.0
"""Paths of the soles and of the zero-moment point over time, from a plan of footsteps."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from humanoid_dynamics.motion.quintic import quintic, quintic_rate, quintic_second
from humanoid_dynamics.motion.schedule import Interval, TouchTimes
from humanoid_dynamics.motion.walking.footsteps import FootstepPlan
from humanoid_dynamics.spatial.arrays import Matrix, Vector


@dataclass(frozen=True, eq=False)
class SolePaths:
    """Both soles over time, on the ground plane: x, y, height above it, yaw.

    Attributes:
        place: (n, 2, 4) where they are [m, rad].
        rate: (n, 2, 4) how fast they move [m/s, rad/s].
        second: (n, 2, 4) accelerations [m/s^2, rad/s^2].
    """

    place: Matrix
    rate: Matrix
    second: Matrix


def sole_paths(plan: FootstepPlan, times: Vector, height: float) -> SolePaths:
    """Move each sole from step to step; a swing is a quintic, at rest and without acceleration where it leaves and lands.

    Args:
        plan: The footsteps.
        times: (n,) instants [s].
        height: How high a swinging sole is lifted [m].

    Returns:
        The paths.
    """
    place, rate, second = np.zeros((3, len(times), 2, 4))
    for foot in (0, 1):
        place[:, foot, :2], place[:, foot, 3] = plan.stand[foot, :2], plan.stand[foot, 2]
    for step in plan.steps:
        T = step.lands - step.leaves
        s = (times - step.leaves) / T
        way = np.array(
            [
                step.end[0] - step.start[0],
                step.end[1] - step.start[1],
                0.0,
                step.end[2] - step.start[2],
            ]
        )
        inside, later = (s > 0.0) & (s < 1.0), s >= 1.0
        place[later, step.foot] = np.array([step.end[0], step.end[1], 0.0, step.end[2]])
        x = s[inside]
        lift = np.array([0.0, 0.0, height, 0.0])
        u = x * (1.0 - x)
        start = np.array([step.start[0], step.start[1], 0.0, step.start[2]])
        place[inside, step.foot] = start + np.outer(quintic(x), way) + np.outer(64.0 * u**3, lift)
        rate[inside, step.foot] = (
            np.outer(quintic_rate(x), way) + np.outer(192.0 * u**2 * (1.0 - 2.0 * x), lift)
        ) / T
        bend = 384.0 * u * ((1.0 - 2.0 * x) ** 2 - u)
        second[inside, step.foot] = (np.outer(quintic_second(x), way) + np.outer(bend, lift)) / (
            T * T
        )
    return SolePaths(place, rate, second)


def zmp_path(plan: FootstepPlan, times: Vector, centres: Matrix) -> Matrix:
    """Keep the zero-moment point in the middle of the standing sole, and lead it over by quintics in double support.

    At the start and at the end it is half way between the soles.

    Args:
        plan: The footsteps.
        times: (n,) instants [s].
        centres: (2, 2) middle of each sole in its frame [m], left and right.

    Returns:
        (n, 2) points of the ground plane [m].
    """
    poses = plan.landing_poses()
    middles = [
        np.mean(
            [_centre(pose, centre) for pose, centre in zip(poses[k], centres, strict=True)], axis=0
        )
        for k in (0, -1)
    ]
    stops = [
        _centre(poses[k][1 - step.foot], centres[1 - step.foot])
        for k, step in enumerate(plan.steps)
    ]
    both = [later.leaves - step.lands for step, later in pairwise(plan.steps)]
    change = min(both, default=0.5 * plan.steps[0].leaves)
    first, last = (
        max(change, 0.4 * plan.steps[0].leaves),
        max(change, 0.4 * (plan.end - plan.steps[-1].lands)),
    )
    windows = [(plan.steps[0].leaves - first, plan.steps[0].leaves, middles[0], stops[0])]
    windows += [
        (step.lands, later.leaves, stops[k], stops[k + 1])
        for k, (step, later) in enumerate(pairwise(plan.steps))
    ]
    windows += [(plan.steps[-1].lands, plan.steps[-1].lands + last, stops[-1], middles[-1])]
    path = np.tile(middles[0], (len(times), 1))
    for begin, end, before, after in windows:
        path += np.outer(quintic((times - begin) / (end - begin)), after - before)
    return path


def foot_schedule(plan: FootstepPlan, names: tuple[str, str]) -> TouchTimes:
    """Return when each sole stands.

    Args:
        plan: The footsteps.
        names: Surfaces, left and right.

    Returns:
        The schedule.
    """
    intervals: dict[str, tuple[Interval, ...]] = {}
    for foot, name in enumerate(names):
        edges = [
            0.0,
            *(
                edge
                for step in plan.steps
                if step.foot == foot
                for edge in (step.leaves, step.lands)
            ),
            plan.end,
        ]
        intervals[name] = tuple((edges[k], edges[k + 1]) for k in range(0, len(edges), 2))
    return TouchTimes(0.0, plan.end, intervals)


def _centre(pose: Vector, centre: Vector) -> Vector:
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return np.array(
        [pose[0] + c * centre[0] - s * centre[1], pose[1] + s * centre[0] + c * centre[1]]
    )
