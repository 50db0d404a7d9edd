# SPDX-License-Identifier: Apache-2.0
"""``humanoid-dynamics experiment``: the comparisons the papers make, made again."""

# No postponed annotations here: older typer, such as Ubuntu 24.04's, finds no options in them.

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from humanoid_dynamics.cli.experiments import (
    EXPERIMENTS,
    Effort,
    Outcome,
    find_experiment,
    outcome_facts,
    write_sheets,
)
from humanoid_dynamics.cli.options import JsonOption
from humanoid_dynamics.cli.progress import show_progress
from humanoid_dynamics.cli.tables import make_console, print_table
from humanoid_dynamics.errors import HumanoidDynamicsError, MissingExtraError

LONGEST = 600.0
NameArgument = Annotated[
    str,
    typer.Argument(
        help="; ".join(f"{name}: {text}" for name, text in EXPERIMENTS.items()) + ".",
        metavar="NAME",
    ),
]
OutOption = Annotated[
    str, typer.Option("--out", help="Write tables (CSV, Markdown) and pictures into this folder.")
]
SecondsOption = Annotated[
    float, typer.Option("--time-per-size", help="Duration of the timing of each size [s].")
]
EXAMPLES = """\b
Examples:
  humanoid-dynamics experiment snake
  humanoid-dynamics experiment snake --out snake --time-per-size 1
  humanoid-dynamics experiment snake --json
  humanoid-dynamics experiment filter-kick --out kick
"""


def experiment(
    name: NameArgument,
    out: OutOption = "",
    seconds_per_n: SecondsOption = 0.3,
    as_json: JsonOption = False,
) -> None:
    """Repeat the comparisons of a paper and print its figures beside those measured here."""
    if not 0.0 < seconds_per_n <= LONGEST:
        raise HumanoidDynamicsError(
            f"--time-per-size: received {seconds_per_n:g}, expected a time above zero and up to {LONGEST:g} s"
        )
    if out and Path(out).exists() and not Path(out).is_dir():
        raise HumanoidDynamicsError(f"--out: received {out!r}, which is a file, expected a folder")
    run = find_experiment(name)
    with show_progress(f"experiment {name}") as bar:
        outcome = run(Effort(seconds_per_n, bar.tell))
    files, missing = _keep(name, outcome, out)
    if as_json:
        typer.echo(
            json.dumps(
                {**outcome_facts(name, outcome), "files": files, "missing": missing},
                indent=2,
                allow_nan=False,
            )
        )
    else:
        _print(outcome, make_console())
        typer.echo("".join(f"wrote {file}\n" for file in files), nl=False)
    if missing:
        typer.echo(f"no pictures: {missing}", err=True)


def _keep(name: str, outcome: Outcome, out: str) -> tuple[list[str], str]:
    """Write what is to be kept; return the files, and why there are no pictures where there are none."""
    if not out:
        return [], ""
    try:
        files, missing = write_sheets(name, outcome, Path(out)), ""
        try:
            files += outcome.draw(Path(out))
        except MissingExtraError as refusal:
            missing = str(refusal)
    except OSError as cause:
        raise HumanoidDynamicsError(f"--out: {cause}") from cause
    return [str(file) for file in files], missing


def _print(outcome: Outcome, console: Console) -> None:
    console.print(f"[bold]{outcome.title}[/]", highlight=False)
    for sheet in outcome.sheets:
        console.print()
        columns = [column.replace("[", r"\[") for column in sheet.heads or sheet.columns]
        print_table(console, sheet.title.replace("[", r"\["), columns, sheet.texts())
        for note in sheet.notes:
            console.print(note, markup=False)
