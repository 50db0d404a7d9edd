"""Stage A1: samples to even, smooth rows, and what the later stages need to know about each."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.conditioning.rows import Rows
from humanoid_dynamics.filtering.conditioning.windows import flat_kernel
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.columns import unit_blocks
from humanoid_dynamics.spatial.arrays import Vector


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
        h = t_1 - t_0
        m_0 = (q_1 - before[1]) / (t_1 - before[0]) if before else (q_1 - q_0) / h
        m_1 = (after[1] - q_0) / (after[0] - t_0) if after else (q_1 - q_0) / h
        row = self._raw.end - self._half
        while (row * self._dt + self.start) <= t_1 + 1e-9:
            s = (row * self._dt + self.start - t_0) / h
            s2, s3 = s * s, s * s * s
            q = (2 * s3 - 3 * s2 + 1) * q_0 + (s3 - 2 * s2 + s) * h * m_0 + (3 * s2 - 2 * s3) * q_1 + (s3 - s2) * h * m_1
            self._raw.append(self._unit(q))
            row += 1

    def _unit(self, q: Vector) -> Vector:
        for block in self._units:
            part = q[block]
            part /= math.sqrt(part.dot(part))
        return q

    def _smooth(self) -> None:
        while self.q.end + 2 * self._half < self._raw.end:
            k = self.q.end
            window = self._raw.between(k, k + 2 * self._half + 1)
            self.q.append(self._unit(self._kernel.dot(window)))
            self._measure(self.q.end - 1)

    def _measure(self, row: int) -> None:
        model, data, p = self._model, self._data, self._proportions
        q = self.q.between(row, row + 1)[0]
        pin.forwardKinematics(model, data, q)
        place, turn, centre, stretch = np.empty((2, 3)), np.empty((2, 3, 3)), np.empty((2, 3)), np.empty(2)
        for foot in (0, 1):
            X_WS = pin.updateFramePlacement(model, data, p.soles[foot])
            place[foot], turn[foot], centre[foot] = X_WS.translation, X_WS.rotation, X_WS.act(p.centres[foot])
            hip = pin.updateFramePlacement(model, data, p.hips[foot].frame).act(p.hips[foot].p_F)
            ankle = pin.updateFramePlacement(model, data, p.ankles[foot].frame).act(p.ankles[foot].p_F)
            stretch[foot] = math.dist(hip.tolist(), ankle.tolist()) / p.leg
        self.place.append(place)
        self.turn.append(turn)
        self.centre.append(centre)
        self.stretch.append(stretch)
        before = self.q.between(max(row - 1, 0), row)[0] if row else q
        v = pin.difference(model, before, q) / self._dt
        pin.computeCentroidalMomentum(model, data, q, v)
        self.com.append(data.com[0])
        self.spin.append(data.hg.angular)
