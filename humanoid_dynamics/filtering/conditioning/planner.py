"""Stage A as a whole: from the rows of a reference to targets for the tick, a few rows at a time.

Every plan looks at the rows that are known now, from a little before the row that comes next to the end of the look-ahead.  What has been
handed out is settled: which feet stood, where, how far the centre of mass was shifted.  All else is planned anew.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.conditioning.catching import Catcher
from humanoid_dynamics.filtering.conditioning.centre import CentrePlanner
from humanoid_dynamics.filtering.conditioning.contacts import PLANNED_FEET
from humanoid_dynamics.filtering.conditioning.flights import FlightPlanner
from humanoid_dynamics.filtering.conditioning.footholds import Feet, Stance, offset_of_prints, place_prints
from humanoid_dynamics.filtering.conditioning.gate import FAR_ENOUGH, HoldGate
from humanoid_dynamics.filtering.conditioning.labelling import Labeller
from humanoid_dynamics.filtering.conditioning.rolling import Roll, RollPlanner
from humanoid_dynamics.filtering.conditioning.rows import Rows
from humanoid_dynamics.filtering.conditioning.sole_kernels import find_rates, move_rows, turn_between
from humanoid_dynamics.filtering.conditioning.support import Support
from humanoid_dynamics.filtering.conditioning.swing import CLEARANCE, SETTLING, Print, Swing, against, go_on, offset_to, swing_path
from humanoid_dynamics.filtering.conditioning.swing_times import lengthen_swings
from humanoid_dynamics.filtering.conditioning.track import Track
from humanoid_dynamics.filtering.conditioning.window import FootState, Window, edges_of, look
from humanoid_dynamics.filtering.conditioning.windows import bell_kernel, smooth_columns
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.filtering.ticks.wish_kernels import quaternion_of
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.motion.schedule import runs
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only
from humanoid_dynamics.spatial.compiling import compile_where_possible

ROLLING_AHEAD = 0.75  # what part of a distance ahead counts where soles roll
UP = read_only([0.0, 0.0, 1.0])  # normal of level ground
ROTATIONS = (quaternion_of, turn_between)
SoleRows = tuple[Matrix, Matrix, Matrix, Matrix]


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
        self._drift = bell_kernel(settings.stride_smoothing * settings.rate)
        self.now = 0
        self._offsets = Rows(2)
        self._ahead = ROLLING_AHEAD if settings.edges else 1.0
        self.restart()

    def restart(self) -> None:
        """Go on from the next row as if motion began there: feet are where the reference has them."""
        proportions, settings, track = self._p, self._settings, self._track
        self._last_height = proportions.height
        self.feet: list[FootState] = []
        self.labeller = Labeller(proportions, settings, track)
        self.centre = CentrePlanner(proportions, settings, track)
        self._offsets.begin(self.now)
        self.catcher = Catcher(proportions, settings.dt)
        far = settings.lookahead >= FAR_ENOUGH
        self.gate = HoldGate(proportions.pendulum, settings.dt, active=settings.gate and not far)
        self.flights = FlightPlanner(proportions, settings, active=settings.flights and far)
        self.rolling = RollPlanner(proportions, settings)
        self._rolls: list[Roll | None] = [None, None]

    def plan(self, count: int, state: tuple[Vector, Vector] | None = None) -> list[Target]:
        """Plan the next rows; the track must be at least two rows longer.

        Args:
            count: How many, at most.
            state: Centre of mass [m] and its velocity [m/s] of the robot, for the gate.

        Returns:
            Their targets.
        """
        window = self._look()
        borne = None if state is None else (state[0][:2] + self._p.lean, state[1])
        if borne is not None and self.flights.leap is None and self._catches(borne):
            count = 1  # the next plan knows how far the robot is from this one
        window.labels = self.labeller.label(window, self.feet, self.now)
        self.flights.mark(window, self.now)
        if window.leap is not None:
            self._ride(window, state)
        elif state is not None:
            self.catcher.hurry(self.feet, window.labels, self.now)
            self.catcher.move_prints(self.feet, window.labels)
        count = min(count, len(window.labels) - 2)
        prints = self._stand(window)
        self._rolls = self.rolling.plan(window, self.feet, prints)
        if self.gate.active and borne is not None:
            lifted = [foot for foot in (0, 1) if self.feet[foot].stands and not window.labels[0, foot]]
            if len(lifted) == 1 and self._must_wait(lifted[0], borne):
                return self._wait(window, lifted[0], count)
            self._go_on()
            count = min(count, _until_change(window.labels))
        com = self.centre.plan(window, prints, count)
        if state is not None:
            self.catcher.compare(state, com)
        soles = _room_for_soles(count)
        for foot in (0, 1):
            self._plan_foot(window, foot, prints[foot], soles)
        targets = self._targets(window, com, soles, count)
        self._settle(window, prints, count)
        self._last_height = float(com[0][-1, 2])
        return targets

    def _ride(self, window: Window, state: tuple[Vector, Vector] | None) -> None:
        """While the robot flies nothing leads it: what is planned begins where it is."""
        if state is not None and not any(foot.stands for foot in self.feet) and not window.labels[0].any():
            self.centre.rebase = np.array(state[0][:2])
            self.flights.land(window, (self.feet[0].at.place, self.feet[1].at.place), state, self._p.pendulum)

    def _look(self) -> Window:
        window = look(self._track, self._settings, self.now, self._p.gravity)
        if not self.feet:
            self._found(window)
        return window

    def _catches(self, state: tuple[Vector, Vector]) -> bool:
        """Lift a foot where only a step can catch the robot; what is planned then begins where it is."""
        lifts = self.catcher.lift(self.feet, self.centre.support(self.feet[0].at, self.feet[1].at), state, self.now)
        if lifts:
            self.centre.rebase = state[0] - self._p.lean
        return lifts

    def _go_on(self) -> None:
        """Begin where the centre of mass was led to while time stood still."""
        led = self.gate.release()
        if led is not None and self.centre.rebase is None:
            self.centre.rebase = led - self._p.lean

    def _must_wait(self, foot: int, state: tuple[Vector, Vector]) -> bool:
        return self.feet[1 - foot].stands and self.gate.closed(self._other(foot), state[0][:2], state[1][:2])

    def _other(self, foot: int) -> Support:
        """Return the sole that stays when a foot is lifted."""
        left, right = self.feet[0].at, self.feet[1].at
        return self.centre.support(None, right) if foot == 0 else self.centre.support(left, None)

    def _wait(self, window: Window, foot: int, count: int) -> list[Target]:
        """Let time stand still: both feet stand, the centre of mass goes over the one that stays."""
        place, rate, second = self.gate.wait(self._other(foot), count)
        level = np.full((count, 1), self._last_height)
        flat = np.zeros((count, 1))
        com = (np.hstack((place - self._p.lean, level)), np.hstack((rate, flat)), np.hstack((second, flat)))
        soles = _room_for_soles(count)
        for foot, state in enumerate(self.feet):
            soles[0][:, foot], soles[1][:, foot] = state.at.place, state.at.turn()
        targets = []
        for row in range(count):
            (target,) = self._targets(window, (com[0][row:], com[1][row:], com[2][row:]), soles, 1)
            target.touches, target.v, target.a = (True, True), 0.0 * target.v, 0.0 * target.a
            target.until[:] = np.inf
            targets.append(target)
        return targets

    def lie_down(self) -> None:
        """Make no small steps any more: the robot has fallen, and its feet are not where they were planned."""
        self.labeller.lies = True
        for state in self.feet:
            state.slide = state.down = None

    def landed(self, foot: int, place: Vector, turn: Matrix) -> None:
        """Say where a foot really touched down.

        Args:
            foot: 0 for the left, 1 for the right.
            place: (3,) origin of the sole [m].
            turn: (3, 3) orientation of the sole.
        """
        if not self.feet:  # planning begins anew and will find out
            return
        state = self.feet[foot]
        if state.stands:
            state.at = Print(np.array(place), float(np.arctan2(turn[1, 0], turn[0, 0])), state.at.path)

    def _found(self, window: Window) -> None:
        """Settle where the feet stand at the very beginning."""
        limits = self.labeller.thresholds(window, self.now)
        for foot in (0, 1):
            low = window.height[window.now, foot] < limits.height_off
            place = np.array([*window.place[window.now, foot, :2], 0.0])
            at = Print(place, float(window.heading[window.now, foot]), window.path[0])
            self.feet.append(FootState(bool(low), at))
            if not low:
                self.feet[foot].swing = Swing(self.now, at)

    def _stand(self, window: Window) -> list[list[Stance]]:
        """Choose footholds (stages A3 and A5) and move the reference along with them."""
        now = slice(window.now, None)
        shift = np.array([state.shift for state in self.feet])
        landing = None if window.leap is None else (window.leap[2] - window.now, window.way)
        feet = Feet(window.place[now], window.heading[now], window.path, window.labels, shift, landing)
        at, stands = (self.feet[0].at, self.feet[1].at), (self.feet[0].stands, self.feet[1].stands)
        limits = (self.labeller.scale, self._p.widest, self._ahead)
        prints = place_prints(feet, at, stands, limits, self._dt)
        if window.leap is None and self._lengthen(window.labels, prints):
            prints = place_prints(feet, at, stands, limits, self._dt)
        offset = np.zeros((len(window.com), 2))
        offset[now] = offset_of_prints(feet, prints)
        offset[: window.now] = self._offsets.between(window.start, self.now) if self.now else offset[window.now]
        window.offset = offset
        shift = smooth_columns(offset, self._drift)
        window.shift[:, :2] = shift
        window.com[:, :2] += shift
        window.place[:, :, :2] += shift[:, None]
        return prints

    def _lengthen(self, labels: Labels, prints: list[list[Stance]]) -> bool:
        """Leave feet in the air for as long as their ways need; return whether that changes anything."""
        last = [(state.at, 0 if state.swing is None else self.now - state.swing.start) for state in self.feet]
        return lengthen_swings(labels, prints, last, self._dt)

    def _plan_foot(self, window: Window, foot: int, prints: list[Stance], soles: SoleRows) -> None:
        """Write places, orientations, velocities and accelerations of a sole for the next rows (stage A5)."""
        state, count = self.feet[foot], len(soles[0])
        places, turns = np.empty((count + 2, 3)), np.empty((count + 2, 3, 3))
        labels = [state.stands, *window.labels[: count + 1, foot].tolist()]  # row 0 is the one before the next
        at, turn = state.at, state.at.turn()
        for row, stands in enumerate(labels):
            found = next((p[2] for p in prints if p[0] <= row - 1 < p[1]), at) if stands and row else at
            if found is not at:
                at, turn = found, found.turn()
            places[row], turns[row] = at.place, turn
        for roll in (self._rolls[foot], self.rolling.heels[foot]):
            if roll is None:
                continue
            on = next((p[2] for p in prints if p[0] <= max(roll.first, 0) < p[1]), state.at)
            self.rolling.write(roll, foot, on, slice(max(roll.start + 1, 0), min(roll.after + 1, count + 2)), (places, turns))
        for first, after, stands in runs(np.array(labels)):
            if not stands:
                self._fill_swing(window, foot, prints, (first, after), (places, turns))
        soles[0][:, foot], soles[1][:, foot] = places[1:-1], turns[1:-1]
        compile_where_possible(find_rates, ROTATIONS)(places, turns, self._dt, soles[2][:, foot], soles[3][:, foot])

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
        since = np.asarray((index - now - lifted) * dt, dtype=np.float64)
        states = go_on(swing.offset, goal, duration, since)
        places, turns = np.empty((after - first, 3)), np.empty((after - first, 3, 3))
        compile_where_possible(move_rows)(states, window.place[index, foot], window.turn[index, foot], places, turns)
        length = np.inf if ahead is None else float(self.now + ahead[0] - swing.start)
        if window.leap is None:
            seen = window.height[now : now + (ahead[0] if ahead else len(window.labels)), foot]
            lift = CLEARANCE - float(np.max(seen, initial=0.0))
        else:  # the body rises by itself
            lift = self.flights.clearance
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
        heel = self.rolling.heels[foot]
        if heel is not None and heel.first == ahead[0]:
            place, turn, _ = self.rolling.move(heel, foot, ahead[2], 0)
            goal[0] = np.concatenate((place - window.place[touch, foot], pin.log3(turn @ window.turn[touch, foot].T)))
        duration = (ahead[0] - lifted) * self._dt
        if duration > SETTLING:
            return goal, SETTLING
        goal[1:] = self._against(window, foot, touch)
        return goal, duration

    def _against(self, window: Window, foot: int, at: int) -> Matrix:
        if self.labeller.thresholds(window, self.now) is PLANNED_FEET:  # these start and end at rest by themselves
            return np.zeros((2, 6))
        rows = slice(at - 1, at + 2)
        return against(window.place[rows, foot], window.turn[rows, foot], self._dt)

    def _lift(self, window: Window, foot: int, origin: Print, row: int) -> Swing:
        at = window.now + row
        swing, roll = Swing(self.now + row, origin), self._rolls[foot]
        swing.offset[0] = offset_to(origin, window.place[at, foot], window.turn[at, foot])
        swing.offset[1:] = self._against(window, foot, at)
        if roll is not None and roll.after == row:
            place, turn, moves = self.rolling.move(roll, foot, origin, -1)
            swing.offset[0, :3] = place - window.place[at, foot]
            swing.offset[0, 3:] = pin.log3(turn @ window.turn[at, foot].T)
            swing.offset[1:] += moves
        return swing

    def _targets(self, window: Window, com: tuple[Matrix, Matrix, Matrix], soles: SoleRows, count: int) -> list[Target]:
        """Put together the targets of the next rows."""
        dt, now, labels, model = self._dt, self.now, window.labels, self._robot.model
        q = self._track.q.between(now - 1, now + count + 1)
        rates = np.empty((count + 1, model.nv))
        for row in range(count + 1):
            rates[row] = pin.difference(model, q[row], q[row + 1])
        rates /= dt
        v, a, placed = 0.5 * (rates[:-1] + rates[1:]), (rates[1:] - rates[:-1]) / dt, q[1 : count + 1].copy()
        placed[:, :3] += window.shift[window.now : window.now + count]
        place, turn, rate, second = soles
        touches, until = labels[:count].tolist(), dt * np.column_stack([_until_lift(labels[:, foot], count) for foot in (0, 1)])
        aloft = window.aloft[window.now : window.now + count].tolist()
        ground, normals = np.zeros((count, 2)), np.zeros((count, 2, 3)) + UP
        return [
            Target(
                (touches[k][0], touches[k][1]), com[0][k], com[1][k], com[2][k], placed[k], v[k], a[k],
                place[k], turn[k], rate[k], second[k], ground[k], normals[k], until[k], time=(now + k) * dt,
                aloft=aloft[k], leaps=self.flights.leads(now + k), edges=edges_of(window, k),
            )
            for k in range(count)
        ]  # fmt: skip

    def _settle(self, window: Window, prints: list[list[Stance]], count: int) -> None:
        """Go on to the row after those handed out."""
        for foot in (0, 1):
            state, labels = self.feet[foot], window.labels[:, foot]
            if self.rolling.active:
                rolls = (self._rolls[foot], self.rolling.heels[foot])
                now = next((each for each in rolls if each and each.first < count <= each.after), None)
                state.tilt = None if now is None else now.tilt[count - 1 - now.start]
            at = next((p[2] for p in prints[foot] if p[0] <= count - 1 < p[1]), None)
            state.stands = bool(labels[count - 1])
            if state.stands and at is not None:
                state.at, state.swing = at, None
                stood = count - 1 - int(np.argmin(labels[count - 1 :: -1])) if not labels[:count].all() else -1
                state.since = self.now + stood + 1 if stood >= 0 else state.since
            else:
                state.at = next((p[2] for p in reversed(prints[foot]) if p[0] < count), state.at)
                state.swing = state.next
        self._offsets.extend(window.offset[window.now : window.now + count])
        self.now += count


def _room_for_soles(count: int) -> SoleRows:
    """Return room for places, orientations, velocities and accelerations of both soles; what moves is zero."""
    return np.empty((count, 2, 3)), np.empty((count, 2, 3, 3)), np.zeros((count, 2, 6)), np.zeros((count, 2, 6))


def _until_lift(labels: Labels, count: int) -> Vector:
    """Return after how many rows a foot is lifted, row by row; infinite where that is not seen."""
    lifted = np.flatnonzero(~labels)
    following = np.append(lifted, np.inf)[np.searchsorted(lifted, np.arange(count))]
    return np.asarray(following - np.arange(count))


def _until_change(labels: Labels) -> int:
    """Return after how many rows a foot is lifted that stands in the first one; all rows where none is."""
    lifted = np.flatnonzero((labels[:-1] & ~labels[1:]).any(axis=1))
    return int(lifted[0]) + 1 if len(lifted) else len(labels)
