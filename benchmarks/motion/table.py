# SPDX-License-Identifier: Apache-2.0
"""Tables of the motion benchmark, per class and per case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

import numpy as np

from benchmarks.motion.cases import CLASSES, OTHER
from benchmarks.motion.runs import NOMINAL, Run, is_preserved

CLASS_COLUMNS = (
    "class",
    "clips",
    "finished",
    "preserved (nominal)",
    "preserved",
    "stride",
    "path",
    "flight",
    "contact F1",
    "joint RMS",
    "limits kept",
)
CASE_COLUMNS = (
    "clip",
    "class",
    "runs finished",
    "runs preserved",
    "worst run",
    "stride",
    "path",
    "F1",
    "joint RMS",
    "broken (nominal)",
)


def group_runs(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """Return runs by case."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.case, []).append(run)
    return groups


def class_rows(runs: Sequence[Run]) -> list[tuple[str, ...]]:
    """Return a row for each class that occurs, and one for all: medians are those of nominal runs."""
    groups = group_runs(runs)
    kinds = [kind for kind in (*CLASSES, OTHER) if any(run.kind == kind for run in runs)]
    rows = [
        _class_row(kind, [group for group in groups.values() if group[0].kind == kind])
        for kind in kinds
    ]
    return [*rows, _class_row("all", list(groups.values()))]


def case_rows(runs: Sequence[Run]) -> list[tuple[str, ...]]:
    """Return a row for each case."""
    return [_case_row(name, group) for name, group in group_runs(runs).items()]


def _class_row(kind: str, groups: Sequence[Sequence[Run]]) -> tuple[str, ...]:
    nominal = [run for group in groups for run in group if run.variant == NOMINAL]
    runs = [run for group in groups for run in group]
    limits = [run.all_limits for run in runs if run.all_limits is not None]
    return (
        kind,
        str(len(groups)),
        f"{sum(run.finished for run in runs)} of {len(runs)} runs",
        str(sum(run.preserved for run in nominal)),
        str(sum(is_preserved(group) for group in groups)),
        _middle(run.stride for run in nominal),
        *(
            _middle(measure(run, name) for run in nominal)
            for name in ("path", "flight", "contact_f1")
        ),
        _degrees(measure(run, "joint_rms") for run in nominal),
        f"{100.0 * min(limits):.4g} %" if limits else "-",
    )


def _case_row(name: str, group: Sequence[Run]) -> tuple[str, ...]:
    nominal = next(run for run in group if run.variant == NOMINAL)
    worst = min(
        group, key=lambda run: (run.preserved, run.finished, -len(run.report.get("broken", ())))
    )
    return (
        name,
        nominal.kind,
        f"{sum(run.finished for run in group)}/{len(group)}",
        f"{sum(run.preserved for run in group)}/{len(group)}",
        "-" if worst.preserved else worst.variant,
        _middle([nominal.stride]),
        *(_middle([measure(nominal, key)]) for key in ("path", "contact_f1")),
        _degrees([measure(nominal, "joint_rms")]),
        nominal.refused[:60] if nominal.refused else ", ".join(nominal.report.get("broken", ())),
    )


def measure(run: Run, name: str) -> float | None:
    """Return a measure of a run; None where it does not apply or the clip was refused."""
    value: Any = (run.report.get("measures") or {}).get(name)
    return None if value is None else float(value)


def _middle(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None and np.isfinite(value)]
    return f"{median(known):.2f}" if known else "-"


def _degrees(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None and np.isfinite(value)]
    return f"{np.rad2deg(median(known)):.1f}°" if known else "-"
