"""Whether a run can be believed: its certificate, closure, depth and energy beside what is allowed."""

from __future__ import annotations

from dataclasses import dataclass

from humanoid_dynamics.simulation.books import Books
from humanoid_dynamics.simulation.scenes.run import Summary

RESIDUAL = 1e-3  # [m/s]
COMPLEMENTARITY = 1e-5  # [J]
CONE = 1e-9  # [N·s]
DEPTH = 1e-3  # [m]
CLOSURE = 1e-9  # [m]
ENERGY = 1e-3  # of all energy there was at the start or came and went since
NONE = 1e-6  # energy that may be missing where there is none [J]


@dataclass(frozen=True)
class Check:
    """One figure of a run beside what is allowed.

    Attributes:
        name: What it says.
        unit: Its unit.
        figure: The figure.
        allowed: The largest that passes.
    """

    name: str
    unit: str
    figure: float
    allowed: float

    @property
    def passed(self) -> bool:
        """Whether it is small enough."""
        return self.figure <= self.allowed


def judge_run(summary: Summary, books: Books) -> tuple[Check, ...]:
    """Return the checks of a run.

    Args:
        summary: What it showed.
        books: Its energy.
    """
    turned = abs(books.start) + sum(abs(work) for work in books.work.values())
    return (
        Check("contact residual", "m/s", summary.residual, RESIDUAL),
        Check("complementarity", "J", summary.complementarity, COMPLEMENTARITY),
        Check("outside the cone", "N·s", summary.cone, CONE),
        Check("penetration", "m", summary.depth, DEPTH),
        Check("closure", "m", summary.closure, CLOSURE),
        Check("energy from nowhere", "J", abs(books.missing), ENERGY * turned + NONE),
        Check("steps that stopped", "", float(summary.statuses.get("stopped", 0)), 0.0),
    )
