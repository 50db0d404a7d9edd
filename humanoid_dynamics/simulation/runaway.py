# SPDX-License-Identifier: Apache-2.0
"""Where motion ran away: which body, which coordinate, and which row pulled hardest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.simulation.contacts.contact_rows import Touching
from humanoid_dynamics.simulation.push import Push
from humanoid_dynamics.simulation.steps.bench import L_IMPULSE, L_V
from humanoid_dynamics.spatial.arrays import Matrix, Vector


def find_weakest(M: Matrix) -> int:
    """Return the index of the coordinate along which an inertia is least, or that of the first row that is not finite.

    Args:
        M: (nv, nv) inertia, of which the upper triangle counts.
    """
    wrong = np.flatnonzero(~np.isfinite(np.triu(M)).all(axis=1))
    if len(wrong):
        return int(wrong[0])
    return int(np.argmax(np.abs(np.linalg.eigh(M, UPLO="U")[1][:, 0])))


def describe_runaway(
    robot: RobotModel,
    index: int,
    touching: Touching,
    points: Sequence[str],
    rows: tuple[Sequence[str], Vector],
) -> str:
    """Return in words where a motion went wrong.

    Args:
        robot: The robot.
        index: The coordinate.
        touching: What touched.
        points: Names of the touch points.
        rows: Labels of the bilateral rows and their forces.

    Returns:
        Body, coordinate, and the contact and the row that pulled hardest.
    """
    joint = next(joint for joint in robot.joints if joint.v.start <= index < joint.v.stop)
    row, (labels, lam) = "", rows
    if len(touching.point):
        strongest = int(np.argmax(np.abs(touching.impulse).max(axis=1)))
        row = f", contact {points[touching.point[strongest]]!r}"
    if len(lam) and len(labels) == len(lam):
        row += f", row {labels[int(np.argmax(np.abs(lam)))]!r}"
    return f"body {joint.child!r}, coordinate {robot.coordinates[index]!r}{row}"


def describe_causes(robot: RobotModel, limits: Matrix, pushes: Sequence[Push]) -> str:
    """Return in words which limit pushed hardest and which push acts; empty where none does.

    Args:
        robot: The robot.
        limits: Table of limits.
        pushes: Pushes that act.
    """
    said = ""
    if len(limits) and limits[:, L_IMPULSE].any():
        strongest = int(limits[int(np.argmax(np.abs(limits[:, L_IMPULSE]))), L_V])
        said += f", limit of {robot.coordinates[strongest]!r}"
    if pushes:
        hardest = max(
            pushes, key=lambda push: float(np.linalg.norm(push.force) + np.linalg.norm(push.moment))
        )
        said += f", push on {hardest.link!r} with {np.linalg.norm(hardest.force):.3g} N and {np.linalg.norm(hardest.moment):.3g} N·m"
    return said
