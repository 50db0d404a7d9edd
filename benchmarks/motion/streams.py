# SPDX-License-Identifier: Apache-2.0
"""Reference streams of every kind: motions as a sender would send them, good and bad, and how soon the filter is back on them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

import humanoid_dynamics as hd
from benchmarks.motion.recordings import find_recording
from humanoid_dynamics.filtering import DynamicsFilter
from humanoid_dynamics.filtering.conditioning.sample_clock import SampleStatus
from humanoid_dynamics.filtering.frame import Frame
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.gait import plan_walk
from humanoid_dynamics.motion.load import load_clip
from humanoid_dynamics.motion.resampling import sample_configurations
from humanoid_dynamics.motion.walking.footsteps import WalkStyle
from humanoid_dynamics.spatial.arrays import Vector

RATE = 50.0  # Hz of a good stream
AFTER = 3.0  # s a stream goes on after its fault
ENDING = 1.0  # s before the end of a stream that tell nothing: it is about to stand
BAND = 0.05  # rad; a command whose joints are off that without a fault by less, in the root mean square, follows again
STAYS = 0.5  # s for which it must
MOTIONS = (
    "sway",
    "squat",
    "gait",
    "walk",
    "dance",
)  # all but the first and the third one are recordings
BARE = {"dance": 60.0}  # Hz; of files that do not say so
RECORDED = {
    "squat": "g1_asap/squat_level1.npz",
    "walk": "g1_asap/walk_level1.npz",
    "dance": "g1_karate/J_ShortDance16_JazzWalk.csv",
}
ARMS = ("shoulder", "elbow", "wrist")


@dataclass(frozen=True)
class Fault:
    """When a stream is bad.

    Attributes:
        kind: What is wrong.
        motion: What is sent.
        begins: When it becomes wrong [s].
        ends: When it is right again [s].
        seed: Of everything that is drawn.
    """

    kind: str
    motion: str
    begins: float
    ends: float
    seed: int


@functools.cache
def load_motion(name: str) -> Clip:
    """Return a motion: one that is made, or a recording."""
    if name in RECORDED:
        return load_clip(find_recording(RECORDED[name]), hd.load_robot("g1"), fps=BARE.get(name))
    robot = hd.load_robot("human28")
    if name == "gait":
        return plan_walk(robot, WalkStyle(steps=9)).clip
    times = np.arange(0.0, 8.0, 1.0 / RATE)
    q = np.tile(robot.posture, (len(times), 1))
    for k, joint in enumerate(j for j in robot.joints if any(arm in j.name for arm in ARMS)):
        q[:, joint.q.start] += 0.3 * np.sin((1.5 + 0.1 * k) * times)
    return Clip(robot, times, q)


def draw_fault(kind: str, seed: int) -> Fault:
    """Return a fault of a kind: each seed has its motion, its instant and its length."""
    rng = np.random.default_rng([seed, sorted(KINDS).index(kind)])
    motion = MOTIONS[seed % len(MOTIONS)]
    begins = float(rng.uniform(1.2, 2.2))
    return Fault(kind, motion, begins, begins + float(rng.uniform(0.3, 1.2)), seed)


Sample = tuple[float, Vector]
Spoil = Callable[[float, Vector, Fault, np.random.Generator, Clip], Sample]


def _teleport(t: float, q: Vector, fault: Fault, rng: np.random.Generator, clip: Clip) -> Sample:
    rng = np.random.default_rng(fault.seed)
    q[:3] += [*rng.uniform(-5.0, 5.0, 2), rng.uniform(0.0, 2.0)]
    return t, q


def _flip(t: float, q: Vector, fault: Fault, rng: np.random.Generator, clip: Clip) -> Sample:
    way = np.eye(3)[fault.seed % 2]  # upside down, over the side or over head
    q[3:7] = (pin.Quaternion(q[3:7]) * pin.Quaternion(pin.exp3(np.pi * way))).coeffs()
    return t, q


def _about_face(t: float, q: Vector, fault: Fault, rng: np.random.Generator, clip: Clip) -> Sample:
    q[3:7] = (
        pin.Quaternion(pin.exp3(np.array([0.0, 0.0, np.pi]))) * pin.Quaternion(q[3:7])
    ).coeffs()
    return t, q


def _frozen(t: float, q: Vector, fault: Fault, rng: np.random.Generator, clip: Clip) -> Sample:
    return t, sample_configurations(clip, np.array([clip.times[0] + fault.begins]))[0]


def _noisy(size: float) -> Spoil:
    def spoil(t: float, q: Vector, fault: Fault, rng: np.random.Generator, clip: Clip) -> Sample:
        q[7:] += size * rng.standard_normal(len(q) - 7)
        return t, q

    return spoil


def _jerk(t: float, q: Vector, fault: Fault, rng: np.random.Generator, clip: Clip) -> Sample:
    robot = clip.robot
    low, high = np.maximum(robot.limits.lower[7:], -2.0), np.minimum(robot.limits.upper[7:], 2.0)
    q[7:] = rng.uniform(low, high)
    return t, q


def _nan(t: float, q: Vector, fault: Fault, rng: np.random.Generator, clip: Clip) -> Sample:
    return (np.nan if fault.seed % 3 == 2 else t), np.where(
        rng.random(len(q)) < 0.1, rng.choice([np.nan, np.inf]), q
    )


def _swapped(t: float, q: Vector, fault: Fault, rng: np.random.Generator, clip: Clip) -> Sample:
    robot, other = clip.robot, np.array(q)
    for joint in robot.joints:
        if any(arm in joint.name for arm in ARMS):
            for a, b in (("left_", "right_"), ("right_", "left_"), ("l_", "r_"), ("r_", "l_")):
                if joint.name.startswith(a):
                    twin = robot.joint(joint.name.replace(a, b, 1))
                    other[joint.q] = q[twin.q]
    return t, other


def _backwards(t: float, q: Vector, fault: Fault, rng: np.random.Generator, clip: Clip) -> Sample:
    return 2.0 * fault.begins - t, q


def _as_it_is(t: float, q: Vector, fault: Fault, rng: np.random.Generator, clip: Clip) -> Sample:
    return t, q


KINDS: dict[str, Spoil] = {
    "teleport": _teleport,
    "flip": _flip,
    "about_face": _about_face,
    "frozen": _frozen,
    "noisy": _noisy(0.05),
    "loud": _noisy(0.3),
    "jerk": _jerk,
    "slow": _as_it_is,
    "fast": _as_it_is,
    "nan": _nan,
    "swapped": _swapped,
    "backwards": _backwards,
    "silent": _as_it_is,
}
RATES = {"slow": 5.0, "fast": 500.0}
SEEDS = 10


def send(fault: Fault) -> Iterator[tuple[float, Vector]]:
    """Yield the samples of a stream in the order in which they come; without a fault where its kind is none."""
    clip, rng, t = load_motion(fault.motion), np.random.default_rng(fault.seed), 0.0
    while t < fault.ends + AFTER:
        bad = fault.begins <= t < fault.ends and fault.kind in KINDS
        if not (bad and fault.kind == "silent"):
            q = sample_configurations(clip, np.array([clip.times[0] + min(t, clip.duration)]))[0]
            yield KINDS[fault.kind](t, q, fault, rng, clip) if bad else (t, q)
        t += 1.0 / (RATES.get(fault.kind, RATE) if bad else RATE)


def follow(fault: Fault) -> tuple[DynamicsFilter, list[Frame], set[SampleStatus]]:
    """Let the filter follow a stream with a fault; return it, all its frames, and what became of the samples."""
    flow = DynamicsFilter(load_motion(fault.motion).robot)
    return flow, *run(flow, send(fault))


def run(
    flow: DynamicsFilter, samples: Iterable[tuple[float, Vector]]
) -> tuple[list[Frame], set[SampleStatus]]:
    """Let a filter follow samples to their end; return all its frames, and what became of the samples."""
    frames: list[Frame] = []
    statuses: set[SampleStatus] = set()
    for t, q in samples:
        statuses.add(flow.update(t, q))
        while flow.ready and (frame := flow.step()) is not None:
            frames.append(frame)
    flow.finish()
    while flow.ready and (frame := flow.step()) is not None:
        frames.append(frame)
    return frames, statuses


@functools.cache
def undisturbed(motion: str) -> list[Frame]:
    """Return the frames of a motion without any fault."""
    return follow(Fault("none", motion, 4.0, 5.0, 0))[1]


def off(frames: list[Frame], motion: str, since: float, until: float) -> tuple[Vector, Vector]:
    """Return instants of a reference, and by how much joints are off the undisturbed ones there, in the root mean square [rad]."""
    clean = undisturbed(motion)
    known, postures = (
        np.array([frame.reference for frame in clean]),
        np.array([frame.q[7:] for frame in clean]),
    )
    judged = [frame for frame in frames if since <= frame.reference < until]
    times = np.array([frame.reference for frame in judged])
    wanted = np.column_stack([np.interp(times, known, joint) for joint in postures.T])
    return times, np.sqrt(
        np.mean((np.array([frame.q[7:] for frame in judged]) - wanted) ** 2, axis=1)
    )


def time_back(times: Vector, misses: Vector, since: float) -> float:
    """Return how long after an instant joints are no farther off than ``BAND``, and stay so for ``STAYS`` or to the end [s]."""
    last = since
    for t in times[misses > BAND].tolist():
        if t - last > STAYS:
            break
        last = t
    return last - since


def time_home(fault: Fault, frames: list[Frame]) -> float:
    """Return how long after a fault the command is back on what it is without that fault [s]: its feet stand there as well."""
    return time_back(
        *off(frames, fault.motion, fault.ends, fault.ends + AFTER - ENDING), fault.ends
    )


def off_reference(frames: list[Frame], motion: str) -> tuple[Vector, Vector]:
    """Return instants of a reference, and by how much joints are off it, in the root mean square [rad]."""
    clip = load_motion(motion)
    times = np.array([frame.reference for frame in frames])
    wanted = sample_configurations(clip, clip.times[0] + np.minimum(times, clip.duration))
    return times, np.sqrt(
        np.mean((np.array([frame.q for frame in frames])[:, 7:] - wanted[:, 7:]) ** 2, axis=1)
    )


@functools.cache
def usual(motion: str) -> float:
    """Return by how much joints are off the reference of an undisturbed stream, in the root mean square, at most [rad]."""
    return float(np.max(off_reference(undisturbed(motion), motion)[1]))


def recovery(fault: Fault, frames: list[Frame]) -> float:
    """Return how long after a fault the command is not, or not for good, on the reference as usual [s].

    It is where all limits are kept and joints are off the reference by no more than ``BAND`` beyond what is usual without a fault.
    """
    times, misses = off_reference(frames, fault.motion)
    kept = np.array([frame.rung == 0 and frame.certificate.holds for frame in frames])
    late = (
        (times >= fault.ends)
        & (times < fault.ends + AFTER - ENDING)
        & ((misses > usual(fault.motion) + BAND) | ~kept)
    )
    return float(np.max(times[late], initial=fault.ends)) - fault.ends
