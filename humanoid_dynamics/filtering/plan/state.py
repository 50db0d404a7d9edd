# SPDX-License-Identifier: Apache-2.0
"""The state of walking: one record, with copy and restore."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from humanoid_dynamics.filtering.plan.centroidal import CentroidalPath
from humanoid_dynamics.filtering.plan.vertical import VerticalPath
from humanoid_dynamics.filtering.ticks.footing import FootingState
from humanoid_dynamics.spatial.arrays import Matrix, Vector

if TYPE_CHECKING:
    from humanoid_dynamics.filtering.plan.certificate import PlanCertificate


class PhaseKind(IntEnum):
    """Kind of a contact phase."""

    STAND = 0
    DOUBLE = 1
    SINGLE = 2


@dataclass(slots=True, eq=False)
class WalkState:
    """Everything that lives from tick to tick; buffers and prepared programs are not part of it.

    Attributes:
        q: (nq,) configuration.
        v: (nv,) velocity.
        time: Time since the start [s].
        kind: Contact phase that runs.
        foot: Foot that swings; in a double support the one that is lifted next.
        elapsed: Time since the phase began [s].
        duration: Planned length of the phase [s]; infinite where it stands.
        starts: Whether the phase follows standing.
        foothold: (2, 2) middles of the soles where they stand, or stood last [m].
        heading: (2,) heading of the body that goes with each foothold [rad].
        swing: (3, 4) place of the swinging sole and heading of its body, with two derivatives [m, rad].
        landing: (3,) middle of the sole where it is to land, and heading of the body [m, rad].
        base: (3,) heading of the base with two derivatives [rad].
        command: (3,) velocity command as received: forward, sideways [m/s], turning [rad/s].
        command_age: Time since it was received [s].
        course: Heading that the command leads to [rad].
        velocity: (3,) command within the limits of acceleration.
        path: Last centroidal plan.
        height_path: Last vertical plan.
        certificate: Certificate of the last plan.
        path_age: Time since it was made [s].
        due: Whether a new plan is due at once.
        steps: Steps made.
        repairs: Changes of the schedule by feedback, by name.
        fallen: Whether the robot fell.
        asked: Accelerations of the last ticks, by which a late state is led on; written by ``copy`` of the filter.
        footing: What the tick keeps about standing soles, likewise.
    """

    q: Vector
    v: Vector
    time: float = 0.0
    kind: PhaseKind = PhaseKind.STAND
    foot: int = 0
    elapsed: float = 0.0
    duration: float = np.inf
    starts: bool = False
    foothold: Matrix = field(default_factory=lambda: np.zeros((2, 2)))
    heading: Vector = field(default_factory=lambda: np.zeros(2))
    swing: Matrix = field(default_factory=lambda: np.zeros((3, 4)))
    landing: Vector = field(default_factory=lambda: np.zeros(3))
    base: Vector = field(default_factory=lambda: np.zeros(3))
    command: Vector = field(default_factory=lambda: np.zeros(3))
    command_age: float = np.inf
    course: float = 0.0
    velocity: Vector = field(default_factory=lambda: np.zeros(3))
    path: CentroidalPath | None = None
    height_path: VerticalPath | None = None
    certificate: PlanCertificate | None = None
    path_age: float = 0.0
    due: bool = True
    steps: int = 0
    repairs: dict[str, int] = field(default_factory=dict)
    fallen: bool = False
    asked: tuple[Vector, ...] = ()
    footing: FootingState | None = None

    def count_repair(self, name: str) -> None:
        """Count a change of the schedule or of the plan by feedback."""
        self.repairs[name] = self.repairs.get(name, 0) + 1

    def phase_left(self, least: float) -> float:
        """Return what is left of the phase that runs, at least some time [s]."""
        left = self.duration - self.elapsed
        return max(left, least) if np.isfinite(left) else least

    def copy(self) -> WalkState:
        """Return a copy that shares nothing with this one."""
        found = {f.name: getattr(self, f.name) for f in fields(self)}
        return WalkState(**{k: v.copy() if hasattr(v, "copy") else v for k, v in found.items()})

    def restore(self, other: WalkState) -> None:
        """Take over another state."""
        kept = other.copy()
        for f in fields(self):
            setattr(self, f.name, getattr(kept, f.name))
