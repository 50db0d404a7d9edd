"""Any tree on any contacts: equality rules against a dense solve, limited rules against another solver on the same limits."""

import daqp
import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.contact.cone import build_wrench_cone
from humanoid_dynamics.contact.wrench import reference_point, wrench_basis
from humanoid_dynamics.model.description import Description, FrameSpec, SurfaceSpec
from humanoid_dynamics.resolution.contact_dynamics import ContactDynamics
from humanoid_dynamics.resolution.objectives import TorqueObjective
from humanoid_dynamics.resolution.rules import WRENCH_WEIGHT
from humanoid_dynamics.spatial.quadratic import EQUALITY

PATCHES = {
    "face": [[0.1, 0.05, 0.0], [-0.1, 0.05, 0.0], [-0.1, -0.05, 0.0], [0.1, -0.05, 0.0]],
    "edge": [[0.1, 0.0, 0.0], [-0.1, 0.02, 0.0]],
    "point": [[0.02, 0.01, 0.0]],
}
LINK = '<link name="{name}"><inertial><origin xyz="{com}"/><mass value="{mass}"/><inertia {inertia}/></inertial></link>'
JOINT = (
    '<joint name="{name}_joint" type="revolute"><parent link="{parent}"/><child link="{name}"/><origin xyz="{xyz}" rpy="{rpy}"/>'
    '<axis xyz="{axis}"/><limit lower="-3" upper="3" effort="{effort}" velocity="9"/></joint>'
)


def numbers(values):
    return " ".join(f"{value:.6f}" for value in values)


def random_tree(rng):
    """A trunk with three to five limbs of two to five joints about axes of any direction; a patch of any kind at the end of each."""
    parts = [LINK.format(name="trunk", com="0 0 0", mass=20.0, inertia='ixx="0.5" iyy="0.6" izz="0.4" ixy="0" ixz="0" iyz="0"')]
    surfaces = {}
    for limb in range(int(rng.integers(3, 6))):
        parent = "trunk"
        for number in range(int(rng.integers(2, 6))):
            name, axis = f"limb{limb}_{number}", rng.standard_normal(3)
            values = {"com": numbers(rng.uniform(-0.1, 0.1, 3)), "mass": rng.uniform(0.5, 3.0)}
            parts.append(LINK.format(name=name, inertia='ixx="0.02" iyy="0.03" izz="0.025" ixy="0" ixz="0" iyz="0"', **values))
            places = {"xyz": numbers(rng.uniform(-0.4, 0.4, 3)), "rpy": numbers(rng.uniform(-1.0, 1.0, 3))}
            axis = numbers(axis / np.linalg.norm(axis))
            parts.append(JOINT.format(name=name, parent=parent, axis=axis, effort=rng.uniform(30.0, 300.0), **places))
            parent = name
        turn = pin.rpy.rpyToMatrix(*rng.uniform(-0.6, 0.6, 3))
        kind = "face" if limb == 0 else str(rng.choice(list(PATCHES)))
        frame = FrameSpec(parent, pin.SE3(turn, rng.uniform(-0.1, 0.1, 3)))
        surfaces[f"patch{limb}"] = SurfaceSpec(frame, np.array(PATCHES[kind]), friction=float(rng.uniform(0.3, 1.0)))
    return hd.load_robot(f'<robot name="tree">{"".join(parts)}</robot>', description=Description(surfaces=surfaces))


def third_party(name):
    try:
        return hd.load_robot(name)
    except hd.MissingExtraError as missing:
        pytest.skip(str(missing))


def question(robot, rng, spread):
    q = np.array(pin.integrate(robot.model, robot.posture, spread * rng.standard_normal(robot.nv)))
    return hd.State(q, spread * rng.standard_normal(robot.nv)), spread * rng.standard_normal(robot.nv)


def stack(robot, state, a, names):
    """Torques of free motion and the Jacobian of all pushes, from pinocchio and the bases alone."""
    data = robot.data()
    pin.computeJointJacobians(robot.model, data, state.q)
    rows = [wrench_basis(robot.surfaces[n]).T @ pin.getFrameJacobian(robot.model, data, robot.surfaces[n].frame, pin.LOCAL) for n in names]
    return pin.rnea(robot.model, robot.data(), state.q, state.v, a), np.vstack(rows)


def weights_of(robot, names, rule="minimum_torque"):
    dynamics = ContactDynamics(robot, names)
    return np.ones(dynamics.size) if rule == "pseudo_inverse" else np.diag(TorqueObjective(dynamics, WRENCH_WEIGHT).H_x)


def dense_optimum(robot, state, a, names, rule="minimum_torque", scale=1.0):
    """Least squares in the null space of the six equations, by orthogonal factors of numpy; the same small weights, or a part of them."""
    tau_0, J = stack(robot, state, a, names)
    A, b = J[:, :6].T, tau_0[:6]
    x_0 = np.linalg.lstsq(A, b, rcond=None)[0]
    N = np.linalg.svd(A)[2][6:].T
    root = np.diag(np.sqrt(scale * weights_of(robot, names, rule)))
    B = np.vstack((J[:, 6:].T, root))
    target = np.concatenate((tau_0[6:], np.zeros(len(root)))) - B @ x_0
    x = x_0 + N @ np.linalg.lstsq(B @ N, target, rcond=None)[0]
    return tau_0[6:] - J[:, 6:].T @ x


def dense_transition(robot, state, a, names, shares):
    """Forces are shares of the whole; moments by the same shares, least squares that meet the equation of motion: faces bear."""
    tau_0, J = stack(robot, state, a, names)
    sizes = [wrench_basis(robot.surfaces[name]).shape[1] for name in names]
    x, root = np.zeros(len(J)), np.zeros(len(J))
    for name, share, at, size in zip(names, shares, np.cumsum([0, *sizes]), sizes, strict=False):
        x[at : at + 3] = share * J[at : at + 3, :3] @ tau_0[:3]
        root[at + 3 : at + size] = np.sqrt(share)
        if size == 5:
            along, across, _ = reference_point(robot.surfaces[name])
            x[at + 4] = across * x[at] - along * x[at + 1]
    A = J[:, :6].T * root
    x += root * np.linalg.lstsq(A, tau_0[:6] - J[:, :6].T @ x, rcond=1e-9)[0]
    return tau_0[6:] - J[:, 6:].T @ x


def check_transition(robot, rng, names):
    """Three contacts or more, for which both rules of shares are one."""
    state, a = question(robot, rng, 0.3)
    shares = rng.uniform(0.2, 1.0, len(names))
    shares /= shares.sum()
    expected = dense_transition(robot, state, a, names, shares)
    for rule in ("transition", "procedure_4", "recommended_transition"):
        for compiled in (None, False):
            answer = hd.InverseDynamics(robot, names, rule, compiled=compiled).tick(state.q, state.v, a, shares)
            np.testing.assert_allclose(answer.tau, expected, atol=1e-9 * (1.0 + np.abs(expected).max()), err_msg=rule)


def check_equality(robot, rng, names):
    state, a = question(robot, rng, 0.5)
    for rule in ("minimum_torque", "pseudo_inverse"):
        expected = dense_optimum(robot, state, a, names, rule)
        for compiled in (None, False):
            answer = hd.InverseDynamics(robot, names, rule, compiled=compiled).tick(state.q, state.v, a)
            np.testing.assert_allclose(answer.tau, expected, atol=1e-9 * (1.0 + np.abs(expected).max()))


def check_limited(robot, rng, names, spread=0.2):
    """Where another solver finds a push inside all limits, ours is one as well, and no dearer."""
    solver = hd.InverseDynamics(robot, names, "minimum_torque_limited")
    found = 0
    for _ in range(8):
        state, a = question(robot, rng, spread)
        tau_0, J = stack(robot, state, a, names)
        H = J @ J.T + np.diag(weights_of(robot, names))
        g, effort = J @ tau_0, robot.limits.effort[6:]
        cones = [build_wrench_cone(robot.surfaces[name]) for name in names]
        at = np.cumsum([0, *(cone.A.shape[1] for cone in cones)])
        A = np.vstack([np.pad(cone.A, ((0, 0), (at[k], at[-1] - at[k + 1]))) for k, cone in enumerate(cones)])
        rows = np.vstack((J[:, :6].T, A, J[:, 6:].T))
        upper = np.concatenate((tau_0[:6], *(cone.b for cone in cones), tau_0[6:] + effort))
        lower = np.concatenate((tau_0[:6], np.full(len(A), -np.inf), tau_0[6:] - effort))
        x, value, flag, _ = daqp.solve(H, -g, rows, upper, lower, np.array([EQUALITY] * 6 + [0] * (len(rows) - 6), dtype=np.intc))
        if flag != 1:
            continue
        answer = solver.tick(state.q, state.v, a)
        assert answer.certificate.status == "ok", answer.certificate.reasons
        found += 1
        wrenches = np.concatenate(
            [np.linalg.lstsq(cone.basis, local(robot, state, answer, n), rcond=None)[0] for cone, n in zip(cones, names, strict=True)]
        )
        ours = 0.5 * wrenches @ H @ wrenches - g @ wrenches
        assert ours <= value + 1e-9 * (1.0 + abs(value) + tau_0 @ tau_0)
        np.testing.assert_allclose(answer.tau, tau_0[6:] - J[:, 6:].T @ x, atol=1e-4)
    return found


def local(robot, state, answer, name):
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, state.q)
    R = data.oMf[robot.surfaces[name].frame].rotation.T
    return np.concatenate((R @ answer.wrenches[name].f_W, R @ answer.wrenches[name].m_W))


@pytest.mark.parametrize("seed", range(12))
def test_random_trees_on_patches_of_any_kind(seed):
    rng = np.random.default_rng(seed)
    robot = random_tree(rng)
    check_equality(robot, rng, tuple(robot.surfaces))
    check_transition(robot, rng, tuple(robot.surfaces))


def test_random_trees_inside_limits():
    found = 0
    for seed in range(12):
        rng = np.random.default_rng(100 + seed)
        robot = random_tree(rng)
        found += check_limited(robot, rng, tuple(robot.surfaces))
    assert found > 20


@pytest.mark.slow
def test_many_random_trees():
    found = 0
    for seed in range(300):
        rng = np.random.default_rng(1000 + seed)
        robot = random_tree(rng)
        check_equality(robot, rng, tuple(robot.surfaces))
        found += check_limited(robot, rng, tuple(robot.surfaces))
    assert found > 500


HANDS = {"talos_reduced": "arm_right_7_link", "g1": "right_rubber_hand", "romeo": "r_wrist", "sr1": "r_wrist", "human28": "right_hand"}


def with_rail(robot, link):
    """The robot with a hand of its own on a rail: a patch in a plane that is inclined."""
    surfaces = {n: SurfaceSpec(FrameSpec(s.link, s.X_LC), s.vertices, friction=s.friction) for n, s in robot.surfaces.items()}
    surfaces["rail"] = SurfaceSpec(FrameSpec(link, pin.SE3(pin.rpy.rpyToMatrix(0.3, -0.5, 0.0), np.zeros(3))), np.array(PATCHES["edge"]))
    return hd.load_robot(robot.urdf, description=Description(surfaces=surfaces))


def arm_joints(robot, link):
    """How many joints lead from the base to a link."""
    return len(robot.model.supports[robot.model.frames[robot.link_frame(link)].parentJoint]) - 2


@pytest.mark.parametrize("name", HANDS)
def test_robots_in_double_support_with_a_hand_on_a_rail(name):
    robot, rng = third_party(name), np.random.default_rng(7)
    rail = with_rail(robot, HANDS[name])
    names = (*robot.stance, "rail")
    assert len(rail.actuated) == rail.nv - 6
    assert arm_joints(rail, HANDS[name]) >= 4
    check_equality(rail, rng, names)
    check_transition(rail, rng, names)
    assert check_limited(rail, rng, names, 0.05) > 0


@pytest.mark.parametrize(("more", "least", "most"), [((), 1e-5, 2e-4), (("right_palm",), 1e-5, 2e-3)])
def test_what_the_weight_of_wrenches_takes_from_least_torques(more, least, most):
    """As docs/torques.md has it: against least squares of torques alone, near the resting posture."""
    robot, rng = hd.load_robot("human28"), np.random.default_rng(3)
    names = (*robot.stance, *more)
    solver, off, dearer = hd.InverseDynamics(robot, names, compiled=False), [], []
    for _ in range(50):
        state, a = question(robot, rng, 0.2)
        ours, alone = solver.tick(state.q, state.v, a).tau, dense_optimum(robot, state, a, names, scale=0.0)
        off.append(np.abs(ours - alone).max())
        dearer.append(ours @ ours / (alone @ alone) - 1.0)
    assert least < max(off) < most
    assert -1e-12 < max(dearer) < 1e-8
