# SPDX-License-Identifier: Apache-2.0
"""Estimate where the base of a robot is, from its IMU and its joints alone."""

import numpy as np

import humanoid_dynamics as hd

robot = hd.load_robot("g1")
estimator = hd.BaseEstimator(robot, imu_link=robot.links[0])
rng = np.random.default_rng(0)
zeros = np.zeros(robot.nv - 6)
torques = hd.inverse_dynamics(robot, hd.State.at_rest(robot), np.zeros(robot.nv)).tau
for k in range(500):
    t = 0.002 * k
    gyro = rng.normal(0.0, 0.005, 3)
    force = np.array([0.0, 0.0, 9.81]) + rng.normal(0.0, 0.05, 3)
    estimator.add_imu(t, gyro, force)
    estimator.add_joints(t, robot.posture[7:], zeros, torques)

estimate = estimator.estimate()
print(f"status {estimate.status}, height of the base {estimate.position[2]:.3f} m")
for contact in estimate.contacts:
    print(f"{contact.name}: closed {contact.closed}, normal force {contact.load:.0f} N")
