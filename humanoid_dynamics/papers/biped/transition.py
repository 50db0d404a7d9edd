# SPDX-License-Identifier: Apache-2.0
"""Handing load from the rear to the front foot: s is the share of the force the front foot carries [BP, eq. 28-29, assumption 4].

Double support lasts from t0 to t2; at t1 the front foot is flat and the rear heel rises.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from humanoid_dynamics.contact.transfer import two_segment_share
from humanoid_dynamics.errors import ShapeError


@dataclass(frozen=True)
class FootPoints:
    """Where the feet are on the ground; all from the same origin [m].

    Feet of a step shorter than a foot stand side by side in part: the front heel is then behind the rear toe.

    Attributes:
        heel_rear: Heel of the rear foot.
        toe_rear: Its toe.
        heel_front: Heel of the front foot.
        toe_front: Its toe.
    """

    heel_rear: float
    toe_rear: float
    heel_front: float
    toe_front: float

    def __post_init__(self) -> None:
        feet = (
            self.heel_rear < self.toe_rear
            and self.heel_front < self.toe_front
            and self.heel_front != self.toe_rear
        )
        if not (feet and self.heel_rear < self.heel_front and self.toe_rear < self.toe_front):
            raise ShapeError(
                "points", f"{self}", "heel and toe of the rear foot behind those of the front foot"
            )


@dataclass(frozen=True)
class ShareInterval:
    """Shares with which both feet can press where they are.

    Attributes:
        lower: Least share [-].
        upper: Largest share, below ``lower`` where there is none [-].
    """

    lower: float
    upper: float

    @property
    def empty(self) -> bool:
        """Whether no share is possible."""
        return self.lower > self.upper

    def clip(self, share: float) -> float:
        """Return the nearest share that is possible; the middle of the gap, within 0 and 1, where none is."""
        nearest = (
            0.5 * (self.lower + self.upper)
            if self.empty
            else min(max(share, self.lower), self.upper)
        )
        return min(max(nearest, 0.0), 1.0)


def quintic(x: float) -> float:
    """Return 10 x³ - 15 x⁴ + 6 x⁵ between 0 and 1, constant outside: smooth to the second derivative.

    Args:
        x: Share of the time [-].
    """
    x = min(max(x, 0.0), 1.0)
    return x**3 * (10.0 - 15.0 * x + 6.0 * x**2)


def linear_share(t: float, t0: float, t2: float) -> float:
    """Return s = (t - t0) / (t2 - t0), within 0 and 1 [BP, eq. 28].

    The paper's t_s and t_d are absolute times: read as durations the printed quotient is negative in the middle of double support.

    Args:
        t: Time [s].
        t0: Begin of double support [s].
        t2: Its end [s].
    """
    _check_order(t0, t2)
    return min(max((t - t0) / (t2 - t0), 0.0), 1.0)


def smooth_share(t: float, t0: float, t2: float) -> float:
    """Return the quintic of the linear share: torques then have no kink at t0 and t2.

    Args:
        t: Time [s].
        t0: Begin of double support [s].
        t2: Its end [s].
    """
    return quintic(linear_share(t, t0, t2))


def share_from_durations(t: float, single: float, double: float) -> float:
    """Return the linear share of a step that starts at 0, s = (t - T_single) / T_double, within 0 and 1.

    Args:
        t: Time since single support began [s].
        single: How long single support lasts [s].
        double: How long double support lasts [s].
    """
    return linear_share(t, single, single + double)


def find_balanced_share(zmp: float, points: FootPoints) -> float:
    """Return s*, the one share at t1 with which no torque jumps: both feet press at the points they roll over.

    Args:
        zmp: Zero moment point at t1 [m].
        points: Of the feet.

    Returns:
        (z - x_toe_rear) / (x_heel_front - x_toe_rear), within 0 and 1 if the zero moment point lies between the feet.
    """
    return (zmp - points.toe_rear) / (points.heel_front - points.toe_rear)


def find_interval(zmp: float, points: FootPoints, phase: str) -> ShareInterval:
    """Return the shares with which the centre of pressure of the flat foot stays in that foot [BP, assumption 2].

    Args:
        zmp: Zero moment point [m].
        points: Of the feet.
        phase: ``DSP1``, rear foot flat and front foot on its heel, or ``DSP2``, front foot flat and rear foot on its toe.

    Returns:
        The interval, cut at 0 and 1; empty where the zero moment point lies where no share helps.

    Raises:
        ShapeError: If it is another phase.
    """
    toe, heel = points.toe_rear, points.heel_front
    facing = (zmp - toe) / (heel - toe)  # for which both press where they face each other
    if phase == "DSP1":
        others = -math.inf, (zmp - points.heel_rear) / (heel - points.heel_rear)
    elif phase == "DSP2":
        others = (zmp - toe) / (points.toe_front - toe), math.inf
    else:
        raise ShapeError("phase", phase, "DSP1 or DSP2")
    is_least = (phase == "DSP1") == (toe < heel)  # side by side it is the other way round
    lower, upper = (
        (max(others[0], facing), others[1]) if is_least else (others[0], min(others[1], facing))
    )
    return ShareInterval(max(lower, 0.0), min(upper, 1.0))


def recommend_share(
    t: float, times: tuple[float, float, float], balanced: float, zmp: float, points: FootPoints
) -> float:
    """Return the share of the two-segment transition, kept where both feet can press: no jump, no tipping foot.

    Args:
        t: Time [s].
        times: t0, t1, t2 [s].
        balanced: s* of the instant t1 [-].
        zmp: Zero moment point now [m]; nan where nothing presses: the share is then that of the time alone.
        points: Of the feet.

    Returns:
        The share; 0 before t0 and 1 after t2.
    """
    t0, t1, t2 = times
    wanted = two_segment_share(t, times, balanced)
    if not t0 < t < t2 or not math.isfinite(zmp):
        return wanted
    return find_interval(zmp, points, "DSP1" if t <= t1 else "DSP2").clip(wanted)


def _check_order(first: float, second: float) -> None:
    if not first < second:
        raise ShapeError("times", f"{first:g} and {second:g}", "times in order")
