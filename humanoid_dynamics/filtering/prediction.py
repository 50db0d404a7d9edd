# SPDX-License-Identifier: Apache-2.0
"""Where a robot is now whose state was measured a little earlier: by the accelerations it was asked for since."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable

import numpy as np
import pinocchio as pin

from humanoid_dynamics.spatial.arrays import Vector

LONGEST = 0.05  # s; what is older is led on by so much only


class Prediction:
    """Remembers what a robot was asked for, and leads a late state on by it."""

    def __init__(self, model: pin.Model, dt: float) -> None:
        """Prepare.

        Args:
            model: The robot.
            dt: Time between ticks [s].
        """
        self._model, self._dt = model, dt
        self._asked: deque[Vector] = deque(maxlen=math.ceil(LONGEST / dt))

    def restart(self) -> None:
        """Forget what was asked for."""
        self._asked.clear()

    @property
    def asked(self) -> tuple[Vector, ...]:
        """Accelerations asked for in the last ticks, the oldest first."""
        return tuple(self._asked)

    def restore(self, asked: Iterable[Vector]) -> None:
        """Go on from what was asked for."""
        self._asked.clear()
        self._asked.extend(asked)

    def note(self, vdot: Vector) -> None:
        """Note what is asked for until the next tick.

        Args:
            vdot: (nv,) acceleration.
        """
        self._asked.append(vdot)

    def lead_on(self, q: Vector, v: Vector, age: float) -> tuple[Vector, Vector]:
        """Return where a robot is now.

        Args:
            q: (nq,) configuration as it was measured.
            v: (nv,) velocity likewise.
            age: How long ago that was; what is no number counts as zero [s].
        """
        left = min(age, LONGEST, len(self._asked) * self._dt) if age > 0.0 else 0.0
        steps = math.ceil(left / self._dt - 1e-9)
        for k in range(steps, 0, -1):
            step = left - (k - 1) * self._dt
            left -= step
            v = v + step * self._asked[-k]
            q = np.asarray(pin.integrate(self._model, q, step * v))
        return q, v
