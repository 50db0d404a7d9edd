# SPDX-License-Identifier: Apache-2.0
"""Where the filter starts: standing as the first target wants it."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.filtering.ticks.terms import BASE
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import find_body, find_soles
from humanoid_dynamics.motion.inverse_kinematics import COM, InverseKinematics, Task
from humanoid_dynamics.spatial.arrays import Matrix, Vector

UPRIGHT, REST = (
    3.0,
    0.3,
)  # weights of the base's orientation and of the joints of the target, per radian
SAME = 1e-12
SEARCHED = 2  # iterations of a push or a tick that looks for where to stand
TRIED = 8  # iterations after which a search that can succeed is near its goal
MOST = 40  # iterations of a search that is
NEAR, REACHED = 1e-4, 1e-8  # m or rad
LOWERINGS, LOWERING = 12, 0.01  # times, m


class Placer:
    """Finds where a robot stands on its soles with its centre of mass where it should be, a few iterations at a time.

    Attributes:
        q: (nq,) the configuration found so far.
        done: Whether it is the one looked for, or the best there is.
    """

    def __init__(self, robot: RobotModel, *, keep_limits: bool = True) -> None:
        """Prepare.

        Args:
            robot: The robot.
            keep_limits: Whether joints stay inside their position limits.
        """
        self._robot, self._data = robot, robot.data()
        soles, self._base = find_soles(robot), find_body(robot).pelvis
        self._soles = [sole.frame for sole in soles]
        tasks = [Task("com", COM, place=1.0, hard=True)]
        tasks += [Task(sole.name, sole.frame, place=1.0, turn=1.0, hard=True) for sole in soles]
        tasks.append(Task("base", self._base, turn=UPRIGHT))
        weight = np.full(robot.nv, REST)
        weight[:BASE] = 0.0
        self._search = InverseKinematics(robot, tasks, weight, keep_limits=keep_limits)
        self.q, self.done = np.array(robot.posture), True

    def begin(self, target: Target, start: Vector | None = None) -> None:
        """Look for the configuration nearest to a target.

        Args:
            target: What is wanted.
            start: (nq,) where the search starts; at the target's own configuration where None.
        """
        pin.framesForwardKinematics(self._robot.model, self._data, target.q)
        self._rest = np.array(target.q)
        self._places: Matrix = np.vstack((target.com, target.sole_place, np.zeros(3)))
        self._turns: Matrix = np.array(
            [np.eye(3), *target.sole_turn, self._data.oMf[self._base].rotation]
        )
        self._count, self._lowered = 0, 0
        self.q, self.done = np.array(target.q), self._is_there(target)
        if start is not None and not self.done:
            self.q = np.array(start)

    def advance(self, most: int) -> None:
        """Go on.

        Args:
            most: Iterations, at most.
        """
        if self.done:
            return
        found = self._search.solve(
            self.q, self._places, self._turns, rest=self._rest, tolerance=REACHED, most=most
        )
        self.q, self._count = np.array(found.q), self._count + most
        self.done = found.hard_error < REACHED
        if not self.done and self._count >= (TRIED if found.hard_error > NEAR else MOST):
            self._lower()

    def _lower(self) -> None:
        """Look lower down: legs do not reach."""
        self.done = self._lowered == LOWERINGS
        self._places[0, 2] -= LOWERING
        self._count, self._lowered = 0, self._lowered + 1

    def _is_there(self, target: Target) -> bool:
        """Whether the target's own configuration already is what is looked for; its frames are known."""
        com = pin.centerOfMass(self._robot.model, self._data, target.q)
        misses = [com - target.com]
        for foot, frame in enumerate(self._soles):
            X = self._data.oMf[frame]
            misses += [
                X.translation - target.sole_place[foot],
                (X.rotation - target.sole_turn[foot]).ravel(),
            ]
        return bool(np.max(np.abs(np.concatenate(misses))) < SAME)

    def place(self, target: Target) -> Vector:
        """Return the configuration nearest to a target, all at once.

        Args:
            target: What is wanted.
        """
        self.begin(target)
        while not self.done:
            self.advance(TRIED)
        return np.array(self.q)


class FirstPlace:
    """Where the robot stands before its first tick: looked for from when the reference begins, so that nobody waits for it.

    Attributes:
        begun: Whether it is looked for.
        found: Whether the placer has it.
    """

    def __init__(self, placer: Placer) -> None:
        """Begin.

        Args:
            placer: What finds it.
        """
        self._placer, self._aims, self.begun, self.found = placer, False, False, False

    def begin(self, target: Target) -> None:
        """Look for it although the first target is not known.

        Args:
            target: What is wanted as far as is known.
        """
        self.begun = True
        self._placer.begin(target)

    def seek(self, first: Target | None, *, at_once: bool) -> bool:
        """Go on for a little, or begin with the first target where it has just come; return whether it is found.

        Args:
            first: The first target; None where that is not known.
            at_once: Whether to go on until it is found.
        """
        if first is not None and not self._aims:
            self._aims = True
            self._placer.begin(first, self._placer.q if self.begun else None)
        else:
            self._placer.advance(SEARCHED)
        while at_once and not self._placer.done:
            self._placer.advance(TRIED)
        self.found = self._aims and self._placer.done
        return self.found
