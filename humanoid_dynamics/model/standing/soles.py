# SPDX-License-Identifier: Apache-2.0
"""Soles of a robot nobody has described: guessed from its shapes, its names or its proportions, and said so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.description import FrameSpec, SurfaceSpec
from humanoid_dynamics.model.reading.urdf import Urdf
from humanoid_dynamics.model.robot import Notice
from humanoid_dynamics.model.shape import Geometry
from humanoid_dynamics.model.standing.feet import Foot, Stance, find_feet, lowest_point
from humanoid_dynamics.model.standing.footprint import patch_of, polygon_area, shape_points
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only

FOOT_LENGTH = (
    0.152 / 0.530
)  # foot, its breadth and its height of the ankle, as shares of the leg (Drillis and Contini)
FOOT_BREADTH = 0.055 / 0.530
ANKLE_HEIGHT = 0.039 / 0.530
HEEL_SHARE = 0.25  # of the foot behind the ankle
UP = read_only([0.0, 0.0, 1.0])
SNAP = np.cos(np.deg2rad(20.0))
SAME_AREA = 0.9
MIRRORED = 0.01  # left and right patches this near to mirror images become mirror images [m]
ON_SOLE = 1e-9
SHORTEST_FACE, LONGEST_FACE = 0.1, 0.9  # plausible lengths of a face, shares of the leg

NARROWEST_FACE = 0.06  # breadth of a face that is not doubted, as a share of the leg
WIDEST_FACE = 1.2  # breadth of a face as a share of its length
# How shapes are read: as they are; with the y axis of COLLADA meshes up; with round shapes standing for flat ones.
READINGS: tuple[Mapping[str, bool], ...] = ({}, {"turn_y_up": True}, {"shadow": True})


@dataclass(frozen=True, eq=False)
class Patch:
    """The patch of one foot, before it is written down in a link.

    Attributes:
        link: Link that carries it.
        R_JC: Axes of the sole in the ankle joint: forward, left, up.
        height: Height of the ankle above the patch [m].
        corners: (k, 2) corners forward and left of the ankle [m].
        source: What it was guessed from.
        is_guess: Whether that was the length of the leg and no shape.
    """

    link: str
    R_JC: Matrix
    height: float
    corners: Matrix
    source: str
    is_guess: bool = False


def find_soles(
    urdf: Urdf, model: pin.Model, folder: Path | None
) -> tuple[dict[str, SurfaceSpec], tuple[Notice, ...]]:
    """Guess the contact surfaces of a robot from its URDF alone.

    Two feet are called ``left_foot`` and ``right_foot``; any other number by their links.  A sole frame has its origin under the last
    joint of the leg, where that is above the patch, and in the middle of the patch otherwise.

    Args:
        urdf: The records.
        model: The tree, whose root moves freely.
        folder: Folder of the URDF, where meshes are looked for.

    Returns:
        Surfaces by name, each saying why it is assumed, and one notice; no surface where no foot was found.
    """
    stance = find_feet(urdf, model)
    if not stance.feet:
        text = "no foot was found by name or by reach, so nothing carries this robot; describe its surfaces"
        return {}, (Notice("warning", "soles", text),)
    patches = {foot.name: _find_patch(urdf, model, stance, foot, folder) for foot in stance.feet}
    if {"left_foot", "right_foot"} == set(patches):
        patches["right_foot"] = _mirror(patches["left_foot"], patches["right_foot"])
        patches["left_foot"] = _mirror(patches["right_foot"], patches["left_foot"])
    else:
        patches = {patch.link: patch for patch in patches.values()}
    specs = {name: _write_down(model, patch) for name, patch in sorted(patches.items())}
    told = "; ".join(f"{name} from {patch.source}" for name, patch in sorted(patches.items()))
    return specs, (Notice("info", "soles", f"assumed, because the description has none: {told}"),)


def _find_patch(
    urdf: Urdf, model: pin.Model, stance: Stance, foot: Foot, folder: Path | None
) -> Patch:
    """Return the patch of the first source that gives a plausible one: collision shapes, visual shapes, proportions."""
    for kind in ("collision", "visual"):
        for links in dict.fromkeys((foot.links[: foot.named], foot.links)):
            shapes = [
                (link, shape) for link in links for shape in getattr(urdf.links[link], f"{kind}s")
            ]
            readings = [
                _from_shapes(model, stance, foot, shapes, folder, reading=reading)
                for reading in READINGS
            ]
            found = [
                patch for patch in readings if patch is not None and _is_plausible(patch, foot)
            ]
            if found:
                best = next((patch for patch in found if _is_broad(patch, foot)), found[0])
                return replace(best, source=f"the {kind} shapes of link {best.link!r}")
    return _from_proportions(urdf, model, stance, foot)


def _from_shapes(
    model: pin.Model,
    stance: Stance,
    foot: Foot,
    shapes: list[tuple[str, Geometry]],
    folder: Path | None,
    *,
    reading: Mapping[str, bool],
) -> Patch | None:
    """Return the patch the shapes of a foot touch level ground with, along the candidate axes that make it largest."""
    meshes = {
        shape: shape_points(shape, UP, folder, **reading)
        for _, shape in shapes
        if shape.kind == "mesh"
    }
    best: Patch | None = None
    for R_JC in _candidate_axes(model, stance, foot):
        clouds = []
        for link, shape in shapes:
            X_JL = _placement(model, link)
            cloud = (
                meshes[shape]
                if shape in meshes
                else shape_points(shape, X_JL.rotation.T @ R_JC[:, 2], None, **reading)
            )
            if len(cloud):
                clouds.append((link, (cloud @ X_JL.rotation.T + X_JL.translation) @ R_JC))
        if not clouds:
            return None
        link, lowest = min(clouds, key=lambda entry: float(entry[1][:, 2].min()))
        corners = patch_of(np.vstack([cloud for _, cloud in clouds]), foot.length)
        if best is None or polygon_area(corners) * SAME_AREA > polygon_area(best.corners):
            best = Patch(link, R_JC, -float(lowest[:, 2].min()), corners, "")
    return best


def _from_proportions(urdf: Urdf, model: pin.Model, stance: Stance, foot: Foot) -> Patch:
    """Return a foot of human proportions, or a point for a leg that ends below its knee."""
    link = foot.links[0]
    R_JC = next(_candidate_axes(model, stance, foot))
    depth = float(stance.X_UJ[foot.joint].translation[2]) - lowest_point(
        urdf, model, stance.X_UJ, foot.links
    )
    if not foot.has_ankle:
        lowest = min(
            (_placement(model, name).translation for name in foot.links),
            key=lambda p: float(p @ R_JC[:, 2]),
        )
        corners = (lowest @ R_JC)[None, :2]
        return Patch(link, R_JC, depth, corners, f"the end of link {link!r}, as a point")
    height = depth if depth > 0.3 * ANKLE_HEIGHT * foot.length else ANKLE_HEIGHT * foot.length
    length, breadth = FOOT_LENGTH * foot.length, FOOT_BREADTH * foot.length
    front, back, side = (1.0 - HEEL_SHARE) * length, -HEEL_SHARE * length, 0.5 * breadth
    corners = np.array([[back, -side], [front, -side], [front, side], [back, side]])
    return Patch(
        link,
        R_JC,
        height,
        corners,
        f"the length of the leg above link {link!r}, with human proportions",
        is_guess=True,
    )


def _is_plausible(patch: Patch, foot: Foot) -> bool:
    """Return whether a patch can be the sole of this foot: below the ankle, a face where there is one, not too short and not too long."""
    if patch.height < -0.02 * foot.length:
        return False
    if len(patch.corners) < 3:
        return not foot.has_ankle
    length, breadth = np.ptp(patch.corners, axis=0)
    return bool(
        SHORTEST_FACE * foot.length < length < LONGEST_FACE * foot.length
        and breadth < WIDEST_FACE * length
    )


def _is_broad(patch: Patch, foot: Foot) -> bool:
    """Return whether a face is as broad as a foot, and no mere line that a round shape leaves on the ground."""
    return not foot.has_ankle or bool(
        np.ptp(patch.corners, axis=0)[1] > NARROWEST_FACE * foot.length
    )


def _candidate_axes(model: pin.Model, stance: Stance, foot: Foot) -> Iterator[Matrix]:
    """Yield axes a sole may have in its joint: those of its links that are nearly upright, and the upright ones themselves.

    A robot whose zero pose bends its ankles has soles that lie along the axes of a link and not flat on the ground.
    """
    R_JU = stance.X_UJ[foot.joint].rotation.T
    seen: list[Matrix] = []
    for R in (*(_placement(model, link).rotation for link in foot.links), np.eye(3)):
        up = _nearest_axis(R, R_JU[:, 2])
        if up is None:
            continue
        forward = _nearest_axis(R, R_JU[:, 0])
        snapped = _axes(up, R_JU[:, 0] if forward is None else forward)
        if not any(np.allclose(snapped, other, atol=1e-6) for other in seen):
            seen.append(snapped)
            yield snapped
    if not any(np.allclose(R_JU, other, atol=1e-6) for other in seen):
        yield R_JU


def _nearest_axis(R: Matrix, direction: Vector) -> Vector | None:
    """Return the column of R, or its opposite, that is within 20° of a direction."""
    along = R.T @ direction
    best = int(np.argmax(np.abs(along)))
    return np.sign(along[best]) * R[:, best] if abs(along[best]) > SNAP else None


def _axes(up: Vector, forward: Vector) -> Matrix:
    x = forward - (forward @ up) * up
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(up, x), up])


def _placement(model: pin.Model, link: str) -> pin.SE3:
    return pin.SE3(model.frames[model.getFrameId(link, pin.FrameType.BODY)].placement)


def _mirror(left: Patch, right: Patch) -> Patch:
    """Return the second patch as the mirror image of the first one, if it nearly is or is no more than a guess from proportions."""
    image = left.corners[::-1] * np.array([1.0, -1.0])
    gap = max(np.linalg.norm(right.corners - corner, axis=1).min() for corner in image)
    back = max(np.linalg.norm(image - corner, axis=1).min() for corner in right.corners)
    weaker = right.is_guess and not left.is_guess
    if max(gap, back, abs(left.height - right.height)) > MIRRORED and not weaker:
        return right
    source = (
        f"the mirror image of the other foot, on link {right.link!r}" if weaker else right.source
    )
    return replace(right, corners=image, height=left.height, source=source)


def _write_down(model: pin.Model, patch: Patch) -> SurfaceSpec:
    """Return the patch in its link, with the origin under the ankle where that is above it."""
    low, high = patch.corners.min(axis=0), patch.corners.max(axis=0)
    inside = len(patch.corners) > 2 and bool(np.all(low <= ON_SOLE) and np.all(high >= -ON_SOLE))
    origin = np.zeros(2) if inside else 0.5 * (low + high)
    X_JC = pin.SE3(patch.R_JC, patch.R_JC @ np.array([*origin, -patch.height]))
    vertices = np.column_stack([patch.corners - origin, np.zeros(len(patch.corners))])
    assumed = f"guessed from {patch.source}"
    return SurfaceSpec(
        FrameSpec(patch.link, _placement(model, patch.link).actInv(X_JC)), vertices, assumed=assumed
    )
