"""Books of energy: what came in, what friction took, and what is missing, step by step."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from humanoid_dynamics.spatial.arrays import Vector

ENTRIES = ("motors", "pushes", "drive", "losses", "contacts", "impacts", "loops", "corrections")


@dataclass(eq=False)
class Books:
    """Work since the start, by who did it [J]; negative where energy left.

    Attributes:
        start: Energy at the start [J].
        energy: Energy now [J].
        work: Work by entry: motors, pushes, drives, losses (damping and dry friction), contacts and limits, impacts, loops (zero but for
            round-off and changes of structure), and corrections of positions.
        largest: Largest energy that any step created out of nothing [J].
    """

    start: float
    energy: float
    work: dict[str, float] = field(default_factory=lambda: dict.fromkeys(ENTRIES, 0.0))
    largest: float = 0.0

    @property
    def missing(self) -> float:
        """Energy that nobody brought: what integration in time does not keep [J]."""
        return self.energy - self.start - sum(self.work.values())

    def close_step(self, energy: float) -> None:
        """Enter the energy after a step."""
        before = self.missing
        self.energy = energy
        self.largest = max(self.largest, self.missing - before)


def measure_energy(model: pin.Model, data: pin.Data, q: Vector, v: Vector) -> float:
    """Return kinetic and potential energy, rotors included [J]; poses and velocities of the work space are those of q and v afterwards."""
    return float(pin.computeMechanicalEnergy(model, data, q, v))


def measure_momentum(model: pin.Model, data: pin.Data, q: Vector, v: Vector) -> Vector:
    """Return (6,) linear momentum [kg·m/s] and angular momentum about the origin of the world [kg·m²/s]."""
    h = pin.computeCentroidalMomentum(model, data, q, v)
    return np.concatenate((h.linear, h.angular + np.cross(data.com[0], h.linear)))
