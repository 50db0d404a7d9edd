# SPDX-License-Identifier: Apache-2.0
"""The loop that keeps a page and a session together."""

from __future__ import annotations

from time import monotonic

from humanoid_dynamics.viewer.page import Page
from humanoid_dynamics.viewer.session import Session

UNWATCHED = 0.2  # s


def show(
    page: Page,
    session: Session,
    *,
    rate: float = 30.0,
    seconds: float | None = None,
    waits: bool = True,
) -> int:
    """Let a session go on and be seen.

    Args:
        page: The page.
        session: What it shows.
        rate: Pictures per second [Hz].
        seconds: How long [s]; until interrupted where left out.
        waits: Whether time stands still until a browser has drawn the page, and while none shows it.

    Returns:
        Number of pictures shown.
    """
    began = before = monotonic()
    period, count = 1.0 / rate, 0
    while seconds is None or monotonic() - began < seconds:
        now = monotonic()
        if waits and not page.drawn:
            if page.watched:
                page.show(session)
            page.wait(period if page.watched else UNWATCHED)
            before = monotonic()
            continue
        session.advance(now - before)
        before = now
        page.show(session)
        count += 1
        page.wait(max(0.0, period - (monotonic() - now)))
    return count
