# SPDX-License-Identifier: Apache-2.0
"""Where three contacts or more press: the push nearest to a wanted one that is a sum of parallel forces inside contacts.

All forces along the total force F, contact k with the share s_k F at its centre of pressure.  With u_k = s_k times the way from the
reference point to there all is linear: pushes, the zero-moment point as mean by shares, and centres of pressure inside contacts, which
are cones.  Nearest points of a convex set are no farther apart than the points that they are nearest to: where the wanted push moves a
little, so does this one.  Where no face bears each contact has a least share, so that none is left to others that hold nothing.  There
are no more unknowns than a push has parts to tell them by, so that there is one nearest only.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pinocchio as pin

from humanoid_dynamics.contact.wrench import reference_point, wrench_basis
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.solvers.qp import QpStatus, QpWorkspace
from humanoid_dynamics.spatial.arrays import Matrix, Vector

INSIDE = 0.97  # of a face, as seen from its middle; two soles that are turned a little press a little beside the line
LEVER = 0.1  # m; half a foot, turns the moments of a push into forces
LEAST = 0.01  # share of each contact at least where no face bears: with less what is left may hold nothing
BALANCE = 1e4  # weight of a mean pressure beside the zero-moment point against the distance, up to ``NEAR`` from there
NEAR = 1.0  # m
STEEP = 1e-3  # squared sine between the force and a surface below which moments tell too little about where it presses
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
        ways: Ways from these, of length ``LEVER``, in which centres of pressure can move: two of a face, one of an edge, (k, 3) [m].
        weights: (size,) how much each part of the push counts, squared; nothing for the moment about a normal.
    """

    def __init__(self, surfaces: Sequence[ContactSurface], size: int) -> None:
        """Take the memory.

        Args:
            surfaces: The surfaces.
            size: Length of a push; those of the surfaces come first.
        """
        self.middles = np.array([reference_point(surface) for surface in surfaces])
        self.ways = [_find_ways(surface) for surface in surfaces]
        self._per_force, self.weights, sides = [], np.zeros(size), []
        ends, places = [0], [0]
        for surface, ways, middle in zip(surfaces, self.ways, self.middles, strict=True):
            wrenches = [
                np.vstack((np.eye(3), pin.skew(middle))),
                *(np.vstack((np.zeros((3, 3)), pin.skew(way))) for way in ways),
            ]
            pushes = np.linalg.lstsq(wrench_basis(surface), np.hstack(wrenches), rcond=None)[0]
            dimension = DIMENSION[surface.kind]
            self._per_force.append(pushes.reshape(dimension, 1 + len(ways), 3))
            self.weights[places[-1] : places[-1] + 3] = 1.0
            self.weights[places[-1] + 3 : places[-1] + dimension - 1] = (
                LEVER**-2
            )  # but for the moment about the normal
            sides.append(_find_sides(surface, middle, ways))
            ends.append(ends[-1] + 1 + len(ways))
            places.append(places[-1] + dimension)
        self._faces = np.array([surface.kind == "face" for surface in surfaces])
        self._of_contact = [slice(a, b) for a, b in pairwise(ends)]
        self._parts = [slice(a, b) for a, b in pairwise(places)]
        self._prepare(sides, ends[-1])

    def _prepare(self, sides: list[Matrix], n: int) -> None:
        """Make the program: the sum of shares, bounds of all unknowns, and sides of contacts."""
        self._program = program = QpWorkspace(n, 1, 1 + n + sum(map(len, sides)))
        program.A[1 : 1 + n] = np.eye(n)
        program.lower[0] = program.upper[0] = 1.0
        self._of_sides, self._sides, end = [], sides, 1 + n
        for its_sides, columns in zip(sides, self._of_contact, strict=True):
            self._of_sides.append(slice(end, end + len(its_sides)))
            program.A[0, columns.start] = 1.0
            program.A[self._of_sides[-1], columns] = its_sides
            end += len(its_sides)

    def press(
        self, x: Vector, forces: Matrix, flat: Sequence[Matrix], loaded: Vector, moving: Vector
    ) -> tuple[Vector, Vector] | None:
        """Return shares and push nearest to a wanted push.

        Args:
            x: (size,) the wanted push.
            forces: (contacts, 3) the total force in the axes of each surface [N].
            flat: (2, 1 + k) of each contact: the way from the zero-moment point to its reference point, and its ways [m]; along the force
                to one height.
            loaded: (contacts,) whether each takes part.
            moving: (contacts,) how far from its reference point each may press, of the way to its sides.

        Returns:
            Shares (contacts,), and what these push with (size,); None where the program found no answer.
        """
        program = self._program
        pushes, least = (
            np.zeros((len(x), len(program.f))),
            0.0 if loaded[self._faces].any() else LEAST,
        )
        strength = max(float(np.linalg.norm(forces[0])), 1e-9)
        mean = np.hstack(flat)
        mean *= np.sqrt(BALANCE) / (LEVER * max(1.0, float(np.abs(mean).max()) / NEAR))
        program.H[:] = mean.T @ mean
        for k, (part, columns, sides) in enumerate(
            zip(self._parts, self._of_contact, self._of_sides, strict=True)
        ):
            pushes[part, columns] = self._per_force[k] @ forces[k]
            share, ways = columns.start, slice(columns.start + 1, columns.stop)
            free = np.inf if loaded[k] and moving[k] else 0.0
            program.lower[1 + share], program.upper[1 + share] = (
                (least, np.inf) if loaded[k] else (0.0, 0.0)
            )
            (
                program.lower[1 + ways.start : 1 + ways.stop],
                program.upper[1 + ways.start : 1 + ways.stop],
            ) = -free, free
            program.upper[sides] = 0.0 if free else np.inf
            program.A[sides, share] = moving[k] * self._sides[k][:, 0]
            program.H[ways, ways] += max(STEEP - (forces[k][2] / strength) ** 2, 0.0) * np.eye(
                ways.stop - ways.start
            )
        weighted = pushes.T * (self.weights / strength**2)
        program.H += weighted @ pushes
        program.f[:] = -(weighted @ x)
        found = program.solve()
        if found.status is not QpStatus.OPTIMAL:
            return None
        shares = loaded * np.maximum(
            found.x[[columns.start for columns in self._of_contact]], least
        )
        return shares / shares.sum(), pushes @ found.x


def _find_ways(surface: ContactSurface) -> Matrix:
    """Return the ways in which a centre of pressure can move, (k, 3) [m]."""
    if surface.kind == "face":
        return LEVER * np.eye(2, 3)
    ways = np.diff(surface.vertices, axis=0)
    return np.asarray(LEVER * ways / np.linalg.norm(ways, axis=1, keepdims=True))


def _find_sides(surface: ContactSurface, middle: Vector, ways: Matrix) -> Matrix:
    """Return rows for share and ways, not positive inside a contact, (k, 1 + ways) [m]; faces are a little smaller than they are."""
    if surface.kind != "face":
        places = (surface.vertices - middle) @ ways.T / LEVER**2
        return (
            np.array([(-sign * p, sign) for p, sign in zip(places[:, 0], (-1.0, 1.0), strict=True)])
            if len(ways)
            else np.zeros((0, 1))
        )
    corners = shrink(np.asarray(surface.vertices))[:, :2]
    along = np.roll(corners, -1, axis=0) - corners
    outward = np.column_stack((along[:, 1], -along[:, 0])) / np.linalg.norm(
        along, axis=1, keepdims=True
    )
    return np.column_stack((-np.sum(outward * corners, axis=1) / LEVER, outward))
