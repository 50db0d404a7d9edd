# SPDX-License-Identifier: Apache-2.0
"""Whether rates that were given belong to a motion: degrees for radians, other axes, other columns, or none at all.

What was given is summed up over windows of a tenth of a second and compared with how far the motion went there.  Noise of samples does not
add up in a window, a rate that is wrong does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.derivatives import window_differences
from humanoid_dynamics.motion.formats.columns import velocity_columns
from humanoid_dynamics.resolution.units import coordinate_units
from humanoid_dynamics.spatial.arrays import Matrix, Vector

SPAN, LEAST_STEPS = 0.1, 4  # s that a window takes, and the steps it has at least
GAP = 2.0  # of the usual step; a longer one says nothing
WRONG = 0.5  # of what was given or moved, whichever is more
ABOVE_NOISE = 2.5  # times what noise of samples makes of a mean
SLOWEST = {
    "velocities": 0.02,
    "accelerations": 0.2,
}  # m/s, rad/s, m/s² or rad/s²; less makes no torque worth a word
DEGREE = 180.0 / np.pi
NEAR = 0.1  # of the factor, and of what is left beside it
FIXED = 0.3  # of the error; less is left in the right axes
FREE_FLYER = (7, 6)
TURN, MOVE = (slice(3, 6), "base_wx .. base_wz"), (slice(0, 3), "base_vx .. base_vz")


@dataclass(frozen=True, eq=False)
class _Sums:
    """Means over windows.

    Attributes:
        moved: (windows, nv) as the motion went.
        given: (windows, nv) as the rates say.
        noise: (nv,) RMS of what noise makes of them, from errors of single steps and from third differences of rates.
    """

    moved: Matrix
    given: Matrix
    noise: Vector

    def errors(self) -> Vector:
        """Return the RMS difference of each column, (nv,)."""
        return rms(self.given - self.moved)

    def wrong(self, least: float) -> Vector:
        """Return the RMS difference where it counts as wrong, zero elsewhere, (nv,)."""
        errors = self.errors()
        size = np.maximum(rms(self.given), rms(self.moved))
        return np.where(
            (errors > WRONG * size) & (errors > ABOVE_NOISE * self.noise) & (errors > least),
            errors,
            0.0,
        )


def find_rate_doubts(clip: Clip, complete: Clip) -> tuple[str, ...]:
    """Tell which velocities contradict configurations, and which accelerations contradict velocities.

    Args:
        clip: The motion as it was given.
        complete: The same with the rates it lacks.

    Returns:
        A sentence for velocities and one for accelerations, where they do, with the worst column.
    """
    doubts, model, v = [], clip.robot.model, np.asarray(complete.v)
    if clip.v is not None:
        steps = np.array(
            [pin.difference(model, *pair) for pair in zip(clip.q[:-1], clip.q[1:], strict=True)]
        ).reshape(-1, model.nv)
        doubts += _doubt(clip, "velocities", "configurations", steps, v)
        v = window_differences(model, clip.times, clip.q)[0] if doubts else v
    if clip.a is not None:
        doubts += _doubt(
            clip, "accelerations", "velocities", np.diff(v, axis=0), np.asarray(clip.a)
        )
    return tuple(doubts)


def _doubt(clip: Clip, what: str, reference: str, steps: Matrix, rates: Matrix) -> list[str]:
    sums = _sum_up(clip.times, steps, rates)
    wrong = np.zeros(0) if sums is None else sums.wrong(SLOWEST[what])
    if sums is None or not wrong.any():
        return []
    worst, robot = int(np.argmax(wrong)), clip.robot
    unit = ("m" if coordinate_units(robot)[worst] == "N" else "rad") + (
        "/s" if what == "velocities" else "/s²"
    )
    sizes = f"{wrong[worst]:.3g} {unit} rms where these make {rms(sums.moved)[worst]:.3g} {unit}"
    others = int(np.count_nonzero(wrong)) - 1
    more = (
        f", {others} more columns are wrong too"
        if others > 1
        else ", one more column is wrong too"
        if others
        else ""
    )
    told = (
        f"{what} contradict {reference}: {velocity_columns(robot)[worst]} is wrong by {sizes}{more}"
    )
    return ["; ".join((told, *_tell_degrees(sums, wrong), *_tell_axes(clip, steps, rates, wrong)))]


def _sum_up(times: Vector, steps: Matrix, rates: Matrix) -> _Sums | None:
    """Sum up steps and rates over windows; None where there are too few samples."""
    h = np.diff(times)
    usual = float(np.median(h)) if len(h) else 1.0
    width = min(max(round(SPAN / usual), LEAST_STEPS), len(h) // 2)
    if width < LEAST_STEPS:
        return None
    known = (h <= GAP * usual)[:, None]
    moved, given = steps * known, 0.5 * (rates[1:] + rates[:-1]) * h[:, None] * known
    lasting = width * usual
    sums = [
        np.vstack((np.zeros(part.shape[1]), np.cumsum(part, axis=0))) for part in (moved, given)
    ]
    means = [(part[width:] - part[:-width]) / lasting for part in sums]
    of_rates = rms(np.diff(rates, 3, axis=0)) / np.sqrt(
        20.0 * width
    )  # third differences of white noise are 20^(1/2) times as large
    return _Sums(means[0], means[1], np.hypot(rms(given - moved) / lasting, of_rates))


def _tell_degrees(sums: _Sums, wrong: Vector) -> list[str]:
    """Tell that rates look like degrees, where each wrong column is the right one times the same factor."""
    columns = wrong > 0.0
    moved, given = sums.moved[:, columns], sums.given[:, columns]
    factor = float(np.sum(moved * given) / max(float(np.sum(moved**2)), 1e-300))
    rest = float(np.linalg.norm(given - factor * moved))
    near = abs(factor / DEGREE - 1.0) < NEAR and rest < NEAR * float(np.linalg.norm(given))
    return (
        [f"they are {factor:.3g} times as large, as in degrees; expected radians"] if near else []
    )


def _tell_axes(clip: Clip, steps: Matrix, rates: Matrix, wrong: Vector) -> list[str]:
    """Tell that rates of a free base are those in axes of the world, where these explain them."""
    if not _is_free(clip.robot):
        return []
    R_WB = np.array([pin.Quaternion(q[3:7]).toRotationMatrix() for q in clip.q])
    turned, told = np.array(rates), []
    for part, _ in (MOVE, TURN):
        turned[:, part] = np.einsum("nji,nj->ni", R_WB, rates[:, part])
    before, after = _sum_up(clip.times, steps, rates), _sum_up(clip.times, steps, turned)
    for part, names in (MOVE, TURN):
        if before is None or after is None or not wrong[part].any():
            continue
        if np.linalg.norm(after.errors()[part]) < FIXED * np.linalg.norm(before.errors()[part]):
            told.append(names)
    return (
        [f"{' and '.join(told)} are in axes of the world; expected axes of the base"]
        if told
        else []
    )


def _is_free(robot: RobotModel) -> bool:
    first = robot.model.joints[1] if robot.model.njoints > 1 else None
    return first is not None and (first.nq, first.nv) == FREE_FLYER


def rms(table: Matrix) -> Vector:
    """Return the root of the mean square of each column."""
    return np.asarray(np.sqrt(np.mean(table**2, axis=0)))
