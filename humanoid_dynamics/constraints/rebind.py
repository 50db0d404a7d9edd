# SPDX-License-Identifier: Apache-2.0
"""Constraints that follow their bodies into another tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin

from humanoid_dynamics.constraints.block import ConstraintBlock
from humanoid_dynamics.constraints.contact import ContactBlock
from humanoid_dynamics.constraints.coordinate import CoordinateBlock
from humanoid_dynamics.constraints.kinematics import Attachment
from humanoid_dynamics.constraints.loop import LoopBlock
from humanoid_dynamics.constraints.wheel import WheelBlock
from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import read_only


def rebind(block: ConstraintBlock, old: RobotModel, new: RobotModel) -> ConstraintBlock:
    """Return the same constraint for another tree of the same bodies.

    Args:
        block: The constraint, bound to the old robot.
        old: The old robot.
        new: The new robot; joints have the same names.

    Returns:
        The constraint bound to the new robot.

    Raises:
        HumanoidDynamicsError: If the rows were written by the caller, or speak of a joint that is gone.
    """
    if isinstance(block, LoopBlock):
        return replace(block, A=_move(block.A, old, new), B=_move(block.B, old, new))
    if isinstance(block, ContactBlock | WheelBlock):
        return replace(block, C=_move(block.C, old, new))
    if isinstance(block, CoordinateBlock):
        return _move_coordinates(block, old, new)
    raise HumanoidDynamicsError(
        f"constraint {block.name!r}: rows of the caller's own cannot follow into another tree; remove it first"
    )


def _move(frame: Attachment, old: RobotModel, new: RobotModel) -> Attachment:
    return Attachment(
        int(new.model.getJointId(old.model.names[frame.joint])) if frame.joint else 0, frame.X_JF
    )


def _move_coordinates(block: CoordinateBlock, old: RobotModel, new: RobotModel) -> CoordinateBlock:
    rows, reference = np.zeros((len(block.labels), new.nv)), pin.neutral(new.model)
    after = {joint.name: joint for joint in new.joints}
    for joint in old.joints:
        there = after[joint.name]
        if there.kind == joint.kind:
            rows[:, there.v], reference[there.q] = (
                block.coefficients[:, joint.v],
                block.reference[joint.q],
            )
        elif block.coefficients[:, joint.v].any():
            raise HumanoidDynamicsError(
                f"constraint {block.name!r} refers to joint {joint.name!r}, which has broken; remove the constraint first"
            )
    return replace(block, coefficients=read_only(rows), reference=read_only(reference))
