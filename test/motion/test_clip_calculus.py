# SPDX-License-Identifier: Apache-2.0
"""Resampling, smoothing and differentiating keep the laws of the manifold."""

import numpy as np
import pinocchio as pin
import pytest
from clips import distance, smooth_clip, smooth_motion

import humanoid_dynamics as hd
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.derivatives import differentiate
from humanoid_dynamics.motion.editing import move_clip
from humanoid_dynamics.motion.resampling import (
    align_signs,
    resample,
    resample_at,
    sample_configurations,
)
from humanoid_dynamics.motion.smoothing import gaussian_deviation, smooth, smooth_table

SPINNER = """<robot name="spinner"><link name="world"/><link name="body"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0"
iyy="1" iyz="0" izz="1"/></inertial></link><joint name="spin" type="continuous"><axis xyz="0 0 1"/><parent link="world"/>
<child link="body"/></joint></robot>"""
ROBOTS = {
    "human28": hd.load_robot("human28"),
    "human40": hd.load_robot("human40"),
    "spinner": hd.load_robot(SPINNER),
}
ROBOTS["biped7"] = hd.load_robot("biped7")
MOVES = pin.SE3(pin.utils.rotate("z", 1.1), np.array([2.0, -3.0, 0.0]))


@pytest.fixture(params=ROBOTS)
def robot(request):
    return ROBOTS[request.param]


@pytest.mark.parametrize("kind", ["cubic", "geodesic"])
def test_resampling_at_its_own_instants_changes_nothing(robot, kind):
    clip = smooth_clip(robot, contacts={})
    assert distance(robot, resample_at(clip, clip.times, kind).q, clip.q) < 1e-12


@pytest.mark.parametrize(("kind", "order", "worst"), [("cubic", 4, 3e-6), ("geodesic", 2, 1e-3)])
def test_resampling_converges_with_its_order(robot, kind, order, worst):
    errors = []
    for rate in (25.0, 50.0):
        clip = smooth_clip(robot, n=int(2 * rate) + 1, rate=rate)
        finer = resample(clip, 4 * rate, kind)
        inner = slice(len(finer) // 4, -len(finer) // 4)
        errors.append(distance(robot, finer.q[inner], smooth_motion(robot, finer.times[inner])[0]))
    assert errors[1] < worst
    assert errors[1] < errors[0] / 2 ** (order - 0.5) or errors[1] < 1e-12


@pytest.mark.parametrize("seconds", [2.0, 100.0])
def test_a_hole_is_crossed_straight_and_changes_nothing_beside_it(robot, seconds):
    """A spline would swing out, the farther the longer the hole."""
    whole = smooth_clip(robot, n=21, rate=20.0)
    late = np.where(np.arange(21) > 9, whole.times + seconds, whole.times)
    clip = whole.change(times=late, v=None, a=None)
    middle = 0.5 * (late[9] + late[10])
    found = resample_at(clip, [late[5] + 0.02, middle, late[15] + 0.02]).q
    assert (
        distance(robot, found[1:2], sample_configurations(clip, np.array([middle]), "geodesic"))
        < 1e-3
    )
    for row, alone in ((0, slice(0, 10)), (2, slice(10, 21))):
        part = Clip(robot, late[alone], clip.q[alone])
        near = np.array([late[5 * row + 5] + 0.02])
        assert distance(robot, found[row : row + 1], sample_configurations(part, near)) < 1e-12


def test_geodesic_meets_pin_interpolate(robot):
    clip = smooth_clip(robot, n=4, rate=10.0)
    between = resample_at(clip, [0.0, 0.13, 0.3], "geodesic").q[1]
    assert (
        distance(robot, [between], [pin.interpolate(robot.model, clip.q[1], clip.q[2], 0.3)])
        < 1e-12
    )


@pytest.mark.parametrize("kind", ["cubic", "geodesic"])
def test_resampling_and_smoothing_do_not_depend_on_the_world_frame(kind):
    robot = ROBOTS["human40"]
    clip = smooth_clip(robot)
    for change in (lambda c: resample(c, 77.0, kind), lambda c: smooth(c, 5.0), differentiate):
        here, there = move_clip(change(clip), MOVES), change(move_clip(clip, MOVES))
        assert distance(robot, here.q, there.q) < 1e-12
    np.testing.assert_allclose(
        differentiate(clip).a, differentiate(move_clip(clip, MOVES)).a, atol=1e-9
    )


def test_sign_of_a_quaternion_means_nothing():
    robot = ROBOTS["human40"]
    clip = smooth_clip(robot)
    q = clip.q.copy()
    q[10:40:3, 3:7] *= -1.0
    q[5:, robot.joint("left_hip").q] *= -1.0
    flipped = clip.change(q=q)
    assert distance(robot, resample(flipped, 130.0).q, resample(clip, 130.0).q) < 1e-12
    np.testing.assert_allclose(align_signs(robot, q), clip.q, atol=0.0)


def test_instants_beyond_the_clip_and_senseless_rates_are_refused():
    clip = smooth_clip(ROBOTS["human28"], n=10)
    with pytest.raises(
        hd.ClipError, match=r"received 0 s to 1 s, expected times within 0 s to 0.18 s"
    ):
        resample_at(clip, [0.0, 0.1, 1.0])
    for rate in (0.0, -5.0, np.nan, np.inf):
        with pytest.raises(hd.ClipError, match="expected a positive number"):
            resample(clip, rate)
    with pytest.raises(hd.UnknownNameError, match="cubic, geodesic"):
        resample(clip, 10.0, "nearest")


def test_half_a_turn_between_two_rows_is_refused():
    robot = ROBOTS["spinner"]
    q = np.array([[1.0, 0.0], [-1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    with pytest.raises(
        hd.ClipError, match=r"row 1, column 'spin\.cos': rotates by nearly half a turn"
    ):
        resample_at(Clip(robot, np.arange(4.0), q), [0.0, 0.5, 2.5, 3.0])


def test_velocities_and_labels_are_resampled_too():
    robot = ROBOTS["human28"]
    clip = smooth_clip(robot, rates=True, contacts={"left_foot": np.arange(101) < 50})
    finer = resample(clip, 200.0)
    _, v, a = smooth_motion(robot, finer.times)
    np.testing.assert_allclose(finer.v, v, atol=1e-6)
    np.testing.assert_allclose(finer.a, a, atol=1e-5)
    np.testing.assert_array_equal(finer.contacts["left_foot"], finer.times < 1.0 - 1e-6)


def test_derivatives_converge_with_the_square_of_the_step(robot):
    errors = []
    for rate in (50.0, 100.0):
        clip = differentiate(smooth_clip(robot, n=int(2 * rate) + 1, rate=rate))
        _, v, a = smooth_motion(robot, clip.times)
        errors.append((np.abs(clip.v - v).max(), np.abs(clip.a - a)[1:-1].max()))
    (v_coarse, a_coarse), (v_fine, a_fine) = errors
    assert v_fine < v_coarse / 3.0
    assert a_fine < a_coarse / 3.8


def test_derivatives_at_uneven_instants_are_exact_for_a_parabola():
    robot = ROBOTS["human28"]
    times = np.array([0.0, 0.1, 0.15, 0.4, 0.41, 0.7])
    d = np.random.default_rng(3).normal(size=robot.nv)
    d[3:6] = (
        0.0  # along one tangent direction with a fixed axis the parabola is one on the manifold
    )
    d[:3] = 0.0
    q = np.array([pin.integrate(robot.model, robot.posture, (t + 3.0 * t * t) * d) for t in times])
    clip = differentiate(Clip(robot, times, q))
    np.testing.assert_allclose(clip.v, (1.0 + 6.0 * times)[:, None] * d, atol=1e-10)
    np.testing.assert_allclose(clip.a, np.tile(6.0 * d, (6, 1)), atol=1e-8)


@pytest.mark.parametrize("kind", ["gaussian", "butterworth"])
@pytest.mark.parametrize("cutoff", [4.0, 10.0])
def test_gain_at_the_stated_cut_off_is_half_the_power_and_nothing_is_delayed(kind, cutoff):
    rate = 500.0
    times = np.arange(4000) / rate
    for phase in (0.0, 1.0):
        wave = np.sin(2.0 * np.pi * cutoff * times + phase)[:, None]
        inner = slice(1000, 3000)
        np.testing.assert_allclose(
            smooth_table(wave, rate, cutoff, kind)[inner], wave[inner] / np.sqrt(2.0), atol=2e-3
        )


def test_smoothing_keeps_a_straight_line_and_lowers_noise():
    table = np.outer(np.arange(200.0), [1.0, -2.0])
    for kind in ("gaussian", "butterworth"):
        np.testing.assert_allclose(smooth_table(table, 100.0, 5.0, kind), table, atol=1e-6)
    noise = np.random.default_rng(1).normal(size=(500, 1))
    assert smooth_table(noise, 200.0, 5.0).std() < 0.3
    assert gaussian_deviation(4.417) == pytest.approx(0.030, rel=1e-3)


def test_smoothing_refuses_uneven_steps_and_senseless_frequencies():
    clip = smooth_clip(ROBOTS["human28"], n=20)
    with pytest.raises(hd.ClipError, match="less than half the rate of 50 Hz"):
        smooth(clip, 25.0)
    with pytest.raises(
        hd.ClipError,
        match=r"received a cut-off of 1e-09 Hz, expected 0\.0005 Hz or more and less than half",
    ):
        smooth(clip, 1e-9, "butterworth")
    with pytest.raises(hd.ClipError, match="uneven"):
        smooth(clip.change(times=clip.times + 0.3 * clip.times**2), 5.0)
    with pytest.raises(hd.UnknownNameError, match="gaussian, butterworth"):
        smooth(clip, 5.0, "median")
