# SPDX-License-Identifier: Apache-2.0
"""Torques where load passes: continuous rules have no step, others do, and what a transfer can do is bounded beforehand."""

import numpy as np
import pinocchio as pin
import pytest
from test_reference import random_tree

import humanoid_dynamics as hd
from humanoid_dynamics.contact.schedule import ContactInterval, ContactSchedule
from humanoid_dynamics.contact.transfer import switch_share
from humanoid_dynamics.model.description import Description, FrameSpec, SurfaceSpec
from humanoid_dynamics.resolution.rules import RULES
from humanoid_dynamics.resolution.step_bounds import (
    bound_switch_steps,
    bound_torque_step,
    measure_switch_steps,
)

FOUR = ("left_foot", "right_foot", "left_palm", "right_palm")
CONTINUOUS = tuple(name for name, rule in RULES.items() if rule.continuous)
DT = 2e-3


@pytest.fixture(scope="module")
def human28():
    return hd.load_robot("human28")


def motion_of(robot, rng, spread=0.3):
    q = pin.integrate(robot.model, robot.posture, spread * rng.standard_normal(robot.nv))
    return q, rng.standard_normal(robot.nv), 2.0 * rng.standard_normal(robot.nv)


def random_schedule(rng):
    """One to three contacts come and go beside one that stays, all within half a second."""
    names = list(rng.permutation(FOUR))[: int(rng.integers(2, 5))]
    intervals = [ContactInterval(names[0], -np.inf, np.inf, 0.0, 0.0, rng.uniform(0.4, 1.0))]
    for name in names[1:]:
        load, unload = rng.uniform(0.02, 0.2, 2)
        start = rng.uniform(0.0, 0.25)
        stay = rng.uniform(0.0, 0.1)
        intervals.append(
            ContactInterval(
                name, start, start + load + stay + unload, load, unload, rng.uniform(0.2, 1.5)
            )
        )
    return ContactSchedule.of(intervals, str(rng.choice(["linear", "quintic"])))


def check_schedule(robot, solver, rng, pairs=None):
    """Follow one schedule at rest in one random motion; return how much of the bound is used.

    With ``pairs`` only so many pairs of neighbouring times are looked at, half of them where contacts come and go.
    """
    schedule = random_schedule(rng)
    q, v, a = motion_of(robot, rng)
    calm = rng.choice([0.1, 1.0])  # some motions the feet can hold, others they cannot
    known = (
        solver.rule.name == "recommended_transition"
    )  # its bound takes the shares before the step
    places, rates = [FOUR.index(name) for name in schedule.surfaces], schedule.share_rates()

    def limit(t):
        asked = {"load": schedule.shares(t)} if known else {}
        bound = bound_torque_step(
            robot,
            hd.State(q, calm * v),
            calm * a,
            schedule.surfaces,
            rates * DT,
            solver.rule,
            **asked,
        ).bound
        assert known or np.isfinite(bound).all()
        return bound

    bound = None if known else limit(0.0)

    def torques(t):
        shares = np.zeros(4)
        shares[places] = schedule.shares(t)
        return solver.solve(q, calm * v, calm * a, shares).tau

    times = np.arange(-2 * DT, 0.7, DT)
    if pairs is not None:
        switches = rng.choice([t for t in schedule.switches() if t < 0.7], pairs // 2)
        times = np.concatenate(
            (rng.choice(times, pairs - pairs // 2), switches - rng.uniform(0.0, DT, pairs // 2))
        )
    used, before = 0.0, None
    for t in times:
        one = torques(t) if pairs is not None or before is None else before
        before = torques(t + DT)
        step, bound = np.abs(before - one), limit(t) if known else bound
        assert np.all(step <= bound + 1e-3 * solver.rule.limited + 1e-6), (
            f"step {step.max()} at {t}"
        )
        used = max(used, float(np.max(step / np.maximum(bound, 1e-3))))
    return used


@pytest.mark.parametrize(
    ("rule", "count", "pairs", "least"),
    [
        ("transition", 60, None, 0.3),
        ("transition_limited", 200, 8, 0.02),
        ("recommended_transition", 10, 8, 0.0),
    ],
)
def test_no_random_schedule_exceeds_its_bound(human28, rule, count, pairs, least):
    rng = np.random.default_rng(1)
    solver = hd.InverseDynamics(human28, FOUR, rule)
    used = [check_schedule(human28, solver, rng, pairs) for _ in range(count)]
    assert max(used) > least, "a bound that nothing comes near says nothing"


def check_two_feet(robot, solver, rng):
    """Pass load between two feet in one random motion, by small and large steps; return how much of the bound is used."""
    q, v, a = motion_of(robot, rng)
    calm = rng.choice([0.0, 0.1, 1.0])
    worst = 0.0
    for asked, more in (
        (rng.uniform(), 1e-3),
        (rng.uniform(0.0, 0.06), 1e-3),
        (rng.uniform(), 1e-5),
        (1.0 - rng.uniform(0.0, 0.06), 1e-3),
    ):
        after = min(asked + more, 1.0)
        bound = bound_torque_step(
            robot, hd.State(q, calm * v), calm * a, FOUR[:2], [after - asked] * 2, solver.rule
        ).bound
        one, other = (
            solver.solve(q, calm * v, calm * a, np.array((1.0 - s, s))).tau for s in (asked, after)
        )
        step = np.abs(other - one)
        assert np.isfinite(bound).all()
        assert np.all(step <= bound + 1e-6), f"step {step.max()} at {asked}"
        worst = max(worst, float(np.max(step / np.maximum(bound, 1e-3))))
    return worst


def test_the_recommended_transition_between_two_feet_keeps_its_bound(human28):
    rng = np.random.default_rng(6)
    solver = hd.InverseDynamics(human28, FOUR[:2], "recommended_transition")
    used = [check_two_feet(human28, solver, rng) for _ in range(150)]
    assert max(used) > 0.1, "a bound that nothing comes near says nothing"
    third = bound_torque_step(
        human28,
        hd.State.at_rest(human28),
        np.zeros(human28.nv),
        FOUR[:3],
        [0.1, 0.1, 0.0],
        solver.rule,
    ).bound
    assert np.isinf(third).all()


def pass_load(rng, contacts):
    """Shares before and after a small or a large step; some contacts come or go."""
    shares = rng.dirichlet(np.ones(contacts)) * (rng.random(contacts) < 0.8)
    shares = shares / shares.sum() if shares.any() else np.full(contacts, 1.0 / contacts)
    after = np.maximum(
        shares + 10.0 ** rng.uniform(-6.0, -2.0) * rng.uniform(-1.0, 1.0, contacts), 0.0
    )
    return shares, after / after.sum()


def check_known_shares(robot, names, rule, rng, count):
    """Pass load between contacts of any kind in random motions; return how much of the bounds is used, nothing where there is none."""
    solver, used = hd.InverseDynamics(robot, names, rule), []
    for _ in range(count):
        q, v, a = motion_of(robot, rng)
        shares, after = pass_load(rng, len(names))
        found = bound_torque_step(
            robot, hd.State(q, 0.1 * v), 0.1 * a, names, np.abs(after - shares), rule, load=shares
        )
        bound, why = found.bound, found.reason
        one, other = (solver.solve(q, 0.1 * v, 0.1 * a, s).tau for s in (shares, after))
        step = np.abs(other - one)
        assert np.isfinite(bound).all() == (why == "")
        assert not why or why.partition(":")[0].split(", ")[0] in names
        assert np.all(step <= bound + 1e-6), f"{rule}: step {step.max()} from {shares} to {after}"
        used += [float(np.max(step / np.maximum(bound, 1e-6)))] if np.isfinite(bound).all() else []
    return used


@pytest.mark.parametrize(
    ("rule", "finite", "least"),
    [
        ("transition", 0.8, 0.9),
        ("recommended_transition", 0.93, 0.5),
        ("transition_limited", 1.0, 0.0),
    ],
)
def test_contacts_of_any_kind_keep_their_bounds_from_shares_that_are_known(rule, finite, least):
    used, asked = [], 0
    for seed in range(12):
        robot = random_tree(np.random.default_rng(seed))
        used += check_known_shares(
            robot, tuple(robot.surfaces)[:4], rule, np.random.default_rng(seed), 5
        )
        asked += 5
    assert len(used) >= finite * asked
    assert max(used) > least, "a bound that nothing comes near says nothing"


def test_four_faces_under_the_recommended_transition_keep_their_bound(human28):
    used = check_known_shares(human28, FOUR, "recommended_transition", np.random.default_rng(8), 40)
    assert len(used) == 40
    assert max(used) > 0.02, "a bound that nothing comes near says nothing"


@pytest.mark.parametrize("rule", ["transition", "recommended_transition", "transition_limited"])
def test_shares_that_are_known_make_no_bound_larger_and_no_step_makes_none(human28, rule):
    rng = np.random.default_rng(9)
    for step in (1e-1, 1e-3, 1e-5):
        q, v, a = motion_of(human28, rng)
        asked = (human28, hd.State(q, 0.1 * v), 0.1 * a, FOUR[:2])
        of_any = bound_torque_step(*asked, [step, step], rule).bound
        for share in (0.0, 0.03, 0.5):
            known = bound_torque_step(*asked, [step, step], rule, load=[1.0 - share, share]).bound
            assert np.all(known <= of_any)
            assert not bound_torque_step(
                *asked, [0.0, 0.0], rule, load=[1.0 - share, share]
            ).bound.any()
    tree = random_tree(np.random.default_rng(3))  # edges and points as well
    shares, zero = np.full(len(tree.surfaces), 1.0 / len(tree.surfaces)), np.zeros(tree.nv)
    assert not bound_torque_step(
        tree, hd.State.at_rest(tree), zero, tree.surfaces, 0.0 * shares, rule, load=shares
    ).bound.any()


def test_there_is_no_bound_where_all_that_bears_may_leave():
    robot = random_tree(np.random.default_rng(3))
    shares = np.eye(len(robot.surfaces))[0]
    steps = np.append(1.0, np.ones(len(shares) - 1))
    zero = np.zeros(robot.nv)
    assert np.isinf(
        bound_torque_step(
            robot, hd.State.at_rest(robot), zero, robot.surfaces, steps, "transition", load=shares
        ).bound
    ).all()
    assert np.isinf(
        bound_torque_step(
            robot,
            hd.State.at_rest(robot),
            zero,
            robot.surfaces,
            steps,
            "minimum_torque",
            load=shares,
        ).bound
    ).all()


def mixed_schedule(rng, surfaces):
    """A face that stays, and up to three other contacts of any kind that come and go."""
    intervals = [ContactInterval(surfaces[0], -np.inf, np.inf, 0.0, 0.0, rng.uniform(0.4, 1.0))]
    for name in surfaces[1:]:
        load, unload = rng.uniform(0.02, 0.2, 2)
        start = rng.uniform(0.0, 0.25)
        intervals.append(
            ContactInterval(
                name, start, start + load + unload + 0.01, load, unload, rng.uniform(0.2, 1.5)
            )
        )
    return ContactSchedule.of(intervals, str(rng.choice(["linear", "quintic"])))


def check_switches(robot, rng, rule):
    """Compare what torques do after every switch of one schedule with the bounds; return how many there are, and how many have none."""
    schedule, dt = mixed_schedule(rng, tuple(robot.surfaces)[:4]), 10.0 ** rng.uniform(-5.0, -3.0)
    q, v, a = motion_of(robot, rng)
    solver, bounds = hd.InverseDynamics(robot, schedule.surfaces, rule), None
    bounds = bound_switch_steps(robot, schedule, lambda t: (q, 0.1 * v, 0.1 * a), dt, rule)
    assert [bound.t for bound in bounds] == list(schedule.switches())
    for found in bounds:
        one, other = (
            solver.solve(q, 0.1 * v, 0.1 * a, schedule.shares(found.t + late)).tau
            for late in (-1e-9, dt)
        )
        assert np.all(np.abs(other - one) <= found.bound + 1e-6)
        assert np.isfinite(found.bound).all() == (found.reason == "")
        assert found.contacts
    return len(bounds), sum(bound.reason != "" for bound in bounds)


@pytest.mark.parametrize(
    ("rule", "most"),
    [("transition", 0.0), ("recommended_transition", 0.0), ("transition_limited", 0.0)],
)
def test_switches_of_contacts_of_any_kind_keep_their_bounds(rule, most):
    counts = np.zeros(2)
    for seed in range(8):
        counts += check_switches(
            random_tree(np.random.default_rng(seed)), np.random.default_rng(seed), rule
        )
    assert counts[1] <= most * counts[0]


def test_a_missing_bound_names_what_is_why(human28):
    rest, zero, steps = hd.State.at_rest(human28), np.zeros(human28.nv), [0.01, 0.01]
    assert bound_torque_step(human28, rest, zero, FOUR[:2], steps, "transition").reason == ""
    assert bound_torque_step(
        human28, rest, zero, FOUR[:2], steps, "minimum_torque"
    ).reason.startswith("minimum_torque: ")
    assert (
        "two contacts"
        in bound_torque_step(
            human28, rest, zero, FOUR[:3], [0.01] * 3, "recommended_transition"
        ).reason
    )
    tree = random_tree(np.random.default_rng(3))
    names, zero = tuple(tree.surfaces), np.zeros(tree.nv)
    other = next(name for name in names if tree.surfaces[name].kind != "face")
    assert bound_torque_step(
        tree, hd.State.at_rest(tree), zero, names, [0.01] * len(names), "transition"
    ).reason.startswith(f"{other}: ")
    shares = np.eye(len(names))[0]
    leaving = bound_torque_step(
        tree, hd.State.at_rest(tree), zero, names, np.ones(len(names)), "transition", load=shares
    )
    assert "all that bears" in leaving.reason
    biped = hd.load_robot("biped7")
    asked = (biped, hd.State.at_rest(biped), np.zeros(biped.nv), biped.surfaces, [0.1, 0.1])
    assert "without motor" in bound_torque_step(*asked, "transition").reason


def test_faces_have_a_bound_however_long_the_step_and_whoever_may_leave(human28):
    """Also where all contacts but two may leave, and where all that bears may."""
    rng = np.random.default_rng(10)
    solver = hd.InverseDynamics(human28, FOUR, "recommended_transition")
    for shares in ([0.4, 0.4, 0.1, 0.1], [1.0, 0.0, 0.0, 0.0], [0.5, 0.3, 0.2, 0.0]):
        for step in (0.1, 0.6):
            q, v, a = motion_of(human28, rng)
            after = np.maximum(np.array(shares) + step * rng.uniform(-1.0, 1.0, 4), 0.0)
            after /= after.sum()
            steps = np.abs(after - shares)
            bound = bound_torque_step(
                human28, hd.State(q, v), a, FOUR, steps, solver.rule, load=shares
            ).bound
            one, other = (solver.solve(q, v, a, np.array(s)).tau for s in (shares, after))
            assert np.isfinite(bound).all()
            assert np.all(np.abs(other - one) <= bound + 1e-6)


def test_forces_beyond_all_bounds_keep_theirs_between_two_feet(human28):
    """They count less, shares alone count in their place: torques stay between those of any shares."""
    a = np.zeros(human28.nv)
    a[4] = 1e4  # about a centre of mass that stays where it is
    a[:3] = -pin.crba(human28.model, human28.data(), human28.posture)[:3, 4] * a[4] / human28.mass
    asked = (human28, hd.State.at_rest(human28), a, FOUR[:2], [0.3, 0.3], "recommended_transition")
    solver = hd.InverseDynamics(human28, FOUR[:2], "recommended_transition")
    for share in (0.0, 0.2, 0.5):
        one, other = (
            solver.solve(human28.posture, np.zeros(human28.nv), a, np.array((1.0 - s, s))).tau
            for s in (share, share + 0.3)
        )
        for known in (None, [1.0 - share, share]):
            bound = bound_torque_step(*asked, load=known).bound
            assert np.isfinite(bound).all()
            assert np.all(np.abs(other - one) <= bound + 1e-6)


def test_what_a_step_of_the_recommended_transition_does_is_near_to_its_bound(human28):
    used = check_known_shares(
        human28, FOUR[:2], "recommended_transition", np.random.default_rng(11), 40
    )
    assert np.median(used) > 0.9
    used = check_known_shares(
        human28, FOUR, "recommended_transition", np.random.default_rng(12), 40
    )
    assert np.median(used) > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("rule", CONTINUOUS)
def test_two_thousand_schedules_of_contacts_of_any_kind_keep_their_bounds(rule):
    for seed in range(500):
        robot, rng = random_tree(np.random.default_rng(seed)), np.random.default_rng(seed)
        for _ in range(4):
            check_switches(robot, rng, rule)


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["transition", "recommended_transition", "transition_limited"])
def test_ten_thousand_steps_on_contacts_of_any_kind_keep_their_bounds(rule):
    for seed in range(500):
        robot = random_tree(np.random.default_rng(seed))
        check_known_shares(robot, tuple(robot.surfaces)[:4], rule, np.random.default_rng(seed), 20)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "pairs"),
    [
        ("transition", None),
        ("procedure_4", 8),
        ("transition_limited", 40),
        ("recommended_transition", 4),
    ],
)
def test_no_schedule_of_ten_thousand_exceeds_its_bound(human28, rule, pairs):
    rng = np.random.default_rng(2)
    solver = hd.InverseDynamics(human28, FOUR, rule)
    for _ in range(10_000):
        check_schedule(human28, solver, rng, pairs)


def test_steps_of_a_clipped_push_shrink_with_the_step_of_its_share(human28):
    """Where limits decide, too: a contact that comes, one that passes the share below which it fades, two at once."""
    rng = np.random.default_rng(5)
    solver = hd.InverseDynamics(human28, FOUR, "transition_limited")
    clipped = 0
    for _ in range(20):
        q, v, a = motion_of(human28, rng, spread=0.1)
        for start in (
            [0.6, 0.4, 0.0, 0.0],
            [0.5, 0.4, 0.1, 0.0],
            [0.5, 0.5, 0.0, 0.0],
            [0.85, 0.0, 0.1, 0.05],
        ):
            change = np.array([-1.0, 0.0, 0.5, 0.5])
            steps = []
            for h in (1e-4, 1e-6):
                one, other = (
                    solver.solve(q, v, a, np.array(start) + sign * change) for sign in (0.0, h)
                )
                clipped += other.certificate.path == "qp_soft"
                steps.append(np.abs(other.tau - one.tau).max())
            assert steps[1] < 0.02 * steps[0] + 2e-4
    assert clipped > 50


def walking_step(profile="quintic"):
    return ContactSchedule.of(
        [
            ContactInterval("left_foot", -np.inf, 0.92, 0.1, 0.32),
            ContactInterval("right_foot", 0.6, np.inf, 0.32, 0.1),
        ],
        profile,
    )


@pytest.mark.parametrize("profile", ["linear", "quintic"])
def test_steps_at_touchdown_and_liftoff(human28, profile):
    """The three-dimensional form of the papers' comparison: rules by load have no step, rules by least squares have a large one."""
    q, v, a = motion_of(human28, np.random.default_rng(3), spread=0.1)
    steps = measure_switch_steps(
        human28,
        walking_step(profile),
        lambda t: (q, v, a),
        ("minimum_torque", "pseudo_inverse", "transition"),
    )
    largest = {}
    for step in steps:
        largest[step.rule] = max(largest.get(step.rule, 0.0), step.largest)
    assert largest["transition"] < 1e-5
    assert largest["minimum_torque"] > 5.0
    assert largest["pseudo_inverse"] > 5.0


@pytest.mark.parametrize("rule", CONTINUOUS)
def test_continuous_rules_have_no_step_while_the_feet_can_hold(human28, rule):
    """At rest, a hand comes and goes."""
    q, zero = human28.posture, np.zeros(human28.nv)
    schedule = ContactSchedule.of(
        [
            ContactInterval("left_foot", -np.inf, np.inf, 0.0, 0.0),
            ContactInterval("right_foot", -np.inf, np.inf, 0.0, 0.0),
            ContactInterval("right_palm", 0.5, 1.5, 0.3, 0.3, weight=0.1),
        ]
    )
    for step in measure_switch_steps(human28, schedule, lambda t: (q, zero, zero), (rule,)):
        assert step.largest < 1e-5


def test_limited_push_moves_no_more_than_the_one_it_is_nearest_to(human28):
    """Nearest points of a convex set are no further apart than the points they are nearest to."""
    rng = np.random.default_rng(4)
    solver = hd.InverseDynamics(human28, FOUR[:2], "transition_limited")
    q, v, a = human28.posture, np.zeros(human28.nv), np.zeros(human28.nv)
    wrench = lambda answer: np.concatenate(  # noqa: E731
        [np.concatenate((w.f_W, w.m_W)) for w in answer.wrenches.values()]
    )
    paths = set()
    for _ in range(100):
        s = rng.uniform(0.02, 0.98)
        ds = min(0.98, s + rng.uniform(0.0, 0.05))
        limited, free = [], []
        for share in (s, ds):
            answer = solver.solve(q, v, a, np.array([1.0 - share, share]))
            paths.add(answer.certificate.path)
            limited.append(wrench(answer))
            free.append(wrench(solver.resolve_with("transition")))
        if "qp_soft" not in paths:
            assert (
                np.linalg.norm(limited[1] - limited[0]) <= np.linalg.norm(free[1] - free[0]) + 1e-6
            )
    assert "qp" in paths


def test_bound_is_told_to_be_missing_where_there_is_none(human28):
    biped = hd.load_robot("biped7")
    state = hd.State.at_rest(biped)
    assert np.isinf(
        bound_torque_step(
            biped, state, np.zeros(biped.nv), biped.surfaces, [0.1, 0.1], "transition"
        ).bound
    ).all()


@pytest.fixture(scope="module")
def walker():
    """legs12 with soles, heels and toes."""
    legs = hd.load_robot("legs12")
    surfaces = {}
    for foot in ("left_foot", "right_foot"):
        sole = legs.surfaces[foot]
        order = np.argsort(sole.vertices[:, 0])
        frame = FrameSpec(sole.link, sole.X_LC)
        surfaces |= {foot: SurfaceSpec(frame, sole.vertices)}
        surfaces |= {f"{foot}_heel": SurfaceSpec(frame, sole.vertices[order[:2]])}
        surfaces |= {f"{foot}_toe": SurfaceSpec(frame, sole.vertices[order[-2:]])}
    return hd.load_robot(legs.urdf, description=Description(surfaces=surfaces))


def stride(walker):
    """Left foot behind, right foot ahead, both soles exactly level; how high they are is all the same."""
    q = np.array(pin.neutral(walker.model))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        angles = {"hip_pitch": -0.13 + 0.4 * sign, "knee": 0.4}
        angles["ankle_pitch"] = -sum(angles.values())
        for joint, angle in angles.items():
            q[walker.joint(f"{side}_{joint}").q] = angle
    return hd.State(q, np.zeros(walker.nv))


class TestChangeOfMode:
    """Rear sole and front heel edge give way to rear toe edge and front sole, all at once, as when a step rolls over."""

    def steps(self, walker, share):
        """Torques after less before the change of mode, by joint, standing still."""
        rest, zero = stride(walker), np.zeros(walker.nv)
        before, after = (
            hd.inverse_dynamics(walker, rest, zero, names, "transition", load=[1.0 - share, share])
            for names in (("left_foot", "right_foot_heel"), ("left_foot_toe", "right_foot"))
        )
        assert max(answer.certificate.residual for answer in (before, after)) < 1e-7
        return dict(zip(walker.actuated, after.tau - before.tau, strict=True))

    def places(self, walker):
        """Zero-moment point, rear toe and front heel along the way [m], and the weight [N]."""
        data, q = walker.data(), stride(walker).q
        pin.framesForwardKinematics(walker.model, data, q)
        zmp = pin.centerOfMass(walker.model, data, q)[0]
        toe, heel = (
            float((data.oMf[surface.frame] * np.mean(surface.vertices, axis=0))[0])
            for surface in (walker.surfaces["left_foot_toe"], walker.surfaces["right_foot_heel"])
        )
        assert toe < zmp < heel
        return float(zmp), toe, heel, walker.mass * 9.81

    def test_no_step_at_the_share_with_both_pressures_on_their_edges(self, walker):
        zmp, toe, heel, _ = self.places(walker)
        steps = self.steps(walker, switch_share(zmp, toe, heel))
        assert max(map(abs, steps.values())) < 1e-5

    @pytest.mark.parametrize("share", [0.2, 0.4, 0.8])
    def test_elsewhere_every_joint_between_the_feet_steps_by_the_moment_that_changes_feet(
        self, walker, share
    ):
        zmp, toe, heel, weight = self.places(walker)
        moment = weight * ((zmp - toe) - share * (heel - toe))
        assert abs(moment) > 1.0
        for joint, step in self.steps(walker, share).items():
            expected = abs(moment) if "pitch" in joint or "knee" in joint else 0.0
            assert abs(step) == pytest.approx(expected, abs=1e-5), joint
