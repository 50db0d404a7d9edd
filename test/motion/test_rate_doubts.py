# SPDX-License-Identifier: Apache-2.0
"""Rates that contradict a motion are told, with what they look like; noise and rounding are not."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.measured.rate_doubts import find_rate_doubts

ROBOT = hd.load_robot("legs12")


def move(rate=100.0, seconds=1.5):
    """A turned base that sways while joints swing: q, v and a agree."""
    rng, times = np.random.default_rng(3), np.arange(0.0, seconds, 1.0 / rate)
    start = np.array(ROBOT.posture)
    start[3:7] = pin.Quaternion(pin.rpy.rpyToMatrix(0.1, 0.3, 1.2)).coeffs()
    size, pace = rng.uniform(0.1, 0.3, ROBOT.nv), rng.uniform(4.0, 9.0, ROBOT.nv)
    v = size * pace * np.cos(np.outer(times, pace))
    a = -size * pace**2 * np.sin(np.outer(times, pace))
    q, h = [start], 1.0 / rate
    for t in times[:-1]:  # v in the middle of a step, so that the step is right to its third power
        q.append(pin.integrate(ROBOT.model, q[-1], h * size * pace * np.cos((t + 0.5 * h) * pace)))
    return Clip(ROBOT, times, np.array(q), v, a)


def doubts(clip, **changes):
    given = clip.change(**changes)
    return find_rate_doubts(given, given)


def in_world(clip, rates):
    R = np.array([pin.Quaternion(q[3:7]).toRotationMatrix() for q in clip.q])
    turned = np.array(rates)
    for part in (slice(0, 3), slice(3, 6)):
        turned[:, part] = np.einsum("nij,nj->ni", R, rates[:, part])
    return turned


@pytest.mark.parametrize("rate", [30.0, 100.0, 1000.0])
def test_rates_that_belong_to_the_motion_are_not_doubted(rate):
    clip = move(rate)
    assert doubts(clip) == ()
    still = np.zeros((len(clip), ROBOT.nv))
    assert doubts(clip, q=np.tile(clip.q[0], (len(clip), 1)), v=still, a=still) == ()


@pytest.mark.parametrize("rate", [60.0, 1000.0])
def test_noise_is_not_doubted(rate):
    clip, rng = move(rate), np.random.default_rng(5)
    q = np.array(
        [pin.integrate(ROBOT.model, row, rng.normal(scale=2e-3, size=ROBOT.nv)) for row in clip.q]
    )
    v = clip.v + rng.normal(scale=0.1, size=clip.v.shape)
    noise = rng.normal(size=clip.a.shape)
    assert doubts(clip, q=q, v=v, a=clip.a + noise) == ()
    still = np.tile(clip.q[0], (len(clip), 1))
    assert doubts(clip, q=still, v=0.2 * noise, a=None) == ()
    assert doubts(clip, q=still, v=np.zeros_like(noise), a=3.0 * noise) == ()


def test_one_column_of_another_size_is_named():
    clip = move()
    v = np.array(clip.v)
    v[:, 9] *= -1.0
    (told,) = doubts(clip, v=v)
    assert told.startswith(
        f"velocities contradict configurations: {ROBOT.coordinates[9]} is wrong by "
    )
    assert "too" not in told
    a = np.array(clip.a)
    a[:, 9] *= 3.0
    (told,) = doubts(clip, a=a)
    assert told.startswith(
        f"accelerations contradict velocities: {ROBOT.coordinates[9]} is wrong by "
    )


def test_velocities_of_zero():
    clip = move()
    (told,) = doubts(clip, v=np.zeros_like(clip.v))
    assert "17 more columns are wrong too" in told
    assert "rms where these make" in told


def test_degrees():
    clip = move()
    v, a = np.array(clip.v), np.array(clip.a)
    v[:, 6:], a[:, 6:] = np.rad2deg(v[:, 6:]), np.rad2deg(a[:, 6:])
    told = doubts(clip, v=v, a=a)
    assert len(told) == 2
    assert all(
        "they are 57.3 times as large, as in degrees; expected radians" in text for text in told
    )


def test_a_base_in_axes_of_the_world():
    clip = move()
    (told,) = doubts(clip, v=in_world(clip, clip.v))
    assert told.endswith(
        "; base_vx .. base_vz and base_wx .. base_wz are in axes of the world; expected axes of the base"
    )
    mixed = in_world(clip, clip.v)
    mixed[:, 3:6] = clip.v[:, 3:6]
    (told,) = doubts(clip, v=mixed)
    assert told.endswith("; base_vx .. base_vz are in axes of the world; expected axes of the base")


def test_few_frames_say_nothing():
    clip = move()
    few = Clip(ROBOT, clip.times[:5], clip.q[:5], np.zeros((5, ROBOT.nv)), clip.a[:5])
    assert find_rate_doubts(few, few) == ()
