# SPDX-License-Identifier: Apache-2.0
"""The biped paper: the force handed from foot to foot, (28)-(29), its continuity, and the transition that keeps feet flat."""

import numpy as np
import pytest
from steps import (
    BODY,
    DSP1,
    DSP2,
    INSTANTS,
    R1,
    STEP,
    T0,
    T1,
    T2,
    TIMES,
    chain_at,
    double_support,
    zmp_at,
)

from humanoid_dynamics.contact.rolling_transfer import RollingTransfer
from humanoid_dynamics.contact.transfer import two_segment_share
from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.motion.walking.gait_r1 import GaitParameters, GaitR1
from humanoid_dynamics.papers.biped.chain import link_masses
from humanoid_dynamics.papers.biped.ground import (
    compute_flat_cop,
    compute_ground_wrench,
    compute_link_accelerations,
    compute_moment_left,
)
from humanoid_dynamics.papers.biped.lagrange import (
    TORQUE_MAP,
    build_terms,
    build_tip_constraint,
    solve_open_chain,
)
from humanoid_dynamics.papers.biped.procedures import solve_procedure_3
from humanoid_dynamics.papers.biped.recursion import compute_net_wrenches
from humanoid_dynamics.papers.biped.schedule import (
    STEP_RULES,
    build_step,
    compute_step_torques,
    measure_jumps,
)
from humanoid_dynamics.papers.biped.step import PHASES, compute_torques, find_points
from humanoid_dynamics.papers.biped.transition import (
    FootPoints,
    find_balanced_share,
    find_interval,
    linear_share,
    quintic,
    recommend_share,
    share_from_durations,
    smooth_share,
)

# BP-8, BP-9: transition of forces (28)-(29)


@pytest.mark.parametrize(("phase", "t"), INSTANTS)
def test_eq_28_29_forces_of_both_feet(phase, t):
    """The base carries what the tip does not, by the recursion: force of the ankle and weight of the foot."""
    body, chain, tip, total, legs = double_support(R1, t, phase)
    lam = 0.3 * total.force
    tau = solve_open_chain(
        build_terms(body, chain), build_tip_constraint(body, chain, tip).J.T @ lam
    )
    choice = solve_procedure_3(legs, lam)
    assert np.abs(choice.tau - tau).max() < 1e-11
    foot = np.array([0.0, body.m_foot * body.gravity])
    from_recursion = choice.T1[:2] + compute_net_wrenches(body, chain)[0][:2, :2].sum(axis=0) + foot
    assert np.abs(from_recursion - (total.force - lam)).max() < 1e-11


def test_eq_28_the_mass_is_that_of_the_whole_biped():
    """Without the flat foot the forces of both feet do not add up to what the motion needs."""
    total = compute_ground_wrench(BODY, chain_at(R1, 0.68))
    t, h = 0.68, 1e-4
    rear, front = (R1.points(t)[i].value for i in (1, 3))
    assert (rear == [0.0, BODY.ankle_height]).all()
    assert front[0] > 0.3

    def mass_moment(x):
        return link_masses(BODY)[0] @ compute_link_accelerations(BODY, chain_at(R1, x, "rear"))[0]

    force = (mass_moment(t + h) - 2 * mass_moment(t) + mass_moment(t - h)) / h**2 + [
        0.0,
        65.0 * 9.81,
    ]
    assert np.abs(total.force - force).max() < 1e-4
    assert abs(total.force[1] - force[1] + BODY.m_foot * 9.81) > 9.0


def test_eq_28_times_are_absolute():
    """(t - t_s)/(t_d - t_s) with a duration for t_d is negative in the middle of double support."""
    assert linear_share(0.76, T0, T2) == pytest.approx(0.5)
    assert share_from_durations(0.76, single=0.6, double=0.32) == pytest.approx(0.5)
    printed = (0.76 - 0.6) / (0.32 - 0.6)
    assert printed == pytest.approx(-0.571, abs=5e-4)
    assert (linear_share(0.0, T0, T2), linear_share(2.0, T0, T2)) == (0.0, 1.0)
    with pytest.raises(ShapeError, match="times in order"):
        linear_share(0.1, 0.6, 0.32)


@pytest.mark.parametrize(("phase", "t"), INSTANTS)
def test_centre_of_pressure_of_the_flat_foot(phase, t):
    """Moment of all forces about the ankle of the base, from the torque of that ankle."""
    body, chain, tip, total, legs = double_support(R1, t, phase)
    lam = 0.4 * total.force
    x_tip = build_tip_constraint(body, chain, tip).p[0]
    choice = solve_procedure_3(legs, lam)
    base = total.force - lam
    ankle = choice.tau[0]
    moment = ankle + body.com_foot[0] * body.m_foot * body.gravity - body.ankle_height * base[0]
    cop = moment / base[1]
    assert cop == pytest.approx(compute_flat_cop(total.zmp, 0.4, x_tip), abs=1e-12)


def test_linear_share_lets_the_flat_foot_tip():
    """On R1 the rear foot would press ahead of its toe just before t1, and the front foot behind its heel at 0.80 s."""
    at_the_end = compute_torques(BODY, R1.at(T1), DSP1, share=linear_share(T1, T0, T2)).base_cop
    later = (
        compute_torques(BODY, R1.at(0.80), DSP2, share=linear_share(0.80, T0, T2)).base_cop + 0.35
    )
    assert compute_flat_cop(zmp_at(T1), 0.5, 0.35 - BODY.heel) == pytest.approx(at_the_end)
    assert at_the_end == pytest.approx(0.1973, abs=5e-5)
    assert at_the_end > BODY.toe
    assert later == pytest.approx(0.267, abs=5e-4)
    assert later < 0.35 - BODY.heel


@pytest.mark.parametrize(("phase", "t"), INSTANTS)
def test_interval_of_shares(phase, t):
    """At its ends the flat foot presses at heel or toe."""
    motion = R1.at(t)
    zmp, points = zmp_at(t, phase.base), find_points(BODY, motion, phase)
    interval = find_interval(zmp, points, phase.name)
    assert not interval.empty
    for share in (interval.lower, interval.upper):
        cop = compute_torques(BODY, motion, phase, share=share).base_cop
        inside = -BODY.heel - 1e-12 <= cop <= BODY.toe + 1e-12
        edge = min(abs(cop + BODY.heel), abs(cop - BODY.toe)) < 1e-12
        assert inside if share in {0.0, 1.0} else edge
    with pytest.raises(ShapeError, match="DSP1 or DSP2"):
        find_interval(zmp, points, "SSP")


def test_friction_of_a_parallel_split():
    """Both feet have the ratio of the total force; least torque has not."""
    answer = compute_torques(BODY, R1.at(0.68), DSP1, share=0.25)
    ratio = answer.rear_force[0] / answer.rear_force[1]
    assert answer.front_force[0] / answer.front_force[1] == pytest.approx(ratio, abs=1e-14)
    other = compute_torques(BODY, R1.at(0.68), DSP1, "minimum_torque")
    assert (
        abs(other.front_force[0] / other.front_force[1] - other.rear_force[0] / other.rear_force[1])
        > 0.05
    )


# BP-10: continuity


def test_jumps_with_the_force_alone_handed_over():
    """(T2) All six torques jump at t1 by the couple that changes feet; it vanishes at s* = 0.519184."""
    motion, force = R1.at(T1), compute_ground_wrench(BODY, chain_at(R1, T1, "rear")).force
    points = find_points(BODY, motion, DSP1)
    assert find_balanced_share(zmp_at(T1), points) == pytest.approx(0.519184, abs=5e-7)
    assert force == pytest.approx(
        compute_ground_wrench(BODY, chain_at(R1, T1, "front")).force, abs=1e-11
    )
    for share, jump in (
        (0.3, -12.81),
        (0.5, -1.12),
        (0.7, 10.57),
        (find_balanced_share(zmp_at(T1), points), 0.0),
    ):
        before, after = (
            compute_torques(BODY, motion, phase, share=share).tau for phase in (DSP1, DSP2)
        )
        left = compute_moment_left(force[1], zmp_at(T1), share, points.toe_rear, points.heel_front)
        assert np.abs(after - before + left).max() < 1e-11
        assert after[0] - before[0] == pytest.approx(jump, abs=6e-3)


def test_rates_of_torques_at_heel_strike():
    """(T3) A linear share makes the rate of torques jump by A^-1 J'F/(t2 - t0) at t0; a smooth one does not."""
    body, chain, tip, total, _ = double_support(R1, T0, DSP1)
    kink = -np.linalg.solve(
        TORQUE_MAP, build_tip_constraint(body, chain, tip).J.T @ total.force
    ) / (T2 - T0)
    h = 1e-6

    def rate(rule, phase):
        there, here = (compute_step_torques(STEP, t, rule, phase).tau for t in (T0 + h, T0))
        return (there - here) / h

    onward = rate("linear_transition", PHASES["SSP"])
    for rule, expected in (
        ("linear_transition", kink),
        ("smooth_transition", 0.0),
        ("recommended_transition", 0.0),
    ):
        assert np.abs(rate(rule, DSP1) - onward - expected).max() < 2e-2
    assert np.abs(kink).max() > 100.0


# BP-11: the recommended transition


def test_recommended_transition_keeps_feet_flat():
    """Continuous everywhere, both centres of pressure inside, both feet pressing, on all of double support."""
    before = compute_step_torques(STEP, T0).tau
    for t in np.linspace(T0, T2, 321):
        answer = compute_step_torques(STEP, float(t))
        if T0 < t < T2:
            assert -BODY.heel - 1e-9 <= answer.base_cop <= BODY.toe + 1e-9
            assert answer.rear_force[1] > 0.0
            assert answer.front_force[1] > 0.0
        assert np.abs(answer.tau - before).max() < 5.0
        before = answer.tau


def test_recommended_share():
    points = find_points(BODY, R1.at(T1), DSP1)
    assert two_segment_share(T1, TIMES, 0.4) == 0.4
    assert (two_segment_share(T0, TIMES, 0.4), two_segment_share(T2, TIMES, 0.4)) == (0.0, 1.0)
    assert recommend_share(T0, TIMES, 0.4, 0.0, points) == 0.0
    assert recommend_share(T2, TIMES, 0.4, 0.0, points) == 1.0
    h = 1e-4
    for t in TIMES:
        shares = [two_segment_share(t + k * h, TIMES, 0.4) for k in (-1, 0, 1)]
        assert abs(shares[2] - shares[0]) / (2 * h) < 1e-4
        assert abs(shares[2] - 2 * shares[1] + shares[0]) / h**2 < 0.6
    assert smooth_share(0.68, T0, T2) == pytest.approx(quintic(0.25), abs=1e-15)


@pytest.mark.parametrize("late", [-0.03, 0.0, 0.05])
def test_online_transition_by_the_event_at_the_rear_toe(late):
    """Planned too early, in time or too late: at the event the rear foot presses at its toe, and no moment is left to jump."""
    planned = find_balanced_share(zmp_at(T1), find_points(BODY, R1.at(T1), DSP1))
    rolling = RollingTransfer(T0, (T1 - T0 + late, T2 - T1), planned)
    shares = [0.0]
    for t in np.arange(T0, T2, 1e-4):
        phase, base = (DSP1, "rear") if t <= T1 else (DSP2, "front")
        points, zmp = find_points(BODY, R1.at(float(t)), phase), zmp_at(float(t), base)
        answer = rolling.tick(
            float(t),
            zmp,
            (points.heel_rear, points.toe_rear),
            (points.heel_front, points.toe_front),
        )
        shares.append(answer.share)
        if answer.rolled:
            break
    assert answer.rolled
    assert np.abs(np.diff(shares)).max() < 0.01
    assert answer.share == pytest.approx(find_balanced_share(zmp, points), abs=1e-12)
    torques = compute_torques(BODY, R1.at(float(t)), phase, share=answer.share)
    assert torques.base_cop == pytest.approx(BODY.toe if phase is DSP1 else -BODY.heel, abs=1e-9)
    force = torques.rear_force[1] + torques.front_force[1]
    assert compute_moment_left(
        force, zmp, torques.share, points.toe_rear, points.heel_front
    ) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_proposition_of_the_recommended_transition(seed):
    """Feet of any size, a zero moment point that goes from the rear foot to the front one: shares exist, never jump, keep both feet flat.

    Its conditions: z within rear heel and front heel while the rear foot is flat, within rear toe and front toe after; not ahead of the
    rear toe at t0, between toe and heel at t1, not behind the front heel at t2.
    """
    rng = np.random.default_rng(seed)
    marks = np.cumsum(
        np.r_[
            rng.uniform(-0.3, 0.0),
            rng.uniform(0.15, 0.3),
            rng.uniform(0.05, 0.3),
            rng.uniform(0.15, 0.3),
        ]
    )
    points = FootPoints(*marks)
    times = tuple(np.cumsum(rng.uniform(0.1, 0.4, size=3)))
    knots = [
        rng.uniform(marks[0], marks[1]),
        rng.uniform(marks[1], marks[2]),
        rng.uniform(marks[2], marks[3]),
    ]
    balanced = find_balanced_share(knots[1], points)
    assert 0.0 <= balanced <= 1.0

    def zmp(t):
        part = 0 if t <= times[1] else 1
        u = (t - times[part]) / (times[part + 1] - times[part])
        return knots[part] + (knots[part + 1] - knots[part]) * (0.5 - 0.5 * np.cos(np.pi * u))

    shares = []
    for t in np.linspace(times[0], times[2], 2001):
        z, phase = zmp(t), "DSP1" if t <= times[1] else "DSP2"
        interval = find_interval(z, points, phase)
        assert not interval.empty
        s = recommend_share(t, times, balanced, z, points)
        shares.append(s)
        if times[0] < t < times[2]:
            tip = points.heel_front if phase == "DSP1" else points.toe_rear
            carried = s if phase == "DSP1" else 1.0 - s
            if carried < 1.0 - 1e-9:
                cop = (z - carried * tip) / (1.0 - carried)
                heel, toe = (
                    (points.heel_rear, points.toe_rear)
                    if phase == "DSP1"
                    else (points.heel_front, points.toe_front)
                )
                assert heel - 1e-9 <= cop <= toe + 1e-9
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert np.abs(np.diff(shares)).max() < 0.02


@pytest.mark.parametrize("seed", range(20))
def test_feet_of_a_step_shorter_than_a_foot(seed):
    """Side by side in part: shares are possible exactly where the flat foot is pressed inside itself, and the jump is still none at s*."""
    rng = np.random.default_rng(seed)
    points = FootPoints(-0.06, 0.19, rng.uniform(0.0, 0.18), rng.uniform(0.2, 0.4))
    for z in rng.uniform(-0.1, 0.45, 20):
        for phase in ("DSP1", "DSP2"):
            interval = find_interval(z, points, phase)
            for s in rng.uniform(0.01, 0.99, 10):
                moving, flat = (
                    (points.heel_front, s) if phase == "DSP1" else (points.toe_rear, 1.0 - s)
                )
                pressed = (z - flat * moving) / (1.0 - flat)
                ends = (
                    (points.heel_rear, points.toe_rear)
                    if phase == "DSP1"
                    else (points.heel_front, points.toe_front)
                )
                assert (interval.lower <= s <= interval.upper) == (ends[0] <= pressed <= ends[1])
        share = find_balanced_share(z, points)
        assert compute_moment_left(
            500.0, z, share, points.toe_rear, points.heel_front
        ) == pytest.approx(0.0, abs=1e-9)


def test_a_short_step_has_torques_by_every_rule():
    gait = GaitR1(GaitParameters(step=0.2))
    step = build_step(BODY, gait.at, gait.switches)
    assert measure_jumps(step, "linear_transition")[[0, 2]].max() < 1e-9
    for rule in STEP_RULES:
        assert all(
            np.isfinite(compute_step_torques(step, t, rule).tau).all()
            for t in (0.3, 0.65, 0.8, 1.1)
        )
