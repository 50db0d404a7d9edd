# SPDX-License-Identifier: Apache-2.0
"""Stage A5: feet stand where they stand, and swing from there to where they will stand."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from humanoid_dynamics.motion.quintic import bump
from humanoid_dynamics.spatial.arrays import Matrix, Vector

CLEARANCE = 0.015  # m; least height of a swing
SHORTEST = 1e-3  # s
HURRIED = 0.022  # s; before now a way that ends sooner was as its rates say: its polynomial, followed backwards, is anywhere
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
    (x, v, a), T = state, max(duration, SHORTEST)
    gap, rate = goal[0] - x - v * T - 0.5 * a * T * T, (goal[1] - v - a * T) * T
    second = (goal[2] - a) * T * T
    c3 = (10.0 * gap - 4.0 * rate + 0.5 * second) / T**3
    c4 = (-15.0 * gap + 7.0 * rate - second) / T**4
    c5 = (6.0 * gap - 3.0 * rate + 0.5 * second) / T**5
    t = np.minimum(times, T)[:, None]
    s = np.maximum(t, 0.0) if T < HURRIED else t
    place = x + t * (v + t * (0.5 * a + s * (c3 + s * (c4 + s * c5))))
    moves = v + t * (a + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))
    return np.stack((place, moves, a + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5))), axis=1)


def turn_rows(vectors: Matrix, turns: Matrix) -> Matrix:
    """Return orientations turned by rotation vectors, (n, 3, 3).

    Args:
        vectors: (n, 3) rotation vectors, axes of the world [rad].
        turns: (n, 3, 3) orientations.
    """
    return np.array([pin.exp3(x) @ R for x, R in zip(vectors, turns, strict=True)])


def find_rates(places: Matrix, turns: Matrix, dt: float) -> tuple[Matrix, Matrix]:
    """Return velocities and accelerations of a sole by central differences, (n, 6) each, axes of the world.

    Args:
        places: (n + 2, 3) places [m].
        turns: (n + 2, 3, 3) orientations.
        dt: Time between rows [s].
    """
    ways = np.zeros((len(places) - 1, 6))
    if (places == places[0]).all() and (turns == turns[0]).all():  # it rests
        return ways[1:], ways[1:]
    ways[:, :3] = places[1:] - places[:-1]
    for way, A, B in zip(ways, turns[:-1], turns[1:], strict=True):
        way[3:] = pin.log3(B @ A.T)
    return (ways[1:] + ways[:-1]) / (2.0 * dt), (ways[1:] - ways[:-1]) / (dt * dt)


def against(places: Matrix, turns: Matrix, dt: float) -> Matrix:
    """Return the rates an offset must have so that a foot that goes on in the reference is at rest, (2, 6): rate and second rate.

    Args:
        places: (3, 3) places of the foot in three rows in a row [m].
        turns: (3, 3, 3) orientations.
        dt: Time between rows [s].
    """
    return -np.vstack(find_rates(places, turns, dt))


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
    share = np.clip(times[0] + times[1] * np.arange(len(places)), 0.0, 1.0)
    lowest = (turns[:, 2] @ corners.T).min(axis=1)
    lifted = places[:, 2] + max(lift, 0.0) * bump(share)
    places[:, 2] = np.maximum(lifted, -lowest)
