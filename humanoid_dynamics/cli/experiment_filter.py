# SPDX-License-Identifier: Apache-2.0
"""The experiments ``filter-...``: the dynamics filter of the paper at work [DF, sec. 5]."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from humanoid_dynamics.cli.experiments import Cell, Effort, Outcome, Sheet
from humanoid_dynamics.filtering.experiments.experiments import EXPERIMENTS, FilterExperiment
from humanoid_dynamics.filtering.experiments.run import summarise
from humanoid_dynamics.model.load import load_robot

ROBOT = "human28"
COLUMNS = (
    ("finished", "finished"),
    ("seconds", "seconds"),
    ("joint_rms_deg", "joint error [deg]"),
    ("base_error_end", "base at the end [m]"),
    ("residual_worst_share_of_weight", "motion residual [weights]"),
    ("cop_ok", "CoP inside [share]"),
    ("friction_ok", "friction kept [share]"),
    ("torque_ok", "torque kept [share]"),
    ("solves_worst", "solves"),
    ("lag_frames", "lag [frames]"),
    ("milliseconds_per_frame", "time [ms]"),
)


def run(name: str, effort: Effort) -> Outcome:
    """Make an experiment.

    Args:
        name: One of those of the library.
        effort: How much work it may take.

    Returns:
        Its tables and its picture.
    """
    data = EXPERIMENTS[name](load_robot(ROBOT), effort.watch)

    def draw(folder: Path) -> list[Path]:
        from humanoid_dynamics.plotting.filter import draw_experiment

        return draw_experiment(data, folder)

    return Outcome(
        f"dynamics filter of the paper: {data.title} [DF, sec. 5]",
        (_run_sheet(data), _check_sheet(data)),
        draw,
    )


def find_part(name: str) -> Callable[[Effort], Outcome]:
    """Return the experiment of that name.

    Args:
        name: One of those of the library.

    Returns:
        The function that makes it.
    """
    return partial(run, name)


def _run_sheet(data: FilterExperiment) -> Sheet:
    rows = []
    for name, record in data.runs.items():
        facts = summarise(record)
        rows.append((name, *(_cell(facts[key]) for key, _ in COLUMNS)))
    notes = ("Friction and torque limits are reported by the filter of the paper, not kept.",)
    return Sheet(
        "runs", f"runs of {ROBOT}", ("run", *(head for _, head in COLUMNS)), tuple(rows), notes
    )


def _check_sheet(data: FilterExperiment) -> Sheet:
    rows = tuple(
        (
            c.run,
            c.what,
            c.value if abs(c.value) < 1e9 else None,
            f"{c.sense} {c.bound:g}",
            "yes" if c.passed else "NO",
        )
        for c in data.checks
    )
    return Sheet("bounds", "what must hold", ("run", "quantity", "value", "bound", "kept"), rows)


def _cell(value: object) -> Cell:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str | int | float) else None
