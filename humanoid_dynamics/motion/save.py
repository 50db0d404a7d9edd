# SPDX-License-Identifier: Apache-2.0
"""From a clip of a robot to a file of any format that can be written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from humanoid_dynamics.errors import ClipError, UnknownNameError
from humanoid_dynamics.motion.clip import FEWEST_FRAMES, Clip, check_times
from humanoid_dynamics.motion.derivatives import differentiate
from humanoid_dynamics.motion.formats.csv_file import write_csv, write_table_of_configurations
from humanoid_dynamics.motion.formats.gmr_file import write_gmr
from humanoid_dynamics.motion.formats.holosoma_file import write_holosoma
from humanoid_dynamics.motion.formats.mapping import build_recording
from humanoid_dynamics.motion.formats.mjlab_file import write_beyondmimic, write_mjlab
from humanoid_dynamics.motion.formats.motion_lib_file import write_motion_lib
from humanoid_dynamics.motion.formats.npz_file import write_npz
from humanoid_dynamics.motion.resampling import resample, rows_before

FEASIBILITY, VERDICT = "feasibility", "verdict"  # entries beside those of a format


@dataclass(frozen=True)
class WritableFormat:
    """A format that clips are written in.

    Attributes:
        ending: Ending of its files.
        write: Writes a clip at an even rate, and entries beside those of the format.
        rate: Usual samples per second; those of the clip where None [Hz].
    """

    ending: str
    write: Callable[[Clip, Path, Mapping[str, Any]], None]
    rate: float | None = None


def _write_npz(clip: Clip, path: Path, extras: Mapping[str, Any]) -> None:
    entries = {name: np.asarray(value) for name, value in extras.items()}
    write_npz(replace(build_recording(clip), extras=entries), path)


def _write_csv(clip: Clip, path: Path, extras: Mapping[str, Any]) -> None:
    write_csv(build_recording(clip.change(v=None, a=None)), path, comments=_comments(extras))


def _write_lafan1(clip: Clip, path: Path, extras: Mapping[str, Any]) -> None:
    write_table_of_configurations(clip, path, comments=_comments(extras))


def _comments(extras: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(f"{name}: {value}" for name, value in extras.items() if name == VERDICT)


WRITABLE = {
    "npz": WritableFormat(".npz", _write_npz),
    "csv": WritableFormat(".csv", _write_csv),
    "gmr": WritableFormat(".pkl", write_gmr, 30.0),
    "mjlab": WritableFormat(".npz", write_mjlab, 50.0),
    "beyondmimic": WritableFormat(".npz", write_beyondmimic, 50.0),
    "lafan1": WritableFormat(".csv", _write_lafan1, 30.0),
    "holosoma": WritableFormat(".npz", write_holosoma, 50.0),
    "motion_lib": WritableFormat(".pkl", write_motion_lib, 30.0),
}


def find_writable_format(name: str) -> WritableFormat:
    """Return a format by name.

    Args:
        name: Its name.

    Raises:
        UnknownNameError: If there is none, naming those that exist.
    """
    if name not in WRITABLE:
        raise UnknownNameError("format to write", name, WRITABLE)
    return WRITABLE[name]


def save_clip(
    clip: Clip,
    path: str | Path,
    to: str = "npz",
    *,
    fps: float | None = None,
    feasibility: ArrayLike | None = None,
    verdict: str = "",
) -> None:
    """Write a clip for a trainer: from its first sample to the last, at an even rate, with velocities and bodies recomputed.

    Args:
        clip: A clip of a robot with a free base and joints of one coordinate.
        path: The file.
        to: Format: ``npz``, ``csv``, ``gmr``, ``mjlab``, ``beyondmimic``, ``lafan1``, ``holosoma`` or ``motion_lib``.
        fps: Samples per second [Hz]; those that are usual for the format where None.
        feasibility: (n,) score of each sample of the clip, written beside the motion; a table of text has no place for it.
        verdict: Verdict on the clip, as JSON, written beside the motion.

    Raises:
        UnknownNameError: If there is no such format.
        ClipError: If the robot does not fit the format, the clip is too short for velocities, or scores are not one per sample.
    """
    form = find_writable_format(to)
    rate = fps or form.rate
    even = clip if rate is None or _has_rate(clip, rate) else resample(clip, rate)
    extras: dict[str, Any] = {}
    if feasibility is not None:
        scores = np.asarray(feasibility, dtype=np.float64)
        if scores.shape != (len(clip),):
            problem = f"feasibility has shape {scores.shape}, expected {(len(clip),)}"
            raise ClipError(clip.origin, problem)
        extras[FEASIBILITY] = scores[rows_before(clip, even.times)]
    if verdict:
        extras[VERDICT] = verdict
    if to not in {"npz", "csv"}:
        _check_robot(even, to)
        check_times(even.times, even.origin, FEWEST_FRAMES)
        even = differentiate(even.change(v=None, a=None, contacts={}))
    form.write(even, Path(path), extras)


def _has_rate(clip: Clip, rate: float) -> bool:
    return clip.is_even and len(clip) > 1 and abs(clip.rate - rate) < 1e-9 * rate


def _check_robot(clip: Clip, to: str) -> None:
    joints = clip.robot.joints[1:]
    if clip.robot.root == "free_flyer" and all(j.q.stop - j.q.start == 1 for j in joints):
        return
    problem = f"the format {to} has a free base and joints of one coordinate, robot {clip.robot.name!r} has others"
    raise ClipError(clip.origin, problem)
