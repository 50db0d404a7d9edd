"""Stage A as a whole: from the rows of a reference to targets for the tick, a few rows at a time.

Every plan looks at the rows that are known now, from a little before the row that comes next to the end of the look-ahead.  What has been
handed out is settled: which feet stood, where, how far the centre of mass was shifted.  All else is planned anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.balance import BoundedShift
from humanoid_dynamics.filtering.contacts import PLANNED_FEET, choose_thresholds, label_window
from humanoid_dynamics.filtering.footholds import Feet, Stance, offset_of_prints, place_prints
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.filtering.slides import drift_from, find_slide
from humanoid_dynamics.filtering.rows import Rows
from humanoid_dynamics.filtering.strides import choose_scale, longest_stride
from humanoid_dynamics.filtering.support import Support, clamp_rows, phases_of
from humanoid_dynamics.filtering.swing import (
    SETTLING,
    Print,
    Swing,
    against,
    go_on,
    offset_to,
    swing_path,
)
from humanoid_dynamics.filtering.target import Target
from humanoid_dynamics.filtering.track import Track
from humanoid_dynamics.filtering.vertical import find_ground
from humanoid_dynamics.filtering.windows import bell_kernel, flat_kernel, slopes, smooth_columns
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.motion.contact_detection import ContactThresholds
from humanoid_dynamics.spatial.arrays import Matrix, Vector

BACK = 0.5  # s before the next row that windows look at
HISTORY = 3.0  # s of the past that tell how high and fast feet are lifted
LARGEST_OFFSET = 0.04  # m; how far angular momentum may move the zero-moment point
STEEPEST_HEIGHT = 4.0  # m/s^2; vertical acceleration of the centre of mass
STRAIGHT = 0.985  # a leg that is straighter than this leaves no room
RESCALING = 0.02  # largest change of the share of the way from plan to plan [-]
REGAINED = 0.004  # trust that comes back from plan to plan [-]
LOWERING = 0.4  # s; how quickly the pelvis is lowered
TRUSTED = (0.8, 0.97)  # share of rows with the zero-moment point inside the feet: below the first none, above the second all is trusted


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
    """

    stands: bool
    at: Print
    swing: Swing | None = None
    slide: tuple[int, int] | None = None
    next: Swing | None = None
    since: int = -(10**9)


@dataclass(slots=True, eq=False)
class Window:
    """What one plan knows.

    Attributes:
        start: Row at which it starts.
        now: Row, counted from there, that comes next.
        com: (n, 3) centres of mass, heights repaired, strides scaled [m].
        place: (n, 2, 3) soles, likewise, and not too far apart [m].
        turn: (n, 2, 3, 3) their orientations.
        heading: (n, 2) their headings [rad].
        path: (n, 2) smooth path of the base [m].
        height: (n, 2) heights of their middles over the ground [m].
        speed: (n, 2) speeds of their middles [m/s].
        shift: (n, 3) by how much the base moves.
        labels: (n, 2) which feet stand, from the next row on.
        offset: (n, 2) by how much the standing feet of the reference are away from where feet stand [m].
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
    labels: Labels = field(default_factory=lambda: np.zeros((0, 2), dtype=bool))
    offset: Matrix = field(default_factory=lambda: np.zeros((0, 2)))


class Planner:
    """Targets from a track, with everything that is settled so far."""

    def __init__(self, robot: RobotModel, proportions: Proportions, settings: Settings, track: Track) -> None:
        """Prepare.

        Args:
            robot: The robot.
            proportions: Its measures.
            settings: Times and lengths.
            track: Rows of the reference.
        """
        self._robot, self._p, self._settings, self._track = robot, proportions, settings, track
        self._dt = settings.dt
        self._ahead = round(settings.lookahead * settings.rate)
        self._drift = bell_kernel(settings.stride_smoothing * settings.rate)
        half = round(min(settings.com_smoothing, 0.3 * settings.lookahead) * settings.rate)
        self._calm = flat_kernel(half)
        self._height = bell_kernel(min(0.06, 0.15 * settings.lookahead) * settings.rate)
        self.now = 0
        self.feet: list[FootState] = []
        self.balance = BoundedShift(proportions.pendulum, settings.dt)
        self._offsets = Rows(2)
        self._lower = np.nan
        self._longest, self._trusted = 0.0, 1.0
        self.scale = choose_scale(0.0, proportions.stride, settings.shorter) if settings.stride_scale is None else settings.stride_scale
        self._limits: ContactThresholds | None = None
        self._measured = -(10**9)

    def plan(self, count: int) -> list[Target]:
        """Plan the next rows; the track must be at least two rows longer.

        Args:
            count: How many, at most.

        Returns:
            Their targets.
        """
        window = self._look()
        if not self.feet:
            self._found(window)
        self._label(window)
        count = min(count, len(window.labels) - 2)
        prints = self._stand(window)
        com = self._plan_com(window, prints, count)
        soles = [self._plan_foot(window, foot, prints[foot], count) for foot in (0, 1)]
        targets = [self._target(window, row, com, soles) for row in range(count)]
        self._settle(window, prints, count)
        return targets

    def landed(self, foot: int, place: Vector, turn: Matrix) -> None:
        """Say where a foot really touched down.

        Args:
            foot: 0 for the left, 1 for the right.
            place: (3,) origin of the sole [m].
            turn: (3, 3) orientation of the sole.
        """
        state = self.feet[foot]
        if state.stands:
            state.at = Print(np.array(place), float(np.arctan2(turn[1, 0], turn[0, 0])), state.at.path)

    def _look(self) -> Window:
        """Gather the rows that are known, put on the ground and scaled (stages A2 and A3)."""
        track, dt, rate = self._track, self._dt, self._settings.rate
        start = self.now - round(BACK * rate)
        end = min(track.end, self.now + self._ahead + 1)
        now = self.now - start
        centre = track.centre.between(start, end)
        ground = find_ground(centre[:, :, 2], self._settings.drift_smoothing * rate)
        if not self._settings.repair_height:
            ground = np.zeros_like(ground)
        path = smooth_columns(track.q.between(start, end)[:, :2], self._drift)
        shift = np.column_stack((np.zeros((len(ground), 2)), -ground))
        com = track.com.between(start, end) + shift
        turn = track.turn.between(start, end)
        place = track.place.between(start, end) + shift[:, None]
        first, _ = slopes(centre.reshape(len(centre), 6), dt)
        speed = np.linalg.norm(first.reshape(-1, 2, 3), axis=2)
        heading = np.arctan2(turn[:, :, 1, 0], turn[:, :, 0, 0])
        height = np.maximum(centre[:, :, 2] - ground[:, None], 0.0)
        return Window(start, now, com, place, turn, heading, path, height, speed, shift)

    def _found(self, window: Window) -> None:
        """Settle where the feet stand at the very beginning."""
        limits = self._thresholds(window)
        for foot in (0, 1):
            low = window.height[window.now, foot] < limits.height_off
            place = np.array([*window.place[window.now, foot, :2], 0.0])
            at = Print(place, float(window.heading[window.now, foot]), window.path[window.now])
            self.feet.append(FootState(bool(low), at))
            if not low:
                self.feet[foot].swing = Swing(self.now, at)

    def _thresholds(self, window: Window) -> ContactThresholds:
        """Follow how still standing feet are, four times a second."""
        if self._limits is None or self.now - self._measured > 0.25 * self._settings.rate:
            self._measured = self.now
            track = self._track
            start = max(self.now - round(HISTORY * self._settings.rate), track.centre.first)
            centre = track.centre.between(start, window.start + len(window.com))
            base = track.q.between(start, window.start + len(window.com))[:, :2]
            self._limits = choose_thresholds(centre, base, self._dt)
        return self._limits

    def _label(self, window: Window) -> None:
        """Tell which feet stand (stages A2 and A4)."""
        before = (self.feet[0].stands, self.feet[1].stands)
        rows = slice(window.now, None)
        stood = (self.now - self.feet[0].since, self.now - self.feet[1].since)
        labels = label_window(window.height[rows], window.speed[rows], self._thresholds(window), (before, stood), self._dt)
        for foot in (0, 1):
            state = self.feet[foot]
            if state.slide and state.slide[1] <= self.now:
                state.slide = None
            if self._settings.split_slides and state.slide is None and state.stands and labels[0, foot]:
                self._seek_slide(window, labels, foot)
            if state.slide:
                self._apply_slide(labels, foot)
        window.labels = labels
        if self._settings.stride_scale is None:
            self._longest = max(self._longest, longest_stride(self._track.centre.between(self.now, self.now + len(labels)), labels))
            wanted = choose_scale(self._longest, self._p.stride, self._settings.shorter)
            self.scale += float(np.clip(wanted - self.scale, -RESCALING, RESCALING))

    def _seek_slide(self, window: Window, labels: Labels, foot: int) -> None:
        state, rows = self.feet[foot], slice(window.now, None)
        drift = self._drift_of(window, foot, labels)
        if self.feet[1 - foot].slide or not self.feet[1 - foot].stands:
            return
        found = find_slide(drift, window.speed[rows, foot], labels[:, foot], labels[:, 1 - foot], self._dt)
        if found:
            state.slide = (self.now + found[0], self.now + found[1])

    def _drift_of(self, window: Window, foot: int, labels: Labels) -> tuple[Vector, Vector]:
        """Return how far a standing foot of the reference is, seen from the other one, from where it stands."""
        rows, at, other = slice(window.now, None), self.feet[foot].at, self.feet[1 - foot].at
        apart = window.place[rows, foot] - window.place[rows, 1 - foot]
        apart[:, :2] += (self.scale - 1.0) * (at.path - other.path)
        distance, turn = drift_from(apart, window.heading[rows, foot], at.place - other.place, at.heading)
        both = np.logical_and.accumulate(labels[:, 1 - foot])
        return np.where(both, distance, 0.0), np.where(both, turn, 0.0)

    def _apply_slide(self, labels: Labels, foot: int) -> None:
        state = self.feet[foot]
        if state.slide is None:
            return
        first, after = (max(row - self.now, 0) for row in state.slide)
        other = labels[first:after, 1 - foot]
        if state.swing is None and not other.all():  # the other foot is needed elsewhere: no small step
            state.slide = None
            return
        labels[first:after, foot] = False
        labels[first:after, 1 - foot] = True

    def _stand(self, window: Window) -> list[list[Stance]]:
        """Choose footholds (stages A3 and A5) and move the reference along with them."""
        now = slice(window.now, None)
        feet = Feet(window.place[now], window.heading[now], window.path[now], window.labels)
        at, stands = (self.feet[0].at, self.feet[1].at), (self.feet[0].stands, self.feet[1].stands)
        prints = place_prints(feet, at, stands, self.scale, self._p.widest, self._dt)
        offset = np.vstack((self._offsets.between(window.start, self.now) if self.now else np.zeros((window.now, 2)), offset_of_prints(feet, prints)))
        if not self.now:
            offset[: window.now] = offset[window.now]
        window.offset = offset
        shift = smooth_columns(offset, self._drift)
        window.shift[:, :2] = shift
        window.com[:, :2] += shift
        window.place[:, :, :2] += shift[:, None]
        return prints

    def _plan_com(self, window: Window, prints: list[list[Stance]], count: int) -> tuple[Matrix, Matrix, Matrix]:
        """Plan the centre of mass (stages A6 and A7)."""
        dt, now, w = self._dt, window.now, self._p.pendulum
        place = smooth_columns(window.com, self._calm)
        place[:, 2] = np.convolve(np.pad(window.com[:, 2], len(self._height) // 2, mode="edge"), self._height, mode="valid")
        rate, second = slopes(place, dt)
        second[:, 2] = np.clip(second[:, 2], -STEEPEST_HEIGHT, STEEPEST_HEIGHT)
        com, rate, second = place[now:], rate[now:], second[now:]
        if not self._settings.balance:
            return com[:count], rate[:count], second[:count]
        spin = smooth_columns(self._track.spin.between(window.start, window.start + len(window.com))[:, :2], self._calm)
        torque = slopes(spin, dt)[0][now:]
        g = self._p.gravity + second[:, 2]
        offset = np.clip(np.column_stack((-torque[:, 1], torque[:, 0])) / (self._p.mass * g)[:, None], -LARGEST_OFFSET, LARGEST_OFFSET)
        zmp = com[:, :2] - (com[:, 2] / g)[:, None] * second[:, :2] + offset
        rows, supports = self._supports(window, prints)
        moved = clamp_rows(zmp, supports, rows, self._trust(zmp, supports, rows))
        moved = smooth_columns(moved - zmp, bell_kernel(0.03 / dt))
        x, x_rate, x_second = self.balance.advance(moved, count)
        lowered, fall = self._lowered(window, count)
        second = second[:count] + np.column_stack((x_second, np.zeros(count)))
        rate = rate[:count] + np.column_stack((x_rate, -fall))
        return com[:count] + np.column_stack((x, -lowered)), rate, second

    def _supports(self, window: Window, prints: list[list[Stance]]) -> tuple[list[int], list[Support]]:
        rows, supports = [], []
        for row, stands in phases_of(window.labels):
            corners = []
            for foot in (0, 1):
                at = next((found[2] for found in prints[foot] if found[0] <= row < found[1]), None)
                if stands[foot] and at is not None:
                    corners.append((self._p.corners[foot] @ at.turn().T + at.place)[:, :2])
            if not corners:
                continue
            share = self._settings.inside_two if len(corners) > 1 else self._settings.inside_one
            rows.append(row)
            supports.append(Support(np.vstack(corners), share))
        if rows:
            rows[0] = 0
        return rows, supports

    def _trust(self, zmp: Matrix, supports: list[Support], rows: list[int]) -> float:
        ends = [*rows[1:], len(zmp)]
        inside = sum(int(np.sum(s.reach(zmp[a:b]) <= 1.0)) for s, a, b in zip(supports, rows, ends, strict=True)) / len(zmp)
        now = float(np.clip((inside - TRUSTED[0]) / (TRUSTED[1] - TRUSTED[0]), 0.0, 1.0))
        self._trusted = min(now, self._trusted + REGAINED)
        return self._trusted

    def _lowered(self, window: Window, count: int) -> tuple[Vector, Vector]:
        """Lower the pelvis where a standing leg is straight."""
        stretch = self._track.stretch.between(self.now, self.now + len(window.labels))
        straight = float(np.max(np.where(window.labels, stretch, 0.0)))
        wanted = self._settings.extra_lower
        if self._settings.lower:
            wanted += (1.0 - self._trusted) * self._settings.lower * self._p.leg * float(np.clip((straight - 0.96) / (STRAIGHT - 0.96), 0.0, 1.0))
        if np.isnan(self._lower):
            self._lower = wanted
        decay = float(np.exp(-self._dt / LOWERING))
        lowered = np.empty(count)
        for row in range(count):
            lowered[row] = self._lower
            self._lower = wanted + decay * (self._lower - wanted)
        return lowered, (wanted - lowered) / LOWERING

    def _plan_foot(
        self, window: Window, foot: int, prints: list[Stance], count: int
    ) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        """Return places, orientations, velocities and accelerations of a sole for the next rows (stage A5)."""
        state = self.feet[foot]
        places, turns = np.empty((count + 2, 3)), np.empty((count + 2, 3, 3))
        standing = state.at if state.stands else None
        labels = np.concatenate(([state.stands], window.labels[: count + 1, foot]))
        for row in range(count + 2):  # row 0 is the one before the next
            if labels[row]:
                at = standing if row == 0 else next((p[2] for p in prints if p[0] <= row - 1 < p[1]), standing)
                at = at or state.at
                places[row], turns[row] = at.place, at.turn()
                standing = at
        for first, after in _swings(labels):
            self._fill_swing(window, foot, prints, (first, after), (places, turns))
        rate, second = np.empty((count, 6)), np.empty((count, 6))
        dt = self._dt
        rate[:, :3] = (places[2:] - places[:-2]) / (2 * dt)
        second[:, :3] = (places[2:] - 2 * places[1:-1] + places[:-2]) / dt**2
        steps = np.array([pin.log3(turns[row + 1] @ turns[row].T) for row in range(count + 1)])
        rate[:, 3:] = (steps[1:] + steps[:-1]) / (2 * dt)
        second[:, 3:] = (steps[1:] - steps[:-1]) / dt**2
        return places[1:-1], turns[1:-1], rate, second

    def _fill_swing(self, window: Window, foot: int, prints: list[Stance], rows: tuple[int, int], out: tuple[Matrix, Matrix]) -> None:
        """Write the rows (counted from the one before the next) of one swing."""
        state, now, dt = self.feet[foot], window.now, self._dt
        first, after = rows
        lifted = max(first - 1, 0)
        swing = state.swing if first == 0 else None
        if swing is None:
            origin = next((p[2] for p in reversed(prints) if p[1] <= lifted), state.at) if first > 0 else state.at
            swing = self._lift(window, foot, origin, lifted)
        ahead = next((p for p in prints if p[0] > lifted), None)
        index = np.arange(now + first - 1, now + after - 1)
        goal, duration = self._goal(window, foot, swing, ahead, lifted)
        states = go_on(swing.offset, goal, duration, (index - now - lifted) * dt)
        turns = np.array([pin.exp3(o[3:]) @ R for o, R in zip(states[:, 0], window.turn[index, foot], strict=True)])
        places = window.place[index, foot] + states[:, 0, :3]
        length = np.inf if ahead is None else float(self.now + ahead[0] - swing.start)
        lift = float(np.max(window.height[now : now + (ahead[0] if ahead else len(window.labels)), foot], initial=0.0))
        swing_path(places, turns, lift, (index - now + self.now - swing.start) / length, self._p.corners[foot])
        out[0][first:after], out[1][first:after] = places, turns
        if after == len(out[0]):  # it goes on into the next plan, which starts at the last of these rows
            swing.offset = states[-1]
            state.next = swing

    def _goal(self, window: Window, foot: int, swing: Swing, ahead: Stance | None, lifted: int) -> tuple[Matrix, float]:
        """Return what the offset of a swinging foot must become, and in what time: at rest on its print, if that is near."""
        goal = np.zeros((3, 6))
        if ahead is None:
            goal[0] = swing.offset[0]
            return goal, SETTLING
        touch = min(window.now + ahead[0], len(window.place) - 2)
        goal[0] = offset_to(ahead[2], window.place[touch, foot], window.turn[touch, foot])
        duration = (ahead[0] - lifted) * self._dt
        if duration > SETTLING:
            return goal, SETTLING
        goal[1:] = self._against(window, foot, touch)
        return goal, duration

    def _against(self, window: Window, foot: int, at: int) -> Matrix:
        if self._limits is PLANNED_FEET:  # these start and end at rest by themselves
            return np.zeros((2, 6))
        rows = slice(at - 1, at + 2)
        return against(window.place[rows, foot], window.turn[rows, foot], self._dt)

    def _lift(self, window: Window, foot: int, origin: Print, row: int) -> Swing:
        at = window.now + row
        swing = Swing(self.now + row, origin)
        swing.offset[0] = offset_to(origin, window.place[at, foot], window.turn[at, foot])
        swing.offset[1:] = self._against(window, foot, at)
        return swing

    def _target(self, window: Window, row: int, com: tuple[Matrix, Matrix, Matrix], soles: list[tuple[Matrix, ...]]) -> Target:
        track, dt, at = self._track, self._dt, self.now + row
        model = self._robot.model
        before, q, after = track.q.between(at - 1, at + 2)
        back, ahead = pin.difference(model, before, q) / dt, pin.difference(model, q, after) / dt
        placed = np.array(q)
        placed[:3] += window.shift[window.now + row]
        place, turn, rate, second = (np.array([sole[k][row] for sole in soles]) for k in range(4))
        return Target(
            (bool(window.labels[row, 0]), bool(window.labels[row, 1])),
            com[0][row],
            com[1][row],
            com[2][row],
            placed,
            0.5 * (back + ahead),
            (ahead - back) / dt,
            place,
            turn,
            rate,
            second,
            np.zeros(2),
            np.tile([0.0, 0.0, 1.0], (2, 1)),
            np.array([_until_lift(window.labels[row:, foot]) * dt for foot in (0, 1)]),
        )

    def _settle(self, window: Window, prints: list[list[Stance]], count: int) -> None:
        """Go on to the row after those handed out."""
        for foot in (0, 1):
            state, labels = self.feet[foot], window.labels[:, foot]
            at = next((p[2] for p in prints[foot] if p[0] <= count - 1 < p[1]), None)
            state.stands = bool(labels[count - 1])
            if state.stands and at is not None:
                state.at, state.swing = at, None
                stood = count - 1 - int(np.argmin(labels[count - 1 :: -1])) if not labels[:count].all() else -1
                state.since = self.now + stood + 1 if stood >= 0 else state.since
            else:
                state.at = next((p[2] for p in reversed(prints[foot]) if p[0] < count), state.at)
                state.swing = state.next
        for row in range(count):
            self._offsets.append(window.offset[window.now + row])
        self.now += count


def _swings(labels: Labels) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(labels.astype(np.int8)))
    bounds = [0, *(edges + 1).tolist(), len(labels)]
    return [(a, b) for a, b in zip(bounds[:-1], bounds[1:], strict=True) if not labels[a]]


def _until_lift(labels: Labels) -> float:
    """Return after how many rows a foot is lifted; infinite where that is not seen."""
    return np.inf if labels.all() else float(np.argmin(labels))
