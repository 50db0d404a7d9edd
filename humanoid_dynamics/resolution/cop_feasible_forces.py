# SPDX-License-Identifier: Apache-2.0
"""Forces that press inside contacts, nearest to wanted ones: two contacts by their load fraction, three or more by a quadratic program.

Three or more: all forces are along the total force F, contact k with the fraction s_k F at its centre of pressure.  With u_k = s_k times
the way from the reference point to there all is linear: forces, the zero-moment point as mean by fractions, and centres of pressure
inside contacts, which are cones.  Nearest points of a convex set are no farther apart than the points that they are nearest to: where the
wanted force moves a little, so does this one.  Where no face carries load each contact has a least fraction, so that none is left to
others that hold nothing.  There are no more unknowns than a force has parts to distinguish them by, so that the nearest one is unique.

Two: the fraction of the second one for which both press inside themselves [BP, eq. 28-29, assumption 2].
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pinocchio as pin

from humanoid_dynamics.contact.transfer import find_profile, switch_share
from humanoid_dynamics.contact.wrench import reference_point, wrench_basis
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.solvers.qp import QpStatus, QpWorkspace
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only

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


EASED = 0.05  # share from which on it counts fully where pressure may be; below, less and less: contacts come and go without a step
SAME = 1e-9  # m; what is nearer is one place
OUTSIDE = 1e-3  # m; by how much contacts may press outside rather than let the whole share move: far less than faces are shrunk by
RISE = find_profile("quintic")
STEEPEST_ROLL = (
    2.0 * 1.875
)  # most that a share that rises in two parts changes by, per change of the share asked for
STEEPEST = STEEPEST_ROLL + 1.0 / EASED  # most that any share taken changes by: see ``press_share``
ALONG, ACROSS = read_only(np.eye(2))


def press_share(asked: float, zmp: Vector, one: Matrix, other: Matrix, rolls: bool) -> float:
    """Return the share of the second of two contacts.

    It changes by at most ``STEEPEST`` times as much as the share that was asked for: a quintic rises by 15/8 at most, twice as fast in two
    parts; what is nearest moves no farther than what it is nearest to; and it is eased in by at most the whole way in a share of ``EASED``.

    Args:
        asked: The share that was asked for, 0 to 1.
        zmp: (2,) zero-moment point, along the way from the first to the second and across [m].
        one: (k, 2) corners of the first [m].
        other: (k, 2) corners of the second.
        rolls: Whether the share goes through the one for which both press where they face each other, and uses all of both contacts.
    """
    wanted, pressed = want_share(asked, zmp, one, other, rolls)
    return wanted + (pressed - wanted) * min(1.0, asked / EASED, (1.0 - asked) / EASED)


def want_share(
    asked: float, zmp: Vector, one: Matrix, other: Matrix, rolls: bool
) -> tuple[float, float]:
    """Return the share that is wanted, and the one nearest to it for which both contacts press inside themselves; see ``press_nearest``."""
    wanted, toe, heel = asked, float(one[:, 0].max()), float(other[:, 0].min())
    if rolls and heel - toe > SAME:
        middle = switch_share(float(zmp[0]), toe, heel)
        wanted = middle * RISE(2.0 * asked) + (1.0 - middle) * RISE(2.0 * asked - 1.0)
    if not rolls:
        one, other = shrink(one), shrink(other)
    return wanted, press_nearest(wanted, zmp, one, other)


def bound_pressed_share(
    asked: float, change: float, zmp: Vector, one: Matrix, other: Matrix, rolls: bool
) -> float:
    """Bound how far the share that ``press_share`` returns moves from where it is.

    With the wanted share w, the one p that is nearest to it, and how far it is eased in, r, the share w + r (p - w) moves by no more than
    w, because p moves by no more, and by as much as r moves times p - w.

    Args:
        asked: The share that was asked for, 0 to 1.
        change: How much it may change.
        zmp: As in ``press_share``.
        one: Likewise.
        other: Likewise.
        rolls: Likewise.
    """
    wanted, pressed = want_share(asked, zmp, one, other, rolls)
    eases = min(asked, 1.0 - asked) - change < EASED
    eased = min(change / EASED, 1.0) if eases else 0.0
    return min((STEEPEST_ROLL if rolls else 1.0) * change + eased * abs(pressed - wanted), 1.0)


def press_nearest(wanted: float, zmp: Vector, one: Matrix, other: Matrix) -> float:
    """Return the share s from 0 to 1 of least v(s) + OUTSIDE (s - wanted)^2, where v is how far outside both contacts press, zero inside.

    Where some share presses inside it is the nearest of these, and where none does the one that presses least outside.  The cost is
    strictly convex and continuous in all that it is made of, and so is its least.

    Args:
        wanted: The share of the second contact that is wanted.
        zmp: (2,) zero-moment point [m].
        one: (k, 2) corners of the first contact [m], in order around it.
        other: (k, 2) corners of the second.
    """
    lacking, gain = find_sides(zmp, one, other)
    if not (lacking - wanted * gain).max() > 0.0:
        return wanted
    before, after = (
        int(lacking.argmax()),
        int((lacking - gain).argmax()),
    )  # sides that count before the least, and after it
    share = wanted
    for _ in lacking:
        first, last = (wanted + float(gain[side]) / (2.0 * OUTSIDE) for side in (after, before))
        meet = (
            float(lacking[before] - lacking[after]) / float(gain[before] - gain[after])
            if first < last
            else first
        )
        share = min(max(min(max(meet, first), last), 0.0), 1.0)
        side = int((lacking - share * gain).argmax())
        if side in {before, after}:
            break
        if share < wanted + gain[side] / (2.0 * OUTSIDE):
            before = side
        else:
            after = side
    return share


def find_sides(zmp: Vector, one: Matrix, other: Matrix) -> tuple[Vector, Vector]:
    """Return how far the zero-moment point is outside the mean of two contacts, across each side: lacking - s gain for a share s [m].

    A point is in the mean of both, weighed by share, if it is within its farthest corner in every direction across an edge.

    Args:
        zmp: (2,) zero-moment point [m].
        one: (k, 2) corners of the first contact [m], in order around it.
        other: (k, 2) corners of the second.

    Returns:
        What is lacking without share, and what the whole share gains.  The last side is none: nothing lacking, nothing gained.
    """
    edges = np.vstack(
        (np.roll(one, -1, axis=0) - one, np.roll(other, -1, axis=0) - other, ALONG, ACROSS)
    )
    normals = np.column_stack((edges[:, 1], -edges[:, 0]))
    lengths = np.sqrt(np.einsum("ij,ij->i", normals, normals))
    normals = normals[lengths > SAME] / lengths[lengths > SAME, None]
    normals = np.vstack((normals, -normals, np.zeros(2)))
    here, there = (one @ normals.T).max(axis=0), (other @ normals.T).max(axis=0)
    return normals @ zmp - here, there - here
