# SPDX-License-Identifier: Apache-2.0
"""Doubts about samples: one that jumps is left out until those that follow agree, and could have been come to at the pace of a way back."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.conditioning.rejoining import MANY, PACE
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.spatial.arrays import Indices, Vector

LEAST = (
    20.0  # rad/s; joints that may not even run as fast as this do not jump because motion is faster
)
BASE = 6
AGREED = 2  # steps in a row from sample to sample without a jump; before as many have come one does not know what to believe
NOISY = (
    0.02,
    80.0,
)  # rad and rad/s^2; differences of steps that are larger, over all joints, are no motion but noise
LOUD = 2.5  # times of that; a step that is so different from the last one is not taken at all
LAME = 3.0  # times of that, over legs alone: fewer joints differ more by chance
KEPT = 1.0  # s after a posture that had jumped was believed; where the stream jumps again by then, it may be back where it was before both
FAST = 1.5  # times as fast as it can; where a single joint runs so much faster at once, it jumped
AT_ONCE = (
    0.3,
    300.0,
)  # rad and rad/s^2; a single joint that goes farther from one sample to the next than before, jumped


class OutlierDetector:
    """Tells whether samples are to be believed, by what they say themselves of the legs.

    Arms that jump fell nobody: they are followed as fast as they can run.

    Attributes:
        jumped: Whether samples were left out since the last one that was believed.
        since: When the last sample came that was new before they did [s].
    """

    def __init__(self, robot: RobotModel, speed: Vector) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base.
            speed: (nv,) largest speeds.
        """
        self._model, self._legs = robot.model, _find_legs(robot)
        self._speed = np.maximum(speed[self._legs], LEAST)
        self._many = max(MANY * len(self._legs), 2.0)
        self.restart()

    def restart(self) -> None:
        """Forget the stream."""
        self._last: tuple[float, Vector] | None = None
        self._rate, self._known = np.zeros(len(self._speed)), False  # of the last step
        self._frozen = False  # whether the last sample was the one before once more
        self._agree, self.since, self._moved, self.jumped = (
            AGREED,
            0.0,
            0.0,
            False,
        )  # _moved: when the last one came that was new
        self._before: tuple[float, Vector] = (
            0.0,
            self._rate,
        )  # the last one that was new before doubts began
        self._kept, self._again = (
            -np.inf,
            False,
        )  # until when that one stays where the stream jumps again, once; whether it did

    def look(self, time: float, q: Vector, believed: Vector) -> bool:
        """Look at one sample after the other; return whether this one is doubtful.

        Args:
            time: Its instant [s].
            q: (nq,) configuration.
            believed: (nq,) the last one that was believed.
        """
        last, self._last = self._last, (time, q)
        if last is None or time <= last[0]:
            self._moved = time
            return False
        leaps = self._leaps(pin.difference(self._model, last[1], q), time - last[0])
        self._agree = 0 if leaps else self._agree + 1
        if leaps and not self.jumped:
            self.jumped, self.since = True, self._moved
            self._again = time <= self._kept
            if not self._again:
                self._before = self._moved, np.array(believed)
        self._moved = self._moved if self._frozen else time
        if not self.jumped or self._agree < AGREED:
            return self.jumped
        return not (self._is_near(believed, q, time - self.since) or self._is_back(time, q))

    def _is_back(self, time: float, q: Vector) -> bool:
        """Return whether a sample could have been come to from the last one before doubts began: what was believed since was a fault."""
        return self._is_near(self._before[1], q, time - self._before[0])

    def _is_near(self, believed: Vector, q: Vector, gap: float) -> bool:
        """Return whether one comes from one posture to another in some time at the pace of a way back."""
        way = pin.difference(self._model, believed, q)[self._legs]
        return bool(np.max(np.abs(way), initial=0.0) <= PACE * gap)

    def _leaps(self, way: Vector, gap: float) -> bool:
        """Return whether a step is none of a motion: of many joints, of one that is far too fast, or to and fro."""
        self._frozen, known, self._known = not way.any(), self._known, True
        rate = way[self._legs] / gap
        change, fast = np.abs(rate - self._rate), np.abs(rate)
        self._rate = rate
        most = np.minimum(FAST * self._speed, (AT_ONCE[0] + AT_ONCE[1] * gap * gap) / gap)
        many = np.count_nonzero(fast > self._speed)
        far = (np.minimum(fast, change) > most).any()
        loud = known and float(change.sum()) * gap > LAME * (NOISY[0] + NOISY[1] * gap * gap) * len(
            self._legs
        )
        return bool(many >= self._many or far or loud)

    def settle(self) -> None:
        """Say that a sample is believed."""
        if self.jumped and self._last is not None:
            self._kept = -np.inf if self._again else self._last[0] + KEPT
        self.jumped = False


def _find_legs(robot: RobotModel) -> Indices:
    """Return which coordinates of velocity move a sole, without those of the base."""
    model, legs = robot.model, set[int]()
    for sole in find_soles(robot):
        for joint in model.supports[model.frames[sole.frame].parentJoint]:
            moved = model.joints[joint]
            legs.update(range(moved.idx_v, moved.idx_v + moved.nv))
    return np.array(sorted(k for k in legs if k >= BASE), dtype=np.intp)  # the world itself has -1
