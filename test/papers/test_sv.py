# SPDX-License-Identifier: Apache-2.0
"""Dynamics computation of structure-varying kinematic chains [SV]: one test per item."""

import numpy as np
import pinocchio as pin
import pytest
from figures import high_bar, swing
from mechanisms import (
    Tree,
    random_configuration,
    random_inertia,
    random_loop,
    random_pose,
    random_tree,
    robot_of,
    rod,
    translation,
)

from humanoid_dynamics.constraints.constraint_set import ConstraintSet
from humanoid_dynamics.constraints.contact import build_contact
from humanoid_dynamics.constraints.loop import build_loop
from humanoid_dynamics.constraints.null_space import DynamicsStatus
from humanoid_dynamics.dynamics.audit import take_audit
from humanoid_dynamics.dynamics.change import apply_events
from humanoid_dynamics.dynamics.closure import close_position
from humanoid_dynamics.dynamics.forward import solve_forward
from humanoid_dynamics.dynamics.impact import project_velocity, solve_impact
from humanoid_dynamics.dynamics.integrator import step
from humanoid_dynamics.dynamics.inverse import solve_inverse
from humanoid_dynamics.dynamics.kkt import solve_kkt, symmetric
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.dynamics.velocity_boundary import (
    join_chains,
    solve_velocity_jump,
    solve_velocity_jump_by_paper,
)
from humanoid_dynamics.errors import HumanoidDynamicsError, UnknownNameError
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.model.state import State
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.spatial.rotation import advance_rotation, orthonormalize, step_rotation
from humanoid_dynamics.structure.detachment import detach, make_breakable, transfer
from humanoid_dynamics.structure.events import Break, Connect, Cut
from humanoid_dynamics.structure.links import Structure

HERE = pin.SE3.Identity()


def free_chain(rng, count, name="l"):
    """A free-floating chain of revolutes."""
    tree = Tree(gravity=(0, 0, 0)).add(
        f"{name}0", pin.JointModelFreeFlyer(), inertia=random_inertia(rng)
    )
    for k in range(1, count + 1):
        axis = rng.normal(size=3)
        joint = pin.JointModelRevoluteUnaligned(axis / np.linalg.norm(axis))
        tree.add(
            f"{name}{k}",
            joint,
            parent=f"{name}{k - 1}",
            X=random_pose(rng),
            inertia=random_inertia(rng),
        )
    return tree


def two_chains(rng, first=3, second=4):
    tree = free_chain(rng, first, "a")
    tree.entries += free_chain(rng, second, "b").entries
    return tree.robot()


def motion_of_joint(kind, R):
    """J_n: directions a new joint leaves free, at its own origin, in world axes; its axis is z of R."""
    basis = {
        "weld": [],
        "revolute": [5],
        "spherical": [3, 4, 5],
        "prismatic": [2],
        "free": range(6),
    }[kind]
    rotation = np.kron(np.eye(2), R)
    return rotation[:, list(basis)]


def relative_jacobian(robot, q, link_a, link_b, X_LA):
    """Both Jacobians at the material point of link A's frame, in world axes; and that frame."""
    data = robot.data()
    pin.computeJointJacobians(robot.model, data, q)
    X_WA = data.oMi[robot.joint(link_a).index] * X_LA
    X_LB = data.oMi[robot.joint(link_b).index].actInv(X_WA)
    return [
        pin.getFrameJacobian(robot.model, data, robot.joint(link).index, X, pin.LOCAL_WORLD_ALIGNED)
        for link, X in ((link_a, X_LA), (link_b, X_LB))
    ] + [X_WA]


def momentum(robot, q, v):
    books = take_audit(Mechanism(robot, []), q, v)
    return np.r_[books.linear, books.angular]


def inertia(robot, q):
    return symmetric(pin.crba(robot.model, robot.data(), q))


# SV-1 to SV-4: pointers are tested in test/structure/test_links.py; here they meet the dynamics ---------------------------------------


def test_sv1_structure_of_a_robot_has_one_virtual_link_per_loop_fig_4():
    robot, _ = swing()
    structure = Structure.of(robot)
    assert len(structure) == len(robot.joints) + 1 + len(robot.loops)
    assert [link.name for link in structure.virtual] == ["rope", "left_hand", "right_hand"]
    assert structure.link("left_hand").real is structure.link("left_elbow")
    assert [link.name for link in structure.around("left_hand")][:2] == ["bar", "left_rope"]


@pytest.mark.parametrize("seed", range(6))
def test_sv2_any_choice_of_cuts_is_the_same_mechanism(seed):
    """A ring of six links pinned to the ground: whichever joint is the virtual one, every body accelerates alike."""
    rng = np.random.default_rng(seed)
    count = 6
    joints = [
        random_pose(rng, 0.6) for _ in range(count)
    ]  # joint k between body k-1 and k, z its axis, in the world at rest
    bodies = [random_inertia(rng) for _ in range(count)]
    results = []
    for cut in range(1, count):
        tree, loops = Tree(), []
        # bodies before the cut hang on the ground from joint 0, those after it from the other end
        for k in range(cut):
            X = joints[0] if k == 0 else joints[k - 1].actInv(joints[k])
            tree.add(
                f"b{k}",
                pin.JointModelSpherical(),
                parent=f"b{k - 1}" if k else "world",
                X=X,
                inertia=bodies[k],
            )
        base = pin.SE3(np.eye(3), np.array([1.0, 1.0, 1.0]))
        for k in range(count - 1, cut - 1, -1):
            last = k == count - 1
            here, above = (
                (base if last else joints[k + 1]),
                (HERE if last else (base if k == count - 2 else joints[k + 2])),
            )
            inertia_here = here.actInv(joints[k]).act(bodies[k])
            tree.add(
                f"b{k}",
                pin.JointModelSpherical(),
                parent="world" if last else f"b{k + 1}",
                X=above.actInv(here),
                inertia=inertia_here,
            )
        tree_robot = tree.robot()
        here = base if cut == count - 1 else joints[cut + 1]
        loops = [
            LoopClosure(
                "cut",
                "spherical",
                f"b{cut - 1}",
                joints[cut - 1].actInv(joints[cut]),
                f"b{cut}",
                here.actInv(joints[cut]),
            )
        ]
        mechanism = Mechanism(robot_of(tree_robot.model, loops))
        q, v = mechanism.robot.posture, np.zeros(mechanism.robot.nv)
        answer = solve_forward(mechanism, q, v, np.zeros(len(mechanism.actuated)))
        data = mechanism.robot.data()
        pin.forwardKinematics(mechanism.robot.model, data, q, v, answer.a)
        com = [
            pin.SE3(
                np.eye(3),
                (
                    HERE
                    if k < cut
                    else (base if k == count - 1 else joints[k + 1]).actInv(joints[k])
                ).act(bodies[k].lever),
            )
            for k in range(count)
        ]
        results.append(
            [
                pin.getFrameClassicalAcceleration(
                    mechanism.robot.model,
                    data,
                    mechanism.robot.joint(f"b{k}").index,
                    com[k],
                    pin.LOCAL_WORLD_ALIGNED,
                ).linear
                for k in range(count)
            ]
        )
    for other in results[1:]:
        np.testing.assert_allclose(other, results[0], atol=1e-9)


@pytest.mark.parametrize("kind", ["revolute", "spherical"])
def test_sv3_free_chain_pinned_to_the_ground_is_the_chain_hung_up_fig_7_to_9(kind):
    """Link 1 of a free chain joined to the ground: no parent is turned into a child, the motion is that of the re-rooted chain."""
    rng = np.random.default_rng(0)
    X_1, body, arm = random_pose(rng), random_inertia(rng), random_inertia(rng)
    joint, width = (pin.JointModelRZ, 1) if kind == "revolute" else (pin.JointModelSpherical, 3)
    rooted = (
        Tree()
        .add("body", joint(), inertia=body)
        .add("arm", pin.JointModelRX(), parent="body", X=X_1, inertia=arm)
        .robot()
    )
    v = rng.normal(size=width + 1)
    expected = pin.aba(rooted.model, rooted.data(), rooted.posture, v, np.zeros(width + 1))
    free = (
        Tree()
        .add("body", pin.JointModelFreeFlyer(), inertia=body)
        .add("arm", pin.JointModelRX(), parent="body", X=X_1, inertia=arm)
    )
    robot = free.robot()
    mechanism = Mechanism(
        robot, [build_loop(robot, LoopClosure("pin", kind, "body", HERE, "world", HERE))]
    )
    v_free = np.r_[np.zeros(3 if kind == "spherical" else 5), v]
    answer = solve_forward(mechanism, robot.posture, v_free, np.zeros(1))
    np.testing.assert_allclose(answer.a[-width - 1 :], expected, atol=1e-9)
    np.testing.assert_allclose(answer.a[: -width - 1], 0.0, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_sv3_a_thousand_connections_and_cuts_without_a_rebuild(seed):
    """Closures of all kinds come and go at random, redundant and contradictory ones among them; every answer meets the dense system."""
    rng = np.random.default_rng(seed)
    robot = random_tree(rng, 9)
    q, v = random_configuration(robot.model, rng), rng.normal(size=robot.nv)
    kinds = (
        "revolute",
        "spherical",
        "prismatic",
        "planar",
        "universal",
        "fixed",
        "spherical",
        "revolute",
    )
    loops = {f"c{k}": random_loop(robot, q, rng, kind, f"c{k}") for k, kind in enumerate(kinds)}
    structure, mechanism = Structure.of(robot), Mechanism(robot)
    model, seen = mechanism.kinematics.model, set()
    for _ in range(250):
        name = f"c{rng.integers(len(kinds))}"
        if name in mechanism.constraints:
            mechanism.constraints.remove(name)
            structure.cut(name)
        else:
            mechanism.constraints.add(build_loop(robot, loops[name]))
            structure.connect(loops[name])
        answer = solve_forward(mechanism, q, np.zeros(robot.nv), np.zeros(len(mechanism.actuated)))
        dense, _ = solve_kkt(
            symmetric(mechanism.inertia()),
            mechanism.bias(),
            mechanism.J,
            mechanism.gamma,
            np.zeros(robot.nv),
        )
        np.testing.assert_allclose(answer.a, dense, atol=1e-7 * (1 + np.abs(dense).max()))
        slipping = project_velocity(mechanism, q, v)
        assert np.abs(mechanism.scale * (mechanism.J @ slipping)).max(initial=0) < 1e-8 * (
            1 + np.abs(slipping).max()
        )
        assert {link.name for link in structure.virtual} == set(mechanism.constraints.names)
        seen.add((len(mechanism.J), mechanism.null_space.rank))
    assert mechanism.kinematics.model is model
    assert any(rank < rows for rows, rank in seen)


def test_sv4_cutting_a_virtual_link_changes_no_velocity():
    robot, guess = swing()
    mechanism = Mechanism(robot)
    q = close_position(mechanism, guess, tolerance=1e-14).q
    v = project_velocity(mechanism, q, np.random.default_rng(2).normal(size=robot.nv))
    before = take_audit(mechanism, q, v)
    change = apply_events(mechanism, State(q, v), [Cut("left_hand")])
    assert change.impact is None
    np.testing.assert_array_equal(change.state.v, v)
    np.testing.assert_allclose(
        project_velocity(mechanism, q, v), v, atol=1e-12 * (1 + np.abs(v).max())
    )
    assert take_audit(mechanism, q, v).energy == before.energy
    mechanism.mobility(q)
    assert mechanism.nu == 25


# SV-5: bodies keeping pose, twist, momentum is in test/structure/test_trees.py --------------------------------------------------------


@pytest.mark.parametrize("joint", ["l1", "l3"])
def test_sv5_a_broken_joint_and_a_breakable_one_move_alike_fig_10(joint):
    rng = np.random.default_rng(3)
    tree = free_chain(rng, 4)
    tree.gravity = np.array([0, 0, -9.81])
    robot = tree.robot()
    state = State(random_configuration(robot.model, rng), rng.normal(size=robot.nv))
    broken = apply_events(Mechanism(robot), state, [Break(joint)])
    assert broken.mechanism.robot.joint(joint).parent == "world"
    weak = make_breakable(robot, joint)
    declared = Mechanism(weak)
    held = transfer(robot, weak, state)
    tau = np.zeros(len(declared.actuated))
    whole = solve_forward(Mechanism(robot), state.q, state.v, np.zeros(robot.nv - 6))
    there = solve_forward(declared, held.q, held.v, tau)
    shared = [
        weak.coordinates.index(name) for name in robot.coordinates if name in weak.coordinates
    ]
    same = [index for index, name in enumerate(robot.coordinates) if name in weak.coordinates]
    np.testing.assert_allclose(
        there.a[shared], whole.a[same], atol=1e-9 * (1 + np.abs(whole.a).max())
    )
    cut = apply_events(declared, held, [Cut(joint)])
    poses = []
    for change in (broken, cut):
        mechanism, q, v = change.mechanism, change.state.q, change.state.v
        for _ in range(500):
            outcome = step(mechanism, q, v, 2e-3, method="rkmk4")
            q, v = outcome.q, outcome.v
        data = mechanism.robot.data()
        pin.forwardKinematics(mechanism.robot.model, data, q)
        poses.append([data.oMi[mechanism.robot.joint(f"l{k}").index].homogeneous for k in range(5)])
    np.testing.assert_allclose(poses[0], poses[1], atol=1e-8)


def test_sv5_other_closures_survive_a_broken_joint():
    rng = np.random.default_rng(4)
    robot = free_chain(rng, 5).robot()
    q, v = random_configuration(robot.model, rng), rng.normal(size=robot.nv)
    loop = random_loop(robot, q, rng, "spherical", links=("l4", "l1"))
    mechanism = Mechanism(robot, [build_loop(robot, loop)])
    v = project_velocity(mechanism, q, v)
    before = momentum(robot, q, v)
    change = apply_events(mechanism, State(q, v), [Break("l3")])
    books = take_audit(change.mechanism, change.state.q, change.state.v)
    assert change.mechanism.constraints.names == ("loop",)
    assert books.closure < 1e-12
    assert books.slip < 1e-12
    np.testing.assert_allclose(
        np.r_[books.linear, books.angular], before, atol=1e-12 * (1 + np.abs(before).max())
    )
    assert detach(robot, "l3").nv == robot.nv + 5


# SV-6 --------------------------------------------------------------------------------------------------------------------------------


def test_sv6_events_of_one_instant_are_one_impact():
    rng = np.random.default_rng(5)
    robot = free_chain(rng, 6).robot()
    q, v = random_configuration(robot.model, rng), rng.normal(size=robot.nv)
    loops = [
        random_loop(robot, q, rng, "spherical", f"c{k}", links=links)
        for k, links in enumerate((("l6", "l1"), ("l4", "world")))
    ]
    both = []
    for order in (loops, loops[::-1]):
        mechanism = Mechanism(robot, [])
        change = apply_events(mechanism, State(q, v), [Connect(loop) for loop in order])
        both.append(change.state.v)
        assert np.abs(mechanism.J @ change.state.v).max() < 1e-12
    np.testing.assert_allclose(both[0], both[1], atol=1e-11)
    one_by_one = []
    for order in (loops, loops[::-1]):
        speed = v
        for loop in order:
            speed = solve_impact(Mechanism(robot, [build_loop(robot, loop)]), q, speed).v_plus
        first = Mechanism(robot, [build_loop(robot, order[0])])
        assert np.abs(first.constraints.jacobian(_at(first, q)) @ speed).max() > 1e-2
        one_by_one.append(speed)
    assert np.abs(one_by_one[0] - one_by_one[1]).max() > 1e-2


def _at(mechanism, q):
    mechanism.place(q)
    return mechanism.kinematics


def test_sv6_a_batch_may_cut_and_connect():
    robot, guess = swing()
    mechanism = Mechanism(robot)
    q = close_position(mechanism, guess, tolerance=1e-14).q
    v = project_velocity(mechanism, q, np.random.default_rng(6).normal(size=robot.nv))
    mechanism.place(q)
    foot = random_loop(
        robot, q, np.random.default_rng(7), "spherical", "foot", links=("left_knee", "world")
    )
    change = apply_events(mechanism, State(q, v), [Connect(foot), Cut("right_hand")])
    assert mechanism.constraints.names == ("rope", "left_hand", "foot")
    assert np.abs(mechanism.J @ change.state.v).max() < 1e-11
    assert change.impact.energy_change < 0
    with pytest.raises(UnknownNameError):
        apply_events(mechanism, change.state, [Cut("right_hand")])


# SV-7 to SV-10 -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["weld", "revolute", "spherical", "prismatic", "free"])
def test_sv7_two_chains_eq_11_to_19(kind):
    rng = np.random.default_rng(8)
    robot = two_chains(rng)
    q, v = random_configuration(robot.model, rng), rng.normal(size=robot.nv)
    J_a, J_b, X = relative_jacobian(robot, q, "a3", "b2", random_pose(rng))
    n1 = 9
    A = inertia(robot, q)
    A_joint, D = join_chains(A[:n1, :n1], J_a[:, :n1], A[n1:, n1:], J_b[:, n1:])
    np.testing.assert_allclose(A_joint, A, atol=1e-12)
    J_n = motion_of_joint(kind, X.rotation)
    jump = solve_velocity_jump_by_paper(A, D, v, J_n)
    engine = solve_velocity_jump(A, D, v, J_n)
    np.testing.assert_allclose(engine.change, jump.change, atol=1e-11)
    np.testing.assert_allclose(engine.F_1, jump.F_1, atol=1e-10)
    after = v + engine.change
    slip = D @ after
    free = J_n @ np.linalg.lstsq(J_n, slip, rcond=None)[0] if J_n.size else np.zeros(6)
    np.testing.assert_allclose(slip, free, atol=1e-12)  # (13)
    np.testing.assert_allclose(J_n.T @ engine.F_1, 0.0, atol=1e-12)  # (14)
    np.testing.assert_allclose(A @ engine.change, -D.T @ engine.F_1, atol=1e-11)  # (11), (12)
    np.testing.assert_allclose(momentum(robot, q, after), momentum(robot, q, v), atol=1e-11)
    if kind == "free":
        np.testing.assert_allclose(engine.change, 0.0, atol=1e-13)


def test_sv8_null_space_form_equals_the_printed_operator():
    """B^-1 (E - C) = N (N^T B N)^-1 N^T."""
    rng = np.random.default_rng(9)
    G, J_n = rng.normal(size=(6, 6)), rng.normal(size=(6, 2))
    B = G @ G.T + np.eye(6)
    Bi = np.linalg.inv(B)
    C = J_n @ np.linalg.inv(J_n.T @ Bi @ J_n) @ J_n.T @ Bi
    N = np.linalg.svd(J_n.T)[2][2:].T
    np.testing.assert_allclose(
        Bi @ (np.eye(6) - C), N @ np.linalg.solve(N.T @ B @ N, N.T), atol=1e-12
    )


def planar_pair():
    tree = Tree(gravity=(0, 0, 0))
    for name, x in (("a", 0.0), ("b", 1.0)):
        tree.add(f"{name}0", pin.JointModelRZ(), X=translation(x), inertia=rod(0.5, 1.0))
        tree.add(
            f"{name}1",
            pin.JointModelRZ(),
            parent=f"{name}0",
            X=translation(0.5),
            inertia=rod(0.5, 1.0),
        )
    return tree.robot()


def test_sv9_degenerate_cases():
    rng = np.random.default_rng(10)
    robot = planar_pair()
    q, v = np.array([1.0, -0.4, 2.0, 0.5]), rng.normal(size=4)
    J_a, J_b, _ = relative_jacobian(robot, q, "a1", "b1", translation(0.5))
    A, D = inertia(robot, q), J_a - J_b
    energy = {}
    for kind in ("revolute", "spherical", "weld"):
        change = solve_velocity_jump(A, D, v, motion_of_joint(kind, np.eye(3))).change
        energy[kind] = 0.5 * (v + change) @ A @ (v + change) - 0.5 * v @ A @ v
    assert (
        np.linalg.matrix_rank(D @ np.linalg.solve(A, D.T), tol=1e-9) == 3
    )  # (a) planar: B has rank 3
    assert np.isclose(energy["revolute"], energy["spherical"], rtol=1e-12)
    assert energy["weld"] < energy["revolute"] < 0
    double = np.hstack([motion_of_joint("revolute", np.eye(3))] * 2)  # (b) dependent columns
    single = solve_velocity_jump(A, D, v, double[:, :1])
    np.testing.assert_allclose(
        solve_velocity_jump(A, D, v, double).change, single.change, atol=1e-13
    )
    ground, relative = join_chains(
        A[:2, :2], J_a[:, :2], np.zeros((0, 0)), np.zeros((6, 0))
    )  # (c) the ground
    stopped = (
        v[:2]
        + solve_velocity_jump(
            ground, relative, v[:2], motion_of_joint("revolute", np.eye(3))
        ).change
    )
    np.testing.assert_allclose((relative @ stopped)[:3], 0.0, atol=1e-13)
    fits = v + single.change  # (f) nothing to do
    np.testing.assert_allclose(
        solve_velocity_jump(A, D, fits, double[:, :1]).change, 0.0, atol=1e-13
    )


def test_sv9_constrained_chains_through_their_own_coordinates():
    """(e) A -> Gamma^T M Gamma, J -> J Gamma equals stacking old rows with new rows."""
    rng = np.random.default_rng(11)
    robot = free_chain(rng, 6).robot()
    q = random_configuration(robot.model, rng)
    old = random_loop(robot, q, rng, "revolute", "old", links=("l5", "l2"))
    new = random_loop(robot, q, rng, "spherical", "new", links=("l6", "world"))
    mechanism = Mechanism(robot, [build_loop(robot, old)])
    v = project_velocity(mechanism, q, rng.normal(size=robot.nv))
    mechanism.place(q)
    Gamma, M = mechanism.null_space.Gamma.copy(), inertia(robot, q)
    u = np.linalg.lstsq(Gamma, v, rcond=None)[0]
    rows = ConstraintSet(robot, [build_loop(robot, new)]).jacobian(mechanism.kinematics)
    D = np.vstack((rows @ Gamma, np.zeros((3, Gamma.shape[1]))))
    reduced = (
        v
        + Gamma
        @ solve_velocity_jump(
            Gamma.T @ M @ Gamma, D, u, motion_of_joint("spherical", np.eye(3))
        ).change
    )
    mechanism.constraints.add(build_loop(robot, new))
    np.testing.assert_allclose(reduced, solve_impact(mechanism, q, v).v_plus, atol=1e-11)


@pytest.mark.parametrize("kind", ["weld", "revolute", "spherical"])
def test_sv10_same_chain_corrected_eq_20_to_24(kind):
    rng = np.random.default_rng(12)
    robot = free_chain(rng, 7).robot()
    q, v = random_configuration(robot.model, rng), rng.normal(size=robot.nv)
    J_1, J_2, X = relative_jacobian(robot, q, "l7", "l1", random_pose(rng))
    A, D, J_n = inertia(robot, q), J_1 - J_2, motion_of_joint(kind, X.rotation)
    assert np.linalg.matrix_rank(D) == 6
    jump = solve_velocity_jump(A, D, v, J_n)
    np.testing.assert_allclose(
        jump.change, solve_velocity_jump_by_paper(A, D, v, J_n).change, atol=1e-10
    )
    blocked = np.linalg.svd(J_n.T)[2][J_n.shape[1] :] if J_n.size else np.eye(6)
    printed = v - np.linalg.solve(
        A, J_1.T @ jump.F_1
    )  # (21) as printed: J_1 where J_1 - J_2 must stand
    corrected = v + jump.change
    assert np.abs(blocked @ D @ corrected).max() < 1e-12
    assert np.abs(momentum(robot, q, corrected) - momentum(robot, q, v)).max() < 1e-11
    assert np.abs(blocked @ D @ printed).max() > 1e-2
    assert np.abs(momentum(robot, q, printed) - momentum(robot, q, v)).max() > 1e-1
    assert 0.5 * corrected @ A @ corrected < 0.5 * v @ A @ v


@pytest.mark.parametrize("kind", ["revolute", "spherical"])
def test_sv10_fewer_than_six_freedoms_between_the_links(kind):
    """B is singular there; the null-space form still meets the rows."""
    rng = np.random.default_rng(13)
    robot = free_chain(rng, 7).robot()
    q, v = random_configuration(robot.model, rng), rng.normal(size=robot.nv)
    J_1, J_2, X = relative_jacobian(robot, q, "l7", "l4", random_pose(rng))
    A, D, J_n = inertia(robot, q), J_1 - J_2, motion_of_joint(kind, X.rotation)
    assert np.linalg.matrix_rank(D, 1e-9) == 3
    after = v + solve_velocity_jump(A, D, v, J_n).change
    blocked = np.linalg.svd(J_n.T)[2][J_n.shape[1] :]
    assert np.abs(blocked @ D @ after).max() < 1e-12
    pseudo = np.linalg.pinv(D @ np.linalg.solve(A, D.T), rcond=1e-9)
    inner = J_n.T @ pseudo @ J_n
    relative = D @ v - J_n @ np.linalg.pinv(inner, rcond=1e-9) @ J_n.T @ pseudo @ D @ v
    naive = v - np.linalg.solve(A, D.T @ pseudo @ relative)
    assert np.abs(blocked @ D @ naive).max() > 1e-3


@pytest.mark.parametrize(
    "kind", ["fixed", "revolute", "spherical", "prismatic", "universal", "planar"]
)
def test_sv10_engine_and_chain_level_agree(kind):
    rng = np.random.default_rng(14)
    robot = free_chain(rng, 7).robot()
    q, v = random_configuration(robot.model, rng), rng.normal(size=robot.nv)
    mechanism = Mechanism(
        robot, [build_loop(robot, random_loop(robot, q, rng, kind, links=("l7", "l1")))]
    )
    impact = solve_impact(mechanism, q, v)
    K, A = mechanism.J.copy(), inertia(robot, q)
    direct = v - np.linalg.solve(A, K.T @ np.linalg.solve(K @ np.linalg.solve(A, K.T), K @ v))
    np.testing.assert_allclose(impact.v_plus, direct, atol=1e-10)
    np.testing.assert_allclose(A @ (impact.v_plus - v), K.T @ impact.impulse, atol=1e-10)


# SV-11 -------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_sv11_laws_of_impact(seed):
    rng = np.random.default_rng(seed)
    robot = free_chain(rng, 6).robot()
    q, v = random_configuration(robot.model, rng), rng.normal(size=robot.nv)
    blocks = [build_loop(robot, random_loop(robot, q, rng, "spherical", "c", links=("l6", "l2")))]
    mechanism = Mechanism(robot, blocks)
    impact = solve_impact(mechanism, q, v)
    A, after = inertia(robot, q), impact.v_plus
    np.testing.assert_allclose(momentum(robot, q, after), momentum(robot, q, v), atol=1e-11)  # (a)
    lost = -0.5 * (after - v) @ A @ (after - v)
    assert np.isclose(impact.energy_change, lost, rtol=1e-9)  # (b) Carnot
    assert np.isclose(
        impact.energy_change, 0.5 * after @ A @ after - 0.5 * v @ A @ v, rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(solve_impact(mechanism, q, after).v_plus, after, atol=1e-12)  # (c)
    for _ in range(20):  # (d) Gauss
        rival = mechanism.null_space.Gamma @ rng.normal(size=mechanism.nu)
        assert (rival - v) @ A @ (rival - v) >= (after - v) @ A @ (after - v) - 1e-12


def test_sv11_result_does_not_depend_on_the_world_frame():
    rng = np.random.default_rng(15)
    robot = free_chain(rng, 5).robot()
    q, v = random_configuration(robot.model, rng), rng.normal(size=robot.nv)
    mechanism = Mechanism(
        robot, [build_loop(robot, random_loop(robot, q, rng, "revolute", links=("l5", "l1")))]
    )
    X = random_pose(rng, 3.0)
    moved = q.copy()
    moved[:7] = pin.SE3ToXYZQUAT(X * pin.XYZQUATToSE3(q[:7]))
    np.testing.assert_allclose(
        solve_impact(mechanism, moved, v).v_plus, solve_impact(mechanism, q, v).v_plus, atol=1e-10
    )


def test_sv11_two_point_masses():
    """2 kg at 3 m/s and 1 kg at rest, welded: 2 m/s, 3 J lost."""
    tree = Tree(gravity=(0, 0, 0))
    for name, mass in (("heavy", 2.0), ("light", 1.0)):
        tree.add(name, pin.JointModelPX(), inertia=pin.Inertia(mass, np.zeros(3), np.eye(3)))
    robot = tree.robot()
    impact = solve_impact(
        Mechanism(
            robot, [build_loop(robot, LoopClosure("w", "fixed", "heavy", HERE, "light", HERE))]
        ),
        np.zeros(2),
        np.array([3.0, 0]),
    )
    np.testing.assert_allclose(impact.v_plus, 2.0, atol=1e-14)
    assert np.isclose(impact.energy_change, -3.0, atol=1e-13)
    assert np.isclose(impact.impulse[0], -2.0, atol=1e-13)  # on the heavy one


def falling_rod(length=2.0, speed=3.0):
    tree = Tree(gravity=(0, 0, 0)).add("rod", pin.JointModelFreeFlyer(), inertia=rod(length, 1.5))
    return tree, np.array([0, 0, -speed, 0, 0, 0])


def test_sv11_rod_caught_at_its_end():
    """A uniform rod in transverse flight, its end caught by a pivot: omega = 3 V / (2 L), three quarters of the energy stay."""
    tree, v = falling_rod()
    robot = tree.robot()
    impact = solve_impact(
        Mechanism(
            robot, [build_loop(robot, LoopClosure("p", "spherical", "rod", HERE, "world", HERE))]
        ),
        robot.posture,
        v,
    )
    np.testing.assert_allclose(impact.v_plus, (0, 0, 0, 0, 3 * 3.0 / (2 * 2.0), 0), atol=1e-12)
    before = 0.5 * 1.5 * 9.0
    assert np.isclose((before + impact.energy_change) / before, 0.75, rtol=1e-12)


def test_sv11_restitution_belongs_to_rows_that_can_only_push():
    tree, v = falling_rod()
    surface = ContactSurface("end", "rod", 0, HERE, np.zeros((1, 3)))
    robot = tree.robot(surfaces={"end": surface})
    mechanism = Mechanism(robot, [build_contact(robot, "end")])
    K = mechanism.constraints
    sliding = v + np.array(
        [1.0, -2.0, 0, 0, 0, 0]
    )  # friction stops it; it does not bounce sideways
    np.testing.assert_allclose(
        mechanism.J @ solve_impact(mechanism, robot.posture, sliding, {"end": 0.5}).v_plus,
        (0, 0, 1.5),
        atol=1e-12,
    )
    for e in (0.0, 0.4, 1.0):
        impact = solve_impact(mechanism, robot.posture, v, {"end": e})
        np.testing.assert_allclose((mechanism.J @ impact.v_plus), (0, 0, 3.0 * e), atol=1e-12)
        assert impact.energy_change <= 1e-12
    assert np.isclose(
        solve_impact(mechanism, robot.posture, v, {"end": 1.0}).energy_change, 0.0, atol=1e-12
    )
    K.add(
        build_loop(
            robot,
            LoopClosure("pivot", "spherical", "rod", translation(2.0), "world", translation(2.0)),
        )
    )
    with pytest.raises(HumanoidDynamicsError, match="restitution does not apply"):
        solve_impact(mechanism, robot.posture, v, {"pivot": 0.5})
    with pytest.raises(HumanoidDynamicsError, match="between 0 and 1"):
        solve_impact(mechanism, robot.posture, v, {"end": 1.5})
    with pytest.raises(UnknownNameError, match="toe"):
        solve_impact(mechanism, robot.posture, v, {"toe": 0.5})
    assert solve_impact(mechanism, robot.posture, v * np.nan).status is DynamicsStatus.INVALID_INPUT


# SV-12 -------------------------------------------------------------------------------------------------------------------------------


def omega_parent(t):
    return np.array([np.cos(3 * t), 0.7 * np.sin(2 * t), 0.5 + 0.3 * t])


def integrate_rotation(steps, rule, axes="parent"):
    R, dt = np.eye(3), 1.0 / steps
    for k in range(steps):
        R = advance_rotation(R, omega_parent, k * dt, dt, axes=axes, rule=rule)
    return R


def test_sv12_order_one_as_printed_and_two_at_the_midpoint_eq_25():
    reference = integrate_rotation(20000, "midpoint")
    for rule, order in (("euler", 1), ("midpoint", 2)):
        errors = [
            np.linalg.norm(pin.log3(integrate_rotation(n, rule).T @ reference))
            for n in (50, 100, 200, 400)
        ]
        slopes = np.diff(np.log(errors)) / np.log(0.5)
        np.testing.assert_allclose(slopes, order, atol=0.1)


def test_sv12_constant_velocity_is_exact():
    omega, R = np.array([1.0, -2.0, 0.5]), np.eye(3)
    for _ in range(100):
        R = step_rotation(R, omega, 0.01)
    np.testing.assert_allclose(R, pin.exp3(omega), atol=4e-14)


def test_sv12_left_multiplication_means_parent_axes():
    """R' = R [omega]x in child axes, [omega]x R in parent axes; mixing them is an error of order one."""
    R, omega, dt = pin.exp3(np.array([0.4, -1.1, 0.7])), np.array([0.3, 0.8, -0.5]), 1e-6
    for axes, expected in (("parent", pin.skew(omega) @ R), ("child", R @ pin.skew(omega))):
        np.testing.assert_allclose(
            (step_rotation(R, omega, dt, axes) - R) / dt, expected, atol=1e-5
        )
    parent, child = (
        integrate_rotation(200, "midpoint"),
        integrate_rotation(200, "midpoint", "child"),
    )
    assert np.linalg.norm(pin.log3(parent.T @ child)) > 0.05


def test_sv12_pinocchio_spherical_joints_use_child_axes():
    model = Tree().add("ball", pin.JointModelSpherical()).model()
    q = pin.Quaternion(pin.exp3(np.array([0.4, -1.1, 0.7]))).coeffs()
    omega = np.array([0.3, 0.8, -0.5])
    R = pin.Quaternion(q).toRotationMatrix()
    expected = step_rotation(R, omega, 0.5, "child")
    np.testing.assert_allclose(
        pin.Quaternion(pin.integrate(model, q, 0.5 * omega)).toRotationMatrix(),
        expected,
        atol=1e-14,
    )


def test_sv12_zero_velocity_is_the_zero_matrix_not_an_unset_one_eq_29():
    R = pin.exp3(np.array([0.4, -1.1, 0.7]))
    np.testing.assert_array_equal(step_rotation(R, np.zeros(3), 0.1), R)


@pytest.mark.slow
def test_sv12_orthogonality_after_a_million_steps():
    R, omega = np.eye(3), np.array([1.0, -2.0, 0.5])
    for _ in range(1_000_000):
        R = orthonormalize(step_rotation(R, omega, 1e-3))
    assert np.abs(R.T @ R - np.eye(3)).max() < 1e-9


# SV-13, SV-14 ------------------------------------------------------------------------------------------------------------------------


def test_sv13_free_chain_keeps_its_momentum():
    rng = np.random.default_rng(16)
    tree = free_chain(rng, 3)
    tree.add(
        "ball",
        pin.JointModelSpherical(),
        parent="l3",
        X=random_pose(rng),
        inertia=random_inertia(rng),
    )
    robot = tree.robot()
    mechanism = Mechanism(robot)
    q, v = random_configuration(robot.model, rng), 0.3 * rng.normal(size=robot.nv)
    before = take_audit(mechanism, q, v)
    for _ in range(2500):
        outcome = step(mechanism, q, v, 2e-3, method="rkmk4")
        q, v = outcome.q, outcome.v
    after = take_audit(mechanism, q, v)
    np.testing.assert_allclose(after.linear, before.linear, atol=1e-9)
    np.testing.assert_allclose(after.angular, before.angular, atol=1e-9)
    assert np.isclose(after.energy, before.energy, rtol=1e-9)


def test_sv13_nobody_drives_the_free_joint():
    rng = np.random.default_rng(17)
    robot = free_chain(rng, 4).robot()
    mechanism = Mechanism(robot)
    q, v = random_configuration(robot.model, rng), rng.normal(size=robot.nv)
    a = solve_forward(mechanism, q, v, rng.normal(size=4)).a
    answer = solve_inverse(mechanism, q, v, a)
    assert np.abs(answer.tau_G[:6]).max() < 1e-9
    assert answer.feasible


def test_sv13_40_freedoms_need_17_links():
    """Four revolute and twelve spherical joints: 16 joints, 17 links, where single revolutes would need 41."""
    tree, kinds = Tree(), [pin.JointModelRY()] * 4 + [pin.JointModelSpherical()] * 12
    for k, kind in enumerate(kinds):
        tree.add(
            f"l{k}",
            kind,
            parent=f"l{k - 1}" if k else "world",
            inertia=random_inertia(np.random.default_rng(k)),
        )
    robot = tree.robot()
    assert robot.nv == 40
    assert len(Structure.of(robot)) == 17


def hang_on_bar(grip):
    robot, guess = high_bar(grip)
    mechanism = Mechanism(robot)
    return mechanism, close_position(mechanism, guess, tolerance=1e-14, most=200)


def test_sv14_high_bar_mobility_12_17_22():
    mechanism, closed = hang_on_bar(0.18)
    assert closed.status is DynamicsStatus.OK
    seen = [mechanism.mobility(closed.q).rank, mechanism.nu]
    for hand in ("right_hand", "left_hand"):
        mechanism.constraints.remove(hand)
        mechanism.mobility(closed.q)
        seen.append(mechanism.nu)
    assert seen == [10, 12, 17, 22]


def test_sv14_grip_as_wide_as_the_shoulders_is_singular_everywhere():
    mechanism, closed = hang_on_bar(0.2193)
    assert closed.status is DynamicsStatus.OK
    outcome = mechanism.mobility(closed.q)
    assert (outcome.rank, mechanism.nu) == (9, 13)
    answer = solve_forward(
        mechanism, closed.q, np.zeros(mechanism.robot.nv), np.zeros(len(mechanism.actuated))
    )
    assert answer.indeterminate
    assert answer.status is DynamicsStatus.INDETERMINATE
    assert np.isfinite(answer.a).all()
    assert np.isfinite(answer.lam).all()
    _, failed = hang_on_bar(0.25)
    assert failed.status is DynamicsStatus.INCONSISTENT_INPUT
    assert failed.residual > 1e-3


def test_sv14_release_and_regrasp():
    mechanism, closed = hang_on_bar(0.18)
    q = closed.q
    v = project_velocity(
        mechanism, q, 0.5 * np.random.default_rng(18).normal(size=mechanism.robot.nv)
    )
    before = take_audit(mechanism, q, v)
    loop = next(item for item in mechanism.robot.loops if item.name == "right_hand")
    change = apply_events(mechanism, State(q, v), [Cut("right_hand")])
    q, v = change.state.q, change.state.v
    assert abs(take_audit(mechanism, q, v).energy - before.energy) < 1e-10
    for _ in range(30):
        outcome = step(mechanism, q, v, 1e-3, method="rkmk4")
        q, v = outcome.q, outcome.v
    assert abs(take_audit(mechanism, q, v).energy - before.energy) < 1e-3 * before.kinetic
    data = mechanism.robot.data()
    pin.framesForwardKinematics(mechanism.robot.model, data, q)
    here = data.oMf[mechanism.robot.link_frame(loop.link_a)] * loop.X_LA
    regrasp = LoopClosure("regrasp", "revolute", loop.link_a, loop.X_LA, "world", here)
    kinetic = take_audit(mechanism, q, v).kinetic
    caught = apply_events(mechanism, State(q, v), [Connect(regrasp)])
    A, jump = inertia(mechanism.robot, q), caught.state.v - v
    assert np.isclose(caught.impact.energy_change, -0.5 * jump @ A @ jump, rtol=1e-9)
    assert np.isclose(
        take_audit(mechanism, q, caught.state.v).kinetic - kinetic,
        caught.impact.energy_change,
        atol=1e-9,
    )
    assert caught.impact.energy_change < -1e-6
