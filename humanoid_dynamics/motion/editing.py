# SPDX-License-Identifier: Apache-2.0
"""Changing a clip: place, pace, heading, and from one clip into another."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike
from scipy.interpolate import PchipInterpolator

from humanoid_dynamics.errors import ClipError, UnsupportedRobotError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.clip import Clip, check_times
from humanoid_dynamics.motion.quintic import quintic, quintic_rate
from humanoid_dynamics.motion.resampling import (
    ROUND_OFF,
    align_signs,
    resample_at,
    rows_before,
    sample_configurations,
)
from humanoid_dynamics.spatial.arrays import Matrix, Vector


def move_clip(clip: Clip, X_WN: pin.SE3) -> Clip:
    """Move a whole clip in the world; velocities are in axes of the base and stay.

    Args:
        clip: The clip of a robot with a free base.
        X_WN: Where the old world is in the new one.

    Returns:
        The moved clip.
    """
    _check_free(clip.robot, "moving a clip")
    q = np.array(clip.q)
    for row in range(len(clip)):
        q[row, :7] = pin.SE3ToXYZQUAT(X_WN * pin.XYZQUATToSE3(q[row, :7]))
    return clip.change(q=align_signs(clip.robot, q))


def turn_heading(clip: Clip, angle: float, start: float, duration: float) -> Clip:
    """Let a clip go on in another heading: base yaw and direction of travel turn by a quintic.

    At each instant the base moves, seen from itself, as it did; the turn itself is added, about the vertical axis through the base.

    Args:
        clip: The clip of a robot with a free base.
        angle: Turn to the left [rad].
        start: When it starts [s].
        duration: How long it takes [s].

    Returns:
        The clip; velocities, where there are any, turn too, accelerations are dropped.

    Raises:
        ClipError: If the duration is not positive.
    """
    _check_free(clip.robot, "turning a clip")
    _check_duration(clip, duration)
    share = (clip.times - start) / duration
    yaw = angle * quintic(share)
    middle = angle * quintic((0.5 * (clip.times[1:] + clip.times[:-1]) - start) / duration)
    q = np.array(clip.q)
    steps = np.diff(clip.q[:, :3], axis=0)
    c, s = np.cos(middle), np.sin(middle)
    turned = np.column_stack(
        (c * steps[:, 0] - s * steps[:, 1], s * steps[:, 0] + c * steps[:, 1], steps[:, 2])
    )
    q[1:, :3] = q[0, :3] + np.cumsum(turned, axis=0)
    for row, psi in enumerate(yaw):
        R_WB = pin.utils.rotate("z", float(psi)) @ _rotation(clip.q[row])
        q[row, 3:7] = pin.Quaternion(R_WB).coeffs()
    v = None
    if clip.v is not None:
        v = np.array(clip.v)
        inside = (share > 0.0) & (share < 1.0)
        rate = np.where(inside, angle * quintic_rate(share) / duration, 0.0)
        v[:, 3:6] += rate[:, None] * np.array([_rotation(row)[2] for row in q])
    return clip.change(q=align_signs(clip.robot, q), v=v, a=None)


def warp_time(clip: Clip, old: ArrayLike, new: ArrayLike, rate: float | None = None) -> Clip:
    """Change the pace of a clip: what happened at the old instants happens at the new ones.

    Between the given instants time runs along a monotone cubic.

    Args:
        clip: The clip.
        old: (k,) instants of the clip, ascending; they span what is kept [s].
        new: (k,) when they shall be, ascending [s].
        rate: Rate of the result [Hz]; that of the clip where None.

    Returns:
        The clip in its new time, without velocities and accelerations.

    Raises:
        ClipError: If the instants do not ascend or are not as many.
    """
    before, after = (np.asarray(times, dtype=np.float64) for times in (old, new))
    if before.shape != after.shape or before.ndim != 1 or len(before) < 2:
        raise ClipError(
            clip.origin,
            f"received {before.shape} old and {after.shape} new instants, expected as many, two or more",
        )
    if np.any(np.diff(before) <= 0.0) or np.any(np.diff(after) <= 0.0):
        raise ClipError(clip.origin, "instants of a time warp must ascend")
    rate = clip.rate if rate is None else rate
    steps = int(np.floor((after[-1] - after[0]) * rate * (1.0 + ROUND_OFF)))
    instants = after[0] + np.arange(steps + 1) / rate
    asked = (
        PchipInterpolator(after, before)(np.clip(instants, after[0], after[-1]))
        if len(after) > 2
        else np.interp(instants, after, before)
    )
    return resample_at(clip.change(v=None, a=None), asked).change(times=instants)


def crop(clip: Clip, start: float, end: float) -> Clip:
    """Keep the samples between two instants.

    Args:
        clip: The clip.
        start: First instant [s].
        end: Last instant [s].

    Returns:
        The shorter clip.
    """
    kept = np.flatnonzero((clip.times >= start - ROUND_OFF) & (clip.times <= end + ROUND_OFF))
    check_times(clip.times[kept], clip.origin)
    v, a = (None if table is None else table[kept] for table in (clip.v, clip.a))
    contacts = {name: labels[kept] for name, labels in clip.contacts.items()}
    return clip.change(times=clip.times[kept], q=clip.q[kept], v=v, a=a, contacts=contacts)


def blend(first: Clip, second: Clip, duration: float, *, align: bool = True) -> Clip:
    """Go over from the end of one clip into the start of another.

    Over the last ``duration`` of the first and the first ``duration`` of the second, each configuration lies between the two on the
    manifold, by a quintic share; outside, the clips are untouched.  The second is resampled to the instants of the first, and a free
    base is moved on the ground, with its yaw, to where the first is when the blend starts.

    Args:
        first: The clip that ends.
        second: The clip that follows, of the same robot.
        duration: How long the change takes [s].
        align: Whether the second clip is moved to where the first one is.

    Returns:
        One clip, without velocities and accelerations.

    Raises:
        ClipError: If the robots differ or a clip is shorter than the blend.
    """
    _check_duration(first, duration)
    if first.robot is not second.robot:
        raise ClipError(
            second.origin,
            f"is a motion of {second.robot.name!r}, the other one of {first.robot.name!r}",
        )
    for clip in (first, second):
        if clip.duration < duration:
            raise ClipError(
                clip.origin,
                f"lasts {clip.duration:.6g} s, shorter than the blend of {duration:.6g} s",
            )
    meet = float(first.times[-1]) - duration
    later = np.arange(0.0, second.duration + ROUND_OFF, 1.0 / first.rate)
    times = np.concatenate((first.times[first.times < meet - ROUND_OFF], meet + later))
    if align and first.robot.root == "free_flyer":
        second = move_clip(
            second, _ground_offset(sample_configurations(first, np.array([meet]))[0], second.q[0])
        )
    second = second.change(times=second.times - second.times[0] + meet, v=None, a=None)
    q = _mix(first, second, times, duration)
    early = times < meet + 0.5 * duration
    rows = rows_before(first, times), rows_before(second, times)
    shared = first.contacts.keys() & second.contacts.keys()
    contacts = {
        name: np.where(early, first.contacts[name][rows[0]], second.contacts[name][rows[1]])
        for name in sorted(shared)
    }
    return Clip(
        first.robot,
        times,
        q,
        contacts=contacts,
        origin=f"{first.origin} + {second.origin}",
        notices=first.notices + second.notices,
    )


def _mix(first: Clip, second: Clip, times: Vector, duration: float) -> Matrix:
    """Return configurations of the first clip, then between the two, then of the second."""
    model, meet = first.robot.model, float(second.times[0])
    mixed = sample_configurations(second, times)
    before = times < meet - ROUND_OFF
    mixed[before] = first.q[: int(np.sum(before))]
    over = np.flatnonzero(~before & (times <= first.times[-1] + ROUND_OFF))
    ends = sample_configurations(first, times[over])
    for row, q_first, share in zip(
        over, ends, quintic((times[over] - meet) / duration), strict=True
    ):
        mixed[row] = pin.interpolate(model, q_first, mixed[row], float(share))
    return align_signs(first.robot, mixed)


def _ground_offset(q_to: Vector, q_from: Vector) -> pin.SE3:
    """Return the motion on the ground that brings one base over another, with its heading."""
    headings = [np.arctan2(R[1, 0], R[0, 0]) for R in (_rotation(q_to), _rotation(q_from))]
    R = pin.utils.rotate("z", float(headings[0] - headings[1]))
    p = q_to[:3] - R @ q_from[:3]
    return pin.SE3(R, np.array([p[0], p[1], 0.0]))


def _rotation(q: Vector) -> Matrix:
    return np.asarray(pin.Quaternion(q[6], q[3], q[4], q[5]).matrix())


def _check_free(robot: RobotModel, question: str) -> None:
    if robot.root != "free_flyer":
        raise UnsupportedRobotError(
            question, [robot.name], f"needs a free base, this root is {robot.root}"
        )


def _check_duration(clip: Clip, duration: float) -> None:
    if not (np.isfinite(duration) and duration > 0.0):
        raise ClipError(
            clip.origin, f"received a duration of {duration} s, expected a positive time"
        )
