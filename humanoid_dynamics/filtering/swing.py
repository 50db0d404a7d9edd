"""Stage A5: feet stand where they stand, and swing from there to where they will stand."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from humanoid_dynamics.motion.quintic import bump, quintic
from humanoid_dynamics.spatial.arrays import Matrix, Vector

CLEARANCE = 0.015  # m; least height of a swing
FADE = (0.12, 0.30)  # s and share of the swing: how long a foot takes from rest, and to rest
RESTING = (0.05, 0.15)  # m/s; a foot slower than the first at lift-off needs no fading, one faster than the second needs all of it
SETTLING = 0.3  # s; time to take up a change where no touch-down is known


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
        fade: How much it has to be faded from rest, 0 to 1.
        offset: (3, 6) by how much the foot is away from the reference's, place then rotation vector, with two derivatives.
    """

    start: int
    origin: Print
    fade: float
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


def rest_to_rest(state: Matrix, goal: Vector, duration: float, times: Vector) -> tuple[Matrix, Matrix]:
    """Go from a state to rest at a goal by the polynomial of fifth order.

    Args:
        state: (3, k) place, rate and second rate now.
        goal: (k,) where to be at rest.
        duration: When [s].
        times: (n,) instants from now on [s]; beyond the duration it rests.

    Returns:
        places: (n, k) on the way.
        states: (n, 3, k) with rates and second rates.
    """
    T = max(duration, 1e-3)
    x0, v0, a0 = state
    gap = goal - x0
    c3 = (20.0 * gap - 12.0 * v0 * T - 3.0 * a0 * T * T) / (2.0 * T**3)
    c4 = (-30.0 * gap + 16.0 * v0 * T + 3.0 * a0 * T * T) / (2.0 * T**4)
    c5 = (12.0 * gap - 6.0 * v0 * T - a0 * T * T) / (2.0 * T**5)
    states = np.empty((len(times), 3, len(goal)))
    for row, t in enumerate(times):
        if t >= T:
            states[row] = goal, np.zeros_like(goal), np.zeros_like(goal)
            continue
        states[row, 0] = x0 + t * (v0 + t * (0.5 * a0 + t * (c3 + t * (c4 + t * c5))))
        states[row, 1] = v0 + t * (a0 + t * (3.0 * c3 + t * (4.0 * c4 + t * 5.0 * c5)))
        states[row, 2] = a0 + t * (6.0 * c3 + t * (12.0 * c4 + t * 20.0 * c5))
    return states[:, 0], states


def swing_path(
    swing: Swing,
    clip: tuple[Matrix, Matrix],
    goal: tuple[Print, float] | None,
    times: tuple[Vector, float],
    lowest: Matrix,
) -> tuple[Matrix, Matrix]:
    """Return where a swinging foot is.

    Args:
        swing: The swing.
        clip: (n, 3) places and (n, 3, 3) orientations of the foot in the reference, offset already applied.
        goal: Where it will stand, and when after lift-off [s]; None where that is not known yet.
        times: (n,) times since lift-off [s], and the height the reference lifts the foot [m].
        lowest: (k, 3) corners of the sole in its frame [m]; none goes below the ground.

    Returns:
        places: (n, 3).
        turns: (n, 3, 3).
    """
    places, turns = np.array(clip[0]), np.array(clip[1])
    since, lift = times
    length = goal[1] if goal else np.inf
    fade = max(FADE[0], FADE[1] * min(length, 1.0))
    rise = 1.0 - swing.fade * (1.0 - quintic(since / fade))
    _blend(places, turns, swing.origin, rise)
    if goal is not None:
        _blend(places, turns, goal[0], 1.0 - swing.fade * (1.0 - quintic((length - since) / fade)))
        if lift < CLEARANCE:
            places[:, 2] += (CLEARANCE - lift) * bump(since / length)
    below = np.min(np.einsum("nj,kj->nk", turns[:, 2], lowest), axis=1)
    np.maximum(places[:, 2], -below, places[:, 2])
    return places, turns


def _blend(places: Matrix, turns: Matrix, end: Print, share: Vector) -> None:
    """Move poses towards a print, in place: one is where they are, zero on the print."""
    R = end.turn()
    for row in np.flatnonzero(share < 1.0):
        s = float(share[row])
        places[row] = end.place + s * (places[row] - end.place)
        turns[row] = R @ pin.exp3(s * pin.log3(R.T @ turns[row]))
