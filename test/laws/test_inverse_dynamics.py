# SPDX-License-Identifier: Apache-2.0
"""Laws that torques and contact wrenches obey, whatever the robot, the contacts and the rule."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.contact.wrench import wrench_basis
from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.model.description import Description, FrameSpec, SurfaceSpec

FEET = ("left_foot", "right_foot")
RULES = ("minimum_torque", "pseudo_inverse")
TOUCHES = {
    "both feet": FEET,
    "left foot": ("left_foot",),
    "feet and hand": (*FEET, "right_palm"),
    "hands only": ("left_palm", "right_palm"),
    "four": (*FEET, "left_palm", "right_palm"),
}


@pytest.fixture(scope="module")
def human28():
    return hd.load_robot("human28")


@pytest.fixture(scope="module")
def robots(human28):
    return {name: hd.load_robot(name) for name in ("human16", "human40", "legs12", "biped7")} | {
        "human28": human28
    }


def random_motion(robot, rng, spread=0.4):
    q = pin.integrate(robot.model, robot.posture, spread * rng.standard_normal(robot.nv))
    return hd.State(q, rng.standard_normal(robot.nv)), 3.0 * rng.standard_normal(robot.nv)


def contact_jacobian(robot, q, names):
    """Rows of the six components of each wrench, axes of the surface, from pinocchio alone."""
    data = robot.data()
    pin.computeJointJacobians(robot.model, data, q)
    frames = [robot.surfaces[name].frame for name in names]
    return np.vstack(
        [pin.getFrameJacobian(robot.model, data, frame, pin.LOCAL) for frame in frames]
    )


def wrenches_at_centre(robot, q, answer):
    """Sum of forces and of moments about the centre of mass, world axes."""
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, q)
    com = pin.centerOfMass(robot.model, data, q)
    force, moment = np.zeros(3), np.zeros(3)
    for name, wrench in answer.wrenches.items():
        arm = data.oMf[robot.surfaces[name].frame].translation - com
        force += wrench.f_W
        moment += wrench.m_W + np.cross(arm, wrench.f_W)
    return force, moment


def accelerate(robot, state, answer):
    """Acceleration that torques and wrenches produce, by pinocchio's articulated-body algorithm with external forces."""
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, state.q)
    external = pin.StdVec_Force()
    external.extend([pin.Force.Zero()] * robot.model.njoints)
    for name, wrench in answer.wrenches.items():
        frame = robot.model.frames[robot.surfaces[name].frame]
        R = data.oMf[robot.surfaces[name].frame].rotation.T
        external[frame.parentJoint] += frame.placement.act(
            pin.Force(R @ wrench.f_W, R @ wrench.m_W)
        )
    tau = np.zeros(robot.nv)
    tau[robot.actuated_v] = answer.tau
    return pin.aba(robot.model, data, state.q, state.v, tau, external)


class TestStanding:
    @pytest.mark.parametrize("rule", RULES)
    def test_feet_carry_the_weight_in_equal_shares(self, human28, rule):
        answer = hd.inverse_dynamics(
            human28, hd.State.at_rest(human28), np.zeros(human28.nv), rule=rule
        )
        left, right = (answer.wrenches[name].normal_force for name in FEET)
        assert left + right == pytest.approx(human28.mass * 9.81, abs=1e-9)
        assert left == pytest.approx(right, abs=1e-9)
        assert answer.certificate.residual < 1e-10
        assert answer.certificate.status == "OK"
        assert answer.certificate.reasons == ()

    @pytest.mark.parametrize("rule", RULES)
    def test_mirrored_torques(self, human28, rule):
        answer = hd.inverse_dynamics(
            human28, hd.State.at_rest(human28), np.zeros(human28.nv), rule=rule
        )
        tau = dict(zip(human28.actuated, answer.tau, strict=True))
        for name, torque in tau.items():
            if name.startswith("left_"):
                sign = -1.0 if name.endswith(("roll", "yaw")) else 1.0
                assert tau[name.replace("left_", "right_")] == pytest.approx(
                    sign * torque, abs=1e-9
                ), name

    def test_contacts_default_to_the_stance(self, human28):
        state, a = hd.State.at_rest(human28), np.zeros(human28.nv)
        default = hd.inverse_dynamics(human28, state, a)
        assert tuple(default.wrenches) == human28.stance
        np.testing.assert_array_equal(
            default.tau, hd.inverse_dynamics(human28, state, a, contacts=FEET).tau
        )


class TestMomentum:
    @pytest.mark.parametrize("touch", TOUCHES)
    @pytest.mark.parametrize("rule", RULES)
    def test_contacts_change_momentum_and_nothing_else_does(self, human28, rule, touch):
        rng = np.random.default_rng(1)
        for _ in range(5):
            state, a = random_motion(human28, rng)
            answer = hd.inverse_dynamics(human28, state, a, contacts=TOUCHES[touch], rule=rule)
            data = human28.data()
            rate = pin.computeCentroidalMomentumTimeVariation(
                human28.model, data, state.q, state.v, a
            )
            force, moment = wrenches_at_centre(human28, state.q, answer)
            np.testing.assert_allclose(
                force + human28.mass * human28.model.gravity.linear, rate.linear, atol=1e-9
            )
            np.testing.assert_allclose(moment, rate.angular, atol=1e-9)

    @pytest.mark.parametrize("rule", RULES)
    def test_power(self, human28, rule):
        """Power of motors and contacts is the change of kinetic and potential energy."""
        rng = np.random.default_rng(2)
        for _ in range(5):
            state, a = random_motion(human28, rng)
            answer = hd.inverse_dynamics(human28, state, a, contacts=FEET, rule=rule)
            v_C = contact_jacobian(human28, state.q, FEET) @ state.v
            R = human28.data()
            pin.framesForwardKinematics(human28.model, R, state.q)
            given = answer.tau @ state.v[human28.actuated_v]
            for i, name in enumerate(FEET):
                R_WC = R.oMf[human28.surfaces[name].frame].rotation
                given += (R_WC.T @ answer.wrenches[name].f_W) @ v_C[6 * i : 6 * i + 3]
                given += (R_WC.T @ answer.wrenches[name].m_W) @ v_C[6 * i + 3 : 6 * i + 6]

            def energy(t, state=state, a=a):
                q = pin.integrate(human28.model, state.q, state.v * t + 0.5 * a * t**2)
                return pin.computeMechanicalEnergy(
                    human28.model, human28.data(), q, state.v + a * t
                )

            step = 1e-4
            slope = (
                8 * (energy(step) - energy(-step)) - (energy(2 * step) - energy(-2 * step))
            ) / (12 * step)
            assert given == pytest.approx(slope, rel=1e-6, abs=1e-5)


class TestForwardOfInverse:
    @pytest.mark.parametrize("name", ["human16", "human28", "human40", "legs12", "biped7"])
    @pytest.mark.parametrize("rule", RULES)
    def test_asked_acceleration_comes_out(self, robots, name, rule):
        robot, rng = robots[name], np.random.default_rng(3)
        for _ in range(5):
            state, a = random_motion(robot, rng)
            answer = hd.inverse_dynamics(robot, state, a, contacts=FEET, rule=rule)
            assert answer.certificate.residual < 1e-8 * robot.mass * 9.81
            if (
                name != "biped7"
            ):  # its composite root joint is outside the articulated-body algorithm
                np.testing.assert_allclose(accelerate(robot, state, answer), a, atol=1e-9)

    def test_agrees_with_constrained_forward_dynamics(self, human28):
        """Feet at rest on the ground: pinocchio's constrained dynamics returns the acceleration and, for one foot, the wrench."""
        state = hd.State.at_rest(human28)
        model, data = human28.model, human28.data()
        rng = np.random.default_rng(4)
        J = contact_jacobian(human28, state.q, ("left_foot",))
        a = (np.eye(human28.nv) - np.linalg.lstsq(J, J, rcond=None)[0]) @ rng.standard_normal(
            human28.nv
        )
        answer = hd.inverse_dynamics(
            human28, state, a, contacts=("left_foot",), rule="minimum_torque"
        )
        frame = model.frames[human28.surfaces["left_foot"].frame]
        contact = pin.RigidConstraintModel(
            pin.ContactType.CONTACT_6D, model, frame.parentJoint, frame.placement, pin.LOCAL
        )
        contacts, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        contacts.append(contact)
        datas.append(contact.createData())
        pin.initConstraintDynamics(model, data, contacts, datas)
        tau = np.zeros(human28.nv)
        tau[human28.actuated_v] = answer.tau
        forward = pin.constraintDynamics(
            model,
            data,
            state.q,
            state.v,
            tau,
            contacts,
            datas,
            pin.ProximalSettings(1e-13, 1e-13, 50),
        )
        np.testing.assert_allclose(forward, a, atol=1e-7)
        assert abs(datas[0].contact_force.linear[2]) == pytest.approx(
            answer.wrenches["left_foot"].normal_force, abs=1e-6
        )


class TestInvariance:
    @pytest.mark.parametrize("rule", RULES)
    def test_where_the_robot_stands_and_looks(self, human28, rule):
        rng = np.random.default_rng(5)
        state, a = random_motion(human28, rng)
        moved = np.array(state.q)
        X = pin.SE3(pin.utils.rotate("z", 1.1), np.array([3.0, -2.0, 0.7]))
        moved[:7] = pin.SE3ToXYZQUAT(X * pin.XYZQUATToSE3(state.q[:7]))
        here = hd.inverse_dynamics(human28, state, a, contacts=FEET, rule=rule)
        there = hd.inverse_dynamics(human28, hd.State(moved, state.v), a, contacts=FEET, rule=rule)
        np.testing.assert_allclose(there.tau, here.tau, atol=1e-8)
        for name in FEET:
            np.testing.assert_allclose(
                there.wrenches[name].f_W, X.rotation @ here.wrenches[name].f_W, atol=1e-8
            )
            np.testing.assert_allclose(there.wrenches[name].cop, here.wrenches[name].cop, atol=1e-9)

    @pytest.mark.parametrize("rule", RULES)
    def test_order_of_contacts(self, human28, rule):
        state, a = random_motion(human28, np.random.default_rng(6))
        one = hd.inverse_dynamics(human28, state, a, contacts=FEET, rule=rule)
        other = hd.inverse_dynamics(human28, state, a, contacts=FEET[::-1], rule=rule)
        np.testing.assert_allclose(other.tau, one.tau, atol=1e-8)

    def test_quaternion_sign(self, human28):
        state, a = random_motion(human28, np.random.default_rng(7))
        q = np.array(state.q)
        q[3:7] *= -1
        one, other = (
            hd.inverse_dynamics(human28, s, a, contacts=FEET) for s in (state, hd.State(q, state.v))
        )
        np.testing.assert_allclose(other.tau, one.tau, atol=1e-9)


class TestChoice:
    def test_minimum_torque_beats_every_competitor(self, human28):
        rng = np.random.default_rng(8)
        state, a = random_motion(human28, rng)
        answer = hd.inverse_dynamics(human28, state, a, contacts=FEET, rule="minimum_torque")
        J = contact_jacobian(human28, state.q, FEET)
        _, sigma, Vt = np.linalg.svd(J[:, :6].T)
        null = Vt[len(sigma) :].T
        assert null.shape[1] == answer.certificate.redundancy == 6
        assert answer.certificate.rank == 6
        best = answer.tau @ answer.tau
        for _ in range(20):
            w = null @ rng.standard_normal(6) * 20.0
            other = answer.tau - J[:, human28.actuated_v].T @ w
            assert other @ other > best

    @pytest.mark.parametrize("touch", ["both feet", "feet and hand", "left foot"])
    def test_minimum_torque_is_the_dense_optimum(self, human28, touch):
        """Torque-optimal wrenches by plain least squares in the null space; the small weight on wrenches moves them by less than a mN·m."""
        state, a = random_motion(human28, np.random.default_rng(9))
        names = TOUCHES[touch]
        J, tau_0 = (
            contact_jacobian(human28, state.q, names),
            pin.rnea(human28.model, human28.data(), state.q, state.v, a),
        )
        A, b, J_a, tau_a = (
            J[:, :6].T,
            tau_0[:6],
            J[:, human28.actuated_v],
            tau_0[human28.actuated_v],
        )
        w_0 = np.linalg.lstsq(A, b, rcond=None)[0]
        null = np.linalg.svd(A)[2][6:].T
        y = (
            np.linalg.lstsq(J_a.T @ null, tau_a - J_a.T @ w_0, rcond=None)[0]
            if null.size
            else np.zeros(0)
        )
        optimum = tau_a - J_a.T @ (w_0 + null @ y)
        answer = hd.inverse_dynamics(human28, state, a, contacts=names, rule="minimum_torque")
        np.testing.assert_allclose(answer.tau, optimum, atol=1e-3)
        assert np.linalg.norm(answer.tau) == pytest.approx(np.linalg.norm(optimum), rel=1e-10)

    @pytest.mark.parametrize("touch", TOUCHES)
    def test_pseudo_inverse_is_numpys(self, human28, touch):
        state, a = random_motion(human28, np.random.default_rng(10))
        J = contact_jacobian(human28, state.q, TOUCHES[touch])
        S = np.eye(human28.nv)[human28.actuated_v]
        stacked = np.linalg.pinv(np.hstack((S.T, J.T))) @ pin.rnea(
            human28.model, human28.data(), state.q, state.v, a
        )
        answer = hd.inverse_dynamics(
            human28, state, a, contacts=TOUCHES[touch], rule="pseudo_inverse"
        )
        np.testing.assert_allclose(answer.tau, stacked[: len(S)], atol=1e-9)

    def test_same_contact_named_twice_is_one(self, human28):
        state, a = random_motion(human28, np.random.default_rng(11))
        once = hd.inverse_dynamics(human28, state, a, contacts=("left_foot",))
        twice = hd.inverse_dynamics(human28, state, a, contacts=("left_foot", "left_foot"))
        np.testing.assert_array_equal(twice.tau, once.tau)
        np.testing.assert_array_equal(
            twice.wrenches["left_foot"].f_W, once.wrenches["left_foot"].f_W
        )

    @pytest.mark.parametrize("rule", RULES)
    def test_two_surfaces_in_one_place_share_the_load(self, rule):
        legs = hd.load_robot("legs12")
        foot = legs.surfaces["left_foot"]
        spec = SurfaceSpec(FrameSpec(foot.link, foot.X_LC), foot.vertices)
        double = hd.load_robot(
            legs.urdf, description=Description(surfaces={"one": spec, "other": spec})
        )
        state, a = random_motion(double, np.random.default_rng(12))
        answer = hd.inverse_dynamics(double, state, a, contacts=("one", "other"), rule=rule)
        one, other = answer.wrenches["one"].f_W, answer.wrenches["other"].f_W
        # No torque feels this split: only small weights decide it, and round-off is divided by them.
        np.testing.assert_allclose(one, other, atol=1e-7 * np.linalg.norm(one + other))
        alone = hd.inverse_dynamics(double, state, a, contacts="one", rule=rule)
        np.testing.assert_allclose(answer.tau, alone.tau, atol=1e-8)
        assert (answer.certificate.rank, answer.certificate.redundancy) == (6, 6)

    def test_straight_legs_still_have_an_answer(self, human28):
        """At a singular posture the legs bear load without torque; the choice stays finite and right."""
        q = np.array(pin.neutral(human28.model))
        answer = hd.inverse_dynamics(
            human28, hd.State(q, np.zeros(human28.nv)), np.zeros(human28.nv), contacts=FEET
        )
        assert answer.certificate.residual < 1e-9
        assert sum(w.normal_force for w in answer.wrenches.values()) == pytest.approx(
            human28.mass * 9.81, abs=1e-7
        )
        assert np.abs(answer.tau).max() < 100.0


def with_feet(vertices):
    """legs12 with a patch of these corners under either foot."""
    legs = hd.load_robot("legs12")
    surfaces = {
        name: SurfaceSpec(FrameSpec(surface.link, surface.X_LC), np.asarray(vertices, dtype=float))
        for name, surface in legs.surfaces.items()
    }
    posture = {j.name: float(legs.posture[j.q][0]) for j in legs.joints if j.kind == "revolute"}
    return hd.load_robot(legs.urdf, description=Description(surfaces=surfaces, posture=posture))


class TestPointsAndEdges:
    def test_two_points_bear_what_two_points_can(self):
        robot = with_feet([[0.05, 0.0, 0.0]])
        state = hd.State.at_rest(robot)
        answer = hd.inverse_dynamics(robot, state, np.zeros(robot.nv), contacts=FEET)
        for name in FEET:
            w = answer.wrenches[name]
            arm = robot.surfaces[name].vertices[0]
            np.testing.assert_allclose(w.m_W, np.cross(arm, w.f_W), atol=1e-9)
        # Nothing keeps the robot from turning about the line through both points, and its centre of mass is off that line.
        assert answer.certificate.status == "UNSUPPORTED"
        assert answer.certificate.rank == 5
        assert answer.certificate.redundancy == 1
        assert answer.certificate.residual > 1.0

    def test_an_edge_bears_no_moment_about_itself(self):
        robot = with_feet([[0.065, -0.04, 0.0], [0.065, 0.04, 0.0]])
        state, a = random_motion(robot, np.random.default_rng(12))
        answer = hd.inverse_dynamics(robot, state, a, contacts=("left_foot",))
        data = robot.data()
        pin.framesForwardKinematics(robot.model, data, state.q)
        R_WC = data.oMf[robot.surfaces["left_foot"].frame].rotation
        f, m = R_WC.T @ answer.wrenches["left_foot"].f_W, R_WC.T @ answer.wrenches["left_foot"].m_W
        about_edge = m - np.cross([0.065, 0.0, 0.0], f)
        assert about_edge[1] == pytest.approx(0.0, abs=1e-9)
        assert np.abs(f).max() > 1.0

    def test_biped_with_edges_obeys_the_equation_of_motion_where_it_can(self):
        robot = with_feet([[0.065, -0.04, 0.0], [0.065, 0.04, 0.0]])
        rng = np.random.default_rng(13)
        for _ in range(3):
            state, a = random_motion(robot, rng)
            answer = hd.inverse_dynamics(robot, state, a, contacts=FEET, rule="minimum_torque")
            np.testing.assert_allclose(accelerate(robot, state, answer), a, atol=1e-7)

    @pytest.mark.parametrize("rule", RULES)
    def test_bases_are_independent(self, rule):
        for vertices in ([[0.1, 0.02, 0.0]], [[0.1, 0.0, 0.0], [0.0, 0.1, 0.0]]):
            surface = with_feet(vertices).surfaces["left_foot"]
            basis = wrench_basis(surface)
            assert (
                np.linalg.matrix_rank(basis) == basis.shape[1] == (3 if len(vertices) == 1 else 5)
            )


class TestUnsupported:
    def test_in_the_air_the_base_wrench_is_missing(self, human28):
        state = hd.State.at_rest(human28)
        answer = hd.inverse_dynamics(human28, state, np.zeros(human28.nv), contacts=())
        missing = pin.rnea(human28.model, human28.data(), state.q, state.v, np.zeros(human28.nv))[
            :6
        ]
        assert answer.certificate.status == "UNSUPPORTED"
        assert answer.certificate.residual == pytest.approx(np.abs(missing).max(), abs=1e-9)
        assert answer.certificate.reasons == ("root_joint.vz lacks 638 N",)
        assert not answer.wrenches
        assert answer.certificate.normal_margin == np.inf

    def test_free_fall_needs_nothing(self, human28):
        a = np.zeros(human28.nv)
        a[:3] = human28.model.gravity.linear
        answer = hd.inverse_dynamics(human28, hd.State.at_rest(human28), a, contacts=())
        assert answer.certificate.status == "OK"
        np.testing.assert_allclose(answer.tau, 0.0, atol=1e-9)

    def test_free_fall_with_idle_feet_is_fine(self, human28):
        a = np.zeros(human28.nv)
        a[:3] = human28.model.gravity.linear
        answer = hd.inverse_dynamics(human28, hd.State.at_rest(human28), a, contacts=FEET)
        assert answer.certificate.status == "OK", answer.certificate.reasons

    def test_passive_joint_is_told_by_name_and_unit(self):
        slide = hd.load_robot(SLIDER)
        answer = hd.inverse_dynamics(slide, hd.State.at_rest(slide), np.zeros(slide.nv))
        assert answer.certificate.status == "SATURATED"
        assert answer.certificate.reasons == ("lift needs 39.24 N, its limit is 10 N",)
        passive = hd.load_robot(SLIDER, description=Description(passive=("lift",)))
        answer = hd.inverse_dynamics(passive, hd.State.at_rest(passive), np.zeros(passive.nv))
        assert answer.certificate.reasons == ("lift lacks 39.2 N",)

    def test_loops_are_not_passed_over(self):
        """A four-bar at rest is held by its one motor; a motion that opens it is told, with the name of the loop."""
        robot = hd.load_robot("fourbar")
        rest, a = hd.State.at_rest(robot), np.zeros(robot.nv)
        assert hd.inverse_dynamics(robot, rest, a).certificate.status == "OK"
        a[-1] = 1.0
        certificate = hd.inverse_dynamics(robot, rest, a).certificate
        assert certificate.status == "UNSUPPORTED"
        assert any("rocker_tip" in reason for reason in certificate.reasons)

    def test_gear_between_mimic_joints_carries_the_follower(self):
        robot = hd.load_robot(GRIPPER)
        assert robot.actuated == ("lift",)
        answer = hd.inverse_dynamics(robot, hd.State.at_rest(robot), np.zeros(robot.nv))
        assert answer.certificate.status == "OK", answer.certificate.reasons
        # By virtual work: the motor lifts its own 4 kg, and 2 kg twice as fast on top.
        assert answer.tau[0] == pytest.approx((4.0 + 2.0 * (1 + 2.0)) * 9.81, abs=1e-9)


class TestStatus:
    def test_too_heavy_for_the_motors(self, human28):
        a = np.zeros(human28.nv)
        a[2] = 120.0
        certificate = hd.inverse_dynamics(
            human28, hd.State.at_rest(human28), a, rule="minimum_torque"
        ).certificate
        assert certificate.status == "SATURATED"
        assert certificate.torque_margin < 0.0
        assert any("needs" in reason and "N·m" in reason for reason in certificate.reasons)

    def test_ground_would_have_to_pull(self, human28):
        a = np.zeros(human28.nv)
        a[2] = -20.0
        certificate = hd.inverse_dynamics(
            human28, hd.State.at_rest(human28), a, rule="minimum_torque"
        ).certificate
        assert certificate.status == "INFEASIBLE_CONTACT"
        assert certificate.normal_margin < 0.0
        assert certificate.reasons[0].startswith("left_foot: pulls with ")

    def test_sliding(self, human28):
        a = np.zeros(human28.nv)
        a[0] = 9.0
        certificate = hd.inverse_dynamics(
            human28, hd.State.at_rest(human28), a, rule="minimum_torque"
        ).certificate
        assert certificate.status == "INFEASIBLE_CONTACT"
        assert certificate.friction_margin < 0.0
        assert any("slips" in reason for reason in certificate.reasons)

    @pytest.mark.parametrize("poison", [np.nan, np.inf, 1e200])
    def test_bad_numbers_in_a_tick_are_a_status(self, human28, poison):
        solver = hd.InverseDynamics(human28)
        rest = hd.State.at_rest(human28)
        for field in range(3):
            asked = [np.array(rest.q), np.zeros(human28.nv), np.zeros(human28.nv)]
            asked[field][10] = poison
            answer = solver.solve(*asked)
            assert np.isfinite(answer.tau).all()
            if not (field == 0 and np.isfinite(poison)) and not (
                field == 2 and np.isfinite(poison)
            ):
                assert answer.certificate.status == "INVALID_INPUT"
                assert "number" in answer.certificate.reasons[0]
            assert answer.certificate.status != "OK"

    def test_solver_recovers_after_a_bad_tick(self, human28):
        solver, rest, zero = (
            hd.InverseDynamics(human28),
            hd.State.at_rest(human28),
            np.zeros(human28.nv),
        )
        good = solver.solve(rest.q, zero, zero)
        solver.solve(np.full(human28.nq, np.nan), zero, zero)
        np.testing.assert_array_equal(solver.solve(rest.q, zero, zero).tau, good.tau)

    def test_answers_cannot_be_written_to(self, human28):
        answer = hd.inverse_dynamics(human28, hd.State.at_rest(human28), np.zeros(human28.nv))
        with pytest.raises(ValueError, match="read-only"):
            answer.tau[0] = 1.0
        with pytest.raises(TypeError):
            answer.wrenches["left_foot"] = None


class TestMessages:
    @pytest.mark.parametrize(
        ("change", "error", "text"),
        [
            ({"a": [0.0]}, ShapeError, r"a: received shape \(1,\), expected \(34,\)"),
            ({"a": "fast"}, ShapeError, "a: received str"),
            (
                {"a": np.full(34, np.nan)},
                ShapeError,
                "a: received nan at index 0, expected finite numbers",
            ),
            (
                {"contacts": ["left_fot"]},
                UnknownNameError,
                "no contact surface named 'left_fot'. Did you mean 'left_foot'",
            ),
            (
                {"rule": "min_torque"},
                UnknownNameError,
                "no rule named 'min_torque'. Did you mean 'minimum_torque'",
            ),
        ],
    )
    def test_wrong_arguments(self, human28, change, error, text):
        arguments = {"a": np.zeros(human28.nv)} | change
        with pytest.raises(error, match=text):
            hd.inverse_dynamics(human28, hd.State.at_rest(human28), **arguments)

    def test_wrong_state(self, human28):
        with pytest.raises(ShapeError, match=r"q: received shape \(3,\), expected \(35,\)"):
            hd.inverse_dynamics(human28, hd.State(np.zeros(3), np.zeros(34)), np.zeros(34))

    def test_one_name_for_contacts_is_not_taken_apart(self, human28):
        state = hd.State.at_rest(human28)
        answer = hd.inverse_dynamics(human28, state, np.zeros(human28.nv), contacts="left_foot")
        assert tuple(answer.wrenches) == ("left_foot",)


SLIDER = """<robot name="slider"><link name="world"/>
<link name="table"><inertial><mass value="4"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="lift" type="prismatic"><parent link="world"/><child link="table"/><axis xyz="0 0 1"/>
<limit lower="0" upper="1" effort="10" velocity="1"/></joint></robot>"""
GRIPPER = SLIDER.replace('effort="10"', 'effort="1000"').replace(
    "</robot>",
    """<link name="top"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="follow" type="prismatic"><parent link="table"/><child link="top"/><axis xyz="0 0 1"/><mimic joint="lift" multiplier="2"/>
<limit lower="0" upper="2" effort="10" velocity="1"/></joint></robot>""",
)
