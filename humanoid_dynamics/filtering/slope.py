# SPDX-License-Identifier: Apache-2.0
"""Sloped ground: everything is seen in axes in which the ground is level, and gravity pulls aslant."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.spatial.arrays import Matrix, Vector

if TYPE_CHECKING:
    from humanoid_dynamics.filtering.clip_filter import FilteredClip
    from humanoid_dynamics.filtering.frame import Frame

STEEPEST = 0.5  # least upward part of a normal that is ground
STEEPEST_SLOPE = 1.0  # rad


def normal_of(slope: float, uphill: float = 0.0) -> Vector:
    """Return the normal of a slope.

    Args:
        slope: How steep it is [rad].
        uphill: Where it goes up: turn about the vertical, from the x axis on [rad].

    Returns:
        (3,) normal in axes of the world.
    """
    return np.array(
        (-np.sin(slope) * np.cos(uphill), -np.sin(slope) * np.sin(uphill), np.cos(slope))
    )


class GroundSlope:
    """Ground of one inclination, through the origin.

    Attributes:
        robot: The robot with gravity in axes of the ground: what a filter on this ground is made for.
        R_WG: (3, 3) axes of the ground in those of the world.
        normal: (3,) its normal, of length one.
    """

    def __init__(self, robot: RobotModel, normal: ArrayLike) -> None:
        """Incline the ground.

        Args:
            robot: The robot.
            normal: (3,) normal of the ground, of any length.

        Raises:
            ShapeError: If the normal is no direction, or the ground is steeper than 60 degrees.
        """
        n = np.asarray(normal, dtype=np.float64)
        size = float(np.linalg.norm(n)) if n.shape == (3,) else 0.0
        if not (np.isfinite(size) and size > 0.0 and n[2] / size > STEEPEST):
            raise ShapeError(
                "normal of the ground", str(n.tolist()), "a vector less than 60 degrees from upward"
            )
        self.normal: Vector = n / size
        self.R_WG: Matrix = pin.Quaternion.FromTwoVectors(
            np.array([0.0, 0.0, 1.0]), n / size
        ).matrix()
        model = robot.model.copy()
        model.gravity = pin.Motion(self.R_WG.T @ robot.model.gravity.linear, np.zeros(3))
        self.robot = replace(robot, model=model)

    def to_ground(self, q: Vector) -> Vector:
        """Return a configuration in axes of the ground; velocities and accelerations of the base are in its own axes and stay.

        Args:
            q: (nq,) configuration in axes of the world.
        """
        return _turned(self.R_WG.T, q)

    def to_world(self, q: Vector) -> Vector:
        """Return a configuration in axes of the world.

        Args:
            q: (nq,) configuration in axes of the ground.
        """
        return _turned(self.R_WG, q)

    def clip_to_ground(self, clip: Clip) -> Clip:
        """Return a clip in axes of the ground.

        Args:
            clip: The clip in axes of the world.
        """
        return clip.change(robot=self.robot, q=np.array([self.to_ground(q) for q in clip.q]))

    def found_to_ground(self, found: FilteredClip) -> FilteredClip:
        """Return a filtered clip in axes of the ground.

        Args:
            found: The clip after the filter, in axes of the world.
        """
        frames = tuple(replace(frame, q=self.to_ground(frame.q)) for frame in found.frames)
        return replace(found, clip=self.clip_to_ground(found.clip), frames=frames)

    def frame_to_world(self, frame: Frame) -> Frame:
        """Return a frame in axes of the world; its target stays in those of the ground.

        Args:
            frame: A frame of a filter on this ground.
        """
        return replace(frame, q=self.to_world(frame.q))


def _turned(R: Matrix, q: Vector) -> Vector:
    turned = np.array(q)
    turned[:7] = pin.SE3ToXYZQUAT(pin.SE3(R, np.zeros(3)) * pin.XYZQUATToSE3(turned[:7]))
    return turned
