# SPDX-License-Identifier: Apache-2.0
"""Task accelerations of the tick: tracking laws of centre of mass, base, joints and soles, as loops that numba compiles."""

from __future__ import annotations

import math

from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

BASE = 6
CORNERS = 4
COM, HEIGHT, TURN, SWING, JOINTS, STANCE = range(
    0, 12, 2
)  # places in the gains, stiffness before damping
LANDING, CUSHION, DEPTH, RISE, STILL, LEAN = range(
    12, 18
)  # and behind them: constants of ``wishes``
SMALL = 1e-9  # of the sine of half an angle
FAR = 0.02  # m; a standing sole that is farther off is drawn back no faster, so that it does not slide
SETTLES, SETTLING_PULL = (
    2,
    5.0,
)  # mark of a standing sole that settles, and how many times as strongly it is drawn to its ground
MEAN = 0.5  # share of its drift by which the sole of a filter's own state rests over a tick, and not only at its end

State = tuple[Vector, Vector, Matrix, Matrix, Matrix, Matrix, Matrix]
Written = tuple[Vector, Vector, Vector, Matrix, Matrix, Matrix, Vector, Vector]


def update_wishes(
    wanted: Vector,
    stands: Indices,
    pull: float,
    error: Vector,
    v: Vector,
    state: State,
    fixed: tuple[Vector, Matrix],
    out: Written,
) -> None:
    """Write the accelerations to wish for.

    Args:
        wanted: The target, one thing after the other: see ``TaskReferences``.
        stands: Which soles stand; 2 where one settles.
        pull: Share of the stiffness that holds standing soles in place.
        error: (nv,) way from the configuration to the wanted one.
        v: (nv,) velocity.
        state: com, com_rate, place, turn, twist, drift and R_WB of the robot.
        fixed: Gains and constants, corners of the soles.
        out: com, base, joints, soles, up, rise, height and upright of the wishes; overwritten.
    """
    gains = fixed[0]
    n = len(v)
    rate, second = wanted[65 : 65 + n], wanted[65 + n : 65 + 2 * n]
    for i in range(3):
        k = COM if i < 2 else HEIGHT
        out[0][i] = (
            wanted[6 + i]
            + gains[k + 1] * (wanted[3 + i] - state[1][i])
            + gains[k] * (wanted[i] - state[0][i])
        )
        out[1][i] = (
            second[3 + i] + gains[TURN + 1] * (rate[3 + i] - v[3 + i]) + gains[TURN] * error[3 + i]
        )
    for i in range(BASE, n):
        out[2][i - BASE] = (
            second[i] + gains[JOINTS + 1] * (rate[i] - v[i]) + gains[JOINTS] * error[i]
        )
    out[7][0] = weigh_lean(error, state[6], gains[LEAN]) if pull > 0.0 else 1.0
    for foot in range(2):
        _write_pose_error(wanted, foot, state, out[3][foot])
        if stands[foot]:
            if stands[foot] == SETTLES:
                for i in range(6):
                    out[3][foot, i] *= SETTLING_PULL
            _rest(pull, (state[4][foot], state[5][foot]), gains, out[3][foot])
        else:
            _swing(wanted, foot, state, gains, out[3][foot])
            _stay_above(wanted, foot, state, fixed, out)


def weigh_lean(error: Vector, R: Matrix, lean: float) -> float:
    """Return how many times more than usual the orientation of a base counts that leans.

    Args:
        error: (nv,) way from the configuration to the wanted one.
        R: (3, 3) orientation of the base.
        lean: How much of it makes the orientation count twice as much [rad].
    """
    about, square = R[2, 0] * error[3] + R[2, 1] * error[4] + R[2, 2] * error[5], 0.0
    for i in range(3):
        square += (error[3 + i] - about * R[2, i]) ** 2
    return 1.0 + square / (lean * lean)


def _write_pose_error(wanted: Vector, foot: int, state: State, out: Vector) -> None:
    """Write way and rotation vector from a sole to where it should be, in its axes."""
    place, R = state[2][foot], state[3][foot]
    goal, turn = wanted[17 + 3 * foot : 20 + 3 * foot], wanted[23 + 9 * foot : 32 + 9 * foot]
    for i in range(3):
        out[i] = (
            R[0, i] * (goal[0] - place[0])
            + R[1, i] * (goal[1] - place[1])
            + R[2, i] * (goal[2] - place[2])
        )
    E = (
        R[0, 0] * turn[0] + R[1, 0] * turn[3] + R[2, 0] * turn[6],
        R[0, 0] * turn[1] + R[1, 0] * turn[4] + R[2, 0] * turn[7],
        R[0, 0] * turn[2] + R[1, 0] * turn[5] + R[2, 0] * turn[8],
        R[0, 1] * turn[0] + R[1, 1] * turn[3] + R[2, 1] * turn[6],
        R[0, 1] * turn[1] + R[1, 1] * turn[4] + R[2, 1] * turn[7],
        R[0, 1] * turn[2] + R[1, 1] * turn[5] + R[2, 1] * turn[8],
        R[0, 2] * turn[0] + R[1, 2] * turn[3] + R[2, 2] * turn[6],
        R[0, 2] * turn[1] + R[1, 2] * turn[4] + R[2, 2] * turn[7],
        R[0, 2] * turn[2] + R[1, 2] * turn[5] + R[2, 2] * turn[8],
    )
    w, x, y, z = quaternion_of(E)
    size = math.sqrt(x * x + y * y + z * z)
    factor = 2.0 * math.atan2(size, w) / size if size > SMALL else 2.0
    out[3], out[4], out[5] = factor * x, factor * y, factor * z


def quaternion_of(
    E: tuple[float, float, float, float, float, float, float, float, float],
) -> tuple[float, float, float, float]:
    """Return the quaternion, its real part first and not negative, of a rotation matrix given row by row."""
    trace = E[0] + E[4] + E[8]
    if trace > 0.0:
        s = 2.0 * math.sqrt(1.0 + trace)
        w, x, y, z = 0.25 * s, (E[7] - E[5]) / s, (E[2] - E[6]) / s, (E[3] - E[1]) / s
    elif E[0] >= E[4] and E[0] >= E[8]:
        s = 2.0 * math.sqrt(1.0 + E[0] - E[4] - E[8])
        w, x, y, z = (E[7] - E[5]) / s, 0.25 * s, (E[1] + E[3]) / s, (E[2] + E[6]) / s
    elif E[4] >= E[8]:
        s = 2.0 * math.sqrt(1.0 + E[4] - E[0] - E[8])
        w, x, y, z = (E[2] - E[6]) / s, (E[1] + E[3]) / s, 0.25 * s, (E[5] + E[7]) / s
    else:
        s = 2.0 * math.sqrt(1.0 + E[8] - E[0] - E[4])
        w, x, y, z = (E[3] - E[1]) / s, (E[2] + E[6]) / s, (E[5] + E[7]) / s, 0.25 * s
    return (w, x, y, z) if w >= 0.0 else (-w, -x, -y, -z)


def _rest(pull: float, motion: tuple[Vector, Vector], gains: Vector, out: Vector) -> None:
    """Bring a standing sole to rest where it stands, from its twist and drift; its pose error is in ``out``."""
    (twist, drift), square, mean = motion, 0.0, MEAN if pull > 0.0 else 0.0
    near = pull * min(
        1.0, FAR / max(math.sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]), FAR)
    )
    for i in range(3):
        out[i] *= near
        out[3 + i] *= pull
    for i in range(6):
        out[i] = gains[STANCE] * out[i] - max(pull, gains[STILL]) * gains[STANCE + 1] * twist[i]
        square += out[i] * out[i]
    share = min(1.0, gains[LANDING] / max(math.sqrt(square), gains[LANDING]))
    for i in range(6):
        out[i] = share * out[i] + mean * drift[i]


def _swing(wanted: Vector, foot: int, state: State, gains: Vector, out: Vector) -> None:
    """Follow the wanted motion of a swinging sole; its pose error is in ``out``."""
    R, twist = state[3][foot], state[4][foot]
    rate, second = wanted[41 + 6 * foot : 47 + 6 * foot], wanted[53 + 6 * foot : 59 + 6 * foot]
    turned = (
        twist[4] * twist[2] - twist[5] * twist[1],
        twist[5] * twist[0] - twist[3] * twist[2],
        twist[3] * twist[1] - twist[4] * twist[0],
    )
    for i in range(6):
        k, j = i % 3, 3 * (i // 3)
        wish = R[0, k] * rate[j] + R[1, k] * rate[j + 1] + R[2, k] * rate[j + 2]
        feed = (
            R[0, k] * second[j]
            + R[1, k] * second[j + 1]
            + R[2, k] * second[j + 2]
            - (turned[k] if i < 3 else 0.0)
        )
        out[i] = feed + gains[SWING + 1] * (wish - twist[i]) + gains[SWING] * out[i]


def _stay_above(
    wanted: Vector, foot: int, state: State, fixed: tuple[Vector, Matrix], out: Written
) -> None:
    """Corners come near to the ground no faster than in proportion to their height."""
    gains, corners = fixed[0], fixed[1][foot]
    place, R, twist = state[2][foot], state[3][foot], state[4][foot]
    up, rise, normal = out[4][foot], out[5][foot], wanted[11 + 3 * foot : 14 + 3 * foot]
    level = (place[0] - wanted[17 + 3 * foot]) * normal[0] + (
        place[1] - wanted[18 + 3 * foot]
    ) * normal[1]
    level += (place[2] - wanted[9 + foot]) * normal[2]
    nx = R[0, 0] * normal[0] + R[1, 0] * normal[1] + R[2, 0] * normal[2]
    ny = R[0, 1] * normal[0] + R[1, 1] * normal[1] + R[2, 1] * normal[2]
    nz = R[0, 2] * normal[0] + R[1, 2] * normal[1] + R[2, 2] * normal[2]
    vx, vy, vz, ox, oy, oz = twist[0], twist[1], twist[2], twist[3], twist[4], twist[5]
    turned = nx * (oy * vz - oz * vy) + ny * (oz * vx - ox * vz) + nz * (ox * vy - oy * vx)
    along, square = ox * nx + oy * ny + oz * nz, ox * ox + oy * oy + oz * oz
    lowest = math.inf
    for c in range(CORNERS):
        x, y, z = corners[c, 0], corners[c, 1], corners[c, 2]
        up[c, 0], up[c, 1], up[c, 2] = nx, ny, nz
        up[c, 3], up[c, 4], up[c, 5] = y * nz - z * ny, z * nx - x * nz, x * ny - y * nx
        rate = nx * vx + ny * vy + nz * vz + up[c, 3] * ox + up[c, 4] * oy + up[c, 5] * oz
        height = level + x * nx + y * ny + z * nz
        drift = turned + along * (x * ox + y * oy + z * oz) - square * (x * nx + y * ny + z * nz)
        rise[c] = min(
            -2.0 * gains[CUSHION] * rate - gains[CUSHION] ** 2 * (height + gains[DEPTH]) - drift,
            gains[RISE],
        )
        lowest = min(lowest, height)
    out[6][foot] = max(lowest, 0.0)
