# SPDX-License-Identifier: Apache-2.0
"""Splines near samples with noise: rates of known motions, the same in every world, whatever the noise is like."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.motion.fitted_rates import LEAST, fit_configurations, fit_velocities

ROBOT = hd.load_robot("legs12")
BALLS = hd.load_robot("human16")


def swaying(robot, times, seed=0):
    """A motion along one way in the tangent space of the resting posture, with its velocities and accelerations."""
    rng = np.random.default_rng(seed)
    d, w = 0.3 * rng.standard_normal(robot.nv), rng.uniform(4.0, 9.0)
    s, ds, dds = np.sin(w * times), w * np.cos(w * times), -(w**2) * np.sin(w * times)
    start = pin.integrate(robot.model, robot.posture, 0.5 * rng.standard_normal(robot.nv))
    q = np.array([pin.integrate(robot.model, start, x * d) for x in s])
    return q, ds[:, None] * d, dds[:, None] * d


def shake(robot, q, noise, seed=1):
    rng = np.random.default_rng(seed)
    return np.array(
        [pin.integrate(robot.model, row, noise * rng.standard_normal(robot.nv)) for row in q]
    )


def rms(values):
    return np.sqrt(np.mean(np.square(values)))


@pytest.mark.parametrize("robot", [ROBOT, BALLS], ids=lambda robot: robot.name)
@pytest.mark.parametrize("rate", [100.0, 1000.0])
def test_motion_without_noise(robot, rate):
    times = np.arange(0.0, 1.5, 1.0 / rate)
    q, v, a = swaying(robot, times)
    found = fit_configurations(robot, times, q)
    inside = slice(len(times) // 10, -len(times) // 10)
    assert rms((found.v - v)[inside]) < 1e-5
    assert rms((found.a - a)[inside]) < 1e-3
    assert found.noise.max() < 1e-6


@pytest.mark.parametrize("rate", [100.0, 1000.0])
def test_what_noise_does_is_told(rate):
    """Of the samples to a tenth, of accelerations to what its cross-validation knows: a factor of three."""
    times, noise = np.arange(0.0, 2.0, 1.0 / rate), 1e-4
    q, _, a = swaying(BALLS, times)
    found = fit_configurations(BALLS, times, shake(BALLS, q, noise))
    assert np.median(found.noise) == pytest.approx(noise, rel=0.5)  # a quaternion has half an angle
    inside = slice(len(times) // 10, -len(times) // 10)
    off = np.sqrt(np.mean((found.a - a)[inside] ** 2, axis=0)).max()
    assert found.trouble.max() / 3.0 < off < 3.0 * found.trouble.max()
    assert off < 1.0


def test_the_same_in_every_world():
    """Turned and moved as a whole, a motion with noise has the same velocities and accelerations."""
    times = np.arange(0.0, 1.0, 0.005)
    q = shake(ROBOT, swaying(ROBOT, times)[0], 1e-4)
    X = pin.SE3(pin.exp3(np.array([0.3, -1.0, 2.0])), np.array([3.0, -2.0, 1.0]))
    moved = np.array(q)
    for row in moved:
        row[:7] = pin.SE3ToXYZQUAT(X * pin.XYZQUATToSE3(row[:7]))
    here, there = (fit_configurations(ROBOT, times, rows) for rows in (q, moved))
    assert np.abs(here.v - there.v).max() < 1e-7
    assert np.abs(here.a - there.a).max() < 1e-5


def test_long_motions_have_no_seams():
    """Splines of a few seconds fade into each other: nothing changes where one comes or goes, noise or not."""
    times = np.arange(0.0, 7.5, 0.002)
    q, v, a = swaying(ROBOT, times)
    found = fit_configurations(ROBOT, times, shake(ROBOT, q, 1e-5))
    inside = slice(100, -100)
    assert np.abs(found.a - a)[inside].max() < 12.0 * rms((found.a - a)[inside])
    assert rms((found.v - v)[inside]) < 2e-3
    assert np.abs(np.diff(found.a, axis=0))[inside].max() < 2.0 * np.abs(np.diff(a, axis=0)).max()
    quick = fit_configurations(ROBOT, times / 1000.0, q)  # a million samples a second
    assert np.isfinite(quick.a).all()


def test_uneven_steps_and_late_clocks():
    rng = np.random.default_rng(3)
    times = 1.7e9 + np.cumsum(rng.uniform(0.002, 0.006, 400))
    q, v, a = swaying(ROBOT, times - times[0])
    found = fit_configurations(ROBOT, times, q)
    inside = slice(20, -20)
    assert rms((found.v - v)[inside]) < 1e-4
    assert rms((found.a - a)[inside]) < 2e-2


def test_rounding_that_is_alike_from_sample_to_sample():
    """A base that goes on steadily in steps of its last digit: the best by cross-validation follows the steps, and is not taken."""
    times = np.arange(0.0, 1.6, 0.001)
    q = np.tile(ROBOT.posture, (len(times), 1))
    q[:, 0] = 1.9 * times + 0.03 * np.sin(6.6 * times)
    rounded = np.array([[float(f"{x:.4g}") for x in row] for row in q])
    rounded[:, 3:7] /= np.linalg.norm(rounded[:, 3:7], axis=1)[:, None]
    found = fit_configurations(ROBOT, times, rounded)
    assert rms(found.a[:, 0] + 0.03 * 6.6**2 * np.sin(6.6 * times)) < 0.3


@pytest.mark.parametrize("count", [LEAST, LEAST + 1, 40])
def test_few_samples(count):
    times = np.arange(count) / 100.0
    q, v, _ = swaying(ROBOT, times)
    found = fit_configurations(ROBOT, times, shake(ROBOT, q, 1e-6))
    assert np.isfinite(found.noise).all()
    assert rms(found.v - v) < 1e-2


def test_velocities():
    times = np.arange(0.0, 2.0, 0.001)
    _, v, a = swaying(ROBOT, times)
    noisy = v + 1e-4 * np.random.default_rng(2).standard_normal(v.shape)
    found = fit_velocities(times, noisy)
    assert np.median(found.noise) == pytest.approx(1e-4, rel=0.1)
    assert (found.v == noisy).all()
    assert rms(found.a - a) < 0.01
    assert rms(found.a - a) < 0.2 * rms(np.gradient(noisy, times, axis=0) - a)
