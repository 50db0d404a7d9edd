# SPDX-License-Identifier: Apache-2.0
"""The shared values of the equation of motion against Pinocchio's constrained dynamics and against finite differences."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.resolution.problem import DynamicsProblem

ROBOTS = {
    "human28": ("left_foot", "right_foot", "right_palm"),
    "g1": ("left_foot", "right_foot"),
    "bolt": None,
}


def move(robot, seed=3):
    rng = np.random.default_rng(seed)
    q = pin.integrate(robot.model, robot.posture, 0.1 * rng.standard_normal(robot.nv))
    return q, *(0.5 * rng.standard_normal((2, robot.nv)))


def load(name):
    try:
        return hd.load_robot(name)
    except hd.MissingExtraError as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("given", [False, True], ids=["no acceleration", "acceleration"])
def test_terms_and_rows(name, given):
    """h, M and gamma are the same whether an acceleration was given or not."""
    robot = load(name)
    problem, (q, v, a) = DynamicsProblem(robot, ROBOTS[name]), move(robot)
    assert problem.update(q, v, a if given else None) == ""
    M, h, data = problem.M, problem.h, robot.data()
    np.testing.assert_allclose(M @ a + h, pin.rnea(robot.model, data, q, v, a), atol=1e-9)
    np.testing.assert_allclose(problem.M_factor.T @ problem.M_factor, M, atol=1e-10)
    np.testing.assert_allclose(problem.tau_0, M @ problem.a + h, atol=1e-9)
    pin.forwardKinematics(robot.model, data, q, v, a)
    for contact in problem.contacts:
        frame = contact.surface.frame
        speed = pin.getFrameVelocity(robot.model, data, frame, pin.LOCAL).vector
        rate = pin.getFrameAcceleration(robot.model, data, frame, pin.LOCAL).vector
        J, gamma = problem.J[contact.part], problem.gamma[contact.part]
        np.testing.assert_allclose(J @ v, contact.held.T @ speed, atol=1e-10)
        np.testing.assert_allclose(J @ a - gamma, contact.held.T @ rate, atol=1e-9)


def test_a_dense_solve_of_the_rows_is_constrained_dynamics():
    """M a + h = S' tau + J'f and J a = gamma, solved together, is what Pinocchio finds for two feet that do not move."""
    robot = load("human28")
    problem, (q, v, _) = DynamicsProblem(robot), move(robot)
    tau = np.zeros(robot.nv)
    tau[robot.actuated_v] = np.random.default_rng(4).standard_normal(len(robot.actuated_v))
    problem.update(q, v)
    J, M = problem.J, problem.M
    K = np.block([[M, -J.T], [J, np.zeros((len(J), len(J)))]])
    a = np.linalg.solve(K, np.concatenate((tau - problem.h, problem.gamma)))[: robot.nv]
    models, rows = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    models.extend(
        pin.RigidConstraintModel(
            pin.ContactType.CONTACT_6D,
            robot.model,
            robot.model.frames[surface.frame].parentJoint,
            robot.model.frames[surface.frame].placement,
            pin.ReferenceFrame.LOCAL,
        )
        for surface in problem.surfaces
    )
    rows.extend(each.createData() for each in models)
    data = robot.data()
    pin.initConstraintDynamics(robot.model, data, models, rows)
    settings = pin.ProximalSettings(1e-12, 1e-8, 5)
    expected = pin.constraintDynamics(robot.model, data, q, v, tau, models, rows, settings)
    np.testing.assert_allclose(a, expected, atol=1e-6)


def test_a_contact_may_be_given_as_a_surface():
    robot = load("human28")
    surface = robot.surface("right_palm")
    problem = DynamicsProblem(robot, ("left_foot", surface))
    assert [contact.name for contact in problem.contacts] == ["left_foot", "right_palm"]
    assert problem.size == 12


def test_a_contact_that_does_not_touch_has_no_rows():
    robot = load("human28")
    problem, (q, v, a) = DynamicsProblem(robot), move(robot)
    problem.update(q, v, a, active=(True, False))
    left, right = (contact.part for contact in problem.contacts)
    assert not problem.J[right].any()
    assert not problem.gamma[right].any()
    assert problem.gamma[left].any()
