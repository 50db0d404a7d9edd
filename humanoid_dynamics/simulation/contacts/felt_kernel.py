# SPDX-License-Identifier: Apache-2.0
"""What the ground does to each surface, in the part of Python that numba compiles."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.simulation.steps.bench import A_P
from humanoid_dynamics.simulation.steps.rows import N_AXES, N_PLACE, N_POINT, NORMALS, POINTS
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector


def sum_wrenches(
    near: Matrix, chosen: Indices, answer: Matrix, numbers: Vector, owner: Indices, sums: Matrix
) -> None:
    """Sum the impulses on the points of each surface, as the tables of a step have them.

    Args:
        near: Points near the ground.
        chosen: Which of them took part.
        answer: Their impulses.
        numbers: Numbers of the step.
        owner: (points,) surface of each point, -1 where there is none.
        sums: (surfaces, 6) impulse and its moment about the origin of the world; written.
    """
    m, count = int(numbers[POINTS]), int(numbers[NORMALS])
    sums[:] = 0.0
    for i in range(m):
        row = near[chosen[i]]
        surface = owner[int(row[N_POINT])]
        if surface < 0:
            continue
        for j in range(3):
            normal, first, second = row[N_AXES + j], row[N_AXES + 3 + j], row[N_AXES + 6 + j]
            f = (
                answer[A_P, i] * normal
                + answer[A_P, count + i] * first
                + answer[A_P, count + m + i] * second
            )
            a, b = (j + 1) % 3, (j + 2) % 3
            sums[surface, j] += f
            sums[surface, 3 + a] += row[N_PLACE + b] * f
            sums[surface, 3 + b] -= row[N_PLACE + a] * f


def turn_wrenches(
    sums: Matrix, places: tuple[Indices, Matrix, Matrix], poses: Matrix, span: float
) -> None:
    """Turn sums of impulses into mean wrenches at the origins of surfaces, in their own axes.

    Args:
        sums: (surfaces, 6) as ``sum_wrenches`` has them; overwritten.
        places: Joint of each surface, (surfaces, 3, 3) its axes and (surfaces, 3) its origin on the joint.
        poses: (nj, 12) poses of all joints, rotation column by column and translation.
        span: Time in which they were given [s].
    """
    joints, axes, origins = places
    f, m, p = np.empty(3), np.empty(3), np.empty(3)
    for k in range(len(joints)):
        pose = poses[joints[k]]
        for i in range(3):
            f[i], m[i], p[i] = sums[k, i] / span, sums[k, 3 + i] / span, pose[9 + i]
            for j in range(3):
                p[i] += pose[3 * j + i] * origins[k, j]
        for i in range(3):
            a, b = (i + 1) % 3, (i + 2) % 3
            m[i] -= p[a] * f[b] - p[b] * f[a]
        for i in range(3):
            sums[k, i] = sums[k, 3 + i] = 0.0
            for j in range(3):
                along = 0.0
                for n in range(3):
                    along += pose[3 * n + j] * axes[k, n, i]
                sums[k, i] += along * f[j]
                sums[k, 3 + i] += along * m[j]
