# SPDX-License-Identifier: Apache-2.0
"""Clean a data set: score each clip, filter it, score it again and write it in the format of a trainer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_dynamics.filtering.batches.clips import BatchClip
from humanoid_dynamics.filtering.batches.job import FilterJob
from humanoid_dynamics.filtering.batches.key import fingerprint
from humanoid_dynamics.filtering.batches.parts import PIECES, Part
from humanoid_dynamics.filtering.batches.task import ClipOutcome, Facts
from humanoid_dynamics.filtering.clip_feed import SAME
from humanoid_dynamics.filtering.clip_filter import FilteredClip, reference_instants
from humanoid_dynamics.filtering.feasibility import SCALES, score_certificates, score_frames
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.save import find_writable_format, save_clip
from humanoid_dynamics.spatial.arrays import Vector

COLUMNS = (  # of the table
    *("clip", "file", "state", "problem", "rank"),
    *("feasibility_before", "worst_before", "feasibility_after", "worst_after"),
    *("impossible_before", "false_alarms", "seconds", "verdict", "notices"),
)
FORMAT = 1  # of the entries beside a motion; results of another one are made anew
VERDICT = ("preserved", "finished", "headline", "fell", "all_limits", "followed")


@dataclass(frozen=True)
class CleanJob:
    """How each clip of a data set is cleaned; plain data, which goes to a worker.

    Attributes:
        job: How it is read and filtered.
        to: Format of the results, see ``save_clip``.
        rate: Samples per second of the results [Hz]; those that are usual for the format where None.
        longest: Longest clip that stays whole [s]; zero for any.
    """

    job: FilterJob
    to: str
    rate: float | None = None
    longest: float = PIECES.longest

    @property
    def ending(self) -> str:
        """Ending of the results."""
        return find_writable_format(self.to).ending

    @property
    def name(self) -> str:
        """Name of the robot."""
        return self.job.name

    @property
    def key(self) -> str:
        """Fingerprint of the robot and of all settings."""
        return fingerprint((self.job.key, self.to, self.rate, FORMAT))

    def select(self, part: Part) -> CleanJob:
        """Return the job for a part of a file.

        Args:
            part: The part.
        """
        return replace(self, job=self.job.select(part))

    def split(self, clip: BatchClip) -> tuple[BatchClip, ...]:
        """Return the parts of a file as clips of their own.

        Args:
            clip: The file.
        """
        return self.job.split(clip, self.longest)

    def __call__(self, clip: Path, out: Path | None) -> Facts:
        """Clean one clip.

        Args:
            clip: The clip.
            out: Where the result is written, or None.

        Returns:
            What is true of it, see ``clip_facts``, and its feasibility before and after.
        """
        motion, found = self.job.filter(clip)
        cleaned, after = crop_to_reference(motion, found)
        before = score_frames(motion)
        facts = self.job.tell(clip, motion, found)
        facts["feasibility"] = {"before": summarise(before), "after": summarise(after)}
        if out is not None:
            verdict = {name: facts["after"][name] for name in VERDICT if name in facts["after"]}
            verdict["feasibility"] = facts["feasibility"]
            cleaned = cleaned.change(origin=str(clip))
            save_clip(
                cleaned,
                out,
                self.to,
                fps=self.rate,
                feasibility=after,
                verdict=json.dumps(verdict, allow_nan=False),
            )
        return facts


def crop_to_reference(motion: Clip, found: FilteredClip) -> tuple[Clip, Vector]:
    """Return a filtered clip without the hold before and after it, and the feasibility of its frames.

    Args:
        motion: The clip before the filter.
        found: The clip after the filter.
    """
    instants = reference_instants(motion, found.frames)
    first, last = motion.times[0], motion.times[0] + found.attempt.slower * motion.duration
    kept = (instants >= first - SAME) & (instants <= last + SAME)
    kept = kept if np.count_nonzero(kept) > 1 else np.ones(len(kept), dtype=bool)
    clip = found.clip
    times = clip.times[kept]
    cropped = clip.change(
        times=times - times[0],
        q=clip.q[kept],
        v=None if clip.v is None else clip.v[kept],
        a=None if clip.a is None else clip.a[kept],
        contacts={name: labels[kept] for name, labels in clip.contacts.items()},
    )
    return cropped, score_certificates([frame.certificate for frame in found.frames])[kept]


def summarise(scores: Vector) -> dict[str, float]:
    """Return mean and worst of the feasibility of frames: the worst is a low quantile.

    Args:
        scores: (n,) scores.
    """
    return {"mean": float(np.mean(scores)), "worst": float(np.quantile(scores, SCALES.worst))}


def rank_clips(outcomes: Sequence[ClipOutcome]) -> dict[str, int]:
    """Return the rank of each clip by the mean feasibility of its raw motion, 1 for the most feasible.

    Args:
        outcomes: What became of each clip; clips without a result have no rank.
    """
    scores = {
        outcome.task.name: float(outcome.facts["feasibility"]["before"]["mean"])
        for outcome in outcomes
        if not outcome.problem
    }
    ordered = sorted(scores, key=lambda name: (-scores[name], name))
    return {name: rank for rank, name in enumerate(ordered, start=1)}


def tell_cleaned(outcomes: Sequence[ClipOutcome]) -> list[dict[str, Any]]:
    """Return a row for each clip: its state, feasibility before and after, rank and verdict, or the reason that it has none.

    Args:
        outcomes: What became of each clip.
    """
    ranks = rank_clips(outcomes)
    rows: list[dict[str, Any]] = []
    for outcome in outcomes:
        row: dict[str, Any] = {"clip": outcome.task.name, "file": str(outcome.task.clip)}
        if outcome.problem:
            rows.append({**row, "state": "failed", "problem": outcome.problem})
            continue
        facts, after = outcome.facts, outcome.facts["after"]
        scores = facts["feasibility"]
        rows.append(
            {
                **row,
                "rank": ranks[outcome.task.name],
                "feasibility_before": scores["before"]["mean"],
                "worst_before": scores["before"]["worst"],
                "feasibility_after": scores["after"]["mean"],
                "worst_after": scores["after"]["worst"],
                "impossible_before": facts["before"]["impossible"],
                "false_alarms": facts["false_alarms"]["impossible"],
                "seconds": facts["seconds"],
                "verdict": after["headline"],
                "notices": "; ".join(after["notices"]),
            }
        )
    return rows
