# SPDX-License-Identifier: Apache-2.0
"""What the filter did to clips, as people read it: one clip before and after, many as rows."""

from __future__ import annotations

from math import degrees
from typing import Any

BESIDE = ("", "before", "after")
HEADS = (
    *(
        "clip",
        "preserved",
        "finished",
        "impossible before",
        "in limits",
        "residual",
        "CoP",
        "friction",
        "torque",
        "joint margin",
    ),
    *("joint rms", "CoM rms", "base", "slip", "stride kept", "rungs", "us"),
)
UNKNOWN = "not judged"


def figures(facts: dict[str, Any]) -> tuple[str, ...]:
    """Write what ``clip_facts`` tells, below all ``HEADS`` but the first."""
    after = facts["after"]
    return (
        after["headline"],
        _finished(facts),
        f"{_percent(facts['before']['impossible'])} ({_percent(facts['false_alarms']['impossible'])} false alarm)",
        UNKNOWN if after["all_limits"] is None else f"{100 * after['all_limits']:.1f} %",
        f"{after['residual']:.0e}",
        _millimetres(after["cop_margin"]),
        _percent(after["worst_friction"]),
        _percent(after["worst_torque"]),
        _margin(after["joint_margin"]),
        _degrees(after["joint_rms"]),
        f"{100 * after['com_rms']:.1f} cm",
        f"{100 * after['base_max']:.0f} cm",
        _millimetres(after["slip"]),
        _kept(after["stride"]),
        _rungs(after),
        f"{after['microseconds']:.0f}",
    )


def compare(facts: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Write what ``clip_facts`` tells of one clip below ``BESIDE``; nothing where a side has no such figure."""
    before, alarms, after = facts["before"], facts["false_alarms"], facts["after"]
    inside = UNKNOWN if after["all_limits"] is None else f"{100 * after['all_limits']:.1f} %"
    return [
        ("preserved", "", after["headline"]),
        ("finished", "", _finished(facts)),
        *_compare_measures(after["measures"]),
        (
            "samples that look impossible",
            _percent(before["impossible"]),
            f"{_percent(alarms['impossible'])}, false alarms",
        ),
        ("  zero-moment point outside", _percent(before["outside"]), _percent(alarms["outside"])),
        (
            "  more friction than there is",
            _percent(before["slippery"]),
            _percent(alarms["slippery"]),
        ),
        ("  ground would pull", _percent(before["pulled"]), _percent(alarms["pulled"])),
        ("frames inside all limits", "", inside),
        ("residual of the equation of motion, over the weight", "", f"{after['residual']:.0e}"),
        ("centre of pressure, least margin", "", _millimetres(after["cop_margin"])),
        ("friction, most used", "", _percent(after["worst_friction"])),
        ("torque, most used", "", _percent(after["worst_torque"])),
        (
            "joints, least margin",
            _margin(-before["joint_excess"] or None, "inside"),
            _margin(after["joint_margin"]),
        ),
        (
            "joints, error",
            "",
            f"{_degrees(after['joint_rms'])} rms, {_degrees(after['joint_max'])} at most",
        ),
        ("centre of mass, error", "", f"{100 * after['com_rms']:.1f} cm rms"),
        ("base, error", "", f"{100 * after['base_max']:.0f} cm at most"),
        ("slip of soles that bear load", "", _millimetres(after["slip"])),
        ("rungs of the ladder", "", _rungs(after)),
        ("time per frame", "", f"{after['microseconds']:.0f} us"),
    ]


def _compare_measures(measures: dict[str, Any] | None) -> list[tuple[str, str, str]]:
    """Write what is kept of the reference."""
    if measures is None:
        return []
    return [
        ("  samples followed", "", _percent(measures["followed"])),
        ("  path of the base", "", _kept(measures["path"])),
        ("  stride between touch-down places", "", _kept(measures["stride"])),
        ("  flight", "", _kept(measures["flight"])),
        (
            "  time taken over that of the reference",
            "",
            UNKNOWN if (f := measures["time_factor"]) is None else f"{f:.2f}",
        ),
        ("  touch-downs and lift-offs, F1", "", _kept(measures["contact_f1"])),
        (
            "  joints, error within the clip",
            "",
            UNKNOWN if (rms := measures["joint_rms"]) is None else f"{_degrees(rms)} rms",
        ),
        ("  self-collision beyond the reference", "", _millimetres(measures["self_collision"])),
        (
            "  feet below the ground beyond the reference",
            "",
            _millimetres(measures["foot_penetration"]),
        ),
    ]


def _kept(share: float | None) -> str:
    return "not applicable" if share is None else f"{100 * share:.0f} %"


def _finished(facts: dict[str, Any]) -> str:
    from humanoid_dynamics.filtering.clip_filter import LADDER

    after = facts["after"]
    finished = (
        "yes"
        if after["finished"]
        else "not followed"
        if after["fell"] is None
        else f"fell at {after['fell']:.2f} s"
    )
    return finished + ("" if facts["attempt"] == LADDER[0].name else f" ({facts['attempt']})")


def _rungs(after: dict[str, Any]) -> str:
    return ", ".join(f"{name} {count}" for name, count in after["rungs"].items())


def _percent(share: float | None) -> str:
    return UNKNOWN if share is None else f"{100 * share:.0f} %"


def _millimetres(length: float | None) -> str:
    return UNKNOWN if length is None else f"{1e3 * length:.0f} mm"


def _degrees(angle: float) -> str:
    return f"{degrees(angle):.1f} deg"


def _margin(room: float | None, otherwise: str = UNKNOWN) -> str:
    return otherwise if room is None else f"{room:.3f} rad or m"
