# SPDX-License-Identifier: Apache-2.0
"""Frames of a robot that an operator may lead: what they are called, what they move with, how far they reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import UnknownNameError, UnsupportedRobotError
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import SIDES, Body, BodyPoint, find_body
from humanoid_dynamics.spatial.arrays import Indices, Vector

BASE = 6
STRETCHED = 0.985  # share of the length of an arm that it is stretched to
PAIR = ("left", "right")


@dataclass(frozen=True, eq=False)
class LedFrame:
    """A frame that an operator leads.

    Attributes:
        name: What the operator calls it.
        frame: Its index in the pinocchio model.
        kind: ``hand``, ``foot``, ``pelvis`` or ``body`` for all others.
        foot: Which foot it is; -1 where it is none.
        X_FS: Sole in the frame, where it is a foot.
        partner: Place in the list of the other one of a pair; -1 where there is none.
        shoulder: What its reach is measured from; None where it does not matter.
        reach: How far from there it may be [m].
        chain: Joints, counted behind the base, that carry this frame and no other part of the body.
    """

    name: str
    frame: int
    kind: str
    foot: int
    X_FS: pin.SE3
    partner: int
    shoulder: BodyPoint | None
    reach: float
    chain: Indices


def find_frame(robot: RobotModel, name: str) -> int:
    """Return the frame of that name: a control point, a contact surface, a link or a REP-120 alias, looked for in this order.

    Args:
        robot: The robot.
        name: The name.

    Returns:
        Its index in the pinocchio model.

    Raises:
        UnknownNameError: If there is none.
    """
    if name in robot.control_points:
        return robot.control_points[name].frame
    target = robot.aliases.get(name, name)
    kind, _, rest = target.rpartition(":")
    if (not kind and name in robot.surfaces) or kind == "surface":
        return robot.surfaces[rest].frame
    if kind == "point":
        return robot.control_points[rest].frame
    if target in robot.links:
        return robot.link_frame(target)
    known = (*robot.control_points, *robot.surfaces, *robot.links, *robot.aliases)
    raise UnknownNameError(
        "control point, surface, link or alias", name, tuple(dict.fromkeys(known))
    )


def find_led_frames(
    robot: RobotModel, names: Sequence[str], proportions: Proportions
) -> tuple[LedFrame, ...]:
    """Return the frames of those names, with what the operator's wishes for them mean.

    Args:
        robot: A robot on two soles.
        names: Control points, surfaces, links or aliases.
        proportions: Measures of the robot.

    Raises:
        UnknownNameError: If there is no frame of a name.
        UnsupportedRobotError: If two names are of one frame.
    """
    frames = [find_frame(robot, name) for name in names]
    twice = sorted(
        {name for name, frame in zip(names, frames, strict=True) if frames.count(frame) > 1}
    )
    if twice:
        raise UnsupportedRobotError(
            "teleoperation",
            twice,
            "a frame accepts one pose stream; these names refer to one frame",
        )
    body, data = find_body(robot), robot.data()
    pin.framesForwardKinematics(robot.model, data, robot.posture)
    partners = _pair(names)
    found = [_describe(robot, data, body, proportions, name) for name in names]
    return tuple(
        replace(led, partner=partner) for led, partner in zip(found, partners, strict=True)
    )


def _describe(
    robot: RobotModel, data: pin.Data, body: Body, proportions: Proportions, name: str
) -> LedFrame:
    model, frame = robot.model, find_frame(robot, name)
    joint = int(model.frames[frame].parentJoint)
    feet = [int(model.frames[sole].parentJoint) for sole in proportions.soles]
    foot = feet.index(joint) if joint in feet else -1
    X_FS = (
        data.oMf[frame].inverse() * data.oMf[proportions.soles[foot]]
        if foot >= 0
        else pin.SE3.Identity()
    )
    side = _side_of_arm(robot, body, joint)
    shoulder, reach = _reach(data, body, side, frame) if side else (None, np.inf)
    if foot >= 0:
        kind = "foot"
    elif side:
        kind = "hand"
    else:
        kind = "pelvis" if joint == 1 else "body"
    return LedFrame(name, frame, kind, foot, X_FS, -1, shoulder, reach, _chain(robot, body, joint))


def _side_of_arm(robot: RobotModel, body: Body, joint: int) -> str:
    """Return the side of the arm that a joint belongs to; empty where it belongs to none."""
    supports = [int(i) for i in robot.model.supports[joint]]
    for side in SIDES:
        point = body.points.get(f"{side}_elbow")
        if point is not None and int(robot.model.frames[point.frame].parentJoint) in supports:
            return side
    return ""


def _reach(data: pin.Data, body: Body, side: str, frame: int) -> tuple[BodyPoint, float]:
    shoulder, elbow = body.points[f"{side}_shoulder"], body.points[f"{side}_elbow"]
    p_S, p_E = (np.asarray(data.oMf[point.frame].act(point.p_F)) for point in (shoulder, elbow))
    arm = float(np.linalg.norm(p_E - p_S) + np.linalg.norm(data.oMf[frame].translation - p_E))
    return shoulder, max(STRETCHED * arm, float(np.linalg.norm(data.oMf[frame].translation - p_S)))


def _chain(robot: RobotModel, body: Body, joint: int) -> Indices:
    """Return the joints between a frame and the trunk: those that carry neither pelvis, nor chest, nor both hands."""
    model = robot.model
    trunk: set[int] = {0, 1}
    ends = [body.pelvis, *([body.chest] if body.chest is not None else [])]
    for frame in ends:
        trunk |= {int(i) for i in model.supports[int(model.frames[frame].parentJoint)]}
    own = [int(i) for i in model.supports[joint] if int(i) not in trunk]
    places = [
        np.arange(joint_.v.start, joint_.v.stop) - BASE
        for joint_ in robot.joints
        if joint_.index in own
    ]
    return np.concatenate([np.zeros(0, dtype=np.intp), *places]).astype(np.intp)


def _pair(names: Sequence[str]) -> list[int]:
    """Return for each name the place of the one that differs from it by left and right alone; -1 where there is none."""
    partners = [-1] * len(names)
    for k, name in enumerate(names):
        for here, there in (PAIR, PAIR[::-1], ("l_", "r_"), ("r_", "l_")):
            mirrored = name.replace(here, there)
            if mirrored != name and mirrored in names:
                partners[k] = names.index(mirrored)
    return partners


def place_point(data: pin.Data, model: pin.Model, point: BodyPoint) -> Vector:
    """Return where a body point is.

    Args:
        data: Placed joints.
        model: The robot's model.
        point: The point.

    Returns:
        (3,) place in the world [m].
    """
    return np.asarray(pin.updateFramePlacement(model, data, point.frame).act(point.p_F))
