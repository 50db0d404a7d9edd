# SPDX-License-Identifier: Apache-2.0
"""Independent makers of the same equations: sympy's Kane method, and plain pinocchio with one row per wheel."""

import numpy as np
import pinocchio as pin
import pytest
import sympy as sp
import sympy.physics.mechanics as me
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.papers.snake import (
    SnakeModel,
    SnakeState,
    build_snake_description,
    build_snake_urdf,
    compute_reference,
    compute_side_forces,
    forward_dynamics,
    from_robot_state,
    to_robot_state,
)


def draw(n, seed=0):
    rng = np.random.default_rng([n, seed])
    model = SnakeModel(
        rng.uniform(0.5, 2.0, n), rng.uniform(0.002, 0.02, n), rng.uniform(0.05, 0.2, n)
    )
    return (
        model,
        SnakeState(rng.uniform(-1.5, 1.5, n), rng.normal(size=2), rng.normal(size=2)),
        rng.normal(size=n - 1),
    )


def build_sympy_chain(model, torques):
    """Kane's method for all n + 2 coordinates with the wheels as velocity constraints: nothing of the recursion."""
    n, h = model.n, model.half_lengths
    q, speeds = me.dynamicsymbols(f"q1:{n + 3}"), me.dynamicsymbols(f"s1:{n + 3}")
    N, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(N, 0)
    frames = [N.orientnew(f"A{i}", "Axis", [q[i], N.z]) for i in range(n)]
    for frame, speed in zip(frames, speeds, strict=False):
        frame.set_ang_vel(N, speed * N.z)
    centres = [origin.locatenew("G0", q[n] * N.x + q[n + 1] * N.y)]
    centres[0].set_vel(N, speeds[n] * N.x + speeds[n + 1] * N.y)
    for i in range(1, n):
        joint = centres[-1].locatenew(f"J{i}", h[i - 1] * frames[i - 1].x)
        joint.v2pt_theory(centres[-1], N, frames[i - 1])
        centres.append(joint.locatenew(f"G{i}", h[i] * frames[i].x))
        centres[-1].v2pt_theory(joint, N, frames[i])
    bodies = [
        me.RigidBody(
            f"B{i}",
            centres[i],
            frames[i],
            model.masses[i],
            (me.inertia(frames[i], 0, 0, model.inertias[i]), centres[i]),
        )
        for i in range(n)
    ]
    net = [ahead - behind for ahead, behind in zip((0, *torques), (*torques, 0), strict=True)]
    method = me.KanesMethod(
        N, q, [speeds[0], speeds[n]],
        kd_eqs=[qi.diff() - si for qi, si in zip(q, speeds, strict=True)],
        u_dependent=[*speeds[1:n], speeds[n + 1]],
        velocity_constraints=[centre.vel(N).dot(frame.y) for centre, frame in zip(centres, frames, strict=True)],
    )  # fmt: skip
    method.kanes_equations(
        bodies, [(frame, moment * N.z) for frame, moment in zip(frames, net, strict=True)]
    )
    return method, q, speeds


@pytest.mark.parametrize("n", [2, 3, 4])
def test_sympy_derives_the_same_accelerations(n):
    model, state, torques = draw(n)
    rates = forward_dynamics(model, state, torques)
    method, q, speeds = build_sympy_chain(model, torques)
    values = dict(
        zip(
            (*q, *speeds),
            (*state.theta, *state.position, *rates.theta_dot, *rates.position_dot),
            strict=True,
        )
    )
    matrix, right = (
        np.array(part.subs(values).evalf(), dtype=float)
        for part in (method.mass_matrix, method.forcing)
    )
    accelerations = dict(
        zip(
            (speeds[0], speeds[n], *speeds[1:n], speeds[n + 1]),
            np.linalg.solve(matrix, right[:, 0]),
            strict=True,
        )
    )
    along = (
        np.cos(state.theta[0]) * accelerations[speeds[n]]
        + np.sin(state.theta[0]) * accelerations[speeds[n + 1]]
    )
    assert_allclose(rates.u_dot, [along, accelerations[speeds[0]]], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n", [2, 3])
def test_sympy_draws_the_same_motion(n):
    """Unequal links under torques that the paper does not have: both equations integrated by themselves, to the last digits."""
    model, start, torques = draw(n, 5)
    start, times = (
        SnakeState(start.theta, 0.5 * start.u, start.position),
        np.array([0.0, 0.25, 0.5]),
    )
    law = [0.1 * T * sp.sin(4.0 * me.dynamicsymbols._t + k) for k, T in enumerate(torques)]
    method, q, speeds = build_sympy_chain(model, law)
    ordered = (speeds[0], speeds[n], *speeds[1:n], speeds[n + 1])
    parts = sp.lambdify(
        (me.dynamicsymbols._t, q, speeds), (method.mass_matrix, method.forcing), cse=True
    )

    def rate(t, y):
        matrix, right = parts(t, y[: n + 2], y[n + 2 :])
        rates = dict(zip(ordered, np.linalg.solve(matrix, right[:, 0]), strict=True))
        return np.concatenate((y[n + 2 :], [rates[speed] for speed in speeds]))

    first = forward_dynamics(model, start, np.zeros(n - 1))
    y = np.concatenate((start.theta, start.position, first.theta_dot, first.position_dot))
    theirs = solve_ivp(rate, (0.0, 0.5), y, "DOP853", t_eval=times, rtol=1e-11, atol=1e-13).y.T
    ours = compute_reference(
        model,
        start,
        lambda t, _theta, _u: 0.1 * torques * np.sin(4.0 * t + np.arange(n - 1)),
        times,
        compiled=False,
    )
    assert np.abs(ours.theta[-1] - start.theta).max() > 0.2
    assert_allclose(theirs[:, :n], ours.theta, atol=1e-8)
    assert_allclose(theirs[:, n : n + 2], ours.position, atol=1e-8)


def solve_with_pinocchio(model, state, torques, is_classical=False):
    """Accelerations and multipliers of the URDF with the rows its description asks for."""
    robot = pin.buildModelFromXML(build_snake_urdf(model))
    wheels = build_snake_description(model)["wheels"]
    for name, wheel in wheels.items():
        link = robot.frames[robot.getFrameId(wheel["link"])]
        X_LW = pin.SE3(pin.rpy.rpyToMatrix(*wheel["rpy"]), np.array(wheel["xyz"]))
        robot.addFrame(
            pin.Frame(name, link.parentJoint, link.placement * X_LW, pin.FrameType.OP_FRAME)
        )
    data = robot.createData()
    q, v = to_robot_state(model, state)
    pin.computeJointJacobians(robot, data, q)
    pin.forwardKinematics(robot, data, q, v, np.zeros(robot.nv))
    frames = [robot.getFrameId(name) for name in wheels]
    J = np.array([pin.getFrameJacobian(robot, data, frame, pin.LOCAL)[1] for frame in frames])
    acceleration = pin.getFrameClassicalAcceleration if is_classical else pin.getFrameAcceleration
    gamma = np.array([acceleration(robot, data, frame, pin.LOCAL).linear[1] for frame in frames])
    M = pin.crba(robot, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    force = np.concatenate((np.zeros(3), torques)) - pin.nle(robot, data, q, v)
    K = np.block([[M, -J.T], [J, np.zeros((model.n, model.n))]])
    solution = np.linalg.solve(K, np.concatenate((force, -gamma)))
    a = solution[: robot.nv]
    u_dot = np.array([np.cos(state.theta[0]) * a[0] + np.sin(state.theta[0]) * a[1], a[2]])
    return u_dot, solution[robot.nv :], J @ v


@pytest.mark.parametrize("n", [1, 2, 3, 7, 12])
@pytest.mark.parametrize("seed", range(3))
def test_sn9_the_urdf_is_the_same_snake(n, seed):
    model, state, torques = draw(n, seed)
    u_dot = forward_dynamics(model, state, torques).u_dot
    theirs, lam, slip = solve_with_pinocchio(model, state, torques)
    assert_allclose(slip, 0.0, atol=1e-12)
    assert_allclose(theirs, u_dot, rtol=1e-12, atol=1e-12 * (1.0 + np.abs(u_dot).max()))
    side = compute_side_forces(model, state, torques, u_dot)
    assert_allclose(side.lam, lam, rtol=1e-10, atol=1e-10)
    assert side.residual < 1e-11


def test_sn9_err_classical_acceleration_is_the_wrong_bias_for_a_wheel():
    model, state, torques = draw(4)
    wrong = solve_with_pinocchio(model, state, torques, is_classical=True)[0]
    assert np.abs(wrong - forward_dynamics(model, state, torques).u_dot).max() > 0.1


@pytest.mark.parametrize("n", [1, 5])
def test_states_survive_the_way_to_the_urdf_and_back(n):
    model, state, _ = draw(n)
    again = from_robot_state(model, *to_robot_state(model, state))
    assert_allclose(np.cos(again.theta - state.theta), 1.0)
    assert_allclose(again.u, state.u)
    assert_allclose(again.position, state.position)


def test_a_joint_without_direction_is_refused():
    model = SnakeModel.uniform(2)
    with pytest.raises(ShapeError, match="q: received cosine and sine both zero"):
        from_robot_state(model, np.zeros(6), np.zeros(4))


def test_description_names_what_the_urdf_has():
    model = SnakeModel.uniform(3)
    description = build_snake_description(model, "adder")
    robot = pin.buildModelFromXML(build_snake_urdf(model, "adder"))
    assert robot.name == description["name"] == "adder"
    assert list(robot.names)[1:] == [*description["passive"], "joint_1", "joint_2"]
    assert all(robot.existFrame(wheel["link"]) for wheel in description["wheels"].values())
    assert robot.check(robot.createData())
    assert sum(body.mass for body in robot.inertias) == pytest.approx(3.0)
