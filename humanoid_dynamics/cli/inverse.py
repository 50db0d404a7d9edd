# SPDX-License-Identifier: Apache-2.0
"""``humanoid-dynamics inverse``: joint torques of a recorded motion, with measured contact wrenches or without."""

# No postponed annotations here: older typer, such as Ubuntu 24.04's, finds no options in them.

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from humanoid_dynamics.cli.choices import read_choices
from humanoid_dynamics.cli.names import RULES
from humanoid_dynamics.cli.options import (
    ConfigOption,
    FpsOption,
    JointMapOption,
    JsonOption,
    RootOption,
)
from humanoid_dynamics.cli.progress import show_progress
from humanoid_dynamics.cli.tables import fixed, make_console, print_table
from humanoid_dynamics.errors import ClipError, HumanoidDynamicsError, count

if TYPE_CHECKING:
    from humanoid_dynamics.motion.motion_torques import MotionTorques
    from humanoid_dynamics.spatial.arrays import Matrix


STDOUT = "-"
REFUSE, NEUTRAL = "refuse", "neutral"  # what to do about joints without a column
EXAMPLES = """\b
Examples:
  humanoid-dynamics inverse human.urdf --motion q.csv --velocity v.csv --acceleration a.csv \\
      --wrenches grf.csv --wrench-link R=calcn_r --wrench-link L=calcn_l --out torques.csv
  humanoid-dynamics inverse g1 --motion walk.npz --rule transition --json
  humanoid-dynamics inverse g1 --motion 23_joints.npz --missing neutral
  humanoid-dynamics inverse g1 --motion run.mcap --remap /robot/states:=/joint_states --out torques.mcap
"""

UrdfArgument = Annotated[
    str, typer.Argument(help="Catalogue name, or path of a URDF or xacro file.", metavar="URDF")
]
MotionOption = Annotated[
    str,
    typer.Option(
        "--motion",
        help="Configurations over time: CSV or OpenSim table with a time column, npz, or a bag.",
    ),
]
VelocityOption = Annotated[
    str,
    typer.Option(
        "--velocity", help="Velocities at the same instants; differentiated if not given."
    ),
]
AccelerationOption = Annotated[
    str,
    typer.Option(
        "--acceleration", help="Accelerations at the same instants; differentiated if not given."
    ),
]
WrenchesOption = Annotated[
    str,
    typer.Option(
        "--wrenches",
        help="Force plate table with columns such as R_Fx, R_Px, R_Mx in world axes, or an OpenSim file.",
    ),
]
LinksOption = Annotated[
    list[str],
    typer.Option(
        "--wrench-link", help="Link a force plate acts on, such as R=calcn_r; may be repeated."
    ),
]
CutoffOption = Annotated[
    float, typer.Option("--cutoff", help="Cut-off of the low-pass before differentiation [Hz].")
]
RuleOption = Annotated[
    str, typer.Option("--rule", help=f"Rule for contacts without measurements: {', '.join(RULES)}.")
]
OutOption = Annotated[
    str,
    typer.Option(
        "--out",
        help="Output file, .csv, .npz or .mcap (with wrenches and certificates); - writes CSV to standard output.",
    ),
]
MissingOption = Annotated[
    str,
    typer.Option(
        "--missing",
        help="Joints without a column: refuse, or neutral to hold them in the standing posture.",
    ),
]
RemapOption = Annotated[
    list[str],
    typer.Option(
        "--remap",
        help="Topic remapping of a bag, such as /robot/states:=/joint_states; may be repeated.",
    ),
]


def inverse(  # noqa: PLR0913  # one for each option
    robot: UrdfArgument,
    motion: MotionOption,
    velocity: VelocityOption = "",
    acceleration: AccelerationOption = "",
    cutoff: CutoffOption = 0.0,
    wrenches: WrenchesOption = "",
    wrench_link: LinksOption = [],  # noqa: B006  # typer reads it, nobody writes to it
    rule: RuleOption = "",
    out: OutOption = "",
    joints: JointMapOption = "",
    missing: MissingOption = REFUSE,
    remap: RemapOption = [],  # noqa: B006  # as above
    fps: FpsOption = 0.0,
    config: ConfigOption = "",
    root: RootOption = "",
    as_json: JsonOption = False,
) -> None:
    """Compute the joint torques of a recorded motion from measured contact wrenches, or by a rule."""
    from humanoid_dynamics.model.load import load_robot
    from humanoid_dynamics.model.reading.catalogue import find_description
    from humanoid_dynamics.motion.derivatives import smooth_bare
    from humanoid_dynamics.motion.formats.mapping import load_joint_map
    from humanoid_dynamics.motion.measured.force_plates import load_force_plates
    from humanoid_dynamics.motion.measured.series import find_line, load_measured_motion
    from humanoid_dynamics.motion.measured.torque_file import table_of_torques, write_torques
    from humanoid_dynamics.motion.motion_torques import solve_motion
    from humanoid_dynamics.resolution.rules import find_rule

    if missing not in {REFUSE, NEUTRAL}:
        raise HumanoidDynamicsError(
            f"--missing: received {missing!r}, expected {REFUSE} or {NEUTRAL}"
        )
    links = _read_links(wrench_link)
    chosen = find_rule(rule) if rule else None
    if links and not wrenches:
        raise HumanoidDynamicsError(
            "--wrench-link: received a link, but no file: expected --wrenches FILE too"
        )
    _check_out(out, as_json)
    loaded = load_robot(robot, description=find_description(config), root=root or None)
    joint_map = load_joint_map(Path(joints)) if joints else None
    files, hold = (Path(motion), loaded, _path(velocity), _path(acceleration)), missing == NEUTRAL
    try:
        clip = load_measured_motion(
            *files, read_choices(remap), joint_map=joint_map, hold_missing=hold, fps=fps or None
        )
        if cutoff:
            clip = smooth_bare(clip, cutoff)
        measured = load_force_plates(Path(wrenches), loaded, links) if wrenches else None
        with show_progress("inverse dynamics") as bar:
            torques = solve_motion(clip, measured, chosen, bar.tell)
    except ClipError as fault:
        raise find_line(fault, motion) from None
    if out == STDOUT:
        typer.echo(table_of_torques(torques), nl=False)
    elif out:
        write_torques(torques, Path(out))
    facts = torque_facts(torques, wrenches, links)
    if as_json:
        typer.echo(
            json.dumps(facts if out else facts | _series(torques), indent=2, allow_nan=False)
        )
    else:
        print_facts(
            facts, Console(stderr=True, highlight=False) if out == STDOUT else make_console()
        )


def torque_facts(torques: "MotionTorques", wrenches: str, links: dict[str, str]) -> dict[str, Any]:
    """Tell torques and residuals in plain data, ready for JSON: N, N·m, s."""
    import numpy as np

    clip = torques.clip
    weight = clip.robot.mass * float(np.linalg.norm(clip.robot.model.gravity.linear))
    return {
        "robot": clip.robot.name,
        "motion": clip.origin,
        "frames": len(clip),
        "start": float(clip.times[0]),
        "end": float(clip.times[-1]),
        "rule": torques.rule,
        "wrenches": {"file": wrenches, "links": links},
        "weight": weight,
        "residual": _spread(torques.root, torques.residual, clip.times),
        "lacking": float(np.max(torques.lacking, initial=0.0)),
        "statuses": dict(torques.statuses),
        "first_fault": torques.first_fault,
        "torques": _spread(
            zip(torques.columns, torques.units, strict=True), torques.tau, clip.times
        ),
        "notices": list(clip.notices),
        "robot_warnings": list(clip.robot.warnings),
    }


def print_facts(facts: dict[str, Any], console: Console) -> None:
    """Print torques and residuals as tables."""
    from humanoid_dynamics.resolution.certificate import AnswerStatus

    console.print(
        f"[bold]{facts['robot']}[/]  {count(facts['frames'], 'frame')} from {facts['start']:.3f} s to {facts['end']:.3f} s"
    )
    how = ["measured wrenches"] if facts["wrenches"]["file"] else []
    how += [f"rule {facts['rule']}"] if facts["rule"] else []
    console.print(f"contacts: {', then '.join(how)}")
    for notice in facts["notices"]:
        console.print(f"note: {notice}", markup=False)
    for warning in facts["robot_warnings"]:
        console.print(f"warning: {warning}", markup=False, style="yellow")
    for status, frames in facts["statuses"].items():
        if status is not AnswerStatus.OK:
            console.print(
                f"{count(frames, 'frame')} {status}: {status.description}", style="yellow"
            )
    if facts["first_fault"]:
        console.print(f"first {facts['first_fault']}", style="yellow", markup=False)
    if facts["residual"]:
        console.print()
        print_table(
            console, "residual at the base", ("", "rms", "largest", "at"), _rows(facts["residual"])
        )
        console.print(
            f"weight {facts['weight']:.1f} N; axes of the world, moment about the origin of the base"
        )
    if facts["lacking"]:
        console.print(f"joints lack up to {facts['lacking']:.4g} N·m or N")
    console.print()
    print_table(console, "torques", ("joint", "rms", "largest", "at"), _rows(facts["torques"]))


def _series(torques: "MotionTorques") -> dict[str, Any]:
    return {
        "time": torques.clip.times.tolist(),
        "tau": {
            name: column.tolist()
            for name, column in zip(torques.columns, torques.tau.T, strict=True)
        },
    }


def _spread(
    columns: Iterable[tuple[str, str]], table: "Matrix", times: "Matrix"
) -> dict[str, dict[str, Any]]:
    import numpy as np

    found = {}
    for (name, unit), column in zip(columns, table.T, strict=True):
        worst = int(np.argmax(np.abs(column)))
        rms = float(np.sqrt(np.mean(column**2)))
        found[name] = {
            "unit": unit,
            "rms": rms,
            "largest": float(column[worst]),
            "at": float(times[worst]),
        }
    return found


def _rows(entries: dict[str, dict[str, Any]]) -> list[tuple[str, ...]]:
    return [
        (
            name,
            f"{fixed(e['rms'], 3)} {e['unit']}",
            f"{fixed(e['largest'], 3)} {e['unit']}",
            f"{e['at']:.3f} s",
        )
        for name, e in entries.items()
    ]


def _read_links(pairs: Iterable[str]) -> dict[str, str]:
    links: dict[str, str] = {}
    for pair in pairs:
        plate, equals, link = pair.partition("=")
        if not (plate and equals and link):
            raise HumanoidDynamicsError(
                f"--wrench-link: received {pair!r}, expected PLATE=LINK, such as R=calcn_r"
            )
        if plate in links:
            raise HumanoidDynamicsError(
                f"--wrench-link: received {pair!r}, but plate {plate!r} acts on {links[plate]!r} already"
            )
        links[plate] = link
    return links


def _check_out(out: str, as_json: bool) -> None:
    if out == STDOUT and as_json:
        raise HumanoidDynamicsError(
            "--out: received - together with --json, expected one of them: both write to the output"
        )
    if out and out != STDOUT:
        from humanoid_dynamics.motion.measured.torque_file import check_torque_file

        check_torque_file(Path(out))


def _path(text: str) -> Path | None:
    return Path(text) if text else None
