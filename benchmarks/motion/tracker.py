# SPDX-License-Identifier: Apache-2.0
"""A learned tracking policy as a referee: an ONNX file with the metadata that whole_body_tracking and mjlab export.

The policy maps observations to joint targets at 50 Hz; joint PD with the gains of the metadata drives the plant.  Success follows the
thresholds that trainers of such policies use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from benchmarks.motion.plant import SMOOTHING, STEP, Noise, Plant, State, measure
from benchmarks.motion.referees import Conditions
from humanoid_dynamics.errors import HumanoidDynamicsError, MissingExtraError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.derivatives import differentiate
from humanoid_dynamics.motion.resampling import resample
from humanoid_dynamics.spatial.arrays import Vector

PERIOD = 0.02  # s
HEIGHT_ERROR, TILT, END_HEIGHT_ERROR = (
    0.25,
    0.8,
    0.25,
)  # m, rad, m: beyond any of them the robot has fallen
LARGEST_FILE = 512 * 2**20  # bytes
KEYS = (
    "joint_names",
    "joint_stiffness",
    "joint_damping",
    "default_joint_pos",
    "observation_names",
    "action_scale",
    "anchor_body_name",
)
TERMS = (
    "command",
    "motion_anchor_pos_b",
    "motion_anchor_ori_b",
    "base_lin_vel",
    "base_ang_vel",
    "joint_pos",
    "joint_vel",
    "actions",
)


@dataclass(frozen=True)
class Tracking:
    """Result of one run.

    Attributes:
        share: Share of the motion until the fall; 1 where there is none.
        fell: Whether one of the thresholds was exceeded.
        power: Mean mechanical power of the joints [W].
    """

    share: float
    fell: bool
    power: float


class Tracker:
    """A policy, ready for a robot.

    Args:
        path: The ONNX file.
        robot: The robot; its joints must include those of the policy.

    Raises:
        HumanoidDynamicsError: If the file is absent, too large, lacks metadata, or fits another robot.
        MissingExtraError: If onnxruntime is not installed.
    """

    def __init__(self, path: Path, robot: RobotModel) -> None:
        if not path.is_file() or path.stat().st_size > LARGEST_FILE:
            raise HumanoidDynamicsError(
                f"policy {str(path)!r}: expected an ONNX file of at most {LARGEST_FILE // 2**20} MB"
            )
        try:
            runtime: Any = import_module("onnxruntime")
        except ImportError as cause:
            raise MissingExtraError("onnxruntime", "bench", "a learned tracker") from cause
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        try:
            self._session = runtime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as cause:  # the runtime raises classes of its own
            raise HumanoidDynamicsError(
                f"policy {str(path)!r}: onnxruntime refuses it: {cause}"
            ) from cause
        metadata = dict(self._session.get_modelmeta().custom_metadata_map)
        missing = [key for key in KEYS if not metadata.get(key)]
        if missing:
            raise HumanoidDynamicsError(
                f"policy {str(path)!r}: metadata lack {', '.join(missing)}; found {', '.join(sorted(metadata)) or 'none'}"
            )
        self.robot, self._data = robot, robot.data()
        self._observations = _words(metadata["observation_names"])
        unknown = [name for name in self._observations if name not in TERMS]
        if unknown:
            raise HumanoidDynamicsError(
                f"policy {str(path)!r}: unknown observations {', '.join(unknown)}; known are {', '.join(TERMS)}"
            )
        names = _words(metadata["joint_names"])
        known = {joint.name: joint for joint in robot.joints[1:]}
        strangers = [name for name in names if name not in known]
        if strangers:
            raise HumanoidDynamicsError(
                f"policy {str(path)!r}: robot {robot.name!r} has no joints {', '.join(strangers)}"
            )
        self._joints = np.array([known[name].v.start - 6 for name in names])
        n = len(names)
        self.kp, self.kd, self.default, self.scale = (
            _numbers(metadata[key], n, key)
            for key in ("joint_stiffness", "joint_damping", "default_joint_pos", "action_scale")
        )
        anchor = metadata["anchor_body_name"].strip()
        if not robot.model.existFrame(anchor):
            raise HumanoidDynamicsError(
                f"policy {str(path)!r}: robot {robot.name!r} has no body {anchor!r}"
            )
        self._anchor = robot.model.getFrameId(anchor)
        self._inputs = [entry.name for entry in self._session.get_inputs()]

    def track(self, clip: Clip, conditions: Sequence[Conditions]) -> list[Tracking]:
        """Track a motion under each of some conditions."""
        even = resample(clip, 1.0 / PERIOD)
        moving = differentiate(even.change(v=None, a=None), SMOOTHING)
        return [self._run(moving, each) for each in conditions]

    def act(self, state: State, wanted: State, last: Vector, step: int) -> Vector:
        """Return the action of the policy [-].

        Args:
            state: Measured configuration and velocity.
            wanted: Those of the reference.
            last: The action before.
            step: Number of the control period.
        """
        terms = self._observe(state, wanted, last)
        values = np.concatenate([terms[name] for name in self._observations]).astype(np.float32)[
            None
        ]
        feed = {self._inputs[0]: values}
        if len(self._inputs) > 1:
            feed[self._inputs[1]] = np.array([[float(step)]], dtype=np.float32)
        found = np.asarray(self._session.run(None, feed)[0], dtype=np.float64).ravel()
        if found.shape != self.default.shape:
            raise HumanoidDynamicsError(
                f"policy: {found.size} actions, expected {self.default.size}"
            )
        return found

    def _observe(self, state: State, wanted: State, last: Vector) -> dict[str, Vector]:
        (q, v), (q_ref, v_ref) = state, wanted
        here, there = self._place(q), self._place(q_ref)
        relative = here.actInv(there)
        return {
            "command": np.concatenate((q_ref[7:][self._joints], v_ref[6:][self._joints])),
            "motion_anchor_pos_b": np.array(relative.translation),
            "motion_anchor_ori_b": np.array(relative.rotation[:, :2]).ravel(),
            "base_lin_vel": v[:3],
            "base_ang_vel": v[3:6],
            "joint_pos": q[7:][self._joints] - self.default,
            "joint_vel": v[6:][self._joints],
            "actions": last,
        }

    def _place(self, q: Vector) -> pin.SE3:
        pin.forwardKinematics(self.robot.model, self._data, q)
        return pin.SE3(pin.updateFramePlacement(self.robot.model, self._data, self._anchor))

    def _run(self, moving: Clip, conditions: Conditions) -> Tracking:
        if moving.v is None:
            raise ValueError("expected a clip with velocities")
        rng, plant = (
            np.random.default_rng(conditions.seed),
            Plant(self.robot, conditions.friction, conditions.mass),
        )
        noise = Noise() if conditions.seed else None
        kp, kd, target = (
            np.zeros(self.robot.nv - 6),
            np.zeros(self.robot.nv - 6),
            np.array(moving.q[0][7:]),
        )
        kp[self._joints], kd[self._joints] = self.kp, self.kd
        plant.soften(kd)
        plant.place(moving.q[0], moving.v[0])
        last, power = np.zeros(len(self._joints)), 0.0
        for k in range(len(moving)):
            state = measure(self.robot, plant.state(), noise, rng)
            last = self.act(state, (moving.q[k], moving.v[k]), last, k)
            target[self._joints] = self.default + self.scale * last
            for _ in range(round(PERIOD / STEP)):
                q, v = plant.state()
                tau = kp * (target - q[7:])
                power += float(np.sum(np.abs((tau - kd * v[6:]) * v[6:])))
                plant.drive(tau, 1)
            if self._has_fallen(plant.state()[0], moving.q[k]):
                return Tracking(k / len(moving), True, power / ((k + 1) * round(PERIOD / STEP)))
        return Tracking(1.0, False, power / (len(moving) * round(PERIOD / STEP)))

    def _has_fallen(self, q: Vector, q_ref: Vector) -> bool:
        if not np.isfinite(q).all():
            return True
        ends, ends_ref = self._end_heights(q), self._end_heights(q_ref)
        here, there = self._place(q), self._place(q_ref)
        tilt = float(np.arccos(np.clip(here.rotation[2] @ there.rotation[2], -1.0, 1.0)))
        off = abs(float(here.translation[2] - there.translation[2]))
        return (
            off > HEIGHT_ERROR
            or tilt > TILT
            or float(np.max(np.abs(ends - ends_ref))) > END_HEIGHT_ERROR
        )

    def _end_heights(self, q: Vector) -> Vector:
        """Return heights of soles and of the last link of every branch [m]."""
        model, data = self.robot.model, self._data
        pin.forwardKinematics(model, data, q)
        leaves = [k for k in range(2, model.njoints) if len(model.subtrees[k]) == 1]
        soles = [
            pin.updateFramePlacement(model, data, sole.frame).translation[2]
            for sole in find_soles(self.robot)
        ]
        return np.array([*(data.oMi[k].translation[2] for k in leaves), *soles])


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _numbers(text: str, count: int, key: str) -> Vector:
    try:
        values = np.array([float(word) for word in _words(text)])
    except ValueError as cause:
        raise HumanoidDynamicsError(f"policy: metadata {key!r}: {cause}") from cause
    if values.size == 1:
        values = np.full(count, values[0])
    if values.shape != (count,) or not np.isfinite(values).all():
        raise HumanoidDynamicsError(
            f"policy: metadata {key!r}: {values.size} finite numbers expected for {count} joints"
        )
    return values
