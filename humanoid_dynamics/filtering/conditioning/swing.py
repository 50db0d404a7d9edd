"""Stage A5: feet stand where they stand, and swing from there to where they will stand."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from humanoid_dynamics.motion.quintic import bump
from humanoid_dynamics.spatial.arrays import Matrix, Vector

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
        c, s = np.cos(self.heading), np.sin(self.heading)
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


@dataclass(slots=True)
class Swing:
    """A swing that goes on.

    Attributes:
        start: Row of lift-off.
        origin: Where the foot stood.
        offset: (3, 6) by how much the foot is away from the reference's, place then rotation vector, with two derivatives.
    """

    start: int
    origin: Print
    offset: Matrix = field(default_factory=lambda: np.zeros((3, 6)))


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
        times: (n,) instants from now on [s]; beyond the duration it stays at the place of the goal.

    Returns:
        (n, 3, k) states on the way.
    """
    T = max(duration, 1e-3)
    x0, v0, a0 = state
    x1, v1, a1 = goal
    gap = x1 - x0 - v0 * T - 0.5 * a0 * T * T
    rate, second = (v1 - v0 - a0 * T) * T, (a1 - a0) * T * T
    c3 = (10.0 * gap - 4.0 * rate + 0.5 * second) / T**3
    c4 = (-15.0 * gap + 7.0 * rate - second) / T**4
    c5 = (6.0 * gap - 3.0 * rate + 0.5 * second) / T**5
    states = np.empty((len(times), 3, len(x0)))
    t = np.minimum(times, T)[:, None]
    states[:, 0] = x0 + t * (v0 + t * (0.5 * a0 + t * (c3 + t * (c4 + t * c5))))
    states[:, 1] = v0 + t * (a0 + t * (3.0 * c3 + t * (4.0 * c4 + t * 5.0 * c5)))
    states[:, 2] = a0 + t * (6.0 * c3 + t * (12.0 * c4 + t * 20.0 * c5))
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
    second = np.concatenate(((places[2] - 2.0 * places[1] + places[0]) / dt**2, (after - before) / dt**2))
    return -np.vstack((rate, second))


def swing_path(places: Matrix, turns: Matrix, lift: float, share: Vector, corners: Matrix) -> None:
    """Lift a swinging foot where the reference hardly does, and keep its corners above the ground, in place.

    Args:
        places: (n, 3) places of the sole [m].
        turns: (n, 3, 3) its orientations.
        lift: How much higher than in the reference it is lifted half way [m].
        share: (n,) share of the time from lift-off to touch-down.
        corners: (k, 3) corners of the sole in its frame [m].
    """
    if lift > 0.0:
        places[:, 2] += lift * bump(share)
    below = np.min(np.einsum("nj,kj->nk", turns[:, 2], corners), axis=1)
    np.maximum(places[:, 2], -below, out=places[:, 2])
