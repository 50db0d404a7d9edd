# SPDX-License-Identifier: Apache-2.0
"""The gait as a function of time: smooth, on the ground where it should be, and true to its parameters."""

import numpy as np
import pytest
from steps import R1, T0, T1, T2, other_gait

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.motion.walking.gait_r1 import GaitParameters, GaitR1
from humanoid_dynamics.papers.biped.body import build_body

GAITS = [R1, *(other_gait(seed) for seed in range(1, 6))]
FOOT = {"rear": (0, 1), "front": (2, 3)}


def corner(gait, t, foot, ahead):
    """Position, velocity and acceleration of a point of a sole, by the rigid foot."""
    pitch, ankle = (gait.points(t)[i] for i in FOOT[foot])
    c, s = np.cos(pitch.value), np.sin(pitch.value)
    arm = np.array([[c, -s], [s, c]]) @ np.array([ahead, -gait.parameters.body.ankle_height])
    across = np.array([-arm[1], arm[0]])
    velocity = ankle.rate + across * pitch.rate
    return (
        ankle.value + arm,
        velocity,
        ankle.acceleration + across * pitch.acceleration - arm * pitch.rate**2,
    )


@pytest.mark.parametrize("gait", GAITS)
def test_rates_are_derivatives(gait):
    """Central differences of fourth order, everywhere but within their reach of a switch, where the third derivative jumps."""
    h = 4e-4
    t0, t1, t2 = gait.switches
    for t in np.linspace(0.05, gait.parameters.times[3] - 0.01, 23):
        if min(abs(t - x) for x in (t0, t1, t2, t0 - 0.3, t2 + 0.3)) < 2.1 * h:
            continue
        motion = gait.at(t)
        around = {k: gait.at(t + k * h) for k in (-2, -1, 1, 2)}
        for value, rate in (("theta", "rate"), ("rate", "acceleration")):
            near, far = (getattr(around[k], value) - getattr(around[-k], value) for k in (1, 2))
            assert np.abs((8 * near - far) / (12 * h) - getattr(motion, rate)).max() < 3e-7


@pytest.mark.parametrize("gait", GAITS)
def test_twice_continuously_differentiable(gait):
    """Across every switch angles, rates and accelerations are continuous."""
    t0, t1, t2 = gait.switches
    for t in (t0 - 0.3, t0, t1, t2, t2 + 0.3):
        before, after = gait.at(t - 1e-9), gait.at(t + 1e-9)
        for name, bound in (("theta", 1e-8), ("rate", 1e-7), ("acceleration", 2e-5)):
            assert np.abs(getattr(after, name) - getattr(before, name)).max() < bound


@pytest.mark.parametrize("gait", GAITS)
def test_touch_down_and_lift_off_are_soft(gait):
    """The tip has neither speed nor acceleration where contact begins and ends: no impact, and no jump of the forces it needs."""
    body, (t0, _, t2) = gait.parameters.body, gait.switches
    for t, foot, ahead in ((t0, "front", -body.heel), (t2, "rear", body.toe)):
        position, velocity, acceleration = corner(gait, t, foot, ahead)
        assert abs(position[1]) < 1e-15
        assert np.abs(velocity).max() < 1e-14
        assert np.abs(acceleration).max() < 1e-12


@pytest.mark.parametrize("gait", GAITS)
def test_feet_on_the_ground(gait):
    """Rear foot flat until t1, its toe fixed until t2; front heel fixed from t0, flat from t1; nothing below the ground."""
    body, step, (t0, t1, t2) = gait.parameters.body, gait.parameters.step, gait.switches
    for t in np.linspace(0.0, gait.parameters.times[3], 77):
        motion = gait.at(t)
        if t <= t1:
            assert motion.theta[0] == 0.0
        if t <= t2:
            assert corner(gait, t, "rear", body.toe)[0] == pytest.approx([body.toe, 0.0], abs=1e-15)
        if t >= t0:
            assert corner(gait, t, "front", -body.heel)[0] == pytest.approx(
                [step - body.heel, 0.0], abs=1e-15
            )
        if t >= t1:
            assert motion.theta[6] == 0.0
        for foot in FOOT:
            for ahead in (-body.heel, body.toe):
                assert corner(gait, t, foot, ahead)[0][1] > -1e-15


@pytest.mark.parametrize("gait", GAITS)
def test_legs_reach_from_ankle_to_hip(gait):
    """Angles close both legs on the hip, knees bent forward."""
    body = gait.parameters.body
    for t in np.linspace(0.0, gait.parameters.times[3], 20):
        theta, points = gait.at(t).theta, gait.points(t)
        for ankle, shank, thigh in (
            (points[1].value, theta[1], theta[2]),
            (points[3].value, theta[5], theta[4]),
        ):
            reached = (
                ankle
                + body.shank * np.array([np.cos(shank), np.sin(shank)])
                + body.thigh * np.array([np.cos(thigh), np.sin(thigh)])
            )
            assert np.abs(reached - points[4].value).max() < 1e-14
            assert thigh > shank


def test_numbers_of_the_reference():
    body = R1.parameters.body
    assert (body.shank, body.thigh, body.trunk) == pytest.approx(
        (0.4182, 0.4165, 0.4896), abs=1e-15
    )
    assert (body.ankle_height, body.heel, body.toe) == pytest.approx(
        (0.0663, 0.0646, 0.1938), abs=1e-15
    )
    assert (body.m_foot, body.m_shank, body.m_thigh, body.m_trunk) == pytest.approx(
        (0.9425, 3.0225, 6.5, 44.07), abs=1e-14
    )
    assert body.mass == pytest.approx(65.0, abs=1e-13)
    assert R1.points(0.68)[4].value[1] == pytest.approx(0.81753, abs=1e-14)
    assert (T0, T1, T2, R1.parameters.times[3]) == (0.6, 0.76, 0.92, 1.52)


def test_it_is_one_step_and_not_a_period():
    first, last = R1.at(0.0), R1.at(1.52)
    assert R1.points(0.0)[4].rate[0] == pytest.approx(0.387, abs=5e-4)
    assert R1.points(1.52)[4].rate[0] == pytest.approx(-0.177, abs=5e-4)
    assert np.degrees(first.theta[6]) == pytest.approx(5.0)
    assert np.degrees(last.theta[0]) == pytest.approx(-6.0)
    assert first.rate[1] == pytest.approx(-0.614, abs=5e-4)
    assert last.rate[5] == pytest.approx(0.281, abs=5e-4)


def test_the_hip_follows_the_step():
    """Control values scale with the step unless they are given."""
    short = GaitR1(GaitParameters(step=0.28))
    assert short.points(0.5)[4].value[0] == pytest.approx(0.8 * R1.points(0.5)[4].value[0])
    given = GaitR1(GaitParameters(hip_x=np.linspace(0.0, 0.2, 9)))
    assert given.points(1.52)[4].value[0] == pytest.approx(0.2)


def test_what_is_refused():
    with pytest.raises(ShapeError, match=r"t: received 1\.6, expected a time from 0 to 1\.52 s"):
        R1.at(1.6)
    with pytest.raises(ShapeError, match="t: received nan"):
        R1.at(float("nan"))
    with pytest.raises(ShapeError, match="four positive times in order"):
        GaitParameters(times=(0.6, 0.5, 0.9, 1.5))
    with pytest.raises(ShapeError, match="at least 6 numbers"):
        GaitParameters(hip_x=np.zeros(4))
    with pytest.raises(ShapeError, match="less than the leg"):
        GaitR1(GaitParameters(body=build_body(height=1.2), hip_height=0.9)).at(0.0)


@pytest.mark.parametrize("value", [np.nan, np.inf, "much"])
@pytest.mark.parametrize("name", ["step", "lift", "heel_pitch", "toe_pitch", "trunk", "hip_height"])
def test_a_number_that_is_none_is_named(name, value):
    with pytest.raises(ShapeError, match=f"^{name}: "):
        GaitParameters(**{name: value})


@pytest.mark.parametrize(
    ("name", "value"), [("step", -0.3), ("step", 0.0), ("lift", -0.01), ("hip_height", 0.0)]
)
def test_a_length_that_makes_no_step_is_named(name, value):
    with pytest.raises(ShapeError, match=f"^{name}: received {value:g} m"):
        GaitParameters(**{name: value})
