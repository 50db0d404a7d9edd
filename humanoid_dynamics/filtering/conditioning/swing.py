# SPDX-License-Identifier: Apache-2.0
"""Stage A5: feet stand where they stand, and swing from there to where they will stand."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.conditioning.sole_kernels import follow_quintic, lift_rows
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel

CLEARANCE = 0.015  # m; least height of a swing
SETTLING = 0.25  # s; time to take up a change where the touch-down is farther away


@dataclass(slots=True)
class Print:
    """Where a foot stands.

    Attributes:
        place: (3,) origin of its sole [m].
        heading: Where it points [rad].
        path: (2,) where the path of the base was meanwhile [m].
    """

    place: Vector
    heading: float
    path: Vector = field(default_factory=lambda: np.zeros(2))

    def turn(self) -> Matrix:
        """Return the orientation of a level sole."""
        c, s = math.cos(self.heading), math.sin(self.heading)
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


@dataclass(slots=True)
class Swing:
    """A swing that goes on.

    Attributes:
        start: Row of lift-off.
        origin: Where the foot stood.
        offset: (3, 6) by how much the foot is away from the reference's, place then rotation vector, with two derivatives.
        aim: Where the foot will point once it stands, by the last plan [rad]; None before one knows.
    """

    start: int
    origin: Print
    offset: Matrix = field(default_factory=lambda: np.zeros((3, 6)))
    aim: float | None = None


def offset_to(target: Print, place: Vector, turn: Matrix) -> Vector:
    """Return by how much a foot of the reference must be moved to stand on a print.

    Args:
        target: The print.
        place: (3,) place of the foot [m].
        turn: (3, 3) its orientation.

    Returns:
        (6,) way [m] and rotation vector [rad].
    """
    return np.concatenate((target.place - place, pin.log3(target.turn() @ turn.T)))


def go_on(state: Matrix, goal: Matrix, duration: float, times: Vector) -> Matrix:
    """Go from one state to another by the polynomial of fifth order.

    Args:
        state: (3, k) place, rate and second rate now.
        goal: (3, k) the same in the end.
        duration: When [s].
        times: (n,) instants from now on [s]; beyond the duration it stays at the place of the goal.  Where that is soon, before
            now it was as its rates say.

    Returns:
        (n, 3, k) states on the way.
    """
    states = np.empty((len(times), 3, state.shape[1]))
    compile_kernel(follow_quintic)((state, goal, float(duration)), times, states)
    return states


def against(places: Matrix, turns: Matrix, dt: float) -> Matrix:
    """Return the rates an offset must have so that a foot that goes on in the reference is at rest.

    Args:
        places: (3, 3) places of the foot in three rows in a row [m].
        turns: (3, 3, 3) orientations.
        dt: Time between rows [s].

    Returns:
        (2, 6) rate and second rate.
    """
    before, after = pin.log3(turns[1] @ turns[0].T), pin.log3(turns[2] @ turns[1].T)
    rate = np.concatenate(((places[2] - places[0]) / (2.0 * dt), (after + before) / (2.0 * dt)))
    second = np.concatenate(
        ((places[2] - 2.0 * places[1] + places[0]) / dt**2, (after - before) / dt**2)
    )
    return -np.vstack((rate, second))


def swing_path(
    places: Matrix, turns: Matrix, lift: float, times: tuple[float, float], corners: Matrix
) -> None:
    """Lift a swinging foot where the reference hardly does, and keep its corners above the ground, in place.

    Args:
        places: (n, 3) places of the sole [m].
        turns: (n, 3, 3) its orientations.
        lift: How much higher than in the reference it is lifted half way [m].
        times: Share of the time from lift-off to touch-down at the first row, and what each row adds to it.
        corners: (k, 3) corners of the sole in its frame [m].
    """
    compile_kernel(lift_rows)(places, turns, float(lift), times, corners)
