# SPDX-License-Identifier: Apache-2.0
"""Inputs every layer has to survive: nothing to constrain, nothing to move, nothing to drive, no inertia, wrong sizes."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from figures import four_bar, four_bar_posture
from mechanisms import (
    Tree,
    random_configuration,
    random_inertia,
    random_pose,
    random_tree,
    rod,
    translation,
)

from humanoid_dynamics.constraints.constraint_set import ConstraintSet
from humanoid_dynamics.constraints.contact import build_contact
from humanoid_dynamics.constraints.loop import build_loop
from humanoid_dynamics.constraints.null_space import DynamicsStatus
from humanoid_dynamics.dynamics.change import apply_events
from humanoid_dynamics.dynamics.closure import close_position
from humanoid_dynamics.dynamics.forward import solve_forward
from humanoid_dynamics.dynamics.impact import project_velocity, solve_impact
from humanoid_dynamics.dynamics.integrator import step
from humanoid_dynamics.dynamics.inverse import solve_inverse
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.errors import ShapeError, SingularInertiaError, UnknownNameError
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.model.state import State
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.structure.events import Cut, Touch

HERE = pin.SE3.Identity()


def box(surfaces=True):
    corners = np.array([[0.1, 0.05, 0], [-0.1, 0.05, 0], [-0.1, -0.05, 0], [0.1, -0.05, 0]])
    sole = ContactSurface("sole", "box", 0, translation(z=-0.1), corners)
    tree = Tree().add(
        "box",
        pin.JointModelFreeFlyer(),
        inertia=pin.Inertia(3.0, np.zeros(3), np.diag([0.02, 0.03, 0.04])),
    )
    return tree.robot(surfaces={"sole": sole} if surfaces else {})


def test_a_single_coordinate_under_a_loop():
    robot = Tree().add("door", pin.JointModelRZ(), inertia=rod(1.0, 2.0)).robot()
    mechanism = Mechanism(
        robot,
        [
            build_loop(
                robot,
                LoopClosure(
                    "latch", "spherical", "door", translation(1.0), "world", translation(1.0)
                ),
            )
        ],
    )
    answer = solve_forward(mechanism, np.zeros(1), np.zeros(1), np.array([3.0]))
    assert mechanism.nu == 0
    np.testing.assert_allclose(answer.a, 0.0, atol=1e-14)
    np.testing.assert_allclose(answer.lam, (0, -3.0, 0), atol=1e-12)


def test_standing_box_weighs_what_it_weighs():
    robot = box()
    for vertices, unique in ((None, True), ((0, 1), True)):
        mechanism = Mechanism(robot, [build_contact(robot, "sole", vertices=vertices)])
        answer = solve_forward(mechanism, robot.posture, np.zeros(6), np.zeros(0))
        assert answer.indeterminate is not unique
        if vertices is None:
            np.testing.assert_allclose(answer.lam, (0, 0, 3.0 * 9.81, 0, 0, 0), atol=1e-11)
            np.testing.assert_allclose(answer.a, 0.0, atol=1e-12)


def test_contacts_that_repeat_each_other_share_the_load():
    robot = box()
    corners = [build_contact(robot, "sole", name=f"corner{k}", vertices=(k,)) for k in range(4)]
    mechanism = Mechanism(robot, [*corners, build_contact(robot, "sole")])
    answer = solve_forward(mechanism, robot.posture, np.zeros(6), np.zeros(0))
    assert (mechanism.null_space.rank, mechanism.constraints.size) == (6, 18)
    assert answer.status is DynamicsStatus.INDETERMINATE
    np.testing.assert_allclose(answer.a, 0.0, atol=1e-12)
    total = sum(
        answer.lam[mechanism.constraints.rows_of(name)][2] for name in mechanism.constraints.names
    )
    assert np.isclose(total, 3.0 * 9.81)


def test_landing_is_an_event():
    robot = box()
    mechanism = Mechanism(robot, [])
    change = apply_events(
        mechanism, State(robot.posture, np.array([0.5, 0, -1.0, 0, 0.3, 0])), [Touch("sole")]
    )
    np.testing.assert_allclose(change.state.v, 0.0, atol=1e-12)
    assert mechanism.constraints.names == ("sole",)
    lifted = robot.posture + np.array([0, 0, 0.01, 0, 0, 0, 0])
    mechanism.kinematics.place(lifted)
    assert np.isclose(mechanism.constraints.error(mechanism.kinematics)[2], 0.01)
    apply_events(mechanism, change.state, [Cut("sole"), Touch("sole", (0, 1))])
    assert mechanism.constraints.size == 5
    with pytest.raises(UnknownNameError, match="palm"):
        apply_events(mechanism, change.state, [Touch("palm")])


def test_contact_on_a_link_that_cannot_move_is_dropped_with_a_warning():
    robot = Tree().add("arm", pin.JointModelRZ(), inertia=rod(1.0, 1.0)).robot()
    block = build_loop(robot, LoopClosure("wall", "fixed", "world", HERE, "world", HERE))
    mechanism = Mechanism(robot, [block])
    assert mechanism.constraints.size == 0
    assert mechanism.constraints.notices[0].severity == "warning"
    np.testing.assert_allclose(
        solve_forward(mechanism, np.zeros(1), np.zeros(1), np.zeros(1)).lam, np.zeros(0)
    )


def massless_chain():
    tree = (
        Tree()
        .add("arm", pin.JointModelRZ(), inertia=rod(1.0, 1.0))
        .add("ghost", pin.JointModelRY(), parent="arm", X=translation(1.0))
    )
    return tree.robot()


def test_motion_without_inertia_is_named_or_the_smallest_is_taken():
    robot = massless_chain()
    zero = np.zeros(2)
    named = dataclasses.replace(robot, inertialess=("ghost",))
    with pytest.raises(SingularInertiaError, match="ghost"):
        solve_forward(Mechanism(named), zero, zero, zero)
    answer = solve_forward(Mechanism(robot), zero, np.array([1.0, 0.0]), zero)
    assert np.isfinite(answer.a).all()
    np.testing.assert_allclose(answer.a, 0.0, atol=1e-9)
    assert (
        solve_inverse(Mechanism(named), zero, zero, np.array([1.0, 5.0])).status
        is DynamicsStatus.OK
    )
    np.testing.assert_allclose(
        solve_impact(Mechanism(robot), zero, np.array([1.0, 0.0])).v_plus, (1.0, 0.0), atol=1e-12
    )


def test_a_massless_link_that_the_loop_carries_along_does_no_harm():
    robot = massless_chain()
    mechanism = Mechanism(dataclasses.replace(robot, inertialess=("ghost",)))
    mechanism.constraints.add(
        build_loop(robot, LoopClosure("stiff", "fixed", "ghost", HERE, "arm", translation(1.0)))
    )
    answer = solve_forward(mechanism, np.zeros(2), np.zeros(2), np.array([1.0, 0.0]))
    np.testing.assert_allclose(answer.a, (3.0, 0.0), atol=1e-9)  # m l^2 / 3


def test_wrong_sizes_are_told():
    mechanism = Mechanism(four_bar())
    good, short = np.zeros(3), np.zeros(2)
    for call, field in (
        (lambda: solve_forward(mechanism, short, good, good), "q"),
        (lambda: solve_forward(mechanism, good, short, good), "v"),
        (lambda: solve_forward(mechanism, good, good, short), "tau"),
        (lambda: solve_forward(mechanism, good, good, good, short), "force"),
        (lambda: solve_inverse(mechanism, good, good, short), "a"),
        (lambda: solve_impact(mechanism, good, short), "v"),
        (lambda: close_position(mechanism, short), "q"),
        (lambda: mechanism.mobility(short), "q"),
    ):
        with pytest.raises(ShapeError, match=rf"^{field}: received shape \(2,\), expected \(3,\)"):
            call()
    with pytest.raises(UnknownNameError, match="coordinate"):
        Mechanism(four_bar(), actuated=["wing"])
    with pytest.raises(UnknownNameError, match="method"):
        step(mechanism, four_bar_posture(1.0), good, 0.1, method="leapfrog")


def test_bad_numbers_do_not_stay():
    """After a question that was not finite the next good one is answered as if nothing had been."""
    mechanism, fresh = Mechanism(four_bar()), Mechanism(four_bar())
    q, v, tau = four_bar_posture(1.0), np.zeros(3), np.ones(3)
    for bad in (np.full(3, np.nan), np.full(3, np.inf), np.array([0.0, np.nan, 0.0])):
        assert solve_forward(mechanism, q, bad, tau).status is DynamicsStatus.INVALID_INPUT
        assert solve_forward(mechanism, q, v, bad).status is DynamicsStatus.INVALID_INPUT
        assert solve_inverse(mechanism, q, bad, v).status is DynamicsStatus.INVALID_INPUT
        assert solve_impact(mechanism, q, bad).status is DynamicsStatus.INVALID_INPUT
    for bad in (np.full(3, np.nan), np.full(3, np.inf)):
        assert solve_forward(mechanism, bad, v, tau).status is DynamicsStatus.INVALID_INPUT
        assert solve_inverse(mechanism, bad, v, v).status is DynamicsStatus.INVALID_INPUT
        assert close_position(mechanism, bad).status is DynamicsStatus.INVALID_INPUT
    np.testing.assert_array_equal(
        solve_forward(mechanism, q, v, tau).a, solve_forward(fresh, q, v, tau).a
    )


def test_inputs_are_not_changed_and_answers_are_read_only():
    rng = np.random.default_rng(0)
    robot = random_tree(rng, 6)
    mechanism = Mechanism(robot)
    q, v, a = (
        random_configuration(robot.model, rng),
        rng.normal(size=robot.nv),
        rng.normal(size=robot.nv),
    )
    tau, force = rng.normal(size=len(mechanism.actuated)), rng.normal(size=robot.nv)
    before = [values.copy() for values in (q, v, a, tau, force)]
    forward, inverse = (
        solve_forward(mechanism, q, v, tau, force),
        solve_inverse(mechanism, q, v, a, force=force),
    )
    solve_impact(mechanism, q, v), project_velocity(mechanism, q, v)
    for values, copy in zip((q, v, a, tau, force), before, strict=True):
        np.testing.assert_array_equal(values, copy)
    for values in (
        forward.a,
        forward.lam,
        inverse.tau,
        inverse.tau_G,
        inverse.lam,
        inverse.unsupported,
    ):
        assert not values.flags.writeable
    kept = forward.a.copy()
    solve_forward(mechanism, q, -v, -tau)
    np.testing.assert_array_equal(forward.a, kept)


def test_unverified_motion_says_that_nobody_looked():
    mechanism = Mechanism(four_bar(actuated=["crank"]))
    q = four_bar_posture(1.0)
    looked = solve_inverse(mechanism, q, np.zeros(3), np.zeros(3))
    trusted = solve_inverse(mechanism, q, np.zeros(3), np.zeros(3), verify=False)
    np.testing.assert_allclose(trusted.tau, looked.tau, atol=1e-15)
    assert np.isinf(trusted.motion_residual)
    assert looked.motion_residual < 1e-12


@pytest.mark.parametrize("seed", range(10))
def test_torques_from_the_small_system_are_those_of_the_whole(seed):
    """With a motor on every generalized coordinate S = [H_A; E]; the general route and the pseudo-inverse say the same."""
    rng = np.random.default_rng(seed)
    tree = Tree()
    for k in range(8):
        axis = rng.normal(size=3)
        joint = pin.JointModelRevoluteUnaligned(axis / np.linalg.norm(axis))
        tree.add(
            f"l{k}",
            joint,
            parent=f"l{k - 1}" if k else "world",
            X=random_pose(rng),
            inertia=random_inertia(rng),
        )
    robot = tree.robot(actuated=[f"l{k}" for k in range(1, 8)])
    q = rng.normal(size=8)
    data = robot.data()
    pin.forwardKinematics(robot.model, data, q)
    mechanism = Mechanism(
        robot,
        [build_loop(robot, LoopClosure("tip", "spherical", "l7", HERE, "world", data.oMi[8]))],
    )
    weight = rng.uniform(0.1, 10.0, 7)
    for cost in (None, weight):
        answer = solve_inverse(
            mechanism, q, np.zeros(8), mechanism.null_space.beta * 0, weight=cost
        )
        S = mechanism.null_space.Gamma[mechanism.actuated]
        root = np.ones(7) if cost is None else np.sqrt(cost)
        expected = np.linalg.pinv(S.T / root) @ answer.tau_G / root
        np.testing.assert_allclose(answer.tau, expected, atol=1e-9 * (1 + np.abs(expected).max()))
        np.testing.assert_allclose(
            S.T @ answer.tau, answer.tau_G, atol=1e-10 * (1 + np.abs(answer.tau_G).max())
        )
        left = (
            mechanism.tree_torque(np.zeros(8))
            - mechanism.spread(answer.tau)
            - mechanism.J.T @ answer.lam
        )
        np.testing.assert_allclose(left, 0.0, atol=1e-9 * (1 + np.abs(answer.lam).max()))
        assert mechanism.pattern.complete
    shared = np.isin(mechanism.actuated, mechanism.null_space.dep)
    assert np.abs(answer.tau[shared]).max() > 1e-3
    assert mechanism.pattern.complete


def test_scale_of_angular_rows_is_a_length():
    robot = four_bar()
    assert set(ConstraintSet.of(robot, length=2.0).scale) == {1.0, 2.0}
