"""Which points are near which shapes, where, how fast, and when the first one hits; what numba compiles in place of ``detection.py``.

Tables and their columns are named in ``rows.py``.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from humanoid_dynamics.simulation.probe_kernel import FAR, carry, probe
from humanoid_dynamics.simulation.rows import (
    BOUNCE,
    COUNT,
    DT,
    FORESEEN,
    GROUP,
    HIT,
    JOINT,
    LOWEST,
    M_TOUCHES,
    MU,
    N_AXES,
    N_BOUNCE,
    N_GAP,
    N_KEY,
    N_MU,
    N_PLACE,
    N_POINT,
    N_SHAPE,
    N_SPEED,
    P_X,
    RADIUS,
    S_BOUNCE,
    S_GROUP,
    S_JOINT,
    S_MU,
    SLOWEST,
    STATICS,
    V_MIDDLE,
    WITHIN,
    V,
)
from humanoid_dynamics.simulation.thresholds import AT_ONCE
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

STEEP = 0.9
Tables: TypeAlias = tuple[Matrix, ...]


def write_twists(JT: Matrix, joints: Indices, v: Vector, twist: Matrix) -> None:
    """Write the velocity of every joint at the origin of the world.

    Args:
        JT: (nv, 6) joint Jacobian of the world, one row per coordinate.
        joints: (nj, 3) joint above, first and last coordinate of each.
        v: (nv,) velocity.
        twist: (nj, 6) linear and angular velocity, overwritten.
    """
    for j in range(1, len(joints)):
        above = joints[j, 0]
        for k in range(6):
            twist[j, k] = twist[above, k]
        for i in range(joints[j, 1], joints[j, 2] + 1):
            for k in range(6):
                twist[j, k] += JT[i, k] * v[i]


def write_axes(row: Vector, normal: Vector) -> None:
    """Write the normal and two tangents, the first as near to x as can be.

    Args:
        row: Row of the table of near points, overwritten there.
        normal: (3,) the normal.
    """
    x, y, z = normal[0], normal[1], normal[2]
    if abs(x) > STEEP:
        length = np.sqrt(x * x + y * y)
        t_x, t_y, t_z = -y / length, x / length, 0.0
    else:
        length = np.sqrt(x * x + z * z)
        t_x, t_y, t_z = z / length, 0.0, -x / length
    row[N_AXES], row[N_AXES + 1], row[N_AXES + 2] = x, y, z
    row[N_AXES + 3], row[N_AXES + 4], row[N_AXES + 5] = t_x, t_y, t_z
    row[N_AXES + 6], row[N_AXES + 7], row[N_AXES + 8] = y * t_z - z * t_y, z * t_x - x * t_z, x * t_y - y * t_x


def speed_at(twist: Matrix, joint: int, row: Vector) -> float:
    """Return the velocity along the normal of the material point of a joint that touches.

    Args:
        twist: (nj, 6) velocity of every joint.
        joint: The joint.
        row: Row of the table of near points.
    """
    n_x, n_y, n_z = row[N_AXES], row[N_AXES + 1], row[N_AXES + 2]
    x, y, z = row[N_PLACE], row[N_PLACE + 1], row[N_PLACE + 2]
    V, W = twist[joint, :3], twist[joint, 3:]
    turning = n_x * (W[1] * z - W[2] * y) + n_y * (W[2] * x - W[0] * z) + n_z * (W[0] * y - W[1] * x)
    return float(n_x * V[0] + n_y * V[1] + n_z * V[2] + turning)


def find_nearest(point: Vector, middle: Vector, shapes: Matrix, poses: Matrix, span: tuple[int, int]) -> tuple[int, float]:
    """Return the nearest of some shapes and the distance to it.

    Args:
        point: Row of the table of points.
        middle: (6,) where it is in the world [m], and the normal there, overwritten.
        shapes: Table of shapes.
        poses: (nj, 12) poses of all joints.
        span: The first shape and the one after the last.
    """
    nearest, least = -1, FAR
    normal = np.empty(3)
    for s in range(span[0], span[1]):
        if shapes[s, S_GROUP] != point[GROUP]:
            gap = probe(shapes[s], poses[int(shapes[s, S_JOINT])], middle[:3], normal) - point[RADIUS]
            if gap < least:
                nearest, least = s, gap
                middle[3], middle[4], middle[5] = normal[0], normal[1], normal[2]
    return nearest, least


def enter(row: Vector, point: Vector, middle: Vector, shape: Vector, gap: float) -> None:
    """Write a point that is near a shape into the table.

    Args:
        row: The row, overwritten but for key, indices and speed.
        point: Row of the table of points.
        middle: (6,) where it is, and the normal there.
        shape: Row of the table of shapes.
        gap: Distance between both [m].
    """
    row[N_GAP] = gap
    row[N_MU], row[N_BOUNCE] = min(point[MU], shape[S_MU]), max(point[BOUNCE], shape[S_BOUNCE])
    for k in range(3):
        row[N_PLACE + k] = middle[k] - point[RADIUS] * middle[3 + k]
    write_axes(row, middle[3:])


def detect(views: Tables, tables: Tables, joints: Indices, numbers: Vector) -> None:
    """Find the points near a shape, and when the first one hits.

    Shapes that stand still count as one, the nearest; every shape that moves counts by itself.

    Args:
        views: (nj, 12) poses of all joints, and (nv, 6) joint Jacobian of the world.
        tables: Tables of points, shapes, coordinates, near points (overwritten) and memory.
        joints: (nj, 3) joint above, first and last coordinate of each.
        numbers: Numbers in and out.
    """
    poses, JT = views
    points, shapes, dofs, near, memory = tables
    twist, start, middle = np.zeros((len(joints), 6)), np.zeros((len(joints), 6)), np.empty(6)
    write_twists(JT, joints, dofs[V_MIDDLE], twist)
    foreseen = numbers[FORESEEN] > 0.0
    if foreseen:
        write_twists(JT, joints, dofs[V], start)
    statics = int(numbers[STATICS])
    count, lowest, hit = 0, FAR, -1.0
    for i in range(len(points)):
        point = points[i]
        middle[0], middle[1], middle[2] = carry(poses[int(point[JOINT])], point[P_X], point[P_X + 1], point[P_X + 2])
        for slot in range(len(shapes) - statics + 1):
            span = (0, statics) if slot == 0 else (statics + slot - 1, statics + slot)
            s, gap = find_nearest(point, middle, shapes, poses, span)
            lowest = min(lowest, gap)
            if gap >= numbers[WITHIN]:
                continue
            row = near[count]
            row[N_KEY], row[N_POINT], row[N_SHAPE] = slot * len(points) + i, i, s
            enter(row, point, middle, shapes[s], gap)
            row[N_SPEED] = speed_at(twist, int(point[JOINT]), row) - speed_at(twist, int(shapes[s, S_JOINT]), row)
            if foreseen and gap < AT_ONCE:
                began = speed_at(start, int(point[JOINT]), row) - speed_at(start, int(shapes[s, S_JOINT]), row)
                row[N_SPEED] = calm_down(row[N_SPEED], began, numbers[SLOWEST])
            hit = sooner(hit, row, memory, numbers)
            count += 1
    numbers[LOWEST], numbers[HIT], numbers[COUNT] = lowest, hit, count


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
    if memory[int(row[N_KEY]), M_TOUCHES] > 0.0 or speed >= -numbers[SLOWEST] or gap + 0.5 * dt * speed >= 0.0:
        return hit
    when = min(max((gap - 0.5 * dt * speed) / -speed, 0.0), dt)
    return float(when if hit < 0.0 else min(hit, when))


PARTS = (write_twists, write_axes, speed_at, find_nearest, enter, calm_down, sooner)
