# SPDX-License-Identifier: Apache-2.0
"""Command line of the motion benchmark: ``python -m benchmarks.motion``."""

# No postponed annotations here: older typer, such as Ubuntu 24.04's, finds no options in them.

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from humanoid_dynamics.cli.options import JsonOption
from humanoid_dynamics.cli.progress import show_progress
from humanoid_dynamics.cli.tables import make_console, print_table
from humanoid_dynamics.errors import HumanoidDynamicsError

if TYPE_CHECKING:
    from benchmarks.motion.cases import Case
    from benchmarks.motion.gate import GateResult
    from benchmarks.motion.runs import Run

PARTS = ("inverse_dynamics", "scenes", "streams", "clips")
FAILED = 1
ClipsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        help="Motion files, folders or patterns; development clips where none is named.",
        metavar="CLIP...",
    ),
]
RobotOption = Annotated[
    list[str] | None,
    typer.Option("--robot", help="Catalogue name or path of a URDF; may be repeated."),
]
ClassOption = Annotated[
    str, typer.Option("--class", help="Class under which named clips are listed.")
]
FpsOption = Annotated[
    float | None,
    typer.Option("--fps", help="Samples per second of files that do not record it [Hz]."),
]
OnlyOption = Annotated[
    str, typer.Option("--only", help="Only cases whose name contains this text.")
]
NominalOption = Annotated[
    bool, typer.Option("--nominal", help="Leave out the five perturbed runs.")
]
JobsOption = Annotated[
    int, typer.Option("--jobs", min=0, help="Processes side by side; 0 for one per core.")
]
RefereesOption = Annotated[
    int,
    typer.Option(
        "--referees", min=0, help="Let referees judge raw and filtered with so many paired seeds."
    ),
]
PolicyOption = Annotated[
    str,
    typer.Option("--policy", help="ONNX file of a learned tracker, a referee beside the others."),
]
ControlsOption = Annotated[
    bool, typer.Option("--controls", help="Check that negative controls are not preserved.")
]
FreezeOption = Annotated[
    list[str] | None,
    typer.Option("--freeze", help=f"Replace a part of the frozen record: {', '.join(PARTS)}."),
]
CheckOption = Annotated[
    list[str] | None,
    typer.Option("--check", help="Compare a part, or 'all', with the frozen record."),
]
RecordOption = Annotated[
    str,
    typer.Option(
        "--record", help="File of the frozen record; the one of the repository where left out."
    ),
]
EXAMPLES = """\b
Examples:
  .venv/bin/python -m benchmarks.motion
  .venv/bin/python -m benchmarks.motion clips/ --robot g1 --robot my_robot.urdf --class walk
  .venv/bin/python -m benchmarks.motion walk.npz --robot g1 --referees 10 --policy tracker.onnx
  .venv/bin/python -m benchmarks.motion --check all
  .venv/bin/python -m benchmarks.motion --freeze clips
"""


def bench_motion(  # noqa: PLR0913
    clips: ClipsArgument = None,
    robot: RobotOption = None,
    kind: ClassOption = "unsorted",
    fps: FpsOption = None,
    only: OnlyOption = "",
    nominal: NominalOption = False,
    jobs: JobsOption = 0,
    referees: RefereesOption = 0,
    policy: PolicyOption = "",
    controls: ControlsOption = False,
    freeze: FreezeOption = None,
    check: CheckOption = None,
    record: RecordOption = "",
    as_json: JsonOption = False,
) -> None:
    """Filter clips on robots and report how much of the motion is preserved, per class; compare with the frozen record.

    The exit status is 1 where a comparison with the record fails or a negative control counts as preserved.
    """
    from benchmarks.motion.controls import POSITIVE
    from benchmarks.motion.record import RECORD

    facts: dict[str, Any] = {}
    parts = _check_parts("--freeze", freeze or []), _check_parts("--check", check or [])
    path = Path(record) if record else RECORD
    cases = _find_cases(clips or [], robot or [], kind, fps, only)
    failed = False
    if any(parts):
        failed = _use_record(path, parts, cases, (jobs or os.cpu_count() or 1, not nominal), facts)
    elif not (referees or controls):
        facts["runs"] = [
            asdict(run) for run in _run(cases, jobs or os.cpu_count() or 1, not nominal)
        ]
    if referees:
        facts |= _judge(cases, referees, Path(policy) if policy else None)
    if controls:
        facts["controls"] = _run_controls(cases)
        failed = failed or any(
            bool(broken) == (name == POSITIVE) for name, broken in facts["controls"].items()
        )
    if as_json:
        typer.echo(json.dumps(facts, indent=2, allow_nan=False))
    else:
        _print(facts)
    if failed:
        raise typer.Exit(FAILED)


def _check_parts(option: str, names: list[str]) -> tuple[str, ...]:
    unknown = [name for name in names if name not in {*PARTS, "all"}]
    if unknown:
        raise HumanoidDynamicsError(
            f"{option}: received {unknown[0]!r}, expected one of {', '.join(PARTS)}, all"
        )
    return PARTS if "all" in names else tuple(dict.fromkeys(names))


def _find_cases(
    clips: list[str], robots: list[str], kind: str, fps: float | None, only: str
) -> "list[Case]":
    from benchmarks.motion.cases import development_cases, find_cases

    if clips and not robots:
        raise HumanoidDynamicsError(
            "--robot: received none, expected a catalogue name or a path for the named clips"
        )
    cases = find_cases(clips, robots, kind, fps) if clips else development_cases()
    found = [case for case in cases if only in case.name]
    if not found:
        raise HumanoidDynamicsError(
            f"--only: no case contains {only!r}; there are {', '.join(case.name for case in cases[:5])} and others"
        )
    return found


def _run(cases: "list[Case]", jobs: int, sensitivity: bool) -> "list[Run]":
    from benchmarks.motion.runs import run_cases

    with show_progress("filtering") as bar:
        return run_cases(cases, jobs, sensitivity, bar.tell)


def _use_record(
    path: Path,
    parts: tuple[tuple[str, ...], tuple[str, ...]],
    cases: "list[Case]",
    how: tuple[int, bool],
    facts: dict[str, Any],
) -> bool:
    """Freeze and check parts of the record; return whether a comparison fails."""
    from benchmarks.motion import gate
    from benchmarks.motion.frozen import freeze_answers, freeze_scenes, freeze_streams
    from benchmarks.motion.record import load_record, part_to_runs, replace_part, runs_to_part

    freeze, check = parts
    makers = {
        "inverse_dynamics": freeze_answers,
        "scenes": freeze_scenes,
        "streams": freeze_streams,
    }
    checks = {
        "inverse_dynamics": gate.check_answers,
        "scenes": gate.check_scenes,
        "streams": gate.check_streams,
    }
    record, failed = load_record(path), False
    absent = [part for part in check if part not in record and part not in freeze]
    if absent:
        raise HumanoidDynamicsError(
            f"--check: {path} has no part {absent[0]!r}; --freeze {absent[0]} makes it"
        )
    facts["gate"] = {}
    for part in dict.fromkeys((*freeze, *check)):
        if part == "clips":
            runs = _run(cases, *how)
            made: Any = runs_to_part(runs)
            facts["runs"] = made
            result = gate.check_clips(part_to_runs(record[part]), runs) if part in check else None
        else:
            with show_progress(part) as bar:
                made = makers[part](bar.tell)
            result = checks[part](record[part], made) if part in check else None
        if result is not None:
            facts["gate"][part] = _gate_facts(result)
            failed = failed or bool(result.failures)
        if part in freeze:
            replace_part(part, made, path)
    return failed


def _gate_facts(result: "GateResult") -> dict[str, Any]:
    return {
        "ok": not result.failures,
        "checked": result.checked,
        "failures": result.failures,
        "notices": result.notices,
    }


def _judge(cases: "list[Case]", seeds: int, policy: Path | None) -> dict[str, Any]:
    from benchmarks.motion.judging import judge_cases

    with show_progress("referees") as bar:
        rulings, left_out = judge_cases(cases, seeds, policy, bar.tell)
    return {
        "referees": [
            asdict(ruling) | {"sign_test": asdict(ruling.compare())} for ruling in rulings
        ],
        "left_out": left_out,
    }


def _run_controls(cases: "list[Case]") -> dict[str, list[str]]:
    from benchmarks.motion.controls import run_controls

    walks = [case for case in cases if case.kind == "walk"] or cases
    return {name: list(broken) for name, broken in run_controls(walks[0].load()[1]).items()}


def _print(facts: dict[str, Any]) -> None:
    from benchmarks.motion.runs import Run
    from benchmarks.motion.table import CASE_COLUMNS, CLASS_COLUMNS, case_rows, class_rows

    console = make_console()
    if facts.get("runs"):
        runs = [Run(**run) for run in facts["runs"]]
        print_table(console, "clips", CASE_COLUMNS, case_rows(runs))
        console.print()
        print_table(console, "classes", CLASS_COLUMNS, class_rows(runs))
    for ruling in facts.get("referees", ()):
        rows = [
            (name, f"{raw:.3f}", f"{ruling['filtered'][name]:.3f}")
            for name, raw in ruling["raw"].items()
        ]
        print_table(
            console, f"{ruling['referee']}: {ruling['unit']}", ("clip", "raw", "filtered"), rows
        )
        test = ruling["sign_test"]
        console.print(
            f"filtered better on {test['better']}, worse on {test['worse']}, sign test p = {test['p_value']:.3g}"
        )
    for reason in facts.get("left_out", ()):
        console.print(f"left out: {reason}", style="yellow", markup=False)
    for name, broken in facts.get("controls", {}).items():
        console.print(
            f"control {name}: {'preserved' if not broken else 'broken ' + ', '.join(broken)}",
            markup=False,
        )
    for part, result in facts.get("gate", {}).items():
        console.print(
            f"{part}: {'pass' if result['ok'] else 'FAIL'}, {result['checked']} comparisons",
            markup=False,
        )
        for line in result["failures"]:
            console.print(f"  FAIL {line}", style="red", markup=False)
        for line in result["notices"]:
            console.print(f"  note {line}", style="yellow", markup=False)
