# SPDX-License-Identifier: Apache-2.0
"""Recorded poses of an operator through teleoperation: late, with jitter and losses as asked, and what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import ClipError, ShapeError, count
from humanoid_dynamics.filtering.fallen import has_fallen
from humanoid_dynamics.filtering.poses.answer import TeleoperationFrame
from humanoid_dynamics.filtering.poses.gate import BELIEVED, PoseGate, PoseStreamStatus
from humanoid_dynamics.filtering.poses.placing import enclose, find_reach, find_shift
from humanoid_dynamics.filtering.poses.teleoperation import Teleoperation
from humanoid_dynamics.filtering.proportions import measure_proportions
from humanoid_dynamics.motion.poses import PoseStream
from humanoid_dynamics.spatial.arrays import Matrix, Vector

SETTLED = (
    1.0  # s from the start in which the robot takes up the motion; errors are counted after it
)
FOLLOWED = (
    PoseStreamStatus.TRACKING,
    PoseStreamStatus.OUT_OF_REACH,
)  # the goal is known; OUT_OF_REACH: as near as the limb reaches


@dataclass(frozen=True)
class Line:
    """How poses come.

    Attributes:
        latency: How late [s].
        jitter: Mean of what comes on top, at random [s].
        loss: Share of poses that never come.
        seed: Of the random numbers.
    """

    latency: float = 0.0
    jitter: float = 0.0
    loss: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not (
            min(self.latency, self.jitter, self.loss) >= 0.0
            and self.loss < 1.0
            and max(self.latency, self.jitter) < np.inf
        ):
            raise ShapeError(
                "line",
                f"{self.latency:g}, {self.jitter:g}, {self.loss:g}",
                "times and a share of loss, not negative",
            )


@dataclass(frozen=True, eq=False)
class Replay:
    """What became of recorded poses.

    Attributes:
        frames: All commands.
        errors: Led frame -> (n,) how far it was from its goal, while that was known; the goal is brought to where the limb reaches [m].
        misses: Led frame -> (n,) at the same instants, how far it was from where the operator had it, in reach or not [m].
        statuses: Led frame -> how many ticks it had each status.
        seconds: (n,) time each tick took [s].
        fell: Whether the robot was on the ground.
    """

    frames: tuple[TeleoperationFrame, ...]
    errors: dict[str, Vector]
    misses: dict[str, Vector]
    statuses: dict[str, dict[PoseStreamStatus, int]]
    seconds: Vector
    fell: bool


def replay_poses(
    tele: Teleoperation,
    streams: Mapping[str, PoseStream],
    line: Line | None = None,
    watch: Callable[[float], object] | None = None,
) -> Replay:
    """Lead a robot by recorded poses, from rest.

    Args:
        tele: Teleoperation, in relative mode where the poses are not in the world of the robot.
        streams: Led frame -> what leads it.
        line: How poses come; at once where None.
        watch: Called with the share that is done.

    Returns:
        What became of them.

    Raises:
        ClipError: If they last less than one tick.
    """
    start = min(float(stream.times[0]) for stream in streams.values())
    length = max(float(stream.times[-1]) for stream in streams.values()) - start
    if length < tele.dt:
        origin, most = next(
            (stream.origin, max(map(len, streams.values()))) for stream in streams.values()
        )
        raise ClipError(
            origin,
            f"{count(most, 'pose')} of {length:.4g} s, less than one tick of {tele.dt:.4g} s",
        )
    messages = _send(streams, line or Line(), start)
    proportions = measure_proportions(tele.robot)
    frames: list[TeleoperationFrame] = []
    seconds, sent = [], 0
    tele.engage(*streams)
    for k in range(int(length / tele.dt)):
        now = k * tele.dt
        while sent < len(messages) and messages[sent][0] <= now:
            received, name, stamp, pose = messages[sent]
            tele.update(name, stamp, pose, received)
            sent += 1
        began = perf_counter()
        frames.append(tele.step(now))
        seconds.append(perf_counter() - began)
        if watch is not None:
            watch(now / length)
    looks = frames[:: max(round(0.1 / tele.dt), 1)] + frames[-1:]
    fell = any(has_fallen(frame.q, proportions.pelvis, proportions.up) for frame in looks)
    reports = {
        name: [frame.streams[name] for frame in frames if frame.time > SETTLED] for name in streams
    }
    followed = {
        name: [report for report in several if report.status in FOLLOWED]
        for name, several in reports.items()
    }
    errors = {
        name: np.array([report.place_error for report in several])
        for name, several in followed.items()
    }
    misses = {
        name: np.array([report.operator_error for report in several])
        for name, several in followed.items()
    }
    statuses = {
        name: dict(Counter(frame.streams[name].status for frame in frames)) for name in streams
    }
    return Replay(tuple(frames), errors, misses, statuses, np.array(seconds), fell)


def move_to_robot(
    tele: Teleoperation, stream: PoseStream, name: str, scale: float = 1.0
) -> PoseStream:
    """Return poses as if the operator's frame had begun where the robot's is: way and turn from the first pose on, in axes of the world.

    Where the limb would not reach them all, they begin as near to there as brings them into reach.  Poses that jump for a moment, which
    lead nobody, do not count.

    Args:
        tele: Teleoperation of the robot, at rest.
        stream: The poses.
        name: Frame they are to lead.
        scale: Metres of the robot for a metre of the operator.
    """
    start, first = tele.pose(name), pin.XYZQUATToSE3(np.array(stream.poses[0]))
    moved, reach = (
        np.empty_like(stream.poses),
        find_reach(tele.robot, tele.frames[tele.names.index(name)]),
    )
    moved[:, :3] = start.translation + scale * (stream.poses[:, :3] - first.translation)
    for row, pose in enumerate(stream.poses):
        turn = pin.XYZQUATToSE3(np.array(pose)).rotation @ first.rotation.T @ start.rotation
        moved[row, 3:] = pin.Quaternion(turn).coeffs()
    if reach is not None:
        moved[:, :3] += find_shift(_believed_places(stream.times, moved), *reach)
    return replace(stream, name=name, poses=moved)


def largest_scale(tele: Teleoperation, stream: PoseStream, name: str) -> float:
    """Return up to which scale a limb reaches all of a motion but what jumps for a moment; infinite where its length does not matter.

    Args:
        tele: Teleoperation of the robot.
        stream: The poses of the operator.
        name: Frame they are to lead.
    """
    reach = find_reach(tele.robot, tele.frames[tele.names.index(name)])
    places = stream.poses - np.pad(stream.poses[0, :3], (0, 4))
    radius = enclose(_believed_places(stream.times, places))[1]
    return np.inf if reach is None or radius == 0.0 else reach[1] / radius


def tell_jumps(stream: PoseStream) -> str:
    """Tell of poses most of which jump, and lead nobody; empty where most of them lead.

    Args:
        stream: The poses, in the world of the robot.
    """
    leading = len(_believed_places(stream.times, stream.poses))
    if 2 * leading >= len(stream):
        return ""
    jumping = f"{len(stream) - leading} of {count(len(stream), 'pose')}"
    return (
        f"{stream.name}: {jumping} jump and are ignored; positions are in metres, times in seconds"
    )


def _believed_places(times: Vector, poses: Matrix) -> Matrix:
    """Return the places of the poses that the door lets in."""
    gate = PoseGate()
    stamps = times - times[0] + 1.0
    return poses[
        [
            gate.take(float(t), pose, float(t)) in BELIEVED
            for t, pose in zip(stamps, poses, strict=True)
        ],
        :3,
    ]


def _send(
    streams: Mapping[str, PoseStream], line: Line, start: float
) -> list[tuple[float, str, float, Vector]]:
    """Return when poses come, for whom, their stamps and themselves, in the order they come."""
    rng = np.random.default_rng(line.seed)
    messages = []
    for name, stream in streams.items():
        late = line.latency + rng.exponential(1.0, len(stream.times)) * line.jitter
        kept = rng.random(len(stream.times)) >= line.loss
        stamps = stream.times - start
        messages += [
            (float(stamps[k] + late[k]), name, float(stamps[k]) + 1.0, stream.poses[k])
            for k in np.flatnonzero(kept)
        ]
    return sorted(messages, key=lambda message: message[0])
