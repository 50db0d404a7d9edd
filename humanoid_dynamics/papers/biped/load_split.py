# SPDX-License-Identifier: Apache-2.0
"""Load split and internal wrench behind a wanted contact wrench: the fourth procedure [BP, eq. 72-74]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only


@dataclass(frozen=True, eq=False)
class LoadSplit:
    """How the wrench of a leg splits into a share of the load and an internal part.

    Attributes:
        split: Share of the load, 0 to 1 [-].
        unclamped: What it was before it was clamped; it depends on units, the wrench below does not.
        eta: (n,) internal wrench.
    """

    split: float
    unclamped: float
    eta: Vector


def split_by_procedure_4(B_2: Matrix, b_2: Vector, b_3: Vector, f: Vector) -> LoadSplit:
    """Find split and internal wrench with B_2 eta + b_2 split + b_3 = f, the split inside 0..1.

    First the least of eta and split together, then the split clamped and eta solved for again.  Left as it was before clamping, which is
    how the paper prints it, eta misses the wanted wrench by b_2 times what was clamped away.  Solved again it does not, and torques
    depend on the split no more: this is the rule ``transition`` with two numbers to look at.

    Args:
        B_2: (n, n) how the internal wrench reaches the contact, regular.
        b_2: (n,) how the load does.
        b_3: (n,) wrench of the links between.
        f: (n,) wanted contact wrench.

    Returns:
        The split.

    Raises:
        ShapeError: If sizes do not fit, B_2 is singular or a number is not finite.
    """
    n = len(f)
    if B_2.shape != (n, n) or b_2.shape != (n,) or b_3.shape != (n,):
        raise ShapeError(
            "B_2, b_2, b_3",
            f"shapes {B_2.shape}, {b_2.shape}, {b_3.shape}",
            f"({n}, {n}), ({n},), ({n},)",
        )
    _, _, columns, info = lapack.dgesv(B_2, np.column_stack((f - b_3, b_2)))
    if info or not np.isfinite(columns).all():
        raise ShapeError(
            "B_2",
            "a singular matrix or numbers that are not finite",
            "a regular matrix, finite numbers",
        )
    free, per_load = columns.T  # eta = free - per_load * split: the least of |eta|^2 + split^2 is
    unclamped = float(per_load @ free / (1.0 + per_load @ per_load))
    split = min(max(unclamped, 0.0), 1.0)
    return LoadSplit(split, unclamped, read_only(free - per_load * split))
