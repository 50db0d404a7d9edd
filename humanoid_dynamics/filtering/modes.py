# SPDX-License-Identifier: Apache-2.0
"""Which tick answers in which mode."""

from __future__ import annotations

from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.filtering.literal_tick import LiteralTick
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.ticks.step import Tick
from humanoid_dynamics.filtering.ticks.tick import BalancedTick, TickSettings
from humanoid_dynamics.model.robot import RobotModel

MODES = ("balanced", "paper")


def build_tick(
    mode: str, robot: RobotModel, proportions: Proportions, settings: TickSettings
) -> Tick:
    """Return the tick of a mode.

    Args:
        mode: Its name.
        robot: The robot.
        proportions: Its measures.
        settings: How the balanced tick decides.

    Raises:
        UnknownNameError: If there is no such mode.
    """
    if mode not in MODES:
        raise UnknownNameError("filter mode", mode, MODES)
    if mode == "paper":
        return LiteralTick(robot, unilateral=settings.unilateral)
    return BalancedTick(robot, settings, proportions)
