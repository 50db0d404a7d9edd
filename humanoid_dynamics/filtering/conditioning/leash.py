# SPDX-License-Identifier: Apache-2.0
"""Place and heading of a reference whose soles both slide: they go on no faster than small steps can follow, and come back later."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_dynamics.dynamics.placements import Placements
from humanoid_dynamics.filtering.conditioning.leash_kernels import (
    SLIP_TURN,
    SLIP_WAY,
    TURNED,
    Y,
    hold_soles,
)
from humanoid_dynamics.filtering.conditioning.origin import carry
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Indices, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel

PACE = (
    0.1,
    0.6,
)  # speed of soles that slide, of sqrt(g height), and rad/s of soles that turn: small steps follow that
SLIPS = (0.18, 0.5)  # share of the height, and rad; by this much they may run ahead of that
FLIES = 0.12  # speed of the height of the lower sole, of sqrt(g height); soles that rise or sink faster do not slide


class Leash:
    """Holds postures back where both soles move alike: the whole posture is moved and turned over the ground, its joints stay.

    Attributes:
        holds: Whether the last posture is elsewhere than it was asked.
    """

    def __init__(self, robot: RobotModel, proportions: Proportions) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base and two soles.
            proportions: Its measures.
        """
        self._model, self._data = robot.model, robot.data()
        self._placements = Placements(self._model, self._data)
        frames = [self._model.frames[sole] for sole in proportions.soles]
        points = [
            frame.placement.act(middle)
            for frame, middle in zip(frames, proportions.centres, strict=True)
        ]
        self._joints: Indices = np.array([frame.parentJoint for frame in frames], dtype=np.intp)
        self._soles = np.array(
            [
                [*point, *frame.placement.rotation[:, 0]]
                for frame, point in zip(frames, points, strict=True)
            ]
        )
        speed = math.sqrt(proportions.gravity * proportions.height)
        self._limits = np.array(
            [PACE[0] * speed, PACE[1], SLIPS[0] * proportions.height, SLIPS[1], FLIES * speed]
        )
        self._hold, self._last = compile_kernel(hold_soles), np.zeros((2, 4))
        self.restart()

    def restart(self) -> None:
        """Forget the stream."""
        self._state, self.holds, self._begun = (
            np.array([1.0, 0.0, 0.0, 0.0, 0.0, *self._limits[SLIP_WAY : SLIP_TURN + 1]]),
            False,
            False,
        )

    def let_go(self) -> pin.SE3:
        """Return by what the last posture was moved, and hold no more: who asked goes on from there."""
        X, self.holds = self._moved, False
        self._state[: TURNED + 1] = 1.0, 0.0, 0.0, 0.0, 0.0
        return X

    def hold(self, q: Vector, gap: float) -> Vector:
        """Return a posture where and how it may be by now.

        Args:
            q: (nq,) configuration.
            gap: Time since the last one [s].
        """
        pin.forwardKinematics(self._model, self._data, q)
        if not self._placements.shared:
            self._placements.refresh()
        seen = self._placements.poses, self._joints, self._soles
        self.holds = self._hold(
            seen, gap if self._begun else -1.0, self._limits, self._state, self._last
        )
        self._begun = True
        return carry(self._moved, q) if self.holds else q

    @property
    def _moved(self) -> pin.SE3:
        """By what the posture is moved."""
        c, s, x, y = self._state[: Y + 1].tolist()
        return pin.SE3(
            np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), np.array([x, y, 0.0])
        )
