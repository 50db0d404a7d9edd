# SPDX-License-Identifier: Apache-2.0
"""Tasks of whole-body control: each states rows A a = b of the acceleration that brings an error to zero.

An error e of a task has e'' = b_0 with b_0 = a_ref + kd (v_ref - v) + kp (x_ref - x), so b = b_0 less the acceleration that the velocity
causes alone.  Gains are kp [1/s²] and kd [1/s]; kd is critical, 2 sqrt(kp), where it is left out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector, check_vector

ALIGNED = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
DEFAULT_GAIN = 100.0  # 1/s²
LEVELS = (1, 2)


class Task(ABC):
    """Rows A a = b of the acceleration with weights and a level: prepare for a robot once, ``update`` at every tick.

    Attributes:
        weight: Weight of the squared error of each row; one for all, or one a row.
        level: 1 for tasks that those of level 2 never disturb, or 2; tasks of one level share by their weights.
        A: (rows, nv) rows of the last update.
        b: (rows,) accelerations that are asked for [m/s², rad/s²].
        target: The goal.
        starts_there: Whether a goal that was not given is where the robot is at the first tick.
    """

    A: Matrix
    b: Vector
    target: Any = None
    starts_there = False
    _given: object = None

    def __init__(
        self, gain: float, damping: float | None, weight: float | ArrayLike, level: int
    ) -> None:
        if level not in LEVELS:
            raise ShapeError("level", f"{level}", "1 or 2")
        if not (np.isfinite(gain) and gain >= 0.0):
            raise ShapeError("gain", f"{gain}", "a finite number from zero on")
        self.gain, self.damping = gain, 2.0 * np.sqrt(gain) if damping is None else damping
        self.weight, self.level = np.asarray(weight, dtype=np.float64), level
        if not (np.isfinite(self.weight).all() and (self.weight >= 0.0).all()):
            raise ShapeError("weight", f"{weight!r}", "finite numbers from zero on")

    @abstractmethod
    def prepare(self, robot: RobotModel) -> int:
        """Find what the task is about in a robot and take its memory; return its number of rows."""

    @abstractmethod
    def update(self, problem: DynamicsProblem) -> None:
        """Write ``A`` and ``b`` at the state of the problem, whose data hold positions, velocities and drifts."""

    def forget(self) -> None:
        """Take the target from the next tick, if none was given."""
        if self._given is None and self.starts_there:
            self.target = None

    def _take_rows(self, rows: int, nv: int) -> int:
        self.A, self.b = np.zeros((rows, nv)), np.zeros(rows)
        self.weight = np.broadcast_to(self.weight, rows)
        return rows


class CenterOfMassTask(Task):
    """Moves the centre of mass.

    Attributes:
        target: (3,) place in the world [m]; where it is at the first tick, if None.
        velocity: (3,) [m/s].
        acceleration: (3,) [m/s²].
    """

    starts_there = True

    def __init__(
        self,
        target: ArrayLike | None = None,
        *,
        gain: float = DEFAULT_GAIN,
        damping: float | None = None,
        weight: float | ArrayLike = 1.0,
        level: int = 2,
    ) -> None:
        """State the goal; errors of sizes are raised here."""
        super().__init__(gain, damping, weight, level)
        self._given = None if target is None else check_vector("target", target, 3)
        self.target = self._given
        self.velocity, self.acceleration = np.zeros(3), np.zeros(3)

    def prepare(self, robot: RobotModel) -> int:
        """Take the memory for one robot."""
        return self._take_rows(3, robot.nv)

    def update(self, problem: DynamicsProblem) -> None:
        """Write the rows J_com a = b."""
        data = problem.data
        if self.target is None:
            self.target = np.array(data.com[0])
        self.A[:] = pin.jacobianCenterOfMass(problem.robot.model, data, False)
        self.b[:] = self.acceleration - data.acom[0]
        self.b += self.damping * (self.velocity - data.vcom[0])
        self.b += self.gain * (self.target - data.com[0])


class FrameTask(Task):
    """Moves a link or a frame in place and orientation.

    Attributes:
        frame: Its name: a frame, a link or an alias of the robot.
        target: Pose in the world; where it is at the first tick, if None.
        velocity: (6,) linear and angular, axes of the world [m/s, rad/s].
        acceleration: (6,) likewise [m/s², rad/s²].
    """

    starts_there = True

    def __init__(
        self,
        frame: str,
        target: pin.SE3 | None = None,
        *,
        gain: float = DEFAULT_GAIN,
        damping: float | None = None,
        weight: float | ArrayLike = 1.0,
        level: int = 2,
        rows: Iterable[int] = range(6),
    ) -> None:
        """State the goal.

        Args:
            frame: Name of a frame, a link or an alias.
            target: Pose in the world; where it is at the first tick, if None.
            gain: kp [1/s²].
            damping: kd [1/s]; critical if None.
            weight: One number, or one for each row.
            level: 1 or 2.
            rows: Which of x, y, z and the rotations about them are controlled; 0 to 2 for the place alone.
        """
        super().__init__(gain, damping, weight, level)
        self.frame, self.target, self._given = frame, target, target
        self._rows = np.array(list(rows), dtype=np.intp)
        if not len(self._rows) or not set(self._rows.tolist()) <= set(range(6)):
            raise ShapeError("rows", f"{self._rows.tolist()}", "numbers from 0 to 5")
        self.velocity, self.acceleration = np.zeros(6), np.zeros(6)

    def prepare(self, robot: RobotModel) -> int:
        """Find the frame."""
        if robot.model.existFrame(self.frame):
            self._frame = int(robot.model.getFrameId(self.frame))
        else:
            self._frame = robot.link_frame(self.frame)
        return self._take_rows(len(self._rows), robot.nv)

    def update(self, problem: DynamicsProblem) -> None:
        """Write the rows J a = b at the origin of the frame, axes of the world."""
        model, data, rows = problem.robot.model, problem.data, self._rows
        X = pin.updateFramePlacement(model, data, self._frame)
        if self.target is None:
            self.target = pin.SE3(X)
        error = np.empty(6)
        error[:3] = self.target.translation - X.translation
        error[3:] = X.rotation @ pin.log3(X.rotation.T @ self.target.rotation)
        moves = pin.getFrameVelocity(model, data, self._frame, ALIGNED).vector
        drift = pin.getFrameClassicalAcceleration(model, data, self._frame, ALIGNED).vector
        asked = self.acceleration - drift + self.damping * (self.velocity - moves)
        self.A[:] = pin.getFrameJacobian(model, data, self._frame, ALIGNED)[rows]
        self.b[:] = (asked + self.gain * error)[rows]


class AngularMomentumTask(Task):
    """Damps or follows the angular momentum about the centre of mass; its gain is the rate at which an error decays [1/s].

    Attributes:
        target: (3,) angular momentum, axes of the world [N·m·s].
        rate: (3,) its rate [N·m].
    """

    def __init__(
        self,
        target: ArrayLike = (0.0, 0.0, 0.0),
        *,
        gain: float = 10.0,
        weight: float | ArrayLike = 1e-2,
        level: int = 2,
    ) -> None:
        """State the goal; errors of sizes are raised here."""
        super().__init__(gain, 0.0, weight, level)
        self.target, self.rate = check_vector("target", target, 3), np.zeros(3)

    def prepare(self, robot: RobotModel) -> int:
        """Take the memory for one robot."""
        self._data = robot.data()
        return self._take_rows(3, robot.nv)

    def update(self, problem: DynamicsProblem) -> None:
        """Write the rows A_g a = b of the centroidal momentum matrix."""
        data = self._data
        pin.computeCentroidalMapTimeVariation(problem.robot.model, data, problem.q, problem.v)
        self.A[:] = data.Ag[3:]
        self.b[:] = self.rate + self.gain * (self.target - data.Ag[3:] @ problem.v)
        self.b -= data.dAg[3:] @ problem.v


class PostureTask(Task):
    """Keeps joints near a configuration; the root, if it is free, is left out.

    Attributes:
        target: (nq,) configuration; the posture of the robot, if None.
        velocity: (nv,) [rad/s or m/s].
        acceleration: (nv,) [rad/s² or m/s²].
    """

    def __init__(
        self,
        target: ArrayLike | None = None,
        *,
        joints: Iterable[str] | None = None,
        gain: float = DEFAULT_GAIN,
        damping: float | None = None,
        weight: float | ArrayLike = 1e-2,
        level: int = 2,
    ) -> None:
        """State the goal.

        Args:
            target: (nq,) configuration; the posture of the robot, if None.
            joints: Names of the joints; all but the root, if None.
            gain: kp [1/s²].
            damping: kd [1/s]; critical if None.
            weight: One number, or one for each row.
            level: 1 or 2.
        """
        super().__init__(gain, damping, weight, level)
        self.target = None if target is None else np.array(target, dtype=np.float64)
        self._names = None if joints is None else tuple(joints)

    def prepare(self, robot: RobotModel) -> int:
        """Find the joints."""
        target = robot.posture if self.target is None else self.target
        self.target = np.array(check_vector("target", target, robot.nq))
        self.velocity, self.acceleration = np.zeros(robot.nv), np.zeros(robot.nv)
        self._rows = find_coordinates(robot, self._names)
        count = self._take_rows(len(self._rows), robot.nv)
        self.A[np.arange(count), self._rows] = 1.0
        return count

    def update(self, problem: DynamicsProblem) -> None:
        """Write b; the rows pick coordinates and stay."""
        error = pin.difference(problem.robot.model, problem.q, self.target)
        asked = self.acceleration + self.damping * (self.velocity - problem.v) + self.gain * error
        self.b[:] = asked[self._rows]


class JointTask(PostureTask):
    """Moves some joints to values of their own.

    Attributes:
        target: (nq,) configuration of which those joints count.
    """

    def __init__(
        self,
        joints: Iterable[str],
        target: ArrayLike | None = None,
        *,
        gain: float = DEFAULT_GAIN,
        damping: float | None = None,
        weight: float | ArrayLike = 1.0,
        level: int = 2,
    ) -> None:
        """State the joints and, for joints of one coordinate, their positions in the same order."""
        super().__init__(
            None, joints=joints, gain=gain, damping=damping, weight=weight, level=level
        )
        self._goal = target

    def prepare(self, robot: RobotModel) -> int:
        """Find the joints and put their positions into a configuration."""
        self.target = np.array(robot.posture)
        if self._goal is not None:
            names = self._names or ()
            for name, value in zip(
                names, check_vector("target", self._goal, len(names)), strict=True
            ):
                self.target[robot.joint(name).q] = value
        return super().prepare(robot)


def find_coordinates(robot: RobotModel, names: Iterable[str] | None) -> Indices:
    """Return the velocity coordinates of joints; of all but a root that is free or planar, if None.

    Raises:
        UnknownNameError: If a joint does not exist.
    """
    if names is None:
        return np.arange(robot.model.joints[1].nv if robot.root != "fixed" else 0, robot.nv)
    parts = [np.arange(robot.nv)[robot.joint(name).v] for name in names]
    return np.concatenate([np.zeros(0, dtype=np.intp), *parts])
