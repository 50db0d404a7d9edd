# SPDX-License-Identifier: Apache-2.0
"""Connections that the tree keeps anyway, such as a point on the axis of a hinge joined to its parent: they change nothing."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.constraints.loop import build_loop
from humanoid_dynamics.dynamics.compiled import CompiledForward
from humanoid_dynamics.dynamics.forward import solve_forward
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.dynamics.mobility import report_mobility
from humanoid_dynamics.dynamics.torque import share_torque
from humanoid_dynamics.dynamics.velocity_boundary import solve_velocity_jump
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.structure.events import Connect, Cut

OFF = (0.0, 1e-9, 1e-6)  # m; how far the point is off the axis
SMALL = '<inertia ixx="{0}" iyy="{0}" izz="{0}" ixy="0" ixz="0" iyz="0"/>'


def join(robot, joint, ends, kind, off=0.0):
    """Return a connection at a hinge, along its axis."""
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, robot.posture)
    index = next(one.index for one in robot.joints if one.name == joint)
    S = pin.computeJointJacobian(robot.model, robot.data(), robot.posture, index)[
        3:, robot.model.joints[index].idx_v
    ]
    X = data.oMi[index] * pin.SE3(
        pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), S).matrix(), 0.05 * S
    )
    X = X * pin.SE3(np.eye(3), np.array([off, 0.0, 0.0]))
    first, second = (
        pin.SE3.Identity() if link == "world" else data.oMf[robot.link_frame(link)] for link in ends
    )
    return LoopClosure(
        name=f"{joint}.{kind}",
        kind=kind,
        link_a=ends[0],
        X_LA=first.actInv(X),
        link_b=ends[1],
        X_LB=second.actInv(X),
    )


def write_chain(folder, length, mass):
    """Return three links on hinges about slanted axes, the first in the world."""
    inertia = SMALL.format(mass * length**2 / 12.0)
    parts = [
        f'<link name="l{k}"><inertial><origin xyz="{length / 2} 0 0"/><mass value="{mass}"/>{inertia}</inertial></link>'
        f'<joint name="j{k}" type="continuous"><origin xyz="{0 if k == 1 else length} 0 0" rpy="0.3 0.2 0.1"/><parent link="l{k - 1}"/>'
        f'<child link="l{k}"/><axis xyz="0 0.6 0.8"/></joint>'
        for k in (1, 2, 3)
    ]
    (folder / "chain.urdf").write_text(
        f'<robot name="chain"><link name="l0"/>{"".join(parts)}</robot>'
    )
    return hd.load_robot(folder / "chain.urdf", root="fixed")


def run_beside_a_free_one(robot, loops, compiled, steps=60):
    v = np.random.default_rng(0).normal(size=robot.nv)
    worlds = []
    for joined in (loops, []):
        world = World(robot, Setup(compiled=compiled))
        world.set_velocity(v)
        if joined:
            impact = world.apply([Connect(loop) for loop in joined]).impact
            assert np.abs(impact.impulse).max() < 1e-9
        worlds.append(world)
    for _ in range(steps):
        reports = [world.step(1e-3) for world in worlds]
        assert [report.status for report in reports] == ["OK", "OK"]
    held, free = worlds
    np.testing.assert_allclose(
        held.q, free.q, atol=1e-4 * np.abs(free.v).max()
    )  # loops step in parts, which is more exact
    assert abs(held.books.work["loops"]) < 1e-9
    assert np.abs(held.lam).max() < 1e-6
    held.apply([Cut(loop.name) for loop in loops])
    assert held.step(1e-3).status == "OK"


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("off", OFF)
def test_a_point_on_the_axis_of_a_knee_changes_nothing(compiled, off):
    robot = hd.load_robot("human28")
    loops = [join(robot, "left_knee", ("left_shank", "left_thigh"), "spherical", off)]
    loops += [join(robot, "right_knee", ("right_thigh", "right_shank"), "revolute")] * (off == 0.0)
    run_beside_a_free_one(robot, loops, compiled)


def test_a_ball_joint_around_a_hip_of_three_hinges_changes_nothing():
    robot = hd.load_robot("human28")
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, robot.posture)
    X, links = data.oMi[robot.model.getJointId("left_hip_pitch")], ("pelvis", "left_thigh")
    places = [data.oMf[robot.link_frame(link)].actInv(X) for link in links]
    run_beside_a_free_one(
        robot, [LoopClosure("hip", "spherical", links[0], places[0], links[1], places[1])], True
    )


@pytest.mark.parametrize(("length", "mass"), [(5e-3, 1e-4), (0.5, 2.0), (20.0, 500.0)])
@pytest.mark.parametrize(("joint", "ends"), [("j3", ("l3", "l2")), ("j1", ("l1", "world"))])
def test_small_and_large_chains(tmp_path, length, mass, joint, ends):
    robot = write_chain(tmp_path, length, mass)
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, robot.posture)
    loop = join(robot, joint, ends, "revolute")
    mechanism = Mechanism(robot, [build_loop(robot, loop)])
    mechanism.place(robot.posture)
    assert mechanism.null_space.rank == 0
    assert mechanism.nu == 3
    run_beside_a_free_one(robot, [loop], True, steps=20)


def test_beside_a_connection_that_holds_it_changes_nothing_either():
    robot = hd.load_robot("human28")
    weld = join(robot, "right_knee", ("right_shank", "right_thigh"), "fixed")
    point = join(robot, "left_knee", ("left_shank", "left_thigh"), "spherical")
    v, ends = np.random.default_rng(0).normal(size=robot.nv), []
    for loops in ([weld], [point, weld]):
        world = World(robot, Setup())
        world.set_velocity(v)
        world.apply([Connect(loop) for loop in loops])
        for _ in range(40):
            assert world.step(1e-3).status == "OK"
        ends.append(world.q)
    np.testing.assert_allclose(*ends, atol=1e-9)


def test_a_point_beside_the_axis_holds_the_hinge():
    robot = hd.load_robot("human28")
    world = World(robot, Setup())
    world.set_velocity(np.random.default_rng(0).normal(size=robot.nv))
    world.apply(
        [Connect(join(robot, "left_knee", ("left_shank", "left_thigh"), "spherical", 1e-3))]
    )
    assert abs(world.v[robot.coordinates.index("left_knee")]) < 1e-9


def test_forward_dynamics_and_mobility_do_not_count_it():
    robot = hd.load_robot("human28")
    mechanism = Mechanism(
        robot,
        [build_loop(robot, join(robot, "left_knee", ("left_shank", "left_thigh"), "spherical"))],
    )
    q, v, tau = (
        robot.posture,
        np.random.default_rng(0).normal(size=robot.nv),
        np.zeros(len(mechanism.actuated)),
    )
    free = solve_forward(Mechanism(robot, []), q, v, tau)
    for answer in (
        solve_forward(mechanism, q, v, tau),
        CompiledForward(mechanism).solve(q, v, tau),
    ):
        np.testing.assert_allclose(answer.a, free.a, atol=1e-9)
        assert np.abs(answer.lam).max() < 1e-5
    report = report_mobility(robot, q, mechanism)
    assert (report.rank, report.mobility, report.constraints[0].rank) == (0, robot.nv, 0)


def test_motors_and_new_joints_that_move_nothing_but_by_rounding():
    rounding = np.random.default_rng(0).normal(size=(6, 2)) * 1e-17
    share = share_torque(rounding, np.ones(2))
    assert share.rank == 0
    assert not share.tau.any()
    jump = solve_velocity_jump(np.diag([1.0, 2.0]), rounding, np.ones(2), np.zeros((6, 0)))
    assert not jump.change.any()
    assert not jump.F_1.any()


def test_the_audit_sees_momentum_that_a_loop_makes_out_of_nothing():
    """Rounding taken for a constraint, as it was: the books call it momentum from nowhere, and no longer the work of loops alone."""
    robot = hd.load_robot("human28")
    world = World(robot, Setup(compiled=False))
    world.set_velocity(np.random.default_rng(0).normal(size=robot.nv))
    loop, constraints = (
        join(robot, "left_knee", ("left_shank", "left_thigh"), "spherical"),
        world.mechanism.constraints,
    )
    constraints._find_least = lambda block: np.zeros(len(block.labels))
    world.apply([Connect(loop)])
    reports = [world.step(1e-3) for _ in range(20)]
    assert max(report.momentum for report in reports) > 1.0
    assert any(
        "momentum error" in report.reason for report in reports if report.status == "UNBALANCED"
    )
