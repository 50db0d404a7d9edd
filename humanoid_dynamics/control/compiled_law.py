# SPDX-License-Identifier: Apache-2.0
"""The kernels of the law for one robot, with the memory they read and write."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from humanoid_dynamics.control.body_kernel import PARTS, read_body, solve_rows
from humanoid_dynamics.control.law_kernel import Body
from humanoid_dynamics.dynamics.placements import Placements
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel


class LawKernels:
    """Reads a robot and solves for its accelerations; not for several threads at once."""

    def __init__(
        self,
        robot: RobotModel,
        data: pin.Data,
        surfaces: Sequence[ContactSurface],
        now: Body,
        rows: tuple[Matrix, Vector, Vector],
        mobility: Vector,
        gains: tuple[float, float, float],
    ) -> None:
        """Prepare.

        Args:
            robot: The robot.
            data: Work space in which the rates of the momentum are computed before each ``look``.
            surfaces: Its soles.
            now: The robot, as ``law_kernel`` has it; written by ``look``.
            rows: Jacobians, what is asked, and softness.
            mobility: (nv,) what the solve may change the coordinates.
            gains: Stiffness and damping of the joints, and the largest acceleration.
        """
        A, b, _ = rows
        model = robot.model
        frames = [model.frames[surface.frame] for surface in surfaces]
        moves = np.zeros((len(frames), robot.nv))
        for row, frame in zip(moves, frames, strict=True):
            for joint in model.supports[frame.parentJoint]:
                row[model.idx_vs[joint] : model.idx_vs[joint] + model.nvs[joint]] = 1.0
        self._feet = (
            np.array([frame.parentJoint for frame in frames], dtype=np.intp),
            np.array([frame.placement.rotation for frame in frames]).reshape(-1, 3, 3),
            np.array([frame.placement.translation for frame in frames]).reshape(-1, 3),
            moves,
        )
        self._placements = Placements(model, data)
        self._views = (data.J, data.dJ, data.Ag, data.dAg, self._placements.poses)
        self._mass, self._now, self._rows, self._gains = robot.mass, now, (A, b), gains
        self._system = (
            *rows,
            mobility,
            np.zeros(A.shape),
            np.zeros((len(b), len(b))),
            np.zeros(len(b)),
        )
        self._read_body, self._solve_rows = (
            compile_kernel(read_body, PARTS),
            compile_kernel(solve_rows, PARTS),
        )

    def look(self, com: Vector, v: Vector) -> None:
        """Write where the robot is, what it does, and the Jacobians of all that is asked.

        Args:
            com: (3,) centre of mass [m].
            v: (nv,) velocity.
        """
        if not self._placements.shared:
            self._placements.refresh()
        self._read_body(self._views, com, self._feet, v, self._mass, self._now, *self._rows)

    def solve(self, error: Vector, v: Vector, wanted: tuple[Vector, Vector]) -> Vector:
        """Return the accelerations nearest to those that follow the joints of the reference, that meet the rows; (nv,).

        Args:
            error: (nv,) from the configuration to that of the reference.
            v: (nv,) velocity.
            wanted: (nv,) velocity and acceleration of the reference.
        """
        a: Vector = np.empty(len(v))
        self._solve_rows(error, v, wanted, self._gains, self._system, a)
        return a
