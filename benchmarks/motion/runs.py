# SPDX-License-Identifier: Apache-2.0
"""Runs of the filter: each case as it is and under five perturbations, in processes side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

from benchmarks.motion.cases import Case
from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.filtering.clip_filter import LADDER, filter_clip
from humanoid_dynamics.filtering.sensitivity import Perturbation, perturbations
from humanoid_dynamics.program import use_one_blas_thread

NOMINAL = "nominal"
ENOUGH = 4  # preserved runs of five perturbed ones


@dataclass(frozen=True)
class Run:
    """One run of one case.

    Attributes:
        case: Name of the case.
        kind: Class of the case.
        variant: ``nominal`` or the name of a perturbation.
        report: The clip report as plain data; empty where the clip was refused.
        refused: Why it was refused; empty where it was not.
    """

    case: str
    kind: str
    variant: str
    report: dict[str, Any]
    refused: str = ""

    @property
    def finished(self) -> bool:
        """Whether the robot stayed on its feet and the motion was followed."""
        return bool(self.report.get("finished", False))

    @property
    def preserved(self) -> bool:
        """Whether the run is preserved."""
        return bool(self.report.get("preserved", False))

    @property
    def stride(self) -> float | None:
        """Share of the stride that is kept; zero of a run that did not finish, None where the reference makes no strides."""
        value = (self.report.get("measures") or {}).get("stride")
        if not self.finished:
            return 0.0
        return None if value is None else float(value)

    @property
    def all_limits(self) -> float | None:
        """Share of frames inside all limits; None where limits are not judged."""
        value = self.report.get("all_limits")
        return None if value is None else float(value)


def run_case(case: Case, sensitivity: bool = True, seed: int = 0) -> list[Run]:
    """Filter a case at the first attempt, nominal and perturbed.

    Args:
        case: The case.
        sensitivity: Whether perturbed runs are made.
        seed: Seed of the perturbations.
    """
    try:
        robot, clip = case.load()
    except HumanoidDynamicsError as cause:
        return [Run(case.name, case.kind, NOMINAL, {}, str(cause))]
    variants = [Perturbation(NOMINAL, clip, robot)]
    if sensitivity:
        variants += perturbations(clip, robot, seed)
    runs = []
    for name, other, body in variants:
        try:
            found: Any = filter_clip(body, other, ladder=LADDER[:1])
            report = found.report.to_dict()
        except HumanoidDynamicsError as cause:
            runs.append(Run(case.name, case.kind, name, {}, str(cause)))
        else:
            runs.append(Run(case.name, case.kind, name, report))
    return runs


def run_cases(
    cases: Sequence[Case],
    jobs: int,
    sensitivity: bool = True,
    progress: Callable[[float], object] | None = None,
) -> list[Run]:
    """Run cases in processes side by side.

    Args:
        cases: The cases.
        jobs: Processes.
        sensitivity: Whether perturbed runs are made.
        progress: Called with the share of the cases that is done.

    Returns:
        All runs, in the order of the cases.
    """
    found: dict[int, list[Run]] = {}
    with ProcessPoolExecutor(jobs, get_context("spawn"), use_one_blas_thread) as pool:
        waiting = {
            pool.submit(run_case, case, sensitivity): number for number, case in enumerate(cases)
        }
        for done in as_completed(waiting):
            found[waiting[done]] = done.result()
            if progress is not None:
                progress(len(found) / len(cases))
    return [run for number in range(len(cases)) for run in found[number]]


def is_preserved(runs: Sequence[Run]) -> bool:
    """Return whether a clip is preserved: its nominal run is, and four of its five perturbed runs where they were made."""
    nominal = [run for run in runs if run.variant == NOMINAL]
    perturbed = [run for run in runs if run.variant != NOMINAL]
    return (
        bool(nominal)
        and all(run.preserved for run in nominal)
        and (not perturbed or sum(run.preserved for run in perturbed) >= ENOUGH)
    )
