# SPDX-License-Identifier: Apache-2.0
"""Right-invariant extended Kalman filter on SE_2(3) with biases, as kernels over plain arrays.

``X`` is (7, 3): rows 0-2 the rotation from IMU axes to the world, then velocity and place of the IMU in the world,
gyroscope bias and accelerometer bias.  ``P`` is the (15, 15) covariance of the error xi = (phi, xi_v, xi_p, d_bg, d_ba)
with truth = exp(xi) estimate [Barrau-Bonnabel], [Hartley]: the propagation of the error does not
depend on the trajectory.  Measurements are scalars, applied one after the other; ``delta`` collects the correction.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_dynamics.estimation.settings import SMALL_ANGLE, SMALL_JACOBIAN
from humanoid_dynamics.spatial.arrays import Matrix, Vector

SIZE = 15


def exponential(w: Vector, out: Matrix) -> None:
    """Write the rotation about a vector by its length [rad] to ``out``, (3, 3)."""
    angle = math.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    if angle < SMALL_ANGLE:
        write_series(w, 1.0, 0.5, out)
    else:
        write_series(w, math.sin(angle) / angle, (1.0 - math.cos(angle)) / angle**2, out)


def left_jacobian(w: Vector, out: Matrix) -> None:
    """Write the left Jacobian of the rotation group at a rotation vector to ``out``, (3, 3)."""
    angle = math.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    if angle < SMALL_JACOBIAN:
        write_series(w, 0.5, 1.0 / 6.0, out)
    else:
        sine, cosine = math.sin(angle), math.cos(angle)
        write_series(w, (1.0 - cosine) / angle**2, (angle - sine) / angle**3, out)


def write_series(w: Vector, a: float, b: float, out: Matrix) -> None:
    """Write E + a [w] + b [w] [w] to ``out``, (3, 3)."""
    x, y, z = w[0], w[1], w[2]
    out[0, 0], out[0, 1], out[0, 2] = 1 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y
    out[1, 0], out[1, 1], out[1, 2] = b * x * y + a * z, 1 - b * (x * x + z * z), b * y * z - a * x
    out[2, 0], out[2, 1], out[2, 2] = b * x * z - a * y, b * y * z + a * x, 1 - b * (x * x + y * y)


def multiply(A: Matrix, B: Matrix, out: Matrix) -> None:
    """Write the product of two (3, 3) matrices to a third."""
    for i in range(3):
        for j in range(3):
            out[i, j] = A[i, 0] * B[0, j] + A[i, 1] * B[1, j] + A[i, 2] * B[2, j]


def straighten(R: Matrix) -> None:
    """Make a matrix that is almost a rotation orthonormal, in place: one Newton step to its polar factor."""
    G, H = np.empty((3, 3)), np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            G[i, j] = R[0, i] * R[0, j] + R[1, i] * R[1, j] + R[2, i] * R[2, j]
    for i in range(3):
        for j in range(3):
            H[i, j] = 1.5 * R[i, j] - 0.5 * (
                R[i, 0] * G[0, j] + R[i, 1] * G[1, j] + R[i, 2] * G[2, j]
            )
    R[:, :] = H


def propagate(
    X: Matrix, P: Matrix, gyro: Vector, acc: Vector, dt: float, gravity: float, noise: Vector
) -> None:
    """Propagate state and covariance over one IMU interval.

    Args:
        X: (7, 3) state, changed in place.
        P: (15, 15) covariance, changed in place.
        gyro: (3,) mean angular rate of the interval [rad/s].
        acc: (3,) mean specific force of the interval [m/s²].
        dt: Its length [s].
        gravity: Gravity [m/s²].
        noise: (4,) variances per second of gyroscope, accelerometer, and random walks of their biases.
    """
    F = np.zeros((9, SIZE))
    R = X[:3]
    for i in range(3):
        F[6 + i, 3 + i] = dt
        for j in range(3):
            F[i, 9 + j] = F[3 + i, 12 + j] = -R[i, j] * dt
    F[3, 1], F[4, 0] = gravity * dt, -gravity * dt
    for j in range(3):
        for row, at in ((3, 3), (6, 4)):
            a, b, c = X[at, 0], X[at, 1], X[at, 2]
            F[row, 9 + j] = -(b * R[2, j] - c * R[1, j]) * dt
            F[row + 1, 9 + j] = -(c * R[0, j] - a * R[2, j]) * dt
            F[row + 2, 9 + j] = -(a * R[1, j] - b * R[0, j]) * dt
    spread_covariance(P, F)
    add_noise(X, P, noise, dt)
    turn, step, R_new = np.empty((3, 3)), np.empty(3), np.empty((3, 3))
    for i in range(3):
        step[i] = (gyro[i] - X[5, i]) * dt
    half = 0.5 * step
    exponential(half, turn)
    multiply(R, turn, R_new)
    for i in range(3):
        a = -gravity if i == 2 else 0.0
        for j in range(3):
            a += R_new[i, j] * (acc[j] - X[6, j])
        X[4, i] += (X[3, i] + 0.5 * a * dt) * dt
        X[3, i] += a * dt
    exponential(step, turn)
    multiply(R, turn, R_new)
    straighten(R_new)
    X[:3] = R_new


def spread_covariance(P: Matrix, F: Matrix) -> None:
    """Replace P by (E + F) P (E + F)^T, where F has nine rows that are not zero."""
    N = np.zeros((9, SIZE))
    for i in range(9):
        for k in range(SIZE):
            f = F[i, k]
            if f != 0.0:
                for j in range(SIZE):
                    N[i, j] += f * P[k, j]
    M = np.zeros((9, 9))
    for i in range(9):
        for j in range(9):
            s = 0.0
            for k in range(SIZE):
                s += N[i, k] * F[j, k]
            M[i, j] = s
    for i in range(9):
        for j in range(SIZE):
            P[i, j] += N[i, j]
            P[j, i] += N[i, j]
    for i in range(9):
        for j in range(9):
            P[i, j] += M[i, j]


def add_noise(X: Matrix, P: Matrix, noise: Vector, dt: float) -> None:
    """Add the noise of one interval: the gyroscope acts through (-E, -[v], -[p]), the accelerometer on velocity."""
    G = np.zeros((9, 3))
    for i in range(3):
        G[i, i] = 1.0
    for row, at in ((3, 3), (6, 4)):
        a, b, c = X[at, 0], X[at, 1], X[at, 2]
        G[row, 1], G[row, 2], G[row + 1, 2] = -c, b, -a
        G[row + 1, 0], G[row + 2, 0], G[row + 2, 1] = c, -b, a
    for i in range(9):
        for j in range(9):
            P[i, j] += noise[0] * dt * (G[i, 0] * G[j, 0] + G[i, 1] * G[j, 1] + G[i, 2] * G[j, 2])
    for i in range(3):
        P[3 + i, 3 + i] += noise[1] * dt
        P[9 + i, 9 + i] += noise[2] * dt
        P[12 + i, 12 + i] += noise[3] * dt


def correct_scalar(P: Matrix, delta: Vector, h: Vector, z: float, variance: float) -> None:
    """Apply one scalar measurement z = h xi + noise to the covariance and to the collected correction."""
    Ph = np.empty(SIZE)
    s, expected = variance, 0.0
    for i in range(SIZE):
        total = 0.0
        for j in range(SIZE):
            total += P[i, j] * h[j]
        Ph[i] = total
        s += total * h[i]
        expected += h[i] * delta[i]
    gain = 1.0 / s
    e = (z - expected) * gain
    for i in range(SIZE):
        delta[i] += Ph[i] * e
        g = Ph[i] * gain
        for j in range(SIZE):
            P[i, j] -= g * Ph[j]


def retract(X: Matrix, delta: Vector) -> None:
    """Apply a collected correction to a state: the exponential of xi from the left, biases added."""
    turn, shift, R = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    exponential(delta[:3], turn)
    left_jacobian(delta[:3], shift)
    multiply(turn, X[:3], R)
    X[:3] = R
    for at in (3, 4):
        a, b, c = X[at, 0], X[at, 1], X[at, 2]
        k = 3 * (at - 2)
        for i in range(3):
            X[at, i] = turn[i, 0] * a + turn[i, 1] * b + turn[i, 2] * c
            X[at, i] += (
                shift[i, 0] * delta[k] + shift[i, 1] * delta[k + 1] + shift[i, 2] * delta[k + 2]
            )
    for i in range(3):
        X[5, i] += delta[9 + i]
        X[6, i] += delta[12 + i]


def retract_history(history: Matrix, count: int, newest: int, back: int, delta: Vector) -> None:
    """Apply a correction to the newest ``back`` states of a ring buffer, (count, 7, 3)."""
    for k in range(back):
        retract(history[(newest - k) % count], delta)


def correct_velocity(
    X: Matrix, P: Matrix, delta: Vector, point: Vector, speed: Vector, scale: float, noise: float
) -> float:
    """Apply that a point that moves with ``speed`` against the IMU stands still in the world.

    The weight is that of a Cauchy distribution: the variance grows with the square of the innovation over ``scale``,
    where the velocity itself is known well.

    Args:
        X: (7, 3) state at the time of the measurement.
        P: (15, 15) covariance, changed in place.
        delta: (15,) collected correction, changed in place.
        point: (3,) place of the point in IMU axes [m].
        speed: (3,) its velocity against the IMU in IMU axes, rotation of the IMU included [m/s].
        scale: Innovation that halves the weight [m/s].
        noise: Variance of the measurement [m²/s²].

    Returns:
        The weight, 0-1.
    """
    z, h = np.empty(3), np.zeros(SIZE)
    square = 0.0
    for i in range(3):
        z[i] = -X[3, i] - X[i, 0] * speed[0] - X[i, 1] * speed[1] - X[i, 2] * speed[2]
        square += z[i] * z[i]
    room = scale * scale + P[3, 3] + P[4, 4] + P[5, 5]
    weight: float = 1.0 / (1.0 + square / room)
    for i in range(3):
        h[:] = 0.0
        h[3 + i] = 1.0
        a, b, c = X[i, 0], X[i, 1], X[i, 2]
        h[9] = b * point[2] - c * point[1]
        h[10] = c * point[0] - a * point[2]
        h[11] = a * point[1] - b * point[0]
        correct_scalar(P, delta, h, z[i], noise / weight)
    return weight


def correct_height(
    X: Matrix, P: Matrix, delta: Vector, point: Vector, height: float, scale: float, noise: float
) -> None:
    """Apply that a point in IMU axes is at a known height of the world, with a Cauchy weight of that scale [m]."""
    h, s = np.zeros(SIZE), np.empty(3)
    for i in range(3):
        s[i] = X[4, i] + X[i, 0] * point[0] + X[i, 1] * point[1] + X[i, 2] * point[2]
    z = height - s[2]
    h[0], h[1], h[8] = s[1], -s[0], 1.0
    weight = 1.0 / (1.0 + z * z / (scale * scale))
    correct_scalar(P, delta, h, z, noise / weight)


def correct_turn(P: Matrix, delta: Vector, rate: Vector, scale: float, noise: float) -> None:
    """Apply that a flat sole does not turn: ``rate`` is its angular velocity in IMU axes [rad/s], bias removed.

    The velocity of the sole is that of the IMU plus that of the joints, so it measures the gyroscope bias.
    """
    h = np.zeros(SIZE)
    square = rate[0] * rate[0] + rate[1] * rate[1] + rate[2] * rate[2]
    weight = 1.0 / (1.0 + square / (scale * scale))
    for i in range(3):
        h[:] = 0.0
        h[9 + i] = 1.0
        correct_scalar(P, delta, h, rate[i], noise / weight)


def correct_if_still(
    X: Matrix,
    P: Matrix,
    history: Matrix,
    newest: int,
    back: int,
    gyro: Vector,
    acc: Vector,
    q: Vector,
    means: Matrix,
    dt: float,
    limits: Vector,
) -> bool:
    """Update fast and slow means of IMU and joints; where they agree, correct with zero velocity and rate.

    Args:
        X: (7, 3) newest state, changed in place.
        P: (15, 15) covariance, changed in place.
        history: (m, 7, 3) ring buffer of states, changed in place.
        newest: Its newest row.
        back: How many rows before the newest the sample belongs to.
        gyro: (3,) angular rate as measured [rad/s].
        acc: (3,) specific force as measured [m/s²].
        q: (nq,) configuration; its first seven numbers are not read.
        means: (2, nq - 1) fast and slow means, changed in place.
        dt: Time since the sample before [s].
        limits: (7,) largest differences of rates, forces and joints, time constants of the means, and variances times
            seconds of rate and velocity; nothing is corrected where these are infinite.

    Returns:
        Whether the means disagree.
    """
    count, moves = len(q) - 1, False
    fast, slow = dt / (dt + limits[3]), dt / (dt + limits[4])
    for i in range(count):
        value = gyro[i] if i < 3 else (acc[i - 3] if i < 6 else q[i + 1])
        limit = limits[0] if i < 3 else (limits[1] if i < 6 else limits[2])
        means[0, i] += fast * (value - means[0, i])
        means[1, i] += slow * (value - means[1, i])
        moves = moves or abs(means[0, i] - means[1, i]) > limit
    if moves or limits[5] == math.inf:
        return moves
    then, delta, h = history[(newest - back) % len(history)], np.zeros(SIZE), np.zeros(SIZE)
    for i in range(3):
        h[:] = 0.0
        h[9 + i] = 1.0
        correct_scalar(P, delta, h, gyro[i] - then[5, i], limits[5] / dt)
        h[:] = 0.0
        h[3 + i] = 1.0
        correct_scalar(P, delta, h, -then[3, i], limits[6] / dt)
    retract(X, delta)
    retract_history(history, len(history), newest, back + 1, delta)
    return moves


def correct_pose(
    X: Matrix,
    P: Matrix,
    history: Matrix,
    newest: int,
    back: int,
    place: Vector,
    turn: Vector,
    noise: Vector,
) -> float:
    """Correct the state with a measured pose of the IMU.

    Args:
        X: (7, 3) newest state, changed in place.
        P: (15, 15) covariance, changed in place.
        history: (m, 7, 3) ring buffer of states, changed in place.
        newest: Its newest row.
        back: How many rows before the newest the pose belongs to.
        place: (3,) place of the IMU in the world [m].
        turn: (3,) rotation vector from the estimated to the measured orientation in the world [rad].
        noise: (3,) variance of place and of orientation, infinite where not measured, and scale of the weight.

    Returns:
        The weight of the place, 0-1.
    """
    count = len(history)
    then = history[(newest - back) % count]
    delta, h, square = np.zeros(SIZE), np.zeros(SIZE), 0.0
    for i in range(3):
        square += (place[i] - then[4, i]) ** 2 / (noise[0] + P[6 + i, 6 + i])
    weight: float = 1.0 / (1.0 + square / noise[2] ** 2)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        h[:] = 0.0
        h[6 + i], h[j], h[k] = 1.0, then[4, k], -then[4, j]
        correct_scalar(P, delta, h, place[i] - then[4, i], noise[0] / weight)
    if noise[1] < math.inf:
        for i in range(3):
            h[:] = 0.0
            h[i] = 1.0
            correct_scalar(P, delta, h, turn[i], noise[1] / weight)
    retract(X, delta)
    retract_history(history, count, newest, back + 1, delta)
    return weight
