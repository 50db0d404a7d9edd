"""Where three contacts or more press: the push nearest to a wanted one that is a sum of parallel forces at the corners of contacts.

All forces along the total force F, rho_kj F at corner j of contact k with rho >= 0 and of sum 1.  Each centre of pressure is then in its
contact, a mean of corners, and so is their mean by shares, which has to be the zero-moment point.  Nearest points of a convex set are no
farther apart than the points that they are nearest to: where the wanted push moves a little, so does this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pinocchio as pin

from humanoid_dynamics.contact.wrench import reference_point, wrench_basis
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.quadratic import QpStatus, QpWorkspace

INSIDE = 0.97  # of a face, as seen from its middle; two soles that are turned a little press a little beside the line
LEVER = 0.1  # m; half a foot, turns the moments of a push into forces
BALANCE = 1e4  # weight of a mean pressure beside the zero-moment point against the distance
LEAST = 1e-6  # weight of the corners' forces themselves, which many sums have alike
DIMENSION = {"face": 6, "edge": 5, "point": 3}


def shrink(corners: Matrix) -> Matrix:
    """Return the corners of a patch that stands flat, a little inside.

    Args:
        corners: (k, n) corners [m].
    """
    middle = corners.mean(axis=0)
    return np.asarray(middle + INSIDE * (corners - middle))


class PressedCorners:
    """Finds pushes that press inside: make once for some surfaces, ``press`` at every tick.

    Attributes:
        middles: The surfaces' reference points, (contacts, 3), surface frames [m].
        corners: Corners of each surface, those of faces a little inside, (k, 3) [m].
        weights: (size,) how much each part of the push counts, squared; nothing for the moment about a normal.
    """

    def __init__(self, surfaces: Sequence[ContactSurface], size: int) -> None:
        """Take the memory.

        Args:
            surfaces: The surfaces.
            size: Length of a push; those of the surfaces come first.
        """
        self.middles = np.array([reference_point(surface) for surface in surfaces])
        self.corners = [shrink(s.vertices) if s.kind == "face" else np.asarray(s.vertices) for s in surfaces]
        self._per_force, self.weights = [], np.zeros(size)
        ends, places = [0], [0]
        for surface, corners, middle in zip(surfaces, self.corners, self.middles, strict=True):
            wrenches = np.hstack([np.vstack((np.eye(3), pin.skew(p))) for p in (*corners, middle)])
            pushes = np.linalg.lstsq(wrench_basis(surface), wrenches, rcond=None)[0]
            dimension = DIMENSION[surface.kind]
            self._per_force.append(pushes.reshape(dimension, len(corners) + 1, 3))
            self.weights[places[-1] : places[-1] + 3] = 1.0
            self.weights[places[-1] + 3 : places[-1] + dimension - 1] = LEVER**-2  # but for the moment about the normal
            ends.append(ends[-1] + len(corners) + 1)
            places.append(places[-1] + dimension)
        self.of_contact = [slice(a, b) for a, b in pairwise(ends)]
        self._parts = [slice(a, b) for a, b in pairwise(places)]
        self._program = QpWorkspace(ends[-1], 1, 1 + ends[-1])
        self._program.A[0], self._program.A[1:] = 1.0, np.eye(ends[-1])
        self._program.lower[0] = self._program.upper[0] = 1.0
        self._program.lower[1:] = 0.0

    def press(self, x: Vector, forces: Matrix, flat: Matrix, zmp: Vector, allowed: Vector) -> tuple[Vector, Vector] | None:
        """Return shares and push nearest to a wanted push.

        Args:
            x: (size,) the wanted push.
            forces: (contacts, 3) the total force in the axes of each surface [N].
            flat: (2, corners) all corners and reference points, along the force to one height [m].
            zmp: (2,) zero-moment point there [m].
            allowed: (corners,) largest part of the force at each, infinite or zero.

        Returns:
            Shares (contacts,), and what forces at corners push with (size,); None where there are no numbers to compute with.
        """
        pushes = np.zeros((len(x), len(allowed)))
        for part, corners, per_force, force in zip(self._parts, self.of_contact, self._per_force, forces, strict=True):
            pushes[part, corners] = per_force @ force
        strength = max(float(np.linalg.norm(forces[0])), 1e-9)
        weighted, program = pushes.T * (self.weights / strength**2), self._program
        program.H[:] = weighted @ pushes + (BALANCE / LEVER**2) * flat.T @ flat + LEAST * np.eye(len(allowed))
        program.f[:] = -(weighted @ x) - (BALANCE / LEVER**2) * (zmp @ flat)
        program.upper[1:] = allowed
        found = program.solve()
        if found.status is not QpStatus.OPTIMAL:
            return None
        parts = np.maximum(found.x, 0.0)
        parts /= parts.sum()
        return np.array([parts[corners].sum() for corners in self.of_contact]), pushes @ parts
