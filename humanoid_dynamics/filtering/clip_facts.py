# SPDX-License-Identifier: Apache-2.0
"""What the filter did to a clip, in plain data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from humanoid_dynamics.filtering.clip_filter import FilteredClip
from humanoid_dynamics.filtering.clip_report import to_plain
from humanoid_dynamics.filtering.scoring import false_alarms, score_motion
from humanoid_dynamics.filtering.slope import GroundSlope
from humanoid_dynamics.motion.clip import Clip


def clip_facts(
    path: str, clip: Clip, found: FilteredClip, slope: GroundSlope | None = None
) -> dict[str, Any]:
    """Tell what the filter did to a clip in plain data, ready for JSON: SI units, None for what is not finite.

    Args:
        path: What the clip is called.
        clip: The clip before.
        found: The clip after.
        slope: The ground, where it is not level: on it both are scored.

    Returns:
        Score before, report after, false alarms of the score, and the attempts.
    """
    after = found.clip
    if slope is not None:
        clip, after = slope.clip_to_ground(clip), slope.clip_to_ground(after)
    facts = {
        "clip": path,
        "seconds": clip.duration,
        "before": asdict(score_motion(clip)),
        "preserved": found.report.preserved,
        "rejected": not found.report.finished,
        "after": found.report.to_dict(),
        "false_alarms": asdict(false_alarms(after, clip.rate)),
        "attempt": found.attempt.name,
        "attempts": {name: report.finished for name, report in found.reports.items()},
    }
    return {key: to_plain(value) for key, value in facts.items()}
