# SPDX-License-Identifier: Apache-2.0
"""A world as a value: what it takes to build the same one again, in this process or another."""

from __future__ import annotations

from dataclasses import dataclass

from humanoid_dynamics.constraints.block import ConstraintBlock
from humanoid_dynamics.constraints.constraint_set import ConstraintSet
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.simulation.snapshot import Snapshot, take_snapshot
from humanoid_dynamics.simulation.steps.joint_forces import Drive, JointForces
from humanoid_dynamics.simulation.steps.stepper import Stepper


@dataclass(frozen=True, eq=False)
class Replica:
    """What a stepper is built from, and where it is.

    Attributes:
        robot: Its robot.
        blocks: Its bilateral constraints.
        length: Characteristic length that makes their rows comparable [m].
        actuated: Names of the coordinates with a motor that is on.
        drive: Its drive.
        snapshot: Where it is, without the structure that only says which world may go back there.
        apart: The row that the last step left open.
    """

    robot: RobotModel
    blocks: tuple[ConstraintBlock, ...]
    length: float
    actuated: tuple[str, ...]
    drive: Drive | None
    snapshot: Snapshot
    apart: str


def describe_stepper(stepper: Stepper) -> Replica:
    """Return what it takes to build a stepper again.

    Args:
        stepper: The stepper.
    """
    robot, mechanism = stepper.robot, stepper.mechanism
    actuated = tuple(robot.coordinates[index] for index in mechanism.actuated)
    blocks, length = tuple(mechanism.constraints), mechanism.constraints.length
    return Replica(
        robot,
        blocks,
        length,
        actuated,
        stepper.engine.joints.drive,
        take_snapshot(stepper),
        stepper.apart,
    )


def rebuild_parts(replica: Replica) -> tuple[Mechanism, JointForces]:
    """Return the mechanism and the forces in the joints of a stepper.

    Args:
        replica: From ``describe_stepper``.
    """
    robot = replica.robot
    mechanism = Mechanism(
        robot,
        ConstraintSet(robot, replica.blocks, length=replica.length),
        actuated=replica.actuated,
    )
    return mechanism, JointForces(robot, replica.drive)
