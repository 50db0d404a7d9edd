# SPDX-License-Identifier: Apache-2.0
"""Points of a body that humans and humanoids share: found on any robot from its soles, its hands and its joint axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import UnsupportedRobotError
from humanoid_dynamics.model.joint import Joint
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only

SIDES = ("left", "right")
TOWARDS_MIDDLE = 0.05  # weight that keeps the common point of joint axes near their joints where they are parallel
ONE_PLACE = 0.03  # joints nearer to each other than this are one [m]


@dataclass(frozen=True, eq=False)
class BodyPoint:
    """A point of a robot.

    Attributes:
        name: Its name, such as ``left_knee``.
        frame: Frame of the pinocchio model it moves with.
        p_F: (3,) place in that frame [m].
    """

    name: str
    frame: int
    p_F: Vector


@dataclass(frozen=True, eq=False)
class Body:
    """A robot seen as a body.

    Attributes:
        points: Body points by name: hips, knees and ankles, and shoulders, elbows, hands and head where there are.
        pelvis: Frame of the pelvis.
        chest: Frame that carries the arms, or None where there are none.
        soles: Sole surfaces, left and right.
    """

    points: dict[str, BodyPoint]
    pelvis: int
    chest: int | None
    soles: tuple[ContactSurface, ContactSurface]


def find_soles(robot: RobotModel) -> tuple[ContactSurface, ContactSurface]:
    """Return the two surfaces a robot stands on, left and right.

    Args:
        robot: The robot.

    Returns:
        The left one and the right one, as seen from the robot in its resting posture.

    Raises:
        UnsupportedRobotError: If the robot does not stand on two surfaces.
    """
    names = robot.stance or tuple(name for name in robot.surfaces if "foot" in name)
    if robot.root != "free_flyer" or len(names) != 2:
        problem = f"needs a free base and two soles; the root is {robot.root} and the soles are"
        raise UnsupportedRobotError("walking on two feet", names or ("none",), problem)
    data = _place(robot)
    first, second = sorted(
        (robot.surfaces[name] for name in names),
        key=lambda surface: -float(data.oMf[surface.frame].translation[1]),
    )
    return first, second


def find_body(robot: RobotModel) -> Body:
    """Find the points of a body on a robot.

    A limb is the chain from where it branches off to its sole or hand.  Its knee or elbow is the joint farthest from both ends; hip,
    shoulder and ankle are the points nearest to all axes of the joints before and behind.

    Args:
        robot: The robot.

    Returns:
        The body.

    Raises:
        UnsupportedRobotError: If the robot does not stand on two soles, or a leg has no knee.
    """
    data, soles = _place(robot), find_soles(robot)
    pelvis = _control_frame(robot, "pelvis") or robot.link_frame(robot.links[0])
    chains = _branches(robot, [surface.frame for surface in soles])
    points: dict[str, BodyPoint] = {}
    for side, sole, chain in zip(SIDES, soles, chains, strict=True):
        points |= _leg_points(robot, data, side, sole, chain)
    hands = [_control_frame(robot, f"{side}_hand") for side in SIDES]
    chest = _control_frame(robot, "chest")
    if all(hands):
        arms = _branches(robot, [hand for hand in hands if hand is not None])
        chest = chest if chest is not None else _parent_frame(robot, arms[0][0])
        for side, hand, chain in zip(SIDES, hands, arms, strict=True):
            if hand is not None:
                points |= _arm_points(robot, data, side, hand, chain)
    head = _control_frame(robot, "head")
    if head is not None:
        points["head"] = BodyPoint("head", head, read_only(np.zeros(3)))
    return Body(points, pelvis, chest, soles)


def _place(robot: RobotModel) -> pin.Data:
    data = robot.data()
    pin.computeJointJacobians(robot.model, data, robot.posture)
    pin.updateFramePlacements(robot.model, data)
    return data


def _control_frame(robot: RobotModel, name: str) -> int | None:
    return robot.control_points[name].frame if name in robot.control_points else None


def _branches(robot: RobotModel, frames: list[int]) -> list[list[Joint]]:
    """Return the joints from the last common one (left out) to each frame."""
    model = robot.model
    supports = [
        [int(i) for i in model.supports[model.frames[frame].parentJoint]] for frame in frames
    ]
    common = set.intersection(*(set(support) for support in supports))
    by_index = {joint.index: joint for joint in robot.joints}
    chains = [
        [by_index[i] for i in support if i not in common and i in by_index] for support in supports
    ]
    short = [
        model.frames[frame].name
        for frame, chain in zip(frames, chains, strict=True)
        if len(chain) < 2
    ]
    if short:
        raise UnsupportedRobotError(
            "finding the limbs of a body", short, "these end links share a limb"
        )
    return chains


def _leg_points(
    robot: RobotModel, data: pin.Data, side: str, sole: ContactSurface, chain: list[Joint]
) -> dict[str, BodyPoint]:
    end = data.oMf[sole.frame].translation
    knee = _middle_joint(data, chain, end)
    hip = _common_point(data, chain[:knee])
    below = _beyond(data, chain, knee)
    ankle = _common_point(data, below) if below else end
    places = {
        f"{side}_hip": (_parent_frame(robot, chain[0]), hip),
        f"{side}_knee": (_frame(robot, chain[knee]), data.oMi[chain[knee].index].translation),
        f"{side}_ankle": (int(robot.model.getFrameId(sole.link, pin.FrameType.BODY)), ankle),
    }
    return _attach(data, places)


def _arm_points(
    robot: RobotModel, data: pin.Data, side: str, hand: int, chain: list[Joint]
) -> dict[str, BodyPoint]:
    end = data.oMf[hand].translation
    elbow = _middle_joint(data, chain, end)
    places = {
        f"{side}_shoulder": (_parent_frame(robot, chain[0]), _common_point(data, chain[:elbow])),
        f"{side}_elbow": (_frame(robot, chain[elbow]), data.oMi[chain[elbow].index].translation),
        f"{side}_hand": (hand, end),
    }
    return _attach(data, places)


def _attach(data: pin.Data, places: dict[str, tuple[int, Vector]]) -> dict[str, BodyPoint]:
    return {
        name: BodyPoint(name, frame, read_only(data.oMf[frame].actInv(place)))
        for name, (frame, place) in places.items()
    }


def _middle_joint(data: pin.Data, chain: list[Joint], end: Vector) -> int:
    """Return the position in the chain of the joint farthest from both of its ends; the first joint never is."""
    start = data.oMi[chain[0].index].translation
    places = [data.oMi[joint.index].translation for joint in chain]
    reach = [
        min(float(np.linalg.norm(place - start)), float(np.linalg.norm(place - end)))
        for place in places
    ]
    return 1 + int(np.argmax(reach[1:]))


def _beyond(data: pin.Data, chain: list[Joint], middle: int) -> list[Joint]:
    """Return the joints behind a knee that do not belong to it: a knee of several axes has several joints at one place."""
    place = data.oMi[chain[middle].index].translation
    return [
        joint
        for joint in chain[middle + 1 :]
        if np.linalg.norm(data.oMi[joint.index].translation - place) > ONE_PLACE
    ]


def _common_point(data: pin.Data, chain: list[Joint]) -> Vector:
    """Return the point nearest to all axes of some joints; joints that turn every way count as points."""
    N, b = np.zeros((3, 3)), np.zeros(3)
    middle = np.mean([data.oMi[joint.index].translation for joint in chain], axis=0)
    for joint in chain:
        X_WJ = data.oMi[joint.index]
        P = np.eye(3)
        if joint.kind in {"revolute", "continuous"}:
            axis = X_WJ.rotation @ _local_axis(joint, data, X_WJ)
            P -= np.outer(axis, axis)
        N += P
        b += P @ X_WJ.translation
    N += TOWARDS_MIDDLE * np.eye(3)
    return np.asarray(np.linalg.solve(N, b + TOWARDS_MIDDLE * middle))


def _local_axis(joint: Joint, data: pin.Data, X_WJ: pin.SE3) -> Vector:
    column = data.J[:, joint.v.start]
    return np.asarray(X_WJ.rotation.T @ column[3:])


def _frame(robot: RobotModel, joint: Joint) -> int:
    return int(robot.model.getFrameId(joint.child, pin.FrameType.BODY))


def _parent_frame(robot: RobotModel, joint: Joint) -> int:
    return int(robot.model.getFrameId(joint.parent, pin.FrameType.BODY))


def chain_length(points: Matrix) -> float:
    """Return the length of a broken line.

    Args:
        points: (k, 3) its corners [m].

    Returns:
        Its length [m].
    """
    return float(np.sum(np.linalg.norm(np.diff(points, axis=0), axis=1)))
