# SPDX-License-Identifier: Apache-2.0
"""Motion in which no foot stands: told where it is replaced, made where it can be."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from independent_scorer import Moment, Scorer
from recordings import find_recording

import humanoid_dynamics as hd
from humanoid_dynamics.filtering import DynamicsFilter, Settings, filter_clip
from humanoid_dynamics.filtering.clip_filter import LADDER, Attempt
from humanoid_dynamics.filtering.conditioning.balance import BoundedShift
from humanoid_dynamics.filtering.conditioning.flights import lead, stretches
from humanoid_dynamics.filtering.conditioning.vertical import find_flights
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.load import load_clip

G, DT = 9.81, 0.005
FIRST = LADDER[:1]
STANDING = (Attempt("standing", flights=False),)


def hop(robot, seconds=0.3, speed=0.0):
    """A posture that leaves the ground as a stone does, without any preparation."""
    times = np.arange(0.0, 2.0, 0.02)
    q = np.tile(robot.posture, (len(times), 1))
    aloft = np.clip(times - 0.8, 0.0, seconds)
    q[:, 2] += 0.5 * G * aloft * (seconds - aloft)
    q[:, 0] += speed * aloft
    return Clip(robot, times, q)


def faults(robot, frames):
    soles = find_soles(robot)
    scorer = Scorer(
        robot,
        [s.frame for s in soles],
        [np.array(s.vertices) for s in soles],
        [s.friction for s in soles],
    )
    return scorer.score([Moment(f.q, f.v, f.vdot, f.tau, f.wrenches) for f in frames], DT)


def lowest_corner(robot, q):
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, q)
    return min(
        float(np.min((data.oMf[s.frame].act(c))[2]))
        for s in find_soles(robot)
        for c in np.asarray(s.vertices)
    )


@pytest.mark.parametrize("name", ["human28", "g1"])
def test_hop_is_flown_inside_all_limits(name):
    robot = hd.load_robot(name)
    found = filter_clip(robot, hop(robot), ladder=FIRST)
    verdict = found.report
    assert verdict.fell is None
    assert verdict.all_limits == 1.0
    assert verdict.flown >= 0.1
    assert verdict.flown + verdict.flight_replaced == pytest.approx(
        0.205, abs=0.02
    )  # faster than half of gravity, after smoothing
    assert faults(robot, found.frames)["any"] == 0.0
    flies = [frame for frame in found.frames if not any(frame.stands)]
    assert max(lowest_corner(robot, frame.q) for frame in flies) > 0.01
    data = robot.data()
    momenta = [
        np.array(pin.computeCentroidalMomentum(robot.model, data, f.q, f.v).vector) for f in flies
    ]
    steps = np.diff(momenta, axis=0) / DT
    weight = sum(inertia.mass for inertia in robot.model.inertias) * G
    np.testing.assert_allclose(
        steps[:, :3] / weight, np.tile((0.0, 0.0, -1.0), (len(steps), 1)), atol=0.1
    )  # nothing else acts
    np.testing.assert_allclose(
        momenta[-1][3:], momenta[0][3:], atol=0.05 * weight * DT * len(steps)
    )
    assert all(np.all(frame.wrenches == 0.0) for frame in flies)


def test_flight_that_is_not_made_is_told():
    """The filter does not fly, says for how long it should have, and what it does instead is possible."""
    robot = hd.load_robot("human28")
    found = filter_clip(robot, hop(robot), ladder=STANDING)
    assert found.report.fell is None
    assert not found.report.finished
    assert found.report.measures.flight == 0.0
    assert found.report.measures.flight_lost == pytest.approx(0.25, abs=0.08)
    assert "of its flight are lost" in found.report.notices[-1]
    assert all(frame.certificate.holds for frame in found.frames)
    assert all(any(frame.stands) for frame in found.frames)
    assert found.report.flight_replaced == pytest.approx(0.205, abs=0.02)
    assert found.report.flown == 0.0


def test_stream_flies_only_where_it_is_told_to():
    robot = hd.load_robot("human28")
    for flights in (False, True):
        flow, flown = DynamicsFilter(robot, settings=Settings(flights=flights)), 0
        clip = hop(robot)
        for time, q in zip(clip.times, clip.q, strict=True):
            flow.update(time, q)
        flow.finish()
        while flow.ready and (frame := flow.step()) is not None:
            flown += not any(frame.stands)
        assert (flown > 15) is flights


def test_failed_flight_is_done_again_on_the_ground():
    """Legs that cannot push so hard: the leap fails, and the same settings without it are tried next."""
    robot = hd.load_robot("human28")
    weak = replace(robot, limits=replace(robot.limits, effort=0.4 * robot.limits.effort))
    found = filter_clip(weak, hop(weak), ladder=FIRST)
    first, second = found.reports.values()
    assert first.flown
    assert not first.finished
    assert found.report is second
    assert (second.fell, second.flown, second.all_limits) == (None, 0.0, 1.0)
    assert not second.finished  # the flight is lost
    assert not second.first_attempt
    assert "flight" in second.notices[-1]


def test_recorded_jump():
    robot = hd.load_robot("human28")
    clip = load_clip(find_recording("deepmimic/humanoid3d_jump.txt"), robot)
    found = filter_clip(robot, clip, ladder=FIRST)
    assert found.report.fell is None
    assert found.report.all_limits == 1.0
    assert found.report.flown >= 0.1
    assert faults(robot, found.frames)["any"] == 0.0


def test_what_falls_freely_on_its_feet_does_not_fly():
    times = np.arange(0.0, 1.0, DT)
    fall = np.where(times > 0.4, np.clip(times - 0.4, 0.0, 0.2), 0.0)
    height = 1.0 - 0.5 * 7.0 * fall**2
    assert not find_flights(height, np.zeros(len(times)), DT, G).any()
    feet = np.where((times > 0.4) & (times < 0.6), 0.05 * np.sin(np.pi * (times - 0.4) / 0.2), 0.0)
    (flight,) = stretches(find_flights(height, feet, DT, G))
    np.testing.assert_allclose(np.array(flight) * DT, (0.4, 0.6), atol=2 * DT)


def test_height_is_led_into_flight_and_out_of_it_without_a_jump():
    height = np.full(300, 0.9)
    place, rate, second = lead(height, (100, 160, 200), 0.88, (DT, G))
    np.testing.assert_allclose(second[160:200], -G, atol=1e-9)
    assert place[160] == pytest.approx(0.88)
    np.testing.assert_allclose(np.diff(place) / DT, 0.5 * (rate[1:] + rate[:-1]), atol=0.02)
    np.testing.assert_allclose(np.diff(rate) / DT, 0.5 * (second[1:] + second[:-1]), atol=0.3)


def test_shift_under_constant_weight_is_the_bounded_one():
    w, rng = 3.3, np.random.default_rng(0)
    d = np.cumsum(rng.normal(size=(200, 2)), axis=0) * 1e-3
    plain, general = BoundedShift(w, DT), BoundedShift(w, DT)
    plain.x = general.x = np.array((0.01, -0.02))
    known = plain.advance(d, 8)
    found = general.leap(d, np.full(200, w * w), np.zeros((200, 2)), 8)
    np.testing.assert_allclose(found[0], known[0], atol=2e-4)
    np.testing.assert_allclose(found[1], known[1], atol=5e-3)


def test_shift_goes_straight_on_without_weight():
    shift = BoundedShift(3.3, DT)
    shift.x = np.array((0.01, 0.0))
    stiffness = np.full(200, 3.3**2)
    stiffness[20:60] = 0.0
    x, rate, second = shift.leap(np.full((200, 2), 0.03), stiffness, np.zeros((200, 2)), 100)
    np.testing.assert_allclose(second[20:60], 0.0, atol=1e-12)
    np.testing.assert_allclose(rate[22:58], np.tile(rate[30], (36, 1)), atol=1e-9)
    assert np.all(np.isfinite(x))
