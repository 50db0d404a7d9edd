# SPDX-License-Identifier: Apache-2.0
"""Where joints must be for points to be where they should: damped least squares on the manifold, inside the limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from scipy.linalg import lapack

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector, read_only
from humanoid_dynamics.spatial.least_squares import solve_constrained
from humanoid_dynamics.spatial.rotation import skew

COM = -1  # frame of the task that places the centre of mass
LARGEST_STEP = 0.5  # of any coordinate in one iteration [rad or m]
DAMPING = 1e-6  # always there, beside the squared error
MOST_PASSES = 6  # searches for the joints that rest on their limits
STEP_DONE = 1e-5  # step of a coordinate below which a search ends [rad or m]


@dataclass(frozen=True, eq=False)
class Task:
    """A wish for a point of a robot.

    Attributes:
        name: What it is called.
        frame: Frame of the pinocchio model that carries the point, or ``COM``.
        p_F: (3,) the point in that frame [m].
        place: Weight of its position [1/m]; zero for none.
        turn: Weight of the orientation of its frame [1/rad]; zero for none.
        hard: Whether it must be met exactly; then weights only tell which rows count.
        behind: Another task whose point the position is relative to, in axes of the world.
    """

    name: str
    frame: int
    p_F: Vector = field(default_factory=lambda: np.zeros(3))
    place: float = 0.0
    turn: float = 0.0
    hard: bool = False
    behind: Task | None = None


@dataclass(frozen=True, eq=False)
class Found:
    """What a search for joints found.

    Attributes:
        q: (nq,) configuration, inside the limits.
        errors: (tasks, 2) what is left of position [m] and orientation [rad] of each task.
        hard_error: Largest entry of what is left of tasks that must be met [m or rad].
        iterations: Steps it took.
        at_limit: (nv,) coordinates that rest on a limit.
    """

    q: Vector
    errors: Matrix
    hard_error: float
    iterations: int
    at_limit: Labels


class InverseKinematics:
    """A search for joints, prepared once for a robot and a list of tasks.

    It minimises the weighted squares of the tasks, plus those of the distance from a resting posture, under the tasks that must be met and
    the position limits of the joints.  Each step is a Gauss-Newton step on the manifold with damping in proportion to the squared error.
    """

    def __init__(
        self,
        robot: RobotModel,
        tasks: Sequence[Task],
        rest_weight: Vector,
        *,
        keep_limits: bool = True,
    ) -> None:
        """Prepare.

        Args:
            robot: The robot.
            tasks: The tasks; goals come in the same order.
            rest_weight: (nv,) weight of the distance of each coordinate from its rest [1/rad or 1/m].
            keep_limits: Whether joints stay inside their position limits.
        """
        self.robot, self.tasks = robot, tuple(tasks)
        self._data = robot.data()
        self._rest = np.square(rest_weight)
        self._hard = [task.hard for task in self.tasks]
        self._bounded_q, self._bounded_v = _bounded(robot, keep_limits)

    def solve(
        self,
        q: Vector,
        places: Matrix,
        turns: Matrix,
        *,
        rest: Vector | None = None,
        tolerance: float = 1e-12,
        most: int = 30,
    ) -> Found:
        """Search from a configuration.

        Args:
            q: (nq,) where the search starts.
            places: (tasks, 3) goals of positions [m]; rows of tasks without one do not matter.
            turns: (tasks, 3, 3) goals of orientations.
            rest: (nq,) posture that weighs; the resting posture where None.
            tolerance: What may be left of tasks that must be met [m or rad].
            most: Most iterations.

        Returns:
            The best configuration found, whether or not the goals can be met.
        """
        rest = self.robot.posture if rest is None else rest
        q = self._clip(np.array(q))
        iteration, step_size, at_limit = 0, np.inf, np.zeros(self.robot.nv, dtype=bool)
        A, b, J, e = self._rows(q, places, turns)
        while iteration < most and (
            step_size > STEP_DONE or np.max(np.abs(b), initial=0.0) > tolerance
        ):
            step, at_limit = self._step(q, rest, (A, b, J, e))
            step_size = float(np.max(np.abs(step), initial=0.0))
            q = self._clip(
                np.asarray(
                    pin.integrate(
                        self.robot.model,
                        q,
                        step * min(1.0, LARGEST_STEP / max(step_size, LARGEST_STEP)),
                    )
                )
            )
            A, b, J, e = self._rows(q, places, turns)
            iteration += 1
        return Found(
            read_only(q),
            self._errors(places, turns),
            float(np.max(np.abs(b), initial=0.0)),
            iteration,
            at_limit,
        )

    def jacobian(self, q: Vector) -> Matrix:
        """Return the rows of the tasks that must be met: velocity to velocities of points and frames, in axes of the world.

        Args:
            q: (nq,) configuration.

        Returns:
            (rows, nv) matrix.
        """
        places, turns = np.zeros((len(self.tasks), 3)), np.tile(np.eye(3), (len(self.tasks), 1, 1))
        return self._rows(q, places, turns)[0]

    def drift(self, q: Vector, v: Vector) -> Vector:
        """Return the accelerations of the rows of ``jacobian`` where all joints move at constant velocity.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.

        Returns:
            (rows,) accelerations [m/s^2, rad/s^2].
        """
        model, data = self.robot.model, self._data
        pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
        pin.updateFramePlacements(model, data)
        pin.centerOfMass(model, data, q, v, np.zeros(model.nv))
        found = [np.zeros(0)]
        for task in self.tasks:
            if task.hard and task.frame == COM:
                found.append(np.array(data.acom[0]))
            elif task.hard:
                pulled = pin.getFrameClassicalAcceleration(
                    model, data, task.frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
                )
                found += [
                    part
                    for part, weight in ((pulled.linear, task.place), (pulled.angular, task.turn))
                    if weight
                ]
        return np.concatenate(found)

    def _clip(self, q: Vector) -> Vector:
        limits, index = self.robot.limits, self._bounded_q
        q[index] = np.clip(q[index], limits.lower[index], limits.upper[index])
        return q

    def _rows(
        self, q: Vector, places: Matrix, turns: Matrix
    ) -> tuple[Matrix, Vector, Matrix, Vector]:
        """Linearise: rows A, b of what must be met, and weighted rows J, e of what is wished."""
        model, data = self.robot.model, self._data
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        rows: tuple[list[Matrix], list[Matrix]] = (
            [np.zeros((0, model.nv))],
            [np.zeros((0, model.nv))],
        )
        misses: tuple[list[Vector], list[Vector]] = ([np.zeros(0)], [np.zeros(0)])
        for task, place, turn in zip(self.tasks, places, turns, strict=True):
            kind = 0 if task.hard else 1
            if task.place:
                scale = 1.0 if task.hard else task.place
                J_p, p = self._point(q, task)
                rows[kind].append(scale * J_p)
                misses[kind].append(scale * (place - p))
            if task.turn:
                scale = 1.0 if task.hard else task.turn
                J = pin.getFrameJacobian(
                    model, data, task.frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
                )
                rows[kind].append(scale * J[3:])
                misses[kind].append(scale * pin.log3(turn @ data.oMf[task.frame].rotation.T))
        return (
            np.vstack(rows[0]),
            np.concatenate(misses[0]),
            np.vstack(rows[1]),
            np.concatenate(misses[1]),
        )

    def _point(self, q: Vector, task: Task) -> tuple[Matrix, Vector]:
        model, data = self.robot.model, self._data
        if task.frame == COM:
            J_c = pin.jacobianCenterOfMass(model, data, q)
            return J_c, np.array(data.com[0])
        J = pin.getFrameJacobian(model, data, task.frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        arm = data.oMf[task.frame].rotation @ task.p_F
        J_p, p = J[:3] - skew(arm) @ J[3:], data.oMf[task.frame].translation + arm
        if task.behind is not None:
            J_r, p_r = self._point(q, task.behind)
            return J_p - J_r, p - p_r
        return J_p, p

    def _step(
        self, q: Vector, rest: Vector, rows: tuple[Matrix, Vector, Matrix, Vector]
    ) -> tuple[Vector, Labels]:
        """Solve for one step; joints it would carry beyond a limit stop there, and the others are asked again."""
        A, b, J, e = rows
        H = J.T @ J
        H[np.diag_indices_from(H)] += self._rest + DAMPING + 1e-2 * float(e @ e) / max(len(e), 1)
        g = J.T @ e + self._rest * pin.difference(self.robot.model, q, rest)
        limits = self.robot.limits
        lower, upper = np.full(len(g), -np.inf), np.full(len(g), np.inf)
        lower[self._bounded_v] = limits.lower[self._bounded_q] - q[self._bounded_q]
        upper[self._bounded_v] = limits.upper[self._bounded_q] - q[self._bounded_q]
        stopped, step = np.zeros(len(g), dtype=bool), np.zeros(len(g))
        for _ in range(MOST_PASSES):
            free = ~stopped
            step[free] = _minimum(
                H[np.ix_(free, free)],
                g[free] - H[np.ix_(free, stopped)] @ step[stopped],
                A[:, free],
                b - A[:, stopped] @ step[stopped],
            )
            beyond = free & ((step < lower) | (step > upper))
            if not beyond.any():
                break
            step[beyond] = np.clip(step[beyond], lower[beyond], upper[beyond])
            stopped |= beyond
        return np.clip(step, lower, upper), stopped

    def _errors(self, places: Matrix, turns: Matrix) -> Matrix:
        errors = np.zeros((len(self.tasks), 2))
        for row, task in enumerate(self.tasks):
            if task.place:
                errors[row, 0] = np.linalg.norm(places[row] - self._located(task))
            if task.turn:
                errors[row, 1] = np.linalg.norm(
                    pin.log3(turns[row] @ self._data.oMf[task.frame].rotation.T)
                )
        return errors

    def _located(self, task: Task) -> Vector:
        if task.frame == COM:
            return np.array(self._data.com[0])
        p = np.asarray(self._data.oMf[task.frame].act(task.p_F))
        return p if task.behind is None else p - self._located(task.behind)


def _minimum(H: Matrix, g: Vector, A: Matrix, b: Vector) -> Vector:
    if len(b):
        return solve_constrained(H, g, A, b).x
    _, x, _ = lapack.dposv(H, g)
    return np.asarray(x)


def _bounded(robot: RobotModel, keep_limits: bool) -> tuple[Indices, Indices]:
    """Return, in configuration and in velocity, the coordinates of one freedom that have limits."""
    pairs = [
        (joint.q.start, joint.v.start)
        for joint in robot.joints
        if keep_limits
        and joint.q.stop - joint.q.start == joint.v.stop - joint.v.start == 1
        and (
            np.isfinite(robot.limits.lower[joint.q][0])
            or np.isfinite(robot.limits.upper[joint.q][0])
        )
    ]
    table = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    return table[:, 0], table[:, 1]
