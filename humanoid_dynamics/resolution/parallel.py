# SPDX-License-Identifier: Apache-2.0
"""The system of the rule of shares, as loops: forces that are parts of one, and what gives way where moments are left."""

from __future__ import annotations

from typing import TypeAlias

from humanoid_dynamics.resolution.memory import Memory
from humanoid_dynamics.resolution.small import BLOCK, add_block
from humanoid_dynamics.spatial.arrays import Matrix, Vector

Question: TypeAlias = tuple[Matrix, Vector, Vector, Vector, Vector, Vector]

APART: tuple[
    str, ...
] = ()  # of the parts of kernels here, those that are not copied to where they are called
FACE = 6  # numbers that a face pushes with
FACE_STIFFNESS = 1e10  # how much stiffer forces are, once more, with all of the load on faces, whose moments make up for what is left


def fill_targets(question: Question, M: Memory, soft: Vector) -> None:
    """Write C, and the forces by shares into the push, or the push itself where that follows the shares."""
    J, tau_0, shares, x, first = question[0], question[1], question[2], question[3], M.sizes.first
    told, on_faces = len(shares) > M.sizes.contacts, 0.0
    for i in range(FACE - 1, len(x)):
        if M.owner[i] >= 0 and M.owner[i] == M.owner[i - FACE + 1]:
            on_faces += shares[M.owner[i]]
    stiff = stiffen(on_faces, M.sizes.m, M.sizes.linear)
    for i in range(len(x)):
        share = shares[M.owner[i]] if M.owner[i] >= 0 else 1.0
        soft[i] = M.softness[i] * share
        x[i] = shares[M.sizes.contacts + i] if told else 0.0
        if M.softness[i] < 1.0:
            soft[i] *= stiff
            for k in range(first, first + M.sizes.linear if not told else first):
                x[i] += share * J[i, k] * tau_0[k]
    if not told:
        add_twist(x, M.twist)


def stiffen(on_faces: float, rows: int, linear: int) -> float:
    """Return what the compliance of forces is multiplied with: next to nothing where faces bear, whose moments need no help of forces.

    It is 1 where no face bears, and where joints without motor need forces: the system is solved as well as can be.

    Args:
        on_faces: Part of the load on faces, 0 to 1.
        rows: How many coordinates contacts alone push on.
        linear: How many of them move the base along.
    """
    if rows != 3 * linear - 3:  # others than those of the base
        return 1.0
    return 1.0 / (1.0 + FACE_STIFFNESS * on_faces * on_faces)


def add_twist(x: Vector, twist: Matrix) -> None:
    """Write the moments about their normals that edges have for their forces: two rows after those forces."""
    for i in range(4, len(x)):
        if twist[i, 0] != 0.0 or twist[i, 1] != 0.0:
            x[i] = twist[i, 0] * x[i - 4] + twist[i, 1] * x[i - 3]


def fill_shares(question: Question, M: Memory, soft: Vector) -> None:
    """Write J_u into ``Z``, J_u' C J_u into ``S``, and what the push leaves of free_u, free_u - J_u'x, into ``d``."""
    J, tau_0, x, bearing, Z, K, d = question[0], question[1], question[3], M.bearing, M.Z, M.S, M.d
    m = len(bearing)
    for i in range(BLOCK):
        d[i] = tau_0[bearing[i]] if i < m else 0.0
        for j in range(BLOCK):
            K[i, j] = 0.0
    for k in range(len(x)):
        z = Z[k]
        for i in range(m):
            z[i] = J[k, bearing[i]]
        add_block(d, -x[k], z)
        for i in range(m):
            add_block(K[i], soft[k] * z[i], z)
