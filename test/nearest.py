# SPDX-License-Identifier: Apache-2.0
"""How far a vector is from what non-negative shares of some vectors add up to."""

import numpy as np
from scipy.optimize import lsq_linear


def cone_distance(generators, vector):
    """Distance of a vector from a cone; bvls, for the nnls of SciPy 1.15 stops too early and then tells a distance of zero."""
    shares = lsq_linear(
        generators, vector, (0.0, np.inf), method="bvls", tol=1e-15, max_iter=1000
    ).x
    return float(np.linalg.norm(generators @ shares - vector))
