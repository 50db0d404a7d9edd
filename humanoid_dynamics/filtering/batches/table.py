"""The one table of a batch: a row per clip, with its verdict or the reason it has none."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from humanoid_dynamics.filtering.batches.task import Facts, Outcome

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
    "microseconds",
    "delay",
)
COLUMNS = (
    *("name", "clip", "state", "problem", "seconds", "fell", "impossible_before", "false_alarms", "attempt"),
    *FIGURES,
    *("rungs", "notices", "done_before", "workers"),
)
STATES = ("finished", "fell", "failed")


def name_state(outcome: Outcome) -> str:
    """Return what became of a clip in one word.

    Args:
        outcome: What became of it.

    Returns:
        ``finished``; ``fell`` where the robot did not stay on its feet; ``failed`` where there is no result.
    """
    if outcome.problem:
        return "failed"
    return "finished" if outcome.facts["after"]["finished"] else "fell"


def tell_outcome(outcome: Outcome) -> Facts:
    """Tell what became of a clip in plain data, ready for JSON.

    Args:
        outcome: What became of it.

    Returns:
        What its job told, with its name, its state, why it failed, whether it had been done before, and how many workers it took.
    """
    told = {"name": outcome.task.name, "clip": str(outcome.task.clip), "state": name_state(outcome), "problem": outcome.problem}
    return {**outcome.facts, **told, "done_before": outcome.before, "workers": outcome.tries}


def build_row(outcome: Outcome) -> dict[str, Any]:
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
    row |= {name: after.get(name) for name in (*FIGURES, "fell")}
    row |= {"impossible_before": told["before"]["impossible"], "false_alarms": told["false_alarms"]["impossible"]}
    row |= {"rungs": " ".join(f"{name}:{count}" for name, count in after["rungs"].items()), "notices": "; ".join(after["notices"])}
    return {column: "" if value is None else value for column, value in row.items()}


def write_table(outcomes: Sequence[Outcome], path: Path) -> None:
    """Write the table of a batch as CSV, in full precision.

    Args:
        outcomes: What became of each clip.
        path: The file.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(build_row(outcome) for outcome in outcomes)
