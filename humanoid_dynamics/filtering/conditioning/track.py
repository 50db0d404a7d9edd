"""Stage A1: samples to even, smooth rows, and what the later stages need to know about each."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.conditioning.rows import Rows
from humanoid_dynamics.filtering.conditioning.track_kernels import sample_cubic, see_legs
from humanoid_dynamics.filtering.conditioning.windows import flat_kernel
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.formats.columns import unit_blocks
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_where_possible

SAME = 1e-9  # s; instants this near are one


class Track:
    """The reference as even rows: resampled by a local cubic, smoothed without delay inside the look-ahead.

    Row k belongs to time k dt after the start.  Rows appear as far as samples allow.

    Attributes:
        q: Smooth configurations.
        com: Centres of mass [m].
        spin: Angular momenta about the centre of mass [N·m·s].
        place: Origins of both soles [m].
        turn: Their orientations.
        centre: Middles of both soles [m].
        stretch: How straight both legs are, distance of hip and ankle over the length of the leg [-].
    """

    def __init__(self, robot: RobotModel, proportions: Proportions, settings: Settings) -> None:
        """Take the memory.

        Args:
            robot: The robot.
            proportions: Its measures.
            settings: Times.
        """
        self._model, self._data, self._proportions = robot.model, robot.data(), proportions
        self._dt = settings.dt
        half = round(min(settings.smoothing, 0.25 * settings.lookahead) * settings.rate)
        hips, ankles, p = proportions.hips, proportions.ankles, proportions
        self._frames = (*p.soles, *(point.frame for point in (*hips, *ankles)))
        self._points = np.array((*p.centres, *(point.p_F for point in (*hips, *ankles))))
        self._kernel = flat_kernel(half)
        self._half = len(self._kernel) // 2
        self._eager = settings.lookahead < 0.1
        self._units = unit_blocks(robot)
        self._raw = Rows(robot.nq)
        self.q, self.com, self.spin = Rows(robot.nq), Rows(3), Rows(3)
        self.place, self.turn, self.centre, self.stretch = Rows(2, 3), Rows(2, 3, 3), Rows(2, 3), Rows(2)
        self._samples: list[tuple[float, Vector]] = []
        self.start = 0.0

    @property
    def end(self) -> int:
        """Index after the newest row that is complete."""
        return self.spin.end

    def add(self, time: float, q: Vector) -> None:
        """Append a sample.

        Args:
            time: Its instant, later than all before [s].
            q: (nq,) configuration, its quaternion not turned over.
        """
        if not self._samples:
            self.start = time
            self._raw.append(q)
            for _ in range(self._half):  # before its start the reference stands still
                self._raw.append(q)
        self._samples = [*self._samples[-3:], (time, np.array(q))]
        self._resample(last=self._eager)
        self._smooth()

    def finish(self) -> None:
        """Let the reference stand still after its last sample, long enough for all windows."""
        self._resample(last=True)
        if self._samples:
            for _ in range(2 * self._half + 2):
                self._raw.append(self._samples[-1][1])
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
        first = self._raw.end - self._half
        end = max(int((t_1 + SAME - self.start) / self._dt) - 1, first)
        while end * self._dt + self.start <= t_1 + SAME:
            end += 1
        rows = np.empty((end - first, len(q_0)))
        times = (first * self._dt + self.start, self._dt)
        compile_where_possible(sample_cubic)((t_0, t_1), (q_0, m_0, q_1, m_1), times, rows)
        self._raw.extend(self._unit(rows))

    def _unit(self, q: Matrix) -> Matrix:
        """Make quaternions in rows (n, nq) unit, in place; return the rows."""
        for block in self._units:
            part = q[:, block]
            part /= np.sqrt((part * part).sum(axis=1))[:, None]
        return q

    def _smooth(self) -> None:
        """Append smooth rows as far as raw ones allow, and what is seen in them."""
        first, window = self.q.end, 2 * self._half
        count = max(self._raw.end - window - first, 0)
        if count == 0:
            return
        raw = self._raw.between(first, first + count + window)
        q = np.empty((count, raw.shape[1]))
        for row in range(count):
            np.dot(self._kernel, raw[row : row + window + 1], q[row])
        before = self.q.between(first - 1, first)[0] if first else None
        self.q.extend(self._unit(q))
        self._measure(q, q[0] if before is None else before)

    def _measure(self, q: Matrix, before: Vector) -> None:
        model, data, count = self._model, self._data, len(q)
        com, spin = np.empty((count, 3)), np.empty((count, 3))
        seen = np.empty((count, 2, 3)), np.empty((count, 2, 3, 3)), np.empty((count, 2, 3)), np.empty((count, 2))
        see, leg = compile_where_possible(see_legs), self._proportions.leg
        for row in range(count):
            pin.computeCentroidalMomentum(model, data, q[row], pin.difference(model, before, q[row]) / self._dt)  # places joints as well
            com[row], spin[row] = data.com[0], data.hg.angular
            see(tuple([pin.updateFramePlacement(model, data, k).homogeneous for k in self._frames]), self._points, leg, row, seen)
            before = q[row]
        for rows, values in zip((self.com, self.spin, self.place, self.turn, self.centre, self.stretch), (com, spin, *seen), strict=True):
            rows.extend(values)
