# SPDX-License-Identifier: Apache-2.0
"""Whether a run can be believed: its certificate, closure, depth, impacts, energy and momentum beside what a step promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from humanoid_dynamics.simulation.balance import ENERGY, NONE, sum_energy
from humanoid_dynamics.simulation.contacts.cone_problem import CLOSE
from humanoid_dynamics.simulation.contacts.rebound import ROUND_OFF
from humanoid_dynamics.simulation.contacts.thresholds import NEAR
from humanoid_dynamics.simulation.reach import CLOSURE
from humanoid_dynamics.simulation.scenes.run import Summary, find_reach
from humanoid_dynamics.simulation.scenes.scene import Tolerated
from humanoid_dynamics.simulation.setup import SimulationStatus
from humanoid_dynamics.simulation.world import World

RESIDUAL = CLOSE  # a step that misses more is inexact [m/s]
COMPLEMENTARITY = 1e-6  # [J]
CONE = 1e-9  # [N·s]
DEPTH = 1e-3  # [m]
MOMENTUM = 1e-3  # of that at the start and all its changes since
REBOUND = 1e-6  # [m/s]


@dataclass(frozen=True)
class Check:
    """One figure of a run beside what is allowed.

    Attributes:
        name: What it says.
        unit: Its unit.
        figure: The figure.
        allowed: The largest that passes.
        why: Why a scene allows more than others; empty where it does not.
    """

    name: str
    unit: str
    figure: float
    allowed: float
    why: str = ""

    @property
    def passed(self) -> bool:
        """Whether it is small enough."""
        return self.figure <= self.allowed


def judge_run(
    summary: Summary, world: World, exceptions: Mapping[str, Tolerated] | None = None
) -> tuple[Check, ...]:
    """Return the checks of a run.

    Args:
        summary: What it showed.
        world: Its world, at the end.
        exceptions: Name of a check -> what its scene allows instead.
    """
    own = exceptions or {}
    return tuple(
        replace(check, allowed=own[check.name].limit, why=own[check.name].why)
        if check.name in own
        else check
        for check in _list_checks(summary, world)
    )


def _list_checks(summary: Summary, world: World) -> tuple[Check, ...]:
    """Return the checks of a run by what every step promises."""
    books = world.books
    came = sum_energy(books)
    missing, (linear, angular) = books.leaked, books.turned.tolist()
    turning = angular + max(summary.reach, find_reach(world)) * linear
    return (
        Check("contact residual", "m/s", summary.residual, RESIDUAL),
        Check("complementarity", "J", summary.complementarity, COMPLEMENTARITY),
        Check("outside the cone", "N·s", summary.cone, CONE),
        Check("penetration", "m", summary.depth, DEPTH),
        Check(
            "inside boxes and bodies",
            "m",
            0.0 if summary.inside is None else summary.inside.depth,
            NEAR,
        ),
        Check("closure", "m", summary.closure, CLOSURE),
        Check("impacts beside their law", "m/s", summary.rebound, REBOUND),
        Check(
            "energy made by an impact", "J", summary.created, ROUND_OFF * came + NONE * ROUND_OFF
        ),
        Check("energy made by pushing out", "J", summary.lifted, NONE),
        Check("energy error", "J", abs(books.missing), ENERGY * came + NONE),
        Check(
            "momentum error", "N·s", float(np.linalg.norm(missing[:3])), MOMENTUM * linear + NONE
        ),
        Check(
            "angular momentum error",
            "N·m·s",
            float(np.linalg.norm(missing[3:])),
            MOMENTUM * turning + NONE,
        ),
        Check(
            "steps that stopped", "", float(summary.statuses.get(SimulationStatus.STOPPED, 0)), 0.0
        ),
    )
