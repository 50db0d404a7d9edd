# SPDX-License-Identifier: Apache-2.0
"""The biped paper, section 3.2: links and joints as subsystems; one test for each item, misprints as negative controls."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.model.description import Description, FrameSpec, SurfaceSpec
from humanoid_dynamics.papers.vdc.decomposition import decompose
from humanoid_dynamics.papers.vdc.double_support import build_double_support, choose_contact_wrench
from humanoid_dynamics.papers.vdc.inverse import solve_subsystems
from humanoid_dynamics.papers.vdc.joint import (
    JointParameters,
    compute_friction,
    compute_joint_torque,
)
from humanoid_dynamics.papers.vdc.link import (
    build_link_coriolis,
    build_link_gravity,
    build_link_mass,
    build_link_regressor,
)
from humanoid_dynamics.papers.vdc.motion import (
    FrameFinder,
    compute_link_motion,
    compute_required_motion,
)
from humanoid_dynamics.papers.vdc.regressor import build_global_regressor, stack_parameters
from humanoid_dynamics.papers.vdc.transform import build_wrench_transform
from humanoid_dynamics.papers.vdc.wrench import (
    compute_cut_wrenches,
    compute_net_wrenches,
    compute_up,
)
from humanoid_dynamics.spatial.rotation import skew

UP = np.array([0.0, 0.0, 9.81])


def random_link(seed):
    pin.seed(seed)
    rng = np.random.default_rng(seed)
    inertia, R_BW = pin.Inertia.Random(), pin.SE3.Random().rotation.T
    return inertia, R_BW, rng.normal(size=6), rng.normal(size=6)


def equation_45(inertia, R_BW, V, A):
    m, r, I_com = np.float64(inertia.mass), inertia.lever, inertia.inertia
    return (
        build_link_mass(m, r, I_com) @ A
        + build_link_coriolis(m, r, I_com, V[3:]) @ V
        + build_link_gravity(m, r, R_BW @ UP)
    )


def newton_euler(inertia, R_BW, V, A):
    """Force and moment about the origin of the link from the motion of its centre of mass [BP, eq. 38-39], gravity on the left."""
    m, r, I_com, v, w = inertia.mass, inertia.lever, inertia.inertia, V[:3], V[3:]
    acceleration = A[:3] + np.cross(w, v) + np.cross(A[3:], r) + np.cross(w, np.cross(w, r))
    force = m * acceleration + m * (R_BW @ UP)
    moment = I_com @ A[3:] + np.cross(w, I_com @ w)
    return np.r_[force, moment + np.cross(r, force)]


# BP-12: transforms, links


def test_eq_30_33_wrenches_and_velocities():
    """One matrix for both; frames cancel: U_BC = U_BA U_AC."""
    pin.seed(1)
    X_BA, X_AC = pin.SE3.Random(), pin.SE3.Random()
    U_BA, U_AC, U_BC = (
        build_wrench_transform(X.rotation, X.translation) for X in (X_BA, X_AC, X_BA * X_AC)
    )
    assert np.abs(U_BA @ U_AC - U_BC).max() < 1e-14
    F, V = np.random.default_rng(1).normal(size=(2, 6))
    assert abs((U_BA @ F) @ V - F @ (U_BA.T @ V)) < 1e-13
    assert (skew(np.array([1.0, 2.0, 3.0])) == [[0, -3, 2], [3, 0, -1], [-2, 1, 0]]).all()


@pytest.mark.parametrize("seed", range(5))
def test_eq_45_link(seed):
    inertia, R_BW, V, A = random_link(seed)
    m, r, I_com = np.float64(inertia.mass), inertia.lever, inertia.inertia
    C = build_link_coriolis(m, r, I_com, V[3:])
    assert np.abs(build_link_mass(m, r, I_com) - inertia.matrix()).max() < 1e-15
    assert np.abs(C + C.T).max() < 1e-15
    assert (
        np.abs(equation_45(inertia, R_BW, V, A) - newton_euler(inertia, R_BW, V, A)).max() < 1e-13
    )


def test_eq_45_printed_without_the_derivative_is_a_momentum():
    """As printed M_B multiplies the velocity: a link at constant speed would need a force."""
    inertia, R_BW, _, _ = random_link(7)
    V = np.array([1.0, -2.0, 3.0, 0.0, 0.0, 0.0])
    steady = np.zeros(6)
    assert (
        np.abs(newton_euler(inertia, R_BW, V, steady) - equation_45(inertia, R_BW, V, steady)).max()
        < 1e-13
    )
    assert (
        np.abs(newton_euler(inertia, R_BW, V, steady) - equation_45(inertia, R_BW, V, V)).max()
        > 0.1
    )


def test_eq_38_gravity_stands_on_the_left_with_the_upward_vector():
    """A link at rest is held by +m g; as the derivative of its momentum alone it would need nothing."""
    inertia, _, _, _ = random_link(8)
    held = equation_45(inertia, np.eye(3), np.zeros(6), np.zeros(6))
    assert held[2] == pytest.approx(9.81 * inertia.mass)
    falling = equation_45(inertia, np.eye(3), np.zeros(6), np.r_[-UP, 0, 0, 0])
    assert np.abs(falling).max() < 1e-13


def test_eq_36_takes_the_relative_rate():
    """With the absolute rate of a link in place of that of its joint, velocities are wrong: biped7 with two moving joints."""
    robot = hd.load_robot("biped7", root="fixed")
    body = decompose(robot)
    frames = FrameFinder(body).at(robot.posture)
    v = np.zeros(robot.nv)
    thigh, shank = (
        body.cuts[body.link(name)].coordinates.start for name in ("left_thigh", "left_shank")
    )
    v[thigh], v[shank] = 0.7, -0.4
    absolute = v.copy()
    absolute[shank] = v[thigh] + v[shank]

    def carried(rates):
        V = np.zeros((len(body.cuts), 6))
        for i, cut in enumerate(body.cuts):
            V[i] = frames.S[i] @ rates[cut.coordinates] + (
                frames.U[i].T @ V[cut.driving] if cut.driving >= 0 else 0.0
            )
        return V[body.link("left_shank")]

    data = robot.data()
    pin.forwardKinematics(robot.model, data, robot.posture, v)
    true = data.v[robot.joint("left_knee").index].vector
    assert np.abs(carried(v) - true).max() < 1e-15
    assert np.abs(carried(absolute) - true).max() > 0.5


def test_whole_tree_is_rnea():
    robot = hd.load_robot("human28")
    rng = np.random.default_rng(2)
    q = pin.integrate(robot.model, robot.posture, rng.normal(size=robot.nv))
    v, a = rng.normal(size=(2, robot.nv))
    tau = solve_subsystems(
        robot,
        hd.State(q, v),
        a,
        joint_parameters=JointParameters.frictionless(robot.model.armature),
    ).tau
    assert (
        np.abs(tau - pin.rnea(robot.model, robot.data(), q, v, a)).max() < 1e-12 * np.abs(tau).max()
    )


def random_urdf(seed, size=12):
    """A tree of revolute, continuous, prismatic and fixed joints with crooked axes, as text; and its links without children."""
    rng = np.random.default_rng(seed)
    words = lambda values: " ".join(f"{x:.12g}" for x in values)  # noqa: E731 - one line
    kinds, parents, text = ("revolute", "continuous", "prismatic", "fixed"), [], []
    for i in range(size + 1):
        a, b, c = rng.uniform(0.01, 0.1, 3)
        moments = f'ixx="{b + c}" iyy="{a + c}" izz="{a + b}" ixy="0" ixz="0" iyz="0"'
        place = (
            f'<origin xyz="{words(0.1 * rng.normal(size=3))}" rpy="{words(rng.normal(size=3))}"/>'
        )
        text.append(
            f'<link name="l{i}"><inertial>{place}<mass value="{rng.uniform(0.5, 3.0)}"/><inertia {moments}/></inertial></link>'
        )
        if i:
            parents.append(int(rng.integers(max(0, i - 3), i)))
            axis = rng.normal(size=3)
            ends = f'<parent link="l{parents[-1]}"/><child link="l{i}"/><axis xyz="{words(axis / np.linalg.norm(axis))}"/>'
            place = f'<origin xyz="{words(0.3 * rng.normal(size=3))}" rpy="{words(rng.normal(size=3))}"/>'
            limit = '<limit lower="-3" upper="3" effort="100" velocity="10"/>'
            text.append(
                f'<joint name="j{i}" type="{kinds[int(rng.integers(4))]}">{ends}{place}{limit}</joint>'
            )
    leaves = [f"l{i}" for i in range(size + 1) if i not in parents]
    return f'<robot name="r{seed}">{"".join(text)}</robot>', leaves


def random_contacts(seed):
    """A random URDF with a patch on two of its last links, in a random motion; None where these are not on two limbs."""
    text, leaves = random_urdf(seed)
    if len(leaves) < 2:
        return None
    pin.seed(seed)
    corners = np.array([[0.1, 0.05, 0.0], [-0.1, 0.05, 0.0], [-0.1, -0.05, 0.0], [0.1, -0.05, 0.0]])
    surfaces = {
        name: SurfaceSpec(FrameSpec(link, pin.SE3.Random()), corners)
        for name, link in zip(("one", "other"), leaves, strict=False)
    }
    robot = hd.load_robot(text, root="free_flyer", description=Description(surfaces=surfaces))
    rng = np.random.default_rng(seed + 100)
    q = pin.integrate(robot.model, pin.neutral(robot.model), rng.normal(size=robot.nv))
    bodies = [robot.model.frames[s.frame].parentJoint for s in robot.surfaces.values()]
    supports = [set(robot.model.supports[body]) for body in bodies]
    if bodies[0] in supports[1] or bodies[1] in supports[0]:
        return None
    return robot, hd.State(q, rng.normal(size=robot.nv)), rng.normal(size=robot.nv), rng


def less_contacts(robot, state, a, wrenches):
    """RNEA less J'F, F in axes of the world at the patches."""
    data = robot.data()
    tau = np.array(pin.rnea(robot.model, data, state.q, state.v, a))
    pin.computeJointJacobians(robot.model, data, state.q)
    for name, F in wrenches.items():
        tau -= (
            pin.getFrameJacobian(
                robot.model,
                data,
                robot.surfaces[name].frame,
                pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
            ).T
            @ F
        )
    return tau


def test_any_urdf_in_double_support_is_rnea():
    """Two patches that push at random, and two that carry the tree by an internal wrench of one's choice: to 1e-12 of the largest load."""
    tried = 0
    for seed in range(40):
        drawn = random_contacts(seed)
        if drawn is None:
            continue
        robot, state, a, rng = drawn
        tried += 1
        frictionless = JointParameters.frictionless(robot.model.armature)
        wrenches = {name: 50.0 * rng.normal(size=6) for name in robot.surfaces}
        tau = solve_subsystems(robot, state, a, wrenches, frictionless).tau
        expected = less_contacts(robot, state, a, wrenches)
        scale = 1.0 + np.abs(expected).max()
        assert np.abs(tau - expected).max() < 1e-12 * scale
        support = build_double_support(
            solve_subsystems(robot, state, a, joint_parameters=frictionless), "one", "other"
        )
        choice = choose_contact_wrench(support, wrenches["other"])
        X = [
            pin.updateFramePlacement(robot.model, data_at(robot, state), s.frame).rotation
            for s in robot.surfaces.values()
        ]
        turned = [
            np.kron(np.eye(2), R) @ w
            for R, w in zip(X, (choice.first_wrench, choice.second_wrench), strict=True)
        ]
        expected = less_contacts(robot, state, a, dict(zip(robot.surfaces, turned, strict=True)))
        limbs = np.concatenate((support.first.coordinates, support.second.coordinates))
        scale = 1.0 + np.abs(turned).max() + np.abs(choice.loads).max()
        assert np.abs(expected[:6]).max() < 1e-11 * scale
        assert np.abs(expected[limbs] - choice.loads).max() < 1e-11 * scale
    assert tried > 20


def data_at(robot, state):
    data = robot.data()
    pin.forwardKinematics(robot.model, data, state.q)
    return data


# BP-23: virtual power flow and regressors in double support


def test_virtual_power_flows_cancel_in_double_support():
    """What the required motion has more, in joints and at contacts, flows into the links, and nothing is lost at the cuts."""
    for seed in range(12):
        drawn = random_contacts(seed)
        if drawn is None:
            continue
        robot, state, a, rng = drawn
        body = decompose(robot)
        frames = FrameFinder(body).at(state.q)
        v_r, a_r = rng.normal(size=(2, robot.nv))
        motion = compute_link_motion(body, frames, state.v, a)
        required = compute_required_motion(body, frames, state.v, v_r, a_r)
        net = compute_net_wrenches(body, frames, motion)
        rows = build_link_regressor(
            required.A, required.V, motion.V[:, 3:], compute_up(body, frames)
        )
        net_r = (rows @ body.link_parameters()[..., None])[..., 0]
        pushes = 40.0 * rng.normal(size=(2, len(body.links), 6))
        f, f_r = (
            compute_cut_wrenches(body, frames, n, p)
            for n, p in zip((net, net_r), pushes, strict=True)
        )
        error, wrong = required.V - motion.V, f_r - f
        into_links = np.einsum("ni,ni->", error, net_r - net)
        from_contacts = np.einsum("ni,ni->", error, pushes[1] - pushes[0])
        from_joints = sum(
            (frames.S[i].T @ wrong[i]) @ (v_r - state.v)[body.cuts[i].coordinates]
            for i in range(len(body.links))
        )
        scale = 1.0 + abs(from_contacts) + abs(from_joints) + abs(into_links)
        assert abs(into_links - from_contacts - from_joints) < 1e-9 * scale


def test_global_regressor_in_double_support():
    """Y p + (what contacts take off) is the torque, whatever the contacts carry; the rows of the base as well."""
    for seed in range(8):
        drawn = random_contacts(seed)
        if drawn is None:
            continue
        robot, state, a, rng = drawn
        parameters = JointParameters(
            np.array(robot.model.armature), *rng.uniform(0.1, 1.0, size=(5, robot.nv))
        )
        wrenches = {name: 50.0 * rng.normal(size=6) for name in robot.surfaces}
        tau = solve_subsystems(robot, state, a, wrenches, parameters).tau
        Y = build_global_regressor(robot, state.q, state.v, a, parameters)
        free = less_contacts(robot, state, a, {})
        loaded = (
            Y @ stack_parameters(decompose(robot, parameters))
            + less_contacts(robot, state, a, wrenches)
            - free
        )
        assert np.abs(loaded - tau).max() < 1e-11 * (1.0 + np.abs(tau).max())


# BP-13: joints


@pytest.mark.parametrize(
    ("rate", "square", "absolute"),
    [(0.05, 2.903800783, 2.731530660), (-0.05, -2.703800783, -2.531530660)],
)
def test_eq_46_friction(rate, square, absolute):
    joint = JointParameters(*(np.array([x]) for x in (0.0, 2.0, 0.5, 1.0, 0.1, 0.1)))
    assert compute_friction(joint, np.array([rate]))[0] == pytest.approx(square, abs=1e-9)
    assert compute_friction(joint, np.array([rate]), "absolute")[0] == pytest.approx(
        absolute, abs=1e-9
    )


def test_eq_46_printed_exponent_explodes():
    """exp(-(rate / speed)) at -1 rad/s with a speed of 0.1 rad/s is e to the tenth; the corrected form stays below k_c + k_s."""
    k_c, k_v, k_s, eta, k_o, rate = 2.0, 0.5, 1.0, 0.1, 0.1, -1.0
    printed = k_c * np.sign(rate) + k_v * rate + k_s * np.sign(rate) * np.exp(-(rate / eta)) + k_o
    assert k_s * np.sign(rate) * np.exp(-(rate / eta)) == pytest.approx(-22026.4657948)
    joint = JointParameters(*(np.array([x]) for x in (0.0, k_c, k_v, k_s, eta, k_o)))
    assert printed < -22000.0 < -4.0 < compute_friction(joint, np.array([rate]))[0] < 0.0


def test_eq_46_friction_at_rest():
    """A joint that starts to turn meets friction without a step: tanh of the rate over 1e-3 rad/s stands for the sign."""
    joint = JointParameters(*(np.array([x]) for x in (0.0, 2.0, 0.0, 0.0, 0.1, 0.0)))
    for rate in (-1e-3, -1e-4, 0.0, 1e-4, 1e-3):
        assert compute_friction(joint, np.array([rate]))[0] == pytest.approx(
            2.0 * np.tanh(rate / 1e-3), abs=1e-15
        )
    assert (compute_friction(joint, np.array([1e-9]), smooth=0.0) == 2.0).all()


def test_eq_47_motor_torque():
    """Gear inertia and friction come on top of z'f; a direct drive gives z'f alone."""
    load, rate, acceleration = np.array([3.0]), np.array([0.4]), np.array([-2.0])
    geared = JointParameters(*(np.array([x]) for x in (0.05, 2.0, 0.5, 1.0, 0.1, 0.1)))
    expected = 0.05 * -2.0 + 2.0 + 0.5 * 0.4 + np.exp(-16.0) + 0.1 + 3.0
    assert compute_joint_torque(geared, rate, acceleration, load)[0] == pytest.approx(
        expected, abs=1e-14
    )
    assert (
        compute_joint_torque(JointParameters.frictionless([0.0]), rate, acceleration, load)[0]
        == 3.0
    )


# BP-14: single support, in three dimensions


def test_eq_48_hips_that_differ_are_shifted_first():
    """f4* is the sum of both hip wrenches moved to one frame; the sum as printed misses a moment of force times hip width."""
    robot = hd.load_robot("human28")
    rng = np.random.default_rng(3)
    q = pin.integrate(robot.model, robot.posture, 0.3 * rng.normal(size=robot.nv))
    v, a = rng.normal(size=(2, robot.nv))
    state = hd.State(q, v)
    supported = hd.inverse_dynamics(robot, state, a, contacts=["left_foot"], rule="minimum_torque")
    contacts = {name: np.r_[wrench.f_W, wrench.m_W] for name, wrench in supported.wrenches.items()}
    answer = solve_subsystems(robot, state, a, contacts)
    body = answer.decomposition
    children = [i for i in range(len(body.links)) if body.parent[i] == body.link("pelvis")]
    moved = -sum(answer.frames.U[i] @ answer.cut_wrenches[i] for i in children)
    plain = -sum(answer.cut_wrenches[i] for i in children)
    net = answer.net_wrenches[body.link("pelvis")]
    assert np.abs(moved - net).max() < 1e-9
    assert np.abs(plain - net).max() > 10.0


def test_eq_49_54_every_link_of_a_leg_in_single_support():
    """f = f* + U f of the next link, from the swing foot, on which nothing acts, up to the hip."""
    robot = hd.load_robot("human28")
    rng = np.random.default_rng(4)
    state = hd.State(
        pin.integrate(robot.model, robot.posture, 0.3 * rng.normal(size=robot.nv)),
        rng.normal(size=robot.nv),
    )
    answer = solve_subsystems(robot, state, rng.normal(size=robot.nv))
    body, foot = answer.decomposition, answer.decomposition.link("right_foot")
    f, link = np.zeros(6), foot
    while body.links[link] != "pelvis":
        f = f + answer.net_wrenches[link]
        assert np.abs(answer.cut_wrenches[link] - f).max() < 1e-10
        f, link = answer.frames.U[link] @ f, int(body.parent[link])


def test_eq_34_frames_must_cancel():
    """Without the transform of the next wrench into the link's frame the net wrench is wrong."""
    robot = hd.load_robot("human28")
    answer = solve_subsystems(robot, hd.State.at_rest(robot), np.zeros(robot.nv))
    body = answer.decomposition
    thigh, shank = body.link("left_thigh"), body.link("left_shank")
    right = answer.cut_wrenches[thigh] - answer.frames.U[shank] @ answer.cut_wrenches[shank]
    printed = answer.cut_wrenches[thigh] - answer.cut_wrenches[shank]
    assert np.abs(right - answer.net_wrenches[thigh]).max() < 1e-12
    assert np.abs(printed - answer.net_wrenches[thigh]).max() > 1.0
