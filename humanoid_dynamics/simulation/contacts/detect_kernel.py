# SPDX-License-Identifier: Apache-2.0
"""Which points are near which shapes, where, how fast, and when the first one hits; what numba compiles in place of ``detection.py``.

Tables and their columns are named in ``rows.py``.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from humanoid_dynamics.simulation.contacts.approach_kernel import (
    KNOWN,
    find_deepest,
    find_fastest,
    find_reach,
    find_twists,
    measure_approach,
    sooner,
)
from humanoid_dynamics.simulation.contacts.disc_kernel import lower_disc
from humanoid_dynamics.simulation.contacts.probe_kernel import (
    FAR,
    carry,
    is_beyond,
    is_far,
    probe,
    turn_out,
)
from humanoid_dynamics.simulation.contacts.shapes import FACING, STEEP
from humanoid_dynamics.simulation.contacts.thresholds import NEAR
from humanoid_dynamics.simulation.steps.rows import (
    BOUNCE,
    COUNT,
    DT,
    GROUP,
    HIT,
    JOINT,
    KIND,
    LOWEST,
    M_DEEP,
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
    P_ALL_BALL,
    P_ALL_END,
    P_AXIS,
    P_BALL,
    P_END,
    P_OUT,
    P_X,
    PLANE,
    RADIUS,
    S_BOUNCE,
    S_GROUP,
    S_JOINT,
    S_MU,
    S_R,
    S_T,
    STATICS,
    WITHIN,
)
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

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
    row[N_AXES + 6], row[N_AXES + 7], row[N_AXES + 8] = (
        y * t_z - z * t_y,
        z * t_x - x * t_z,
        x * t_y - y * t_x,
    )


def faces(middle: Vector, normal: Vector) -> bool:
    """Return whether a point may touch a shape: one that looks somewhere does where it looks at the shape, any other always.

    What lies on a ledge slides over its edge and does not run against it, and is not held by its side.

    Args:
        middle: (15,) where it is, the normal there, where it looks, zero for everywhere, its axis, and where it touches.
        normal: (3,) normal of the shape.
    """
    x, y, z = middle[6], middle[7], middle[8]
    if x == 0.0 and y == 0.0 and z == 0.0:
        return True
    return bool(x * normal[0] + y * normal[1] + z * normal[2] <= -FACING)


def find_nearest(
    point: Vector,
    middle: Vector,
    views: Tables,
    span: tuple[int, int],
    room: tuple[Vector, float, float],
) -> tuple[int, float]:
    """Return the nearest of some shapes and the distance to it, or the distance that all are beyond.

    Args:
        point: Row of the table of points.
        middle: (15,) where it is in the world [m], the normal there, overwritten, where it looks, its axis, and where it touches,
            overwritten.
        views: Table of shapes, and (nj, 12) poses of all joints.
        span: The first shape and the one after the last.
        room: (28,) room as for ``lower_disc``, the distance within which shapes count, and how deep it may be in any that has edges to
            come in by [m].
    """
    shapes, poses = views
    found, within, place = room[0][:3], room[1], room[0][3:12]
    nearest, least = -1, FAR
    for s in range(span[0], span[1]):
        pose = poses[int(shapes[s, S_JOINT])]
        if shapes[s, S_GROUP] == point[GROUP]:
            continue
        if is_far(shapes[s], pose, middle, within + point[RADIUS]):
            least = min(least, within)
            continue
        gap = probe(shapes[s], pose, middle, found) - point[RADIUS]
        if gap >= within:
            least = min(least, gap)
            continue
        if middle[9] != 0.0 or middle[10] != 0.0 or middle[11] != 0.0:
            gap = lower_disc(point, (shapes[s], pose), middle, room[0])
        else:
            r = point[RADIUS]
            place[0], place[1], place[2] = (
                middle[0] - r * found[0],
                middle[1] - r * found[1],
                middle[2] - r * found[2],
            )
        if (
            gap < min(least, within)
            and (gap >= -room[2] or shapes[s, KIND] == PLANE)
            and faces(middle, found)
        ):
            nearest, least = s, gap
            middle[3], middle[4], middle[5] = found[0], found[1], found[2]
            middle[12], middle[13], middle[14] = place[0], place[1], place[2]
    return nearest, least


def come_within(
    point: Vector,
    views: Tables,
    tree: tuple[Indices, Indices],
    room: tuple[Matrix, Vector, float],
    numbers: Vector,
) -> float:
    """Return the distance from what stands still within which points of a cluster may take part in a step, zero where all are far [m].

    Args:
        point: Row of the table of points of the first of them.
        views: (nj, 12) poses of all joints, (nv, 6) joint Jacobian of the world, tables of shapes and coordinates.
        tree: As for ``detect``.
        room: (nj, 13) velocities of joints, room for the middle of the ball that holds them, and what is near enough to take part [m].
        numbers: Numbers in and out; the least gap is lowered to what is known of it.
    """
    (poses, JT, shapes, dofs), (twists, middle, reach) = views, room
    joint, within = int(point[JOINT]), numbers[WITHIN]
    x, y, z = carry(poses[joint], point[P_BALL], point[P_BALL + 1], point[P_BALL + 2])
    middle[0], middle[1], middle[2] = x, y, z
    if not is_alone(point, middle, (shapes, poses), (int(numbers[STATICS]), within, within)):
        find_twists(JT, tree, dofs, joint, twists)
        within = min(
            within,
            max(NEAR, reach)
            + numbers[DT] * find_fastest(twists[joint], (x, y, z), point[P_BALL + 3]),
        )
        if not is_alone(
            point, middle, (shapes, poses), (int(numbers[STATICS]), within, numbers[WITHIN])
        ):
            return float(within)
    numbers[LOWEST] = min(numbers[LOWEST], within)
    return 0.0


def is_high(
    points: Matrix, which: tuple[int, int], poses: Matrix, shapes: Matrix, reach: float
) -> bool:
    """Return whether a ball is farther from the only shape, a plane, than some distance; quicker than ``find_nearest``.

    Args:
        points: Table of points.
        which: Which of them, and the first of four columns with the middle and the radius of the ball.
        poses: (nj, 12) poses of all joints.
        shapes: Table of shapes.
        reach: The distance [m].
    """
    i, column = which
    joint, x, y, z = (
        int(points[i, JOINT]),
        points[i, column],
        points[i, column + 1],
        points[i, column + 2],
    )
    w_x = (
        poses[joint, 0] * x
        + poses[joint, 3] * y
        + poses[joint, 6] * z
        + poses[joint, 9]
        - shapes[0, S_T]
    )
    w_y = (
        poses[joint, 1] * x
        + poses[joint, 4] * y
        + poses[joint, 7] * z
        + poses[joint, 10]
        - shapes[0, S_T + 1]
    )
    w_z = (
        poses[joint, 2] * x
        + poses[joint, 5] * y
        + poses[joint, 8] * z
        + poses[joint, 11]
        - shapes[0, S_T + 2]
    )
    height = shapes[0, S_R + 2] * w_x + shapes[0, S_R + 5] * w_y + shapes[0, S_R + 8] * w_z
    return bool(height - points[i, column + 3] >= reach)


def is_alone(
    point: Vector, middle: Vector, views: Tables, bounds: tuple[int, float, float]
) -> bool:
    """Return whether a cluster of points is farther from all shapes that it may touch than some distance; False may be wrong.

    Args:
        point: Row of the table of points of the first of them.
        middle: (15,) the middle of the ball that holds them [m], and more.
        views: Table of shapes, and (nj, 12) poses of all joints.
        bounds: Number of shapes that stand still, and the distances of these and of those that move [m].
    """
    shapes, poses = views
    statics, still, moving = bounds
    for s in range(0 if point[GROUP] >= 0.0 else statics, len(shapes)):
        reach = (still if s < statics else moving) + point[P_BALL + 3]
        if shapes[s, S_GROUP] != point[GROUP] and not is_beyond(
            shapes[s], poses[int(shapes[s, S_JOINT])], middle, reach
        ):
            return False
    return True


def enter(row: Vector, point: Vector, middle: Vector, shape: Vector, gap: float) -> None:
    """Write a point that is near a shape into the table.

    Args:
        row: The row, overwritten but for key, indices and speed.
        point: Row of the table of points.
        middle: (15,) where it is, the normal there, where it looks, its axis, and where it touches.
        shape: Row of the table of shapes.
        gap: Distance between both [m].
    """
    row[N_GAP] = gap
    row[N_MU], row[N_BOUNCE] = min(point[MU], shape[S_MU]), max(point[BOUNCE], shape[S_BOUNCE])
    for k in range(3):
        row[N_PLACE + k] = middle[12 + k]
    write_axes(row, middle[3:6])


def detect(views: Tables, tables: Tables, tree: tuple[Indices, Indices], numbers: Vector) -> None:  # noqa: C901
    """Find the points near a shape, and when the first one hits.

    Shapes that stand still count as one, the nearest; every shape that moves counts by itself.  It is one function, because to hand on
    all of its tables for each point takes longer than what is done with them.

    Args:
        views: (nj, 12) poses of all joints, and (nv, 6) joint Jacobian of the world.
        tables: Tables of points, shapes, coordinates, near points (overwritten) and memory.
        tree: (nj, 3) joint above, first and last coordinate of each, and (nv,) the coordinate that carries each.
        numbers: Numbers in and out.
    """
    poses, JT = views
    points, shapes, dofs, near, memory = tables
    twists, middle, found = np.zeros((len(tree[0]), 13)), np.empty(15), np.zeros(28)
    statics, level, reach = (
        int(numbers[STATICS]),
        len(shapes) == 1 and shapes[0, KIND] == PLANE,
        find_reach(dofs),
    )
    numbers[LOWEST], count, hit, until, i = FAR, 0, -1.0, 0, -1
    within = numbers[WITHIN]
    while i < len(points) - 1:
        i += 1
        point = points[i]
        if (
            level
            and point[P_ALL_END] > 0.0
            and is_high(points, (i, P_ALL_BALL), poses, shapes, numbers[WITHIN])
        ):
            numbers[LOWEST], i = min(numbers[LOWEST], numbers[WITHIN]), int(point[P_ALL_END]) - 1
            continue
        if point[P_END] > 0.0:
            until, within = int(point[P_END]), numbers[WITHIN]
            alone = level and is_high(points, (i, P_BALL), poses, shapes, within)
            if alone:
                numbers[LOWEST] = min(numbers[LOWEST], within)
            else:
                within = come_within(
                    point, (poses, JT, shapes, dofs), tree, (twists, middle, reach), numbers
                )
            if alone or within == 0.0:
                i = until - 1
                continue
        elif i >= until:
            within = numbers[WITHIN]
        if level and within < numbers[WITHIN] and is_high(points, (i, P_X), poses, shapes, within):
            numbers[LOWEST] = min(numbers[LOWEST], within)
            continue
        joint = int(point[JOINT])
        pose = poses[joint]
        middle[0], middle[1], middle[2] = carry(pose, point[P_X], point[P_X + 1], point[P_X + 2])
        middle[6], middle[7], middle[8] = turn_out(
            pose, point[P_OUT], point[P_OUT + 1], point[P_OUT + 2]
        )
        middle[9], middle[10], middle[11] = turn_out(
            pose, point[P_AXIS], point[P_AXIS + 1], point[P_AXIS + 2]
        )
        for slot in range(
            0 if point[GROUP] >= 0.0 else 1, len(shapes) - statics + 1
        ):  # the terrain does not touch itself
            span = (0, statics) if slot == 0 else (statics + slot - 1, statics + slot)
            near_by, row, key = (
                within if slot == 0 else numbers[WITHIN],
                near[count],
                slot * len(points) + i,
            )
            s, gap = find_nearest(point, middle, (shapes, poses), span, (found, near_by, FAR))
            if gap < -NEAR:
                other = int(shapes[s, S_JOINT])
                find_twists(JT, tree, dofs, joint, twists)
                find_twists(JT, tree, dofs, other, twists)
                enter(row, point, middle, shapes[s], gap)
                deepest = find_deepest(
                    twists, (joint, other), row, memory[key, M_DEEP], numbers[DT]
                )
                if gap < -deepest:
                    s, gap = find_nearest(
                        point, middle, (shapes, poses), span, (found, near_by, deepest)
                    )
            numbers[LOWEST] = min(numbers[LOWEST], gap)
            if s < 0:
                continue
            row[N_KEY], row[N_POINT], row[N_SHAPE] = key, i, s
            enter(row, point, middle, shapes[s], gap)
            other = int(shapes[s, S_JOINT])
            for moved in (joint, other):
                if twists[moved, KNOWN] == 0.0:
                    find_twists(JT, tree, dofs, moved, twists)
            row[N_SPEED] = measure_approach(twists, joint, other, row, numbers)
            hit = sooner(hit, row, memory, numbers)
            count += 1
    numbers[HIT], numbers[COUNT] = hit, count


PARTS = (
    write_axes,
    faces,
    find_nearest,
    is_alone,
    come_within,
    is_high,
    enter,
)
