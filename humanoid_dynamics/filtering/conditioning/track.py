"""Stage A1: samples to even, smooth rows, and what the later stages need to know about each."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.conditioning.rows import MOST, Rows
from humanoid_dynamics.filtering.conditioning.track_kernels import make_unit, sample_cubic, see_legs, smooth_rows
from humanoid_dynamics.filtering.conditioning.windows import flat_kernel
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.formats.columns import unit_blocks
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_where_possible

SAME = 1e-9  # s; instants this near are one
APART = 0.1  # s; by so much the clock of the sender differs from ours, from one sample to the next, only where it is another one


class Track:
    """The reference as even rows: resampled by a local cubic, smoothed without delay inside the look-ahead.

    Row k belongs to time k dt after the start.  Rows appear as far as samples allow.

    Attributes:
        half: Rows to either side that smoothing looks at.
        q: Smooth configurations.
        rate: Mean velocities since the row before.
        com: Centres of mass [m].
        spin: Angular momenta about the centre of mass [N·m·s].
        place: Origins of both soles [m].
        turn: Their orientations.
        centre: Middles of both soles [m].
        whole: Row from which on the reference is of one piece.
        behind: By how much rows are later than their stamps say [s].
        stretch: How straight both legs are, distance of hip and ankle over the length of the leg [-].
    """

    def __init__(self, robot: RobotModel, proportions: Proportions, settings: Settings) -> None:
        """Take the memory.

        Args:
            robot: The robot.
            proportions: Its measures.
            settings: Times.
        """
        self._model, self._data = robot.model, robot.data()
        self._dt = settings.dt
        half = round(min(settings.smoothing, 0.25 * settings.lookahead) * settings.rate)
        hips, ankles, p = proportions.hips, proportions.ankles, proportions
        frames = [robot.model.frames[k] for k in (*p.soles, *p.soles, *(point.frame for point in (*hips, *ankles)))]
        points = (np.zeros(3), np.zeros(3), *p.centres, *(point.p_F for point in (*hips, *ankles)))
        points_J = np.array([frame.placement.act(np.asarray(point)) for frame, point in zip(frames, points, strict=True)])
        joints = [self._data.oMi[frame.parentJoint] for frame in (*frames[:2], *frames[4:])]
        self._joints = tuple(joint.rotation for joint in joints), tuple(joint.translation for joint in joints)  # pinocchio writes there
        self._seen = points_J, np.array([frame.placement.rotation for frame in frames[:2]]), proportions.leg
        self._kernel = flat_kernel(half)
        self.half = len(self._kernel) // 2
        self._eager = settings.lookahead < 0.1
        units = [(block.start, block.stop) for block in unit_blocks(robot)]
        self._units: Indices = np.array(units, dtype=np.intp).reshape(-1, 2)
        self.restart()

    def restart(self) -> None:
        """Forget all rows."""
        nq, nv = self._model.nq, self._model.nv
        self._raw = Rows(nq)
        self.q, self.rate, self.com, self.spin = Rows(nq), Rows(nv), Rows(3), Rows(3)
        self.place, self.turn, self.centre, self.stretch = Rows(2, 3), Rows(2, 3, 3), Rows(2, 3), Rows(2)
        self.behind = Rows()
        self._samples: list[tuple[float, Vector]] = []
        self._late = [0.0, 0.0, 0.0, 0.0]  # by how much the samples are later than their stamps say
        self.start, self.whole = 0.0, 0

    @property
    def end(self) -> int:
        """Index after the newest row that is complete."""
        return self.spin.end

    @property
    def samples_behind(self) -> int:
        """How many samples must have come after an instant, at most, before rows reach it."""
        return 1 if self._eager else 2

    def add(self, time: float, q: Vector, late: float = 0.0) -> None:
        """Append a sample.

        Args:
            time: Its instant, later than all before [s].
            q: (nq,) configuration, its quaternion not turned over.
            late: By how much that is later than its stamp says [s].
        """
        self._late = [*self._late[-3:], late]
        if not self._samples:
            self.start = time
            self.behind.append(late)
            self._raw.append(q)
            for _ in range(self.half):  # before its start the reference stands still
                self._raw.append(q)
        self._samples = [*self._samples[-3:], (time, np.array(q))]
        self._resample(last=self._eager)
        self._smooth()

    def break_off(self) -> None:
        """Say that the last sample has nothing to do with those before it."""
        self.whole = round((self._samples[-1][0] - self.start) / self._dt) + self.half

    def forget(self, row: int) -> None:
        """Say which rows are not needed any more.

        Args:
            row: Index of the oldest one that is.
        """
        rows = (self.q, self.rate, self.com, self.spin, self.place, self.turn, self.centre, self.stretch, self.behind)
        for kept in rows:
            kept.forget(row)
        self._raw.forget(min(row, self.q.end))

    def finish(self) -> None:
        """Let the reference stand still after its last sample, long enough for all windows."""
        self._resample(last=True)
        if self._samples:
            for _ in range(2 * self.half + 2):
                self._raw.append(self._samples[-1][1])
                self.behind.append(self._late[-1])
        self._smooth()

    def _resample(self, *, last: bool) -> None:
        """Append the rows between the last two samples whose neighbours are known; where ``last``, up to the newest."""
        count = len(self._samples)
        if count < 2 or (count < 3 and not last):
            return
        k = count - 2 if last else count - 3
        (t_0, q_0), (t_1, q_1) = self._samples[k], self._samples[k + 1]
        before = self._samples[k - 1] if k > 0 else None
        after = self._samples[k + 2] if k + 2 < count else None
        m_0 = (q_1 - before[1]) / (t_1 - before[0]) if before else (q_1 - q_0) / (t_1 - t_0)
        m_1 = (after[1] - q_0) / (after[0] - t_0) if after else (q_1 - q_0) / (t_1 - t_0)
        first = self._raw.end - self.half
        end = max(int((t_1 + SAME - self.start) / self._dt) - 1, first)
        while end * self._dt + self.start <= t_1 + SAME:
            end += 1
        rows = np.empty((end - first, len(q_0)))
        times = (first * self._dt + self.start, self._dt)
        compile_where_possible(sample_cubic, (make_unit,))((t_0, t_1), (q_0, m_0, q_1, m_1), times, self._units, rows)
        self._raw.extend(rows)
        late_0, late_1 = self._late[k - count], self._late[k + 1 - count]
        way = (times[0] + self._dt * np.arange(end - first) - t_0) / (t_1 - t_0)
        self.behind.extend(late_1 + np.where(abs(late_1 - late_0) < APART, way - 1.0, 0.0) * (late_1 - late_0))

    def _smooth(self) -> None:
        """Append smooth rows as far as raw ones allow, and what is seen in them."""
        window = 2 * self.half
        while (count := min(self._raw.end - window - self.q.end, MOST)) > 0:
            first = self.q.end
            q = self.q.room(count)
            raw = self._raw.between(first, first + count + window)
            compile_where_possible(smooth_rows, (make_unit,))(raw, self._kernel, self._units, q)
            self._measure(q, self.q.between(first - 1, first)[0] if first else q[0])

    def _measure(self, q: Matrix, before: Vector) -> None:
        model, data, count = self._model, self._data, len(q)
        rate, com, spin = self.rate.room(count), self.com.room(count), self.spin.room(count)
        seen = self.place.room(count), self.turn.room(count), self.centre.room(count), self.stretch.room(count)
        centre, momentum = data.com[0], data.hg.angular  # views: pinocchio writes there
        see = compile_where_possible(see_legs)
        for row, now in enumerate(q):
            v = rate[row] = pin.difference(model, before, now) / self._dt
            pin.computeCentroidalMomentum(model, data, now, v)  # places joints as well
            com[row], spin[row] = centre, momentum
            see(self._joints, self._seen, row, seen)
            before = now
