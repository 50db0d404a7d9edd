# SPDX-License-Identifier: Apache-2.0
"""Raw against filtered: every referee on every case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.motion.cases import Case
from benchmarks.motion.referees import (
    Comparison,
    Conditions,
    compare_pairs,
    draw_conditions,
    score_tick,
    score_virtual_wrench,
)
from benchmarks.motion.tracker import Tracker
from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.filtering.clip_filter import LADDER, filter_clip
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.clip import Clip

Score = Callable[[RobotModel, Clip, Sequence[Conditions]], list[float]]


@dataclass
class Ruling:
    """Scores of one referee.

    Attributes:
        referee: Its name.
        unit: What a score is.
        lower_is_better: Sense of the scores.
        raw: Mean score of each case, before the filter.
        filtered: The same after the filter.
    """

    referee: str
    unit: str
    lower_is_better: bool
    raw: dict[str, float] = field(default_factory=dict)
    filtered: dict[str, float] = field(default_factory=dict)

    def compare(self) -> Comparison:
        """Return the paired sign test over cases."""
        return compare_pairs(
            list(self.raw.values()),
            list(self.filtered.values()),
            lower_is_better=self.lower_is_better,
        )


def judge_cases(
    cases: Sequence[Case],
    seeds: int,
    policy: Path | None = None,
    progress: Callable[[float], object] | None = None,
) -> tuple[list[Ruling], list[str]]:
    """Let the referees judge cases.

    Args:
        cases: The cases.
        seeds: Paired seeds of mass, friction and noise.
        policy: ONNX file of a learned tracker.
        progress: Called with the share that is done.

    Returns:
        Rulings, and the reasons for which cases were left out.
    """
    rulings = [
        Ruling("virtual wrench", "weights", True),
        Ruling("measured-state tick (ours)", "share of time up", False),
    ]
    scores: list[Score] = [score_virtual_wrench, score_tick]
    if policy is not None:
        rulings.append(Ruling(f"policy {policy.name}", "share of time up", False))
        scores.append(
            lambda robot, clip, conditions: [
                run.share for run in Tracker(policy, robot).track(clip, conditions)
            ]
        )
    conditions, left_out = [draw_conditions(seed) for seed in range(seeds)], []
    for number, case in enumerate(cases):
        try:
            robot, clip = case.load()
            found = filter_clip(robot, clip, ladder=LADDER[:1])
            for ruling, score in zip(rulings, scores, strict=True):
                before, after = score(robot, clip, conditions), score(robot, found.clip, conditions)
                ruling.raw[case.name], ruling.filtered[case.name] = (
                    float(np.mean(before)),
                    float(np.mean(after)),
                )
        except HumanoidDynamicsError as cause:
            left_out.append(f"{case.name}: {cause}")
        if progress is not None:
            progress((number + 1) / len(cases))
    return rulings, left_out
