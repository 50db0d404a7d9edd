# SPDX-License-Identifier: Apache-2.0
"""Rules: what each promises, against dense solves, conditions of the minimum and competitors; and that none ever fails."""

import gc
import re
import weakref
from dataclasses import replace
from functools import partial
from inspect import signature

import numpy as np
import pinocchio as pin
import pytest
from nearest import cone_distance

import humanoid_dynamics as hd
from humanoid_dynamics.cli.demo import demo
from humanoid_dynamics.contact.cone import build_generators
from humanoid_dynamics.control.balance_settings import BalanceSettings
from humanoid_dynamics.control.holding import HoldingTorques
from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.graphs.description import graph_names, load_graph
from humanoid_dynamics.model.description import Description, FrameSpec, SurfaceSpec
from humanoid_dynamics.papers.biped.load_split import split_by_procedure_4
from humanoid_dynamics.resolution.any_rank import MOMENT_LEVER
from humanoid_dynamics.resolution.objectives import Objective, TorqueObjective
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.resolution.rules import DEFAULT_RULE, RULES, Rule, weighted_pseudo_inverse
from humanoid_dynamics.resolution.step_bounds import bound_switch_steps, bound_torque_step

FEET = ("left_foot", "right_foot")
RAIL = (*FEET, "right_palm")
FOUR = (*FEET, "left_palm", "right_palm")
LIMITED = tuple(name for name, rule in RULES.items() if rule.limited)


@pytest.fixture(scope="module")
def human28():
    return hd.load_robot("human28")


def random_motion(robot, rng, spread=0.4, speed=1.0, push=3.0):
    q = pin.integrate(robot.model, robot.posture, spread * rng.standard_normal(robot.nv))
    return hd.State(q, speed * rng.standard_normal(robot.nv)), push * rng.standard_normal(robot.nv)


def gentle_motion(robot, rng):
    return random_motion(robot, rng, spread=0.05, speed=0.2, push=0.4)


def dense(robot, state, a, names):
    """Torques of free motion, stacked Jacobian in surface axes, from pinocchio alone."""
    data = robot.data()
    pin.computeJointJacobians(robot.model, data, state.q)
    J = np.vstack(
        [
            pin.getFrameJacobian(robot.model, data, robot.surfaces[name].frame, pin.LOCAL)
            for name in names
        ]
    )
    return pin.rnea(robot.model, robot.data(), state.q, state.v, a), J


def local_wrenches(robot, state, answer):
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, state.q)
    found = []
    for name, wrench in answer.wrenches.items():
        R = data.oMf[robot.surfaces[name].frame].rotation.T
        found.append(np.concatenate((R @ wrench.f_W, R @ wrench.m_W)))
    return np.array(found)


def random_shares(rng, count):
    shares = rng.dirichlet(np.ones(count))
    return shares / shares.sum()


class TestEveryRule:
    @pytest.mark.parametrize("names", [FEET, RAIL, FOUR, FEET[:1]], ids=len)
    @pytest.mark.parametrize("rule", RULES)
    def test_equation_of_motion(self, human28, rule, names):
        rng = np.random.default_rng(1)
        for _ in range(5):
            state, a = (gentle_motion if RULES[rule].limited else random_motion)(human28, rng)
            answer = hd.inverse_dynamics(
                human28, state, a, names, rule, load=random_shares(rng, len(names))
            )
            tau_0, J = dense(human28, state, a, names)
            lacking = tau_0 - J.T @ local_wrenches(human28, state, answer).ravel()
            lacking[human28.actuated_v] -= answer.tau
            if answer.certificate.path != "qp_soft":
                np.testing.assert_allclose(lacking, 0.0, atol=1e-9 * human28.mass * 9.81)
            assert answer.certificate.residual == pytest.approx(np.abs(lacking).max(), abs=1e-9)

    @pytest.mark.parametrize("rule", RULES)
    def test_asked_on_the_same_tick_it_says_the_same(self, human28, rule):
        rng = np.random.default_rng(2)
        solver = hd.InverseDynamics(human28, RAIL, "pseudo_inverse")
        for _ in range(3):
            state, a = random_motion(human28, rng)
            shares = random_shares(rng, 3)
            solver.solve(state.q, state.v, a, shares)
            also, alone = (
                solver.resolve_with(rule),
                hd.inverse_dynamics(human28, state, a, RAIL, rule, load=shares),
            )
            np.testing.assert_allclose(also.tau, alone.tau, atol=1e-8)
            assert also.certificate.status == alone.certificate.status

    @pytest.mark.parametrize("rule", RULES)
    def test_contact_without_a_share_is_not_there(self, human28, rule):
        state, a = gentle_motion(human28, np.random.default_rng(3))
        with_it = hd.inverse_dynamics(human28, state, a, RAIL, rule, load=[0.4, 0.6, 0.0])
        without = hd.inverse_dynamics(human28, state, a, FEET, rule, load=[0.4, 0.6])
        np.testing.assert_allclose(with_it.tau, without.tau, atol=1e-7)
        np.testing.assert_allclose(with_it.wrenches["right_palm"].f_W, 0.0, atol=1e-7)

    @pytest.mark.parametrize("rule", RULES)
    def test_answers_outlive_the_next_tick(self, human28, rule):
        rng = np.random.default_rng(4)
        solver = hd.InverseDynamics(human28, FEET, rule)
        state, a = gentle_motion(human28, rng)
        fresh, kept = solver.solve(state.q, state.v, a), solver.solve(state.q, state.v, a)
        told = {name: (w.f_W, w.cop) for name, w in fresh.wrenches.items()}
        facts = fresh.certificate.as_dict()
        other, b = gentle_motion(human28, rng)
        solver.solve(other.q, other.v, b)
        np.testing.assert_array_equal(kept.tau, fresh.tau)
        for name, (force, cop) in told.items():
            np.testing.assert_allclose(kept.wrenches[name].f_W, force, atol=1e-12)
            np.testing.assert_allclose(kept.wrenches[name].cop, cop, atol=1e-12)
        assert {k: v for k, v in kept.certificate.as_dict().items() if k != "time"} == {
            k: v for k, v in facts.items() if k != "time"
        }

    @pytest.mark.parametrize(
        "shares", [[0.5, 0.6], [-0.1, 1.1], [np.nan, 1.0], [1.0], [np.inf, 0.0]]
    )
    def test_shares_that_are_none(self, human28, shares):
        rest = hd.State.at_rest(human28)
        answer = hd.InverseDynamics(human28, FEET, "transition").solve(
            rest.q, rest.v, np.zeros(human28.nv), np.array(shares)
        )
        assert answer.certificate.status == "INVALID_INPUT"
        assert "load" in answer.certificate.reasons[0]
        assert not answer.tau.any()

    @pytest.mark.parametrize("shares", [[-1.0, 2.0], [1.0, 2.0], [0.5, 0.6]])
    def test_front_door_refuses_shares_that_are_none(self, human28, shares):
        rest = hd.State.at_rest(human28)
        with pytest.raises(
            hd.ShapeError,
            match=r"load: received \[.*\], expected numbers from 0 to 1 whose sum is 1",
        ):
            hd.inverse_dynamics(
                human28, rest, np.zeros(human28.nv), FEET, "transition", load=shares
            )

    @pytest.mark.parametrize(
        ("name", "value", "reason"),
        [
            ("q", np.zeros(3), r"q: received shape \(3,\)"),
            ("q", np.eye(7)[6], r"q: received shape \(7,\)"),
            ("q", [0.0] * 3, r"q: received shape \(3,\)"),
            ("q", None, r"q: received shape \(\)"),
            ("v", np.zeros(2), r"v: received shape \(2,\)"),
            ("v", ["fast"] * 34, "v: received list"),
            ("a", np.zeros((2, 2)), r"a: received shape \(2, 2\)"),
            ("load", [0.5, 0.6], "load: received .* whose sum is 1"),
            ("load", np.array(1.0), r"load: received shape \(\)"),
            ("force", np.zeros(2), r"force: received shape \(2,\)"),
            ("force", np.zeros(1), r"force: received shape \(1,\)"),
            ("force", [1.0], r"force: received shape \(1,\)"),
            (
                "force",
                np.ma.masked_array(np.zeros(34), mask=True),
                "force: received an array with masked numbers",
            ),
            ("force", np.inf, "force"),
            ("force", np.nan, "force holds a number that is not finite"),
            ("force", 1e90, "force holds a number too large"),
        ],
    )
    def test_wrong_arguments_are_a_status(self, human28, name, value, reason):
        rest, zero = hd.State.at_rest(human28), np.zeros(human28.nv)
        if name == "force" and isinstance(value, float):
            value = np.full(human28.nv, value)
        solver = hd.InverseDynamics(human28, FEET)
        answer = solver.solve(**({"q": rest.q, "v": zero, "a": zero} | {name: value}))
        assert answer.certificate.status == "INVALID_INPUT"
        assert re.match(reason, answer.certificate.reasons[0])
        assert not answer.tau.any()
        assert solver.resolve_with("transition").certificate.reasons == answer.certificate.reasons
        assert solver.solve(rest.q, zero, zero).certificate.reasons != answer.certificate.reasons

    def test_array_likes_are_taken(self, human28):
        """Lists, tuples and arrays of other types have the answer of float64 arrays."""
        rest, zero = hd.State.at_rest(human28), np.zeros(human28.nv)
        force = np.arange(human28.nv) % 3
        solver = hd.InverseDynamics(human28, FEET)
        expected = solver.solve(rest.q, zero, zero, np.array([0.4, 0.6]), force=1.0 * force)
        listed = solver.solve(
            rest.q.tolist(), zero.tolist(), tuple(zero), [0.4, 0.6], force=force.tolist()
        )
        whole = solver.solve(rest.q, zero.astype(int), zero.astype(int), (0.4, 0.6), force=force)
        for answer in (listed, whole):
            assert answer.certificate.status == expected.certificate.status
            np.testing.assert_array_equal(answer.tau, expected.tau)

    def test_a_robot_may_be_named(self, human28):
        rest, zero = hd.State.at_rest(human28), np.zeros(human28.nv)
        expected = hd.inverse_dynamics(human28, rest, zero)
        assert np.array_equal(hd.inverse_dynamics("human28", rest, zero).tau, expected.tau)
        with pytest.raises(hd.SourceError):
            hd.InverseDynamics(42)

    def test_load_that_is_not_as_asked_for_is_reported(self, human28):
        """Limits and centres of pressure move the load; the certificate contains by how much."""
        rest, zero = hd.State.at_rest(human28), np.zeros(human28.nv)
        load = np.array([0.97, 0.03])
        for rule, moved in (
            ("transition", False),
            ("recommended_transition", True),
            ("transition_limited", True),
        ):
            answer = hd.InverseDynamics(human28, FEET, rule).solve(rest.q, zero, zero, load)
            certificate = answer.certificate
            carried = np.array([w.f_W[2] for w in answer.wrenches.values()])
            np.testing.assert_allclose(certificate.load, carried / carried.sum(), atol=1e-9)
            assert certificate.load_error == pytest.approx(np.abs(certificate.load - load).max())
            assert (certificate.load_error > 0.05) == moved, rule
            assert certificate.as_dict()["load_error"] == certificate.load_error
        torques = hd.InverseDynamics(human28, FEET, "minimum_torque").solve(
            rest.q, zero, zero, load
        )
        assert torques.certificate.load_error == 0.0

    @pytest.mark.parametrize("weight", [-1.0, -1e4, 0.0, np.nan, np.inf])
    def test_weight_of_wrenches_is_positive(self, human28, weight):
        with pytest.raises(
            hd.ShapeError, match=r"wrench_weight: received .*, expected a positive, finite number"
        ):
            hd.InverseDynamics(human28, FEET, weighted_pseudo_inverse(weight))

    def test_rules_made_at_every_tick_take_no_more_memory(self, human28):
        assert (
            weighted_pseudo_inverse(2.0)
            == weighted_pseudo_inverse(2.0)
            != weighted_pseudo_inverse(3.0)
        )
        rest, zero = hd.State.at_rest(human28), np.zeros(human28.nv)
        solver = hd.InverseDynamics(human28, FEET)
        solver.prepare(["transition"])
        solver.solve(rest.q, zero, zero)
        expected = solver.resolve_with("pseudo_inverse").tau
        alive = []
        for _ in range(60):
            maker = (
                lambda scale: lambda problem: TorqueObjective(problem, scale, unit_wrench=True)
            )(1.0)
            alive.append(weakref.ref(maker))
            answer = solver.resolve_with(Rule("own", maker, False, False, "", ""))
            np.testing.assert_allclose(answer.tau, expected, atol=1e-9)
            del maker
        gc.collect()
        assert sum(ref() is not None for ref in alive) < 40

    def test_quaternion_that_is_none(self, human28):
        rest, zero = hd.State.at_rest(human28), np.zeros(human28.nv)
        q = np.array(rest.q)
        q[3:7] *= 1.01
        answer = hd.InverseDynamics(human28).solve(q, zero, zero)
        assert answer.certificate.status == "INVALID_INPUT"
        assert "quaternion" in answer.certificate.reasons[0]

    def test_no_shares_at_all_is_flight(self, human28):
        a = np.zeros(human28.nv)
        a[:3] = human28.model.gravity.linear
        for rule in RULES:
            answer = hd.inverse_dynamics(
                human28, hd.State.at_rest(human28), a, FEET, rule, load=[0.0, 0.0]
            )
            assert answer.certificate.status == "OK", (rule, answer.certificate.reasons)
            np.testing.assert_allclose(answer.tau, 0.0, atol=1e-8)


class TestPseudoInverse:
    @pytest.mark.parametrize("scale", [1.0, 0.1, 10.0])
    def test_weights_are_those_of_scaled_columns(self, human28, scale):
        """Weighing wrenches by c^-2 is multiplying their columns by c."""
        rng = np.random.default_rng(5)
        state, a = random_motion(human28, rng)
        torque_weights = rng.uniform(0.5, 2.0, len(human28.actuated))
        rule = weighted_pseudo_inverse(scale**-2, tuple(torque_weights))
        answer = hd.inverse_dynamics(human28, state, a, RAIL, rule)
        tau_0, J = dense(human28, state, a, RAIL)
        columns = np.hstack(
            (np.eye(human28.nv)[:, human28.actuated_v] / np.sqrt(torque_weights), scale * J.T)
        )
        least = np.linalg.pinv(columns) @ tau_0
        np.testing.assert_allclose(
            answer.tau, least[: len(torque_weights)] / np.sqrt(torque_weights), atol=1e-8
        )

    def test_free_wrenches_are_minimum_torque(self, human28):
        state, a = random_motion(human28, np.random.default_rng(6))
        free = hd.inverse_dynamics(human28, state, a, FEET, weighted_pseudo_inverse(1e-8))
        least = hd.inverse_dynamics(human28, state, a, FEET, "minimum_torque")
        np.testing.assert_allclose(free.tau, least.tau, atol=1e-3)

    @pytest.mark.parametrize("kind", ["vector", "matrix"])
    @pytest.mark.parametrize("names", [FEET, RAIL], ids=len)
    def test_weights_of_every_kind(self, human28, kind, names):
        """Against the pseudo-inverse of columns that are multiplied by the inverse root of the weights."""
        rng, na, n = np.random.default_rng(23), len(human28.actuated), 6 * len(names)
        state, a = random_motion(human28, rng)
        if kind == "vector":
            of_torques, of_wrenches = rng.uniform(0.5, 2.0, na), rng.uniform(1e-3, 1.0, n)
            W = np.diag(np.concatenate((of_torques, of_wrenches)))
        else:
            roots = rng.standard_normal((na, na)), rng.standard_normal((n, n))
            of_torques, of_wrenches = (root @ root.T + np.eye(len(root)) for root in roots)
            of_torques, of_wrenches = (
                0.5 * (of_torques + of_torques.T),
                0.5 * (of_wrenches + of_wrenches.T),
            )
            W = np.block([[of_torques, np.zeros((na, n))], [np.zeros((n, na)), of_wrenches]])
        answer = hd.inverse_dynamics(
            human28, state, a, names, weighted_pseudo_inverse(of_wrenches, of_torques)
        )
        tau_0, J = dense(human28, state, a, names)
        root = np.linalg.inv(np.linalg.cholesky(W)).T
        least = (
            root
            @ np.linalg.pinv(np.hstack((np.eye(human28.nv)[:, human28.actuated_v], J.T)) @ root)
            @ tau_0
        )
        np.testing.assert_allclose(
            answer.tau, least[:na], rtol=0.0, atol=1e-9 * (1.0 + np.abs(least[:na]).max())
        )

    def test_by_name_it_weighs_by_body_weight(self, human28):
        state, a = random_motion(human28, np.random.default_rng(24))
        force, moment = (100.0 / (human28.mass * 9.81)) ** 2, (1000.0 / (human28.mass * 9.81)) ** 2
        own = weighted_pseudo_inverse(np.tile([force] * 3 + [moment] * 3, 2))
        named, made = (
            hd.inverse_dynamics(human28, state, a, FEET, rule)
            for rule in ("weighted_pseudo_inverse", own)
        )
        np.testing.assert_allclose(named.tau, made.tau, atol=1e-6)

    @pytest.mark.parametrize(
        "weights", [[1.0, 2.0], -np.eye(12), np.triu(np.ones((12, 12))), np.zeros(12)]
    )
    def test_wrong_weights_of_wrenches(self, human28, weights):
        with pytest.raises(
            ShapeError, match=r"wrench_weight: .* expected a positive, finite number"
        ):
            hd.InverseDynamics(human28, FEET, weighted_pseudo_inverse(weights))

    @pytest.mark.parametrize("weights", [(1.0,), (0.0,) * 28, (np.nan,) * 28])
    def test_wrong_weights(self, human28, weights):
        with pytest.raises(ShapeError, match="torque_weights"):
            hd.InverseDynamics(human28, FEET, weighted_pseudo_inverse(1.0, weights))


class TestTransition:
    def test_dense_formula(self, human28):
        """Each contact takes its share of the force, and of the moment that this leaves, all at its own origin."""
        rng = np.random.default_rng(7)
        for names in (FEET, RAIL, FOUR):
            for _ in range(5):
                state, a = random_motion(human28, rng)
                shares = random_shares(rng, len(names))
                tau_0, J = dense(human28, state, a, names)
                blocks = J.reshape(len(names), 6, -1)
                force = tau_0[:3]
                moment = tau_0[3:6] - sum(
                    s * B[:3, 3:6].T @ (B[:3, :3] @ force)
                    for s, B in zip(shares, blocks, strict=True)
                )
                w = [
                    s * np.concatenate((B[:3, :3] @ force, B[3:, 3:6] @ moment))
                    for s, B in zip(shares, blocks, strict=True)
                ]
                answer = hd.inverse_dynamics(human28, state, a, names, "transition", load=shares)
                np.testing.assert_allclose(local_wrenches(human28, state, answer), w, atol=1e-5)
                np.testing.assert_allclose(
                    answer.tau, (tau_0 - J.T @ np.ravel(w))[human28.actuated_v], atol=1e-5
                )
                assert answer.certificate.path == "closed"

    def test_pressures_move_alike_and_friction_is_that_of_the_whole(self, human28):
        rng = np.random.default_rng(8)
        state = hd.State(human28.posture, 0.1 * rng.standard_normal(human28.nv))
        answer = hd.inverse_dynamics(
            human28,
            state,
            0.5 * rng.standard_normal(human28.nv),
            FEET,
            "transition",
            load=[0.3, 0.7],
        )
        left, right = answer.wrenches["left_foot"], answer.wrenches["right_foot"]
        np.testing.assert_allclose(left.cop, right.cop, atol=1e-9)
        assert left.friction_force / left.normal_force == pytest.approx(
            right.friction_force / right.normal_force, abs=1e-9
        )
        assert left.normal_force / right.normal_force == pytest.approx(3.0 / 7.0, abs=1e-9)

    def test_whole_share_is_single_support(self, human28):
        state, a = random_motion(human28, np.random.default_rng(9))
        alone = hd.inverse_dynamics(human28, state, a, FEET[0], "minimum_torque")
        whole = hd.inverse_dynamics(human28, state, a, FEET, "transition", load=[1.0, 0.0])
        np.testing.assert_allclose(whole.tau, alone.tau, atol=1e-5)

    def test_heel_edge_takes_no_moment_and_the_flat_foot_the_rest(self):
        """The assumption behind [BP, eq. 28-29]: only the force is shared by the foot that turns about its heel."""
        robot = heel_first()
        state, a = gentle_motion(robot, np.random.default_rng(10))
        answer = hd.inverse_dynamics(robot, state, a, FEET, "transition", load=[0.6, 0.4])
        left, right = local_wrenches(robot, state, answer)
        heel = np.mean(robot.surfaces["right_foot"].vertices, axis=0)
        total = left[:3] + local_rotation(robot, state) @ right[:3]
        np.testing.assert_allclose(left[:3], 0.6 * total, atol=1e-6)
        assert (right[3:] - np.cross(heel, right[:3]))[1] == pytest.approx(0.0, abs=1e-7)
        assert answer.certificate.residual < 1e-7

    def test_points_give_way_in_force_where_moments_cannot(self):
        """Three points: no moments at all, so that shares are met as nearly as balance allows."""
        legs = hd.load_robot("legs12")
        surfaces = {
            f"{name}_{i}": SurfaceSpec(FrameSpec(s.link, s.X_LC), s.vertices[i : i + 1])
            for name, s in legs.surfaces.items()
            for i in (0, 2)
        }
        posture = {j.name: float(legs.posture[j.q][0]) for j in legs.joints if j.kind == "revolute"}
        robot = hd.load_robot(
            legs.urdf, description=Description(surfaces=surfaces, posture=posture)
        )
        state = hd.State.at_rest(robot)
        answer = hd.inverse_dynamics(
            robot, state, np.zeros(robot.nv), tuple(surfaces), "transition"
        )
        assert answer.certificate.status == "OK", answer.certificate.reasons
        assert sum(w.f_W[2] for w in answer.wrenches.values()) == pytest.approx(
            robot.mass * 9.81, abs=1e-6
        )

    def test_procedure_four_is_procedure_three(self, human28):
        rng = np.random.default_rng(11)
        state, a = random_motion(human28, rng)
        third, fourth = (
            hd.inverse_dynamics(human28, state, a, FEET, r, load=[0.2, 0.8])
            for r in ("transition", "procedure_4")
        )
        np.testing.assert_array_equal(third.tau, fourth.tau)


def heel_first():
    """legs12 whose right foot touches with the hind edge of its sole."""
    legs = hd.load_robot("legs12")
    corners = legs.surfaces["right_foot"].vertices
    heel = corners[np.argsort(corners[:, 0])[:2]]
    surfaces = {
        "left_foot": SurfaceSpec(
            FrameSpec(legs.surfaces["left_foot"].link, legs.surfaces["left_foot"].X_LC), corners
        ),
        "right_foot": SurfaceSpec(
            FrameSpec(legs.surfaces["right_foot"].link, legs.surfaces["right_foot"].X_LC), heel
        ),
    }
    posture = {j.name: float(legs.posture[j.q][0]) for j in legs.joints if j.kind == "revolute"}
    return hd.load_robot(legs.urdf, description=Description(surfaces=surfaces, posture=posture))


def local_rotation(robot, state):
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, state.q)
    left, right = (data.oMf[robot.surfaces[name].frame].rotation for name in FEET)
    return left.T @ right


class TestLoadSplit:
    @pytest.mark.parametrize("size", [3, 6])
    def test_wanted_wrench_whatever_the_split(self, size):
        rng, clamped = np.random.default_rng(12), 0
        for _ in range(60):
            B_2, b_2, b_3 = (
                rng.standard_normal((size, size)),
                3.0 * rng.standard_normal(size),
                rng.standard_normal(size),
            )
            f = 50.0 * rng.standard_normal(size)
            found = split_by_procedure_4(B_2, b_2, b_3, f)
            np.testing.assert_allclose(B_2 @ found.eta + b_2 * found.split + b_3, f, atol=1e-10)
            least = np.linalg.pinv(np.column_stack((B_2, b_2))) @ (f - b_3)
            assert found.unclamped == pytest.approx(least[-1], rel=1e-8, abs=1e-9)
            if found.split != found.unclamped:
                clamped += 1
                printed = (
                    B_2 @ least[:-1] + b_2 * found.split + b_3
                )  # split clamped, eta kept: the printed form
                assert np.abs(printed - f).max() == pytest.approx(
                    np.abs(b_2).max() * abs(found.split - found.unclamped), rel=1e-6
                )
        assert clamped > 20

    def test_singular(self):
        with pytest.raises(ShapeError, match="singular"):
            split_by_procedure_4(np.zeros((3, 3)), np.ones(3), np.ones(3), np.ones(3))


# DF-15, DF-16, DF-17: friction, corner forces, torque limits


class TestLimited:
    @pytest.mark.parametrize("rule", LIMITED)
    def test_same_as_without_limits_where_those_do_not_matter(self, human28, rule):
        rest = hd.State.at_rest(human28)
        free = hd.inverse_dynamics(
            human28, rest, np.zeros(human28.nv), FEET, rule.removesuffix("_limited")
        )
        kept = hd.inverse_dynamics(human28, rest, np.zeros(human28.nv), FEET, rule)
        np.testing.assert_array_equal(kept.tau, free.tau)

    @pytest.mark.parametrize("names", [FEET, RAIL], ids=["feet", "hand on a rail"])
    def test_conditions_of_the_minimum(self, human28, names):
        """The gradient is a sum of pushes of limits that are reached and of the equations: found by a search, not by the solver."""
        rng, reached = np.random.default_rng(13), 0
        for _ in range(40):
            state, a = random_motion(human28, rng, spread=0.1, speed=0.3, push=0.8)
            answer = hd.inverse_dynamics(human28, state, a, names, "minimum_torque_limited")
            if answer.certificate.path != "qp":
                continue
            reached += 1
            _, J = dense(human28, state, a, names)
            problem = DynamicsProblem(human28, names)
            problem.update(state.q, state.v, a)
            objective = TorqueObjective(problem, 1e-6)
            objective.write(np.ones(len(names)) / len(names))
            x = local_wrenches(human28, state, answer).ravel()
            rows = np.zeros((0, len(x)))
            for part, cone in ((contact.part, contact.cone) for contact in problem.contacts):
                active = cone.A[cone.A @ x[part] > cone.b - 1e-4]
                rows = np.vstack((rows, np.zeros((len(active), len(x)))))
                rows[len(rows) - len(active) :, part] = active
            tau, limit = answer.tau, human28.limits.effort[human28.actuated_v]
            J_a = J[:, human28.actuated_v].T
            rows = np.vstack((rows, -J_a[tau > limit - 1e-4], J_a[tau < -limit + 1e-4]))
            scale = 1.0 / np.linalg.norm(J[:, :6], axis=0)
            pushes = np.vstack((rows, J[:, :6].T * scale[:, None], -J[:, :6].T * scale[:, None])).T
            gradient = objective.H @ x - objective.g
            assert cone_distance(pushes, -gradient) < 1e-5 * (1.0 + np.linalg.norm(gradient))
        assert reached > 5

    @pytest.mark.parametrize("rule", LIMITED)
    def test_wrenches_are_sums_of_corner_forces(self, human28, rule):
        rng, qps = np.random.default_rng(14), set()
        for _ in range(60):
            state, a = random_motion(human28, rng, spread=0.2, speed=0.5, push=2.0)
            answer = hd.inverse_dynamics(human28, state, a, RAIL, rule, load=random_shares(rng, 3))
            qps.add(answer.certificate.path)
            for name, w in zip(RAIL, local_wrenches(human28, state, answer), strict=True):
                assert cone_distance(build_generators(human28.surfaces[name]), w) < 1e-3
            assert np.all(np.abs(answer.tau) <= human28.limits.effort[human28.actuated_v])
        assert qps >= {"qp", "qp_soft"}

    def test_nearest_where_nothing_fulfils_the_equation(self, human28):
        """Against the least miss over all corner forces: the same, but for the small weight of the rule's own wish."""
        rng, soft = np.random.default_rng(15), 0
        for _ in range(40):
            state, a = random_motion(human28, rng, spread=0.05, speed=0.2, push=1.0)
            a[0] += 4.0
            answer = hd.inverse_dynamics(human28, state, a, FEET, "minimum_torque_limited")
            if answer.certificate.path != "qp_soft" or answer.certificate.torque_margin < 1e-3:
                continue
            soft += 1
            tau_0, J = dense(human28, state, a, FEET)
            D = np.diag([1.0, 1.0, 1.0, *[1.0 / MOMENT_LEVER] * 3])
            generators = np.hstack(
                [
                    J[6 * i : 6 * i + 6, :6].T @ build_generators(human28.surfaces[name])
                    for i, name in enumerate(FEET)
                ]
            )
            least = cone_distance(D @ generators, D @ tau_0[:6])
            missed = np.linalg.norm(
                D @ (tau_0[:6] - J[:, :6].T @ local_wrenches(human28, state, answer).ravel())
            )
            assert missed == pytest.approx(least, rel=1e-3)
            assert answer.certificate.status == "UNSUPPORTED"
            assert "lacks" in answer.certificate.reasons[0]
        assert soft > 10

    def test_equation_of_motion_gives_way_before_a_motor_is_overloaded(self, human28):
        a = np.zeros(human28.nv)
        a[2] = 120.0
        answer = hd.inverse_dynamics(
            human28, hd.State.at_rest(human28), a, FEET, "minimum_torque_limited"
        )
        assert answer.certificate.path == "qp_soft"
        assert answer.certificate.torque_margin == pytest.approx(0.0, abs=1e-3)
        assert answer.certificate.status == "UNSUPPORTED"

    def test_yaw(self, human28):
        """Turning on the spot faster than soles can hold: the moment stays at friction, and what is missing is told."""
        a = np.zeros(human28.nv)
        a[5] = 150.0
        rest = hd.State.at_rest(human28)
        free = hd.inverse_dynamics(human28, rest, a, FEET[0], "transition")
        assert free.certificate.yaw_margin < 0.0
        assert free.certificate.status == "INFEASIBLE_CONTACT"
        kept = hd.inverse_dynamics(human28, rest, a, FEET, "transition_limited")
        assert kept.certificate.yaw_margin >= -1e-4

    def test_talos_with_many_corners(self):
        pytest.importorskip("pinocchio")
        try:
            talos = hd.load_robot("talos_reduced")
        except hd.MissingExtraError as missing:
            pytest.skip(str(missing))
        rng, paths = np.random.default_rng(16), set()
        for _ in range(60):
            state, a = random_motion(talos, rng, spread=0.05, speed=0.3, push=0.8)
            a[5] += 3.0 * rng.standard_normal()
            answer = hd.inverse_dynamics(talos, state, a, rule="minimum_torque_limited")
            paths.add(answer.certificate.path)
            for name, w in zip(talos.stance, local_wrenches(talos, state, answer), strict=True):
                assert cone_distance(build_generators(talos.surfaces[name]), w) < 1e-3
        assert paths >= {"kkt", "qp"}


# systems of any rank


def any_rank(solver):
    """Return the answer of the path for systems of any rank to the last question."""
    return solver.resolve_with(replace(solver.rule, name="any rank"))


def check_path(fast, general):
    assert fast.certificate.path == general.certificate.path
    assert fast.certificate.status == general.certificate.status
    atol = 1e-5 if fast.certificate.path == "qp_soft" else 1e-8
    np.testing.assert_allclose(fast.tau, general.tau, atol=atol)


class TestAnyRank:
    """Systems of full rank have the same answer on the path for any rank."""

    @pytest.mark.parametrize("names", [FEET, RAIL, FEET[:1]], ids=len)
    @pytest.mark.parametrize("rule", RULES)
    def test_same_answers(self, human28, rule, names):
        rng = np.random.default_rng(21)
        solver = hd.InverseDynamics(human28, names, rule)
        paths = set()
        for _ in range(40):
            state, a = random_motion(human28, rng, spread=0.1, speed=0.3, push=0.8)
            fast = solver.solve(state.q, state.v, a, random_shares(rng, len(names)))
            paths.add(fast.certificate.path)
            check_path(fast, any_rank(solver))
        assert paths & {"kkt", "closed", "qp"}

    def test_contacts_that_fade(self, human28):
        """One, two or three at once, beside some that do not touch."""
        rng = np.random.default_rng(23)
        solver = hd.InverseDynamics(human28, FOUR, "transition_limited")
        paths = set()
        for small in (
            [0.03],
            [0.1, 0.02],
            [0.05, 0.0, 0.01],
            [0.12, 0.05],
            [0.0, 0.0, 0.04],
            [0.01, 0.01, 0.01],
        ):
            for _ in range(3):
                state, a = random_motion(human28, rng, spread=0.1, speed=0.3, push=0.4)
                shares = rng.permutation(
                    np.array([1.0 - sum(small), *small, *np.zeros(3 - len(small))])
                )
                fast = solver.solve(state.q, state.v, a, shares)
                paths.add(fast.certificate.path)
                check_path(fast, any_rank(solver))
        assert len(paths) > 1


class Still(Objective):
    """A rule of somebody else's: the least change of push from the last tick."""

    def __init__(self, problem):
        super().__init__(problem)
        np.fill_diagonal(self.H, 1.0)
        self.last = np.zeros(problem.size)

    def write(self, shares):
        self.g[:] = self.last


class Broken(Still):
    """A rule of somebody else's that raises whatever it is told to."""

    def write(self, shares):
        raise self.last


class TestRulesOfYourOwn:
    @pytest.mark.parametrize(
        "trouble",
        [
            ValueError("no"),
            KeyError("left"),
            MemoryError(),
            ZeroDivisionError("by zero"),
            StopIteration(),
            Warning("old"),
        ],
    )
    def test_one_that_raises_is_a_status(self, human28, trouble):
        state, a = gentle_motion(human28, np.random.default_rng(17))
        broken = type(
            "Broken", (Broken,), {"last": property(lambda self: trouble, lambda self, value: None)}
        )
        rule = Rule("broken", broken, False, False, "", "")
        solver = hd.InverseDynamics(human28, FEET, rule)
        other = hd.InverseDynamics(human28, FEET)
        good = other.solve(state.q, state.v, a).tau.copy()
        for answer in (solver.solve(state.q, state.v, a), other.resolve_with(rule)):
            assert answer.certificate.status == "INVALID_INPUT"
            assert answer.certificate.reasons[0].startswith(
                f"the rule broken raised {type(trouble).__name__}"
            )
            assert not answer.tau.any()
        np.testing.assert_array_equal(other.solve(state.q, state.v, a).tau, good)

    @pytest.mark.parametrize("limited", [False, True])
    def test_one_class_and_one_value(self, human28, limited):
        state, a = gentle_motion(human28, np.random.default_rng(17))
        answer = hd.inverse_dynamics(
            human28, state, a, FEET, Rule("still", Still, limited, False, "", "")
        )
        tau_0, J = dense(human28, state, a, FEET)
        least = np.linalg.pinv(J[:, :6].T) @ tau_0[:6]
        if not limited:
            np.testing.assert_allclose(
                local_wrenches(human28, state, answer).ravel(), least, atol=1e-8
            )
        assert answer.certificate.residual < 1e-7

    def test_weights_of_your_own(self, human28):
        state, a = gentle_motion(human28, np.random.default_rng(18))
        weights = np.ones(len(human28.actuated))
        knees = [i for i, name in enumerate(human28.actuated) if "knee" in name]
        weights[knees] = 100.0
        gentle = Rule(
            "gentle_knees",
            partial(TorqueObjective, wrench_weight=1e-6, torque_weights=weights),
            False,
            False,
            "",
            "",
        )
        one, other = (
            hd.inverse_dynamics(human28, state, a, FEET, rule)
            for rule in ("minimum_torque", gentle)
        )
        assert np.linalg.norm(other.tau[knees]) < np.linalg.norm(one.tau[knees])
        assert other.tau @ (weights * other.tau) < one.tau @ (weights * one.tau)
        assert one.tau @ one.tau < other.tau @ other.tau


def wild_tick(robot, solver, rng, wildness=1.0):
    """Positions over limits, speeds up to 20 rad/s, contacts that contradict each other; less of all with less wildness."""
    q = pin.integrate(
        robot.model, pin.neutral(robot.model), wildness * rng.uniform(-4.0, 4.0, robot.nv)
    )
    v, a = (
        rng.uniform(-20.0, 20.0, robot.nv),
        rng.uniform(-1.0, 1.0, robot.nv) * 10.0 ** rng.uniform(-1, 3),
    )
    v, a = wildness * v, wildness * a
    count = len(solver.contacts)
    shares = rng.dirichlet(np.ones(count)) * (rng.random(count) < 0.7)
    return solver.solve(q, v, a, shares / shares.sum() if shares.any() else shares)


def check_wild(robot, solver, rng, ticks):
    for _ in range(ticks):
        wild_tick(robot, solver, rng)
        for rule in RULES.values():
            check_answer(robot, rule, solver.resolve_with(rule))


def check_answer(robot, rule, answer):
    """Check that it is a command, inside the limits that its rule keeps, and says why it is not right where it is not."""
    certificate, effort = answer.certificate, robot.limits.effort[robot.actuated_v]
    assert np.isfinite(answer.tau).all()
    assert np.isfinite(certificate.residual)
    assert (certificate.status == "OK") == (not certificate.reasons)
    if rule.limited:
        assert np.all(np.abs(answer.tau) <= effort)
        assert certificate.status != "INFEASIBLE_CONTACT", certificate.reasons
    if certificate.status == "OK":
        assert np.all(np.abs(answer.tau) <= effort * (1 + 1e-6))


@pytest.mark.parametrize("name", ["human28", "human16", "legs12", "biped7"])
def test_wild_states_always_have_an_answer(name):
    robot = hd.load_robot(name)
    check_wild(
        robot, hd.InverseDynamics(robot, tuple(robot.surfaces)), np.random.default_rng(19), 40
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", ["human28", "human40", "legs12", "biped7"])
def test_a_million_wild_states_have_an_answer_by_one_rule_each(name, seed):
    robot, rng = hd.load_robot(name), np.random.default_rng(seed)
    solvers = [hd.InverseDynamics(robot, tuple(robot.surfaces), rule) for rule in RULES]
    for i in range(25_000):
        wildness = 1.0 if rng.random() < 0.5 else 10.0 ** rng.uniform(-4, 0)
        check_answer(
            robot,
            RULES[[*RULES][i % len(RULES)]],
            wild_tick(robot, solvers[i % len(RULES)], rng, wildness),
        )


def test_every_default_is_the_one_rule_that_keeps_limits():
    assert RULES[DEFAULT_RULE].limited
    asked = (
        hd.inverse_dynamics,
        hd.InverseDynamics,
        HoldingTorques,
        bound_torque_step,
        bound_switch_steps,
        demo,
        BalanceSettings,
    )
    assert {signature(function).parameters["rule"].default for function in asked} == {DEFAULT_RULE}
    of_graphs = {
        graph.name: graph.arguments["rule"].default
        for graph in map(load_graph, graph_names())
        if "rule" in graph.arguments
    }
    assert set(of_graphs.values()) == {DEFAULT_RULE}
    assert "demo" in of_graphs
