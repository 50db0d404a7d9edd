# SPDX-License-Identifier: Apache-2.0
"""The delay of a stream stays what it was: what piled up is caught up with, who sends too slowly is waited for, clips see nothing."""

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.filtering import DynamicsFilter
from humanoid_dynamics.filtering.conditioning.pace import MOST, RateAdapter
from humanoid_dynamics.filtering.conditioning.sample_clock import SampleClock
from humanoid_dynamics.filtering.settings import Settings

RATE = 60.0  # Hz
DT = 0.005  # s
AHEAD = 160  # rows that are needed
SPARE = 40


@pytest.fixture(scope="module")
def robot():
    return hd.load_robot("human28")


def excesses(stamp_at, seconds, backlog=0.0):
    """Return how much more than needed is known at every tick of a stream that begins with a backlog [s], and all shares."""
    pace, clock, sent, shares, found = RateAdapter(Settings(), SPARE), SampleClock(), 0, [], []
    clock.read(0.0)
    for tick in range(round(seconds / DT)):
        while sent / RATE <= tick * DT:
            sent += 1
            clock.read(stamp_at(sent / RATE), pace.share)
            shares.append(clock.share)
        found.append(clock.newest + backlog - tick * DT)
        pace.see(int(found[-1] / DT))
    return np.array(found), np.array(shares)


def test_backlog_is_caught_up_with_by_a_motion_a_tenth_faster_at_most():
    found, shares = excesses(lambda t: t, 12.0, backlog=0.8)
    assert found[-1] < 0.1
    assert found.min() >= 0.0
    assert max(shares) == pytest.approx(MOST / (1.0 + MOST))
    assert np.abs(np.diff(shares)).max() <= 0.2 / RATE + 1e-9  # bit by bit
    assert 0.0 <= shares[-1] < 0.03


@pytest.mark.parametrize("drift", [0.02, 0.05, -0.02, -0.05])
def test_clock_that_runs_at_another_speed_costs_little_for_good(drift):
    found, shares = excesses(lambda t: (1.0 + drift) * t, 30.0)
    assert np.abs(found).max() < 0.16
    assert np.abs(found[-200:]).max() < 0.15
    assert shares[-1] == pytest.approx(drift / (1.0 + drift), abs=2e-3)


def test_samples_in_order_are_read_as_they_are():
    found, shares = excesses(lambda t: t, 3.0, backlog=0.02)
    assert not shares.any()
    assert found.max() < 0.04


def ticked(flow, robot, seconds, arrivals):
    """Run a filter with a tick every 5 ms, samples (arrival, stamp) as they come; return lags, statuses, and what became of samples."""
    flow.restart()
    arrivals, lags, said, became, last = list(arrivals), [], [], [], None
    for tick in range(round(seconds / DT)):
        while arrivals and arrivals[0][0] <= tick * DT + 1e-9:
            became.append(flow.update(arrivals.pop(0)[1], robot.posture))
        frame = flow.step()
        if frame is not None:
            assert (
                last is None or np.abs(frame.v - last.v - DT * last.vdot).max() < 1e-9
            )  # no velocity jumps
            lags.append(flow.lag)
            said.append(flow.status)
            last = frame
    return np.array(lags), said, became


@pytest.mark.parametrize("drift", [0.06, -0.06])
def test_filter_keeps_its_delay_whatever_the_speed_of_the_clock(robot, drift):
    flow = DynamicsFilter(robot)
    lags, said, became = ticked(
        flow, robot, 5.0, [(k / RATE, (1.0 + drift) * k / RATE) for k in range(300)]
    )
    assert np.abs(lags - lags[0]).max() < 0.18
    assert set(said) == set(became) == {"OK"}
    assert (flow.pace - 1.0) * drift > 0.0


@pytest.mark.slow
@pytest.mark.parametrize("drift", [0.02, -0.02])
def test_clock_off_by_two_parts_in_a_hundred_for_40_seconds(robot, drift):
    lags, said, became = ticked(
        DynamicsFilter(robot),
        robot,
        40.0,
        [(k / RATE, (1.0 + drift) * k / RATE) for k in range(2400)],
    )
    assert np.abs(lags - lags[0]).max() < 0.15
    assert set(said) == set(became) == {"OK"}


@pytest.mark.slow
def test_link_that_stalls_for_a_second_costs_no_delay_for_good(robot):
    lags, _, _ = ticked(
        DynamicsFilter(robot),
        robot,
        16.0,
        [(6.0 if 5.0 < k / RATE < 6.0 else k / RATE, k / RATE) for k in range(960)],
    )
    assert lags.max() > lags[0] + 0.5
    assert abs(lags[-1] - lags[0]) < 0.1


def test_who_takes_all_there_is_sees_no_change(robot):
    motions = []
    for paced in (True, False):
        flow, found, q = (
            DynamicsFilter(robot, settings=Settings(paced=paced, lookahead=0.3)),
            [],
            np.array(robot.posture),
        )
        for k in range(120):
            q[-1] = robot.posture[-1] + 0.2 * np.sin(k / 10)
            flow.update(k / 50, q)
            while k % 40 == 39 and flow.ready:
                found.append(flow.step().q)
        motions.append(np.array(found))
        assert flow.pace == 1.0
    assert len(motions[0]) > 350
    np.testing.assert_array_equal(*motions)


def test_reference_of_a_frame_is_told_by_the_stamps_whatever_the_pace(robot):
    flow, sent, frame = DynamicsFilter(robot), 0, None
    for tick in range(round(5.0 / DT)):
        while sent / RATE <= tick * DT:
            q = np.array(robot.posture)
            q[-1] += 0.1 * 1.08 * sent / RATE
            flow.update(1.08 * sent / RATE, q)
            sent += 1
        frame = flow.step()
    assert frame.reference > frame.time + 0.05
    assert frame.target.q[-1] - robot.posture[-1] == pytest.approx(0.1 * frame.reference, abs=1e-3)


def test_backlog_of_any_length_is_read_as_it_came(robot):
    motions = []
    for seconds in (3.0, 10.0):
        flow = DynamicsFilter(robot, settings=Settings(rate=500.0, lookahead=0.3))
        for k in range(round(50 * seconds)):
            q = np.array(robot.posture)
            q[-1] += 0.2 * np.sin(k / 10)
            flow.update(k / 50, q)
        motions.append([flow.step().target.q for _ in range(100)])
    np.testing.assert_array_equal(*motions)


def heap(clock, waited):
    """Let a clock wait, then read what was sent meanwhile all at once; return what becomes of it."""
    for k in range(50):
        clock.read(0.02 * k)
    clock.wait_until(clock.newest + waited, missed=True)
    return [clock.read(0.02 * k) for k in range(50, 50 + round(waited / 0.02))]


def test_heap_of_what_is_long_past_is_left_out_to_its_last_second():
    assert heap(SampleClock(), 0.8).count("STAMP_IN_PAST") < 0.2 * 50
    clock = SampleClock()
    read = heap(clock, 4.0)
    taken = [time for time in read if not isinstance(time, str)]
    assert 0.7 < len(taken) * 0.02 <= 1.0
    assert taken == sorted(taken)
    assert taken[-1] - clock.stamp < 1.0 + 0.03


def test_link_that_is_late_for_good_is_followed():
    clock, read = SampleClock(), []
    for k in range(50):
        clock.read(0.02 * k)
    clock.wait_until(clock.newest + 3.0, missed=True)
    for k in range(50, 100):
        clock.pass_by(0.02)
        read.append(clock.read(0.02 * k))
    assert read.count("STAMP_IN_PAST") < 12
