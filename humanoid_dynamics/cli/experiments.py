# SPDX-License-Identifier: Apache-2.0
"""What every experiment of a paper gives: sheets of numbers, sentences that read them, pictures."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from humanoid_dynamics.errors import UnknownNameError

EXPERIMENTS: Mapping[str, str] = MappingProxyType(
    {
        "snake": "Kane's equations of a snake robot beside Lagrange's and Newton-Euler's",
        "filter-walk": "the dynamics filter on a walk",
        "filter-kick": "a kick from one foot",
        "filter-slope": "the walk for level ground on slopes",
        "filter-turn": "a turn made from two headings",
        "filter-push": "pushes while standing",
        "filter-squat": "a squat",
        "filter-rope": "a pull-up on two ropes",
    }
)
"""Names and what they compare; the experiment NAME is the function ``run`` of the module ``experiment_NAME`` beside this one, and
FAMILY-PART is what ``find_part`` of the module ``experiment_FAMILY`` returns for PART."""

Cell: TypeAlias = str | int | float | None


@dataclass(frozen=True)
class Sheet:
    """A table of an experiment.

    Attributes:
        name: Name of its file.
        title: What it shows.
        columns: Heads, with units.
        rows: Cells; None where there is no number.
        notes: Sentences that say how to read it.
        heads: Short heads for a terminal, where those with units are too wide for it; empty for the same.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()

    def texts(self) -> list[tuple[str, ...]]:
        """Return the cells as they are printed: whole numbers whole, others with four digits."""
        return [tuple(_write(cell) for cell in row) for row in self.rows]


@dataclass(frozen=True)
class Outcome:
    """What an experiment gave.

    Attributes:
        title: What was compared.
        sheets: Its tables.
        draw: Draws its pictures into a folder and returns their files.
        facts: More than the tables say, ready for JSON.
    """

    title: str
    sheets: tuple[Sheet, ...]
    draw: Callable[[Path], Sequence[Path]]
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Effort:
    """How much work an experiment may take.

    Attributes:
        seconds_per_n: Time spent on timing each size [s].
        watch: Called with the part that is done, 0 to 1.
    """

    seconds_per_n: float
    watch: Callable[[float], None]


def find_experiment(name: str) -> Callable[[Effort], Outcome]:
    """Return an experiment; only its own code is imported.

    Args:
        name: One of ``EXPERIMENTS``.

    Returns:
        The function that makes it.

    Raises:
        UnknownNameError: If there is none of this name.
    """
    if name not in EXPERIMENTS:
        raise UnknownNameError("experiment", name, EXPERIMENTS)
    family, _, part = name.partition("-")
    module = import_module(f"humanoid_dynamics.cli.experiment_{family}")
    found: Callable[[Effort], Outcome] = module.find_part(part) if part else module.run
    return found


def outcome_facts(name: str, outcome: Outcome) -> dict[str, Any]:
    """Tell an outcome in plain data, ready for JSON."""
    sheets = {
        sheet.name: {
            "title": sheet.title,
            "rows": [dict(zip(sheet.columns, row, strict=True)) for row in sheet.rows],
            "notes": list(sheet.notes),
        }
        for sheet in outcome.sheets
    }
    return {"experiment": name, "title": outcome.title, "sheets": sheets, **outcome.facts}


def write_sheets(name: str, outcome: Outcome, folder: Path) -> list[Path]:
    """Write every sheet as CSV, in full precision, and all of them as one page of Markdown.

    Args:
        name: Name of the experiment, with which all files begin.
        outcome: What it gave.
        folder: Where to; made where it is missing.

    Returns:
        The files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    page, files = [f"# {outcome.title}\n"], []
    for sheet in outcome.sheets:
        path = folder / f"{name}_{sheet.name}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(
                [
                    sheet.columns,
                    *(["" if cell is None else cell for cell in row] for row in sheet.rows),
                ]
            )
        files.append(path)
        lines = (sheet.columns, ("---",) * len(sheet.columns), *sheet.texts())
        page += [
            f"\n## {sheet.title}\n\n",
            *(f"| {' | '.join(line)} |\n" for line in lines),
            *(f"\n{note}\n" for note in sheet.notes),
        ]
    files.append(folder / f"{name}.md")
    files[-1].write_text("".join(page), encoding="utf-8")
    return files


def _write(cell: Cell) -> str:
    if cell is None:
        return ""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
