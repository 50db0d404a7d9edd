# SPDX-License-Identifier: Apache-2.0
"""From streams of poses to goals of frames: absolute or behind a clutch, inside reach, smooth, and given up where tracking is lost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.poses.follower import GoalPace, PoseFollowers
from humanoid_dynamics.filtering.poses.gate import PoseStreamStatus
from humanoid_dynamics.filtering.poses.led_frame import LedFrame, place_point
from humanoid_dynamics.filtering.poses.pose_kernels import bring_into_reach
from humanoid_dynamics.filtering.poses.stream import GoalStream, PoseGoal
from humanoid_dynamics.filtering.ticks.terms import DynamicsTerms
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel

ARRIVED, ARRIVED_TURN = (
    0.04,
    0.25,
)  # m, rad; a frame that is nearer to its goal is no longer on its way
LEAN = (
    0.15  # of the reach; how far shoulders may go from where they rest for a hand to reach farther
)
FLOOR = 0.05  # m; how far above the ground hands stay


class LedPoses:
    """What the operator wants of each frame, as the robot can take it.

    Attributes:
        streams: One for each frame.
        engaged: Whether the clutch of each frame is closed.
        shares: (k,) how far each frame is led.
        followers: Smooth goals of all frames.
        goals: (k, 3) places the followers go to [m].
        asked: (k, 3) places the operator asks for in the robot's world, in reach or not; no numbers until they are known [m].
        shoulders: (k, 3) where the shoulders of led arms are while the body rests [m].
    """

    def __init__(
        self,
        frames: Sequence[LedFrame],
        pace: GoalPace,
        others: Sequence[GoalPace],
        *,
        relative: bool,
        scale: float,
        turn: Matrix,
    ) -> None:
        """Prepare.

        Args:
            frames: The frames.
            pace: How fast they go.
            others: Paces of further followers, behind those of the frames.
            relative: Whether motions count from where frame and operator were when the clutch closed, instead of poses.
            scale: Metres of the robot for a metre of the operator, in relative mode.
            turn: (3, 3) axes of the operator in those of the robot's world, in relative mode.
        """
        count = len(frames)
        self._frames, self._relative, self._scale, self._turn = tuple(frames), relative, scale, turn
        self.followers = PoseFollowers([pace] * count + list(others))
        total = count + len(others)
        self.shoulders, self._reach = np.zeros((count, 3)), compile_kernel(bring_into_reach)
        self.goals, self._turns, self._rates = (
            np.zeros((total, 3)),
            np.tile(np.eye(3), (total, 1, 1)),
            np.zeros((total, 6)),
        )
        self.restart()

    def restart(self) -> None:
        """Forget all streams."""
        count = len(self._frames)
        self.streams = [GoalStream() for _ in self._frames]
        self.engaged = [not self._relative] * count
        self.shares = np.zeros(count)
        self._cut = [False] * count
        self.asked = np.full((count, 3), np.nan)
        self._origin: list[tuple[PoseGoal, Vector, Matrix, int] | None] = [None] * count

    def engage(self, k: int, *, closed: bool) -> None:
        """Close or open the clutch of a frame.

        Args:
            k: Which one.
            closed: Whether it is closed.
        """
        self.engaged[k] = closed
        self._origin[k] = None
        if not closed:  # it stays where it is on its way
            self.goals[k], self._turns[k], self._rates[k] = (
                self.followers.p[k],
                self.followers.R[k],
                0.0,
            )

    def update(
        self, now: float, dt: float, terms: DynamicsTerms, model: pin.Model, floor: float
    ) -> None:
        """Take goals from the streams.

        Args:
            now: Our time [s].
            dt: Time since the last tick [s].
            terms: The robot in its state.
            model: Its model.
            floor: Height of the ground [m].
        """
        for k, stream in enumerate(self.streams):
            if not stream.known:
                continue
            stream.advance(now, dt, engaged=self.engaged[k])
            self.shares[k] = stream.share
            self._cut[k] = False
            if self.engaged[k]:
                goal = self._map(k, stream, stream.goal(now))
                self.asked[k] = goal.p
                self._cut[k] = self._bound(
                    k, goal, place_shoulder(self._frames[k], terms, model), floor
                )
                self.goals[k], self._turns[k], self._rates[k] = goal.p, goal.R, goal.rate

    def set_goal(
        self, k: int, p: Vector, R: Matrix | None = None, *, rate: Vector | None = None
    ) -> None:
        """Set the goal of a follower by hand.

        Args:
            k: Which one.
            p: (3,) place [m].
            R: (3, 3) orientation; as it is where None.
            rate: (6,) velocity; zero where None.
        """
        self.goals[k], self._rates[k] = p, 0.0 if rate is None else rate
        if R is not None:
            self._turns[k] = R

    def goal_turn(self, k: int) -> Matrix:
        """Return the orientation a follower goes to.

        Args:
            k: Which one.
        """
        return np.asarray(self._turns[k])

    def step(self, dt: float) -> None:
        """Let the followers go on.

        Args:
            dt: Time until the next tick [s].
        """
        self.followers.step(self.goals, self._turns, self._rates, dt)

    def stay(self, k: int, p: Vector, R: Matrix, rate: Vector) -> None:
        """Put a follower where its frame is; so it starts from there once the frame is led.

        Args:
            k: Which one.
            p: (3,) place [m].
            R: (3, 3) orientation.
            rate: (6,) velocity.
        """
        self.followers.place(k, p, R, rate)
        if not self.streams[k].known or not self.engaged[k]:
            self.goals[k], self._turns[k], self._rates[k] = p, R, 0.0

    def status(self, k: int, now: float) -> PoseStreamStatus:
        """Return how well a frame is led, as its status.

        Args:
            k: Which one.
            now: Our time [s].
        """
        if not self.engaged[k]:
            return PoseStreamStatus.DISENGAGED
        status = self.streams[k].status(now)
        if status is not PoseStreamStatus.TRACKING:
            return status
        if self._cut[k]:
            return PoseStreamStatus.OUT_OF_REACH
        place, turn = self.followers.left[k]
        return (
            PoseStreamStatus.TRACKING
            if place < ARRIVED and turn < ARRIVED_TURN and self.shares[k] >= 1.0
            else PoseStreamStatus.APPROACHING
        )

    def _map(self, k: int, stream: GoalStream, goal: PoseGoal) -> PoseGoal:
        """Return the goal in the robot's world: the pose itself, or what moved since the clutch closed."""
        if not self._relative:
            return goal
        origin = self._origin[k]
        if origin is None or origin[3] != stream.jumps:
            origin = self._origin[k] = (
                goal,
                self.followers.p[k].copy(),
                self.followers.R[k].copy(),
                stream.jumps,
            )
        start, p, R, _ = origin
        T, s = self._turn, self._scale
        turned = T @ goal.R @ start.R.T @ T.T @ R
        rate = np.concatenate((s * (T @ goal.rate[:3]), T @ goal.rate[3:]))
        return PoseGoal(p + s * (T @ (goal.p - start.p)), turned, rate)

    def _bound(self, k: int, goal: PoseGoal, shoulder: Vector | None, floor: float) -> bool:
        """Bring a goal into reach, in place; return whether it was not.

        Were reach told from where the shoulder is, a goal beyond it would draw the body after it.
        """
        led = self._frames[k]
        if led.kind == "hand":
            goal.p[2] = max(goal.p[2], floor + FLOOR)
        if shoulder is None:
            return False
        return bool(
            self._reach(
                goal.p, goal.rate, (self.shoulders[k], shoulder), led.reach, LEAN * led.reach
            )
        )


def place_shoulder(led: LedFrame, terms: DynamicsTerms, model: pin.Model) -> Vector | None:
    """Return where the shoulder of a led arm is; None where there is none.

    Args:
        led: The led frame.
        terms: The robot in its state.
        model: Its model.
    """
    return None if led.shoulder is None else place_point(terms.data, model, led.shoulder)
