# SPDX-License-Identifier: Apache-2.0
"""Quadratic programs: the conditions of the minimum, degenerate and hopeless rows, scales, and numbers that are none."""

import itertools

import numpy as np
import pytest

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.solvers.qp import QpStatus, QpWorkspace


def fill(H, f, A=None, lower=None, upper=None, n_equal=0, size=1.0):
    n = len(f)
    A = np.zeros((0, n)) if A is None else np.asarray(A, dtype=float)
    qp = QpWorkspace(n, n_equal, len(A), size)
    qp.H[:], qp.f[:], qp.A[:] = H, f, A
    if lower is not None:
        qp.lower[:] = lower
    if upper is not None:
        qp.upper[:] = upper
    return qp


def random_program(rng, n=None, feasible_at=None):
    """A random convex program whose rows a random point fulfils."""
    n = int(rng.integers(1, 14)) if n is None else n
    n_equal, m = int(rng.integers(0, n)), int(rng.integers(0, 4 * n))
    L = rng.standard_normal((n, n))
    H = L @ L.T + 0.1 * np.eye(n)
    A = rng.standard_normal((n_equal + m, n))
    y = A @ (rng.standard_normal(n) if feasible_at is None else feasible_at)
    lower, upper = y - rng.exponential(0.5, len(y)), y + rng.exponential(0.5, len(y))
    lower[:n_equal] = upper[:n_equal] = y[:n_equal]
    lower[n_equal:][rng.random(m) < 0.4] = -np.inf
    upper[n_equal:][rng.random(m) < 0.4] = np.inf
    return H, 3.0 * rng.standard_normal(n), A, lower, upper, n_equal


def check_conditions(qp, solution, n_equal, tolerance=1e-8):
    """Karush, Kuhn and Tucker: they hold at the minimum of a convex program and nowhere else."""
    assert solution.status is QpStatus.OPTIMAL
    y, force = qp.A @ solution.x, solution.multipliers
    scale = 1.0 + np.max(np.abs(force), initial=0.0)
    assert np.all(y <= qp.upper + tolerance)
    assert np.all(y >= qp.lower - tolerance)
    assert qp.optimality(solution) < tolerance * scale
    above, below = (qp.upper - y)[n_equal:], (y - qp.lower)[n_equal:]
    pushing = np.abs(force[n_equal:]) > tolerance * scale
    assert np.all(np.minimum(above, below)[pushing] < tolerance), (
        "a row pushes that is not at its bound"
    )
    assert np.all((force[n_equal:] * np.where(above < below, 1.0, -1.0))[pushing] > 0.0), (
        "a row pulls"
    )


class TestConditions:
    def test_random_programs(self):
        rng = np.random.default_rng(1)
        for _ in range(400):
            *program, n_equal = random_program(rng)
            qp = fill(*program, n_equal=n_equal)
            check_conditions(qp, qp.solve(), n_equal)

    def test_without_rows_it_is_a_linear_system(self):
        H, f = np.diag([1.0, 2.0, 4.0]), np.array([1.0, -2.0, 8.0])
        solution = fill(H, f).solve()
        assert solution.status is QpStatus.OPTIMAL
        np.testing.assert_allclose(solution.x, [-1.0, 1.0, -2.0], atol=1e-14)

    def test_with_equations_alone_it_is_the_dense_system(self):
        rng = np.random.default_rng(2)
        H, f, A = np.diag(rng.uniform(1, 2, 6)), rng.standard_normal(6), rng.standard_normal((3, 6))
        b = rng.standard_normal(3)
        dense = np.linalg.solve(
            np.block([[H, A.T], [A, np.zeros((3, 3))]]), np.concatenate((-f, b))
        )
        solution = fill(H, f, A, b, b, n_equal=3).solve()
        np.testing.assert_allclose(solution.x, dense[:6], atol=1e-12)
        np.testing.assert_allclose(solution.multipliers, dense[6:], atol=1e-12)

    def test_against_all_active_sets(self):
        """The best of all vertices, edges and faces, each found by a dense solve."""
        rng = np.random.default_rng(3)
        for _ in range(40):
            n, m = 3, 5
            H, f, A = np.eye(n), 3 * rng.standard_normal(n), rng.standard_normal((m, n))
            upper = rng.exponential(0.5, m)
            best = np.inf
            for k in range(n + 1):
                for active in map(list, itertools.combinations(range(m), k)):
                    K = np.block([[H, A[active].T], [A[active], np.zeros((k, k))]])
                    x = np.linalg.solve(K, np.concatenate((-f, upper[active])))[:n]
                    if np.all(A @ x <= upper + 1e-9):
                        best = min(best, 0.5 * x @ x + f @ x)
            x = fill(H, f, A, upper=upper).solve().x
            assert 0.5 * x @ x + f @ x == pytest.approx(best, abs=1e-9)


class TestDegenerate:
    def test_many_rows_through_one_vertex(self):
        rng = np.random.default_rng(4)
        for _ in range(200):
            n = int(rng.integers(2, 10))
            A = rng.integers(-2, 3, (5 * n, n)).astype(float)
            upper = A @ rng.standard_normal(n)
            L = rng.standard_normal((n, n))
            qp = fill(L @ L.T + 0.1 * np.eye(n), rng.standard_normal(n), A, upper=upper)
            check_conditions(qp, qp.solve(), 0)

    def test_rows_twice_and_their_mixtures(self):
        rng = np.random.default_rng(5)
        for _ in range(100):
            H, f, A, lower, upper, n_equal = random_program(rng, n=8)
            once = fill(H, f, A, lower, upper, n_equal).solve()
            bounded = np.flatnonzero(np.isfinite(upper))
            mixture = rng.dirichlet(np.ones(len(bounded)), 3) if len(bounded) else np.zeros((0, 0))
            rows = np.vstack((A, A[n_equal:], mixture @ A[bounded]))
            low = np.concatenate((lower, lower[n_equal:], np.full(len(mixture), -np.inf)))
            high = np.concatenate((upper, upper[n_equal:], mixture @ upper[bounded]))
            more = fill(H, f, rows, low, high, n_equal).solve()
            assert once.status is more.status is QpStatus.OPTIMAL
            np.testing.assert_allclose(more.x, once.x, atol=1e-8)

    def test_equations_twice_and_mixed(self):
        rng = np.random.default_rng(6)
        for _ in range(100):
            H, f, A, lower, upper, n_equal = random_program(rng, n=8)
            once = fill(H, f, A, lower, upper, n_equal).solve()
            mixture = rng.standard_normal((2, n_equal))
            rows = np.vstack((A[:n_equal], A[:n_equal], mixture @ A[:n_equal], A[n_equal:]))
            repeated = [
                np.concatenate((b[:n_equal], b[:n_equal], mixture @ b[:n_equal], b[n_equal:]))
                for b in (lower, upper)
            ]
            more = fill(H, f, rows, *repeated, 2 * n_equal + 2).solve()
            assert more.status is QpStatus.OPTIMAL
            np.testing.assert_allclose(more.x, once.x, atol=1e-7)

    def test_rows_of_zeros(self):
        A = [[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]]
        solution = fill(np.eye(2), [-1.0, -1.0], A, upper=[0.0, 1.0, 1.0]).solve()
        np.testing.assert_allclose(solution.x, [0.5, 0.5], atol=1e-12)


class TestHopeless:
    @pytest.mark.parametrize(
        ("A", "lower", "upper", "n_equal"),
        [
            ([[1.0, 0.0]], [2.0], [1.0], 0),
            ([[0.0, 0.0]], [-np.inf], [-1.0], 0),
            ([[1.0, 0.0], [-1.0, 0.0]], [-np.inf, -np.inf], [-1.0, -1.0], 0),
            ([[1.0, 1.0], [1.0, 1.0]], [0.0, 1.0], [0.0, 1.0], 2),
        ],
        ids=["bounds crossed", "nothing below zero", "two sides", "equations that contradict"],
    )
    def test_rows_that_exclude_each_other(self, A, lower, upper, n_equal):
        solution = fill(np.eye(2), np.zeros(2), A, lower, upper, n_equal).solve()
        assert solution.status is QpStatus.INFEASIBLE
        assert solution.violation == np.inf
        assert np.isfinite(solution.x).all()

    @pytest.mark.parametrize(
        "H", [np.diag([1.0, -0.5]), -np.eye(2), np.zeros((2, 2)), np.diag([1.0, 0.0])]
    )
    def test_not_convex(self, H):
        solution = fill(H, np.ones(2), np.eye(2), -np.ones(2), np.ones(2)).solve()
        assert solution.status is QpStatus.NOT_CONVEX

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("where", ["H", "f", "A", "lower", "upper"])
    def test_numbers_that_are_none(self, where, value):
        """Wherever one stands there is no answer, or one the number has no part in; never an exception or a wait."""
        rng = np.random.default_rng(7)
        H, f, A, lower, upper, n_equal = random_program(rng, n=6, feasible_at=np.zeros(6))
        clean = fill(H, f, A, lower, upper, n_equal).solve().x
        qp = fill(H, f, A, lower, upper, n_equal)
        part = getattr(qp, where)
        for index in np.ndindex(part.shape):
            kept, part[index] = part[index], value
            solution = qp.solve()
            assert np.isfinite(solution.x).all() or solution.status is not QpStatus.OPTIMAL
            if solution.status is QpStatus.OPTIMAL and where != "H":
                assert np.isinf(value)
                assert where in {"lower", "upper"}
            if solution.status is QpStatus.OPTIMAL and where == "H":
                assert index[0] > index[1], "the lower triangle is not read"
                np.testing.assert_allclose(solution.x, clean, atol=1e-9)
            part[index] = kept

    def test_sizes(self):
        for n, n_equal, n_rows, size in (
            (0, 0, 1, 1.0),
            (2, 3, 2, 1.0),
            (2, -1, 2, 1.0),
            (2, 0, 1, 0.0),
            (2, 0, 1, np.nan),
        ):
            with pytest.raises(ShapeError, match="QpWorkspace"):
                QpWorkspace(n, n_equal, n_rows, size)


class TestScale:
    @pytest.mark.parametrize("scale", [1e-9, 1e-6, 1e6, 1e9])
    def test_of_the_objective(self, scale):
        rng = np.random.default_rng(8)
        for _ in range(50):
            H, f, *rows = random_program(rng)
            one, other = fill(H, f, *rows).solve(), fill(scale * H, scale * f, *rows).solve()
            assert other.status is QpStatus.OPTIMAL
            np.testing.assert_allclose(other.x, one.x, atol=1e-9)
            np.testing.assert_allclose(
                other.multipliers, scale * one.multipliers, atol=1e-7 * scale
            )

    @pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3, 1e6])
    def test_of_the_unknowns(self, scale):
        rng = np.random.default_rng(9)
        for _ in range(50):
            H, f, A, lower, upper, n_equal = random_program(rng)
            one = fill(H, f, A, lower, upper, n_equal).solve()
            other = fill(H, scale * f, A, scale * lower, scale * upper, n_equal, size=scale).solve()
            assert other.status is QpStatus.OPTIMAL
            np.testing.assert_allclose(other.x, scale * one.x, atol=1e-8 * scale)

    @pytest.mark.parametrize("scale", [1e-3, 1e3])
    def test_of_single_rows(self, scale):
        rng = np.random.default_rng(10)
        for _ in range(50):
            H, f, A, lower, upper, n_equal = random_program(rng)
            w = scale ** rng.uniform(-1, 1, len(A))
            one = fill(H, f, A, lower, upper, n_equal).solve()
            other = fill(H, f, w[:, None] * A, w * lower, w * upper, n_equal).solve()
            np.testing.assert_allclose(other.x, one.x, atol=1e-7)

    @pytest.mark.parametrize("condition", [1e4, 1e8, 1e10])
    def test_of_the_condition(self, condition):
        rng = np.random.default_rng(11)
        for _ in range(20):
            Q = np.linalg.qr(rng.standard_normal((12, 12)))[0]
            H = (Q * np.logspace(0, -np.log10(condition), 12)) @ Q.T
            H = 0.5 * (H + H.T)
            qp = fill(
                H,
                H @ rng.standard_normal(12),
                rng.standard_normal((40, 12)),
                upper=np.abs(rng.standard_normal(40)),
            )
            assert qp.solve().status is QpStatus.OPTIMAL


class TestWorkspace:
    def test_same_question_same_answer(self):
        rng = np.random.default_rng(12)
        programs = [random_program(rng, n=10) for _ in range(20)]
        for program in programs:
            qp = fill(*program)
            first = qp.solve()
            fill(*programs[0]).solve()
            second = qp.solve()
            np.testing.assert_array_equal(first.x, second.x)
            np.testing.assert_array_equal(first.multipliers, second.multipliers)
            assert first.iterations == second.iterations

    def test_question_is_not_changed(self):
        H, f, A, lower, upper, n_equal = random_program(np.random.default_rng(13), n=9)
        qp = fill(H, f, A, lower, upper, n_equal)
        qp.solve()
        for asked, kept in ((H, qp.H), (f, qp.f), (A, qp.A), (lower, qp.lower), (upper, qp.upper)):
            np.testing.assert_array_equal(kept, asked)

    def test_answers_are_not_each_others_memory(self):
        qp = fill(np.eye(2), [1.0, 1.0], np.eye(2), -np.ones(2), np.ones(2))
        first = qp.solve()
        kept = first.x.copy()
        qp.f[:] = -5.0
        qp.solve()
        np.testing.assert_array_equal(first.x, kept)
