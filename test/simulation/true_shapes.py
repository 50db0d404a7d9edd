# SPDX-License-Identifier: Apache-2.0
"""How deep the shapes of a robot are in level ground, by their own surfaces and not by the points that stand for them."""

import numpy as np
import pinocchio as pin

from humanoid_dynamics.constraints.kinematics import attach
from humanoid_dynamics.model.standing.footprint import shape_points

UP = np.array([0.0, 0.0, 1.0])


def list_shapes(robot):
    """Return every shape of a robot with its place in a joint, and the vertices of meshes in the link."""
    shapes = []
    for link, solids in robot.solids.items():
        frame = attach(robot, link)
        for k, shape in enumerate(solids):
            vertices = shape_points(shape, UP, None) if shape.kind == "mesh" else None
            shapes.append((f"{link}.{k}", frame.joint, frame.X_JF, shape, vertices))
    return shapes


def lowest(shape, X_WL, vertices):
    """Return the height of the lowest point of a shape: the support of its vertices, or in closed form."""
    if shape.kind == "mesh":
        return (
            np.inf
            if not len(vertices)
            else float((vertices @ X_WL.rotation[2]).min() + X_WL.translation[2])
        )
    X = X_WL * shape.X_LG
    across, along = np.hypot(X.rotation[2, 0], X.rotation[2, 1]), abs(X.rotation[2, 2])
    if shape.kind == "box":
        down = 0.5 * np.abs(X.rotation[2]) @ np.array(shape.size)
    elif shape.kind == "cylinder":
        down = 0.5 * along * shape.size[1] + across * shape.size[0]
    else:
        down = shape.size[0] + (0.5 * along * shape.size[1] if shape.kind == "capsule" else 0.0)
    return float(X.translation[2] - down)


def sink(robot, q, shapes=None):
    """Return how far the deepest shape of a robot is below the height zero [m], and its name."""
    data = robot.data()
    pin.forwardKinematics(robot.model, data, q)
    shapes = list_shapes(robot) if shapes is None else shapes
    return max(
        (-lowest(shape, data.oMi[joint] * X_JF, vertices), name)
        for name, joint, X_JF, shape, vertices in shapes
        if joint
    )
