# SPDX-License-Identifier: Apache-2.0
"""Which bodies of an unknown robot are its feet, and which way is up.

Names are asked first, because people name feet; where they say nothing, feet are the ends of the limbs that hang lowest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.reading.urdf import Urdf
from humanoid_dynamics.spatial.arrays import Matrix, Vector

SIDE = r"(?:left|right|[lr])?"
FOOT_WORDS = tuple(
    re.compile(SIDE + words)
    for words in (r"sole\w*|(?:foot|feet)(?!print)\w*", r"(?:ankle|ank)\w*", r"toe\w*")
)
TOE = 2  # the part of a foot that is not the foot
NO_FOOT_WORDS = re.compile(r"hand|finger|thumb|gripper|wrist|wheel|caster|elbow|shoulder")
LEFT_WORDS = re.compile(r"left\w*|l\d*|l(?:leg|foot|feet|ankle|ank|sole|toe|hip|knee)\w*")
RIGHT_WORDS = re.compile(r"right\w*|r\d*|r(?:leg|foot|feet|ankle|ank|sole|toe|hip|knee)\w*")
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

LOWEST_SHARE = 0.15  # feet reach into this share of the robot's height, from below
LEAST_DROP = 0.25  # and hang this share of it below the root
LONGEST_TOE = 0.25  # of the leg
NEAR_GROUND = 0.25  # share of the leg below which its last joint is an ankle
LONGEST_ANKLE = 3  # joints that may lie between two bodies of one foot


@dataclass(frozen=True, eq=False)
class Foot:
    """A body that a robot stands on.

    Attributes:
        name: Name its surface gets.
        joint: Pinocchio joint that carries it.
        links: Links that are fixed to that joint, those whose names say foot first.
        named: How many of them do.
        leg: Pinocchio joints of its leg, hip first.
        length: Height of the hip above the lowest point of the foot [m].
        has_ankle: Whether the last joint of the leg is near the ground rather than a knee.
    """

    name: str
    joint: int
    links: tuple[str, ...]
    named: int
    leg: tuple[int, ...]
    length: float
    has_ankle: bool


@dataclass(frozen=True, eq=False)
class Stance:
    """A robot at its zero pose, set upright.

    Attributes:
        R_UB: Rotation that sets the root upright: rows are forward, left and up in the root link.
        X_UJ: Poses of all joints in the upright frame.
        feet: Its feet.
    """

    R_UB: Matrix
    X_UJ: tuple[pin.SE3, ...]
    feet: tuple[Foot, ...]


def find_feet(urdf: Urdf, model: pin.Model) -> Stance:
    """Find the feet of a robot and the direction it stands in.

    Args:
        urdf: The records.
        model: The tree.

    Returns:
        The stance; without feet where the robot has none.
    """
    data = model.createData()
    pin.forwardKinematics(model, data, _zero_pose(model))
    X_BJ = tuple(pin.SE3(X) for X in data.oMi)
    links = _links_by_joint(urdf, model)
    joints = _drop_carriers(model, _find_by_name(model, X_BJ, links))
    up = _find_up(model, X_BJ, joints) if joints else 2
    R_UB = _upright(up, None)
    if not joints:
        for up in (2, 1, 0):
            R_UB = _upright(up, None)
            joints = _find_by_reach(urdf, model, _rotate(R_UB, X_BJ), links)
            if joints:
                break
    names = _name_feet(model, joints, links, _rotate(R_UB, X_BJ))
    if len(joints) == 2:
        left, right = (
            X_BJ[joint].translation for _, joint in sorted(zip(names, joints, strict=True))
        )
        R_UB = _upright(up, left - right)
    X_UJ = _rotate(R_UB, X_BJ)
    legs = tuple(_leg(model, joint, joints) for joint in joints)
    feet = tuple(
        _measure(urdf, model, X_UJ, leg, name=name, links=links[leg[-1]])
        for name, leg in zip(names, legs, strict=True)
    )
    return Stance(R_UB, X_UJ, feet)


def lowest_point(
    urdf: Urdf, model: pin.Model, X_UJ: tuple[pin.SE3, ...], links: tuple[str, ...]
) -> float:
    """Return the height of the lowest origin of some links, and of the simple shapes on them [m]."""
    heights = []
    for link in links:
        frame = model.frames[model.getFrameId(link, pin.FrameType.BODY)]
        X = X_UJ[frame.parentJoint] * frame.placement
        heights.append(X.translation[2])
        for shape in (*urdf.links[link].collisions, *urdf.links[link].visuals):
            centre = (X * shape.X_LG).translation[2]
            heights.append(
                centre
                if shape.kind == "mesh"
                else centre - min(shape.size) / (2.0 if shape.kind == "box" else 1.0)
            )
    return float(min(heights))


def side_of(name: str) -> str:
    """Return ``left``, ``right`` or nothing, as a name says."""
    sides = {
        side
        for word in _words(name)
        for side, known in (("left", LEFT_WORDS), ("right", RIGHT_WORDS))
        if known.fullmatch(word)
    }
    return sides.pop() if len(sides) == 1 else ""


def _words(name: str) -> tuple[str, ...]:
    """Return the words of a name in small letters, split at signs, and at capitals too."""
    plain = re.split(r"[\W_]+", name)
    return tuple(
        word.lower()
        for word in (*plain, *(part for word in plain for part in CAMEL.split(word)))
        if word
    )


def _zero_pose(model: pin.Model) -> Vector:
    q = pin.neutral(model)
    for index in range(1, model.njoints):
        i = model.idx_qs[index]
        if (
            model.nqs[index] == model.nvs[index] == 1
            and model.lowerPositionLimit[i] <= model.upperPositionLimit[i]
        ):
            q[i] = np.clip(q[i], model.lowerPositionLimit[i], model.upperPositionLimit[i])
    return np.asarray(q)


def _rotate(R_UB: Matrix, X_BJ: tuple[pin.SE3, ...]) -> tuple[pin.SE3, ...]:
    X_UB = pin.SE3(R_UB, np.zeros(3))
    return tuple(X_UB * X for X in X_BJ)


def _links_by_joint(urdf: Urdf, model: pin.Model) -> dict[int, tuple[str, ...]]:
    links: dict[int, tuple[str, ...]] = {}
    for frame in model.frames:
        if frame.type == pin.FrameType.BODY and frame.name in urdf.links:
            links[int(frame.parentJoint)] = (
                *links.get(int(frame.parentJoint), ()),
                str(frame.name),
            )
    return links


def _ancestors(model: pin.Model, joint: int) -> tuple[int, ...]:
    """Return the joints between a joint and the root, nearest first; the root joint itself is none of them."""
    chain = [int(index) for index in model.supports[joint]][:-1]
    return tuple(index for index in reversed(chain) if index > 0 and model.parents[index] > 0)


def _height_range(X_UJ: tuple[pin.SE3, ...]) -> tuple[float, float]:
    heights = [X.translation[2] for X in X_UJ[1:]] or [0.0]
    return float(min(heights)), float(max(heights))


def _find_by_name(
    model: pin.Model, X_BJ: tuple[pin.SE3, ...], links: dict[int, tuple[str, ...]]
) -> tuple[int, ...]:
    for rank in range(len(FOOT_WORDS)):
        named = {
            joint
            for joint, names in links.items()
            if joint > 0 and any(_rank(name) == rank for name in names)
        }
        named = {joint for joint in named if model.inertias[joint].mass > 0.0} or named
        inner = {above for joint in named for above in _ancestors(model, joint)[:LONGEST_ANKLE]}
        feet = tuple(sorted(named - inner))
        if feet:
            return _drop_high(model, X_BJ, feet)
    return ()


def _rank(name: str) -> int:
    """Return how much a name says foot: 0 for soles and feet, 1 for ankles, 2 for toes, 3 for anything else."""
    found = [
        rank
        for word in _words(name)
        for rank, pattern in enumerate(FOOT_WORDS)
        if pattern.fullmatch(word)
    ]
    return len(FOOT_WORDS) if not found else TOE if TOE in found else min(found)


def _drop_high(
    model: pin.Model, X_BJ: tuple[pin.SE3, ...], feet: tuple[int, ...]
) -> tuple[int, ...]:
    """Keep the feet that are level with the lowest one, along the axis they stand on."""
    up = _find_up(model, X_BJ, feet)
    heights = np.array([(_upright(up, None) @ X_BJ[joint].translation)[2] for joint in feet])
    low, high = _height_range(_rotate(_upright(up, None), X_BJ))
    return tuple(
        joint
        for joint, height in zip(feet, heights, strict=True)
        if height <= heights.min() + LOWEST_SHARE * (high - low)
    )


def _find_up(model: pin.Model, X_BJ: tuple[pin.SE3, ...], feet: tuple[int, ...]) -> int:
    """Return the axis of the root that points up: 2 is z, as REP-103 wants it, unless the feet say otherwise."""
    mass = sum(inertia.mass for inertia in model.inertias)
    if mass <= 0.0:
        return 2
    centre = (
        sum(
            inertia.mass * X.act(inertia.lever)
            for inertia, X in zip(model.inertias, X_BJ, strict=True)
        )
        / mass
    )
    rise = centre - np.mean([X_BJ[joint].translation for joint in feet], axis=0)
    axis = int(np.argmax(np.abs(rise)))
    return 2 if rise[2] > 0.5 * np.linalg.norm(rise) or rise[axis] < 0.0 else axis


def _upright(up: int, leftward: Vector | None) -> Matrix:
    """Return R_UB for an axis that points up and, where it is known, the direction of the left foot from the right one."""
    z = np.eye(3)[up]
    x = np.eye(3)[0 if up != 0 else 2]
    if leftward is not None:
        flat = leftward - (leftward @ z) * z
        axis = int(np.argmax(np.abs(flat)))
        x = np.cross(np.sign(flat[axis] or 1.0) * np.eye(3)[axis], z) if np.any(flat) else x
    return np.array([x, np.cross(z, x), z])


def _find_by_reach(
    urdf: Urdf, model: pin.Model, X_UJ: tuple[pin.SE3, ...], links: dict[int, tuple[str, ...]]
) -> tuple[int, ...]:
    parents = {int(parent) for parent in model.parents[1:]}
    leaves = [joint for joint in range(1, model.njoints) if joint not in parents and joint in links]
    lows = {joint: lowest_point(urdf, model, X_UJ, links[joint]) for joint in leaves}
    low, high = _height_range(X_UJ)
    low = min([low, *lows.values()])
    root = X_UJ[1].translation[2] if model.njoints > 1 else 0.0
    found = []
    for joint in leaves:
        leg = (joint, *_ancestors(model, joint))
        reach = X_UJ[joint].translation - X_UJ[leg[-1]].translation
        named = any(
            NO_FOOT_WORDS.search(name.lower()) for index in leg for name in links.get(index, ())
        )
        deep = lows[joint] < low + LOWEST_SHARE * (high - low) and root - lows[
            joint
        ] > LEAST_DROP * (high - low)
        if deep and not named and len(leg) > 1 and -reach[2] > 0.7 * np.linalg.norm(reach):
            found.append(_skip_toe(model, X_UJ, joint, -float(reach[2])))
    feet = _drop_carriers(model, tuple(sorted(set(found))))
    return feet if len(feet) > 1 else ()


def _skip_toe(model: pin.Model, X_UJ: tuple[pin.SE3, ...], joint: int, length: float) -> int:
    """Return the foot that carries a toe: the next body along a short, level link; any other body is the foot itself."""
    for above in _ancestors(model, joint):
        step = X_UJ[joint].translation - X_UJ[above].translation
        if np.linalg.norm(step) > 1e-6:
            level = np.hypot(step[0], step[1]) > abs(step[2])
            return above if level and np.linalg.norm(step) < LONGEST_TOE * length else joint
    return joint


def _name_feet(
    model: pin.Model,
    joints: tuple[int, ...],
    links: dict[int, tuple[str, ...]],
    X_UJ: tuple[pin.SE3, ...],
) -> tuple[str, ...]:
    """Call two feet left and right, by their names or else by where they are; call any other number by their links."""
    if len(joints) != 2:
        return tuple(min(links[joint], key=_rank) for joint in joints)
    sides = [
        next((side for name in _names_along(model, joint, links) if (side := side_of(name))), "")
        for joint in joints
    ]
    if set(sides) == {"left", ""}:
        sides = [side or "right" for side in sides]
    elif set(sides) == {"right", ""}:
        sides = [side or "left" for side in sides]
    elif set(sides) != {"left", "right"}:
        first, second = (X_UJ[joint].translation[1] for joint in joints)
        sides = ["left", "right"] if first > second else ["right", "left"]
    return tuple(f"{side}_foot" for side in sides)


def _names_along(model: pin.Model, joint: int, links: dict[int, tuple[str, ...]]) -> Iterator[str]:
    for index in (joint, *_ancestors(model, joint)):
        yield from links.get(index, ())
        yield str(model.names[index])


def _leg(model: pin.Model, joint: int, joints: tuple[int, ...]) -> tuple[int, ...]:
    """Return the joints that move one foot and no other, hip first."""
    shared = {
        index for other in joints if other != joint for index in (other, *_ancestors(model, other))
    }
    return tuple(
        index for index in reversed((joint, *_ancestors(model, joint))) if index not in shared
    )


def _drop_carriers(model: pin.Model, joints: tuple[int, ...]) -> tuple[int, ...]:
    """Return the feet without those that carry another one."""
    return tuple(joint for joint in joints if _leg(model, joint, joints))


def _measure(
    urdf: Urdf,
    model: pin.Model,
    X_UJ: tuple[pin.SE3, ...],
    leg: tuple[int, ...],
    *,
    name: str,
    links: tuple[str, ...],
) -> Foot:
    joint = leg[-1]
    low = lowest_point(urdf, model, X_UJ, links)
    length = max(float(X_UJ[leg[0]].translation[2]) - low, 1e-3)
    ordered = tuple(sorted(links, key=lambda link: (_rank(link), len(link))))
    best = _rank(ordered[0])
    return Foot(
        name=name,
        joint=joint,
        links=ordered,
        named=sum(_rank(link) == best for link in ordered) if best < len(FOOT_WORDS) else 0,
        leg=leg,
        length=length,
        has_ankle=float(X_UJ[joint].translation[2]) - low < NEAR_GROUND * length,
    )
