# SPDX-License-Identifier: Apache-2.0
"""Robots with closed loops through the front door: motor torques against a dense solve of all rows, and the motion that they make."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.constraints.constraint_set import ConstraintSet
from humanoid_dynamics.constraints.contact import build_contact
from humanoid_dynamics.constraints.null_space import DynamicsStatus
from humanoid_dynamics.dynamics.closure import close_position
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.resolution.rules import RULES

ROBOTS = Path(__file__).parents[2] / "../shared/data/robots"


@pytest.fixture(scope="module")
def digit():
    path = ROBOTS / "digit_like_2legs.urdf"
    if not path.is_file():
        pytest.skip("digit_like_2legs.urdf of example-parallel-robots is not beside the project")
    robot = hd.load_robot(path, root="free_flyer")
    effort = np.where(
        np.isfinite(robot.limits.effort), 500.0, robot.limits.effort
    )  # the file says 1 N·m of every motor
    return replace(robot, limits=replace(robot.limits, effort=effort))


def closed_motion(robot, seed, speed=0.3, push=1.0):
    """A closed configuration near the resting one, and a motion that keeps loops closed and soles at rest."""
    rng = np.random.default_rng(seed)
    standing = Mechanism(
        robot, ConstraintSet.of(robot, [build_contact(robot, name) for name in robot.surfaces])
    )
    start = pin.integrate(robot.model, robot.posture, 0.05 * rng.normal(size=robot.nv))
    closed = close_position(Mechanism(robot), start, tolerance=1e-13)
    assert closed.status is DynamicsStatus.OK
    standing.place(closed.q)
    v = standing.null_space.Gamma @ (speed * rng.normal(size=standing.nu))
    standing.update(closed.q, v)
    return (
        closed.q,
        v,
        standing.null_space.Gamma @ (push * rng.normal(size=standing.nu))
        + standing.null_space.beta,
    )


def dense(robot, q, v, a):
    """Least squared torques over contact wrenches and loop forces, in the null space of the equations, by numpy alone."""
    loops = Mechanism(robot)
    loops.update(q, v)
    data = robot.data()
    pin.computeJointJacobians(robot.model, data, q)
    contact = np.vstack(
        [
            pin.getFrameJacobian(robot.model, data, robot.surfaces[name].frame, pin.LOCAL)
            for name in robot.surfaces
        ]
    )
    J, tau_0 = np.vstack((contact, loops.J)), pin.rnea(robot.model, robot.data(), q, v, a)
    driven = robot.actuated_v
    rest = np.setdiff1d(np.arange(robot.nv), driven)
    A, b = J[:, rest].T, tau_0[rest]
    x_0, _, rank, _ = np.linalg.lstsq(A, b, rcond=1e-11)
    np.testing.assert_allclose(A @ x_0, b, atol=1e-8)
    N = np.linalg.svd(A)[2][rank:].T
    y = np.linalg.lstsq(J[:, driven].T @ N, tau_0[driven] - J[:, driven].T @ x_0, rcond=1e-11)[0]
    return tau_0[driven] - J[:, driven].T @ (x_0 + N @ y)


@pytest.mark.parametrize("seed", range(4))
def test_least_torques_are_those_of_a_dense_solve(digit, seed):
    q, v, a = closed_motion(digit, seed)
    answer = hd.inverse_dynamics(digit, hd.State(q, v), a, tuple(digit.surfaces), "minimum_torque")
    expected = dense(digit, q, v, a)
    assert answer.certificate.residual < 1e-8 * digit.mass * 9.81
    np.testing.assert_allclose(answer.tau, expected, atol=1e-3)  # the small weight of wrenches
    assert np.linalg.norm(answer.tau) == pytest.approx(np.linalg.norm(expected), rel=1e-8)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_makes_the_motion_that_was_asked_for(digit, rule):
    q, v, a = closed_motion(digit, 7, speed=0.05, push=0.2)
    answer = hd.inverse_dynamics(digit, hd.State(q, v), a, tuple(digit.surfaces), rule)
    assert answer.certificate.status in {"OK", "INFEASIBLE_CONTACT"}, answer.certificate.reasons
    standing = Mechanism(
        digit, ConstraintSet.of(digit, [build_contact(digit, name) for name in digit.surfaces])
    )
    standing.update(q, v)
    force = np.zeros(digit.nv)
    force[digit.actuated_v] = answer.tau
    G, M = standing.null_space.Gamma, pin.crba(digit.model, digit.data(), q)
    M = np.triu(M) + np.triu(M, 1).T
    h = pin.nonLinearEffects(digit.model, digit.data(), q, v)
    beta = standing.null_space.beta
    made = G @ np.linalg.solve(G.T @ M @ G, G.T @ (force - h - M @ beta)) + beta
    np.testing.assert_allclose(made, a, atol=1e-6)


def test_weight_is_on_the_soles(digit):
    q, zero = digit.posture, np.zeros(digit.nv)
    answer = hd.inverse_dynamics(
        digit, hd.State(q, zero), zero, tuple(digit.surfaces), "minimum_torque_limited"
    )
    assert answer.certificate.status == "OK", answer.certificate.reasons
    assert sum(w.normal_force for w in answer.wrenches.values()) == pytest.approx(
        digit.mass * 9.81, rel=1e-9
    )


def test_a_motion_that_tears_a_loop_is_told(digit):
    q, v, a = closed_motion(digit, 3)
    solver = hd.InverseDynamics(digit, tuple(digit.surfaces))
    for torn, word in (((q, v + 0.1, a), "m/s"), ((q, v, a + 1.0), "m/s²")):
        certificate = solver.solve(*torn).certificate
        assert certificate.status == "UNSUPPORTED"
        assert any(
            "does not close the loops" in reason and word in reason
            for reason in certificate.reasons
        )
    moved = np.array(q)
    moved[10] += 0.3
    assert any("open by" in reason for reason in solver.solve(moved, v, a).certificate.reasons)
    assert solver.solve(q, v, a).certificate.status != "UNSUPPORTED"


@pytest.mark.parametrize("name", ["fourbar", "fivebar", "stewart", "parallelogram", "bennett"])
def test_mechanisms_of_ours(name):
    """Torques of a closed chain on a fixed base do the work of its motion."""
    robot = hd.load_robot(name)
    mechanism, rng = Mechanism(robot), np.random.default_rng(1)
    v = mechanism.null_space.Gamma @ rng.normal(size=mechanism.nu)
    mechanism.update(robot.posture, v)
    a = mechanism.null_space.Gamma @ rng.normal(size=mechanism.nu) + mechanism.null_space.beta
    answer = hd.inverse_dynamics(robot, hd.State(robot.posture, v), a, ())
    force = pin.rnea(robot.model, robot.data(), robot.posture, v, a)
    np.testing.assert_allclose(
        mechanism.null_space.Gamma.T @ force,
        mechanism.null_space.Gamma[robot.actuated_v].T @ answer.tau,
        atol=1e-6 * (1 + abs(force).max()),
    )
