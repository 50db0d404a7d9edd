# SPDX-License-Identifier: Apache-2.0
"""Variant A of the virtual cut: the joint that closes a loop stays in the tree, under a massless virtual link [CK, sec. 2.1; SV, sec. 3.2].

The virtual link hangs on link B by the p freedoms of the cut joint, and all six rows hold it to link A.  Mobility and motion are those
of variant B, which drops the joint and keeps 6 - p rows; the mass matrix of the tree is singular here, so variant B is the default.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.structure.rebuild import Body, list_bodies, rebuild

_X, _Y = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
JOINTS = {
    "revolute": lambda: pin.JointModelRZ(),
    "prismatic": lambda: pin.JointModelPZ(),
    "universal": lambda: pin.JointModelUniversal(_Y, _X),
    "spherical": lambda: pin.JointModelSpherical(),
    "planar": lambda: pin.JointModelPlanar(),
}


def with_virtual_links(robot: RobotModel) -> RobotModel:
    """Return the robot with a massless virtual link for every loop that has a joint [CK, sec. 2.1; SV, sec. 3.2].

    Args:
        robot: The robot; its loops are cut joints dropped (variant B).

    Returns:
        Another robot of the same motions: a joint ``virtual.<loop>`` per loop in the tree, and six rows per loop.
    """
    bodies, loops = list_bodies(robot), []
    for loop in robot.loops:
        if loop.kind == "fixed":
            loops.append(loop)
            continue
        name = f"virtual.{loop.name}"
        carrier, X_PJ = _carrier(robot, loop)
        bodies.append(
            Body(
                name, carrier, loop.kind, JOINTS[loop.kind](), X_PJ, pin.Inertia.Zero(), name, None
            )
        )
        loops.append(
            LoopClosure(loop.name, "fixed", loop.link_a, loop.X_LA, name, pin.SE3.Identity())
        )
    return rebuild(robot, bodies, loops)


def _carrier(robot: RobotModel, loop: LoopClosure) -> tuple[str, pin.SE3]:
    """Return the joint that carries frame B, and the pose of B in it."""
    if loop.link_b == "world" and "world" not in robot.links:
        return "", loop.X_LB
    frame = robot.model.frames[robot.link_frame(loop.link_b)]
    name = next((joint.name for joint in robot.joints if joint.index == frame.parentJoint), "")
    return name, frame.placement * loop.X_LB
