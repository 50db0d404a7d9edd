# SPDX-License-Identifier: Apache-2.0
"""How fast points come near to shapes, and when the first one hits; what numba compiles.

Tables and their columns are named in ``rows.py``.
"""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.simulation.contacts.thresholds import AT_ONCE, CALM, NEAR, REACH, WILD_REACH
from humanoid_dynamics.simulation.steps.rows import (
    DT,
    FORESEEN,
    M_TOUCHES,
    N_AXES,
    N_GAP,
    N_KEY,
    N_PLACE,
    N_SPEED,
    SLOWEST,
    V_MIDDLE,
    V,
)
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

START, KNOWN = 6, 12  # columns of the table of velocities


def speed_at(twists: Matrix, joint: int, start: int, row: Vector) -> float:
    """Return the velocity along the normal of the material point of a joint that touches.

    Args:
        twists: (nj, 13) velocities of joints.
        joint: The joint.
        start: Column where its velocity begins.
        row: Row of the table of near points.
    """
    n_x, n_y, n_z = row[N_AXES], row[N_AXES + 1], row[N_AXES + 2]
    x, y, z = row[N_PLACE], row[N_PLACE + 1], row[N_PLACE + 2]
    a, b, c = twists[joint, start + 3], twists[joint, start + 4], twists[joint, start + 5]
    turning = n_x * (b * z - c * y) + n_y * (c * x - a * z) + n_z * (a * y - b * x)
    return float(
        n_x * twists[joint, start]
        + n_y * twists[joint, start + 1]
        + n_z * twists[joint, start + 2]
        + turning
    )


def find_twists(
    JT: Matrix, tree: tuple[Indices, Indices], dofs: Matrix, joint: int, twists: Matrix
) -> None:
    """Write the velocity of a joint at the origin of the world, in the middle of the step and at its start, where it is not known.

    Args:
        JT: (nv, 6) joint Jacobian of the world, one row per coordinate.
        tree: (nj, 3) joint above, first and last coordinate of each, and (nv,) the coordinate that carries each.
        dofs: Table of the coordinates.
        joint: The joint.
        twists: (nj, 13) linear and angular velocity in the middle and at the start, and one, where they are known, else zero.
    """
    joints, parents = tree
    if twists[joint, KNOWN] > 0.0:
        return
    twists[joint, KNOWN] = 1.0
    i = joints[joint, 2]
    while i >= 0:
        middle, start = dofs[V_MIDDLE, i], dofs[V, i]
        for k in range(6):
            twists[joint, k] += JT[i, k] * middle
            twists[joint, START + k] += JT[i, k] * start
        i = parents[i]


def find_fastest(twist: Vector, middle: tuple[float, float, float], radius: float) -> float:
    """Return how fast anything in a ball is at most, in the middle of the step or at its start [m/s].

    Args:
        twist: (13,) velocities of its joint.
        middle: Its middle [m].
        radius: Its radius [m].
    """
    fastest, (x, y, z) = 0.0, middle
    for start in (0, START):
        a, b, c = twist[start + 3], twist[start + 4], twist[start + 5]
        u, v, w = (
            twist[start] + b * z - c * y,
            twist[start + 1] + c * x - a * z,
            twist[start + 2] + a * y - b * x,
        )
        fastest = max(
            fastest, np.sqrt(u * u + v * v + w * w) + radius * np.sqrt(a * a + b * b + c * c)
        )
    return float(fastest)


def find_deepest(
    twists: Matrix, moved: tuple[int, int], row: Vector, sunk: float, dt: float
) -> float:
    """Return how deep a point may be in a shape that it came into by a side it can touch [m].

    Args:
        twists: (nj, 13) velocities of joints.
        moved: Joints that carry the point and the shape.
        row: Row of the table of near points.
        sunk: How deep it was in the last step [m].
        dt: Length of the step [s].
    """
    middle = speed_at(twists, moved[0], 0, row) - speed_at(twists, moved[1], 0, row)
    began = speed_at(twists, moved[0], START, row) - speed_at(twists, moved[1], START, row)
    return float(NEAR + sunk + dt * max(-middle, -began, 0.0))


def find_reach(dofs: Matrix) -> float:
    """Return how near a point must come to take part in a step [m].

    Args:
        dofs: Table of the coordinates.
    """
    wild = 0.0
    for i in range(dofs.shape[1]):
        wild = max(wild, abs(dofs[V, i]))
    return REACH if wild < CALM else WILD_REACH


def measure_approach(twists: Matrix, joint: int, other: int, row: Vector, numbers: Vector) -> float:
    """Return the velocity along the normal of a point, seen from the shape.

    Args:
        twists: (nj, 13) velocities of joints.
        joint: Joint that carries the point.
        other: Joint that carries the shape.
        row: Row of the table of near points.
        numbers: Numbers in and out.
    """
    speed = speed_at(twists, joint, 0, row) - speed_at(twists, other, 0, row)
    if numbers[FORESEEN] > 0.0 and row[N_GAP] < AT_ONCE:
        began = speed_at(twists, joint, START, row) - speed_at(twists, other, START, row)
        return calm_down(speed, began, numbers[SLOWEST])
    return speed


def calm_down(speed: float, began: float, slowest: float) -> float:
    """Return the speed that counts of a point on a shape: what rests there does not hit it, however hard it is pressed on.

    Args:
        speed: Velocity along the normal in the middle of the step.
        began: The same at its start.
        slowest: Slowest approach that is an impact.
    """
    return max(speed, -slowest) if began >= -slowest else speed


def sooner(hit: float, row: Vector, memory: Matrix, numbers: Vector) -> float:
    """Return the earlier of a hit and that of one more point [s]; -1 for none.

    Args:
        hit: The hit, -1 for none.
        row: Row of the table of near points.
        memory: What touched in the last step.
        numbers: Numbers in and out.
    """
    dt, speed, gap = numbers[DT], row[N_SPEED], row[N_GAP]
    if (
        memory[int(row[N_KEY]), M_TOUCHES] > 0.0
        or speed >= -numbers[SLOWEST]
        or gap + 0.5 * dt * speed >= 0.0
    ):
        return hit
    when = min(max((gap - 0.5 * dt * speed) / -speed, 0.0), dt)
    return float(when if hit < 0.0 else min(hit, when))


PARTS = (
    speed_at,
    find_twists,
    find_fastest,
    find_deepest,
    find_reach,
    calm_down,
    measure_approach,
    sooner,
)
