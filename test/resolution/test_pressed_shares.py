"""The recommended transition as a rule: shares against a linear program, no jumps through steps that roll over, feet that press inside."""

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import linprog

import humanoid_dynamics as hd
from humanoid_dynamics.contact.transfer import feasible_shares, switch_share
from humanoid_dynamics.motion.walking.gait_r1 import GaitR1
from humanoid_dynamics.motion.walking.rolling_step import CONTACTS, build_planar_step, build_spatial_step
from humanoid_dynamics.resolution.inverse_dynamics import InverseDynamics
from humanoid_dynamics.resolution.pressed_shares import EASED, find_pressed_shares, press_share

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
    found = linprog(sense * np.r_[np.zeros(len(one)), np.ones(len(other))], A_eq=rows, b_eq=(*zmp, 1.0))
    return sense * found.fun if found.success else None


def test_shares_are_those_of_a_linear_program():
    rng, empty = np.random.default_rng(1), 0
    for _ in range(300):
        one, other = (
            polygon(rng, rng.integers(2, 6), np.zeros(2)),
            polygon(rng, rng.integers(1, 6), np.array([0.3, rng.uniform(-0.1, 0.1)])),
        )
        zmp = rng.uniform((-0.1, -0.06), (0.4, 0.06))
        low, high = find_pressed_shares(zmp, one, other)
        least, most = extreme_share(zmp, one, other, 1.0), extreme_share(zmp, one, other, -1.0)
        if least is None:
            empty += 1
            assert low > high
        else:
            assert (low, high) == pytest.approx((least, most), abs=1e-7)
    assert 50 < empty < 250


def test_on_a_line_they_are_those_of_the_paper():
    """Feet of one width in a row: the interval of assumption 2."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        rear, front, zmp = (0.0, rng.uniform(0.1, 0.25)), (rng.uniform(0.3, 0.4), rng.uniform(0.45, 0.6)), rng.uniform(0.02, 0.55)
        one, other = (np.array([(b, -0.05), (b, 0.05), (a, 0.05), (a, -0.05)]) for a, b in (rear, front))
        assert find_pressed_shares(np.array([zmp, 0.01]), one, other) == pytest.approx(feasible_shares(zmp, rear, front), abs=1e-12)


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
        self.solvers = {phase: InverseDynamics(step.robot, names, rule, compiled=False) for phase, names in CONTACTS.items()}

    def answer(self, t, phase=None):
        phase = phase or self.step.phase(t)
        front = passed(self.step, t)
        return self.solvers[phase].tick(*self.step.at(t), np.array([1.0 - front, front]) if len(CONTACTS[phase]) > 1 else np.ones(1))

    def jumps(self):
        neighbours = zip(self.step.switches, CONTACTS, tuple(CONTACTS)[1:], strict=False)
        return [np.abs(self.answer(t, one).tau - self.answer(t, other).tau).max() for t, one, other in neighbours]

    def least_margin(self):
        t0, _, t2 = self.step.switches
        return min(self.answer(t).certificate.cop_margin for t in np.linspace(t0 + 1e-3, t2 - 1e-3, 60))


@pytest.mark.parametrize(("name", "build", "tips"), [("biped7", build_planar_step, 1e-9), ("legs12", build_spatial_step, 1e-3)])
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
    solver = InverseDynamics(human28, FEET, RULE, compiled=False)
    for share in (0.4, 0.5, 0.6):
        mine = solver.tick(human28.posture, rest, rest, np.array([share, 1.0 - share]))
        assert mine.certificate.cop_margin > 0.0
        np.testing.assert_array_equal(mine.tau, solver.also("transition").tau)
    tilted = solver.tick(human28.posture, rest, rest, np.array([0.9, 0.1]))
    assert solver.also("transition").certificate.status == "infeasible_contact"
    assert solver.also("transition").certificate.cop_margin < -0.01
    assert tilted.certificate.status == "ok"
    assert 0.0 < tilted.certificate.cop_margin < 3e-3
    assert 0.5 < tilted.wrenches["left_foot"].f_W[2] / (human28.mass * 9.81) < 0.9


def test_contacts_come_and_go_without_a_step_wherever_the_point_is(human28):
    """The point stays between the feet, so that a foot that takes its first load would rather take half of it at once."""
    rest = np.zeros(human28.nv)
    solver = InverseDynamics(human28, FEET, RULE, compiled=False)
    torques = [solver.tick(human28.posture, rest, rest, np.array([1.0 - s, s])).tau for s in (0.0, 1e-9, EASED, EASED + 1e-9)]
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
        solver = InverseDynamics(human28, FEET, RULE, compiled=False)
        mine = solver.tick(q, np.zeros(human28.nv), a, np.array([share, 1.0 - share]))
        plain = solver.also("transition")
        moved += not np.array_equal(mine.tau, plain.tau)
        assert mine.certificate.residual < 1e-8 * human28.mass * 9.81
        assert mine.certificate.cop_margin >= plain.certificate.cop_margin - 1e-3
    assert moved > 5


def test_other_contacts_are_as_asked_for(human28):
    """With a hand on a rail, and hanging by the hands, shares are those of `transition`."""
    rest = np.zeros(human28.nv)
    for names, shares in ((("left_foot", "right_foot", "right_palm"), (0.5, 0.3, 0.2)), (("left_palm", "right_palm"), (0.9, 0.1))):
        solver = InverseDynamics(human28, names, RULE, compiled=False)
        mine = solver.tick(human28.posture, rest, rest, np.array(shares))
        np.testing.assert_array_equal(mine.tau, solver.also("transition").tau)
