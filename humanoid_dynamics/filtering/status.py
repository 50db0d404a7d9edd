# SPDX-License-Identifier: Apache-2.0
"""Status and reason of a tick of the filter."""

from __future__ import annotations

from humanoid_dynamics.filtering.conditioning.sample_clock import SampleStatus
from humanoid_dynamics.filtering.fallen import FALLEN
from humanoid_dynamics.filtering.frame import FilterStatus, Frame
from humanoid_dynamics.filtering.ticks.step import RUNGS


def tell_frame(
    frame: Frame, refused: SampleStatus | None, stood: float, fault: FilterStatus | None
) -> tuple[FilterStatus, str]:
    """Return status and reason of a frame.

    Args:
        frame: The frame.
        refused: Status of the last sample where it was rejected.
        stood: For how long the reference has stood still because no sample comes [s].
        fault: Why the measured state is not used; None where it is, or there is none.
    """
    status = _name(frame, fault)
    if status is FilterStatus.OK and stood > 0.0:
        why = f"; the last one was rejected: {refused.description}" if refused else ""
        return (
            FilterStatus.INPUT_TIMEOUT,
            f"the reference has stood still for {stood:.2f} s, no sample has come{why}",
        )
    if status is FilterStatus.RELAXED:
        return status, f"level {frame.rung}: {RUNGS[frame.rung].replace('_', ' ')}"
    return status, status.description


def _name(frame: Frame, fault: FilterStatus | None) -> FilterStatus:
    if frame.rung == FALLEN:
        return FilterStatus.FALLEN
    if fault is not None:
        return fault
    if frame.rung:
        return FilterStatus.RELAXED
    return FilterStatus.OK if frame.certificate.holds else FilterStatus.LIMIT_VIOLATED


def tell_awaited(
    refused: SampleStatus | None, seconds: tuple[float, float] | None, *, planned: bool, ended: bool
) -> tuple[FilterStatus, str]:
    """Return status and reason where there is no frame.

    Args:
        refused: Status of the last sample where it was rejected.
        seconds: How much look-ahead is there, and how much is enough [s]; None where no sample was accepted.
        planned: Whether the first frames are planned.
        ended: Whether no sample will follow.
    """
    if ended:
        return FilterStatus.ENDED, FilterStatus.ENDED.description
    if planned:
        return FilterStatus.WAITING, "the first stance is being computed"
    if seconds is not None:
        return (
            FilterStatus.WAITING,
            f"{seconds[0]:.2f} s of {seconds[1]:.2f} s of look-ahead are there",
        )
    return (
        FilterStatus.WAITING,
        f"no sample was accepted: {refused.description}" if refused else "no sample has come",
    )
