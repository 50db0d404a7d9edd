"""Joints that touch, and the wrenches on them of the points that take part, written so that numba can compile it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from humanoid_dynamics.simulation.bench import Bench
from humanoid_dynamics.simulation.rows import JOINT, N_AXES, N_PLACE, N_POINT, N_SHAPE, S_JOINT
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector


class Holders(NamedTuple):
    """Joints that touch, and how.

    Attributes:
        W: (n, nv, 6) what the inertia makes of the Jacobian of each, about a point where it touches.
        wrenches: (3m, 6) wrench on its joint of a unit impulse along each row: normals of all points, then both tangents.
        slots: (m,) which of the joints carries each point.
        others: (m,) which of them it touches, -1 for what stands still.
        lasts: (n,) last coordinate of each joint.
        middles: (n, 3) the point its wrenches refer to [m].
    """

    W: Matrix
    wrenches: Matrix
    slots: Indices
    others: Indices
    lasts: Indices
    middles: Matrix


def whiten_joint(bench: Bench, last: int, middle: Vector, W: Matrix) -> None:
    """Write what the inertia makes of the Jacobian of a joint, six numbers for each coordinate that moves it.

    Args:
        bench: All tables.
        last: Last coordinate of the joint.
        middle: (3,) point that moments and velocities refer to, in the world [m].
        W: (nv, 6) zero; L^-T J^T.
    """
    JT, L, parents = bench.JT, bench.L, bench.parents
    x, y, z = middle[0], middle[1], middle[2]
    i = last
    while i >= 0:
        a, b, c = JT[i, 3], JT[i, 4], JT[i, 5]
        W[i, 0], W[i, 1], W[i, 2] = JT[i, 0] + b * z - c * y, JT[i, 1] + c * x - a * z, JT[i, 2] + a * y - b * x
        W[i, 3], W[i, 4], W[i, 5] = a, b, c
        i = parents[i]
    i = last
    while i >= 0:
        share = 1.0 / L[i, i]
        for k in range(6):
            W[i, k] *= share
        j = parents[i]
        while j >= 0:
            for k in range(6):
                W[j, k] -= L[i, j] * W[i, k]
            j = parents[j]
        i = parents[i]


def list_holders(bench: Bench, slots: Indices, others: Indices, lasts: Indices, middles: Matrix) -> int:
    """List the joints that carry or are touched by a point that takes part; return their number.

    Args:
        bench: All tables.
        slots: (m,) which of these joints carries each point, overwritten.
        others: (m,) which of them it touches, -1 for what stands still, overwritten.
        lasts: (2m,) last coordinate of each, overwritten.
        middles: (2m, 3) a point where it touches [m], overwritten.
    """
    index, used, near = np.full(len(bench.joints), -1), 0, bench.near
    for i in range(len(slots)):
        k = bench.chosen[i]
        carrier, other = int(bench.points[int(near[k, N_POINT]), JOINT]), int(bench.shapes[int(near[k, N_SHAPE]), S_JOINT])
        for joint in (carrier, other):
            if index[joint] < 0 and (joint > 0 or joint == carrier):
                index[joint] = used
                lasts[used] = bench.joints[joint, 2]
                middles[used] = near[k, N_PLACE : N_PLACE + 3]
                used += 1
        slots[i], others[i] = index[carrier], index[other] if other > 0 else -1
    return used


def find_holders(bench: Bench, m: int) -> Holders:
    """Return the joints that carry or are touched by a point that takes part, with the wrenches of all rows of these points.

    Args:
        bench: All tables.
        m: Number of points that take part.
    """
    slots, others = np.empty(m, dtype=np.intp), np.empty(m, dtype=np.intp)
    lasts, middles = np.empty(2 * m, dtype=np.intp), np.empty((2 * m, 3))
    used = list_holders(bench, slots, others, lasts, middles)
    W, wrenches = np.zeros((used, len(bench.parents), 6)), np.empty((3 * m, 6))
    for s in range(used):
        whiten_joint(bench, lasts[s], middles[s], W[s])
    for row in range(3 * m):
        write_wrench(bench.near, (bench.chosen[row % m], row // m), middles, slots[row % m], wrenches[row])
    return Holders(W, wrenches, slots, others, lasts, middles)


def write_wrench(near: Matrix, row: tuple[int, int], middles: Matrix, s: int, wrench: Vector) -> None:
    """Write a unit force along an axis of a near point as a wrench.

    Args:
        near: Table of near points.
        row: Row of the point there, and which axis.
        middles: (n, 3) points that moments refer to [m].
        s: Which of them.
        wrench: (6,) force and moment, overwritten.
    """
    k, axis = row
    a, b, c = near[k, N_AXES + 3 * axis], near[k, N_AXES + 3 * axis + 1], near[k, N_AXES + 3 * axis + 2]
    x, y, z = near[k, N_PLACE] - middles[s, 0], near[k, N_PLACE + 1] - middles[s, 1], near[k, N_PLACE + 2] - middles[s, 2]
    wrench[0], wrench[1], wrench[2] = a, b, c
    wrench[3], wrench[4], wrench[5] = y * c - z * b, z * a - x * c, x * b - y * a


PARTS = (
    whiten_joint,
    list_holders,
    find_holders,
    write_wrench,
)
