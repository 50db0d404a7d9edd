# SPDX-License-Identifier: Apache-2.0
"""Free bodies that turn fast: a step sees their linear velocities along axes that stand still, those of the body in the middle of the step.

Along axes that turn by an angle theta in a step, the mean of the velocities before and after it would be short by theta²/8 of them.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector

TURNING = 5.0  # speed above which a body turns fast [rad/s]


def list_free_bodies(robot: RobotModel) -> tuple[tuple[int, int], ...]:
    """Return where configuration and velocity of each free body begin.

    Args:
        robot: The robot.
    """
    return tuple(
        (joint.q.start, joint.v.start) for joint in robot.joints if joint.kind == "free_flyer"
    )


class StandingAxes:
    """Axes of the bodies that turn fast in one step.

    Attributes:
        columns: Where the velocity of each begins.
    """

    def __init__(
        self, bodies: tuple[tuple[int, int], ...], q: Vector, v: Vector, dt: float
    ) -> None:
        """Find them.

        Args:
            bodies: From ``list_free_bodies``.
            q: (nq,) configuration at the start.
            v: (nv,) velocity there, along the axes of the bodies.
            dt: Length of the step [s].
        """
        self._q, self._v, self._dt = q, v, dt
        self._bodies = [(k, c) for k, c in bodies if np.abs(v[c + 3 : c + 6]).max() > TURNING]
        self.columns = tuple(c for _, c in self._bodies)
        self._middle = [
            _rotation(q, k) @ pin.exp3(0.5 * dt * v[c + 3 : c + 6]) for k, c in self._bodies
        ]
        self._end: list[Matrix] = []

    def go_to_middle(self, q_M: Vector) -> None:
        """Put the bodies where they are in the middle, if their velocity stays.

        Args:
            q_M: (nq,) configuration there, overwritten where they are.
        """
        for k, c in self._bodies:
            q_M[k : k + 3] = (
                self._q[k : k + 3] + 0.5 * self._dt * _rotation(self._q, k) @ self._v[c : c + 3]
            )

    def see_from_middle(self, v: Vector) -> None:
        """Turn the linear velocities of the bodies from their axes at the start to those in the middle.

        Args:
            v: (nv,) velocity, overwritten.
        """
        for (k, c), R_M in zip(self._bodies, self._middle, strict=True):
            v[c : c + 3] = R_M.T @ _rotation(self._q, k) @ v[c : c + 3]

    def go_to_end(self, way: Vector, q: Vector) -> None:
        """Put the bodies where a way leads.

        Args:
            way: (nv,) the way, seen from the middle.
            q: (nq,) configuration at the end, with their rotations; overwritten where they are.
        """
        self._end = [_rotation(q, k) for k, _ in self._bodies]
        for (k, c), R_M in zip(self._bodies, self._middle, strict=True):
            q[k : k + 3] = self._q[k : k + 3] + R_M @ way[c : c + 3]

    def see_from_end(self, v: Vector) -> None:
        """Turn the linear velocities of the bodies from their axes in the middle to those at the end.

        Args:
            v: (nv,) velocity, overwritten.
        """
        for (_, c), R_M, R in zip(self._bodies, self._middle, self._end, strict=True):
            v[c : c + 3] = R.T @ R_M @ v[c : c + 3]


def straighten(columns: tuple[int, ...], M: Matrix, v: Vector, h: Vector) -> None:
    """Take out of the bias forces what makes linear velocities turn with the axes of bodies.

    Args:
        columns: Where the velocities of the bodies begin.
        M: (nv, nv) inertia, of which the upper triangle counts.
        v: (nv,) velocity in the middle.
        h: (nv,) bias forces, overwritten.
    """
    for c in columns:
        turning = np.cross(v[c + 3 : c + 6], v[c : c + 3])
        h[c:] -= np.triu(M[c : c + 3, c:]).T @ turning
        h[:c] -= M[:c, c : c + 3] @ turning  # of what carries a body that is free of it


def _rotation(q: Vector, k: int) -> Matrix:
    R: Matrix = pin.Quaternion(*q[[k + 6, k + 3, k + 4, k + 5]]).matrix()
    return R
