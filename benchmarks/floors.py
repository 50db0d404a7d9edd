# SPDX-License-Identifier: Apache-2.0
"""What no route in Python can undercut: the calls of Pinocchio that every answer needs, and nothing else."""

from __future__ import annotations

import pinocchio as pin

from benchmarks.interleave import Contender
from benchmarks.stand import Stand

FLOOR_ID, FLOOR_DYN = "floor_ID", "floor_Dyn"


def build_floor_id(stand: Stand) -> Contender:
    """Return rnea, computeJointJacobians and the Jacobian of every sole.

    Args:
        stand: The robot and what it is asked.

    Returns:
        The floor of inverse dynamics.
    """
    model, data, q, v, a, frames = (
        stand.robot.model,
        stand.robot.data(),
        stand.q,
        stand.v,
        stand.a,
        stand.frames,
    )

    def floor() -> None:
        pin.rnea(model, data, q, v, a)
        pin.computeJointJacobians(model, data, q)
        for frame in frames:
            pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)

    return Contender(FLOOR_ID, floor)


def build_floor_dyn(stand: Stand) -> Contender:
    """Return crba, nonLinearEffects, computeJointJacobians and the Jacobian of every sole.

    Args:
        stand: The robot and what it is asked.

    Returns:
        The floor of everything that needs the mass matrix.
    """
    model, data, q, v, frames = (
        stand.robot.model,
        stand.robot.data(),
        stand.q,
        stand.v,
        stand.frames,
    )

    def floor() -> None:
        pin.crba(model, data, q)
        pin.nonLinearEffects(model, data, q, v)
        pin.computeJointJacobians(model, data, q)
        for frame in frames:
            pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)

    return Contender(FLOOR_DYN, floor)
