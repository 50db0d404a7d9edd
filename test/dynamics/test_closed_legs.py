# SPDX-License-Identifier: Apache-2.0
"""Legs with closed loops, from URDF and YAML: they close, tell their mobility, and their motor torques do what was asked."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from humanoid_dynamics.constraints.constraint_set import ConstraintSet
from humanoid_dynamics.constraints.contact import build_contact
from humanoid_dynamics.constraints.null_space import DynamicsStatus
from humanoid_dynamics.dynamics.closure import close_position
from humanoid_dynamics.dynamics.inverse import solve_inverse
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.dynamics.reduction import recover_loop_forces, reduce_balance
from humanoid_dynamics.model.load import load_robot

ROBOTS = Path(__file__).parents[2] / "../shared/data/robots"
DIGIT, CASSIE = "digit_like_2legs", "cassie_like"


def load(name, root):
    path = ROBOTS / f"{name}.urdf"
    if not path.is_file():
        pytest.skip(f"{name}.urdf of example-parallel-robots is not beside the project")
    return load_robot(path, root=root)


def mechanism_of(name, root, *, standing=False):
    robot = load(name, root)
    contacts = [build_contact(robot, surface) for surface in robot.surfaces] if standing else []
    return Mechanism(robot, ConstraintSet.of(robot, contacts))


def closed_motion(mechanism, seed):
    """A closed configuration near the resting one, and a motion the constraints allow."""
    rng = np.random.default_rng(seed)
    robot = mechanism.robot
    start = pin.integrate(robot.model, robot.posture, 0.1 * rng.normal(size=robot.nv))
    closed = close_position(Mechanism(robot), start, tolerance=1e-13)
    assert closed.status is DynamicsStatus.OK
    assert closed.residual < 1e-12
    mechanism.place(closed.q)
    v = mechanism.null_space.Gamma @ (0.3 * rng.normal(size=mechanism.nu))
    mechanism.update(closed.q, v)
    return (
        closed.q,
        v,
        mechanism.null_space.Gamma @ rng.normal(size=mechanism.nu) + mechanism.null_space.beta,
    )


def accelerate(mechanism, q, v, tau):
    """Pinocchio's own constrained dynamics, built from links and frames only."""
    robot = mechanism.robot
    model, data = robot.model, robot.data()
    models = pin.StdVec_RigidConstraintModel()
    for loop in robot.loops:
        ends = []
        for link, X in ((loop.link_a, loop.X_LA), (loop.link_b, loop.X_LB)):
            frame = model.frames[robot.link_frame(link)]
            ends += [frame.parentJoint, frame.placement * X]
        models.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, model, *ends, pin.LOCAL))
    for surface in robot.surfaces.values():
        if surface.name in mechanism.constraints:
            frame = model.frames[surface.frame]
            models.append(
                pin.RigidConstraintModel(
                    pin.ContactType.CONTACT_6D,
                    model,
                    frame.parentJoint,
                    frame.placement,
                    pin.LOCAL_WORLD_ALIGNED,
                )
            )
    works = pin.StdVec_RigidConstraintData()
    for contact in models:
        works.append(contact.createData())
    pin.initConstraintDynamics(model, data, models, works)
    force = np.zeros(robot.nv)
    force[robot.actuated_v] = tau
    return np.array(
        pin.constraintDynamics(
            model, data, q, v, force, models, works, pin.ProximalSettings(1e-14, 1e-8, 20)
        )
    )


@pytest.mark.parametrize(
    ("name", "root", "standing", "expected"),
    [  # freedoms of the tree, rank, mobility, motors
        (DIGIT, "fixed", False, (48, 36, 12, 12)),
        (DIGIT, "free_flyer", False, (54, 36, 18, 12)),
        (DIGIT, "free_flyer", True, (54, 48, 6, 12)),
        (CASSIE, "fixed", False, (19, 12, 7, 5)),
        (CASSIE, "free_flyer", False, (25, 12, 13, 5)),
        (CASSIE, "free_flyer", True, (25, 18, 7, 5)),
    ],
)
def test_legs_close_and_tell_their_mobility(name, root, standing, expected):
    mechanism = mechanism_of(name, root, standing=standing)
    robot = mechanism.robot
    outcome = mechanism.mobility(robot.posture)
    assert np.abs(mechanism.constraints.error(mechanism.kinematics)).max() < 1e-10
    assert (robot.nv, outcome.rank, mechanism.nu, len(robot.actuated)) == expected


def test_motors_are_the_generalized_coordinates_of_digit():
    mechanism = mechanism_of(DIGIT, "fixed")
    indep = mechanism.mobility(mechanism.robot.posture).indep
    assert {mechanism.robot.coordinates[index] for index in indep} == set(mechanism.robot.actuated)


@pytest.mark.parametrize(
    ("root", "standing", "redundancy"), [("fixed", False, 0), ("free_flyer", True, 6)]
)
@pytest.mark.parametrize("seed", range(5))
def test_motor_torques_of_digit_give_the_acceleration_asked_for(root, standing, redundancy, seed):
    mechanism = mechanism_of(DIGIT, root, standing=standing)
    q, v, a = closed_motion(mechanism, seed)
    answer = solve_inverse(mechanism, q, v, a)
    assert (answer.status, answer.redundancy) == (DynamicsStatus.OK, redundancy)
    assert answer.feasible
    np.testing.assert_allclose(accelerate(mechanism, q, v, answer.tau), a, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_two_freedoms_of_cassie_have_no_motor_and_the_answer_says_so(seed):
    """Whatever its five motors do, their torques come back from the acceleration; a motion they cannot make is told."""
    mechanism = mechanism_of(CASSIE, "fixed")
    q, v, a = closed_motion(mechanism, seed)
    wild = solve_inverse(mechanism, q, v, a)
    assert (wild.rank_S, wild.status) == (5, DynamicsStatus.ACTUATION_SINGULAR)
    assert not wild.feasible
    tau = np.random.default_rng(seed).normal(size=5)
    made = solve_inverse(mechanism, q, v, accelerate(mechanism, q, v, tau))
    assert made.feasible
    np.testing.assert_allclose(made.tau, tau, atol=1e-7)


def test_digit_stands_on_its_soles():
    mechanism = mechanism_of(DIGIT, "free_flyer", standing=True)
    robot, rest = mechanism.robot, np.zeros(mechanism.robot.nv)
    answer = solve_inverse(mechanism, robot.posture, rest, rest)
    normal = [
        answer.lam[mechanism.constraints.rows_of(foot)][2] for foot in ("left_foot", "right_foot")
    ]
    assert np.isclose(sum(normal), 9.81 * robot.mass, rtol=1e-9)
    assert min(normal) > 0.4 * sum(normal)
    np.testing.assert_allclose(
        accelerate(mechanism, robot.posture, rest, answer.tau), 0.0, atol=1e-9
    )


@pytest.mark.parametrize("seed", range(3))
def test_loops_eliminated_leave_a_balance_that_rules_can_work_on(seed):
    """Torques and foot forces chosen on the reduced balance are those of all rows together, and the loop forces come back."""
    whole = mechanism_of(DIGIT, "free_flyer", standing=True)
    robot = whole.robot
    q, v, a = closed_motion(whole, seed)
    expected = solve_inverse(whole, q, v, a)
    soles = np.vstack(
        [whole.J[whole.constraints.rows_of(foot)] for foot in ("left_foot", "right_foot")]
    )
    loops = Mechanism(robot)
    balance = reduce_balance(loops, q, v, a, soles)
    assert balance.motion_residual < 1e-9
    assert balance.tau_G.shape == (18,)
    # least tau^2 under act_map^T tau + contact_map^T w = tau_G
    S, C = balance.act_map, balance.contact_map
    n, r, nu = len(S), len(C), len(balance.tau_G)
    system = np.zeros((n + r + nu, n + r + nu))
    system[:n, :n] = np.eye(n)
    system[:n, -nu:], system[n : n + r, -nu:] = S, C
    system[-nu:, :n], system[-nu:, n : n + r] = S.T, C.T
    solution = np.linalg.lstsq(system, np.r_[np.zeros(n + r), balance.tau_G], rcond=None)[0]
    tau, w = solution[:n], solution[n : n + r]
    np.testing.assert_allclose(tau, expected.tau, atol=1e-8)
    lam = recover_loop_forces(loops, balance, tau, soles, w)
    total = balance.tau_O - loops.spread(tau) - soles.T @ w - loops.J.T @ lam
    np.testing.assert_allclose(total, 0.0, atol=1e-8)
    np.testing.assert_allclose(np.r_[lam, w], expected.lam, atol=1e-6)


def test_a_tree_is_its_own_reduction():
    robot = load_robot("human28")
    mechanism, rng = Mechanism(robot), np.random.default_rng(0)
    v, a, J = rng.normal(size=robot.nv), rng.normal(size=robot.nv), rng.normal(size=(6, robot.nv))
    balance = reduce_balance(mechanism, robot.posture, v, a, J)
    np.testing.assert_array_equal(balance.tau_G, balance.tau_O)
    np.testing.assert_array_equal(balance.contact_map, J)
    np.testing.assert_array_equal(balance.act_map, np.eye(robot.nv)[robot.actuated_v])
