# SPDX-License-Identifier: Apache-2.0
"""Reference motions of the experiments of the paper: squat, kick, and a walk laid on a slope [DF, sec. 5]."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.derivatives import differentiate
from humanoid_dynamics.motion.inverse_kinematics import COM, InverseKinematics, Task
from humanoid_dynamics.motion.quintic import quintic
from humanoid_dynamics.motion.resampling import align_signs
from humanoid_dynamics.spatial.arrays import Matrix, Vector

SEARCH = 25
REST = 0.1  # weight of the distance from the posture [1/rad]


def build_squat(
    robot: RobotModel, dt: float, *, seconds: float = 8.0, rate: float = 0.5, depth: float = 0.12
) -> Clip:
    """Squat: hips and ankles follow the knees, the soles stay, the centre of mass goes straight down.

    Args:
        robot: A robot that stands on two soles.
        dt: Step [s].
        seconds: How long.
        rate: Squats per second [Hz].
        depth: How deep [m].

    Returns:
        The clip, with velocities and accelerations.
    """
    times = np.arange(round(seconds / dt) + 1, dtype=np.float64) * dt
    down = (
        0.5
        * depth
        * (1.0 - np.cos(2.0 * np.pi * rate * times))
        * quintic(times / 2.0)
        * quintic((times[-1] - times) / 2.0)
    )
    com, soles, turns = _stand(robot)
    places = np.tile(np.array([com, *soles, np.zeros(3)]), (len(times), 1, 1))
    places[:, 0, 2] -= down
    return _search(robot, times, places, np.tile(turns, (len(times), 1, 1, 1)), "squat")


def build_kick(
    robot: RobotModel,
    dt: float,
    *,
    reach: Sequence[float] = (0.4, 0.0, 0.4),
    shift: float = 1.5,
    raised: float = 0.8,
    out: float = 0.4,
) -> Clip:
    """Kick forwards: the weight goes onto the left foot, the right one is lifted, thrown forward, drawn back and put down.

    Only the place of the centre of mass is chosen, over the standing foot; what the thrown leg does to the zero-moment point is not looked
    at, so the motion is not consistent.

    Args:
        robot: A robot that stands on two soles.
        dt: Step [s].
        reach: (3,) how far the foot goes from where it stood: forward, to the left, up [m].
        shift: How long the weight takes to go over [s].
        raised: How long the foot takes to be lifted and to be put down [s].
        out: How long the foot takes to be thrown out, and to come back [s].

    Returns:
        The clip, with velocities and accelerations.
    """
    com, soles, turns = _stand(robot)
    low = np.array([0.0, 0.0, 0.12])
    keys = [np.zeros(3), np.zeros(3), low, low, np.array(reach), low, low, np.zeros(3), np.zeros(3)]
    ends = np.cumsum([shift, raised, 0.2, out, out, 0.4, raised, shift])
    times = np.arange(round(float(ends[-1]) / dt) + 1, dtype=np.float64) * dt
    foot = np.zeros((len(times), 3))
    for start, end, before, after in zip((0.0, *ends[:-1]), ends, keys, keys[1:], strict=False):
        share = quintic((times - start) / (end - start))
        foot += share[:, None] * (after - before)
    over = quintic(times / shift) * quintic((ends[-1] - times) / shift)
    places = np.tile(np.array([com, *soles, np.zeros(3)]), (len(times), 1, 1))
    stance = find_soles(robot)[0]
    places[:, 0, :2] += over[:, None] * (soles[0] + np.mean(stance.vertices, axis=0) - com)[:2]
    places[:, 2] += foot
    return _search(robot, times, places, np.tile(turns, (len(times), 1, 1, 1)), "kick")


def lay_on_slope(clip: Clip, angle: float, lowered: float = 0.0) -> Clip:
    """Take a motion on level ground to a slope: the body keeps its height above the ground, the soles are turned along it.

    Nothing else is changed; joints follow by inverse kinematics, without regard to their limits.

    Args:
        clip: The clip, on level ground.
        angle: How steep, uphill along x [rad].
        lowered: By how much the body is lowered [m].

    Returns:
        The clip, with velocities and accelerations.
    """
    robot, data, soles = clip.robot, clip.robot.data(), find_soles(clip.robot)
    base = int(robot.model.getFrameId(robot.links[0]))
    frames, R = [*(sole.frame for sole in soles), base], pin.utils.rotate("y", -angle)
    places, turns = np.empty((len(clip), 3, 3)), np.empty((len(clip), 3, 3, 3))
    for row, q in enumerate(clip.q):
        pin.framesForwardKinematics(robot.model, data, q)
        for k, frame in enumerate(frames):
            X = data.oMf[frame]
            places[row, k] = X.translation + np.array(
                [0.0, 0.0, np.tan(angle) * X.translation[0] - (lowered if frame == base else 0.0)]
            )
            turns[row, k] = X.rotation if frame == base else R @ X.rotation
    tasks = [Task(sole.name, sole.frame, place=1.0, turn=1.0, hard=True) for sole in soles] + [
        Task("base", base, place=10.0, turn=10.0)
    ]
    search = InverseKinematics(robot, tasks, _rest(robot), keep_limits=False)
    q = np.array(clip.q)
    for row in range(len(clip)):
        shift = (
            pin.difference(robot.model, clip.q[row - 1], q[row - 1]) if row else np.zeros(robot.nv)
        )
        start = pin.integrate(robot.model, clip.q[row], shift)
        q[row] = search.solve(start, places[row], turns[row], rest=clip.q[row], most=SEARCH).q
    return differentiate(clip.change(q=align_signs(robot, q), v=None, a=None))


def _stand(robot: RobotModel) -> tuple[Vector, list[Vector], Matrix]:
    """Return the centre of mass, the places of both soles, and the orientations of all tasks, in the resting posture."""
    data, soles = robot.data(), find_soles(robot)
    pin.framesForwardKinematics(robot.model, data, robot.posture)
    com = np.array(pin.centerOfMass(robot.model, data, robot.posture))
    X = [data.oMf[sole.frame] for sole in soles]
    base = data.oMf[robot.model.getFrameId(robot.links[0])]
    return (
        com,
        [np.array(x.translation) for x in X],
        np.array([np.eye(3), *(np.array(x.rotation) for x in X), np.array(base.rotation)]),
    )


def _search(robot: RobotModel, times: Vector, places: Matrix, turns: Matrix, name: str) -> Clip:
    """Find all joints from the centre of mass and both soles; the base stays upright."""
    base = int(robot.model.getFrameId(robot.links[0]))
    tasks = [Task("com", COM, place=1.0, hard=True)]
    tasks += [
        Task(sole.name, sole.frame, place=1.0, turn=1.0, hard=True) for sole in find_soles(robot)
    ]
    tasks.append(Task("base", base, turn=1.0))
    search = InverseKinematics(robot, tasks, _rest(robot), keep_limits=False)
    q = np.empty((len(times), robot.nq))
    for row in range(len(times)):
        start = (
            robot.posture
            if row == 0
            else pin.integrate(
                robot.model, q[row - 1], pin.difference(robot.model, q[max(row - 2, 0)], q[row - 1])
            )
        )
        q[row] = search.solve(start, places[row], turns[row], rest=robot.posture, most=SEARCH).q
    return differentiate(
        Clip(robot, times, align_signs(robot, q), origin=f"{name} of {robot.name}")
    )


def _rest(robot: RobotModel) -> Vector:
    weight = np.full(robot.nv, REST)
    weight[:6] = 0.0
    return weight
