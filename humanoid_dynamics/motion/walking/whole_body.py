# SPDX-License-Identifier: Apache-2.0
"""All joints of a walk from the paths of the soles and of the centre of mass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from scipy.linalg import lapack

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import find_body, find_soles
from humanoid_dynamics.motion.derivatives import central_differences
from humanoid_dynamics.motion.inverse_kinematics import COM, Found, InverseKinematics, Task
from humanoid_dynamics.motion.resampling import align_signs
from humanoid_dynamics.motion.walking.foot_paths import SolePaths, sole_paths
from humanoid_dynamics.motion.walking.footsteps import FootstepPlan
from humanoid_dynamics.motion.walking.pendulum import PendulumPath
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only

HARD_MISS = 1e-10  # m or rad; more than this of soles and centre of mass is a miss
UPRIGHT, LEG_REST, OTHER_REST = (
    3.0,
    0.05,
    1.0,
)  # weights of a level trunk, and of joints where they rest, per radian
FIRST_SEARCH, LATER_SEARCH = 60, 25  # iterations
SEARCHED = 0.6  # of the work is finding configurations, the rest their rates


@dataclass(frozen=True, eq=False)
class WholeBodyPath:
    """All joints over time.

    Attributes:
        times: (n,) instants [s].
        q: (n, nq) configurations.
        v: (n, nv) velocities, exactly those of soles and centre of mass.
        a: (n, nv) accelerations, likewise.
        worst: The instant where soles and centre of mass are missed most.
    """

    times: Vector
    q: Matrix = field(repr=False)
    v: Matrix = field(repr=False)
    a: Matrix = field(repr=False)
    worst: Found = field(repr=False)


class WalkSearch:
    """A search for the joints of a walk, prepared once for a robot on a ground plane.

    Soles and centre of mass are met exactly; the trunk stays level and turns with the feet, all other joints rest as far as they can.

    """

    def __init__(
        self,
        robot: RobotModel,
        X_WP: pin.SE3,
        height: float,
        step_height: float,
        *,
        keep_limits: bool = True,
    ) -> None:
        """Prepare.

        Args:
            robot: The robot.
            X_WP: The ground plane.
            height: Height of the centre of mass above the soles in the resting posture [m].
            step_height: How high swinging feet are lifted [m].
            keep_limits: Whether joints stay inside their limits.
        """
        self.robot, self.X_WP, self.height, self.step_height = robot, X_WP, height, step_height
        soles, data = find_soles(robot), robot.data()
        pin.framesForwardKinematics(robot.model, data, robot.posture)
        self._pelvis = find_body(robot).pelvis
        self._upright = np.array(data.oMf[self._pelvis].rotation)
        turns = [0.0 if sole.kind == "point" else 1.0 for sole in soles]
        self._tasks = [Task("com", COM, place=1.0, hard=True)]
        self._tasks += [
            Task(sole.name, sole.frame, place=1.0, turn=turn, hard=True)
            for sole, turn in zip(soles, turns, strict=True)
        ]
        self._tasks.append(Task("pelvis", self._pelvis, turn=UPRIGHT))
        self._turns = turns
        legs = {
            int(i)
            for sole in soles
            for i in robot.model.supports[robot.model.frames[sole.frame].parentJoint]
        }
        weight = np.full(robot.nv, OTHER_REST)
        for joint in robot.joints:
            if joint.index in legs:
                weight[joint.v] = LEG_REST
        weight[:6] = 0.0
        self._search = InverseKinematics(robot, self._tasks, weight, keep_limits=keep_limits)

    def run(
        self,
        plan: FootstepPlan,
        times: Vector,
        path: PendulumPath,
        lowered: float,
        watch: Callable[[float], None] | None = None,
    ) -> WholeBodyPath:
        """Find the joints, instant by instant.

        Args:
            plan: The footsteps.
            times: (n,) instants [s].
            path: Path of the centre of mass, seen from above, at these instants.
            lowered: How far it is below that of the resting posture [m].
            watch: Called with the share that is done.

        Returns:
            The joints.
        """
        soles = sole_paths(plan, times, self.step_height)
        found: list[Found] = []
        watch = watch or _tell_nobody
        for one in self._search_all(soles, path, lowered):
            found.append(one)
            watch(SEARCHED * len(found) / len(times))
        q = align_signs(self.robot, np.array([one.q for one in found]))
        v, a = self._rates(times, q, (soles, path), watch)
        return WholeBodyPath(
            times,
            read_only(q),
            read_only(v),
            read_only(a),
            max(found, key=lambda one: one.hard_error),
        )

    def check(
        self, plan: FootstepPlan, times: Vector, path: PendulumPath, lowered: float, *, strict: bool
    ) -> tuple[Found | None, int]:
        """Return the first instant where the legs do not reach, or None, and the iterations it took.

        Args:
            plan: The footsteps.
            times: (n,) instants [s].
            path: Path of the centre of mass, seen from above, at these instants.
            lowered: How far it is below that of the resting posture [m].
            strict: Whether a joint on its limit counts as not reaching.
        """
        iterations = 0
        for found in self._search_all(sole_paths(plan, times, self.step_height), path, lowered):
            iterations += found.iterations
            if found.hard_error > HARD_MISS or (strict and found.at_limit.any()):
                return found, iterations
        return None, iterations

    def _search_all(self, soles: SolePaths, path: PendulumPath, lowered: float) -> Iterator[Found]:
        places, turns = self._goals(soles, path, lowered)
        found: list[Found] = []
        for place, turn in zip(places, turns, strict=True):
            start = self._guess(found, places[0])
            found.append(
                self._search.solve(start, place, turn, most=LATER_SEARCH if found else FIRST_SEARCH)
            )
            yield found[-1]

    def _guess(self, found: list[Found], places: Matrix) -> Vector:
        """Continue the last two configurations; at the start, stand where the walk starts."""
        model = self.robot.model
        if len(found) > 1:
            return np.asarray(
                pin.integrate(model, found[-1].q, pin.difference(model, found[-2].q, found[-1].q))
            )
        if found:
            return found[-1].q
        q = np.array(self.robot.posture)
        data = self.robot.data()
        q[:3] += places[0] - pin.centerOfMass(model, data, q)
        return q

    def _goals(self, soles: SolePaths, path: PendulumPath, lowered: float) -> tuple[Matrix, Matrix]:
        n, R_WP = len(path.c), self.X_WP.rotation
        places, turns = np.zeros((n, 4, 3)), np.tile(np.eye(3), (n, 4, 1, 1))
        places[:, 0] = np.column_stack(
            (path.c, self.height - lowered + self._rise() * path.c[:, 0])
        )
        for foot in (0, 1):
            places[:, 1 + foot] = soles.place[:, foot, :3] @ R_WP.T + self.X_WP.translation
            turns[:, 1 + foot] = R_WP @ _about_z(soles.place[:, foot, 3])
        turns[:, 3] = _about_z(np.mean(soles.place[:, :, 3], axis=1)) @ self._upright
        return places, turns

    def _rise(self) -> float:
        """Return by how much the ground rises along x [-]."""
        normal = self.X_WP.rotation[:, 2]
        return -float(normal[0] / normal[2])

    def _rates(
        self,
        times: Vector,
        q: Matrix,
        paths: tuple[SolePaths, PendulumPath],
        watch: Callable[[float], None],
    ) -> tuple[Matrix, Matrix]:
        """Differentiate the joints, then correct them as little as makes soles and centre of mass move exactly as they should."""
        soles, path = paths
        v, a = central_differences(self.robot.model, times, q)
        first, second = (
            self._task_rates(soles.rate, path.rate),
            self._task_rates(soles.second, path.acceleration),
        )
        for row in range(len(times)):
            A = self._search.jacobian(q[row])
            v[row] += _least(A, first[row] - A @ v[row])
            a[row] += _least(A, second[row] - self._search.drift(q[row], v[row]) - A @ a[row])
            watch(SEARCHED + (1.0 - SEARCHED) * (row + 1) / len(times))
        return v, a

    def _task_rates(self, soles: Matrix, com: Matrix) -> Matrix:
        """Return how fast, or with what acceleration, each row of the tasks that must be met moves."""
        R_WP = self.X_WP.rotation
        columns = [com, self._rise() * com[:, :1]]
        for foot, turn in enumerate(self._turns):
            columns.append(soles[:, foot, :3] @ R_WP.T)
            if turn:
                columns.append(np.outer(soles[:, foot, 3], R_WP[:, 2]))
        return np.hstack(columns)


def _tell_nobody(share: float) -> None:
    del share


def _least(A: Matrix, b: Vector) -> Vector:
    """Return the least x with A x = b."""
    G = A @ A.T
    G[np.diag_indices_from(G)] += 1e-14 * float(np.trace(G))
    _, y, _ = lapack.dposv(G, b)
    return np.asarray(A.T @ y)


def _about_z(angles: Vector) -> Matrix:
    R = np.tile(np.eye(3), (len(angles), 1, 1))
    R[:, 0, 0], R[:, 0, 1], R[:, 1, 0], R[:, 1, 1] = (
        np.cos(angles),
        -np.sin(angles),
        np.sin(angles),
        np.cos(angles),
    )
    return R
