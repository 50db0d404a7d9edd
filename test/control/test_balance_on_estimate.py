# SPDX-License-Identifier: Apache-2.0
"""Standing, pushes, squats and steps on the estimated state: an IMU with noise and biases, encoders and joint torques, no foot sensors."""

from dataclasses import replace

import numpy as np
import pytest
from test_balance import DT, Loop, load

from humanoid_dynamics.estimation import BaseEstimator
from humanoid_dynamics.model.imu import Imu, ImuErrors
from humanoid_dynamics.simulation.sensors import Sensors, SensorSettings

ERRORS = ImuErrors(gyro_noise=0.005, acc_noise=0.05, gyro_bias=0.005, acc_bias=0.05)
ENCODERS = {"encoder_noise": 2e-4, "velocity_noise": 0.02, "effort_noise": 0.3}
CALIBRATION = 2.0  # s of rest before the controller starts


class EstimatedLoop(Loop):
    """World, sensors, estimator and controller, joined without delay."""

    def __init__(self, robot, seed=1, **settings):
        imu = robot.imus["base"]
        robot = replace(robot, imus={"base": Imu("base", imu.link, imu.X_LI, ERRORS)})
        super().__init__(robot, contact_source="estimate", **settings)
        self.sensors = Sensors(self.live.world, SensorSettings(**ENCODERS, seed=seed))
        self.estimator = BaseEstimator(robot, imu.link, imu.X_LI)
        period, self.heights = DT * self.every, []
        for k in range(round(CALIBRATION / period), 0, -1):
            self.sample(-k * period, still=True)

    def sample(self, t, still=False):
        """Give the estimator a sample of each sensor, and return the estimate."""
        self.sensors.sample(t, still=still)
        imu, joints = self.sensors.imus["base"], self.sensors.joints
        self.estimator.add_imu(t, imu.gyro, imu.acc)
        self.estimator.add_joints(t, joints.position, joints.velocity, joints.effort)
        return self.estimator.estimate(t)

    def run(self, seconds):
        controller = self.controller
        for _ in range(round(seconds / (DT * self.every))):
            t = self.t
            x = self.sample(t, still=not self.live.begun)
            assert x.valid, x.status
            for contact in x.contacts:
                controller.observe_contact_probability(contact.name, contact.probability, t)
            assert controller.observe_base(x.q_base, x.v_base, t, t)
            joints = self.sensors.joints
            assert controller.observe_joints(
                self.sensors.names, joints.position, joints.velocity, t, t
            )
            torques = controller.command(t)
            assert np.all(np.abs(torques.tau) <= controller.limits)
            self.seen.setdefault(torques.status, (t, torques.reason))
            self.heights.append(x.position[2] - self.live.world.q[2])
            self.live.command(self.names, torques.tau)
            self.live.advance(DT, self.every)
        return torques


@pytest.mark.parametrize(
    "name",
    [
        "human28",
        pytest.param("g1", marks=pytest.mark.slow),
        pytest.param("talos_reduced", marks=pytest.mark.slow),
    ],
)
def test_pushed_it_comes_back(name):
    loop = EstimatedLoop(load(name))
    loop.run(0.3)
    before = loop.com()
    loop.live.push(loop.robot.links[0], np.array([20.0, 20.0, 0.0]), np.zeros(3), 0.1)
    loop.run(1.2)
    assert np.abs(loop.com() - before).max() < 0.015
    assert np.ptp(loop.heights) < 5e-3
    assert set(loop.seen) <= {"STANDING", "LIMITED"}, loop.seen


@pytest.mark.parametrize("seed", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_it_stands_with_any_biases(seed):
    loop = EstimatedLoop(load("human28"), seed)
    before = loop.com()
    loop.run(0.5)
    assert np.abs(loop.com() - before).max() < 0.015
    assert np.abs(loop.live.world.v).max() < 0.2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["human28", "g1"])
def test_it_squats(name):
    loop = EstimatedLoop(load(name))
    loop.run(0.1)
    before = loop.com()[2]
    playback = loop.play("squat")
    loop.run(1.85)
    assert before - loop.com()[2] == pytest.approx(0.08 * before, abs=0.012)
    loop.run(playback.times[-1] - 1.5)
    assert loop.com()[2] == pytest.approx(before, abs=5e-3)
    assert "FALLEN" not in loop.seen


@pytest.mark.slow
@pytest.mark.parametrize("name", ["human28", "g1", "talos_reduced"])
def test_it_lifts_a_foot_and_puts_it_down(name):
    loop = EstimatedLoop(load(name))
    loop.run(0.1)
    loop.play("step")
    loop.run(3.1)
    felt = {wrench.surface: wrench.force[2] for wrench in loop.live.feel()}
    assert felt["right_foot"] == 0.0
    loop.run(3.9)
    felt = {wrench.surface: wrench.force[2] for wrench in loop.live.feel()}
    assert felt["right_foot"] == pytest.approx(0.5 * loop.robot.mass * 9.81, rel=0.2)
    assert "FALLEN" not in loop.seen
    assert "REFERENCE_ENDED" in loop.seen
