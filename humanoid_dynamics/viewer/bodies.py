# SPDX-License-Identifier: Apache-2.0
"""What is drawn of a robot: one surface for all that moves together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, read_only
from humanoid_dynamics.viewer.triangles import Triangles, capsule_between, merge, triangulate

DENSITY = 1000.0  # kg/m³, of a limb nobody has drawn
THINNEST, THICKEST = 0.012, 0.09  # m
ORIGIN = read_only(np.zeros(3))


@dataclass(frozen=True, eq=False)
class Body:
    """All links that one joint moves, as one surface.

    Attributes:
        name: Name of the first of these links.
        joint: Index of the joint in the pinocchio model.
        X_JL: Pose of that link in the frame of the joint.
        surface: The surface, in the frame of the joint.
        drawn: Whether its maker has drawn it; otherwise it is a capsule from joint to joint.
    """

    name: str
    joint: int
    X_JL: pin.SE3
    surface: Triangles
    drawn: bool


def build_bodies(robot: RobotModel, *, simple: bool = False) -> tuple[Body, ...]:
    """Return what is drawn of a robot.

    Args:
        robot: The robot.
        simple: Whether to leave out meshes and draw capsules instead.

    Returns:
        Bodies, in the order of their joints.
    """
    links: dict[int, list[str]] = {}
    for link in robot.links:
        links.setdefault(int(robot.model.frames[_frame(robot, link)].parentJoint), []).append(link)
    bodies = []
    for joint, names in sorted(links.items()):
        surface = merge([_draw(robot, link, simple) for link in names])
        drawn = len(surface.faces) > 0
        X_JL = robot.model.frames[_frame(robot, names[0])].placement
        surface = surface if drawn else _sketch(robot, joint)
        if len(surface.faces):
            bodies.append(Body(names[0], joint, pin.SE3(X_JL), surface, drawn))
    return tuple(bodies)


def place_bodies(bodies: tuple[Body, ...], data: pin.Data) -> Matrix:
    """Return the poses of bodies after forward kinematics: (n, 7) position [m] and quaternion w x y z."""
    poses = np.empty((len(bodies), 7))
    for row, body in zip(poses, bodies, strict=True):
        X_WJ = pin.SE3ToXYZQUAT(data.oMi[body.joint])
        row[:3], row[3], row[4:] = X_WJ[:3], X_WJ[6], X_WJ[3:6]
    return poses


def _frame(robot: RobotModel, link: str) -> int:
    return int(robot.model.getFrameId(link, pin.FrameType.BODY))


def _draw(robot: RobotModel, link: str, simple: bool) -> Triangles:
    shapes = [
        shape for shape in robot.shapes.get(link, ()) if not (simple and shape.kind == "mesh")
    ]
    return merge([triangulate(shape) for shape in shapes]).moved(
        robot.model.frames[_frame(robot, link)].placement
    )


def _sketch(robot: RobotModel, joint: int) -> Triangles:
    """Return capsules from a joint to all that hang on it, to the soles, and to the centre of mass where there is nothing else."""
    model = robot.model
    mass = float(model.inertias[joint].mass)
    ends = [np.array(model.jointPlacements[child].translation) for child in model.children[joint]]
    frames = (model.frames[surface.frame] for surface in robot.surfaces.values())
    ends += [
        np.array(frame.placement.translation) for frame in frames if frame.parentJoint == joint
    ]
    if not any(np.linalg.norm(end) > THINNEST for end in ends) and mass > 0.0:
        ends = [2.0 * np.array(model.inertias[joint].lever)]
    length = sum(float(np.linalg.norm(end)) for end in ends)
    radius = float(
        np.clip(np.sqrt(mass / (np.pi * DENSITY * max(length, THINNEST))), THINNEST, THICKEST)
    )
    return merge(
        [capsule_between(ORIGIN, end, radius) for end in ends if np.linalg.norm(end) > THINNEST]
    )
