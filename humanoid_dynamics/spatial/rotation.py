# SPDX-License-Identifier: Apache-2.0
"""Rotations: Rodrigues' formula and the step of a spherical joint, in both axis conventions [SV, eq. 25-29].

A relative angular velocity can be given in axes of the parent or of the child.  Parent axes multiply from the left, as the paper writes
it; child axes multiply from the right, as Pinocchio's spherical joint has it.  Mixing the two is an error of order one.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.spatial.arrays import Matrix, Vector

SMALL_ANGLE = 1e-8
AXES = ("parent", "child")
RULES = ("midpoint", "euler")


def skew(x: Vector) -> Matrix:
    """Return the matrix of the cross product: applied to y it gives x x y.

    Args:
        x: (..., 3) one vector or many.

    Returns:
        (..., 3, 3) skew-symmetric matrices.
    """
    S = np.zeros((*np.shape(x), 3))
    S[..., 0, 1], S[..., 0, 2], S[..., 1, 2] = -x[..., 2], x[..., 1], -x[..., 0]
    S[..., 1, 0], S[..., 2, 0], S[..., 2, 1] = x[..., 2], -x[..., 1], x[..., 0]
    return S


def rotate_by(rotation_vector: Vector) -> Matrix:
    """Return E + sin(angle) K + (1 - cos(angle)) K^2, the rotation about an axis by an angle [SV, eq. 25].

    K is the skew matrix of the *unit* axis.  At angle zero K is the zero matrix (the branch printed as ``Omega = Omega`` means
    ``Omega = O``); below 1e-8 rad the series E + [x] + [x]^2 / 2 is used, exact to round-off there.

    Args:
        rotation_vector: (3,) axis times angle [rad].

    Returns:
        (3, 3) rotation matrix.
    """
    angle = math.sqrt(float(rotation_vector @ rotation_vector))
    cross = skew(rotation_vector)
    if angle < SMALL_ANGLE:
        return np.eye(3) + cross + 0.5 * (cross @ cross)
    half = math.sin(0.5 * angle) / angle
    return np.eye(3) + (math.sin(angle) / angle) * cross + (2.0 * half * half) * (cross @ cross)


def step_rotation(R_PC: Matrix, omega: Vector, dt: float, axes: str = "parent") -> Matrix:
    """Turn a child against its parent for a time at constant relative angular velocity [SV, eq. 25].

    Args:
        R_PC: (3, 3) orientation of the child in the parent.
        omega: (3,) angular velocity of the child relative to the parent [rad/s], in the axes named next.
        dt: Time [s].
        axes: ``parent`` (R' = exp R, the paper) or ``child`` (R' = R exp, Pinocchio).

    Returns:
        (3, 3) orientation after the step.

    Raises:
        ShapeError: If the axes are neither.
    """
    if axes not in AXES:
        raise ShapeError("axes", repr(axes), " or ".join(AXES))
    turn = rotate_by(np.asarray(omega, dtype=np.float64) * dt)
    return turn @ R_PC if axes == "parent" else R_PC @ turn


def advance_rotation(
    R_PC: Matrix,
    omega: Callable[[float], Vector],
    t: float,
    dt: float,
    *,
    axes: str = "parent",
    rule: str = "midpoint",
) -> Matrix:
    """Turn a child against its parent while the angular velocity changes.

    Args:
        R_PC: (3, 3) orientation of the child in the parent at time t.
        omega: Angular velocity as a function of time [rad/s], in the axes named by ``axes``.
        t: Time [s].
        dt: Step [s].
        axes: ``parent`` or ``child``.
        rule: ``midpoint`` (second order) or ``euler`` (first order, as printed in [SV, eq. 25]).

    Returns:
        (3, 3) orientation at t + dt.

    Raises:
        ShapeError: If the axes or the rule are unknown.
    """
    if rule not in RULES:
        raise ShapeError("rule", repr(rule), " or ".join(RULES))
    instant = t + 0.5 * dt if rule == "midpoint" else t
    return step_rotation(R_PC, omega(instant), dt, axes)


def orthonormalize(R: Matrix) -> Matrix:
    """Return the rotation next to a matrix that is almost one: one Newton step towards its polar factor.

    Args:
        R: (3, 3) matrix with R^T R = E up to round-off e.

    Returns:
        (3, 3) matrix orthonormal to order e^2.
    """
    closer: Matrix = 1.5 * R - 0.5 * (R @ (R.T @ R))
    return closer
