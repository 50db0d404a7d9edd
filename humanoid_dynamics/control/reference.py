"""A reference that comes in pieces, read at any time; where it jumps, it is blended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pinocchio as pin

from humanoid_dynamics.control.whole_body import Wanted
from humanoid_dynamics.errors import UnsupportedRobotError
from humanoid_dynamics.model.joint import Joint
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector

MEASURABLE = ("revolute", "continuous", "prismatic")
MOST_KNOTS = 20_000
NS = 1e-9
BEHIND = 1_000_000_000  # ns of what is over that are kept
JUMP = 1e-3  # rad or m; a smaller one is not worth a blend
BASE = 13  # position, quaternion x y z w, linear and angular velocity in axes of the world


class Track:
    """Values at knots of time, joined by cubics: pieces overwrite what was said about times from their first knot on."""

    def __init__(self) -> None:
        self.times: list[int] = []
        self.rows: list[Vector] = []

    def put(self, times: Sequence[int], rows: Sequence[Vector]) -> None:
        """Take a piece.

        Args:
            times: Knots, rising [ns].
            rows: What they hold.
        """
        keep = next((i for i, t in enumerate(self.times) if t >= times[0]), len(self.times))
        self.times[keep:], self.rows[keep:] = list(times), list(rows)

    def forget(self, before: int) -> None:
        """Drop the knots nobody will ask for any more, all but one before a time [ns]."""
        while len(self.times) > MOST_KNOTS or (len(self.times) > 1 and self.times[1] <= before):
            del self.times[0], self.rows[0]

    def find(self, t: int) -> tuple[int, float, float]:
        """Return the knot before a time, the share of the way to the next, and the time between them [s]; 0 and 0 beyond the ends."""
        times = self.times
        if t < times[0]:
            return 0, 0.0, 0.0
        if t >= times[-1]:
            return len(times) - 1, 0.0, 0.0
        low, high = 0, len(times) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if times[middle] <= t else (low, middle)
        span = times[high] - times[low]
        return low, (t - times[low]) / span, span * NS


class Reference:
    """What a robot is asked to do, from trajectories of joints and of the base.

    Attributes:
        robot: The robot.
        fault: Why the last piece was refused; empty where it was taken.
    """

    def __init__(self, robot: RobotModel, blend: float = 0.5) -> None:
        """Begin without a reference.

        Args:
            robot: The robot.
            blend: Time in which a jump of the reference is taken [s].

        Raises:
            UnsupportedRobotError: If one number a joint does not tell the configuration.
        """
        self.robot, self.blend = robot, blend
        self._joints = measured_joints(robot)
        self._index = {joint.name: i for i, joint in enumerate(self._joints)}
        self._tracks, self._base = Track(), Track()
        self._rest = np.zeros((len(self._joints), 3))
        self._rest[:, 0] = [joint_position(joint, robot.posture) for joint in self._joints]
        self._zero: Vector = np.zeros(robot.nv)
        self._offset = self._zero
        self._blend_from = -np.inf
        self._last: Wanted | None = None
        self._came = self._held = False
        self.fault = ""

    @property
    def begun(self) -> bool:
        """Whether a piece has come."""
        return bool(self._tracks.times)

    @property
    def end(self) -> float:
        """Where the reference ends [s]; minus infinity where there is none."""
        return self._tracks.times[-1] * NS if self._tracks.times else -np.inf

    def hold(self, q: Vector) -> None:
        """Hold a configuration until the first knot of what came and comes.

        Args:
            q: (nq,) configuration.
        """
        self._held = True
        self._last = Wanted(np.array(q), self._zero, self._zero)
        self._rest[:, 0] = [joint_position(joint, q) for joint in self._joints]

    def put_joints(self, names: Sequence[str], times: Sequence[int], table: Mapping[str, Matrix]) -> bool:
        """Take a piece of joint trajectory; joints it does not name keep what they last were asked.

        Args:
            names: Joint names, in any order.
            times: Knots, rising [ns].
            table: ``positions``, and where known ``velocities`` and ``accelerations``, each (knots, names).

        Returns:
            Whether it was taken; where not, ``fault`` says why.
        """
        self.fault = self._object_to(names, times, table)
        if self.fault:
            return False
        columns = np.array([self._index[name] for name in names])
        rows = []
        current = self._tracks.rows[-1] if self._tracks.rows else self._rest
        for k in range(len(times)):
            row = np.array(current)
            row[:, 1:] = 0.0
            row[columns, 0] = table["positions"][k]
            for place, name in ((1, "velocities"), (2, "accelerations")):
                if name in table:
                    row[columns, place] = table[name][k]
            rows.append(row)
        self._tracks.put(times, rows)
        self._came = True
        return True

    def put_base(self, times: Sequence[int], rows: Matrix) -> bool:
        """Take a piece of the motion of the base.

        Args:
            times: Knots, rising [ns].
            rows: (knots, 13) position [m], quaternion x y z w, linear and angular velocity in axes of the world [m/s, rad/s].

        Returns:
            Whether it was taken; where not, ``fault`` says why.
        """
        self.fault = _object_to_times(times)
        if not self.fault and (rows.shape != (len(times), BASE) or not np.isfinite(rows).all()):
            self.fault = "base trajectory: holds a number that is not finite, or too few"
        if not self.fault and np.any(np.abs(np.linalg.norm(rows[:, 3:7], axis=1) - 1.0) > 1e-3):
            self.fault = "base trajectory: holds a quaternion that is not of unit length"
        if self.fault:
            return False
        self._base.put(times, list(rows))
        self._came = True
        return True

    def at(self, t: float) -> Wanted:
        """Return the reference at a time; beyond its end it rests there.

        Args:
            t: Time, never much before the last one [s].
        """
        last = self._last or Wanted(self.robot.posture, self._zero, self._zero)
        if not self.begun:
            return last
        now = round(t / NS)
        if self._held and now < self._tracks.times[0]:
            return last
        self._held = False
        wanted = self._read(now)
        if self._came:
            self._came = False
            ahead = self._blended(wanted, t)
            if np.abs(pin.difference(self.robot.model, ahead.q, last.q)).max() > JUMP + self._reach(ahead, last):
                self._offset, self._blend_from = pin.difference(self.robot.model, wanted.q, last.q), t
        self._last = self._blended(wanted, t)
        for track in (self._tracks, self._base):
            track.forget(now - BEHIND)
        return self._last

    def _reach(self, wanted: Wanted, before: Wanted) -> float:
        """Return how far the reference may have moved in two hundredths of a second."""
        return 0.02 * float(max(np.abs(wanted.v).max(), np.abs(before.v).max()))

    def _blended(self, wanted: Wanted, t: float) -> Wanted:
        s = (t - self._blend_from) / self.blend
        if not s < 1.0:
            return wanted
        left = 1.0 - s**3 * (10.0 + s * (6.0 * s - 15.0))
        rate = -30.0 * s**2 * (1.0 - s) ** 2 / self.blend
        curve = -60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / self.blend**2
        q = pin.integrate(self.robot.model, wanted.q, left * self._offset)
        return Wanted(q, wanted.v + rate * self._offset, wanted.a + curve * self._offset)

    def _read(self, t: int) -> Wanted:
        robot = self.robot
        q, v, a = np.array(robot.posture), np.zeros(robot.nv), np.zeros(robot.nv)
        k, s, h = self._tracks.find(t)
        row, resting = self._tracks.rows[k], h == 0.0
        if not resting:
            row = _hermite(row, self._tracks.rows[k + 1], s, h)
        for joint, (position, velocity, acceleration) in zip(self._joints, row.tolist(), strict=True):
            q[joint.q] = (np.cos(position), np.sin(position)) if joint.kind == "continuous" else position
            if not resting:
                v[joint.v], a[joint.v] = velocity, acceleration
        if robot.root == "free_flyer" and self._base.times:
            q[:7], v[:6], a[:6] = self._read_base(t)
        elif robot.root == "free_flyer" and self._last is not None:
            q[:7] = self._last.q[:7]
        return Wanted(q, v, a)

    def _read_base(self, t: int) -> tuple[Vector, Vector, Vector]:
        """Return pose, velocity and acceleration of the base, these in its own axes."""
        k, s, h = self._base.find(t)
        row = self._base.rows[k]
        zero: Vector = np.zeros(6)
        if h == 0.0:
            return row[:7], zero, zero
        after = self._base.rows[k + 1]
        linear = _hermite(np.column_stack((row[:3], row[7:10])), np.column_stack((after[:3], after[7:10])), s, h)
        start, end = pin.Quaternion(row[3:7]), pin.Quaternion(after[3:7])
        turn = start.slerp(s, end)
        R = turn.matrix()
        omega = (1.0 - s) * row[10:13] + s * after[10:13]
        pose = np.concatenate((linear[:, 0], turn.coeffs()))
        v = np.concatenate((R.T @ linear[:, 1], R.T @ omega))
        a = np.concatenate((R.T @ linear[:, 2] - np.cross(v[3:], v[:3]), R.T @ (after[10:13] - row[10:13]) / h))
        return pose, v, a

    def _object_to(self, names: Sequence[str], times: Sequence[int], table: Mapping[str, Matrix]) -> str:
        unknown = [name for name in names if name not in self._index]
        if unknown:
            return f"joint trajectory: names {unknown[0]!r}, which is no joint of {self.robot.name}"
        if not names or len(set(names)) != len(names):
            return "joint trajectory: names no joint, or one twice"
        if "positions" not in table:
            return "joint trajectory: has no positions"
        for name, values in table.items():
            if values.shape != (len(times), len(names)):
                return f"joint trajectory: {name} of shape {values.shape}, expected {(len(times), len(names))}"
            if not np.isfinite(values).all():
                return f"joint trajectory: {name} hold a number that is not finite"
        return _object_to_times(times)


def measured_joints(robot: RobotModel) -> tuple[Joint, ...]:
    """Return the joints that one position tells.

    Args:
        robot: The robot.

    Raises:
        UnsupportedRobotError: If a joint has several freedoms.
    """
    odd = [joint.name for joint in robot.joints if joint.kind in {"spherical", "universal"}]
    if odd:
        raise UnsupportedRobotError("joint states and trajectories", odd, "these joints have several freedoms but one position")
    return tuple(joint for joint in robot.joints if joint.kind in MEASURABLE and joint.v.stop > joint.v.start)


def joint_position(joint: Joint, q: Vector) -> float:
    """Return the position of a joint in a configuration [rad or m].

    Args:
        joint: The joint.
        q: (nq,) configuration.
    """
    part = q[joint.q]
    return float(np.arctan2(part[1], part[0]) if joint.kind == "continuous" else part[0])


def _object_to_times(times: Sequence[int]) -> str:
    if not times:
        return "trajectory: has no point"
    if len(times) > MOST_KNOTS:
        return f"trajectory: has {len(times)} points, expected at most {MOST_KNOTS}"
    return "" if all(a < b for a, b in pairwise(times)) else "trajectory: its times do not rise"


def _hermite(first: Matrix, second: Matrix, s: float, h: float) -> Matrix:
    """Return position, velocity and acceleration, as columns, of the cubic through two knots with their velocities."""
    p, m, r, n = first[:, 0], h * first[:, 1], second[:, 0], h * second[:, 1]
    d = r - p
    c2, c3 = 3.0 * d - 2.0 * m - n, m + n - 2.0 * d
    return np.column_stack((p + s * (m + s * (c2 + s * c3)), (m + s * (2.0 * c2 + 3.0 * s * c3)) / h, (2.0 * c2 + 6.0 * s * c3) / h**2))
