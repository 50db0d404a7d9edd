# SPDX-License-Identifier: Apache-2.0
"""A human from positions of joints alone: which joint is which follows from names, from a map, or from bones that keep their length.

Orientations follow from the positions: the pelvis from hips and spine, the chest from shoulders and spine, a foot from ankle and toe.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from humanoid_dynamics.errors import ClipError, UnknownNameError
from humanoid_dynamics.motion.clip import check_times
from humanoid_dynamics.motion.retargeting.human import LEG_BONES, SIDES, HumanMotion
from humanoid_dynamics.motion.retargeting.skeleton_map import SkeletonMap, shipped_skeleton_maps
from humanoid_dynamics.spatial.arrays import Matrix, Vector

Points = Mapping[str, int]
BONES = (*LEG_BONES, ("ankle", "toe"), ("shoulder", "elbow"), ("elbow", "hand"))
SAME_LENGTH = 0.03  # of its length that a bone may vary
ALIKE = 0.1  # of its length that a bone may differ from that of the other side
STANDS = 20.0  # percent of the frames, with the lowest ankle, in which a foot is taken as flat
TINY = 1e-9


def _limbs(left: tuple[int, ...], right: tuple[int, ...]) -> dict[str, int]:
    parts = ("hip", "knee", "ankle", "toe", "shoulder", "elbow", "hand")
    sides = zip(SIDES, (left, right), strict=True)
    return {
        f"{side}_{part}": index
        for side, limb in sides
        for part, index in zip(parts, limb, strict=True)
    }


LAYOUTS: dict[str, Points] = {  # published orders; more joints may follow
    "SMPL, SMPL-X": {
        "pelvis": 0,
        "chest": 9,
        "head": 15,
        **_limbs((1, 4, 7, 10, 16, 18, 20), (2, 5, 8, 11, 17, 19, 21)),
    },
    "SMPL-H, limb by limb": {
        "pelvis": 0,
        "chest": 11,
        "head": 13,
        **_limbs((1, 2, 3, 4, 15, 16, 17), (5, 6, 7, 8, 34, 35, 36)),
    },
    "LAFAN1": {
        "pelvis": 0,
        "chest": 11,
        "head": 13,
        **_limbs((1, 2, 3, 4, 15, 16, 17), (5, 6, 7, 8, 19, 20, 21)),
    },
    "LAFAN1, right side first": {
        "pelvis": 0,
        "chest": 11,
        "head": 13,
        **_limbs((5, 6, 7, 8, 19, 20, 21), (1, 2, 3, 4, 15, 16, 17)),
    },
    "skeleton with fingers, legs last": {
        "pelvis": 0,
        "chest": 2,
        "head": 4,
        **_limbs((43, 44, 45, 46, 6, 7, 8), (47, 48, 49, 50, 25, 26, 27)),
    },
}


@dataclass(frozen=True, eq=False)
class JointPositions:
    """Positions of joints over time, in units and axes of the file.

    Attributes:
        origin: The file, for messages.
        times: (n,) instants [s].
        positions: (n, J, 3) positions of the joints in the world.
        names: (J,) names of the joints; empty where the file has none.
    """

    origin: str
    times: Vector
    positions: Matrix = field(repr=False)
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", check_times(self.times, self.origin))
        if not np.isfinite(self.positions).all():
            row = int(np.argwhere(~np.isfinite(self.positions))[0][0])
            raise ClipError(self.origin, "a position is not finite", row=row)


def build_human(motion: JointPositions, skeleton_map: SkeletonMap | None = None) -> HumanMotion:
    """Return positions of joints as a human, with z up.

    Args:
        motion: The positions.
        skeleton_map: Which joint is which point of a body, by name or by index; found by names or by the data where None.

    Raises:
        ClipError: If no known order of joints fits the positions.
    """
    if skeleton_map is not None:
        points, notice = _find_mapped(motion, skeleton_map), ""
        T = skeleton_map.R_WF
    else:
        points, notice = _find_points(motion)
        T = _find_axes(motion, points)
    p = {point: motion.positions[:, joint] @ T.T for point, joint in points.items()}
    times = motion.times - motion.times[0]
    return HumanMotion(motion.origin, times, p, _orient(p), (notice,) if notice else ())


def _find_mapped(motion: JointPositions, skeleton_map: SkeletonMap) -> Points:
    known = motion.names or tuple(map(str, range(motion.positions.shape[1])))
    for joint in skeleton_map.points.values():
        if joint not in known:
            raise ClipError(motion.origin, str(UnknownNameError("joint", joint, known)))
    return {point: known.index(joint) for point, joint in skeleton_map.points.items()}


def _find_points(motion: JointPositions) -> tuple[Points, str]:
    for candidate in shipped_skeleton_maps() if motion.names else ():
        if set(candidate.points.values()) <= set(motion.names):
            return _find_mapped(motion, candidate), ""
    J = motion.positions.shape[1]
    fits = {
        name: points
        for name, points in LAYOUTS.items()
        if max(points.values()) < J and _is_human(motion, points)
    }
    if len(fits) != 1:
        found = (
            f"more than one order of joints: {', '.join(fits)}"
            if fits
            else "no known order of joints"
        )
        listed = f"{', '.join(LAYOUTS)}; give a skeleton map with the index of each point"
        raise ClipError(motion.origin, f"the bones of {J} joints fit {found}; known are {listed}")
    name, points = next(iter(fits.items()))
    return points, f"joints are those of {name}: bones keep their lengths"


def _is_human(motion: JointPositions, points: Points) -> bool:
    """Return whether bones keep their lengths, both sides are alike, and feet and knees point forward."""
    p = {point: motion.positions[:, joint] for point, joint in points.items()}
    for a, b in BONES:
        lengths = [np.linalg.norm(p[f"{s}_{b}"] - p[f"{s}_{a}"], axis=1) for s in SIDES]
        means = [float(np.mean(length)) for length in lengths]
        if min(means) < TINY or abs(means[0] - means[1]) > ALIKE * max(means):
            return False
        if any(np.std(length) > SAME_LENGTH * np.mean(length) for length in lengths):
            return False
    left, up = p["left_hip"] - p["right_hip"], p["chest"] - p["pelvis"]
    forward = np.cross(left, up)
    toes = sum(p[f"{s}_toe"] - p[f"{s}_ankle"] for s in SIDES)
    thighs = sum(p[f"{s}_knee"] - p[f"{s}_hip"] for s in SIDES)
    points_forward = float(np.mean(np.einsum("ni,ni->n", forward, toes))) > 0.0
    return points_forward and float(np.mean(np.einsum("ni,ni->n", up, thighs))) < 0.0


def _find_axes(motion: JointPositions, points: Points) -> Matrix:
    """Return the axes of the file in a world with z up: the axis along which the head is above the ankles."""
    p = motion.positions
    ankles = 0.5 * (p[:, points["left_ankle"]] + p[:, points["right_ankle"]])
    above = np.median(p[:, points["head"]] - ankles, axis=0)
    axis = int(np.argmax(np.abs(above)))
    up = np.zeros(3)
    up[axis] = np.sign(above[axis])
    forward = np.roll(np.abs(up), 1)
    return np.array([forward, np.cross(up, forward), up])


def _orient(p: Mapping[str, Matrix]) -> dict[str, Matrix]:
    """Return orientations of pelvis, chest and feet."""
    middle = 0.5 * (p["left_hip"] + p["right_hip"])
    top = p.get("chest", p.get("head", middle + np.array([0.0, 0.0, 1.0])))
    turns = {"pelvis": _frame(p["left_hip"] - p["right_hip"], top - middle)}
    if {"chest", "left_shoulder", "right_shoulder"} <= set(p):
        across = p["left_shoulder"] - p["right_shoulder"]
        turns["chest"] = _frame(across, 0.5 * (p["left_shoulder"] + p["right_shoulder"]) - middle)
    for side in SIDES:
        turns[f"{side}_ankle"] = _orient_foot(p, side, turns["pelvis"])
    return turns


def _frame(left: Matrix, up: Matrix) -> Matrix:
    """Return rotations whose y axis points to the left and whose z axis points up."""
    y = _unit(left)
    x = _unit(np.cross(y, up))
    return np.stack((x, y, np.cross(x, y)), axis=2)


def _orient_foot(p: Mapping[str, Matrix], side: str, pelvis: Matrix) -> Matrix:
    """Return rotations of a foot: flat, on average, in the frames in which its ankle is lowest."""
    n, up = len(pelvis), np.array([0.0, 0.0, 1.0])
    if f"{side}_toe" not in p:
        return _frame(np.cross(up, pelvis[:, :, 0]), np.tile(up, (n, 1)))
    along, ankle = _unit(p[f"{side}_toe"] - p[f"{side}_ankle"]), p[f"{side}_ankle"][:, 2]
    low = ankle <= np.percentile(ankle, STANDS)
    pitch = float(np.median(np.arcsin(np.clip(along[low, 2], -1.0, 1.0))))
    left = pelvis[:, :, 1]
    y = _unit(left - np.einsum("ni,ni->n", left, along)[:, None] * along)
    x = np.cos(pitch) * along + np.sin(pitch) * np.cross(y, along)
    return np.stack((x, y, np.cross(x, y)), axis=2)


def _unit(vectors: Matrix) -> Matrix:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1), TINY)[:, None])
