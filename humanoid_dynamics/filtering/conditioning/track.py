# SPDX-License-Identifier: Apache-2.0
"""Stage A1: samples to even, smooth rows, and what the later stages need to know about each."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from humanoid_dynamics.dynamics.placements import Placements
from humanoid_dynamics.filtering.conditioning.rows import RingBuffer
from humanoid_dynamics.filtering.conditioning.windows import flat_kernel
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.formats.columns import unit_blocks
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

BLOCK = 32  # rows that are smoothed at a time
SAME = 1e-9  # s; instants this near are one
OTHER_CLOCK = 0.1  # s; by so much the clock of the sender differs from ours, from one sample to the next, only where it is another one


class ReferenceTrack:
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
        heading: Their headings [rad].
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
        frames = [
            robot.model.frames[k]
            for k in (*p.soles, *p.soles, *(point.frame for point in (*hips, *ankles)))
        ]
        points = (np.zeros(3), np.zeros(3), *p.centres, *(point.p_F for point in (*hips, *ankles)))
        points_J = np.array(
            [
                frame.placement.act(np.asarray(point))
                for frame, point in zip(frames, points, strict=True)
            ]
        )
        joints: Indices = np.array([frame.parentJoint for frame in frames], dtype=np.intp)
        self._legs = (
            joints,
            points_J,
            np.array([frame.placement.rotation for frame in frames[:2]]),
            proportions.leg,
        )
        self._placements = Placements(robot.model, self._data)
        self._poses = np.empty((BLOCK, *self._placements.poses.shape))
        kernel = flat_kernel(half)
        self.half = len(kernel) // 2
        self._means = np.zeros((BLOCK, BLOCK + len(kernel) - 1))  # rows are weighted means of rows
        for row, weights in enumerate(self._means):
            weights[row : row + len(kernel)] = kernel
        self._eager = settings.lookahead < 0.1
        self._units = unit_blocks(robot)
        self.restart()

    def restart(self) -> None:
        """Forget all rows."""
        nq, nv = self._model.nq, self._model.nv
        self._raw = RingBuffer(nq)
        self.q, self.rate, self.com, self.spin = (
            RingBuffer(nq),
            RingBuffer(nv),
            RingBuffer(3),
            RingBuffer(3),
        )
        self.place, self.turn, self.heading = RingBuffer(2, 3), RingBuffer(2, 3, 3), RingBuffer(2)
        self.centre, self.stretch = RingBuffer(2, 3), RingBuffer(2)
        self.behind = RingBuffer()
        self._samples: list[
            tuple[float, Vector, float]
        ] = []  # instants, samples, and by how much they are later than their stamps say
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
        if not self._samples:
            self.start = time
            self.behind.append(late)
            self._raw.append(q)
            for _ in range(self.half):  # before its start the reference stands still
                self._raw.append(q)
        self._samples = [*self._samples[-3:], (time, np.array(q), late)]
        self._resample(last=self._eager)
        self._smooth()

    def take_back(self, time: float) -> tuple[float, Matrix, float]:
        """Forget what comes after an instant; rows before it by half the window that smooths stay as they are.

        Args:
            time: The instant, [s]; the newest row where it is later.

        Returns:
            Instant of the last row that is left, (2, nq) the one before it and itself, and by how much it is later than its stamp says.
        """
        row = min(math.floor((time - self.start) / self._dt + SAME), self._raw.end - 1 - self.half)
        raw = row + self.half
        self._raw.cut(raw + 1)
        self.behind.cut(row + 1)
        for seen in (
            self.q,
            self.rate,
            self.com,
            self.spin,
            self.place,
            self.turn,
            self.heading,
            self.centre,
            self.stretch,
        ):
            seen.cut(raw + 1 - 2 * self.half)
        last, late = (
            self._raw.between(raw - 1, raw + 1).copy(),
            float(self.behind.between(row, row + 1)[0]),
        )
        at = self.start + row * self._dt
        self._samples = [(at - self._dt, last[0], late), (at, last[1], late)]
        return at, last, late

    def break_off(self) -> None:
        """Say that the last sample has nothing to do with those before it."""
        self.whole = round((self._samples[-1][0] - self.start) / self._dt) + self.half

    def forget(self, row: int) -> None:
        """Say which rows are not needed any more.

        Args:
            row: Index of the oldest one that is.
        """
        rows = (
            self.q,
            self.rate,
            self.com,
            self.spin,
            self.place,
            self.turn,
            self.heading,
            self.centre,
            self.stretch,
            self.behind,
        )
        for kept in rows:
            kept.forget(row)
        self._raw.forget(min(row, self.q.end))

    def finish(self) -> None:
        """Let the reference stand still after its last sample, long enough for all windows."""
        self._resample(last=True)
        if self._samples:
            for _ in range(2 * self.half + 2):
                self._raw.append(self._samples[-1][1])
                self.behind.append(self._samples[-1][2])
        self._smooth()

    def _resample(self, *, last: bool) -> None:
        """Append the rows between the last two samples whose neighbours are known; where ``last``, up to the newest."""
        count = len(self._samples)
        if count < 2 or (count < 3 and not last):
            return
        k = count - 2 if last else count - 3
        near = [self._samples[min(max(each, 0), count - 1)] for each in (k - 1, k, k + 1, k + 2)]
        times, knots, late = zip(*near, strict=True)
        first, newest = self._raw.end - self.half, times[2] + SAME
        end = max(int((newest - self.start) / self._dt) - 1, first)
        while end * self._dt + self.start <= newest:
            end += 1
        share = (np.arange(first, end) * self._dt + self.start - times[1]) / (times[2] - times[1])
        behind = late[2] - late[1] if abs(late[2] - late[1]) < OTHER_CLOCK else 0.0
        self._raw.extend(self._make_unit(sample_cubic(np.array(knots), times, share)))
        self.behind.extend(late[2] + (share - 1.0) * behind)

    def _make_unit(self, rows: Matrix) -> Matrix:
        """Give parts of rows unit length, in place; return the rows."""
        for unit in self._units:
            part = rows[:, unit]
            part /= np.sqrt(np.einsum("ij,ij->i", part, part))[:, None]
        return rows

    def _smooth(self) -> None:
        """Append smooth rows as far as raw ones allow, and what is seen in them."""
        window = 2 * self.half
        while (count := min(self._raw.end - window - self.q.end, BLOCK)) > 0:
            first = self.q.end
            q = self.q.room(count)
            raw = self._raw.between(first, first + count + window)
            np.dot(self._means[:count, : count + window], raw, out=q)
            self._make_unit(q)
            self._measure(q, self.q.between(first - 1, first)[0] if first else q[0])

    def _measure(self, q: Matrix, before: Vector) -> None:
        model, data, count = self._model, self._data, len(q)
        rate, com, spin = self.rate.room(count), self.com.room(count), self.spin.room(count)
        seen = tuple(
            rows.room(count)
            for rows in (self.place, self.turn, self.heading, self.centre, self.stretch)
        )
        centre, momentum, placements, poses = (
            data.com[0],
            data.hg.angular,
            self._placements,
            self._poses[:count],
        )  # pinocchio writes there
        for row, now in enumerate(q):
            step = rate[row] = pin.difference(model, before, now)
            pin.computeCentroidalMomentum(model, data, now, step)  # places joints as well
            if not placements.shared:
                placements.refresh()
            com[row], spin[row], poses[row], before = centre, momentum, placements.poses, now
        rate /= self._dt
        spin /= self._dt
        self._see_legs(poses, seen)

    def _see_legs(self, poses: Matrix, out: tuple[Matrix, ...]) -> None:
        """Write where soles are, how they are turned, where they point, their middles, and how straight the legs are."""
        joints, points, soles, leg = self._legs
        place, turn, heading, centre, stretch = out
        moved = poses[:, joints]
        axes = moved[:, :, :9].reshape(-1, len(joints), 3, 3)  # column by column
        at = moved[:, :, 9:] + np.matmul(points[:, None], axes)[:, :, 0]
        place[:], centre[:] = at[:, :2], at[:, 2:4]
        np.matmul(axes[:, :2].swapaxes(2, 3), soles, out=turn)
        np.arctan2(turn[:, :, 1, 0], turn[:, :, 0, 0], out=heading)
        apart = at[:, 4:6] - at[:, 6:]
        np.divide(np.sqrt((apart * apart).sum(axis=2)), leg, out=stretch)


def sample_cubic(knots: Matrix, times: Sequence[float], share: Vector) -> Matrix:
    """Return rows of the local cubic between the second and the third of four samples, (n, nq).

    Args:
        knots: (4, nq) samples in a row; the second or the third once more where there is none before or after.
        times: Their instants [s].
        share: (n,) shares of the time from the second to the third.
    """
    h = times[2] - times[1]
    back, ahead = h / (times[2] - times[0]), h / (times[3] - times[1])
    weights = np.array(  # of the samples, by powers of the share: 1, s, s^2, s^3
        [
            [0.0, 1.0, 0.0, 0.0],
            [-back, 0.0, back, 0.0],
            [2.0 * back, -3.0 + ahead, 3.0 - 2.0 * back, -ahead],
            [-back, 2.0 - ahead, back - 2.0, ahead],
        ]
    )
    powers = np.empty((len(share), 4))
    powers[:, 0], powers[:, 1] = 1.0, share
    np.multiply(share, share, out=powers[:, 2])
    np.multiply(powers[:, 2], share, out=powers[:, 3])
    return np.asarray(powers @ (weights @ knots))
