# SPDX-License-Identifier: Apache-2.0
"""Closed loops of a robot, as something else that pushes: what holds them together is a force like that of a contact."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.constraints.constraint_set import ConstraintSet
from humanoid_dynamics.constraints.kinematics import Kinematics
from humanoid_dynamics.constraints.loop import build_loop
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector

OPEN = 1e-4  # m or rad; a loop that is farther apart counts as open
SPREADS = 1e-6  # of 1 + largest speed and acceleration; what is beyond it pulls a loop apart


class LoopRows:
    """The loops of a robot at one instant: make once, ``update`` at every tick.

    Attributes:
        size: Number of rows, each with one number in the push.
        torn: What is wrong with the motion: which loop it does not close; empty where nothing is.
    """

    def __init__(self, robot: RobotModel) -> None:
        """Prepare.

        Args:
            robot: The robot.
        """
        self._set = ConstraintSet(robot, [build_loop(robot, loop) for loop in robot.loops])
        self._kinematics = Kinematics(robot)
        self.size = self._set.size
        self.torn = ""

    @np.errstate(all="ignore")  # what is not finite tears the loops
    def update(self, q: Vector, v: Vector, a: Vector) -> Matrix:
        """Compute the rows, and whether the motion keeps them.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            a: (nv,) acceleration.

        Returns:
            (size, nv) velocities that would pull the loops apart; valid until the next update.
        """
        self._kinematics.move(q, v, a)
        rows = self._set.evaluate(self._kinematics)
        self.torn = self._find_torn(
            rows.phi, rows.scale * (rows.J @ v), rows.scale * rows.gamma, v, a
        )
        return rows.J

    def reach(self) -> Vector:
        """Return which coordinates the loops act on somewhere, (nv,) of 0 and 1."""
        robot = self._kinematics.robot
        reached = np.zeros(robot.nv)
        for loop in robot.loops:
            for link in (loop.link_a, loop.link_b):
                if link in robot.links:
                    for joint in robot.model.supports[
                        robot.model.frames[robot.link_frame(link)].parentJoint
                    ]:
                        first = robot.model.idx_vs[joint]
                        reached[first : first + robot.model.nvs[joint]] = 1.0
        return reached

    def _find_torn(self, phi: Vector, slip: Vector, push: Vector, v: Vector, a: Vector) -> str:
        allowed = SPREADS * (
            1.0 + float(np.max(np.abs(v), initial=0.0)) + float(np.max(np.abs(a), initial=0.0))
        )
        for text, unit, values, most in (
            ("is open by", "m or rad", phi, OPEN),
            ("is pulled apart with", "m/s", slip, allowed),
            ("is pulled apart with", "m/s²", push, allowed),
        ):
            worst = int(np.argmax(np.abs(values))) if values.size else -1
            if worst >= 0 and not abs(values[worst]) <= most:
                return f"the motion does not close the loops: {self._set.labels[worst]} {text} {abs(values[worst]):.3g} {unit}"
        return ""
