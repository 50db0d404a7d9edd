# SPDX-License-Identifier: Apache-2.0
"""The one table of a batch: a row per clip, with its report or the reason it has none."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from humanoid_dynamics.filtering.batches.task import ClipOutcome, Facts
from humanoid_dynamics.filtering.preservation import PreservationMeasures

FIGURES = (
    "frames",
    "residual",
    "cop",
    "friction",
    "torque",
    "joints",
    "all_limits",
    "worst_torque",
    "cop_margin",
    "worst_friction",
    "joint_margin",
    "joint_rms",
    "joint_max",
    "com_rms",
    "base_max",
    "slip",
    "stride",
    "rolled",
    "flight_replaced",
    "flown",
    "torque_saturated",
    "sole_rim",
    "torque_step",
    "jerk",
    "microseconds",
    "delay",
)
MEASURES = tuple(field.name for field in fields(PreservationMeasures) if field.name not in FIGURES)
COLUMNS = (
    *("name", "clip", "state", "problem", "seconds", "preserved", "finished", "broken", "fell"),
    *("impossible_before", "false_alarms", "attempt"),
    *FIGURES,
    *MEASURES,
    *("rungs", "notices", "done_before", "workers"),
)
STATES = ("preserved", "finished", "not_followed", "fell", "failed")


def name_state(outcome: ClipOutcome) -> str:
    """Return what became of a clip in one word.

    Args:
        outcome: What became of it.

    Returns:
        ``preserved``; ``finished`` where too much of the reference is lost for that; ``not_followed`` where it is lost for the most part;
        ``fell`` where the robot did not stay on its feet; ``failed`` where there is no result.
    """
    if outcome.problem:
        return "failed"
    after = outcome.facts["after"]
    if after["fell"] is not None:
        return "fell"
    if not after["finished"]:
        return "not_followed"
    return "preserved" if after["preserved"] else "finished"


def tell_outcome(outcome: ClipOutcome) -> Facts:
    """Tell what became of a clip in plain data, ready for JSON.

    Args:
        outcome: What became of it.

    Returns:
        What its job told, with its name, its state, why it failed, whether it had been done before, and how many workers it took.
    """
    told = {
        "name": outcome.task.name,
        "clip": str(outcome.task.clip),
        "state": name_state(outcome),
        "problem": outcome.problem,
    }
    return {**outcome.facts, **told, "done_before": outcome.before, "workers": outcome.tries}


def build_row(outcome: ClipOutcome) -> dict[str, Any]:
    """Return the row of a clip.

    Args:
        outcome: What became of it.

    Returns:
        A value for each of ``COLUMNS``; empty where there is none.
    """
    told = tell_outcome(outcome)
    row = {column: told.get(column, "") for column in COLUMNS}
    if outcome.problem:
        return {**row, "false_alarms": ""}
    after = told["after"]
    measures = after["measures"] or {}
    row |= {name: after.get(name) for name in (*FIGURES, "preserved", "finished", "fell")}
    row |= {name: measures.get(name) for name in MEASURES} | {"broken": " ".join(after["broken"])}
    row |= {
        "impossible_before": told["before"]["impossible"],
        "false_alarms": told["false_alarms"]["impossible"],
    }
    row |= {
        "rungs": " ".join(f"{name}:{count}" for name, count in after["rungs"].items()),
        "notices": "; ".join(after["notices"]),
    }
    return {column: "" if value is None else value for column, value in row.items()}


def write_table(outcomes: Sequence[ClipOutcome], path: Path) -> None:
    """Write the table of a batch as CSV, in full precision.

    Args:
        outcomes: What became of each clip.
        path: The file.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(build_row(outcome) for outcome in outcomes)
