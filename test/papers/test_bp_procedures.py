# SPDX-License-Identifier: Apache-2.0
"""The biped paper: torques by pseudo-inverse and by procedures 1 to 4, (26)-(27) and (61)-(74); misprints as negative controls."""

import numpy as np
import pytest
from scipy.optimize import minimize
from steps import BODY, DSP1, GAITS, INSTANTS, R1, T0, T2, TIMES, double_support, heavier

from humanoid_dynamics.contact.transfer import two_segment_share
from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.papers.biped.chain import (
    BipedMotion,
    ChainMotion,
    order_from_rear,
    view_from,
)
from humanoid_dynamics.papers.biped.lagrange import (
    TORQUE_MAP,
    build_terms,
    build_tip_constraint,
    solve_open_chain,
)
from humanoid_dynamics.papers.biped.procedures import (
    solve_internal,
    solve_procedure_1,
    solve_procedure_2,
    solve_procedure_3,
    solve_procedure_4,
)
from humanoid_dynamics.papers.biped.pseudo_inverse import solve_pseudo_inverse
from humanoid_dynamics.papers.biped.recursion import FRONT_SIGN, build_legs, compute_serial_torques
from humanoid_dynamics.papers.biped.step import compute_torques, find_points
from humanoid_dynamics.papers.biped.transition import (
    linear_share,
    recommend_share,
)

SPLITS = (0.0, 0.25, 0.5, 1.0)


# BP-7: pseudo-inverse (26)-(27)


def test_eq_26_any_weights_satisfy_the_equations():
    for phase, t in INSTANTS:
        body, chain, tip, _, _ = double_support(R1, t, phase)
        terms, constraint = build_terms(body, chain), build_tip_constraint(body, chain, tip)
        rng = np.random.default_rng(3)
        tau, lam = solve_pseudo_inverse(
            terms, constraint, rng.uniform(0.1, 10, 6), rng.uniform(0.1, 10, 2)
        )
        assert np.abs(TORQUE_MAP @ tau + constraint.J.T @ lam - terms.left).max() < 1e-11
        plain = np.linalg.pinv(np.hstack((TORQUE_MAP, constraint.J.T))) @ terms.left
        assert np.abs(np.concatenate(solve_pseudo_inverse(terms, constraint)) - plain).max() < 1e-11


@pytest.mark.parametrize(("scale", "ankle"), [(1.0, 109.5), (0.1, 119.0), (1000.0, 33.8)])
def test_eq_27_depends_on_units(scale, ankle):
    """Columns of J' times a number: newtons, decinewtons, kilonewtons give three different torques of the rear ankle."""
    body, chain, tip, _, _ = double_support(R1, 0.68)
    tau, _ = solve_pseudo_inverse(
        build_terms(body, chain),
        build_tip_constraint(body, chain, tip),
        force_weight=np.full(2, scale**-2),
    )
    assert tau[0] == pytest.approx(ankle, abs=0.05)


def test_eq_27_with_free_forces_is_the_least_torque():
    body, chain, tip, _, legs = double_support(R1, 0.68)
    tau, _ = solve_pseudo_inverse(
        build_terms(body, chain),
        build_tip_constraint(body, chain, tip),
        force_weight=np.full(2, 1e-12),
    )
    assert np.abs(tau - solve_procedure_2(legs).tau).max() < 1e-5


# BP-15: one internal wrench


@pytest.mark.parametrize(("gait", "t"), GAITS)
def test_one_internal_wrench(gait, t):
    """Torques and tip wrench are affine in T1; the tip matrix is a rigid shift, its determinant -1 in every posture; T1 + T2 = f4*."""
    _, _, _, _, legs = double_support(gait, t)
    assert np.linalg.det(legs.B_tip) == pytest.approx(-1.0, abs=1e-14)
    choice = solve_procedure_2(legs)
    assert np.abs(choice.T1 + choice.T2 - legs.f4).max() < 1e-12
    assert np.abs(choice.tau - FRONT_SIGN * (legs.B @ choice.T1 + legs.b)).max() == 0.0


# BP-16: procedures 1 and 2


@pytest.mark.parametrize(("gait", "t"), GAITS)
def test_procedures_1_and_2_agree_for_every_split(gait, t):
    """sigma is no free parameter: the internal wrench takes back what it gives."""
    _, _, _, _, legs = double_support(gait, t)
    rng = np.random.default_rng(1)
    root = rng.normal(size=(6, 6))
    for weight in (None, np.diag(rng.uniform(0.2, 5.0, 6)), root @ root.T + np.eye(6)):
        second = solve_procedure_2(legs, weight)
        assert abs(second.f7[2]) < 1e-9
        for split in (*SPLITS, -3.0):
            first = solve_procedure_1(legs, split, weight)
            assert np.abs(first.tau - second.tau).max() < 1e-9
            assert np.abs(first.T1 - second.T1).max() < 1e-8
            assert np.abs(first.eta - second.T1 + split * legs.f4).max() < 1e-8


def test_eta_moves_with_the_split_at_the_reference():
    _, _, _, _, legs = double_support(R1, 0.68)
    etas = np.array([solve_procedure_1(legs, split).eta for split in SPLITS])
    taus = np.array([solve_procedure_1(legs, split).tau for split in SPLITS])
    assert np.ptp(etas, axis=0).max() == pytest.approx(432.3267, abs=5e-5)
    assert np.ptp(taus, axis=0).max() < 1e-10
    assert solve_procedure_1(legs).f7 == pytest.approx([-18.96806, 303.42298, 0.0], abs=6e-6)


def test_eq_67_69_closed_form():
    """The printed explicit inverses, where they exist."""
    _, _, _, _, legs = double_support(R1, 0.68)
    split, W = 0.3, np.diag([1.0, 2.0, 3.0, 1.0, 0.5, 4.0])
    B_1, b_1 = legs.B, legs.b + split * legs.B @ legs.f4
    a_1, a_2 = legs.B_tip[2], legs.b_tip[2] + split * legs.B_tip[2] @ legs.f4
    Q = np.linalg.inv(B_1.T @ W @ B_1)
    theta = (a_2 - a_1 @ Q @ B_1.T @ W @ b_1) / (a_1 @ Q @ a_1)
    eta = -Q @ B_1.T @ W @ b_1 - Q @ a_1 * theta
    assert np.abs(solve_procedure_1(legs, split, W).eta - eta).max() < 1e-9


@pytest.mark.parametrize(("gait", "t"), GAITS)
def test_least_torque_over_all_ground_forces(gait, t):
    """min tau'W tau over lambda in (6), by another program and by random other forces."""
    body, chain, tip, _, legs = double_support(gait, t)
    terms, J = build_terms(body, chain), build_tip_constraint(body, chain, tip).J
    drawn = np.random.default_rng(2).normal(size=(6, 6))
    weight = drawn @ drawn.T + np.eye(6)

    def cost(lam):
        tau = np.linalg.solve(TORQUE_MAP, terms.left - J.T @ lam)
        return tau @ weight @ tau

    root = np.linalg.cholesky(weight).T
    lam, *_ = np.linalg.lstsq(
        root @ np.linalg.solve(TORQUE_MAP, J.T),
        root @ np.linalg.solve(TORQUE_MAP, terms.left),
        rcond=None,
    )
    choice = solve_procedure_2(legs, weight)
    assert np.abs(choice.f7[:2] - lam).max() < 1e-8 * (1 + np.abs(lam).max())
    best = choice.tau @ weight @ choice.tau
    assert minimize(cost, choice.f7[:2] + 20.0).fun > best * (1 - 1e-9)
    for step in np.random.default_rng(4).normal(size=(30, 2)):
        assert cost(choice.f7[:2] + step) > best


def test_legs_straight_and_together():
    """All joints on one line: B has rank 2 and (67) cannot be inverted, yet the least torque is unique."""
    up = np.pi / 2
    chain = ChainMotion(
        np.array([up, up, up, up, up, 0.0]), *np.random.default_rng(6).normal(size=(2, 6))
    )
    legs = build_legs(BODY, chain, "heel")
    assert np.linalg.matrix_rank(legs.B, tol=1e-9) == 2
    assert np.linalg.matrix_rank(np.vstack((legs.B, legs.B_tip[2])), tol=1e-9) == 3
    first, second = solve_procedure_1(legs, 0.25), solve_procedure_2(legs)
    assert np.abs(first.T1 - second.T1).max() < 1e-9
    assert abs(second.f7[2]) < 1e-9
    lean = ChainMotion(np.array([1.2, 1.2, 1.5, 1.9, 1.9, 0.0]), chain.dq, chain.ddq)
    assert np.linalg.matrix_rank(build_legs(BODY, lean, "heel").B, tol=1e-9) == 3


def test_eq_64_is_a_moment_of_the_ground():
    """No moment about the tip, while the ankle of that foot works."""
    _, _, _, _, legs = double_support(R1, 0.68)
    choice = solve_procedure_1(legs)
    assert abs(choice.f7[2]) < 1e-10
    assert abs(choice.tau[5]) > 20.0


def test_weights_that_are_refused():
    _, _, _, _, legs = double_support(R1, 0.68)
    for weight in (np.ones((6, 6)), np.eye(5), np.triu(np.ones((6, 6)))):
        with pytest.raises(ShapeError, match="symmetric positive definite"):
            solve_procedure_2(legs, weight)


# BP-17: procedures 3 and 4


@pytest.mark.parametrize(("gait", "t"), GAITS)
def test_procedures_3_and_4_agree_with_lagrange(gait, t):
    body, chain, tip, total, legs = double_support(gait, t)
    terms, J = build_terms(body, chain), build_tip_constraint(body, chain, tip).J
    for share in (-0.2, 0.0, 0.3, 1.0):
        lam = share * total.force
        third, fourth = solve_procedure_3(legs, lam), solve_procedure_4(legs, lam)
        assert np.abs(third.tau - solve_open_chain(terms, J.T @ lam)).max() < 1e-10
        assert np.abs(fourth.tau - third.tau).max() < 1e-10
        assert np.abs(fourth.f7 - np.append(lam, 0.0)).max() < 1e-10
        assert 0.0 <= fourth.split <= 1.0


def test_eq_73_74_internal_wrench_is_solved_for_again():
    """Clamping the split and keeping eta, as printed, misses the wanted heel force by hundreds of newtons."""
    _, _, _, total, legs = double_support(R1, 0.68)
    lam = linear_share(0.68, T0, T2) * total.force
    f7 = np.append(lam, 0.0)
    eta, split = solve_internal(legs, f7)
    assert split == pytest.approx(0.866855, abs=5e-7)
    assert solve_procedure_4(legs, lam).split == split

    def heel_wrench(clamped, internal):
        return legs.B_tip @ (clamped * legs.f4 + internal) + legs.b_tip

    assert np.abs(heel_wrench(split, eta) - f7).max() < 1e-10
    for clamped, error in ((0.0, (1.245, 374.765, -45.603)), (1.0, (-0.191, -57.562, 7.004))):
        assert heel_wrench(clamped, eta) - f7 == pytest.approx(error, abs=6e-4)
        again = np.linalg.solve(legs.B_tip, f7 - legs.b_tip - clamped * legs.B_tip @ legs.f4)
        assert np.abs(heel_wrench(clamped, again) - f7).max() < 1e-10
        assert (
            np.abs(
                compute_serial_torques(legs, clamped * legs.f4 + again)
                - solve_procedure_3(legs, lam).tau
            ).max()
            < 1e-10
        )


def test_a_split_that_must_be_clamped():
    """A heel that is wanted to pull hard drives the split beyond 1; torques are still those of procedure 3."""
    _, _, _, total, legs = double_support(R1, 0.68)
    lam = -2.0 * total.force
    assert solve_internal(legs, np.append(lam, 0.0))[1] > 1.0
    fourth = solve_procedure_4(legs, lam)
    assert fourth.split == 1.0
    assert np.abs(fourth.tau - solve_procedure_3(legs, lam).tau).max() < 1e-9


# friction in double support


@pytest.mark.parametrize(("phase", "t"), INSTANTS)
def test_friction_in_every_rule(phase, t):
    """(6) with A tau_f: with given forces torques grow by the friction; the least torque is least with friction included."""
    motion = R1.at(t)
    tau_f = np.array([3.0, -2.0, 1.5, -1.0, 2.5, 0.5])
    given, plain = (
        compute_torques(BODY, motion, phase, share=0.4, tau_f=friction).tau
        for friction in (tau_f, None)
    )
    assert np.abs(given - plain - tau_f).max() < 1e-11
    chain = view_from(motion, phase.base)
    terms = build_terms(BODY, chain, order_from_rear(tau_f, phase.base))
    J = build_tip_constraint(BODY, chain, phase.tip).J
    for rule in ("minimum_torque", "pseudo_inverse"):
        answer = compute_torques(BODY, motion, phase, rule, tau_f=tau_f)
        lam = answer.front_force if phase.base == "rear" else answer.rear_force
        assert (
            np.abs(
                TORQUE_MAP @ order_from_rear(answer.tau, phase.base) + J.T @ lam - terms.left
            ).max()
            < 1e-10
        )
    least = compute_torques(BODY, motion, phase, "minimum_torque", tau_f=tau_f).tau
    assert np.linalg.norm(least) == pytest.approx(
        np.linalg.norm(lowest_torque(terms, J)), rel=1e-12
    )


def lowest_torque(terms, J):
    A_J = np.linalg.solve(TORQUE_MAP, J.T)
    free = np.linalg.solve(TORQUE_MAP, terms.left)
    return free - A_J @ np.linalg.lstsq(A_J, free, rcond=None)[0]


def test_a_biped_that_presses_nowhere():
    """Falling freely there is no zero moment point; shares and torques stay finite."""
    motion = R1.at(0.7)
    points = find_points(BODY, motion, DSP1)
    assert recommend_share(0.7, TIMES, 0.5, np.nan, points) == two_segment_share(0.7, TIMES, 0.5)
    still = BipedMotion(motion.theta, np.zeros(7), np.zeros(7))
    floating = heavier(BODY, gravity=0.0)
    answer = compute_torques(floating, still, DSP1, share=0.5)
    assert np.abs(answer.tau).max() < 1e-12
    assert np.isnan(answer.base_cop)
