# SPDX-License-Identifier: Apache-2.0
"""A reference that comes in pieces, read at any time; where it jumps, it is blended."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

import numpy as np
import pinocchio as pin

from humanoid_dynamics.control.jump_smoother import BASE_SPEEDS, JumpSmoother, ReferenceSample
from humanoid_dynamics.control.whole_body import Wanted
from humanoid_dynamics.errors import UnsupportedRobotError
from humanoid_dynamics.model.joint import Joint
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

MEASURABLE = ("revolute", "continuous", "prismatic")
MOST_KNOTS = 20_000
MOST_POINTS = 2_000  # of a piece
NS = 1e-9
BEHIND = 1_000_000_000  # ns of what is over that are kept
FARTHEST = 1e4  # rad or m
CLOSE = 0.0101  # s between knots
STREAM = 0.05  # s between the points of a stream
BEYOND = 0.05  # rad or m beyond a joint limit that are clipped; more is refused
FASTER = 1.1  # times a speed limit at which a piece is refused
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
        keep = bisect_left(self.times, times[0])
        self.times[keep:], self.rows[keep:] = list(times), list(rows)

    def forget(self, before: int) -> None:
        """Drop the knots nobody will ask for any more, all but one before a time [ns]."""
        over = max(bisect_right(self.times, before) - 1, len(self.times) - MOST_KNOTS)
        if over > 0:
            del self.times[:over], self.rows[:over]

    def find(self, t: int) -> tuple[int, float, float]:
        """Return the knot before a time, the share of the way to the next, and the time between them [s]; 0 and 0 beyond the ends."""
        times = self.times
        if t < times[0]:
            return 0, 0.0, 0.0
        if t >= times[-1]:
            return len(times) - 1, 0.0, 0.0
        low = bisect_right(times, t) - 1
        span = times[low + 1] - times[low]
        return low, (t - times[low]) / span, span * NS


class Reference:
    """What a robot is asked to do, from trajectories of joints and of the base.

    Attributes:
        robot: The robot.
        fault: Why the last piece was refused; empty where it was taken.
    """

    def __init__(self, robot: RobotModel, blend: float = 0.5, *, checked: bool = True) -> None:
        """Begin without a reference.

        Args:
            robot: The robot.
            blend: Time in which a jump of up to 0.25 rad or m is taken; larger ones take proportionally longer [s].
            checked: Whether pieces beyond the limits of the robot are refused, and jumps are smoothed.

        Raises:
            UnsupportedRobotError: If one number a joint does not tell the configuration.
        """
        self.robot, self._checked = robot, checked
        self._joints = measured_joints(robot)
        self._index = {joint.name: i for i, joint in enumerate(self._joints)}
        self._v_at = np.array([joint.v.start for joint in self._joints], dtype=np.intp)
        endless = np.array([joint.kind == "continuous" for joint in self._joints], dtype=np.bool_)
        self._plain = np.flatnonzero(~endless)
        self._q_at = np.array([self._joints[i].q.start for i in self._plain], dtype=np.intp)
        self._endless = [(i, self._joints[i].q) for i in np.flatnonzero(endless)]
        self._lowest, self._highest = (
            np.full(len(endless), -FARTHEST),
            np.full(len(endless), FARTHEST),
        )
        self._lowest[self._plain] = np.maximum(robot.limits.lower[self._q_at], -FARTHEST)
        self._highest[self._plain] = np.minimum(robot.limits.upper[self._q_at], FARTHEST)
        self._ends = (
            self._lowest - BEYOND,
            self._highest + BEYOND,
        )  # of what is sent while a jump is smoothed
        self._fastest: Vector = np.minimum(robot.limits.velocity[self._v_at], FARTHEST)
        self._smoother = JumpSmoother(self._fastest, np.flatnonzero(endless), blend)
        self._tracks, self._base = Track(), Track()
        self._rest = np.zeros((len(self._joints), 3))
        self._rest[:, 0] = [joint_position(joint, robot.posture) for joint in self._joints]
        self._zero: Vector = np.zeros(robot.nv)
        self._pose = self._find_pose(robot.posture)
        self._last: Wanted | None = None
        self._held = False
        self._read_at = (-np.inf, -np.inf)
        self.fault = ""

    @property
    def blend(self) -> float:
        """Time in which a jump of up to 0.25 rad or m is taken [s]."""
        return self._smoother.blend

    @blend.setter
    def blend(self, seconds: float) -> None:
        self._smoother.blend = seconds

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
        self._pose = self._find_pose(q)
        self._smoother.start(self._rest[:, 0].copy(), self._pose)

    def put_joints(
        self, names: Sequence[str], times: Sequence[int], table: Mapping[str, Matrix]
    ) -> bool:
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
        rows = np.repeat(
            (self._tracks.rows[-1] if self._tracks.rows else self._rest)[None], len(times), axis=0
        )
        rows[:, :, 1:] = 0.0
        rows[:, columns, 0] = table["positions"]
        if self._checked:
            rows[:, columns, 0] = np.clip(
                table["positions"], self._lowest[columns], self._highest[columns]
            )
        for place, name in ((1, "velocities"), (2, "accelerations")):
            if name in table:
                rows[:, columns, place] = table[name]
        if self._checked and "velocities" not in table:
            rows[:, columns, 1] = self._find_slopes(times, rows[:, columns, 0], columns)
        self._tracks.put(times, list(rows))
        return True

    def _find_slopes(self, times: Sequence[int], positions: Matrix, columns: Indices) -> Matrix:
        """Return velocities at points that come without: slopes between neighbours, none at the ends of a piece.

        A single point goes on from the point before it, as those of a stream do.
        """
        slopes: Matrix = np.zeros(positions.shape)
        t = NS * np.array(times, dtype=np.float64)
        if len(t) > 2:
            slopes[1:-1] = (positions[2:] - positions[:-2]) / (t[2:] - t[:-2])[:, None]
        before = bisect_left(self._tracks.times, times[0]) - 1
        if len(t) == 1 and before >= 0 and t[0] - NS * self._tracks.times[before] <= STREAM:
            slopes[0] = (positions[0] - self._tracks.rows[before][columns, 0]) / (
                t[0] - NS * self._tracks.times[before]
            )
        return slopes

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
        if not self.fault and self._checked:
            self.fault = _object_to_base(times, rows)
        if self.fault:
            return False
        self._base.put(times, list(rows))
        return True

    def at(self, t: float, clock: float | None = None) -> Wanted:
        """Return the reference at a time; beyond its end, and while its time stands still, it rests.

        Args:
            t: Time of the reference, never much before the last one [s].
            clock: Time, where that of the reference may stand still [s]; ``t`` where None.
        """
        last = self._last or Wanted(self.robot.posture, self._zero, self._zero)
        if not self.begun:
            return last
        now = round(t / NS)
        if self._held and now < self._tracks.times[0]:
            return last
        self._held = False
        asked = self._read(now)
        if clock is not None and t <= self._read_at[0] and clock > self._read_at[1]:
            rest = np.zeros(len(asked.rate))
            asked = ReferenceSample(asked.place, asked.pose, rest, rest)
        clock = t if clock is None else clock
        self._read_at = (t, clock)
        self._last = self._write(self._smoother.smooth(clock, asked) if self._checked else asked)
        for track in (self._tracks, self._base):
            track.forget(now - BEHIND)
        return self._last

    def _read(self, t: int) -> ReferenceSample:
        """Return what the tracks hold at a time; where nothing is known of the base, it stays."""
        n = len(self._joints)
        k, s, h = self._tracks.find(t)
        row, resting = self._tracks.rows[k], h == 0.0
        rate, curve = np.zeros(n + 6), np.zeros(n + 6)
        if not resting:
            row = _hermite(row, self._tracks.rows[k + 1], s, h)
            rate[:n], curve[:n] = row[:, 1], row[:, 2]
        pose = self._pose
        if self.robot.root == "free_flyer" and self._base.times:
            pose, rate[n:], curve[n:] = self._read_base(t)
        return ReferenceSample(row[:, 0], pose, rate, curve)

    def _write(self, sample: ReferenceSample) -> Wanted:
        """Return a sample as configuration, velocity and acceleration, those of the base in its own axes."""
        n = len(self._joints)
        q, v, a = np.array(self.robot.posture), np.zeros(self.robot.nv), np.zeros(self.robot.nv)
        place = (
            np.minimum(np.maximum(sample.place, self._ends[0]), self._ends[1])
            if self._checked
            else sample.place
        )
        q[self._q_at] = place[self._plain]
        for i, at in self._endless:
            q[at] = np.cos(place[i]), np.sin(place[i])
        v[self._v_at], a[self._v_at] = sample.rate[:n], sample.curve[:n]
        if self.robot.root == "free_flyer":
            back = pin.Quaternion(sample.pose[3:]).matrix().T
            linear, angular = back @ sample.rate[n : n + 3], back @ sample.rate[n + 3 :]
            q[:7], v[:3], v[3:6] = sample.pose, linear, angular
            a[:3] = back @ sample.curve[n : n + 3] - np.cross(angular, linear)
            a[3:6] = back @ sample.curve[n + 3 :]
        return Wanted(q, v, a)

    def _find_pose(self, q: Vector) -> Vector:
        """Return the pose of a free base; one that is at rest in the origin elsewhere."""
        pose: Vector = (
            np.array(q[:7])
            if self.robot.root == "free_flyer"
            else np.array((0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
        )
        return pose

    def _read_base(self, t: int) -> tuple[Vector, Vector, Vector]:
        """Return pose, velocity and acceleration of the base, in axes of the world."""
        k, s, h = self._base.find(t)
        row = self._base.rows[k]
        zero: Vector = np.zeros(6)
        if h == 0.0:
            return row[:7], zero, zero
        after = self._base.rows[k + 1]
        linear = _hermite(
            np.column_stack((row[:3], row[7:10])), np.column_stack((after[:3], after[7:10])), s, h
        )
        first = pin.Quaternion(row[3:7]).matrix()
        turn = pin.log3(pin.Quaternion(after[3:7]).matrix() @ first.T)
        # Along rotation vectors from the first knot on: one cubic for all coordinates keeps the centre of mass as smooth as it was sent.
        rates = np.column_stack((row[10:13], after[10:13] - 0.5 * np.cross(turn, after[10:13])))
        angular = _hermite(
            np.column_stack((np.zeros(3), rates[:, 0])), np.column_stack((turn, rates[:, 1])), s, h
        )
        phi = angular[:, 0]
        pose = np.concatenate((linear[:, 0], pin.Quaternion(pin.exp3(phi) @ first).coeffs()))
        omega, alpha = (angular[:, k] + 0.5 * np.cross(phi, angular[:, k]) for k in (1, 2))
        return pose, np.concatenate((linear[:, 1], omega)), np.concatenate((linear[:, 2], alpha))

    def _object_to(
        self, names: Sequence[str], times: Sequence[int], table: Mapping[str, Matrix]
    ) -> str:
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
        return _object_to_times(times) or (
            self._object_to_motion(names, times, table) if self._checked else ""
        )

    def _object_to_motion(
        self, names: Sequence[str], times: Sequence[int], table: Mapping[str, Matrix]
    ) -> str:
        """Return where a piece is beyond the limits of a joint, given or between two points; empty where it is nowhere."""
        columns = np.array([self._index[name] for name in names])
        positions, fastest = table["positions"], FASTER * self._fastest[columns]
        beyond = np.maximum(positions - self._highest[columns], self._lowest[columns] - positions)
        k, i = divmod(int(np.argmax(beyond)), len(names))
        if beyond[k, i] > BEYOND:
            low, high = self._lowest[columns[i]], self._highest[columns[i]]
            return f"joint trajectory: {names[i]} at {positions[k, i]:.4g} in point {k}, expected {low:.4g} to {high:.4g}"
        speeds = [
            np.abs(np.diff(positions, axis=0))
            / (NS * np.diff(np.array(times, dtype=np.int64)))[:, None]
        ]
        speeds += [np.abs(table["velocities"])] if "velocities" in table else []
        for found in speeds:
            if (found > fastest).any():
                k, i = divmod(int(np.argmax(found / fastest)), len(names))
                return f"joint trajectory: {names[i]} at {found[k, i]:.4g} per second in point {k}, expected at most {fastest[i]:.4g}"
        return ""


def measured_joints(robot: RobotModel) -> tuple[Joint, ...]:
    """Return the joints that one position tells.

    Args:
        robot: The robot.

    Raises:
        UnsupportedRobotError: If a joint has several freedoms.
    """
    odd = [joint.name for joint in robot.joints if joint.kind in {"spherical", "universal"}]
    if odd:
        raise UnsupportedRobotError(
            "joint states and trajectories",
            odd,
            "one position cannot represent these joints of several degrees of freedom",
        )
    return tuple(
        joint for joint in robot.joints if joint.kind in MEASURABLE and joint.v.stop > joint.v.start
    )


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
    if len(times) > MOST_POINTS:
        return f"trajectory: has {len(times)} points, expected at most {MOST_POINTS}"
    return (
        ""
        if (np.diff(np.array(times, dtype=np.int64)) > 0).all()
        else "trajectory: its times do not ascend"
    )


def _object_to_base(times: Sequence[int], rows: Matrix) -> str:
    """Return where the base is too far away, or faster than a robot; empty where it is nowhere."""
    if np.abs(rows[:, :3]).max() > FARTHEST:
        return f"base trajectory: {np.abs(rows[:, :3]).max():.4g} m from the origin, expected at most {FARTHEST:g}"
    spans = NS * np.diff(np.array(times, dtype=np.int64))[:, None]
    for at, most, unit in (
        (slice(7, 10), BASE_SPEEDS[0], "m/s"),
        (slice(10, 13), BASE_SPEEDS[1], "rad/s"),
    ):
        if np.abs(rows[:, at]).max() > 2.0 * most:
            return f"base trajectory: {np.abs(rows[:, at]).max():.4g} {unit}, expected at most {2.0 * most:g}"
    if (
        len(rows) > 1
        and (np.abs(np.diff(rows[:, :3], axis=0)) / spans).max() > 2.0 * BASE_SPEEDS[0]
    ):
        return f"base trajectory: {(np.abs(np.diff(rows[:, :3], axis=0)) / spans).max():.4g} m/s between points"
    return ""


def _hermite(first: Matrix, second: Matrix, s: float, h: float) -> Matrix:
    """Return position, velocity and acceleration, as columns, of the cubic through two knots with their velocities.

    Between knots that are close the velocity is linear: there the cubic would turn small differences into large accelerations.
    """
    p, m, r, n = first[:, 0], h * first[:, 1], second[:, 0], h * second[:, 1]
    d = r - p
    c2, c3 = 3.0 * d - 2.0 * m - n, m + n - 2.0 * d
    position = p + s * (m + s * (c2 + s * c3))
    if h <= CLOSE:
        return np.column_stack((position, (m + s * (n - m)) / h, (n - m) / h**2))
    return np.column_stack(
        (position, (m + s * (2.0 * c2 + 3.0 * s * c3)) / h, (2.0 * c2 + 6.0 * s * c3) / h**2)
    )
