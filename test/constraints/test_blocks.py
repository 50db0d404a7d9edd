# SPDX-License-Identifier: Apache-2.0
"""Every kind of row against finite differences on the manifold: J is the derivative of phi, gamma that of J v."""

import numpy as np
import pinocchio as pin
import pytest
from mechanisms import (
    Tree,
    random_configuration,
    random_inertia,
    random_loop,
    random_pose,
    random_tree,
)

from humanoid_dynamics.constraints.constraint_set import ConstraintSet
from humanoid_dynamics.constraints.contact import build_contact, hold
from humanoid_dynamics.constraints.coordinate import build_coupling, build_lock, build_mimic
from humanoid_dynamics.constraints.kinematics import Kinematics
from humanoid_dynamics.constraints.loop import ROWS, build_loop
from humanoid_dynamics.constraints.user import UserBlock
from humanoid_dynamics.constraints.wheel import build_wheel
from humanoid_dynamics.dynamics.forward import solve_forward
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.errors import HumanoidDynamicsError, ShapeError, UnknownNameError
from humanoid_dynamics.model.joint import Mimic
from humanoid_dynamics.model.loop import LoopClosure, Wheel
from humanoid_dynamics.model.surface import ContactSurface

STEP = 1e-6


def check_derivatives(robot, block, q, v, *, check_error=True):
    """J v = d phi / dt at the closure and gamma = d(J v)/dt at zero generalized acceleration, for a velocity of any kind."""
    constraints, kinematics = ConstraintSet(robot, [block]), Kinematics(robot)
    kinematics.move(q, v)
    rows = constraints.evaluate(kinematics)
    Jv, gamma, phi = rows.J @ v, rows.gamma.copy(), rows.phi.copy()
    ends = []
    for sign in (1, -1):
        kinematics.move(pin.integrate(robot.model, q, sign * STEP * v), v)
        there = constraints.evaluate(kinematics)
        ends.append((there.J @ v, there.phi.copy()))
    scale = 1 + np.abs(gamma).max()
    np.testing.assert_allclose(
        (ends[0][0] - ends[1][0]) / (2 * STEP), gamma, atol=1e-7 * scale, rtol=1e-7
    )
    if check_error:
        np.testing.assert_allclose(phi, 0.0, atol=1e-12)
        np.testing.assert_allclose(
            (ends[0][1] - ends[1][1]) / (2 * STEP), Jv, atol=1e-7 * (1 + np.abs(Jv).max())
        )
    check_other_sweeps(constraints, kinematics, q, v)
    return gamma


def check_other_sweeps(constraints, kinematics, q, v):
    """Inertia and joint forces leave the same rows behind as plain kinematics, gravity or not."""
    a = np.random.default_rng(0).normal(size=len(v))
    kinematics.move(q, v)
    J, gamma = constraints.jacobian(kinematics).copy(), constraints.drift(kinematics).copy()
    assert np.abs(kinematics.model.gravity.linear).max() > 1
    for sweep, expected in (
        (lambda: kinematics.weigh(q, v), gamma),
        (lambda: kinematics.balance(q, v, a), gamma + J @ a),
        (lambda: kinematics.move(q, v, a), gamma + J @ a),
        (lambda: kinematics.move(q, v), gamma),
    ):
        sweep()
        np.testing.assert_allclose(constraints.jacobian(kinematics), J, atol=1e-12)
        np.testing.assert_allclose(
            constraints.drift(kinematics), expected, atol=1e-11 * (1 + np.abs(expected).max())
        )
    kinematics.balance(q, v, a)
    both = constraints.scale * np.array([J @ v, J @ a + gamma])
    assert np.isclose(constraints.breach(kinematics), np.linalg.norm(both), rtol=1e-9)


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("seed", range(4))
def test_loop(kind, seed):
    rng = np.random.default_rng(seed)
    robot = random_tree(rng, 7)
    q, v = random_configuration(robot.model, rng), rng.normal(size=robot.nv)
    loop = random_loop(robot, q, rng, kind, links=None if seed else ("link3", "world"))
    block = build_loop(robot, loop)
    assert len(block.labels) == len(ROWS[kind])
    gamma = check_derivatives(robot, block, q, v)
    assert np.abs(gamma).max() > 1e-3


@pytest.mark.parametrize(
    "kind", sorted(set(ROWS) - {"universal"})
)  # which names its two axes by the side they are on
def test_loop_to_world_either_way_round_spans_the_same_rows(kind):
    rng = np.random.default_rng(3)
    robot = random_tree(rng, 6)
    q = random_configuration(robot.model, rng)
    kinematics = Kinematics(robot)
    kinematics.place(q)
    loop = random_loop(robot, q, rng, kind, links=("link4", "world"))
    turned = LoopClosure("turned", kind, "world", loop.X_LB, "link4", loop.X_LA)
    forward, backward = (
        ConstraintSet(robot, [build_loop(robot, item)]).jacobian(kinematics)
        for item in (loop, turned)
    )
    check_derivatives(robot, build_loop(robot, turned), q, rng.normal(size=robot.nv))
    both = np.vstack((forward, backward))
    assert np.linalg.matrix_rank(both, 1e-9) == np.linalg.matrix_rank(forward, 1e-9)


def test_forces_of_a_loop_are_those_on_link_a():
    tree = Tree().add(
        "body", pin.JointModelFreeFlyer(), inertia=random_inertia(np.random.default_rng(0))
    )
    robot = tree.robot()
    block = build_loop(
        robot, LoopClosure("grip", "fixed", "body", pin.SE3.Identity(), "world", pin.SE3.Identity())
    )
    kinematics = Kinematics(robot)
    kinematics.place(robot.posture)
    np.testing.assert_allclose(
        ConstraintSet(robot, [block]).jacobian(kinematics), np.eye(6), atol=1e-15
    )


def sole_robot(rng):
    robot = random_tree(rng, 6)
    corners = np.array([[0.1, 0.05, 0], [-0.1, 0.05, 0], [-0.1, -0.05, 0], [0.1, -0.05, 0]])
    return robot, ContactSurface("sole", "link4", 0, random_pose(rng, 0.1), corners)


@pytest.mark.parametrize("vertices", [None, (0,), (1, 2), (3, 0), (0, 1, 2)])
@pytest.mark.parametrize("level", [True, False])
def test_contact(vertices, level):
    rng = np.random.default_rng(5)
    robot, sole = sole_robot(rng)
    q, v = random_configuration(robot.model, rng), rng.normal(size=robot.nv)
    kinematics = Kinematics(robot)
    kinematics.place(q)
    axes = None if level else pin.exp3(rng.normal(size=3))
    block = hold(build_contact(robot, sole, vertices=vertices, R_WG=axes), kinematics)
    expected = {None: 6, 1: 3, 2: 5, 3: 6}[None if vertices is None else len(vertices)]
    assert len(block.labels) == expected
    assert block.unilateral.index(True) == 2
    assert sum(block.unilateral) == 1
    check_derivatives(robot, block, q, v)


def test_an_edge_may_turn_about_itself_and_nothing_else():
    rng = np.random.default_rng(6)
    robot, sole = sole_robot(rng)
    q = random_configuration(robot.model, rng)
    kinematics = Kinematics(robot)
    kinematics.place(q)
    edge = build_contact(robot, sole, vertices=(1, 2))
    J = ConstraintSet(robot, [edge]).jacobian(kinematics).copy()
    corners = [
        ConstraintSet(robot, [build_contact(robot, sole, vertices=(k,))])
        .jacobian(kinematics)
        .copy()
        for k in (1, 2)
    ]
    both = np.vstack(corners)
    assert (
        np.linalg.matrix_rank(np.vstack((J, both)), 1e-9)
        == np.linalg.matrix_rank(both, 1e-9)
        == np.linalg.matrix_rank(J, 1e-9)
    )


def test_a_contact_without_anchor_has_no_position():
    robot, sole = sole_robot(np.random.default_rng(1))
    assert not build_contact(robot, sole).holonomic
    with pytest.raises(ShapeError, match="indices of the 4 corners"):
        build_contact(robot, sole, vertices=(7,))
    with pytest.raises(UnknownNameError, match="contact surface"):
        build_contact(robot, "palm")


@pytest.mark.parametrize("joint", range(7))
def test_lock(joint):
    rng = np.random.default_rng(8)
    tree = Tree()
    kinds = [
        pin.JointModelFreeFlyer(),
        pin.JointModelSpherical(),
        pin.JointModelRUBZ(),
        pin.JointModelRX(),
        pin.JointModelPY(),
        pin.JointModelPlanar(),
        pin.JointModelUniversal(np.array([1.0, 0, 0]), np.array([0, 1.0, 0])),
    ]
    for index, kind in enumerate(kinds):
        tree.add(
            f"j{index}",
            kind,
            parent=f"j{index - 1}" if index else "world",
            inertia=random_inertia(rng),
        )
    robot = tree.robot()
    q, v = random_configuration(robot.model, rng), rng.normal(size=robot.nv)
    record = robot.joint(f"j{joint}")
    block = build_lock(robot, record.name, q[record.q])
    check_derivatives(robot, block, q, v)
    assert len(block.rotational) == len(block.labels) == record.v.stop - record.v.start
    assert not build_lock(robot, record.name).holonomic


def test_coupling_and_mimic():
    rng = np.random.default_rng(9)
    tree = (
        Tree()
        .add("a", pin.JointModelRX(), inertia=random_inertia(rng))
        .add("b", pin.JointModelPY(), parent="a")
    )
    robot = tree.add("c", pin.JointModelRUBZ(), parent="b", inertia=random_inertia(rng)).robot()
    v = rng.normal(size=3)
    q = np.array([0.3, 0.7, np.cos(0.9), np.sin(0.9)])
    check_derivatives(
        robot, build_coupling(robot, "sum", {"a": 1.0, "b": 2.0, "c": -1.0}, 0.3 + 1.4 - 0.9), q, v
    )
    check_derivatives(robot, build_mimic(robot, Mimic("c", "a", 3.0, 0.0)), q, v)
    mimic = build_mimic(robot, Mimic("c", "a", 2.0, 0.3))
    check_derivatives(robot, mimic, q, v)
    assert mimic.rotational == (True,)
    with pytest.raises(UnknownNameError, match="coordinate"):
        build_coupling(robot, "bad", {"z": 1.0})
    with pytest.raises(ShapeError, match="at least one"):
        build_coupling(robot, "bad", {})


@pytest.mark.parametrize("seed", range(4))
def test_wheel_drift_is_spatial_not_classical(seed):
    rng = np.random.default_rng(seed)
    robot = random_tree(rng, 6)
    q, v = random_configuration(robot.model, rng), rng.normal(size=robot.nv)
    block = build_wheel(robot, Wheel("wheel", "link5", random_pose(rng)))
    gamma = check_derivatives(robot, block, q, v, check_error=False)
    kinematics = Kinematics(robot)
    kinematics.move(q, v)
    arguments = (robot.model, kinematics.data, block.C.joint, block.C.X_JF, pin.LOCAL)
    classical = pin.getFrameClassicalAcceleration(*arguments).linear[1]
    twist = pin.getFrameVelocity(*arguments)
    assert np.isclose(classical - gamma[0], np.cross(twist.angular, twist.linear)[1], atol=1e-12)
    assert not block.holonomic


def test_user_rows():
    robot = random_tree(np.random.default_rng(1), 4)
    rng = np.random.default_rng(2)
    C = rng.normal(size=(2, robot.nv))
    block = UserBlock("mine", ("mine.0", "mine.1"), lambda q: C, lambda q, v: np.zeros(2))
    check_derivatives(
        robot,
        block,
        random_configuration(robot.model, rng),
        rng.normal(size=robot.nv),
        check_error=False,
    )


def test_units_of_user_rows_do_not_matter():
    """Each row times another power of ten: the same mobility, the same acceleration, forces that go with the rows."""
    rng = np.random.default_rng(3)
    robot = random_tree(rng, 6)
    q, v = random_configuration(robot.model, rng), rng.normal(size=robot.nv)
    J, gamma, power = (
        rng.normal(size=(4, robot.nv)),
        rng.normal(size=4),
        np.array([1e6, 1.0, 1e-6, 1e3]),
    )
    answers = []
    for factor in (np.ones(4), power):
        rows, drift = factor[:, None] * J, factor * gamma
        block = UserBlock(
            "mine", tuple("abcd"), lambda q, rows=rows: rows, lambda q, v, drift=drift: drift
        )
        mechanism = Mechanism(robot, [block])
        answers.append(solve_forward(mechanism, q, v, np.zeros(len(mechanism.actuated))))
        assert mechanism.null_space.rank == 4
    np.testing.assert_allclose(
        answers[1].a, answers[0].a, rtol=1e-9, atol=1e-9 * np.abs(answers[0].a).max()
    )
    np.testing.assert_allclose(answers[1].lam * power, answers[0].lam, rtol=1e-8)


def test_unknown_links_and_kinds_are_refused():
    robot = random_tree(np.random.default_rng(1), 4)
    here = pin.SE3.Identity()
    with pytest.raises(UnknownNameError, match="world"):
        build_loop(robot, LoopClosure("l", "fixed", "nowhere", here, "link0", here))
    with pytest.raises(UnknownNameError, match="loop kind"):
        build_loop(robot, LoopClosure("l", "weld", "link1", here, "link0", here))


def test_set_keeps_order_names_and_rows_through_many_changes():
    rng = np.random.default_rng(4)
    robot = random_tree(rng, 8)
    q, v = random_configuration(robot.model, rng), rng.normal(size=robot.nv)
    kinematics = Kinematics(robot)
    kinematics.move(q, v)
    blocks = {
        f"l{k}": build_loop(robot, random_loop(robot, q, rng, kind, f"l{k}"))
        for k, kind in enumerate([*ROWS, *ROWS])
    }
    alone = {}
    for name, block in blocks.items():
        rows = ConstraintSet(robot, [block]).evaluate(kinematics)
        alone[name] = (rows.J.copy(), rows.gamma.copy(), rows.phi.copy())
    constraints, present = ConstraintSet(robot), []
    for _ in range(300):
        name = f"l{rng.integers(len(blocks))}"
        if name in present:
            constraints.remove(name)
            present.remove(name)
        else:
            assert constraints.add(blocks[name]) == name
            present.append(name)
        rows = constraints.evaluate(kinematics)
        assert constraints.names == tuple(present)
        assert rows.J.shape == (constraints.size, robot.nv)
        for item in present:
            part = constraints.rows_of(item)
            np.testing.assert_array_equal(rows.J[part], alone[item][0])
            np.testing.assert_array_equal(rows.gamma[part], alone[item][1])
            assert rows.labels[part] == blocks[item].labels
    with pytest.raises(HumanoidDynamicsError, match="exists already"):
        constraints.add(blocks[present[0]])
    with pytest.raises(UnknownNameError, match="constraint"):
        constraints.remove("never")


def test_a_closure_inside_one_body_has_no_rows_and_says_so():
    robot = random_tree(np.random.default_rng(1), 4)
    here = pin.SE3.Identity()
    constraints = ConstraintSet(
        robot, [build_loop(robot, LoopClosure("self", "fixed", "link1", here, "link1", here))]
    )
    assert constraints.size == 0
    assert len(constraints) == 1
    assert "'self'" in str(constraints.notices[0])
