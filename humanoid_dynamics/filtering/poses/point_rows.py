# SPDX-License-Identifier: Apache-2.0
"""The control-point law: what the accelerations of led frames should be, as rows on the accelerations of the robot [DF, eq. 4-6].

The desired acceleration of a frame is that of its goal plus damped deviations, equation (4).  The paper merges it with the wishes of the
joints by a weighted pseudo-inverse, (5)-(6), before it looks at limits; here the same squares enter the program of the tick, which
minimises them together with all other wishes and under all limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.poses.follower import GoalPace, PoseFollowers
from humanoid_dynamics.filtering.poses.led_frame import LedFrame
from humanoid_dynamics.filtering.poses.pose_kernels import (
    read_frame,
    write_law,
)
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.spatial.compiling import compile_kernel

LWA = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
HARDEST, HARDEST_TURN = 60.0, 300.0  # m/s^2, rad/s^2; no frame is asked for more


@dataclass(frozen=True)
class PointLaw:
    """How led frames are drawn to their goals.

    Attributes:
        stiffness: Of deviations [1/s^2].
        damping: Of deviations of velocity [1/s].
        place: What a deviation from the wish costs, per squared acceleration, by kind of frame [s^4/m^2]; feet have their own wishes.
        turn: The same for orientations [s^4/rad^2]; that of the pelvis takes the place of the wish for the base.
        pace: How fast frames go at most.
    """

    stiffness: float = 900.0
    damping: float = 60.0
    place: tuple[tuple[str, float], ...] = (
        ("hand", 200.0),
        ("pelvis", 20.0),
        ("body", 5.0),
        ("foot", 0.0),
    )
    turn: tuple[tuple[str, float], ...] = (
        ("hand", 4.0),
        ("pelvis", 0.0),
        ("body", 8.0),
        ("foot", 0.0),
    )
    pace: GoalPace = field(default_factory=GoalPace)


class PointRows:
    """Where led frames are, and the rows of the law.

    Attributes:
        G: (6 k, nv) Jacobians, axes of the world.
        g: (6 k,) wished accelerations less those that are there anyway.
        W: (6 k,) weights.
        p: (k, 3) where the frames are [m].
        R: (k, 3, 3) their orientations.
        rate: (k, 6) their velocities.
        wish: (k, 6) accelerations they should have.
        left: (k, 2) how far they are from their goals [m, rad].
    """

    def __init__(self, model: pin.Model, frames: Sequence[LedFrame], law: PointLaw) -> None:
        """Take the memory.

        Args:
            model: The robot's model.
            frames: The led frames.
            law: How they are drawn to their goals.
        """
        count, nv = len(frames), int(model.nv)
        self._model, self._law = model, law
        placed = [(led.frame, model.frames[led.frame]) for led in frames]
        self._frames = [
            (k, int(frame.parentJoint), np.array(frame.placement.homogeneous))
            for k, frame in placed
        ]
        self._gravity = np.array(model.gravity.linear)
        self._data: pin.Data | None = None  # whose accelerations are looked at
        self._accelerations: list[Vector] = []
        place, turn = dict(law.place), dict(law.turn)
        self._weights = np.array(
            [[place[led.kind]] * 3 + [turn[led.kind]] * 3 for led in frames]
        ).reshape(count, 6)
        self.G, self.g, self.W = np.zeros((6 * count, nv)), np.zeros(6 * count), np.zeros(6 * count)
        self.p, self.R, self.rate = (
            np.zeros((count, 3)),
            np.tile(np.eye(3), (count, 1, 1)),
            np.zeros((count, 6)),
        )
        self.left = np.zeros((count, 2))
        self._read = compile_kernel(read_frame)
        self._write = compile_kernel(write_law)
        self._drift, self.wish = np.zeros((count, 6)), np.zeros((count, 6))

    def read(self, data: pin.Data, v: Vector) -> None:
        """Read where the frames are.

        Args:
            data: Joints placed, with Jacobians, and the accelerations less gravity they have where no coordinate accelerates.
            v: (nv,) velocity.
        """
        model, out = self._model, (self.p, self.R, self.G, self._drift, self.rate)
        if data is not self._data:
            self._data, self._accelerations = (
                data,
                [data.a_gf[joint].vector for _, joint, _ in self._frames],
            )  # pinocchio writes there
        for k, ((frame, _, fixed), acceleration) in enumerate(
            zip(self._frames, self._accelerations, strict=True)
        ):
            X_WF = pin.updateFramePlacement(model, data, frame).homogeneous
            self._read(
                k,
                (X_WF, pin.getFrameJacobian(model, data, frame, LWA), acceleration),
                fixed,
                self._gravity,
                v,
                out,
            )

    def write(self, goals: PoseFollowers, shares: Vector) -> None:
        """Write the law.

        Args:
            goals: Where the frames should be; further ones behind them do not matter.
            shares: (k,) how far each is led.
        """
        law = float(self._law.stiffness), float(self._law.damping), HARDEST, HARDEST_TURN
        wanted, poses = (goals.p, goals.R, goals.rate), (self.p, self.R, self.rate)
        self._write(wanted, goals.acceleration, poses, law, self.wish, self.left)
        np.subtract(self.wish, self._drift, self.g.reshape(-1, 6))
        np.multiply(self._weights, shares[:, None], self.W.reshape(-1, 6))
