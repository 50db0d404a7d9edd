"""Impulses of points from the wrenches on their joints, and back, written so that numba can compile it."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.simulation.holders import Holders
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector


def gather_wrenches(wrenches: Matrix, slots: Indices, chosen: Vector, N: Matrix) -> None:
    """Write sums of w w^T over all rows of the points of each joint that are tried.

    Args:
        wrenches: (3m, 6) of all rows.
        slots: (m,) joint of each point.
        chosen: (m,) one where a point is tried, zero elsewhere.
        N: (n, 6, 6) zero; the sums.
    """
    m = len(slots)
    for row in range(3 * m):
        if chosen[row % m] > 0.0:
            s = slots[row % m]
            for k in range(6):
                x = wrenches[row, k]
                for j in range(6):
                    N[s, k, j] += x * wrenches[row, j]


def apply_blocks(blocks: Matrix, x: Vector) -> None:
    """Overwrite x with B x for a matrix that has blocks on its diagonal, and ones after them.

    Args:
        blocks: (n, 6, 6) these.
        x: (6n + c,) vector.
    """
    y = np.empty(6)
    for s in range(len(blocks)):
        for k in range(6):
            y[k] = 0.0
            for j in range(6):
                y[k] += blocks[s, k, j] * x[6 * s + j]
        for k in range(6):
            x[6 * s + k] = y[k]


def spread(holders: Holders, x: Vector, y: Vector) -> None:
    """Write the products of the wrenches of all rows with a vector over all joints, and what limits have of it.

    Args:
        holders: Joints that touch.
        x: (6n + c,) the vector.
        y: (3m + c,) products, overwritten.
    """
    wrenches, slots, m, first = holders.wrenches, holders.slots, len(holders.slots), 6 * len(holders.W)
    limits = len(x) - first
    for row in range(3 * m):
        total, s = 0.0, 6 * slots[row % m]
        for k in range(6):
            total += wrenches[row, k] * x[s + k]
        y[row if row < m else row + limits] = total
    for k in range(limits):
        y[m + k] = x[first + k]


def collect(holders: Holders, p: Vector, x: Vector) -> None:
    """Write the wrenches on all joints of the impulses of all rows, and the impulses of limits.

    Args:
        holders: Joints that touch.
        p: (3m + c,) impulses.
        x: (6n + c,) wrenches, overwritten.
    """
    wrenches, slots, m, first = holders.wrenches, holders.slots, len(holders.slots), 6 * len(holders.W)
    limits = len(x) - first
    for k in range(len(x)):
        x[k] = p[m + k - first] if k >= first else 0.0
    for row in range(3 * m):
        s, share = 6 * slots[row % m], p[row if row < m else row + limits]
        for k in range(6):
            x[s + k] += wrenches[row, k] * share


def spread_softness(holders: Holders, soft: Vector, size: int) -> Vector:
    """Return (3m + c,) how much each row yields.

    Args:
        holders: Joints that touch.
        soft: (n + c,) how much the contacts of each joint and each limit yield.
        size: Number of rows.
    """
    m, n, yields = len(holders.slots), len(holders.W), np.empty(size)
    count = size - 2 * m
    for row in range(size):
        i = row if row < count else (row - count) % m
        yields[row] = soft[holders.slots[i]] if i < m else soft[n + i - m]
    return yields


def share_out(
    holders: Holders, inverse: Matrix, wrenches: tuple[Vector, Vector], soft: Vector, rows: tuple[Vector, Vector, Vector]
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
    m, count, first = len(holders.slots), len(chosen), 6 * len(inverse)
    y = w.copy()
    apply_blocks(inverse, y)
    for k in range(first):
        y[k] -= held[k] / soft[k // 6]
    spread(holders, y, rest)
    for row in range(len(p)):
        if row < m:
            p[row] = chosen[row] * (rest[row] + p[row] / soft[holders.slots[row]])
        elif row < count:
            p[row] = chosen[row] * rest[row]
        else:
            p[row] = chosen[(row - count) % m] * (rest[row] + p[row] / soft[holders.slots[(row - count) % m]])


PARTS = (
    gather_wrenches,
    apply_blocks,
    spread,
    collect,
    spread_softness,
    share_out,
)
