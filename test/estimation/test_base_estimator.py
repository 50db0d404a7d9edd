# SPDX-License-Identifier: Apache-2.0
"""The base estimator on exact motions: start, accuracy, invariance, state record, hostile inputs."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from synthetic import feed, squat, steps

import humanoid_dynamics as hd
from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.estimation import EstimatorSettings, EstimatorStatus

EXACT = EstimatorSettings(armature_of_effort=0.0)


def estimator_of(robot):
    """Return an estimator whose IMU is at the origin of the base, as the motions have it."""
    return hd.BaseEstimator(robot, robot.links[0], pin.SE3.Identity(), EXACT)


@pytest.fixture(scope="module")
def robot():
    return hd.load_robot("g1")


@pytest.fixture(scope="module")
def squatting(robot):
    return squat(robot)


@pytest.fixture(scope="module")
def walking(robot):
    return steps(robot)


def test_a_still_start_finds_attitude_height_and_gyroscope_bias(robot, squatting):
    bias = np.array([0.004, -0.006, 0.005])
    motion = squatting.with_noise(1, gyro_bias=bias)
    estimator = estimator_of(robot)
    found = feed(estimator, motion)
    assert found[0].status is EstimatorStatus.WAITING_STILL
    last = found[-1]
    assert last.valid
    np.testing.assert_allclose(last.gyro_bias, bias, atol=4e-3)
    assert abs(last.position[2] - motion.q[-1, 2]) < 3e-3
    R = pin.Quaternion(*last.orientation[[3, 0, 1, 2]]).matrix()
    assert np.arccos(R[2] @ pin.Quaternion(motion.q[-1, 3:7]).matrix()[2]) < np.deg2rad(0.3)
    assert all(contact.closed for contact in last.contacts)
    loads = [contact.load for contact in last.contacts]
    np.testing.assert_allclose(sum(loads), robot.mass * 9.81, rtol=0.05)


def test_a_robot_that_hangs_has_no_contact_and_gets_its_attitude_from_gravity(robot):
    estimator = estimator_of(robot)
    R = pin.rpy.rpyToMatrix(0.2, -0.1, 0.0)
    model, data = robot.model, robot.data()
    q = np.concatenate(([0, 0, 2.0], pin.Quaternion(R).coeffs(), robot.posture[7:]))
    tau = pin.computeGeneralizedGravity(model, data, q)[6:]
    for k in range(250):
        estimator.add_imu(0.002 * k, np.zeros(3), R.T @ [0, 0, 9.81])
        estimator.add_joints(0.002 * k, q[7:], np.zeros(robot.nv - 6), tau)
    found = estimator.estimate()
    up = pin.Quaternion(*found.orientation[[3, 0, 1, 2]]).matrix()[2]
    np.testing.assert_allclose(up, R[2], atol=1e-3)
    assert np.isfinite(found.position).all()


def test_steps_with_measured_loads_are_followed(robot, walking):
    motion = walking.with_noise(3)
    estimator = estimator_of(robot)
    estimator.reset(attitude=motion.q[0, 3:7], position=motion.q[0, :3], velocity=np.zeros(3))
    last = feed(estimator, motion, wrenches=True)[-1]
    assert np.linalg.norm(last.position - motion.q[-1, :3]) < 0.03


def test_errors_do_not_depend_on_place_and_heading(robot, walking):
    """The invariance law: another world gives the same estimate in that world, to round-off."""
    motion = walking.with_noise(4)
    other = motion.turned(2.0, (3.0, -4.0, 0.5))
    results = []
    for each in (motion, other):
        estimator = estimator_of(robot)
        estimator.reset(attitude=each.q[0, 3:7], position=each.q[0, :3], velocity=np.zeros(3))
        results.append(feed(estimator, each, last=300, wrenches=True)[-1])
    X = pin.SE3(pin.rpy.rpyToMatrix(0.0, 0.0, 2.0), np.array([3.0, -4.0, 0.5]))
    moved = X * pin.XYZQUATToSE3(results[0].q_base)
    np.testing.assert_allclose(
        moved.homogeneous, pin.XYZQUATToSE3(results[1].q_base).homogeneous, atol=1e-9
    )
    np.testing.assert_allclose(results[0].v_base, results[1].v_base, atol=1e-9)


def test_only_heading_and_place_are_unobservable(robot, squatting):
    estimator = estimator_of(robot)
    found = feed(estimator, squatting.with_noise(5))
    early, late = found[len(found) // 3], found[-1]
    grown = np.sqrt(np.diag(late.pose_covariance) / np.diag(early.pose_covariance))
    assert (grown[[0, 1, 2, 5]] > 1.0).all()
    assert (grown[[3, 4]] <= 1.05).all()
    assert np.sqrt(np.diag(late.twist_covariance)[:3]).max() < 0.1


def test_a_restored_state_goes_on_bit_by_bit(robot, walking):
    motion = walking.with_noise(6)
    estimator = estimator_of(robot)
    feed(estimator, motion, last=150)
    kept = estimator.state.copy()
    first = feed(estimator, motion, 150, 300)[-1]
    other = estimator_of(robot)
    other.restore(kept)
    second = feed(other, motion, 150, 300)[-1]
    assert np.array_equal(first.q_base, second.q_base)
    assert np.array_equal(first.pose_covariance, second.pose_covariance)
    assert np.array_equal(estimator.state.residual, other.state.residual)


def test_hostile_samples_are_faults_and_leave_no_nan(robot, squatting):
    motion = squatting.with_noise(7)
    estimator = estimator_of(robot)
    rng = np.random.default_rng(0)
    bad = [np.nan, np.inf, -np.inf, 1e300, 1e9]
    for k in range(len(motion.t)):
        t = float(motion.t[k])
        gyro, acc = motion.gyro[k].copy(), motion.acc[k].copy()
        q, v, tau = motion.q[k, 7:].copy(), motion.v[k, 6:].copy(), motion.tau[k].copy()
        for values in (gyro, acc, q, v, tau):
            if rng.random() < 0.05:
                values[rng.integers(len(values))] = bad[rng.integers(len(bad))]
        if rng.random() < 0.05:
            t = float(rng.choice([np.nan, t - 0.1, t - 10.0, t + 10.0, np.inf]))
            gyro, acc = gyro * rng.choice([1.0, 1e300]), acc * rng.choice([1.0, 1e300])
        estimator.add_imu(t, gyro, acc)
        estimator.add_joints(t, q, v, tau)
        found = estimator.estimate(t)
        assert np.isfinite(found.q_base).all()
        assert np.isfinite(found.v_base).all()
        assert np.isfinite(found.pose_covariance).all()
    assert np.isfinite(estimator.state.P).all()


def test_faults_are_reported(robot, squatting):
    motion = squatting
    estimator = estimator_of(robot)
    assert estimator.estimate().status is EstimatorStatus.WAITING_IMU
    feed(estimator, motion, last=200)
    t, gyro, acc = float(motion.t[199]), motion.gyro[199], motion.acc[199]
    q, v = motion.q[199, 7:], motion.v[199, 6:]
    status = EstimatorStatus
    assert estimator.add_imu(t, gyro, acc) is status.STAMP_IN_PAST
    assert estimator.add_imu(t + 0.004, gyro * np.nan, acc) is status.IMU_INVALID
    assert estimator.add_imu(t + 0.1, gyro, acc) is status.IMU_GAP
    assert estimator.add_imu(t + 0.104, gyro + 100.0, acc) is status.IMU_SATURATED
    assert estimator.add_joints(t + 0.104, q * np.nan, v) is status.JOINTS_INVALID
    assert status.IMU_GAP in estimator.estimate().faults
    assert status.JOINTS_STALE in estimator.estimate(t + 1.0).faults
    assert estimator.add_imu(t + 9.0, gyro, acc) is status.TIME_JUMP
    for k in range(60):
        now = t + 9.0 + 0.004 * (k + 1)
        estimator.add_imu(now, gyro + 0.3, acc)
        found = estimator.add_joints(now, q, v)
    assert found is status.JOINTS_FROZEN


def test_wrong_shapes_and_names_are_refused_at_the_door(robot):
    estimator = hd.BaseEstimator(robot)
    with pytest.raises(ShapeError):
        estimator.add_imu(0.0, [1.0, 2.0], [0.0, 0.0, 9.81])
    with pytest.raises(ShapeError):
        estimator.add_joints(0.0, [0.0])
    with pytest.raises(UnknownNameError):
        estimator.add_wrench(0.0, "tail", np.zeros(6))
    with pytest.raises(UnknownNameError):
        hd.BaseEstimator(robot, imu_link="nose")


@pytest.mark.parametrize(
    "wrong",
    [
        {"floor_height": np.nan},
        {"floor_height": np.inf},
        {"acc_noise": np.nan},
        {"edge_height": 0.0},
        {"contact_noise": -0.01},
    ],
)
def test_settings_that_would_put_nan_into_the_state_are_refused(wrong):
    with pytest.raises(ShapeError, match=next(iter(wrong))):
        EstimatorSettings(**wrong)
    assert EstimatorSettings(floor_height=-0.2, acc_bias_walk=0.0).floor_height == -0.2


def test_a_pose_without_a_possible_deviation_is_rejected(robot, squatting):
    estimator = estimator_of(robot)
    status = EstimatorStatus
    assert estimator.add_pose(0.0, np.zeros(3)) is status.WAITING_IMU
    feed(estimator, squatting, last=1)
    assert estimator.add_pose(0.0, np.zeros(3)) is status.WAITING_STILL
    assert estimator.estimate().faults == ()
    found = feed(estimator, squatting, 1, 200)[-1]
    for deviation in (np.nan, np.inf, 0.0, -0.01):
        for name in ("position_deviation", "turn_deviation"):
            pose = found.position, found.orientation
            assert estimator.add_pose(found.time, *pose, **{name: deviation}) is status.POSE_INVALID
    assert np.isfinite(estimator.state.P).all()
    assert estimator.add_pose(found.time, *pose, position_deviation=0.01) is status.ACCEPTED


def test_an_older_wrench_does_not_replace_a_newer_one(robot, squatting):
    estimator = estimator_of(robot)
    feed(estimator, squatting, last=100)
    t, foot = float(squatting.t[99]), robot.stance[0]
    up = np.array([0.0, 0.0, 300.0, 0.0, 0.0, 0.0])
    assert estimator.add_wrench(t, foot, up) is EstimatorStatus.ACCEPTED
    assert estimator.add_wrench(t - 0.01, foot, 0.0 * up) is EstimatorStatus.STAMP_IN_PAST
    assert (
        estimator.add_wrench(t - 9.0, foot, up) is EstimatorStatus.ACCEPTED
    )  # the clock has jumped
    estimator.add_wrench(t, foot, up)
    feed(estimator, squatting, 100, 101)
    assert estimator.estimate().contacts[0].load == 300.0


def test_an_imu_behind_joints_waits_for_joints(robot):
    estimator = hd.BaseEstimator(robot, "torso_link")
    estimator.reset(attitude=(0.0, 0.0, 0.0, 1.0))
    for k in range(200):
        estimator.add_imu(0.002 * k, np.zeros(3), np.array([0.0, 0.0, 9.81]))
    assert estimator.estimate().status is EstimatorStatus.WAITING_JOINTS


def test_measured_poses_set_place_and_heading_and_hold_them(robot, walking):
    motion = walking.turned(1.0, (2.0, 1.0, 0.3)).with_noise(8, gyro_bias=(0.0, 0.0, 0.02))
    estimator = estimator_of(robot)
    estimator.reset(attitude=walking.q[0, 3:7])
    rng = np.random.default_rng(0)
    for k in range(len(motion.t)):
        feed(estimator, motion, k, k + 1, wrenches=True)
        if k % 10 == 9:
            place = motion.q[k, :3] + rng.normal(0.0, 0.002, 3)
            estimator.add_pose(float(motion.t[k]), place, motion.q[k, 3:7])
    t, last = float(motion.t[-1]), estimator.estimate()
    np.testing.assert_allclose(last.position, motion.q[-1, :3], atol=6e-3)
    assert abs(last.orientation @ motion.q[-1, 3:7]) > np.cos(np.deg2rad(0.5))
    far = motion.q[-1, :3] + 1.0
    assert estimator.add_pose(t, far) is EstimatorStatus.POSE_OUTLIER
    np.testing.assert_allclose(estimator.estimate().position, last.position, atol=6e-3)
    assert estimator.add_pose(t, far * np.nan) is EstimatorStatus.POSE_INVALID


def test_late_and_early_joint_samples_give_the_same_estimate(robot, walking):
    motion = walking.with_noise(9)
    ends = []
    for delay in (0, 5, -1):
        estimator = estimator_of(robot)
        estimator.reset(attitude=motion.q[0, 3:7], position=motion.q[0, :3], velocity=np.zeros(3))
        for k in range(len(motion.t)):
            estimator.add_imu(float(motion.t[k]), motion.gyro[k], motion.acc[k])
            j = k - delay
            if 0 <= j < len(motion.t):
                for i, name in enumerate(robot.stance):
                    wrench = [0, 0, motion.loads[j, i], 0, 0, 0]
                    estimator.add_wrench(float(motion.t[j]), name, wrench)
                joints = motion.q[j, 7:], motion.v[j, 6:], motion.tau[j]
                estimator.add_joints(float(motion.t[j]), *joints)
        ends.append(estimator.estimate().position)
    np.testing.assert_allclose(ends[1], ends[0], atol=5e-3)
    np.testing.assert_allclose(ends[2], ends[0], atol=5e-3)


def test_an_imu_behind_joints_gives_the_same_base(robot, walking):
    """The torso is three joints above the pelvis; its IMU is computed from the exact motion."""
    model, data = robot.model, robot.data()
    link, pose = (
        "torso_link",
        pin.SE3(pin.rpy.rpyToMatrix(0.1, 0.2, 0.3), np.array([0.0, 0.1, 0.2])),
    )
    frame, dt = robot.link_frame(link), walking.t[1] - walking.t[0]
    turns, rates, speeds = [], [], []
    for q, v in zip(walking.q, walking.v, strict=True):
        pin.forwardKinematics(model, data, q, v)
        X = pin.updateFramePlacement(model, data, frame) * pose
        nu = pose.actInv(pin.getFrameVelocity(model, data, frame, pin.ReferenceFrame.LOCAL))
        turns.append(X.rotation)
        rates.append(nu.angular)
        speeds.append(X.rotation @ nu.linear)
    force = np.gradient(np.array(speeds), dt, axis=0) + np.array([0.0, 0.0, 9.81])
    acc = np.einsum("kji,kj->ki", np.array(turns), force)
    motion = replace(walking, gyro=np.array(rates), acc=acc).with_noise(11)
    estimator = hd.BaseEstimator(robot, link, pose, EXACT)
    estimator.reset(attitude=motion.q[0, 3:7], position=motion.q[0, :3], velocity=np.zeros(3))
    errors = [
        np.r_[x.position - q[:3], x.linear_velocity - v[:3]]
        for x, q, v in zip(
            feed(estimator, motion, wrenches=True), walking.q, walking.v, strict=True
        )
    ]
    assert np.abs(np.array(errors)[20:, :3]).max() < 0.01
    assert np.sqrt(np.mean(np.array(errors)[20:, 3:] ** 2)) < 0.05


def test_the_covariance_covers_the_errors(robot, walking):
    """NEES of velocity, tilt and place over noise and biases: the mean stays in its band."""
    rng, found, inside = np.random.default_rng(12), [], []
    for seed in range(3):
        biases = rng.normal(0.0, 0.005, 3), rng.normal(0.0, 0.05, 3)
        motion = walking.with_noise(seed, *biases)
        estimator = estimator_of(robot)
        estimator.reset(attitude=motion.q[0, 3:7], position=motion.q[0, :3], velocity=np.zeros(3))
        for k, x in enumerate(feed(estimator, motion, wrenches=True)):
            if k % 25 or k < 50:
                continue
            R = pin.Quaternion(*x.orientation[[3, 0, 1, 2]]).matrix()
            turn = pin.log3(R @ pin.Quaternion(*walking.q[k, [6, 3, 4, 5]]).matrix().T)
            pose = np.r_[x.position - walking.q[k, :3], turn]
            speed = x.linear_velocity - walking.v[k, :3]
            found.append(
                [
                    pose @ np.linalg.solve(x.pose_covariance, pose) / 6.0,
                    speed @ np.linalg.solve(x.twist_covariance[:3, :3], speed) / 3.0,
                ]
            )
            inside.append([found[-1][0] < 12.59 / 6.0, found[-1][1] < 7.815 / 3.0])
    assert (np.mean(found, axis=0) < 3.0).all()
    assert (np.mean(found, axis=0) > 0.01).all()
    assert (np.mean(inside, axis=0) > 0.7).all()


def test_loads_are_split_with_torques_and_without(robot, squatting):
    """The momentum observer finds each foot's load; base motion and kinematics alone find it more roughly."""
    motion = squatting.with_noise(13)
    for torques, tolerance in ((True, 0.1), (False, 0.35)):
        estimator = estimator_of(robot)
        loads = []
        for k in range(len(motion.t)):
            t = float(motion.t[k])
            estimator.add_imu(t, motion.gyro[k], motion.acc[k])
            tau = motion.tau[k] if torques else None
            estimator.add_joints(t, motion.q[k, 7:], motion.v[k, 6:], tau)
            loads.append([contact.load for contact in estimator.estimate().contacts])
        error = np.array(loads)[100:] - squatting.loads[100:]
        assert np.sqrt(np.mean(error**2)) < tolerance * robot.mass * 9.81 / 2.0


def test_the_example_finds_both_feet_loaded():
    path = Path(__file__).parents[2] / "examples" / "estimate_base.py"
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.count("closed True") == 2
