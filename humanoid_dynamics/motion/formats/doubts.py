# SPDX-License-Identifier: Apache-2.0
"""What a recording can hardly mean: a base that lies, holes between samples, samples that are far apart."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import count
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

LYING = math.radians(60.0)  # of lean, in at least half of the rows
HOLE = 0.5  # s
SPARSE = 2.0  # s; samples this far apart show no motion
USUAL = 4.5  # times the usual step; of samples that are all far apart none is a hole


def doubt_recording(robot: RobotModel, times: Vector, q: Matrix) -> tuple[str, ...]:
    """Return notices of a base that lies for half of the time, as where quaternions begin with w, and of holes between samples.

    Args:
        robot: The robot.
        times: (n,) instants [s].
        q: (n, nq) configurations.
    """
    return _doubt_base(robot, q) + tell_times(np.asarray(times))


def find_holes(times: Vector) -> Indices:
    """Return the rows after which nothing was recorded for long: for more than half a second, and several usual steps.

    Args:
        times: (n,) instants, ascending [s].
    """
    steps = np.diff(times)
    return (
        np.flatnonzero(steps > max(HOLE, USUAL * float(np.median(steps))))
        if steps.size
        else np.zeros(0, dtype=np.int64)
    )


def _doubt_base(robot: RobotModel, q: Matrix) -> tuple[str, ...]:
    if robot.root != "free_flyer" or not len(q) or not np.isfinite(q[:, 3:7]).all():
        return ()
    up = pin.Quaternion(np.array(robot.posture[3:7])).matrix()[2]
    x, y, z, w = q[:, 3:7].T
    rows = np.column_stack(
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y))
    )
    lying = int(np.count_nonzero(rows @ up < math.cos(LYING)))
    if 2 * lying < len(q):
        return ()
    return (
        f"the base lies or stands on its head in {lying} of {count(len(q), 'row')}; if its quaternions begin with w, write them as x y z w",
    )


def tell_times(times: Vector, rows: Indices | None = None) -> tuple[str, ...]:
    """Return a notice of the longest hole between samples, or of samples all of which are far apart.

    Args:
        times: (n,) instants, ascending [s].
        rows: (n,) their rows in the file; all of it where None.
    """
    steps, holes = np.diff(times), find_holes(times)
    if steps.size and (usual := float(np.median(steps))) > SPARSE:
        return (f"samples are {usual:.4g} s apart; if the file holds milliseconds, write seconds",)
    if not holes.size:
        return ()
    worst = int(holes[np.argmax(steps[holes])])
    row = worst if rows is None else int(rows[worst])
    said = f"gap of {steps[worst]:.4g} s after row {row}"
    return (said if len(holes) == 1 else f"{said}, the longest of {len(holes)} gaps",)
