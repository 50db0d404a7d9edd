# SPDX-License-Identifier: Apache-2.0
"""Nominal footsteps of a velocity, bounds of a step, and the terminal constraint of what follows the horizon."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.filtering.plan.geometry import WalkGeometry
from humanoid_dynamics.filtering.plan.schedule import WalkSchedule
from humanoid_dynamics.filtering.plan.settings import PlanSettings
from humanoid_dynamics.spatial.arrays import Vector

SIDE = (1.0, -1.0)  # of the left and the right foot


@dataclass(slots=True, eq=False)
class NominalStep:
    """One nominal footstep.

    Attributes:
        way: (2,) from the middle of the other sole [m, world].
        heading: Heading of the body [rad].
        bounds: (4,) least and largest way ahead, then across, in axes of the other foot's body [m].
    """

    way: Vector
    heading: float
    bounds: Vector


class FootstepRule:
    """Footsteps as functions of the velocity; the mean path of the feet is that of the command."""

    def __init__(
        self, geometry: WalkGeometry, schedule: WalkSchedule, settings: PlanSettings
    ) -> None:
        self._geometry, self._period = geometry, schedule.step_time
        self._schedule, self._settings = schedule, settings

    def next(self, foot: int, heading: float, after: float, velocity: Vector) -> NominalStep:
        """Return the nominal footstep of a foot.

        Args:
            foot: The foot that is set down.
            heading: Heading of the body that goes with the other foot [rad].
            after: Heading of the body that goes with the footstep [rad].
            velocity: (3,) forward, sideways, turning.
        """
        g, T, side = self._geometry, self._period, SIDE[foot]
        ahead, across = float(velocity[0]) * T, float(velocity[1]) * T
        width = max(g.width, g.least_width + abs(across))
        middle = 0.5 * (heading + after)
        way = _turned(ahead, across, middle) + 0.5 * width * side * (
            _turned(0.0, 1.0, after) + _turned(0.0, 1.0, heading)
        )
        near, far = g.least_width, g.most_width
        across_bounds = (near, far) if side > 0.0 else (-far, -near)
        bounds = np.array([-g.stride, g.stride, *across_bounds])
        local = _turned(way[0], way[1], -heading)
        local = np.clip(local, bounds[[0, 2]], bounds[[1, 3]])
        return NominalStep(_turned(local[0], local[1], heading), after, bounds)

    def limit(self, velocity: Vector) -> Vector:
        """Return a velocity whose nominal footsteps are possible."""
        g, T, most = self._geometry, self._period, self._settings.velocity
        speed = g.rate * g.leg
        across = 0.5 * (g.most_width - g.least_width) / T
        bound = np.array(
            [min(most[0] * speed, 0.9 * g.stride / T), min(most[1] * speed, 0.9 * across), most[2]]
        )
        return np.clip(velocity, -bound, bound)

    def find_terminal(self, foot: int, heading: float, way: Vector, velocity: Vector) -> Vector:
        """Return the divergent component at a touch-down, from the middle of the sole that lands, for walking on at a velocity.

        Args:
            foot: The foot that lands.
            heading: Heading of its body [rad].
            way: (2,) from the other foot to it [m].
            velocity: (3,) the velocity.
        """
        w, s = self._geometry.rate, self._schedule
        total, place, before, passed = np.zeros(2), np.zeros(2), -way, 0.0
        for _ in range(self._settings.tail_footsteps):
            # the load passes from the sole before to this one, then this one stands alone
            total += _ramp(w, passed, s.double_time, before, place)
            passed += s.double_time
            total += (np.exp(-w * passed) - np.exp(-w * (passed + s.swing_time))) * place
            passed += s.swing_time
            foot = 1 - foot
            after = heading + float(velocity[2]) * self._period
            step = self.next(foot, heading, after, velocity)
            before, place, heading = place, place + step.way, step.heading
        return np.asarray(total + np.exp(-w * passed) * 0.5 * (before + place))


def _turned(x: float, y: float, angle: float) -> Vector:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * x - s * y, s * x + c * y])


def _ramp(w: float, begin: float, duration: float, a: Vector, b: Vector) -> Vector:
    """Return w times the integral of exp(-w t) times a ramp from a to b."""
    e, f = np.exp(-w * begin), np.exp(-w * (begin + duration))
    slope = (b - a) / duration
    return np.asarray(e * a - f * b + slope * (e - f) / w)
