# SPDX-License-Identifier: Apache-2.0
"""What the paper leaves open: every switch of its filter, with the value that works."""

from __future__ import annotations

from dataclasses import dataclass, field

from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.papers.dynamics_filter.feedback import Gains
from humanoid_dynamics.papers.dynamics_filter.solution import Units

CHOICES = {
    "solver": ("structured", "literal"),
    "contacts": ("procedure", "cones"),
    "demotion": ("strict", "paper"),
    "friction": ("report", "cones"),
    "torques": ("report", "kept"),
}


@dataclass(frozen=True)
class PaperStyle:
    """How the filter of the paper is run.

    Attributes:
        gains: Of the feedback.
        units: Of the least squares.
        dt: Step [s].
        point: Control point of the upper body; the neck, or what there is nearest to it, where empty.
        solver: ``structured``, or ``literal`` with pseudo-inverse and projector.
        contacts: ``procedure``, or ``cones``: forces inside their pyramids from the start.
        demotion: ``strict`` looks for another distribution of forces first, ``paper`` lets go at once.
        friction: ``report``, or ``cones`` where the procedure leaves a friction cone.
        torques: ``report``, or ``kept``: fixed at their limits, and the motion computed anew.
        torque_passes: How often at most.
        unilateral: Whether forces are looked at; without it soles are glued to the ground.
        collisions: Whether velocities jump when soles come down.
    """

    gains: Gains = field(default_factory=Gains)
    units: Units = field(default_factory=Units)
    dt: float = 0.005
    point: str = ""
    solver: str = "structured"
    contacts: str = "procedure"
    demotion: str = "strict"
    friction: str = "report"
    torques: str = "report"
    torque_passes: int = 3
    unilateral: bool = True
    collisions: bool = True

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise UnknownNameError(name, str(getattr(self, name)), choices)
