# SPDX-License-Identifier: Apache-2.0
"""Stamps that jump, and what is no sample or state at all: always a status, soon a motion again, never a wait."""

from time import perf_counter

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.filtering import DynamicsFilter, Teleoperation
from humanoid_dynamics.filtering.conditioning.intake import InputStage
from humanoid_dynamics.filtering.conditioning.sample_clock import (
    ACCEPTED,
    AHEAD,
    FEWEST,
    SETTLED,
    SampleClock,
    SampleStatus,
)

RATE = 30.0  # Hz
DT = 0.005  # s
BROKEN = 40  # the sample at which stamps go wrong
SAMPLES = 80
CLOCKS = {
    "one in the future": lambda k: k / RATE + 5.0 * (k == BROKEN),
    "earlier for good": lambda k: k / RATE - 10.0 * (k >= BROKEN),
    "an hour later for good": lambda k: k / RATE + 3600.0 * (k >= BROKEN),
    "zero, then the epoch": lambda k: k / RATE + 1.7e9 * (k >= BROKEN),
    "nanoseconds once": lambda k: k / RATE * (1e9 if k == BROKEN else 1.0),
    "the first one in the future": lambda k: k / RATE + 1e6 * (k == 0),
}


@pytest.fixture(scope="module")
def robot():
    return hd.load_robot("human28")


@pytest.fixture(scope="module")
def flow(robot):
    return DynamicsFilter(robot, lookahead=0.3)


@pytest.fixture(scope="module")
def tele(robot):
    return Teleoperation(robot, ("right_hand",), rate=100.0)


@pytest.mark.parametrize("name", CLOCKS)
def test_time_goes_on_whatever_the_clock_of_the_sender_does(flow, robot, name):
    flow.restart()
    frames, said, longest = [], [], 0.0
    for k in range(SAMPLES):
        began = perf_counter()
        said.append(flow.update(CLOCKS[name](k), robot.posture))
        longest = max(longest, perf_counter() - began)
        while flow.ready and (frame := flow.step()) is not None:
            frames.append(frame)
    times = np.array([frame.time for frame in frames])
    assert times[-1] - times[0] > SAMPLES / RATE - flow.delay_at(RATE) - 2.0 / RATE
    assert len(frames) < SAMPLES / RATE / flow.settings.dt
    assert sum(word not in ACCEPTED for word in said) <= SETTLED * RATE + 2
    assert said.count("CLOCK_RESYNC") == (name not in {"one in the future", "nanoseconds once"})
    assert {"STAMP_IN_PAST", "STAMP_IN_FUTURE"} & set(said)
    assert longest < 1.0


def test_clock_changes_only_after_a_run_of_stamps_that_agree():
    clock = SampleClock()
    assert clock.read(0.0) == 0.0
    for k in range(1, 100):  # a second sender in between is never believed
        assert clock.read(0.02 * k) == pytest.approx(0.02 * k)
        assert clock.read(0.02 * k - 10.0) == "STAMP_IN_PAST"
    assert [clock.read(50.0 - 0.02 * k) for k in range(30)] == [
        "STAMP_IN_FUTURE"
    ] * 30  # nor is a clock that runs back
    read = [clock.read(100.0 + 0.1 * k) for k in range(4)]
    assert read[: FEWEST - 1] == ["STAMP_IN_FUTURE"] * (FEWEST - 1)
    assert clock.read(100.4) - read[-1] == pytest.approx(0.1)
    assert read[-1] < 1.98 + 0.5


def test_silence_inside_the_bound_is_no_change_of_the_clock():
    clock = SampleClock()
    assert [clock.read(t) for t in (0.0, 0.1, 0.1 + AHEAD)] == [0.0, 0.1, 0.1 + AHEAD]


@pytest.mark.parametrize(
    ("value", "said"),
    [([1.0, 0.0, 0.0, 0.0], "LEANING"), (np.nan, "NOT_FINITE"), (1e12, "OUT_OF_RANGE")],
)
def test_time_does_not_wait_for_samples_that_were_refused(robot, value, said):
    intake, bad = InputStage(robot), np.array(robot.posture)
    bad[3:7] = value
    assert intake.take(0.0, robot.posture) == "OK"
    assert {intake.take(k, bad) for k in range(1, 100)} == {said}
    assert intake.take(100.0, robot.posture) == "CLOCK_RESYNC"
    assert intake.time == pytest.approx(AHEAD)


def follow(flow, robot, seconds, sample_at):
    """Run a filter as a robot does, a tick every 5 ms whatever comes; return answers and statuses from the first frame on."""
    flow.restart()
    frames, said, sent = [], [], 0
    for tick in range(round(seconds / DT)):
        while sent / RATE <= tick * DT:
            sample = sample_at(sent / RATE)
            if sample is not None:
                flow.update(sent / RATE, sample)
            sent += 1
        frame = flow.step()
        if frames or frame is not None:
            frames.append(frame)
            said.append((flow.status, flow.reason))
    return frames, said


@pytest.mark.parametrize("silent", [True, False])
def test_every_tick_has_a_command_and_a_reason_while_nothing_comes_that_can_be_taken(
    flow, robot, silent
):
    nothing = None if silent else np.full(robot.nq, np.nan)
    swaying, arm = (
        np.array(robot.posture),
        next(joint.q.start for joint in robot.joints if "left_shoulder" in joint.name),
    )

    def sample_at(t):
        swaying[arm] = robot.posture[arm] + 0.2 * np.sin(3.0 * t)
        return nothing if 1.0 < t < 4.0 else swaying

    frames, said = follow(flow, robot, 6.0, sample_at)
    assert len(frames) * DT > 5.0
    assert all(frame is not None and frame.certificate.holds for frame in frames)
    words = [word for word, _ in said]
    assert words[0] == words[-1] == "OK"
    quiet = [reason for word, reason in said if word == "INPUT_TIMEOUT"]
    assert 2.5 < len(quiet) * DT < 3.1
    assert "has stood still for 2.5" in quiet[-60]
    assert (SampleStatus.NOT_FINITE.description in quiet[-60]) is not silent
    held = frames[round(2.8 / DT)]
    assert np.abs(held.v).max() < 0.02
    last = frames[-1]
    assert abs(last.q[arm] - robot.posture[arm] - 0.2 * np.sin(3.0 * last.reference)) < 0.02


def test_late_samples_take_from_the_look_ahead_and_are_not_lost(flow, robot):
    """Where samples come up to 60 ms late nothing stands still, and none of them is refused."""
    flow.restart()
    rng, arrivals = np.random.default_rng(0), []
    for k in range(90):
        arrivals.append(
            (
                max(k / RATE + float(rng.uniform(0.0, 0.06)), arrivals[-1][0] if arrivals else 0.0),
                k / RATE,
            )
        )
    frames, said = [], set()
    for tick in range(round(3.0 / DT)):
        while arrivals and arrivals[0][0] <= tick * DT:
            said.add(flow.update(arrivals.pop(0)[1], robot.posture))
        frame = flow.step()
        if frame is not None:
            frames.append(frame)
            assert flow.status == "OK"
    assert said == {"OK"}
    np.testing.assert_allclose(np.diff([frame.time for frame in frames]), DT)


def test_what_is_awaited_before_the_first_frame_is_told(flow, robot):
    flow.restart()
    told = []
    for sample in (None, np.full(robot.nq, np.nan), robot.posture):
        if sample is not None:
            flow.update(len(told) / RATE, sample)
        assert flow.step() is None
        assert flow.status == "WAITING"
        told.append(flow.reason)
    assert told[0] == "no sample has come"
    assert SampleStatus.NOT_FINITE.description in told[1]
    assert "of look-ahead" in told[2]
    flow.finish()
    while flow.ready:
        assert flow.step() is not None
    assert flow.step() is None
    assert flow.status == "ENDED"


def test_holding_makes_a_frame_ready(flow, robot):
    flow.restart()
    for k in range(30):
        flow.update(k / RATE, robot.posture)
    while flow.ready:
        flow.step()
    flow.hold()
    assert flow.ready
    assert flow.step() is not None
    assert flow.status == "INPUT_TIMEOUT"
    assert [flow.update(k / RATE, robot.posture) for k in range(31, 60)][-1] == "OK"


@pytest.mark.parametrize("duration", [np.nan, None, -1.0, 1e9])
def test_holding_for_no_time_or_for_ever_takes_no_time(flow, robot, duration):
    flow.restart()
    flow.update(0.0, robot.posture)
    began = perf_counter()
    flow.hold(duration)
    assert perf_counter() - began < 1.0


@pytest.mark.parametrize(
    "sample", [None, "abc", [1.0, [2.0]], 3, np.zeros(3), [object()], [10**400]]
)
def test_what_is_no_configuration_is_told(flow, sample):
    assert flow.update(0.0, sample) == "WRONG_SHAPE"


@pytest.mark.parametrize("time", [None, "soon", np.nan, [1.0, 2.0], 10**400])
def test_what_is_no_time_is_told(flow, robot, time):
    assert flow.update(time, robot.posture) == "NOT_FINITE"


def bad_states(robot):
    q, v = np.array(robot.posture), np.zeros(robot.nv)
    untwisted = np.array(q)
    untwisted[3:7] = 0.0
    return [
        ("a", "b"),
        (q,),
        3,
        (q, v, v),
        (None, v),
        (q, "abc"),
        (q[:-1], v),
        (untwisted, v),
        (q, np.full(robot.nv, np.nan)),
    ]


def test_what_is_no_state_is_told_by_the_filter(flow, robot):
    flow.restart()
    for k in range(40):
        flow.update(k / RATE, robot.posture)
    for k, measured in enumerate(bad_states(robot)):
        before = np.array(flow.q)
        frame = flow.step(measured)
        assert flow.status == ("STATE_WRONG_SHAPE" if k < 7 else "STATE_NOT_FINITE")
        assert frame.certificate.holds
        if flow.q is not frame.q:
            np.testing.assert_allclose(frame.q, before, atol=0.1)


def test_what_is_no_state_or_time_is_told_by_teleoperation(tele, robot):
    tele.restart()
    for k, measured in enumerate(bad_states(robot)):
        wanted = "STATE_WRONG_SHAPE" if k < 7 else "STATE_NOT_FINITE"
        assert tele.step(0.0, measured).status == wanted
    assert tele.update("right_hand", None, tele.pose("right_hand"), 0.0) == "NOT_FINITE"
    assert tele.update("right_hand", 1.0, "abc", None) == "NOT_A_POSE"
    assert tele.step(None).status == "OK"


def test_measured_state_that_is_nearly_of_unit_length_is_scaled(flow, robot):
    flow.restart()
    for k in range(40):
        flow.update(k / RATE, robot.posture)
    rounded = np.array(flow.step().q)
    rounded[3:7] *= 1.001
    frame = flow.step((rounded, np.zeros(robot.nv)))
    assert flow.status == "OK"
    assert np.linalg.norm(frame.q[3:7]) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("mode", ["balanced", "paper"])
def test_frame_that_breaks_a_limit_is_not_ok(robot, mode):
    flow = DynamicsFilter(robot, mode, lookahead=0.3)
    for k in range(40):
        flow.update(k / RATE, robot.posture)
    joint, beyond = robot.joints[-1].q.start, np.array(flow.step().q)
    assert flow.status == "OK"
    beyond[joint] = robot.limits.upper[joint] + 0.5
    frame = flow.step((beyond, np.zeros(robot.nv)))
    assert not frame.certificate.holds
    assert flow.status in {"LIMIT_VIOLATED", "RELAXED"}


@pytest.mark.parametrize("lookahead", [0.02, 0.1, 0.3, 0.8])
def test_delay_that_is_told_is_the_largest_that_is_measured(robot, lookahead):
    flow, largest = DynamicsFilter(robot, lookahead=lookahead), {}
    for rate in (200.0, 37.0, 30.0):
        flow.restart()
        delays = []
        for k in range(int(2.0 * rate)):
            flow.update(k / rate, robot.posture)
            while flow.ready and (frame := flow.step()) is not None:
                delays.append(k / rate - frame.time)
        largest[rate] = max(delays)
        assert largest[rate] <= flow.delay_at(rate) + 1e-9
        assert largest[rate] > flow.delay_at(rate) - 1.1 / rate - 1e-9
    assert largest[200.0] <= flow.delay
