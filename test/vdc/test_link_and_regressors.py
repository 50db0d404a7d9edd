# SPDX-License-Identifier: Apache-2.0
"""The link subsystem and the matrices that multiply unknown masses."""

import numpy as np
import pinocchio as pin
import pytest
from trees import random_motion, random_tree

import humanoid_dynamics as hd
from humanoid_dynamics.papers.vdc.decomposition import decompose
from humanoid_dynamics.papers.vdc.inverse import solve_subsystems
from humanoid_dynamics.papers.vdc.joint import JointParameters
from humanoid_dynamics.papers.vdc.link import (
    build_link_coriolis,
    build_link_gravity,
    build_link_mass,
    build_link_regressor,
)
from humanoid_dynamics.papers.vdc.motion import (
    FrameFinder,
    compute_link_motion,
    compute_required_motion,
)
from humanoid_dynamics.papers.vdc.power_flow import compute_power_flows
from humanoid_dynamics.papers.vdc.regressor import (
    build_global_regressor,
    build_local_regressors,
    collect_regressor,
    stack_parameters,
)
from humanoid_dynamics.papers.vdc.wrench import (
    compute_cut_wrenches,
    compute_net_wrenches,
    compute_up,
)

UP = np.array([0.3, -2.0, 9.5])


def random_link(seed):
    pin.seed(seed)
    rng = np.random.default_rng(seed)
    inertia = pin.Inertia.Random()
    return inertia, rng.normal(size=6), rng.normal(size=6), rng.normal(size=6)


def matrices(inertia, w):
    m, r, I_com = np.float64(inertia.mass), inertia.lever, inertia.inertia
    return (
        build_link_mass(m, r, I_com),
        build_link_coriolis(m, r, I_com, w),
        build_link_gravity(m, r, UP),
    )


# BP-23: regressors and virtual power flow


@pytest.mark.parametrize("seed", range(5))
def test_a_link_is_linear_in_ten_parameters(seed):
    inertia, V, A, _ = random_link(seed)
    M, C, g = matrices(inertia, V[3:])
    Y = build_link_regressor(A, V, V[3:], UP)
    assert np.abs(Y @ inertia.toDynamicParameters() - (M @ A + C @ V + g)).max() < 1e-13
    assert (
        np.abs(Y - pin.bodyRegressor(pin.Motion(V), pin.Motion(A + np.r_[UP, 0, 0, 0]))).max()
        < 1e-14
    )


@pytest.mark.parametrize("seed", range(5))
def test_required_regressor_differs_by_a_skew_matrix(seed):
    """Y(A_r, V_r) p = M A_r + C' V_r + g with C' skew; e'(Y(V_r) - Y(V)) p has no velocity part left but M."""
    inertia, V, A, e = random_link(seed)
    p, M = inertia.toDynamicParameters(), matrices(inertia, V[3:])[0]
    difference = (
        build_link_regressor(A, V + e, V[3:], UP) - build_link_regressor(A, V, V[3:], UP)
    ) @ p
    assert abs(e @ difference) < 1e-12
    assert (
        np.abs(
            (build_link_regressor(A + e, V, V[3:], UP) - build_link_regressor(A, V, V[3:], UP)) @ p
            - M @ e
        ).max()
        < 1e-12
    )


def test_the_other_skew_matrix_is_not_linear_in_ten_parameters():
    """With a required velocity M A + C V_r + g cannot be written as Y p: two links with equal p would have to have equal C."""
    I_com, m, r = np.eye(3), 2.0, np.array([0.2, -0.1, 0.4])
    V, V_r = np.random.default_rng(4).normal(size=(2, 6))

    def wrench(mass, lever):
        moment = I_com - mass * (lever @ lever * np.eye(3) - np.outer(lever, lever))
        return np.array(
            [
                build_link_coriolis(np.float64(mass), lever, moment, V[3:]) @ V_r,
                np.r_[pin.Inertia(mass, lever, moment).toDynamicParameters()[:6]],
            ]
        )

    mean = 0.5 * (wrench(m, r)[0] + wrench(m, -r)[0])
    middle = wrench(m, np.zeros(3))[0]
    p = [
        pin.Inertia(m, x, I_com - m * (x @ x * np.eye(3) - np.outer(x, x))).toDynamicParameters()
        for x in (r, -r, np.zeros(3))
    ]
    assert np.abs(0.5 * (p[0] + p[1]) - p[2]).max() < 1e-15
    assert np.abs(mean - middle).max() > 1e-2


@pytest.mark.parametrize("seed", range(6))
def test_global_regressor(seed):
    """Of trees with free bases, spherical and composite joints; friction columns included."""
    robot = random_tree(seed, size=6, base="free_flyer" if seed % 2 else None)
    rng = np.random.default_rng(seed)
    parameters = JointParameters(
        np.array(robot.model.armature), *rng.uniform(0.1, 1.0, size=(5, robot.nv))
    )
    q, v, a = random_motion(robot.model, seed)
    tau = solve_subsystems(robot, hd.State(q, v), a, joint_parameters=parameters).tau
    Y = build_global_regressor(robot, q, v, a, parameters)
    body = decompose(robot, parameters)
    assert np.abs(Y @ stack_parameters(body) - tau).max() < 1e-11 * (1 + np.abs(tau).max())
    frames = FrameFinder(body).at(q)
    collected = collect_regressor(
        body, frames, build_local_regressors(body, frames, compute_link_motion(body, frames, v, a))
    )
    assert np.abs(collected - Y[:, : collected.shape[1]]).max() < 1e-11


def virtual(robot, seed):
    """Return velocity and wrench errors of required against actual motion, at true parameters."""
    body = decompose(robot)
    q, v, a = random_motion(robot.model, seed)
    v_r, a_r = np.random.default_rng(seed + 50).normal(size=(2, robot.nv))
    frames = FrameFinder(body).at(q)
    motion, required = (
        compute_link_motion(body, frames, v, a),
        compute_required_motion(body, frames, v, v_r, a_r),
    )
    net = compute_net_wrenches(body, frames, motion)
    net_r = (
        build_link_regressor(required.A, required.V, motion.V[:, 3:], compute_up(body, frames))
        @ body.link_parameters()[..., None]
    )[..., 0]
    f, f_r = compute_cut_wrenches(body, frames, net), compute_cut_wrenches(body, frames, net_r)
    return body, frames, motion, required, (f_r - f, net_r - net), v_r - v


@pytest.mark.parametrize("seed", range(6))
def test_virtual_power_flows_cancel(seed):
    robot = random_tree(seed, size=7, base="free_flyer" if seed % 2 else None)
    body, frames, motion, required, (f_error, net_error), rate_error = virtual(robot, seed)
    error = required.V - motion.V
    flows = compute_power_flows(body, frames, error, f_error, rate_error)
    scale = 1.0 + np.abs(flows.driven).sum()
    assert np.abs(flows.driven - flows.driving - flows.joints).max() < 1e-12 * scale
    assert abs(flows.links.sum() - flows.joints.sum()) < 1e-12 * scale
    assert np.abs(flows.links - np.einsum("ni,ni->n", error, net_error)).max() < 1e-12 * scale


@pytest.mark.parametrize("seed", range(6))
def test_the_flow_into_a_link_is_the_growth_of_its_error(seed):
    """(V_r - V)'(f*_r - f*) = d/dt of (V_r - V)' M (V_r - V)/2: nothing else is left, because C' is skew."""
    body, _, motion, required, (_, net_error), _ = virtual(random_tree(seed, size=5), seed)
    error, rate = required.V - motion.V, required.A - motion.A
    growth = np.einsum("ni,nij,nj->n", error, body.M, rate)
    assert np.abs(np.einsum("ni,ni->n", error, net_error) - growth).max() < 1e-11 * (
        1 + np.abs(growth).max()
    )
