# SPDX-License-Identifier: Apache-2.0
"""The estimate of the base link from the state of the filter, which is that of the IMU."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_dynamics.estimation.kinematics import ImuFrameModel
from humanoid_dynamics.estimation.record import (
    CLOSED,
    HISTORY,
    LOAD,
    PROBABILITY,
    SPEED,
    WEIGHT,
    EstimatorState,
)
from humanoid_dynamics.estimation.results import BaseEstimate, ContactEstimate
from humanoid_dynamics.estimation.settings import EstimatorSettings, EstimatorStatus
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.rotation import rotate_by


def make_estimate(
    state: EstimatorState, body: ImuFrameModel, settings: EstimatorSettings, t: float | None
) -> BaseEstimate:
    """Return the estimate of the base link at a time.

    Args:
        state: State of the estimator.
        body: The robot, with the joints of the last sample.
        settings: Settings.
        t: The time [s]; that of the newest IMU sample where None.
    """
    newest = state.times.get("imu", 0.0)
    time = newest if t is None or not math.isfinite(t) else t
    X, gyro = _find_sample(state, time)
    ahead = min(max(time - newest, 0.0), settings.horizon)
    rate = gyro - X[5]
    R, v = X[:3], X[3]
    if ahead > 0.0:
        R = R @ rotate_by(rate * ahead)
    p = X[4] + v * ahead
    R_BI, p_BI = body.X_BI.rotation, body.X_BI.translation
    R_WB = R @ R_BI.T
    arm = R_WB @ p_BI
    omega = R_BI @ (rate - body.nu.angular)
    linear = R_WB.T @ v - R_BI @ body.nu.linear - pin.skew(omega) @ p_BI
    place = p - arm
    return BaseEstimate(
        time=time,
        status=_find_status(state, body, settings),
        faults=_list_faults(state, settings, time),
        position=place,
        orientation=np.asarray(pin.Quaternion(R_WB).coeffs()),
        linear_velocity=linear,
        angular_velocity=omega,
        pose_covariance=_pose_covariance(state.P, place),
        twist_covariance=_twist_covariance(state.P, R_BI, R_WB, p_BI, settings),
        gyro_bias=state.X[5].copy(),
        acc_bias=state.X[6].copy(),
        contacts=tuple(_list_contacts(state, body, settings)),
    )


def _find_sample(state: EstimatorState, time: float) -> tuple[Matrix, Vector]:
    """Return state and angular rate of the newest IMU sample that is not after a time."""
    for back in range(HISTORY):
        row = state.newest - back
        if state.history_times[row] <= time:
            break
    else:
        row = state.newest
    return (state.history[row] if state.started else state.X), state.history_gyro[row]


def _find_status(
    state: EstimatorState, body: ImuFrameModel, settings: EstimatorSettings
) -> EstimatorStatus:
    if "imu" not in state.times:
        return EstimatorStatus.WAITING_IMU
    if not state.started:
        located = body.located
        return EstimatorStatus.WAITING_STILL if located else EstimatorStatus.WAITING_JOINTS
    if "joints" not in state.times:
        return EstimatorStatus.WAITING_JOINTS
    if not state.contacts[:, CLOSED].any():
        return EstimatorStatus.NO_CONTACT
    variance = max(state.P[9, 9], state.P[10, 10], state.P[11, 11])
    known = variance < settings.calibrated_deviation**2
    return EstimatorStatus.RUNNING if known else EstimatorStatus.CALIBRATING


def _list_faults(
    state: EstimatorState, settings: EstimatorSettings, time: float
) -> tuple[EstimatorStatus, ...]:
    faults = [fault for fault, at in state.faults.items() if abs(time - at) <= settings.fault_hold]
    for name, fault in (
        ("imu", EstimatorStatus.IMU_STALE),
        ("joints", EstimatorStatus.JOINTS_STALE),
    ):
        if name in state.times and time - state.times[name] > settings.stale:
            faults.append(fault)
    slips = (state.contacts[:, CLOSED] > 0.0) & (state.contacts[:, SPEED] > settings.slip_speed)
    return (*faults, EstimatorStatus.SLIPPING) if slips.any() else tuple(faults)


def _pose_covariance(P: Matrix, place: Vector) -> Matrix:
    """Return the covariance of place and rotation about world axes: d_p = xi_p - [p] phi."""
    T = np.zeros((6, 15))
    T[:3, :3], T[:3, 6:9], T[3:, :3] = -pin.skew(place), np.eye(3), np.eye(3)
    return np.asarray(T @ P @ T.T)


def _twist_covariance(
    P: Matrix, R_BI: Matrix, R_WB: Matrix, p_BI: Vector, settings: EstimatorSettings
) -> Matrix:
    """Return the covariance of linear and angular velocity in base axes.

    The velocity in body axes has the error R^T xi_v, whatever the attitude: that is the invariance.
    """
    T = np.zeros((6, 15))
    T[:3, 3:6] = R_WB.T
    T[:3, 9:12] = -pin.skew(p_BI) @ R_BI
    T[3:, 9:12] = -R_BI
    covariance = np.asarray(T @ P @ T.T)
    covariance[range(3, 6), range(3, 6)] += settings.rate_deviation**2
    return covariance


def _list_contacts(
    state: EstimatorState, body: ImuFrameModel, settings: EstimatorSettings
) -> list[ContactEstimate]:
    points = state.points @ state.X[:3].T + state.X[4]
    return [
        ContactEstimate(
            name=name,
            probability=float(row[PROBABILITY]),
            closed=bool(row[CLOSED]),
            load=float(row[LOAD]),
            slipping=bool(row[CLOSED] and row[SPEED] > settings.slip_speed),
            point=point,
            weight=float(row[WEIGHT]),
        )
        for name, row, point in zip(body.names, state.contacts, points, strict=True)
    ]
