"""Accelerations that keep a robot in balance on its feet and near a reference motion.

Rows are wishes about accelerations: soles that stand stay where they are, the centre of mass moves as its capture point asks, soles in the
air and the trunk follow the reference.  Joints follow the reference where that leaves freedom.  All rows are met in one least-squares
solve, weighted by how exactly each must be: a = a_0 + D A' y with (A D A' + R) y = b - A a_0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from scipy.linalg import lapack

from humanoid_dynamics.control.support import Support, place_corners
from humanoid_dynamics.errors import UnsupportedRobotError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector

LOCAL, ALIGNED = pin.ReferenceFrame.LOCAL, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
GRAVITY = 9.81
MOVED = 2e-3  # m; soles that stand and move by more have a new polygon
EXACT = 1e-9  # softness of rows that must be met
COM, TRUNK, SWING = 1e-4, 1e-2, 1e-4  # softness of the others
BASE_LINEAR, BASE_ANGULAR, JOINTS = 10.0, 1.0, 1.0  # mobility of coordinates: what the least-squares solve may change them


@dataclass(frozen=True)
class Gains:
    """How strongly errors are answered, as accelerations.

    Attributes:
        joint: Stiffness and damping of the joints [1/s², 1/s].
        trunk: Of the orientation of the root link [1/s², 1/s].
        height: Of the height of the centre of mass [1/s², 1/s].
        swing: Of soles in the air [1/s², 1/s].
        hold: Damping of soles that stand [1/s].
        capture: How fast the capture point goes back to where it should be [1/s].
        margin: How far inside the soles the centre of pressure stays [m].
        fastest: Largest acceleration asked of any joint [rad/s², m/s²].
    """

    joint: tuple[float, float] = (150.0, 24.0)
    trunk: tuple[float, float] = (80.0, 18.0)
    height: tuple[float, float] = (60.0, 15.0)
    swing: tuple[float, float] = (250.0, 32.0)
    hold: float = 10.0
    capture: float = 4.0
    margin: float = 0.01
    fastest: float = 400.0


@dataclass(frozen=True, eq=False)
class Wanted:
    """A motion at one instant.

    Attributes:
        q: (nq,) configuration.
        v: (nv,) velocity.
        a: (nv,) acceleration.
    """

    q: Vector
    v: Vector
    a: Vector


class WholeBodyLaw:
    """From state and reference to accelerations: make once, ``accelerate`` at every tick.

    The reference is moved in the plane, and turned about the vertical, so that the feet it stands on are where the robot's are.

    Attributes:
        robot: The robot.
        names: The soles, in the order of ``closed``.
        shift: (3,) how far the reference is moved at the moment [m].
        sink: (soles,) how far each sole that does not stand is asked below its reference [m].
    """

    def __init__(self, robot: RobotModel, soles: tuple[str, ...] | None = None, gains: Gains | None = None) -> None:
        """Prepare.

        Args:
            robot: The robot; its root is free.
            soles: Surfaces it stands on; ``robot.stance`` where None.
            gains: How strongly errors are answered.

        Raises:
            UnsupportedRobotError: If the root is not free.
            UnknownNameError: If a surface does not exist.
        """
        if robot.root != "free_flyer":
            raise UnsupportedRobotError("balance", [robot.root], "the root link must be free to move, but the root is")
        self.robot, self.gains = robot, gains or Gains()
        self.names = robot.stance if soles is None else soles
        self._surfaces = tuple(robot.surface(name) for name in self.names)
        self._data, self._wanted_data = robot.data(), robot.data()
        nv, rows = robot.nv, 6 + 6 * len(self.names)
        self._zero = np.zeros(nv)
        self._mobility = np.concatenate((np.full(3, BASE_LINEAR), np.full(3, BASE_ANGULAR), np.full(nv - 6, JOINTS)))
        self._A: Matrix = np.zeros((rows, nv))
        self._b, self._softness = np.zeros(rows), np.full(rows, EXACT)
        self._softness[:3], self._softness[3:6] = COM, TRUNK
        self._A[3:6, 3:6] = np.eye(3)
        self._seen: Wanted | None = None
        self._closed: tuple[bool, ...] = ()
        self._middle: Vector = np.zeros(3)
        self._support = Support(np.zeros((0, 2)), 0.0)
        self.shift: Vector = np.zeros(3)
        self.sink: Vector = np.zeros(len(self.names))
        self._turn: Matrix = np.eye(3)
        self.com: Vector = np.zeros(3)
        self.pressure: Vector = np.zeros(2)

    def accelerate(self, q: Vector, v: Vector, wanted: Wanted, closed: tuple[bool, ...]) -> Vector:
        """Return the accelerations to ask for, (nv,) [m/s², rad/s²].

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            wanted: The reference.
            closed: Whether each sole stands.
        """
        model, data = self.robot.model, self._data
        pin.jacobianCenterOfMass(model, data, q)
        pin.centerOfMass(model, data, q, v, self._zero)
        for surface in self._surfaces:
            pin.updateFramePlacement(model, data, surface.frame)
        self._read(wanted)
        self._find_support(closed)
        self._align(closed)
        a = self._follow_joints(q, v, wanted)
        self._ask_centre_of_mass(any(closed))
        self._ask_trunk(v, wanted)
        for k, stands in enumerate(closed):
            self._ask_sole(k, stands, v)
        return self._solve(a)

    def heights(self) -> dict[str, float]:
        """Return the height of each sole above the ground z = 0, at the last tick [m]."""
        places = (self._data.oMf[surface.frame].translation for surface in self._surfaces)
        return {name: float(p[2]) for name, p in zip(self.names, places, strict=True)}

    def _read(self, wanted: Wanted) -> None:
        """Find where the reference has its centre of mass and its soles."""
        if wanted is self._seen:
            return
        data = self._wanted_data
        pin.centerOfMass(self.robot.model, data, wanted.q, wanted.v, wanted.a)
        for surface in self._surfaces:
            pin.updateFramePlacement(self.robot.model, data, surface.frame)
        self._seen = wanted

    def _find_support(self, closed: tuple[bool, ...]) -> None:
        """Place the polygon of the soles that stand, where they are others than before or have moved."""
        standing = [s for s, stands in zip(self._surfaces, closed, strict=True) if stands]
        places = [self._data.oMf[s.frame].translation for s in standing]
        middle = sum(places, np.zeros(3)) / max(len(places), 1)
        moved = middle - self._middle
        if closed != self._closed or moved.dot(moved) > MOVED**2:
            self._closed, self._middle = closed, middle
            self._support = Support(place_corners(self._data, standing), self.gains.margin)

    def _align(self, closed: tuple[bool, ...]) -> None:
        """Move the reference so that the soles it stands on are where those of the robot are."""
        pairs = [(self._data.oMf[s.frame], self._wanted_data.oMf[s.frame]) for s, c in zip(self._surfaces, closed, strict=True) if c]
        if not pairs:
            return
        x = sum(X.rotation[0, 0] * Y.rotation[0, 0] + X.rotation[1, 0] * Y.rotation[1, 0] for X, Y in pairs)
        y = sum(X.rotation[1, 0] * Y.rotation[0, 0] - X.rotation[0, 0] * Y.rotation[1, 0] for X, Y in pairs)
        length = float(np.hypot(x, y))
        c, s = (x / length, y / length) if length > 0.0 else (1.0, 0.0)
        self._turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        here = sum((X.translation for X, _ in pairs), np.zeros(3)) / len(pairs)
        there = sum((Y.translation for _, Y in pairs), np.zeros(3)) / len(pairs)
        self.shift = here - self._turn @ there

    def _follow_joints(self, q: Vector, v: Vector, wanted: Wanted) -> Vector:
        kp, kd = self.gains.joint
        error = pin.difference(self.robot.model, q, wanted.q)
        a: Vector = wanted.a + kp * error + kd * (wanted.v - v)
        a[:6] = 0.0
        limit = self.gains.fastest
        return np.minimum(np.maximum(a, -limit), limit)

    def _ask_centre_of_mass(self, stands: bool) -> None:
        data, ref, gains = self._data, self._wanted_data, self.gains
        c, c_dot, drift = data.com[0], data.vcom[0], data.acom[0]
        r, r_dot, r_ddot = self._turn @ ref.com[0] + self.shift, self._turn @ ref.vcom[0], self._turn @ ref.acom[0]
        kp, kd = gains.height
        a: Vector = r_ddot + kp * (r - c) + kd * (r_dot - c_dot)
        if stands:
            height = max(float(c[2] - self._height()), 0.1)
            w = np.sqrt(GRAVITY / height)
            ahead = (c - r + (c_dot - r_dot) / w)[:2]  # of the capture point
            wanted_pressure = r[:2] - r_ddot[:2] / w**2
            self.pressure = self._support.nearest(wanted_pressure + (1.0 + gains.capture / w) * ahead)
            a[:2] = w**2 * (c[:2] - self.pressure)
        self.com = np.array(c)
        self._A[:3] = data.Jcom
        self._b[:3] = a - drift

    def _height(self) -> float:
        """Return the mean height of the soles that stand [m]."""
        heights = [float(self._data.oMf[s.frame].translation[2]) for s, c in zip(self._surfaces, self._closed, strict=True) if c]
        return sum(heights) / len(heights)

    def _ask_trunk(self, v: Vector, wanted: Wanted) -> None:
        kp, kd = self.gains.trunk
        R = self._data.oMi[1].rotation
        R_wanted = self._turn @ self._wanted_data.oMi[1].rotation
        error = pin.log3(R.T @ R_wanted)
        turn_back = R.T @ R_wanted
        self._b[3:6] = turn_back @ wanted.a[3:6] + kp * error + kd * (turn_back @ wanted.v[3:6] - v[3:6])

    def _ask_sole(self, k: int, stands: bool, v: Vector) -> None:
        model, data, frame = self.robot.model, self._data, self._surfaces[k].frame
        rows = slice(6 + 6 * k, 12 + 6 * k)
        self._A[rows] = pin.getFrameJacobian(model, data, frame, ALIGNED)
        velocity = self._A[rows] @ v
        drift = pin.getFrameClassicalAcceleration(model, data, frame, ALIGNED).vector
        if stands:
            self._softness[rows] = EXACT
            self._b[rows] = -drift - self.gains.hold * velocity
            return
        ref, (kp, kd) = self._wanted_data, self.gains.swing
        X, Y = data.oMf[frame], ref.oMf[frame]
        there = pin.getFrameVelocity(model, ref, frame, ALIGNED)
        onward = pin.getFrameClassicalAcceleration(model, ref, frame, ALIGNED)
        T = self._turn
        place = T @ Y.translation + self.shift - X.translation
        place[2] -= self.sink[k]
        turn = pin.log3(T @ Y.rotation @ X.rotation.T)
        error = np.concatenate((place, turn))
        rate = np.concatenate((T @ there.linear, T @ there.angular)) - velocity
        self._softness[rows] = SWING
        self._b[rows] = np.concatenate((T @ onward.linear, T @ onward.angular)) + kp * error + kd * rate - drift

    def _solve(self, a: Vector) -> Vector:
        """Return the accelerations nearest to these that meet the rows."""
        A = self._A
        DA = A * self._mobility
        G = DA @ A.T
        G[range(len(G)), range(len(G))] += self._softness
        _, y, info = lapack.dposv(G, self._b - A @ a)
        return a + y @ DA if info == 0 else a
