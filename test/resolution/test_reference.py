# SPDX-License-Identifier: Apache-2.0
"""Any tree on any contacts: equality rules against a dense solve, limited rules against another solver on the same limits."""

import re
from dataclasses import replace
from itertools import cycle

import daqp
import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.contact.cone import build_wrench_cone
from humanoid_dynamics.contact.wrench import reference_point, wrench_basis
from humanoid_dynamics.model.description import Description, FrameSpec, SurfaceSpec
from humanoid_dynamics.resolution.objectives import TorqueObjective
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.resolution.rules import WRENCH_WEIGHT

EQUALITY = 5  # how daqp marks an equation


UNBOUND = "minimum_torque_limited"
KEPT = {"OK", "INCONSISTENT_CONTACT"}  # inside all limits; random motions move what touches
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
    parts = [
        LINK.format(
            name="trunk",
            com="0 0 0",
            mass=20.0,
            inertia='ixx="0.5" iyy="0.6" izz="0.4" ixy="0" ixz="0" iyz="0"',
        )
    ]
    surfaces = {}
    for limb in range(int(rng.integers(3, 6))):
        parent = "trunk"
        for number in range(int(rng.integers(2, 6))):
            name, axis = f"limb{limb}_{number}", rng.standard_normal(3)
            values = {"com": numbers(rng.uniform(-0.1, 0.1, 3)), "mass": rng.uniform(0.5, 3.0)}
            parts.append(
                LINK.format(
                    name=name,
                    inertia='ixx="0.02" iyy="0.03" izz="0.025" ixy="0" ixz="0" iyz="0"',
                    **values,
                )
            )
            places = {
                "xyz": numbers(rng.uniform(-0.4, 0.4, 3)),
                "rpy": numbers(rng.uniform(-1.0, 1.0, 3)),
            }
            axis = numbers(axis / np.linalg.norm(axis))
            parts.append(
                JOINT.format(
                    name=name, parent=parent, axis=axis, effort=rng.uniform(30.0, 300.0), **places
                )
            )
            parent = name
        turn = pin.rpy.rpyToMatrix(*rng.uniform(-0.6, 0.6, 3))
        kind = "face" if limb == 0 else str(rng.choice(list(PATCHES)))
        frame = FrameSpec(parent, pin.SE3(turn, rng.uniform(-0.1, 0.1, 3)))
        surfaces[f"patch{limb}"] = SurfaceSpec(
            frame, np.array(PATCHES[kind]), friction=float(rng.uniform(0.3, 1.0))
        )
    return hd.load_robot(
        f'<robot name="tree">{"".join(parts)}</robot>', description=Description(surfaces=surfaces)
    )


def third_party(name):
    try:
        return hd.load_robot(name)
    except hd.MissingExtraError as missing:
        pytest.skip(str(missing))


def question(robot, rng, spread):
    q = np.array(pin.integrate(robot.model, robot.posture, spread * rng.standard_normal(robot.nv)))
    return hd.State(q, spread * rng.standard_normal(robot.nv)), spread * rng.standard_normal(
        robot.nv
    )


def stack(robot, state, a, names):
    """Torques of free motion and the Jacobian of all pushes, from pinocchio and the bases alone."""
    data = robot.data()
    pin.computeJointJacobians(robot.model, data, state.q)
    rows = [
        wrench_basis(robot.surfaces[n]).T
        @ pin.getFrameJacobian(robot.model, data, robot.surfaces[n].frame, pin.LOCAL)
        for n in names
    ]
    return pin.rnea(robot.model, robot.data(), state.q, state.v, a), np.vstack(rows)


CLEAR, NONE = (
    1e-3,
    1e-10,
)  # shares of the largest singular value: what is between them is next to a straight leg


def dense_optimum(robot, state, a, names, wrench_weight=0.0):
    """Least squares in the null space of the six equations, by orthogonal factors of numpy; None next to where pushes are free."""
    tau_0, J = stack(robot, state, a, names)
    A, b = J[:, :6].T, tau_0[:6]
    x_0 = np.linalg.lstsq(A, b, rcond=None)[0]
    N = np.linalg.svd(A)[2][6:].T
    B = np.vstack((J[:, 6:].T, np.sqrt(wrench_weight) * np.eye(len(J))))
    target = np.concatenate((tau_0[6:], np.zeros(len(J)))) - B @ x_0
    y, _, _, sigma = np.linalg.lstsq(B @ N, target, rcond=NONE)
    x = x_0 + N @ y
    return (
        tau_0[6:] - J[:, 6:].T @ x
        if not np.any((sigma < CLEAR * sigma[0]) & (sigma > NONE * sigma[0]))
        else None
    )


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


def any_rank(rule):
    """Return the same rule, solved on the path for systems of any rank."""
    return replace(rule, name="any rank")


def check_transition(robot, rng, names):
    """Three contacts or more; the recommended transition presses inside instead, see ``test_pressed_shares``."""
    state, a = question(robot, rng, 0.3)
    shares = rng.uniform(0.2, 1.0, len(names))
    shares /= shares.sum()
    expected = dense_transition(robot, state, a, names, shares)
    for rule in ("transition", "procedure_4"):
        # The dense solve has no joint friction.
        solver = hd.InverseDynamics(robot, names, rule, joint_friction=False)
        answer = solver.solve(state.q, state.v, a, shares)
        for found in (answer, solver.resolve_with(any_rank(solver.rule))):
            np.testing.assert_allclose(
                found.tau, expected, atol=1e-9 * (1.0 + np.abs(expected).max()), err_msg=rule
            )


def check_equality(robot, rng, names, spread=0.5):
    """Whether there was something to compare; the rule with limits is the same where none of them matters."""
    state, a = question(robot, rng, spread)
    least = dense_optimum(robot, state, a, names)
    for rule, expected in (
        ("pseudo_inverse", dense_optimum(robot, state, a, names, 1.0)),
        ("minimum_torque", least),
        (UNBOUND, least),
    ):
        if expected is None:
            continue
        solver = hd.InverseDynamics(robot, names, rule, joint_friction=False)
        solved = solver.solve(state.q, state.v, a)
        for answer in (solved, solver.resolve_with(any_rank(solver.rule))):
            if rule != UNBOUND or answer.certificate.path in {"kkt", "svd"}:
                np.testing.assert_allclose(
                    answer.tau, expected, rtol=0.0, atol=1e-9 * (1.0 + np.abs(expected).max())
                )
    return least is not None


def check_limited(robot, rng, names, spread=0.2):
    """Where another solver finds a push inside all limits, ours is one as well, and no dearer than any can be.

    The other solver's multipliers bound from below what a push inside the limits may cost, however well its own push keeps them.
    """
    solver = hd.InverseDynamics(robot, names, UNBOUND, joint_friction=False)
    found = 0
    for _ in range(8):
        state, a = question(robot, rng, spread)
        tau_0, J = stack(robot, state, a, names)
        g, effort, free = J @ tau_0, robot.limits.effort[6:], is_free(J)
        H = J @ J.T + free * np.diag(weights_of(robot, names))
        cones = [build_wrench_cone(robot.surfaces[name]) for name in names]
        at = np.cumsum([0, *(cone.A.shape[1] for cone in cones)])
        A = np.vstack(
            [np.pad(cone.A, ((0, 0), (at[k], at[-1] - at[k + 1]))) for k, cone in enumerate(cones)]
        )
        rows = np.vstack((J[:, :6].T, A, J[:, 6:].T))
        upper = np.concatenate((tau_0[:6], *(cone.b for cone in cones), tau_0[6:] + effort))
        lower = np.concatenate((tau_0[:6], np.full(len(A), -np.inf), tau_0[6:] - effort))
        kinds = np.array([EQUALITY] * 6 + [0] * (len(rows) - 6), dtype=np.intc)
        x, _, flag, told = daqp.solve(H, -g, rows, upper, lower, kinds)
        if flag != 1:
            continue
        answer = solver.solve(state.q, state.v, a)
        assert answer.certificate.status in KEPT, answer.certificate.reasons
        found += 1
        wrenches = np.concatenate(
            [
                np.linalg.lstsq(cone.basis, local(robot, state, answer, n), rcond=None)[0]
                for cone, n in zip(cones, names, strict=True)
            ]
        )
        ours, least = (
            0.5 * wrenches @ H @ wrenches - g @ wrenches,
            dual_value(H, g, rows, (lower, upper), told["lam"]),
        )
        assert ours <= least + 1e-9 * (1.0 + abs(least) + tau_0 @ tau_0)
        if not free:
            np.testing.assert_allclose(answer.tau, tau_0[6:] - J[:, 6:].T @ x, atol=1e-4)
    return found


def is_free(J):
    """Whether torques alone do not choose the push, or next to it: then small weights of pushes do."""
    H = J @ J.T
    try:
        return bool(np.min(np.diag(np.linalg.cholesky(H)) ** 2 / np.diag(H)) < 1e-6)
    except np.linalg.LinAlgError:
        return True


def weights_of(robot, names):
    return np.diag(TorqueObjective(DynamicsProblem(robot, names), WRENCH_WEIGHT).H_x)


def dual_value(H, g, rows, bounds, multipliers):
    """What no x with lower <= rows x <= upper can cost less than, for multipliers of any size: the least of the Lagrangian."""
    lower, upper = bounds
    multipliers = np.where((multipliers < 0.0) & ~np.isfinite(lower), 0.0, multipliers)
    bound = np.where(multipliers < 0.0, lower, upper)
    left = g - rows.T @ multipliers
    return -0.5 * left @ np.linalg.solve(H, left) - multipliers @ np.where(
        multipliers == 0.0, 0.0, bound
    )


def local(robot, state, answer, name):
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, state.q)
    R = data.oMf[robot.surfaces[name].frame].rotation.T
    return np.concatenate((R @ answer.wrenches[name].f_W, R @ answer.wrenches[name].m_W))


@pytest.mark.parametrize("seed", range(12))
def test_random_trees_on_patches_of_any_kind(seed):
    rng = np.random.default_rng(seed)
    robot = random_tree(rng)
    assert check_equality(robot, rng, tuple(robot.surfaces))
    check_transition(robot, rng, tuple(robot.surfaces))


def test_random_trees_inside_limits():
    found = 0
    for seed in range(12):
        rng = np.random.default_rng(100 + seed)
        robot = random_tree(rng)
        found += check_limited(robot, rng, tuple(robot.surfaces))
    assert found > 20


def made_light(urdf, part):
    """The same robot with so much of all masses, inertias and torque limits."""
    scale = lambda found: f'{found[1]}="{float(found[2]) * part!r}"'  # noqa: E731 - one line
    return re.sub(r'(value|ixx|iyy|izz|effort)="([^"]*)"', scale, urdf)


def test_a_light_robot_needs_as_much_less_torque_as_it_weighs_less():
    """Also where torques alone do not choose the push: limbs of two joints on faces, and limits that decide."""
    decided = 0
    for seed in (3, 5, 10):
        rng = np.random.default_rng(seed)
        heavy = random_tree(rng)
        specs = {
            n: SurfaceSpec(FrameSpec(s.link, s.X_LC), s.vertices, friction=s.friction)
            for n, s in heavy.surfaces.items()
        }
        light = hd.load_robot(made_light(heavy.urdf, 1e-3), description=Description(surfaces=specs))
        assert light.mass == pytest.approx(1e-3 * heavy.mass)
        solvers = [
            hd.InverseDynamics(robot, tuple(heavy.surfaces), UNBOUND) for robot in (heavy, light)
        ]
        for _ in range(6):
            state, a = question(heavy, rng, 0.2)
            one, other = (solver.solve(state.q, state.v, a) for solver in solvers)
            assert one.certificate.path == other.certificate.path
            decided += one.certificate.path == "qp"
            if one.certificate.path != "qp_soft":
                np.testing.assert_allclose(
                    1e3 * other.tau, one.tau, atol=1e-5 * (1.0 + np.abs(one.tau).max())
                )
    assert decided > 3


@pytest.mark.slow
def test_many_random_trees():
    found, equal = 0, 0
    for seed in range(300):
        rng = np.random.default_rng(1000 + seed)
        robot = random_tree(rng)
        equal += check_equality(robot, rng, tuple(robot.surfaces))
        found += check_limited(robot, rng, tuple(robot.surfaces))
    assert found > 500
    assert equal > 280


def test_a_push_that_drifts_off_its_limits_returns_to_them():
    """A tree on which a thousandth of the cost was lost: a row that decides was left by a few millionths."""
    rng = np.random.default_rng(1078)
    robot = random_tree(rng)
    question(robot, rng, 0.5)
    assert check_limited(robot, rng, tuple(robot.surfaces)) > 0


HANDS = {
    "talos_reduced": "arm_right_7_link",
    "g1": "right_rubber_hand",
    "romeo": "r_wrist",
    "sr1": "r_wrist",
    "human28": "right_hand",
}


def with_rail(robot, link, tilt=0.0):
    """The robot with a hand of its own on a rail: a patch in a plane that is inclined, as the soles may be."""
    turns = [
        pin.SE3(pin.rpy.rpyToMatrix(tilt, sign * tilt, 0.0), np.zeros(3)) for sign in (1.0, -1.0)
    ]
    places = {
        n: s.X_LC * turn for (n, s), turn in zip(robot.surfaces.items(), cycle(turns), strict=False)
    }
    surfaces = {
        n: SurfaceSpec(FrameSpec(s.link, places[n]), s.vertices, friction=s.friction)
        for n, s in robot.surfaces.items()
    }
    surfaces["rail"] = SurfaceSpec(
        FrameSpec(link, pin.SE3(pin.rpy.rpyToMatrix(0.3, -0.5, 0.0), np.zeros(3))),
        np.array(PATCHES["edge"]),
    )
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
    check_transition(rail, rng, names)
    assert check_limited(rail, rng, names, 0.05) > 0
    inclined = with_rail(robot, HANDS[name], 0.3)
    for spread in (0.0, 0.05, 0.5):
        assert check_equality(rail, rng, names, spread)
        assert check_equality(inclined, rng, names, spread)


PALMS = ("left_palm", "right_palm")


def stretched(robot, elbow):
    """Both arms stretched out sideways, but for the elbows: what one palm pushes against the other goes through all joints of both."""
    q = np.array(robot.posture)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for joint, angle in {
            "shoulder_pitch": 0.0,
            "shoulder_roll": sign * np.pi / 2,
            "shoulder_yaw": 0.0,
            "elbow": elbow,
        }.items():
            q[robot.joint(f"{side}_{joint}").q] = angle
    return q


def test_next_to_straight_limbs_pushes_stay_bounded_and_torques_continuous():
    """Where torques alone leave a push free: bounded on the way there, no step as fine as one looks, and at it the least there is."""
    robot = hd.load_robot("human28")
    solver = hd.InverseDynamics(robot, (*robot.stance, *PALMS), "minimum_torque")
    rest = np.zeros(robot.nv)
    steps = []
    for h in (1e-5, 1e-6, 1e-7):
        answers = [
            solver.solve(stretched(robot, x), rest, rest) for x in 6.4e-5 + h * np.arange(-50, 51)
        ]
        taus = np.array([answer.tau for answer in answers])
        steps.append(np.abs(np.diff(taus, axis=0)).max())
        assert (
            max(np.abs(w.f_W).max() for answer in answers for w in answer.wrenches.values()) < 1e5
        )
    assert steps[0] < 0.3
    assert max(steps[1] / steps[0], steps[2] / steps[1]) < 0.3
    expected = dense_optimum(robot, hd.State(stretched(robot, 0.0), rest), rest, solver.contacts)
    np.testing.assert_allclose(
        solver.solve(stretched(robot, 0.0), rest, rest).tau, expected, atol=1e-9
    )
