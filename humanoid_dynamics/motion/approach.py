# SPDX-License-Identifier: Apache-2.0
"""The way from the resting posture of a robot to the first posture of a motion: a robot that stands elsewhere cannot begin to follow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.playback import Playback
from humanoid_dynamics.spatial.arrays import Vector

BEFORE, AFTER = 0.5, 1.0  # s of rest in the resting posture and in the first posture
SHORTEST = 1.5  # s
SPEED = 0.5  # rad/s or m/s; of the fastest joint


def add_approach(robot: RobotModel, playback: Playback, rate: float = 50.0) -> Playback:
    """Return a motion that begins at rest in the resting posture, goes to its first posture and rests there.

    The mean place and heading of the soles stay those of the first posture.  A robot whose root is not free, or that has no soles, gets its
    motion back.  The motion has no schedule of contacts.

    Args:
        robot: The robot.
        playback: The motion.
        rate: Points per second of the way [Hz].
    """
    if playback.base is None or not robot.stance:
        return playback
    joints = [robot.joint(name) for name in playback.joints]
    rest = np.array([_position(robot.posture[joint.q]) for joint in joints])
    first = playback.tables["positions"][0]
    duration = max(SHORTEST, 1.875 * float(np.abs(first - rest).max()) / SPEED)
    times = np.arange(0.0, BEFORE + duration + AFTER, 1.0 / rate)
    s = np.clip((times - BEFORE) / duration, 0.0, 1.0)
    way, pace = s**3 * (10.0 + s * (6.0 * s - 15.0)), 30.0 * s**2 * (1.0 - s) ** 2 / duration
    curve = 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / duration**2
    soles = _Soles(robot)

    def posture(positions: Vector, R: Vector) -> Vector:
        q = np.array(robot.posture)
        q[:3], q[3:7] = 0.0, pin.Quaternion(R).coeffs()
        for joint, position in zip(joints, positions.tolist(), strict=True):
            q[joint.q] = (
                (np.cos(position), np.sin(position))
                if joint.q.stop - joint.q.start == 2
                else position
            )
        return q

    end = pin.Quaternion(playback.base[0, 3:7]).matrix()
    place, heading = soles.find(posture(first, end))
    upright = pin.Quaternion(robot.posture[3:7]).matrix()
    begin = (
        pin.exp3(np.array((0.0, 0.0, heading - soles.find(posture(rest, upright))[1]))) @ upright
    )
    turn = pin.log3(begin.T @ end)
    positions = rest + np.outer(way, first - rest)
    base = np.zeros((len(times), 13))
    for row, w, p, at in zip(base, way.tolist(), pace.tolist(), positions, strict=True):
        q = posture(at, begin @ pin.exp3(w * turn))
        row[:3], row[3:7] = playback.base[0, :3] + place - soles.find(q)[0], q[3:7]
        row[10:] = begin @ (p * turn)
    base[:, 7:10] = np.gradient(base[:, :3], times, axis=0)
    moves = {
        "positions": positions,
        "velocities": np.outer(pace, first - rest),
        "accelerations": np.outer(curve, first - rest),
    }
    after = times[-1] + 1.0 / rate
    return replace(
        playback,
        times=np.concatenate((times, playback.times + after)),
        tables={name: np.vstack((moves[name], table)) for name, table in playback.tables.items()},
        base=np.vstack((base, playback.base)),
    )


class _Soles:
    """Finds mean place and heading of the soles a robot rests on."""

    def __init__(self, robot: RobotModel) -> None:
        self._model, self._data = robot.model, robot.data()
        self._frames = [robot.surface(name).frame for name in robot.stance]

    def find(self, q: Vector) -> tuple[Vector, float]:
        """Return mean place (3,) [m] and heading [rad] of the soles in a configuration."""
        pin.framesForwardKinematics(self._model, self._data, q)
        placed = [self._data.oMf[frame] for frame in self._frames]
        x, y = np.sum(
            [
                X.rotation[:2, 0] / max(float(np.linalg.norm(X.rotation[:2, 0])), 1e-9)
                for X in placed
            ],
            axis=0,
        )
        place: Vector = np.mean([X.translation for X in placed], axis=0)
        return place, float(np.arctan2(y, x))


def _position(part: Vector) -> float:
    return float(np.arctan2(part[1], part[0]) if len(part) == 2 else part[0])
