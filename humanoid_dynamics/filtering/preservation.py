# SPDX-License-Identifier: Apache-2.0
"""How much of a reference a filtered motion keeps: measures, and the bounds within which a run counts as preserved.

Everything is measured on the two motions themselves.  Contacts of the reference are detected from the motion of its soles and of its
centre of mass, never taken from its labels; contacts of the filtered motion are those that it declares, which the certificate of its
frames checks.  Both are compared in the time of the reference: ``stamps`` maps each filtered row to an instant of the reference, and time
that is stretched has a measure of its own.

Use::

    measures = measure_preservation(reference, filtered, stamps, taken=taken)  # PreservationMeasures
    broken = find_broken_bounds(measures)                                     # () where the run is preserved

``None`` means that a measure does not apply (no strides, no flight, no travel, no steps).  NaN means that it could not be measured, and
breaks its bound.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import pairwise
from math import isfinite, nan, pi
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from scipy.ndimage import maximum_filter1d

from humanoid_dynamics.filtering.conditioning.origin import heading_between
from humanoid_dynamics.filtering.self_collision import find_self_collision
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.motion.clip import Clip, Labels
from humanoid_dynamics.motion.contact_detection import (
    HEIGHT_OFF,
    HEIGHT_ON,
    LIFTED,
    NO_LIFT,
    SPEED_OFF,
    ContactThresholds,
    detect_contacts,
    measure_soles,
)
from humanoid_dynamics.motion.resampling import resample, sample_configurations
from humanoid_dynamics.motion.schedule import runs
from humanoid_dynamics.motion.smoothing import smooth_table
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

BASE = 6
RATE = 100.0  # Hz at which the reference is measured
SMOOTHED = 6.0  # Hz; cut-off of the height of the centre of mass
FREE_FALL = 0.6  # of gravity; a centre of mass that accelerates downward faster is in flight
FLIES = 0.03  # share of time in flight from which on a clip flies
CHORD = 0.5  # s; the path of the base is measured by chords of this time, so that jitter does not lengthen it
TRAVELS = 0.25  # of the leg; where feet stay within this of their start, the base does not travel
SHORTEST_STRIDE = 0.1  # of the leg
STEP_SPEED, STEP_TIME = 0.1, 0.1  # m/s and s; feet that move faster for longer step, however low
MATCH = 0.06  # s between events of contact that are the same
ROUND_OFF = 1e-6  # s
SAMPLED = 30.0  # Hz at which self-collision is measured
NEARBY = 0.2  # s around an instant in which the reference's own penetration counts
FOLLOWED = 25.0 * pi / 180.0  # rad; root mean square over joints, tilt of the base, and its heading
FLOOR = 5.0  # percentile of the height of the lower sole that is the floor of a reference
FEWEST = 10.0  # steps in which the reference is measured
REACHED = 0.05  # s before its end at which a reference counts as reached


@dataclass(frozen=True)
class PreservationMeasures:
    """What a filtered motion keeps of its reference.

    Attributes:
        followed: Share of the samples of the reference that are taken and followed: joints, tilt and
            heading of the base within 25 degrees [-].
        path: Way of the base along that of the reference, in chords of 0.5 s, over its length; None where the reference does not
            travel [-].
        stride: Way between touch-down places along the strides of the reference, over their length, no stride longer than its own; None
            where there are none [-].
        flight_reference: Share of time in which the reference flies [-].
        flight: Time in flight over that of the reference; None where the reference flies by no more than 3 % [-].
        flight_lost: Time in which the reference flies and the filtered motion does not [s].
        time_factor: Time taken over the duration of the reference [-].
        contact_f1: F1 score of touch-downs and lift-offs within 60 ms, of declared contacts, or of contacts detected in both
            motions where these are of the same sequence; None where neither motion has any [-].
        joint_rms: Root mean square of joint errors over joints and time [rad].
        self_collision: Deepest penetration of two links beyond that of the same links in the reference within 0.2 s, and in the resting
            posture [m].
        foot_penetration: Deepest point of a sole below the ground beyond that of the reference within 0.2 s [m].
    """

    followed: float
    path: float | None
    stride: float | None
    flight_reference: float
    flight: float | None
    flight_lost: float
    time_factor: float
    contact_f1: float | None
    joint_rms: float
    self_collision: float
    foot_penetration: float

    @property
    def runs(self) -> bool:
        """Whether the reference flies by more than 3 % of its time."""
        return self.flight_reference > FLIES


@dataclass(frozen=True)
class Bound:
    """Bound of a measure.

    Attributes:
        measure: Attribute of ``PreservationMeasures``.
        least: Smallest value that is preserved, or None.
        most: Largest value that is preserved, or None.
        running: Largest value where the reference flies; as ``most`` where None.
        unit: Unit of the bounds and of the measure.
    """

    measure: str
    least: float | None = None
    most: float | None = None
    running: float | None = None
    unit: str = "-"


BOUNDS = (
    Bound("followed", least=0.8),
    Bound("path", least=0.9, most=1.1),
    Bound("stride", least=0.9),
    Bound("flight", least=0.7),
    Bound("time_factor", most=1.05),
    Bound("contact_f1", least=0.9),
    Bound("joint_rms", most=6.0 * pi / 180.0, running=12.0 * pi / 180.0, unit="rad"),
    Bound("self_collision", most=0.005, unit="m"),
    Bound("foot_penetration", most=0.005, unit="m"),
)


def find_broken_bounds(
    measures: PreservationMeasures | None, bounds: tuple[Bound, ...] = BOUNDS
) -> tuple[str, ...]:
    """Return the measures that are outside their bounds, in the order of the table.

    Args:
        measures: The measures; where None, nothing was measured and every bound is broken.
        bounds: The bounds.
    """
    return tuple(
        bound.measure for bound in bounds if measures is None or not _holds(bound, measures)
    )


def _holds(bound: Bound, measures: PreservationMeasures) -> bool:
    value = getattr(measures, bound.measure)
    if value is None:
        return True
    most = bound.running if measures.runs and bound.running is not None else bound.most
    return (
        isfinite(value)
        and (bound.least is None or value >= bound.least)
        and (most is None or value <= most)
    )


def unmeasured() -> PreservationMeasures:
    """Return measures of a motion that is no motion: NaN each."""
    return PreservationMeasures(**{field.name: nan for field in fields(PreservationMeasures)})


def measure_preservation(
    reference: Clip,
    filtered: Clip,
    stamps: Vector,
    *,
    taken: Labels | None = None,
    ground: float = 0.0,
) -> PreservationMeasures:
    """Measure what a filtered motion keeps of its reference.

    Args:
        reference: The clip before the filter, in axes of the ground; its contacts are not read.
        filtered: The motion after the filter, of the same robot, with the contacts of its soles; rows outside the reference's time, such as
            those of a hold before and after it, do not count.
        stamps: (n,) instant of the reference each filtered row belongs to, in ``reference.times`` [s].
        taken: (m,) whether each sample of the reference was taken; all where None.
        ground: Height of the ground of the filtered motion [m].

    Returns:
        The measures.
    """
    robot = reference.robot
    first, last = float(reference.times[0]), float(reference.times[-1])
    if len(stamps) != len(filtered) or not np.isfinite(stamps).all():
        return unmeasured()
    stamps = np.maximum.accumulate(np.asarray(stamps, dtype=np.float64))
    inside = np.flatnonzero((stamps >= first - ROUND_OFF) & (stamps <= last + ROUND_OFF))
    if not inside.size:
        return unmeasured()
    even = resample(reference, max(RATE, FEWEST / reference.duration))
    asked, done = _place_soles(robot, even.q), _place_soles(robot, filtered.q)
    labels, declared = detect_reference_contacts(even), _read_contacts(filtered)
    rows = _find_rows(stamps, even.times)
    leg = abs(
        float(robot.posture[2]) - float(np.mean(_place_soles(robot, robot.posture[None]).lowest))
    )
    step = float(np.median(np.diff(filtered.times))) if len(filtered) > 1 else 0.0
    flies, flown = (np.asarray(~touches.any(axis=1)) for touches in (labels, declared))
    share = float(np.mean(flies))
    reached = even.times <= stamps[-1] + REACHED
    errors = _measure_errors(reference, filtered, stamps, inside)[0]
    return PreservationMeasures(
        followed=_measure_followed(reference, filtered, stamps, taken),
        path=_measure_path((even, asked.middles), filtered.q[rows, :2], TRAVELS * leg),
        stride=_measure_stride(
            (even.times, asked, labels), (stamps, done, declared), SHORTEST_STRIDE * leg
        ),
        flight_reference=share,
        flight=step * float(np.sum(flown[inside])) / (share * reference.duration)
        if share > FLIES
        else None,
        flight_lost=float(np.sum(flies & ~(reached & flown[rows]))) / even.rate,
        time_factor=_measure_time(filtered.times, stamps, (first, last)),
        contact_f1=_measure_contacts((even.times, labels), (stamps, declared), filtered),
        joint_rms=float(np.sqrt(np.mean(errors**2))) if errors.size else nan,
        self_collision=_measure_self_collision(reference, filtered, stamps, inside),
        foot_penetration=_measure_foot_penetration(
            (even, asked.lowest), (stamps[inside], ground - done.lowest[inside])
        ),
    )


def detect_reference_contacts(clip: Clip) -> Labels:
    """Detect contacts of both soles from motion alone; both are off the ground where the centre of mass falls freely.

    Args:
        clip: A clip with even steps.

    Returns:
        (n, 2) whether the left and the right sole touch.
    """
    names = [sole.name for sole in find_soles(clip.robot)]
    thresholds = _choose_thresholds(clip)
    labels, lifted = (
        detect_contacts(clip, thresholds, flight=flight).labels(clip.times)
        for flight in (False, True)
    )
    data = clip.robot.data()
    height = np.array([pin.centerOfMass(clip.robot.model, data, q)[2] for q in clip.q])[:, None]
    height = smooth_table(height, clip.rate, SMOOTHED)[:, 0]
    fall = np.gradient(np.gradient(height, clip.times), clip.times)
    fast = fall < -FREE_FALL * float(np.linalg.norm(clip.robot.model.gravity.linear))
    flies = fast & ~np.any([lifted[name] for name in names], axis=0)
    return np.column_stack([labels[name] & ~flies for name in names])


def _choose_thresholds(clip: Clip) -> ContactThresholds | None:
    """Return thresholds of contact for feet that step low; None where they do not, or step as high as is usual."""
    heights, speeds = measure_soles(clip)
    moving = np.count_nonzero(np.max(speeds, axis=1) > STEP_SPEED) / clip.rate
    if moving < STEP_TIME or float(np.percentile(np.max(heights, axis=1), LIFTED)) >= NO_LIFT:
        return None
    return ContactThresholds(
        HEIGHT_ON[2], HEIGHT_OFF * HEIGHT_ON[2], STEP_SPEED, SPEED_OFF * STEP_SPEED
    )


class _Soles(NamedTuple):
    """Middles (n, 2, 2) seen from above and lowest points (n, 2) of both soles [m]."""

    middles: Matrix
    lowest: Matrix


def _place_soles(robot: RobotModel, rows: Matrix) -> _Soles:
    model, data, soles = robot.model, robot.data(), find_soles(robot)
    centres = [np.mean(sole.vertices, axis=0) for sole in soles]
    middles, lowest = np.empty((len(rows), 2, 2)), np.empty((len(rows), 2))
    for row, q in enumerate(rows):
        pin.forwardKinematics(model, data, q)
        for foot, sole in enumerate(soles):
            X = pin.updateFramePlacement(model, data, sole.frame)
            middles[row, foot] = X.act(centres[foot])[:2]
            lowest[row, foot] = X.translation[2] + float(np.min(sole.vertices @ X.rotation[2]))
    return _Soles(middles, lowest)


def _read_contacts(clip: Clip) -> Labels:
    """Return (n, 2) declared contacts; a sole without labels never touches."""
    none = np.zeros(len(clip), dtype=bool)
    return np.column_stack([clip.contacts.get(sole.name, none) for sole in find_soles(clip.robot)])


def _find_rows(stamps: Vector, times: Vector) -> Indices:
    """Return the first filtered row of each instant of the reference."""
    return np.clip(np.searchsorted(stamps, times - ROUND_OFF), 0, len(stamps) - 1)


def _measure_time(times: Vector, stamps: Vector, span: tuple[float, float]) -> float:
    """Return the time from the first to the last instant of the reference over its duration; NaN where it is not covered."""
    if stamps[-1] < span[1] - REACHED or stamps[0] > span[0] + REACHED:
        return nan
    start = max(int(np.searchsorted(stamps, span[0] + ROUND_OFF, side="right")) - 1, 0)
    end = min(int(np.searchsorted(stamps, span[1] - ROUND_OFF)), len(stamps) - 1)
    return float(times[end] - times[start]) / (span[1] - span[0])


def _measure_path(asked: tuple[Clip, Matrix], places: Matrix, travels: float) -> float | None:
    """Return the way of the base along the chords of the reference over their length; None where its feet stay about where they are."""
    even, middles = asked
    if float(np.max(np.min(np.linalg.norm(middles - middles[0], axis=2), axis=1))) < travels:
        return None
    reference = even.q[:, :2]
    count = max(round(even.duration / CHORD), 1)
    ends = np.linspace(0, len(even) - 1, count + 1).round().astype(np.intp)
    chords, done = np.diff(reference[ends], axis=0), np.diff(places[ends], axis=0)
    lengths = np.linalg.norm(chords, axis=1)
    if float(np.sum(lengths)) < travels:
        return None
    along = np.einsum("ij,ij->i", done, chords) / np.maximum(lengths, ROUND_OFF)
    return float(np.sum(along) / np.sum(lengths))


def _measure_stride(
    reference: tuple[Vector, _Soles, Labels],
    filtered: tuple[Vector, _Soles, Labels],
    shortest: float,
) -> float | None:
    """Return the way between touch-down places along the strides of the reference, over the length of these."""
    (times, asked, labels), (stamps, done, declared) = reference, filtered
    wanted = gone = 0.0
    for foot in (0, 1):
        stances = [(a, b) for a, b, touches in runs(declared[:, foot]) if touches]
        prints = []
        for a, b, touches in runs(labels[:, foot]):
            if touches:
                row = _match_stance(stances, stamps, (times[a], times[b - 1]))
                prints.append(
                    (
                        asked.middles[a:b, foot].mean(axis=0),
                        None if row is None else done.middles[row, foot],
                    )
                )
        for (from_, left), (to, reached) in pairwise(prints):
            length = float(np.linalg.norm(to - from_))
            if length > shortest:
                wanted += length
                gone += (
                    0.0
                    if left is None or reached is None
                    else min(float((reached - left) @ (to - from_)) / length, length)
                )
    return gone / wanted if wanted > 0.0 else None


def _match_stance(
    stances: list[tuple[int, int]], stamps: Vector, span: tuple[float, float]
) -> int | None:
    """Return the touch-down row of the stance that overlaps an interval of time most; None where none does."""
    overlaps = [min(stamps[b - 1], span[1]) - max(stamps[a], span[0]) for a, b in stances]
    best = int(np.argmax(overlaps)) if overlaps else 0
    return stances[best][0] if overlaps and overlaps[best] > 0.0 else None


def _measure_contacts(
    reference: tuple[Vector, Labels], declared: tuple[Vector, Labels], filtered: Clip
) -> float | None:
    """Return the F1 score of contact events against declared contacts, or against detected ones that are of the same sequence.

    Detection from motion is late where feet leave slowly, which declared contacts show as an error.  The same detector on both motions
    has the same latency.  It counts where it finds as many events of each kind as are declared.
    """
    score = _measure_events(reference, declared)
    if score is None or len(filtered) <= FEWEST or not np.all(np.diff(filtered.times) > 0.0):
        return score
    even = resample(filtered.change(v=None, a=None, contacts={}), RATE)
    instants = np.interp(even.times, filtered.times, declared[0])
    detected = instants, detect_reference_contacts(even)
    if _count_events(*detected) != _count_events(*declared):
        return score
    return max(score, _measure_events(reference, detected) or 0.0)


def _count_events(times: Vector, labels: Labels) -> list[int]:
    return [
        len(_find_events(times, labels[:, foot], kind)) for foot in (0, 1) for kind in (True, False)
    ]


def _measure_events(
    reference: tuple[Vector, Labels], filtered: tuple[Vector, Labels]
) -> float | None:
    """Return the F1 score of touch-downs and lift-offs; None where there are none in either motion."""
    (times, labels), (stamps, declared) = reference, filtered
    hits = total = 0
    for foot in (0, 1):
        for kind in (True, False):
            asked, done = (
                _find_events(times, labels[:, foot], kind),
                _find_events(stamps, declared[:, foot], kind),
            )
            done = done[(done > times[0] + ROUND_OFF) & (done < times[-1] - ROUND_OFF)]
            hits += _match_events(asked, done)
            total += len(asked) + len(done)
    return 2.0 * hits / total if total else None


def _find_events(times: Vector, touches: Labels, kind: bool) -> Vector:
    """Return the instants at which a sole touches down, or lifts off [s]."""
    return np.asarray(
        times[np.flatnonzero((touches[1:] != touches[:-1]) & (touches[1:] == kind)) + 1]
    )


def _match_events(asked: Vector, done: Vector) -> int:
    """Return how many events have a partner of their own within 60 ms; both ascend."""
    hits = i = j = 0
    while i < len(asked) and j < len(done):
        if abs(asked[i] - done[j]) <= MATCH + ROUND_OFF:
            hits, i, j = hits + 1, i + 1, j + 1
        elif asked[i] < done[j]:
            i += 1
        else:
            j += 1
    return hits


def _measure_errors(
    reference: Clip, filtered: Clip, stamps: Vector, rows: Indices
) -> tuple[Matrix, Vector, Vector]:
    """Return joint errors (k, nv - 6), angles between upward directions of the base (k,), and errors of its heading (k,) of rows [rad].

    Headings count from the first row on: where a reference begins is no matter.
    """
    wanted, got = sample_configurations(reference, stamps[rows]), filtered.q[rows]
    errors = np.array(
        [
            pin.difference(reference.robot.model, a, b)[BASE:]
            for a, b in zip(wanted, got, strict=True)
        ]
    )
    up, over = (
        np.array([pin.Quaternion(q[3:7]).toRotationMatrix()[2] for q in table])
        for table in (wanted, got)
    )
    headings = np.array([heading_between(a, b) for a, b in zip(wanted, got, strict=True)])
    turned = np.abs((headings - headings[0] + pi) % (2.0 * pi) - pi)
    return errors, np.arccos(np.clip(np.einsum("ij,ij->i", up, over), -1.0, 1.0)), turned


def _measure_followed(
    reference: Clip, filtered: Clip, stamps: Vector, taken: Labels | None
) -> float:
    """Return the share of samples that were taken and are followed."""
    rows = _find_rows(stamps, reference.times)
    errors, tilts, turned = _measure_errors(reference, filtered, stamps, rows)
    followed = (
        (np.abs(stamps[rows] - reference.times) <= REACHED)
        & (tilts <= FOLLOWED)
        & (turned <= FOLLOWED)
    )
    if errors.shape[1]:
        followed &= np.sqrt(np.mean(errors**2, axis=1)) <= FOLLOWED
    return float(np.mean(followed if taken is None else followed & taken))


def _measure_self_collision(
    reference: Clip, filtered: Clip, stamps: Vector, inside: Indices
) -> float:
    """Return how much deeper two links penetrate than in the reference around the same instant [m]."""
    collision = find_self_collision(reference.robot)
    instants = np.arange(stamps[inside[0]], stamps[inside[-1]] + ROUND_OFF, 1.0 / SAMPLED)
    got = np.array([collision.measure(filtered.q[row]) for row in _find_rows(stamps, instants)])
    if not np.any(got > 0.0):
        return 0.0
    own = np.array([collision.measure(q) for q in sample_configurations(reference, instants)])
    own = maximum_filter1d(own, 2 * round(NEARBY * SAMPLED) + 1, axis=0, mode="nearest")
    return float(np.max(np.maximum(got - own, 0.0)))


def _measure_foot_penetration(
    reference: tuple[Clip, Matrix], filtered: tuple[Vector, Matrix]
) -> float:
    """Return how much deeper a sole is below the ground than in the reference around the same instant [m]."""
    (even, lowest), (stamps, depths) = reference, filtered
    floor = float(np.percentile(np.min(lowest, axis=1), FLOOR))
    own = maximum_filter1d(
        np.maximum(floor - lowest, 0.0), 2 * round(NEARBY * even.rate) + 1, axis=0, mode="nearest"
    )
    return float(np.max(np.maximum(depths - own[_find_rows(even.times, stamps)], 0.0)))
