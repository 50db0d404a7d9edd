# SPDX-License-Identifier: Apache-2.0
"""All accelerations, contact forces and torques of one instant, and of these the nearest to what is wanted [DF, eq. 1-2, 7-9].

Unknown are x = (a, lam, tau) in W x = u, W = [[M, -J^T, -S^T], [J, 0, 0]].  ``solve_literally`` does what the paper says: the general
solution with a pseudo-inverse and a projector, then y = V* (a_wanted - a0) with the singularity-robust inverse V* = V^T (V V^T + k E)^-1.
Printed there is y = V* (a_wanted - a) with the unknown a itself; a0, the acceleration of the least-square solution, is meant.

The same x is the minimum of |a - a_wanted|^2 + k |D^-1 x|^2 on W x = u: y lies in the null space, where |y|^2 = |z|^2 - |z0|^2.
``StructuredSolution`` minimises that with torques eliminated by their own rows, as a system in contact forces and multipliers alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack, pinv

from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

RANK = 1e-11  # share of the largest singular value of W D that counts as zero
SERIES = 1e-5  # of the trace of the second term of H: its square is what the series leaves out
SOFT = 1e-13  # share of the diagonal by which dependent rows yield


@dataclass(frozen=True, eq=False)
class Balance:
    """One instant, ready to be solved.

    Attributes:
        M: (nv, nv) inertia, full.
        h: (nv,) Coriolis, centrifugal and gravity forces less known outside forces.
        J: (k, nv) rows that hold.
        gamma: (k,) what J a must be, with the sign turned.
        unit: (k,) what counts as one unit of each contact force [N, N·m].
    """

    M: Matrix
    h: Vector
    J: Matrix
    gamma: Vector
    unit: Vector


@dataclass(frozen=True, eq=False)
class Solution:
    """An answer to W x = u.

    Attributes:
        a: (nv,) acceleration.
        lam: (k,) forces of the rows on the robot.
        tau: (na,) torques of the motors.
    """

    a: Vector
    lam: Vector
    tau: Vector


@dataclass(frozen=True)
class Units:
    """What counts as one, and how much of it is worth a miss of the wanted acceleration.

    Attributes:
        acceleration: One unit of acceleration [rad/s² or m/s²].
        torque: One unit of torque [N·m].
        k: Damping of the singularity-robust inverse [(rad/s²)²].
    """

    acceleration: float = 10.0
    torque: float = 100.0
    k: float = 1e-6


def build_coefficients(balance: Balance, driven: Indices) -> tuple[Matrix, Vector]:
    """Write W and u of the basic equation [DF, eq. 1-2].

    Args:
        balance: The instant.
        driven: (na,) coordinates with a motor.

    Returns:
        W: (nv + k, nv + k + na).
        u: (nv + k,).
    """
    k, nv = balance.J.shape
    W = np.zeros((nv + k, nv + k + len(driven)))
    W[:nv, :nv], W[:nv, nv : nv + k], W[nv:, :nv] = balance.M, -balance.J.T, balance.J
    W[driven, nv + k + np.arange(len(driven))] = -1.0
    return W, np.concatenate((-balance.h, -balance.gamma))


def solve_literally(balance: Balance, driven: Indices, wanted: Vector, units: Units) -> Solution:
    """Solve as printed: pseudo-inverse, projector, singularity-robust inverse [DF, eq. 7-9].

    Args:
        balance: The instant.
        driven: (na,) coordinates with a motor.
        wanted: (nv,) desired acceleration.
        units: Weights.

    Returns:
        Acceleration, contact forces, torques.
    """
    k, nv = balance.J.shape
    W, u = build_coefficients(balance, driven)
    D = np.concatenate(
        (np.full(nv, units.acceleration), balance.unit, np.full(len(driven), units.torque))
    )
    WD = W * D
    sharp = pinv(WD, rtol=RANK)
    z = sharp @ u
    projector = np.eye(len(D)) - sharp @ WD
    V = units.acceleration * projector[:nv]
    error = wanted - units.acceleration * z[:nv]
    left, sigma, right = np.linalg.svd(V, full_matrices=False)
    sigma[sigma < RANK * sigma[0]] = (
        0.0  # what contacts forbid is no motion: rounding there would be divided by k
    )
    y = right.T @ (sigma / (sigma**2 + units.k) * (left.T @ error))
    x = D * (z + projector @ y)
    return Solution(x[:nv], x[nv : nv + k], x[nv + k :])


class StructuredSolution:
    """The same answer without pseudo-inverse and projector, prepared for one robot."""

    def __init__(self, nv: int, driven: Indices, units: Units) -> None:
        """Prepare.

        Args:
            nv: Number of velocity coordinates.
            driven: (na,) coordinates with a motor.
            units: Weights.
        """
        self._units = units
        self._driven = _as_slice(driven)
        self._others = _as_slice(np.setdiff1d(np.arange(nv), driven))

    def solve(self, balance: Balance, wanted: Vector) -> Solution:
        """Solve for one instant.

        Args:
            balance: The instant.
            wanted: (nv,) desired acceleration.

        Returns:
            Acceleration, contact forces, torques of the driven coordinates.
        """
        J, unit, units = balance.J, balance.unit, self._units
        k, nv = J.shape
        stiff = units.k / units.torque**2
        M_j, M_b, h_j = balance.M[self._driven], balance.M[self._others], balance.h[self._driven]
        J_j, J_b = J[:, self._driven] * unit[:, None], J[:, self._others] * unit[:, None]
        size = 2 * k + len(M_b)
        B = np.empty((nv, size + 1), order="F")
        B[:, :k] = M_j.T.dot(stiff * J_j.T)
        B[:, k : 2 * k], B[:, 2 * k : size] = J.T, M_b.T
        B[:, size] = wanted - M_j.T.dot(stiff * h_j)
        S, X, U = _square(M_j, B, stiff, 1.0 + units.k / units.acceleration**2)
        diagonal = S.ravel(order="K")[:: size + 2]
        diagonal[:k] -= units.k
        diagonal[k : 2 * k] *= 1.0 + SOFT
        rhs = (
            np.concatenate((J_j.dot(-stiff * h_j), -balance.gamma, -balance.h[self._others]))
            - S[size, :size]
        )
        system = S[:size, :size]
        system[:k, :k] -= stiff * J_j.dot(J_j.T)
        system[2 * k :, :k] -= J_b.T
        factors, pivots, s, _ = lapack.dsysv(system, rhs, lower=1)
        miss = blas.dsymv(-1.0, system, s, beta=1.0, y=rhs, lower=1)
        s += lapack.dsytrs(factors, pivots, miss, lower=1)[
            0
        ]  # forces inside the feet are worth k only, and round-off would show
        a = X[:, size] + X[:, :size].dot(s)
        if U is not None:
            a = lapack.dtrtrs(U, a)[0]
        lam = unit * s[:k]
        tau = M_j.dot(a) + h_j - J_j.T.dot(s[:k])
        return Solution(a, lam, tau)


def _square(
    M_j: Matrix, B: Matrix, stiff: float, one: float
) -> tuple[Matrix, Matrix, Matrix | None]:
    """Return B^T H^-1 B with H = one E + stiff M_j^T M_j, in the lower triangle, and what gives H^-1 B s.

    Where the second term is tiny, as it is with a small k, two terms of the series of H^-1 are as exact as its Cholesky factor and cheaper.

    Args:
        M_j: (na, nv) rows of the inertia.
        B: (nv, m) columns.
        stiff: Weight of the rows.
        one: Weight of the unit matrix.

    Returns:
        The product, then H^-1 B and None, or U^-T B and the factor U.
    """
    if stiff * float(np.vdot(M_j, M_j)) < SERIES:
        Y = M_j.dot(B)
        inverse = (B - M_j.T.dot(stiff / one * Y)) / one
        S = blas.dsyrk(1.0 / one, B, trans=1, lower=1)
        return (
            blas.dsyrk(-stiff / one**2, Y, trans=1, lower=1, beta=1.0, c=S, overwrite_c=1),
            inverse,
            None,
        )
    H = blas.dsyrk(stiff, M_j.T)
    H.ravel(order="K")[:: len(H) + 1] += one
    U, _ = lapack.dpotrf(H, lower=0, clean=0)
    X = lapack.dtrtrs(U, B, trans=1)[0]
    return blas.dsyrk(1.0, X, trans=1, lower=1), X, U


def _as_slice(indices: Indices) -> Indices | slice:
    """Return a slice where the indices follow each other: views instead of copies."""
    if len(indices) and (np.diff(indices) == 1).all():
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices
