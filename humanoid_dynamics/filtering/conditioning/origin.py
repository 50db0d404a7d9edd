# SPDX-License-Identifier: Apache-2.0
"""Where the place and the heading of a reference are in the world of the robot."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_dynamics.spatial.arrays import Vector


class ReferenceOrigin:
    """Moves postures over the ground and turns them about the vertical, as far as the reference has jumped so far."""

    def __init__(self) -> None:
        """Begin where the reference says it is."""
        self._X, self._moved = pin.SE3.Identity(), False

    def place(self, q: Vector) -> Vector:
        """Return a posture of the reference where it is for the robot, (nq,).

        Args:
            q: (nq,) configuration.
        """
        return carry(self._X, q) if self._moved else q

    def move(self, X: pin.SE3) -> None:
        """Move all that comes.

        Args:
            X: By what, in the world of the robot.
        """
        self._X, self._moved = X * self._X, True

    def go_on_at(self, last: Vector, now: Vector) -> None:
        """Let the reference go on where it was.

        Args:
            last: (nq,) where it was, in the world of the robot.
            now: (nq,) where it is there.
        """
        self.move(way_back(last, now))


def way_back(last: Vector, now: Vector) -> pin.SE3:
    """Return the turn about the vertical and the way that bring a body to where it was.

    Args:
        last: (7 or more,) place [m] and quaternion where it was.
        now: (7 or more,) where it is.
    """
    turn = pin.utils.rotate("z", -heading_between(last, now))
    return pin.SE3(turn, last[:3] - turn @ now[:3])


def carry(X: pin.SE3, q: Vector) -> Vector:
    """Return a configuration whose base is moved, (nq,).

    Args:
        X: By what.
        q: (nq,) configuration.
    """
    moved = np.array(q)
    moved[:7] = pin.SE3ToXYZQUAT(X * pin.XYZQUATToSE3(q[:7]))
    return moved


def heading_between(q: Vector, other: Vector) -> float:
    """Return by how much the heading of the base changes from one configuration to another [rad].

    Args:
        q: (nq,) configuration.
        other: (nq,) likewise.
    """
    x, y, z, w = q[3], q[4], q[5], q[6]
    X, Y, Z, W = other[3], other[4], other[5], other[6]
    # The change is other times the inverse of q; of its matrix the part about the vertical counts.
    dz, dw = w * Z - W * z - X * y + Y * x, W * w + X * x + Y * y + Z * z
    return math.atan2(2.0 * dw * dz, dw * dw - dz * dz)
