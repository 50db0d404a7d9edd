# SPDX-License-Identifier: Apache-2.0
"""Laws on random trees under random rows: redundant, empty, zero, contradictory; against the dense saddle point."""

import numpy as np
import pinocchio as pin
import pytest
from mechanisms import random_configuration, random_loop, random_tree

from humanoid_dynamics.constraints.loop import ROWS, build_loop
from humanoid_dynamics.constraints.null_space import DynamicsStatus
from humanoid_dynamics.constraints.orthonormal import OrthonormalBasis, SingularBasis
from humanoid_dynamics.constraints.partition import CoordinatePartition
from humanoid_dynamics.constraints.user import UserBlock
from humanoid_dynamics.dynamics.audit import measure_power, take_audit
from humanoid_dynamics.dynamics.forward import solve_forward
from humanoid_dynamics.dynamics.inverse import solve_inverse
from humanoid_dynamics.dynamics.kkt import solve_kkt, symmetric
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.dynamics.unit_vector import solve_by_unit_vectors
from humanoid_dynamics.model.loop import LoopClosure

BACKENDS = (CoordinatePartition, OrthonormalBasis, SingularBasis)
SEEDS = range(40)


def random_mechanism(seed, *, consistent=True, backend=CoordinatePartition):
    """A random tree at a random pose under random loops, with copies, zero rows and, where asked, rows that contradict each other."""
    rng = np.random.default_rng(seed)
    robot = random_tree(rng)
    q = random_configuration(robot.model, rng)
    blocks = [
        build_loop(robot, random_loop(robot, q, rng, rng.choice(list(ROWS)), f"loop{k}"))
        for k in range(rng.integers(0, 4))
    ]
    if seed % 3 == 1 and blocks:
        blocks.append(build_loop(robot, _copy(robot, blocks[0])))
    if seed % 4 == 2:
        blocks.append(user_rows("zero", np.zeros((2, robot.nv)), np.zeros(2)))
    if not consistent:
        row = rng.normal(size=(1, robot.nv))
        blocks += [
            user_rows("one", row, np.array([1.0])),
            user_rows("other", 2 * row, np.array([-1.0])),
        ]
    mechanism = Mechanism(
        robot, [block for block in blocks if not block.inert], null_space=backend(robot.nv)
    )
    mechanism.place(q)
    v = mechanism.null_space.Gamma @ rng.normal(size=mechanism.nu)
    return mechanism, q, v, rng


def _copy(robot, block):
    return LoopClosure(
        "copy", block.kind, _link(robot, block.A), block.A.X_JF, _link(robot, block.B), block.B.X_JF
    )


def _link(robot, attachment):
    return robot.model.names[attachment.joint] if attachment.joint else "world"


def user_rows(name, J, gamma):
    return UserBlock(
        name, tuple(f"{name}.{k}" for k in range(len(J))), lambda q: J, lambda q, v: gamma
    )


def oracle(mechanism, force):
    M, h = symmetric(mechanism.inertia()), mechanism.bias()
    scale = mechanism.scale
    return solve_kkt(M, h, scale[:, None] * mechanism.J, scale * mechanism.gamma, force)[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_t1_t2_acceleration_meets_the_rows_and_the_dense_oracle(seed):
    mechanism, q, v, rng = random_mechanism(seed)
    tau, force = rng.normal(size=len(mechanism.actuated)), rng.normal(size=mechanism.robot.nv)
    answer = solve_forward(mechanism, q, v, tau, force)
    assert np.abs(mechanism.J @ answer.a + mechanism.gamma).max(initial=0) < 1e-8 * (
        1 + np.abs(mechanism.gamma).max(initial=0)
    )
    expected = oracle(mechanism, mechanism.spread(tau, force))
    np.testing.assert_allclose(answer.a, expected, atol=1e-8 * (1 + np.abs(expected).max()))
    assert answer.indeterminate == (mechanism.null_space.rank < mechanism.constraints.size)
    assert answer.status in {DynamicsStatus.OK, DynamicsStatus.INDETERMINATE}
    balance = (
        mechanism.tree_torque(answer.a) - mechanism.spread(tau, force) - mechanism.J.T @ answer.lam
    )
    np.testing.assert_allclose(balance, 0.0, atol=1e-8 * (1 + np.abs(answer.lam).max(initial=0)))


@pytest.mark.parametrize("seed", SEEDS)
def test_back_ends_agree(seed):
    answers = []
    for backend in BACKENDS:
        mechanism, q, _, _ = random_mechanism(seed, backend=backend)
        v = np.random.default_rng(seed).normal(size=mechanism.robot.nv)
        mechanism.place(q)
        v = v - np.linalg.pinv(mechanism.J) @ (mechanism.J @ v) if mechanism.J.size else v
        answers.append(solve_forward(mechanism, q, v, np.ones(len(mechanism.actuated))))
    size = 1 + np.abs(answers[0].a).max()
    for other in answers[1:]:
        np.testing.assert_allclose(other.a, answers[0].a, atol=1e-10 * size)
        np.testing.assert_allclose(
            other.lam, answers[0].lam, atol=1e-8 * (1 + np.abs(answers[0].lam).max(initial=0))
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_contradictory_rows_give_the_least_squares_motion_and_no_fuss(seed):
    mechanism, q, v, _ = random_mechanism(seed, consistent=False)
    answer = solve_forward(mechanism, q, v, np.zeros(len(mechanism.actuated)))
    expected = oracle(mechanism, np.zeros(mechanism.robot.nv))
    scaled = mechanism.scale[:, None] * mechanism.J
    gap = mechanism.scale * (mechanism.J @ answer.a + mechanism.gamma)
    np.testing.assert_allclose(scaled.T @ gap, 0.0, atol=1e-9 * (1 + np.abs(answer.a).max()))
    assert answer.residual > 0.1
    assert answer.indeterminate
    assert np.isfinite(answer.lam).all()
    assert np.isfinite(expected).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_forward_of_inverse_is_identity_and_unit_vectors_agree(seed):
    mechanism, q, v, rng = random_mechanism(seed)
    mechanism.actuated = np.arange(mechanism.robot.nv)
    mechanism.update(q, v)
    a = mechanism.null_space.Gamma @ rng.normal(size=mechanism.nu) + mechanism.null_space.beta
    answer = solve_inverse(mechanism, q, v, a)
    size = 1 + np.abs(a).max()
    assert answer.status is DynamicsStatus.OK
    assert answer.feasible
    assert answer.redundancy == mechanism.null_space.rank
    np.testing.assert_allclose(solve_forward(mechanism, q, v, answer.tau).a, a, atol=1e-9 * size)
    if mechanism.nu:
        literal = solve_by_unit_vectors(mechanism, q, v, answer.tau)
        np.testing.assert_allclose(literal.a, a, atol=1e-8 * size)
        assert literal.inverse_dynamics_calls == mechanism.nu + 1


@pytest.mark.parametrize("seed", SEEDS)
def test_t3_generalized_power_is_power(seed):
    mechanism, q, _, rng = random_mechanism(seed)
    mechanism.place(q)
    u, force = rng.normal(size=mechanism.nu), rng.normal(size=mechanism.robot.nv)
    v = mechanism.null_space.Gamma @ u
    assert np.isclose(u @ (mechanism.null_space.Gamma.T @ force), v @ force, rtol=1e-12, atol=1e-12)
    tau = rng.normal(size=len(mechanism.actuated))
    assert np.isclose(
        measure_power(mechanism, v, tau, force), tau @ v[mechanism.actuated] + force @ v
    )


@pytest.mark.parametrize("seed", range(15))
def test_t4_energy_stays_without_torque(seed):
    mechanism, q, v, _ = random_mechanism(seed)
    v = v / max(1.0, np.abs(v).max())
    answer = solve_forward(mechanism, q, v, np.zeros(len(mechanism.actuated)))
    dt = 1e-5
    ends = []
    for sign in (1, -1):
        here = pin.integrate(mechanism.robot.model, q, sign * dt * v + 0.5 * dt**2 * answer.a)
        ends.append(take_audit(mechanism, here, v + sign * dt * answer.a).energy)
    books = take_audit(mechanism, q, v)
    assert abs(ends[0] - ends[1]) / (2 * dt) < 1e-6 * (1 + abs(books.energy) + books.kinetic)


@pytest.mark.parametrize("seed", range(10))
def test_t5_no_rows_is_the_articulated_body_algorithm(seed):
    rng = np.random.default_rng(seed)
    robot = random_tree(rng)
    mechanism = Mechanism(robot, [])
    q, v = random_configuration(robot.model, rng), rng.normal(size=robot.nv)
    force = rng.normal(size=robot.nv)
    answer = solve_forward(mechanism, q, v, np.zeros(len(mechanism.actuated)), force)
    expected = pin.aba(robot.model, robot.data(), q, v, force)
    np.testing.assert_allclose(answer.a, expected, atol=1e-9 * (1 + np.abs(expected).max()))
    assert answer.lam.size == 0
    inverse = solve_inverse(mechanism, q, v, answer.a)
    np.testing.assert_allclose(inverse.tau_G, force, atol=1e-8 * (1 + np.abs(force).max()))


@pytest.mark.parametrize("backend", BACKENDS)
def test_t6_a_structure_does_not_move(backend):
    rng = np.random.default_rng(1)
    robot = random_tree(rng, 5)
    drift = rng.normal(size=robot.nv)
    mechanism = Mechanism(
        robot, [user_rows("all", np.eye(robot.nv), drift)], null_space=backend(robot.nv)
    )
    q = random_configuration(robot.model, rng)
    answer = solve_forward(mechanism, q, np.zeros(robot.nv), np.zeros(len(mechanism.actuated)))
    assert mechanism.nu == 0
    np.testing.assert_allclose(answer.a, -drift, atol=1e-13)
    np.testing.assert_allclose(answer.lam, mechanism.tree_torque(-drift), atol=1e-10)
    inverse = solve_inverse(mechanism, q, np.zeros(robot.nv), -drift)
    assert inverse.tau_G.size == 0
    np.testing.assert_array_equal(inverse.tau, 0.0)


@pytest.mark.parametrize("seed", range(12))
def test_t7_copied_rows_change_nothing(seed):
    mechanism, q, v, _ = random_mechanism(3 * seed)
    tau = np.ones(len(mechanism.actuated))
    before = solve_forward(mechanism, q, v, tau)
    for block in tuple(mechanism.constraints):
        rows = mechanism.constraints.rows_of(block.name)
        J, gamma = mechanism.J[rows].copy(), mechanism.gamma[rows].copy()
        mechanism.constraints.add(user_rows(f"again.{block.name}", J, gamma))
        mechanism.update(q, v)
    after = solve_forward(mechanism, q, v, tau)
    np.testing.assert_allclose(after.a, before.a, atol=1e-9 * (1 + np.abs(before.a).max()))


@pytest.mark.parametrize("seed", range(4))
def test_numbers_that_are_not_finite_are_a_status(seed):
    mechanism, q, v, _ = random_mechanism(seed)
    bad = v.copy()
    bad[0] = np.nan
    tau = np.zeros(len(mechanism.actuated))
    assert solve_forward(mechanism, q, bad, tau).status is DynamicsStatus.INVALID_INPUT
    assert solve_inverse(mechanism, q, v, bad).status is DynamicsStatus.INVALID_INPUT
    assert np.isfinite(solve_forward(mechanism, q, bad, tau).a).all()
    assert solve_forward(mechanism, q, v, tau).status in {
        DynamicsStatus.OK,
        DynamicsStatus.INDETERMINATE,
    }
