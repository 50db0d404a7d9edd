# SPDX-License-Identifier: Apache-2.0
"""Joints that touch, and the wrenches on them of the points that take part, written so that numba can compile it.

Short sums are written out: a loop of six, or a call for each row, costs more than what it does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from humanoid_dynamics.simulation.steps.bench import Bench
from humanoid_dynamics.simulation.steps.rows import (
    JOINT,
    N_AXES,
    N_PLACE,
    N_POINT,
    N_SHAPE,
    S_JOINT,
)
from humanoid_dynamics.spatial.arrays import Indices, Matrix


class Holders(NamedTuple):
    """Joints that touch, and how.

    Attributes:
        W: (n, nv, 6) what the inertia makes of the Jacobian of each, about a point where it touches.
        wrenches: (3m, 6) wrench on its joint of a unit impulse along each row: normals of all points, then both tangents.
        slots: (m,) which of the joints carries each point.
        others: (m,) which of them it touches, -1 for what stands still.
        owners: (3m,) which of the joints carries the point of each row.
        origins: (3m,) the point of each row.
        places: (3m,) where each row is among those of all points and limits: normals, limits, tangents.
        chains: (n, nv) coordinates that move each joint, or all.
        depths: (n,) how many these are.
        middles: (n, 3) the point its wrenches refer to [m].
    """

    W: Matrix
    wrenches: Matrix
    slots: Indices
    others: Indices
    owners: Indices
    origins: Indices
    places: Indices
    chains: Indices
    depths: Indices
    middles: Matrix


def whiten_joint(
    bench: Bench, chain: tuple[Indices, int], middles: Matrix, s: int, W: Matrix
) -> None:
    """Write what the inertia makes of the Jacobian of a joint, six numbers for each coordinate that moves it.

    Args:
        bench: All tables.
        chain: (n, nv) coordinates that move each joint, the last one first, and their number for this one.
        middles: (n, 3) points that moments and velocities refer to, in the world [m].
        s: Which of the joints.
        W: (n, nv, 6) zero; L^-T J^T of each.
    """
    JT, L = bench.JT, bench.L
    chains, depth = chain
    x, y, z = middles[s, 0], middles[s, 1], middles[s, 2]
    for r in range(depth):
        i = chains[s, r]
        d, e, f = JT[i, 3], JT[i, 4], JT[i, 5]
        a, b, c = JT[i, 0] + e * z - f * y, JT[i, 1] + f * x - d * z, JT[i, 2] + d * y - e * x
        for t in range(r):
            k = chains[s, t]
            share = L[k, i]
            a -= share * W[s, k, 0]
            b -= share * W[s, k, 1]
            c -= share * W[s, k, 2]
            d -= share * W[s, k, 3]
            e -= share * W[s, k, 4]
            f -= share * W[s, k, 5]
        share = 1.0 / L[i, i]
        W[s, i, 0], W[s, i, 1], W[s, i, 2] = share * a, share * b, share * c
        W[s, i, 3], W[s, i, 4], W[s, i, 5] = share * d, share * e, share * f


def list_holders(
    bench: Bench, slots: Indices, others: Indices, lasts: Indices, middles: Matrix
) -> int:
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
        carrier, other = (
            int(bench.points[int(near[k, N_POINT]), JOINT]),
            int(bench.shapes[int(near[k, N_SHAPE]), S_JOINT]),
        )
        for joint in (carrier, other):
            if index[joint] < 0 and (joint > 0 or joint == carrier):
                index[joint] = used
                lasts[used] = bench.joints[joint, 2]
                middles[used, 0], middles[used, 1], middles[used, 2] = (
                    near[k, N_PLACE],
                    near[k, N_PLACE + 1],
                    near[k, N_PLACE + 2],
                )
                used += 1
        slots[i], others[i] = index[carrier], index[other] if other > 0 else -1
    return used


def find_holders(bench: Bench, m: int, count: int) -> Holders:
    """Return the joints that carry or are touched by a point that takes part, with the wrenches of all rows of these points.

    Args:
        bench: All tables.
        m: Number of points that take part.
        count: Number of points and limits that do.
    """
    nv, indices, room = len(bench.parents), bench.indices, bench.room
    slots, others, lasts = indices[:m], indices[m : 2 * m], indices[2 * m : 4 * m]
    owners, origins, places = (
        indices[4 * m : 7 * m],
        indices[7 * m : 10 * m],
        indices[10 * m : 13 * m],
    )
    wrenches, middles = room[: 18 * m].reshape(3 * m, 6), room[18 * m : 24 * m].reshape(2 * m, 3)
    used = list_holders(bench, slots, others, lasts, middles)
    depths, chains = (
        indices[13 * m : 13 * m + used],
        indices[15 * m : 15 * m + used * nv].reshape(used, nv),
    )
    W = room[24 * m : 24 * m + 6 * nv * used].reshape(used, nv, 6)
    room[24 * m : 24 * m + 6 * nv * used] = 0.0
    for s in range(used):
        i, depth = lasts[s], 0
        while i >= 0:
            chains[s, depth] = i
            depth += 1
            i = bench.parents[i]
        depths[s] = depth
        whiten_joint(bench, (chains, depth), middles, s, W)
    for axis in range(3):
        for i in range(m):
            row = axis * m + i
            owners[row], origins[row], places[row] = (
                slots[i],
                i,
                row if axis == 0 else row + count - m,
            )
    write_wrenches(bench, middles, owners, wrenches)
    return Holders(W, wrenches, slots, others, owners, origins, places, chains, depths, middles)


def write_wrenches(bench: Bench, middles: Matrix, joints: Indices, wrenches: Matrix) -> None:
    """Write a unit force along each row as a wrench.

    Args:
        bench: All tables.
        middles: (n, 3) points that moments refer to [m].
        joints: (3m,) which of them each refers to; nothing is written where that is negative.
        wrenches: (3m, 6) force and moment, overwritten.
    """
    near, chosen, m = bench.near, bench.chosen, len(joints) // 3
    for axis in range(3):
        column = N_AXES + 3 * axis
        for i in range(m):
            row, k = axis * m + i, chosen[i]
            s = joints[row]
            if s >= 0:
                a, b, c = near[k, column], near[k, column + 1], near[k, column + 2]
                x, y, z = (
                    near[k, N_PLACE] - middles[s, 0],
                    near[k, N_PLACE + 1] - middles[s, 1],
                    near[k, N_PLACE + 2] - middles[s, 2],
                )
                wrenches[row, 0], wrenches[row, 1], wrenches[row, 2] = a, b, c
                wrenches[row, 3], wrenches[row, 4], wrenches[row, 5] = (
                    y * c - z * b,
                    z * a - x * c,
                    x * b - y * a,
                )


def oppose(bench: Bench, holders: Holders) -> tuple[Indices, Matrix]:
    """Return (3m,) which joint the point of each row touches, -1 for what stands still, and (3m, 6) the wrench of the row about it.

    Args:
        bench: All tables.
        holders: Joints that touch.
    """
    joints, wrenches = (
        np.empty(len(holders.owners), dtype=np.intp),
        np.zeros((len(holders.owners), 6)),
    )
    for row in range(len(joints)):
        joints[row] = holders.others[holders.origins[row]]
    write_wrenches(bench, holders.middles, joints, wrenches)
    return joints, wrenches


PARTS = (
    whiten_joint,
    list_holders,
    find_holders,
    write_wrenches,
    oppose,
)
