# SPDX-License-Identifier: Apache-2.0
"""What contacts bear, without squares: right to digits also where they bear next to nothing, and how surely."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from humanoid_dynamics.spatial.arrays import Matrix, Vector


def bear_surely(J_u: Matrix, compliance: Vector, missing: Vector) -> tuple[float, Vector | None]:
    """Return C J_u mu with J_u' C J_u mu = missing: the push of least x'x / C that makes up for what is missing.

    Args:
        J_u: (size, equations) what the push does.
        compliance: (size,) how much each part of it gives way, C.
        missing: (equations,) what it is to do.

    Returns:
        Which part of an equation is not one of those before it, at least, zero where nothing bears; and the push (size,), then None.
    """
    if not J_u.shape[1]:
        return 1.0, np.zeros(len(J_u))
    roots = np.sqrt(compliance)
    A = J_u * roots[:, None]
    sizes = np.linalg.norm(A, axis=0)
    if len(A) < len(sizes) or not (sizes > 0.0).all() or not np.isfinite(A).all():
        return 0.0, None
    Q, R = np.linalg.qr(A / sizes)
    bearing, info = lapack.dtrtrs(R, missing / sizes, trans=1)
    push = roots * Q.dot(bearing)
    if info or not np.isfinite(push).all():
        return 0.0, None
    return float(np.abs(R.diagonal()).min()), push
