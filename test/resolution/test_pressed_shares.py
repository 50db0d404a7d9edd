# SPDX-License-Identifier: Apache-2.0
"""The recommended transition as a rule: shares against a linear program, no jumps through steps that roll over, feet that press inside."""

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import linprog

import humanoid_dynamics as hd
from humanoid_dynamics.contact.transfer import feasible_shares, switch_share
from humanoid_dynamics.model.description import Description, FrameSpec, SurfaceSpec
from humanoid_dynamics.motion.walking.gait_r1 import GaitR1
from humanoid_dynamics.motion.walking.rolling_step import (
    CONTACTS,
    build_planar_step,
    build_spatial_step,
)
from humanoid_dynamics.resolution.cop_feasible_forces import (
    EASED,
    OUTSIDE,
    find_sides,
    press_nearest,
    press_share,
)
from humanoid_dynamics.resolution.cop_feasible_load import GROUND, STEEP_GROUND
from humanoid_dynamics.resolution.inverse import InverseDynamics
from humanoid_dynamics.solvers.qp import QpSolution, QpStatus, QpWorkspace

RULE = "recommended_transition"
FEET = ("left_foot", "right_foot")


@pytest.fixture(scope="module")
def human28():
    return hd.load_robot("human28")


def polygon(rng, corners, middle):
    angles = np.sort(rng.uniform(0.0, 2.0 * np.pi, corners))
    return middle + np.column_stack((0.12 * np.cos(angles), 0.05 * np.sin(angles)))


def extreme_share(zmp, one, other, sense):
    """Least or largest s for which weights of corners, of sums 1 - s and s, have the point as their mean; None where there are none."""
    rows = np.vstack((np.vstack((one, other)).T, np.ones(len(one) + len(other))))
    found = linprog(
        sense * np.r_[np.zeros(len(one)), np.ones(len(other))], A_eq=rows, b_eq=(*zmp, 1.0)
    )
    return sense * found.fun if found.success else None


def test_shares_are_those_of_a_linear_program():
    rng, empty = np.random.default_rng(1), 0
    for _ in range(300):
        one, other = (
            polygon(rng, rng.integers(2, 6), np.zeros(2)),
            polygon(rng, rng.integers(1, 6), np.array([0.3, rng.uniform(-0.1, 0.1)])),
        )
        zmp = rng.uniform((-0.1, -0.06), (0.4, 0.06))
        lowest, middle, highest = (
            press_nearest(wanted, zmp, one, other) for wanted in (0.0, 0.5, 1.0)
        )
        least, most = extreme_share(zmp, one, other, 1.0), extreme_share(zmp, one, other, -1.0)
        if least is None:
            empty += 1
        else:
            assert (lowest, highest) == pytest.approx((least, most), abs=1e-7)
            assert middle == pytest.approx(np.clip(0.5, least, most), abs=1e-7)
    assert 50 < empty < 250


def test_on_a_line_they_are_those_of_the_paper():
    """Feet of one width in a row: the interval of assumption 2."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        rear, front, zmp = (
            (0.0, rng.uniform(0.1, 0.25)),
            (rng.uniform(0.3, 0.4), rng.uniform(0.45, 0.6)),
            rng.uniform(0.02, 0.55),
        )
        one, other = (
            np.array([(b, -0.05), (b, 0.05), (a, 0.05), (a, -0.05)]) for a, b in (rear, front)
        )
        found = [press_nearest(wanted, np.array([zmp, 0.01]), one, other) for wanted in (0.0, 1.0)]
        least, most = feasible_shares(zmp, rear, front)
        if least <= most:
            assert found == pytest.approx((least, most), abs=1e-12)


def test_where_no_share_presses_inside_it_is_the_one_that_presses_least_outside():
    """Weighed against how far it is from the wanted one; how far outside is a cost of sides, of which the largest counts."""
    rng, shares = np.random.default_rng(3), np.linspace(0.0, 1.0, 2001)
    for _ in range(100):
        one, other = (
            polygon(rng, 4, np.zeros(2)),
            polygon(rng, rng.integers(1, 5), np.array([0.3, rng.uniform(-0.1, 0.1)])),
        )
        zmp, wanted = rng.uniform((-0.1, -0.2), (0.4, 0.2)), rng.uniform()
        lacking, gain = find_sides(zmp, one, other)
        cost = (
            np.maximum(lacking - np.outer(shares, gain), 0.0).max(axis=1)
            + OUTSIDE * (shares - wanted) ** 2
        )
        assert press_nearest(wanted, zmp, one, other) == pytest.approx(
            shares[cost.argmin()], abs=6e-4
        )


@pytest.mark.parametrize("wanted", [0.0, 0.3, 1.0])
def test_where_no_share_presses_inside_none_has_a_step(wanted):
    """The point is beside both feet, of which first one is nearer to it and then the other."""
    foot, zmp = (
        np.array([(-0.1, -0.05), (0.1, -0.05), (0.1, 0.05), (-0.1, 0.05)]),
        np.array([0.15, 0.2]),
    )
    ways = np.concatenate((np.linspace(-0.01, 0.01, 400), np.linspace(-1e-8, 1e-8, 5)))
    found = np.array(
        [press_nearest(wanted, zmp, foot, foot + np.array([0.3, way])) for way in np.sort(ways)]
    )
    assert found[0] < 0.5 < found[-1]
    assert np.abs(np.diff(found)).max() < 0.03
    assert np.ptp(found[np.abs(np.sort(ways)) < 2e-8]) < 1e-4


def test_two_parts_meet_where_feet_face_each_other():
    sole, heel = np.array([(-0.06, 0.0), (0.19, 0.0)]), np.array([(0.29, 0.0)])
    for x in (0.2, 0.24, 0.28):
        at_half = press_share(0.5, np.array([x, 0.0]), sole, heel, rolls=True)
        assert at_half == pytest.approx(switch_share(x, 0.19, 0.29), abs=1e-12)
    zmp = np.array([0.22, 0.0])
    shares = [press_share(s, zmp, sole, heel, rolls=True) for s in np.linspace(0.0, 1.0, 1001)]
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert np.abs(np.diff(shares)).max() < 0.02


def passed(step, t):
    t0, t1, t2 = step.switches
    return 0.5 * (np.clip((t - t0) / (t1 - t0), 0.0, 1.0) + np.clip((t - t1) / (t2 - t1), 0.0, 1.0))


class Step:
    """A rolling step under one rule."""

    def __init__(self, step, rule):
        self.step = step
        self.solvers = {
            phase: InverseDynamics(step.robot, names, rule) for phase, names in CONTACTS.items()
        }

    def answer(self, t, phase=None):
        phase = phase or self.step.phase(t)
        front = passed(self.step, t)
        return self.solvers[phase].solve(
            *self.step.at(t),
            np.array([1.0 - front, front]) if len(CONTACTS[phase]) > 1 else np.ones(1),
        )

    def jumps(self):
        neighbours = zip(self.step.switches, CONTACTS, tuple(CONTACTS)[1:], strict=False)
        return [
            np.abs(self.answer(t, one).tau - self.answer(t, other).tau).max()
            for t, one, other in neighbours
        ]

    def least_margin(self):
        t0, _, t2 = self.step.switches
        return min(
            self.answer(t).certificate.cop_margin for t in np.linspace(t0 + 1e-3, t2 - 1e-3, 60)
        )


@pytest.mark.parametrize(
    ("name", "build", "tips"),
    [("biped7", build_planar_step, 1e-9), ("legs12", build_spatial_step, 1e-3)],
)
def test_a_step_that_rolls_over_leaves_no_jump_and_feet_flat(name, build, tips):
    """The same shares under `transition` let a foot tip by centimetres, and jump by the couple that changes feet."""
    step = build(hd.load_robot(name), GaitR1())
    pressed, plain = Step(step, RULE), Step(step, "transition")
    assert max(pressed.jumps()) < 1e-7
    assert pressed.least_margin() > -tips
    assert plain.jumps()[1] > 1.0
    assert plain.least_margin() < -0.02


def test_what_both_feet_can_bear_is_left_as_it_is(human28):
    """Between two soles that stand flat nothing rolls: the rule is `transition` until a foot would tip."""
    rest = np.zeros(human28.nv)
    solver = InverseDynamics(human28, FEET, RULE)
    solver.prepare(("transition",))
    for share in (0.4, 0.5, 0.6):
        mine = solver.solve(human28.posture, rest, rest, np.array([share, 1.0 - share]))
        assert mine.certificate.cop_margin > 0.0
        np.testing.assert_array_equal(mine.tau, solver.resolve_with("transition").tau)
    tilted = solver.solve(human28.posture, rest, rest, np.array([0.9, 0.1]))
    assert solver.resolve_with("transition").certificate.status == "INFEASIBLE_CONTACT"
    assert solver.resolve_with("transition").certificate.cop_margin < -0.01
    assert tilted.certificate.status == "OK"
    assert 0.0 < tilted.certificate.cop_margin < 3e-3
    assert 0.5 < tilted.wrenches["left_foot"].f_W[2] / (human28.mass * 9.81) < 0.9


def test_contacts_come_and_go_without_a_step_wherever_the_point_is(human28):
    """The point stays between the feet, so that a foot that takes its first load would rather take half of it at once."""
    rest = np.zeros(human28.nv)
    solver = InverseDynamics(human28, FEET, RULE)
    torques = [
        solver.solve(human28.posture, rest, rest, np.array([1.0 - s, s])).tau
        for s in (0.0, 1e-9, EASED, EASED + 1e-9)
    ]
    assert np.abs(torques[1] - torques[0]).max() < 1e-4
    assert np.abs(torques[3] - torques[2]).max() < 1e-4
    assert np.abs(torques[2] - torques[0]).max() > 1.0


def test_stairs_count_along_the_total_force(human28):
    """One foot higher, and a push sideways: both centres of pressure are where the share says, inside or at the rim."""
    rng, moved = np.random.default_rng(3), 0
    for _ in range(20):
        q = pin.integrate(human28.model, human28.posture, 0.02 * rng.standard_normal(human28.nv))
        q[human28.joint("left_knee").q] += 0.15
        a = np.zeros(human28.nv)
        a[:2] = rng.uniform(-0.5, 0.5, 2)
        share = float(rng.uniform(0.1, 0.9))
        solver = InverseDynamics(human28, FEET, RULE)
        solver.prepare(("transition",))
        mine = solver.solve(q, np.zeros(human28.nv), a, np.array([share, 1.0 - share]))
        plain = solver.resolve_with("transition")
        moved += not np.array_equal(mine.tau, plain.tau)
        assert mine.certificate.residual < 1e-8 * human28.mass * 9.81
        assert mine.certificate.cop_margin >= plain.certificate.cop_margin - 1e-3
    assert moved > 5


def test_hands_alone_are_as_asked_for(human28):
    rest, names, shares = np.zeros(human28.nv), ("left_palm", "right_palm"), np.array((0.9, 0.1))
    solver = InverseDynamics(human28, names, RULE)
    solver.prepare(("transition",))
    np.testing.assert_array_equal(
        solver.solve(human28.posture, rest, rest, shares).tau, solver.resolve_with("transition").tau
    )


RAIL = (*FEET, "right_palm")


def at_rest(solver, q, shares):
    rest = np.zeros(solver.problem.robot.nv)
    return solver.solve(q, rest, rest, np.array(shares))


def test_with_a_hand_on_a_rail_both_feet_press_inside(human28):
    """A palm that is no ground pushes at its middle; feet take what is left, which tips them by shares alone."""
    rng, tipped = np.random.default_rng(4), 0
    solver = InverseDynamics(human28, RAIL, RULE)
    for _ in range(30):
        q = pin.integrate(human28.model, human28.posture, 0.03 * rng.standard_normal(human28.nv))
        asked = np.append(0.85 * rng.dirichlet((4.0, 4.0)), 0.15)
        mine = at_rest(solver, q, asked)
        plain = solver.resolve_with("transition")
        margins, before = (
            [answer.wrenches[name].cop_margin for name in FEET] for answer in (mine, plain)
        )
        tipped += min(before) < -1e-3
        assert min(margins) > -1e-3
        assert mine.certificate.residual < 1e-8 * human28.mass * 9.81
        assert (
            np.abs(np.cross(mine.wrenches["left_foot"].f_W, mine.wrenches["right_foot"].f_W)).max()
            < 1e-6 * human28.mass**2
        )
    assert tipped > 5


def test_three_contacts_on_the_ground_are_as_asked_for_until_one_would_tip():
    """A sole, and heel and toe of the other as two patches: nothing moves where all press inside, and never farther than it must."""
    robot = split_sole(hd.load_robot("legs12"))
    names = ("left_foot", "right_heel", "right_toe")
    solver = InverseDynamics(robot, names, RULE)
    inside, moved = 0, 0
    for free in np.random.default_rng(5).dirichlet((1.0, 1.0, 1.0), 80):
        asked = 0.1 + 0.7 * free  # below a tenth a contact fades
        mine = at_rest(solver, robot.posture, asked)
        plain = solver.resolve_with("transition")
        assert mine.certificate.cop_margin > -1e-4
        if plain.certificate.cop_margin > 2e-3:
            inside += 1
            np.testing.assert_allclose(mine.tau, plain.tau, atol=1e-3)
        elif plain.certificate.cop_margin < -1e-3:
            moved += 1
            assert np.abs(mine.tau - plain.tau).max() > 1e-3
    assert inside > 3
    assert moved > 3


def split_sole(legs):
    """legs12 with the right sole as two faces, one for the heel and one for the toe, and the left one whole."""
    left, right = legs.surfaces["left_foot"], legs.surfaces["right_foot"]
    patches = {}
    for name, ahead in (("right_heel", False), ("right_toe", True)):
        x = np.sort(np.unique(right.vertices[:, 0].round(9)))
        middle = 0.5 * (x[0] + x[-1])
        corners = np.array(right.vertices)
        corners[:, 0] = np.where((corners[:, 0] > middle) == ahead, corners[:, 0], middle)
        centre = np.append(corners[:, :2].mean(axis=0), 0.0)
        patches[name] = SurfaceSpec(
            FrameSpec(right.link, right.X_LC * pin.SE3(np.eye(3), centre)), corners - centre
        )
    posture = {j.name: float(legs.posture[j.q][0]) for j in legs.joints if j.kind == "revolute"}
    surfaces = {"left_foot": SurfaceSpec(FrameSpec(left.link, left.X_LC), left.vertices)} | patches
    return hd.load_robot(legs.urdf, description=Description(surfaces=surfaces, posture=posture))


def test_a_third_contact_comes_and_goes_without_a_step(human28):
    """From two contacts to three and four, past every share at which one begins to count fully, and where feet are at their rims."""
    solver, rng = (
        InverseDynamics(human28, (*RAIL, "left_palm"), RULE),
        np.random.default_rng(6),
    )
    for start in (
        (0.6, 0.4, 0.0, 0.0),
        (0.96, 0.04, 0.0, 0.0),
        (0.9, 0.05, 0.05, 0.0),
        (1.0, 0.0, 0.0, 0.0),
        (0.85, 0.15, 0.0, 0.0),
        (0.5, 0.4, 0.1, 0.0),
        (0.45, 0.35, 0.1, 0.1),
        (0.0, 0.9, 0.1, 0.0),
    ):
        q = pin.integrate(human28.model, human28.posture, 0.05 * rng.standard_normal(human28.nv))
        for change in ((-1.0, 0.0, 1.0, 0.0), (-0.5, -0.5, 0.5, 0.5)):
            taus = []
            for h in (0.0, 1e-9, 1e-6, 1e-3):
                shares = np.maximum(np.array(start) + h * np.array(change), 0.0)
                taus.append(at_rest(solver, q, shares / shares.sum()).tau)
            steps = [np.abs(tau - taus[0]).max() for tau in taus[1:]]
            assert steps[0] < 1e-5
            assert steps[1] < 1e-2
            assert steps[2] < 2.0


def with_hand(robot, link, corners, turn=None, name="hand"):
    """The robot on its feet with one more surface, level in its posture where it is not turned."""
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, robot.posture)
    level = data.oMf[robot.model.getFrameId(link)].rotation.T if turn is None else turn
    surfaces = {
        n: SurfaceSpec(FrameSpec(s.link, s.X_LC), s.vertices, friction=s.friction)
        for n, s in robot.surfaces.items()
    }
    surfaces[name] = SurfaceSpec(FrameSpec(link, pin.SE3(level, np.zeros(3))), np.array(corners))
    return hd.load_robot(
        robot.urdf, description=Description(surfaces=surfaces, posture=dict(posture_of(robot)))
    )


def posture_of(robot):
    return ((j.name, float(robot.posture[j.q][0])) for j in robot.joints if j.kind == "revolute")


PALM = [(0.04, 0.03, 0.0), (-0.04, 0.03, 0.0), (-0.04, -0.03, 0.0), (0.04, -0.03, 0.0)]


@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("talos_reduced", "arm_right_7_link"),
        ("g1", "right_wrist_yaw_link"),
        ("human28", "right_hand"),
        ("icub", "r_hand"),
    ],
)
def test_contacts_press_inside_in_whatever_order_they_are_named(name, link):
    plain = hd.load_robot(name)
    robot = with_hand(plain, link, PALM)
    names, rng, tipped = (*plain.stance, "hand"), np.random.default_rng(7), 0
    orders = ((0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0))
    solvers = [InverseDynamics(robot, [names[k] for k in order], RULE) for order in orders]
    rest, a = np.zeros(robot.nv), np.zeros(robot.nv)
    for _ in range(10):
        a[:2], asked = rng.uniform(-1.0, 1.0, 2), rng.uniform(0.3, 1.0, 3)
        answers = [
            s.solve(plain.posture, rest, a, asked[list(order)] / asked.sum())
            for s, order in zip(solvers, orders, strict=True)
        ]
        tipped += solvers[0].resolve_with("transition").certificate.cop_margin < -1e-3
        for answer in answers:
            assert answer.certificate.path == "closed"
            assert answer.certificate.cop_margin > -1e-6
            np.testing.assert_allclose(answer.tau, answers[0].tau, atol=1e-5)
    assert tipped > 3


def test_in_the_plane_two_points_hold_a_body():
    """A third point comes without a step where the other two press as they must: their share is the one that the line of force has."""
    plain = hd.load_robot("biped7")
    places = {
        "left_heel": ("left_foot", 1),
        "left_toe": ("left_foot", 0),
        "right_toe": ("right_foot", 0),
    }
    surfaces = {
        name: SurfaceSpec(
            FrameSpec(plain.surfaces[foot].link, plain.surfaces[foot].X_LC),
            plain.surfaces[foot].vertices[corner : corner + 1],
        )
        for name, (foot, corner) in places.items()
    }
    robot = hd.load_robot(
        plain.urdf,
        root="planar",
        description=Description(surfaces=surfaces, posture=dict(posture_of(plain))),
    )
    q = np.array(robot.posture)
    q[robot.joint("right_hip").q] -= 0.4
    solver = InverseDynamics(robot, tuple(places), RULE)
    for shares in ((0.8, 0.0, 0.2), (0.6, 0.0, 0.4)):
        before = at_rest(solver, q, shares)
        assert np.abs(before.tau - solver.resolve_with("transition").tau).max() > 1.0
        for share in (1e-12, 1e-9, 1e-6):
            third = np.where(np.array(shares) > 0.0, np.array(shares) * (1.0 - share), share)
            assert np.abs(at_rest(solver, q, third).tau - before.tau).max() < 1e-7 + 1e4 * share


def test_where_no_push_that_presses_is_found_the_certificate_tells(human28, monkeypatch):
    solver = InverseDynamics(human28, RAIL, RULE)
    assert at_rest(solver, human28.posture, (0.6, 0.25, 0.15)).certificate.path == "closed"
    monkeypatch.setattr(
        QpWorkspace,
        "solve",
        lambda self: QpSolution(self.f, self.upper, QpStatus.NOT_CONVEX, 0, np.inf),
    )
    alone = at_rest(solver, human28.posture, (0.6, 0.25, 0.15))
    assert alone.certificate.path == "unpressed"
    np.testing.assert_allclose(alone.tau, solver.resolve_with("transition").tau, atol=1e-9)
    monkeypatch.undo()
    assert at_rest(solver, human28.posture, (0.6, 0.25, 0.15)).certificate.path == "closed"


KINDS = {"point": [(0.0, 0.0, 0.0)], "edge": [(0.0, 0.05, 0.0), (0.0, -0.05, 0.0)], "face": PALM}


@pytest.mark.parametrize("held", KINDS)
@pytest.mark.parametrize("loading", KINDS)
def test_a_contact_takes_hold_from_nothing_without_a_step(human28, held, loading):
    """Beside a hand that bears a little, whose line may pass through the one that takes hold: two of these alone bear nothing."""
    one = with_hand(human28, "right_hand", KINDS[held], np.eye(3), "right_hold")
    robot = with_hand(one, "left_hand", KINDS[loading], np.eye(3), "left_hold")
    solver = InverseDynamics(robot, (*FEET, "right_hold", "left_hold"), RULE)
    rest, a, rng = np.zeros(robot.nv), np.zeros(robot.nv), np.random.default_rng(9)
    a[0] = 1.5
    before = np.array((0.4, 0.4, 0.2, 0.0))
    for q in (
        human28.posture,
        pin.integrate(robot.model, human28.posture, 0.1 * rng.standard_normal(robot.nv)),
    ):
        start = solver.solve(q, rest, a, before).tau
        for share in (1e-300, 1e-160, 1e-46, 1e-20, *10.0 ** np.sort(rng.uniform(-16.0, -0.7, 20))):
            loads = np.append(before[:3] * (1.0 - share), share)
            answer = solver.solve(q, rest, a, loads)
            assert np.abs(answer.tau - start).max() < 1e-7 + 3e3 * share
            assert answer.certificate.path == "closed"
            near = np.append(before[:3] * (1.0 - 1.001 * share), 1.001 * share)
            assert (
                np.abs(solver.solve(q, rest, a, near).tau - answer.tau).max() < 1e-7 + 3.0 * share
            )


def test_a_third_contact_takes_hold_without_a_step_beside_a_knee_without_motor(human28):
    """The point is in one foot, which is to take all of the load: the other one alone can hold its knee."""
    surfaces = {
        n: SurfaceSpec(FrameSpec(s.link, s.X_LC), s.vertices) for n, s in human28.surfaces.items()
    }
    passive = Description(
        surfaces=surfaces, posture=dict(posture_of(human28)), passive=("left_knee",)
    )
    robot = hd.load_robot(human28.urdf, description=passive)
    solver, rest, a = (
        InverseDynamics(robot, (*FEET, "left_palm"), RULE),
        np.zeros(robot.nv),
        np.zeros(robot.nv),
    )
    for sideways in (2.0, -2.0):
        a[1] = sideways
        two, three = (
            solver.solve(robot.posture, rest, a, np.array((0.5, 0.5 - share, share)))
            for share in (0.0, 1e-12)
        )
        assert np.abs(three.tau - two.tau).max() < 1e-6
        assert two.certificate.residual < 1e-9


@pytest.mark.parametrize(
    "kinds", [("point",) * 4, ("point", "edge", "point"), ("point", "edge", "face", "point")]
)
def test_on_points_and_edges_nothing_depends_on_the_last_digit(human28, kinds):
    """Nearest shares may be zero where what is left holds nothing, as two corners of feet that stand across each other do."""
    robot, rng = on_corners(human28, kinds), np.random.default_rng(15)
    solver = InverseDynamics(robot, tuple(robot.surfaces), RULE)
    for _ in range(15):
        q = pin.integrate(robot.model, robot.posture, 0.1 * rng.standard_normal(robot.nv))
        v, a = 0.3 * rng.standard_normal((2, robot.nv))
        shares = 0.02 + rng.dirichlet(np.full(len(kinds), 2.0))
        shares /= shares.sum()
        torques = [
            solver.solve(q, v, a, shares * (1.0 + 4e-16 * rng.uniform(-1.0, 1.0, len(kinds)))).tau
            for _ in range(5)
        ]
        assert np.ptp(torques, axis=0).max() < 1e-6


def on_corners(robot, kinds):
    """The robot on patches of its feet, two of each: the first or third corner, two from there on, or all."""
    count, surfaces = {"point": 1, "edge": 2, "face": None}, {}
    for k, kind in enumerate(kinds):
        sole = robot.surfaces[FEET[k // 2]]
        surfaces[f"{kind}_{k}"] = SurfaceSpec(
            FrameSpec(sole.link, sole.X_LC), np.roll(sole.vertices, -2 * k, axis=0)[: count[kind]]
        )
    return hd.load_robot(
        robot.urdf, description=Description(surfaces=surfaces, posture=dict(posture_of(robot)))
    )


@pytest.mark.parametrize(
    "names", [("left_toe", "right_foot"), ("left_foot", "right_foot", "right_palm")]
)
def test_a_foot_that_tilts_is_no_ground_any_more_without_a_step(human28, names):
    """As at toe off: level it takes little of the load, steep it takes the share that is asked for."""
    surfaces = {
        n: SurfaceSpec(FrameSpec(s.link, s.X_LC), s.vertices) for n, s in human28.surfaces.items()
    }
    sole = surfaces["left_foot"]
    surfaces["left_toe"] = SurfaceSpec(
        sole.frame, sole.vertices[sole.vertices[:, 0] > sole.vertices[:, 0].max() - 1e-6]
    )
    robot = hd.load_robot(
        human28.urdf, description=Description(surfaces=surfaces, posture=dict(posture_of(human28)))
    )
    solver, rest, a = (
        InverseDynamics(robot, names, RULE),
        np.zeros(robot.nv),
        np.zeros(robot.nv),
    )
    a[0], shares = 0.5, np.array((0.5, 0.5) if len(names) < 3 else (0.45, 0.45, 0.1))
    limits = np.arccos((GROUND, STEEP_GROUND))

    def differ(angle):
        q = np.array(robot.posture)
        q[robot.joint("left_ankle_pitch").q] += angle
        tau = solver.solve(q, rest, a, shares).tau
        return tau - solver.resolve_with("transition").tau

    flat, steep = (np.abs(differ(angle)).max() for angle in (limits[0] - 1e-6, limits[1] + 1e-6))
    assert flat > 1.0
    assert steep < 1e-9 or len(names) > 2
    for limit in limits:
        assert np.abs(differ(limit + 1e-7) - differ(limit - 1e-7)).max() < 1e-3
    if len(names) < 3:
        between = [differ(angle) for angle in np.linspace(limits[0] - 0.02, limits[1] + 0.02, 100)]
        assert np.abs(np.diff(between, axis=0)).max() < 0.05 * flat
