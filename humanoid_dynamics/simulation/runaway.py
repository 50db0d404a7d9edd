"""Where motion ran away: which body, which coordinate, and which row pulled hardest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.simulation.contacts.contact_rows import Touching
from humanoid_dynamics.simulation.setup import fastest_coordinate
from humanoid_dynamics.spatial.arrays import Vector


def describe_runaway(robot: RobotModel, v: Vector, touching: Touching, points: Sequence[str], rows: tuple[Sequence[str], Vector]) -> str:
    """Return in words where a velocity is absurd.

    Args:
        robot: The robot.
        v: (nv,) the velocity.
        touching: What touched.
        points: Names of the touch points.
        rows: Labels of the bilateral rows and their forces.

    Returns:
        Body, coordinate, and the contact or row that pulled hardest.
    """
    index = fastest_coordinate(v)
    joint = next(joint for joint in robot.joints if joint.v.start <= index < joint.v.stop)
    row, (labels, lam) = "", rows
    if len(touching.point):
        strongest = int(np.argmax(np.abs(touching.impulse).max(axis=1)))
        row = f", contact {points[touching.point[strongest]]!r}"
    elif len(lam) and len(labels) == len(lam):
        row = f", row {labels[int(np.argmax(np.abs(lam)))]!r}"
    return f"body {joint.child!r}, coordinate {robot.coordinates[index]!r}{row}"
