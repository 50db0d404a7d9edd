# SPDX-License-Identifier: Apache-2.0
"""Run the base estimator over recorded sensor data, and compare it with the true motion where that is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.errors import RecordError
from humanoid_dynamics.estimation.base import BaseEstimator
from humanoid_dynamics.estimation.results import BaseEstimate
from humanoid_dynamics.estimation.sensor_log import BaseTrack, SensorLog
from humanoid_dynamics.estimation.settings import (
    CONTACT_GUARD,
    EstimatorSettings,
    EstimatorStatus,
)
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector

PROGRESS = 200  # samples between two reports of progress
IMU_SAMPLE, WRENCH, JOINT_SAMPLE = 0, 1, 2  # order of samples of the same time


@dataclass(frozen=True, eq=False)
class EstimatedRun:
    """Estimates of a run, one for each joint sample from the first contact on.

    Attributes:
        track: Pose and twist of the base.
        deviation: (n, 12) standard deviations of place, rotation, linear and angular velocity.
        contacts: Names of the contacts.
        probability: (n, contacts) contact probabilities.
        closed: (n, contacts) whether each contact is closed.
        load: (n, contacts) normal forces [N].
        gyro_bias: (3,) last gyroscope bias [rad/s].
        acc_bias: (3,) last accelerometer bias [m/s²].
        statuses: Status -> number of estimates with it.
        faults: Fault -> number of estimates that report it.
    """

    track: BaseTrack
    deviation: Matrix
    contacts: tuple[str, ...]
    probability: Matrix
    closed: NDArray[np.bool_]
    load: Matrix
    gyro_bias: Vector
    acc_bias: Vector
    statuses: Mapping[str, int] = field(default_factory=dict)
    faults: Mapping[str, int] = field(default_factory=dict)


def estimate_log(
    robot: RobotModel,
    log: SensorLog,
    settings: EstimatorSettings | None = None,
    *,
    wrenches: bool = False,
    start: str = "still",
    progress: Callable[[float], object] | None = None,
) -> EstimatedRun:
    """Estimate the base of a recorded run, sample by sample as a robot would.

    Args:
        robot: The robot.
        log: Its sensor data.
        settings: Settings of the estimator.
        wrenches: Whether recorded contact wrenches are used.
        start: ``still`` waits for a calm moment, ``truth`` starts in motion with the first true orientation.
        progress: Called with the part that is done, 0 to 1.

    Raises:
        RecordError: If there is no truth to start from, or no estimate is ever valid.
    """
    estimator = _start_estimator(robot, log, settings, start)
    used = {name: rows for name, rows in log.wrenches.items() if name in robot.stance}
    events = _merge(log, used if wrenches else {})
    estimates: list[BaseEstimate] = []
    for k, event in enumerate(events):
        estimates += _add_sample(estimator, log, event)
        if progress is not None and k % PROGRESS == 0:
            progress(k / len(events))
    found = [x for x in estimates if x.valid]
    statuses = Counter(x.status for x in estimates)
    if not found:
        raise RecordError(log.origin, f"no estimate is valid: {_explain(log, statuses)}")
    faults = Counter(fault for x in estimates for fault in x.faults)
    return _collect(found, statuses, faults)


def _explain(log: SensorLog, statuses: Counter[EstimatorStatus]) -> str:
    """Return why no estimate is valid."""
    if not statuses:
        return "no joint sample"
    status = statuses.most_common(1)[0][0]
    may = status is EstimatorStatus.WAITING_STILL and log.truth is not None
    return status.description + ("; with start 'truth' it starts in motion" if may else "")


def _start_estimator(
    robot: RobotModel, log: SensorLog, settings: EstimatorSettings | None, start: str
) -> BaseEstimator:
    estimator = BaseEstimator(robot, log.imu.link, log.imu.X_LI, settings)
    if start == "truth":
        if log.truth is None:
            raise RecordError(log.origin, "has no true motion to start from")
        estimator.reset(attitude=log.truth.pose[0, 3:])
    return estimator


def _add_sample(
    estimator: BaseEstimator, log: SensorLog, event: tuple[float, int, int, str]
) -> list[BaseEstimate]:
    """Add a sample, and return the estimate after a joint sample."""
    t, kind, row, name = event
    if kind == IMU_SAMPLE:
        estimator.add_imu(t, log.gyro[row], log.acc[row])
        return []
    if kind == WRENCH:
        estimator.add_wrench(t, name, log.wrenches[name][1][row])
        return []
    v = None if log.v is None else log.v[row]
    estimator.add_joints(t, log.q[row], v, None if log.tau is None else log.tau[row])
    return [estimator.estimate(t)]


def _merge(
    log: SensorLog, wrenches: Mapping[str, tuple[Vector, Matrix]]
) -> list[tuple[float, int, int, str]]:
    """Return all samples in the order of time: time, kind, row, surface."""
    events = [(t, IMU_SAMPLE, row, "") for row, t in enumerate(log.imu_times.tolist())]
    events += [(t, JOINT_SAMPLE, row, "") for row, t in enumerate(log.joint_times.tolist())]
    for name, (times, _) in wrenches.items():
        events += [(t, WRENCH, row, name) for row, t in enumerate(times.tolist())]
    return sorted(events, key=lambda event: event[:2])


def _collect(
    found: list[BaseEstimate],
    statuses: Counter[EstimatorStatus],
    faults: Counter[EstimatorStatus],
) -> EstimatedRun:
    """Return the estimates as arrays, from the first contact on: before it, height is unknown."""
    first = next((k for k, x in enumerate(found) if any(c.closed for c in x.contacts)), 0)
    found = found[first:]

    def stack(read: Callable[[BaseEstimate], object]) -> Matrix:
        return np.array([read(x) for x in found])

    variances = np.hstack(
        (
            stack(lambda x: np.diag(x.pose_covariance)),
            stack(lambda x: np.diag(x.twist_covariance)),
        )
    )
    contacts = stack(lambda x: [(c.probability, float(c.closed), c.load) for c in x.contacts])
    return EstimatedRun(
        BaseTrack(stack(lambda x: x.time), stack(lambda x: x.q_base), stack(lambda x: x.v_base)),
        np.sqrt(np.maximum(variances, 0.0)),
        tuple(contact.name for contact in found[0].contacts),
        contacts[:, :, 0],
        contacts[:, :, 1] > 0.0,
        contacts[:, :, 2],
        found[-1].gyro_bias,
        found[-1].acc_bias,
        {str(status): n for status, n in statuses.items()},
        {str(fault): n for fault, n in faults.items()},
    )


def align_truth(run: EstimatedRun, truth: BaseTrack) -> BaseTrack:
    """Return the true motion at the times of the estimates, with place and heading of the first estimate.

    Args:
        run: The estimates.
        truth: The true motion.
    """
    nearest = np.clip(np.searchsorted(truth.times, run.track.times - 1e-6), 0, len(truth.times) - 1)
    pose, twist = truth.pose[nearest].copy(), truth.twist[nearest]
    true, estimated = BaseTrack(run.track.times, pose, twist).turns, run.track.turns
    turn = estimated[0] @ true[0].T
    yaw = np.arctan2(turn[1, 0] - turn[0, 1], turn[0, 0] + turn[1, 1])
    c, s = np.cos(yaw), np.sin(yaw)
    Z = np.array(((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)))
    pose[:, :3] = (pose[:, :3] - pose[0, :3]) @ Z.T + run.track.pose[0, :3]
    cz, sz = np.cos(yaw / 2), np.sin(yaw / 2)
    x, y, z, w = pose[:, 3:].T.copy()
    pose[:, 3:] = np.column_stack(
        (cz * x - sz * y, cz * y + sz * x, cz * z + sz * w, cz * w - sz * z)
    )
    return BaseTrack(run.track.times, pose, twist)


def measure_errors(run: EstimatedRun, truth: BaseTrack) -> dict[str, float]:
    """Return errors of the estimates: SI units, angles in degrees.

    Args:
        run: The estimates.
        truth: The true motion, aligned by ``align_truth``.
    """
    error = run.track.pose[:, :3] - truth.pose[:, :3]
    steps = np.diff(truth.pose[::10, :2], axis=0)
    path = float(np.linalg.norm(steps, axis=1).sum())
    velocity = run.track.twist[:, :3] - truth.twist[:, :3]
    true, estimated = truth.turns, run.track.turns
    up = np.einsum("ki,ki->k", true[:, 2], estimated[:, 2])
    turn = estimated @ true.transpose(0, 2, 1)
    yaw = np.arctan2(turn[:, 1, 0] - turn[:, 0, 1], turn[:, 0, 0] + turn[:, 1, 1])
    drift = float(np.linalg.norm(error[-1, :2]))
    return {
        "path": path,
        "drift": drift,
        "drift_of_path": drift / path if path > 0.0 else float("nan"),
        "velocity_rms": _rms(np.linalg.norm(velocity, axis=1)),
        "tilt_rms_deg": float(np.degrees(_rms(np.arccos(np.clip(up, -1.0, 1.0))))),
        "yaw_end_deg": float(np.degrees(yaw[-1])),
        "height_rms": _rms(error[:, 2]),
        "height_end": float(error[-1, 2]),
    }


def measure_contacts(run: EstimatedRun, log: SensorLog) -> dict[str, float]:
    """Return the share of samples with right contacts, by contact, away from true changes; contacts without forces are left out.

    Args:
        run: The estimates.
        log: The sensor data, with wrenches.
    """
    shares = {}
    t = run.track.times
    for column, name in enumerate(run.contacts):
        if name not in log.wrenches:
            continue
        times, wrenches = log.wrenches[name]
        true = wrenches[:, 2] > EstimatorSettings.contact_force
        nearest = np.clip(np.searchsorted(times, t - 1e-6), 0, len(times) - 1)
        changes = times[1:][true[1:] != true[:-1]]
        judged = np.ones(len(t), dtype=bool)
        for change in changes.tolist():
            judged &= np.abs(t - change) > CONTACT_GUARD
        if judged.any():
            right = true[nearest][judged] == run.closed[judged, column]
            shares[name] = float(right.mean())
    return shares


def _rms(values: Vector) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
