"""Which points are near which shapes, where, how fast, and when the first one hits; what numba compiles in place of ``detection.py``.

Tables and their columns are named in ``rows.py``.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from humanoid_dynamics.simulation.contacts.probe_kernel import FAR, carry, is_far, probe, turn_out
from humanoid_dynamics.simulation.contacts.shapes import FACING, STEEP
from humanoid_dynamics.simulation.contacts.thresholds import AT_ONCE
from humanoid_dynamics.simulation.steps.rows import (
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
    P_OUT,
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
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

START, KNOWN = 6, 12  # columns of the table of velocities
Tables: TypeAlias = tuple[Matrix, ...]


def write_axes(row: Vector, normal: Vector) -> None:
    """Write the normal and two tangents, the first across y, or level where the surface is steep.

    Args:
        row: Row of the table of near points, overwritten there.
        normal: (3,) the normal.
    """
    x, y, z = normal[0], normal[1], normal[2]
    level = x * x + y * y
    if level > STEEP * STEEP:
        length = np.sqrt(level)
        t_x, t_y, t_z = -y / length, x / length, 0.0
    else:
        length = np.sqrt(x * x + z * z)
        t_x, t_y, t_z = z / length, 0.0, -x / length
    row[N_AXES], row[N_AXES + 1], row[N_AXES + 2] = x, y, z
    row[N_AXES + 3], row[N_AXES + 4], row[N_AXES + 5] = t_x, t_y, t_z
    row[N_AXES + 6], row[N_AXES + 7], row[N_AXES + 8] = y * t_z - z * t_y, z * t_x - x * t_z, x * t_y - y * t_x


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
    return float(n_x * twists[joint, start] + n_y * twists[joint, start + 1] + n_z * twists[joint, start + 2] + turning)


def faces(middle: Vector, normal: Vector) -> bool:
    """Return whether a point may touch a shape: one that looks somewhere does where it looks at the shape, any other always.

    What lies on a ledge slides over its edge and does not run against it, and is not held by its side.

    Args:
        middle: (9,) where it is, the normal there, and where it looks, zero for everywhere.
        normal: (3,) normal of the shape.
    """
    x, y, z = middle[6], middle[7], middle[8]
    if x == 0.0 and y == 0.0 and z == 0.0:
        return True
    return bool(x * normal[0] + y * normal[1] + z * normal[2] <= -FACING)


def find_nearest(point: Vector, middle: Vector, views: Tables, span: tuple[int, int], room: tuple[Vector, float]) -> tuple[int, float]:
    """Return the nearest of some shapes and the distance to it, or the distance that all are beyond.

    Args:
        point: Row of the table of points.
        middle: (9,) where it is in the world [m], the normal there, overwritten, and where it looks.
        views: Table of shapes, and (nj, 12) poses of all joints.
        span: The first shape and the one after the last.
        room: (3,) room for a normal, and the distance within which shapes count [m].
    """
    shapes, poses = views
    found, within = room
    nearest, least = -1, FAR
    for s in range(span[0], span[1]):
        pose = poses[int(shapes[s, S_JOINT])]
        if shapes[s, S_GROUP] == point[GROUP]:
            continue
        if is_far(shapes[s], pose, middle, within + point[RADIUS]):
            least = min(least, within)
            continue
        gap = probe(shapes[s], pose, middle, found) - point[RADIUS]
        if gap < least and faces(middle, found):
            nearest, least = s, gap
            middle[3], middle[4], middle[5] = found[0], found[1], found[2]
    return nearest, least


def enter(row: Vector, point: Vector, middle: Vector, shape: Vector, gap: float) -> None:
    """Write a point that is near a shape into the table.

    Args:
        row: The row, overwritten but for key, indices and speed.
        point: Row of the table of points.
        middle: (9,) where it is, the normal there, and where it looks.
        shape: Row of the table of shapes.
        gap: Distance between both [m].
    """
    row[N_GAP] = gap
    row[N_MU], row[N_BOUNCE] = min(point[MU], shape[S_MU]), max(point[BOUNCE], shape[S_BOUNCE])
    for k in range(3):
        row[N_PLACE + k] = middle[k] - point[RADIUS] * middle[3 + k]
    write_axes(row, middle[3:6])


def find_twists(JT: Matrix, tree: tuple[Indices, Indices], dofs: Matrix, joint: int, twists: Matrix) -> None:
    """Write the velocity of a joint at the origin of the world, in the middle of the step and at its start, once.

    Args:
        JT: (nv, 6) joint Jacobian of the world, one row per coordinate.
        tree: (nj, 3) joint above, first and last coordinate of each, and (nv,) the coordinate that carries each.
        dofs: Table of the coordinates.
        joint: The joint.
        twists: (nj, 13) zero; linear and angular velocity in the middle and at the start, and one where they are known.
    """
    joints, parents = tree
    twists[joint, KNOWN] = 1.0
    i = joints[joint, 2]
    while i >= 0:
        middle, start = dofs[V_MIDDLE, i], dofs[V, i]
        for k in range(6):
            twists[joint, k] += JT[i, k] * middle
            twists[joint, START + k] += JT[i, k] * start
        i = parents[i]


def detect(views: Tables, tables: Tables, tree: tuple[Indices, Indices], numbers: Vector) -> None:
    """Find the points near a shape, and when the first one hits.

    Shapes that stand still count as one, the nearest; every shape that moves counts by itself.

    Args:
        views: (nj, 12) poses of all joints, and (nv, 6) joint Jacobian of the world.
        tables: Tables of points, shapes, coordinates, near points (overwritten) and memory.
        tree: (nj, 3) joint above, first and last coordinate of each, and (nv,) the coordinate that carries each.
        numbers: Numbers in and out.
    """
    poses, JT = views
    points, shapes, dofs, near, memory = tables
    twists, middle, found = np.zeros((len(tree[0]), 13)), np.empty(9), np.empty(3)
    statics = int(numbers[STATICS])
    count, lowest, hit = 0, FAR, -1.0
    for i in range(len(points)):
        point = points[i]
        pose = poses[int(point[JOINT])]
        middle[0], middle[1], middle[2] = carry(pose, point[P_X], point[P_X + 1], point[P_X + 2])
        middle[6], middle[7], middle[8] = turn_out(pose, point[P_OUT], point[P_OUT + 1], point[P_OUT + 2])
        for slot in range(0 if point[GROUP] >= 0.0 else 1, len(shapes) - statics + 1):  # the terrain does not touch itself
            span = (0, statics) if slot == 0 else (statics + slot - 1, statics + slot)
            s, gap = find_nearest(point, middle, (shapes, poses), span, (found, numbers[WITHIN]))
            lowest = min(lowest, gap)
            if gap >= numbers[WITHIN]:
                continue
            row = near[count]
            row[N_KEY], row[N_POINT], row[N_SHAPE] = slot * len(points) + i, i, s
            enter(row, point, middle, shapes[s], gap)
            joint, other = int(point[JOINT]), int(shapes[s, S_JOINT])
            for moved in (joint, other):
                if twists[moved, KNOWN] == 0.0:
                    find_twists(JT, tree, dofs, moved, twists)
            row[N_SPEED] = measure_approach(twists, joint, other, row, numbers)
            hit = sooner(hit, row, memory, numbers)
            count += 1
    numbers[LOWEST], numbers[HIT], numbers[COUNT] = lowest, hit, count


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
    if memory[int(row[N_KEY]), M_TOUCHES] > 0.0 or speed >= -numbers[SLOWEST] or gap + 0.5 * dt * speed >= 0.0:
        return hit
    when = min(max((gap - 0.5 * dt * speed) / -speed, 0.0), dt)
    return float(when if hit < 0.0 else min(hit, when))


PARTS = (write_axes, speed_at, faces, find_nearest, enter, find_twists, calm_down, measure_approach, sooner)
