# SPDX-License-Identifier: Apache-2.0
"""What the filter wants the robot to do at one instant."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only

UNBOUNDED = read_only([np.inf, np.inf])  # times and loads of both soles that nothing bounds


@dataclass(slots=True, eq=False)
class Target:
    """Wishes for one tick; axes of the world unless said otherwise.

    Attributes:
        touches: (2,) whether the left and the right sole should bear load.
        com: (3,) place of the centre of mass [m].
        com_rate: (3,) its velocity [m/s].
        com_acceleration: (3,) its acceleration [m/s^2].
        q: (nq,) configuration; its base orientation and its joints count.
        v: (nv,) velocity of q.
        a: (nv,) acceleration of q.
        sole_place: (2, 3) where the soles should be [m].
        sole_turn: (2, 3, 3) their orientations.
        sole_rate: (2, 6) their velocities, linear then angular [m/s, rad/s].
        sole_acceleration: (2, 6) accelerations [m/s^2, rad/s^2].
        ground: (2,) height of the ground under each sole [m].
        normal: (2, 3) normal of the ground under each sole.
        until: (2,) time until each standing sole is lifted [s]; infinite where that is not known.
        load: (2,) largest push on each sole, in weights of the robot; written by the tick.
        time: Time of the reference it belongs to, since its start [s].
        aloft: Whether the reference flies.
        leaps: Whether the robot is on the way into a flight, or out of it.
        edges: (2,) what standing soles stand on: 0 all of it, 1 the front edge, -1 the rear edge.
    """

    touches: tuple[bool, bool]
    com: Vector
    com_rate: Vector
    com_acceleration: Vector
    q: Vector
    v: Vector
    a: Vector
    sole_place: Matrix
    sole_turn: Matrix
    sole_rate: Matrix
    sole_acceleration: Matrix
    ground: Vector
    normal: Matrix
    until: Vector = field(default_factory=UNBOUNDED.copy)
    load: Vector = field(default_factory=UNBOUNDED.copy)
    time: float = 0.0
    aloft: bool = False
    leaps: bool = False
    edges: tuple[int, int] = (0, 0)


def stand_still(q: Vector, nv: int, com: Vector, sole_place: Matrix, sole_turn: Matrix) -> Target:
    """Return the wish to stay as one is, on both soles.

    Args:
        q: (nq,) configuration.
        nv: Number of velocity coordinates.
        com: (3,) centre of mass [m].
        sole_place: (2, 3) where the soles are [m].
        sole_turn: (2, 3, 3) their orientations.
    """
    zero = np.zeros(3)
    return Target(
        (True, True),
        com,
        zero,
        zero,
        q,
        np.zeros(nv),
        np.zeros(nv),
        sole_place,
        sole_turn,
        np.zeros((2, 6)),
        np.zeros((2, 6)),
        sole_place[:, 2].copy(),
        sole_turn[:, :, 2].copy(),
    )
