# SPDX-License-Identifier: Apache-2.0
"""Parts of the body keep clear of each other: capsules around limbs, and how fast they may approach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.poses import clearance_kernels
from humanoid_dynamics.filtering.poses.clearance_kernels import (
    Seen,
    find_gaps,
    find_near,
    place_bodies,
    write_rows,
)
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import SIDES, Body, find_body, find_soles
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel, functions_of

GAPS = tuple(
    part
    for part in functions_of(clearance_kernels)
    if part not in {place_bodies, find_gaps, find_near, write_rows}
)
ROWS = GAPS
KEPT = 0.02  # m; distance that is kept between surfaces
SEEN = 0.08  # m; surfaces nearer than this are watched
LESS = 0.003  # m; where parts are nearer in the resting posture, they may come nearer than that by this
BRAKING = 25.0  # 1/s; how parts come to rest before they touch
HARDEST = 150.0  # m/s^2
MOST = 6  # pairs that are watched at once, the nearest ones
# Radii by what they are part of: of the distance between the shoulders, or of the length of the limb.
TRUNK, HEAD, ARM, HAND, LEG = 0.3, 0.25, 0.13, 0.16, 0.15


@dataclass(frozen=True, eq=False)
class BodyCapsule:
    """A part of the body.

    Attributes:
        name: Its name, such as ``left_forearm``.
        joint: Joint of the pinocchio model it moves with.
        ends: (2, 3) ends of its middle line in the resting posture, in the world [m].
        radius: How thick it is [m].
    """

    name: str
    joint: int
    ends: Matrix
    radius: float


class Clearance:
    """Rows that keep parts of a robot from touching: (J_A - J_B) along the line between the nearest points.

    Attributes:
        rows: (``MOST``, nv) rows on the accelerations; those beyond ``count`` are not used.
        lower: (``MOST``,) what the rows must at least be [m/s^2].
        count: How many pairs are near.
        distance: Smallest distance of all pairs over what is kept of it [m]; negative where parts are too near.
        over: By how much each pair is farther apart than is kept [m].
        pairs: Names of all pairs.
    """

    def __init__(self, robot: RobotModel, *, legs: bool = False) -> None:
        """Prepare.

        Args:
            robot: A robot on two soles.
            legs: Whether the legs are watched as well, for feet that are led.
        """
        capsules, model, data = body_capsules(robot), robot.model, robot.data()
        index = {part.name: k for k, part in enumerate(capsules)}
        self.pairs = tuple(pair for pair in _watched(legs) if index.keys() >= set(pair))
        self._pairs: Indices = np.array(
            [[index[name] for name in pair] for pair in self.pairs], dtype=np.intp
        ).reshape(-1, 2)
        pin.forwardKinematics(model, data, robot.posture)
        self._moved = sorted({part.joint for part in capsules})
        rows = [
            (
                self._moved.index(c.joint),
                *(x for end in c.ends for x in data.oMi[c.joint].actInv(end)),
                c.radius,
            )
            for c in capsules
        ]
        self._capsules = np.array(rows, dtype=np.float64)
        self._ends = self._capsules[:, 0].astype(np.intp)[self._pairs]
        self._carried = np.zeros((len(self._moved), robot.nv))
        for k, joint in enumerate(self._moved):
            for support in model.supports[joint]:
                self._carried[
                    k, model.idx_vs[support] : model.idx_vs[support] + model.nvs[support]
                ] = support > 0
        self._poses, self._drifts = (
            np.zeros((len(self._moved), 4, 4)),
            np.zeros((len(self._moved), 6)),
        )
        self._points, self._numbers = (
            np.zeros((len(self.pairs), 2, 3)),
            np.array([SEEN, BRAKING, HARDEST]),
        )
        self._find, self._write = (
            compile_kernel(find_gaps, GAPS),
            compile_kernel(write_rows, GAPS),
        )
        self._select, self._near = (
            compile_kernel(find_near),
            np.zeros(len(self.pairs), dtype=np.intp),
        )
        self._kept = np.zeros(len(self.pairs))
        self._place, self._data = compile_kernel(place_bodies), data
        self._seen = self._watch(data)
        resting = self._measure(data)
        self._kept = np.minimum(KEPT, resting - LESS)
        self.rows, self.lower = np.zeros((MOST, robot.nv)), np.zeros(MOST)
        self.count, self.distance = 0, np.inf
        self.over: Vector = resting - self._kept

    def _watch(self, data: pin.Data) -> Seen:
        """Return orientations, places and accelerations of the bodies: views, pinocchio writes there."""
        placed, accelerations = (
            [data.oMi[joint] for joint in self._moved],
            [data.a_gf[joint] for joint in self._moved],
        )
        return (
            tuple(X.rotation for X in placed),
            tuple(X.translation for X in placed),
            tuple(a.vector for a in accelerations),
        )

    def _measure(self, data: pin.Data) -> Vector:
        if data is not self._data:
            self._data, self._seen = data, self._watch(data)
        poses, over = self._poses, self._kept.copy()
        self._place(self._seen, poses, self._drifts)
        self.distance = float(self._find(poses, self._capsules, self._pairs, self._points, over))
        return over

    def update(self, data: pin.Data, v: Vector) -> None:
        """Find what is near and how fast it may come nearer.

        Args:
            data: Joints placed, with Jacobians, and the accelerations less gravity they have where no coordinate accelerates.
            v: (nv,) velocity.
        """
        over = self.over = self._measure(data)
        count = self._select(over, SEEN, MOST, self._near)
        near = self._near[:count]
        self.count = 0
        if count == 0:
            return
        bodies = (
            self._poses,
            self._drifts,
            data.J,
            self._carried,
        )  # gravity is the same on both sides
        self.count = self._write(
            bodies, near, (self._ends, self._points, over), self._numbers, v, self.rows, self.lower
        )


def body_capsules(robot: RobotModel) -> tuple[BodyCapsule, ...]:
    """Return capsules around trunk, head, hands, forearms, thighs and shanks, as far as the robot has them.

    Args:
        robot: A robot on two soles.
    """
    body, model, data = find_body(robot), robot.model, robot.data()
    pin.framesForwardKinematics(model, data, robot.posture)
    at = {
        name: np.asarray(data.oMf[point.frame].act(point.p_F))
        for name, point in body.points.items()
    }
    parts = [*_leg_capsules(robot, body, at)]
    if "left_hand" in at:
        parts += _upper_capsules(robot, data, body, at)
    return tuple(parts)


def _leg_capsules(robot: RobotModel, body: Body, at: dict[str, Vector]) -> list[BodyCapsule]:
    model, parts = robot.model, []
    for side, sole in zip(SIDES, find_soles(robot), strict=True):
        hip, knee, ankle = (at[f"{side}_{name}"] for name in ("hip", "knee", "ankle"))
        shank = int(model.frames[body.points[f"{side}_knee"].frame].parentJoint)
        thigh = int(model.parents[shank])
        parts.append(
            BodyCapsule(
                f"{side}_thigh",
                thigh,
                np.array([hip, knee]),
                LEG * float(np.linalg.norm(knee - hip)),
            )
        )
        parts.append(
            BodyCapsule(
                f"{side}_shank",
                shank,
                np.array([knee, ankle]),
                LEG * float(np.linalg.norm(ankle - knee)),
            )
        )
        data = robot.data()
        pin.framesForwardKinematics(model, data, robot.posture)
        corners = np.array([data.oMf[sole.frame].act(corner) for corner in sole.vertices])
        half = 0.5 * float(np.ptp(corners[:, 1]))
        middle = corners.mean(axis=0)
        ends = np.array(
            [
                [corners[:, 0].min() + half, middle[1], middle[2]],
                [corners[:, 0].max() - half, middle[1], middle[2]],
            ]
        )
        parts.append(
            BodyCapsule(f"{side}_foot", int(model.frames[sole.frame].parentJoint), ends, half)
        )
    return parts


def _upper_capsules(
    robot: RobotModel, data: pin.Data, body: Body, at: dict[str, Vector]
) -> list[BodyCapsule]:
    model = robot.model
    shoulders = [at[f"{side}_shoulder"] for side in SIDES]
    width = float(np.linalg.norm(shoulders[0] - shoulders[1]))
    chest = int(model.frames[body.chest].parentJoint) if body.chest is not None else 1
    hips = 0.5 * (at["left_hip"] + at["right_hip"])
    middle = 0.5 * (shoulders[0] + shoulders[1])
    parts = [
        BodyCapsule(
            "trunk",
            chest,
            np.array([hips, middle - 0.3 * width * _unit(middle - hips)]),
            TRUNK * width,
        )
    ]
    if "head" in at:
        joint = int(model.frames[body.points["head"].frame].parentJoint)
        above = middle + max(
            float((at["head"] - middle) @ _unit(middle - hips)), 0.5 * width
        ) * _unit(middle - hips)
        parts.append(BodyCapsule("head", joint, np.array([above, above]), HEAD * width))
    for side in SIDES:
        elbow, hand = at[f"{side}_elbow"], at[f"{side}_hand"]
        length = float(np.linalg.norm(hand - elbow))
        fore = int(model.frames[body.points[f"{side}_elbow"].frame].parentJoint)
        end = int(model.frames[body.points[f"{side}_hand"].frame].parentJoint)
        wrist = np.asarray(data.oMi[end].translation)
        parts.append(BodyCapsule(f"{side}_forearm", fore, np.array([elbow, wrist]), ARM * length))
        parts.append(BodyCapsule(f"{side}_hand", end, np.array([hand, hand]), HAND * length))
    return parts


def _watched(legs: bool) -> list[tuple[str, str]]:
    pairs = [
        ("left_hand", "right_hand"),
        ("left_hand", "right_forearm"),
        ("left_forearm", "right_hand"),
        ("left_forearm", "right_forearm"),
    ]
    for side in SIDES:
        pairs += [
            (f"{side}_{part}", other) for part in ("hand", "forearm") for other in ("trunk", "head")
        ]
        pairs += [
            (f"{side}_hand", f"{other}_{part}") for other in SIDES for part in ("thigh", "shank")
        ]
    if legs:
        pairs += [(f"left_{part}", f"right_{part}") for part in ("thigh", "shank", "foot")]
        pairs += [("left_foot", "right_shank"), ("right_foot", "left_shank")]
    return pairs


def _unit(x: Vector) -> Vector:
    return np.asarray(x / np.linalg.norm(x))
