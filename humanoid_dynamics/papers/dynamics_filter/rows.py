# SPDX-License-Identifier: Apache-2.0
"""Everything that is held at one instant as one stack of rows: loops of the robot first, then what the soles hold [DF, eq. 1]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.papers.dynamics_filter.contacts import DRIFT_RATE, MOMENT_ARM, Held, Sole
from humanoid_dynamics.papers.dynamics_filter.solution import Balance
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only


@dataclass(frozen=True, eq=False)
class Instant:
    """Inertia, bias, loops and soles of one instant.

    Attributes:
        M: (nv, nv) inertia, full.
        h: (nv,) bias less outside forces.
        v: (nv,) velocity.
        J_loops: (c, nv) rows of loops, mimics and grasps.
        gamma_loops: (c,) their drift, stabilised.
        unit_loops: (c,) what counts as one unit of their forces [N, N·m].
        soles: All soles.
        weight: Weight of the robot [N].
    """

    M: Matrix
    h: Vector
    v: Vector
    J_loops: Matrix
    gamma_loops: Vector
    unit_loops: Vector
    soles: Sequence[Sole]
    weight: float


@dataclass(frozen=True, eq=False)
class Rows:
    """What is held, stacked.

    Attributes:
        balance: The instant with these rows.
        maps: For each sole its rows on the velocity of the sole; None where nothing is held.
        parts: For each sole where its rows stand in the stack.
    """

    balance: Balance
    maps: tuple[Matrix | None, ...]
    parts: tuple[slice, ...]

    def wrenches(self, lam: Vector, soles: Sequence[Sole]) -> Matrix:
        """Return what the ground does to the soles.

        Args:
            lam: (k,) forces of all rows.
            soles: The soles.

        Returns:
            (s, 6) wrenches about the origins of the soles, in their own axes [N, N·m].
        """
        found = np.zeros((len(soles), 6))
        for row, (sole, T, part) in enumerate(zip(soles, self.maps, self.parts, strict=True)):
            if T is not None:
                found[row] = sole.seen_from_sole(T.T.dot(lam[part]))
        return found


def stack_rows(instant: Instant, held: Sequence[Held]) -> Rows:
    """Stack the rows of loops and of what the soles hold.

    Args:
        instant: The instant.
        held: Corners each sole holds.

    Returns:
        The rows.
    """
    blocks, drifts, units = [instant.J_loops], [instant.gamma_loops], [instant.unit_loops]
    maps: list[Matrix | None] = []
    parts, start = [], len(instant.gamma_loops)
    for sole, corners in zip(instant.soles, held, strict=True):
        if not corners:
            maps.append(None)
            parts.append(slice(start, start))
            continue
        T, gamma = sole.hold(corners)
        J = sole.J if len(corners) > 2 else T.dot(sole.J)
        count = len(gamma)
        blocks.append(J)
        drifts.append(gamma + DRIFT_RATE * J.dot(instant.v))
        units.append(_UNITS[:count] * instant.weight)
        maps.append(T)
        parts.append(slice(start, start + count))
        start += count
    balance = Balance(
        instant.M, instant.h, np.concatenate(blocks), np.concatenate(drifts), np.concatenate(units)
    )
    return Rows(balance, tuple(maps), tuple(parts))


_UNITS = read_only([1.0, 1.0, 1.0, MOMENT_ARM, MOMENT_ARM, MOMENT_ARM])
