"""Books of momentum of a calm step: what ``close_motion`` and ``report_motion`` do, as one product with a matrix that stays."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pinocchio as pin

from humanoid_dynamics.simulation.steps.rows import FLYING, GRAVITY, IMPULSE, LEAKED, MOMENTUM, MOTION, SPIN, UNGIVEN
from humanoid_dynamics.spatial.arrays import Matrix, Vector

LEFT, CHANGE, CENTRE = slice(6), slice(6, 12), slice(12, 15)  # rows of the product: what nobody gave, what became new, where the centre is
NOW, LAST, GIVEN = slice(9), slice(9, 18), slice(18, 24)  # its columns: momentum and centre after and before the step, impulses


class CalmMotion:
    """Closes the books of momentum of steps in one part.

    Attributes:
        now: (9,) momentum of what flies after the step, linear and angular about the origin of the world, and mass times centre of mass;
            to be written.
    """

    def __init__(self) -> None:
        """Take the memory."""
        self._all = np.zeros(24)
        self.now: Vector = self._all[NOW]
        self._before, self._given = self._all[LAST.start :], self._all[GIVEN]
        self._product, self._found, self._leaked = np.zeros((15, 24)), np.zeros(15), np.zeros(8)
        self._weight: Vector = np.zeros(15)
        self._of: tuple[float, float] = (0.0, 0.0)

    def close(self, account: Vector, impulse: Vector, dt: float, numbers: Vector) -> None:
        """Enter the momentum after a step in one part, and say what nobody gave.

        Args:
            account: Account of energy and momentum.
            impulse: (6,) impulse of contacts, and its moment about the origin of the world.
            dt: Length of the step [s].
            numbers: Numbers in and out.
        """
        mass = account[FLYING]
        if self._of != (dt, mass):
            self._prepare(dt, mass, account[GRAVITY:MOTION])
        self._before[:] = account[MOTION:UNGIVEN]
        self._given += impulse
        np.dot(self._product, self._all, self._found)
        self._found += self._weight
        a, b, c, x, y, z, d, e, f, u, v, w, r_x, r_y, r_z = self._found.tolist()
        x, y, z = x - r_y * c + r_z * b, y - r_z * a + r_x * c, z - r_x * b + r_y * a
        u, v, w = u - r_y * f + r_z * e, v - r_z * d + r_x * f, w - r_x * e + r_y * d
        self._leaked[:] = a, b, c, x, y, z, sqrt(d * d + e * e + f * f), sqrt(u * u + v * v + w * w)
        account[LEAKED:] += self._leaked
        account[MOTION:IMPULSE], account[IMPULSE:UNGIVEN] = self.now, 0.0
        numbers[MOMENTUM], numbers[SPIN] = sqrt(a * a + b * b + c * c), sqrt(x * x + y * y + z * z)

    def _prepare(self, dt: float, mass: float, g: Vector) -> None:
        """Write the product for some length of a step: momentum less what it was, less impulses, less what gravity gave in the middle."""
        self._of = (dt, float(mass))
        P: Matrix = self._product
        falls = pin.skew(np.array(g))
        P[:] = 0.0
        for rows in (LEFT, CHANGE):
            P[rows, 0:6], P[rows, LAST.start : LAST.start + 6] = np.eye(6), -np.eye(6)
        P[LEFT, GIVEN] = -np.eye(6)
        P[3:6, LAST.start : LAST.start + 3] += 0.5 * dt * dt * falls
        P[3:6, LAST.stop - 3 : LAST.stop] = dt * falls
        P[CENTRE, 6:9] = np.eye(3) / mass
        self._weight[:3] = -dt * mass * g
