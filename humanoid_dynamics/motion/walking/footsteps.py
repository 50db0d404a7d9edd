# SPDX-License-Identifier: Apache-2.0
"""Where the feet of a walk go, and when."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.spatial.arrays import Vector

TIMES, LONGEST = ("step_time", "double_support", "start_time", "stop_time"), 60.0  # s
RATES = (5.0, 10_000.0)  # Hz
MOST_STEPS = 1000
SIZES, LARGEST = (
    ("step_length", "side_step", "turn", "step_height", "slope", "lower"),
    100.0,
)  # m or rad; nobody is as large


@dataclass(frozen=True)
class WalkStyle:
    """How to walk; lengths in metres, times in seconds.

    Where a length or a time is None it follows the legs: a step of 0.3 legs and a foot lifted by 0.06 legs, both shorter where the joints
    do not allow that, a swing of 2.4 times sqrt(height / g), 0.3 of that in double support, 4.5 times sqrt(height / g) at both ends.

    Attributes:
        steps: Number of steps; the last one brings the feet together.
        step_length: How far one foot goes ahead of the other, negative to walk backwards [m].
        side_step: How far the body goes to the left with each step [m].
        turn: How far the body turns to the left with each step [rad].
        step_height: How high the swinging foot is lifted [m].
        step_time: Single support [s].
        double_support: Double support between two steps [s].
        start_time: Double support before the first step [s].
        stop_time: Double support after the last one [s].
        slope: How steep the ground is, uphill along x [rad].
        first: Foot that steps first, ``left`` or ``right``.
        lower: How far the centre of mass is lowered from the resting posture [m]; where None as far as the steps need.
        rate: Samples per second [Hz].
    """

    steps: int = 6
    step_length: float | None = None
    side_step: float = 0.0
    turn: float = 0.0
    step_height: float | None = None
    step_time: float | None = None
    double_support: float | None = None
    start_time: float | None = None
    stop_time: float | None = None
    slope: float = 0.0
    first: str = "left"
    lower: float | None = None
    rate: float = 200.0

    def __post_init__(self) -> None:
        if (
            isinstance(self.steps, bool)
            or not isinstance(self.steps, int)
            or not 1 <= self.steps <= MOST_STEPS
        ):
            raise ShapeError("steps", repr(self.steps), f"a whole number, 1 to {MOST_STEPS}")
        if self.first not in {"left", "right"}:
            raise ShapeError("first", repr(self.first), "left or right")
        if not RATES[0] <= self.rate <= RATES[1]:
            raise ShapeError("rate", repr(self.rate), f"a rate of {RATES[0]:g} to {RATES[1]:g} Hz")
        for name in TIMES:
            value = getattr(self, name)
            if value is not None and not 0.0 < value <= LONGEST:
                raise ShapeError(name, repr(value), f"a positive time of at most {LONGEST:g} s")
        for name in SIZES:
            value = getattr(self, name)
            if value is not None and not abs(value) <= LARGEST:
                raise ShapeError(
                    name, repr(value), f"a finite number of at most {LARGEST:g} m or rad"
                )


@dataclass(frozen=True, eq=False)
class Footstep:
    """One step.

    Attributes:
        foot: 0 for the left foot, 1 for the right one.
        start: (3,) x, y [m] and yaw [rad] of the sole on the ground plane where it leaves.
        end: (3,) the same where it lands.
        leaves: When it leaves the ground [s].
        lands: When it lands [s].
    """

    foot: int
    start: Vector
    end: Vector
    leaves: float
    lands: float


@dataclass(frozen=True, eq=False)
class FootstepPlan:
    """All steps of a walk.

    Attributes:
        stand: (2, 3) x, y, yaw of both soles at the start.
        steps: The steps, in order.
        end: When the walk ends [s].
    """

    stand: Vector
    steps: tuple[Footstep, ...]
    end: float

    def landing_poses(self) -> Vector:
        """Return (steps + 1, 2, 3) poses of both soles in each double support."""
        poses = [np.array(self.stand)]
        for step in self.steps:
            after = poses[-1].copy()
            after[step.foot] = step.end
            poses.append(after)
        return np.array(poses)


def plan_footsteps(
    style: WalkStyle, stand: Vector, *, length: float, times: tuple[float, float, float, float]
) -> FootstepPlan:
    """Place the feet of a walk on the ground plane.

    The body goes along an arc; each step puts one foot where it stands beside the body.

    Args:
        style: How to walk.
        stand: (2, 3) x, y [m] and yaw [rad] of both soles, left and right, side by side.
        length: Step length [m].
        times: Start, single support, double support, stop [s].

    Returns:
        The plan.
    """
    begin, swing, both, stop = times
    body = np.mean(stand, axis=0)
    beside = [_seen_from(body, pose) for pose in stand]
    feet = [np.array(pose) for pose in stand]
    foot = 0 if style.first == "left" else 1
    steps, clock = [], begin
    for number in range(style.steps):
        if number < style.steps - 1 or style.steps == 1:
            body = _go(body, np.array([length, style.side_step, style.turn]))
        end = _go(body, beside[foot])
        steps.append(Footstep(foot, feet[foot], end, clock, clock + swing))
        feet[foot] = end
        foot, clock = 1 - foot, clock + swing + both
    return FootstepPlan(np.array(stand), tuple(steps), clock - both + stop)


def _go(pose: Vector, step: Vector) -> Vector:
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return np.array(
        [
            pose[0] + c * step[0] - s * step[1],
            pose[1] + s * step[0] + c * step[1],
            pose[2] + step[2],
        ]
    )


def _seen_from(body: Vector, pose: Vector) -> Vector:
    c, s = np.cos(body[2]), np.sin(body[2])
    d = pose[:2] - body[:2]
    return np.array([c * d[0] + s * d[1], -s * d[0] + c * d[1], pose[2] - body[2]])
