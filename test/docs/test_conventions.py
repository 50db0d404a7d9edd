# SPDX-License-Identifier: Apache-2.0
"""What the page of conventions says of coordinates, signs and limits holds in the loaded models."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.contact.wrench import measure_wrench

STEP = 1e-6
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def one_joint(kind, inside=""):
    joint = (
        f'<joint name="j" type="{kind}"><parent link="world"/><child link="body"/>{inside}</joint>'
    )
    return hd.load_robot(
        f'<robot name="one"><link name="world"/><link name="body">{INERTIAL}</link>{joint}</robot>'
    )


def pose(robot, link, q):
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, q)
    return pin.SE3(data.oMf[robot.link_frame(link)])


def velocity(robot, link, q, v):
    """Linear velocity of the origin and angular velocity, both in the world, by central differences."""
    before, after = (
        pose(robot, link, pin.integrate(robot.model, q, sign * STEP * v)) for sign in (-1, 1)
    )
    turn = pin.log3(after.rotation @ before.rotation.T)
    return np.concatenate((after.translation - before.translation, turn)) / (2 * STEP)


def moved(robot, seed=0):
    """A configuration that is turned in every joint."""
    rng = np.random.default_rng(seed)
    return pin.integrate(robot.model, robot.posture, rng.normal(scale=0.7, size=robot.nv)), rng


def test_free_base_is_a_pose_and_a_velocity_in_axes_of_the_base():
    robot = hd.load_robot("human28")
    q, rng = moved(robot)
    X_WB = pose(robot, "pelvis", q)
    np.testing.assert_allclose(q[:3], X_WB.translation, atol=1e-14)
    np.testing.assert_allclose(
        pin.Quaternion(q[6], q[3], q[4], q[5]).matrix(), X_WB.rotation, atol=1e-14
    )
    v = np.concatenate((rng.normal(size=6), np.zeros(robot.nv - 6)))
    expected = np.concatenate((X_WB.rotation @ v[:3], X_WB.rotation @ v[3:6]))
    np.testing.assert_allclose(velocity(robot, "pelvis", q, v), expected, atol=1e-8)
    assert np.abs(expected[:3] - v[:3]).max() > 0.1


def test_planar_root_is_x_z_pitch_with_rates_in_axes_of_the_world():
    robot = hd.load_robot("biped7")
    q, rng = moved(robot)
    X_WB = pose(robot, "trunk", q)
    np.testing.assert_allclose(X_WB.translation, (q[0], 0.0, q[1]), atol=1e-14)
    np.testing.assert_allclose(X_WB.rotation, pin.utils.rotate("y", q[2]), atol=1e-14)
    v = np.concatenate((rng.normal(size=3), np.zeros(6)))
    np.testing.assert_allclose(
        velocity(robot, "trunk", q, v), (v[0], 0.0, v[1], 0.0, v[2], 0.0), atol=1e-8
    )
    assert (X_WB.rotation @ [1.0, 0.0, 0.0])[2] * q[2] < 0.0, "a positive pitch is nose-down"


def test_spherical_joint_turns_in_axes_of_the_child():
    robot = hd.load_robot("human16")
    q, rng = moved(robot)
    joint = robot.joint("left_hip")
    w = rng.normal(size=3)
    v = np.zeros(robot.nv)
    v[joint.v] = w
    R_WC = pose(robot, joint.child, q).rotation
    np.testing.assert_allclose(velocity(robot, joint.child, q, v)[3:], R_WC @ w, atol=1e-8)
    assert joint.coordinates == ("left_hip.wx", "left_hip.wy", "left_hip.wz")
    assert joint.q.stop - joint.q.start == 4


def test_continuous_joint_is_cosine_and_sine():
    robot = one_joint("continuous", '<axis xyz="0 0 1"/>')
    q = pin.integrate(robot.model, pin.neutral(robot.model), np.array([0.4]))
    np.testing.assert_allclose(q, (np.cos(0.4), np.sin(0.4)), atol=1e-15)


def test_planar_joint_moves_in_axes_of_the_child():
    robot = one_joint("planar", '<axis xyz="0 0 1"/>')
    q = pin.integrate(robot.model, pin.neutral(robot.model), np.array([0.0, 0.0, 0.5]))
    np.testing.assert_allclose(q, (0.0, 0.0, np.cos(0.5), np.sin(0.5)), atol=1e-15)
    assert robot.coordinates == ("j.vx", "j.vy", "j.wz")
    np.testing.assert_allclose(
        velocity(robot, "body", q, np.array([1.0, 0.0, 0.0]))[:3],
        (np.cos(0.5), np.sin(0.5), 0.0),
        atol=1e-8,
    )


def test_names_of_coordinates_and_order_of_torques():
    robot = hd.load_robot("human28")
    assert robot.coordinates[:6] == tuple(
        f"root_joint.{part}" for part in ("vx", "vy", "vz", "wx", "wy", "wz")
    )
    assert tuple(robot.coordinates[i] for i in robot.actuated_v) == robot.actuated
    answer = hd.inverse_dynamics(robot, hd.State.at_rest(robot), np.zeros(robot.nv))
    assert answer.tau.shape == (len(robot.actuated),)


def test_environment_pushes_the_robot_up():
    robot = hd.load_robot("human28")
    answer = hd.inverse_dynamics(robot, hd.State.at_rest(robot), np.zeros(robot.nv))
    total = sum(wrench.f_W for wrench in answer.wrenches.values())
    np.testing.assert_allclose(total, (0.0, 0.0, robot.mass * 9.81), atol=1e-8)
    for name in answer.wrenches:
        surface = robot.surface(name)
        R_WC = (pose(robot, surface.link, robot.posture) * surface.X_LC).rotation
        np.testing.assert_allclose(R_WC, np.eye(3), atol=1e-5)


def test_centre_of_pressure_is_where_the_moment_in_the_plane_vanishes():
    surface = hd.load_robot("human28").surface("left_foot")
    p, f = np.array([0.05, -0.02, 0.0]), np.array([3.0, -4.0, 200.0])
    wrench = measure_wrench(surface, np.concatenate((f, np.cross(p, f))), np.eye(3))
    np.testing.assert_allclose(wrench.cop, p[:2], atol=1e-15)
    assert wrench.friction_margin == pytest.approx(0.7 * 200.0 - 5.0)


def test_absent_and_zero_limits_are_none():
    axis = '<axis xyz="0 1 0"/>'
    bare, zero = (
        one_joint("revolute", axis),
        one_joint("revolute", axis + '<limit effort="0" velocity="0" lower="-1" upper="2"/>'),
    )
    for robot in (bare, zero):
        assert np.isinf(robot.limits.effort).all()
        assert np.isinf(robot.limits.velocity).all()
    assert (bare.limits.lower[0], bare.limits.upper[0]) == (-np.inf, np.inf)
    assert (zero.limits.lower[0], zero.limits.upper[0]) == (-1.0, 2.0)
    assert any("position limit" in notice.text for notice in bare.notices)


@pytest.mark.parametrize(("name", "root"), [("world", "fixed"), ("base", "free_flyer")])
def test_a_root_link_called_world_is_fixed(name, root):
    joint = f'<joint name="j" type="continuous"><parent link="{name}"/><child link="body"/></joint>'
    assert (
        hd.load_robot(
            f'<robot name="r"><link name="{name}"/><link name="body">{INERTIAL}</link>{joint}</robot>'
        ).root
        == root
    )


def test_followers_keep_or_lose_their_coordinate():
    links = "".join(f'<link name="{name}">{INERTIAL}</link>' for name in ("world", "a", "b"))
    axis = '<axis xyz="0 0 1"/><limit effort="9" velocity="9" lower="-1" upper="1"/>'
    lead = (
        f'<joint name="lead" type="revolute"><parent link="world"/><child link="a"/>{axis}</joint>'
    )
    follow = f'<joint name="next" type="revolute"><parent link="a"/><child link="b"/>{axis}<mimic joint="lead" multiplier="2"/></joint>'
    urdf = f'<robot name="r">{links}{lead}{follow}</robot>'
    kept, reduced = hd.load_robot(urdf), hd.load_robot(urdf, mimic="reduced")
    assert (kept.nv, reduced.nv) == (2, 1)
    assert kept.actuated == reduced.actuated == ("lead",)
    assert [(m.joint, m.leader, m.ratio) for m in kept.mimics] == [("next", "lead", 2.0)]
    assert reduced.mimics == ()


def test_three_revolutes_with_a_tag_are_three_revolutes_elsewhere():
    robot = hd.load_robot("human16")
    plain = pin.buildModelFromXML(robot.urdf, pin.JointModelFreeFlyer())
    assert plain.nv == robot.nv
    assert "left_hip_x" in plain.names
    assert "left_hip_x" not in robot.model.names
