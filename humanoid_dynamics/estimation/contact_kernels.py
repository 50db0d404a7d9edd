# SPDX-License-Identifier: Apache-2.0
"""Contact wrenches by a generalized-momentum observer, and contact states from all cues, as kernels over plain arrays.

The dynamics are written in the frame that moves with the IMU: its axes are those of the IMU, the velocity of the IMU
is zero and minus its specific force is gravity.  Orientation and velocity of the robot in the world are not needed.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_dynamics.estimation.kernels import (
    correct_height,
    correct_turn,
    correct_velocity,
    retract,
    retract_history,
)
from humanoid_dynamics.spatial.arrays import Matrix, Vector


def observe_momentum(
    M: Matrix,
    C: Matrix,
    gravity: Vector,
    v: Vector,
    tau: Vector,
    momentum: Vector,
    residual: Vector,
    gain: float,
    dt: float,
) -> None:
    """Update the external generalized force r of d(M v)/dt = tau + C^T v - g + r, low-passed with a gain [1/s].

    Args:
        M: (nv, nv) mass matrix, upper triangle.
        C: (nv, nv) Coriolis matrix with dM/dt = C + C^T.
        gravity: (nv,) generalized gravity.
        v: (nv,) velocity.
        tau: (nv,) generalized force of motors and friction.
        momentum: (nv,) momentum of the sample before, changed in place.
        residual: (nv,) r, changed in place.
        gain: Gain of the observer [1/s].
        dt: Time since the sample before [s]; at zero only the momentum is stored.
    """
    n = len(v)
    for i in range(n):
        p, force = 0.0, tau[i] - gravity[i]
        for j in range(n):
            p += (M[i, j] if j >= i else M[j, i]) * v[j]
            force += C[j, i] * v[j]
        if dt > 0.0:
            change = p - momentum[i] - force * dt
            residual[i] = (residual[i] + gain * change) / (1.0 + gain * dt)
        momentum[i] = p


def fit_wrenches(J: Matrix, residual: Vector, weights: Vector, prior: Matrix, out: Matrix) -> None:
    """Fit contact wrenches to the residual: least squares over base and leg rows, with a prior of mean zero.

    Args:
        J: (n, 6, nv) Jacobians of the surface frames.
        residual: (nv,) external generalized force.
        weights: (nv,) weights of its rows.
        prior: (n, 6) inverse variances of the wrenches.
        out: (n, 6) wrenches [N, N·m].
    """
    n, nv = J.shape[0], J.shape[2]
    size = 6 * n
    A, b = np.zeros((size, size)), np.zeros(size)
    for i in range(size):
        for k in range(nv):
            a = J[i // 6, i % 6, k] * weights[k]
            if a != 0.0:
                b[i] += a * residual[k]
                for j in range(i + 1):
                    A[i, j] += a * J[j // 6, j % 6, k]
        A[i, i] += prior[i // 6, i % 6]
    solve_positive(A, b)
    for i in range(size):
        out[i // 6, i % 6] = b[i]


def solve_positive(A: Matrix, b: Vector) -> None:
    """Solve A x = b in place by Cholesky's factorisation; only the lower triangle of A is read."""
    size = len(b)
    for i in range(size):
        for j in range(i + 1):
            s = A[i, j]
            for k in range(j):
                s -= A[i, k] * A[j, k]
            A[i, j] = math.sqrt(s) if i == j else s / A[j, j]
    for i in range(size):
        for k in range(i):
            b[i] -= A[i, k] * b[k]
        b[i] /= A[i, i]
    for i in range(size - 1, -1, -1):
        for k in range(i + 1, size):
            b[i] -= A[k, i] * b[k]
        b[i] /= A[i, i]


def estimate_wrenches(
    M: Matrix,
    C: Matrix,
    gravity: Vector,
    v: Vector,
    tau: Vector,
    momentum: Vector,
    residual: Vector,
    gain: float,
    dt: float,
    J: Matrix,
    weights: Vector,
    prior: Matrix,
    wrenches: Matrix,
) -> None:
    """Update the momentum observer, then fit contact wrenches to it."""
    observe_momentum(M, C, gravity, v, tau, momentum, residual, gain, dt)
    fit_wrenches(J, residual, weights, prior, wrenches)


def locate_point(
    X: Matrix,
    R: Matrix,
    p: Vector,
    twist: Vector,
    corners: Matrix,
    edge: float,
    point: Vector,
    speed: Vector,
) -> tuple[float, float]:
    """Locate the loaded point of a surface: the mean of its corners, the lower the heavier.

    Args:
        X: (7, 3) state.
        R: (3, 3) rotation of the surface in IMU axes.
        p: (3,) its place in IMU axes [m].
        twist: (6,) its twist in its own axes.
        corners: (k, 3) corners in the surface frame [m].
        edge: Height over which the weight falls to 1/e [m].
        point: (3,) the point in IMU axes, written [m].
        speed: (3,) its velocity in IMU axes, written [m/s].

    Returns:
        Height of its lowest corner in the world and spread of the heights [m].
    """
    up, heights = np.empty(3), np.empty(len(corners))
    for j in range(3):
        up[j] = X[2, 0] * R[0, j] + X[2, 1] * R[1, j] + X[2, 2] * R[2, j]
    for k in range(len(corners)):
        heights[k] = up[0] * corners[k, 0] + up[1] * corners[k, 1] + up[2] * corners[k, 2]
    lowest, total = heights.min(), 0.0
    c, u = np.zeros(3), np.empty(3)
    for k in range(len(corners)):
        w = math.exp(-(heights[k] - lowest) / edge)
        total += w
        for i in range(3):
            c[i] += w * corners[k, i]
    for i in range(3):
        c[i] /= total
    u[0] = twist[0] + twist[4] * c[2] - twist[5] * c[1]
    u[1] = twist[1] + twist[5] * c[0] - twist[3] * c[2]
    u[2] = twist[2] + twist[3] * c[1] - twist[4] * c[0]
    for i in range(3):
        point[i] = p[i] + R[i, 0] * c[0] + R[i, 1] * c[1] + R[i, 2] * c[2]
        speed[i] = R[i, 0] * u[0] + R[i, 1] * u[1] + R[i, 2] * u[2]
    base = X[4, 2] + X[2, 0] * p[0] + X[2, 1] * p[1] + X[2, 2] * p[2]
    return base + lowest, heights.max() - lowest


def fuse_cues(
    contacts: Matrix,
    heights: Vector,
    cues: tuple[float, ...],
) -> None:
    """Update probability and state of the contacts from load, height over the other contacts, and schedule."""
    force, force_spread, lift, lift_spread, lift_most, planned, close, open_ = cues
    for i in range(len(contacts)):
        odds = (contacts[i, 2] - force) / force_spread
        reference, most = 0.0, force
        for j in range(len(contacts)):
            if j != i and contacts[j, 2] > most:
                reference, most = heights[j], contacts[j, 2]
        if most > force:
            odds += max(-lift_most, min(1.0, (reference + lift - heights[i]) / lift_spread))
        odds += planned * contacts[i, 5]
        probability = 1.0 / (1.0 + math.exp(-max(-40.0, min(40.0, odds))))
        contacts[i, 0] = probability
        if probability > close:
            contacts[i, 1] = 1.0
        elif probability < open_:
            contacts[i, 1] = 0.0


def correct_with_contacts(
    X: Matrix,
    P: Matrix,
    history: Matrix,
    newest: int,
    back: int,
    R: Matrix,
    p: Matrix,
    twists: Matrix,
    corners: Matrix,
    counts: Vector,
    contacts: Matrix,
    points: Matrix,
    dt: float,
    cues: tuple[float, ...],
    noise: tuple[float, ...],
) -> None:
    """Locate the contacts, fuse their cues, and correct the state with those that carry load.

    Args:
        X: (7, 3) newest state, changed in place.
        P: (15, 15) covariance, changed in place.
        history: (m, 7, 3) ring buffer of states, changed in place.
        newest: Its newest row.
        back: How many rows before the newest the sample belongs to.
        R: (n, 3, 3) rotations of the surfaces in IMU axes.
        p: (n, 3) their places in IMU axes [m].
        twists: (n, 6) their twists in their own axes.
        corners: (n, k, 3) their corners [m].
        counts: (n,) how many corners each has.
        contacts: (n, 7) numbers of the contacts, changed in place.
        points: (n, 3) loaded points in IMU axes, changed in place [m].
        dt: Time since the sample before [s]; nothing is corrected at zero.
        cues: Numbers of ``fuse_cues``.
        noise: Numbers of the measurements, in the order in which they are unpacked.
    """
    (
        edge,
        scale,
        variance,
        full,
        turn_scale,
        turn_variance,
        flat,
        floor,
        floor_scale,
        floor_variance,
        slip_filter,
        least,
        rolling,
    ) = noise
    n, rows = len(contacts), len(history)
    then = history[(newest - back) % rows]
    heights, spreads, speeds = np.empty(n), np.empty(n), np.empty((n, 3))
    for i in range(n):
        corner = corners[i, : int(counts[i])]
        heights[i], spreads[i] = locate_point(
            then, R[i], p[i], twists[i], corner, edge, points[i], speeds[i]
        )
    fuse_cues(contacts, heights, cues)
    delta, turn = np.zeros(15), np.empty(3)
    for i in range(n):
        square = 0.0
        for k in range(3):
            u = then[3, k] + then[k, 0] * speeds[i, 0] + then[k, 1] * speeds[i, 1]
            square += (u + then[k, 2] * speeds[i, 2]) ** 2
        share = dt / (dt + slip_filter)
        contacts[i, 3] += share * (math.sqrt(square) - contacts[i, 3])
        contacts[i, 4] = 0.0
        if contacts[i, 0] < least or dt <= 0.0:
            continue
        growth = max(1.0, full / max(contacts[i, 2], 1.0)) / contacts[i, 0]
        roll = 0.0
        for k in range(3):
            roll += (twists[i, 3 + k] / rolling) ** 2
        growth *= 1.0 + roll
        contacts[i, 4] = correct_velocity(
            then, P, delta, points[i], speeds[i], scale, variance / dt * growth
        )
        if spreads[i] < flat and int(counts[i]) > 2:
            for k in range(3):
                turn[k] = (
                    R[i, k, 0] * twists[i, 3]
                    + R[i, k, 1] * twists[i, 4]
                    + R[i, k, 2] * twists[i, 5]
                )
            correct_turn(P, delta, turn, turn_scale, turn_variance / dt * growth)
        if floor == floor:
            correct_height(
                then, P, delta, points[i], floor, floor_scale, floor_variance / dt * growth
            )
    retract(X, delta)
    retract_history(history, rows, newest, back + 1, delta)
