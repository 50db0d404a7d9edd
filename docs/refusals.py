# SPDX-License-Identifier: Apache-2.0
"""Exceptions of the package: an actual message of each class, and its remedy."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import humanoid_dynamics as hd
from humanoid_dynamics import errors
from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.motion.load import load_clip
from humanoid_dynamics.series.files import load_record

HINGE = '<robot name="r">\n<link name="a"/>\n<joint name="j" type="hinge"><parent link="a"/><child link="b"/></joint>\n</robot>'
CLIP = "time,base_x,base_y,base_z\n0.0,0,0,1\n0.1,0,0,1\n0.1,0,0,1\n"
STILL = 3
FOLDER = re.compile(r"/[\w./-]*/(?=[\w-]+\.\w+)")


@dataclass(frozen=True)
class Refusal:
    """An example of a class of exception.

    Attributes:
        provoke: Call that raises the exception.
        fix: Remedy.
    """

    provoke: Callable[[], object]
    fix: str


def _written(name: str, text: str) -> Path:
    path = Path(tempfile.mkdtemp()) / name
    path.write_text(text, encoding="utf-8")
    return path


def _refuse(error: HumanoidDynamicsError) -> None:
    raise error


def _ask(**options: object) -> object:
    robot = hd.load_robot("human28")
    return hd.inverse_dynamics(robot, hd.State.at_rest(robot), **{"a": [0.0] * robot.nv, **options})


REFUSALS: Mapping[str, Refusal] = {
    "SourceError": Refusal(
        lambda: hd.load_robot("my_robot.urdf"),
        "Give a catalogue name or the path of an existing file. A folder of meshes or a `package://` name is not accepted.",
    ),
    "UrdfError": Refusal(
        lambda: hd.load_robot(HINGE),
        "Correct the file at the given line. `humanoid-dynamics describe` then lists the remaining warnings.",
    ),
    "DescriptionError": Refusal(
        lambda: hd.load_robot(
            "human28", description=_written("human28.yaml", "passive: [left_kne]\n")
        ),
        "Use one of the names of the URDF that the message lists. See [robots](robots.md#the-yaml-file).",
    ),
    "UnknownNameError": Refusal(lambda: _ask(rule="minimum_torq"), "Use one of the known names."),
    "ShapeError": Refusal(
        lambda: _ask(a=[0.0] * STILL),
        "Configurations have `robot.nq` entries, velocities and accelerations `robot.nv`, all finite; see [conventions](conventions.md).",
    ),
    "SingularInertiaError": Refusal(
        lambda: _refuse(errors.SingularInertiaError("forward dynamics", ("left_hand",))),
        "Give these links mass and inertia in the URDF. Inverse dynamics does not require it.",
    ),
    "UnsupportedRobotError": Refusal(
        lambda: _refuse(
            errors.UnsupportedRobotError("balance control", ("wheel",), "does not use wheels")
        ),
        "Use `humanoid_dynamics.dynamics`, which supports every robot, or lock the listed joints (key `fixed`).",
    ),
    "MissingExtraError": Refusal(
        lambda: _refuse(errors.MissingExtraError("viser", "viewer", "the page in the browser")),
        "Run the command in the message; `make setup` installs all extras.",
    ),
    "ClipError": Refusal(
        lambda: load_clip(_written("walk.csv", CLIP), hd.load_robot("human28")),
        "Rows count from 0, lines from 1. Columns are joint names; a [mapping](motion_files.md#joints-by-name) renames or ignores columns.",
    ),
    "RecordError": Refusal(
        lambda: load_record(_written("run.npz", "nothing")),
        "Records are written by `simulate --record` or a `Recorder`. Of truncated files, only MCAP can be read, up to the damage.",
    ),
    "BatchError": Refusal(
        lambda: _refuse(errors.BatchError("another batch is writing into 'out'")),
        "Wait for the other batch, or select another folder; see [batches](batches.md).",
    ),
}


def write_rows() -> Iterator[tuple[str, str, str, str]]:
    """Yield class, meaning, message and remedy of each refusal."""
    for name, refusal in REFUSALS.items():
        meaning = (getattr(errors, name).__doc__ or "").partition("\n")[0]
        message = FOLDER.sub("", read_message(name)).replace("|", "\\|").replace("`", "'")
        if len(message) > 240:
            message = message[:240].rpartition(",")[0] + ", ..."
        yield f"`{name}`", meaning, f"`{' '.join(message.split())}`", refusal.fix


def read_message(name: str) -> str:
    """Return the message of a refusal.

    Args:
        name: Class of the error.

    Raises:
        LookupError: If nothing was refused, or something else.
    """
    try:
        REFUSALS[name].provoke()
    except HumanoidDynamicsError as refusal:
        if type(refusal).__name__ == name:
            return str(refusal)
        raise LookupError(
            f"expected {name}, received {type(refusal).__name__}: {refusal}"
        ) from refusal
    raise LookupError(f"{name}: nothing was refused")
