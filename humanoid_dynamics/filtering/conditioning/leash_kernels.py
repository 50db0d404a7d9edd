# SPDX-License-Identifier: Apache-2.0
"""Soles that slide or turn together, held back, as loops that numba compiles."""

from __future__ import annotations

import math

import numpy as np

from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

SAME = 1e-9  # m or rad; what is no farther from what is asked is there
LEAST = 1e-12  # m^2
COSINE, SINE, X, Y, TURNED, LEFT_WAY, LEFT_TURN = range(7)  # places in what is known of a leash
PACE_WAY, PACE_TURN, SLIP_WAY, SLIP_TURN, FLIES = range(5)  # places in its limits


def hold_soles(
    soles: tuple[Matrix, Indices, Matrix], gap: float, limits: Vector, state: Vector, last: Matrix
) -> bool:
    """Move and turn what is asked, over the ground, so that soles slide and turn no faster than they may; return whether it is elsewhere.

    Args:
        soles: (nj, 12) poses of the joints, rotations column by column, then places [m]; (2,) those that carry left and right sole; (2, 6)
            middle of each sole [m] and its forward axis, in axes of its joint.
        gap: Time since the last posture [s]; negative where there is none.
        limits: Speeds [m/s] and [rad/s] of soles that slide and turn, by how much they may run ahead of these [m] and [rad], and the speed
            of the height of soles that fly [m/s].
        state: Cosine and sine of what all is turned by, by what it is moved [m], how far it is turned [rad], and how far soles may run
            ahead now [m] and [rad]; overwritten.
        last: (2, 4) middles of the soles [m] and their headings [rad], where they were held last; overwritten.
    """
    asked, moved = np.empty((2, 4)), np.empty((2, 4))
    see_soles(soles, asked)
    move_soles(asked, state, moved)
    holds = bool(state[X] != 0.0 or state[Y] != 0.0 or state[SINE] != 0.0)
    lower = min(moved[0, 2], moved[1, 2]) - min(last[0, 2], last[1, 2])
    if gap >= 0.0 and abs(lower) <= limits[FLIES] * gap:
        holds = pull_soles(asked, moved, last, gap, limits, state)
        move_soles(asked, state, moved)
    last[:] = moved
    return holds


def see_soles(soles: tuple[Matrix, Indices, Matrix], out: Matrix) -> None:
    """Write middles and headings of both soles."""
    poses, joints, points = soles
    for foot in range(2):
        pose, point = poses[joints[foot]], points[foot]
        for j in range(3):
            out[foot, j] = (
                pose[9 + j] + pose[j] * point[0] + pose[3 + j] * point[1] + pose[6 + j] * point[2]
            )
        x = pose[0] * point[3] + pose[3] * point[4] + pose[6] * point[5]
        y = pose[1] * point[3] + pose[4] * point[4] + pose[7] * point[5]
        out[foot, 3] = math.atan2(y, x)


def move_soles(asked: Matrix, state: Vector, out: Matrix) -> None:
    """Write soles as they are where the posture is held."""
    for foot in range(2):
        x, y = asked[foot, 0], asked[foot, 1]
        out[foot, 0] = state[COSINE] * x - state[SINE] * y + state[X]
        out[foot, 1] = state[SINE] * x + state[COSINE] * y + state[Y]
        out[foot, 2], out[foot, 3] = asked[foot, 2], asked[foot, 3] + state[TURNED]


def pull_soles(
    asked: Matrix, soles: Matrix, last: Matrix, gap: float, limits: Vector, state: Vector
) -> bool:
    """Let soles slide and turn as far as they may, and come back where they may go farther; return whether they are elsewhere then."""
    x, y = common_way(
        soles[0, 0] - last[0, 0],
        soles[0, 1] - last[0, 1],
        soles[1, 0] - last[1, 0],
        soles[1, 1] - last[1, 1],
    )
    turned = common_turn(within(soles[0, 3] - last[0, 3]), within(soles[1, 3] - last[1, 3]))
    off_x = 0.5 * (soles[0, 0] - asked[0, 0] + soles[1, 0] - asked[1, 0])
    off_y = 0.5 * (soles[0, 1] - asked[0, 1] + soles[1, 1] - asked[1, 1])
    step, turn = limits[PACE_WAY] * gap, limits[PACE_TURN] * gap
    most, widest = state[LEFT_WAY] + step, state[LEFT_TURN] + turn
    back = shorter(off_x, off_y, step)
    goes_x, goes_y = x - back * off_x, y - back * off_y
    share = shorter(goes_x, goes_y, most)
    goes_x, goes_y = share * goes_x, share * goes_y
    turns = clip(turned + clip(-state[TURNED], turn), widest)
    state[LEFT_WAY] = min(most - math.hypot(goes_x, goes_y), limits[SLIP_WAY])
    state[LEFT_TURN] = min(widest - abs(turns), limits[SLIP_TURN])
    way_x, way_y, angle = goes_x - x, goes_y - y, turns - turned
    if not (math.hypot(off_x + way_x, off_y + way_y) > SAME or abs(state[TURNED] + angle) > SAME):
        state[COSINE], state[SINE], state[X], state[Y], state[TURNED] = 1.0, 0.0, 0.0, 0.0, 0.0
        return False
    c, s = math.cos(angle), math.sin(angle)
    middle_x, middle_y = 0.5 * (soles[0, 0] + soles[1, 0]), 0.5 * (soles[0, 1] + soles[1, 1])
    px, py = state[X] - middle_x, state[Y] - middle_y
    state[X], state[Y] = c * px - s * py + middle_x + way_x, s * px + c * py + middle_y + way_y
    cosine, sine = state[COSINE], state[SINE]
    state[COSINE], state[SINE] = c * cosine - s * sine, s * cosine + c * sine
    state[TURNED] = within(state[TURNED] + angle)
    return True


def common_way(ax: float, ay: float, bx: float, by: float) -> tuple[float, float]:
    """Return what two ways have in common: the shortest one between them."""
    x, y = bx - ax, by - ay
    share = min(max(-(ax * x + ay * y) / max(x * x + y * y, LEAST), 0.0), 1.0)
    return ax + share * x, ay + share * y


def common_turn(left: float, right: float) -> float:
    """Return what two turns have in common."""
    return math.copysign(min(abs(left), abs(right)), left) if left * right > 0.0 else 0.0


def within(angle: float) -> float:
    """Return an angle from minus pi to pi."""
    return angle - 2.0 * math.pi * math.floor(angle / (2.0 * math.pi) + 0.5)


def shorter(x: float, y: float, most: float) -> float:
    """Return the share of a way that is no longer than it may be."""
    length = math.hypot(x, y)
    return 1.0 if length <= most else most / length


def clip(x: float, most: float) -> float:
    """Return a number that is not too large."""
    return min(max(x, -most), most)
