# SPDX-License-Identifier: Apache-2.0
"""What a mechanism can do: its rows, their rank, the freedoms that are left, and what its motors can do about them [CK, eq. 13-18]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.constraints.block import ConstraintBlock
from humanoid_dynamics.constraints.coordinate import CoordinateBlock
from humanoid_dynamics.constraints.loop import LoopBlock
from humanoid_dynamics.constraints.null_space import DynamicsStatus
from humanoid_dynamics.constraints.rank import RankPolicy
from humanoid_dynamics.dynamics.closure import close_position
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.orthogonal import singular_values

CLOSED = 1e-6


@dataclass(frozen=True)
class BlockFacts:
    """One constraint of a mechanism.

    Attributes:
        name: Its name.
        kind: The joint that was cut, or ``coupling``, ``wheel``, ``contact``, ``rows``.
        rows: Number of its rows.
        rank: Number of them that are independent of each other.
        error: Largest scaled position error [m].
    """

    name: str
    kind: str
    rows: int
    rank: int
    error: float


@dataclass(frozen=True)
class MobilityReport:
    """What a mechanism can do in one configuration.

    Attributes:
        robot: Name of the robot.
        freedoms: Velocity coordinates of the tree.
        constraints: Its constraints.
        rows: Number of rows.
        rank: Number that count.
        singular_values: All singular values of the scaled rows, largest first.
        tolerance: Below this share of the largest a singular value does not count.
        mobility: Freedoms that are left, N_F = N_J - m [CK, eq. 14].
        internal_mobility: Those that show in the joints; the others move the root alone, and all that hangs on it.
        generalized: Coordinates chosen as generalized coordinates [CK, eq. 15].
        dependent: Coordinates that follow.
        motors: Coordinates with a motor.
        actuation_rank: Freedoms the motors can drive: rank of S.
        internal_forces: Independent torque patterns of the motors that move nothing.
        indeterminate_forces: Constraint forces that no motion tells apart: rows - rank.
        closure: Largest scaled position error [m].
        status: The worst that was found.
        reasons: What was found, in words.
    """

    robot: str
    freedoms: int
    constraints: tuple[BlockFacts, ...]
    rows: int
    rank: int
    singular_values: tuple[float, ...]
    tolerance: float
    mobility: int
    internal_mobility: int
    generalized: tuple[str, ...]
    dependent: tuple[str, ...]
    motors: tuple[str, ...]
    actuation_rank: int
    internal_forces: int
    indeterminate_forces: int
    closure: float
    status: DynamicsStatus
    reasons: tuple[str, ...]


def report_mobility(
    robot: RobotModel, q: Vector | None = None, mechanism: Mechanism | None = None
) -> MobilityReport:
    """Return what a robot can do under its constraints.

    Args:
        robot: The robot.
        q: (nq,) configuration; where left out the resting one, closed as near to it as can be.
        mechanism: The robot under other constraints than those it comes with.

    Returns:
        The report; trouble is a status in it.

    Raises:
        ShapeError: If the configuration has the wrong size.
    """
    mechanism = mechanism or Mechanism(robot)
    found = mechanism.mobility(close_position(mechanism, robot.posture).q if q is None else q)
    blocks = tuple(_block_facts(mechanism, block) for block in mechanism.constraints)
    shape = _rank(np.delete(found.Gamma, _root_coordinates(robot), axis=0), least=1.0)
    actuation = _rank(found.Gamma[mechanism.actuated], least=1.0)
    closure = max((block.error for block in blocks), default=0.0)
    rows, motors = mechanism.J.shape[0], len(mechanism.actuated)
    status, reasons = _judge(closure, rows - found.rank, motors, shape, actuation)
    names = robot.coordinates
    return MobilityReport(
        robot=robot.name,
        freedoms=robot.nv,
        constraints=blocks,
        rows=rows,
        rank=found.rank,
        singular_values=tuple(singular_values(mechanism.scale[:, None] * mechanism.J).tolist()),
        tolerance=RankPolicy().tolerance,
        mobility=found.Gamma.shape[1],
        internal_mobility=shape,
        generalized=tuple(names[index] for index in found.indep),
        dependent=tuple(names[index] for index in found.dep),
        motors=tuple(names[index] for index in mechanism.actuated),
        actuation_rank=actuation,
        internal_forces=motors - actuation,
        indeterminate_forces=rows - found.rank,
        closure=closure,
        status=status,
        reasons=reasons,
    )


def _judge(
    closure: float, repeated: int, motors: int, shape: int, actuation: int
) -> tuple[DynamicsStatus, tuple[str, ...]]:
    """Return the worst status and everything worth saying, worst first."""
    said: list[tuple[DynamicsStatus, str]] = []
    if closure > CLOSED:
        said.append(
            (
                DynamicsStatus.INCONSISTENT_INPUT,
                f"the constraints are not met in this configuration: open by {closure:.3g} m",
            )
        )
    if actuation < min(motors, shape):
        text = f"{motors} motors drive only {actuation} of {shape} freedoms: they work against each other, in this configuration or in all"
        said.append((DynamicsStatus.ACTUATION_SINGULAR, text))
    elif actuation < shape:
        said.append((DynamicsStatus.OK, f"{shape - actuation} of {shape} freedoms have no motor"))
    if repeated:
        text = f"{repeated} rows repeat others, as in planar loops: the motion is unique, {repeated} constraint forces are not"
        said.append((DynamicsStatus.RANK_DEFICIENT, text))
    if motors > actuation:
        said.append(
            (
                DynamicsStatus.OK,
                f"{motors - actuation} torque patterns of the motors move nothing: internal forces, free to choose",
            )
        )
    status = next(
        (status for status, _ in said if status is not DynamicsStatus.OK), DynamicsStatus.OK
    )
    return status, tuple(text for _, text in said)


def _block_facts(mechanism: Mechanism, block: ConstraintBlock) -> BlockFacts:
    part = mechanism.constraints.rows_of(block.name)
    scale, phi = mechanism.scale[part], mechanism.constraints.error(mechanism.kinematics)[part]
    return BlockFacts(
        block.name,
        _kind_of(block),
        part.stop - part.start,
        _rank(scale[:, None] * mechanism.J[part]),
        float(np.abs(scale * phi).max(initial=0.0)),
    )


def _kind_of(block: ConstraintBlock) -> str:
    if isinstance(block, LoopBlock):
        return block.kind
    if isinstance(block, CoordinateBlock):
        return "coupling"
    return type(block).__name__.removesuffix("Block").lower().replace("user", "rows")


def _root_coordinates(robot: RobotModel) -> range:
    """Return the coordinates that move the robot as a whole."""
    root = robot.joints[0] if robot.joints and robot.root != "fixed" else None
    return range(0) if root is None else range(root.v.start, root.v.stop)


def _rank(A: Matrix, least: float = 0.0) -> int:
    return RankPolicy().rank(singular_values(A), least=least)
