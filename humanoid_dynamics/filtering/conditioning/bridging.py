# SPDX-License-Identifier: Apache-2.0
"""A way across a hole in a stream: from the last posture that is settled to the first good one, over the foot that stayed."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.conditioning.origin import way_back
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.quintic import quintic
from humanoid_dynamics.spatial.arrays import Vector

HOLE = (0.25, 3.0)  # s, and times the usual time between samples; what lasts longer is a hole
SHORT = 0.4  # s; across a shorter hole motion goes on, across a longer one it comes to rest and sets out again
WAY = 0.5  # s of the way to a posture that has jumped
STEP = 0.02  # s between postures on the way


class GapInterpolator:
    """Leads from one posture to another, and says where on the ground the other one is to be."""

    def __init__(self, robot: RobotModel, proportions: Proportions) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base and two soles.
            proportions: Its measures.
        """
        self._model, self._data = robot.model, robot.data()
        self._soles, self._middles = proportions.soles, proportions.centres

    def move(self, q: Vector, sample: Vector) -> pin.SE3:
        """Return by what the posture after a hole is to be moved over the ground.

        Of both feet the one stays that moved less and is less high above the other one: of a walk that is the one stepped from.

        Args:
            q: (nq,) the posture before.
            sample: (nq,) the one after, as the reference has it.
        """
        before, after = self._place_soles(q), self._place_soles(sample)
        lowest = [min(left[2], right[2]) for left, right in (before, after)]
        away = [
            math.dist(before[foot][:2], after[foot][:2])
            + max(before[foot][2] - lowest[0], after[foot][2] - lowest[1])
            for foot in (0, 1)
        ]
        foot = int(np.argmin(away))
        return way_back(before[foot], after[foot])

    def lead(self, q: Vector, sample: Vector, duration: float) -> list[tuple[float, Vector]]:
        """Return postures on a way that begins and ends at rest, each with the time since it began.

        Args:
            q: (nq,) where it begins.
            sample: (nq,) where it ends.
            duration: How long it takes [s].
        """
        way = np.asarray(pin.difference(self._model, q, sample))
        return [
            (duration * s, pin.integrate(self._model, q, float(quintic(s)) * way))
            for s in _shares(duration)
        ]

    def go_on(
        self, before: Vector, q: Vector, sample: Vector, times: tuple[float, float]
    ) -> list[tuple[float, Vector]]:
        """Return postures on a way that goes on as motion did, each with the time since it began.

        Args:
            before: (nq,) where one was a little before it begins.
            q: (nq,) where it begins.
            sample: (nq,) where it ends, at the mean pace.
            times: How long ago that was, and how long it takes [s].
        """
        step, duration = times
        way = np.asarray(pin.difference(self._model, q, sample))
        tangent = duration / step * np.asarray(pin.difference(self._model, before, q))
        return [
            (
                duration * s,
                pin.integrate(
                    self._model, q, s * (1.0 - s) ** 2 * tangent + s * s * (2.0 - s) * way
                ),
            )
            for s in _shares(duration)
        ]

    def _place_soles(self, q: Vector) -> list[Vector]:
        """Return where the middles of both soles are, and how they are turned, (7,) each."""
        pin.forwardKinematics(self._model, self._data, q)
        placed = [pin.updateFramePlacement(self._model, self._data, sole) for sole in self._soles]
        return [
            pin.SE3ToXYZQUAT(X * pin.SE3(np.eye(3), middle))
            for X, middle in zip(placed, self._middles, strict=True)
        ]


def _shares(duration: float) -> list[float]:
    """Return at what shares of a way there are postures."""
    count = max(round(duration / STEP), 2)
    return [k / count for k in range(1, count)]
