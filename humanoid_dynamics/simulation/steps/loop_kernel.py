# SPDX-License-Identifier: Apache-2.0
"""Rows of closed loops, their position errors, and an orthonormal basis of what they hold: what numba compiles for ``loop_table.py``.

A row is the velocity of frame A against frame B along an axis of B, at the origin of A [CK, eq. 10]: as a covector in the world it meets
the joint Jacobian only on the chains that carry the two frames.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from humanoid_dynamics.constraints.constraint_set import KEPT_GAP
from humanoid_dynamics.simulation.steps.branches import whiten_all
from humanoid_dynamics.simulation.steps.row_kernel import multiply_rows, take_out
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

# one row per loop: numbers, and whole numbers
L_A: Final = 0  # pose of frame A in its joint, rotation row by row and translation, twelve columns
L_B: Final = 12  # of frame B
L_LEAST: Final = (
    24  # how large some entry of a row has to be for it to count: of linear ones, of angular ones
)
LOOP_COLUMNS: Final = 26
L_JOINT_A: Final = 0
L_JOINT_B: Final = 1
L_LAST_A: Final = 2  # last coordinate that carries it, -1 for the world
L_LAST_B: Final = 3
L_ROW: Final = 4  # first of its rows
L_COUNT: Final = 5
L_KIND: Final = 6
L_AXES: Final = 7  # six columns
LOOP_PLACES: Final = 13
FREE_KIND: Final = 0  # of the angles: those of the rotation as a vector
ALIGNED_KIND: Final = 1  # those by which the third axes fail to meet
UNIVERSAL_KIND: Final = 2  # the last row is about the normal of both axes
RANK_TOLERANCE: Final = 1e-6  # share of a row that the rows before it have to leave
SMALLEST: Final = 1e-8  # share of the largest row, below which a row is rounding
LEAST: Final = 1e-12


def compose(pose: Vector, own: Vector, place: Vector) -> None:
    """Write the pose of a frame in the world, rotation row by row and translation.

    Args:
        pose: (12,) of its joint, rotation column by column.
        own: (12,) of the frame in it, row by row.
        place: (12,) written.
    """
    for i in range(3):
        for j in range(3):
            place[3 * i + j] = (
                pose[i] * own[j] + pose[3 + i] * own[3 + j] + pose[6 + i] * own[6 + j]
            )
        place[9 + i] = (
            pose[9 + i] + pose[i] * own[9] + pose[3 + i] * own[10] + pose[6 + i] * own[11]
        )


def point_row(axis: int, universal: bool, A: Vector, B: Vector, covector: Vector) -> None:
    """Write the covector of a row, linear and angular part about the origin of the world.

    Args:
        axis: Which of the six axes of frame B.
        universal: Whether to take the normal of x of A and y of B in place of the last.
        A: (12,) pose of frame A.
        B: (12,) pose of frame B.
        covector: (6,) written.
    """
    if universal and axis > 2:
        x, y, z = A[0], A[3], A[6]
        a, b, c = B[1], B[4], B[7]
        covector[0], covector[1], covector[2] = 0.0, 0.0, 0.0
        covector[3], covector[4], covector[5] = y * c - z * b, z * a - x * c, x * b - y * a
        return
    k = axis % 3
    x, y, z = B[k], B[3 + k], B[6 + k]
    if axis > 2:
        covector[0], covector[1], covector[2] = 0.0, 0.0, 0.0
        covector[3], covector[4], covector[5] = x, y, z
        return
    covector[0], covector[1], covector[2] = x, y, z
    covector[3], covector[4], covector[5] = (
        A[10] * z - A[11] * y,
        A[11] * x - A[9] * z,
        A[9] * y - A[10] * x,
    )


def add_chain(JT: Matrix, parents: Indices, last: int, covector: Vector, row: Vector) -> None:
    """Add what a covector gives on the chain from a coordinate to the root.

    Args:
        JT: (nv, 6) joint Jacobian of the world.
        parents: (nv,) coordinate that carries each.
        last: The coordinate; -1 for an empty chain.
        covector: (6,) linear and angular part.
        row: (nv,) added to.
    """
    i = last
    while i >= 0:
        value = 0.0
        for k in range(6):
            value += JT[i, k] * covector[k]
        row[i] += value
        i = parents[i]


def write_rows(
    loops: tuple[Matrix, Indices], views: tuple[Matrix, Matrix], parents: Indices, rows: Matrix
) -> None:
    """Write the rows of all loops.

    Args:
        loops: Their numbers and whole numbers.
        views: (nj, 12) poses of joints, and (nv, 6) joint Jacobian of the world.
        parents: (nv,) coordinate that carries each.
        rows: (k, nv) written.
    """
    numbers, places = loops
    poses, JT = views
    A, B, covector = np.zeros(12), np.zeros(12), np.zeros(6)
    rows[:] = 0.0
    for loop in range(len(places)):
        own = places[loop]
        compose(poses[own[L_JOINT_A]], numbers[loop, L_A:L_B], A)
        compose(poses[own[L_JOINT_B]], numbers[loop, L_B:], B)
        for k in range(own[L_COUNT]):
            point_row(own[L_AXES + k], own[L_KIND] == UNIVERSAL_KIND, A, B, covector)
            row = rows[own[L_ROW] + k]
            add_chain(JT, parents, own[L_LAST_A], covector, row)
            for i in range(6):
                covector[i] = -covector[i]
            add_chain(JT, parents, own[L_LAST_B], covector, row)
            if is_kept(row, numbers[loop, L_LEAST + int(own[L_AXES + k] > 2)]):
                row[:] = 0.0


def is_kept(row: Vector, least: float) -> bool:
    """Return whether the tree keeps a row anyway: all of its entries are smaller than one that counts.

    Args:
        row: (nv,) the row.
        least: What counts.
    """
    largest = 0.0
    for i in range(len(row)):
        largest = max(largest, abs(row[i]))
    return largest < least


def orthonormalize(basis: Matrix, R: Matrix, order: Indices) -> int:
    """Make rows orthonormal, the largest first, each twice against those before it; return how many are left.

    Args:
        basis: (k, nv) rows of one length, overwritten; the last ones, which depend on those before, are left over.
        R: (k, k) written: row j of the basis was made of the rows in this order by column j of the upper triangle.
        order: (k,) written.
    """
    count, least = len(basis), 0.0
    for j in range(count):
        order[j] = j
    for j in range(count):
        swap_rows(basis, R, order, j, find_largest(basis, j))
        own = basis[j]
        for i in range(j):
            R[i, j] += take_out(basis[i], own)
        R[j, j] = np.sqrt(multiply_rows(own, own))
        if j == 0:
            least = RANK_TOLERANCE * max(R[0, 0], LEAST)
        if not R[j, j] > least:
            return j
        for c in range(len(own)):
            own[c] /= R[j, j]
        for i in range(j + 1, count):
            R[j, i] = take_out(own, basis[i])
    return count


def find_largest(rows: Matrix, start: int) -> int:
    """Return which row is the largest.

    Args:
        rows: (k, nv) rows.
        start: The first that counts.
    """
    largest, chosen = -1.0, start
    for i in range(start, len(rows)):
        size = multiply_rows(rows[i], rows[i])
        if size > largest:
            largest, chosen = size, i
    return chosen


def swap_rows(basis: Matrix, R: Matrix, order: Indices, j: int, k: int) -> None:
    """Let two rows change places, with what they were made of.

    Args:
        basis: (n, nv) rows.
        R: (n, n) factor, of which the first j rows count.
        order: (n,) order.
        j: The one.
        k: The other.
    """
    if j == k:
        return
    order[j], order[k] = order[k], order[j]
    for c in range(basis.shape[1]):
        basis[j, c], basis[k, c] = basis[k, c], basis[j, c]
    for i in range(j):
        R[i, j], R[i, k] = R[i, k], R[i, j]


def hold_rows(
    rows: Matrix, scale: Vector, tree: tuple[Matrix, Indices], found: tuple[Matrix, Matrix, Indices]
) -> int:
    """Find a basis of what rows hold, for velocities for which the inertia is one; return its size.

    Args:
        rows: (k, nv) the rows.
        scale: (k,) factors that make them comparable, overwritten with those that make all as long as one another.
        tree: (nv, nv) factor of the inertia, and the coordinate that carries each.
        found: (k, nv) basis, row by row, (k, k) factor and (k,) order, written.
    """
    L, parents = tree
    basis, R, order = found
    for i in range(len(rows)):
        for c in range(rows.shape[1]):
            basis[i, c] = scale[i] * rows[i, c]
        whiten_all(L, parents, basis[i])
    even_out(basis, scale)
    return orthonormalize(basis, R, order)


def even_out(basis: Matrix, scale: Vector) -> None:
    """Make all rows as long as one another, but those that are rounding: that of a light body hides none of a heavy one.

    Args:
        basis: (k, nv) rows, overwritten.
        scale: (k,) what they were multiplied by, overwritten.
    """
    if not len(basis):
        return
    largest = basis[find_largest(basis, 0)]
    least = SMALLEST * max(np.sqrt(multiply_rows(largest, largest)), LEAST)
    for i in range(len(basis)):
        share = 1.0 / max(np.sqrt(multiply_rows(basis[i], basis[i])), least)
        scale[i] *= share
        for c in range(basis.shape[1]):
            basis[i, c] *= share


def hold_loops(
    loops: tuple[Matrix, Indices],
    views: tuple[Matrix, Matrix],
    tree: tuple[Matrix, Indices],
    rows: tuple[Matrix, Vector],
    found: tuple[Matrix, Matrix, Indices],
) -> int:
    """Write the rows of all loops, and find a basis of what they hold; return its size.

    Args:
        loops: Their numbers and whole numbers.
        views: (nj, 12) poses of joints, and (nv, 6) joint Jacobian of the world.
        tree: (nv, nv) factor of the inertia, and the coordinate that carries each.
        rows: (k, nv) rows, written, and (k,) factors that make them comparable, overwritten as by ``hold_rows``.
        found: (k, nv) basis, row by row, (k, k) factor and (k,) order, written.
    """
    write_rows(loops, views, tree[1], rows[0])
    return hold_rows(rows[0], rows[1], tree, found)


def find_errors(
    loops: tuple[Matrix, Indices], poses: Matrix, rows: tuple[Vector, Matrix], phi: Vector
) -> float:
    """Write the position errors of all loops: position of A in B, then the angles by which the axes fail to meet; return the largest.

    A row that the tree keeps anyway has no error while its frames are together but for what such a row may be open by.

    Args:
        loops: Their numbers and whole numbers.
        poses: (nj, 12) poses of joints.
        rows: (k,) factors that make rows comparable, and (k, nv) the rows.
        phi: (k,) written.
    """
    (numbers, places), (scale, J) = loops, rows
    largest = 0.0
    A, B, error = np.zeros(12), np.zeros(12), np.zeros(6)
    for loop in range(len(places)):
        own = places[loop]
        compose(poses[own[L_JOINT_A]], numbers[loop, L_A:L_B], A)
        compose(poses[own[L_JOINT_B]], numbers[loop, L_B:], B)
        for k in range(3):
            error[k] = (
                B[k] * (A[9] - B[9]) + B[3 + k] * (A[10] - B[10]) + B[6 + k] * (A[11] - B[11])
            )
        turn_apart(A, B, own[L_KIND], error)
        for k in range(own[L_COUNT]):
            row = own[L_ROW] + k
            phi[row], least = (
                error[own[L_AXES + k]],
                numbers[loop, L_LEAST + int(own[L_AXES + k] > 2)],
            )
            if abs(phi[row]) <= KEPT_GAP * least and is_kept(J[row], least):
                phi[row] = 0.0
            largest = max(largest, abs(scale[row] * phi[row]))
    return largest


def turn_apart(A: Vector, B: Vector, kind: int, error: Vector) -> None:
    """Write the angles by which two frames fail to meet into the last three of six errors.

    Args:
        A: (12,) pose of frame A.
        B: (12,) pose of frame B.
        kind: Which angles.
        error: (6,) written.
    """
    if kind == UNIVERSAL_KIND:
        error[5] = B[1] * A[0] + B[4] * A[3] + B[7] * A[6]
        return
    if kind == ALIGNED_KIND:
        error[3] = -(B[1] * A[2] + B[4] * A[5] + B[7] * A[8])
        error[4] = B[0] * A[2] + B[3] * A[5] + B[6] * A[8]
        return
    trace = 0.0
    for k in range(9):
        trace += B[k] * A[k]
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        lower, upper = 0.0, 0.0
        for n in range(3):
            lower += B[3 * n + j] * A[3 * n + i]
            upper += B[3 * n + i] * A[3 * n + j]
        error[3 + k] = 0.5 * (lower - upper)
    sine = np.sqrt(error[3] ** 2 + error[4] ** 2 + error[5] ** 2)
    stretch = np.arctan2(sine, 0.5 * (trace - 1.0)) / sine if sine > LEAST else 1.0
    for k in range(3, 6):
        error[k] *= stretch


PARTS = (
    compose,
    point_row,
    add_chain,
    is_kept,
    write_rows,
    orthonormalize,
    find_largest,
    swap_rows,
    even_out,
    hold_rows,
    turn_apart,
)
APART: tuple[str, ...] = (
    "compose",
    "orthonormalize",
)  # of the parts of kernels here, those that are not copied to where they are called
