# SPDX-License-Identifier: Apache-2.0
"""Wanted accelerations of ``feedback`` as loops for numba.

``gains`` holds: of joints of position and velocity, of the point of position and velocity, the share of its correction, whether the base
is free, and what it costs to move a sole that stands.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from humanoid_dynamics.papers.dynamics_filter.kernel_frames import Motion, move_point, read_rows
from humanoid_dynamics.papers.dynamics_filter.kernel_solution import apply, factor, resolve
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

Point: TypeAlias = tuple[Matrix, Vector, Matrix, Vector, Matrix]

APART: tuple[
    str, ...
] = ()  # of the parts of kernels here, those that are not copied to where they are called
JOINT_P, JOINT_D, POINT_P, POINT_D, SHARE, FREE, COST, WEIGHTS = 0, 1, 2, 3, 4, 5, 6, 7
SOFT = 1e-12  # share of the trace that bounds the pseudo-inverse
TINY = 1e-12  # rad
WIDEST = 3.0  # rad; beyond it a logarithm needs more care than it gets here


def want(
    v: Vector, wish: tuple[Vector, Vector, Vector, Point], gains: Vector, wanted: Vector
) -> None:
    """Write a_ref + K_D (v_ref - v) + K_P (q_ref - q), the rates of a free base turned into its axes [DF, eq. 3]."""
    error, v_ref, a_ref, _ = wish
    for i in range(len(v)):
        wanted[i] = a_ref[i] + gains[JOINT_D] * (v_ref[i] - v[i]) + gains[JOINT_P] * error[i]
    if gains[FREE] == 0.0:
        return
    R = np.empty((3, 3))
    if not turn(error[3:6], R):
        return
    for i in range(3):
        for first in (0, 3):
            for k in range(3):
                both = gains[JOINT_D] * v_ref[first + k] + a_ref[first + k]
                wanted[first + i] += (R[i, k] - (1.0 if i == k else 0.0)) * both


def turn(w: Vector, R: Matrix) -> bool:
    """Write the rotation by a vector; return whether it is more than none."""
    angle = (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]) ** 0.5
    if angle < TINY:
        return False
    c = 0.5 * (np.sin(0.5 * angle) / (0.5 * angle)) ** 2
    s = np.sin(angle) / angle
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        R[i, i] = 1.0 - c * (w[j] * w[j] + w[k] * w[k])
        R[i, j] = c * w[i] * w[j] - s * w[k]
        R[j, i] = c * w[i] * w[j] + s * w[k]
    return True


def find_turn(A: Matrix, B: Matrix, w: Vector) -> bool:
    """Write the rotation vector of A B'; return False where it is too wide for this."""
    trace = 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        w[i] = 0.0
        for m in range(3):
            trace += A[i, m] * B[i, m]
            w[i] += 0.5 * (A[k, m] * B[j, m] - A[j, m] * B[k, m])
    sine = (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]) ** 0.5
    angle = np.arctan2(sine, 0.5 * (trace - 1.0))
    if not angle < WIDEST:
        return False
    if sine > TINY:
        for i in range(3):
            w[i] *= angle / sine
    return True


def correct(
    tree: tuple[Matrix, Vector, Vector, Matrix, Matrix],
    wish: tuple[Vector, Vector, Vector, Point],
    robot: tuple[Indices, Indices, Vector],
    wanted: Vector,
) -> bool:
    """Add to the wanted acceleration what the control point needs [DF, eq. 4-6], in the metric M + cost J' J by the factors of M.

    Args:
        tree: U and D with M = U D U', velocity, joint Jacobian, rows of the soles that stand.
        wish: As in ``kernels``.
        robot: Size of the subtree of each coordinate; way to the point; gains.
        wanted: (nv,) changed.

    Returns:
        Whether it could be found.
    """
    U, D, v, joints, J = tree
    _, v_ref, a_ref, (R, p, R_ref, p_ref, joints_ref) = wish
    subtree, way, gains = robot
    nv, k = len(v), len(J)
    y, w = np.empty(6), np.empty(3)
    if not find_turn(R_ref, R, w):
        return False
    miss_point((joints, v, wanted), (joints_ref, v_ref, a_ref), way, (p, p_ref, w, gains), y)
    rows, Z = np.zeros((6 + k, nv)), np.empty((nv, 6 + k))
    read_rows(joints, way, p, rows[k:])
    rows[:k] = J
    turn_over(rows, Z)
    root, x = np.empty(nv), np.empty(6 + k)
    if not reduce_tree(U, D, subtree, Z, root) or not weigh_point(Z, gains, y, x):
        return False
    change = np.empty(nv)
    apply(Z, x, change)
    for i in range(nv):
        change[i] /= root[i]
    for i in range(nv):
        for m in range(i + 1, i + subtree[i]):
            change[m] -= U[i, m] * change[i]
        wanted[i] += gains[SHARE] * change[i]
    return True


def turn_over(J: Matrix, Z: Matrix) -> None:
    """Write J' into Z."""
    for i in range(len(Z)):
        for r in range(len(J)):
            Z[i, r] = J[r, i]


def miss_point(
    motion: Motion,
    reference: Motion,
    way: Indices,
    off: tuple[Vector, Vector, Vector, Vector],
    y: Vector,
) -> None:
    """Write what the acceleration of the point misses of what it should be [DF, eq. 4]; its turn is found already."""
    p, p_ref, w, gains = off
    V, A, V_ref = np.empty(6), np.empty(6), np.empty(6)
    move_point(motion, way, p, V, A)
    move_point(reference, way, p_ref, V_ref, y)
    for i in range(6):
        miss = p_ref[i] - p[i] if i < 3 else w[i - 3]
        y[i] += gains[POINT_D] * (V_ref[i] - V[i]) + gains[POINT_P] * miss - A[i]


def reduce_tree(U: Matrix, D: Vector, subtree: Indices, Z: Matrix, root: Vector) -> bool:
    """Replace Z by D^-1/2 U^-1 Z, and write D^1/2; branches in which Z is zero are passed over."""
    nv = len(D)
    used = np.empty(nv)
    for i in range(nv - 1, -1, -1):
        for m in range(i + 1, i + subtree[i]):
            if used[m] != 0.0:
                share = U[i, m] * root[m]
                for r in range(Z.shape[1]):
                    Z[i, r] -= share * Z[m, r]
        if not D[i] > 0.0:
            return False
        root[i] = D[i] ** 0.5
        share, total = 1.0 / root[i], 0.0
        for r in range(Z.shape[1]):
            Z[i, r] *= share
            total += abs(Z[i, r])
        used[i] = total
    return True


def weigh_point(Z: Matrix, gains: Vector, y: Vector, x: Vector) -> bool:
    """Write x with change = U'^-1 D^-1/2 Z x: the forces at the point that give it y, and what soles that stand take of them."""
    m = Z.shape[1]
    T, trace = np.zeros((m, m)), 0.0
    square_columns(Z, T)
    for r in range(m - 6, m):
        trace += T[r, r]
    for r in range(m):
        T[r, r] += 1.0 / gains[COST] if r < m - 6 else SOFT * trace
        x[r] = 0.0 if r < m - 6 else y[r - m + 6]
    if not factor(T):
        return False
    resolve(T, x)
    return True


def square_columns(Z: Matrix, T: Matrix) -> None:
    """Add the lower triangle of Z' Z to T; most of Z is zero."""
    for i in range(len(Z)):
        for r in range(len(T)):
            share = Z[i, r]
            if share != 0.0:
                for c in range(r + 1):
                    T[r, c] += share * Z[i, c]


WISHES = (
    turn,
    want,
    find_turn,
    miss_point,
    turn_over,
    reduce_tree,
    square_columns,
    weigh_point,
    correct,
)
