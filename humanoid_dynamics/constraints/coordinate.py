# SPDX-License-Identifier: Apache-2.0
"""Rows on the coordinates themselves: a locked joint, joints coupled to each other, a joint that mimics another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_dynamics.constraints.block import no_rows, row_labels
from humanoid_dynamics.constraints.kinematics import Kinematics
from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.model.joint import Joint, Mimic
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector, check_vector, read_only

ANGULAR = {
    "revolute": (True,),
    "continuous": (True,),
    "prismatic": (False,),
    "spherical": (True, True, True),
    "universal": (True, True),
    "planar": (False, False, True),
    "free_flyer": (False, False, False, True, True, True),
}


def coordinate_is_angle(joint: Joint) -> tuple[bool, ...]:
    """Return which velocity coordinates of a joint are angular."""
    return ANGULAR.get(joint.kind, (True,) * len(joint.coordinates))


@dataclass(frozen=True, eq=False)
class CoordinateBlock:
    """Rows C v = 0 with a constant C, and the position error C (q - reference).

    Attributes:
        name: Name of the block.
        coefficients: (k, nv) constant rows C.
        reference: (nq,) configuration where the error is zero.
        offset: (k,) what C (q - reference) should be [rad or m].
        labels: Name of every row.
        rotational: Which rows are angular velocities.
        holonomic: Whether the position error means anything.
    """

    name: str
    coefficients: Matrix
    reference: Vector
    offset: Vector
    labels: tuple[str, ...]
    rotational: tuple[bool, ...]
    holonomic: bool = True

    @property
    def unilateral(self) -> tuple[bool, ...]:
        """None."""
        return no_rows(len(self.labels))

    @property
    def inert(self) -> bool:
        """Whether all coefficients are zero."""
        return not self.coefficients.any()

    def write_jacobian(self, kinematics: Kinematics, out: Matrix) -> None:  # noqa: ARG002  (rows do not depend on where it is)
        """Write C into (k, nv)."""
        out[:] = self.coefficients

    def write_drift(self, kinematics: Kinematics, out: Vector) -> None:
        """Write zero, or C a where the kinematics hold an acceleration, into (k,)."""
        out[:] = 0.0 if kinematics.a is None else self.coefficients @ kinematics.a

    def write_error(self, kinematics: Kinematics, out: Vector) -> None:
        """Write C (q - reference) - offset into (k,)."""
        if not self.holonomic:
            out[:] = 0.0
            return
        out[:] = (
            self.coefficients @ pin.difference(kinematics.model, self.reference, kinematics.q)
            - self.offset
        )


def build_lock(
    robot: RobotModel, joint: str, position: ArrayLike | None = None, *, name: str | None = None
) -> CoordinateBlock:
    """Hold a joint still.

    Args:
        robot: The robot.
        joint: Name of the joint, of any kind.
        position: Its part of the configuration to hold [rad or m]; only its velocity is held where left out.
        name: Name of the block; ``lock.<joint>`` where left out.

    Returns:
        One row per freedom of the joint.

    Raises:
        UnknownNameError: If there is no such joint.
        ShapeError: If the position does not fit it.
    """
    record = robot.joint(joint)
    rows = np.arange(record.v.start, record.v.stop)
    reference = pin.neutral(robot.model)
    if position is not None:
        reference[record.q] = check_vector(
            "position", np.atleast_1d(np.asarray(position)), record.q.stop - record.q.start
        )
    label = name or f"lock.{joint}"
    axes = tuple(str(index) for index in range(len(rows)))
    return CoordinateBlock(
        label,
        read_only(np.eye(robot.nv)[rows]),
        read_only(reference),
        read_only(np.zeros(len(rows))),
        row_labels(label, axes),
        coordinate_is_angle(record),
        holonomic=position is not None,
    )


def build_coupling(
    robot: RobotModel, name: str, coefficients: Mapping[str, float], offset: float = 0.0
) -> CoordinateBlock:
    """Keep a weighted sum of coordinates constant.

    Args:
        robot: The robot.
        name: Name of the block.
        coefficients: Coordinate name -> weight; units so that the sum makes sense.
        offset: What the weighted sum of positions is [rad or m].

    Returns:
        One row.

    Raises:
        UnknownNameError: If there is no such coordinate.
        ShapeError: If no coordinate is named.
    """
    if not coefficients:
        raise ShapeError("coefficients", "no coordinate", "at least one")
    row = np.zeros((1, robot.nv))
    for coordinate, weight in coefficients.items():
        row[0, _coordinate_index(robot, coordinate)] = weight
    leading = int(_coordinate_index(robot, next(iter(coefficients))))
    owner = next(joint for joint in robot.joints if joint.v.start <= leading < joint.v.stop)
    angle = coordinate_is_angle(owner)[leading - owner.v.start]
    reference = read_only(pin.neutral(robot.model))
    return CoordinateBlock(
        name,
        read_only(row),
        reference,
        read_only([offset]),
        (name,),
        (angle,),
        _scalar(robot, row[0].nonzero()[0]),
    )


def build_mimic(robot: RobotModel, mimic: Mimic) -> CoordinateBlock:
    """Let a joint follow another: position = ratio * leader + offset.

    Args:
        robot: The robot, in which the follower is still a coordinate.
        mimic: Who follows whom.

    Returns:
        One row.

    Raises:
        UnknownNameError: If a joint does not exist.
    """
    follower, leader = (robot.joint(name).coordinates[0] for name in (mimic.joint, mimic.leader))
    return build_coupling(
        robot, f"mimic.{mimic.joint}", {follower: 1.0, leader: -mimic.ratio}, mimic.offset
    )


def _coordinate_index(robot: RobotModel, coordinate: str) -> int:
    if coordinate not in robot.coordinates:
        raise UnknownNameError("coordinate", coordinate, robot.coordinates)
    return robot.coordinates.index(coordinate)


def _scalar(robot: RobotModel, indices: Indices) -> bool:
    """Return whether all these coordinates are positions of joints with one freedom, so that their sum means something."""
    widths = {
        index: joint.v.stop - joint.v.start
        for joint in robot.joints
        for index in range(joint.v.start, joint.v.stop)
    }
    return all(widths[int(index)] == 1 for index in indices)
