# SPDX-License-Identifier: Apache-2.0
"""Dynamics filter [DF]: one test or more per item."""

import gc
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from time import perf_counter

import numpy as np
import pinocchio as pin
import pytest
from scipy.linalg import null_space
from scipy.optimize import lsq_linear

import humanoid_dynamics as hd
from humanoid_dynamics.contact.demotion import find_nearest_side, lies_within, stay_held
from humanoid_dynamics.dynamics.kkt import symmetric
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.filtering.experiments.experiments import EXPERIMENTS
from humanoid_dynamics.filtering.experiments.reference import prepare_clip
from humanoid_dynamics.filtering.experiments.ropes import build_rope_figure, run_rope_figure
from humanoid_dynamics.filtering.experiments.run import run_paper_filter, summarise
from humanoid_dynamics.model.state import State
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.load import load_clip
from humanoid_dynamics.papers.dynamics_filter import collision as paper_collision
from humanoid_dynamics.papers.dynamics_filter import contact_procedure as paper_contact_procedure
from humanoid_dynamics.papers.dynamics_filter import contacts as paper_contacts
from humanoid_dynamics.papers.dynamics_filter.cone_solution import solve_in_cones
from humanoid_dynamics.papers.dynamics_filter.feedback import (
    ControlPoint,
    Gains,
    JointFeedback,
    PaperReference,
)
from humanoid_dynamics.papers.dynamics_filter.filter import PaperFilter
from humanoid_dynamics.papers.dynamics_filter.ground import Slope
from humanoid_dynamics.papers.dynamics_filter.rows import stack_rows
from humanoid_dynamics.papers.dynamics_filter.solution import (
    Balance,
    StructuredSolution,
    Units,
    build_coefficients,
    solve_literally,
)
from humanoid_dynamics.papers.dynamics_filter.style import PaperStyle

DATA = Path(__file__).parents[3] / "shared" / "data"
DT = 0.005


def recorded(name):
    path = DATA / name
    if not path.exists():
        pytest.skip(f"no recorded motions: {path} is absent")
    return path


@pytest.fixture(scope="module")
def human():
    return hd.load_robot("human28")


def make_balance(robot, rng, rows="faces"):
    """A random instant of a robot with some of its feet held."""
    model, data = robot.model, robot.data()
    q = pin.integrate(model, robot.posture, 0.1 * rng.normal(size=robot.nv))
    v = 0.3 * rng.normal(size=robot.nv)
    M, h = symmetric(pin.crba(model, data, q)), np.array(pin.nonLinearEffects(model, data, q, v))
    pin.forwardKinematics(model, data, q, v, np.zeros(robot.nv))
    pin.computeJointJacobians(model, data)
    frames = [robot.surface(name).frame for name in robot.stance]
    J = [pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED) for frame in frames]
    gamma = [
        pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL_WORLD_ALIGNED).vector
        for frame in frames
    ]
    weight = 9.81 * robot.mass
    unit = weight * np.array([1.0, 1.0, 1.0, 0.1, 0.1, 0.1])
    keep = {
        "faces": [(0, 6), (1, 6)],
        "face": [(0, 6)],
        "edge": [(0, 5)],
        "point": [(0, 3)],
        "none": [],
        "twice": [(0, 6), (1, 6), (0, 6), (1, 6)],
    }
    parts = keep[rows]
    stack = [np.vstack([np.zeros((0, robot.nv)), *(J[k][:n] for k, n in parts)])]
    drift = np.concatenate([np.zeros(0), *(gamma[k][:n] for k, n in parts)])
    balance = Balance(
        M, h, stack[0], drift, np.concatenate([np.zeros(0), *(unit[:n] for _, n in parts)])
    )
    return balance, q, v


def still(robot, q=None):
    rest = np.zeros(robot.nv)
    return PaperReference(robot.posture if q is None else q, rest, rest)


def run_standing(robot, seconds=1.0, style=None, push=None, state=None, ground=None):
    tool = PaperFilter(robot, state, style, ground)
    frames = []
    for k in range(round(seconds / DT)):
        if push and k == 20:
            tool.push(robot.control_points["chest"].link, push, 0.1)
        frames.append(tool.step(still(robot)))
    return frames


# DF-1: the coefficient system
@pytest.mark.parametrize("rows", ["faces", "face", "edge", "point", "none", "twice"])
def test_df1_every_answer_solves_the_system_and_newton_euler_agrees(human, rows):
    rng = np.random.default_rng(1)
    balance, q, v = make_balance(human, rng, rows)
    wanted = 5.0 * rng.normal(size=human.nv)
    for solution in (
        solve_literally(balance, human.actuated_v, wanted, Units()),
        StructuredSolution(human.nv, human.actuated_v, Units()).solve(balance, wanted),
    ):
        W, u = build_coefficients(balance, human.actuated_v)
        x = np.concatenate((solution.a, solution.lam, solution.tau))
        assert np.abs(W @ x - u).max() < 1e-9
        left = pin.rnea(human.model, human.data(), q, v, solution.a) - balance.J.T @ solution.lam
        left[human.actuated_v] -= solution.tau
        assert np.abs(left).max() < 1e-9


def test_df1_size_of_the_system_is_that_of_the_text(human):
    balance, _, _ = make_balance(human, np.random.default_rng(0))
    W, _ = build_coefficients(balance, human.actuated_v)
    assert W.shape == (46, 74)
    assert np.linalg.matrix_rank(W) == 46


def test_df1_without_contact_everything_falls_whatever_is_wanted(human):
    rng = np.random.default_rng(2)
    balance, q, v = make_balance(human, rng, "none")
    solution = StructuredSolution(human.nv, human.actuated_v, Units()).solve(
        balance, 20.0 * rng.normal(size=human.nv)
    )
    data = human.data()
    change = pin.computeCentroidalMomentumTimeVariation(human.model, data, q, v, solution.a)
    np.testing.assert_allclose(change.vector, [0, 0, -human.mass * 9.81, 0, 0, 0], atol=1e-8)


# DF-2: feedback on the manifold
def test_df2_large_rotations_are_fed_back_along_the_shortest_way(human):
    feedback = JointFeedback(human, Gains())
    q = np.array(human.posture)
    turned = np.array(q)
    turned[3:7] = -pin.Quaternion(
        pin.utils.rotate("z", 2.0)
    ).coeffs()  # the other of the two quaternions of this rotation
    rest = np.zeros(human.nv)
    wanted = feedback.want(q, rest, (turned, rest, rest))
    np.testing.assert_allclose(wanted[3:6], 100.0 * np.array([0, 0, 2.0]), atol=1e-9)
    plain = 100.0 * 2.0 * (turned - q)[3:6]
    assert np.abs(plain - wanted[3:6]).max() > 50.0


def test_df2_rates_of_the_reference_are_turned_into_the_axes_of_the_base(human):
    feedback = JointFeedback(human, Gains())
    q, rest = np.array(human.posture), np.zeros(human.nv)
    turned, v_ref, v = np.array(q), np.zeros(human.nv), np.zeros(human.nv)
    turned[3:7] = pin.Quaternion(pin.utils.rotate("z", 1.0)).coeffs()
    v_ref[:3] = pin.utils.rotate("z", 1.0).T @ np.array([1.0, 0.0, 0.0])  # along x of the world
    v[:3] = [1.0, 0.0, 0.0]  # so is this
    wanted = feedback.want(q, v, (turned, v_ref, rest))
    np.testing.assert_allclose(
        wanted[:3], 100.0 * pin.difference(human.model, q, turned)[:3], atol=1e-9
    )


def test_df2_references_without_rates_are_differentiated_and_the_delay_is_told(human):
    tool = PaperFilter(human)
    for _ in range(50):
        frame = tool.step(PaperReference(human.posture))
    assert tool.delay == pytest.approx(1.0 / (np.pi / (6 * DT)))
    assert frame.certificate.status == "OK"
    assert np.abs(pin.difference(human.model, human.posture, frame.q)).max() < 1e-6


# DF-3: feedback of the control point; DF-4: its merging by the weighted pseudo-inverse
def merge(human, share=1.0, fold=None):
    """Wanted accelerations before and after the merging, and the acceleration of the point each gives."""
    rng = np.random.default_rng(3)
    mechanism = Mechanism(human, [])
    q = pin.integrate(human.model, human.posture, 0.05 * rng.normal(size=human.nv))
    v = 0.2 * rng.normal(size=human.nv)
    upper, _ = mechanism.kinematics.weigh(q, v)
    M = symmetric(upper)
    point = ControlPoint(human, Gains(share=share, point_p=60.0, point_d=15.0))
    reference = (human.posture, 0.1 * rng.normal(size=human.nv), 0.1 * rng.normal(size=human.nv))
    before = rng.normal(size=human.nv)
    after = before + point.correct(mechanism.kinematics, M, before, reference)
    model, data = human.model, human.data()

    def measured(a, q=q, v=v):
        pin.forwardKinematics(model, data, q, v, a)
        X = pin.updateFramePlacement(model, data, point.frame).copy()
        V = pin.getFrameVelocity(model, data, point.frame, pin.LOCAL_WORLD_ALIGNED).vector.copy()
        return (
            X,
            V,
            pin.getFrameClassicalAcceleration(
                model, data, point.frame, pin.LOCAL_WORLD_ALIGNED
            ).vector.copy(),
        )

    X, V, _ = measured(before)
    X_ref, V_ref, A_ref = measured(reference[2], reference[0], reference[1])
    turn = pin.log3(X_ref.rotation @ X.rotation.T)
    wanted = (
        A_ref
        + 15.0 * (V_ref - V)
        + 60.0 * np.concatenate((X_ref.translation - X.translation, turn))
    )
    return wanted, measured(before)[2], measured(after)[2], M, before, after


def test_df3_df4_what_is_realised_is_the_acceleration_of_the_pose_of_the_point(human):
    wanted, before, after, _, _, _ = merge(human)
    np.testing.assert_allclose(after, wanted, atol=1e-6 * np.abs(wanted).max())
    assert np.abs(before - wanted).max() > 0.5
    half = merge(human, share=0.5)
    np.testing.assert_allclose(half[2], 0.5 * (half[0] + half[1]), atol=1e-6 * np.abs(wanted).max())


def test_df4_of_all_corrections_the_one_of_least_inertial_cost_is_chosen(human):
    _, _, _, M, before, after = merge(human)
    point = ControlPoint(human, Gains())
    rng = np.random.default_rng(3)
    q = pin.integrate(human.model, human.posture, 0.05 * rng.normal(size=human.nv))
    J = pin.computeFrameJacobian(human.model, human.data(), q, point.frame, pin.LOCAL_WORLD_ALIGNED)
    change = after - before
    assert np.abs(null_space(J).T @ M @ change).max() < 1e-6 * np.abs(M @ change).max()


# DF-5: the general solution
def test_df5_redundant_rows_do_not_change_the_motion(human):
    rng = np.random.default_rng(5)
    once, _, _ = make_balance(human, np.random.default_rng(4), "faces")
    twice, _, _ = make_balance(human, np.random.default_rng(4), "twice")
    wanted = 5.0 * rng.normal(size=human.nv)
    solver = StructuredSolution(human.nv, human.actuated_v, Units(k=1e-8))
    one, two = solver.solve(once, wanted), solver.solve(twice, wanted)
    np.testing.assert_allclose(two.a, one.a, atol=1e-7)
    assert np.abs(twice.J @ two.a + twice.gamma).max() < 1e-9


# DF-6: the nearest acceleration
@pytest.mark.parametrize("robot", ["human28", "talos_reduced"])
@pytest.mark.parametrize("rows", ["faces", "face", "edge", "point", "none", "twice"])
def test_df6_structured_is_literal(robot, rows):
    robot = hd.load_robot(robot)
    rng = np.random.default_rng(6)
    balance, _, _ = make_balance(robot, rng, rows)
    for k in (1e-6, 1e-4, 1e-2, 1.0):
        wanted = 5.0 * rng.normal(size=robot.nv)
        literal = solve_literally(balance, robot.actuated_v, wanted, Units(k=k))
        structured = StructuredSolution(robot.nv, robot.actuated_v, Units(k=k)).solve(
            balance, wanted
        )
        for name in ("a", "lam", "tau"):
            x, y = getattr(structured, name), getattr(literal, name)
            assert np.abs(x - y).max(initial=0.0) <= 1e-9 * max(1.0, np.abs(y).max(initial=0.0)), (
                name,
                k,
            )


def test_df6_structured_is_eight_times_faster():
    robot = hd.load_robot("talos_reduced")
    balance, _, _ = make_balance(robot, np.random.default_rng(6))
    solver, units, wanted = (
        StructuredSolution(robot.nv, robot.actuated_v, Units()),
        Units(),
        np.ones(robot.nv),
    )
    ways = (
        lambda: solver.solve(balance, wanted),
        lambda: solve_literally(balance, robot.actuated_v, wanted, units),
    )
    times = np.empty((40, 2))
    gc.disable()
    for row in range(-3, len(times)):
        for k, way in enumerate(ways):
            way()  # each finds its own data in the cache
            begin = perf_counter()
            way()
            times[row, k] = perf_counter() - begin
    gc.enable()
    assert np.median(times[:, 1]) >= 8.0 * np.median(times[:, 0])


def nearest_acceleration(balance, wanted, others):
    """Oracle: the Euclidean projection on the motions that rows and base allow, by a null space of both."""
    A = np.block(
        [
            [balance.J, np.zeros((len(balance.gamma),) * 2)],
            [balance.M[others], -balance.J[:, others].T],
        ]
    )
    b = np.concatenate((-balance.gamma, -balance.h[others]))
    x0 = np.linalg.lstsq(A, b, rcond=None)[0]
    N = null_space(A)
    nv = len(wanted)
    w = np.linalg.lstsq(N[:nv], wanted - x0[:nv], rcond=None)[0]
    return (x0 + N @ w)[:nv]


@pytest.mark.parametrize("rows", ["faces", "face", "edge", "point"])
def test_df6_goes_to_the_projection_linearly_in_k(human, rows):
    rng = np.random.default_rng(7)
    balance, _, _ = make_balance(human, rng, rows)
    wanted = 5.0 * rng.normal(size=human.nv)
    others = np.setdiff1d(np.arange(human.nv), human.actuated_v)
    nearest = nearest_acceleration(balance, wanted, others)
    errors = [
        np.abs(
            StructuredSolution(human.nv, human.actuated_v, Units(k=k)).solve(balance, wanted).a
            - nearest
        ).max()
        for k in (1e-6, 1e-4, 1e-2)
    ]
    assert errors[0] < 1e-5
    assert errors[1] / errors[0] == pytest.approx(100.0, rel=0.1)
    assert errors[2] / errors[1] == pytest.approx(100.0, rel=0.1)


def test_df6_the_equation_as_printed_misses_by_half(human):
    """y = V* (a_wanted - a) with a = a0 + V y itself, solved for y, goes half the way only: a0 is meant."""
    rng = np.random.default_rng(8)
    balance, _, _ = make_balance(human, rng)
    wanted, units = 5.0 * rng.normal(size=human.nv), Units()
    nv = balance.J.shape[1]
    W, u = build_coefficients(balance, human.actuated_v)
    D = np.concatenate(
        (
            np.full(nv, units.acceleration),
            balance.unit,
            np.full(len(human.actuated_v), units.torque),
        )
    )
    sharp = np.linalg.pinv(W * D, rcond=1e-11)
    V = units.acceleration * (np.eye(len(D)) - sharp @ (W * D))[:nv]
    a0 = units.acceleration * (sharp @ u)[:nv]
    star = V.T @ np.linalg.solve(V @ V.T + units.k * np.eye(nv), np.eye(nv))
    printed = np.linalg.solve(np.eye(nv) + V @ star, a0 + V @ star @ wanted)
    ours = StructuredSolution(nv, human.actuated_v, units).solve(balance, wanted).a
    nearest = nearest_acceleration(balance, wanted, np.arange(6))
    assert np.linalg.norm(ours - nearest) < 1e-6 * np.linalg.norm(nearest - a0)
    assert np.linalg.norm(printed - nearest) > 0.4 * np.linalg.norm(nearest - a0)


def test_df6_a_wish_that_contacts_allow_is_granted(human):
    """Without a look at the forces the filter only projects on the motions that contacts allow."""
    rng = np.random.default_rng(9)
    balance, _, _ = make_balance(human, rng)
    wish = np.linalg.lstsq(balance.J, -balance.gamma, rcond=None)[0] + null_space(
        balance.J
    ) @ rng.normal(size=human.nv - 12)
    found = StructuredSolution(human.nv, human.actuated_v, Units()).solve(balance, wish)
    np.testing.assert_allclose(found.a, wish, atol=1e-5)


def test_df6_forces_and_torques_are_the_least_in_their_units(human):
    rng = np.random.default_rng(10)
    balance, _, _ = make_balance(human, rng)
    units = Units(k=1e-6)
    found = StructuredSolution(human.nv, human.actuated_v, units).solve(
        balance, rng.normal(size=human.nv)
    )
    spread = np.zeros((human.nv, len(human.actuated_v)))
    spread[human.actuated_v, np.arange(len(human.actuated_v))] = 1.0
    N = null_space(np.hstack((balance.J.T * balance.unit, spread * units.torque)))
    z = np.concatenate((found.lam / balance.unit, found.tau / units.torque))
    assert N.shape[1] == 6
    assert np.abs(N.T @ z).max() < 1e-5 * np.abs(z).max()


# DF-7: integration
def test_df7_velocity_first_then_the_configuration_with_it(human):
    tool = PaperFilter(human)
    tool.push(human.control_points["chest"].link, (60.0, 0.0, 0.0), 0.1)
    first, second = tool.step(still(human)), tool.step(still(human))
    np.testing.assert_allclose(second.v, first.v + DT * first.a, atol=1e-12)
    np.testing.assert_allclose(
        second.q, pin.integrate(human.model, first.q, DT * second.v), atol=1e-12
    )


# DF-8: the contact procedure
def test_df8_stands_on_both_faces_with_its_weight_shared(human):
    frame = run_standing(human, 0.1)[-1]
    weight = human.mass * 9.81
    assert frame.states == ("face", "face")
    assert frame.wrenches[:, 2].sum() == pytest.approx(weight, rel=1e-9)
    np.testing.assert_allclose(frame.wrenches[:, 2], weight / 2, rtol=1e-7)
    assert weight / 2 == pytest.approx(318.825)


def test_df8_what_is_kept_is_what_is_nearest_to_the_centre_of_pressure():
    square = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    assert stay_held(square, 1.0, np.array([0.5, 0.5]), -1e-6) == [0, 1, 2, 3]
    assert stay_held(square, 1.0, np.array([1.5, 0.2]), -1e-6) == [1, 2]
    assert stay_held(square, 1.0, np.array([1.5, 1.2]), -1e-6) == [2]
    assert stay_held(square, -1.0, np.array([0.0, 0.0]), -1e-6) == []
    edge = square[1:3]
    assert stay_held(edge, 1.0, np.array([1.0, 0.9]), -1e-6) == [0, 1]
    assert stay_held(edge, 1.0, np.array([1.0, 1.1]), -1e-6) == [1]
    assert stay_held(edge[:1], 1.0, np.zeros(2), -1e-6) == [0]
    assert not lies_within(square, np.array([1.1, 0.0]))
    assert find_nearest_side(square[::-1], np.array([0.0, -3.0])) == [2, 3]


@pytest.mark.parametrize(("demand", "state"), [(0.0, "face"), (6.0, "edge"), (10.0, "edge")])
def test_df8_a_wish_the_feet_cannot_carry_tips_them_onto_their_heels(human, demand, state):
    wish = np.zeros(human.nv)
    wish[0] = demand
    tool = PaperFilter(human, style=PaperStyle(gains=Gains(share=0.0), demotion="paper"))
    frame = tool.step(PaperReference(human.posture, np.zeros(human.nv), wish))
    data = human.data()
    pin.centerOfMass(human.model, data, frame.q, frame.v, frame.a)
    assert set(frame.states) == {state}
    assert (0.1 < data.acom[0][0] < 0.5 * demand) if demand else abs(data.acom[0][0]) < 1e-6
    assert frame.certificate.residual < 4e-12 * human.mass * 9.81
    assert frame.certificate.solves <= 2


def test_df8_never_more_than_four_systems(human):
    frames = run_standing(human, 1.0, push=(300.0, 200.0, 0.0))
    assert max(frame.certificate.solves for frame in frames) <= 4
    assert len({frame.states for frame in frames}) > 1


def test_df8_corners_that_rise_do_not_touch(human, monkeypatch):
    """Correction (i)."""
    v = np.zeros(human.nv)
    v[2] = 0.02

    def tick():
        return PaperFilter(human, State(human.posture, v)).step(still(human))

    assert tick().states == ("free", "free")
    monkeypatch.setattr(paper_contacts, "SEPARATING", 1e9)
    assert tick().states != ("free", "free")


def test_df8_small_drifts_are_no_collision(human, monkeypatch):
    """Correction (ii): stabilisation brings them to rest."""
    v = np.zeros(human.nv)
    v[2] = -0.005
    tool = PaperFilter(human, State(human.posture, v))
    frames = [tool.step(still(human)) for _ in range(60)]
    assert all(frame.certificate.energy == 0.0 for frame in frames)
    assert {frame.states for frame in frames} == {("face", "face")}
    assert np.abs(frames[-1].v).max() < 1e-3
    monkeypatch.setattr("humanoid_dynamics.papers.dynamics_filter.filter.COLLIDES", 0.0)
    assert PaperFilter(human, State(human.posture, v)).step(still(human)).certificate.energy < 0.0


def test_df8_what_is_let_go_and_would_sink_in_is_held_again(human, monkeypatch):
    """Correction (iii): no touching corner accelerates into the ground, whatever is wanted."""

    def deepest():
        rng = np.random.default_rng(11)
        worst = 0.0
        for _ in range(60):
            tool = PaperFilter(human)
            wish = 30.0 * rng.normal(size=human.nv)
            frame = tool.step(PaperReference(human.posture, np.zeros(human.nv), wish))
            worst = min(worst, *(float(sole.lift(frame.a).min()) for sole in tool._soles))
        return worst

    assert deepest() > -0.6
    monkeypatch.setattr(paper_contact_procedure, "SINKS", 1e9)
    assert deepest() < -1.0


def test_df8_forces_stay_pushing_and_inside_the_soles_through_a_hard_push(human):
    weight = human.mass * 9.81
    for frame in run_standing(human, 1.5, push=(100.0, 0.0, 0.0)):
        assert frame.certificate.normal_margin >= -1e-6 * weight
        assert frame.certificate.cop_margin >= -1e-6


# DF-9: detection
def test_df9_corners_touch_with_hysteresis(human):
    tool = PaperFilter(human)
    sole = tool._soles[0]

    def look(height):
        q = np.array(human.posture)
        q[2] += height
        tool.mechanism.kinematics.weigh(q, np.zeros(human.nv))
        sole.look(tool.mechanism.kinematics, Slope(), may_touch=True)
        return len(sole.touching)

    assert look(3e-3) == 0  # not near enough to begin
    assert look(1e-4) == 4
    assert look(3e-3) == 4  # near enough to go on
    assert look(5e-3) == 0


def test_df9_the_normal_is_that_of_the_ground(human):
    angle = 0.1
    q = np.array(human.posture)
    X = pin.SE3(pin.utils.rotate("y", -angle), np.zeros(3)) * pin.XYZQUATToSE3(q[:7])
    q[:7] = pin.SE3ToXYZQUAT(X)
    tool = PaperFilter(human, State(q, np.zeros(human.nv)), ground=Slope(angle))
    frame = tool.step(PaperReference(q, np.zeros(human.nv), np.zeros(human.nv)))
    assert frame.states == ("face", "face")
    down = frame.orientations[0].T @ np.array([0.0, 0.0, human.mass * 9.81])
    total = sum(sole.R @ w[:3] for sole, w in zip(tool._soles, frame.wrenches, strict=True))
    assert total[2] == pytest.approx(human.mass * 9.81, rel=0.3)
    assert down[0] == pytest.approx(human.mass * 9.81 * np.sin(angle), rel=1e-6)


def test_df9_flags_tell_which_sole_may_stand(human):
    tool = PaperFilter(human)
    rest = np.zeros(human.nv)
    frame = tool.step(
        PaperReference(human.posture, rest, rest, {"left_foot": True, "right_foot": False})
    )
    assert frame.states[0] != "free"
    assert frame.states[1] == "free"


# DF-10: collisions
def test_df10_soles_that_come_down_stop_and_lose_energy(human):
    v = np.zeros(human.nv)
    v[2] = -0.5
    frame = PaperFilter(human, State(human.posture, v)).step(still(human))
    assert frame.states == ("face", "face")
    assert frame.certificate.energy < -0.1
    data = human.data()
    for surface in frame.surfaces:
        J = pin.computeFrameJacobian(
            human.model, data, frame.q, surface.frame, pin.LOCAL_WORLD_ALIGNED
        )
        assert np.abs(J @ frame.v).max() < 1e-9
    M = symmetric(pin.crba(human.model, data, human.posture))
    assert frame.certificate.energy == pytest.approx(
        0.5 * (frame.v @ M @ frame.v - v @ M @ v), abs=1e-9
    )


def test_df10_impulses_never_pull_and_energy_never_grows(human):
    rng = np.random.default_rng(12)
    for _ in range(20):
        v = 0.4 * rng.normal(size=human.nv)
        v[2] = -0.5
        tool = PaperFilter(human, State(human.posture, v))
        frame = tool.step(still(human))
        assert frame.certificate.energy <= 1e-9
        for sole in tool._soles:
            V = sole.J @ frame.v
            rise = sole.arms @ np.cross(sole.normal, V[3:]) + sole.normal @ V[:3]
            assert rise[list(sole.touching)].min(initial=0.0) > -paper_collision.COLLIDES - 1e-9


# DF-11: closed chains and changes of structure
def test_df11_a_figure_pulls_itself_up_on_two_ropes():
    figure = build_rope_figure(DT, 1.6)
    robot = figure.robot
    assert robot.nv + 6 == 48  # freedoms of all joints, those at the hands too
    assert robot.nv - 6 == 36  # of motion
    run = run_rope_figure(figure)
    assert run.finished
    assert np.rad2deg(run.joint_rms) < 1.0
    assert run.frames[-1].q[2] - run.frames[0].q[2] > 0.05
    mechanism = Mechanism(robot, figure.hands)
    mechanism.kinematics.place(run.frames[-1].q)
    assert np.abs(mechanism.constraints.error(mechanism.kinematics)).max() < 1e-9
    for frame in run.frames[::20]:
        mechanism.update(frame.q, frame.v)
        left = (
            pin.rnea(robot.model, robot.data(), frame.q, frame.v, frame.a)
            - mechanism.J.T @ frame.loops
        )
        left[robot.actuated_v] -= frame.tau
        assert np.abs(left).max() < 1e-8 * robot.mass * 9.81


def test_df11_a_hand_lets_go_without_a_jump_of_velocities_and_the_filter_goes_on():
    figure = build_rope_figure(DT, 0.8)
    run = run_rope_figure(figure, let_go=0.5)
    before, after = run.frames[99], run.frames[100]
    assert len(before.loops) == 6
    assert len(after.loops) == 3
    jumps = [np.abs(b.v - a.v - DT * a.a).max() for a, b in pairwise(run.frames[:101])]
    assert jumps[-1] <= max(
        jumps[:-1]
    )  # who lets go gives no impulse: no more than any step before rounds off
    assert all(frame.certificate.residual < 1e-8 * run.robot.mass * 9.81 for frame in run.frames)


def test_df11_a_grasp_that_begins_makes_velocities_jump_and_loses_energy():
    figure = build_rope_figure(DT, 0.1)
    v = np.zeros(figure.robot.nv)
    v[0] = 0.3
    tool = PaperFilter(figure.robot, State(figure.clip.q[0], v), surfaces=())
    assert tool.connect(figure.hands[0]) < 0.0
    frame = tool.step(PaperReference(figure.clip.q[0], 0 * v, 0 * v))
    mechanism = Mechanism(figure.robot, figure.hands[:1])
    mechanism.update(frame.q, frame.v)
    assert np.abs(mechanism.J @ frame.v).max() < 1e-9
    assert frame.certificate.constraint < 1e-8


# DF-12: on-line
def test_df12_the_reference_may_jump_at_any_frame_and_velocities_do_not(human):
    tool = PaperFilter(human)
    rest = np.zeros(human.nv)
    other = np.array(human.posture)
    other[human.joint("left_shoulder_pitch").q] -= 1.0
    frames = [
        tool.step(PaperReference(human.posture if k < 20 else other, rest, rest))
        for k in range(300)
    ]
    for before, after in pairwise(frames):
        np.testing.assert_allclose(after.v, before.v + DT * before.a, atol=1e-9)
    assert np.abs(pin.difference(human.model, other, frames[-1].q)).max() < 0.02


def test_df12_bad_references_are_a_status_and_the_motion_goes_on(human):
    tool = PaperFilter(human)
    rest = np.zeros(human.nv)
    nothing = np.full(human.nq, np.nan)
    flat = np.zeros(human.nq)
    for bad in (
        PaperReference(nothing, rest, rest),
        PaperReference(flat, rest, rest),
        PaperReference(human.posture, nothing[: human.nv], rest),
    ):
        frame = tool.step(bad)
        assert frame.certificate.status == "INVALID_INPUT"
        assert np.isfinite(frame.tau).all()
        assert np.isfinite(frame.q).all()
    assert tool.step(still(human)).certificate.status == "OK"


# DF-13: gains
def test_df13_gains_are_stable_at_the_step_and_a_push_is_recovered_from(human):
    gains = Gains()
    assert gains.joint_d * DT < 0.5
    assert gains.joint_d**2 == pytest.approx(4.0 * gains.joint_p)
    frames = run_standing(human, 2.5, push=(200.0, 0.0, 0.0))
    errors = [
        np.sqrt(np.mean(pin.difference(human.model, human.posture, frame.q)[6:] ** 2))
        for frame in frames
    ]
    assert max(errors) < 0.05
    assert errors[-1] < 1e-3


# DF-14: the experiments
@pytest.mark.parametrize("name", ["kick", "push", "squat", "rope"])
def test_df14_experiment_keeps_its_bounds(human, name):
    data = EXPERIMENTS[name](human, None)
    failed = [
        f"{c.run}: {c.what} {c.value:.4g} {c.sense} {c.bound:g}"
        for c in data.checks
        if not c.passed
    ]
    assert not failed


@pytest.mark.slow
@pytest.mark.parametrize("name", ["walk", "slope", "turn"])
def test_df14_long_experiment_keeps_its_bounds(human, name):
    test_df14_experiment_keeps_its_bounds(human, name)


def test_df14_without_the_look_at_forces_a_push_leaves_the_feet(human):
    """The negative control A7."""
    literal = run_standing(human, 0.5, push=(100.0, 0.0, 0.0), style=PaperStyle(unilateral=False))
    assert min(frame.certificate.cop_margin for frame in literal) < -1e-3
    assert max(frame.certificate.residual for frame in literal) < 1e-8 * human.mass * 9.81


@pytest.mark.parametrize(
    ("path", "robot", "cutoff", "kind", "bound"),
    [
        ("talos_walk/one_step_20cm_ssp900_dsp400.npz", "talos_reduced", None, "gaussian", 0.05),
        ("sr1_walk/SR1WalkPattern1.npz", "sr1", 10.0, "butterworth", 0.04),
    ],
)
def test_df14_consistent_walks_pass_unchanged(path, robot, cutoff, kind, bound):
    robot = hd.load_robot(robot)
    fps = 60.0 if path.startswith("g1_karate") else None
    clip = prepare_clip(
        load_clip(recorded(path), robot, fps=fps), DT, cutoff=cutoff, kind=kind, repair=False
    )
    run = run_paper_filter(robot, clip)
    facts = summarise(run)
    assert run.finished
    assert facts["joint_rms_deg"] <= bound
    assert facts["cop_ok"] == 1.0
    assert facts["residual_worst_share_of_weight"] < 1e-8
    assert facts["depth_worst"] < 2e-3


def test_df14_raw_walks_fall_although_every_frame_is_consistent():
    robot = hd.load_robot("g1")
    clip = prepare_clip(load_clip(recorded("g1_asap/walk_level1.npz"), robot), DT)
    run = run_paper_filter(robot, clip)
    facts = summarise(run)
    assert 0.6 <= run.fallen - 1.0 <= 3.8
    assert facts["cop_ok"] > 0.95
    assert facts["residual_worst_share_of_weight"] < 1e-6


def test_df14_soles_that_are_glued_to_the_ground_are_pulled_by_it():
    """Negative control: nobody looks at forces, the recorded motion is followed to its end, and consistently; no robot could do it."""
    robot = hd.load_robot("g1")
    clip = load_clip(recorded("g1_karate/B_HandsUp.csv"), robot, fps=60.0)
    begin = clip.change(times=clip.times[:90], q=clip.q[:90])
    run = run_paper_filter(robot, prepare_clip(begin, DT, hold=0.2), PaperStyle(unilateral=False))
    facts = summarise(run)
    assert run.finished
    assert facts["residual_worst_share_of_weight"] < 1e-8
    assert facts["cop_ok"] < 0.25


# DF-15: friction
def test_df15_friction_is_reported_or_kept(human):
    slippery = replace(
        human,
        surfaces={
            name: replace(surface, friction=0.05) for name, surface in human.surfaces.items()
        },
    )
    shove = (0.0, 120.0, 0.0)
    report = run_standing(slippery, 0.4, push=shove)
    kept = run_standing(slippery, 0.4, push=shove, style=PaperStyle(friction="cones"))
    weight = human.mass * 9.81
    assert min(frame.certificate.friction_margin for frame in report) < -1.0
    assert "SLIPPING" in {frame.certificate.status for frame in report}
    assert min(frame.certificate.friction_margin for frame in kept) > -1e-6 * weight
    assert max(frame.certificate.residual for frame in kept) < 1e-6 * weight


# DF-16: forces inside their pyramids from the start
def test_df16_nearest_motion_with_forces_in_their_pyramids(human):
    """Oracle: bounded least squares over accelerations and shares, the equations weighted heavily."""
    tool = PaperFilter(human)
    instant, _, held = tool._observe(human.posture, np.zeros(human.nv), None)
    rng = np.random.default_rng(16)
    wanted = 3.0 * rng.normal(size=human.nv)
    found = solve_in_cones(instant, held, wanted, human.actuated_v)
    balance = stack_rows(instant, held).balance
    W = np.hstack(
        [sole.J.T @ sole.push(corners) for sole, corners in zip(instant.soles, held, strict=True)]
    )
    others = np.arange(6)
    nv, m = human.nv, W.shape[1]
    heavy = 1e4
    A = np.block([
        [np.eye(nv), np.zeros((nv, m))],
        [heavy * balance.J, np.zeros((12, m))],
        [heavy * instant.M[others] / 100.0, -heavy * W[others] / 100.0],
    ])  # fmt: skip
    b = np.concatenate((wanted, -heavy * balance.gamma, -heavy * instant.h[others] / 100.0))
    low = np.concatenate((np.full(nv, -np.inf), np.zeros(m)))
    oracle = lsq_linear(A, b, (low, np.inf), tol=1e-14, max_iter=2000)
    assert np.linalg.norm(found.solution.a - wanted) <= np.linalg.norm(oracle.x[:nv] - wanted) * (
        1 + 1e-3
    )
    assert np.abs(balance.J @ found.solution.a + balance.gamma).max() < 1e-8
    assert found.left < 1e-6
    for sole, w in zip(instant.soles, found.wrenches, strict=True):
        assert w[2] >= -1e-9
        assert np.hypot(w[0], w[1]) <= sole.surface.friction * w[2] + 1e-9


# DF-17: torque limits
def test_df17_limits_are_kept_by_another_motion_not_by_clipping(human):
    weak = replace(human, limits=replace(human.limits, effort=0.35 * human.limits.effort))
    hurry = np.zeros(human.nv)
    for name in ("left_knee", "right_knee"):
        hurry[human.joint(name).v] = 120.0
    ask = PaperReference(human.posture, np.zeros(human.nv), hurry)
    limit = weak.limits.effort[weak.actuated_v]
    free = PaperFilter(weak).step(ask)
    kept = PaperFilter(weak, style=PaperStyle(torques="kept")).step(ask)
    assert (np.abs(free.tau) > limit).any()
    assert free.certificate.status == "SATURATED"
    assert (np.abs(kept.tau) <= limit * (1 + 1e-9)).all()
    assert np.abs(kept.a - free.a).max() > 1.0
    left = pin.rnea(weak.model, weak.data(), kept.q, kept.v, kept.a)
    data = weak.data()
    for surface, w, R in zip(kept.surfaces, kept.wrenches, kept.orientations, strict=True):
        J = pin.computeFrameJacobian(
            weak.model, data, kept.q, surface.frame, pin.LOCAL_WORLD_ALIGNED
        )
        left -= J.T @ np.concatenate((R @ w[:3], R @ w[3:]))
    left[weak.actuated_v] -= kept.tau
    assert np.abs(left).max() < 1e-6 * weak.mass * 9.81


def test_the_frame_is_a_clip_again(human):
    times = np.arange(40) * DT
    rest = np.zeros((40, human.nv))
    run = run_paper_filter(human, Clip(human, times, np.tile(human.posture, (40, 1)), rest, rest))
    clip = run.clip()
    assert clip.contacts["left_foot"].all()
    np.testing.assert_allclose(clip.q[-1], human.posture, atol=1e-9)
    assert run.frames[0].contacts[0].cop_margin > 0.0
