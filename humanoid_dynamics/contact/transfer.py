# SPDX-License-Identifier: Apache-2.0
"""How load passes from contact to contact: functions of time from 0 to 1, and what the centre of pressure allows them.

The share s of a contact is the part of the total force it carries.  The papers write it for two feet, rear and front, on a level line
[BP, eq. 28-29]; positions below are along that line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from humanoid_dynamics.errors import UnknownNameError


@dataclass(frozen=True)
class Profile:
    """A rise from 0 to 1 as its argument does, 0 before and 1 after.

    Attributes:
        name: Its name.
        value: The function of a number from 0 to 1.
        steepest: Its largest slope.
        smooth: Whether its slope is zero at both ends, so that torque rates have no step either.
    """

    name: str
    value: Callable[[float], float]
    steepest: float
    smooth: bool

    def __call__(self, u: float) -> float:
        """Return the value at u, clipped to its ends."""
        return 0.0 if not u > 0.0 else 1.0 if u >= 1.0 else self.value(u)


def _linear(u: float) -> float:
    return u


def _quintic(u: float) -> float:
    return u * u * u * (10.0 + u * (6.0 * u - 15.0))


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        profile.name: profile
        for profile in (
            Profile("linear", _linear, 1.0, False),
            Profile("quintic", _quintic, 1.875, True),
        )
    }
)


def find_profile(name: str | Profile) -> Profile:
    """Return the profile of that name.

    Raises:
        UnknownNameError: If there is none.
    """
    if isinstance(name, Profile):
        return name
    if name not in PROFILES:
        raise UnknownNameError("profile", name, PROFILES)
    return PROFILES[name]


def transfer_share(t: float, start: float, end: float, profile: str | Profile = "linear") -> float:
    """Return the share of the contact that takes over between two times [BP, eq. 29], with times absolute.

    Args:
        t: Time [s].
        start: Time of touch-down [s].
        end: Time at which the other contact lifts off [s]; a transfer of no length is a step.
        profile: How it rises.
    """
    return find_profile(profile)((t - start) / (end - start) if end > start else float(t >= end))


def two_segment_share(
    t: float, times: tuple[float, float, float], middle: float, profile: str | Profile = "quintic"
) -> float:
    """Return a share that rises to a given value at the time the contacts change their mode, and to 1 at the end.

    Args:
        t: Time [s].
        times: Touch-down, change of mode (the front foot comes down flat, the rear heel rises), lift-off [s].
        middle: Share at the change of mode, from ``switch_share``; torques have no step there for this value alone.
        profile: How each part rises.
    """
    first, second = (
        transfer_share(t, times[0], times[1], profile),
        transfer_share(t, times[1], times[2], profile),
    )
    return middle * first + (1.0 - middle) * second


def switch_share(zmp: float, rear_toe: float, front_heel: float) -> float:
    """Return the share of the front foot with which the centres of pressure are at rear toe and front heel.

    Args:
        zmp: Zero-moment point of the whole robot [m].
        rear_toe: Foremost point of the rear foot [m].
        front_heel: Hindmost point of the front foot [m]; ahead of the rear toe.

    Returns:
        The share, clipped to 0..1 where the zero-moment point lies under one foot.
    """
    return _clip((zmp - rear_toe) / (front_heel - rear_toe))


def feasible_shares(
    zmp: float, rear: tuple[float, float], front: tuple[float, float]
) -> tuple[float, float]:
    """Return the shares of the front foot for which both centres of pressure lie in their feet [BP, assumption 2].

    The share s belongs to centres of pressure with (1 - s) rear + s front = zmp.  A foot on an edge is given by that edge twice.

    Args:
        zmp: Zero-moment point of the whole robot [m].
        rear: Heel and toe of the rear foot [m].
        front: Heel and toe of the front foot [m], ahead of the rear foot.

    Returns:
        Least and largest share; the least is above the largest where there is none.
    """
    low = (zmp - rear[1]) / (front[1] - rear[1])
    high = (zmp - rear[0]) / (front[0] - rear[0])
    return max(low, 0.0), min(high, 1.0)


def _clip(s: float) -> float:
    return min(max(s, 0.0), 1.0)
