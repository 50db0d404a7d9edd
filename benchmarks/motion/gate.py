# SPDX-License-Identifier: Apache-2.0
"""The gate: today's figures against the frozen record.

inverse_dynamics
    Every answer within 1e-9 of its size, every status equal.
scenes
    States within 1e-6 before the first impact; no check fails that passed.
streams
    Every frame of every hostile stream inside all limits, and back on the reference within half a second.
clips
    Every frame inside all limits; joint RMS of controls unchanged to 1e-3 rad.  The filter is chaotic at its margins, so the rest is
    statistical: the share of runs that finish and the median stride may not be lower by more than 2 % where a paired one-sided sign test
    calls the loss significant.  A loss that is not significant is a notice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np
from scipy.stats import binomtest

from benchmarks.motion.runs import Run

SAME_ANSWER = 1e-9  # of the size of an answer
SAME_STATE = 1e-6  # m, rad and their rates
RECOVERY = 0.5  # s
CONTROL_CHANGE = 1e-3  # rad
LOSS = 0.02
SIGNIFICANT = 0.05
EQUAL_STRIDE = 1e-6


@dataclass
class GateResult:
    """Outcome of the comparison.

    Attributes:
        failures: What is worse than the record.
        notices: What differs without failing.
        checked: Number of comparisons.
    """

    failures: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    checked: int = 0

    def expect(self, holds: bool, failure: str) -> None:
        """Count a comparison, and keep its message where it fails."""
        self.checked += 1
        if not holds:
            self.failures.append(failure)


def check_answers(record: Mapping[str, Any], now: Mapping[str, Any]) -> GateResult:
    """Compare answers of inverse dynamics."""
    result = GateResult()
    old, new = np.array(record["values"], dtype=float), np.array(now["values"], dtype=float)
    result.expect(
        old.shape == new.shape, f"inverse_dynamics: {len(new)} answers, the record has {len(old)}"
    )
    if old.shape != new.shape:
        return result
    off = np.max(np.abs(new - old), axis=1) / np.maximum(old[:, 2], 1.0)
    wrong = np.flatnonzero(~(off <= SAME_ANSWER))
    result.checked += len(old)
    if wrong.size:
        worst = int(np.nanargmax(np.where(np.isfinite(off), off, np.inf)))
        result.failures.append(
            f"inverse_dynamics: {wrong.size} answers differ, the worst is number {worst} by {off[worst]:.2g} of its size"
        )
    changed = [
        k
        for k, (a, b) in enumerate(zip(record["statuses"], now["statuses"], strict=True))
        if a != b
    ]
    result.expect(
        not changed,
        f"inverse_dynamics: {len(changed)} statuses differ, the first is number {changed[0] if changed else 0}",
    )
    return result


def check_scenes(record: Mapping[str, Any], now: Mapping[str, Any]) -> GateResult:
    """Compare scenes."""
    result = GateResult()
    for name, old in record.items():
        new = now.get(name)
        result.expect(new is not None, f"scene {name}: not run")
        if new is None:
            continue
        lost = sorted(set(new["failed"]) - set(old["failed"]))
        result.expect(not lost, f"scene {name}: fails {', '.join(lost)}")
        rows = min(len(old["states"]), len(new["states"]))
        result.expect(
            len(new["states"]) >= len(old["states"]),
            f"scene {name}: {len(new['states'])} states before impact, had {len(old['states'])}",
        )
        if rows:
            same = [
                len(a) == len(b)
                for a, b in zip(old["states"][:rows], new["states"][:rows], strict=True)
            ]
            off = (
                np.max(np.abs(np.array(old["states"][:rows]) - np.array(new["states"][:rows])))
                if all(same)
                else np.inf
            )
            result.expect(
                bool(off <= SAME_STATE),
                f"scene {name}: state differs by {off:.2g} before the first impact",
            )
    return result


def check_streams(record: Mapping[str, Any], now: Mapping[str, Any]) -> GateResult:
    """Judge hostile streams: all of those in the record must pass."""
    result = GateResult()
    for name in record:
        new = now.get(name, {"holds": False, "recovery": np.inf})
        result.expect(new["holds"], f"stream {name}: a frame is outside its limits")
        result.expect(
            new["recovery"] <= RECOVERY,
            f"stream {name}: {new['recovery']:g} s until it is back on the reference",
        )
    return result


def check_clips(record: Sequence[Run], now: Sequence[Run]) -> GateResult:
    """Compare runs of clips; only those that both have count."""
    result, old = GateResult(), {(run.case, run.variant): run for run in record}
    pairs = [(old[run.case, run.variant], run) for run in now if (run.case, run.variant) in old]
    result.expect(bool(pairs), "clips: no run is in the record")
    for before, after in pairs:
        limits = after.all_limits
        result.expect(
            limits is None or limits == 1.0,
            f"{after.case} {after.variant}: {limits} of the frames are inside all limits",
        )
        if after.kind == "control":
            old_rms, rms = (_joint_rms(run) for run in (before, after))
            result.expect(
                abs(rms - old_rms) <= CONTROL_CHANGE,
                f"control {after.case} {after.variant}: joint RMS {rms:.2e} rad, the record has {old_rms:.2e}",
            )
        if before.preserved and not after.preserved:
            result.notices.append(
                f"{after.case} {after.variant}: not preserved any more: {', '.join(after.report.get('broken', ())) or after.refused}"
            )
    _compare(
        result, "runs finished", [(float(a.finished), float(b.finished)) for a, b in pairs], np.mean
    )
    strides = [(a.stride, b.stride) for a, b in pairs]
    _compare(
        result,
        "median stride",
        [(x, y) for x, y in strides if x is not None and y is not None],
        median,
    )
    return result


def _joint_rms(run: Run) -> float:
    value = (run.report.get("measures") or {}).get("joint_rms")
    return np.inf if value is None else float(value)


def _compare(
    result: GateResult, name: str, pairs: Sequence[tuple[float, float]], middle: Any
) -> None:
    result.checked += 1
    if not pairs:
        return
    before, after = float(middle([a for a, _ in pairs])), float(middle([b for _, b in pairs]))
    lost, p_value = before - after, sign_test((a, b) for a, b in pairs)
    message = f"{name}: {after:.3f}, the record has {before:.3f} (sign test p = {p_value:.3f})"
    if lost > LOSS and p_value < SIGNIFICANT:
        result.failures.append(message)
    elif lost > 0.0:
        result.notices.append(message)


def sign_test(pairs: Iterable[tuple[float, float]]) -> float:
    """Return the one-sided probability that so many pairs are lower by chance; pairs that are equal do not count."""
    signs = [b < a for a, b in pairs if abs(b - a) > EQUAL_STRIDE]
    return float(binomtest(sum(signs), len(signs), alternative="greater").pvalue) if signs else 1.0
