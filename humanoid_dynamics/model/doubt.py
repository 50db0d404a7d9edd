# SPDX-License-Identifier: Apache-2.0
"""Limits that cannot be meant: a robot whose left and right differ was given the limits of other joints."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from humanoid_dynamics.model.robot import RobotModel

PAIRS = (("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT"), ("_l_", "_r_"), ("_L_", "_R_"))
ENDS = (("^l_", "r_"), ("^L", "R"), ("_l$", "_r"), ("_L$", "_R"))
SAME = 0.02  # share by which two limits may differ
FEWEST = 2  # pairs that differ; one alone may be meant


def doubtful_limits(robot: RobotModel) -> tuple[str, ...]:
    """Return the joints of the left whose torque limit differs from that of their partner on the right.

    Args:
        robot: The robot.

    Returns:
        Names of the joints; empty where the limits are the same on both sides, or nearly all of them.
    """
    by_name = {joint.name: joint for joint in robot.joints}
    effort = robot.limits.effort
    found = []
    for name, joint in by_name.items():
        partner = _partner(name, set(by_name))
        if partner is not None:
            mine, other = effort[joint.v], effort[by_name[partner].v]
            if mine.shape == other.shape and not np.allclose(
                mine, other, rtol=SAME, equal_nan=True
            ):
                found.append(name)
    return tuple(found) if len(found) >= FEWEST else ()


def tell_doubtful(joints: Sequence[str]) -> tuple[str, ...]:
    """Return the notice that limits are not kept, nothing where none are doubtful.

    Args:
        joints: Names of the joints that are doubtful.

    Returns:
        One sentence or none.
    """
    return (
        (f"limits differ between left and right and are not kept: {', '.join(joints)}",)
        if joints
        else ()
    )


def _partner(name: str, known: set[str]) -> str | None:
    candidates = [name.replace(left, right) for left, right in PAIRS if left in name]
    candidates += [re.sub(left, right, name) for left, right in ENDS if re.search(left, name)]
    return next(
        (candidate for candidate in candidates if candidate != name and candidate in known), None
    )
