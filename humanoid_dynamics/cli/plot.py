# SPDX-License-Identifier: Apache-2.0
"""``humanoid-dynamics plot``: the usual figures of a record."""

# No postponed annotations here: older typer, such as Ubuntu 24.04's, finds no options in them.

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from humanoid_dynamics.cli.names import SHEETS
from humanoid_dynamics.cli.options import JsonOption
from humanoid_dynamics.cli.progress import show_progress
from humanoid_dynamics.cli.tables import make_console, print_table
from humanoid_dynamics.errors import HumanoidDynamicsError

if TYPE_CHECKING:
    from humanoid_dynamics.plotting.panels import Sheet
    from humanoid_dynamics.series.record import Record


RecordArgument = Annotated[
    str,
    typer.Argument(
        help="Record written by simulate: a .npz or .mcap file, or a bag folder.", metavar="RECORD"
    ),
]
OutOption = Annotated[
    str,
    typer.Option(
        "--out",
        help="PNG with all figures; next to the record if neither --out nor --dir is given.",
    ),
]
DirOption = Annotated[str, typer.Option("--dir", help="Folder for one PNG per figure.")]
WhatOption = Annotated[
    str,
    typer.Option("--what", help=f"Comma-separated figures: {','.join(SHEETS)}; all by default."),
]
READ, PREPARED = 0.4, 0.6  # share of the work
EXAMPLES = """\b
Examples:
  humanoid-dynamics simulate pushed --record pushed.mcap
  humanoid-dynamics plot pushed.mcap
  humanoid-dynamics plot pushed.mcap --what forces,cop --dir figures
  humanoid-dynamics plot pushed.mcap --what energy --json
"""


def plot(
    record: RecordArgument,
    out: OutOption = "",
    folder: DirOption = "",
    what: WhatOption = "",
    as_json: JsonOption = False,
) -> None:
    """Plot joints, torques, contact forces, centres of pressure, energy and wheels of a record."""
    import numpy as np

    from humanoid_dynamics.plotting.curves import build_sheet, list_sheets
    from humanoid_dynamics.series.files import load_record

    if out and folder:
        raise HumanoidDynamicsError("--out and --dir: received both, expected one of them")
    if out and not out.endswith(".png"):
        raise HumanoidDynamicsError(f"--out: received {out!r}, expected the path of a png file")
    path = Path(record)
    if not (out or folder or as_json):
        out = str(path.with_suffix(".png"))
    with show_progress("reading and drawing") as bar:
        loaded = load_record(path)
        bar.tell(READ)
        names = [name.strip() for name in what.split(",") if name.strip()] or list(
            list_sheets(loaded)
        )
        sheets = [build_sheet(loaded, name) for name in names]
        numbers: dict[str, Any] = {sheet.name: sheet.numbers() for sheet in sheets}
        bar.tell(PREPARED)
        written = _draw(loaded, sheets, out, folder) if out or folder else []
    facts = {
        "record": record,
        "seconds": float(np.ptp(loaded.t)) if len(loaded) else 0.0,
        "samples": len(loaded),
        "files": written,
    }
    if as_json:
        typer.echo(json.dumps({**facts, "figures": numbers}, indent=2, allow_nan=False))
    else:
        _print(facts, numbers)


def _draw(record: "Record", sheets: "list[Sheet]", out: str, folder: str) -> list[str]:
    from humanoid_dynamics.plotting.sheets import draw_sheets

    title = ": ".join(filter(None, (record.about.get("scene", ""), record.about.get("title", ""))))
    if out:
        draw_sheets(sheets, title, Path(out))
        return [out]
    for sheet in sheets:
        draw_sheets([sheet], title, Path(folder) / f"{sheet.name}.png")
    return [str(Path(folder) / f"{sheet.name}.png") for sheet in sheets]


def _print(facts: dict[str, Any], numbers: dict[str, Any]) -> None:
    console = make_console()
    console.print(f"{facts['samples']} samples in {facts['seconds']:.3f} s", highlight=False)
    for name, panels in numbers.items():
        rows = [
            (
                escape(_tell(panel, curve)),
                *(_cell(entry[key]) for key in ("min", "max", "final")),
                entry["unit"],
            )
            for panel, curves in panels.items()
            for curve, entry in curves.items()
        ]
        console.print()
        print_table(console, name, ("", "smallest", "largest", "at the end", "unit"), rows)
    console.print()
    for path in facts["files"]:
        console.print(f"drawn: {path}", markup=False, highlight=False, soft_wrap=True)


def _tell(panel: str, curve: str) -> str:
    return curve if panel.replace(" ", "_") in curve else f"{panel}: {curve}"


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
