# SPDX-License-Identifier: Apache-2.0
"""Rows on coordinates that are the same wherever the tree is, as those of joints that mimic others, for steps that are taken in one go."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.constraints.block import ConstraintBlock
from humanoid_dynamics.constraints.constraint_set import ConstraintSet
from humanoid_dynamics.constraints.coordinate import CoordinateBlock
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector


class TieTable:
    """All bilateral rows of a tree where they are ties alone; none where one of them is not.

    Attributes:
        generation: Of the constraints that it was laid out for.
        alone: Whether there is no other row.
        rows: (k, nv) the rows.
        scale: (k,) factors that make them as long as one another, written by a step.
        basis: (k, nv) what they hold, row by row, written by a step.
        R: (k, k) what the basis was made of the rows by, written by a step.
        order: (k,) in which order, written by a step.
    """

    def __init__(self, constraints: ConstraintSet) -> None:
        """Lay it out.

        Args:
            constraints: The rows.
        """
        robot, active = constraints.robot, [block for block in constraints if not block.inert]
        ties = [
            block for block in active if isinstance(block, CoordinateBlock) and is_tie(robot, block)
        ]
        self.generation, self.alone = constraints.generation, len(ties) == len(active)
        ties = ties if self.alone else []
        self.rows: Matrix = np.vstack(
            [np.zeros((0, robot.nv)), *(block.coefficients for block in ties)]
        )
        k = len(self.rows)
        self.scale, self.basis, self.R = np.ones(k), np.zeros((k, robot.nv)), np.zeros((k, k))
        self.order: Indices = np.zeros(k, dtype=np.intp)
        places = [place_rows(robot, block) for block in ties]
        wanted = [
            place.dot(block.reference) + block.offset
            for place, block in zip(places, ties, strict=True)
        ]
        lengths: Vector = np.array(constraints.scale[:k])
        self._places: Matrix = lengths[:, None] * np.vstack([np.zeros((0, robot.nq)), *places])
        self._wanted: Vector = lengths * np.concatenate([np.zeros(0), *wanted])

    def measure(self, q: Vector) -> float:
        """Return the largest position error, scaled [m].

        Args:
            q: (nq,) configuration.
        """
        error = self._places.dot(q)
        error -= self._wanted
        return float(np.abs(error, error).max(initial=0.0))


def is_tie(robot: RobotModel, block: ConstraintBlock) -> bool:
    """Return whether rows are the same wherever a tree is, and between joints of one number each.

    Args:
        robot: The tree.
        block: The rows.
    """
    if not (isinstance(block, CoordinateBlock) and block.holonomic):
        return False
    single = np.zeros(robot.nv, dtype=bool)
    for joint in list(robot.model.joints)[1:]:
        single[joint.idx_v : joint.idx_v + joint.nv] = (
            joint.nq == joint.nv == 1 and robot.model.parents[joint.id] > 0
        )
    return not block.coefficients[:, ~single].any()


def place_rows(robot: RobotModel, block: CoordinateBlock) -> Matrix:
    """Return (k, nq) what the rows of ties ask of a configuration.

    Args:
        robot: The tree.
        block: The rows.
    """
    places = np.zeros((len(block.labels), robot.nq))
    for joint in list(robot.model.joints)[1:]:
        if joint.nq == joint.nv == 1:
            places[:, joint.idx_q] = block.coefficients[:, joint.idx_v]
    return places
