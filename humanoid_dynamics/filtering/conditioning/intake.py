"""The door of the stream: samples as they come, at any rate and of any quality, to samples one can go on with."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector

BASE = 6
NORMAL = 0.05  # how far the length of a quaternion may be from one
JUMP = 0.15  # m; beyond what the base can run, a longer way from sample to sample is another place, and the stream goes on where it was
TURN = 1.0  # rad; likewise for the heading
FASTEST_BASE = (4.0, 12.0)  # m/s and rad/s
FASTEST_JOINT = 30.0  # rad/s, where the robot sets no limit
LONGEST_GAP = 0.5  # s; after a longer silence time does not wait for what was missed
REMEMBERED = 0.2  # weight of a new sample in what is known about noise
NOISY = (0.02, 80.0)  # rad and rad/s^2; differences of steps that are larger, over all joints, are no motion but noise
LEAST_TAKEN = 0.05  # share of a noisy step that is taken
STEEPEST = np.deg2rad(75.0)  # how far a base may lean; a robot on its feet cannot follow further


class Intake:
    """Accept samples one by one; what cannot be used is left out and told, what jumps is made to run.

    A new place or heading from one sample to the next is taken as a new origin of the reference, not as a motion.  All other coordinates
    follow as fast as the robot can.
    """

    def __init__(self, robot: RobotModel, *, keep_limits: bool = True) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base.
            keep_limits: Whether samples are moved into the position and speed limits of joints.
        """
        self._model = robot.model
        known = np.isfinite(robot.limits.velocity) & keep_limits
        speed = np.where(known, robot.limits.velocity, FASTEST_JOINT)
        speed[:3], speed[3:BASE] = FASTEST_BASE
        self._speed = np.maximum(speed, 1e-3)
        self._lower, self._upper = np.array(robot.limits.lower), np.array(robot.limits.upper)
        self._lower[:7], self._upper[:7] = -np.inf, np.inf
        if not keep_limits:
            self._lower[:], self._upper[:] = -np.inf, np.inf
        self.restart()

    def restart(self) -> None:
        """Forget the stream."""
        self.time = -np.inf
        self.q: Vector | None = None
        self._origin = pin.SE3.Identity()
        self._raw: Vector | None = None
        self._last_rate: Vector | None = None
        self._noise = 0.0

    def take(self, time: float, q: Vector) -> str:
        """Take one sample; afterwards ``time`` and ``q`` are the sample to go on with.

        Args:
            time: Its instant [s].
            q: (nq,) configuration.

        Returns:
            ``ok``; ``moved`` where it jumped to another place, ``limited`` where it is faster than the robot, ``noisy`` where noise is
            taken out; or why it was left out:
            ``wrong_shape``, ``not_finite``, ``not_unit``, ``late``, ``leaning``.
        """
        sample = np.array(q, dtype=np.float64)
        fault = self._fault(time, sample)
        if fault:
            return fault
        sample[3:7] /= np.linalg.norm(sample[3:7])
        np.clip(sample, self._lower, self._upper, sample)
        if self.q is None:
            self.time, self.q = time, sample
            return "ok"
        gap = min(time - self.time, LONGEST_GAP)
        status = "ok"
        sample = self._placed(sample)
        if self._jumps(sample, gap):
            self._move_origin(sample)
            sample = self._placed(np.array(q, dtype=np.float64))
            np.clip(sample, self._lower, self._upper, sample)
            status = "moved"
        step = pin.difference(self._model, self.q, sample)
        share = self._share_of(sample, gap, fresh=status == "moved")
        if share < 1.0:
            step, status = share * step, "noisy" if status == "ok" else status
            sample = pin.integrate(self._model, self.q, step)
        most = self._speed * gap
        if (np.abs(step) > most).any():
            step = np.clip(step, -most, most)
            sample = pin.integrate(self._model, self.q, step)
            status = "limited" if status == "ok" else status
        if float(sample[3:7] @ self.q[3:7]) < 0.0:
            sample[3:7] *= -1.0
        self.time, self.q = time, sample
        return status

    def _fault(self, time: float, sample: Vector) -> str:
        if sample.shape != (self._model.nq,):
            return "wrong_shape"
        if not (np.isfinite(time) and np.isfinite(sample).all()):
            return "not_finite"
        if abs(float(np.linalg.norm(sample[3:7])) - 1.0) > NORMAL or not pin.isNormalized(self._model, sample, NORMAL):
            return "not_unit"
        if time <= self.time:
            return "late"
        x, y = sample[3:5] / np.linalg.norm(sample[3:7])
        return "leaning" if 1.0 - 2.0 * (x * x + y * y) < np.cos(STEEPEST) else ""

    def _share_of(self, sample: Vector, gap: float, *, fresh: bool) -> float:
        """Return what share of a step is taken: less where steps of many joints go to and fro."""
        raw, last = self._raw, self._last_rate
        self._raw, self._last_rate = np.array(sample), None
        if fresh or raw is None:
            return 1.0
        rate = self._last_rate = pin.difference(self._model, raw, sample) / gap
        if last is not None:
            self._noise += REMEMBERED * (float(np.mean(np.abs(rate - last))) * gap - self._noise)
        usual = NOISY[0] + NOISY[1] * gap * gap
        return float(np.clip((usual / max(self._noise, 1e-9)) ** 2, LEAST_TAKEN, 1.0))

    def _placed(self, sample: Vector) -> Vector:
        placed = np.array(sample)
        placed[3:7] /= np.linalg.norm(placed[3:7])
        placed[:7] = pin.SE3ToXYZQUAT(self._origin * pin.XYZQUATToSE3(placed[:7]))
        return placed

    def _jumps(self, sample: Vector, gap: float) -> bool:
        last = self.q if self.q is not None else sample
        way = float(np.hypot(*(sample[:2] - last[:2])))
        turn = abs(_heading_between(last, sample))
        return way > JUMP + FASTEST_BASE[0] * gap or turn > TURN + FASTEST_BASE[1] * gap

    def _move_origin(self, sample: Vector) -> None:
        last = self.q if self.q is not None else sample
        now = pin.XYZQUATToSE3(sample[:7])
        turn = pin.utils.rotate("z", -_heading_between(last, sample))
        place = np.array([last[0], last[1], 0.0]) - turn @ np.array([now.translation[0], now.translation[1], 0.0])
        self._origin = pin.SE3(turn, place) * self._origin


def _heading_between(q: Vector, other: Vector) -> float:
    """Return by how much the heading of the base changes from one configuration to another [rad]."""
    R = pin.Quaternion(other[3:7]).matrix() @ pin.Quaternion(q[3:7]).matrix().T
    return float(np.arctan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1]))
