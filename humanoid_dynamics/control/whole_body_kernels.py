# SPDX-License-Identifier: Apache-2.0
"""Kernels of the whole-body law: the state of the robot, the task rows, and the weighted least-squares solve.

One pass of Pinocchio computes Jacobians and their rates, in axes of the world and about its origin, of all joints and of the momentum.
The rows of soles and of the centre of mass are read from these.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_dynamics.resolution.small import factor_cholesky, solve_transposed, solve_upper
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

GRAVITY = 9.81
LOWEST = 0.1  # m; a centre of mass is taken to be at least so high
EXACT, COM, TRUNK, SWING = (
    1e-9,
    1e-4,
    1e-2,
    1e-4,
)  # softness of rows; those that are exact must be met
DECADES = (
    10.0  # by which the spin, which is free in the middle of the soles, is less soft at their rim
)
LOOSE, TIGHT = (
    0.5,
    0.9,
)  # way from the middle of the soles to their rim at which that begins and ends
JOINT, UPRIGHT, HEIGHT, FLIGHT, HOLD, CAPTURE, UNWIND, LEAN = (
    0,
    2,
    4,
    6,
    8,
    9,
    10,
    11,
)  # places in the gains, stiffness before damping
SMALL = 1e-9

Body = tuple[Matrix, Matrix, Matrix, Matrix, Matrix, Matrix]
Rows = tuple[Matrix, Vector, Vector]
Ground = tuple[Matrix, Vector, Vector]
Views = tuple[Matrix, Matrix, Matrix]
Feet = tuple[Indices, Matrix, Matrix]
Contacts = tuple[Indices, Matrix, Vector]


def read_body(
    views: Views, com: Vector, feet: Feet, v: Vector, mass: float, now: Body, A: Matrix, b: Vector
) -> None:
    """Write where the robot is, what it does, and the Jacobians of all that is asked.

    Args:
        views: (6, nv) Jacobian of the momentum, its rate; (nj, 12) poses of the joints.
        com: (3,) centre of mass [m].
        feet: Joint of each sole, (n, 3, 3) its axes and (n, 3) its origin on the joint.
        v: (nv,) velocity.
        mass: Mass of the robot [kg].
        now: The robot, see ``write_rows``; written.
        A: (8 + r, nv) rows; those of the centre of mass and of the spin are written.
        b: (8 + r,) of which the last two become the drift of the spin.
    """
    momentum, rate, poses = views
    at, _, _, _, root, rates = now
    nv = len(v)
    for i in range(3):
        at[0, i] = com[i]
        rates[0, i] = v[3 + i]
        for j in range(3):
            root[i, j] = poses[1, 3 * j + i]
    for i in range(6):
        moved, drift = 0.0, 0.0
        for c in range(nv):
            moved += momentum[i, c] * v[c]
            drift += rate[i, c] * v[c]
        if i < 3:
            at[1, i], at[2, i] = moved / mass, drift / mass
            A[i] = momentum[i] / mass
        else:
            rates[1, i - 3] = moved / mass
            if i < 5:
                A[len(A) - 5 + i] = momentum[i] / mass
                b[len(b) - 5 + i] = drift / mass
    for k in range(len(feet[0])):
        _place_foot(k, poses, feet, now)


def _place_foot(k: int, poses: Matrix, feet: Feet, now: Body) -> None:
    """Write where a sole is, and its axes."""
    joints, axes, origins = feet
    place, turn, pose = now[1][k], now[2], poses[joints[k]]
    for i in range(3):
        place[i] = pose[9 + i]
        for j in range(3):
            place[i] += pose[3 * j + i] * origins[k, j]
            turn[3 * k + i, j] = 0.0
            for m in range(3):
                turn[3 * k + i, j] += pose[3 * m + i] * axes[k, m, j]


def solve_rows(
    error: Vector,
    v: Vector,
    wanted: tuple[Vector, Vector],
    gains: tuple[float, float, float],
    rows: tuple[Matrix, ...],
    a: Vector,
) -> None:
    """Write the accelerations nearest to those that follow the joints of the reference, that meet the rows.

    Args:
        error: (nv,) from the configuration to that of the reference.
        v: (nv,) velocity.
        wanted: (nv,) velocity and acceleration of the reference.
        gains: Stiffness and damping of the joints, and the largest acceleration.
        rows: A (k, nv), b (k,), softness (k,), mobility (nv,), and room for (k, nv), (k, k) and (k,) numbers.
        a: (nv,) accelerations; written.
    """
    A, b, softness, mobility, B, G, y = rows
    nv, count = len(v), len(b)
    _follow_joints(error, v, wanted, gains, a)
    for i in range(count):
        y[i] = b[i]
        for c in range(nv):
            B[i, c] = A[i, c] * mobility[c]
            y[i] -= A[i, c] * a[c]
    _multiply(A, B, softness, G)
    if not factor_cholesky(G, G, count):
        return
    solve_transposed(G, y, count)
    solve_upper(G, y, count)
    for i in range(count):
        for c in range(nv):
            a[c] += y[i] * B[i, c]


def _follow_joints(
    error: Vector,
    v: Vector,
    wanted: tuple[Vector, Vector],
    gains: tuple[float, float, float],
    a: Vector,
) -> None:
    """Write the accelerations that the joints of the reference ask for; none of the root."""
    stiffness, damping, limit = gains
    a[:6] = 0.0
    for c in range(6, len(v)):
        x = wanted[1][c] + stiffness * error[c] + damping * (wanted[0][c] - v[c])
        a[c] = limit if x > limit else -limit if x < -limit else x


def _multiply(A: Matrix, B: Matrix, softness: Vector, G: Matrix) -> None:
    """Write the upper triangle of B A' + R."""
    for i in range(len(A)):
        for j in range(i, len(A)):
            total = 0.0
            for c in range(A.shape[1]):
                total += B[i, c] * A[j, c]
            G[i, j] = total
        G[i, i] += softness[i]


def write_rows(
    now: Body,
    then: Body,
    v: Vector,
    soles: tuple[Matrix, Contacts],
    gains: Vector,
    ground: Ground,
    rows: Rows,
    out: Vector,
) -> None:
    """Write what is wished of the centre of mass, the trunk and the soles, and where the reference was moved for it.

    Args:
        now: The robot: com, its velocity and drift (3, 3); places of soles (n, 3); their axes (n * 3, 3); their twist in these (n, 6); axes of the
            root (3, 3); turning rate of the root in its axes, and spin: angular momentum about the com, per mass, of x and y (2, 3).
        then: The reference: com, velocity and acceleration; places of soles; their axes; velocities and accelerations of those that do
            not stand (n, 6) each, beside each other (n, 12); axes of the root; rate and acceleration of the root (2, 3).
        v: (nv,) velocity.
        soles: (2, n) 1 where a sole stands, 0 elsewhere; how far soles in the air are asked below the reference [m].  Then where the rows
            of each start (n + 1,), held directions (6, r) and gamma (r,) of all, J a = gamma, in axes of the soles.
        gains: Stiffness and damping, see the places above.
        ground: Half planes a, b with a p <= b, and the middle, of the polygon of support, from the mean place of the soles that stand.
        rows: Jacobians A (8 + r, nv), those of the spin last; b, its last two the drift of the spin, and softness; written.
        out: (16,) turn (9), shift (3), pressure (2), how much of the capture is missing (2); written.
    """
    A, b, softness = rows
    closed, sink = soles[0][0], soles[0][1]
    starts, held, gamma = soles[1]
    n = len(closed)
    T, shift, here = _align(now, then, closed)
    tight = _ask_centre_of_mass(
        now, then, closed.sum() > 0.0, gains, ground, (T, shift, here), b, out
    )
    R = now[4]
    back = R.T @ (T @ then[4])
    error = _rotation_vector(back)
    b[3:6] = (
        back @ then[5][1]
        + gains[UPRIGHT] * error
        + gains[UPRIGHT + 1] * (back @ then[5][0] - now[5][0])
    )
    softness[:3] = COM
    softness[3:6], softness[6 + starts[n] :] = (
        TRUNK * 10.0 ** (3.0 * tight),
        10.0 ** (4.0 - DECADES * tight),
    )
    for k in range(n):
        first, end = starts[k], starts[k + 1]
        softness[6 + first : 6 + end] = EXACT if closed[k] > 0.0 else SWING
        damping = gains[HOLD] if closed[k] > 0.0 else gains[FLIGHT + 1]
        asked = np.zeros(6)
        if closed[k] == 0.0:
            axes = now[2][3 * k : 3 * k + 3]
            place = T @ then[1][k] + shift - now[1][k]
            place[2] -= sink[k]
            turn = _rotation_vector(T @ then[2][3 * k : 3 * k + 3] @ axes.T)
            for j, way in ((0, place), (3, turn)):
                rate, onward = T @ then[3][k, j : j + 3], T @ then[3][k, 6 + j : 9 + j]
                error = gains[FLIGHT] * way + gains[FLIGHT + 1] * rate
                asked[j : j + 3] = axes.T @ (onward + error)
        _ask_spatial(now[3][k], asked)
        b[6 + first : 6 + end] = gamma[first:end] - damping * (A[6 + first : 6 + end] @ v)
        for i in range(first, end):
            for j in range(6):
                b[6 + i] += held[j, i] * asked[j]
    out[:9], out[9:12] = T.flatten(), shift


def _ask_spatial(twist: Vector, asked: Vector) -> None:
    """Turn the acceleration of an origin into a spatial one, to which the turning of the sole adds v x omega."""
    x, y, z, p, q, r = twist
    asked[0] += y * r - z * q
    asked[1] += z * p - x * r
    asked[2] += x * q - y * p


def has_moved(
    place: Matrix, turn: Matrix, closed: Vector, known: Matrix, arm: float, most: float
) -> bool:
    """Return whether soles that stand have moved against each other, or turned; then write where they are.

    Args:
        place: (n, 3) where they are [m].
        turn: (n * 3, 3) their axes.
        closed: (n,) 1 where a sole stands, 0 elsewhere.
        known: (n, 4) where they were, seen from the first, and where they pointed; written where they moved.
        arm: How far from the origin of a sole a turn moves it [m].
        most: By how much they may move [m].
    """
    first, moved = -1, False
    for again in range(2):
        for k in range(len(closed)):
            if closed[k] > 0.0:
                first = k if first < 0 else first
                for j in range(4):
                    x = place[k, j] - place[first, j] if j < 2 else arm * turn[3 * k + j - 2, 0]
                    if again:
                        known[k, j] = x
                    elif not abs(x - known[k, j]) <= most:
                        moved = True
        if not moved:
            break
    return moved


def _align(now: Body, then: Body, closed: Vector) -> tuple[Matrix, Vector, Vector]:
    """Return turn and shift that take the soles the reference stands on to those of the robot, and the mean place of these."""
    x = y = 0.0
    here, there = np.zeros(3), np.zeros(3)
    count = 0
    for k in range(len(closed)):
        if closed[k] > 0.0:
            a, b, c, d = (
                now[2][3 * k, 0],
                now[2][3 * k + 1, 0],
                then[2][3 * k, 0],
                then[2][3 * k + 1, 0],
            )
            x, y, count = x + a * c + b * d, y + b * c - a * d, count + 1
            here += now[1][k]
            there += then[1][k]
    T = np.eye(3)
    length = math.sqrt(x * x + y * y)
    if length > 0.0:
        T[0, 0], T[0, 1], T[1, 0], T[1, 1] = x / length, -y / length, y / length, x / length
    here /= max(count, 1)
    return T, here - T @ (there / max(count, 1)), here


def _ask_centre_of_mass(
    now: Body,
    then: Body,
    stands: bool,
    gains: Vector,
    ground: Ground,
    moved: tuple[Matrix, Vector, Vector],
    b: Vector,
    out: Vector,
) -> float:
    """Write what is asked of the com and of the spin, and return how tight it is: 0 in the middle of the soles, 1 at their rim."""
    T, shift, here = moved
    c, c_dot = now[0][0], now[0][1]
    r, r_dot, r_ddot = T @ then[0][0] + shift, T @ then[0][1], T @ then[0][2]
    a = r_ddot + gains[HEIGHT] * (r - c) + gains[HEIGHT + 1] * (r_dot - c_dot)
    tight = 0.0
    if stands:
        height = max(c[2] - here[2], LOWEST)
        w = math.sqrt(GRAVITY / height)
        ahead = c[:2] - r[:2] + (c_dot[:2] - r_dot[:2]) / w  # of the capture point
        asked = r[:2] - r_ddot[:2] / w**2 + (1.0 + gains[CAPTURE] / w) * ahead
        middle = here[:2] + ground[2]
        planned = r[:2] - r_ddot[:2] / w**2 - middle
        planned /= max(_use(ground, ground[2] + planned, 0.0 * planned), 1.0)
        used = _use(ground, asked - here[:2], 0.0 * planned)
        off = _use(ground, asked - here[:2], planned)
        tight = min(max((off - LOOSE) / (TIGHT - LOOSE), 0.0), 1.0)
        pressure = middle + (asked - middle) / max(used, 1.0)
        beyond = asked - pressure
        out[12:14], out[14:16] = pressure, beyond
        length = math.sqrt(beyond[0] ** 2 + beyond[1] ** 2)
        if length > gains[LEAN]:
            beyond = beyond * (gains[LEAN] / length)
        # What the soles cannot give, turning gives for a while: p' = p + e with rates of spin -g e_y and g e_x.
        spin = np.array([-GRAVITY * beyond[1], GRAVITY * beyond[0]]) - gains[UNWIND] * now[5][1, :2]
        b[-2:] = spin - b[-2:]
        a[:2] = w**2 * (c[:2] - pressure) + tight * np.array([-spin[1], spin[0]]) / height
    else:
        b[-2:] = -b[-2:]
    b[:3] = a - now[0][2]
    return tight


def _use(ground: Ground, p: Vector, start: Vector) -> float:
    """Return how far a point is from a start, as a share of the way to the rim of a polygon; much where there is no polygon.

    A way of less than half of that from the middle of the polygon to its rim counts as so much.

    Args:
        ground: The polygon.
        p: (2,) the point.
        start: (2,) where the way begins, from the middle.
    """
    A, limit, middle = ground
    x, y = p[0] - middle[0] - start[0], p[1] - middle[1] - start[1]
    used = 0.0 if len(limit) else 1.0 / SMALL
    for i in range(len(limit)):
        room = limit[i] - A[i, 0] * middle[0] - A[i, 1] * middle[1]
        left = max(room - A[i, 0] * start[0] - A[i, 1] * start[1], 0.5 * room)
        used = max(used, (A[i, 0] * x + A[i, 1] * y) / left)
    return used


def _rotation_vector(R: Matrix) -> Vector:
    """Return the rotation vector of a matrix; zero for a half turn, of which no side is nearer."""
    s = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    n = math.sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2])
    return s if n < SMALL else s * (math.atan2(n, 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0)) / n)
