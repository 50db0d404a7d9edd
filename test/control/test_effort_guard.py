# SPDX-License-Identifier: Apache-2.0
"""The effort guard: nothing but finite torques within limits ever leaves it, and every fault stops it for good."""

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.control.effort_guard import EffortGuard, GuardSettings, GuardStatus
from humanoid_dynamics.control.safe_output import SafeTorques
from humanoid_dynamics.errors import (
    HumanoidDynamicsError,
    ShapeError,
    UnknownNameError,
    UnsupportedRobotError,
)

NAMES = ("hip", "knee", "ankle")
LIMITS = np.array([100.0, 50.0, 20.0])
DT = 0.002


def make(**settings):
    return EffortGuard(
        NAMES,
        LIMITS,
        SafeTorques(NAMES, LIMITS, kind="zero"),
        GuardSettings(**{"rate": 1e6, "period": DT, "bad_commands": 0} | settings),
    )


def running(guard, ticks=5):
    """Bring a guard to where commands go through; return the time."""
    t = 0.0
    for k in range(ticks):
        t = k * DT
        guard.command(NAMES, np.array([1.0, 2.0, 3.0]), t, t)
        guard.output(t)
    return t


def test_good_commands_go_through_unchanged():
    guard = make()
    t = running(guard)
    out = guard.output(t)
    assert (out.status, out.reason) == ("PASSING", "")
    assert out.tau.tolist() == [1.0, 2.0, 3.0]


def test_nothing_but_zero_before_the_first_command():
    out = make().output(10.0)
    assert out.status == "WAITING"
    assert not out.tau.any()


def test_torques_are_cut_to_their_limits():
    guard = make()
    running(guard)
    guard.command(NAMES, np.array([1e9, -1e9, 0.0]), 0.01, 0.01)
    out = guard.output(0.01)
    assert out.status == "LIMITED"
    assert "knee" in out.reason
    assert out.tau.tolist() == [100.0, -50.0, 0.0]


def test_rates_are_cut_and_the_command_is_reached_in_time():
    guard = make(rate=10.0)
    running(guard, 400)
    before = guard.output(400 * DT).tau
    for k in range(401, 500):
        guard.command(NAMES, np.array([100.0, 2.0, 3.0]), k * DT, k * DT)
        after = guard.output(k * DT).tau
        assert np.all(np.abs(after - before) <= 10.0 * LIMITS * DT + 1e-12)
        before = after
    assert before[0] == 100.0


FAULTS = {
    "NOT_FINITE": lambda g, t: g.command(NAMES, np.array([1.0, np.nan, 3.0]), t, t),
    "WRONG_SIZE": lambda g, t: g.command(NAMES[:2], np.array([1.0, 2.0]), t, t),
    "UNKNOWN_NAME": lambda g, t: g.command(("hip", "knee", "elbow"), np.ones(3), t, t),
    "REORDERED": lambda g, t: g.command(("knee", "hip", "ankle"), np.ones(3), t, t),
    "STAMP_IN_PAST": lambda g, t: g.command(NAMES, np.ones(3), t - 0.06, t),
    "STAMP_IN_FUTURE": lambda g, t: g.command(NAMES, np.ones(3), t + 0.02, t),
    "DUPLICATE_PUBLISHER": lambda g, t: g.count_publishers(2, t),
    "STOPPED": lambda g, t: g.stop(now=t),
    "STALE": lambda g, t: g.output(t + 0.06),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_stops_at_once_and_for_good(fault):
    guard = make()
    t = running(guard) + DT
    FAULTS[fault](guard, t)
    t += 0.06 if fault == "STALE" else 0.0
    out = guard.output(t)
    assert (out.status, out.tau.any()) == (fault, False)
    assert out.reason
    guard.count_publishers(1, t)
    for k in range(1, 4):
        assert not guard.command(NAMES, np.ones(3), t + k * DT, t + k * DT)
        assert guard.output(t + k * DT).status == fault


@pytest.mark.parametrize("fault", FAULTS)
def test_armed_again_it_goes_on(fault):
    guard = make()
    t = running(guard) + DT
    FAULTS[fault](guard, t)
    t += 0.07
    guard.count_publishers(1, t)
    assert guard.rearm(t) == ""
    assert guard.output(t).status == "WAITING"
    assert guard.command(NAMES, np.ones(3), t, t)
    assert guard.output(t + 1e-6).status == "PASSING"


def test_it_is_not_armed_while_two_nodes_send():
    guard = make()
    guard.count_publishers(2, 0.0)
    assert "2 nodes" in guard.rearm(0.1)
    assert guard.fault == "DUPLICATE_PUBLISHER"


def test_a_clock_that_goes_back_stops_it():
    guard = make()
    running(guard)
    guard.command(NAMES, np.ones(3), -1.0, -1.0)
    assert guard.fault == "TIME_BACK"


def test_a_command_overtaken_by_a_later_one_is_passed_over():
    guard = make()
    t = running(guard)
    assert not guard.command(NAMES, np.zeros(3), t - 0.02, t)
    assert guard.output(t).tau.tolist() == [1.0, 2.0, 3.0]


def test_the_first_reason_is_kept():
    guard = make()
    t = running(guard)
    guard.command(NAMES, np.full(3, np.nan), t, t)
    guard.command(NAMES[:1], np.ones(1), t, t)
    assert guard.output(t).status == "NOT_FINITE"


def test_commands_without_names_or_stamp_are_told_by_size_and_receipt_alone():
    guard = make()
    assert guard.command(None, np.ones(3), np.nan, 0.0)
    assert guard.output(0.0).status == "PASSING"
    assert guard.output(0.004).status == "HELD"
    assert guard.output(0.06).status == "STALE"


def test_whatever_comes_only_finite_torques_within_limits_leave():
    rng = np.random.default_rng(0)
    guard, t = make(rate=500.0), 0.0
    pool = (1.0, -1e300, 1e300, np.nan, np.inf, -np.inf, 0.0, 5e-324)
    seen = set()
    for _ in range(4000):
        t += float(rng.choice([DT, DT, 0.0, 0.07]))
        values = (
            rng.normal(0.0, 80.0, 3)
            if rng.random() < 0.9
            else rng.choice(pool, int(rng.integers(0, 6)))
        )
        names = NAMES if rng.random() < 0.95 else tuple(rng.permutation(NAMES))
        if rng.random() < 0.5:
            guard.output(t)
        guard.command(names, values, t + float(rng.choice([0.0, 0.0, 0.0, -0.5, 0.5])), t)
        out = guard.output(t)
        seen.add(out.status)
        assert np.isfinite(out.tau).all()
        assert np.all(np.abs(out.tau) <= LIMITS)
        if guard.fault and rng.random() < 0.5:
            guard.rearm(t)
    assert {
        "PASSING",
        "LIMITED",
        "NOT_FINITE",
        "WRONG_SIZE",
        "REORDERED",
        "STALE",
        "STAMP_IN_PAST",
        "STAMP_IN_FUTURE",
    } <= seen


def test_damping_takes_power_out_of_every_joint():
    safe = SafeTorques(NAMES, LIMITS, kind="damping", damping=0.02)
    v = np.array([1.0, -2.0, 0.5])
    safe.observe(NAMES, np.zeros(3), v)
    assert np.all(safe.torques(0.0) * v < 0.0)
    np.testing.assert_allclose(safe.torques(3.0), -0.02 * LIMITS * v)


def test_gravity_hold_holds_and_fades():
    robot = hd.load_robot("human28")
    limits = robot.limits.effort[robot.actuated_v]
    safe = SafeTorques(
        robot.actuated, limits, kind="gravity_hold", fade_out_duration=2.0, robot=robot
    )
    positions = np.array([robot.posture[robot.joint(name).q][0] for name in robot.actuated])
    safe.observe(robot.actuated, positions, np.zeros(len(positions)))
    still = hd.inverse_dynamics(robot, hd.State.at_rest(robot), np.zeros(robot.nv)).tau
    np.testing.assert_allclose(safe.torques(0.0), still, atol=1e-8)
    np.testing.assert_allclose(safe.torques(1.0), 0.5 * still, atol=1e-8)
    assert not safe.torques(2.0).any()


def test_states_that_are_no_numbers_change_nothing():
    safe = SafeTorques(NAMES, LIMITS, kind="damping")
    safe.observe(NAMES, np.zeros(3), np.ones(3))
    before = safe.torques(0.0)
    safe.observe(NAMES, np.zeros(3), np.full(3, np.nan))
    safe.observe(("hip",), np.zeros(0), np.zeros(0))
    np.testing.assert_array_equal(safe.torques(0.0), before)


@pytest.mark.parametrize(
    ("error", "make_one"),
    [
        (ShapeError, lambda: EffortGuard(("a", "a"), np.ones(2), SafeTorques(("a",), np.ones(1)))),
        (ShapeError, lambda: EffortGuard(NAMES, np.ones(2), SafeTorques(NAMES, LIMITS))),
        (ShapeError, lambda: GuardSettings(timeout=0.0)),
        (UnknownNameError, lambda: SafeTorques(NAMES, LIMITS, kind="hope")),
        (UnsupportedRobotError, lambda: SafeTorques(NAMES, LIMITS, kind="gravity_hold")),
        (UnknownNameError, lambda: make().stop("PASSING")),
    ],
)
def test_what_makes_no_sense_is_refused(error, make_one):
    with pytest.raises(error) as caught:
        make_one()
    assert isinstance(caught.value, HumanoidDynamicsError)


def test_statuses_have_meanings():
    assert all(status.description for status in GuardStatus)
