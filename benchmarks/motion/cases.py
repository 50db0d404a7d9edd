# SPDX-License-Identifier: Apache-2.0
"""Cases of the motion benchmark: a clip, the robot it is filtered on, and its class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from benchmarks.motion.recordings import data_folder, find_recording
from humanoid_dynamics.filtering.batches.clips import find_clips
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.load import load_clip

DEVELOPMENT = Path(__file__).with_name("development.yaml")
CLASSES = ("stand", "walk", "run", "jump", "kick", "slope", "hands", "live", "refusal", "control")
OTHER = "unsorted"


@dataclass(frozen=True)
class Case:
    """A clip on a robot.

    Attributes:
        name: Unique name, ``robot/clip``.
        robot: Catalogue name or path.
        path: The motion file.
        kind: Class, one of ``CLASSES`` or ``unsorted``.
        fps: Samples per second, for files that do not record it [Hz].
    """

    name: str
    robot: str
    path: Path
    kind: str = OTHER
    fps: float | None = None

    def load(self) -> tuple[RobotModel, Clip]:
        """Return robot and clip."""
        robot = _robot(self.robot)
        rate: dict[str, Any] = {} if self.fps is None else {"fps": self.fps}
        return robot, load_clip(self.path, robot, **rate)


@cache
def _robot(source: str) -> RobotModel:
    return load_robot(source)


def development_cases() -> list[Case]:
    """Return the clips this filter is developed with.

    Raises:
        HumanoidDynamicsError: If a recording is absent.
    """
    cases = []
    for entry in yaml.safe_load(DEVELOPMENT.read_text(encoding="utf-8")):
        for robot in entry["robots"]:
            path = find_recording(entry["clip"])
            source = str(data_folder() / robot) if robot.endswith(".urdf") else robot
            cases.append(
                Case(
                    f"{Path(robot).stem}/{path.stem}",
                    source,
                    path,
                    entry["class"],
                    entry.get("fps"),
                )
            )
    return cases


def find_cases(
    sources: Sequence[str], robots: Sequence[str], kind: str = OTHER, fps: float | None = None
) -> list[Case]:
    """Return every clip of some files, folders and patterns on every one of some robots.

    Args:
        sources: Files, folders and glob patterns.
        robots: Catalogue names or paths.
        kind: Class of the clips.
        fps: Samples per second of files that do not record it [Hz].

    Raises:
        ClipError: If nothing is found.
    """
    return [
        Case(f"{Path(robot).stem}/{found.name}", robot, found.path, kind, fps)
        for robot in robots
        for found in find_clips(sources)
    ]
