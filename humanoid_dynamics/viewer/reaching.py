# SPDX-License-Identifier: Apache-2.0
"""A hand that wants to grip: drawn to its grip by a spring, joined when it is there."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.constraints.loop import build_loop
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.simulation.reach import REACH
from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.structure.events import Connect

STIFFNESS = 4000.0  # N/m at first
GROWTH = 8.0  # 1/s, so that no weight keeps the ends apart for long
DAMPING = 300.0  # N·s/m
SHARE = 0.9  # largest force, as a share of the weight


class Reaching:
    """Draws the two ends of a connection together until it can close.

    Attributes:
        loop: The connection.
    """

    def __init__(self, world: World, loop: LoopClosure) -> None:
        self.loop = loop
        robot = world.robot
        self._ends = tuple(
            (robot.link_frame(link), X)
            for link, X in ((loop.link_a, loop.X_LA), (loop.link_b, loop.X_LB))
        )
        self._data, self._began = robot.data(), world.t
        self._most = SHARE * robot.mass * float(np.linalg.norm(robot.model.gravity.linear))

    def act(self, world: World, dt: float) -> bool:
        """Draw the ends together for a step, or join them.

        Args:
            world: The world.
            dt: Length of the step [s].

        Returns:
            Whether they are joined now.
        """
        pin.forwardKinematics(world.robot.model, self._data, world.q, world.v)
        (p_A, v_A), (p_B, v_B) = (self._end(world, frame, X) for frame, X in self._ends)
        if np.abs(p_B - p_A).max() < 0.9 * REACH and self._closes(world):
            world.apply([Connect(self.loop)])
            return True
        grown = 1.0 + GROWTH * (world.t - self._began)
        force = grown * STIFFNESS * (p_B - p_A) + np.sqrt(grown) * DAMPING * (v_B - v_A)
        force *= min(1.0, self._most / max(float(np.linalg.norm(force)), 1e-9))
        world.push(self.loop.link_a, force.tolist(), dt, point=self.loop.X_LA.translation.tolist())
        world.push(
            self.loop.link_b, (-force).tolist(), dt, point=self.loop.X_LB.translation.tolist()
        )
        return False

    def _end(self, world: World, frame: int, X_LE: pin.SE3) -> tuple[Vector, Vector]:
        """Return where an end is and how fast it moves, in the world."""
        X_WE = pin.updateFramePlacement(world.robot.model, self._data, frame) * X_LE
        V_WL = pin.getFrameVelocity(world.robot.model, self._data, frame, pin.ReferenceFrame.LOCAL)
        return np.array(X_WE.translation), np.array(X_WE.rotation @ X_LE.actInv(V_WL).linear)

    def _closes(self, world: World) -> bool:
        """Return whether all rows of the connection are within reach, rotations too."""
        block = build_loop(world.robot, self.loop)
        error = np.zeros(len(block.labels))
        world.mechanism.kinematics.place(world.q)
        block.write_error(world.mechanism.kinematics, error)
        return bool(np.abs(error).max(initial=0.0) <= REACH)
