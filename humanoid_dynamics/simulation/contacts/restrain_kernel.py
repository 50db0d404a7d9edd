# SPDX-License-Identifier: Apache-2.0
"""What bilateral rows leave of the motion at the end of a step, and of the rows of contacts and limits: as numba compiles it."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.simulation.contacts.contact_build import build_points
from humanoid_dynamics.simulation.contacts.holders import Holders
from humanoid_dynamics.simulation.contacts.thresholds import LEFT
from humanoid_dynamics.simulation.steps.bench import A_GUESS, A_WANTED, Bench
from humanoid_dynamics.simulation.steps.row_kernel import (
    multiply_rows,
    restrain_joint,
    restrain_row,
)
from humanoid_dynamics.simulation.steps.rows import Z_END, Z_FREE, Z_START
from humanoid_dynamics.spatial.arrays import Matrix


def hold_start(bench: Bench) -> None:
    """Write the whitened velocity at the end that bilateral rows alone would leave: they hold the mean of start and end.

    Args:
        bench: All tables.
    """
    Q, dofs = bench.Q, bench.dofs
    for i in range(dofs.shape[1]):
        dofs[Z_END, i] = dofs[Z_FREE, i]
    for k in range(len(Q)):
        share = multiply_rows(Q[k], dofs[Z_FREE]) + multiply_rows(Q[k], dofs[Z_START])
        for i in range(dofs.shape[1]):
            dofs[Z_END, i] -= share * Q[k, i]


def build_rows(bench: Bench, holders: Holders, X: Matrix) -> Matrix:
    """Return (3m + c, nv) whitened rows of all points and limits: normals, limits, tangents.

    Args:
        bench: All tables.
        holders: Joints that touch.
        X: (c, nv) whitened rows of the limits.
    """
    m = len(holders.slots)
    B = np.zeros((3 * m + len(X), X.shape[1]))
    build_points(bench, holders, B)
    B[m : m + len(X)] = X
    return B


def restrain_rows(bench: Bench, holders: Holders, X: Matrix, B: Matrix) -> None:
    """Take out of all rows what the bilateral rows hold; one of which nothing but round-off is left is zero, and wants nothing.

    Args:
        bench: All tables; such a row is expected to carry nothing.
        holders: Joints that touch; such a row has no wrench.
        X: (c, nv) whitened rows of the limits, overwritten.
        B: (3m + c, nv) from ``build_rows``, overwritten.
    """
    Q, m = bench.Q, len(holders.slots)
    for s in range(len(holders.W)):
        restrain_joint(Q, holders.W[s])
        reach_all(holders, s)
    held = np.zeros(len(B))
    for row in range(len(B)):
        whole = multiply_rows(B[row], B[row])
        restrain_row(Q, B[row])
        if multiply_rows(B[row], B[row]) <= LEFT * whole:
            held[row] = 1.0
            B[row] = 0.0
            bench.answer[A_WANTED, row] = bench.answer[A_GUESS, row] = 0.0
    for row in range(3 * m):
        if held[holders.places[row]] > 0.0:
            holders.wrenches[row] = 0.0
    X[:] = B[m : m + len(X)]


def reach_all(holders: Holders, s: int) -> None:
    """Let all coordinates count as those that move a joint, as bilateral rows make them.

    Args:
        holders: Joints that touch.
        s: Which of them.
    """
    holders.depths[s] = holders.chains.shape[1]
    for i in range(holders.chains.shape[1]):
        holders.chains[s, i] = i


PARTS = (hold_start, build_rows, restrain_rows, reach_all)
