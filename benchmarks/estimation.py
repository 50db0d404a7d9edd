# SPDX-License-Identifier: Apache-2.0
"""Accuracy of the base estimator on recorded and simulated runs.

    python -m benchmarks.estimation RUN.npz ... [--robot URDF] [--floor HEIGHT] [--draws N] [--json]

A run is an ``npz`` with ``t``, ``gyro``, ``acc``, ``q``, ``dq``, ``tau``, true ``base`` (place, quaternion w x y z),
``basevel`` (linear in the world, angular in the base) and normal forces ``fl``, ``fr`` under the feet.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

import humanoid_dynamics as hd
from humanoid_dynamics.estimation import EstimatorSettings
from humanoid_dynamics.spatial.arrays import Matrix, Vector

GRAVITY = np.array([0.0, 0.0, 9.81])  # m/s²
CONTACT_FORCE, GUARD = 20.0, 0.02  # N, s: true contact; samples near a change are not judged
SLIP_SPEED = 0.1  # m/s
WARM = 1.0  # s; start of a run that the averages leave out
NEES_95 = 12.59  # chi-square, six degrees of freedom
Flags = NDArray[np.bool_]
DRAW = (0.005, 0.05)  # rad/s, m/s²; deviations of drawn biases


@dataclass(frozen=True, eq=False)
class SensorRun:
    """Sensor data and truth of one run; arrays by sample."""

    name: str
    robot: hd.RobotModel
    t: Vector
    gyro: Matrix
    acc: Matrix
    q: Matrix
    dq: Matrix
    tau: Matrix
    base: Matrix  # place, quaternion w x y z
    basevel: Matrix
    loads: Matrix  # (N, 2), in the order of robot.stance
    imu_link: str | None = None
    imu_pose: pin.SE3 | None = None

    @property
    def rotations(self) -> Matrix:
        """(N, 3, 3) true rotations of the base."""
        return np.array([pin.Quaternion(*row).matrix() for row in self.base[:, 3:]])


def load_run(path: Path, robot: hd.RobotModel) -> SensorRun:
    """Load a run of ``imu_walk``."""
    with np.load(path) as file:
        d = {name: np.asarray(file[name]) for name in file.files}
    w, x, y, z = d.get("imu_site_quat_wxyz", np.array([1.0, 0.0, 0.0, 0.0]))
    pose = pin.SE3(pin.Quaternion(w, x, y, z).matrix(), d.get("imu_site_pos", np.zeros(3)))
    numbers = {
        name: d[name].astype(np.float64)
        for name in ("t", "gyro", "acc", "q", "dq", "tau", "base", "basevel")
    }
    link = str(d["imu_link"]) if "imu_link" in d else None
    loads = np.column_stack((d["fl"], d["fr"])).astype(np.float64)
    return SensorRun(path.stem, robot, **numbers, loads=loads, imu_link=link, imu_pose=pose)


def find_biases(run: SensorRun) -> tuple[Vector, Vector]:
    """Return the biases of a run by its truth."""
    data, model = run.robot.data(), run.robot.model
    frame = run.robot.link_frame(run.imu_link or run.robot.links[0])
    X_LI, R = run.imu_pose or pin.SE3.Identity(), run.rotations
    rates, speeds, turns = [], [], []
    for k in range(len(run.t)):
        q = np.concatenate((run.base[k, :3], run.base[k, 4:], run.base[k, 3:4], run.q[k]))
        v = np.concatenate((R[k].T @ run.basevel[k, :3], run.basevel[k, 3:], run.dq[k]))
        pin.forwardKinematics(model, data, q, v)
        X = pin.updateFramePlacement(model, data, frame) * X_LI
        nu = X_LI.actInv(pin.getFrameVelocity(model, data, frame, pin.ReferenceFrame.LOCAL))
        rates.append(nu.angular)
        speeds.append(X.rotation @ nu.linear)
        turns.append(X.rotation)
    dt = float(np.median(np.diff(run.t)))
    force = np.gradient(np.array(speeds), dt, axis=0) + GRAVITY
    force = np.einsum("kji,kj->ki", np.array(turns), force)
    return (run.gyro - rates).mean(axis=0), (run.acc - force).mean(axis=0)


def draw_biases(run: SensorRun, seed: int) -> SensorRun:
    """Return a run with other constant biases."""
    rng = np.random.default_rng(seed)
    gyro, acc = find_biases(run)
    return replace(
        run,
        name=f"{run.name}#{seed}",
        gyro=run.gyro - gyro + rng.normal(0.0, DRAW[0], 3),
        acc=run.acc - acc + rng.normal(0.0, DRAW[1], 3),
    )


@dataclass(frozen=True, eq=False)
class EstimatedTrack:
    """Estimates of a run, by sample; NaN before the start."""

    place: Matrix
    turns: Matrix
    velocity: Matrix
    closed: Flags
    slipping: Flags
    pose_covariance: Matrix
    twist_covariance: Matrix
    microseconds: float


def estimate_run(run: SensorRun, mode: str, settings: EstimatorSettings) -> EstimatedTrack:
    """Estimate a run.

    Args:
        run: The run.
        mode: ``calm`` waits for a calm moment, ``given`` starts with the true attitude, ``known`` with the biases too.
        settings: Settings of the estimator.
    """
    estimator = hd.BaseEstimator(run.robot, run.imu_link, run.imu_pose, settings)
    if mode != "calm":
        w, x, y, z = run.base[0, 3:]
        known = {}
        if mode == "known":
            gyro, acc = find_biases(run)
            known = {"gyro_bias": gyro, "acc_bias": acc}
        estimator.reset(attitude=[x, y, z, w], **known)
    n = len(run.t)
    track = EstimatedTrack(
        np.full((n, 3), np.nan),
        np.full((n, 3, 3), np.nan),
        np.full((n, 3), np.nan),
        np.zeros((n, 2), dtype=bool),
        np.zeros((n, 2), dtype=bool),
        np.full((n, 6, 6), np.nan),
        np.full((n, 6, 6), np.nan),
        0.0,
    )
    spent = []
    for k in range(n):
        begin = perf_counter()
        estimator.add_imu(run.t[k], run.gyro[k], run.acc[k])
        estimator.add_joints(run.t[k], run.q[k], run.dq[k], run.tau[k])
        spent.append(perf_counter() - begin)
        x = estimator.estimate()
        if x.valid:
            track.place[k] = x.position
            track.turns[k] = pin.Quaternion(*x.orientation[[3, 0, 1, 2]]).matrix()
            track.velocity[k] = x.linear_velocity
            track.pose_covariance[k], track.twist_covariance[k] = (
                x.pose_covariance,
                x.twist_covariance,
            )
        track.closed[k] = [c.closed for c in x.contacts]
        track.slipping[k] = [c.slipping for c in x.contacts]
    return replace(track, microseconds=1e6 * float(np.median(spent)))


def judge(run: SensorRun, track: EstimatedTrack) -> dict[str, float]:
    """Return the measures of an estimate against the truth."""
    valid = np.flatnonzero(np.isfinite(track.place[:, 0]))
    if not len(valid):
        return {"start": float("nan")}
    first, R = int(valid[0]), run.rotations
    yaw = _yaw(R[first] @ track.turns[first].T)
    Z = pin.rpy.rpyToMatrix(0.0, 0.0, yaw)
    place = (track.place - track.place[first]) @ Z.T + run.base[first, :3]
    error = place - run.base[:, :3]
    path = float(np.linalg.norm(np.diff(run.base[first::10, :2], axis=0), axis=1).sum())
    error[:, 2] = track.place[:, 2] - run.base[:, 2]  # the floor is at zero for both
    late = valid[run.t[valid] >= run.t[first] + WARM]
    turn = np.array([pin.log3(Z @ track.turns[k] @ R[k].T) for k in late])
    speed = np.array([track.velocity[k] - R[k].T @ run.basevel[k, :3] for k in late])
    tilt = np.array([np.arccos(min(1.0, float(R[k][2] @ track.turns[k][2]))) for k in late])
    height = error[late, 2]
    result = {
        "path": path,
        "start": run.t[first],
        "drift": 100.0 * float(np.linalg.norm(error[-1, :2])) / max(path, 1e-9),
        "drift m": float(np.linalg.norm(error[-1, :2])),
        "velocity": float(np.sqrt((speed**2).sum(axis=1).mean())),
        "tilt": float(np.rad2deg(np.sqrt((tilt**2).mean()))),
        "yaw": float(np.rad2deg(turn[-1, 2])),
        "height": 1e3 * float(np.sqrt((height**2).mean())),
        "end height": 1e3 * float(height[-1]),
        "time": track.microseconds,
    }
    result |= judge_consistency(track, late, error, turn, speed)
    return result | judge_contacts(run, track, first)


def judge_consistency(
    track: EstimatedTrack, rows: Vector, error: Matrix, turn: Matrix, speed: Matrix
) -> dict[str, float]:
    """Return mean NEES per freedom and how many 95 % ellipses hold, for pose, for twist, and for tilt."""
    found: dict[str, list[float]] = {"pose": [], "velocity": [], "tilt": []}
    for i, k in enumerate(rows):
        e = np.concatenate((error[k], turn[i]))
        P = track.pose_covariance[k]
        V = track.twist_covariance[k][:3, :3]
        found["pose"].append(float(e @ np.linalg.solve(P, e)))
        found["velocity"].append(float(speed[i] @ np.linalg.solve(V, speed[i])))
        found["tilt"].append(float(turn[i, :2] @ np.linalg.solve(P[3:5, 3:5], turn[i, :2])))
    bounds = {"pose": (6, NEES_95), "velocity": (3, 7.815), "tilt": (2, 5.991)}
    result = {}
    for name, values in found.items():
        freedom, bound = bounds[name]
        result[f"nees {name}"] = float(np.mean(values)) / freedom
        result[f"holds {name}"] = 100.0 * float(np.mean(np.array(values) < bound))
    return result


def judge_contacts(run: SensorRun, track: EstimatedTrack, first: int) -> dict[str, float]:
    """Return the measures of contacts and slips."""
    truth = run.loads > CONTACT_FORCE
    dt = float(np.median(np.diff(run.t)))
    guard = round(GUARD / dt)
    right, count, delays = 0, 0, []
    for i in range(truth.shape[1]):
        change = np.flatnonzero(np.diff(truth[:, i].astype(int)) != 0) + 1
        judged = np.ones(len(truth), dtype=bool)
        judged[:first] = False
        for k in change:
            judged[max(k - guard, 0) : k + guard] = False
        right += int((truth[judged, i] == track.closed[judged, i]).sum())
        count += int(judged.sum())
        delays += list(_touch_downs(truth[:, i], track.closed[:, i], first, dt))
    slip = find_slips(run, truth)
    slip[:first] = False
    flagged = track.slipping & truth
    flagged[:first] = False
    hits = float((slip & flagged).sum())
    return {
        "contacts": 100.0 * right / max(count, 1),
        "touch-down": 1e3 * float(np.median(delays)) if delays else float("nan"),
        "slip precision": hits / max(float(flagged.sum()), 1.0),
        "slip recall": hits / max(float(slip.sum()), 1.0),
        "slips": 100.0 * float(slip.sum()) / max(float(truth[first:].sum()), 1.0),
    }


def _touch_downs(truth: Flags, closed: Flags, first: int, dt: float) -> Iterator[float]:
    """Yield the delay of each touch-down after at least 50 ms in the air that lasts as long."""
    air = round(0.05 / dt)
    for k in np.flatnonzero(np.diff(truth.astype(int)) == 1) + 1:
        if k - air < first or truth[k - air : k].any() or not truth[k : k + air].all():
            continue
        near = np.flatnonzero(closed[k - air : k + air] & ~closed[k - air - 1 : k + air - 1])
        yield float(np.min(np.abs(near - air))) * dt if len(near) else 0.05


def find_slips(run: SensorRun, truth: Flags) -> Flags:
    """Return whether the lowest point of each loaded sole moves faster than 0.1 m/s."""
    robot, data, R = run.robot, run.robot.data(), run.rotations
    slip = np.zeros(truth.shape, dtype=bool)
    for k in range(len(run.t)):
        q = np.concatenate((run.base[k, :3], run.base[k, 4:], run.base[k, 3:4], run.q[k]))
        v = np.concatenate((R[k].T @ run.basevel[k, :3], run.basevel[k, 3:], run.dq[k]))
        pin.forwardKinematics(robot.model, data, q, v)
        for i, name in enumerate(robot.stance):
            if not truth[k, i]:
                continue
            surface = robot.surface(name)
            X = pin.updateFramePlacement(robot.model, data, surface.frame)
            nu = pin.getFrameVelocity(robot.model, data, surface.frame, pin.ReferenceFrame.LOCAL)
            heights = surface.vertices @ X.rotation[2]
            w = np.exp(-(heights - heights.min()) / 0.003)
            c = w @ surface.vertices / w.sum()
            slip[k, i] = np.linalg.norm(nu.linear + np.cross(nu.angular, c)) > SLIP_SPEED
    return slip


def _yaw(R: Matrix) -> float:
    return float(np.arctan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1]))


def print_table(rows: dict[str, dict[str, float]]) -> None:
    """Print one line a run, then percentiles over the runs."""
    judged = [values for values in rows.values() if "drift" in values]
    for percent in (10, 50, 90) if len(judged) > 1 else ():
        rows[f"{percent}th percentile"] = {
            name: float(np.nanpercentile([values[name] for values in judged], percent))
            for name in judged[0]
        }
    names = max((list(values) for values in rows.values()), key=len)
    lines = [" ".join([f"{'run':40}", *(f"{name[:9]:>9}" for name in names)])]
    for run, values in rows.items():
        cells = (f"{values.get(name, float('nan')):9.3g}" for name in names)
        lines.append(" ".join([f"{run:40}", *cells]))
    sys.stdout.write("\n".join(lines) + "\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Evaluate runs and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--robot", default="g1", help="catalogue name or URDF of the robot")
    parser.add_argument(
        "--floor", type=float, default=None, help="declared height of the floor [m]"
    )
    parser.add_argument("--modes", default="known,given,calm", help="starts to judge")
    parser.add_argument("--draws", type=int, default=0, help="draws of other biases")
    parser.add_argument("--torque-offset", type=float, default=0.0, help="deviation [N m]")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    robot = hd.load_robot(options.robot)
    settings = EstimatorSettings(floor_height=options.floor)
    rows = {}
    for path in options.runs:
        run = load_run(path, robot)
        if options.torque_offset:
            offset = np.random.default_rng(7).normal(0.0, options.torque_offset, run.tau.shape[1])
            run = replace(run, tau=run.tau + offset)
        runs = [run, *(draw_biases(run, seed) for seed in range(options.draws))]
        for mode in options.modes.split(","):
            for each in runs:
                rows[f"{each.name} {mode}"] = judge(each, estimate_run(each, mode, settings))
    if options.json:
        sys.stdout.write(json.dumps(rows, indent=1) + "\n")
    else:
        print_table(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
