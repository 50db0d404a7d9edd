# SPDX-License-Identifier: Apache-2.0
"""Points near the ground or a shape that moves, and the rows of their velocities: normal, then two tangents."""

from __future__ import annotations

from typing import NamedTuple

from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector


class Near(NamedTuple):
    """Points near the ground or a shape that moves.

    Attributes:
        key: (k,) place of each pair of point and shape in the memory.
        point: (k,) places of the points in the table.
        gap: (k,) distance [m].
        axes: (3, k, 3) normal and two tangents of each, in the world.
        J: (3, k, nv) velocity of the touching material point along these axes, per generalized velocity.
        place: (k, 3) where it touches, in the world [m].
        mu: (k,) Coulomb coefficient.
        e: (k,) coefficient of restitution.
        turn: (6, 6) axes of every point, twice on the diagonal, where all are alike.
    """

    key: Indices
    point: Indices
    gap: Vector
    axes: Matrix
    J: Matrix
    place: Matrix
    mu: Vector
    e: Vector
    turn: Matrix | None = None
