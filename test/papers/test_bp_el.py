# SPDX-License-Identifier: Apache-2.0
"""The biped paper, section 3.1: Euler-Lagrange equations and their reductions; one test for each item, misprints as negative controls."""

import re
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from steps import (
    DOUBLE,
    R1,
    chain_at,
    other_gait,
    pinocchio_chain,
    random_body,
    random_chain,
    relative,
)
from trees import build_robot

import humanoid_dynamics as hd
from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.papers.biped.body import build_body
from humanoid_dynamics.papers.biped.chain import BipedMotion, order_from_rear, view_from
from humanoid_dynamics.papers.biped.forward import METHODS, compare_methods, solve_forward
from humanoid_dynamics.papers.biped.lagrange import (
    TORQUE_MAP,
    build_coriolis_matrix,
    build_gravity_vector,
    build_mass_matrix,
    build_terms,
    build_tip_constraint,
    compute_energy,
    compute_joint_rates,
    solve_open_chain,
)
from humanoid_dynamics.papers.biped.recursion import (
    FRONT_SIGN,
    build_legs,
    compute_serial_torques,
    solve_hip_wrench,
)
from humanoid_dynamics.papers.biped.reduction import (
    REDUCTIONS,
    build_reduced_equations,
    check_drift,
    compute_multipliers,
    differentiate_basis,
    find_rates,
    partition,
    reduce_constraint,
)
from humanoid_dynamics.papers.biped.regressor import (
    build_lagrange_regressor,
    stack_lagrange_parameters,
)
from humanoid_dynamics.papers.vdc.inverse import solve_subsystems
from humanoid_dynamics.papers.vdc.joint import (
    JointParameters,
    build_joint_regressor,
    compute_friction,
)

BODY = R1.parameters.body
INSTANTS = [("DSP1", "rear", "heel", t) for t in DOUBLE["DSP1"]] + [
    ("DSP2", "front", "toe", t) for t in DOUBLE["DSP2"]
]


def christoffel(body, q, dq):
    """C_ij = sum of (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) q'_k / 2, derivatives by complex steps."""
    step = 1e-30
    dM = np.array(
        [build_mass_matrix(body, q + 1j * step * np.eye(6)[k]).imag / step for k in range(6)]
    )
    return 0.5 * (
        np.einsum("kij,k->ij", dM, dq)
        + np.einsum("jik,k->ij", dM, dq)
        - np.einsum("ijk,k->ij", dM, dq)
    )


def differentiate(function, t, h=2e-4):
    """Central differences of fourth order."""
    near, far = (function(t + k * h) - function(t - k * h) for k in (1, 2))
    return (8.0 * near - far) / (12.0 * h)


def double_support(phase, t, gait=R1):
    base, tip = {"DSP1": ("rear", "heel"), "DSP2": ("front", "toe")}[phase]
    chain = chain_at(gait, t, base)
    return (
        chain,
        build_terms(gait.parameters.body, chain),
        build_tip_constraint(gait.parameters.body, chain, tip),
    )


# BP-1: equations (1)-(3)


@pytest.mark.parametrize("seed", range(5))
def test_eq_1_from_energies(seed):
    """Christoffel symbols and the gradient of the potential energy give C and g; kinetic energy is q' M q'/2."""
    body, chain = random_body(seed), random_chain(seed)
    assert (
        np.abs(
            build_coriolis_matrix(body, chain.q, chain.dq) - christoffel(body, chain.q, chain.dq)
        ).max()
        < 1e-13
    )
    h = 1e-6
    gradient = [
        (
            compute_energy(body, chain.q + h * e, chain.dq)[1]
            - compute_energy(body, chain.q - h * e, chain.dq)[1]
        )
        / (2 * h)
        for e in np.eye(6)
    ]
    assert np.abs(build_gravity_vector(body, chain.q) - gradient).max() < 1e-8


@pytest.mark.parametrize("seed", range(5))
def test_eq_2_equals_newton_euler(seed):
    """Torques by Lagrange, by pinocchio on relative angles, by the subsystem recursion, for any lengths and masses."""
    body, chain = random_body(seed), random_chain(seed)
    tau = solve_open_chain(build_terms(body, chain))
    model = pinocchio_chain(body)
    q, v, a = (relative(values) for values in (chain.q, chain.dq, chain.ddq))
    assert np.abs(tau - pin.rnea(model, model.createData(), q, v, a)).max() < 1e-12
    assert np.abs(tau - solve_subsystems(build_robot(model), hd.State(q, v), a).tau).max() < 1e-12


@pytest.mark.parametrize("t", [0.1, 0.3, 0.55])
def test_eq_48_60_recursion_from_the_swing_foot(t):
    """Single support: nothing acts on the swing foot, which fixes the hip wrench and all torques."""
    chain = chain_at(R1, t)
    legs = build_legs(BODY, chain, "heel")
    tau = compute_serial_torques(legs, solve_hip_wrench(legs, np.zeros(3)))
    assert np.abs(tau - solve_open_chain(build_terms(BODY, chain))).max() < 1e-12


def test_torque_map():
    """Serial sign: rows tau_1 - tau_2, ..., tau_6; the recursion's sign turns the last three columns."""
    A = np.zeros((6, 6))
    for j in range(6):
        A[j, j] = 1.0
        if j < 5:
            A[j, j + 1] = -1.0
    assert (A == TORQUE_MAP).all()
    assert np.linalg.det(TORQUE_MAP) == 1.0
    assert (FRONT_SIGN == [1, 1, 1, -1, -1, -1]).all()
    rates = np.arange(1.0, 7.0) ** 2
    assert (compute_joint_rates(rates) == np.diff(rates, prepend=0.0)).all()


def test_eq_3_friction():
    """Friction of the joints adds itself to the torques, whatever the map."""
    chain = chain_at(R1, 0.3)
    joint = JointParameters(*np.full((6, 6), 0.3))
    tau_f = compute_friction(joint, compute_joint_rates(chain.dq))
    with_friction, without = (
        solve_open_chain(build_terms(BODY, chain, friction)) for friction in (tau_f, None)
    )
    assert np.abs(with_friction - without - tau_f).max() < 1e-12


# BP-2: properties 1-3


@pytest.mark.parametrize("seed", range(5))
def test_property_1_mass_matrix(seed):
    body, chain = random_body(seed), random_chain(seed)
    M = build_mass_matrix(body, chain.q)
    assert np.abs(M - M.T).max() < 1e-15
    assert np.linalg.eigvalsh(M)[0] > 0.0


@pytest.mark.parametrize("seed", range(5))
def test_property_2_skew(seed):
    """dM/dt - 2C is skew for C by Christoffel symbols, and not for another C with the same C q'."""
    body, chain = random_body(seed), random_chain(seed)
    step = 1e-30
    M_rate = build_mass_matrix(body, chain.q + 1j * step * chain.dq).imag / step
    C = build_coriolis_matrix(body, chain.q, chain.dq)
    N = M_rate - 2.0 * C
    assert np.abs(N + N.T).max() < 1e-13
    other = np.outer(C @ chain.dq, chain.dq) / (chain.dq @ chain.dq)
    assert np.abs(other @ chain.dq - C @ chain.dq).max() < 1e-13
    N = M_rate - 2.0 * other
    assert np.abs(N + N.T).max() > 1e-2


@pytest.mark.parametrize("seed", range(5))
def test_property_3_linear_in_parameters(seed):
    """Y alpha, friction columns included; and A times pinocchio's regressor of the relative-angle chain."""
    body, chain = random_body(seed), random_chain(seed)
    Y, alpha = build_lagrange_regressor(body, chain), stack_lagrange_parameters(body)
    rng = np.random.default_rng(seed)
    joint = JointParameters(np.zeros(6), *rng.uniform(0.1, 1.0, size=(5, 6)))
    rates = compute_joint_rates(chain.dq)
    rows = build_joint_regressor(joint, rates, rates, np.zeros(6))
    friction = TORQUE_MAP @ np.hstack([np.diag(rows[:, k]) for k in range(5)])
    left = build_terms(body, chain, compute_friction(joint, rates)).left
    assert (
        np.abs(
            np.hstack((Y, friction)) @ np.concatenate((alpha, joint.as_matrix().T.ravel())) - left
        ).max()
        < 1e-12
    )
    model = pinocchio_chain(body)
    q, v, a = (relative(values) for values in (chain.q, chain.dq, chain.ddq))
    theirs = TORQUE_MAP @ pin.computeJointTorqueRegressor(model, model.createData(), q, v, a)
    columns = [10 * k + i for k in range(6) for i in (0, 1, 2, 9)]
    assert np.abs(Y - theirs[:, columns]).max() < 1e-12


# BP-3: constraints (5)-(9)


@pytest.mark.parametrize(("phase", "base", "tip", "t"), INSTANTS)
def test_eq_7_9_tip_on_the_ground(phase, base, tip, t):
    """The gait keeps the tip where it is: phi, J q' and J q'' + J' q' vanish; J by complex steps of the position."""
    chain, _, constraint = double_support(phase, t)
    rate, acceleration = check_drift(constraint, chain.dq, chain.ddq)
    assert rate < 1e-14
    assert acceleration < 1e-13
    assert constraint.p[1] == pytest.approx(-BODY.ankle_height, abs=1e-14)
    assert constraint.p[0] == pytest.approx(
        0.35 - BODY.heel if tip == "heel" else BODY.toe - 0.35, abs=1e-14
    )
    h = 1e-6

    def moved(dq):
        there, back = (
            build_tip_constraint(BODY, type(chain)(chain.q + x * dq, chain.dq, chain.ddq), tip)
            for x in (h, -h)
        )
        return there, back

    for i, e in enumerate(np.eye(6)):
        there, back = moved(e)
        assert np.abs((there.p - back.p) / (2 * h) - constraint.J[:, i]).max() < 1e-9
    there, back = moved(chain.dq)
    assert np.abs((there.J - back.J) / (2 * h) - constraint.J_rate).max() < 1e-9
    assert (constraint.J[:, 2] == 0.0).all()


def test_remark_2_the_same_equations_after_relabelling():
    """A step mirrored in time order of the feet: from the front foot the chain reads shank, thigh, trunk, thigh, shank, foot again."""
    rng = np.random.default_rng(8)
    motion = BipedMotion(*rng.normal(size=(3, 7)))
    mirrored = BipedMotion(motion.theta[::-1], motion.rate[::-1], motion.acceleration[::-1])
    there, back = view_from(motion, "rear"), view_from(mirrored, "front")
    assert (there.q == back.q).all()
    tau = solve_open_chain(build_terms(BODY, there))
    assert (order_from_rear(tau, "front") == -tau[::-1]).all()
    with pytest.raises(UnknownNameError, match="no base named 'left'"):
        view_from(motion, "left")
    with pytest.raises(UnknownNameError, match="no tip named 'sole'"):
        build_tip_constraint(BODY, there, "sole")


def test_rank_of_redundancy():
    """Two redundant torques in double support: F'A has rank four."""
    for phase, _, _, t in INSTANTS:
        _, _, constraint = double_support(phase, t)
        F = reduce_constraint(constraint.J).F
        assert np.linalg.matrix_rank(F.T @ TORQUE_MAP) == 4


# BP-4, BP-5: partition and reduced equations


@pytest.mark.parametrize(("phase", "base", "tip", "t"), INSTANTS)
@pytest.mark.parametrize("method", REDUCTIONS)
def test_eq_14_15_identities(phase, base, tip, t, method):
    _, _, constraint = double_support(phase, t)
    found = reduce_constraint(constraint.J, method)
    assert np.abs(constraint.J @ found.F).max() < 1e-14
    assert np.abs(constraint.J @ found.F_left - np.eye(2)).max() < 1e-13
    assert np.linalg.matrix_rank(found.F) == 4


def test_eq_13_14_partition_is_the_inverse():
    _, _, constraint = double_support("DSP1", 0.68)
    J_r = np.eye(6)[[0, 2, 3, 5]]
    found = partition(constraint.J, (0, 2, 3, 5))
    both = np.hstack((found.F_left, found.F))
    assert np.abs(np.vstack((constraint.J, J_r)) @ both - np.eye(6)).max() < 1e-13
    assert np.abs(J_r @ found.F - np.eye(4)).max() == 0.0
    assert np.abs(J_r @ found.F_left).max() == 0.0


def test_eq_10_printed_is_not_the_choice_of_coordinates():
    """q_in = phi(q) q, as printed, is not what (11) differentiates, unless phi is constant; here it is the angle of hip to hip."""

    def choice(q):
        return np.array([q[0] + q[1] ** 2])

    chain, h = random_chain(3), 1e-6
    J_r = np.array([[1.0, 2.0 * chain.q[1], 0, 0, 0, 0]])
    there, back = chain.q + h * chain.dq, chain.q - h * chain.dq
    right = (choice(there) - choice(back)) / (2 * h)
    printed = (choice(there) * there - choice(back) * back) / (2 * h)
    assert np.abs(right - J_r @ chain.dq).max() < 1e-8
    assert np.abs(printed - J_r @ chain.dq).max() > 0.1


def test_partitions_that_are_refused():
    """The trunk does not follow from the legs."""
    _, _, constraint = double_support("DSP1", 0.68)
    with pytest.raises(ShapeError, match="on which coordinates"):
        partition(constraint.J, (0, 1, 3, 4))
    with pytest.raises(ShapeError, match="4 different coordinates"):
        partition(constraint.J, (0, 1))
    with pytest.raises(UnknownNameError, match="no reduction named 'lu'"):
        reduce_constraint(constraint.J, "lu")


def test_eq_16_derivative_of_the_basis():
    """F' by central differences along the gait; q'' = F u' + F' u for every method."""
    chain, _, constraint = double_support("DSP1", 0.68)
    F_rate = differentiate_basis(partition(constraint.J, (0, 2, 3, 5)), constraint.J_rate)
    found = differentiate(lambda t: partition(double_support("DSP1", t)[2].J, (0, 2, 3, 5)).F, 0.68)
    assert np.abs(found - F_rate).max() < 1e-9
    for method in REDUCTIONS:
        found = reduce_constraint(constraint.J, method)
        u, du = find_rates(found, constraint.J_rate, chain.dq, chain.ddq)
        assert np.abs(found.F @ u - chain.dq).max() < 1e-13
        assert (
            np.abs(
                found.F @ du + differentiate_basis(found, constraint.J_rate) @ u - chain.ddq
            ).max()
            < 1e-12
        )


@pytest.mark.parametrize(("phase", "base", "tip", "t"), INSTANTS)
@pytest.mark.parametrize("method", REDUCTIONS)
def test_eq_20_21(phase, base, tip, t, method):
    """(20) returns the force the torques were made with; the reduced equations hold without it."""
    chain, terms, constraint = double_support(phase, t)
    lam = np.array([12.0, 230.0])
    tau = solve_open_chain(terms, constraint.J.T @ lam)
    found = reduce_constraint(constraint.J, method)
    assert np.abs(compute_multipliers(terms, found, tau) - lam).max() < 1e-11
    reduced = build_reduced_equations(terms, found, constraint.J_rate)
    u, du = find_rates(found, constraint.J_rate, chain.dq, chain.ddq)
    assert np.abs(reduced.D @ du + reduced.H @ u + reduced.G - reduced.A @ tau).max() < 1e-11


@pytest.mark.parametrize(("phase", "t"), [("DSP1", 0.68), ("DSP2", 0.84)])
@pytest.mark.parametrize("kept", [(0, 1, 2, 3), (0, 2, 3, 5), (0, 2, 4, 5), (2, 3, 4, 5)])
def test_property_4_and_the_printed_form_of_eq_23(phase, t, kept):
    """D' - 2H is skew; with -F'CF in place of -2F'CF, the first line as printed, it is not."""
    _, terms, constraint = double_support(phase, t)
    found = partition(constraint.J, kept)
    F, F_rate = found.F, differentiate_basis(found, constraint.J_rate)
    reduced = build_reduced_equations(terms, found, constraint.J_rate)

    def inertia(x):
        _, terms_x, constraint_x = double_support(phase, x)
        F_x = partition(constraint_x.J, kept).F
        return F_x.T @ terms_x.M @ F_x

    D_rate = differentiate(inertia, t)
    N = D_rate - 2.0 * reduced.H
    assert np.abs(N + N.T).max() < 1e-8
    printed = D_rate - 2.0 * F.T @ terms.M @ F_rate - F.T @ terms.C @ F
    assert np.abs(printed + printed.T).max() > 2.0
    assert np.abs(reduced.D - reduced.D.T).max() < 1e-13
    assert np.linalg.eigvalsh(reduced.D)[0] > 0.0


def test_property_5_and_eq_25():
    """JF = 0 and its transpose; JF and F'J' are not equal as printed, their sizes differ."""
    _, _, constraint = double_support("DSP2", 0.84)
    F = reduce_constraint(constraint.J).F
    assert (constraint.J @ F).shape == (2, 4)
    assert (F.T @ constraint.J.T).shape == (4, 2)
    assert np.abs(F.T @ constraint.J.T).max() < 1e-15


@pytest.mark.parametrize("method", REDUCTIONS)
def test_property_6_reduced_equations_are_linear_in_parameters(method):
    """(21), not (18) which still holds multipliers: F'Y alpha = F'A tau for any force on the tip."""
    chain, terms, constraint = double_support("DSP2", 0.84)
    F = reduce_constraint(constraint.J, method).F
    tau = solve_open_chain(terms, constraint.J.T @ np.array([-20.0, 300.0]))
    Y, alpha = build_lagrange_regressor(BODY, chain), stack_lagrange_parameters(BODY)
    assert np.abs(F.T @ Y @ alpha - F.T @ TORQUE_MAP @ tau).max() < 1e-11
    assert np.abs(Y @ alpha - TORQUE_MAP @ tau).max() > 10.0


# BP-6: other orthogonalisations


@pytest.mark.parametrize("seed", range(6))
def test_remark_5_every_method_gives_the_same(seed):
    """Any torques, any step: accelerations and forces of all seven methods agree with the system of multipliers."""
    gait = other_gait(seed) if seed else R1
    t0, t1, t2 = gait.switches
    phase, t = [("DSP1", 0.5 * (t0 + t1)), ("DSP2", 0.5 * (t1 + t2))][seed % 2]
    chain, terms, constraint = double_support(phase, t, gait)
    tau = 50.0 * np.random.default_rng(seed).normal(size=6)
    reports = compare_methods(terms, constraint, chain.dq, tau, repeats=1)
    assert tuple(report.method for report in reports) == METHODS
    for report in reports:
        assert report.acceleration_error < 1e-9
        assert report.force_error < 1e-8
        assert report.constraint_error < 1e-9
        assert report.condition >= 1.0
        assert report.time > 0.0


def test_remark_5_is_told_for_every_method():
    page = (Path(__file__).parents[2] / "docs" / "torques.md").read_text(encoding="utf-8")
    table = page.split("## Without multipliers")[1].split("\n## ")[0]
    assert tuple(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == METHODS


def test_forward_of_inverse_is_identity():
    for phase, _, _, t in INSTANTS:
        chain, terms, constraint = double_support(phase, t)
        lam = np.array([30.0, 310.0])
        tau = solve_open_chain(terms, constraint.J.T @ lam)
        for method in METHODS:
            found = solve_forward(terms, constraint, chain.dq, tau, method)
            assert np.abs(found.ddq - chain.ddq).max() < 1e-9
            assert np.abs(found.lam - lam).max() < 1e-9
    with pytest.raises(UnknownNameError, match="no method named 'kane'"):
        solve_forward(terms, constraint, chain.dq, tau, "kane")


def test_bodies_that_are_refused():
    with pytest.raises(ShapeError, match=r"m_foot: received -0\.9425, expected a positive number"):
        build_body(mass=-65.0)
    with pytest.raises(ShapeError, match="finite"):
        build_body(height=np.nan)
    with pytest.raises(ShapeError, match=r"theta: received shape \(6,\), expected \(7,\)"):
        BipedMotion(np.zeros(6), np.zeros(7), np.zeros(7))
