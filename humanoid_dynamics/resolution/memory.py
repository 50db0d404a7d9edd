# SPDX-License-Identifier: Apache-2.0
"""Memory of the compiled ticks: two arrays, one of numbers and one of indices, and names for their parts.

A compiled call pays for every array it is handed.  Here it is handed two, and takes them apart itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from humanoid_dynamics.resolution.small import BLOCK
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.compiling import as_matrix, borrow

APART: tuple[
    str, ...
] = ()  # of the parts of kernels here, those that are not copied to where they are called
WRENCH = 6
MOST_FADING = 6  # contacts that fade at once; more are left to the array form
COUNTS, INDICES, NUMBERS = 10, 9, 37  # entries of the sizes, arrays of indices, arrays of numbers
SETTINGS = (
    "tolerance",
    "tight",
    "most_used",
    "exact",
    "choice",
    "floor",
    "unit_force",
    "light",
    "part",
    "fade",
)
TOLERANCE, TIGHT, MOST_USED, EXACT, CHOICE, FLOOR, UNIT_FORCE, LIGHT, PART, FADE = range(
    len(SETTINGS)
)


class Sizes(NamedTuple):
    """How much there is of everything.

    Attributes:
        n: Unknowns.
        m: Equations.
        width: Coordinates of the span.
        first: The first of them.
        contacts: Contacts.
        rows: Rows of all contacts.
        undriven: Coordinates without motor.
        driven: Coordinates with a motor.
        torques: Those among them whose limit the push can reach.
        linear: Coordinates of a base that slides, the first of the span.
    """

    n: int
    m: int
    width: int
    first: int
    contacts: int
    rows: int
    undriven: int
    driven: int
    torques: int
    linear: int


class Memory(NamedTuple):
    """What a compiled tick knows and writes.

    Attributes:
        sizes: How much there is of everything.
        bearing: (m,) coordinates of the equations.
        undriven: Coordinates without motor.
        driven: Coordinates with one.
        torques: Coordinates of the torques whose limit the push can reach.
        firsts: (contacts + 1,) where the unknowns of each contact start.
        ends: (2 contacts + 1,) where its rows do: first those of pressure, load and friction of all, then those about their normals.
        corner_ends: (contacts + 1,) where the forces at the corners of each contact start.
        owner: (n,) contact of each unknown, minus one for a gear.
        active: (n,) rows on which a limited push rests.
        h_x: (n,) weights of the push.
        weights: (width,) weights of the torques.
        softness: (n,) how much of what is left each unknown takes, for a share of one.
        twist: (n, 2) moments about their normals that edges have for the two forces along them [m].
        rows: (6, rows) rows of each contact on its own unknowns, transposed.
        b: (rows,) their bounds.
        y: (rows,) rows less bounds, written.
        corners: (6, corners) forces at the corners of each contact, along the edges of their friction pyramids, as pushes, side by side.
        nothing: (corners,) zeros.
        pull: (corners,) how much the cost falls with each of them, written.
        per_limit: One over the limit of every motor.
        effort: Limits of the limited torques.
        misses: (m,) weights of what the equations miss.
        settings: (10,) tolerances, see ``SETTINGS``.
        K: (n, n) work space.
        S: (8, 8) equations for the multipliers.
        d: (8,) their right-hand side, the multipliers then.
        H: (n, n) Hessian, upper triangle, written.
        g: (n,) linear term, written.
        U: (n, n) its Cholesky factor, or that of the soft program, one over its diagonal on the diagonal.
        Z: (n, 8) equations in the metric of the Hessian, and in the last column the linear term.
        T: (n, torques) what the push takes from the limited torques.
        t: (torques,) those torques without a push.
        z: (2 torques,) by how much they are too high, and too low, written.
        N: (n, room) ways in which the push may move, as columns; room is n or little more, whole blocks.
        Q: (n, room) orthonormal rows; they span the normals of the active rows.
        R: (n, n) the active normals by these rows, a lower triangle, one over its diagonal on the diagonal.
        u: (n,) forces of the active rows.
        work: (5 room + width,) work space.
        some: (contacts,) shares of those contacts that stay, where others fade.
        some_J: (n, nv) the Jacobian of these, zero for the others.
        parts: (contacts,) their shares over that below which they fade, those of others left as they were.
        halves: (2 to the power of ``MOST_FADING`` at most, n) pushes with and without contacts that fade.
        lacking: Of each, what it lacks of the motion [N].
        ways: Of each, the way in which it was found.
        shares_of_halves: How much each counts.
        columns: (width, room) what the push does to each coordinate of the span, side by side.
        numbers: The array that all of these numbers are in: what is called apart is handed the two arrays, and opens them itself.
        places: That of indices.
    """

    sizes: Sizes
    bearing: Indices
    undriven: Indices
    driven: Indices
    torques: Indices
    firsts: Indices
    ends: Indices
    corner_ends: Indices
    owner: Indices
    active: Indices
    h_x: Vector
    weights: Vector
    softness: Vector
    twist: Matrix
    rows: Matrix
    b: Vector
    y: Vector
    corners: Matrix
    nothing: Vector
    pull: Vector
    per_limit: Vector
    effort: Vector
    misses: Vector
    settings: Vector
    K: Matrix
    S: Matrix
    d: Vector
    H: Matrix
    g: Vector
    U: Matrix
    Z: Matrix
    T: Matrix
    t: Vector
    z: Vector
    N: Matrix
    Q: Matrix
    R: Matrix
    u: Vector
    work: Vector
    some: Vector
    some_J: Matrix
    parts: Vector
    halves: Matrix
    lacking: Vector
    ways: Vector
    shares_of_halves: Vector
    columns: Matrix
    numbers: Vector
    places: Indices


def build_memory(
    sizes: Sizes, indices: Sequence[Indices], numbers: Sequence[ArrayLike]
) -> tuple[Vector, Indices]:
    """Put everything that a tick knows into two arrays, and make room for what it writes.

    Args:
        sizes: How much there is of everything.
        indices: The first arrays of indices, in the order of ``Memory``; the last, ``active``, is made.
        numbers: The arrays of numbers up to ``settings``, in that order; the others are made.

    Returns:
        Numbers, and indices; the latter begin with the sizes and with where each array starts.
    """
    n, k, wide = sizes.n, sizes.torques, sizes.n + -sizes.n % BLOCK
    factors, ways = (
        (n * n, BLOCK**2, BLOCK, n * n, n, n * n, n * BLOCK),
        (n * wide, n * wide, n * n, n),
    )
    halves = 2 ** min(sizes.contacts, MOST_FADING)
    fading = (
        sizes.contacts,
        n * (sizes.undriven + sizes.driven),
        sizes.contacts,
        halves * n,
        halves,
        halves,
        halves,
    )
    room = (*factors, k * n, k, 2 * k, *ways, 5 * wide + sizes.width, *fading, sizes.width * wide)
    floats = [np.asarray(part, dtype=np.float64).ravel() for part in numbers] + [
        np.zeros(size) for size in room
    ]
    integers = [*(np.asarray(part, dtype=np.intp) for part in indices), np.zeros(n, dtype=np.intp)]
    starts = [np.cumsum([0, *(len(part) for part in parts)]) for parts in (floats, integers)]
    start = COUNTS + len(starts[0]) + len(starts[1])
    return np.concatenate(floats), np.concatenate(
        (sizes, starts[0], starts[1] + start, *integers)
    ).astype(np.intp)


def open_memory(F: Vector, I: Indices) -> Memory:  # noqa: E741 - floats and integers
    """Take the two arrays apart; nothing is copied.

    Args:
        F: Numbers, from ``build_memory``.
        I: Indices, from there as well.
    """
    F, I = borrow(F), borrow(I)  # noqa: E741
    n, k, wide = I[0], I[8], BLOCK * ((I[0] + BLOCK - 1) // BLOCK)
    f, i = (
        I[COUNTS : COUNTS + NUMBERS + 1],
        I[COUNTS + NUMBERS + 1 : COUNTS + NUMBERS + INDICES + 2],
    )
    return Memory(
        Sizes(I[0], I[1], I[2], I[3], I[4], I[5], I[6], I[7], I[8], I[9]),
        I[i[0] : i[1]],
        I[i[1] : i[2]],
        I[i[2] : i[3]],
        I[i[3] : i[4]],
        I[i[4] : i[5]],
        I[i[5] : i[6]],
        I[i[6] : i[7]],
        I[i[7] : i[8]],
        I[i[8] : i[9]],
        F[f[0] : f[1]],
        F[f[1] : f[2]],
        F[f[2] : f[3]],
        as_matrix(F[f[3] : f[4]], n, 2),
        as_matrix(F[f[4] : f[5]], WRENCH, I[5]),
        F[f[5] : f[6]],
        F[f[6] : f[7]],
        as_matrix(F[f[7] : f[8]], WRENCH, f[9] - f[8]),
        F[f[8] : f[9]],
        F[f[9] : f[10]],
        F[f[10] : f[11]],
        F[f[11] : f[12]],
        F[f[12] : f[13]],
        F[f[13] : f[14]],
        as_matrix(F[f[14] : f[15]], n, n),
        as_matrix(F[f[15] : f[16]], BLOCK, BLOCK),
        F[f[16] : f[17]],
        as_matrix(F[f[17] : f[18]], n, n),
        F[f[18] : f[19]],
        as_matrix(F[f[19] : f[20]], n, n),
        as_matrix(F[f[20] : f[21]], n, BLOCK),
        as_matrix(F[f[21] : f[22]], n, k),
        F[f[22] : f[23]],
        F[f[23] : f[24]],
        as_matrix(F[f[24] : f[25]], n, wide),
        as_matrix(F[f[25] : f[26]], n, wide),
        as_matrix(F[f[26] : f[27]], n, n),
        F[f[27] : f[28]],
        F[f[28] : f[29]],
        F[f[29] : f[30]],
        as_matrix(F[f[30] : f[31]], n, I[6] + I[7]),
        F[f[31] : f[32]],
        as_matrix(F[f[32] : f[33]], f[34] - f[33], n),
        F[f[33] : f[34]],
        F[f[34] : f[35]],
        F[f[35] : f[36]],
        as_matrix(F[f[36] : f[37]], I[2], wide),
        F,
        I,
    )
