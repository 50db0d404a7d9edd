# SPDX-License-Identifier: Apache-2.0
"""Impulses of points from the wrenches on their joints, and back, written so that numba can compile it."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.simulation.contacts.holders import Holders
from humanoid_dynamics.spatial.arrays import Matrix, Vector


def gather_wrenches(holders: Holders, chosen: Vector, N: Matrix) -> None:
    """Write sums of w w^T over all rows of the points of each joint that are tried.

    Args:
        holders: Joints that touch.
        chosen: (m + c,) one where a point or limit is tried, zero elsewhere.
        N: (n, 6, 6) zero; the sums.
    """
    wrenches = holders.wrenches
    for row in range(len(wrenches)):
        if chosen[holders.origins[row]] > 0.0:
            s = holders.owners[row]
            a, b, c, d, e, f = (
                wrenches[row, 0],
                wrenches[row, 1],
                wrenches[row, 2],
                wrenches[row, 3],
                wrenches[row, 4],
                wrenches[row, 5],
            )
            for k in range(6):
                x = wrenches[row, k]
                N[s, k, 0] += x * a
                N[s, k, 1] += x * b
                N[s, k, 2] += x * c
                N[s, k, 3] += x * d
                N[s, k, 4] += x * e
                N[s, k, 5] += x * f


def apply_blocks(blocks: Matrix, x: Vector) -> None:
    """Overwrite x with B x for a matrix that has blocks on its diagonal, and ones after them.

    Args:
        blocks: (n, 6, 6) these.
        x: (6n + c,) vector.
    """
    for s in range(len(blocks)):
        n = 6 * s
        a, b, c, d, e, f = x[n], x[n + 1], x[n + 2], x[n + 3], x[n + 4], x[n + 5]
        for k in range(6):
            first = blocks[s, k, 0] * a + blocks[s, k, 1] * b + blocks[s, k, 2] * c
            x[n + k] = first + blocks[s, k, 3] * d + blocks[s, k, 4] * e + blocks[s, k, 5] * f


def spread(holders: Holders, x: Vector, y: Vector) -> None:
    """Write the products of the wrenches of all rows with a vector over all joints, and what limits have of it.

    Args:
        holders: Joints that touch.
        x: (6n + c,) the vector.
        y: (3m + c,) products, overwritten.
    """
    wrenches, m, first = holders.wrenches, len(holders.slots), 6 * len(holders.W)
    for row in range(len(wrenches)):
        n = 6 * holders.owners[row]
        force = wrenches[row, 0] * x[n] + wrenches[row, 1] * x[n + 1] + wrenches[row, 2] * x[n + 2]
        moment = (
            wrenches[row, 3] * x[n + 3] + wrenches[row, 4] * x[n + 4] + wrenches[row, 5] * x[n + 5]
        )
        y[holders.places[row]] = force + moment
    for k in range(len(x) - first):
        y[m + k] = x[first + k]


def collect(holders: Holders, p: Vector, x: Vector) -> None:
    """Write the wrenches on all joints of the impulses of all rows, and the impulses of limits.

    Args:
        holders: Joints that touch.
        p: (3m + c,) impulses.
        x: (6n + c,) wrenches, overwritten.
    """
    wrenches, m, first = holders.wrenches, len(holders.slots), 6 * len(holders.W)
    for k in range(first):
        x[k] = 0.0
    for k in range(len(x) - first):
        x[first + k] = p[m + k]
    for row in range(len(wrenches)):
        n, share = 6 * holders.owners[row], p[holders.places[row]]
        x[n] += wrenches[row, 0] * share
        x[n + 1] += wrenches[row, 1] * share
        x[n + 2] += wrenches[row, 2] * share
        x[n + 3] += wrenches[row, 3] * share
        x[n + 4] += wrenches[row, 4] * share
        x[n + 5] += wrenches[row, 5] * share


def relate_rows(holders: Holders, D: Matrix, G: Matrix) -> None:
    """Write the velocity of all rows per impulse on each.

    Args:
        holders: Joints that touch.
        D: (6n + c, 6n + c) velocity of joints that touch, and of limits, per wrench on each and impulse of each.
        G: (3m + c, 3m + c) overwritten.
    """
    wrenches, m, first = holders.wrenches, len(holders.slots), 6 * len(holders.W)
    felt = np.empty(len(D))
    for row in range(len(wrenches)):
        n = 6 * holders.owners[row]
        a, b, c, d, e, f = (
            wrenches[row, 0],
            wrenches[row, 1],
            wrenches[row, 2],
            wrenches[row, 3],
            wrenches[row, 4],
            wrenches[row, 5],
        )
        for k in range(len(D)):
            felt[k] = (
                a * D[n, k]
                + b * D[n + 1, k]
                + c * D[n + 2, k]
                + d * D[n + 3, k]
                + e * D[n + 4, k]
                + f * D[n + 5, k]
            )
        spread(holders, felt, G[holders.places[row]])
    for k in range(len(D) - first):
        spread(holders, D[first + k], G[m + k])


def spread_softness(holders: Holders, soft: Vector, size: int) -> Vector:
    """Return (3m + c,) how much each row yields.

    Args:
        holders: Joints that touch.
        soft: (n + c,) how much the contacts of each joint and each limit yield.
        size: Number of rows.
    """
    m, n, yields = len(holders.slots), len(holders.W), np.empty(size)
    for row in range(3 * m):
        yields[holders.places[row]] = soft[holders.owners[row]]
    for k in range(size - 3 * m):
        yields[m + k] = soft[n + k]
    return yields


def share_out(
    holders: Holders,
    inverse: Matrix,
    wrenches: tuple[Vector, Vector],
    soft: Vector,
    rows: tuple[Vector, Vector, Vector],
) -> None:
    """Write the impulses of all rows that wrenches are made of.

    Args:
        holders: Joints that touch.
        inverse: (n, 6, 6) blocks of N^-1.
        wrenches: Right side and wrenches (6n + c,).
        soft: (n + c,) how much contacts yield.
        rows: Points and limits that are tried (m + c,), right sides (3m + c,), overwritten with impulses, and room for as many.
    """
    held, w = wrenches
    chosen, p, rest = rows
    m = len(holders.slots)
    y = w.copy()
    apply_blocks(inverse, y)
    for s in range(len(inverse)):
        share = 1.0 / soft[s]
        for k in range(6 * s, 6 * s + 6):
            y[k] -= held[k] * share
    spread(holders, y, rest)
    for row in range(3 * m):
        place = holders.places[row]
        p[place] = chosen[holders.origins[row]] * (
            rest[place] + p[place] / soft[holders.owners[row]]
        )
    for k in range(m, len(chosen)):
        p[k] = chosen[k] * rest[k]


PARTS = (
    gather_wrenches,
    apply_blocks,
    spread,
    collect,
    relate_rows,
    spread_softness,
    share_out,
)
