"""What the filter did to a clip, as a row that people read."""

from __future__ import annotations

from typing import Any

HEADS = ("clip", "finished", "impossible before", "in limits", "residual", "joint rms", "CoM rms", "slip", "stride kept", "rungs", "us")


def figures(facts: dict[str, Any]) -> tuple[str, ...]:
    """Write what ``clip_facts`` tells, below all ``HEADS`` but the first."""
    import numpy as np

    from humanoid_dynamics.filtering.clip_filter import LADDER

    after = facts["after"]
    finished = "yes" if after["finished"] else f"fell at {after['fell']:.2f} s"
    finished += "" if facts["attempt"] == LADDER[0].name else f" ({facts['attempt']})"
    return (
        finished,
        f"{100 * facts['before']['impossible']:.0f} % ({100 * facts['false_alarms']['impossible']:.0f} % false alarm)",
        "not judged" if after["all_limits"] is None else f"{100 * after['all_limits']:.1f} %",
        f"{after['residual']:.0e}",
        f"{np.rad2deg(after['joint_rms']):.1f} deg",
        f"{100 * after['com_rms']:.1f} cm",
        f"{1e3 * after['slip']:.0f} mm",
        f"{100 * after['stride']:.0f} %",
        ", ".join(f"{name} {count}" for name, count in after["rungs"].items()),
        f"{after['microseconds']:.0f}",
    )
