# SPDX-License-Identifier: Apache-2.0
"""Soles that slide: they bear next to nothing until they are slow, on every rung."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.filtering.ticks.stance_kernels import SLIDING_LOAD
from humanoid_dynamics.filtering.ticks.terms import DynamicsTerms
from humanoid_dynamics.filtering.ticks.wishes import TaskReferences
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel
from humanoid_dynamics.spatial.rotation import skew

BEARS = 0.01  # of the weight: a sole that bears more must not slide
SLIDE = 0.2  # m/s: a millimetre in a tick; a sole that bears load and is faster slides
SLOW = (
    0.7 * SLIDE
)  # what a sole that must give way keeps to, along each axis: corners of one that turns are faster than its middle


class Sliding:
    """How fast the middles of both soles move along the ground, and what soles that slide may bear.

    Attributes:
        least: What a sole may bear that slides [N].
    """

    def __init__(self, middles: Matrix, weight: float) -> None:
        """Prepare.

        Args:
            middles: (2, 3) middles of the soles in their frames [m].
            weight: That of the robot [N].
        """
        self.least = SLIDING_LOAD * weight
        self._slides: NDArray[np.bool_] = np.zeros(2, dtype=np.bool_)
        self._spare = compile_kernel(spare_sliding)
        self._along: Matrix = np.zeros((2, 2, 6))
        for foot in (0, 1):
            self._along[foot, :, :2] = np.eye(2)
            self._along[foot, :, 3:] = -skew(middles[foot])[:2]

    def rows(self, foot: int, J: Matrix) -> Matrix:
        """Return what turns velocities into that of the middle of a sole, along it.

        Args:
            foot: 0 for the left, 1 for the right.
            J: (6, k) Jacobian of the sole, or its velocity as one column.

        Returns:
            (2, k) rows.
        """
        return np.asarray(self._along[foot] @ J)

    def spare(self, terms: DynamicsTerms, wishes: TaskReferences, dt: float) -> NDArray[np.bool_]:
        """Let soles bear next to nothing that would slide in a tick in which they are moved as they are to be where they stand.

        Limbs that whirl carry along a sole that is at rest at both ends of a tick: nobody knows by its velocity alone.

        Args:
            terms: The robot in its state.
            wishes: Accelerations of soles that stand; what soles may bear is changed.
            dt: Time until the next tick [s].

        Returns:
            (2,) which soles slide; valid until this is asked again.
        """
        self._spare(
            self._along,
            (terms.twist, wishes.soles, terms.drift),
            dt,
            (SLOW, self.least),
            wishes.load,
            self._slides,
        )
        return self._slides


def spare_sliding(
    along: Matrix,
    motion: tuple[Matrix, Matrix, Matrix],
    dt: float,
    limits: tuple[float, float],
    load: Vector,
    slides: NDArray[np.bool_],
) -> None:
    """Let soles bear next to nothing that are fast along the ground once they were moved as wished, seen from where they are.

    Args:
        along: (2, 2, 6) what turns the velocity of each sole into that of its middle, along it.
        motion: (2, 6) velocities of the soles, accelerations to wish for, accelerations where no coordinate accelerates.
        dt: Time until the next tick [s].
        limits: Speed up to which a sole does not slide [m/s], and what one may bear that does [N].
        load: (2,) largest push on each sole [N]; changed.
        slides: (2,) which soles slide, or may bear less already; overwritten.
    """
    twist, wish, drift = motion
    for foot in range(2):
        x, y = 0.0, 0.0
        for i in range(6):
            after = twist[foot, i] + dt * (wish[foot, i] - drift[foot, i])
            x, y = x + along[foot, 0, i] * after, y + along[foot, 1, i] * after
        slides[foot] = math.hypot(x, y) > limits[0] or load[foot] < limits[1]
        if slides[foot]:
            load[foot] = min(load[foot], limits[1])
