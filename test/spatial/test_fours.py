# SPDX-License-Identifier: Apache-2.0
"""Four numbers at once are the same numbers compiled and not, to the last digit."""

import numpy as np
import pytest

from humanoid_dynamics.spatial.compiling import compile_kernel
from humanoid_dynamics.spatial.fours import (
    FOUR,
    add_four,
    add_products,
    four_alike,
    four_in,
    four_of,
    larger_four,
    largest_of_four,
    put_four,
    put_four_in,
    sum_each,
    sum_four,
)


def use_all(d, A, told):
    """Write sums and products from places of any alignment on; the last rows and entries stay."""
    first, second = four_of(d, 1), four_in(A, 1, 2)
    put_four(d, 5, add_four(first, 0.5, second))
    put_four_in(A, 0, 3, add_products(four_alike(2.0), first, second))
    put_four_in(A, 2, 1, larger_four(first, second))
    told[0], told[1] = sum_four(first), largest_of_four(second)
    put_four(told, 2, sum_each(second, first, four_alike(1.0), four_in(A, 2, 0)))


def numbers(rng):
    return (
        rng.integers(-8, 8, 11).astype(float),
        rng.integers(-8, 8, (3, 9)).astype(float),
        np.zeros(2 + FOUR),
    )


def test_four_numbers_are_those_of_arrays():
    pytest.importorskip("numba")
    kernel, rng = compile_kernel(use_all), np.random.default_rng(1)
    for _ in range(20):
        one = numbers(rng)
        other = tuple(part.copy() for part in one)
        before = one[0].copy(), one[1].copy()
        kernel(*one)
        use_all(*other)
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)
        assert np.flatnonzero(one[0] != before[0]).size <= FOUR
        assert one[2][0] == before[0][1:5].sum()
        assert one[2][1] == before[1][1, 2:6].max()
        np.testing.assert_array_equal(
            one[2][2:5], [before[1][1, 2:6].sum(), before[0][1:5].sum(), 4.0]
        )


def test_what_is_no_number_is_not_the_larger_one():
    nothing, one = np.full(FOUR, np.nan), np.arange(4.0)
    np.testing.assert_array_equal(larger_four(nothing, one), one)

    def choose(d, other, found):
        put_four(found, 0, larger_four(four_of(d, 0), four_of(other, 0)))

    pytest.importorskip("numba")
    found = np.zeros(FOUR)
    compile_kernel(choose)(nothing, one, found)
    np.testing.assert_array_equal(found, one)
