# SPDX-License-Identifier: Apache-2.0
"""How fast the time of a stream runs, so that the delay stays what it was at first."""

from __future__ import annotations

from collections import deque

from humanoid_dynamics.filtering.settings import Settings

MOST = 0.1  # by what share a motion is made faster, or slower, at most
LOOKED = 5  # spans that are looked back at
SPAN = 0.1  # s, of each
USUAL = 0.03  # s; a backlog up to that is left
LEFT = 0.25  # share of the rows that may be missing; a shortage up to that is left
TIME = 2.0  # s; in which what is beyond it would be caught up with at the pace it begins with


def hurry(backlog: float) -> float:
    """Return what share of the time between samples is to be left out, so that a backlog goes.

    Args:
        backlog: How much more than needed is known [s].
    """
    return min(max(backlog - USUAL, 0.0) / TIME, MOST / (1.0 + MOST))


class RateAdapter:
    """Looks at how many rows are known beyond what is needed, and says how much of the time between samples is to be left out.

    The least there was in the last half second is a standing backlog: who takes all there is after every sample has none.  The most there
    was, where that is below zero, is a standing shortage: samples come too slowly.
    """

    def __init__(self, settings: Settings, spare: int) -> None:
        """Prepare.

        Args:
            settings: Times.
            spare: How many rows may be missing before the reference has to stand still.
        """
        self._rate, self._paced = settings.rate, settings.paced
        self._spare = max(spare, 1)
        self._span = round(SPAN * settings.rate)
        self._past: deque[tuple[int, int]] = deque(maxlen=LOOKED)
        self.restart()

    def restart(self) -> None:
        """Forget what was seen."""
        self._past.clear()
        self._low, self._high, self._count = 0, 0, 0
        self._least, self._most = 0, 0  # of what is past

    def see(self, excess: int) -> None:
        """Look at a tick.

        Args:
            excess: How many rows are known beyond what is needed.
        """
        if self._count == self._span:
            self._past.append((self._low, self._high))
            self._least, self._most = (
                min(low for low, _ in self._past),
                max(high for _, high in self._past),
            )
            self._count = 0
        self._low, self._high = (
            (min(self._low, excess), max(self._high, excess)) if self._count else (excess, excess)
        )
        self._count += 1

    @property
    def share(self) -> float:
        """What share of the time between samples is to be left out, negative where it is to last longer."""
        if not self._paced or len(self._past) < LOOKED:
            return 0.0
        backlog, shortage = (
            min(self._low, self._least) / self._rate,
            -max(self._high, self._most) / self._spare,
        )
        if backlog > 0.0:
            return hurry(backlog)
        return -MOST * min(max(shortage - LEFT, 0.0) / (1.0 - LEFT), 1.0)
