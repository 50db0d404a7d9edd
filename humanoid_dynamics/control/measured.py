# SPDX-License-Identifier: Apache-2.0
"""What is known of a robot's state from messages that come one by one, and how old it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, hypot

import numpy as np

from humanoid_dynamics.control.reference import measured_joints
from humanoid_dynamics.model.joint import Mimic
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Indices, Vector

FASTEST = 1e3  # rad/s or m/s; a faster state is none
FARTHEST = 1e4  # rad or m
TOLERANCE = 1e-2  # of the length of a quaternion
SMOOTHING = 0.004  # s; time constant of velocities that are differentiated
MOST_LAYOUTS = 16  # lists of names that are remembered
Places = Indices | slice


@dataclass(frozen=True)
class _Layout:
    """Where the numbers of joint states with certain names go.

    Attributes:
        which: Entries of the message that are joints of the robot.
        q: Where these are in the configuration.
        v: Where these are in the velocity.
        needed: Entries of the message whose joints have a motor, and places of these among all that have one.
        endless: Entries of joints that turn without end, and their two places in the configuration.
        turning: Which of the joints of the robot turn without end.
        mimics: Joints that follow others and are not named.
    """

    which: Places
    q: Places
    v: Places
    needed: tuple[Places, Places] | None
    endless: tuple[tuple[int, slice], ...]
    turning: Indices
    mimics: tuple[Mimic, ...]


class MeasuredState:
    """Configuration and velocity put together from joint states and odometry; not for several threads at once.

    Each joint has an age of its own.  Velocities that do not come are differentiated from positions.

    Attributes:
        q: (nq,) configuration.
        v: (nv,) velocity.
        joints_at: When the joint measured longest ago was measured [s].
        base_at: When the base was measured [s].
        estimated: (joints with a motor,) whether the velocity of each is differentiated.
        fault: Why the last message was refused; empty where it was taken.
    """

    def __init__(self, robot: RobotModel) -> None:
        """Begin, with nothing heard.

        Args:
            robot: The robot.

        Raises:
            UnsupportedRobotError: If one number a joint does not tell the configuration.
        """
        self.robot = robot
        self._joints = {joint.name: joint for joint in measured_joints(robot)}
        self._mimics = [
            m for m in robot.mimics if m.joint in self._joints and m.leader in self._joints
        ]
        self._needed = tuple(name for name in robot.actuated if name in self._joints)
        self._layouts: dict[tuple[str, ...], _Layout | None] = {}
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self.q, self.v = np.array(self.robot.posture), np.zeros(self.robot.nv)
        self._stamps: Vector = np.full(len(self._needed), -np.inf)
        self.estimated = np.zeros(len(self._needed), dtype=np.bool_)
        self._earlier: dict[
            tuple[str, ...], tuple[float, Vector]
        ] = {}  # stamp and positions of the last state of each layout
        self.joints_at = self.base_at = -np.inf
        self.fault = ""

    @property
    def missing(self) -> str:
        """What has not been measured yet; empty where all has."""
        if self._needed and self.joints_at == -np.inf:
            return f"no position yet of {_few(sorted(self.stale(-np.inf)))}"
        return (
            "no odometry yet" if self.robot.root == "free_flyer" and self.base_at == -np.inf else ""
        )

    def stale(self, since: float) -> tuple[str, ...]:
        """Return the joints with a motor that were not measured after a time.

        Args:
            since: The time [s].
        """
        return tuple(
            name
            for name, late in zip(self._needed, (self._stamps <= since).tolist(), strict=True)
            if late
        )

    def explain_age(self, t: float, longest: float) -> str:
        """Return which parts of the state are older than allowed, in words; empty where none is.

        Args:
            t: The time [s].
            longest: The age allowed [s].
        """
        if t - self.joints_at > longest:
            late = self.stale(t - longest)
            if len(late) == len(self._needed):
                return f"no state for {1e3 * (t - self.joints_at):.0f} ms: no joint was measured"
            return f"no position of {_few(late)} for {1e3 * (t - self.joints_at):.0f} ms ({len(late)} of {len(self._needed)} joints)"
        if self.robot.root == "free_flyer" and t - self.base_at > longest:
            return f"no odometry for {1e3 * (t - self.base_at):.0f} ms"
        return ""

    def measured_at(self, names: Sequence[str]) -> float:
        """Return when the latest measured of these joints was measured [s]; minus infinity where none was.

        Args:
            names: Joint names, in any order.
        """
        layout = self._find_layout(names)
        return (
            -np.inf
            if layout is None or layout.needed is None
            else float(self._stamps[layout.needed[1]].max())
        )

    def put_joints(
        self, names: Sequence[str], positions: Vector, velocities: Vector, stamp: float
    ) -> bool:
        """Take a joint state; joints it does not name keep what was measured last, unknown ones are passed over.

        Args:
            names: Joint names, in any order.
            positions: (len(names),) positions [rad or m].
            velocities: (len(names),) velocities [rad/s or m/s]; empty where none is known, and then differentiated.
            stamp: When it was measured [s].

        Returns:
            Whether it was taken.
        """
        layout = self._find_layout(names)
        if len(positions) != len(names) or len(velocities) not in {0, len(names)}:
            self.fault = f"joint state has {len(names)} names, {len(positions)} positions, {len(velocities)} velocities"
        elif layout is None:
            self.fault = f"joint state names no joint of {self.robot.name}, or one twice"
        else:
            own = positions[layout.which]
            rates = (
                velocities[layout.which]
                if len(velocities)
                else self._differentiate(tuple(names), layout, own, stamp)
            )
            if not np.abs(own).max() < FARTHEST or not np.abs(rates).max() < FASTEST:
                self.fault = "joint state holds a number that is not finite, or much too large"
            else:
                self.q[layout.q], self.v[layout.v] = own, rates
                self._complete(layout, positions)
                if layout.needed is not None:
                    self._stamps[layout.needed[1]], self.estimated[layout.needed[1]] = (
                        stamp,
                        not len(velocities),
                    )
                self.joints_at = float(self._stamps.min()) if self._needed else stamp
                self._earlier[tuple(names)] = (stamp, np.array(own))
                self.fault = ""
                return True
        return False

    def put_base(self, pose: Vector, twist: Vector, stamp: float) -> bool:
        """Take what odometry tells.

        Args:
            pose: (7,) position [m] and quaternion x y z w of the root link in the world.
            twist: (6,) linear and angular velocity in axes of the root link [m/s, rad/s].
            stamp: When it was measured [s].

        Returns:
            Whether it was taken.
        """
        length = hypot(*pose[3:].tolist())
        if not hypot(*pose[:3].tolist()) < FARTHEST or not hypot(*twist.tolist()) < FASTEST:
            self.fault = "odometry holds a number that is not finite, or much too large"
        elif not abs(length - 1.0) < TOLERANCE:
            self.fault = f"odometry holds a quaternion of length {length:.3g}"
        else:
            self.q[:3], self.q[3:7], self.v[:6] = pose[:3], pose[3:] / length, twist
            self.base_at, self.fault = stamp, ""
            return True
        return False

    def _find_layout(self, names: Sequence[str]) -> _Layout | None:
        """Return where the numbers of such a message go; None where it names no joint of the robot, or one twice."""
        key = tuple(names)
        if key not in self._layouts:
            if len(self._layouts) >= MOST_LAYOUTS:
                self._layouts.clear()
                self._earlier.clear()
            self._layouts[key] = self._make_layout(key)
        return self._layouts[key]

    def _make_layout(self, names: tuple[str, ...]) -> _Layout | None:
        known = [i for i, name in enumerate(names) if name in self._joints]
        if not known or len(set(names)) != len(names):
            return None
        joints = [self._joints[names[i]] for i in known]
        needed = [(i, self._needed.index(names[i])) for i in known if names[i] in self._needed]
        return _Layout(
            _as_slice(known),
            _as_slice([joint.q.start for joint in joints]),
            _as_slice([joint.v.start for joint in joints]),
            (_as_slice([i for i, _ in needed]), _as_slice([place for _, place in needed]))
            if needed
            else None,
            tuple(
                (i, self._joints[names[i]].q)
                for i in known
                if self._joints[names[i]].kind == "continuous"
            ),
            np.flatnonzero([joint.kind == "continuous" for joint in joints]),
            tuple(mimic for mimic in self._mimics if mimic.joint not in names),
        )

    def _differentiate(
        self, names: tuple[str, ...], layout: _Layout, own: Vector, stamp: float
    ) -> Vector:
        """Return smoothed slopes of positions since the last state of these joints; what is known where time has not gone on."""
        known: Vector = self.v[layout.v]
        before, positions = self._earlier.get(names, (np.inf, own))
        dt = stamp - before
        if not dt > 0.0:
            return known
        way = own - positions
        turning = layout.turning
        way[turning] = np.remainder(way[turning] + np.pi, 2.0 * np.pi) - np.pi
        slope: Vector = known + (1.0 - exp(-dt / SMOOTHING)) * (way / dt - known)
        return slope

    def _complete(self, layout: _Layout, positions: Vector) -> None:
        """Put joints that turn without end as cosine and sine, and joints that follow others where their leaders have them."""
        for i, place in layout.endless:
            self.q[place] = np.cos(positions[i]), np.sin(positions[i])
        for mimic in layout.mimics:
            leader, own = self._joints[mimic.leader], self._joints[mimic.joint]
            self.q[own.q] = mimic.ratio * self.q[leader.q] + mimic.offset
            self.v[own.v] = mimic.ratio * self.v[leader.v]


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")


def _as_slice(numbers: Sequence[int]) -> Places:
    """Return places that follow each other as a slice, which is faster."""
    places, first = np.array(numbers, dtype=np.intp), numbers[0]
    return (
        slice(first, first + len(places))
        if np.array_equal(places, np.arange(first, first + len(places)))
        else places
    )
