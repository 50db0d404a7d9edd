# SPDX-License-Identifier: Apache-2.0
"""Bending the knees of a robot whose zero pose has straight legs, so that it starts where its legs can push."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.coordinates import Coordinates
from humanoid_dynamics.model.joint import Joint
from humanoid_dynamics.spatial.arrays import Vector

BENT = 0.97  # distance from hip to ankle over length of thigh and shank, in a slightly bent leg
PITCHING = 0.9  # cosine of the angle between a pitching axis and the left
ALREADY_BENT = 0.02  # offset of a knee that tells which way it bends, as a share of the leg
ANKLE_SHARE = 0.35  # of the height of the hip, below which the last pitching joint is an ankle
SHORTEST = 0.15  # a part of the leg below this share of it is no thigh and no shank
HINGES = ("revolute", "continuous")


@dataclass(frozen=True, eq=False)
class Hinge:
    """A pitching joint of a leg.

    Attributes:
        joint: The joint.
        place: (3,) where it is [m] in the world.
        sign: 1 where a positive turn is about the left, -1 where it is about the right.
    """

    joint: Joint
    place: Vector
    sign: float


def bend_knees(
    model: pin.Model, coordinates: Coordinates, q: Vector, soles: tuple[int, ...]
) -> Vector:
    """Bend straight legs a little, each hip and ankle by half of its knee, so that the soles stay level.

    Knees bend the way their limits let them; where both ways are open the way they are bent, or else forward.

    Args:
        model: The tree.
        coordinates: Its joints and limits.
        q: (nq,) configuration, upright.
        soles: Frames of the soles.

    Returns:
        (nq,) the configuration; legs with fewer than two pitching joints, and legs that are bent already, stay as they are.
    """
    data = model.createData()
    J = pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    supports = {
        frame: {int(i) for i in model.supports[model.frames[frame].parentJoint]} for frame in soles
    }
    v = np.zeros(model.nv)
    for frame in soles:
        shared = set().union(*(supports[other] for other in soles if other != frame))
        hinges = [
            Hinge(
                joint,
                np.array(data.oMi[joint.index].translation),
                float(np.sign(J[4, joint.v.start])),
            )
            for joint in coordinates.joints
            if joint.index in supports[frame] - shared
            and joint.kind in HINGES
            and abs(J[4, joint.v.start]) > PITCHING
        ]
        if len(hinges) >= 2:
            _bend(coordinates, q, v, hinges, np.array(data.oMf[frame].translation))
    return _keep_limits(coordinates, np.asarray(pin.integrate(model, q, v)))


def _bend(
    coordinates: Coordinates, q: Vector, v: Vector, hinges: list[Hinge], ground: Vector
) -> None:
    """Write the bending of one leg into a velocity-like vector."""
    hip = hinges[0]
    has_ankle = len(hinges) > 2 and hinges[-1].place[2] - ground[2] < ANKLE_SHARE * (
        hip.place[2] - ground[2]
    )
    end = hinges[-1].place if has_ankle else ground
    inner = hinges[1:-1] if has_ankle else hinges[1:]
    knee = max(
        inner,
        key=lambda hinge: min(
            np.linalg.norm(hinge.place - hip.place), np.linalg.norm(end - hinge.place)
        ),
    )
    thigh, shank = (
        float(np.linalg.norm(knee.place - hip.place)),
        float(np.linalg.norm(end - knee.place)),
    )
    reach = float(np.linalg.norm(end - hip.place))
    if min(thigh, shank) < SHORTEST * (thigh + shank) or reach < BENT * (thigh + shank):
        return
    angle = _flexion(BENT * (thigh + shank), thigh, shank) - _flexion(reach, thigh, shank)
    offset = ((knee.place - hip.place)[0] - (end - hip.place)[0] * thigh / reach) / (thigh + shank)
    angle *= _way(coordinates, q, knee, angle, offset)
    v[knee.joint.v] += knee.sign * angle
    v[hip.joint.v] -= 0.5 * hip.sign * angle
    if has_ankle:
        v[hinges[-1].joint.v] -= 0.5 * hinges[-1].sign * angle


def _flexion(reach: float, thigh: float, shank: float) -> float:
    """Return the angle of a knee, zero for a straight leg [rad]."""
    cosine = (reach**2 - thigh**2 - shank**2) / (2.0 * thigh * shank)
    return float(np.arccos(np.clip(cosine, -1.0, 1.0)))


def _way(coordinates: Coordinates, q: Vector, knee: Hinge, angle: float, offset: float) -> float:
    """Return 1 for a knee that bends forward, -1 for one that bends back, 0 for one that cannot bend so far."""
    first = -1.0 if offset < -ALREADY_BENT else 1.0
    if knee.joint.kind == "continuous":
        return first
    lower, upper, now = (
        float(bound[knee.joint.q][0])
        for bound in (coordinates.limits.lower, coordinates.limits.upper, q)
    )
    return next(
        (way for way in (first, -first) if lower <= now + way * knee.sign * angle <= upper), 0.0
    )


def _keep_limits(coordinates: Coordinates, q: Vector) -> Vector:
    for joint in coordinates.joints:
        if joint.kind == "revolute":
            lower, upper = coordinates.limits.lower[joint.q], coordinates.limits.upper[joint.q]
            q[joint.q] = np.clip(q[joint.q], lower, np.maximum(lower, upper))
    return q
