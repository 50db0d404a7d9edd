# SPDX-License-Identifier: Apache-2.0
"""Distances and speeds at which contacts begin to count."""

from __future__ import annotations

from typing import Final

FASTEST_APPROACH: Final = 30.0  # speed up to which an approach is seen in time [m/s]
NEAR: Final = 0.002
REACH: Final = 1e-4  # a slow point that would come nearer than this takes part in the step [m]
WILD_REACH: Final = 5e-3  # the same where something moves fast, and may be thrown at the ground by the impulses of this very step [m]
CALM: Final = 1.0  # [m/s, rad/s]
AT_ONCE: Final = 1e-5  # points nearer than this take part in the impact of another [m]
SLOWEST_IMPACT: Final = 0.01  # [m/s]
SLOP: Final = 1e-5  # depth that is not pushed out [m]
PUSH_OUT: Final = 0.2  # share of the depth that is pushed out in a step
LEFT: Final = (
    1e-8  # share of the square of a row; where less of it is left, bilateral rows hold all of it
)
GRAVITY: Final = 9.81
SHORT_LINK: Final = 0.1  # [m]
LIMIT_SLACK: Final = 2e-3  # a limit nearer than this is watched [rad or m]


def slowest_impact(dt: float) -> float:
    """Return the slowest approach that is an impact in a step of some length [m/s]."""
    return max(SLOWEST_IMPACT, 2.0 * GRAVITY * dt)


def slowest_stop(dt: float) -> float:
    """Return the slowest approach of a joint to its limit that is an impact: what a link of 10 cm does so fast [rad/s, m/s]."""
    return slowest_impact(dt) / SHORT_LINK


RUNAWAY: Final = 1e4  # speed at which a world stops [m/s, rad/s]
WILD: Final = 10.0  # speed above which a step looks back at its energy [m/s, rad/s]
MISJUDGES: Final = 3e-5  # velocity by which a step may be off before it is taken again with the middle it found [m/s, rad/s]
LONG: Final = 1e-3  # longer steps misjudge smooth motion by the cube of their length, which does not count [s]
QUIET: Final = 0.05  # speed up to which no middle that is not as expected counts [m/s, rad/s]
CARRIES: Final = 1e-10  # an impulse below this is round-off [N·s]
ARRIVES: Final = 5e-5  # a fast point that arrives sooner than this takes part in an impact that would else be nobody's [s]
