"""Stage A2, heights: recorded feet float and sink by centimetres; the lower one of the moment is where the ground is."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.filtering.conditioning.windows import bell_kernel, smooth_line
from humanoid_dynamics.spatial.arrays import Matrix, Vector


def find_ground(heights: Matrix, deviation: float) -> Vector:
    """Return how high the ground of a recording is, row by row.

    Args:
        heights: (n, 2) heights of both soles [m].
        deviation: Standard deviation of the window under which the lower sole counts [samples].

    Returns:
        (n,) heights to take off everything [m].
    """
    lowest = np.min(heights, axis=1)
    return smooth_line(lowest, bell_kernel(deviation)) if deviation > 0.5 else lowest
