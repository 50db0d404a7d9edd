# SPDX-License-Identifier: Apache-2.0
"""How fast this machine is beside the one whose figures are published, for bounds of time that hold on both."""

from timeit import repeat

import numpy as np

PRODUCT = (
    0.73e-6  # s; a matrix of 38 x 38 by a vector with numpy on the machine of docs/performance.md
)


def slowness():
    """Return how many times longer this machine takes than that one, by the quickest of several bursts; at least 1."""
    known = {"matrix": np.ones((38, 38)), "vector": np.ones(38)}
    return max(
        1.0, min(repeat("matrix @ vector", number=2000, repeat=7, globals=known)) / 2000 / PRODUCT
    )
