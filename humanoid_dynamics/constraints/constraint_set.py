# SPDX-License-Identifier: Apache-2.0
"""The list of everything the motion must satisfy; connecting and cutting are an entry more or less in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from humanoid_dynamics.constraints.block import ConstraintBlock
from humanoid_dynamics.constraints.contact import ContactBlock
from humanoid_dynamics.constraints.coordinate import build_mimic
from humanoid_dynamics.constraints.kinematics import Kinematics
from humanoid_dynamics.constraints.loop import LoopBlock, build_loop
from humanoid_dynamics.constraints.rank import LEAST_LEVER, measure_length
from humanoid_dynamics.constraints.user import UserBlock
from humanoid_dynamics.constraints.wheel import build_wheel
from humanoid_dynamics.errors import HumanoidDynamicsError, UnknownNameError
from humanoid_dynamics.model.robot import Notice, RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector

CHARACTERISTIC_LENGTH = 0.3
NOTHING = 1e-12
FREE = 6  # freedoms of a joint that every row of a frame on it feels
KEPT_GAP = 4.0  # how often the least lever of a row that the tree keeps its frames may be apart


@dataclass(frozen=True, eq=False)
class ConstraintRows:
    """All rows, stacked: J v = 0, J v' = -gamma, phi = 0.

    Attributes:
        J: (k, nv) Jacobian.
        gamma: (k,) drift J' v.
        phi: (k,) position error, zero where ``holonomic`` is not set.
        scale: (k,) 1 for linear rows, the characteristic length [m] for angular ones, 1 / |row| for rows the caller wrote, whose units
            nobody knows; rank decisions look at scale * J.
        labels: Name of every row.
        unilateral: (k,) which rows can only push.
        holonomic: (k,) which rows come from a position.
    """

    J: Matrix
    gamma: Vector
    phi: Vector
    scale: Vector
    labels: tuple[str, ...]
    unilateral: tuple[bool, ...]
    holonomic: tuple[bool, ...]


class ConstraintSet:
    """Ordered blocks of constraint rows of one robot, with stable names.

    Rows of loops and contacts that the tree keeps anyway, such as those of a point on the axis of a hinge, are zero.  Only rounding is left
    of them, which a test of rank that compares rows with one another takes for a constraint.

    Adding and removing touch one entry of a table and rebuild no model.  Evaluation writes into buffers this object owns; the arrays it
    returns hold until the next evaluation or change.

    Attributes:
        robot: The robot the blocks are bound to.
        length: Characteristic length that makes angular rows comparable with linear ones [m].
        generation: Grows with every change, so that others can see that one happened.
        least: (k,) how large some entry of each row has to be for it to count.
    """

    def __init__(
        self,
        robot: RobotModel,
        blocks: Iterable[ConstraintBlock] = (),
        *,
        length: float = CHARACTERISTIC_LENGTH,
    ) -> None:
        self.robot = robot
        self.length = length
        self.generation = 0
        self._blocks: dict[str, ConstraintBlock] = {}
        self._plan: list[tuple[ConstraintBlock, Matrix, Vector, Vector]] | None = None
        self._unitless: list[tuple[Matrix, Vector]] = []
        for block in blocks:
            self.add(block)
        self._rows = self._lay_out()

    def __getstate__(self) -> tuple[RobotModel, tuple[ConstraintBlock, ...], float, int]:
        """Return what it is built from; buffers are views of one another, and are laid out anew."""
        return self.robot, tuple(self), self.length, self.generation

    def __setstate__(
        self, state: tuple[RobotModel, tuple[ConstraintBlock, ...], float, int]
    ) -> None:
        """Build it again."""
        robot, blocks, length, generation = state
        self.__init__(robot, blocks, length=length)  # type: ignore[misc]
        self.generation = generation

    @classmethod
    def of(
        cls,
        robot: RobotModel,
        blocks: Iterable[ConstraintBlock] = (),
        *,
        length: float = CHARACTERISTIC_LENGTH,
    ) -> ConstraintSet:
        """Return the constraints a robot comes with - loops, mimics, wheels - and more blocks after them.

        Args:
            robot: The robot.
            blocks: Further blocks, such as contacts.
            length: Characteristic length [m].

        Returns:
            The set.
        """
        own: list[ConstraintBlock] = [build_loop(robot, loop) for loop in robot.loops]
        own += [build_mimic(robot, mimic) for mimic in robot.mimics]
        own += [build_wheel(robot, wheel) for wheel in robot.wheels]
        return cls(robot, (*own, *blocks), length=length)

    def __len__(self) -> int:
        return len(self._blocks)

    def __iter__(self) -> Iterator[ConstraintBlock]:
        return iter(self._blocks.values())

    def __contains__(self, name: str) -> bool:
        return name in self._blocks

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all blocks, in order."""
        return tuple(self._blocks)

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self._current().labels)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of all rows, in order."""
        return self._current().labels

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Warnings about blocks that no joint can move; they have no rows."""
        text = "no joint moves it, so it constrains nothing and has no rows"
        return tuple(
            Notice("warning", f"constraint {block.name!r}", text)
            for block in self._blocks.values()
            if block.inert
        )

    def add(self, block: ConstraintBlock) -> str:
        """Append a block.

        Args:
            block: The block, bound to the robot of this set.

        Returns:
            Its name, the handle to remove it with.

        Raises:
            HumanoidDynamicsError: If a block of that name is there already.
        """
        if block.name in self._blocks:
            raise HumanoidDynamicsError(
                f"a constraint named {block.name!r} exists already; remove it first or choose another name"
            )
        self._blocks[block.name] = block
        self._changed()
        return block.name

    def remove(self, name: str) -> ConstraintBlock:
        """Take a block out.

        Args:
            name: Its name.

        Returns:
            The block.

        Raises:
            UnknownNameError: If there is none of that name.
        """
        if name not in self._blocks:
            raise UnknownNameError("constraint", name, self._blocks)
        self._changed()
        return self._blocks.pop(name)

    def reset(self, blocks: Iterable[ConstraintBlock]) -> None:
        """Put back blocks that were there before.

        Args:
            blocks: All of them, in order.
        """
        self._blocks = {block.name: block for block in blocks}
        self._changed()

    def rows_of(self, name: str) -> slice:
        """Return which rows belong to a block.

        Args:
            name: Name of the block.

        Returns:
            Their range in the stack.

        Raises:
            UnknownNameError: If there is none of that name.
        """
        start = 0
        for block in self._blocks.values():
            count = 0 if block.inert else len(block.labels)
            if block.name == name:
                return slice(start, start + count)
            start += count
        raise UnknownNameError("constraint", name, self._blocks)

    def jacobian(self, kinematics: Kinematics) -> Matrix:
        """Return J (k, nv), column-major.

        Args:
            kinematics: After ``place`` or ``move``.

        Returns:
            The rows, valid until the next evaluation.
        """
        rows = self._rows if self._plan is not None else self._current()
        for block, J, _, _ in self._plan or ():
            block.write_jacobian(kinematics, J)
        for J, scale in self._unitless:
            scale[:] = _unit_scale(J)
        if self._fragile:
            self._kept = np.abs(rows.J).max(axis=1) < self.least
            if self._kept.any():
                rows.J[self._kept] = 0.0
        return rows.J

    def drift(self, kinematics: Kinematics) -> Vector:
        """Return gamma (k,).

        Args:
            kinematics: After ``move``; with an acceleration given there this is J v' + gamma.

        Returns:
            The drift, valid until the next evaluation.
        """
        rows = self._rows if self._plan is not None else self._current()
        for block, _, gamma, _ in self._plan or ():
            block.write_drift(kinematics, gamma)
        if self._fragile and self._kept.any():
            rows.gamma[self._kept] = 0.0
        return rows.gamma

    def breach(self, kinematics: Kinematics) -> float:
        """Return how badly the motion the kinematics hold breaks the constraints; the rows are those ``jacobian`` returned last.

        Args:
            kinematics: After ``move`` or ``balance`` with an acceleration.

        Returns:
            Norm of all scaled J v [m/s] and J a + gamma [m/s²].
        """
        rows = self._rows
        if not len(rows.gamma):
            return 0.0
        self.drift(kinematics)
        rows.J.dot(kinematics.v, out=self._slip)
        np.multiply(self._motion, rows.scale, out=self._scaled)
        return float(blas.dnrm2(self._scaled_flat))

    def error(self, kinematics: Kinematics) -> Vector:
        """Return phi (k,).

        Args:
            kinematics: After ``place`` or ``move``.

        Returns:
            The position error, valid until the next evaluation.
        """
        rows = self._current()
        for block, _, _, phi in self._plan or ():
            block.write_error(kinematics, phi)
        if self._fragile and self._kept.any():
            rows.phi[self._kept & (np.abs(rows.phi) <= KEPT_GAP * self.least)] = 0.0
        return rows.phi

    def evaluate(self, kinematics: Kinematics) -> ConstraintRows:
        """Return J, gamma and phi together.

        Args:
            kinematics: After ``move``.

        Returns:
            All rows, valid until the next evaluation.
        """
        self.jacobian(kinematics)
        self.drift(kinematics)
        self.error(kinematics)
        return self._rows

    @property
    def scale(self) -> Vector:
        """(k,) factors that make rows comparable."""
        return self._current().scale

    def _find_least(self, block: ConstraintBlock) -> Vector:
        """Return (k,) how large some entry of each row of a block has to be; zero where no row can vanish, or the units are unknown."""
        if isinstance(block, LoopBlock):
            ends = (block.A.joint, block.B.joint)
        elif isinstance(block, ContactBlock):
            ends = (block.C.joint, 0)
        else:
            return np.zeros(len(block.labels))
        model = self.robot.model
        moving = set(model.supports[ends[0]]) ^ set(model.supports[ends[1]])
        if any(model.joints[int(joint)].nv == FREE for joint in moving):
            return np.zeros(len(block.labels))
        return LEAST_LEVER * np.where(block.rotational, 1.0, measure_length(model))

    def _changed(self) -> None:
        self.generation += 1
        self._plan = None

    def _current(self) -> ConstraintRows:
        if self._plan is None:
            self._rows = self._lay_out()
        return self._rows

    def _lay_out(self) -> ConstraintRows:
        """Allocate the buffers and give every block its own part of them."""
        active = [block for block in self._blocks.values() if not block.inert]
        total = sum(len(block.labels) for block in active)
        J = np.zeros((total, self.robot.nv), order="F")
        self._motion, self._scaled, phi = (
            np.zeros((2, total)),
            np.zeros((2, total)),
            np.zeros(total),
        )
        gamma, self._slip, self._scaled_flat = (
            self._motion[0],
            self._motion[1],
            self._scaled.reshape(-1),
        )
        scale = np.array(
            [self.length if flag else 1.0 for block in active for flag in block.rotational]
        )
        self.least = np.concatenate([np.zeros(0), *(self._find_least(block) for block in active)])
        self._fragile, self._kept = bool(self.least.any()), np.zeros(total, dtype=bool)
        self._plan, self._unitless, start = [], [], 0
        for block in active:
            part = slice(start, start + len(block.labels))
            self._plan.append((block, J[part], gamma[part], phi[part]))
            if isinstance(block, UserBlock):
                self._unitless.append((J[part], scale[part]))
            start = part.stop
        return ConstraintRows(
            J,
            gamma,
            phi,
            scale,
            tuple(label for block in active for label in block.labels),
            tuple(flag for block in active for flag in block.unilateral),
            tuple(block.holonomic for block in active for _ in block.labels),
        )


def _unit_scale(J: Matrix) -> Vector:
    """Return factors that make every row of unit length; 1 for a row of zeros."""
    lengths = np.sqrt(np.einsum("ij,ij->i", J, J))
    factors: Vector = 1.0 / np.where(lengths > NOTHING, lengths, 1.0)
    return factors
