# SPDX-License-Identifier: Apache-2.0
"""What one plan knows of the reference: the rows up to the end of the look-ahead, put on the ground (stage A2)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from humanoid_dynamics.filtering.conditioning.swing import Print, Swing
from humanoid_dynamics.filtering.conditioning.track import ReferenceTrack
from humanoid_dynamics.filtering.conditioning.vertical import FREE, find_flights, find_ground
from humanoid_dynamics.filtering.conditioning.windows import bell_kernel, smooth_columns
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.filtering.sole_edges import FLAT
from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector, read_only

BESIDE = 2  # rows after the next one that its rates are taken from
BACK = 0.5  # s before the next row that windows look at
SLIDING, ALIKE = (
    0.45,
    0.04,
)  # m/s; soles that are faster, and go nearly alike, are not lifted: their robot slides
NO_ROWS, NO_WAY = read_only(np.zeros((0, 2))), read_only(np.zeros(2))


@dataclass(slots=True, eq=False)
class FootState:
    """What is settled about one foot.

    Attributes:
        stands: Whether it stands.
        at: Where it stands, or stood last.
        swing: Its swing; None while it stands.
        slide: Rows (first, after) of a small step that is due; None where none is.
        next: The swing that goes on after the rows handed out.
        since: Row at which it began to stand.
        down: Row at which it comes down to catch the robot, or came down; None where it need not.
        shift: (2,) by how much its next footprint is moved to catch the robot [m].
        tilt: (3,) by how much its heel is up [rad], rate and second rate, while its sole rolls; None while it does not.
        meant: Where it was meant to stand, where it touched down elsewhere or slipped; None otherwise.
        late: Whether it is still in the air although it stands by plan.
    """

    stands: bool
    at: Print
    swing: Swing | None = None
    slide: tuple[int, int] | None = None
    next: Swing | None = None
    since: int = -(10**9)
    down: int | None = None
    shift: Vector = field(default_factory=lambda: np.zeros(2))
    tilt: Vector | None = None
    meant: Print | None = None
    late: bool = False


@dataclass(slots=True, eq=False)
class Window:
    """What one plan knows.

    Attributes:
        start: Row at which it starts.
        now: Row, counted from there, that comes next.
        com: (n, 3) centres of mass, heights repaired, strides scaled [m].
        place: (n, 2, 3) soles, likewise, and not too far apart [m].
        turn: (n, 2, 3, 3) their orientations.
        heading: (n, 2) their headings, from the next row on [rad].
        path: (n, 2) smooth path of the base, from the next row on [m].
        height: (n, 2) heights of their middles over the ground [m].
        speed: (n, 2) speeds of their middles [m/s].
        shift: (n, 3) by how much the base moves.
        aloft: (n,) rows in which the reference flies.
        labels: (n, 2) which feet stand, from the next row on.
        offset: (n, 2) by how much the standing feet of the reference are away from where feet stand [m].
        leap: Rows at which a flight that is made begins to be prepared, begins, and ends; None where none is due.
        way: (2,) how far feet go in it [m].
        edges: (n, 2) what soles stand on, from the next row on: 0 all of it, 1 the front edge; no rows where none rolls.
        led: (n,) heights of the centre of mass on the way into it and out of it, their rates and second rates.
    """

    start: int
    now: int
    com: Matrix
    place: Matrix
    turn: Matrix
    heading: Matrix
    path: Matrix
    height: Matrix
    speed: Matrix
    shift: Matrix
    aloft: Labels
    labels: Labels = field(default_factory=lambda: np.zeros((0, 2), dtype=np.bool_))
    offset: Matrix = field(default_factory=lambda: NO_ROWS)
    leap: tuple[int, int, int] | None = None
    way: Vector = field(default_factory=lambda: NO_WAY)
    led: tuple[Vector, Vector, Vector] | None = None
    edges: Indices = field(default_factory=lambda: np.zeros((0, 2), dtype=np.intp))


def look(track: ReferenceTrack, settings: Settings, row: int, gravity: float) -> Window:
    """Gather the rows that are known, put on the ground.

    Args:
        track: Rows of the reference.
        settings: Times and lengths.
        row: The row that comes next.
        gravity: Size of gravity [m/s^2].

    Returns:
        The window.
    """
    dt, rate = settings.dt, settings.rate
    start = row - round(BACK * rate)
    end = min(track.end, row + max(round(settings.lookahead * rate), BESIDE) + 1)
    n, left = end - start, end - row
    com, place, centre, turn = (
        rows.between(start, end) for rows in (track.com, track.place, track.centre, track.turn)
    )
    aloft: Labels = np.zeros(n, dtype=np.bool_)
    height = com[:, 2]
    bend = height[2:] - 2.0 * height[1:-1] + height[:-2]
    if bend.min(initial=0.0) < -FREE * gravity * dt * dt:
        aloft = find_flights(com[:, 2], np.minimum(centre[:, 0, 2], centre[:, 1, 2]), dt, gravity)
    path = smooth_columns(
        track.q.between(start, end)[:, :2], bell_kernel(settings.stride_smoothing * rate), left
    )
    ground = np.zeros(n)
    if settings.repair_height:
        ground = find_ground(
            centre[:, :, 2], settings.drift_smoothing * rate, aloft if settings.flights else None
        )
    shift = np.zeros((n, 3))
    shift[:, 2] = -ground
    heading, height = (
        track.heading.between(row, end),
        np.maximum(centre[:, :, 2] - ground[:, None], 0.0),
    )
    on_ground, speed = (com + shift, place + shift[:, None]), find_speeds(centre, dt)
    return Window(start, row - start, *on_ground, turn, heading, path, height, speed, shift, aloft)


def find_speeds(centre: Matrix, dt: float) -> Matrix:
    """Return the speeds of both soles, (n, 2) [m/s]; where both slide alike, half the speed at which they part.

    Args:
        centre: (n, 2, 3) middles of the soles [m].
        dt: Time between rows [s].
    """
    rates = np.empty_like(centre)
    rates[1:-1] = (centre[2:] - centre[:-2]) / (2.0 * dt)
    rates[0], rates[-1] = rates[1], rates[-2]  # the ends repeat their neighbours
    speed: Matrix = np.sqrt(np.einsum("nfi,nfi->nf", rates, rates))
    parting = rates[:, 0] - rates[:, 1]
    apart = np.sqrt(np.einsum("ni,ni->n", parting, parting))
    slides = (speed[:, 0] > SLIDING) & (speed[:, 1] > SLIDING) & (apart < ALIKE)
    if slides.any():
        speed[slides] = 0.5 * apart[slides, None]
    return speed


def edges_of(window: Window, row: int) -> tuple[int, int]:
    """Return what soles stand on in a row.

    Args:
        window: What is known.
        row: The row, counted from the next one.
    """
    edges = window.edges
    return (int(edges[row, 0]), int(edges[row, 1])) if len(edges) else (FLAT, FLAT)
