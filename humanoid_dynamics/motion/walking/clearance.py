# SPDX-License-Identifier: Apache-2.0
"""Whether the feet of a walk stay clear of each other: apart, each on its side, and turned no more than the hips allow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.model.joint import Joint
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.motion.walking.footsteps import FootstepPlan, WalkStyle, plan_footsteps
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.polygon import half_planes

CLEARANCE = 0.02  # m between the soles, seen from above
INSTANTS = np.linspace(0.0, 1.0, 9)  # of each step where that is looked at
UPRIGHT = 0.9  # of the axis of a joint that turns a foot about the vertical
FINENESS = 0.02  # rad; of the largest turn that is told


class FootClearance:
    """How near the feet of a robot may come, prepared once."""

    def __init__(self, robot: RobotModel, *, keep_limits: bool = True) -> None:
        """Prepare.

        Args:
            robot: A robot that stands on two soles.
            keep_limits: Whether the hips keep their position limits.
        """
        self._soles = [sole.vertices[:, :2] for sole in find_soles(robot)]
        ranges = _yaw_ranges(robot) if keep_limits else np.tile([-np.inf, np.inf], (2, 1))
        self.least_yaw, self.most_yaw = ranges[0, 0] - ranges[1, 1], ranges[0, 1] - ranges[1, 0]

    def crossing(self, plan: FootstepPlan) -> int | None:
        """Return the first step that brings the feet too near, across each other or too far around; None where none does.

        Args:
            plan: The footsteps.
        """
        poses = plan.landing_poses()
        for number, step in enumerate(plan.steps):
            way = np.tile(poses[number], (len(INSTANTS), 1, 1))
            way[:, step.foot] += np.outer(INSTANTS, step.end - step.start)
            if not all(self._clear(pair) for pair in way):
                return number
        return None

    def _clear(self, poses: Matrix) -> bool:
        """Return whether two soles, each at x, y and yaw, are clear of each other."""
        turned, heading = poses[0, 2] - poses[1, 2], np.mean(poses[:, 2])
        beside = (poses[0, :2] - poses[1, :2]) @ np.array([-np.sin(heading), np.cos(heading)])
        left, right = (
            _place(vertices, pose) for vertices, pose in zip(self._soles, poses, strict=True)
        )
        return bool(
            self.least_yaw <= turned <= self.most_yaw
            and beside > CLEARANCE
            and gap_between(left, right) > CLEARANCE
        )


def refuse_crossing(
    clearance: FootClearance, style: WalkStyle, stand: Vector, *, length: float
) -> ShapeError:
    """Tell that feet cross, and the largest turn with which they do not.

    Args:
        clearance: How near the feet may come.
        style: How to walk.
        stand: (2, 3) x, y [m] and yaw [rad] of both soles at the start.
        length: Step length [m].

    Returns:
        The error.
    """
    largest = _largest_turn(clearance, style, stand, length)
    if largest is None:
        received = f"{length:.3g} m ahead and {style.side_step:.3g} m to the left in one step"
        return ShapeError(
            "steps", received, "a smaller sideways step, so that feet do not cross or touch"
        )
    turns = max(style.steps - 1, 1)
    walk = f"{largest * turns:.2f} rad over {style.steps} step{'' if style.steps == 1 else 's'}"
    expected = f"at most {largest:.2f} rad, {walk}: else the feet cross or the hips turn too far; more steps turn farther"
    return ShapeError("turn", f"{abs(style.turn):.4g} rad a step", expected)


def gap_between(first: Matrix, second: Matrix) -> float:
    """Return how far apart two convex patches of a plane are, by the line that parts them best; at most their distance, negative inside.

    Args:
        first: (k, 2) corners, counter-clockwise [m].
        second: (l, 2) corners, counter-clockwise [m].

    Returns:
        The gap [m].
    """
    directions = [half_planes(patch)[0] for patch in (first, second) if len(patch) > 1]
    between = np.mean(second, axis=0) - np.mean(first, axis=0)
    directions.append(between[None] / max(float(np.linalg.norm(between)), 1e-12))
    normals = np.vstack(directions)
    normals = np.vstack((normals, -normals))
    return float(np.max(np.min(second @ normals.T, axis=0) - np.max(first @ normals.T, axis=0)))


def _largest_turn(
    clearance: FootClearance, style: WalkStyle, stand: Vector, length: float
) -> float | None:
    """Return the largest turn of a step, in the direction asked for, up to which no feet cross [rad]; None where they do without one."""
    largest = None
    few = min(style.steps, 4)  # later steps repeat these
    for turn in np.arange(0.0, min(abs(style.turn), np.pi), FINENESS):
        other = replace(style, steps=few, turn=float(np.copysign(turn, style.turn)))
        if (
            clearance.crossing(
                plan_footsteps(other, stand, length=length, times=(1.0, 1.0, 1.0, 1.0))
            )
            is not None
        ):
            break
        largest = float(turn)
    return largest


def _yaw_ranges(robot: RobotModel) -> Matrix:
    """Return (2, 2) how far each foot turns to the right and to the left of where it rests, by the upright joints of its leg [rad]."""
    data, model = robot.data(), robot.model
    pin.computeJointJacobians(model, data, robot.posture)
    legs = [
        {int(i) for i in model.supports[model.frames[sole.frame].parentJoint]}
        for sole in find_soles(robot)
    ]
    ranges = []
    for leg in legs:
        joints = [joint for joint in robot.joints if joint.index in leg - (legs[0] & legs[1])]
        upright = [
            joint
            for joint in joints
            if joint.kind == "revolute" and abs(data.J[5, joint.v.start]) > UPRIGHT
        ]
        free = not upright or any(joint.kind not in {"revolute", "prismatic"} for joint in joints)
        ranges.append(
            np.array([-np.inf, np.inf])
            if free
            else np.sum([_turns(robot, data, joint) for joint in upright], axis=0)
        )
    return np.array(ranges)


def _turns(robot: RobotModel, data: pin.Data, joint: Joint) -> Vector:
    ends = (
        np.array([robot.limits.lower[joint.q][0], robot.limits.upper[joint.q][0]])
        - robot.posture[joint.q][0]
    )
    return np.sort(np.sign(data.J[5, joint.v.start]) * ends)


def _place(vertices: Matrix, pose: Vector) -> Matrix:
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return np.asarray(vertices @ np.array([[c, s], [-s, c]]) + pose[:2])
