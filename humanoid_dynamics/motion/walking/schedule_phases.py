# SPDX-License-Identifier: Apache-2.0
"""What a walk is made of: single and double supports by name."""

from __future__ import annotations

from humanoid_dynamics.motion.schedule import Phase, TouchTimes

NAMES = {0: "flight", 1: "single support"}


def name_phases(schedule: TouchTimes) -> tuple[tuple[str, Phase], ...]:
    """Name the phases of a walk: ``start``, then by turns ``single support`` and ``double support 1`` or ``2``, and ``stop``.

    Double support 1 follows a landing of the foot that landed first, double support 2 one of the other.

    Args:
        schedule: Which sole stands when.

    Returns:
        Name and phase, in order.
    """
    phases = schedule.phases()
    named: list[tuple[str, Phase]] = []
    landings = 0
    for k, phase in enumerate(phases):
        if len(phase.surfaces) < 2:
            name = NAMES[len(phase.surfaces)]
            landings += 1
        elif k == 0:
            name = "start"
        elif k == len(phases) - 1:
            name = "stop"
        else:
            name = f"double support {2 - landings % 2}"
        named.append((name, phase))
    return tuple(named)
