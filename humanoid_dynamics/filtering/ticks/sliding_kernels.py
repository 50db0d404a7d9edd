# SPDX-License-Identifier: Apache-2.0
"""Which soles slide, and what these may bear, as a loop that numba compiles."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.spatial.arrays import Matrix, Vector


def spare_sliding(
    along: Matrix,
    motion: tuple[Matrix, Matrix, Matrix],
    dt: float,
    limits: tuple[float, float],
    load: Vector,
    slides: NDArray[np.bool_],
) -> None:
    """Let soles bear next to nothing that are fast along the ground once they were moved as wished, seen from where they are.

    Args:
        along: (2, 2, 6) what turns the velocity of each sole into that of its middle, along it.
        motion: (2, 6) velocities of the soles, accelerations to wish for, accelerations where no coordinate accelerates.
        dt: Time until the next tick [s].
        limits: Speed up to which a sole does not slide [m/s], and what one may bear that does [N].
        load: (2,) largest push on each sole [N]; changed.
        slides: (2,) which soles slide, or may bear less already; overwritten.
    """
    twist, wish, drift = motion
    for foot in range(2):
        x, y = 0.0, 0.0
        for i in range(6):
            after = twist[foot, i] + dt * (wish[foot, i] - drift[foot, i])
            x, y = x + along[foot, 0, i] * after, y + along[foot, 1, i] * after
        slides[foot] = math.hypot(x, y) > limits[0] or load[foot] < limits[1]
        if slides[foot]:
            load[foot] = min(load[foot], limits[1])
