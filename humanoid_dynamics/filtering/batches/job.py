# SPDX-License-Identifier: Apache-2.0
"""The job of a batch of clips: read one, filter it, write it, tell what is true of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from numpy.typing import ArrayLike

from humanoid_dynamics.errors import BatchError, ClipError, HumanoidDynamicsError
from humanoid_dynamics.filtering.batches.clips import BatchClip
from humanoid_dynamics.filtering.batches.key import fingerprint, fingerprint_file, fingerprint_robot
from humanoid_dynamics.filtering.batches.parts import WHOLE, Part, list_parts
from humanoid_dynamics.filtering.batches.store import RESULT
from humanoid_dynamics.filtering.batches.task import ClipTask, Facts
from humanoid_dynamics.filtering.clip_facts import clip_facts
from humanoid_dynamics.filtering.clip_filter import LADDER, FilteredClip, filter_clip
from humanoid_dynamics.filtering.filter import DynamicsFilter
from humanoid_dynamics.filtering.filtered_recording import build_filtered_recording
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.filtering.slope import GroundSlope
from humanoid_dynamics.filtering.ticks.tick import TickSettings
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.formats.joint_orders import parse_order
from humanoid_dynamics.motion.formats.mapping import JointMap
from humanoid_dynamics.motion.formats.npz_file import write_npz
from humanoid_dynamics.motion.load import load_clip

REPORT = 1  # what a report holds; records of a batch with another one are made anew


@dataclass(frozen=True)
class FilterJob:
    """How each clip of a batch is filtered; plain data, which goes to a worker.

    Attributes:
        robot: Catalogue name or path of the robot.
        mode: How a tick is answered.
        settings: Times and lengths of the conditioning.
        offline: Whether other settings are tried where the robot falls.
        joint_map: Which column is which joint.
        name: Name of the robot.
        robot_key: Fingerprint of the robot; a worker that finds another one under the same name refuses.
        normal: Normal of the ground; level where None.
        fps: Samples per second of files that do not say so themselves [Hz].
        sensitivity: Whether five perturbed runs are made of each clip as well.
        joint_order: Joint order of files without joint names.
        part: The part of each file.
    """

    robot: str
    mode: str = "balanced"
    settings: Settings = field(default_factory=Settings)
    offline: bool = False
    joint_map: JointMap | None = None
    name: str = ""
    robot_key: str = ""
    normal: tuple[float, ...] | None = None
    fps: float | None = None
    sensitivity: bool = False
    joint_order: str = ""
    part: Part = WHOLE

    @property
    def ending(self) -> str:
        """Ending of the results."""
        return RESULT

    def __call__(self, clip: Path, out: Path | None) -> Facts:
        """Filter one clip.

        Args:
            clip: The clip.
            out: Where the result is written, or None.

        Returns:
            What is true of it, see ``clip_facts``.
        """
        motion, found = self.filter(clip)
        if out is not None:
            write_npz(build_filtered_recording(found), out)
        return self.tell(clip, motion, found)

    def load(self, clip: Path, motion: str = "") -> Clip:
        """Return a clip as it is.

        Args:
            clip: The file.
            motion: Name of the motion in a file of several.
        """
        return load_clip(
            clip,
            _load(self.robot, self.robot_key),
            joint_map=self.joint_map,
            fps=self.fps,
            joint_order=self.joint_order,
            motion=motion,
        )

    def select(self, part: Part) -> FilterJob:
        """Return the job for a part of a file.

        Args:
            part: The part.
        """
        return replace(self, part=part)

    def split(self, clip: BatchClip, longest: float = 0.0) -> tuple[BatchClip, ...]:
        """Return the parts of a file as clips of their own: the motions of a library, and pieces of long clips.

        Args:
            clip: The file; one that cannot be read stays whole, and its job states the reason.
            longest: Longest clip that stays whole [s]; zero for any.
        """
        try:
            parts = tuple(list_parts(clip.path, partial(self.load, clip.path), longest))
        except HumanoidDynamicsError:
            return (clip,)
        return tuple(replace(clip, name=clip.name + stem, part=part) for stem, part in parts)

    def filter(self, clip: Path) -> tuple[Clip, FilteredClip]:
        """Return a clip before and after the filter.

        Args:
            clip: The clip.
        """
        motion = self.part.cut(self.load(clip, self.part.motion))
        robot = motion.robot
        ladder = LADDER if self.offline else LADDER[:1]
        found = filter_clip(
            robot,
            motion,
            self.mode,
            settings=self.settings,
            ladder=ladder,
            normal=self.normal,
            sensitivity=self.sensitivity,
        )
        return motion, found

    def tell(self, clip: Path, motion: Clip, found: FilteredClip) -> Facts:
        """Return the facts of a clip, see ``clip_facts``.

        Args:
            clip: The file.
            motion: The clip before the filter.
            found: The clip after the filter.
        """
        slope = GroundSlope(motion.robot, self.normal) if self.normal else None
        return clip_facts(str(clip), motion, found, slope)

    @property
    def key(self) -> str:
        """Fingerprint of the robot and of all settings."""
        wanted = (
            None
            if self.joint_map is None
            else (self.joint_map.sources, sorted(self.joint_map.ignore))
        )
        ladder = LADDER if self.offline else LADDER[:1]
        ground = () if self.normal is None else (self.normal,)
        rate = () if self.fps is None else (("fps", self.fps),)
        order = (("joint_order", self.joint_order),) if self.joint_order else ()
        report = REPORT, self.sensitivity
        return fingerprint(
            (
                self.robot_key,
                self.mode,
                self.settings,
                TickSettings(),
                ladder,
                wanted,
                _version(),
                report,
                *ground,
                *rate,
                *order,
            )
        )


def build_job(  # noqa: PLR0913
    robot: str,
    *,
    mode: str = "balanced",
    settings: Settings | None = None,
    offline: bool = False,
    joint_map: JointMap | None = None,
    normal: ArrayLike | None = None,
    fps: float | None = None,
    sensitivity: bool = False,
    joint_order: str = "",
) -> FilterJob:
    """Prepare the job of a batch; what is wrong with the robot or the mode is refused here, before any clip.

    Args:
        robot: Catalogue name or path of the robot.
        mode: How a tick is answered.
        settings: Times and lengths of the conditioning.
        offline: Whether other settings are tried where the robot falls.
        joint_map: Which column is which joint.
        normal: (3,) normal of the ground; upward where None.
        fps: Samples per second of files that do not say so themselves [Hz].
        sensitivity: Whether five perturbed runs are made of each clip as well.
        joint_order: Joint order of files without joint names.

    Returns:
        The job.

    Raises:
        ShapeError: If the normal is no direction of ground.
        UnknownNameError: If there is no such joint order.
    """
    settings = settings or Settings()
    place = os.path.abspath(robot) if Path(robot).is_file() else robot
    loaded = load_robot(place)
    ground = None if normal is None else GroundSlope(loaded, normal)
    DynamicsFilter(
        ground.robot if ground else loaded, mode, settings=settings
    )  # refuses what it cannot filter
    if joint_order:
        parse_order(joint_order, loaded)
    n = None if ground is None else tuple(ground.normal.tolist())
    return FilterJob(
        place,
        mode,
        settings,
        offline,
        joint_map,
        loaded.name,
        fingerprint_robot(loaded),
        n,
        fps,
        sensitivity,
        joint_order,
    )


def build_tasks(clips: Sequence[BatchClip], key: str) -> tuple[ClipTask, ...]:
    """Give each clip the fingerprint of itself and of what is done to it.

    Args:
        clips: The clips.
        key: Fingerprint of what is done.

    Returns:
        The tasks, in the same order; a clip that cannot be read has no fingerprint, and its job states the reason.
    """
    files = {path: _fingerprint(path) for path in dict.fromkeys(clip.path for clip in clips)}
    return tuple(
        ClipTask(clip.name, clip.path, _key(clip.part, files[clip.path], key), clip.part)
        for clip in clips
    )


def _fingerprint(path: Path) -> str:
    try:
        return fingerprint_file(path)
    except ClipError:
        return ""


def _key(part: Part, file: str, key: str) -> str:
    return fingerprint((file, key, *(() if part == WHOLE else (part,)))) if file else ""


@lru_cache(maxsize=1)
def _load(robot: str, key: str) -> RobotModel:
    """Load a robot once per worker."""
    loaded = load_robot(robot)
    if key and fingerprint_robot(loaded) != key:
        raise BatchError(f"the robot {robot!r} of this worker is not the one the batch began with")
    return loaded


def _version() -> str:
    try:
        return version("humanoid_dynamics")
    except PackageNotFoundError:
        return ""
