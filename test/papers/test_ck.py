# SPDX-License-Identifier: Apache-2.0
"""Dynamics computation of closed kinematic chains [CK]: one test per item, numbers of the closed forms F1 to F7."""

import time

import numpy as np
import pinocchio as pin
import pytest
from figures import (
    bennett,
    five_bar,
    five_bar_posture,
    four_bar,
    four_bar_angles,
    four_bar_posture,
    stewart,
    swing,
    two_arms,
)
from mechanisms import Tree, random_inertia, random_pose

from humanoid_dynamics.constraints.constraint_set import ConstraintSet
from humanoid_dynamics.constraints.coordinate import build_lock
from humanoid_dynamics.constraints.null_space import DynamicsStatus
from humanoid_dynamics.constraints.orthonormal import OrthonormalBasis, SingularBasis
from humanoid_dynamics.constraints.partition import CoordinatePartition, prefer
from humanoid_dynamics.constraints.user import UserBlock
from humanoid_dynamics.dynamics.audit import take_audit
from humanoid_dynamics.dynamics.closure import close_position
from humanoid_dynamics.dynamics.forward import solve_forward
from humanoid_dynamics.dynamics.impact import project_velocity
from humanoid_dynamics.dynamics.inspection import inspect_motion
from humanoid_dynamics.dynamics.integrator import step
from humanoid_dynamics.dynamics.inverse import build_maps, dependency, solve_inverse
from humanoid_dynamics.dynamics.kkt import solve_kkt, symmetric
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.dynamics.unit_vector import solve_by_unit_vectors
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.spatial.orthogonal import singular_values
from humanoid_dynamics.structure.virtual import with_virtual_links

PHI = np.radians(60)


def mechanism_for(robot, independent, **options):
    """A mechanism whose generalized coordinates are the named ones where that is possible."""
    indices = np.array([robot.coordinates.index(name) for name in independent])
    return Mechanism(
        robot,
        null_space=CoordinatePartition(robot.nv, preference=prefer(robot.nv, indices, 1e-3)),
        **options,
    )


def motion(mechanism, q, u, u_dot):
    """Velocity and acceleration of the closed chain from those of the generalized coordinates."""
    mechanism.place(q)
    v = mechanism.null_space.Gamma @ u
    mechanism.update(q, v)
    return v, mechanism.null_space.Gamma @ u_dot + mechanism.null_space.beta


# CK-1, F1 ----------------------------------------------------------------------------------------------------------------------------


def test_ck1_tree_map_of_the_four_bar_eq_3_4_7():
    chi, psi = four_bar_angles(PHI)
    np.testing.assert_allclose((chi, psi), (0.4412688833019244, 1.3126765347553853), atol=1e-14)
    mechanism = mechanism_for(four_bar(actuated=["crank"]), ["crank"])
    q = four_bar_posture(PHI)
    answer = solve_inverse(mechanism, q, np.zeros(3), np.zeros(3))
    W, S = build_maps(mechanism)
    np.testing.assert_allclose(W[:, 0], (1, -1.137145427517, 0.372124258767), atol=1e-11)
    np.testing.assert_array_equal(S, [[1.0]])
    gravity = pin.rnea(mechanism.robot.model, mechanism.robot.data(), q, np.zeros(3), np.zeros(3))
    np.testing.assert_allclose(
        gravity, (2.066295702979, 1.330545702979, 0.250413085816), atol=1e-11
    )
    np.testing.assert_allclose(answer.tau_G, [0.646456524678], atol=1e-11)
    np.testing.assert_allclose(answer.tau, [0.646456524678], atol=1e-11)


def test_ck1_generalized_force_is_the_slope_of_the_potential_eq_3():
    mechanism = mechanism_for(four_bar(actuated=["crank"]), ["crank"])
    step_size = 1e-5
    heights = [
        take_audit(mechanism, four_bar_posture(PHI + sign * step_size), np.zeros(3)).potential
        for sign in (1, -1)
    ]
    assert np.isclose((heights[0] - heights[1]) / (2 * step_size), 0.646456524678, rtol=1e-9)


def test_ck1_crank_at_constant_speed_eq_7():
    mechanism = mechanism_for(four_bar(actuated=["crank"]), ["crank"])
    v, a = motion(mechanism, four_bar_posture(PHI), np.ones(1), np.zeros(1))
    assert np.isclose(
        solve_inverse(mechanism, four_bar_posture(PHI), v, a).tau[0], 0.660283426461, atol=1e-11
    )


def test_ck1_motion_that_breaks_the_loop_is_flagged():
    mechanism = mechanism_for(four_bar(actuated=["crank"]), ["crank"])
    q = four_bar_posture(PHI)
    v, a = motion(mechanism, q, np.ones(1), np.zeros(1))
    assert solve_inverse(mechanism, q, v, a).status is DynamicsStatus.OK
    off = np.array([0.0, 1e-3, 0.0])
    for wrong in (solve_inverse(mechanism, q, v + off, a), solve_inverse(mechanism, q, v, a + off)):
        assert wrong.status is DynamicsStatus.INCONSISTENT_INPUT
        assert wrong.motion_residual > 1e-5


# CK-2 --------------------------------------------------------------------------------------------------------------------------------


def test_ck2_power_is_the_same_by_tree_and_by_motors_eq_5():
    rng = np.random.default_rng(0)
    robot = five_bar(actuated=["left_base", "right_elbow"])
    mechanism = Mechanism(robot)
    q, _ = five_bar_posture(np.radians(120), np.radians(70))
    for _ in range(20):
        v, a = motion(mechanism, q, rng.normal(size=2), rng.normal(size=2))
        answer = solve_inverse(mechanism, q, v, a)
        tree = pin.rnea(robot.model, robot.data(), q, v, a) @ v
        assert abs(answer.tau @ v[robot.actuated_v] - tree) < 1e-11 * (1 + abs(tree))


def test_ck2_known_passive_torques_are_taken_off_eq_8():
    mechanism = mechanism_for(four_bar(actuated=["crank"]), ["crank"])
    q, spring = four_bar_posture(PHI), np.array([0.0, 0.7, -0.4])
    plain = solve_inverse(mechanism, q, np.zeros(3), np.zeros(3))
    helped = solve_inverse(mechanism, q, np.zeros(3), np.zeros(3), force=spring)
    W, _ = build_maps(mechanism)
    np.testing.assert_allclose(plain.tau - helped.tau, spring @ W, atol=1e-12)


def stewart_mechanism():
    robot, base, top, X_WP = stewart()
    mechanism = Mechanism(robot)
    return robot, mechanism, base, top, X_WP


def test_ck2_stewart_actuation_map_is_the_inverse_jacobian_eq_6():
    robot, mechanism, base, top, X_WP = stewart_mechanism()
    assert np.abs(ConstraintSet.of(robot).error(mechanism.kinematics)).max() < 1e-14
    mechanism.place(robot.posture)
    _, S = build_maps(mechanism)
    platform = pin.getFrameJacobian(
        robot.model, mechanism.kinematics.data, robot.link_frame("s0"), pin.LOCAL_WORLD_ALIGNED
    )
    rows = []
    for k in range(6):
        arm = X_WP.rotation @ top[k]
        axis = X_WP.act(top[k]) - base[k]
        axis = axis / np.linalg.norm(axis)
        rows.append(np.r_[axis, np.cross(arm - X_WP.rotation @ top[0], axis)])
    np.testing.assert_allclose(
        S, np.array(rows) @ platform @ mechanism.null_space.Gamma, atol=1e-12
    )


def test_ck2_stewart_statics_f6():
    robot, mechanism, *_ = stewart_mechanism()
    answer = solve_inverse(mechanism, robot.posture, np.zeros(robot.nv), np.zeros(robot.nv))
    expected = (38.99320455, 32.46368136, 29.29553701, 54.37637621, 20.47747303, 48.87910973)
    np.testing.assert_allclose(answer.tau, expected, atol=1e-7)


# CK-3, F2, F4, F7 --------------------------------------------------------------------------------------------------------------------


def f2(actuated=("left_base", "right_base")):
    robot = five_bar(actuated=actuated)
    q, tip = five_bar_posture(np.radians(120), np.radians(70))
    return mechanism_for(robot, ["left_base", "right_base"]), q, tip


def test_ck3_five_bar_statics_with_base_motors_eq_9():
    mechanism, q, tip = f2()
    np.testing.assert_allclose(tip, (-0.039773888233, 0.600108931640), atol=1e-12)
    zero = np.zeros(4)
    gravity = pin.rnea(mechanism.robot.model, mechanism.robot.data(), q, zero, zero)
    np.testing.assert_allclose(
        gravity, (-0.514470460891, 0.515579539109, 0.110158915922, -0.594436781343), atol=1e-11
    )
    answer = solve_inverse(mechanism, q, zero, zero)
    np.testing.assert_allclose(answer.tau, (-1.503141807073, 1.150015879612), atol=1e-11)
    assert (answer.rank_S, answer.redundancy, answer.feasible, answer.status) == (
        2,
        0,
        True,
        DynamicsStatus.OK,
    )


def test_ck3_five_bar_statics_with_elbow_motors():
    mechanism, q, _ = f2(["left_elbow", "right_elbow"])
    answer = solve_inverse(mechanism, q, np.zeros(4), np.zeros(4))
    np.testing.assert_allclose(build_maps(mechanism)[1], dependency(mechanism), atol=0)
    np.testing.assert_allclose(answer.tau, (1.163261821925, -0.312687156337), atol=1e-11)


def test_ck3_three_motors_share_by_minimum_norm():
    mechanism, q, _ = f2(["left_base", "left_elbow", "right_base"])
    answer = solve_inverse(mechanism, q, np.zeros(4), np.zeros(4))
    np.testing.assert_allclose(
        answer.tau, (-0.499092036967, 0.911085010540, 0.534124209704), atol=1e-11
    )
    assert answer.redundancy == 1
    heavy = solve_inverse(mechanism, q, np.zeros(4), np.zeros(4), weight=np.array([1.0, 1e6, 1.0]))
    np.testing.assert_allclose(heavy.tau[[0, 2]], (-1.503141807073, 1.150015879612), atol=1e-4)
    _, S = build_maps(mechanism)
    np.testing.assert_allclose(S.T @ heavy.tau, answer.tau_G, atol=1e-11)


def test_ck3_five_bar_in_motion():
    mechanism, q, _ = f2()
    v, a = motion(mechanism, q, np.array([0.7, -0.4]), np.array([1.0, -2.0]))
    np.testing.assert_allclose(a, (1, -2.424511886285, -2, 3.098716436459), atol=1e-11)
    answer = solve_inverse(mechanism, q, v, a)
    np.testing.assert_allclose(answer.tau, (-1.458913802787, 1.020930935461), atol=1e-11)
    np.testing.assert_allclose(
        answer.lam[:2], (0.712845462764, 1.483788544443), atol=1e-10
    )  # in axes of the right distal link
    R_WB = mechanism.kinematics.data.oMi[4].rotation
    np.testing.assert_allclose(
        (R_WB @ answer.lam[:3])[:2], (-1.612306621556, -0.332030806538), atol=1e-10
    )


def test_ck3_singular_five_bar_f4_says_what_the_motors_cannot_hold():
    robot = five_bar(0.3, 0.25, actuated=["left_base", "right_base"])
    q = np.radians([120.0, -120.0, 60.0, 120.0])  # both distal links on one line
    mechanism = Mechanism(robot)
    answer = solve_inverse(mechanism, q, np.zeros(4), np.zeros(4))
    assert mechanism.null_space.rank == 2
    assert abs(np.linalg.det(mechanism.J[:2, [1, 3]])) < 1e-15
    assert {robot.coordinates[index] for index in mechanism.null_space.indep} != {
        "left_base",
        "right_base",
    }
    assert answer.status is DynamicsStatus.ACTUATION_SINGULAR
    assert not answer.feasible
    assert answer.rank_S == 1
    assert np.isfinite(answer.tau).all()
    chosen = mechanism_for(robot, ["right_base", "right_elbow"])
    answer = solve_inverse(chosen, q, np.zeros(4), np.zeros(4))
    np.testing.assert_allclose(build_maps(chosen)[1], [[1, 0], [1, 0]], atol=1e-9)
    np.testing.assert_allclose(answer.tau_G, (-0.4905, -1.22625), atol=1e-9)
    np.testing.assert_allclose(answer.unsupported, (0, -1.22625), atol=1e-9)
    assert np.isclose(answer.residual, 1.22625, atol=1e-9)


def test_ck3_two_arms_on_a_bar_f7_and_internal_forces():
    mechanism = mechanism_for(two_arms(), ["left0", "left1", "left2"])
    q = mechanism.robot.posture
    answer = solve_inverse(mechanism, q, np.zeros(6), np.zeros(6))
    np.testing.assert_allclose(
        answer.tau_G, (12.8041491277, 18.0178721644, 4.6400661608), atol=1e-9
    )
    expected = (
        -0.4376394314,
        3.2957055378,
        -2.7449878925,
        1.2707981704,
        -3.7543778544,
        2.5966578978,
    )
    np.testing.assert_allclose(answer.tau, expected, atol=1e-9)
    assert (mechanism.nu, answer.redundancy) == (3, 3)
    _, S = build_maps(mechanism)
    np.testing.assert_allclose(S.T @ mechanism.J.T, 0.0, atol=1e-14)


def test_ck3_no_motor_leaves_everything_unsupported():
    mechanism = mechanism_for(four_bar(actuated=[]), ["crank"])
    answer = solve_inverse(mechanism, four_bar_posture(PHI), np.zeros(3), np.zeros(3))
    assert answer.tau.size == 0
    np.testing.assert_allclose(answer.unsupported, answer.tau_G)
    assert answer.status is DynamicsStatus.ACTUATION_SINGULAR


# CK-4 --------------------------------------------------------------------------------------------------------------------------------


def test_ck4_overlapping_loops_are_stacked_eq_10_12():
    """Two loops that share the crank: the same motion whichever is named first."""
    tree = Tree().add("crank", pin.JointModelRZ(), inertia=random_inertia(np.random.default_rng(0)))
    rng = np.random.default_rng(1)
    for name in ("b", "c"):
        tree.add(
            name,
            pin.JointModelRZ(),
            parent="crank",
            X=pin.SE3(np.eye(3), rng.uniform(-0.3, 0.3, 3) * [1, 1, 0]),
            inertia=random_inertia(rng),
        )
    tree.add(
        "d",
        pin.JointModelRZ(),
        parent="b",
        X=pin.SE3(np.eye(3), np.array([0.4, 0.1, 0])),
        inertia=random_inertia(rng),
    )
    robot, q, v = tree.robot(), rng.normal(size=4), np.zeros(4)
    data = robot.data()
    pin.forwardKinematics(robot.model, data, q)
    loops = []
    for a, b in (("d", "c"), ("c", "world")):
        X_LA = pin.SE3(np.eye(3), np.array([0.2, -0.3, 0.0]))
        X_WA = data.oMi[robot.joint(a).index] * X_LA
        X_WB = pin.SE3.Identity() if b == "world" else data.oMi[robot.joint(b).index]
        loops.append(LoopClosure(f"{a}{b}", "revolute", a, X_LA, b, X_WB.actInv(X_WA)))
    answers = []
    for order in (loops, loops[::-1]):
        mechanism = Mechanism(tree.robot(order))
        answers.append(solve_forward(mechanism, q, v, np.zeros(4)).a)
        assert mechanism.J.shape == (10, 4)
    np.testing.assert_allclose(*answers, atol=1e-11)


def test_ck4_rows_are_j_a_minus_j_b_at_one_point_eq_10():
    robot = five_bar()
    mechanism = Mechanism(robot)
    q, _ = five_bar_posture(2.0, 1.1)
    mechanism.place(q)
    data = mechanism.kinematics.data
    tip = pin.SE3(np.eye(3), np.array([0.4, 0, 0]))
    J_A, J_B = (
        pin.getFrameJacobian(robot.model, data, joint, tip, pin.LOCAL_WORLD_ALIGNED)
        for joint in (2, 4)
    )
    R_WB = data.oMi[4].rotation
    np.testing.assert_allclose(R_WB @ mechanism.J[:3], (J_A - J_B)[:3], atol=1e-14)


def test_ck4_no_loop_is_an_open_chain():
    mechanism = Mechanism(four_bar(), [])
    mechanism.place(four_bar_posture(PHI))
    W, S = build_maps(mechanism)
    assert mechanism.J.shape == (0, 3)
    np.testing.assert_array_equal(W, np.eye(3))
    np.testing.assert_array_equal(S, np.eye(3))


# CK-5 --------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("phi", [0.4, PHI, 2.5])
def test_ck5_both_variants_of_the_cut_have_one_mobility_four_bar(phi):
    robot = four_bar()
    virtual = with_virtual_links(robot)
    q = four_bar_posture(phi)
    chi, psi = four_bar_angles(phi)
    order = [virtual.joint(name).q.start for name in ("crank", "coupler", "rocker", "virtual.pin")]
    q_virtual = np.zeros(4)
    q_virtual[order] = [*q, chi - psi]
    without, kept = Mechanism(robot), Mechanism(virtual)
    assert (robot.nv, without.mobility(q).rank, without.nu) == (3, 2, 1)
    assert (virtual.nv, kept.mobility(q_virtual).rank, kept.nu) == (4, 3, 1)
    assert np.abs(kept.constraints.error(kept.kinematics)).max() < 1e-13


def closed_swing():
    robot, guess = swing()
    mechanism = Mechanism(robot)
    closed = close_position(mechanism, guess, tolerance=1e-14)
    assert closed.status is DynamicsStatus.OK
    return mechanism, closed.q


def swing_with_virtual_links(mechanism, q, v):
    """The same state with massless virtual links; their own coordinates come from the closure."""
    robot = mechanism.robot
    virtual = with_virtual_links(robot)
    other = Mechanism(virtual)
    q_virtual, v_virtual = pin.neutral(virtual.model), np.zeros(virtual.nv)
    for joint in robot.joints:
        there = virtual.joint(joint.name)
        q_virtual[there.q], v_virtual[there.v] = q[joint.q], v[joint.v]
    held = [name for name in robot.coordinates if name in virtual.coordinates]
    closed = close_position(other, q_virtual, held=held, tolerance=1e-14, most=200)
    other.place(closed.q)
    follow = [
        index for index, name in enumerate(virtual.coordinates) if name not in robot.coordinates
    ]
    v_virtual[follow] = np.linalg.lstsq(other.J[:, follow], -other.J @ v_virtual, rcond=None)[0]
    return other, closed.q, v_virtual


def test_ck5_swing_with_and_without_virtual_links():
    mechanism, q = closed_swing()
    rng = np.random.default_rng(0)
    mechanism.place(q)
    v = mechanism.null_space.Gamma @ rng.normal(size=mechanism.nu)
    other, q_virtual, v_virtual = swing_with_virtual_links(mechanism, q, v)
    robot, virtual = mechanism.robot, other.robot
    assert (robot.nv, virtual.nv) == (31, 40)
    assert (mechanism.null_space.rank, other.mobility(q_virtual).rank) == (9, 18)
    M = symmetric(other.inertia())
    assert np.linalg.matrix_rank(M, tol=1e-9) == 31
    tau = rng.normal(size=len(robot.actuated_v))
    plain = solve_forward(mechanism, q, v, tau)
    tau_virtual = np.zeros(len(other.actuated))
    tau_virtual[[virtual.actuated.index(name) for name in robot.actuated]] = tau
    kept = solve_forward(other, q_virtual, v_virtual, tau_virtual)
    shared = [virtual.coordinates.index(name) for name in robot.coordinates]
    np.testing.assert_allclose(kept.a[shared], plain.a, atol=1e-8 * (1 + np.abs(plain.a).max()))
    dense, _ = solve_kkt(
        symmetric(mechanism.inertia()),
        mechanism.bias(),
        mechanism.J,
        mechanism.gamma,
        mechanism.spread(tau),
    )
    np.testing.assert_allclose(plain.a, dense, atol=1e-8 * (1 + np.abs(dense).max()))


def test_ck5_swing_against_pinocchio_constraint_dynamics():
    mechanism, q = closed_swing()
    mechanism.place(q)
    v = mechanism.null_space.Gamma @ np.random.default_rng(1).normal(size=mechanism.nu)
    answer = solve_forward(mechanism, q, v, np.zeros(len(mechanism.actuated)))
    model, data = mechanism.robot.model, mechanism.robot.data()
    models, works = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for block in mechanism.constraints:
        contact = pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D,
            model,
            block.A.joint,
            block.A.X_JF,
            block.B.joint,
            block.B.X_JF,
            pin.LOCAL,
        )
        models.append(contact)
        works.append(contact.createData())
    pin.initConstraintDynamics(model, data, models, works)
    settings = pin.ProximalSettings(1e-14, 1e-10, 20)
    expected = pin.constraintDynamics(
        model, data, q, v, np.zeros(model.nv), models, works, settings
    )
    np.testing.assert_allclose(answer.a, expected, atol=1e-7 * (1 + np.abs(expected).max()))


# CK-6 --------------------------------------------------------------------------------------------------------------------------------


def test_ck6_planar_four_bar_in_space_eq_14():
    robot = with_virtual_links(four_bar())
    mechanism = Mechanism(robot)
    chi, psi = four_bar_angles(PHI)
    q = np.zeros(4)
    q[[robot.joint(name).q.start for name in ("crank", "coupler", "rocker", "virtual.pin")]] = [
        *four_bar_posture(PHI),
        chi - psi,
    ]
    outcome = mechanism.mobility(q)
    assert mechanism.J.shape[0] == 6
    assert (outcome.rank, mechanism.nu) == (3, 1)
    assert outcome.status is DynamicsStatus.RANK_DEFICIENT


def test_ck6_bennett_f5():
    robot, theta_2 = bennett()
    assert np.isclose(np.tan(np.radians(25)) * np.tan(theta_2 / 2), 2.239764113511749, rtol=1e-14)
    mechanism = Mechanism(robot, ConstraintSet.of(robot, length=1.0))
    outcome = mechanism.mobility(robot.posture)
    assert np.abs(mechanism.constraints.error(mechanism.kinematics)).max() < 1e-14
    sigma = singular_values(mechanism.J)
    np.testing.assert_allclose(sigma[:3], (1.679, 1.209, 0.460), atol=5e-4)
    assert sigma[3] < 1e-8
    assert (outcome.rank, mechanism.nu) == (3, 1)
    generic, _ = bennett(b=0.45)
    assert Mechanism(generic).mobility(generic.posture).rank == 4


def parallelogram(phi):
    robot = four_bar(0.3, 0.5, 0.3, 0.5, kind="revolute")
    return robot, np.array([phi, -phi, phi])


def test_ck6_flat_parallelogram_is_a_bifurcation_f3():
    robot, q = parallelogram(np.radians(50))
    mechanism = Mechanism(robot)
    outcome = mechanism.mobility(q)
    np.testing.assert_allclose(
        (outcome.sigma_max, outcome.sigma_min), (0.908191878, 0.219143321), atol=1e-9
    )
    assert mechanism.mobility(np.zeros(3)).rank == 1
    assert mechanism.nu == 2
    almost = Mechanism(robot)
    assert almost.mobility(parallelogram(1e-6)[1]).rank == 1
    sigma = singular_values(almost.J)[:2]
    np.testing.assert_allclose(sigma[0], 0.98995, rtol=5e-2)
    assert sigma[1] < 2.7e-7  # rows far shorter than the links hold nothing and are zero


def test_ck6_stewart_and_its_idle_legs():
    robot, *_ = stewart()
    mechanism = Mechanism(robot)
    assert (robot.nv, mechanism.mobility(robot.posture).rank, mechanism.nu) == (21, 15, 6)
    robot, *_ = stewart("spherical")
    mechanism = Mechanism(robot)
    assert (robot.nv, mechanism.mobility(robot.posture).rank, mechanism.nu) == (27, 15, 12)


# CK-7, CK-8 --------------------------------------------------------------------------------------------------------------------------


def test_ck7_extracted_rows_are_independent_and_enough_eq_13():
    robot = with_virtual_links(four_bar())
    mechanism = Mechanism(robot)
    q = np.array([PHI, *four_bar_posture(PHI)[1:], 0.0])
    outcome = mechanism.mobility(q)
    scaled = mechanism.scale[:, None] * mechanism.J
    assert (
        np.linalg.matrix_rank(scaled[outcome.rows])
        == outcome.rank
        == np.linalg.matrix_rank(scaled, tol=1e-9)
    )


@pytest.mark.parametrize("seed", range(5))
def test_ck7_order_repetition_and_size_of_rows_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    mechanism, q = closed_swing()
    mechanism.place(q)
    v, tau = (
        mechanism.null_space.Gamma @ rng.normal(size=mechanism.nu),
        rng.normal(size=len(mechanism.actuated)),
    )
    reference = solve_forward(mechanism, q, v, tau).a
    J, gamma, k = mechanism.J.copy(), mechanism.gamma.copy(), len(mechanism.J)
    picked = rng.permutation(np.r_[np.arange(k), rng.integers(0, k, 4)])
    size = 10.0 ** rng.uniform(-6, 6, len(picked))
    labels = tuple(f"row{index}" for index in range(len(picked)))
    rows = UserBlock(
        "rows", labels, lambda q: size[:, None] * J[picked], lambda q, v: size * gamma[picked]
    )
    other = Mechanism(mechanism.robot, [rows])
    answer = solve_forward(other, q, v, tau)
    assert (other.null_space.rank, other.nu, answer.indeterminate) == (9, 22, True)
    np.testing.assert_allclose(answer.a, reference, atol=1e-9 * (1 + np.abs(reference).max()))


def test_ck8_h_of_the_four_bar_eq_18():
    mechanism = mechanism_for(four_bar(), ["crank"])
    mechanism.place(four_bar_posture(PHI))
    np.testing.assert_allclose(
        dependency(mechanism)[:, 0], (-1.137145427517, 0.372124258767), atol=1e-11
    )
    chi, psi = four_bar_angles(PHI)
    rates = (
        -0.2 * np.sin(PHI - psi) / (0.5 * np.sin(chi - psi)) - 1,
        0.2 * np.sin(PHI - chi) / (0.4 * np.sin(psi - chi)),
    )
    np.testing.assert_allclose(dependency(mechanism)[:, 0], rates, atol=1e-12)


@pytest.mark.parametrize("phi", [0.01, 0.5, 2.0, 3.0, -1.0])
def test_ck8_h_of_the_parallelogram(phi):
    robot, q = parallelogram(phi)
    mechanism = mechanism_for(robot, ["crank"])
    mechanism.place(q)
    np.testing.assert_allclose(mechanism.null_space.Gamma[:, 0], (1, -1, 1), atol=1e-11)


def test_ck8_h_of_the_five_bar():
    mechanism, q, _ = f2()
    mechanism.place(q)
    expected = [[-1.102037415269, 0.675998027388], [0.707364377060, -1.162993667264]]
    np.testing.assert_allclose(dependency(mechanism), expected, atol=1e-11)


def test_ck8_acceleration_does_not_depend_on_the_choice():
    mechanism, q = closed_swing()
    rng = np.random.default_rng(2)
    mechanism.place(q)
    v = mechanism.null_space.Gamma @ rng.normal(size=mechanism.nu)
    tau = rng.normal(size=len(mechanism.actuated))
    reference = solve_forward(mechanism, q, v, tau).a
    nv, chosen = mechanism.robot.nv, set()
    spaces = [CoordinatePartition(nv, preference=rng.uniform(0.05, 1, nv)) for _ in range(4)] + [
        SingularBasis(nv),
        OrthonormalBasis(nv),
    ]
    for space in spaces:
        other = Mechanism(mechanism.robot, null_space=space)
        a = solve_forward(other, q, v, tau).a
        chosen.add(tuple(space.dep))
        np.testing.assert_allclose(a, reference, atol=1e-10 * (1 + np.abs(reference).max()))
    assert len(chosen) >= 4


# CK-9, CK-10 -------------------------------------------------------------------------------------------------------------------------


def test_ck9_w_and_s_row_by_row_equal_gamma_fig_5_6():
    mechanism, q = closed_swing()
    mechanism.place(q)
    W, S = build_maps(mechanism)
    space, H = mechanism.null_space, dependency(mechanism)
    place_S, place_G = list(space.dep), list(space.indep)
    literal = np.array(
        [
            H[place_S.index(i)] if i in place_S else np.eye(mechanism.nu)[place_G.index(i)]
            for i in range(mechanism.robot.nv)
        ]
    )
    np.testing.assert_array_equal(W, literal)
    np.testing.assert_array_equal(S, literal[mechanism.actuated])
    np.testing.assert_allclose(mechanism.J @ W, 0.0, atol=1e-12)


def test_ck10_acceleration_of_dependent_joints_eq_19_22():
    mechanism = mechanism_for(four_bar(), ["crank"])
    q = four_bar_posture(PHI)
    motion(mechanism, q, np.ones(1), np.zeros(1))
    np.testing.assert_allclose(
        mechanism.null_space.beta, (0, 0.375457848808, 0.451303514349), atol=1e-11
    )
    dt = 1e-5
    rates = []
    for sign in (1, -1):
        mechanism.place(four_bar_posture(PHI + sign * dt))
        rates.append(mechanism.null_space.Gamma[:, 0].copy())
    np.testing.assert_allclose(
        (rates[0] - rates[1]) / (2 * dt), (0, 0.375457848808, 0.451303514349), atol=1e-9
    )


def test_ck10_bias_without_the_minus_sign_would_be_caught():
    """H' theta_G' = -J_S^-1 (J' theta'); with the other sign the loop opens."""
    mechanism = mechanism_for(four_bar(), ["crank"])
    _, a = motion(mechanism, four_bar_posture(PHI), np.ones(1), np.zeros(1))
    assert np.abs(mechanism.J @ a + mechanism.gamma).max() < 1e-13
    assert np.abs(mechanism.J @ -a + mechanism.gamma).max() > 1e-2


# CK-11 to CK-13 ----------------------------------------------------------------------------------------------------------------------


def test_ck11_inertia_and_bias_of_the_closed_chain_eq_23():
    mechanism = mechanism_for(four_bar(actuated=["crank"]), ["crank"])
    q = four_bar_posture(PHI)
    literal = solve_by_unit_vectors(mechanism, q, np.zeros(3), np.zeros(1))
    np.testing.assert_allclose(literal.A, [[0.025869354269]], atol=1e-12)
    mechanism, q, _ = f2()
    v, _ = motion(mechanism, q, np.array([0.7, -0.4]), np.zeros(2))
    literal = solve_by_unit_vectors(mechanism, q, v, np.zeros(2))
    np.testing.assert_allclose(
        literal.A, [[0.067718802341, 0.016163837518], [0.016163837518, 0.064610663061]], atol=1e-11
    )
    np.testing.assert_allclose(literal.b, (-1.494304930091, 1.133988424066), atol=1e-11)


def test_ck11_unit_vectors_equal_the_projection_eq_24():
    mechanism, q = closed_swing()
    rng = np.random.default_rng(3)
    mechanism.place(q)
    v = mechanism.null_space.Gamma @ rng.normal(size=mechanism.nu)
    tau = rng.normal(size=len(mechanism.actuated))
    literal = solve_by_unit_vectors(mechanism, q, v, tau)
    space, M, h = mechanism.null_space, symmetric(mechanism.inertia()), mechanism.bias()
    np.testing.assert_allclose(literal.A, literal.A.T, atol=1e-11 * np.abs(literal.A).max())
    np.testing.assert_allclose(
        literal.A, space.Gamma.T @ M @ space.Gamma, atol=1e-10 * np.abs(literal.A).max()
    )
    np.testing.assert_allclose(
        literal.b, space.Gamma.T @ (M @ space.beta + h), atol=1e-10 * np.abs(literal.b).max()
    )
    np.testing.assert_allclose(
        literal.a, solve_forward(mechanism, q, v, tau).a, atol=1e-8 * np.abs(literal.a).max()
    )
    assert np.linalg.eigvalsh(literal.A).min() > 0


def test_ck11_printed_steps_2_and_5_open_the_loop():
    """Steps (2) and (5) print H theta_G'' where H' theta_G' must stand: at theta_G'' = 0 that is no bias at all."""
    mechanism, q, _ = f2()
    v, _ = motion(mechanism, q, np.array([0.7, -0.4]), np.zeros(2))
    literal = solve_by_unit_vectors(mechanism, q, v, np.zeros(2))
    printed = mechanism.null_space.Gamma @ literal.theta_G_ddot
    assert np.abs(mechanism.J @ literal.a + mechanism.gamma).max() < 1e-12
    assert np.abs(mechanism.J @ printed + mechanism.gamma).max() > 1e-2


def chain(count, loops=2):
    rng = np.random.default_rng(count)
    tree = Tree()
    for k in range(count):
        joint = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)[k % 3]()
        tree.add(
            f"l{k}",
            joint,
            parent=f"l{k - 1}" if k else "world",
            X=random_pose(rng, 0.2),
            inertia=random_inertia(rng),
        )
    robot = tree.robot()
    q = rng.normal(size=count)
    data = robot.data()
    pin.forwardKinematics(robot.model, data, q)
    placed = [
        LoopClosure(f"c{k}", "spherical", f"l{i}", pin.SE3.Identity(), "world", data.oMi[i + 1])
        for k, i in ((0, count - 1), (1, count // 2))
    ]
    return tree.robot(placed[:loops]), q


@pytest.mark.parametrize("count", [34, 80])
def test_ck12_calls_grow_with_freedoms(count):
    robot, q = chain(count)
    mechanism = Mechanism(robot)
    literal = solve_by_unit_vectors(mechanism, q, np.zeros(count), np.zeros(count))
    assert literal.inverse_dynamics_calls == mechanism.nu + 1 == count - 6 + 1


def test_ck12_cost_is_linear_in_links_times_freedoms():
    """N_F + 1 calls of which the quickest of many counts: single calls are so short that a busy machine lets enough of them be."""
    sizes, costs = [], []
    for count in (34, 60, 90, 130, 170, 200):
        robot, q = chain(count)
        mechanism = Mechanism(robot)
        mechanism.update(q, np.zeros(count))
        a, calls, spent = np.zeros(count), mechanism.nu + 1, []
        for _ in range(500):
            start = time.perf_counter()
            mechanism.tree_torque(a)
            spent.append(time.perf_counter() - start)
        sizes.append(count * mechanism.nu)
        costs.append(calls * min(spent))
    assert np.corrcoef(sizes, costs)[0, 1] ** 2 > 0.95


def test_ck13_ballistic_motion_needs_nobody():
    tree = Tree().add(
        "body", pin.JointModelFreeFlyer(), inertia=random_inertia(np.random.default_rng(0))
    )
    tree.add(
        "arm",
        pin.JointModelSpherical(),
        parent="body",
        X=random_pose(np.random.default_rng(1)),
        inertia=random_inertia(np.random.default_rng(2)),
    )
    robot = tree.robot()
    mechanism = Mechanism(robot)
    rng = np.random.default_rng(3)
    q, v = (
        pin.integrate(robot.model, robot.posture, rng.normal(size=robot.nv)),
        rng.normal(size=robot.nv),
    )
    flight = solve_forward(mechanism, q, v, rng.normal(size=3))
    assert np.abs(inspect_motion(mechanism, q, v, flight.a).base_wrench).max() < 1e-8
    R_WB = pin.Quaternion(q[3:7]).toRotationMatrix()
    wrong = flight.a.copy()
    wrong[:3] += R_WB.T @ [0.0, 0.0, 0.1]
    outcome = inspect_motion(mechanism, q, v, wrong)
    np.testing.assert_allclose(outcome.base_wrench[:3], (0, 0, 0.1 * robot.mass), atol=1e-8)


def test_ck13_keyframe_that_opens_the_loop_is_told():
    mechanism = mechanism_for(four_bar(actuated=["crank"]), ["crank"])
    q = four_bar_posture(PHI)
    v, a = motion(mechanism, q, np.ones(1), np.zeros(1))
    good = inspect_motion(mechanism, q, v, a)
    assert max(good.closure, good.motion, np.abs(good.unsupported).max()) < 1e-10
    bad = inspect_motion(mechanism, q + np.array([0.0, 0.01, 0.0]), v, a)
    assert bad.closure > 1e-3
    assert bad.status is DynamicsStatus.INCONSISTENT_INPUT


# CK-14 -------------------------------------------------------------------------------------------------------------------------------


def test_ck14_mobility_of_the_monkey_on_the_swing_22_25_28():
    mechanism, q = closed_swing()
    seen = [mechanism.mobility(q).rank, mechanism.nu]
    for hand in ("left_hand", "right_hand"):
        mechanism.constraints.remove(hand)
        mechanism.mobility(q)
        seen.append(mechanism.nu)
    assert seen == [9, 22, 25, 28]


def run(mechanism, q, v, seconds, dt=1e-3, method="rkmk4"):
    for _ in range(round(seconds / dt)):
        outcome = step(mechanism, q, v, dt, method=method)
        q, v = outcome.q, outcome.v
    return q, v, outcome


def test_ck14_swing_keeps_energy_and_cuts_do_not_jolt():
    mechanism, q = closed_swing()
    rng = np.random.default_rng(4)
    v = project_velocity(mechanism, q, 0.5 * rng.normal(size=mechanism.robot.nv))
    start = take_audit(mechanism, q, v)
    q, v, outcome = run(mechanism, q, v, 0.2)
    end = take_audit(mechanism, q, v)
    assert abs(end.energy - start.energy) < 1e-3 * start.kinetic
    assert outcome.closure < 1e-9
    assert end.slip < 1e-9
    mechanism.constraints.remove("left_hand")
    np.testing.assert_allclose(project_velocity(mechanism, q, v), v, atol=1e-10)
    mechanism.constraints.remove("right_hand")
    np.testing.assert_allclose(project_velocity(mechanism, q, v), v, atol=1e-10)
    after = take_audit(mechanism, q, v)
    assert abs(after.energy - end.energy) < 1e-10 * abs(end.energy)


@pytest.mark.slow
def test_ck14_two_seconds_on_the_swing():
    mechanism, q = closed_swing()
    v = project_velocity(
        mechanism, q, 0.5 * np.random.default_rng(6).normal(size=mechanism.robot.nv)
    )
    start = take_audit(mechanism, q, v)
    q, v, outcome = run(mechanism, q, v, 2.0)
    end = take_audit(mechanism, q, v)
    assert abs(end.energy - start.energy) < 1e-3 * start.kinetic
    assert outcome.closure < 1e-6


def test_ck14_after_both_cuts_the_figure_falls_with_g():
    mechanism, q = closed_swing()
    rng = np.random.default_rng(5)
    v = project_velocity(mechanism, q, rng.normal(size=mechanism.robot.nv))
    for hand in ("left_hand", "right_hand"):
        mechanism.constraints.remove(hand)
    answer = solve_forward(mechanism, q, v, np.zeros(len(mechanism.actuated)))
    model, data, trunk = (
        mechanism.robot.model,
        mechanism.robot.data(),
        mechanism.robot.joint("trunk").index,
    )
    pin.centerOfMass(model, data, q, v, answer.a)
    np.testing.assert_allclose(
        data.oMi[trunk].rotation @ data.acom[trunk], (0, 0, -9.81), atol=1e-6
    )


def test_the_answer_does_not_depend_on_units():
    """Millimetres and grams: lengths and masses times 1e3, torques times 1e9."""

    def scaled(unit, mass):
        robot = five_bar(
            0.3 * unit,
            0.4 * unit,
            0.1 * unit,
            masses=(0.4 * mass, 0.5 * mass),
            actuated=["left_base", "right_base"],
        )
        robot.model.gravity.linear = np.array([0.0, -9.81 * unit, 0.0])
        return Mechanism(robot, ConstraintSet.of(robot, length=0.3 * unit))

    q, _ = five_bar_posture(np.radians(120), np.radians(70))
    tau, v = np.array([0.3, -0.2]), np.zeros(4)
    plain, metric = (
        solve_forward(scaled(1, 1), q, v, tau),
        solve_forward(scaled(1e3, 1e3), q, v, tau * 1e9),
    )
    tiny = solve_forward(scaled(1e-3, 1e-3), q, v, tau * 1e-9)
    np.testing.assert_allclose(metric.a, plain.a, rtol=1e-7)
    np.testing.assert_allclose(tiny.a, plain.a, rtol=1e-3)


def test_a_locked_crank_leaves_a_structure():
    robot = four_bar()
    mechanism = Mechanism(robot, ConstraintSet.of(robot, [build_lock(robot, "crank")]))
    answer = solve_forward(mechanism, four_bar_posture(PHI), np.zeros(3), np.zeros(3))
    assert mechanism.nu == 0
    np.testing.assert_allclose(answer.a, 0.0, atol=1e-12)
    assert np.isclose(
        answer.lam[mechanism.constraints.rows_of("lock.crank")][0], 0.646456524678, atol=1e-10
    )
