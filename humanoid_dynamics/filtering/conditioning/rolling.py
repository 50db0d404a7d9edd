# SPDX-License-Identifier: Apache-2.0
"""Soles that roll: at the end of a stance the heel rises and the sole turns about its front edge until it is lifted."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.conditioning.footholds import Stance
from humanoid_dynamics.filtering.conditioning.swing import Print, go_on
from humanoid_dynamics.filtering.conditioning.window import FootState, Window
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.filtering.sole_edges import HEEL, TOE, SoleEdges, find_edges
from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.spatial.arrays import Matrix, Vector

HEEL_FIRST = 0.08  # s in which a sole that came down on its rear edge lies down
TOES_UP = (
    0.08,
    0.25,
)  # rad; a reference whose toes are up by less comes down flat; by how much they are up at most
TAKEN_OVER = 0.045  # s after the other sole touched down, before the heel rises
SHORTEST_ROLL = 0.03  # s
RISEN = 0.15  # rad; a reference whose heel is up by less does not roll
STEEPEST = 0.6  # rad
FASTEST_ROLL = 5.0  # rad/s, in the mean
BEHIND = 0.15  # of the leg; the sole that rolls is so far behind the other one
LONGEST_ROLL = 0.2  # s
NEEDED = (
    0.55,
    1.3,
)  # legs from foot to foot beyond which the heel must rise, and by how much per leg [rad]
LYING_DOWN = 0.2  # s in which a heel that is up comes down where the sole is not lifted


@dataclass(slots=True, eq=False)
class Roll:
    """A sole that turns about its front edge, in the rows of one plan.

    Attributes:
        first: Row, counted from the next one, from which on it does.
        after: Row at which it is lifted, or lies flat again.
        tilt: (n, 3) its tilt [rad], rate and second rate from the row before the first on; zero rows there where it was flat.
        start: Row the first of these belongs to.
        kind: The edge.
    """

    first: int
    after: int
    start: int
    tilt: Matrix = field(default_factory=lambda: np.zeros((0, 3)))
    kind: int = TOE


class RollPlanner:
    """When and how far heels rise."""

    def __init__(self, proportions: Proportions, settings: Settings) -> None:
        """Prepare.

        Args:
            proportions: Measures of the robot.
            settings: Times and lengths.
        """
        self._p, self._dt = proportions, settings.dt
        self._lands_on_heels = settings.heels
        self.heels: list[Roll | None] = [None, None]
        self.active = settings.toe_roll and all(len(corners) > 2 for corners in proportions.corners)
        self.edges: tuple[SoleEdges, ...] = (
            tuple(find_edges(corners) for corners in proportions.corners) if self.active else ()
        )

    def plan(
        self, window: Window, feet: list[FootState], prints: list[list[Stance]]
    ) -> list[Roll | None]:
        """Find the next roll of each foot, and mark its rows in the window.

        Args:
            window: What is known; written to.
            feet: What is settled about both feet.
            prints: Where feet will stand.

        Returns:
            The roll of each foot, or None.
        """
        if not self.active or window.leap is not None:
            self.heels = [None, None]
            return [None, None]
        window.edges = np.zeros(window.labels.shape, dtype=np.intp)
        self.heels = [self._find_heel(window, foot, feet[foot], prints[foot]) for foot in (0, 1)]
        rolls: list[Roll | None] = [self._find(window, foot, feet, prints) for foot in (0, 1)]
        for kind, found in ((TOE, rolls), (HEEL, self.heels)):
            for foot, roll in enumerate(found):
                if roll is not None:
                    window.edges[roll.first : roll.after, foot] = kind
        return rolls

    def _find_heel(
        self, window: Window, foot: int, state: FootState, prints: list[Stance]
    ) -> Roll | None:
        """Return how a foot lies down after its next touch-down, or the one it is just after."""
        labels, length = window.labels, round(HEEL_FIRST / self._dt)
        if not self._lands_on_heels:
            return None
        if state.tilt is not None and state.tilt[0] < 0.0:
            after = state.since + length - (window.start + window.now)
            return self._lay(state.tilt, (0, after), -1) if after > 0 and labels[0, foot] else None
        first = next((p[0] for p in prints if p[0] > 0), len(labels))
        if (
            first + length >= len(labels) - 2
            or not labels[first - 1 : first + length, 1 - foot].all()
        ):
            return None
        R = window.turn[window.now + first, foot]
        tilt = max(float(np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))), -TOES_UP[1])
        return (
            self._lay(np.array([tilt, 0.0, 0.0]), (first, first + length), first)
            if tilt < -TOES_UP[0]
            else None
        )

    def _lay(self, state: Vector, rows: tuple[int, int], start: int) -> Roll:
        count = rows[1] - start + 1
        times = np.asarray(self._dt * np.arange(count), dtype=np.float64)
        tilt = go_on(state[:, None], np.zeros((3, 1)), (count - 1) * self._dt, times)[:, :, 0]
        return Roll(*rows, start, tilt, HEEL)

    def _find(
        self, window: Window, foot: int, feet: list[FootState], prints: list[list[Stance]]
    ) -> Roll | None:
        """Return the roll before the next lift-off of a foot."""
        state, labels, dt = feet[foot], window.labels, self._dt
        stance = next((p for p in prints[foot] if p[1] > 0), None)
        if stance is None or (state.tilt is not None and (stance[0] > 0 or state.tilt[0] < 0.0)):
            return None
        first, after, at = stance
        lifted = after < len(labels) - 2
        if not lifted:
            return self._lie_down(state, len(labels)) if state.tilt is not None else None
        if state.tilt is not None:  # it rolls already
            return self._fill(window, foot, (0, after), state.tilt)
        begin = self._taken_over(window, foot, feet, (first, after)) + round(TAKEN_OVER / dt)
        heel = self.heels[1 - foot]
        begin = max(begin, heel.after if heel is not None and heel.first < after else 0)
        begin = max(
            begin,
            first + round(TAKEN_OVER / dt) if first else 0,
            after - round(LONGEST_ROLL / dt),
            0,
        )
        other = next((p[2] for p in prints[1 - foot] if p[0] <= after < p[1]), None)
        if other is None or after - begin < SHORTEST_ROLL / dt:
            return None
        behind = self._behind(at, other)
        return (
            self._fill(window, foot, (begin, after), np.zeros(3), behind)
            if behind > BEHIND
            else None
        )

    def _taken_over(
        self, window: Window, foot: int, feet: list[FootState], rows: tuple[int, int]
    ) -> int:
        """Return the row from which on the other sole stands as well, up to the lift-off; that after it where it does not."""
        other = window.labels[: rows[1], 1 - foot]
        if not other[-1]:
            return rows[1]
        if other.all():
            return (
                int(feet[1 - foot].since) - (window.start + window.now)
                if feet[1 - foot].stands
                else 0
            )
        return len(other) - int(np.argmin(other[::-1]))

    def _behind(self, at: Print, other: Print) -> float:
        """Return how far a sole is behind the other one, in legs."""
        ahead = np.array([np.cos(at.heading), np.sin(at.heading)])
        return float(ahead @ (other.place[:2] - at.place[:2])) / self._p.leg

    def _fill(
        self, window: Window, foot: int, rows: tuple[int, int], state: Vector, behind: float = 0.0
    ) -> Roll | None:
        """Let the heel rise to where it is in the reference at the lift-off."""
        (first, after), dt = rows, self._dt
        now = window.now + min(after, len(window.turn) - window.now - 1)
        R = window.turn[now, foot]
        goal = float(np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0])))
        duration = (after - first + 1) * dt
        goal = max(goal, NEEDED[1] * (behind - NEEDED[0]))
        goal = min(goal, STEEPEST, float(state[0]) + FASTEST_ROLL * duration)
        if goal < RISEN and not state.any():
            return None
        end = np.array(
            [max(goal, 0.0), min(max(goal, 0.0) / max(duration, 0.05), FASTEST_ROLL), 0.0]
        )
        times = np.asarray(dt * np.arange(after - first + 2), dtype=np.float64)
        tilt = go_on(state[:, None], end[:, None], duration, times)[:, :, 0]
        return Roll(first, after, first - 1, tilt)

    def _lie_down(self, state: FootState, length: int) -> Roll | None:
        if state.tilt is None or abs(float(state.tilt[0])) < 1e-3:
            return None
        times = np.asarray(self._dt * np.arange(length + 2), dtype=np.float64)
        tilt = go_on(state.tilt[:, None], np.zeros((3, 1)), LYING_DOWN, times)[:, :, 0]
        return Roll(0, length, -1, tilt)

    def write(
        self, roll: Roll, foot: int, at: Print, rows: slice, out: tuple[Matrix, Matrix]
    ) -> None:
        """Write places and orientations of a sole while it rolls.

        Args:
            roll: The roll.
            foot: 0 for the left, 1 for the right.
            at: Where it stands.
            rows: Rows to write, counted from the one before the next.
            out: (n, 3) places [m] and (n, 3, 3) orientations of those rows on; written to.
        """
        point, R = self.edges[foot].middle(roll.kind), at.turn()
        for row in range(rows.start, rows.stop):
            k = row - 1 - roll.start
            if 0 <= k < len(roll.tilt):
                turn = tilted(float(roll.tilt[k, 0]))
                out[0][row], out[1][row] = at.place + R @ (point - turn @ point), R @ turn

    def move(self, roll: Roll, foot: int, at: Print, row: int) -> tuple[Vector, Matrix, Matrix]:
        """Return how a sole moves in a roll.

        Args:
            roll: The roll.
            foot: 0 for the left, 1 for the right.
            at: Where it stands.
            row: Row of the roll; the last one is where the sole is lifted.

        Returns:
            Its place (3,) [m] and orientation (3, 3), and (2, 6) velocity and acceleration, axes of the world.
        """
        tilt, rate, second = roll.tilt[row].tolist()
        point, R, turn = self.edges[foot].middle(roll.kind), at.turn(), tilted(tilt)
        arm, axis = -(R @ turn @ point), R[:, 1]
        moves = np.zeros((2, 6))
        moves[0, :3], moves[0, 3:] = rate * np.cross(axis, arm), rate * axis
        moves[1, :3] = second * np.cross(axis, arm) + rate * rate * np.cross(
            axis, np.cross(axis, arm)
        )
        moves[1, 3:] = second * axis
        return at.place + R @ point + arm, R @ turn, moves


def tilted(tilt: float) -> Matrix:
    """Return the orientation of a sole whose heel is up, in axes of the flat one.

    Args:
        tilt: By how much [rad].
    """
    return np.asarray(pin.utils.rotate("y", tilt))


def rolling_heights(
    window: Window, edges: tuple[SoleEdges, ...], dt: float
) -> tuple[Matrix, Matrix]:
    """Return how high soles are and how fast, where the heel is up those of the front edge.

    Args:
        window: What is known.
        edges: Edges of both soles.
        dt: Time between rows [s].

    Returns:
        (n, 2) heights [m] and (n, 2) speeds [m/s].
    """
    height, speed = window.height.copy(), window.speed.copy()
    for foot in (0, 1):
        toe = window.place[:, foot] + window.turn[:, foot] @ edges[foot].middle(TOE)
        rate = np.zeros(len(toe))
        rate[1:-1] = np.linalg.norm(toe[2:] - toe[:-2], axis=1) / (2.0 * dt)
        rate[0], rate[-1] = rate[1], rate[-2]
        up = -window.turn[:, foot, 2, 0] > RISEN
        height[up, foot] = np.minimum(height[up, foot], np.maximum(toe[up, 2], 0.0))
        speed[up, foot] = np.minimum(speed[up, foot], rate[up])
    return height, speed


def find_behind(window: Window, least: float) -> Labels:
    """Return where each sole is behind the other one, as it must be to roll.

    Args:
        window: What is known.
        least: How far [m].

    Returns:
        (n, 2) labels of all rows of the window.
    """
    apart, ahead = window.place[:, ::-1, :2] - window.place[:, :, :2], window.turn[:, :, :2, 0]
    behind: Labels = np.sum(ahead * apart, axis=2) > least * np.hypot(
        ahead[:, :, 0], ahead[:, :, 1]
    )
    return behind
