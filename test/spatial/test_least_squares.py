# SPDX-License-Identifier: Apache-2.0
"""The constrained minimum against dense oracles, at every rank."""

import numpy as np
import pytest

from humanoid_dynamics.spatial.least_squares import solve_constrained


def random_problem(rng, n, m, rank, contradiction=0.0):
    B = rng.standard_normal((n, n))
    A = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
    b = A @ rng.standard_normal(n) + contradiction * rng.standard_normal(m)
    return B @ B.T + 0.1 * np.eye(n), rng.standard_normal(n), A, b


def oracle(H, g, A, b):
    """Least |A x - b| first, by lstsq; then the minimum in the null space, in a basis from the SVD."""
    x = np.linalg.lstsq(A, b, rcond=1e-10)[0]
    rank = np.linalg.matrix_rank(A) if A.size else 0
    N = np.linalg.svd(A)[2][rank:].T
    return x + N @ np.linalg.solve(N.T @ H @ N, N.T @ (g - H @ x)) if N.shape[1] else x


@pytest.mark.parametrize(
    ("n", "m", "rank"), [(12, 6, 6), (18, 6, 6), (6, 6, 6), (12, 0, 0), (1, 1, 1)]
)
def test_full_rank(n, m, rank):
    rng = np.random.default_rng(1)
    for _ in range(10):
        problem = random_problem(rng, n, m, rank)
        found = solve_constrained(*problem)
        np.testing.assert_allclose(found.x, oracle(*problem), atol=1e-9)
        np.testing.assert_allclose(found.residual, 0.0, atol=1e-9)
        assert (found.rank, found.path) == (rank, "kkt")


@pytest.mark.parametrize(
    ("n", "m", "rank"), [(12, 6, 5), (12, 6, 1), (5, 6, 5), (3, 6, 3), (4, 6, 2), (12, 6, 0)]
)
def test_deficient_and_consistent(n, m, rank):
    rng = np.random.default_rng(2)
    for _ in range(10):
        problem = random_problem(rng, n, m, rank)
        found = solve_constrained(*problem)
        np.testing.assert_allclose(found.x, oracle(*problem), atol=1e-8)
        np.testing.assert_allclose(found.residual, 0.0, atol=1e-9)
        assert (found.rank, found.path) == (rank, "svd")


@pytest.mark.parametrize(("n", "m", "rank"), [(12, 6, 5), (5, 6, 5), (3, 6, 3), (12, 6, 0)])
def test_contradictory(n, m, rank):
    rng = np.random.default_rng(3)
    for _ in range(10):
        problem = random_problem(rng, n, m, rank, contradiction=1.0)
        found = solve_constrained(*problem)
        np.testing.assert_allclose(found.x, oracle(*problem), atol=1e-8)
        np.testing.assert_allclose(found.residual, problem[3] - problem[2] @ found.x, atol=1e-12)
        np.testing.assert_allclose(problem[2].T @ found.residual, 0.0, atol=1e-8)
        assert np.abs(found.residual).max() > 1e-3
        assert (found.rank, found.path) == (rank, "svd")


def test_repeated_equations():
    H, g, A, b = random_problem(np.random.default_rng(4), 12, 3, 3)
    once = solve_constrained(H, g, A, b)
    twice = solve_constrained(H, g, np.vstack((A, A)), np.concatenate((b, b)))
    np.testing.assert_allclose(twice.x, once.x, atol=1e-9)
    assert (twice.rank, twice.path) == (3, "svd")


def test_widely_spread_weights_are_not_taken_for_a_defect():
    rng = np.random.default_rng(5)
    H, g, A, b = random_problem(rng, 12, 6, 6)
    B = rng.standard_normal((12, 6))
    H = B @ B.T + 1e-8 * np.eye(12)
    found = solve_constrained(H, g, A, b)
    assert (found.rank, found.path) == (6, "kkt")
    N = np.linalg.svd(A)[2][6:].T
    np.testing.assert_allclose(N.T @ (H @ found.x - g), 0.0, atol=1e-7)


@pytest.mark.parametrize("m", [0, 1, 6])
def test_nothing_to_choose(m):
    found = solve_constrained(np.zeros((0, 0)), np.zeros(0), np.zeros((m, 0)), np.ones(m))
    assert found.x.shape == (0,)
    np.testing.assert_array_equal(found.residual, np.ones(m))
    assert (found.rank, found.path) == (0, "none")
