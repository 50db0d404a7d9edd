# SPDX-License-Identifier: Apache-2.0
"""Smooth motion of poses and the control-point law, as loops that numba compiles."""

from __future__ import annotations

import math

from humanoid_dynamics.filtering.ticks.wish_kernels import quaternion_of
from humanoid_dynamics.spatial.arrays import Matrix, Vector

LEAST = 1e-12  # m
SMALL = 1e-9  # rad

Poses = tuple[Matrix, Matrix, Matrix]
Seen = tuple[Matrix, Matrix, Matrix, Matrix, Matrix]
Pace = tuple[Vector, Matrix, Matrix, float]


def follow(
    goals: Poses, pace: Pace, dt: float, poses: Poses, acceleration: Matrix, left: Matrix
) -> None:
    """Let poses go on towards their goals for one step; see ``follower``.

    Args:
        goals: (k, 3) places [m], (k, 3, 3) orientations and (k, 6) velocities.
        pace: (k,) half the rates of response [1/s], (k, 2) largest velocities and (k, 2) accelerations, share of those kept for braking.
        dt: Length of the step [s].
        poses: (k, 3) places, (k, 3, 3) orientations, (k, 6) velocities; changed.
        acceleration: (k, 6) accelerations; overwritten.
        left: (k, 2) distances to the goals [m, rad]; overwritten.
    """
    p, R, rate = poses
    for k in range(len(p)):
        turn = turn_between(R[k], goals[1][k])
        way = (goals[0][k, 0] - p[k, 0], goals[0][k, 1] - p[k, 1], goals[0][k, 2] - p[k, 2])
        for half in range(2):
            x, y, z = way if half == 0 else turn
            rates, change = (
                rate[k, 3 * half : 3 * half + 3],
                acceleration[k, 3 * half : 3 * half + 3],
            )
            speed, most, gain = pace[1][k, half], pace[2][k, half], pace[0][k]
            size = math.sqrt(x * x + y * y + z * z)
            left[k, half] = size
            share = min(gain * size, math.sqrt(2.0 * pace[3] * most * size), speed) / max(
                size, LEAST
            )
            change[0], change[1], change[2] = share * x, share * y, share * z
            for i in range(3):
                change[i] += goals[2][k, 3 * half + i]
            shorten(change, speed)
            for i in range(3):
                change[i] = 4.0 * gain * (change[i] - rates[i])
            shorten(change, most)
            for i in range(3):
                rates[i] += dt * change[i]
        for i in range(3):
            p[k, i] += dt * rate[k, i]
        turn_by(dt * rate[k, 3], dt * rate[k, 4], dt * rate[k, 5], R[k])


def shorten(x: Vector, most: float) -> None:
    """Shorten a vector that is too long, in place."""
    size = math.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])
    share = min(1.0, most / max(size, most))
    for i in range(3):
        x[i] *= share


def turn_by(x: float, y: float, z: float, R: Matrix) -> None:
    """Turn an orientation by a rotation vector in axes of the world, in place."""
    half = 0.5 * math.sqrt(x * x + y * y + z * z)
    share = 0.5 * (math.sin(half) / half) if half > SMALL else 0.5
    w, x, y, z = math.cos(half), share * x, share * y, share * z
    for j in range(3):
        a, b, c = R[0, j], R[1, j], R[2, j]
        R[0, j] = (
            (1.0 - 2.0 * (y * y + z * z)) * a
            + 2.0 * (x * y - w * z) * b
            + 2.0 * (x * z + w * y) * c
        )
        R[1, j] = (
            2.0 * (x * y + w * z) * a
            + (1.0 - 2.0 * (x * x + z * z)) * b
            + 2.0 * (y * z - w * x) * c
        )
        R[2, j] = (
            2.0 * (x * z - w * y) * a
            + 2.0 * (y * z + w * x) * b
            + (1.0 - 2.0 * (x * x + y * y)) * c
        )


def coast(time: float, decay: float, p: Vector, R: Matrix, rate: Vector) -> None:
    """Let a pose go on at its velocity, which decays, in place.

    Args:
        time: For how long [s].
        decay: What share of the velocity is left.
        p: (3,) place [m].
        R: (3, 3) orientation.
        rate: (6,) velocity, linear then angular, axes of the world.
    """
    turn_by(time * rate[3], time * rate[4], time * rate[5], R)
    for i in range(3):
        p[i] += time * rate[i]
    for i in range(6):
        rate[i] *= decay


def bring_into_reach(
    p: Vector, rate: Vector, shoulder: tuple[Vector, Vector], reach: float, lean: float
) -> bool:
    """Bring a goal into reach of a shoulder, in place; return whether it was not.

    Args:
        p: (3,) place [m].
        rate: (6,) velocity.
        shoulder: (3,) where it is while the body rests, and where it is now [m].
        reach: How far one reaches [m].
        lean: How far from where it rests a shoulder may have gone to count [m].
    """
    rest, at = shoulder
    gone = math.sqrt((at[0] - rest[0]) ** 2 + (at[1] - rest[1]) ** 2 + (at[2] - rest[2]) ** 2)
    share = min(1.0, lean / max(gone, SMALL))
    x, y, z = (
        rest[0] + share * (at[0] - rest[0]),
        rest[1] + share * (at[1] - rest[1]),
        rest[2] + share * (at[2] - rest[2]),
    )
    far = math.sqrt((p[0] - x) ** 2 + (p[1] - y) ** 2 + (p[2] - z) ** 2)
    if far <= reach:
        return False
    out = (p[0] - x) / far, (p[1] - y) / far, (p[2] - z) / far
    outward = max(rate[0] * out[0] + rate[1] * out[1] + rate[2] * out[2], 0.0)
    p[0], p[1], p[2] = x + reach * out[0], y + reach * out[1], z + reach * out[2]
    for i in range(3):
        rate[i] -= outward * out[i]
    return True


def ease_joints(
    wish: Vector, way: Vector, shares: Vector, joints: Matrix, how: tuple[float, float]
) -> None:
    """Draw joints less to where they rest the farther frames are led that they move, in place.

    Args:
        wish: (n,) accelerations [rad/s^2]; changed.
        way: (n,) way of the joints to where they rest [rad].
        shares: (k,) how far each frame is led.
        joints: (k, n) one where a frame is moved by a joint.
        how: Stiffness [1/s^2], and what share of it is taken off.
    """
    for j in range(len(wish)):
        led = 0.0
        for k in range(len(shares)):
            led += shares[k] * joints[k, j]
        wish[j] -= how[0] * how[1] * min(led, 1.0) * way[j]


def write_law(
    goals: Poses,
    seconds: Matrix,
    poses: Poses,
    law: tuple[float, float, float, float],
    wish: Matrix,
    left: Matrix,
) -> None:
    """Write what the accelerations of led frames should be [DF, eq. 4].

    Args:
        goals: (n, 3) places [m], (n, 3, 3) orientations and (n, 6) velocities of the goals; those behind the first k do not matter.
        seconds: (n, 6) accelerations of the goals.
        poses: The same of the k frames, as they are.
        law: Stiffness [1/s^2], damping [1/s], largest acceleration [m/s^2] and angular acceleration [rad/s^2].
        wish: (k, 6) accelerations; overwritten.
        left: (k, 2) how far they are from their goals [m, rad]; overwritten.
    """
    for k in range(len(wish)):
        turn = turn_between(poses[1][k], goals[1][k])
        for half in range(2):
            part, square = wish[k, 3 * half : 3 * half + 3], 0.0
            for i in range(3):
                off = turn[i] if half else goals[0][k, i] - poses[0][k, i]
                square += off * off
                part[i] = (
                    law[0] * off
                    + law[1] * (goals[2][k, 3 * half + i] - poses[2][k, 3 * half + i])
                    + seconds[k, 3 * half + i]
                )
            left[k, half] = math.sqrt(square)
            shorten(part, law[2 + half])


def read_frame(
    k: int,
    seen: tuple[Matrix, Matrix, Vector],
    fixed: Matrix,
    gravity: Vector,
    v: Vector,
    out: Seen,
) -> None:
    """Write where a frame is and how it moves.

    Args:
        k: Place of the frame.
        seen: (4, 4) pose and (6, nv) Jacobian of the frame, axes of the world, and (6,) acceleration of its joint less gravity, in axes of
            the joint, where no coordinate accelerates.
        fixed: (4, 4) pose of the frame in its joint.
        gravity: (3,) gravity [m/s^2].
        v: (nv,) velocity.
        out: (n, 3) places, (n, 3, 3) orientations, (6 n, nv) Jacobians, (n, 6) drifts and (n, 6) velocities; its rows are overwritten.
    """
    X, J, a = seen
    p, R, G, drifts, rate = out
    for i in range(6):
        total = 0.0
        for j in range(len(v)):
            G[6 * k + i, j] = J[i, j]
            total += J[i, j] * v[j]
        rate[k, i] = total
    x, y, z = fixed[0, 3], fixed[1, 3], fixed[2, 3]
    linear = (a[0] + a[4] * z - a[5] * y, a[1] + a[5] * x - a[3] * z, a[2] + a[3] * y - a[4] * x)
    u, w = rate[k, :3], rate[k, 3:]
    turned = (w[1] * u[2] - w[2] * u[1], w[2] * u[0] - w[0] * u[2], w[0] * u[1] - w[1] * u[0])
    for i in range(3):
        p[k, i], drifts[k, i], drifts[k, 3 + i] = X[i, 3], gravity[i] + turned[i], 0.0
        for j in range(3):
            R[k, i, j] = X[i, j]
            share = (
                X[i, 0] * fixed[j, 0] + X[i, 1] * fixed[j, 1] + X[i, 2] * fixed[j, 2]
            )  # of the orientation of the joint
            drifts[k, i] += share * linear[j]
            drifts[k, 3 + i] += share * a[3 + j]


def turn_between(A: Matrix, B: Matrix) -> tuple[float, float, float]:
    """Return the rotation vector from one orientation to another, axes of the world."""
    w, x, y, z = quaternion_of(
        (
            B[0, 0] * A[0, 0] + B[0, 1] * A[0, 1] + B[0, 2] * A[0, 2],
            B[0, 0] * A[1, 0] + B[0, 1] * A[1, 1] + B[0, 2] * A[1, 2],
            B[0, 0] * A[2, 0] + B[0, 1] * A[2, 1] + B[0, 2] * A[2, 2],
            B[1, 0] * A[0, 0] + B[1, 1] * A[0, 1] + B[1, 2] * A[0, 2],
            B[1, 0] * A[1, 0] + B[1, 1] * A[1, 1] + B[1, 2] * A[1, 2],
            B[1, 0] * A[2, 0] + B[1, 1] * A[2, 1] + B[1, 2] * A[2, 2],
            B[2, 0] * A[0, 0] + B[2, 1] * A[0, 1] + B[2, 2] * A[0, 2],
            B[2, 0] * A[1, 0] + B[2, 1] * A[1, 1] + B[2, 2] * A[1, 2],
            B[2, 0] * A[2, 0] + B[2, 1] * A[2, 1] + B[2, 2] * A[2, 2],
        )
    )
    size = math.sqrt(x * x + y * y + z * z)
    factor = 2.0 * math.atan2(size, w) / size if size > SMALL else 2.0
    return factor * x, factor * y, factor * z
