# SPDX-License-Identifier: Apache-2.0
"""Null spaces: contract, agreement of the back-ends, choice and hysteresis of the partition."""

import numpy as np
import pytest
from mechanisms import random_configuration, random_loop, random_tree

from humanoid_dynamics.constraints.analytic import AnalyticMap
from humanoid_dynamics.constraints.constraint_set import ConstraintSet
from humanoid_dynamics.constraints.kinematics import Kinematics
from humanoid_dynamics.constraints.loop import ROWS, build_loop
from humanoid_dynamics.constraints.null_space import DynamicsStatus, report
from humanoid_dynamics.constraints.orthonormal import OrthonormalBasis, SingularBasis
from humanoid_dynamics.constraints.partition import CoordinatePartition, prefer
from humanoid_dynamics.constraints.rank import RankPolicy
from humanoid_dynamics.errors import ShapeError


def random_rows(rng, k, nv, rank):
    J = np.asfortranarray(rng.normal(size=(k, rank)) @ rng.normal(size=(rank, nv)))
    gamma = J @ rng.normal(size=nv)
    return J, gamma, rng.choice([1.0, 0.3], size=k)


CASES = [
    (6, 12, 6),
    (6, 12, 4),
    (12, 9, 9),
    (12, 9, 5),
    (3, 3, 3),
    (0, 5, 0),
    (4, 7, 0),
    (1, 1, 1),
    (2, 1, 1),
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("backend", [CoordinatePartition, OrthonormalBasis, SingularBasis])
def test_contract(case, backend):
    k, nv, rank = case
    J, gamma, scale = random_rows(np.random.default_rng(k + nv), *case)
    space = backend(nv)
    for _ in range(2):
        space.update(None, J, gamma, scale)
        assert space.rank == rank
        assert space.Gamma.shape == (nv, nv - rank)
        assert np.abs(J @ space.Gamma).max(initial=0) < 1e-10
        assert np.abs(J @ space.beta + gamma).max(initial=0) < 1e-9
        assert nv == rank or np.linalg.matrix_rank(space.Gamma) == nv - rank
        force = J.T @ np.random.default_rng(1).normal(size=k)
        lam = space.multipliers(force)
        np.testing.assert_allclose(J.T @ lam, force, atol=1e-11)
        expected = scale * (np.linalg.pinv(scale[:, None] * J).T @ force) if k else np.zeros(0)
        np.testing.assert_allclose(lam, expected, atol=1e-10)
    outcome = report(space, J, scale)
    assert outcome.status is (DynamicsStatus.OK if rank == k else DynamicsStatus.RANK_DEFICIENT)
    assert not outcome.Gamma.flags.writeable
    assert len(outcome.rows) == rank
    assert rank == 0 or np.linalg.matrix_rank(J[outcome.rows]) == rank


@pytest.mark.parametrize("backend", [CoordinatePartition, OrthonormalBasis, SingularBasis])
def test_contradictory_drift_is_met_in_the_least_squares_sense(backend):
    rng = np.random.default_rng(0)
    J, _, scale = random_rows(rng, 8, 10, 5)
    gamma = rng.normal(size=8)
    space = backend(10)
    space.update(None, J, gamma, scale)
    residual = scale * (J @ space.beta + gamma)
    np.testing.assert_allclose((scale[:, None] * J).T @ residual, 0.0, atol=1e-11)


@pytest.mark.parametrize("seed", range(3))
def test_choice_is_invariant_to_row_order_copies_and_scaling(seed):
    rng = np.random.default_rng(seed)
    J, gamma, _ = random_rows(rng, 6, 11, 6)
    first = CoordinatePartition(11)
    first.update(None, J, gamma, np.ones(6))
    order = rng.permutation(6)
    for other, drift in [
        (J[order], gamma[order]),
        (np.vstack((J, J[:3])), np.r_[gamma, gamma[:3]]),
        (J * 1e6, gamma * 1e6),
        (J * 1e-6, gamma * 1e-6),
    ]:
        space = CoordinatePartition(11)
        space.update(None, np.asfortranarray(other), drift, np.ones(len(other)))
        assert space.rank == first.rank
        np.testing.assert_allclose(
            space.Gamma @ np.linalg.lstsq(space.Gamma, first.Gamma, rcond=None)[0],
            first.Gamma,
            atol=1e-10,
        )


def test_preferred_coordinates_become_generalized_coordinates():
    rng = np.random.default_rng(3)
    J, gamma, scale = random_rows(rng, 5, 9, 5)
    wanted = np.array([0, 3, 5, 8])
    space = CoordinatePartition(9, preference=prefer(9, wanted))
    space.update(None, J, gamma, scale)
    np.testing.assert_array_equal(space.indep, wanted)
    np.testing.assert_allclose(J @ space.Gamma, 0.0, atol=1e-12)
    with pytest.raises(ShapeError, match="positive"):
        CoordinatePartition(9, preference=np.zeros(9))


def test_a_partition_is_kept_until_it_goes_bad():
    """Columns 0 and 1 turn slowly from independent to parallel; the choice changes once, and every answer is right."""
    rng = np.random.default_rng(5)
    a, b, c, d = rng.normal(size=(4, 2))
    space, chosen = CoordinatePartition(4), []
    for t in np.linspace(0.0, 1.0, 2001):
        J = np.asfortranarray(np.column_stack((3 * a, 3 * ((1 - t) * b + t * a), c, d)))
        space.update(None, J, None, np.ones(2))
        np.testing.assert_allclose(J @ space.Gamma, 0.0, atol=1e-9)
        chosen.append(tuple(space.dep))
    assert space.choices <= 3
    assert chosen[0] == chosen[1000]
    assert chosen[-1] != (0, 1)


@pytest.mark.parametrize("backend", [CoordinatePartition, OrthonormalBasis, SingularBasis])
def test_rank_has_hysteresis(backend):
    """A direction fades and returns: dropped below the tolerance, back only above ten times of it."""
    policy = RankPolicy()
    space, seen = backend(4, policy=policy), {}
    fade = np.r_[np.geomspace(1, 1e-8, 33), np.geomspace(1e-8, 1, 33)]
    for step, size in enumerate(fade):
        J = np.asfortranarray(
            np.array([[1.0, 0.5, 0.2, 0.0], [1.0, 0.5, 0.2, 0.0]])
            + size * np.array([[0, 0, 0, 0], [0, 1.0, 0, 1.0]])
        )
        space.update(None, J, None, np.ones(2))
        sigma = np.linalg.svd(J, compute_uv=False)
        seen[step] = (sigma[1] / sigma[0], space.rank)
        assert np.isfinite(space.Gamma).all()
    falling = [(ratio, rank) for step, (ratio, rank) in seen.items() if step < 33]
    rising = [(ratio, rank) for step, (ratio, rank) in seen.items() if step >= 33]
    assert all(rank == (2 if ratio > policy.tolerance else 1) for ratio, rank in falling)
    assert all(rank == (2 if ratio > 10 * policy.tolerance else 1) for ratio, rank in rising)


def test_analytic_map_says_how_well_it_fits():
    rng = np.random.default_rng(6)
    robot = random_tree(rng, 6)
    q, v = random_configuration(robot.model, rng), rng.normal(size=robot.nv)
    constraints, kinematics = (
        ConstraintSet(
            robot,
            [build_loop(robot, random_loop(robot, q, rng, kind, kind)) for kind in list(ROWS)[2:4]],
        ),
        Kinematics(robot),
    )
    kinematics.move(q, v)
    rows = constraints.evaluate(kinematics)
    basis = OrthonormalBasis(robot.nv)
    basis.update(kinematics, rows.J, rows.gamma, rows.scale)
    mix = rng.normal(size=(basis.Gamma.shape[1],) * 2)
    space = AnalyticMap(lambda q, v: (basis.Gamma @ mix, basis.beta))
    space.update(kinematics, rows.J, rows.gamma, rows.scale)
    assert space.residual < 1e-12
    assert space.rank == basis.rank
    force = rows.J.T @ rng.normal(size=constraints.size)
    np.testing.assert_allclose(space.multipliers(force), basis.multipliers(force), atol=1e-10)
    wrong = AnalyticMap(lambda q, v: (np.eye(robot.nv)[:, : space.Gamma.shape[1]], basis.beta))
    wrong.update(kinematics, rows.J, rows.gamma, rows.scale)
    assert wrong.residual > 1e-3
