"""The biped paper: torques in double support, from (26) to (74); one test for each item, misprints as negative controls."""

from time import perf_counter

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import minimize
from steps import DOUBLE, R1, T0, T1, T2, chain_at, heavier, other_gait

import humanoid_dynamics as hd
from humanoid_dynamics.biped.chain import BipedMotion, ChainMotion, link_masses, order_from_rear, view_from
from humanoid_dynamics.biped.ground import compute_flat_cop, compute_ground_wrench, compute_link_accelerations, compute_moment_left
from humanoid_dynamics.biped.lagrange import TORQUE_MAP, build_terms, build_tip_constraint, solve_open_chain
from humanoid_dynamics.biped.procedures import solve_internal, solve_procedure_1, solve_procedure_2, solve_procedure_3, solve_procedure_4
from humanoid_dynamics.biped.pseudo_inverse import solve_pseudo_inverse
from humanoid_dynamics.biped.recursion import FRONT_SIGN, build_legs, compute_net_wrenches, compute_serial_torques
from humanoid_dynamics.biped.schedule import STEP_RULES, build_step, compute_step_torques, measure_jumps
from humanoid_dynamics.biped.step import PHASES, compute_torques, find_phase, find_points
from humanoid_dynamics.biped.transition import (
    find_balanced_share,
    find_interval,
    linear_share,
    quintic,
    recommend_share,
    share_from_durations,
    smooth_share,
    two_segment_share,
)
from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.vdc.double_support import build_double_support, choose_minimum_torque
from humanoid_dynamics.vdc.inverse import solve_subsystems

BODY = R1.parameters.body
TIMES = R1.switches
STEP = build_step(BODY, R1.at, TIMES)
DSP1, DSP2 = PHASES["DSP1"], PHASES["DSP2"]
INSTANTS = [(DSP1, t) for t in DOUBLE["DSP1"]] + [(DSP2, t) for t in DOUBLE["DSP2"]]
GAITS = [(R1, t) for t in (0.62, 0.68, 0.74)] + [(other_gait(seed), None) for seed in range(1, 8)]
SPLITS = (0.0, 0.25, 0.5, 1.0)

APPENDIX = """
.30  SSP  force_transition   47.658645 -73.080498  20.770877  14.451054  -3.145126   0.583016
.60  SSP  force_transition   87.980992 -48.352637  19.527822  16.689324  -0.115271   0.621727
.68  DSP1 pseudo_inverse    109.528873 -32.164465  11.520515   5.025393  -0.615737   2.056315
.68  DSP1 minimum_torque     33.786421 -34.191421  -3.271710  -9.766832  43.444394  20.618569
.68  DSP1 force_transition   73.648157 -35.068840   0.682656  -5.812466  17.769475  10.443513
.84  DSP2 pseudo_inverse      3.674488  -3.853419 -12.307225 -25.677348  98.617857  38.777891
.84  DSP2 minimum_torque     51.395203 -15.181839  -4.684617 -18.054740  43.732595   1.362929
.84  DSP2 force_transition   29.161226  -8.863368  -6.253724 -19.623847  70.686930  19.105825
1.10 SSP_NEXT force_transition -0.600850 3.235994 -6.713299 -23.924132  89.524745  -7.888316
"""
ROWS = [
    (float(t), phase, rule, np.array(tau, dtype=float)) for t, phase, rule, *tau in (line.split() for line in APPENDIX.split("\n") if line)
]


def double_support(gait, t, phase=None):
    """Return body, chain, tip, total wrench and legs of an instant in double support; its middle where no time is given."""
    t = 0.5 * (gait.switches[0] + gait.switches[1]) if t is None else t
    phase = phase or find_phase(t, gait.switches)
    body, chain = gait.parameters.body, chain_at(gait, t, phase.base)
    return body, chain, phase.tip, compute_ground_wrench(body, chain), build_legs(body, chain, phase.tip)


def zmp_at(t, base="rear"):
    return compute_ground_wrench(BODY, chain_at(R1, t, base)).zmp


# the reference gait


@pytest.mark.parametrize(("t", "phase", "rule", "tau"), ROWS)
def test_torques_of_the_reference_gait(t, phase, rule, tau):
    """All nine rows, to the last printed digit."""
    found = compute_torques(BODY, R1.at(t), PHASES[phase], rule, share=linear_share(t, T0, T2)).tau
    assert np.abs(found - tau).max() < 6e-7


def test_state_of_the_reference_gait():
    motion = R1.at(0.68)
    theta = [0, 0.965249, 1.780336, 1.518436, 2.212213, 1.442355, 0.043633]
    rate = [0, -0.256680, -0.705261, 0, -0.350416, -0.453311, -1.022654]
    acceleration = [0, 0.720467, -0.620796, 0, -0.713055, 0.386958, 0]
    for found, printed in ((motion.theta, theta), (motion.rate, rate), (motion.acceleration, acceleration)):
        assert np.abs(found - printed).max() < 6e-7


@pytest.mark.parametrize(
    ("t", "base", "zmp"),
    [
        (T0, "rear", 0.1376),
        (0.68, "rear", 0.1879),
        (T1, "rear", 0.2414),
        (0.80, "front", 0.2398),
        (0.84, "front", 0.2841),
        (0.88, "front", 0.3251),
        (T2, "front", 0.3166),
    ],
)
def test_zero_moment_point(t, base, zmp):
    found = compute_ground_wrench(BODY, chain_at(R1, t, base))
    assert found.zmp + (0.35 if base == "front" else 0.0) == pytest.approx(zmp, abs=5.1e-5)
    assert abs(found.force[0] / found.force[1]) < 0.14


# BP-7: pseudo-inverse (26)-(27)


def test_eq_26_any_weights_satisfy_the_equations():
    for phase, t in INSTANTS:
        body, chain, tip, _, _ = double_support(R1, t, phase)
        terms, constraint = build_terms(body, chain), build_tip_constraint(body, chain, tip)
        rng = np.random.default_rng(3)
        tau, lam = solve_pseudo_inverse(terms, constraint, rng.uniform(0.1, 10, 6), rng.uniform(0.1, 10, 2))
        assert np.abs(TORQUE_MAP @ tau + constraint.J.T @ lam - terms.left).max() < 1e-11
        plain = np.linalg.pinv(np.hstack((TORQUE_MAP, constraint.J.T))) @ terms.left
        assert np.abs(np.concatenate(solve_pseudo_inverse(terms, constraint)) - plain).max() < 1e-11


@pytest.mark.parametrize(("scale", "ankle"), [(1.0, 109.5), (0.1, 119.0), (1000.0, 33.8)])
def test_eq_27_depends_on_units(scale, ankle):
    """Columns of J' times a number: newtons, decinewtons, kilonewtons give three different torques of the rear ankle."""
    body, chain, tip, _, _ = double_support(R1, 0.68)
    tau, _ = solve_pseudo_inverse(build_terms(body, chain), build_tip_constraint(body, chain, tip), force_weight=np.full(2, scale**-2))
    assert tau[0] == pytest.approx(ankle, abs=0.05)


def test_eq_27_with_free_forces_is_the_least_torque():
    body, chain, tip, _, legs = double_support(R1, 0.68)
    tau, _ = solve_pseudo_inverse(build_terms(body, chain), build_tip_constraint(body, chain, tip), force_weight=np.full(2, 1e-12))
    assert np.abs(tau - solve_procedure_2(legs).tau).max() < 1e-5


# BP-8, BP-9: transition of forces (28)-(29)


@pytest.mark.parametrize(("phase", "t"), INSTANTS)
def test_eq_28_29_forces_of_both_feet(phase, t):
    """The base carries what the tip does not, by the recursion: force of the ankle and weight of the foot."""
    body, chain, tip, total, legs = double_support(R1, t, phase)
    lam = 0.3 * total.force
    tau = solve_open_chain(build_terms(body, chain), build_tip_constraint(body, chain, tip).J.T @ lam)
    choice = solve_procedure_3(legs, lam)
    assert np.abs(choice.tau - tau).max() < 1e-11
    foot = np.array([0.0, body.m_foot * body.gravity])
    from_recursion = choice.T1[:2] + compute_net_wrenches(body, chain)[0][:2, :2].sum(axis=0) + foot
    assert np.abs(from_recursion - (total.force - lam)).max() < 1e-11


def test_eq_28_the_mass_is_that_of_the_whole_biped():
    """Without the flat foot the forces of both feet do not add up to what the motion needs."""
    total = compute_ground_wrench(BODY, chain_at(R1, 0.68))
    t, h = 0.68, 1e-4
    rear, front = (R1.points(t)[i].value for i in (1, 3))
    assert (rear == [0.0, BODY.ankle_height]).all()
    assert front[0] > 0.3

    def mass_moment(x):
        return link_masses(BODY)[0] @ compute_link_accelerations(BODY, chain_at(R1, x, "rear"))[0]

    force = (mass_moment(t + h) - 2 * mass_moment(t) + mass_moment(t - h)) / h**2 + [0.0, 65.0 * 9.81]
    assert np.abs(total.force - force).max() < 1e-4
    assert abs(total.force[1] - force[1] + BODY.m_foot * 9.81) > 9.0


def test_eq_28_times_are_absolute():
    """(t - t_s)/(t_d - t_s) with a duration for t_d is negative in the middle of double support."""
    assert linear_share(0.76, T0, T2) == pytest.approx(0.5)
    assert share_from_durations(0.76, single=0.6, double=0.32) == pytest.approx(0.5)
    printed = (0.76 - 0.6) / (0.32 - 0.6)
    assert printed == pytest.approx(-0.571, abs=5e-4)
    assert (linear_share(0.0, T0, T2), linear_share(2.0, T0, T2)) == (0.0, 1.0)
    with pytest.raises(ShapeError, match="times in order"):
        linear_share(0.1, 0.6, 0.32)


@pytest.mark.parametrize(("phase", "t"), INSTANTS)
def test_centre_of_pressure_of_the_flat_foot(phase, t):
    """Moment of all forces about the ankle of the base, from the torque of that ankle."""
    body, chain, tip, total, legs = double_support(R1, t, phase)
    lam = 0.4 * total.force
    x_tip = build_tip_constraint(body, chain, tip).p[0]
    choice = solve_procedure_3(legs, lam)
    base = total.force - lam
    ankle = choice.tau[0]
    moment = ankle + body.com_foot[0] * body.m_foot * body.gravity - body.ankle_height * base[0]
    cop = moment / base[1]
    assert cop == pytest.approx(compute_flat_cop(total.zmp, 0.4, x_tip), abs=1e-12)


def test_linear_share_lets_the_flat_foot_tip():
    """On R1 the rear foot would press ahead of its toe just before t1, and the front foot behind its heel at 0.80 s."""
    at_the_end = compute_torques(BODY, R1.at(T1), DSP1, share=linear_share(T1, T0, T2)).base_cop
    later = compute_torques(BODY, R1.at(0.80), DSP2, share=linear_share(0.80, T0, T2)).base_cop + 0.35
    assert compute_flat_cop(zmp_at(T1), 0.5, 0.35 - BODY.heel) == pytest.approx(at_the_end)
    assert at_the_end == pytest.approx(0.1973, abs=5e-5)
    assert at_the_end > BODY.toe
    assert later == pytest.approx(0.267, abs=5e-4)
    assert later < 0.35 - BODY.heel


@pytest.mark.parametrize(("phase", "t"), INSTANTS)
def test_interval_of_shares(phase, t):
    """At its ends the flat foot presses at heel or toe."""
    motion = R1.at(t)
    zmp, points = zmp_at(t, phase.base), find_points(BODY, motion, phase)
    interval = find_interval(zmp, points, phase.name)
    assert not interval.empty
    for share in (interval.lower, interval.upper):
        cop = compute_torques(BODY, motion, phase, share=share).base_cop
        inside = -BODY.heel - 1e-12 <= cop <= BODY.toe + 1e-12
        edge = min(abs(cop + BODY.heel), abs(cop - BODY.toe)) < 1e-12
        assert inside if share in {0.0, 1.0} else edge
    with pytest.raises(ShapeError, match="DSP1 or DSP2"):
        find_interval(zmp, points, "SSP")


def test_friction_of_a_parallel_split():
    """Both feet have the ratio of the total force; least torque has not."""
    answer = compute_torques(BODY, R1.at(0.68), DSP1, share=0.25)
    ratio = answer.rear_force[0] / answer.rear_force[1]
    assert answer.front_force[0] / answer.front_force[1] == pytest.approx(ratio, abs=1e-14)
    other = compute_torques(BODY, R1.at(0.68), DSP1, "minimum_torque")
    assert abs(other.front_force[0] / other.front_force[1] - other.rear_force[0] / other.rear_force[1]) > 0.05


# BP-10: continuity


def test_jumps_with_the_force_alone_handed_over():
    """(T2) All six torques jump at t1 by the couple that changes feet; it vanishes at s* = 0.519184."""
    motion, force = R1.at(T1), compute_ground_wrench(BODY, chain_at(R1, T1, "rear")).force
    points = find_points(BODY, motion, DSP1)
    assert find_balanced_share(zmp_at(T1), points) == pytest.approx(0.519184, abs=5e-7)
    assert force == pytest.approx(compute_ground_wrench(BODY, chain_at(R1, T1, "front")).force, abs=1e-11)
    for share, jump in ((0.3, -12.81), (0.5, -1.12), (0.7, 10.57), (find_balanced_share(zmp_at(T1), points), 0.0)):
        before, after = (compute_torques(BODY, motion, phase, share=share).tau for phase in (DSP1, DSP2))
        left = compute_moment_left(force[1], zmp_at(T1), share, points.toe_rear, points.heel_front)
        assert np.abs(after - before + left).max() < 1e-11
        assert after[0] - before[0] == pytest.approx(jump, abs=6e-3)


def test_rates_of_torques_at_heel_strike():
    """(T3) A linear share makes the rate of torques jump by A^-1 J'F/(t2 - t0) at t0; a smooth one does not."""
    body, chain, tip, total, _ = double_support(R1, T0, DSP1)
    kink = -np.linalg.solve(TORQUE_MAP, build_tip_constraint(body, chain, tip).J.T @ total.force) / (T2 - T0)
    h = 1e-6

    def rate(rule, phase):
        there, here = (compute_step_torques(STEP, t, rule, phase).tau for t in (T0 + h, T0))
        return (there - here) / h

    onward = rate("linear_transition", PHASES["SSP"])
    for rule, expected in (("linear_transition", kink), ("smooth_transition", 0.0), ("recommended_transition", 0.0)):
        assert np.abs(rate(rule, DSP1) - onward - expected).max() < 2e-2
    assert np.abs(kink).max() > 100.0


# BP-11: the recommended transition


def test_recommended_transition_keeps_feet_flat():
    """Continuous everywhere, both centres of pressure inside, both feet pressing, on all of double support."""
    before = compute_step_torques(STEP, T0).tau
    for t in np.linspace(T0, T2, 321):
        answer = compute_step_torques(STEP, float(t))
        if T0 < t < T2:
            assert -BODY.heel - 1e-9 <= answer.base_cop <= BODY.toe + 1e-9
            assert answer.rear_force[1] > 0.0
            assert answer.front_force[1] > 0.0
        assert np.abs(answer.tau - before).max() < 5.0
        before = answer.tau


def test_recommended_share():
    points = find_points(BODY, R1.at(T1), DSP1)
    assert two_segment_share(T1, TIMES, 0.4) == 0.4
    assert (two_segment_share(T0, TIMES, 0.4), two_segment_share(T2, TIMES, 0.4)) == (0.0, 1.0)
    assert recommend_share(T0, TIMES, 0.4, 0.0, points) == 0.0
    assert recommend_share(T2, TIMES, 0.4, 0.0, points) == 1.0
    h = 1e-4
    for t in TIMES:
        shares = [two_segment_share(t + k * h, TIMES, 0.4) for k in (-1, 0, 1)]
        assert abs(shares[2] - shares[0]) / (2 * h) < 1e-4
        assert abs(shares[2] - 2 * shares[1] + shares[0]) / h**2 < 0.6
    assert smooth_share(0.68, T0, T2) == pytest.approx(quintic(0.25), abs=1e-15)


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
    lam, *_ = np.linalg.lstsq(root @ np.linalg.solve(TORQUE_MAP, J.T), root @ np.linalg.solve(TORQUE_MAP, terms.left), rcond=None)
    choice = solve_procedure_2(legs, weight)
    assert np.abs(choice.f7[:2] - lam).max() < 1e-8 * (1 + np.abs(lam).max())
    best = choice.tau @ weight @ choice.tau
    assert minimize(cost, choice.f7[:2] + 20.0).fun > best * (1 - 1e-9)
    for step in np.random.default_rng(4).normal(size=(30, 2)):
        assert cost(choice.f7[:2] + step) > best


def test_legs_straight_and_together():
    """All joints on one line: B has rank 2 and (67) cannot be inverted, yet the least torque is unique."""
    up = np.pi / 2
    chain = ChainMotion(np.array([up, up, up, up, up, 0.0]), *np.random.default_rng(6).normal(size=(2, 6)))
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
        assert np.abs(compute_serial_torques(legs, clamped * legs.f4 + again) - solve_procedure_3(legs, lam).tau).max() < 1e-10


def test_a_split_that_must_be_clamped():
    """A heel that is wanted to pull hard drives the split beyond 1; torques are still those of procedure 3."""
    _, _, _, total, legs = double_support(R1, 0.68)
    lam = -2.0 * total.force
    assert solve_internal(legs, np.append(lam, 0.0))[1] > 1.0
    fourth = solve_procedure_4(legs, lam)
    assert fourth.split == 1.0
    assert np.abs(fourth.tau - solve_procedure_3(legs, lam).tau).max() < 1e-9


# BP-18: the jump table


@pytest.mark.parametrize(
    ("rule", "jumps"),
    [
        ("pseudo_inverse", (7.04, 135.2, 14.0)),
        ("minimum_torque", (65.1, 17.1, 62.1)),
        ("linear_transition", (0.0, 1.12, 0.0)),
        ("smooth_transition", (0.0, 1.12, 0.0)),
        ("recommended_transition", (0.0, 0.0, 0.0)),
    ],
)
def test_jump_table(rule, jumps):
    found = measure_jumps(STEP, rule)
    for value, printed in zip(found, jumps, strict=True):
        assert value == pytest.approx(printed, abs=0.05 if printed > 2 else 5e-3) if printed else value < 1e-9


@pytest.mark.parametrize("seed", range(1, 25))
def test_jumps_of_other_steps(seed):
    """Any body, any times: the first two rules jump, transitions jump at t1 by the couple left, the recommended one not at all."""
    gait = other_gait(seed)
    body, times = gait.parameters.body, gait.switches
    step = build_step(body, gait.at, times)
    motion = gait.at(times[1])
    total, points = compute_ground_wrench(body, view_from(motion, "rear")), find_points(body, motion, DSP1)
    jumps = {rule: measure_jumps(step, rule) for rule in STEP_RULES}
    assert jumps["pseudo_inverse"].max() > 5.0
    assert jumps["minimum_torque"].max() > 5.0
    for rule, share in (("linear_transition", linear_share(times[1], times[0], times[2])), ("recommended_transition", step.balanced)):
        left = compute_moment_left(total.force[1], total.zmp, share, points.toe_rear, points.heel_front)
        assert jumps[rule] == pytest.approx([0.0, abs(left), 0.0], abs=1e-9)
    if points.toe_rear < total.zmp < points.heel_front:
        assert jumps["recommended_transition"].max() < 1e-9
    assert np.abs(jumps["smooth_transition"][[0, 2]]).max() < 1e-9


def test_most_other_steps_satisfy_the_proposition():
    inside = [0.0 < build_step(gait.parameters.body, gait.at, gait.switches).balanced < 1.0 for gait in map(other_gait, range(1, 25))]
    assert sum(inside) >= 12


# BP-19: the second part of double support


def test_torques_are_compared_joint_by_joint():
    """Order of the front chain is minus the reverse of that of the rear chain: at t1 both chains describe the same instant."""
    motion = R1.at(T1)
    rear, front = (solve_open_chain(build_terms(BODY, view_from(motion, base))) for base in ("rear", "front"))
    total = compute_ground_wrench(BODY, view_from(motion, "rear"))
    x_heel = find_points(BODY, motion, DSP1).heel_front
    wrench = -np.append(total.force, 0.0)
    couple = total.force[1] * (x_heel - total.zmp)
    J = build_tip_constraint(BODY, view_from(motion, "rear"), "heel").J
    moved = rear + np.linalg.solve(TORQUE_MAP, J.T @ wrench[:2] + np.array([0, 0, 0, 0, 0, couple]))
    assert np.abs(order_from_rear(front, "front") - moved).max() < 1e-9
    assert np.abs(front - moved).max() > 10.0


# BP-22: floating base


@pytest.mark.parametrize("t", [0.1, 0.3, 0.59, 0.62, 0.68, 0.75, 0.77, 0.84, 0.9, 0.95, 1.1, 1.4])
def test_floating_base_agrees(t):
    """RNEA of the URDF biped less J'W, in all phases and for all rules; nothing is left at its base."""
    robot = hd.load_robot("biped7")
    phase, motion = find_phase(t, TIMES), R1.at(t)
    q, v, a = urdf_motion(robot, t)
    for rule in STEP_RULES:
        answer = compute_step_torques(STEP, t, rule)
        contacts = urdf_contacts(answer, motion, phase)
        tau = solve_subsystems(robot, hd.State(q, v), a, contacts).tau
        assert np.abs(tau[:3]).max() < 1e-9
        assert np.abs(tau[leg_coordinates(robot)] * FRONT_SIGN - answer.tau).max() < 1e-9
        data = robot.data()
        expected = np.array(pin.rnea(robot.model, data, q, v, a))
        pin.computeJointJacobians(robot.model, data, q)
        for name, wrench in contacts.items():
            frame = robot.surface(name).frame
            expected -= pin.getFrameJacobian(robot.model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED).T @ wrench
        assert np.abs(tau - expected).max() < 1e-10


@pytest.mark.parametrize(("phase", "t"), INSTANTS)
def test_three_dimensional_procedures_contain_the_planar_ones(phase, t):
    """The URDF biped, an internal wrench of six components, no moment about heel or toe: torques of procedures 1 and 3."""
    robot = hd.load_robot("biped7")
    q, v, a = urdf_motion(robot, t)
    flat, other = ("left_foot", "right_foot") if phase.base == "rear" else ("right_foot", "left_foot")
    support = build_double_support(solve_subsystems(robot, hd.State(q, v), a), flat, other)
    reach = -BODY.heel if phase.tip == "heel" else BODY.toe
    choice = choose_minimum_torque(support, np.array([[0.0, 0.0, reach, 0.0, 1.0, 0.0]]), split=0.4)
    tau = np.zeros(robot.nv)
    tau[np.concatenate((support.first.coordinates, support.second.coordinates))] = choice.loads
    assert np.abs(tau[leg_coordinates(robot)] * FRONT_SIGN - compute_torques(BODY, R1.at(t), phase, "minimum_torque").tau).max() < 1e-9


def leg_coordinates(robot):
    return [robot.joint(name).v.start for name in ("left_ankle", "left_knee", "left_hip", "right_hip", "right_knee", "right_ankle")]


def urdf_motion(robot, t):
    """Absolute angles to joint angles; the left leg is the rear one."""
    motion, hip = R1.at(t), R1.points(t)[4]
    q, v, a = np.zeros(robot.nq), np.zeros(robot.nv), np.zeros(robot.nv)
    for out, theta, place, turn in (
        (q, motion.theta, hip.value, np.pi / 2),
        (v, motion.rate, hip.rate, 0.0),
        (a, motion.acceleration, hip.acceleration, 0.0),
    ):
        out[:2], out[2] = place, turn - theta[3]
        for side, foot, shank, thigh in (("left", 0, 1, 2), ("right", 6, 5, 4)):
            for joint, value in (
                ("hip", theta[3] - theta[thigh]),
                ("knee", theta[thigh] - theta[shank]),
                ("ankle", theta[shank] - theta[foot] - turn),
            ):
                out[robot.joint(f"{side}_{joint}").q.start] = value
    return q, v, a


def urdf_contacts(answer, motion, phase):
    """Forces at tip and centre of pressure as wrenches at the origins of the soles, axes of the world."""
    flat, other = ("left_foot", "right_foot") if phase.base == "rear" else ("right_foot", "left_foot")
    flat_force, tip_force = (answer.rear_force, answer.front_force) if phase.base == "rear" else (answer.front_force, answer.rear_force)
    contacts = {flat: spatial(flat_force, np.array([answer.base_cop, 0.0]))}
    if phase.tip is not None:
        angle = motion.theta[6 if phase.base == "rear" else 0]
        reach = -BODY.heel if phase.tip == "heel" else BODY.toe
        contacts[other] = spatial(tip_force, reach * np.array([np.cos(angle), np.sin(angle)]))
    return contacts


def spatial(force, arm):
    return np.array([force[0], 0.0, force[1], 0.0, arm[1] * force[0] - arm[0] * force[1], 0.0])


# phases, refusals


def test_phases_of_a_step():
    assert [find_phase(t, TIMES).name for t in (0.0, 0.599, 0.6, 0.759, 0.76, 0.92, 1.5)] == ["SSP", "SSP", "DSP1", "DSP1", "DSP2"] + [
        "SSP_NEXT"
    ] * 2
    for share, t in ((0.0, 0.3), (1.0, 1.2)):
        answer = compute_step_torques(STEP, t)
        assert answer.share == share


def test_what_is_refused():
    with pytest.raises(UnknownNameError, match="no rule named 'best'"):
        compute_step_torques(STEP, 0.7, "best")
    with pytest.raises(UnknownNameError, match="no rule named 'best'"):
        compute_torques(BODY, R1.at(0.7), DSP1, "best")
    with pytest.raises(UnknownNameError, match="no phase of double support named 'SSP'"):
        find_points(BODY, R1.at(0.3), PHASES["SSP"])
    with pytest.raises(ShapeError, match="three times in order"):
        build_step(BODY, R1.at, (0.6, 0.92, 0.76))
    with pytest.raises(ShapeError, match=r"lam: received shape \(3,\), expected \(2,\)"):
        solve_procedure_3(build_legs(BODY, chain_at(R1, 0.68), "heel"), np.zeros(3))


# BP-24: cost


def test_newton_euler_is_cheaper_than_lagrange():
    """Torques of a long chain by recursion against M, C and g one by one, in the same compiled library; the gain grows with the chain."""

    def gain(links):
        model = pin.Model()
        for i in range(links):
            joint = model.addJoint(i, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([0.1, 0.0, 0.0])), f"joint_{i + 1}")
            model.appendBodyToJoint(joint, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3.Identity())
        data, q, v = model.createData(), np.full(links, 0.1), np.full(links, 0.2)

        def lagrange():
            M = pin.crba(model, data, q)
            M = np.triu(M) + np.triu(M, 1).T
            return M @ v + pin.computeCoriolisMatrix(model, data, q, v) @ v + pin.computeGeneralizedGravity(model, data, q)

        assert np.abs(lagrange() - pin.rnea(model, data, q, v, v)).max() < 1e-9 * links**3
        return fastest(lagrange) / fastest(lambda: pin.rnea(model, data, q, v, v))

    assert gain(40) > 2.0
    assert gain(160) > 1.5 * gain(40)


def fastest(function):
    times = []
    for _ in range(50):
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return min(times)


# friction in double support


@pytest.mark.parametrize(("phase", "t"), INSTANTS)
def test_friction_in_every_rule(phase, t):
    """(6) with A tau_f: with given forces torques grow by the friction; the least torque is least with friction included."""
    motion = R1.at(t)
    tau_f = np.array([3.0, -2.0, 1.5, -1.0, 2.5, 0.5])
    given, plain = (compute_torques(BODY, motion, phase, share=0.4, tau_f=friction).tau for friction in (tau_f, None))
    assert np.abs(given - plain - tau_f).max() < 1e-11
    chain = view_from(motion, phase.base)
    terms = build_terms(BODY, chain, order_from_rear(tau_f, phase.base))
    J = build_tip_constraint(BODY, chain, phase.tip).J
    for rule in ("minimum_torque", "pseudo_inverse"):
        answer = compute_torques(BODY, motion, phase, rule, tau_f=tau_f)
        lam = answer.front_force if phase.base == "rear" else answer.rear_force
        assert np.abs(TORQUE_MAP @ order_from_rear(answer.tau, phase.base) + J.T @ lam - terms.left).max() < 1e-10
    least = compute_torques(BODY, motion, phase, "minimum_torque", tau_f=tau_f).tau
    assert np.linalg.norm(least) == pytest.approx(np.linalg.norm(lowest_torque(terms, J)), rel=1e-12)


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
