# SPDX-License-Identifier: Apache-2.0
"""Accelerations of the leg joints that agree with the tasks of base, centre of mass and soles."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.plan.geometry import BASE, WalkGeometry
from humanoid_dynamics.filtering.plan.settings import DAMPING
from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.filtering.ticks.terms import DynamicsTerms
from humanoid_dynamics.filtering.ticks.wishes import TaskGains
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector


class LegMotion:
    """Solves for base and legs: centre of mass, orientation of the base and both soles move as the target asks."""

    def __init__(self, robot: RobotModel, geometry: WalkGeometry, gains: TaskGains) -> None:
        self._model, self._gains = robot.model, gains
        self._free = np.concatenate((np.arange(BASE), geometry.legs.ravel() + BASE))
        self._others = np.setdiff1d(np.arange(robot.nv), self._free)
        n = len(self._free)
        self._A, self._b = np.zeros((18, n)), np.zeros(18)
        self._full = np.zeros((18, robot.nv))
        self._damping = DAMPING * np.eye(n)

    def complete(self, target: Target, q: Vector, v: Vector, terms: DynamicsTerms) -> None:
        """Write the accelerations of the leg joints into a target."""
        gains, full, b = self._gains, self._full, self._b
        error = pin.difference(self._model, q, target.q)
        full[:3], full[3:6, 3:6] = terms.J_com, np.eye(3)
        full[6:12], full[12:] = terms.J[0], terms.J[1]
        b[:3] = target.com_acceleration - terms.com_drift
        for part, (stiff, damp) in ((slice(0, 2), gains.com), (slice(2, 3), gains.height)):
            b[part] += (
                damp * (target.com_rate - terms.com_rate)[part]
                + stiff * (target.com - terms.com)[part]
            )
        stiff, damp = gains.base
        b[3:6] = target.a[3:6] + damp * (target.v[3:6] - v[3:6]) + stiff * error[3:6]
        for foot in (0, 1):
            b[6 + 6 * foot : 12 + 6 * foot] = (
                self._move_sole(foot, target, terms) - terms.drift[foot]
            )
        stiff, damp = gains.joints
        rest = self._others
        wish = target.a[rest] + damp * (target.v[rest] - v[rest]) + stiff * error[rest]
        b -= full[:, rest] @ wish
        A = full[:, self._free]
        found = np.linalg.solve(A.T @ A + self._damping, A.T @ b)
        target.a[self._free[BASE:]] = found[BASE:]

    def _move_sole(self, foot: int, target: Target, terms: DynamicsTerms) -> Vector:
        twist, R = terms.twist[foot], terms.turn[foot]
        if target.touches[foot]:
            return np.asarray(-self._gains.stance[1] * twist)
        stiff, damp = self._gains.swing
        rate, second = target.sole_rate[foot], target.sole_acceleration[foot]
        wanted = np.concatenate((R.T @ rate[:3], R.T @ rate[3:]))
        feed = np.concatenate((R.T @ second[:3] - np.cross(twist[3:], twist[:3]), R.T @ second[3:]))
        error = np.concatenate(
            (
                R.T @ (target.sole_place[foot] - terms.place[foot]),
                pin.log3(R.T @ target.sole_turn[foot]),
            )
        )
        return np.asarray(feed + damp * (wanted - twist) + stiff * error)
