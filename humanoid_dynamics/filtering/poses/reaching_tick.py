# SPDX-License-Identifier: Apache-2.0
"""The balanced tick with more to wish for: led frames are drawn to their goals, parts of the body keep clear of each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.poses.clearance import Clearance
from humanoid_dynamics.filtering.poses.follower import PoseFollowers
from humanoid_dynamics.filtering.poses.led_frame import LedFrame
from humanoid_dynamics.filtering.poses.point_rows import PointLaw, PointRows
from humanoid_dynamics.filtering.poses.pose_kernels import ease_joints
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.ticks.program import ExtraRows, QpAnswer
from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.filtering.ticks.terms import BASE
from humanoid_dynamics.filtering.ticks.tick import BalancedTick, TickSettings
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.spatial.compiling import compile_kernel

LEFT_TO_REST = 0.08  # share of their stiffness that joints of a led limb keep, which decides what the goal leaves open


class ReachingTick(BalancedTick):
    """The balanced tick for led frames.

    Attributes:
        points: Where led frames are.
        clearance: How near parts of the body are to each other.
        goals: Where led frames should be.
        shares: (k,) how far each is led.
        firmness: (k,) share of the weight each has beside balance.
        gave_way: Whether clearance gave way to soles and joints at the last step.
    """

    def __init__(
        self,
        robot: RobotModel,
        frames: Sequence[LedFrame],
        goals: PoseFollowers,
        *,
        settings: TickSettings,
        proportions: Proportions,
        law: PointLaw,
    ) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base and two soles.
            frames: The led frames.
            goals: Where they should be, in the same order.
            settings: How the tick decides.
            proportions: Measures of the robot.
            law: How frames are drawn to their goals.
        """
        self.points = PointRows(robot.model, frames, law)
        self.clearance = Clearance(robot, legs=any(led.kind == "foot" for led in frames))
        points, clearance = self.points, self.clearance
        soft, limits = (points.G, points.g, points.W), (clearance.rows, clearance.lower)
        extra = ExtraRows(*soft, *limits, lambda: clearance.count)
        super().__init__(robot, settings, proportions, extra)
        self.goals, self.shares, self.firmness = goals, np.zeros(len(frames)), np.ones(len(frames))
        self._model, self._stiffness = robot.model, settings.gains.joints[0]
        self._pelvis = next((k for k, led in enumerate(frames) if led.kind == "pelvis"), -1)
        self._led_joints = np.zeros((len(frames), robot.nv - BASE))
        for k, led in enumerate(frames):
            self._led_joints[k, led.chain] = 1.0
        self._ease = compile_kernel(ease_joints)
        self.gave_way = False

    def read(self, q: Vector, v: Vector) -> None:
        """Read where everything is, before the first ``step``.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
        """
        self.terms.update(q, v)
        self.points.read(self.terms.data, v)

    def _add_wishes(self, target: Target, q: Vector, v: Vector) -> None:
        self.gave_way = False
        self.points.read(self.terms.data, v)
        self.clearance.update(self.terms.data, v)
        self.points.write(self.goals, self.shares * self.firmness)
        way = pin.difference(self._model, q, target.q)[BASE:]
        self._ease(
            self._wishes.joints,
            way,
            self.shares,
            self._led_joints,
            (self._stiffness, 1.0 - LEFT_TO_REST),
        )
        if self._pelvis >= 0 and self.shares[self._pelvis] > 0.0:
            share = float(self.shares[self._pelvis])
            turning = self.terms.R_WB.T @ self.points.wish[self._pelvis, 3:]
            self._wishes.base += share * (turning - self._wishes.base)

    def _descend(
        self, feet: tuple[int, ...], q: Vector, v: Vector, dt: float, measured: bool
    ) -> tuple[QpAnswer, int]:
        load = self._wishes.load.copy()
        choice, rung = super()._descend(feet, q, v, dt, measured)
        if rung > 1 and self.clearance.count:
            self.clearance.count, self.gave_way = 0, True
            np.copyto(self._wishes.load, load)
            choice, rung = super()._descend(feet, q, v, dt, measured)
        return choice, rung
