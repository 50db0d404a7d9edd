# SPDX-License-Identifier: Apache-2.0
"""Factorisations against the defining equations of the pseudo-inverse, over every rank."""

import numpy as np
import pytest

from humanoid_dynamics.spatial.cholesky import factor_positive, pivot_ratio, solve_factored
from humanoid_dynamics.spatial.orthogonal import decompose, pivot_columns, singular_values


@pytest.mark.parametrize("shape", [(3, 7), (7, 3), (5, 5), (0, 4), (4, 0), (6, 9)])
@pytest.mark.parametrize("deficit", [0, 1, 2, 9])
def test_decomposition_is_the_pseudo_inverse(shape, deficit):
    rng = np.random.default_rng(11)
    rank = max(0, min(shape) - deficit)
    A = rng.normal(size=(shape[0], rank)) @ rng.normal(size=(rank, shape[1]))
    cod = decompose(A, 1e-10)
    assert cod.rank == rank
    b, c = rng.normal(size=shape[0]), rng.normal(size=shape[1])
    expected = np.linalg.pinv(A) if A.size else np.zeros(A.T.shape)
    np.testing.assert_allclose(cod.solve(b), expected @ b, atol=1e-11)
    np.testing.assert_allclose(cod.solve_transposed(c), expected.T @ c, atol=1e-11)
    assert cod.null_basis.shape == (shape[1], shape[1] - rank)
    np.testing.assert_allclose(A @ cod.null_basis, 0.0, atol=1e-12)
    np.testing.assert_allclose(
        cod.null_basis.T @ cod.null_basis, np.eye(shape[1] - rank), atol=1e-13
    )


def test_inputs_are_not_changed():
    A = np.asfortranarray(np.random.default_rng(0).normal(size=(4, 6)))
    before = A.copy()
    decompose(A, 1e-9), pivot_columns(A), singular_values(A)
    np.testing.assert_array_equal(A, before)
    S = np.asfortranarray(A @ A.T)
    factor_positive(S)
    np.testing.assert_array_equal(S, A @ A.T)


def test_pivots_put_the_dependent_column_last():
    A = np.random.default_rng(1).normal(size=(4, 3))
    order, magnitudes = pivot_columns(np.column_stack((A[:, 0], A[:, 0], A[:, 1], A[:, 2])))
    assert {0, 1} != set(order[:2])
    assert magnitudes[3] < 1e-14


def test_singular_values_of_nothing():
    assert singular_values(np.zeros((0, 5))).size == 0


def test_cholesky_solves_and_tells():
    A = np.random.default_rng(2).normal(size=(5, 5))
    S, b = A @ A.T + np.eye(5), np.arange(5.0)
    U, ok = factor_positive(S)
    assert ok
    np.testing.assert_allclose(S @ solve_factored(U, b), b, atol=1e-12)
    assert 1.0 < pivot_ratio(U) <= np.linalg.cond(S) * (1 + 1e-9)
    assert not factor_positive(-S)[1]
    assert factor_positive(np.zeros((0, 0)))[1]
    assert pivot_ratio(np.zeros((0, 0))) == 1.0
