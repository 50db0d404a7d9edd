# SPDX-License-Identifier: Apache-2.0
"""Balance control on the estimated state, with MuJoCo as the robot: an IMU and encoders, no foot sensors.

    python -m benchmarks.estimated_loop [--robots g1,human28] [--seed 1] [--json]

Each scenario runs with true odometry and true joint states, and on the estimate from noisy sensors with unknown biases.
The centre of mass is compared with that of the reference relative to the feet at the start.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pinocchio as pin

import humanoid_dynamics as hd
from benchmarks.motion.plant import STEP, Plant
from humanoid_dynamics.contact.schedule import ContactSchedule
from humanoid_dynamics.control.balance import BalanceController
from humanoid_dynamics.control.balance_settings import BalanceSettings
from humanoid_dynamics.estimation import BaseEstimator
from humanoid_dynamics.filtering.fallen import has_fallen
from humanoid_dynamics.filtering.proportions import upward_of
from humanoid_dynamics.model.imu import ImuErrors
from humanoid_dynamics.motion.playback import build_playback
from humanoid_dynamics.simulation.sensors import SimulatedImu
from humanoid_dynamics.spatial.arrays import Vector

PERIOD, CALIBRATION, PUSH_AT, PUSH_TIME = 0.002, 2.0, 0.5, 0.1  # s
ERRORS = ImuErrors(gyro_noise=0.005, acc_noise=0.05, gyro_bias=0.005, acc_bias=0.05)
ENCODER, VELOCITY, EFFORT = 2e-4, 0.02, 0.3  # rad, rad/s, N·m
IMPULSE = 0.12  # N·s of a push per kg of the robot
DIRECTIONS = {"front": (1, 0), "back": (-1, 0), "left": (0, 1), "right": (0, -1)}
LENGTH = {"stand": 3.0, "squat": 5.0, "push": 2.5}  # s


class SensedPlant:
    """A robot in MuJoCo with sensors and an estimator."""

    def __init__(self, robot: hd.RobotModel, seed: int) -> None:
        imu = replace(robot.imus["base"], errors=ERRORS)
        self.robot, self.plant = robot, Plant(robot)
        self._random = np.random.default_rng(seed)
        self._imu, self._data = SimulatedImu(imu, self._random), robot.data()
        link = robot.model.frames[robot.link_frame(imu.link)]
        self._joint, self._X_JI = link.parentJoint, link.placement * imu.X_LI
        self.estimator = BaseEstimator(robot, imu.link, imu.X_LI)
        self.tau = np.zeros(robot.nv - 6)
        start = robot.posture, np.zeros(robot.nv)
        self.plant.place(*start)
        for k in range(round(CALIBRATION / PERIOD), 0, -1):
            self._imu.restart()
            self.sense(-k * PERIOD, self.plant.state())

    def sense(self, t: float, state: tuple[Vector, Vector]) -> tuple[Vector, Vector]:
        """Give the estimator a sample of each sensor, and return what the encoders measure."""
        q, v = state
        pin.forwardKinematics(self.robot.model, self._data, q, v)
        sample = self._imu.sample(
            t,
            self._data.oMi[self._joint] * self._X_JI,
            self._X_JI.actInv(self._data.v[self._joint]),
            np.array((0.0, 0.0, -9.81)),
        )
        noise = self._random.standard_normal((3, self.robot.nv - 6))
        joints = q[7:] + ENCODER * noise[0], v[6:] + VELOCITY * noise[1]
        self.estimator.add_imu(t, sample.gyro, sample.acc)
        self.estimator.add_joints(t, *joints, self.tau + EFFORT * noise[2])
        return joints


def run_scenario(
    robot: hd.RobotModel,
    scenario: str,
    direction: str,
    *,
    estimated: bool,
    seed: int,
    impulse: float = IMPULSE,
) -> dict[str, float]:
    """Return whether and when the robot fell, and the error of its centre of mass.

    Args:
        robot: The robot.
        scenario: ``stand``, ``squat`` or ``push``.
        direction: Direction of the push.
        estimated: Whether the controller has the estimate, or the truth.
        seed: Seed of sensor noise and biases.
        impulse: Impulse of the push [N·s per kg].
    """
    sensed = SensedPlant(robot, seed)
    plant = sensed.plant
    source = "estimate" if estimated else "assumed"
    controller = BalanceController(robot, BalanceSettings(contact_source=source))
    names, up = robot.coordinates[6:], upward_of(robot.posture)
    reference, errors, heights = robot.posture[2], [], []
    if scenario == "squat":
        _play(robot, controller)
    com = _com(robot, robot.posture)
    force = np.array((*DIRECTIONS[direction], 0.0)) * impulse * robot.mass / PUSH_TIME
    for k in range(round(LENGTH[scenario] / PERIOD)):
        t, (q, v) = k * PERIOD, plant.state()
        if has_fallen(q, reference, up):
            return {"fell": t, "com": float("nan"), "end": float("nan"), "height": float("nan")}
        joints = sensed.sense(t, (q, v))
        base, twist = q[:7], v[:6]
        if estimated:
            x = sensed.estimator.estimate(t)
            base, twist = x.q_base, x.v_base
            heights.append(base[2] - q[2])
            for contact in x.contacts:
                controller.observe_contact_probability(contact.name, contact.probability, t)
        else:
            joints = q[7:], v[6:]
        controller.observe_base(base, twist, t, t)
        controller.observe_joints(names, *joints, t, t)
        torques = controller.command(t)
        sensed.tau[robot.actuated_v - 6] = torques.tau
        pushed = scenario == "push" and PUSH_AT <= t < PUSH_AT + PUSH_TIME
        plant.drive(sensed.tau, round(PERIOD / STEP), force if pushed else None)
        wanted = _com(robot, controller.reference.at(t, t).q) if scenario == "squat" else com
        error = _com(robot, q) - wanted
        errors.append(np.linalg.norm(error[2:] if scenario == "squat" else error[:2]))
    return {
        "fell": float("nan"),
        "com": float(np.max(errors)),
        "end": float(np.mean(errors[-100:])),
        "height": float(np.ptp(heights)) if heights else 0.0,
    }


def _play(robot: hd.RobotModel, controller: BalanceController) -> None:
    playback = build_playback(robot, "squat")
    times = [round((0.3 + t) * 1e9) for t in playback.times]
    controller.reference.put_joints(playback.joints, times, playback.tables)
    if playback.base is None or playback.schedule is None:
        raise ValueError("expected a motion with a base and a schedule")
    controller.reference.put_base(times, playback.base)
    moved = (replace(i, start=i.start + 0.3, end=i.end + 0.3) for i in playback.schedule.intervals)
    controller.schedule(ContactSchedule.of(moved), 0.0)


def _com(robot: hd.RobotModel, q: Vector) -> Vector:
    return np.asarray(pin.centerOfMass(robot.model, robot.data(), q)).copy()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all scenarios and print a line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robots", default="g1,human28", help="catalogue names")
    parser.add_argument("--seed", type=int, default=1, help="seed of noise and biases")
    parser.add_argument("--scenarios", default="stand,squat,push", help="scenarios to run")
    parser.add_argument("--impulse", type=float, default=IMPULSE, help="push [N s per kg]")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    found = {}
    for name in options.robots.split(","):
        robot = hd.load_robot(name)
        for scenario in options.scenarios.split(","):
            for direction in DIRECTIONS if scenario == "push" else ("front",):
                for estimated in (False, True):
                    result = run_scenario(
                        robot,
                        scenario,
                        direction,
                        estimated=estimated,
                        seed=options.seed,
                        impulse=options.impulse,
                    )
                    label = f"{name} {scenario} {direction if scenario == 'push' else ''}".strip()
                    label += " estimated" if estimated else " true"
                    found[label] = result
                    if not options.json:
                        cells = " ".join(f"{key} {value:7.4f}" for key, value in result.items())
                        sys.stdout.write(f"{label:32} {cells}\n")
                        sys.stdout.flush()
    if options.json:
        sys.stdout.write(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
