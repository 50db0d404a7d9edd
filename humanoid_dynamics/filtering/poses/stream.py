# SPDX-License-Identifier: Apache-2.0
"""One tracked frame: samples in at any rate, a smooth goal out at any instant, and how well it is known."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_dynamics.filtering.poses.gate import BELIEVED, PoseGate, PoseStreamStatus
from humanoid_dynamics.filtering.poses.pose_kernels import coast
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel

MEMORY = 0.03  # s; how long the smoothing of places and velocities looks back
QUICKEST, SLOWEST = 0.002, 0.5  # s; times between samples that are reckoned with
COASTING = (0.03, 0.25)  # s; how long a goal goes on beyond its last sample
PATIENCE = (0.06, 0.45)  # s; a stream that is silent for longer has a gap
FASTEST, FASTEST_TURN = 3.0, 10.0  # m/s, rad/s; no goal moves faster
HOLD, FADE, RETURN = (
    1.0,
    1.5,
    0.2,
)  # s; how long a lost goal is held, how it is given up, how one that came back is taken up


@dataclass(slots=True, eq=False)
class PoseGoal:
    """Where a frame should be now.

    Attributes:
        p: (3,) place [m].
        R: (3, 3) orientation.
        rate: (6,) velocity, linear then angular, axes of the world [m/s, rad/s].
    """

    p: Vector
    R: Matrix
    rate: Vector


class GoalStream:
    """The poses of one frame, as its tracker tells them.

    Places and velocities come from a critically damped filter of the samples, whatever their rate; between samples, and for a short time
    after the last one, the goal goes on at the velocity it had and coasts to a stop.

    Attributes:
        gate: What decides which samples are believed.
        share: How far the frame is led: one while it is known, zero when it is given up.
        period: Time between samples [s].
        jumps: How many samples were believed after a jump.
    """

    def __init__(self) -> None:
        """Prepare; no sample has come."""
        self.gate, self._coast = PoseGate(), compile_kernel(coast)
        self.share, self.period, self.jumps = 0.0, 0.05, 0
        self._verdict: PoseStreamStatus = PoseStreamStatus.WAITING
        self._believed = -np.inf  # receipt of the newest believed sample
        self._heard = -np.inf
        self._time = 0.0
        self._p, self._R, self._rate = np.zeros(3), np.eye(3), np.zeros(6)

    @property
    def known(self) -> bool:
        """Whether there ever was a pose that could be believed."""
        return self.gate.last is not None

    def age(self, now: float) -> float:
        """Return how long ago the newest believed sample came [s]; infinite where there was none.

        Args:
            now: Our time [s].
        """
        return now - self._believed

    def observe(
        self, stamp: float, pose: ArrayLike | pin.SE3, now: float, other: GoalStream | None = None
    ) -> PoseStreamStatus:
        """Take a sample; nothing raises.

        Args:
            stamp: When it was measured by the clock of its sender; zero where that is not known [s].
            pose: x y z [m] and quaternion x y z w, or an SE3.
            now: When it came, by our clock, which never goes back [s].
            other: The other one of a pair.

        Returns:
            What became of it, see ``PoseGate.take``.
        """
        verdict = self.gate.take(stamp, pose, now, other.gate if other else None)
        self._verdict, self._heard = verdict, now
        if verdict in BELIEVED and self.gate.last is not None:
            self._filter(verdict)
            self._believed = now
        return verdict

    def _filter(self, verdict: PoseStreamStatus) -> None:
        sample = self.gate.last
        if sample is None:
            return
        elapsed = sample.time - self._time
        if verdict is PoseStreamStatus.POSE_JUMP or elapsed > SLOWEST:
            self.jumps += verdict is PoseStreamStatus.POSE_JUMP
            self._p, self._R, self._rate, self._time = sample.p, sample.R, np.zeros(6), sample.time
            return
        dt = max(elapsed, QUICKEST)
        self.period += min(1.0, dt / 0.3) * (dt - self.period)
        keep = float(np.exp(-dt / MEMORY))
        expected = self._R if not self._rate[3:].any() else pin.exp3(dt * self._rate[3:]) @ self._R
        missed = np.concatenate(
            (sample.p - self._p - dt * self._rate[:3], pin.log3(sample.R @ expected.T))
        )
        gain = 1.0 - keep * keep
        self._p = self._p + dt * self._rate[:3] + gain * missed[:3]
        self._R = pin.exp3(gain * missed[3:]) @ expected
        self._rate = _bound(self._rate + ((1.0 - keep) ** 2 / dt) * missed)
        self._time = sample.time

    def goal(self, now: float) -> PoseGoal:
        """Return where the frame should be, by what is known.

        Args:
            now: Our time [s].
        """
        coasting = min(max(2.0 * self.period, COASTING[0]), COASTING[1])
        decay = math.exp(-min(max(now - self._time, 0.0) / coasting, 50.0))
        p, R, rate = self._p.copy(), self._R.copy(), self._rate.copy()
        self._coast(coasting * (1.0 - decay), decay, p, R, rate)
        return PoseGoal(p, R, rate)

    def advance(self, now: float, dt: float, *, engaged: bool = True) -> None:
        """Let the share follow what is known of the frame.

        Args:
            now: Our time [s].
            dt: Time since the last call [s].
            engaged: Whether the clutch is closed; a frame that is not led by the operator is held, not given up.
        """
        if not self.known:
            return
        given_up = engaged and now - self._believed > HOLD
        change = -dt / FADE if given_up else dt / RETURN
        self.share = min(1.0, max(0.0, self.share + change))

    def status(self, now: float) -> PoseStreamStatus:
        """Return how well the frame is known, as its status.

        Args:
            now: Our time [s].
        """
        patience = min(max(2.5 * self.period, PATIENCE[0]), PATIENCE[1])
        if now - self._heard > patience:
            if not self.known:
                return PoseStreamStatus.WAITING
            return PoseStreamStatus.LOST if now - self._believed > HOLD else PoseStreamStatus.GAP
        quiet = (
            self._verdict in {PoseStreamStatus.REPEATED, PoseStreamStatus.OVERTAKEN}
            and now - self._believed <= patience
        )
        return (
            PoseStreamStatus.TRACKING
            if quiet or self._verdict in {PoseStreamStatus.OK, PoseStreamStatus.POSE_JUMP}
            else self._verdict
        )


def _bound(rate: Vector) -> Vector:
    linear, angular = float(np.sqrt(rate[:3] @ rate[:3])), float(np.sqrt(rate[3:] @ rate[3:]))
    rate[:3] *= min(1.0, FASTEST / max(linear, FASTEST))
    rate[3:] *= min(1.0, FASTEST_TURN / max(angular, FASTEST_TURN))
    return rate
