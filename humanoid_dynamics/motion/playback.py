# SPDX-License-Identifier: Apache-2.0
"""A motion ready to be sent in pieces: tables of joints and base at even times, and the load of the soles."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin

from humanoid_dynamics.contact.schedule import ContactInterval, ContactSchedule
from humanoid_dynamics.errors import UnsupportedRobotError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.derivatives import differentiate
from humanoid_dynamics.motion.gait import plan_walk
from humanoid_dynamics.motion.load import load_clip
from humanoid_dynamics.motion.resampling import resample
from humanoid_dynamics.motion.scenarios import SCRIPTS, Scenario, build_scenario
from humanoid_dynamics.motion.schedule import TouchTimes
from humanoid_dynamics.resolution.inverse import InverseDynamics
from humanoid_dynamics.spatial.arrays import Matrix, Vector

CHECKED, MOST_LACKING = 25.0, 0.05  # Hz; of the weight: less is made up for by the controller
LOADING = 0.08  # s; in which a sole of a walk takes or gives its load, inside double support


@dataclass(frozen=True, eq=False)
class Playback:
    """A motion as tables.

    Attributes:
        name: What it is.
        joints: Names of the joints.
        times: (n,) instants from 0 on [s].
        tables: ``positions``, ``velocities`` and ``accelerations``, each (n, joints).
        base: (n, 13) position, quaternion x y z w, velocities in axes of the world; None where the root is fixed.
        schedule: The load of the soles; None where nobody knows.
    """

    name: str
    joints: tuple[str, ...]
    times: Vector
    tables: dict[str, Matrix]
    base: Matrix | None
    schedule: ContactSchedule | None


def build_playback(
    robot: RobotModel, motion: str, rate: float = 50.0, fps: float | None = None
) -> Playback:
    """Prepare a motion.

    Args:
        robot: The robot.
        motion: A scenario, ``walk``, or the path of a motion file.
        rate: Points per second [Hz].
        fps: Samples per second of a motion file that does not say so itself [Hz].

    Returns:
        The motion.

    Raises:
        ClipError: If the file cannot be used.
        UnsupportedRobotError: If the robot cannot do the scenario.
    """
    if motion in SCRIPTS:
        scenario = build_scenario(robot, motion)
        check_motors(scenario)
        return tabulate(resample(scenario.clip, rate), motion, scenario.schedule)
    if motion == "walk":
        walk = plan_walk(robot)
        return tabulate(resample(walk.clip, rate), motion, _loads(walk.schedule))
    return tabulate(
        differentiate(resample(load_clip(Path(motion), robot, fps=fps), rate)),
        Path(motion).name,
        None,
    )


def check_motors(scenario: Scenario) -> None:
    """Refuse a scenario that is far more than motors and contacts of the robot can give.

    Args:
        scenario: The scenario.

    Raises:
        UnsupportedRobotError: If more than ``MOST_LACKING`` of the weight is lacking somewhere.
    """
    clip = resample(scenario.clip, CHECKED)
    robot, surfaces = clip.robot, scenario.schedule.surfaces
    solver, still = (
        InverseDynamics(robot, surfaces),
        np.zeros((len(clip), robot.nv)),
    )
    v, a = (still if given is None else given for given in (clip.v, clip.a))
    for k, t in enumerate(clip.times - clip.times[0]):
        answer = solver.solve(
            np.array(clip.q[k]), np.array(v[k]), np.array(a[k]), scenario.schedule.shares(t)
        )
        if answer.certificate.residual > MOST_LACKING * solver.problem.unit_force:
            lacking = f"at {t:.2f} s {'; '.join(answer.certificate.reasons[:4])}"
            raise UnsupportedRobotError(
                f"scenario {scenario.name}",
                [robot.name],
                f"motors and soles cannot give what it needs {lacking}",
            )


def tabulate(clip: Clip, name: str, schedule: ContactSchedule | None) -> Playback:
    """Return a clip as tables.

    Args:
        clip: The clip, with velocities and accelerations.
        name: What it is.
        schedule: The load of the soles.
    """
    robot = clip.robot
    joints = [
        j
        for j in robot.joints
        if j.kind in {"revolute", "continuous", "prismatic"} and j.v.stop > j.v.start
    ]
    ends = [clip.q[:, joint.q] for joint in joints]
    positions = [
        np.unwrap(np.arctan2(q[:, 1], q[:, 0])) if q.shape[1] == 2 else q[:, 0] for q in ends
    ]
    v = np.zeros((len(clip), robot.nv)) if clip.v is None else clip.v
    a = np.zeros((len(clip), robot.nv)) if clip.a is None else clip.a
    index = [joint.v.start for joint in joints]
    tables = {
        "positions": np.column_stack(positions),
        "velocities": v[:, index],
        "accelerations": a[:, index],
    }
    base = None
    if robot.root == "free_flyer":
        turns = [pin.Quaternion(q[3:7]).matrix() for q in clip.q]
        base = np.array(
            [
                [*q[:7], *(R @ w[:3]), *(R @ w[3:6])]
                for q, w, R in zip(clip.q, v, turns, strict=True)
            ]
        )
    return Playback(
        name,
        tuple(joint.name for joint in joints),
        clip.times - clip.times[0],
        tables,
        base,
        schedule,
    )


def _loads(schedule: TouchTimes) -> ContactSchedule:
    """Return the loads of a walk: quick, and inside the time in which both soles stand."""
    found = []
    for surface, intervals in schedule.intervals.items():
        for start, end in intervals:
            first, last = start <= schedule.start, end >= schedule.end
            begin, stop = (-np.inf if first else start), (np.inf if last else end)
            found.append(
                ContactInterval(
                    surface, begin, stop, 0.0 if first else LOADING, 0.0 if last else LOADING
                )
            )
    return ContactSchedule.of(found)
