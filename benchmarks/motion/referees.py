# SPDX-License-Identifier: Apache-2.0
"""Referees in MuJoCo that judge a raw motion and its filtered form alike.

virtual_wrench
    Joint PD with feed-forward torques follows the motion while a wrench on the pelvis keeps it within about 5 cm and 5 degrees of the
    reference.  The score is the mean magnitude of that wrench over the weight: continuous, lower is better.
tick
    The filter of this package on the measured state tracks the motion with torques alone.  The score is the share of the time it stands.
policy
    A learned tracker, given as an ONNX file; see ``tracker``.

Seeds pair raw and filtered: both are judged with the same mass, friction and noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from scipy.stats import binomtest

from benchmarks.motion.plant import (
    CONTROL,
    FRICTION,
    HOLD,
    STEP,
    Plant,
    explain,
    joint_gains,
    run_closed_loop,
    settle,
)
from humanoid_dynamics.filtering.clip_feed import samples_with_holds
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.spatial.arrays import Vector

REACH, TURN = 0.05, np.deg2rad(5.0)  # m, rad: deviation at which the wrench equals STRENGTH weights
STRENGTH = 2.0  # weights
DAMPING = 0.3  # of the square root of stiffness times inertia, stiffness that of the linear spring through the same point
GYRATION = 0.3  # m; radius of gyration by which the damping of the moment is set
STIFFNESS = 2.0  # of the joint gains
SUBSTEPS = 1  # steps of the plant for each evaluation of the joint control
MASS, GRIP = (0.9, 1.1), (0.6, 1.0)  # ranges of the factor on mass and of the friction coefficient
ENCODER = 1e-3  # rad; standard deviation of measured joint angles


@dataclass(frozen=True)
class Conditions:
    """Physical conditions of one seed.

    Attributes:
        seed: Of noise.
        mass: Factor on the mass of every body.
        friction: Coulomb coefficient.
    """

    seed: int
    mass: float = 1.0
    friction: float = FRICTION


def draw_conditions(seed: int) -> Conditions:
    """Return the conditions of a seed; nominal ones for seed 0."""
    if seed == 0:
        return Conditions(0)
    rng = np.random.default_rng(seed)
    return Conditions(seed, float(rng.uniform(*MASS)), float(rng.uniform(*GRIP)))


def score_virtual_wrench(
    robot: RobotModel, clip: Clip, conditions: Sequence[Conditions]
) -> list[float]:
    """Return the mean virtual wrench for each of some conditions, in weights; lower is better.

    Args:
        robot: The robot.
        clip: The motion; its own feed-forward torques are computed here, so that raw and filtered motions are treated alike.
        conditions: Mass, friction and noise.
    """
    moving, torques = explain(robot, clip)
    shift = settle(robot, moving)[2] - moving.q[0][2]
    return [_follow(robot, moving, torques, shift, each) for each in conditions]


def _follow(
    robot: RobotModel, moving: Clip, torques: list[Vector], shift: float, conditions: Conditions
) -> float:
    if moving.v is None:
        raise ValueError("expected a clip with velocities")
    rng, plant = (
        np.random.default_rng(conditions.seed),
        Plant(robot, conditions.friction, conditions.mass),
    )
    weight, height = (
        robot.mass * float(np.linalg.norm(robot.model.gravity.linear)),
        float(robot.posture[2]),
    )
    wrench = _PelvisWrench(robot.mass, weight, height)
    kp = STIFFNESS * joint_gains(robot)
    kd = 0.1 * kp / np.sqrt(STIFFNESS)
    plant.soften(kd, wrench.damping)
    start = np.array(moving.q[0])
    start[2] += shift
    plant.place(start, np.zeros(robot.nv))
    used: list[float] = []
    for row in range(-round(HOLD / CONTROL), len(moving)):
        k = max(row, 0)
        wanted, rates = np.array(moving.q[k]), moving.v[k] * (row >= 0)
        wanted[2] += shift
        for _ in range(round(CONTROL / STEP / SUBSTEPS)):
            q, v = plant.state()
            seen = q[7:] + ENCODER * rng.standard_normal(len(q) - 7)
            size, force, moment = wrench.evaluate((wanted, rates), (q, v))
            plant.drive(
                torques[k] + kp * (wanted[7:] - seen) + kd * rates[6:], SUBSTEPS, force, moment
            )
            if row >= 0:
                used.append(size)
        if not np.isfinite(plant.data.qpos).all():
            return float("inf")
    return float(np.mean(used))


class _PelvisWrench:
    """Cubic spring and damper between the pelvis and its reference; the plant integrates the damper implicitly.

    A cubic spring leaves small offsets alone, such as those of a foot that lands a centimetre from its place, and has no corner at which
    the score would saturate.
    """

    def __init__(self, mass: float, weight: float, height: float) -> None:
        self._weight, self._height = weight, height
        self._k, self._k_turn = STRENGTH * weight / REACH, STRENGTH * weight * height / TURN
        d, d_turn = (
            DAMPING * np.sqrt(self._k * mass),
            DAMPING * np.sqrt(self._k_turn * mass) * GYRATION,
        )
        self.damping: Vector = np.repeat((d, d_turn), 3)

    def evaluate(
        self, wanted: tuple[Vector, Vector], state: tuple[Vector, Vector]
    ) -> tuple[float, Vector, Vector]:
        """Return the size of the whole wrench in weights, and its force in world axes and moment in base axes without the damping."""
        (q_ref, v_ref), (q, v) = wanted, state
        R_ref, R = pin.Quaternion(q_ref[3:7]).matrix(), pin.Quaternion(q[3:7]).matrix()
        d, d_turn = self.damping[0], self.damping[3]
        off, turn = q_ref[:3] - q[:3], pin.log3(R.T @ R_ref)
        force = self._k * (off @ off / REACH**2) * off + d * (R_ref @ v_ref[:3])
        moment = self._k_turn * (turn @ turn / TURN**2) * turn + d_turn * (R.T @ R_ref @ v_ref[3:6])
        size = (
            np.linalg.norm(force - d * (R @ v[:3]))
            + np.linalg.norm(moment - d_turn * v[3:6]) / self._height
        )
        return float(size) / self._weight, force, np.array(moment)


def score_tick(robot: RobotModel, clip: Clip, conditions: Sequence[Conditions]) -> list[float]:
    """Return the share of a motion during which the measured-state filter keeps the plant on its feet, for each of some conditions."""
    samples = list(samples_with_holds(clip))
    length = samples[-1][0]
    shares = []
    for each in conditions:
        plant = Plant(robot, each.friction, each.mass)
        fell, frames, _ = run_closed_loop(robot, samples, seed=each.seed, plant=plant)
        shares.append(1.0 if fell is None and frames else (fell or 0.0) / length)
    return shares


@dataclass(frozen=True)
class Comparison:
    """Filtered against raw by a paired sign test over clips.

    Attributes:
        better: Clips on which filtered is better.
        worse: Clips on which it is worse.
        p_value: Two-sided probability of so uneven a count by chance.
    """

    better: int
    worse: int
    p_value: float


def compare_pairs(
    raw: Sequence[float], filtered: Sequence[float], *, lower_is_better: bool
) -> Comparison:
    """Compare scores clip by clip; equal scores do not count.

    Args:
        raw: Scores of raw motions.
        filtered: Scores of the same motions after the filter.
        lower_is_better: Sense of the score.
    """
    sign = 1.0 if lower_is_better else -1.0
    gains = [sign * (a - b) for a, b in zip(raw, filtered, strict=True) if a != b]
    better = sum(gain > 0.0 for gain in gains)
    p_value = float(binomtest(better, len(gains)).pvalue) if gains else 1.0
    return Comparison(better, len(gains) - better, p_value)
