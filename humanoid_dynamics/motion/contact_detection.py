# SPDX-License-Identifier: Apache-2.0
"""Which foot stands when, found from the motion of the soles alone, with hysteresis.

Heights count from the lower foot of the moment, averaged over a short time, because recorded feet float and sink by centimetres.
Thresholds follow how far and how fast the feet of a clip are lifted: a robot that lifts its feet by 3 cm is told as well as a dancer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.motion.clip import FEWEST_FRAMES, Clip, Labels, count_frames
from humanoid_dynamics.motion.schedule import TouchTimes, runs, schedule_from_labels
from humanoid_dynamics.motion.smoothing import smooth_table
from humanoid_dynamics.spatial.arrays import Matrix, Vector

SMOOTHED = 4.4  # Hz; cut-off of the motion of the soles, a Gaussian of 30 ms
GROUND = 1.66  # Hz; cut-off of the height of the ground, a Gaussian of 80 ms
SHORTEST = 0.08  # s; contacts and swings that are shorter are none
DOUBLE_SUPPORT = 0.06  # s; least time both feet stand when the load changes from one to the other
SPEED_WORTH = (
    0.05  # s; metres of height a speed of 1 m/s counts for where one of two lifted feet must stand
)
HEIGHT_ON = (0.2, 0.004, 0.030)  # share of the usual lift, least and most [m]
SPEED_ON = (0.12, 0.03, 0.25)  # share of the usual top speed, least and most [m/s]
NO_LIFT = 0.02  # m; in a clip that lifts its feet less than this they never leave the ground
STILL = 0.03  # m/s; a foot that is slower and not higher than the largest threshold stands, however low the others are
HEIGHT_OFF, SPEED_OFF = 1.5, 2.0  # times as much lets a standing foot go
LIFTED = 95.0  # percentile of height and speed that counts as usual


@dataclass(frozen=True)
class ContactThresholds:
    """When a foot stands, and when no longer.

    Attributes:
        height_on: Height below which a slow foot stands [m].
        height_off: Height above which it no longer does [m].
        speed_on: Speed below which a low foot stands [m/s].
        speed_off: Speed above which it no longer does [m/s].
    """

    height_on: float
    height_off: float
    speed_on: float
    speed_off: float


def detect_contacts(
    clip: Clip, thresholds: ContactThresholds | None = None, *, flight: bool = False
) -> TouchTimes:
    """Find when each sole stands.

    A foot stands when it is low and slow, and goes on standing until it is clearly high or fast; what is shorter than 80 ms is dropped.
    Where no foot stands the lower, slower one does, unless flight is allowed.  When the load goes from one foot to the other both stand
    for 60 ms.

    Args:
        clip: A clip of a robot with two soles.
        thresholds: Heights and speeds; where None they follow the clip.
        flight: Whether both feet may be off the ground; heights then count from the lowest of the clip.

    Returns:
        The schedule of both soles.

    Raises:
        ClipError: If the clip has too few frames.
    """
    if len(clip) < FEWEST_FRAMES:
        problem = f"has {count_frames(len(clip))}, contacts are found from the motion of at least {FEWEST_FRAMES}"
        raise ClipError(clip.origin, f"{problem}; give contact labels in columns contact:NAME")
    heights, speeds = measure_soles(clip, flight=flight)
    limits = thresholds or scale_thresholds(heights, speeds)
    step = 1.0 / clip.rate
    labels = [
        _drop_short(_hysteresis(heights[:, foot], speeds[:, foot], limits), SHORTEST / step)
        for foot in (0, 1)
    ]
    if not flight:
        nearer = np.argmin(heights + SPEED_WORTH * speeds, axis=1)
        alone = ~(labels[0] | labels[1])
        labels = [touches | (alone & (nearer == foot)) for foot, touches in enumerate(labels)]
        labels = [
            _hold(labels[foot], labels[1 - foot], round(DOUBLE_SUPPORT / step)) for foot in (0, 1)
        ]
    names = [sole.name for sole in find_soles(clip.robot)]
    return schedule_from_labels(clip.times, dict(zip(names, labels, strict=True)))


def measure_soles(clip: Clip, *, flight: bool = False) -> tuple[Matrix, Matrix]:
    """Measure how high and how fast the middles of both soles are.

    Args:
        clip: A clip of a robot with two soles.
        flight: Whether heights count from the lowest of the clip, not of the moment.

    Returns:
        heights: (n, 2) above the ground [m], left and right.
        speeds: (n, 2) [m/s].
    """
    places = place_soles(clip)
    rate = clip.rate
    if clip.is_even and rate > 2.0 * SMOOTHED:
        places = smooth_table(places.reshape(len(clip), 6), rate, SMOOTHED).reshape(places.shape)
    speeds = np.linalg.norm(np.gradient(places, clip.times, axis=0), axis=2)
    heights = places[:, :, 2]
    lowest = np.min(heights, axis=1)
    if flight:
        ground = np.full(len(clip), float(np.percentile(lowest, 5.0)))
    elif clip.is_even and rate > 2.0 * GROUND:
        ground = smooth_table(lowest[:, None], rate, GROUND)[:, 0]
    else:
        ground = lowest
    return np.maximum(heights - ground[:, None], 0.0), speeds


def place_soles(clip: Clip) -> Matrix:
    """Return where the middles of both soles are.

    Args:
        clip: A clip of a robot with two soles.

    Returns:
        (n, 2, 3) positions [m], left and right.
    """
    model, data, soles = clip.robot.model, clip.robot.data(), find_soles(clip.robot)
    centres = [np.mean(sole.vertices, axis=0) for sole in soles]
    places = np.empty((len(clip), 2, 3))
    for row, q in enumerate(clip.q):
        pin.framesForwardKinematics(model, data, q)
        for foot, sole in enumerate(soles):
            places[row, foot] = data.oMf[sole.frame].act(centres[foot])
    return places


def scale_thresholds(heights: Matrix, speeds: Matrix) -> ContactThresholds:
    """Choose thresholds by how high and how fast feet are lifted.

    Args:
        heights: (n, 2) heights [m].
        speeds: (n, 2) speeds [m/s].

    Returns:
        The thresholds.
    """
    lift = float(np.percentile(np.max(heights, axis=1), LIFTED))
    speed = _share(float(np.percentile(np.max(speeds, axis=1), LIFTED)), SPEED_ON)
    height = _share(lift, HEIGHT_ON)
    if lift < NO_LIFT:
        height, speed = HEIGHT_ON[2], SPEED_ON[2]
    return ContactThresholds(height, HEIGHT_OFF * height, speed, SPEED_OFF * speed)


def _share(value: float, rule: tuple[float, float, float]) -> float:
    share, least, most = rule
    return float(np.clip(share * value, least, most))


def _hysteresis(heights: Vector, speeds: Vector, limits: ContactThresholds) -> Labels:
    still = (heights < max(limits.height_on, HEIGHT_ON[2])) & (speeds < min(limits.speed_on, STILL))
    on = still | ((heights < limits.height_on) & (speeds < limits.speed_on))
    off = ~still & ((heights > limits.height_off) | (speeds > limits.speed_off))
    labels = np.zeros(len(heights), dtype=bool)
    stands = not bool(off[0])
    for row in range(len(heights)):
        stands = bool(on[row]) or (stands and not off[row])
        labels[row] = stands
    return labels


def _drop_short(labels: Labels, least: float) -> Labels:
    """Drop short swings, then short contacts; what touches an end of the clip may go on beyond it and stays."""
    found: Labels = labels.copy()
    for kind in (False, True):
        for first, after, touches in runs(found):
            if touches is kind and after - first < least and first > 0 and after < len(found):
                found[first:after] = not kind
    return found


def _hold(labels: Labels, other: Labels, least: int) -> Labels:
    """Let a foot stand on until the other one has stood for a while."""
    held: Labels = labels.copy()
    for first, after, touches in runs(other):
        before = labels[max(first - 1, 0)]
        if touches and first > 0 and before:
            held[first : min(first + least, after)] = True
    return held
