"""Books of momentum of the bodies that fly, written so that numba can compile it: what they have, what they were given, what is left."""

from __future__ import annotations

from math import sqrt
from typing import TypeAlias

import numpy as np

from humanoid_dynamics.simulation.steps.bench import A_P, Bench
from humanoid_dynamics.simulation.steps.joint_kinds import B_FLIES
from humanoid_dynamics.simulation.steps.rows import (
    FLYING,
    GRAVITY,
    IMPULSE,
    JOINT,
    LEAKED,
    MOMENTUM,
    MOTION,
    N_AXES,
    N_PLACE,
    N_POINT,
    N_SHAPE,
    NORMALS,
    POINTS,
    S_JOINT,
    SPIN,
    TURNED,
    UNGIVEN,
)
from humanoid_dynamics.spatial.arrays import Matrix, Vector

Numbers: TypeAlias = Vector | list[float]  # lists where nothing is compiled: the interpreter reads them ten times as fast


def enter_contacts(bench: Bench, bodies: Matrix, account: Vector) -> None:
    """Enter the impulses of the contacts of a step: on what flies, and back on shapes that fly.

    Args:
        bench: All tables.
        bodies: Table of bodies.
        account: Account of energy and momentum.
    """
    near, answer, chosen, numbers = bench.near, bench.answer, bench.chosen, bench.numbers
    m, count = int(numbers[POINTS]), int(numbers[NORMALS])
    f = np.empty(3)
    for i in range(m):
        row = near[chosen[i]]
        on, off = int(bench.points[int(row[N_POINT]), JOINT]), int(bench.shapes[int(row[N_SHAPE]), S_JOINT])
        share = bodies[on, B_FLIES] - bodies[off, B_FLIES]
        if share == 0.0:
            continue
        for k in range(3):
            along = answer[A_P, i] * row[N_AXES + k] + answer[A_P, count + i] * row[N_AXES + 3 + k]
            f[k] = share * (along + answer[A_P, count + m + i] * row[N_AXES + 6 + k])
            account[IMPULSE + k] += f[k]
        x, y, z = row[N_PLACE], row[N_PLACE + 1], row[N_PLACE + 2]
        account[IMPULSE + 3] += y * f[2] - z * f[1]
        account[IMPULSE + 4] += z * f[0] - x * f[2]
        account[IMPULSE + 5] += x * f[1] - y * f[0]


def turn_about(account: Numbers, at: int, wrench: tuple[float, ...], place: tuple[float, float, float]) -> float:
    """Add a wrench about the origin to one about a place; return the size of its moment about that.

    Args:
        account: Account of energy and momentum.
        at: Where the sum stands in it, -1 for nowhere.
        wrench: Six numbers.
        place: Three numbers.
    """
    a, b, c, x, y, z = wrench
    x -= place[1] * c - place[2] * b
    y -= place[2] * a - place[0] * c
    z -= place[0] * b - place[1] * a
    if at >= 0:
        account[at] += a
        account[at + 1] += b
        account[at + 2] += c
        account[at + 3] += x
        account[at + 4] += y
        account[at + 5] += z
    return sqrt(x * x + y * y + z * z)


def close_motion(account: Numbers, motion: Numbers, dt: float) -> None:
    """Enter the momentum after a part of a step; what is neither gravity nor an impulse that was entered nobody gave.

    Args:
        account: Account of energy and momentum.
        motion: (9,) momentum, linear and angular about the origin of the world, and mass times centre of mass, of what flies.
        dt: Length of the part [s].
    """
    mass, g_x, g_y, g_z = account[FLYING], account[GRAVITY], account[GRAVITY + 1], account[GRAVITY + 2]
    last, given, half = MOTION, IMPULSE, 0.5 * dt
    place = (motion[6] / mass, motion[7] / mass, motion[8] / mass)
    # mass times its centre, in the middle of the part, where contacts act
    m_x = dt * (account[last + 6] + half * account[last])
    m_y = dt * (account[last + 7] + half * account[last + 1])
    m_z = dt * (account[last + 8] + half * account[last + 2])
    a, b, c = motion[0] - account[last], motion[1] - account[last + 1], motion[2] - account[last + 2]
    x, y, z = motion[3] - account[last + 3], motion[4] - account[last + 4], motion[5] - account[last + 5]
    account[TURNED] += sqrt(a * a + b * b + c * c)
    account[TURNED + 1] += turn_about(account, -1, (a, b, c, x, y, z), place)
    left = (
        a - account[given] - dt * mass * g_x,
        b - account[given + 1] - dt * mass * g_y,
        c - account[given + 2] - dt * mass * g_z,
        x - account[given + 3] - (m_y * g_z - m_z * g_y),
        y - account[given + 4] - (m_z * g_x - m_x * g_z),
        z - account[given + 5] - (m_x * g_y - m_y * g_x),
    )
    turn_about(account, UNGIVEN, left, place)
    for k in range(9):
        account[last + k] = motion[k]
    for k in range(6):
        account[given + k] = 0.0


def report_motion(account: Numbers, numbers: Vector) -> None:
    """Say what momentum nobody gave in a step, and begin the next one.

    Args:
        account: Account of energy and momentum.
        numbers: Numbers in and out.
    """
    linear, angular = 0.0, 0.0
    for k in range(3):
        linear += account[UNGIVEN + k] * account[UNGIVEN + k]
        angular += account[UNGIVEN + 3 + k] * account[UNGIVEN + 3 + k]
    for k in range(6):
        account[LEAKED + k] += account[UNGIVEN + k]
        account[UNGIVEN + k] = 0.0
    numbers[MOMENTUM], numbers[SPIN] = sqrt(linear), sqrt(angular)


PARTS = (enter_contacts, turn_about, close_motion, report_motion)
