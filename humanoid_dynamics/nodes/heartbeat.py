# SPDX-License-Identifier: Apache-2.0
"""Whether whoever sent a reference still lives: what was sent may last for long, so that its silence alone tells nothing."""

from __future__ import annotations

from collections.abc import Container
from time import monotonic
from typing import Generic, TypeVar

from humanoid_dynamics.status import StatusEnum

Status = TypeVar("Status", bound=StatusEnum)
SILENT = (
    1.0  # s without a beat, by the clock of the machine: time that is simulated may stand still
)


class HeartbeatMonitor(Generic[Status]):
    """Hears the beat of a sender; one that never beats is not missed."""

    def __init__(self, follows: Container[Status], ended: Status, lost: Status) -> None:
        """Begin without a sender.

        Args:
            follows: Statuses in which a reference is followed that has not ended.
            ended: Status after the end of a reference.
            lost: Status without a heartbeat.
        """
        self._follows, self._ended, self._lost = follows, ended, lost
        self._heard_at = 0.0

    def hear(self, _message: object = None) -> None:
        """Take a beat."""
        self._heard_at = monotonic()

    def forget(self) -> None:
        """Expect no beat until the next one comes."""
        self._heard_at = 0.0

    def judge(self, status: Status, reason: str) -> tuple[Status, str]:
        """Return how things stand where the sender is lost, and what is told otherwise.

        Args:
            status: The status as it would be told.
            reason: Its reason.
        """
        if not self._heard_at:
            return status, reason
        if status not in self._follows:
            if status is self._ended:
                self.forget()
            return status, reason
        silent = monotonic() - self._heard_at
        if silent < SILENT:
            return status, reason
        return (
            self._lost,
            f"no heartbeat from the publisher of the reference for {silent:.0f} s; the remaining points are followed",
        )
