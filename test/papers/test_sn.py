# SPDX-License-Identifier: Apache-2.0
"""The snake paper, item by item: Kane's equations for n wheeled links against every number and law that is known of them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from humanoid_dynamics.papers.snake import (
    SnakeModel,
    SnakeState,
    build_paper_state,
    build_paper_torques,
    compute_equations,
    compute_kinetic_energy,
    compute_link_positions,
    compute_link_speeds,
    compute_reference,
    forward_dynamics,
    kane,
    lagrange,
    simulate_snake,
)
from humanoid_dynamics.papers.snake.counts import (
    METHODS,
    PAPER_STEPS,
    PAPER_TABLE,
    PAPER_TOTALS,
    measure_operations,
    measure_paper_steps,
    sum_paper_steps,
)
from humanoid_dynamics.papers.snake.experiment import compare_precision, compare_times

MANY = [1, 2, 3, 7, 12, 40]


def draw_snake(n: int, seed: int = 0) -> tuple[SnakeModel, SnakeState, np.ndarray]:
    rng = np.random.default_rng([n, seed])
    model = SnakeModel(
        rng.uniform(0.5, 2.0, n), rng.uniform(0.002, 0.02, n), rng.uniform(0.05, 0.2, n)
    )
    state = SnakeState(rng.uniform(-3.0, 3.0, n), rng.normal(size=2), rng.normal(size=2))
    return model, state, rng.normal(size=n - 1)


def reflections(
    model: SnakeModel, theta: np.ndarray, u: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    C, S = kane.shape_cosines(theta)
    return kane.link_speeds(C, S, model.half_lengths, u)


def angle_partials(
    model: SnakeModel, state: SnakeState, literal: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    C, S = kane.shape_cosines(state.theta)
    return kane.angle_partials(
        C, S, model.half_lengths, reflections(model, state.theta, state.u), literal
    )


def difference(function, x: np.ndarray, j: int, step: float = 1e-6) -> np.ndarray:
    shift = step * np.eye(x.size)[j]
    return (np.asarray(function(x + shift)) - np.asarray(function(x - shift))) / (2.0 * step)


# SN-1: kinematic recursion


@pytest.mark.parametrize("n", MANY)
def test_sn1_every_wheel_rolls_without_slipping(n):
    model, state, _ = draw_snake(n)
    speeds, omega = compute_link_speeds(model, state)
    h, dt = model.half_lengths, 1e-6
    velocity = np.array([speeds[0] * np.cos(state.theta[0]), speeds[0] * np.sin(state.theta[0])])
    before, after = (
        compute_link_positions(
            model,
            SnakeState(
                state.theta + sign * dt * omega, state.u, state.position + sign * dt * velocity
            ),
        )
        for sign in (-1.0, 1.0)
    )
    measured = (after - before) / (2.0 * dt)
    along = np.column_stack((np.cos(state.theta), np.sin(state.theta)))
    assert_allclose(
        measured, speeds[:, None] * along, atol=1e-8 * max(1.0, np.abs(omega).max() ** 2 * h.max())
    )


@pytest.mark.parametrize("n", MANY)
@pytest.mark.parametrize("seed", range(5))
def test_sn1_speed_and_turning_have_the_same_norm_in_all_links(n, seed):
    model, state, _ = draw_snake(n, seed)
    speeds, omega = reflections(model, state.theta, state.u)
    norm = speeds**2 + (model.half_lengths * omega) ** 2
    assert_allclose(norm, norm[0], rtol=1e-13)


@pytest.mark.parametrize("n", MANY)
def test_sn1_closed_form_equals_recursion(n):
    model, state, _ = draw_snake(n)
    for closed, recursive in zip(
        compute_link_speeds(model, state), reflections(model, state.theta, state.u), strict=True
    ):
        assert_allclose(closed, recursive, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "shape",
    [np.zeros(9), 0.3 * np.arange(9.0), np.pi * (np.arange(9) % 2)],
    ids=["straight", "arc", "folded"],
)
def test_sn1_no_shape_is_singular(shape):
    model = SnakeModel.uniform(9)
    equations = compute_equations(model, SnakeState(shape, [0.4, -2.0]), np.ones(8))
    assert np.linalg.cond(equations.M * np.outer([1.0, 10.0], [1.0, 10.0])) < 2.1
    assert np.isfinite(
        forward_dynamics(model, SnakeState(shape, [0.4, -2.0]), np.ones(8)).rates
    ).all()


# SN-2: configuration rates


def test_sn2_rates_of_the_configuration():
    model, state, torques = draw_snake(6)
    rates = forward_dynamics(model, state, torques)
    assert_allclose(rates.theta_dot, compute_link_speeds(model, state)[1])
    assert_allclose(
        rates.position_dot, state.u[0] * np.array([np.cos(state.theta[0]), np.sin(state.theta[0])])
    )


def test_sn2_position_and_heading_of_the_whole_do_not_matter():
    model, state, torques = draw_snake(6)
    moved = SnakeState(state.theta + 1.3, state.u, state.position + 5.0)
    assert_allclose(
        forward_dynamics(model, moved, torques).u_dot,
        forward_dynamics(model, state, torques).u_dot,
        rtol=1e-12,
    )


# SN-3: equations of motion


@pytest.mark.parametrize("mode", ["linear", "paper"])
@pytest.mark.parametrize("n", MANY)
@pytest.mark.parametrize("seed", range(5))
def test_sn3_mass_matrix_is_symmetric_and_bounded_by_the_links(n, seed, mode):
    model, state, torques = draw_snake(n, seed)
    M = compute_equations(model, state, torques, mode).M
    assert_allclose(M, M.T)
    scale = np.array([1.0, 1.0 / model.half_lengths[0]])
    eigenvalues = np.linalg.eigvalsh(M * np.outer(scale, scale))
    both = np.array([model.masses, model.inertias / model.half_lengths**2])
    assert eigenvalues[0] >= both.min(axis=0).sum() * (1.0 - 1e-12)
    assert eigenvalues[1] <= both.max(axis=0).sum() * (1.0 + 1e-12)
    assert_allclose(
        eigenvalues.sum(), both.sum(), rtol=1e-12
    )  # the trace does not depend on the shape


@pytest.mark.parametrize("mode", ["linear", "paper"])
@pytest.mark.parametrize("n", MANY)
def test_sn3_bias_does_the_power_of_the_changing_mass_matrix(n, mode):
    model, state, torques = draw_snake(n)
    omega = compute_link_speeds(model, state)[1]

    def kinetic(t):
        M = compute_equations(
            model, SnakeState(state.theta + t[0] * omega, state.u), torques, mode
        ).M
        return 0.5 * state.u @ M @ state.u

    power = difference(kinetic, np.zeros(1), 0, step=1e-6 / np.abs(omega).max())
    assert_allclose(
        state.u @ compute_equations(model, state, torques, mode).bias,
        power,
        rtol=1e-6,
        atol=1e-8 * max(1.0, kinetic(np.zeros(1))),
    )


@pytest.mark.parametrize("mode", ["linear", "paper"])
@pytest.mark.parametrize("n", MANY)
def test_sn3_generalized_force_does_the_power_of_the_torques(n, mode):
    model, state, torques = draw_snake(n)
    power = torques @ np.diff(compute_link_speeds(model, state)[1])
    assert_allclose(
        state.u @ compute_equations(model, state, torques, mode).F, power, rtol=1e-12, atol=1e-12
    )


def test_sn3_links_with_the_inertia_of_a_ring_have_a_constant_mass_matrix():
    masses, h = np.array([1.0, 2.0, 0.5, 1.5]), np.array([0.1, 0.2, 0.15, 0.05])
    model = SnakeModel(masses, masses * h**2, h)
    _, state, _ = draw_snake(4)
    equations = compute_equations(model, state, np.zeros(3))
    assert_allclose(equations.M, masses.sum() * np.diag([1.0, h[0] ** 2]), atol=1e-14)
    assert np.abs(equations.bias).max() > 1e-2
    assert_allclose(state.u @ equations.bias, 0.0, atol=1e-13)


def test_sn3_a_single_link_rolls_in_a_circle():
    model = SnakeModel(np.array([2.0]), np.array([0.01]), np.array([0.1]))
    state = SnakeState([0.3], [0.5, 2.0])
    equations = compute_equations(model, state, [], "paper")
    assert_allclose(equations.M, np.diag([2.0, 0.01]))
    assert_allclose(equations.bias, 0.0)
    run = simulate_snake(
        model, state, lambda _t, _theta, _u: np.zeros(0), duration=np.pi, dt=np.pi / 1000.0
    )
    assert_allclose(run.u, np.tile([0.5, 2.0], (1001, 1)))
    assert_allclose(run.position[-1], run.position[0], atol=1e-9)  # one turn in pi seconds
    assert_allclose(np.ptp(run.position, axis=0), 0.5, rtol=1e-4)  # diameter 2 V / omega


def test_sn3_err_bias_matrix_has_two_rows_and_n_columns():
    model, state, torques = draw_snake(5)
    equations = compute_equations(model, state, torques, "paper")
    assert equations.N is not None
    assert equations.N.shape == (2, 5)
    assert compute_equations(model, state, torques).N is None


# SN-4, SN-5: partial derivatives


@pytest.mark.parametrize("n", [2, 3, 7, 12])
def test_sn4_derivatives_by_speeds_are_the_speeds_of_unit_motions(n):
    model, state, _ = draw_snake(n)
    C, S = kane.shape_cosines(state.theta)
    V_u, w_u = kane.speed_partials(C, S, model.half_lengths)
    for j in range(2):
        V, w = reflections(model, state.theta, np.eye(2)[j])
        assert_allclose(V_u[:, j], V, atol=1e-13)
        assert_allclose(w_u[:, j], w, atol=1e-12)


@pytest.mark.parametrize("n", [2, 3, 7, 12])
def test_sn5_derivatives_by_angles_equal_finite_differences(n):
    model, state, _ = draw_snake(n)
    V_q, w_q = angle_partials(model, state)
    for j in range(n):
        V_fd, w_fd = difference(lambda theta: reflections(model, theta, state.u), state.theta, j)
        assert_allclose(V_q[:, j], V_fd, atol=2e-8)
        assert_allclose(w_q[:, j], w_fd, atol=4e-7)


@pytest.mark.parametrize("n", [2, 3, 7, 12])
def test_sn5_err_own_derivatives_vanish_for_the_first_link_only(n):
    model, state, _ = draw_snake(n)
    speeds, omega = compute_link_speeds(model, state)
    V_q, w_q = angle_partials(model, state)
    assert_allclose(np.diag(V_q)[1:], -(model.half_lengths * omega)[1:], atol=1e-13)
    assert_allclose(np.diag(w_q)[1:], (speeds / model.half_lengths)[1:], atol=1e-12)
    assert V_q[0, 0] == w_q[0, 0] == 0.0
    assert np.abs(np.diag(w_q)[1:]).min() > 1e-3


def simulate_literal(n: int) -> tuple[np.ndarray, float]:
    """u and the energy error at t = 1 with (21) as printed."""
    model, law = SnakeModel.uniform(n), build_paper_torques(n)

    def rate(t, y):
        torques = law(t, y[:n], y[n + 2 : n + 4])
        rates = kane.forward(y[:n], y[n + 2 : n + 4], torques, model.links, True)
        return np.append(rates, torques @ np.diff(rates[:n]))

    start = build_paper_state(n)
    end = solve_ivp(
        rate,
        (0.0, 1.0),
        np.concatenate((start.theta, np.zeros(5))),
        "DOP853",
        rtol=1e-9,
        atol=1e-11,
    ).y[:, -1]
    return end[n + 2 : n + 4], compute_kinetic_energy(
        model, SnakeState(end[:n], end[n + 2 : n + 4])
    ) - end[-1]


def test_sn5_err_equation_21_as_printed_is_right_for_two_links():
    u, energy = simulate_literal(2)
    assert_allclose(u, [0.860772196364, -0.0286374453270], atol=1e-7)
    assert_allclose(energy, 0.0, atol=1e-8)


def test_sn5_err_equation_21_as_printed_breaks_three_links_and_more():
    u, energy = simulate_literal(3)
    assert_allclose(u, [0.384, -9.185], atol=6e-4)
    assert_allclose(energy, -0.245, atol=6e-4)
    assert_allclose(simulate_literal(12)[0][1], -1.945, atol=6e-4)


# SN-6: the bias without N


@pytest.mark.parametrize("n", MANY)
@pytest.mark.parametrize("seed", range(3))
def test_sn6_linear_and_paper_form_are_the_same_equations(n, seed):
    model, state, torques = draw_snake(n, seed)
    linear, paper = (compute_equations(model, state, torques, mode) for mode in ("linear", "paper"))
    for ours, theirs in ((linear.M, paper.M), (linear.bias, paper.bias), (linear.F, paper.F)):
        assert_allclose(ours, theirs, rtol=1e-11, atol=1e-11)


def test_sn6_memory_grows_linearly():
    model = SnakeModel.uniform(10_000)
    state = SnakeState(0.3 * np.sin(0.1 * np.arange(10_000)), [0.3, 0.2])
    rates = forward_dynamics(model, state, np.full(9_999, 1e-3))
    assert rates.status == "OK"
    assert sum(table.nbytes for table in model.tables) < 60 * 10_000


# SN-7: operation counts

RECOMPUTED = {
    "kane": ("15/2 91/2 -42", "3 21 -26"),
    "lagrange": ("3 31/2 39/2 -15", "3/2 11 31/2 -6"),
    "newton_euler": ("4/3 25 617/3 -43", "4/3 33/2 1057/6 -61"),
}


def read_polynomial(text: str) -> tuple[Fraction, ...]:
    return tuple(Fraction(part) for part in text.split())


def strip(polynomial: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    first = next(i for i, c in enumerate(polynomial) if c)
    return polynomial[first:]


@pytest.mark.parametrize("method", METHODS)
def test_sn7_sums_of_the_printed_steps(method):
    for ours, expected in zip(sum_paper_steps(method), RECOMPUTED[method], strict=True):
        assert strip(ours) == read_polynomial(expected)


def test_sn7_values_of_the_sums():
    assert [tuple(sum_paper_steps("kane").at(n)) for n in (3, 12, 20)] == [
        (162, 64),
        (1584, 658),
        (3868, 1594),
    ]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [3, 12, 20])
def test_sn7_err_printed_totals_stand_under_the_wrong_letter(method, n):
    printed = PAPER_TOTALS[method].at(n)
    as_labelled = printed == PAPER_TABLE[method, n]
    swapped = printed[::-1] == PAPER_TABLE[method, n]
    assert (as_labelled, swapped) == ((True, False) if method == "lagrange" else (False, True))


@pytest.mark.parametrize("n", [2, 3, 5, 12, 20])
def test_sn7_the_code_takes_what_the_paper_says_step_by_step(n):
    printed = {name: np.array(formula.at(n)) for name, formula in PAPER_STEPS["kane"].items()}
    measured = {name: np.array(count) for name, count in measure_paper_steps(n).items()}
    assert (measured["speeds"] == printed["speeds V"] + printed["speeds w"]).all()
    assert (
        measured["partials by u"] == printed["partials of V by u"] + printed["partials of w by u"]
    ).all()
    assert (
        measured["partials by q"] == printed["partials of V by q"] + printed["partials of w by q"]
    ).all()
    assert (measured["solve"] == printed["solve"]).all()
    assert (
        measured["triangular decomposition"] == np.array(PAPER_STEPS["lagrange"]["solve"].at(n))
    ).all()
    # (9)-(11): the additions agree; of the multiplications 4n² is printed where 2n² are needed
    assert tuple(printed["M, N, F"] - measured["M, N, F"]) == (2 * n * n, 0)


@pytest.mark.parametrize("n", [2, 3, 5, 12, 20])
def test_sn7_joint_angles_and_bias_product_explain_the_printed_additions(n):
    measured = measure_paper_steps(n)
    assert (
        sum_paper_steps("kane").at(n).additions
        + measured["joint angles"].additions
        + measured["N w"].additions
        == 3 * n * n + 24 * n - 27
    )
    assert measure_operations("paper", n, skip_structure=False).additions == 3 * n * n + 24 * n - 27


@pytest.mark.parametrize("n", [2, 3, 4, 7, 12, 20, 60])
def test_sn7_linear_form_needs_fewer_operations_than_the_paper(n):
    assert tuple(measure_operations("linear", n)) == (16 * n - 3, 14 * n - 13)
    measured = measure_operations("linear", n, skip_structure=False)
    assert tuple(measured) == (16 * n - 3, 14 * n - 3)  # ten sums start from a zero that is written
    for bound in (sum_paper_steps("kane").at(n), PAPER_TOTALS["kane"].at(n)[::-1]):
        assert measured.multiplications < bound[0]
        assert measured.additions < bound[1]


@pytest.mark.parametrize("n", [3, 12, 20])
def test_sn7_paper_form_stays_below_the_table(n):
    measured = measure_operations("paper", n)
    assert measured.multiplications < PAPER_TABLE["kane", n].multiplications
    assert measured.additions < PAPER_TABLE["kane", n].additions


def test_sn7_orders_of_growth():
    def exponent(mode, n):
        return np.log2(measure_operations(mode, 2 * n).total / measure_operations(mode, n).total)

    assert 0.99 < exponent("linear", 100) < 1.05
    assert 1.85 < exponent("paper", 40) < 2.0
    assert 2.7 < exponent("lagrange", 20) < 3.0
    assert 2.6 < exponent("newton_euler", 20) < 3.0


# SN-8: Lagrange


@pytest.mark.parametrize("n", [1, 2, 3, 7, 12])
@pytest.mark.parametrize("mode", ["paper", "lagrange", "newton_euler"])
@pytest.mark.parametrize("seed", range(3))
def test_sn8_all_methods_give_the_same_accelerations(n, mode, seed):
    model, state, torques = draw_snake(n, seed)
    ours = forward_dynamics(model, state, torques)
    theirs = forward_dynamics(model, state, torques, mode)
    omega = ours.theta_dot
    scale = (
        1.0 + np.abs(omega).max() ** 2 + np.abs(ours.u_dot).max()
    )  # accelerations of the links that cancel in u_dot
    assert_allclose(theirs.u_dot, ours.u_dot, atol=1e-13 * n * scale)
    assert_allclose(theirs.theta_dot, omega, rtol=1e-12, atol=1e-12)


def test_sn8_err_system_as_printed_is_no_equation_of_motion():
    """(27) with its signs and without B: the accelerations it gives neither satisfy the constraints nor agree with (8)."""
    model, state, torques = draw_snake(4)
    n, m, inertia, h = 4, model.masses, model.inertias, model.half_lengths
    c, s, b = np.cos(state.theta), np.sin(state.theta), lagrange.lever_arms(h)
    rates = forward_dynamics(model, state, torques)
    q_dot = np.append(rates.theta_dot, rates.position_dot)
    M, A = lagrange.inertia_matrix(c, s, m, inertia, b), lagrange.wheel_rows(c, s, b)
    A_dot_q_dot = lagrange.wheel_row_rates(c, s, q_dot[:n], b) @ q_dot
    Q = np.zeros(n + 2)
    Q[1:n] += torques
    Q[: n - 1] -= torques
    printed = np.linalg.solve(
        np.block([[M, -A.T], [A, np.zeros((n, n))]]), np.append(Q, A_dot_q_dot)
    )[: n + 2]
    assert np.abs(A @ printed + A_dot_q_dot).max() > 1e-2
    corrected = lagrange.accelerations(state.theta, q_dot, torques, model.links)[: n + 2]
    assert_allclose(A @ corrected + A_dot_q_dot, 0.0, atol=1e-11)
    assert abs(printed[0] - rates.u_dot[1]) > 1e-2
    assert_allclose(corrected[0], rates.u_dot[1], rtol=1e-10)


@pytest.mark.parametrize("n", [3, 12])
def test_sn8_trajectories_of_lagrange_and_kane(n):
    model, start, law, times = (
        SnakeModel.uniform(n),
        build_paper_state(n),
        build_paper_torques(n),
        np.array([0.5, 1.0]),
    )
    ours = compute_reference(model, start, law, times, compiled=False)
    theirs = compute_reference(model, start, law, times, mode="lagrange", compiled=False)
    assert_allclose(theirs.theta, ours.theta, atol=1e-9)
    assert theirs.slip.max() < 1e-10
    assert ours.slip.max() == 0.0


# SN-10, SN-11: reference trajectories and the energy function

REFERENCE = {  # t, u1, u2, work
    2: [(1, 0.860772196364, -0.0286374453270, 0.740932874552), (2, 0.864215273331, -5.09599805706e-06, 0.746868038658),
        (10, 0.864215853140, 0.0, 0.746869040818)],
    3: [(1, 1.533090168341, -0.900006617216, 2.497211679421), (2, -0.703090020384, 14.754771036139, 2.459207347333),
        (5, 0.0539028395523, 19.667171724488, 2.904200902876), (10, 0.0999227079206, 19.689135350651, 2.921301644046)],
    5: [(1, 0.623901775055, 3.473072485799, 0.888425455554), (2, 1.267541895290, -2.195338394625, 2.875422758218),
        (5, -0.79001361658, 4.72975209139, 1.646059007707), (10, 0.63184800595, 14.97902855372, 4.052593071605)],
    12: [(1, -0.0489443805702, 0.587706085253, 0.0245795603541), (2, 0.0990678514673, 0.0833598283450, 0.0465838341778),
         (5, 0.421018699356, -1.697243365974, 0.937847330929), (10, 0.459541296294, 5.755395783284, 2.734050720262)],
    20: [(1, -0.0241675469733, 0.136047449434, 0.00558954150707), (2, 0.135473834790, 0.710164178015, 0.191822378779),
         (5, 0.165358588162, 1.990750749354, 0.481817075965), (10, -0.267447376954, -1.819453992172, 0.789804244540)],
}  # fmt: skip
"""Two independent integrators, DOP853 and Gragg-Bulirsch-Stoer in 80 bits; all digits converged."""

ENDS = {  # theta_1, theta_n, x, y at t = 10
    3: (165.328321046165, 171.603645232910, 0.0103366106212, -0.264051730863),
    12: (2.918777074525, 2.291289978563, 0.874576287529, 0.243512319433),
    20: (-0.898442358725, 1.014541629700, 0.310233280249, -0.0367123683273),
}


@pytest.mark.parametrize("n", list(REFERENCE))
def test_sn10_reference_trajectories_and_sn11_energy(n):
    times = np.array([row[0] for row in REFERENCE[n]], dtype=float)
    run = compute_reference(
        SnakeModel.uniform(n), build_paper_state(n), build_paper_torques(n), times, compiled=False
    )
    early, late = (
        (1e-7, 1e-6) if n == 5 else (1e-9, 1e-8)
    )  # five links lose seven digits in ten seconds, whoever integrates
    for i, (t, u_1, u_2, work) in enumerate(REFERENCE[n]):
        assert_allclose(
            [*run.u[i], run.work[i]], [u_1, u_2, work], rtol=0.0, atol=early if t <= 5 else late
        )
    if n in ENDS:
        assert_allclose(
            [run.theta[-1, 0], run.theta[-1, -1], *run.position[-1]], ENDS[n], rtol=0.0, atol=2e-8
        )
    assert np.abs(run.energy).max() < 1e-11  # SN-11


@pytest.mark.parametrize("seed", range(3))
def test_sn11_energy_function_stays_for_unequal_links_and_other_torques(seed):
    model, state, torques = draw_snake(6, seed)
    run = compute_reference(
        model,
        state,
        lambda t, theta, u: 0.05 * np.cos(3.0 * t) * torques,
        np.array([0.0, 0.2, 0.5]),
        compiled=False,
    )
    assert run.kinetic[0] == pytest.approx(compute_kinetic_energy(model, state))
    assert_allclose(run.energy, run.kinetic[0], rtol=1e-9)


# SN-12: precision


@pytest.mark.parametrize(("n", "kane_bound"), [(5, 2e-5), (10, 2e-6), (12, 2e-6), (20, 1e-6)])
def test_sn12_single_precision_keeps_the_energy_better_with_kane(n, kane_bound):
    """Experiment III': table II, Runge-Kutta, 1 ms, 2 s; bounds three times an independent run's, since rounding differs."""
    rows = {row.mode: row for row in compare_precision([n])}
    kane_row, lagrange_row = rows["linear"], rows["lagrange"]
    assert (
        max(kane_row.energy_error[0], lagrange_row.energy_error[0]) < 2e-8
    )  # in double precision both are as good as the integrator
    assert kane_row.energy_error[1] < kane_bound
    if n >= 10:  # five links multiply any rounding: there the order of the two is chance
        assert kane_row.energy_error[1] < 0.5 * lagrange_row.energy_error[1]
    assert kane_row.slip == (0.0, 0.0)
    assert 1e-7 < lagrange_row.slip[1] < 1e-5
    assert max(kane_row.angle_difference, lagrange_row.angle_difference) < 2e-4


# SN-13: time


def test_sn13_interpreted_time_of_lagrange_over_kane_grows_with_the_links():
    """In interpreted loops time follows the operations; compiled it does not, which is why the claim is tested on counts as well."""
    ratio = {}
    for n in (3, 20):
        slow, fast = (
            min(row.microseconds for row in compare_times([n], 0.0, (mode,), (False,)))
            for mode in ("lagrange", "paper")
        )
        ratio[n] = slow / fast
    assert ratio[20] > 2.0 * ratio[3] > 2.0
    counted = [
        sum_paper_steps("lagrange").at(n).multiplications
        / sum_paper_steps("kane").at(n).multiplications
        for n in (3, 12, 20)
    ]
    assert_allclose(counted, [1.6, 4.8, 7.9], atol=0.05)
