# SPDX-License-Identifier: Apache-2.0
"""Which contacts are closed, from forces that flicker: two thresholds, and a time for which a change must last."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ContactThresholds:
    """When a contact counts as closed.

    Attributes:
        close: Measure from which on it closes, such as a normal force [N].
        open: Measure below which it opens.
        debounce: How long a change must last [s].
    """

    close: float
    open: float
    debounce: float = 0.005


class ContactState:
    """One contact; not for several threads at once.

    Attributes:
        closed: Whether it is closed; taken to be so until measures say otherwise.
    """

    def __init__(self, thresholds: ContactThresholds) -> None:
        self.thresholds = thresholds
        self.closed = True
        self._since: float | None = None

    def observe(self, measure: float, t: float) -> bool:
        """Take a measure; one that is no number counts as none.

        Args:
            measure: Normal force, or whatever the thresholds are about.
            t: Time [s].

        Returns:
            Whether the contact has just closed or opened.
        """
        if measure != measure:
            return False
        changes = (
            measure < self.thresholds.open if self.closed else measure >= self.thresholds.close
        )
        if not changes:
            self._since = None
            return False
        if self._since is None or t < self._since:
            self._since = t
        if t - self._since < self.thresholds.debounce:
            return False
        self.closed, self._since = not self.closed, None
        return True
