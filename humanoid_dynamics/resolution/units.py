# SPDX-License-Identifier: Apache-2.0
"""Units of the forces that act on the coordinates of a robot."""

from __future__ import annotations

from humanoid_dynamics.model.robot import RobotModel


def coordinate_units(robot: RobotModel) -> tuple[str, ...]:
    """Return the unit of the force on each velocity coordinate: N where it slides, N·m where it turns."""
    units = []
    for joint in robot.joints:
        for coordinate in joint.coordinates:
            slides = joint.kind == "prismatic" or (
                len(joint.coordinates) > 1 and coordinate.endswith((".vx", ".vy", ".vz"))
            )
            units.append("N" if slides else "N·m")
    return tuple(units)
