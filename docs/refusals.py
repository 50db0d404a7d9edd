"""What is refused at the door: for each class of error a message that is really made, and what to do about it."""

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
    """A class of error as a reader meets it.

    Attributes:
        provoke: Does what is refused.
        fix: What to do about it.
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
        "Give a name of the catalogue, or the path of a file that exists. A folder of meshes or a `package://` name is no robot.",
    ),
    "UrdfError": Refusal(
        lambda: hd.load_robot(HINGE),
        "Open the file at the line that is named. `humanoid-dynamics describe` lists all that is odd once it can be read.",
    ),
    "DescriptionError": Refusal(
        lambda: hd.load_robot("human28", description=_written("human28.yaml", "passive: [left_kne]\n")),
        "The YAML file names what the URDF does not have; the message lists what there is. See [robots](robots.md#the-yaml-file).",
    ),
    "UnknownNameError": Refusal(lambda: _ask(rule="minimum_torq"), "Take one of the known names."),
    "ShapeError": Refusal(
        lambda: _ask(a=[0.0] * STILL),
        "Vectors of motion have `robot.nv` entries, configurations `robot.nq`, in the order of [conventions](conventions.md), all finite.",
    ),
    "SingularInertiaError": Refusal(
        lambda: _refuse(errors.SingularInertiaError("forward dynamics", ("left_hand",))),
        "Give these links masses and inertias in the URDF, or ask for torques, which need none.",
    ),
    "UnsupportedRobotError": Refusal(
        lambda: _refuse(errors.UnsupportedRobotError("balance control", ("wheel",), "does not use wheels")),
        "Ask the functions of `humanoid_dynamics.dynamics`, which cover every robot, or fix the joints that are named (key `fixed`).",
    ),
    "MissingExtraError": Refusal(
        lambda: _refuse(errors.MissingExtraError("viser", "viewer", "the page in the browser")),
        "Run the command in the message; `make setup` installs all extras.",
    ),
    "ClipError": Refusal(
        lambda: load_clip(_written("walk.csv", CLIP), hd.load_robot("human28")),
        "Rows count from 0, lines from 1. Columns are joints by name; a [mapping](motion.md#joints-by-name) renames or leaves out.",
    ),
    "RecordError": Refusal(
        lambda: load_record(_written("run.npz", "nothing")),
        "A record is what `simulate --record` or a `Recorder` wrote. What a crash cut short is read as far as it goes from MCAP alone.",
    ),
    "BatchError": Refusal(
        lambda: _refuse(errors.BatchError("another batch is writing into 'out'")),
        "Let the other one end, or name another folder; see [batches](batches.md).",
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
        raise LookupError(f"expected {name}, received {type(refusal).__name__}: {refusal}") from refusal
    raise LookupError(f"{name}: nothing was refused")
