# SPDX-License-Identifier: Apache-2.0
"""Velocities and accelerations of samples with noise, from splines near them.

A spline with close knots is laid near the samples, and differences of fifth order of its coefficients are kept small [Eilers]; how small,
cross-validation finds for each joint [Craven], so that a trunk is smoothed more than a foot.  Nobody has to name a cut-off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from scipy.interpolate import BSpline
from scipy.linalg import solve_triangular, svd

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.formats.columns import unit_blocks
from humanoid_dynamics.motion.resampling import align_signs, restore_units
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only
from humanoid_dynamics.spatial.records import Sealed

DEGREE = ORDER = 5  # of the splines, and of the differences that are kept small
KNOT, SAMPLES = 0.005, 1.25  # s and samples from knot to knot, at least
LEAST, MOST = 16, 2000  # samples of a stride or an overlap
STRIDE, OVERLAP = 2.0, 1.0  # s from one spline to the next, and for which there are both
CAUTION = (
    1.2  # what a freedom of a spline costs: where it costs one, cross-validation is a little rough
)
ALIKE = 1.25  # scores of cross-validation that say the same
SPARED = 1e-3  # of the samples, at least, that are no freedoms
STIFFNESS = read_only(np.linspace(-4.0, 20.0, 97))  # decades
RIDGE = 1e-3  # what a difference of coefficients weighs beside a sample, at least
ROUNDING = 1e-9  # of a stretch of time
NUDGE = 0.02  # of a step, by which a path of numbers is followed on the manifold

Group = slice


@dataclass(frozen=True, eq=False)
class FittedRates(Sealed):
    """What splines tell of samples.

    Attributes:
        v: (n, nv) velocities.
        a: (n, nv) accelerations.
        noise: (groups,) standard deviation of the samples, for each group of numbers that is smoothed alike.
        trouble: (groups,) what this noise leaves in accelerations [rad/s² or m/s²].
    """

    v: Matrix
    a: Matrix
    noise: Vector
    trouble: Vector


@dataclass(frozen=True, eq=False)
class _Basis:
    """Shapes of splines that are orthonormal at the samples.

    Attributes:
        times: (n,) instants of the samples, the first one zero [s].
        knots: Even knots, as many beyond each end as the splines have degrees [s].
        A: (coefficients, shapes) coefficients of the shapes.
        Q: (n, shapes) their values at the samples.
        roughness: (shapes,) squares of the differences of their coefficients, over the median.
    """

    times: Vector
    knots: Vector
    A: Matrix
    Q: Matrix
    roughness: Vector

    def is_of(self, times: Vector) -> bool:
        """Return whether these are its instants, but for rounding."""
        return len(times) == len(self.times) and bool(
            np.max(np.abs(times - self.times)) < ROUNDING * times[-1]
        )


def fit_configurations(robot: RobotModel, times: Vector, q: Matrix) -> FittedRates:
    """Find velocities and accelerations of configurations with noise.

    Numbers that a turn of the world mixes, places and quaternions, are smoothed alike.

    Args:
        robot: The robot.
        times: (n,) instants without gaps, n at least ``LEAST`` [s].
        q: (n, nq) configurations.

    Returns:
        The rates; noise in rad or m.
    """
    path, noise, trouble = _lay_splines(times, align_signs(robot, q), _list_groups(robot), 2)
    v, a = _follow(robot, path, float(np.median(np.diff(times))))
    return FittedRates(v, a, noise, trouble)


def fit_velocities(times: Vector, v: Matrix) -> FittedRates:
    """Find accelerations of velocities with noise.

    Args:
        times: (n,) instants without gaps, n at least ``LEAST`` [s].
        v: (n, nv) velocities.

    Returns:
        The velocities as they are, and the accelerations; noise in rad/s or m/s.
    """
    path, noise, trouble = _lay_splines(times, v, [slice(i, i + 1) for i in range(v.shape[1])], 1)
    return FittedRates(v, path[1], noise, trouble)


def _list_groups(robot: RobotModel) -> list[Group]:
    groups: list[Group] = []
    units = unit_blocks(robot)
    for joint in robot.joints:
        unit = next((block for block in units if joint.q.start <= block.start < joint.q.stop), None)
        if unit is None:
            groups += [slice(i, i + 1) for i in range(joint.q.start, joint.q.stop)]
        else:
            groups += [
                block
                for block in (slice(joint.q.start, unit.start), unit)
                if block.start < block.stop
            ]
    return groups


def _lay_splines(
    times: Vector, numbers: Matrix, groups: list[Group], order: int
) -> tuple[Matrix, Vector, Vector]:
    """Lay splines of a few seconds each, one fading into the next.

    Returns:
        path: (3, n, columns) values and their first two derivatives.
        noise: (groups,) standard deviation of samples.
        trouble: (groups,) what it leaves in derivatives of an order.
    """
    n, step = len(times), float(np.median(np.diff(times)))
    stride, overlap = (
        min(max(round(seconds / step), LEAST), MOST) for seconds in (STRIDE, OVERLAP)
    )
    path, weights = np.zeros((3, *numbers.shape)), np.zeros(n)
    noise, trouble = np.zeros((2, len(groups)))
    basis: _Basis | None = None  # the same for most where steps are even
    firsts = range(0, max(n - overlap - stride // 2, 1), stride)
    for first in firsts:
        last = n if first == firsts[-1] else first + stride + overlap
        span = slice(first, last)
        if basis is None or not basis.is_of(times[span] - times[first]):
            basis = _build_basis(times[span] - times[first])
        found, deviation, left = _fit(basis, numbers[span], groups, order)
        rows = np.arange(first, last)
        rise = (rows - first + 1.0) / overlap if first else np.ones(len(rows))
        fall = (last - rows) / overlap if last < n else np.ones(len(rows))
        share = np.minimum(np.minimum(rise, fall), 1.0)
        path[:, span] += share[:, None] * found
        weights[span] += share
        noise, trouble = np.maximum(noise, deviation), np.maximum(trouble, left)
    return path / weights[:, None], noise, trouble


def _fit(
    basis: _Basis, numbers: Matrix, groups: list[Group], order: int
) -> tuple[Matrix, Vector, Vector]:
    """Lay one spline for each column; what is returned is that of ``_lay_splines``."""
    n, times, Q = len(numbers), basis.times, basis.Q
    z = Q.T @ numbers
    left = np.sum((numbers - Q @ z) ** 2, axis=0)
    kept = 1.0 / (
        1.0 + 10.0 ** STIFFNESS[:, None] * basis.roughness
    )  # of each shape, (stiffness, shapes)
    misses, freedoms = left + (1.0 - kept) ** 2 @ z**2, np.sum(kept, axis=1)
    shapes = BSpline(basis.knots, basis.A, DEGREE).derivative(order)(times)
    passing = np.sqrt(kept**2 @ np.mean(shapes**2, axis=0))  # of unit noise into the derivative
    noise, trouble = np.zeros((2, len(groups)))
    spared, free = (np.maximum(n - cost * freedoms, SPARED * n) for cost in (CAUTION, 1.0))
    for i, group in enumerate(groups):
        miss = np.sum(misses[:, group], axis=1)
        best = _choose(miss / spared**2)
        noise[i] = np.sqrt(miss[best] / free[best] / (group.stop - group.start))
        trouble[i] = noise[i] * passing[best]
        z[:, group] *= kept[best][:, None]
    spline = BSpline(basis.knots, basis.A @ z, DEGREE)
    return (
        np.array([spline(times), spline.derivative(1)(times), spline.derivative(2)(times)]),
        noise,
        trouble,
    )


def _choose(scores: Vector) -> int:
    """Return the stiffest of the best: noise that is alike from sample to sample has a second one, which follows it."""
    wider = np.concatenate(([np.inf], scores, [np.inf]))
    valleys = (scores <= wider[:-2]) & (scores <= wider[2:]) & (scores <= ALIKE * np.min(scores))
    return int(np.flatnonzero(valleys)[-1]) if valleys.any() else 0


def _build_basis(times: Vector) -> _Basis:
    """Build the shapes of splines near samples at some instants, the first one at zero."""
    length = times[-1]
    count = int(min(length / KNOT, (len(times) - 1) / SAMPLES))
    knots = length / count * np.arange(-DEGREE, count + DEGREE + 1)
    knots[count + DEGREE] = max(knots[count + DEGREE], times[-1])
    B = BSpline.design_matrix(times, knots, DEGREE).toarray()
    differences = np.diff(np.eye(B.shape[1]), ORDER, axis=0)
    R = np.linalg.qr(
        np.vstack((B, RIDGE * differences)), mode="r"
    )  # samples hardly tell the first and last coefficient
    _, sigma, Vt = svd(solve_triangular(R, differences.T, trans="T").T)
    A = solve_triangular(R, Vt.T)
    roughness = np.concatenate((sigma, np.zeros(ORDER))) ** 2 / np.median(sigma**2)
    return _Basis(times, knots, A, B @ A, roughness)


def _follow(robot: RobotModel, path: Matrix, step: float) -> tuple[Matrix, Matrix]:
    """Return velocities and accelerations of a path of numbers, given with its derivatives, (n, nv) each."""
    x, slope, bend = path
    e = NUDGE * step
    back, middle, ahead = (
        restore_units(robot, x + d * slope + 0.5 * d * d * bend) for d in (-e, 0.0, e)
    )
    before, after = (
        np.array(
            [pin.difference(robot.model, *pair) for pair in zip(middle, moved, strict=True)]
        ).reshape(len(x), robot.nv)
        for moved in (back, ahead)
    )
    return (after - before) / (2.0 * e), (after + before) / e**2
