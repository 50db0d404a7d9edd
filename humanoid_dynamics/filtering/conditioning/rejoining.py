# SPDX-License-Identifier: Apache-2.0
"""A way back to a stream that is suddenly elsewhere: the gap is closed by a smooth share, so velocity does not jump."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.quintic import quintic
from humanoid_dynamics.spatial.arrays import Vector

BASE = 6
BACK = (0.4, 0.5)  # s of the way back, at least and at most
PACE = 2.0  # rad/s; how fast the joint with the longest way goes it, in the mean; a posture that jumped is not believed before that
SMALLEST = 0.02  # rad or m; what is nearer needs no way back
MANY = 0.2  # share of joints; where so many run faster than they can, the posture jumped
FROZEN = 0.1  # s; a stream that did not change for so long stood still


class TransitionBlender:
    """Tells jumps of the posture from motion, and leads from where one was to where the stream is."""

    def __init__(self, robot: RobotModel, speed: Vector) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base.
            speed: (nv,) largest speeds.
        """
        self._model, self._speed = robot.model, speed[BASE:]
        self.restart()

    def restart(self) -> None:
        """Forget the stream."""
        self._offset: Vector = np.zeros(self._model.nv)
        self._since, self._lasts, self._still = np.inf, BACK[0], 0.0

    def jumps(self, rate: Vector, gap: float) -> bool:
        """Return whether a sample has nothing to do with the last one, or is the first after a stream that had frozen.

        Args:
            rate: (nv,) velocity from the sample before to this one.
            gap: Time between both [s].
        """
        joints = np.abs(rate[BASE:])
        if not joints.any():
            self._still += gap
            return False
        thawed, self._still = self._still >= FROZEN, 0.0
        if thawed:
            return True
        return bool(np.count_nonzero(joints > self._speed) >= max(MANY * len(joints), 2.0))

    def begin(self, q: Vector, sample: Vector, least: float = 0.0) -> bool:
        """Set out for the stream; return whether there is a way to go.

        Args:
            q: (nq,) where one is.
            sample: (nq,) where the stream is.
            least: How long the way takes at least [s].
        """
        offset = np.asarray(pin.difference(self._model, sample, q))
        if float(np.max(np.abs(offset))) < SMALLEST:
            self._since = np.inf  # nor is there any of the way one was on
            return False
        farthest = float(np.max(np.abs(offset[BASE:]), initial=0.0))
        self._offset, self._since, self._lasts = (
            offset,
            0.0,
            max(min(max(farthest / PACE, BACK[0]), BACK[1]), least),
        )
        return True

    @property
    def leads(self) -> bool:
        """Whether one is elsewhere than the stream."""
        return self._since < self._lasts

    def lead(self, sample: Vector, gap: float) -> Vector:
        """Return where to be instead of at a sample.

        Args:
            sample: (nq,) the sample.
            gap: Time since the last one [s].
        """
        if not self.leads:
            return sample
        share = 1.0 - float(quintic(self._since / self._lasts))
        self._since += gap
        return np.asarray(pin.integrate(self._model, sample, share * self._offset))
