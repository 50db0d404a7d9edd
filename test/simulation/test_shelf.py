# SPDX-License-Identifier: Apache-2.0
"""Arrays on a shelf: compiled code reads and writes the very arrays that were put there."""

import numpy as np
import pytest

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.simulation.books import Books
from humanoid_dynamics.simulation.steps.rows import MOMENTUM, NUMBERS, SPIN
from humanoid_dynamics.simulation.steps.shelf import (
    put_on_shelf,
    take_indices,
    take_matrix,
    take_table,
    take_vector,
    teach_shelves,
)


def add_up(shelf):
    matrix, vector, table, indices = (
        take_matrix(shelf, 0),
        take_vector(shelf, 1),
        take_table(shelf, 2),
        take_indices(shelf, 3),
    )
    vector[0] = matrix[1, 2] + len(matrix) + matrix.shape[1]
    indices[1] = table[1, 0] + len(table) + table.shape[1]


@pytest.mark.parametrize("compiled", [False, True])
def test_what_stands_on_a_shelf_is_read_and_written_where_it_is(compiled):
    arrays = (
        np.arange(12.0).reshape(3, 4),
        np.zeros(2),
        np.arange(4).reshape(2, 2),
        np.zeros(2, dtype=np.intp),
    )
    if compiled:
        numba = pytest.importorskip("numba")
        teach_shelves()
        numba.njit(add_up)(put_on_shelf(arrays))
    else:
        add_up(arrays)
    assert arrays[1].tolist() == [13.0, 0.0]
    assert arrays[3].tolist() == [0, 6]


@pytest.mark.parametrize(
    "array", [np.zeros((4, 4))[:, ::2], np.zeros((2, 3), order="F"), np.zeros(3, dtype=np.float32)]
)
def test_what_has_gaps_or_other_numbers_finds_no_place(array):
    with pytest.raises(ShapeError, match="array 0 of a shelf"):
        put_on_shelf([array])


def test_books_of_a_whole_step_are_those_of_its_parts():
    rng = np.random.default_rng(3)
    first, motion, impulse = rng.normal(size=9), rng.normal(size=9).tolist(), rng.normal(size=6)
    one, other, numbers = Books(0.0), Books(0.0), np.zeros((2, NUMBERS))
    for books in (one, other):
        books.begin_motion(3.0, np.array([0.1, 0.2, -9.81]), first)
    one.give(impulse)
    one.close_motion(motion, 0.01)
    one.report_motion(numbers[0])
    other.close_whole_step(numbers[1], motion, impulse.tolist(), 0.01)
    np.testing.assert_allclose(other.account, one.account, rtol=0, atol=1e-15)
    assert numbers[0, MOMENTUM] == numbers[1, MOMENTUM] > 0.0
    assert numbers[0, SPIN] == numbers[1, SPIN] > 0.0
