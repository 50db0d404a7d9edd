"""Books of energy: what came in, what friction took, and what is missing, step by step."""

from __future__ import annotations

from copy import copy

import numpy as np
import pinocchio as pin

from humanoid_dynamics.simulation.rows import W_LOOPS, W_MOTORS
from humanoid_dynamics.spatial.arrays import Vector

ENTRIES = ("motors", "pushes", "drive", "losses", "contacts", "loops", "impacts", "corrections")
FIRST, LAST = W_MOTORS, W_LOOPS + 1  # the first six, in this order, are entered by every step


class Books:
    """Work since the start, by who did it, and what is missing [J].

    Attributes:
        start: Energy at the start [J].
        energy: Energy now [J].
        largest: Largest energy that any step created out of nothing [J].
    """

    def __init__(self, start: float) -> None:
        """Open them.

        Args:
            start: Energy at the start [J].
        """
        self.start = self.energy = start
        self.largest = 0.0
        self._sums = [0.0] * len(ENTRIES)
        self._total = self._before = 0.0

    @property
    def work(self) -> dict[str, float]:
        """Work by entry [J], negative where energy left.

        The entries are motors, pushes, drives, losses (damping and dry friction), contacts and limits, loops (zero but for round-off and
        changes of structure), impacts, and corrections of positions.
        """
        return dict(zip(ENTRIES, self._sums, strict=True))

    @property
    def missing(self) -> float:
        """Energy that nobody brought: what integration in time does not keep [J]."""
        return self.energy - self.start - self._total

    def enter(self, name: str, work: float) -> None:
        """Enter work.

        Args:
            name: Who did it, one of ``ENTRIES``.
            work: How much [J].
        """
        self._sums[ENTRIES.index(name)] += work
        self._total += work

    def enter_step(self, numbers: Vector) -> None:
        """Enter the work of a step.

        Args:
            numbers: Numbers of the step.
        """
        a, b, c, d, e, f = numbers[FIRST:LAST].tolist()
        sums = self._sums
        sums[0] += a
        sums[1] += b
        sums[2] += c
        sums[3] += d
        sums[4] += e
        sums[5] += f
        self._total += a + b + c + d + e + f

    def close_step(self, energy: float) -> None:
        """Enter the energy after a step."""
        self.energy = energy
        missing = energy - self.start - self._total
        self.largest = max(self.largest, missing - self._before)
        self._before = missing

    def copy(self) -> Books:
        """Return books of their own with the same entries."""
        other = copy(self)
        other._sums = list(self._sums)
        return other


def measure_energy(model: pin.Model, data: pin.Data, q: Vector, v: Vector) -> float:
    """Return kinetic and potential energy, rotors included [J]; poses and velocities of the work space are those of q and v afterwards."""
    return float(pin.computeMechanicalEnergy(model, data, q, v))


def measure_momentum(model: pin.Model, data: pin.Data, q: Vector, v: Vector) -> Vector:
    """Return (6,) linear momentum [kg·m/s] and angular momentum about the origin of the world [kg·m²/s]."""
    h = pin.computeCentroidalMomentum(model, data, q, v)
    return np.concatenate((h.linear, h.angular + np.cross(data.com[0], h.linear)))
