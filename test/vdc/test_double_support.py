# SPDX-License-Identifier: Apache-2.0
"""Two limbs and a trunk in three dimensions: the internal wrench, and the procedures of the biped paper on any robot."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.errors import HumanoidDynamicsError, ShapeError, UnknownNameError
from humanoid_dynamics.papers.vdc.double_support import (
    build_double_support,
    choose_contact_wrench,
    choose_minimum_torque,
)
from humanoid_dynamics.papers.vdc.inverse import solve_subsystems

CASES = [
    ("human28", "left_foot", "right_foot", "pelvis"),
    ("human40", "left_foot", "right_foot", "pelvis"),
    ("legs12", "right_foot", "left_foot", "trunk"),
    ("human28", "left_palm", "right_palm", "torso"),
    ("human28", "left_foot", "right_palm", "pelvis"),
]


def moving(name, seed=0):
    robot = hd.load_robot(name)
    rng = np.random.default_rng(seed)
    q = pin.integrate(robot.model, robot.posture, 0.3 * rng.normal(size=robot.nv))
    return robot, hd.State(q, rng.normal(size=robot.nv)), rng.normal(size=robot.nv)


def free_torques(robot, state, a, first, second):
    """RNEA without armature, and the contact Jacobians in axes of the contacts: independent of the recursion."""
    data = robot.data()
    tau = np.array(pin.rnea(robot.model, data, state.q, state.v, a)) - robot.model.armature * a
    pin.computeJointJacobians(robot.model, data, state.q)
    return tau, [
        pin.getFrameJacobian(robot.model, data, robot.surface(name).frame, pin.ReferenceFrame.LOCAL)
        for name in (first, second)
    ]


@pytest.mark.parametrize(("name", "first", "second", "trunk"), CASES)
def test_every_choice_satisfies_the_equation_of_motion(name, first, second, trunk):
    robot, state, a = moving(name)
    support = build_double_support(solve_subsystems(robot, state, a), first, second)
    assert support.trunk == trunk
    tau_0, (J_1, J_2) = free_torques(robot, state, a, first, second)
    limbs = np.concatenate((support.first.coordinates, support.second.coordinates))
    wanted = np.array([5.0, -8.0, 200.0, 3.0, -2.0, 1.0])
    released = np.eye(6)[[4]]
    for choice in (
        choose_minimum_torque(support),
        choose_minimum_torque(support, released),
        choose_contact_wrench(support, wanted),
    ):
        tau = tau_0 - J_1.T @ choice.first_wrench - J_2.T @ choice.second_wrench
        assert np.abs(tau[:6]).max() < 1e-9
        assert np.abs(tau[limbs] - choice.loads).max() < 1e-9
    assert np.abs(choose_contact_wrench(support, wanted).second_wrench - wanted).max() < 1e-9
    assert abs(choose_minimum_torque(support, released).second_wrench[4]) < 1e-9


@pytest.mark.parametrize(("name", "first", "second", "trunk"), CASES)
def test_tip_matrices_are_rigid_shifts(name, first, second, trunk):
    robot, state, a = moving(name, 1)
    support = build_double_support(solve_subsystems(robot, state, a), first, second)
    for limb in (support.first, support.second):
        assert np.linalg.det(limb.B_tip) == pytest.approx(1.0, abs=1e-12)
        assert limb.B.shape == (len(limb.coordinates), 6)


@pytest.mark.parametrize(("name", "first", "second", "trunk"), CASES)
@pytest.mark.parametrize("released", [None, np.eye(6)[[4]], np.eye(6)[3:]])
def test_procedures_1_and_2_agree_for_every_split(name, first, second, trunk, released):
    """A flat contact releases nothing, an edge the moment about itself, a point all three: the split never matters."""
    robot, state, a = moving(name, 2)
    support = build_double_support(solve_subsystems(robot, state, a), first, second)
    root = np.random.default_rng(5).normal(size=(len(support.affine()[1]),) * 2)
    for weight in (None, root @ root.T + np.eye(len(root))):
        second_procedure = choose_minimum_torque(support, released, weight)
        if released is not None:
            assert np.abs(released @ second_procedure.second_wrench).max() < 1e-8
        for split in (0.25, 0.5, 1.0):
            choice = choose_minimum_torque(support, released, weight, split)
            assert np.abs(choice.loads - second_procedure.loads).max() < 1e-7
            assert np.abs(choice.eta + split * support.f4 - second_procedure.eta).max() < 1e-6


@pytest.mark.parametrize(("name", "first", "second", "trunk"), CASES)
def test_least_torque_over_all_contact_wrenches(name, first, second, trunk):
    """The same minimum, found from RNEA and Jacobians with all twelve wrench components unknown."""
    robot, state, a = moving(name, 3)
    support = build_double_support(solve_subsystems(robot, state, a), first, second)
    tau_0, Js = free_torques(robot, state, a, first, second)
    J = np.vstack(Js)
    base, rest = J[:, :6].T, J[:, 6:].T
    w_0, *_ = np.linalg.lstsq(base, tau_0[:6], rcond=None)
    N = np.linalg.svd(base)[2][6:].T
    y, *_ = np.linalg.lstsq(rest @ N, tau_0[6:] - rest @ w_0, rcond=None)
    best = np.linalg.norm(tau_0[6:] - rest @ (w_0 + N @ y))
    choice = choose_minimum_torque(support)
    tau = tau_0 - J.T @ np.concatenate((choice.first_wrench, choice.second_wrench))
    assert np.linalg.norm(tau[6:]) == pytest.approx(best, rel=1e-10)


@pytest.mark.parametrize(("name", "first", "second", "trunk"), CASES)
def test_procedures_3_and_4_agree(name, first, second, trunk):
    robot, state, a = moving(name, 4)
    support = build_double_support(solve_subsystems(robot, state, a), first, second)
    for scale in (-3.0, 0.0, 0.4, 2.0):
        wanted = scale * np.array([10.0, 5.0, 300.0, 4.0, -6.0, 2.0])
        third, fourth = (
            choose_contact_wrench(support, wanted),
            choose_contact_wrench(support, wanted, least_internal=True),
        )
        assert np.abs(third.loads - fourth.loads).max() < 1e-9
        assert 0.0 <= fourth.split <= 1.0


def test_a_third_contact_is_part_of_the_rest():
    """A hand on a rail with a known wrench changes what the legs carry, and the balance still holds."""
    robot, state, a = moving("human28", 6)
    rail = {"left_palm": np.array([20.0, 10.0, 60.0, 1.0, 0.0, 0.5])}
    support = build_double_support(
        solve_subsystems(robot, state, a, rail), "left_foot", "right_foot"
    )
    choice = choose_minimum_torque(support)
    tau_0, (J_1, J_2) = free_torques(robot, state, a, "left_foot", "right_foot")
    data = robot.data()
    pin.computeJointJacobians(robot.model, data, state.q)
    J = pin.getFrameJacobian(
        robot.model, data, robot.surface("left_palm").frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    )
    tau = (
        tau_0 - J_1.T @ choice.first_wrench - J_2.T @ choice.second_wrench - J.T @ rail["left_palm"]
    )
    assert np.abs(tau[:6]).max() < 1e-9
    without = choose_minimum_torque(
        build_double_support(solve_subsystems(robot, state, a), "left_foot", "right_foot")
    )
    assert np.abs(choice.loads - without.loads).max() > 1.0


def test_what_is_refused():
    robot, state, a = moving("human28")
    answer = solve_subsystems(robot, state, a)
    with pytest.raises(HumanoidDynamicsError, match="not at the ends of two limbs"):
        build_double_support(answer, "left_foot", "left_foot")
    with pytest.raises(UnknownNameError, match="no contact surface named 'tail'"):
        build_double_support(answer, "left_foot", "tail")
    fixed = hd.load_robot("human28", root="fixed")
    still = hd.State.at_rest(fixed)
    with pytest.raises(HumanoidDynamicsError, match="needs a free base"):
        build_double_support(
            solve_subsystems(fixed, still, np.zeros(fixed.nv)), "left_foot", "right_foot"
        )
    support = build_double_support(answer, "left_foot", "right_foot")
    with pytest.raises(ShapeError, match="released"):
        choose_minimum_torque(support, np.zeros(6))
    size = len(support.affine()[1])
    for released in (np.full((1, 6), np.nan), np.eye(5), "all"):
        with pytest.raises(ShapeError, match="released"):
            choose_minimum_torque(support, released)
    for weight in (
        np.eye(3),
        np.full((size, size), np.nan),
        -np.eye(size),
        np.triu(np.ones((size, size))),
    ):
        with pytest.raises(ShapeError, match="weight"):
            choose_minimum_torque(support, weight=weight)
    with pytest.raises(ShapeError, match="split"):
        choose_minimum_torque(support, split=np.nan)
