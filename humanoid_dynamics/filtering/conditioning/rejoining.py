"""A way back to a stream that is suddenly elsewhere: the gap is closed by a smooth share, so velocity does not jump."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.quintic import quintic
from humanoid_dynamics.spatial.arrays import Vector

BACK = 0.5  # s of the way back
SMALLEST = 0.02  # rad or m; what is nearer needs no way back
MANY = 0.2  # share of joints; where so many run faster than they can, the posture jumped
FROZEN = 0.1  # s; a stream that did not change for so long stood still


class Rejoining:
    """Tells jumps of the posture from motion, and leads from where one was to where the stream is."""

    def __init__(self, robot: RobotModel, speed: Vector) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base.
            speed: (nv,) largest speeds.
        """
        self._model, self._speed = robot.model, speed
        self.restart()

    def restart(self) -> None:
        """Forget the stream."""
        self._offset: Vector = np.zeros(self._model.nv)
        self._since, self._still = np.inf, 0.0

    def jumps(self, last: Vector, sample: Vector, gap: float) -> bool:
        """Return whether a sample has nothing to do with the last one, or is the first after a stream that had frozen.

        Args:
            last: (nq,) the sample before.
            sample: (nq,) this one.
            gap: Time between both [s].
        """
        step = np.abs(sample[7:] - last[7:])
        if not step.any():
            self._still += gap
            return False
        thawed, self._still = self._still >= FROZEN, 0.0
        if thawed:
            return True
        return bool(np.count_nonzero(step > self._speed[-len(step) :] * gap) >= max(MANY * len(step), 2.0))

    def begin(self, q: Vector, sample: Vector) -> bool:
        """Set out for the stream; return whether there is a way to go.

        Args:
            q: (nq,) where one is.
            sample: (nq,) where the stream is.
        """
        offset = np.asarray(pin.difference(self._model, sample, q))
        if float(np.max(np.abs(offset))) < SMALLEST:
            return False
        self._offset, self._since = offset, 0.0
        return True

    def lead(self, sample: Vector, gap: float) -> Vector:
        """Return where to be instead of at a sample.

        Args:
            sample: (nq,) the sample.
            gap: Time since the last one [s].
        """
        if self._since >= BACK:
            return sample
        share = 1.0 - float(quintic(self._since / BACK))
        self._since += gap
        return np.asarray(pin.integrate(self._model, sample, share * self._offset))
