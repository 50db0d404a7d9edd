# SPDX-License-Identifier: Apache-2.0
"""Lengths of a robot that the filter scales by; everything is measured on the robot, nothing is looked up by its name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import SIDES, BodyPoint, find_body, find_soles
from humanoid_dynamics.spatial.arrays import Matrix, Vector

Upward = tuple[float, float, float]  # direction upward, in axes of the base
WIDEST_STANCE = (
    0.68  # of the leg: feet farther apart ask too much of ankles that roll by 15 degrees
)
LONGEST_STRIDE = 1.05  # of the leg, from one footprint of a foot to its next


@dataclass(frozen=True, eq=False)
class Proportions:
    """What the filter knows about the build of a robot.

    Attributes:
        soles: Frames of the soles in the model, left and right.
        corners: Corners of each sole in its frame (k, 3), left and right [m].
        centres: (2, 3) middles of the soles in their frames [m].
        hips: Frames and points of the hips.
        ankles: Frames and points of the ankles.
        leg: Length of the straight leg, hip to ankle [m].
        height: Height of the centre of mass above the soles in the resting posture [m].
        pelvis: Height of the base above the soles in the resting posture [m].
        up: Direction upward in axes of the base, in the resting posture.
        mass: Mass [kg].
        gravity: Size of gravity [m/s^2].
        downhill: (2,) its part along the ground; zero where that is level [m/s^2].
        widest: Largest distance between the feet [m].
        stride: Longest stride [m].
    """

    soles: tuple[int, int]
    corners: tuple[Matrix, Matrix]
    centres: Matrix
    hips: tuple[BodyPoint, BodyPoint]
    ankles: tuple[BodyPoint, BodyPoint]
    leg: float
    height: float
    pelvis: float
    up: Upward
    mass: float
    gravity: float
    downhill: Vector
    widest: float
    stride: float

    @property
    def lean(self) -> Vector:
        """By how much the point that bears the robot is away from below its centre of mass, in axes of the ground [m]."""
        return self.height / self.gravity * self.downhill

    @property
    def pendulum(self) -> float:
        """Rate at which the robot falls over, sqrt(g / height) [1/s]."""
        return float(np.sqrt(self.gravity / self.height))


def measure_proportions(robot: RobotModel) -> Proportions:
    """Measure a robot that stands on two soles.

    Args:
        robot: The robot.

    Returns:
        Its proportions.
    """
    body, soles, data = find_body(robot), find_soles(robot), robot.data()
    pin.framesForwardKinematics(robot.model, data, robot.posture)
    ground = float(np.mean([data.oMf[sole.frame].translation[2] for sole in soles]))
    points = {name: _place(data, point) for name, point in body.points.items()}
    thigh, shank = (
        float(
            np.mean(
                [np.linalg.norm(points[f"{side}_{a}"] - points[f"{side}_{b}"]) for side in SIDES]
            )
        )
        for a, b in (("hip", "knee"), ("knee", "ankle"))
    )
    leg = thigh + shank
    com = pin.centerOfMass(robot.model, data, robot.posture)
    base = 1 if robot.model.njoints > 1 else 0
    hips, ankles = (
        (body.points[f"left_{name}"], body.points[f"right_{name}"]) for name in ("hip", "ankle")
    )
    return Proportions(
        (soles[0].frame, soles[1].frame),
        (np.array(soles[0].vertices), np.array(soles[1].vertices)),
        np.array([np.mean(sole.vertices, axis=0) for sole in soles]),
        hips,
        ankles,
        leg,
        float(com[2]) - ground,
        float(data.oMi[base].translation[2]) - ground,
        upward_of(robot.posture),
        robot.mass,
        float(np.linalg.norm(robot.model.gravity.linear)),
        np.array(robot.model.gravity.linear[:2]),
        WIDEST_STANCE * leg,
        LONGEST_STRIDE * leg,
    )


def inner_rectangle(vertices: Matrix, inside: float = 0.001) -> Matrix:
    """Return the largest rectangle along the axes of a convex sole that lies inside it, a little smaller still.

    Args:
        vertices: (k, 3) corners of the sole, counter-clockwise [m].
        inside: How far inside the sole it ends [m].

    Returns:
        (4, 3) corners of the rectangle, counter-clockwise; the sole itself where it is an edge or a point.
    """
    if len(vertices) < 3:
        return vertices
    edges = np.roll(vertices, -1, axis=0)[:, :2] - vertices[:, :2]
    A = np.column_stack((edges[:, 1], -edges[:, 0]))
    A /= np.linalg.norm(A, axis=1)[:, None]
    b = np.einsum("ij,ij->i", A, vertices[:, :2]) - inside
    low, high = vertices[:, :2].min(axis=0), vertices[:, :2].max(axis=0)
    best, area = np.zeros((4, 2)), 0.0
    for front in np.linspace(0.0, 0.3, 16):
        for back in np.linspace(0.0, 0.3, 16):
            x = np.array(
                [
                    low[0] + back * (high[0] - low[0]) + inside,
                    high[0] - front * (high[0] - low[0]) - inside,
                ]
            )
            y = _widths(A, b, x)
            if y[1] > y[0] and (x[1] - x[0]) * (y[1] - y[0]) > area:
                area = float((x[1] - x[0]) * (y[1] - y[0]))
                best = np.array([[x[0], y[0]], [x[1], y[0]], [x[1], y[1]], [x[0], y[1]]])
    return np.column_stack((best, np.full(4, float(np.mean(vertices[:, 2])))))


def _widths(A: Matrix, b: Vector, x: Vector) -> Vector:
    """Return the interval of y that is inside at both ends of an interval of x."""
    low, high = -np.inf, np.inf
    for (a_x, a_y), bound in zip(A, b, strict=True):
        worst = bound - max(a_x * x[0], a_x * x[1])
        if abs(a_y) > 1e-9:
            if a_y > 0.0:
                high = min(high, worst / a_y)
            else:
                low = max(low, worst / a_y)
        elif worst < 0.0:
            return np.array([0.0, -1.0])
    return np.array([low, high])


def _place(data: pin.Data, point: BodyPoint) -> Vector:
    return np.asarray(data.oMf[point.frame].act(point.p_F))


def upward_of(q: Vector) -> Upward:
    """Return the direction upward, in axes of the base; as long as the square of the quaternion is.

    Args:
        q: (nq,) configuration.
    """
    x, y, z, w = q[3:7].tolist()
    return 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w + z * z - x * x - y * y


def uprightness(q: Vector, rest: Upward) -> float:
    """Return the cosine of how far the base leans, likewise.

    Args:
        q: (nq,) configuration.
        rest: Direction upward in the resting posture.
    """
    up = upward_of(q)
    return up[0] * rest[0] + up[1] * rest[1] + up[2] * rest[2]
