# SPDX-License-Identifier: Apache-2.0
"""What a reference may ask of a robot on its feet: how far it leans, sinks, tilts and is off its soles, and how fast."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from humanoid_dynamics.dynamics.placements import Placements
from humanoid_dynamics.filtering.conditioning.origin import heading_between
from humanoid_dynamics.filtering.proportions import Proportions, Upward
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

STEEPEST = math.radians(55.0)  # lean of the base
LOWEST = 0.62  # height of the base over the lower sole, of that in the resting posture
FARTHEST = 0.25  # how far the centre of mass may be from what bears it, seen from above, of its height in the resting posture
TILTED = math.radians(80.0)  # of soles that are near the lower one
HALVINGS = 10  # of the share of the way from the resting posture to a sample
FASTEST = (2.0, 0.33)  # rad/s of the lean; speed of the height, of sqrt(g height)
SPARE = (0.2, 0.06)  # rad, and share of the height; by this much a reference may run ahead of that
PACE = (
    1.7,
    0.2,
    0.07,
)  # likewise, and of the centre of mass over the soles, in the mean: how fast a posture is led back to
FALLS = (
    0.37,
    0.2,
)  # the same share of the height for the point the robot falls to while both soles go slower than that, of sqrt(g height)
SPAN = 0.03  # s; over so long at least that is looked at

HIGH = (
    0.5,
    1.0,
)  # of the leg; a sole so much over the other one begins to bear nothing, and bears nothing
NEAR = 0.15  # of the leg; soles less far over the lower one count where tilts are asked for
LEAST = 1e-9  # m^2

Point = tuple[float, float]


class Seen(NamedTuple):
    """What counts of a posture.

    Attributes:
        lean: How far the base leans [rad].
        height: Height of the base over the lower sole [m].
        far: Distance of the point that bears the robot from the line that bears: that of the middles of both soles, or a part of it that
            ends nearer to the lower one where the other is high [m].
        tilt: The larger tilt of the soles that are near the ground [rad].
        up: Direction upward, in axes of the base.
        bears: The point that bears the robot, seen from above [m].
        soles: Middles of both soles, likewise.
    """

    lean: float
    height: float
    far: float
    tilt: float
    up: Upward
    bears: Point
    soles: tuple[Point, Point]

    def distance_of(self, x: float, y: float) -> float:
        """Return the distance of a point from the line between the soles [m].

        Args:
            x: Where it is, seen from above [m].
            y: Likewise.
        """
        (left, right) = self.soles
        return distance_from(x, y, left, (right[0] - left[0], right[1] - left[1]))

    @property
    def over(self) -> Point:
        """Where the point that bears the robot is, seen from the middle between both soles [m]."""
        left, right = self.soles
        return self.bears[0] - 0.5 * (left[0] + right[0]), self.bears[1] - 0.5 * (
            left[1] + right[1]
        )

    def way_to(self, other: Seen) -> Point:
        """Return by how much the lean [rad] and the height [m] change to those of another posture.

        Args:
            other: That posture.
        """
        return angle_between(self.up, other.up), abs(other.height - self.height)


class PostureBound:
    """Leads postures that nobody can balance toward the resting posture, and tells those that are reached too fast.

    A posture is possible where the base does not lean too far, is not too low, soles near the ground do not tilt too far, and the centre of
    mass is near the soles: near the lower one alone where the other is high.  One that is not is replaced by the last one on the way to
    it, from the resting posture at its place and heading, that is.
    """

    def __init__(self, robot: RobotModel, proportions: Proportions, *, leaps: bool = False) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base.
            proportions: Its measures.
            leaps: Whether it leaps where the reference does: then its height may change at any speed.
        """
        self._model, self._data, self._p = robot.model, robot.data(), proportions
        self._placements, self._com = (
            Placements(self._model, self._data),
            self._data.com[0],
        )  # views: pinocchio writes there
        frames = [self._model.frames[sole] for sole in proportions.soles]
        points = [
            frame.placement.act(middle)
            for frame, middle in zip(frames, proportions.centres, strict=True)
        ]
        self._joints: Indices = np.array([frame.parentJoint for frame in frames], dtype=np.intp)
        self._soles = np.array(
            [
                [*point, *frame.placement.rotation[:, 2]]
                for frame, point in zip(frames, points, strict=True)
            ]
        )
        self._known = [*proportions.up, *proportions.lean.tolist(), proportions.leg]
        self._rest = np.array(robot.posture)
        speed = math.sqrt(proportions.gravity * proportions.height)
        self._fastest = FASTEST[0], math.inf if leaps else FASTEST[1] * speed
        self._pace = PACE[0], PACE[1] * speed, PACE[2] * speed
        self._falls = FALLS[0] * proportions.height, FALLS[1] * speed
        self._spare = SPARE[0], SPARE[1] * proportions.height
        rest = self.see(self._rest)  # what a resting posture asks is possible
        self._lowest = min(LOWEST * proportions.pelvis, rest.height)
        self._farthest = max(FARTHEST * proportions.height, rest.far)
        self._tilted = max(TILTED, rest.tilt)
        self.restart()

    def restart(self) -> None:
        """Forget the stream."""
        self._last: Seen | None = None
        self._left = self._spare
        self._past: Seen | None = None
        self._age, self._falling = 0.0, False

    def see(self, q: Vector) -> Seen:
        """Return what counts of a posture.

        Args:
            q: (nq,) configuration.
        """
        pin.centerOfMass(self._model, self._data, q)
        if not self._placements.shared:
            self._placements.refresh()
        poses = self._placements.poses[self._joints]
        axes = poses[:, :9].reshape(2, 3, 3)  # column by column
        soles = np.matmul(self._soles.reshape(2, 2, 3), axes).reshape(2, 6)
        soles[:, :3] += poses[:, 9:]
        return see_posture(q[:7].tolist(), self._com.tolist(), soles, self._known)

    def lead(self, q: Vector) -> tuple[Vector, bool]:
        """Return a sample that can be balanced, and whether it is another one.

        Args:
            q: (nq,) the sample.
        """
        seen = self.see(q)
        possible = self._is_possible(seen)
        if not possible:
            q, seen = self._toward_rest(q)
        self._now = seen
        return q, not possible

    def runs(self, gap: float, *, led: bool = False) -> bool:
        """Return whether the reference leans, sinks or falls over faster than a robot on its feet; to be asked once for each sample led.

        Args:
            gap: Time since the sample before [s].
            led: Whether one is on the way back to the reference: then it may not run ahead, or each turn of it would lead farther away.
        """
        last, self._last = self._last, self._now
        if last is None:
            self._past = self._now
            return False
        lean, height = last.way_to(self._now)
        leans = min(self._left[0], self._spare[0]) + self._fastest[0] * gap - lean
        sinks = min(self._left[1], self._spare[1]) + self._fastest[1] * gap - height
        self._left = (0.0, 0.0) if led else (max(leans, 0.0), max(sinks, 0.0))
        return min(leans, sinks) < 0.0 or self._falls_over(gap)

    def _falls_over(self, gap: float) -> bool:
        """Return whether the point the robot falls to is far from soles that hardly move."""
        self._age += gap
        past = self._past
        if past is not None and self._age >= SPAN:
            now, age = self._now, self._age
            slow = (
                max(math.dist(a, b) for a, b in zip(past.soles, now.soles, strict=True))
                < self._falls[1] * age
            )
            x, y = (
                to + (to - at) / (age * self._p.pendulum)
                for at, to in zip(past.bears, now.bears, strict=True)
            )
            self._falling = slow and now.distance_of(x, y) > self._falls[0]
            self._past, self._age = now, 0.0
        return self._falling

    def time_between(self, q: Vector, other: Vector) -> float:
        """Return how long a way from one posture to another must take at least [s].

        Args:
            q: (nq,) configuration.
            other: (nq,) likewise.
        """
        now, then = self.see(q), self.see(other)
        ways = *now.way_to(then), math.dist(now.over, then.over)
        return max(way / pace for way, pace in zip(ways, self._pace, strict=True))

    def _is_possible(self, seen: Seen) -> bool:
        stands = seen.lean <= STEEPEST and seen.height >= self._lowest and seen.tilt <= self._tilted
        return stands and seen.far <= self._farthest

    def rest_at(self, q: Vector) -> Vector:
        """Return the resting posture at the place and heading of another one, (nq,).

        Args:
            q: (nq,) configuration.
        """
        rest, half = np.array(self._rest), 0.5 * heading_between(self._rest, q)
        turn = pin.Quaternion(math.cos(half), 0.0, 0.0, math.sin(half)) * pin.Quaternion(rest[3:7])
        rest[:2], rest[3:7] = q[:2], turn.coeffs()
        return rest

    def _toward_rest(self, q: Vector) -> tuple[Vector, Seen]:
        """Return the last posture on the way from rest that is possible."""
        rest = self.rest_at(q)
        way = pin.difference(self._model, rest, q)
        share, step = 0.0, 0.5
        for _ in range(HALVINGS):
            if self._is_possible(self.see(pin.integrate(self._model, rest, (share + step) * way))):
                share += step
            step *= 0.5
        found = np.asarray(pin.integrate(self._model, rest, share * way))
        return found, self.see(found)


def see_posture(
    base: Sequence[float], com: Sequence[float], soles: Matrix, known: Sequence[float]
) -> Seen:
    """Return what counts of a posture.

    Args:
        base: Place [m] and quaternion of the base.
        com: Centre of mass [m].
        soles: (2, 6) middle of each sole [m] and its normal.
        known: Direction upward in axes of the base at rest, where the ground pulls the centre of mass to, seen from above [m], and length
            of a leg [m].
    """
    x, y, z, w = base[3:7]
    up = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w + z * z - x * x - y * y
    px, py = com[0] + known[3], com[1] + known[4]
    (lx, ly, one, _, _, left_up), (rx, ry, other, _, _, right_up) = soles.tolist()
    (start, lower_up), (end, upper_up) = ((lx, ly), left_up), ((rx, ry), right_up)
    if other < one:
        (start, lower_up), (end, upper_up) = (end, upper_up), (start, lower_up)
    over = abs(other - one) / known[5]
    upright = min(1.0, lower_up, upper_up if over < NEAR else 1.0)
    bears = min(max((HIGH[1] - over) / (HIGH[1] - HIGH[0]), 0.0), 1.0)
    across = bears * (end[0] - start[0]), bears * (end[1] - start[1])
    return Seen(
        angle_between(up, (known[0], known[1], known[2])),
        base[2] - min(one, other),
        distance_from(px, py, start, across),
        math.acos(max(upright, -1.0)),
        up,
        (px, py),
        ((lx, ly), (rx, ry)),
    )


def angle_between(up: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    """Return the angle between two directions [rad]."""
    return math.acos(min(max(up[0] * other[0] + up[1] * other[1] + up[2] * other[2], -1.0), 1.0))


def distance_from(
    x: float, y: float, start: tuple[float, float], across: tuple[float, float]
) -> float:
    """Return the distance of a point from a line that starts somewhere and goes some way [m]."""
    square = across[0] * across[0] + across[1] * across[1]
    share = min(
        max(((x - start[0]) * across[0] + (y - start[1]) * across[1]) / max(square, LEAST), 0.0),
        1.0,
    )
    return math.hypot(x - start[0] - share * across[0], y - start[1] - share * across[1])
