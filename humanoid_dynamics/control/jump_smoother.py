# SPDX-License-Identifier: Apache-2.0
"""Continuity of a reference: whatever jumps is moved into an offset, and the offset decays along quintics.

A reference that moves as a robot can passes unchanged, to the last bit.  A tick in which a place or a rate changes by more than a robot can
follow is a jump: the output goes on as it was, and the difference is given back slowly.  Torques then neither step nor saturate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

SMALL_PLACE, SMALL_RATE = 1e-3, 0.05  # rad or m, rad/s or m/s; changes in a tick that are passed on
JOINT_ACCELERATION = 500.0  # rad/s^2 or m/s^2; feasible motion of humanoids stays below half of it
BASE_SPEEDS = (5.0, 10.0)  # m/s, rad/s
BASE_ACCELERATIONS = (50.0, 250.0)  # m/s^2, rad/s^2
STEP = 0.25  # rad or m that are given back in the time of a blend; more takes proportionally longer
LONGEST = 0.02  # s between ticks for which a reference may have moved on
BASE = 6


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceSample:
    """A reference at one instant.

    Attributes:
        place: (joints,) positions [rad or m].
        pose: (7,) position and quaternion x y z w of the base [m].
        rate: (joints + 6,) velocities; those of the base last, linear and angular, axes of the world [rad/s, m/s].
        curve: (joints + 6,) accelerations likewise.
    """

    place: Vector
    pose: Vector
    rate: Vector
    curve: Vector


class JumpSmoother:
    """Makes a reference continuous in place and rate; not for several threads at once."""

    def __init__(self, speeds: Vector, endless: Indices, blend: float) -> None:
        """Prepare.

        Args:
            speeds: (joints,) speed limits [rad/s or m/s].
            endless: Joints that turn without end.
            blend: Time in which a jump of up to 0.25 rad or m is given back [s].
        """
        self.blend = blend
        n = len(speeds)
        self._endless = endless
        self._fastest = np.concatenate((1.2 * speeds, np.repeat(BASE_SPEEDS, 3)))
        self._hardest = np.concatenate(
            (np.full(n, JOINT_ACCELERATION), np.repeat(BASE_ACCELERATIONS, 3))
        )
        self._n = n
        self._rest: Vector = np.zeros(n + BASE)
        self.forget()

    def forget(self) -> None:
        """Begin anew, with whatever comes."""
        self._before: ReferenceSample | None = None  # as it was asked for
        self._sent = ReferenceSample(
            self._rest, self._rest, self._rest, self._rest
        )  # and as it was returned
        self._t = -np.inf
        self._jumped = -np.inf
        self._long = self.blend
        self._places: Matrix = np.zeros(
            (6, self._n + BASE)
        )  # coefficients of the polynomial that starts at an offset
        self._rates: Matrix = np.zeros(
            (6, self._n + BASE)
        )  # and of that which starts at a rate and an acceleration

    def start(self, place: Vector, pose: Vector) -> None:
        """Begin at rest.

        Args:
            place: (joints,) positions [rad or m].
            pose: (7,) pose of the base.
        """
        self.forget()
        self._before = self._sent = ReferenceSample(place, pose, self._rest, self._rest)

    def smooth(self, t: float, asked: ReferenceSample) -> ReferenceSample:
        """Return the reference without its jumps.

        Args:
            t: The time [s].
            asked: The reference.
        """
        if self._before is not None:
            self._find_jump(t, asked, self._before)
        self._before, self._t = asked, t
        if t - self._jumped >= max(self._long, self.blend):
            self._sent = asked
            return asked
        off, rate, curve = self._offset(t)
        pose = np.array(asked.pose)
        pose[:3] += off[self._n : self._n + 3]
        pose[3:] = pin.Quaternion(
            pin.exp3(off[self._n + 3 :]) @ pin.Quaternion(asked.pose[3:]).matrix()
        ).coeffs()
        self._sent = ReferenceSample(
            asked.place + off[: self._n], pose, asked.rate + rate, asked.curve + curve
        )
        return self._sent

    def _find_jump(self, t: float, asked: ReferenceSample, before: ReferenceSample) -> None:
        """Move what a robot cannot have done since the sample before into the offset: what is sent goes on as it was."""
        dt = min(max(t - self._t, 0.0), LONGEST) if np.isfinite(self._t) else 0.0
        beyond = np.abs(asked.rate - before.rate) > SMALL_RATE + dt * self._hardest
        beyond |= np.abs(self._way(before, asked)) > SMALL_PLACE + dt * self._fastest
        beyond |= np.abs(asked.curve) > self._hardest
        if not beyond.any():
            return
        sent = self._sent
        off = -self._way(sent, asked) + dt * sent.rate + 0.5 * dt**2 * sent.curve
        # Place and heading of the base are free: the controller moves the reference to the feet of the robot.
        off[self._n : self._n + 2] = off[-1] = 0.0
        self._jumped = t
        self._long = self.blend * max(1.0, float(np.abs(off).max()) / STEP)
        none = np.zeros(len(off))
        self._places = _quintic(off, none, none, self._long)
        self._rates = _quintic(
            none, sent.rate + dt * sent.curve - asked.rate, sent.curve - asked.curve, self.blend
        )

    def _way(self, before: ReferenceSample, asked: ReferenceSample) -> Vector:
        """Return by how much the place changed, (joints + 6,)."""
        n = self._n
        way: Vector = np.empty(n + BASE)
        way[:n] = asked.place - before.place
        way[self._endless] = np.remainder(way[self._endless] + np.pi, 2.0 * np.pi) - np.pi
        way[n : n + 3] = asked.pose[:3] - before.pose[:3]
        x, y, z, w = asked.pose[3:].tolist()
        a, b, c, d = before.pose[3:].tolist()
        turn = (
            d * x - w * a + c * y - b * z,
            d * y - w * b + a * z - c * x,
            d * z - w * c + b * x - a * y,
        )
        if max(abs(turn[0]), abs(turn[1]), abs(turn[2])) < 0.01:
            sign = 2.0 if d * w + a * x + b * y + c * z > 0.0 else -2.0
            way[n + 3 :] = sign * turn[0], sign * turn[1], sign * turn[2]
        else:
            way[n + 3 :] = pin.log3(
                pin.Quaternion(asked.pose[3:]).matrix() @ pin.Quaternion(before.pose[3:]).matrix().T
            )
        return way

    def _offset(self, t: float) -> tuple[Vector, Vector, Vector]:
        """Return the offset, its rate and its acceleration."""
        s = t - self._jumped
        found: Matrix = np.zeros((3, self._n + BASE))
        for polynomial, duration in ((self._places, self._long), (self._rates, self.blend)):
            if 0.0 <= s < duration:
                found += _derivatives(s) @ polynomial
        return found[0], found[1], found[2]


def _derivatives(s: float) -> Matrix:
    """Return the rows that give value, slope and curvature of a quintic."""
    return np.array(
        (
            (1.0, s, s**2, s**3, s**4, s**5),
            (0.0, 1.0, 2.0 * s, 3.0 * s**2, 4.0 * s**3, 5.0 * s**4),
            (0.0, 0.0, 2.0, 6.0 * s, 12.0 * s**2, 20.0 * s**3),
        )
    )


def _quintic(value: Vector, slope: Vector, curvature: Vector, duration: float) -> Matrix:
    """Return the coefficients of quintics that come to rest at zero, (6, n).

    Args:
        value: (n,) at the beginning.
        slope: (n,) at the beginning.
        curvature: (n,) at the beginning.
        duration: Until they rest [s].
    """
    p, v, a = value, slope * duration, curvature * duration**2
    third, fourth, fifth = (
        -10.0 * p - 6.0 * v - 1.5 * a,
        15.0 * p + 8.0 * v + 1.5 * a,
        -6.0 * p - 3.0 * v - 0.5 * a,
    )
    scale = duration ** -np.arange(6.0)
    return np.array((p, v, 0.5 * a, third, fourth, fifth)) * scale[:, None]
