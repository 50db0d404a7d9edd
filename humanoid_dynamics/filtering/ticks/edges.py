# SPDX-License-Identifier: Apache-2.0
"""Soles that stand on their front or rear edge: where those are, and what turns freely about them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from humanoid_dynamics.contact.cone import build_wrench_cone
from humanoid_dynamics.filtering.sole_edges import SoleEdges
from humanoid_dynamics.filtering.ticks.program import WRENCH, ExtraRows
from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.filtering.ticks.terms import DynamicsTerms
from humanoid_dynamics.filtering.ticks.wish_kernels import MEAN
from humanoid_dynamics.filtering.ticks.wishes import (
    CUSHION,
    HARDEST_LANDING,
    MEASURED_DAMPING,
    TaskGains,
    TaskReferences,
)
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel

DEPTH = 0.001  # m/m; the sole may dip by this much
TURN_WEIGHT = 30.0  # s^4/rad^2; of the wished turn about the edge
SMALL = 1e-9  # of the square of a cosine
STIFF, DAMP, STILL, HARDEST, TURN_STIFF, TURN_DAMP, RISING, DIP = range(8)  # places in the numbers
ABOUT = 4  # place of the turn about the edge among six motions

Sole = tuple[Matrix, Vector, Vector, Matrix]
Pose = tuple[Vector, Matrix]
Wanted = tuple[Matrix, Vector, Vector]
Rows = tuple[Matrix, Vector, Matrix, Vector]


def build_edge_cone(sole: ContactSurface, half: float, *, closed: bool) -> Matrix:
    """Return what an edge can carry, as rows on the wrench at its middle.

    Args:
        sole: The sole; its friction counts.
        half: Half the width of the edge [m].
        closed: Whether rows say as well that no moment acts about the edge; otherwise there is no unknown for it.

    Returns:
        (m, 6) rows, cone @ wrench <= 0.
    """
    cone = build_wrench_cone(
        replace(sole, vertices=np.array([[0.0, -half, 0.0], [0.0, half, 0.0]]))
    )
    rows = np.asarray(
        cone.A @ cone.basis.T
    )  # with the origin on the edge its five wrenches are orthonormal
    about = np.eye(WRENCH)[ABOUT]
    return np.vstack((rows, about, -about)) if closed else rows


class EdgeSeat:
    """Turns the terms of soles that stand on an edge into those of that edge, and wrenches back.

    Attributes:
        turn: Rows for the turn of the second sole about its edge: as it is wished for, and off the ground.
    """

    def __init__(self, soles: tuple[SoleEdges, SoleEdges], gains: TaskGains, nv: int) -> None:
        """Take the memory.

        Args:
            soles: Edges of both soles.
            gains: How deviations are corrected.
            nv: Number of velocities.
        """
        self.turn = ExtraRows(
            np.zeros((1, nv)),
            np.zeros(1),
            np.full(1, TURN_WEIGHT),
            np.zeros((1, nv)),
            np.zeros(1),
            lambda: 1,
        )
        self._soles, self._axes = soles, np.zeros((2, 3, 3))
        numbers = (*gains.stance, MEASURED_DAMPING, HARDEST_LANDING, *gains.swing, CUSHION, DEPTH)
        self._fixed = np.array(numbers)
        self._sit, self._return = (
            compile_kernel(sit_on_edge),
            compile_kernel(return_wrench),
        )

    def seat(
        self,
        foot: int,
        kind: int,
        target: Target,
        terms: DynamicsTerms,
        wishes: TaskReferences,
        flat: tuple[Vector, Matrix],
        pull: float,
    ) -> None:
        """Turn the terms of one sole, and what is wished of it.

        Args:
            foot: 0 for the left, 1 for the right.
            kind: ``TOE`` or ``HEEL``.
            target: What is wanted.
            terms: The robot in its state; changed.
            wishes: What is wished for; changed.
            flat: Place and orientation of the sole where it stands flat.
            pull: Share of the stiffness that holds it in place.
        """
        sole = terms.J[foot], terms.drift[foot], terms.twist[foot], terms.to_base[foot]
        wanted = target.sole_turn[foot], target.sole_rate[foot], target.sole_acceleration[foot]
        turn = self.turn
        out = wishes.soles[foot], (turn.G, turn.g, turn.rows, turn.lower), self._axes[foot]
        poses = (terms.place[foot], terms.turn[foot]), flat
        self._sit(sole, poses, self._soles[foot].middle(kind), pull, kind, wanted, self._fixed, out)

    def read(self, foot: int, kind: int, wrench: Vector) -> None:
        """Turn the wrench at an edge into one on the sole, in place.

        Args:
            foot: 0 for the left, 1 for the right.
            kind: ``TOE`` or ``HEEL``.
            wrench: (6,) wrench.
        """
        self._return(wrench, self._soles[foot].middle(kind), self._axes[foot])

    def read_all(self, edges: tuple[int, int], wrenches: Matrix) -> None:
        """Turn the wrenches at edges into those on soles, in place.

        Args:
            edges: What each sole stands on.
            wrenches: (2, 6) wrenches.
        """
        for foot in (0, 1):
            if edges[foot]:
                self.read(foot, edges[foot], wrenches[foot])


def sit_on_edge(
    sole: Sole,
    poses: tuple[Pose, Pose],
    point: Vector,
    pull: float,
    kind: int,
    wanted: Wanted,
    fixed: Vector,
    out: tuple[Vector, Rows, Matrix],
) -> None:
    """Turn the terms of a sole into those of its edge, and write what to wish for.

    Args:
        sole: J, drift, twist and to_base of ``BodyTerms`` for the sole; overwritten by those of the edge.
        poses: (3,) place [m] and (3, 3) orientation of the sole now, and where it stands flat.
        point: (3,) middle of the edge, in axes of the sole [m].
        pull: Share of the stiffness that holds the edge in place.
        kind: One where the heel is up, minus one where the toes are.
        wanted: (3, 3) orientation the sole should have, (6,) velocity and (6,) acceleration, axes of the world.
        fixed: Gains and constants.
        out: (6,) accelerations to wish for; the rows that wish for the turn, and those that keep the sole above the ground; (3, 3) what
            turns axes of the sole into those of the edge; overwritten.
    """
    wish, rows, C = out
    now, flat = poses
    R, E = now[1], flat[1]
    tilt, goal = find_tilt(R, E), find_tilt(wanted[0], E)
    _write_axes(R, E, C)
    J, drift, twist, B = sole
    for k in range(J.shape[1]):
        move_to_edge(J[:, k], point, C)
    move_to_edge(drift, point, C)
    move_to_edge(twist, point, C)
    for i in range(6):
        _move_back(B[i], point, C)
    _hold_edge(now, flat, point, pull, (twist, drift), fixed, C, wish)
    rate, second = 0.0, 0.0
    for j in range(3):
        rate, second = rate + R[j, 1] * wanted[1][3 + j], second + R[j, 1] * wanted[2][3 + j]
    wish[ABOUT] = (
        second + fixed[TURN_DAMP] * (rate - twist[ABOUT]) + fixed[TURN_STIFF] * (goal - tilt)
    )
    least = -2.0 * fixed[RISING] * kind * twist[ABOUT] - fixed[RISING] ** 2 * (
        kind * tilt + fixed[DIP]
    )
    wish[ABOUT] = kind * max(kind * wish[ABOUT], least)
    for j in range(J.shape[1]):
        rows[0][0, j], rows[2][0, j] = J[ABOUT, j], kind * J[ABOUT, j]
    rows[1][0], rows[3][0] = wish[ABOUT] - drift[ABOUT], least - kind * drift[ABOUT]


def move_to_edge(x: Vector, point: Vector, C: Matrix) -> None:
    """Turn a motion of the sole, in its axes, into that of its edge, in place."""
    a, b, c = x[3], x[4], x[5]
    u, v, w = (
        x[0] + b * point[2] - c * point[1],
        x[1] + c * point[0] - a * point[2],
        x[2] + a * point[1] - b * point[0],
    )
    for i in range(3):
        x[i] = C[i, 0] * u + C[i, 1] * v + C[i, 2] * w
        x[3 + i] = C[i, 0] * a + C[i, 1] * b + C[i, 2] * c


def _move_back(row: Vector, point: Vector, C: Matrix) -> None:
    """Turn a row on motions of the sole into one on motions of its edge, in place: a row is a wrench."""
    u, v, w = row[0], row[1], row[2]
    a, b, c = (
        row[3] - (point[1] * w - point[2] * v),
        row[4] - (point[2] * u - point[0] * w),
        row[5] - (point[0] * v - point[1] * u),
    )
    for i in range(3):
        row[i] = C[i, 0] * u + C[i, 1] * v + C[i, 2] * w
        row[3 + i] = C[i, 0] * a + C[i, 1] * b + C[i, 2] * c


def find_tilt(R: Matrix, flat: Matrix) -> float:
    """Return by how much the heel is up [rad], negative where the toes are.

    Args:
        R: (3, 3) orientation of a sole.
        flat: (3, 3) that of the same sole where it stands flat.
    """
    x, z = 0.0, 0.0
    for j in range(3):
        x, z = x + R[j, 0] * flat[j, 2], z + R[j, 2] * flat[j, 2]
    return math.atan2(-x, z)


def _write_axes(R: Matrix, flat: Matrix, C: Matrix) -> None:
    """Write the axes of an edge that lies on the ground, in axes of the sole."""
    for i in range(3):
        C[2, i] = 0.0
        for j in range(3):
            C[2, i] += R[j, i] * flat[j, 2]
    x, y, z = C[2, 0], C[2, 1], C[2, 2]
    size = math.sqrt(max(1.0 - y * y, SMALL))
    C[1, 0], C[1, 1], C[1, 2] = -y * x / size, size, -y * z / size
    C[0, 0], C[0, 1], C[0, 2] = (
        C[1, 1] * z - C[1, 2] * y,
        C[1, 2] * x - C[1, 0] * z,
        C[1, 0] * y - C[1, 1] * x,
    )


def _hold_edge(
    now: Pose,
    flat: Pose,
    point: Vector,
    pull: float,
    motion: tuple[Vector, Vector],
    fixed: Vector,
    C: Matrix,
    wish: Vector,
) -> None:
    """Bring the edge to rest where it stands, and its axis back to where it was."""
    R, E, (twist, drift), mean = now[1], flat[1], motion, MEAN if pull > 0.0 else 0.0
    for i in range(6):
        wish[i] = 0.0
    for j in range(3):
        off = flat[0][j] - now[0][j]
        for i in range(3):
            off += (E[j, i] - R[j, i]) * point[i]
        for i in range(3):
            wish[i] += (C[i, 0] * R[j, 0] + C[i, 1] * R[j, 1] + C[i, 2] * R[j, 2]) * off
        wish[3] -= E[j, 2] * R[j, 1]
        wish[5] += E[j, 0] * R[j, 1]
    square, damp = 0.0, max(pull, fixed[STILL]) * fixed[DAMP]
    for i in range(6):
        wish[i] = 0.0 if i == ABOUT else pull * fixed[STIFF] * wish[i] - damp * twist[i]
        square += wish[i] * wish[i]
    share = min(1.0, fixed[HARDEST] / max(math.sqrt(square), fixed[HARDEST]))
    for i in range(6):
        wish[i] = share * wish[i] + (0.0 if i == ABOUT else mean * drift[i])


def return_wrench(w: Vector, point: Vector, C: Matrix) -> None:
    """Turn a wrench at an edge, in its axes, into one at the origin of the sole, in its axes, in place."""
    u, v, z = w[0], w[1], w[2]
    a, b, c = w[3], w[4], w[5]
    for i in range(3):
        w[i] = C[0, i] * u + C[1, i] * v + C[2, i] * z
        w[3 + i] = C[0, i] * a + C[1, i] * b + C[2, i] * c
    w[3] += point[1] * w[2] - point[2] * w[1]
    w[4] += point[2] * w[0] - point[0] * w[2]
    w[5] += point[0] * w[1] - point[1] * w[0]
