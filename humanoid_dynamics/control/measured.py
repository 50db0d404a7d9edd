"""What is known of a robot's state from messages that come one by one, and how old it is."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot

import numpy as np

from humanoid_dynamics.control.reference import measured_joints
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Indices, Vector

FASTEST = 1e3  # rad/s or m/s; a faster state is none
FARTHEST = 1e4  # rad or m
TOLERANCE = 1e-2  # of the length of a quaternion
Places = Indices | slice


class MeasuredState:
    """Configuration and velocity put together from joint states and odometry; not for several threads at once.

    Attributes:
        q: (nq,) configuration.
        v: (nv,) velocity.
        joints_at: When the joint states were measured [s].
        base_at: When the base was measured [s].
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
        self._mimics = [m for m in robot.mimics if m.joint in self._joints and m.leader in self._joints]
        self.forget()
        self._plain: tuple[Places, Places, Places] | None = None
        self._endless: list[tuple[int, slice]] = []

    def forget(self) -> None:
        """Begin anew."""
        self.q, self.v = np.array(self.robot.posture), np.zeros(self.robot.nv)
        self._unheard = set(self.robot.actuated) & set(self._joints)
        self._names: tuple[str, ...] = ()
        self.joints_at = self.base_at = -np.inf
        self.fault = ""

    @property
    def missing(self) -> str:
        """What has not been heard of yet; empty where all has."""
        if self._unheard:
            return f"no position yet of {', '.join(sorted(self._unheard)[:4])}" + (", ..." if len(self._unheard) > 4 else "")
        return "no odometry yet" if self.robot.root == "free_flyer" and self.base_at == -np.inf else ""

    def put_joints(self, names: Sequence[str], positions: Vector, velocities: Vector, stamp: float) -> bool:
        """Take a joint state; joints it does not name keep what was heard last, unknown ones are passed over.

        Args:
            names: Joint names, in any order.
            positions: (len(names),) positions [rad or m].
            velocities: (len(names),) velocities [rad/s or m/s]; may be empty, for none known.
            stamp: When it was measured [s].

        Returns:
            Whether it was taken.
        """
        if tuple(names) != self._names:
            self._bind(names)
        if len(positions) != len(names) or len(velocities) not in {0, len(names)}:
            self.fault = f"joint state has {len(names)} names, {len(positions)} positions, {len(velocities)} velocities"
        elif self._plain is None:
            self.fault = f"joint state names no joint of {self.robot.name}, or one twice"
        else:
            which, q_at, v_at = self._plain
            own = positions[which]
            rates = velocities[which] if len(velocities) else np.zeros(len(own))
            if not np.abs(own).max() < FARTHEST or not np.abs(rates).max() < FASTEST:
                self.fault = "joint state holds a number that is not finite, or much too large"
            else:
                self.q[q_at], self.v[v_at] = own, rates
                self._turn_around(positions)
                self.joints_at, self.fault = stamp, ""
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

    def _bind(self, names: Sequence[str]) -> None:
        """Remember where the numbers of such a message go."""
        self._names = tuple(names)
        known = [i for i, name in enumerate(names) if name in self._joints]
        self._plain = None
        if not known or len(set(names)) != len(names):
            return
        joints = [self._joints[names[i]] for i in known]
        places = (known, [joint.q.start for joint in joints], [joint.v.start for joint in joints])
        which, q_at, v_at = (_as_slice(np.array(place, dtype=np.intp)) for place in places)
        self._plain = (which, q_at, v_at)
        self._endless = [(i, self._joints[names[i]].q) for i in known if self._joints[names[i]].kind == "continuous"]
        self._unheard -= set(names)

    def _turn_around(self, positions: Vector) -> None:
        """Put joints that turn without end as cosine and sine, and joints that follow others where their leaders have them."""
        for i, place in self._endless:
            self.q[place] = np.cos(positions[i]), np.sin(positions[i])
        for mimic in self._mimics:
            if mimic.joint not in self._names:
                leader, own = self._joints[mimic.leader], self._joints[mimic.joint]
                self.q[own.q] = mimic.ratio * self.q[leader.q] + mimic.offset
                self.v[own.v] = mimic.ratio * self.v[leader.v]


def _as_slice(places: Indices) -> Places:
    """Return places that follow each other as a slice, which is faster."""
    first = int(places[0])
    return slice(first, first + len(places)) if np.array_equal(places, np.arange(first, first + len(places))) else places
