# SPDX-License-Identifier: Apache-2.0
"""The recursion against pinocchio's on trees of every kind of joint, and its laws."""

import numpy as np
import pinocchio as pin
import pytest
from trees import KINDS, random_motion, random_tree

import humanoid_dynamics as hd
from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.papers.vdc.decomposition import WORLD, decompose
from humanoid_dynamics.papers.vdc.inverse import solve_subsystems
from humanoid_dynamics.papers.vdc.joint import JointParameters
from humanoid_dynamics.papers.vdc.motion import (
    FrameFinder,
    compute_link_motion,
    compute_required_motion,
)
from humanoid_dynamics.papers.vdc.transform import build_wrench_transform, motion_cross
from humanoid_dynamics.spatial.rotation import skew


def close(value, expected, tolerance=1e-12):
    return np.max(np.abs(value - expected), initial=0.0) <= tolerance * (
        1.0 + np.max(np.abs(expected), initial=0.0)
    )


def bundled_state(robot, seed):
    rng = np.random.default_rng(seed)
    q = pin.integrate(robot.model, robot.posture, 0.5 * rng.normal(size=robot.nv))
    return hd.State(q, rng.normal(size=robot.nv)), rng.normal(size=robot.nv)


# laws


@pytest.mark.parametrize("seed", range(5))
def test_power_is_the_same_in_every_frame(seed):
    pin.seed(seed)
    rng = np.random.default_rng(seed)
    X_BA, F_A, V_B = pin.SE3.Random(), rng.normal(size=6), rng.normal(size=6)
    U = build_wrench_transform(X_BA.rotation, X_BA.translation)
    assert abs((U @ F_A) @ V_B - F_A @ (U.T @ V_B)) < 1e-13
    assert close(U, X_BA.toDualActionMatrix(), 1e-15)
    assert close(U.T, X_BA.toActionMatrixInverse(), 1e-15)


def test_products_are_those_of_vectors():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    assert close((skew(a) @ b[..., None])[..., 0], np.cross(a, b), 1e-15)
    V, W = rng.normal(size=(2, 6))
    assert close(motion_cross(V) @ W, pin.Motion(V).cross(pin.Motion(W)).vector, 1e-15)


def test_at_rest_a_cut_carries_the_weight_beyond_it():
    robot = hd.load_robot("human28")
    answer = solve_subsystems(robot, hd.State.at_rest(robot), np.zeros(robot.nv))
    f = answer.cut_wrench("pelvis")
    assert abs(np.linalg.norm(f[:3]) - robot.mass * 9.81) < 1e-9
    assert (
        abs(
            np.linalg.norm(answer.cut_wrench("left_hand")[:3])
            - 9.81 * answer.decomposition.m[answer.decomposition.link("left_hand")]
        )
        < 1e-12
    )


def test_contacts_that_carry_the_robot_leave_nothing_to_the_base():
    robot = hd.load_robot("human28")
    state, a = bundled_state(robot, 3)
    contacts = {}
    answer = hd.inverse_dynamics(
        robot, state, a, contacts=("left_foot", "right_foot"), rule="minimum_torque"
    )
    for name, wrench in answer.wrenches.items():
        contacts[name] = np.concatenate((wrench.f_W, wrench.m_W))
    parameters = JointParameters.frictionless(robot.model.armature)
    tau = solve_subsystems(robot, state, a, contacts, parameters).tau
    assert np.abs(tau[:6]).max() < 1e-9
    assert close(tau[robot.actuated_v], answer.tau, 1e-10)


# independent program


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_every_kind_of_joint(kind, seed):
    robot = random_tree(seed, size=4, kinds=[kind])
    q, v, a = random_motion(robot.model, seed)
    tau = solve_subsystems(
        robot,
        hd.State(q, v),
        a,
        joint_parameters=JointParameters.frictionless(robot.model.armature),
    ).tau
    assert close(tau, pin.rnea(robot.model, robot.data(), q, v, a))


@pytest.mark.parametrize("seed", range(40))
def test_random_trees(seed):
    """Up to twelve joints of all kinds, a free base in every second one."""
    robot = random_tree(seed, size=3 + seed % 10, base="free_flyer" if seed % 2 else None)
    q, v, a = random_motion(robot.model, seed)
    answer = solve_subsystems(
        robot,
        hd.State(q, v),
        a,
        joint_parameters=JointParameters.frictionless(robot.model.armature),
    )
    data = robot.data()
    assert close(answer.tau, pin.rnea(robot.model, data, q, v, a))
    pin.forwardKinematics(robot.model, data, q, v, a)
    assert close(answer.motion.V, np.array([V.vector for V in list(data.v)[1:]]))
    assert close(answer.motion.A, np.array([A.vector for A in list(data.a)[1:]]))


@pytest.mark.parametrize(
    "name", ["human28", "human40", "human16", "legs12", "biped7", "swing", "highbar", "ropes"]
)
def test_bundled_robots(name):
    robot = hd.load_robot(name)
    for seed in range(3):
        state, a = bundled_state(robot, seed)
        tau = solve_subsystems(
            robot, state, a, joint_parameters=JointParameters.frictionless(robot.model.armature)
        ).tau
        assert close(tau, pin.rnea(robot.model, robot.data(), state.q, state.v, a))


@pytest.mark.parametrize("seed", range(5))
def test_contact_wrenches_on_any_link(seed):
    """tau = RNEA - sum J'F with F in axes of the world at the frame: surfaces, control points and links."""
    robot = hd.load_robot("human28")
    state, a = bundled_state(robot, seed)
    rng = np.random.default_rng(seed)
    contacts = {
        name: 50.0 * rng.normal(size=6)
        for name in ("left_foot", "link:left_foot", "right_palm", "head", "left_shank")
    }
    data = robot.data()
    expected = np.array(pin.rnea(robot.model, data, state.q, state.v, a))
    pin.computeJointJacobians(robot.model, data, state.q)
    for name, F in contacts.items():
        frame = (
            robot.surfaces[name].frame
            if name in robot.surfaces
            else robot.link_frame(name.removeprefix("link:"))
        )
        if name == "head":
            frame = robot.control_points[name].frame
        expected -= (
            pin.getFrameJacobian(robot.model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED).T
            @ F
        )
    tau = solve_subsystems(
        robot, state, a, contacts, JointParameters.frictionless(robot.model.armature)
    ).tau
    assert close(tau, expected)


def test_a_follower_moves_by_the_coordinate_of_its_leader():
    inertial = '<inertial><mass value="2"/><origin xyz=".1 .2 0"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>'
    joint = '<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><origin xyz=".3 0 0"/>'
    joint += '<axis xyz="0 1 0"/>{3}<limit effort="1" velocity="1"/></joint>'
    text = f'<robot name="m"><link name="world"/><link name="a">{inertial}</link><link name="b">{inertial}</link>'
    text += (
        joint.format("j1", "world", "a", "")
        + joint.format("j2", "a", "b", '<mimic joint="j1" multiplier="2" offset="0.1"/>')
        + "</robot>"
    )
    robot = hd.load_robot(text, mimic="reduced")
    q, v, a = np.array([0.3]), np.array([0.7]), np.array([-0.4])
    tau = solve_subsystems(robot, hd.State(q, v), a).tau
    assert close(tau, pin.rnea(robot.model, robot.data(), q, v, a))


@pytest.mark.parametrize("seed", range(6))
def test_required_motion_is_the_derivative_of_required_velocity(seed):
    """Components of V_r(t) by central differences, while posture, rates and required rates all change."""
    robot = random_tree(seed, size=6)
    body, model = decompose(robot), robot.model
    finder = FrameFinder(body)
    q, v, _ = random_motion(model, seed)
    v_r, a_r = np.random.default_rng(seed + 99).normal(size=(2, model.nv))

    def required(t):
        frames = finder.at(pin.integrate(model, q, v * t))
        return compute_required_motion(body, frames, v, v_r + a_r * t, a_r).V

    h = 1e-6
    found = compute_required_motion(body, finder.at(q), v, v_r, a_r).A
    assert close(found, (required(h) - required(-h)) / (2 * h), 1e-8)


# what is cut, and what is refused


def test_cuts_of_a_tree():
    robot = hd.load_robot("human28")
    body = decompose(robot)
    assert len(body.links) == len(body.cuts) == 29
    assert body.cuts[0].driving == WORLD
    knee = body.cuts[body.link("left_shank")]
    assert (knee.joint, body.links[knee.driving], body.links[knee.driven]) == (
        "left_knee",
        "left_thigh",
        "left_shank",
    )
    assert abs(body.m.sum() - robot.mass) < 1e-12
    frames, placement = FrameFinder(body).at(robot.posture), knee.X_PT
    assert close(
        frames.p_WB[knee.driven],
        frames.p_WB[knee.driving] + frames.R_WB[knee.driving] @ placement.translation,
        1e-15,
    )


def test_what_is_refused():
    robot = hd.load_robot("biped7")
    state = hd.State.at_rest(robot)
    with pytest.raises(
        UnknownNameError, match=r"no frame named 'left_fot'. Did you mean 'left_foot'"
    ):
        solve_subsystems(robot, state, np.zeros(robot.nv), {"left_fot": np.zeros(6)})
    with pytest.raises(
        ShapeError, match=r"contacts\['left_foot'\]: received shape \(3,\), expected \(6,\)"
    ):
        solve_subsystems(robot, state, np.zeros(robot.nv), {"left_foot": np.zeros(3)})
    with pytest.raises(ShapeError, match="joint_parameters"):
        solve_subsystems(
            robot,
            state,
            np.zeros(robot.nv),
            joint_parameters=JointParameters.frictionless(np.zeros(2)),
        )
    with pytest.raises(ShapeError, match="expected numbers that are not negative"):
        JointParameters.frictionless([-1.0])
    with pytest.raises(UnknownNameError, match="no link named 'x'"):
        decompose(robot).link("x")


def test_a_robot_that_cannot_move():
    robot = hd.load_robot('<robot name="dot"><link name="world"/></robot>')
    assert solve_subsystems(robot, hd.State(np.zeros(0), np.zeros(0)), np.zeros(0)).tau.shape == (
        0,
    )


def test_velocities_of_links_at_rest_are_zero():
    robot = hd.load_robot("human16")
    body = decompose(robot)
    motion = compute_link_motion(
        body, FrameFinder(body).at(robot.posture), np.zeros(robot.nv), np.zeros(robot.nv)
    )
    assert not motion.V.any()
    assert not motion.A.any()
