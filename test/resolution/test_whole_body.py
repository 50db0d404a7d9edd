# SPDX-License-Identifier: Apache-2.0
"""Whole-body control against dense programs with the same tasks and weights, at its limits, and under bad input."""

from dataclasses import replace

import daqp
import numpy as np
import pinocchio as pin
import pytest
from scipy.linalg import null_space

import humanoid_dynamics as hd
from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.resolution.joint_bounds import JointBounds
from humanoid_dynamics.resolution.problem import DynamicsProblem

ALIGNED = pin.LOCAL_WORLD_ALIGNED
FREE = hd.WholeBodyLimits(position=False, velocity=False, torque=False)


@pytest.fixture(scope="module")
def talos():
    robot = hd.load_robot("talos_reduced")
    effort = np.maximum(robot.limits.effort, 5.0 * (robot.limits.effort > 0.0))  # of the grippers
    return replace(robot, limits=replace(robot.limits, effort=effort))


HAND, ELBOW = "arm_left_7_link", "arm_left_4_joint"


def draw_state(robot, seed, size=0.03):
    """A bent posture that moves with its soles at rest."""
    rng = np.random.default_rng(seed)
    step = size * rng.standard_normal(robot.nv)
    step[:6] *= 0.2
    q = pin.integrate(robot.model, robot.posture, step)
    problem = DynamicsProblem(robot)
    problem.update(q, np.zeros(robot.nv))
    v = rng.standard_normal(robot.nv) * size
    return q, v - np.linalg.pinv(problem.J) @ (problem.J @ v)


def build_tasks(robot, q):
    """CoM, hand and posture with targets away from where they are, with their rows by another route."""
    data = robot.data()
    pin.centerOfMass(robot.model, data, q)
    pin.framesForwardKinematics(robot.model, data, q)
    X = data.oMf[robot.link_frame(HAND)]
    goal = pin.SE3(pin.exp3(np.array([0.1, -0.2, 0.1])) @ X.rotation, X.translation + 0.05)
    com = data.com[0] + np.array([0.01, -0.005, 0.01])
    tasks = [
        hd.CenterOfMassTask(com, gain=20.0, weight=100.0),
        hd.FrameTask(HAND, goal, gain=20.0, damping=8.0, weight=10.0),
        hd.PostureTask(gain=20.0, weight=0.1),
    ]
    return tasks, (com, goal)


def list_rows(robot, q, v, goals):
    """(A, b, weight) of those tasks from Jacobians and their rates of change."""
    com, goal = goals
    model, data, nv = robot.model, robot.data(), robot.nv
    pin.computeCentroidalMapTimeVariation(model, data, q, v)
    J, dJ = data.Ag[:3] / robot.mass, data.dAg[:3] / robot.mass
    center = pin.centerOfMass(model, robot.data(), q)
    rows = [(J, 20.0 * (com - center) - 2.0 * np.sqrt(20.0) * J @ v - dJ @ v, 100.0)]
    pin.updateFramePlacements(model, data)
    frame = robot.link_frame(HAND)
    J = pin.getFrameJacobian(model, data, frame, ALIGNED)
    dJ = pin.getFrameJacobianTimeVariation(model, data, frame, ALIGNED)
    X = data.oMf[frame]
    error = np.concatenate(
        (goal.translation - X.translation, pin.log3(goal.rotation @ X.rotation.T))
    )
    rows.append((J, 20.0 * error - 8.0 * J @ v - dJ @ v, 10.0))
    error = pin.difference(model, q, robot.posture)[6:]
    rows.append((np.eye(nv)[6:], 20.0 * error - 2.0 * np.sqrt(20.0) * v[6:], 0.1))
    return rows


def list_equations(robot, q, v, contacts=None):
    """Equations of (a, f) and terms of the torques, from Pinocchio's frames."""
    model, data, nv = robot.model, robot.data(), robot.nv
    J, gamma = [np.zeros((0, nv))], [np.zeros(0)]
    pin.computeJointJacobians(model, data, q)
    pin.forwardKinematics(model, data, q, v, np.zeros(nv))
    for name in robot.stance if contacts is None else contacts:
        frame = robot.surface(name).frame
        J.append(pin.getFrameJacobian(model, data, frame, pin.LOCAL))
        gamma.append(-pin.getFrameAcceleration(model, data, frame, pin.LOCAL).vector)
    J, gamma = np.vstack(J), np.concatenate(gamma)
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    h = pin.nonLinearEffects(model, data, q, v)
    E = np.block([[J, np.zeros((len(J), len(J)))], [M[:6], -J[:, :6].T]])
    return E, np.concatenate((gamma, -h[:6])), (M, h, J)


def solve_dense(rows, E, e, nv):
    """Accelerations of least weighted squares on E x = e, by the null space of E."""
    x0, Z = np.linalg.lstsq(E, e, rcond=None)[0], null_space(E)
    A = np.vstack([np.sqrt(w) * A @ Z[:nv] for A, _, w in rows])
    b = np.concatenate([np.sqrt(w) * (b - A @ x0[:nv]) for A, b, w in rows])
    return (x0 + Z @ np.linalg.lstsq(A, b, rcond=1e-13)[0])[:nv]


@pytest.mark.parametrize("seed", range(3))
def test_accelerations_are_those_of_a_dense_program(talos, seed):
    q, v = draw_state(talos, seed)
    tasks, goals = build_tasks(talos, q)
    answer = hd.WholeBody(talos, tasks, limits=FREE).solve(q, v)
    assert answer.relaxation is hd.RelaxationStatus.NONE
    E, e, (_, _, J) = list_equations(talos, q, v)
    assert min(answer.certificate.cop_margin, answer.certificate.friction_margin) > 1e-4
    a = solve_dense(list_rows(talos, q, v, goals), E, e, talos.nv)
    np.testing.assert_allclose(answer.a, a, atol=1e-7 * np.abs(a).max())
    assert answer.verify().status == answer.certificate.status == "OK"
    assert answer.certificate.residual < 1e-9
    assert np.abs(J @ answer.a - e[: len(J)]).max() < 1e-9


def test_a_task_that_nothing_hinders_is_reached(talos):
    q, v = draw_state(talos, 1)
    tasks, _ = build_tasks(talos, q)
    for task in tasks[:2]:
        task.level = 1
    answer = hd.WholeBody(talos, tasks).solve(q, v)
    assert answer.certificate.status == "OK"
    assert max(np.abs(task.A @ answer.a - task.b).max() for task in tasks[:2]) < 1e-6


def test_level_two_never_disturbs_level_one(talos):
    """The oracle solves level 1 by a pseudo-inverse, level 2 in the null space of both."""
    q, v = draw_state(talos, 2)
    tasks, goals = build_tasks(talos, q)
    tasks[0].level = 1
    tasks[1].weight = 1e4  # no weight reaches level 1
    answer = hd.WholeBody(talos, tasks, limits=FREE).solve(q, v)
    E, e, _ = list_equations(talos, q, v)
    com, hand, posture = list_rows(talos, q, v, goals)
    strict = np.pad(com[0], ((0, 0), (0, E.shape[1] - talos.nv)))
    a = solve_dense(
        [(*hand[:2], 1e4), posture], np.vstack((E, strict)), np.concatenate((e, com[1])), talos.nv
    )
    np.testing.assert_allclose(answer.a, a, atol=1e-6 * np.abs(a).max())


@pytest.mark.parametrize("share", [0.6, 0.3])
def test_limits_that_act_are_those_of_a_dense_program(talos, share):
    """All rows, in accelerations and forces, by daqp: torque limits and cones are active."""
    weak = replace(talos, limits=replace(talos.limits, effort=share * talos.limits.effort))
    q, v = draw_state(weak, 4)
    tasks, goals = build_tasks(weak, q)
    tasks[0].gain = 4000.0
    limits = hd.WholeBodyLimits(position=False, velocity=False)
    control = hd.WholeBody(weak, tasks, limits=limits, joint_friction=False)
    answer = control.solve(q, v)
    assert answer.certificate.status == "OK"
    E, e, (M, h, J) = list_equations(weak, q, v)
    rows, nv, d = list_rows(weak, q, v, goals), weak.nv, weak.actuated_v
    J_com, b_com, w = rows[0]
    rows[0] = (
        J_com,
        b_com
        + (4000.0 - 20.0) * (b_com * 0.0 + goals[0] - pin.centerOfMass(weak.model, weak.data(), q)),
        w,
    )
    unit = weak.mass * 9.81 * np.tile([1.0, 1.0, 1.0, 0.1, 0.1, 0.1], 2)
    E[:, nv:] *= unit
    H, f = np.zeros((E.shape[1],) * 2), np.zeros(E.shape[1])
    for A, b, weight in rows:
        H[:nv, :nv] += weight * A.T @ A
        f[:nv] -= weight * A.T @ b
    B = J[:, :6] * unit[:, None]
    H[nv:, nv:] += 1e-3 * (np.eye(len(B)) - B @ np.linalg.solve(B.T @ B, B.T))
    H += 1e-9 * np.eye(len(H))
    problem = control.problem
    cones = np.hstack((np.zeros((len(problem.b), nv)), problem.A * unit))
    torques = np.hstack((M[d], -J[:, d].T * unit))
    A = np.vstack((E, cones, torques))
    limit = weak.limits.effort[d]
    upper = np.concatenate((e, problem.b, limit - h[d]))
    lower = np.concatenate((e, np.full(len(problem.b), -1e30), -limit - h[d]))
    sense = np.concatenate((np.full(len(e), 5), np.zeros(len(A) - len(e)))).astype(np.int32)
    x, _, flag, _ = daqp.solve(H, f, A, upper, lower, sense)
    assert flag == 1
    tau = torques @ x + h[d]
    assert (np.abs(tau) > 0.999 * limit).any()
    np.testing.assert_allclose(answer.a, x[:nv], atol=2e-5 * np.abs(x[:nv]).max())
    assert (np.abs(answer.tau) <= limit).all()


def test_bounds_of_range_speed_and_motor():
    robot = hd.load_robot("human28")
    knee = robot.joint("left_knee")
    limits = hd.WholeBodyLimits(corner_speed=0.5, horizon=0.02, deceleration=40.0)
    bounds = JointBounds(robot, limits)
    q, v = np.array(robot.posture), np.zeros(robot.nv)
    at = list(bounds.v).index(knee.v.start)
    top, motor = robot.limits.velocity[knee.v][0], list(robot.actuated_v).index(knee.v.start)
    q[knee.q] = robot.limits.upper[knee.q]
    assert bounds.accelerations(q, v)[1, at] == pytest.approx(0.0, abs=1e-12)
    q[knee.q] -= 0.2
    v[knee.v] = 4.0
    assert bounds.accelerations(q, v)[1, at] == pytest.approx((np.sqrt(80.0 * 0.12) - 4.0) / 0.02)
    for share, driving in ((0.25, 1.0), (0.75, 0.5), (1.2, 0.0)):
        v[knee.v] = share * top
        low, high = bounds.torques(v)[:, motor]
        assert high == pytest.approx(driving * robot.limits.effort[knee.v][0])
        assert low == -robot.limits.effort[knee.v][0]


def test_a_joint_stops_before_the_end_of_its_range():
    """A posture beyond the range is asked for; the joint comes near the end and not beyond it."""
    robot = hd.load_robot("human28")
    knee, dt = robot.joint("left_knee"), 2e-3
    target = np.array(robot.posture)
    target[knee.q] = robot.limits.upper[knee.q] + 1.0
    lifted = [hd.PostureTask(target, gain=100.0, weight=1.0), hd.CenterOfMassTask(weight=1e-3)]
    control = hd.WholeBody(robot, lifted, contacts=["right_foot"])
    q, v, worst = np.array(robot.posture), np.zeros(robot.nv), -np.inf
    for _ in range(400):
        answer = control.solve(q, v)
        v = v + dt * answer.a
        q = pin.integrate(robot.model, q, dt * v)
        worst = max(worst, float((q[knee.q] - robot.limits.upper[knee.q])[0]))
    assert -0.02 < worst < 1e-4


def test_a_target_is_reached_over_time(talos):
    q, v, dt = np.array(talos.posture), np.zeros(talos.nv), 5e-3
    com = hd.CenterOfMassTask(level=1)
    turn = hd.AngularMomentumTask(weight=0.1)
    arm = hd.JointTask([ELBOW], [talos.posture[talos.joint(ELBOW).q][0] - 0.2])
    control = hd.WholeBody(talos, [com, turn, arm, hd.PostureTask(weight=1e-2)])
    start = pin.centerOfMass(talos.model, talos.data(), q).copy()
    com.target = start + np.array([0.02, 0.03, -0.03])
    for _ in range(300):
        answer = control.solve(q, v)
        assert answer.certificate.status == "OK"
        v = v + dt * answer.a
        q = pin.integrate(talos.model, q, dt * v)
    assert np.abs(pin.centerOfMass(talos.model, talos.data(), q) - com.target).max() < 1e-3
    assert abs(q[talos.joint(ELBOW).q][0] - arm.target[talos.joint(ELBOW).q][0]) < 1e-2


@pytest.mark.parametrize("rule", ["minimum_torque_limited", "transition_limited"])
def test_a_rule_chooses_the_forces_and_not_the_motion(talos, rule):
    q, v = draw_state(talos, 1)
    tasks, _ = build_tasks(talos, q)
    plain, ruled = (hd.WholeBody(talos, tasks, rule=each).solve(q, v) for each in (None, rule))
    np.testing.assert_allclose(plain.a, ruled.a, atol=1e-9)
    direct = hd.InverseDynamics(talos, rule=rule).solve(q, v, plain.a)
    np.testing.assert_allclose(ruled.tau, direct.tau, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "contacts"),
    [
        ("talos_reduced", ()),
        ("talos_reduced", ("left_foot",)),
        ("human28", ("left_foot", "right_foot", "left_palm", "right_palm")),
        ("legs12", None),
    ],
)
def test_any_list_of_contacts(name, contacts):
    robot = hd.load_robot(name)
    tasks = [hd.CenterOfMassTask(), hd.PostureTask()]
    control = hd.WholeBody(robot, tasks, contacts)
    for seed in range(2):
        q, v = draw_state(robot, seed, 0.05)
        answer = control.solve(q, 0.0 * v)
        assert np.isfinite(answer.tau).all()
        assert answer.certificate.residual < 1e-6
    if contacts == ():
        data = robot.data()
        pin.centerOfMass(robot.model, data, q, 0.0 * v, answer.a)
        np.testing.assert_allclose(data.acom[0], [0.0, 0.0, -9.81], atol=1e-6)


def test_contacts_come_and_go(talos):
    q, v = np.array(talos.posture), np.zeros(talos.nv)
    control = hd.WholeBody(talos, [hd.PostureTask()])
    answer = control.solve(q, v, [True, False])
    wrenches = list(answer.wrenches.values())
    assert np.abs(wrenches[1].f_W).max() == 0.0
    assert answer.certificate.residual < 1e-8


def test_bad_input_is_a_status_and_the_last_torque(talos):
    q, v = np.array(talos.posture), np.zeros(talos.nv)
    com = hd.CenterOfMassTask()
    control = hd.WholeBody(talos, [com, hd.PostureTask()])
    good = control.solve(q, v)
    nan, target = np.full(talos.nq, np.nan), com.target
    for ask in (
        lambda: control.solve(nan, v),
        lambda: control.solve(q, np.full(talos.nv, np.inf)),
        lambda: control.solve(q[:-1], v),
        lambda: control.solve(q, v[:-2]),
        lambda: control.solve(0.0 * q, v),
        lambda: control.solve(None, "v"),
        lambda: control.solve(q, v, [True]),
        lambda: control.solve(q, v, force=np.full(talos.nv, np.nan)),
        lambda: [setattr(com, "target", np.full(3, np.nan)), control.solve(q, v)][1],
        lambda: [setattr(com, "target", np.zeros(2)), control.solve(q, v)][1],
    ):
        answer = ask()
        assert answer.certificate.status == "INVALID_INPUT", ask
        assert answer.certificate.reasons[0]
        assert answer.relaxation is hd.RelaxationStatus.HELD
        np.testing.assert_array_equal(answer.tau, good.tau)
    com.target = target
    np.testing.assert_allclose(control.solve(q, v).tau, good.tau, atol=1e-9)


def test_wild_states_never_exceed_a_limit(talos):
    control = hd.WholeBody(talos, [hd.CenterOfMassTask(), hd.PostureTask(weight=1.0)])
    rng, limit = np.random.default_rng(0), talos.limits.effort[talos.actuated_v]
    seen = set()
    for scale in (0.1, 1.0, 10.0, 1e3, 1e6):
        for _ in range(6):
            q = pin.integrate(
                talos.model, talos.posture, min(scale, 3.0) * rng.standard_normal(talos.nv)
            )
            answer = control.solve(q, scale * rng.standard_normal(talos.nv))
            assert (np.abs(answer.tau) <= limit).all()
            assert np.isfinite(answer.a).all()
            seen.add(answer.relaxation)
    assert hd.RelaxationStatus.CONTACTS in seen


def test_what_does_not_exist_or_fit_is_refused(talos):
    with pytest.raises(UnknownNameError):
        hd.WholeBody(talos, [hd.FrameTask("no_such_link")])
    with pytest.raises(UnknownNameError):
        hd.WholeBody(talos, [hd.JointTask(["no_such_joint"])])
    with pytest.raises(UnknownNameError):
        hd.WholeBody(talos, [], rule="no_such_rule")
    with pytest.raises(ShapeError):
        hd.WholeBody(talos, [hd.PostureTask(np.zeros(3))])
    with pytest.raises(ShapeError):
        hd.CenterOfMassTask(level=3)
    with pytest.raises(ShapeError):
        hd.FrameTask("hand", rows=(7,))
