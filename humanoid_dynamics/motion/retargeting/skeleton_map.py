# SPDX-License-Identifier: Apache-2.0
"""Which joint of a skeleton is which point of a body, as a small YAML file.

    up: y                   # axis of the file that points up, and the one the body faces: x, y, z, -x, -y, -z
    forward: z
    rest: first_frame       # a pose with level feet that shows how bones are turned: first_frame (then left out) or zero
    points:                 # body point -> joint of the skeleton
      pelvis: Hips
      left_knee: LeftLeg
    joints: {...}           # only for formats whose files do not hold the skeleton, in the order of the file

Points that are known: pelvis, chest, head, and with left_ or right_ before: hip, knee, ankle, toe, shoulder, elbow, hand.  Pelvis, hips,
knees and ankles are needed.  Files in ``config/skeletons`` are tried by content; another file may be given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

import numpy as np

from humanoid_dynamics.errors import ClipError, DescriptionError
from humanoid_dynamics.model.reading.description_file import load_yaml
from humanoid_dynamics.motion.retargeting.skeleton import Skeleton
from humanoid_dynamics.spatial.arrays import Matrix

RESTS = ("first_frame", "zero")
KINDS = ("spherical", "revolute", "fixed")
SIDES = ("left", "right")
LIMB_POINTS = ("hip", "knee", "ankle", "toe", "shoulder", "elbow", "hand")
POINTS = ("pelvis", "chest", "head", *(f"{side}_{part}" for side in SIDES for part in LIMB_POINTS))
NEEDED = ("pelvis", *(f"{side}_{part}" for side in SIDES for part in ("hip", "knee", "ankle")))
KEYS = ("up", "forward", "rest", "points", "joints")
ROOT = "root"


@dataclass(frozen=True)
class SkeletonJoint:
    """A joint of a skeleton whose files do not hold it.

    Attributes:
        parent: Its parent, ``root`` or another joint.
        kind: ``spherical``, ``revolute`` (about z) or ``fixed``.
        offset: Place on its parent, in units of the file.
    """

    parent: str
    kind: str
    offset: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class SkeletonMap:
    """A skeleton map, read.

    Attributes:
        origin: The file, for messages.
        R_WF: (3, 3) axes of the file in a world with z up, x forward.
        rest: ``first_frame`` or ``zero``.
        points: Body point -> joint of the skeleton.
        joints: Joints of skeletons that files do not hold, in the order of the file.
    """

    origin: str
    R_WF: Matrix
    rest: str
    points: Mapping[str, str]
    joints: Mapping[str, SkeletonJoint] = field(default_factory=dict)


def load_skeleton_map(path: Path) -> SkeletonMap:
    """Read a skeleton map.

    Args:
        path: The YAML file.

    Returns:
        The map.

    Raises:
        DescriptionError: Naming the key that breaks the schema.
    """
    content, origin = load_yaml(path), str(path)
    if not isinstance(content, dict) or set(content) - set(KEYS):
        raise DescriptionError(origin, "file", f"expected the keys {', '.join(KEYS)}")
    R_WF = _read_axes(content, origin)
    rest = content.get("rest", RESTS[0])
    if rest not in RESTS:
        raise DescriptionError(origin, "rest", f"received {rest!r}, expected {' or '.join(RESTS)}")
    points = content.get("points")
    if not isinstance(points, dict) or not all(isinstance(joint, str) for joint in points.values()):
        raise DescriptionError(origin, "points", "expected body point: joint of the skeleton")
    unknown = [str(name) for name in points if name not in POINTS]
    missing = [name for name in NEEDED if name not in points]
    if unknown or missing:
        raise DescriptionError(
            origin,
            "points",
            f"unknown {', '.join(unknown) or 'none'}; missing {', '.join(missing) or 'none'}",
        )
    joints = content.get("joints") or {}
    if not isinstance(joints, dict):
        raise DescriptionError(origin, "joints", "expected joint: {parent, kind, offset}")
    table = {
        str(name): _read_joint(value, origin, f"joints.{name}") for name, value in joints.items()
    }
    return SkeletonMap(origin, R_WF, rest, dict(points), table)


def shipped_skeleton_maps() -> tuple[SkeletonMap, ...]:
    """Return the maps in ``config/skeletons``, by name."""
    folder = Path(str(resources.files("humanoid_dynamics"))) / "config" / "skeletons"
    return tuple(load_skeleton_map(path) for path in sorted(folder.glob("*.yaml")))


def find_skeleton_map(skeleton: Skeleton, origin: str) -> SkeletonMap:
    """Return the first shipped map all of whose joints a skeleton has.

    Args:
        skeleton: The skeleton.
        origin: Where it came from, for messages.

    Returns:
        The map.

    Raises:
        ClipError: If no map fits.
    """
    known = set(skeleton.names)
    maps = shipped_skeleton_maps()
    for candidate in maps:
        if set(candidate.points.values()) <= known:
            return candidate
    names = ", ".join(Path(candidate.origin).stem for candidate in maps)
    raise ClipError(
        origin,
        f"no skeleton map fits ({names}); write one for the joints {', '.join(skeleton.names)}",
    )


def _read_axes(content: Mapping[str, object], origin: str) -> Matrix:
    axes = []
    for key, usual in (("forward", "z"), ("up", "y")):
        value = content.get(key, usual)
        if not isinstance(value, str) or value.removeprefix("-") not in {"x", "y", "z"}:
            raise DescriptionError(
                origin, key, f"received {value!r}, expected x, y, z, -x, -y or -z"
            )
        axis = np.zeros(3)
        axis["xyz".index(value[-1])] = -1.0 if value.startswith("-") else 1.0
        axes.append(axis)
    forward, up = axes
    if forward @ up != 0.0:
        raise DescriptionError(origin, "forward", "is the axis that points up")
    return np.array([forward, np.cross(up, forward), up])


def _read_joint(value: object, origin: str, key: str) -> SkeletonJoint:
    if (
        not isinstance(value, dict)
        or set(value) != {"parent", "kind", "offset"}
        or value["kind"] not in KINDS
    ):
        raise DescriptionError(
            origin, key, f"expected parent, kind ({', '.join(KINDS)}) and offset"
        )
    offset = value["offset"]
    if (
        not isinstance(offset, list)
        or len(offset) != 3
        or not all(isinstance(part, int | float) for part in offset)
    ):
        raise DescriptionError(
            origin, f"{key}.offset", f"received {offset!r}, expected three numbers"
        )
    return SkeletonJoint(
        str(value["parent"]), value["kind"], (float(offset[0]), float(offset[1]), float(offset[2]))
    )
