# SPDX-License-Identifier: Apache-2.0
"""The tables a step works on, laid out once for a tree, its touch points and its surroundings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.simulation.contacts.clusters import find_clusters, find_joint_balls
from humanoid_dynamics.simulation.contacts.contact_kernel import ANSWER_ROWS
from humanoid_dynamics.simulation.contacts.joint_limits import LimitTable
from humanoid_dynamics.simulation.contacts.moving_shapes import BoundShape
from humanoid_dynamics.simulation.contacts.point_table import PointTable
from humanoid_dynamics.simulation.contacts.shapes import Box, Capsule, frame_of
from humanoid_dynamics.simulation.contacts.terrain import Terrain
from humanoid_dynamics.simulation.steps.rows import (
    DOF_ROWS,
    MEMORY_COLUMNS,
    NEAR_COLUMNS,
    NUMBERS,
    P_ALL_END,
    P_END,
    POINT_COLUMNS,
    Q_ROWS,
    S_HALF,
    S_R,
    S_T,
    SHAPE_COLUMNS,
    SPAN,
    STATICS,
)
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

KINDS = {Box: 1, Capsule: 2}


class Tables:
    """Tables of one tree; their rows and columns are named in ``rows.py``.

    Attributes:
        dofs: Coordinates.
        numbers: Numbers in and out.
        points: Touch points.
        shapes: Shapes that stand still, then those that move.
        near: Points near a shape.
        memory: One row for every pair of a point and the ground, then of every point and every shape that moves.
        limits: Limits of joints.
        answer: Impulses, velocities, shifts and guesses of the rows.
        configurations: In the middle of the step, at its end, and the one that drives hold.
        joints: (nj, 3) joint above, first and last coordinate of each.
        parents: (nv,) coordinate that carries each.
        chosen: Which near points take part, and which limits after them.
        room: Room for numbers of joints that touch.
        indices: Room for whole numbers of these.
    """

    def __init__(
        self,
        robot: RobotModel,
        points: PointTable,
        terrain: Terrain,
        movers: Sequence[BoundShape],
        limits: LimitTable | None,
    ) -> None:
        """Lay them out.

        Args:
            robot: The tree.
            points: Its touch points.
            terrain: What stands still.
            movers: Shapes that move.
            limits: Limits of joints, None for none.
        """
        pairs = len(points) * (1 + len(movers))
        self.dofs: Matrix = np.zeros((DOF_ROWS, robot.nv))
        self.configurations: Matrix = np.zeros((Q_ROWS, robot.nq))
        self.numbers: Vector = np.zeros(NUMBERS)
        self.numbers[SPAN], self.numbers[STATICS] = 1.0, len(terrain.shapes)
        self.points, self.shapes = _list_points(points), _list_shapes(terrain, movers)
        self.near: Matrix = np.zeros((pairs, NEAR_COLUMNS))
        self.memory: Matrix = np.zeros((pairs, MEMORY_COLUMNS))
        self.limits = np.zeros((0, 5)) if limits is None else limits.table
        most = pairs + len(self.limits)
        self.answer: Matrix = np.zeros((ANSWER_ROWS, most + 2 * pairs))
        self.room: Vector = np.zeros(24 * pairs + 6 * robot.nv * robot.model.njoints)
        self.indices: Indices = np.zeros(15 * pairs + robot.nv * robot.model.njoints, dtype=np.intp)
        self.chosen: Indices = np.zeros(most, dtype=np.intp)
        self.joints, self.parents = list_joints(robot.model), list_parents(robot.model)


def list_joints(model: pin.Model) -> Indices:
    """Return (nj, 3) joint above, first and last coordinate of each joint; the world carries no coordinate.

    Args:
        model: The model.
    """
    rows = [(0, 0, -1)]
    for k in range(1, model.njoints):
        above, joint = int(model.parents[k]), model.joints[k]
        first = int(joint.idx_v) if joint.nv else rows[above][2] + 1
        rows.append(
            (above, first, int(joint.idx_v) + int(joint.nv) - 1 if joint.nv else rows[above][2])
        )
    return np.array(rows, dtype=np.intp)


def list_parents(model: pin.Model) -> Indices:
    """Return (nv,) the coordinate that carries each, -1 for the first of a chain.

    Args:
        model: The model.
    """
    return np.array(list(model.createData().parents_fromRow)[: model.nv], dtype=np.intp)


def _list_points(points: PointTable) -> Matrix:
    table = np.zeros((len(points), POINT_COLUMNS))
    if len(points):
        joints = np.array(points.joints)[points.owner]
        columns = (
            points.p_J[:, :3, 0],
            points.radius,
            points.friction,
            points.restitution,
            joints,
            points.group,
            points.outward,
        )
        clusters = find_clusters(points)
        table[:, :P_END] = np.column_stack((*columns, points.axis, clusters.shape))
        table[clusters.first, P_END:P_ALL_END] = np.column_stack(
            (clusters.end, clusters.p_J, clusters.radius)
        )
        first, *balls = find_joint_balls(points)
        table[first, P_ALL_END:] = np.column_stack(balls)
    return table


def _list_shapes(terrain: Terrain, movers: Sequence[BoundShape]) -> Matrix:
    still = [(shape, 0, -1) for shape in terrain.shapes]
    table = np.zeros((len(still) + len(movers), SHAPE_COLUMNS))
    for row, (shape, joint, group) in zip(
        table, still + [(m.shape, m.joint, m.group) for m in movers], strict=True
    ):
        row[:5] = KINDS.get(type(shape), 0), joint, group, shape.friction, shape.restitution
        X = frame_of(shape)
        row[S_R:S_T], row[S_T:S_HALF] = X.rotation.ravel(), X.translation
        if isinstance(shape, Box | Capsule):
            row[S_HALF:] = shape.half
    return table
