# SPDX-License-Identifier: Apache-2.0
"""A clip at other instants."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from humanoid_dynamics.errors import ClipError, UnknownNameError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.clip import Clip, check_times
from humanoid_dynamics.motion.formats.columns import entry_names, quaternion_blocks, unit_blocks
from humanoid_dynamics.motion.formats.doubts import find_holes
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

KINDS = ("cubic", "geodesic")
ROUND_OFF = 1e-9  # of a step; instants this far beyond the ends are the ends
LARGEST_TURN = np.deg2rad(170.0)  # from one row to the next


def align_signs(robot: RobotModel, q: Matrix) -> Matrix:
    """Choose, of the two quaternions of each rotation, the one nearer to that of the row before.

    Args:
        robot: The robot.
        q: (n, nq) configurations.

    Returns:
        (n, nq) the same configurations, without jumps of sign.
    """
    aligned = np.array(q)
    for block in quaternion_blocks(robot):
        turns = np.einsum("ij,ij->i", q[1:, block], q[:-1, block]) < 0.0
        aligned[1:, block] *= np.where(np.cumsum(turns) % 2, -1.0, 1.0)[:, None]
    return aligned


def check_turns(robot: RobotModel, q: Matrix, origin: str) -> None:
    """Refuse a rotation of nearly half a turn from one row to the next: no direction lies between.

    Args:
        robot: The robot.
        q: (n, nq) configurations with aligned signs.
        origin: Where they came from, for messages.

    Raises:
        ClipError: Naming the row.
    """
    for block in unit_blocks(robot):
        cosines = np.einsum("ij,ij->i", q[1:, block], q[:-1, block])
        half_angle = block.stop - block.start == 4
        bad = np.flatnonzero(
            cosines < (np.cos(0.5 * LARGEST_TURN) if half_angle else np.cos(LARGEST_TURN))
        )
        if bad.size:
            row, column = int(bad[0]) + 1, entry_names(robot)[block.start]
            raise ClipError(
                origin,
                "rotates by nearly half a turn from the previous row; the motion between is ambiguous",
                row=row,
                column=column,
            )


def restore_units(robot: RobotModel, q: Matrix) -> Matrix:
    """Scale quaternions, and pairs of cosine and sine, to unit length, in place.

    Args:
        robot: The robot.
        q: (n, nq) combinations of neighbouring configurations.

    Returns:
        The same array.
    """
    for block in unit_blocks(robot):
        q[:, block] /= np.linalg.norm(q[:, block], axis=1)[:, None]
    return q


def resample_at(clip: Clip, times: ArrayLike, kind: str = "cubic") -> Clip:
    """Return the clip at other instants.

    ``cubic`` is a spline through every number, with unit vectors scaled back to unit length: smooth to the second derivative and the same
    in every world frame; across a hole, where nothing was recorded for long, it goes straight.  ``geodesic`` goes straight from sample to
    sample on the manifold (``pin.interpolate``).  Velocities and accelerations are interpolated entry by entry; contacts
    are those of the last sample that is not later.

    Args:
        clip: The clip.
        times: (m,) instants inside the clip [s].
        kind: ``cubic`` or ``geodesic``.

    Returns:
        The clip at these instants.

    Raises:
        UnknownNameError: If the kind is neither.
        ClipError: If an instant lies outside the clip.
    """
    if kind not in KINDS:
        raise UnknownNameError("interpolation", kind, KINDS)
    instants = _inside(clip, check_times(times, clip.origin))
    q = sample_configurations(clip, instants, kind)
    v, a = (
        None if table is None else _spline(clip.times, table, instants)
        for table in (clip.v, clip.a)
    )
    rows = rows_before(clip, instants)
    contacts = {name: labels[rows] for name, labels in clip.contacts.items()}
    return Clip(clip.robot, instants, q, v, a, contacts, clip.origin, clip.notices)


def sample_configurations(clip: Clip, times: Vector, kind: str = "cubic") -> Matrix:
    """Return the configurations of a clip at any instants; before its start and after its end it stands still.

    Args:
        clip: The clip.
        times: (m,) instants, in any order [s].
        kind: ``cubic`` or ``geodesic``.

    Returns:
        (m, nq) configurations.
    """
    instants = np.clip(times, clip.times[0], clip.times[-1])
    return _cubic(clip, instants) if kind == "cubic" else _geodesic(clip, instants)


def rows_before(clip: Clip, times: Vector) -> Indices:
    """Return the last sample that is not later than each instant.

    Args:
        clip: The clip.
        times: (m,) instants [s].

    Returns:
        (m,) rows of the clip.
    """
    return np.clip(
        np.searchsorted(clip.times, times + ROUND_OFF, side="right") - 1, 0, len(clip) - 1
    )


def resample(clip: Clip, rate: float, kind: str = "cubic") -> Clip:
    """Return the clip at an even rate, from its first instant to the last that fits.

    Args:
        clip: The clip.
        rate: Samples per second [Hz].
        kind: ``cubic`` or ``geodesic``.

    Returns:
        The clip at that rate.

    Raises:
        ClipError: If the rate is not a positive number.
    """
    if not (np.isfinite(rate) and rate > 0.0):
        raise ClipError(clip.origin, f"received a rate of {rate} Hz, expected a positive number")
    steps = int(np.floor(clip.duration * rate * (1.0 + ROUND_OFF)))
    return resample_at(clip, clip.times[0] + np.arange(steps + 1) / rate, kind)


def _inside(clip: Clip, times: Vector) -> Vector:
    slack = ROUND_OFF + 1e-6 * clip.duration / len(clip)
    first, last = float(clip.times[0]), float(clip.times[-1])
    if times[0] < first - slack or times[-1] > last + slack:
        raise ClipError(
            clip.origin,
            f"received {times[0]:.6g} s to {times[-1]:.6g} s, expected times within {first:.6g} s to {last:.6g} s",
        )
    return np.clip(times, first, last)


def _cubic(clip: Clip, times: Vector) -> Matrix:
    q = align_signs(clip.robot, clip.q)
    check_turns(clip.robot, q, clip.origin)
    return restore_units(clip.robot, _spline(clip.times, q, times))


def _spline(times: Vector, table: Matrix, at: Vector) -> Matrix:
    """Return splines through the rows of a table, straight across holes: there they would swing out, the farther the longer the hole."""
    found = np.empty((len(at), table.shape[1]))
    holes = find_holes(times)
    for first, last in zip((0, *(holes + 1)), (*holes, len(times) - 1), strict=True):
        rows, inside = slice(first, last + 1), (at >= times[first]) & (at <= times[last])
        found[inside] = (
            CubicSpline(times[rows], table[rows])(at[inside]) if last > first else table[first]
        )
    for hole in holes:
        inside = (at > times[hole]) & (at < times[hole + 1])
        share = (at[inside, None] - times[hole]) / (times[hole + 1] - times[hole])
        found[inside] = (1.0 - share) * table[hole] + share * table[hole + 1]
    return found


def _geodesic(clip: Clip, times: Vector) -> Matrix:
    rows = np.clip(np.searchsorted(clip.times, times, side="right") - 1, 0, len(clip) - 2)
    shares = (times - clip.times[rows]) / (clip.times[rows + 1] - clip.times[rows])
    model, q = clip.robot.model, align_signs(clip.robot, clip.q)
    found = [
        pin.interpolate(model, q[row], q[row + 1], float(share))
        for row, share in zip(rows, shares, strict=True)
    ]
    return restore_units(clip.robot, np.array(found))
