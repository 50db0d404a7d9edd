# SPDX-License-Identifier: Apache-2.0
"""When what slides will stand still: dry friction turns around there, and with it the step has to begin anew.

A point that slid through a step and slows down goes on to do so in the next one.  Where it stops within that, the step is cut in two: in
the first part friction acts against the slide that was, in the second against the one that comes, if one comes.
"""

from __future__ import annotations

from typing import Final

from humanoid_dynamics.simulation.steps.rows import M_U, N_AXES
from humanoid_dynamics.spatial.arrays import Matrix, Vector

SLIDES: Final = 1e-5  # [m/s] what moves more slowly stands, or creeps for want of digits
FAST: Final = 0.3  # [m/s] what moves faster does not stop within a step
STRAIGHT: Final = (
    0.5  # square of the cosine between velocity and its change; what turns more does not stop
)

BESIDE_END: Final = (
    1e-3  # share of a step next to its ends in which it is not cut where a slide stops
)


def stops_within(stop: float, dt: float) -> bool:
    """Return whether a point that slides is to stand still within a step, and not next to an end of it.

    Args:
        stop: When it does, zero where it is not known to [s].
        dt: Length of the step [s].
    """
    return bool(BESIDE_END * dt < stop < (1.0 - BESIDE_END) * dt)


def may_stop(slip: Vector) -> bool:
    """Return whether one of some points is slow enough to stop soon.

    Args:
        slip: (2m,) velocities along the first tangent of all points, then along the second.
    """
    squares, m = slip * slip, len(slip) // 2
    return bool((squares[:m] + squares[m:]).min() < FAST * FAST)


def find_stops(before: Matrix, after: Matrix, dt: float) -> float:
    """Return when the first of some points stands still after a step, zero where none is known to [s].

    Args:
        before: (m, 2) their velocities along the ground at the start of the step.
        after: (m, 2) those at its end.
        dt: Its length [s].
    """
    change = before - after
    along, square, speed = (after * change).sum(1), (change * change).sum(1), (after * after).sum(1)
    stops = (
        (along > 0.0)
        & (speed > SLIDES * SLIDES)
        & (speed < FAST * FAST)
        & (along * along > STRAIGHT * speed * square)
    )
    return dt * float((along[stops] / square[stops]).min()) if stops.any() else 0.0


def find_stop(kept: Vector, old: tuple[float, float, float], near: Vector, dt: float) -> float:
    """Return when a point stands still after a step, zero where it is not known to [s].

    Args:
        kept: Its row of the memory, with its velocity at the end of the step.
        old: Its velocity at the start.
        near: Its row of the table of near points, with its axes.
        dt: Length of the step [s].
    """
    along, square, speed = 0.0, 0.0, 0.0
    for tangent in (N_AXES + 3, N_AXES + 6):
        x, y, z = near[tangent], near[tangent + 1], near[tangent + 2]
        u = x * kept[M_U] + y * kept[M_U + 1] + z * kept[M_U + 2]
        change = x * old[0] + y * old[1] + z * old[2] - u
        along, square, speed = along + u * change, square + change * change, speed + u * u
    if (
        along <= 0.0
        or speed <= SLIDES * SLIDES
        or speed >= FAST * FAST
        or along * along <= STRAIGHT * speed * square
    ):
        return 0.0
    return float(dt * along / square)


PARTS = (find_stop, stops_within)
