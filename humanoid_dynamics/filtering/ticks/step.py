# SPDX-License-Identifier: Apache-2.0
"""What a mode of the filter must offer, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.spatial.arrays import Matrix, Vector

RUNGS = ("all", "hard_braking", "soles_give_way", "joints_give_way", "free", "fallen")


@dataclass(frozen=True, slots=True, eq=False)
class TickAnswer:
    """What one tick answers.

    Attributes:
        vdot: (nv,) acceleration.
        tau: (na,) torques of all coordinates but those of the base.
        wrenches: (2, 6) wrenches of the ground on the left and the right sole, in axes of each, force before moment.
        stands: Whether each sole bears load.
        rung: Place in ``RUNGS``: 0 where all limits were kept and standing soles stand.
        v: (nv,) velocity the answer belongs to, where a collision changed it; None where none did.
        edges: (2,) what standing soles stand on: 0 all of it, 1 the front edge, -1 the rear edge.
    """

    vdot: Vector
    tau: Vector
    wrenches: Matrix
    stands: tuple[bool, bool]
    rung: int
    v: Vector | None = None
    edges: tuple[int, int] = (0, 0)


class Tick(Protocol):
    """What a mode of the filter must offer."""

    def step(
        self, target: Target, q: Vector, v: Vector, dt: float, *, measured: bool = False
    ) -> TickAnswer:
        """Answer one tick; nothing raises.

        Args:
            target: What is wanted.
            q: (nq,) configuration.
            v: (nv,) velocity.
            dt: Time until the next tick [s].
            measured: Whether the state comes from a robot and not from the filter itself.
        """
        ...

    def prepare(self, q: Vector, v: Vector) -> None:
        """Compute beforehand what a step in this state needs, whatever is wanted.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
        """
        ...

    def restart(self) -> None:
        """Forget what was."""
        ...

    def landings(self) -> list[tuple[int, Vector, Matrix]]:
        """Return the soles that touched down since this was asked the last time, or slipped, with place and orientation."""
        ...
