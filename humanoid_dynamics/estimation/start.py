# SPDX-License-Identifier: Apache-2.0
"""Start of the base estimator: from a calm moment or from a given attitude."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_dynamics.estimation.kinematics import ImuFrameModel
from humanoid_dynamics.estimation.record import EstimatorState
from humanoid_dynamics.estimation.settings import FEWEST_SAMPLES, UPRIGHT, EstimatorSettings
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.rotation import skew


def add_calm_sample(
    state: EstimatorState, settings: EstimatorSettings, t: float, gyro: Vector, acc: Vector
) -> bool:
    """Add a sample to the calm moment; return whether that is long enough.

    ``state.calm`` holds its begin, the number of samples, and the sum of specific forces.
    """
    calm = state.calm
    mean = calm[2:5] / calm[1] if calm[1] else acc
    off = acc - mean
    size = math.sqrt(float(mean @ mean))
    if (
        float(gyro @ gyro) > settings.calm_rate**2
        or float(off @ off) > settings.calm_acceleration**2
        or abs(size - settings.gravity) > settings.calm_acceleration
    ):
        calm[:] = 0.0
    if not calm[1]:
        calm[0] = t
    calm[1] += 1.0
    calm[2:5] += acc
    return bool(t - calm[0] >= settings.calm_duration and calm[1] > FEWEST_SAMPLES)


def start_filter(state: EstimatorState, settings: EstimatorSettings, body: ImuFrameModel) -> None:
    """Set state and covariance from gravity in a calm moment, or from what ``reset`` was given."""
    given, s, X = state.given, settings, state.X
    gyro_bias = given.get("gyro_bias", np.zeros(3))
    acc_bias = given.get("acc_bias", np.zeros(3))
    if "attitude" in given:
        x, y, z, w = given["attitude"] / np.linalg.norm(given["attitude"])
        R = pin.Quaternion(float(w), float(x), float(y), float(z)).matrix() @ body.X_BI.rotation
        tilt = s.given_attitude_deviation
    else:
        R = level(state.calm[2:5] / state.calm[1] - acc_bias, body.X_BI.rotation)
        tilt = s.attitude_deviation
    X[:3] = R
    p_WB = given.get("position", np.zeros(3))
    X[4] = p_WB + R @ body.X_BI.rotation.T @ body.X_BI.translation
    X[3] = given.get("velocity", np.zeros(3))
    X[5], X[6] = gyro_bias, acc_bias
    speed = s.known_speed_deviation if "velocity" in given else s.start_speed_deviation
    gyro = s.known_gyro_bias_deviation if "gyro_bias" in given else s.gyro_bias_deviation
    acc = s.known_acc_bias_deviation if "acc_bias" in given else s.acc_bias_deviation
    deviations = np.repeat([tilt, speed, s.start_place_deviation, gyro, acc], 3)
    deviations[2] = s.start_place_deviation
    T = world_errors(X)
    state.P[:] = T @ np.diag(deviations**2) @ T.T
    state.started, state.height_known = True, "position" in given


def place_in_world(
    state: EstimatorState,
    X_WI: pin.SE3,
    heading: float,
    deviations: tuple[float, float],
) -> None:
    """Turn the estimate about the vertical and move it, so that it agrees with a measured pose of the IMU.

    Args:
        state: State of the estimator.
        X_WI: Measured pose of the IMU.
        heading: Turn about the vertical [rad].
        deviations: Deviations of place [m] and orientation [rad].
    """
    Z, Z_world = pin.rpy.rpyToMatrix(0.0, 0.0, heading), np.eye(len(state.P))
    for k in (0, 3, 6):
        Z_world[k : k + 3, k : k + 3] = Z
    Z_world = Z_world @ (2.0 * np.eye(len(state.P)) - world_errors(state.X))  # E + N, N N = 0
    place = state.X[4].copy()
    for X in (state.X, *state.history):
        X[:3], X[3] = Z @ X[:3], Z @ X[3]
        X[4] = X_WI.translation + Z @ (X[4] - place)
    P = Z_world @ state.P @ Z_world.T
    for row, deviation in zip((2, 6, 7, 8), (deviations[1], *[deviations[0]] * 3), strict=True):
        P[row, :] = P[:, row] = 0.0
        P[row, row] = deviation**2
    T = world_errors(state.X)
    state.P[:] = T @ P @ T.T
    state.aligned = state.height_known = True


def world_errors(X: Matrix) -> Matrix:
    """Return the (15, 15) matrix from errors of attitude, velocity and place in the world to the invariant error."""
    T = np.eye(15)
    T[3:6, :3], T[6:9, :3] = skew(X[3]), skew(X[4])
    return T


def level(force: Vector, R_BI: Matrix) -> Matrix:
    """Return the rotation from IMU axes to the world with a specific force upward and the base heading along x.

    Args:
        force: (3,) specific force in IMU axes [m/s²].
        R_BI: (3, 3) rotation of the IMU in the base link.
    """
    up = force / np.linalg.norm(force)
    forward = R_BI.T[:, 0]
    if abs(float(forward @ up)) > UPRIGHT:
        forward = R_BI.T[:, 2] * -math.copysign(1.0, float(forward @ up))
    x = forward - up * float(forward @ up)
    x /= np.linalg.norm(x)
    return np.array((x, np.cross(up, x), up))
