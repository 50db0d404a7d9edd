# SPDX-License-Identifier: Apache-2.0
"""All tables of a step in one record, as kernels take them."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from humanoid_dynamics.simulation.steps.lending import lend
from humanoid_dynamics.simulation.steps.shelf import (
    take_indices,
    take_matrix,
    take_table,
    take_vector,
)
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

Tables: TypeAlias = tuple[
    Any, ...
]  # all of a bench as a plain tuple, which costs less to hand to a compiled function
# columns of the table of limits, rows of the table of answers
L_V, L_Q, L_SIGN, L_BOUND, L_IMPULSE = 0, 1, 2, 3, 4
A_P, A_U, A_WANTED, A_GUESS = 0, 1, 2, 3


class Bench(NamedTuple):
    """All tables of a step.

    Attributes:
        JT: (nv, 6) joint Jacobian of the world.
        L: (nv, nv) factor of the inertia.
        Q: (r, nv) orthonormal basis of the bilateral rows.
        points: Touch points.
        shapes: Shapes.
        dofs: Coordinates.
        near: Near points.
        memory: What touched in the last step.
        limits: Limits of joints.
        answer: Impulses, velocities, shifts and guesses of the rows.
        joints: (nj, 3) joint above, first and last coordinate of each.
        parents: (nv,) coordinate that carries each.
        chosen: Which near points take part, and which limits after them.
        numbers: Numbers in and out.
        room: Room for numbers of joints that touch.
        indices: Room for whole numbers of these.
    """

    JT: Matrix
    L: Matrix
    Q: Matrix
    points: Matrix
    shapes: Matrix
    dofs: Matrix
    near: Matrix
    memory: Matrix
    limits: Matrix
    answer: Matrix
    joints: Indices
    parents: Indices
    chosen: Indices
    numbers: Vector
    room: Vector
    indices: Indices


def open_bench(tables: Tables) -> Bench:
    """Return tables as they are handed on inside compiled code.

    Args:
        tables: All tables, in the order of ``Bench``.
    """
    first = (
        lend(tables[0]),
        lend(tables[1]),
        lend(tables[2]),
        lend(tables[3]),
        lend(tables[4]),
        lend(tables[5]),
    )
    second = (
        lend(tables[6]),
        lend(tables[7]),
        lend(tables[8]),
        lend(tables[9]),
        lend(tables[10]),
        lend(tables[11]),
    )
    return Bench(
        *first, *second, lend(tables[12]), lend(tables[13]), lend(tables[14]), lend(tables[15])
    )


def take_bench(shelf: Any) -> Bench:
    """Return the tables on a shelf.

    Args:
        shelf: The tables, in the order of ``Bench``, and others after them.
    """
    rows = (take_matrix(shelf, 0), take_matrix(shelf, 1), take_matrix(shelf, 2))
    tables = (
        take_matrix(shelf, 3),
        take_matrix(shelf, 4),
        take_matrix(shelf, 5),
        take_matrix(shelf, 6),
        take_matrix(shelf, 7),
    )
    answers = (take_matrix(shelf, 8), take_matrix(shelf, 9))
    places = (take_table(shelf, 10), take_indices(shelf, 11), take_indices(shelf, 12))
    return Bench(
        *rows,
        *tables,
        *answers,
        *places,
        take_vector(shelf, 13),
        take_vector(shelf, 14),
        take_indices(shelf, 15),
    )


PARTS = (open_bench, take_bench)
