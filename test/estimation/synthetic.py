# SPDX-License-Identifier: Apache-2.0
"""Sensor data of exact motions: joints move from posture to posture, and feet that stand do not move at all."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

import humanoid_dynamics as hd

GRAVITY = 9.81


@dataclass(frozen=True)
class Motion:
    """Truth and exact sensor data by sample."""

    robot: hd.RobotModel
    t: np.ndarray
    q: np.ndarray  # (N, nq)
    v: np.ndarray  # (N, nv)
    tau: np.ndarray
    gyro: np.ndarray
    acc: np.ndarray
    loads: np.ndarray  # (N, 2)

    def with_noise(self, seed: int, gyro_bias=(0.0, 0.0, 0.0), acc_bias=(0.0, 0.0, 0.0), scale=1.0):
        rng = np.random.default_rng(seed)

        def noisy(values, deviation):
            return values + scale * rng.normal(0.0, deviation, values.shape)

        q, v = self.q.copy(), self.v.copy()
        q[:, 7:], v[:, 6:] = noisy(q[:, 7:], 2e-4), noisy(v[:, 6:], 0.02)
        return replace(
            self,
            q=q,
            v=v,
            tau=noisy(self.tau, 0.3),
            gyro=noisy(self.gyro, 0.005) + np.asarray(gyro_bias),
            acc=noisy(self.acc, 0.05) + np.asarray(acc_bias),
        )

    def turned(self, angle: float, shift) -> Motion:
        """The same motion in another world: turned about the vertical and moved."""
        X = pin.SE3(pin.rpy.rpyToMatrix(0.0, 0.0, angle), np.asarray(shift, dtype=float))
        q = self.q.copy()
        for row in q:
            row[:7] = pin.SE3ToXYZQUAT(X * pin.XYZQUATToSE3(row[:7]))
        return replace(self, q=q)


def squat(
    robot: hd.RobotModel, duration: float = 3.0, still: float = 1.0, dt: float = 0.004
) -> Motion:
    """Both feet stand; hips, knees and ankles bend to and fro after a time of rest."""
    t = np.arange(0.0, duration, dt)
    s = np.where(t < still, 0.0, 0.15 * (1.0 - np.cos(2.0 * np.pi * (t - still))))
    q = np.tile(robot.posture, (len(t), 1))
    for name, share in (("hip_pitch", -1.0), ("knee", 2.0), ("ankle_pitch", -1.0)):
        for side in ("left", "right"):
            q[:, robot.joint(f"{side}_{name}_joint").q.start] += share * s
    return build(robot, t, q, np.zeros(len(t), dtype=int), np.full((len(t), 2), 0.5))


def steps(robot: hd.RobotModel, count: int = 4, seed: int = 0, dt: float = 0.004) -> Motion:
    """One foot stands while all joints go to another posture, then the other one; at rest in between."""
    rng = np.random.default_rng(seed)
    move, rest = 0.5, 0.1
    t = np.arange(0.0, rest + count * (move + rest), dt)
    postures = [robot.posture] + [
        pin.integrate(
            robot.model, robot.posture, np.r_[np.zeros(6), rng.normal(0.0, 0.12, robot.nv - 6)]
        )
        for _ in range(count)
    ]
    q, support, loads = [], [], []
    for time in t:
        k, phase = divmod(time - rest + 1e-9, move + rest)
        k = int(k)
        if k < 0:
            k, phase = 0, 0.0
        s = min(phase / move, 1.0)
        s = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
        q.append(pin.interpolate(robot.model, postures[k], postures[min(k + 1, count)], s))
        support.append(k % 2)
        swap = max(0.0, phase - move) / rest
        share = swap if k % 2 else 1.0 - swap
        loads.append((share, 1.0 - share))
    return build(robot, t, np.array(q), np.array(support), np.array(loads))


def build(robot, t, q, support, shares) -> Motion:
    """Place the base so that the supporting foot does not move; differentiate; solve the torques."""
    model, data, dt = robot.model, robot.data(), t[1] - t[0]
    feet = [robot.surface(name).frame for name in robot.stance]
    q = np.array(q)
    anchor, before = None, -1
    for k in range(len(t)):
        q[k, :7] = [0, 0, 0, 0, 0, 0, 1]
        pin.framesForwardKinematics(model, data, q[k])
        X_BF = data.oMf[feet[support[k]]].copy()
        if anchor is None:
            pin.framesForwardKinematics(model, data, robot.posture)
            anchor = data.oMf[feet[support[k]]].copy()
        elif support[k] != before:
            full = q[k].copy()
            full[:7] = q[k - 1, :7]
            full[7:] = q[k - 1, 7:]
            pin.framesForwardKinematics(model, data, full)
            anchor = data.oMf[feet[support[k]]].copy()
        before = support[k]
        q[k, :7] = pin.SE3ToXYZQUAT(anchor * X_BF.inverse())
    v = np.zeros((len(t), robot.nv))
    for k in range(1, len(t) - 1):
        v[k] = pin.difference(model, q[k - 1], q[k + 1]) / (2.0 * dt)
    v[-1] = v[-2]
    a = np.gradient(v, dt, axis=0)
    gyro, acc, tau = v[:, 3:6].copy(), np.zeros((len(t), 3)), np.zeros((len(t), robot.nv - 6))
    for k in range(len(t)):
        R = pin.Quaternion(q[k, 3:7]).matrix()
        acc[k] = a[k, :3] + np.cross(v[k, 3:6], v[k, :3]) + R.T @ [0.0, 0.0, GRAVITY]
        force = pin.rnea(model, data, q[k], v[k], a[k])
        pin.computeJointJacobians(model, data, q[k])
        pin.updateFramePlacements(model, data)
        X_WB = pin.XYZQUATToSE3(q[k, :7])
        for i, frame in enumerate(feet):
            base = pin.Force(force[:3] * shares[k, i], force[3:6] * shares[k, i])
            wrench = (data.oMf[frame].inverse() * X_WB).act(base).vector
            J = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL)
            tau[k] -= (J.T @ wrench)[6:]
        tau[k] += force[6:]
    loads = shares * robot.mass * GRAVITY
    return Motion(robot, t, q, v, tau, gyro, acc, loads)


def feed(estimator: hd.BaseEstimator, motion: Motion, first=0, last=None, wrenches=False):
    """Feed samples; return the estimates."""
    found = []
    for k in range(first, len(motion.t) if last is None else last):
        t = float(motion.t[k])
        estimator.add_imu(t, motion.gyro[k], motion.acc[k])
        if wrenches:
            for i, name in enumerate(motion.robot.stance):
                estimator.add_wrench(t, name, [0, 0, motion.loads[k, i], 0, 0, 0])
        estimator.add_joints(t, motion.q[k, 7:], motion.v[k, 6:], motion.tau[k])
        found.append(estimator.estimate())
    return found
