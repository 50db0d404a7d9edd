# SPDX-License-Identifier: Apache-2.0
"""Books of momentum of all bodies, written so that numba can compile it: what they have, what they were given, what is left."""

from __future__ import annotations

from math import sqrt
from typing import TypeAlias

import numpy as np

from humanoid_dynamics.simulation.steps.bench import A_P, Bench
from humanoid_dynamics.simulation.steps.joint_kinds import B_FLIES
from humanoid_dynamics.simulation.steps.rows import (
    GRAVITY,
    IMPULSE,
    JOINT,
    LEAKED,
    MASS,
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

Numbers: TypeAlias = "Vector | memoryview[float] | list[float]"  # no arrays where nothing is compiled: these are read faster one by one


def enter_contacts(bench: Bench, bodies: Matrix, account: Vector) -> None:
    """Enter the impulses of the contacts of a step: on trees that fly, and back on shapes in them.

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
        on, off = (
            int(bench.points[int(row[N_POINT]), JOINT]),
            int(bench.shapes[int(row[N_SHAPE]), S_JOINT]),
        )
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


def find_ungiven(
    account: Numbers, motion: Numbers, given: Numbers, dt: float
) -> tuple[float, float, float, float, float, float]:
    """Return what of the momentum neither gravity nor others gave, linear and about the centre of mass; the account has it as it is now.

    Args:
        account: Account of energy and momentum.
        motion: (9,) momentum, linear and angular about the origin of the world, and mass times centre of mass, of all bodies.
        given: (6,) impulse that others gave, and its moment about the origin of the world.
        dt: In what time [s].
    """
    mass, g_x, g_y, g_z, half = (
        account[MASS],
        dt * account[GRAVITY],
        dt * account[GRAVITY + 1],
        dt * account[GRAVITY + 2],
        0.5 * dt,
    )
    last = MOTION
    x, y, z = motion[6] / mass, motion[7] / mass, motion[8] / mass
    a, b, c = account[last], account[last + 1], account[last + 2]
    # mass times its centre, in the middle of the part, where contacts act
    m_x, m_y, m_z = (
        account[last + 6] + half * a,
        account[last + 7] + half * b,
        account[last + 8] + half * c,
    )
    a, b, c = motion[0] - a, motion[1] - b, motion[2] - c
    d, e, f = (
        motion[3] - account[last + 3],
        motion[4] - account[last + 4],
        motion[5] - account[last + 5],
    )
    u, v, w = d - (y * c - z * b), e - (z * a - x * c), f - (x * b - y * a)
    account[TURNED] += sqrt(a * a + b * b + c * c)
    account[TURNED + 1] += sqrt(u * u + v * v + w * w)
    a, b, c = a - given[0] - mass * g_x, b - given[1] - mass * g_y, c - given[2] - mass * g_z
    d -= given[3] + m_y * g_z - m_z * g_y
    e -= given[4] + m_z * g_x - m_x * g_z
    f -= given[5] + m_x * g_y - m_y * g_x
    for k in range(9):
        account[last + k] = motion[k]
    return a, b, c, d - (y * c - z * b), e - (z * a - x * c), f - (x * b - y * a)


def close_motion(account: Numbers, motion: Numbers, dt: float) -> None:
    """Enter the momentum after a part of a step; what is neither gravity nor an impulse that was entered nobody gave.

    Args:
        account: Account of energy and momentum.
        motion: (9,) momentum, linear and angular about the origin of the world, and mass times centre of mass, of all bodies.
        dt: Length of the part [s].
    """
    left = find_ungiven(account, motion, account[IMPULSE:UNGIVEN], dt)
    for k in range(6):
        account[UNGIVEN + k] += left[k]
        account[IMPULSE + k] = 0.0


def report_motion(account: Numbers, numbers: Numbers) -> None:
    """Say what momentum nobody gave in a step, and begin the next one.

    Args:
        account: Account of energy and momentum.
        numbers: Numbers in and out.
    """
    a, b, c, x, y, z = (
        account[UNGIVEN],
        account[UNGIVEN + 1],
        account[UNGIVEN + 2],
        account[UNGIVEN + 3],
        account[UNGIVEN + 4],
        account[UNGIVEN + 5],
    )
    numbers[MOMENTUM], numbers[SPIN] = sqrt(a * a + b * b + c * c), sqrt(x * x + y * y + z * z)
    for k in range(6):
        account[LEAKED + k] += account[UNGIVEN + k]
        account[UNGIVEN + k] = 0.0


def close_whole_step(
    account: Numbers, numbers: Numbers, motion: Numbers, given: Numbers, dt: float
) -> None:
    """Do what ``close_motion`` and ``report_motion`` do, after a step of one part of which nothing was entered before.

    Args:
        account: Account of energy and momentum.
        numbers: Numbers in and out.
        motion: (9,) momentum, linear and angular about the origin of the world, and mass times centre of mass, of all bodies.
        given: (6,) impulse that others than gravity gave, and its moment about the origin of the world.
        dt: Length of the step [s].
    """
    a, b, c, x, y, z = left = find_ungiven(account, motion, given, dt)
    numbers[MOMENTUM], numbers[SPIN] = sqrt(a * a + b * b + c * c), sqrt(x * x + y * y + z * z)
    for k, some in enumerate(left, LEAKED):
        account[k] += some


PARTS = (enter_contacts, find_ungiven, close_motion, report_motion)
