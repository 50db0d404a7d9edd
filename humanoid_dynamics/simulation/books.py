# SPDX-License-Identifier: Apache-2.0
"""Books of energy and momentum: what came in, what friction took, and what is missing, step by step."""

from __future__ import annotations

from typing import cast

import numpy as np
import pinocchio as pin

from humanoid_dynamics.simulation.steps.momentum_kernel import (
    close_motion,
    close_whole_step,
    report_motion,
)
from humanoid_dynamics.simulation.steps.rows import (
    ACCOUNT,
    BEFORE,
    ENERGY,
    GRAVITY,
    IMPULSE,
    LARGEST,
    LEAKED,
    MASS,
    MOTION,
    START,
    SUMS,
    TOTAL,
    TURNED,
    UNGIVEN,
    W_LOOPS,
    W_MOTORS,
)
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.spatial.wrench import cross

ENTRIES = ("motors", "pushes", "drive", "losses", "contacts", "loops", "impacts", "corrections")
BRINGERS = 3  # of these, the first, bring energy from outside
FIRST, LAST = W_MOTORS, W_LOOPS + 1  # the first six, in this order, are entered by every step


class Books:
    """Work since the start, by who did it, and what is missing [J]; momentum of all bodies, and what of it nobody gave.

    Attributes:
        account: (ACCOUNT,) all numbers, as compiled steps enter them.
    """

    def __init__(self, start: float) -> None:
        """Open them.

        Args:
            start: Energy at the start [J].
        """
        self._open(np.zeros(ACCOUNT))
        self.account[START] = self.account[ENERGY] = start

    def _open(self, account: Vector) -> None:
        """Take over an account, and look at it as those do who read and write its numbers one by one: twice as fast as from an array."""
        self.account: Vector = account
        self._entries = cast("memoryview[float]", account.data)

    @property
    def start(self) -> float:
        """Energy at the start [J]."""
        return float(self.account[START])

    @property
    def energy(self) -> float:
        """Energy now [J]."""
        return float(self.account[ENERGY])

    @property
    def largest(self) -> float:
        """Largest energy that any step created out of nothing [J]."""
        return float(self.account[LARGEST])

    @property
    def work(self) -> dict[str, float]:
        """Work by entry [J], negative where energy left.

        The entries are motors, pushes, drives, losses (damping and dry friction), contacts and limits, loops (zero but for round-off and
        changes of structure), impacts, and corrections of positions.
        """
        return dict(zip(ENTRIES, self.account[SUMS:TOTAL].tolist(), strict=True))

    @property
    def brought(self) -> float:
        """Work of motors, pushes and drives, which alone can bring energy [J]."""
        return float(sum(self.account[SUMS : SUMS + BRINGERS]))

    @property
    def missing(self) -> float:
        """Energy that nobody brought: what integration in time does not keep [J]."""
        return self.find_missing(self.energy)

    def find_missing(self, energy: float) -> float:
        """Return what is missing if there is some energy now [J].

        Args:
            energy: The energy [J].
        """
        return float(energy - self.account[START] - self.account[TOTAL])

    @property
    def leaked(self) -> Vector:
        """(6,) momentum that nobody gave since the start: linear [N·s], and about the centre of mass [N·m·s]."""
        return self.account[LEAKED:TURNED].copy()

    @property
    def turned(self) -> Vector:
        """(2,) momentum at the start and all its changes since, linear [N·s] and about the centre of mass [N·m·s]."""
        return self.account[TURNED:].copy()

    def begin_motion(self, mass: float, gravity: Vector, motion: Vector) -> None:
        """Take the momentum as it is, at the start or after a change that is no step.

        Args:
            mass: Mass of all bodies; zero for no audit [kg].
            gravity: (3,) gravity [m/s²].
            motion: (9,) their momentum, linear and angular about the origin of the world, and mass times centre of mass.
        """
        account = self.account
        account[MASS], account[GRAVITY:MOTION] = mass, gravity
        before, account[MOTION:IMPULSE], account[IMPULSE:LEAKED] = (
            account[MOTION:IMPULSE].copy(),
            motion,
            0.0,
        )
        if mass > 0.0:
            change = (motion - before)[:6]
            account[TURNED] += np.linalg.norm(change[:3])
            account[TURNED + 1] += np.linalg.norm(change[3:] - cross(motion[6:] / mass, change[:3]))

    def lose(self, momentum: Vector, places: Vector) -> None:
        """Enter momentum that nobody gave, apart from that of steps.

        Args:
            momentum: (6,) it, linear and angular about the origin of the world.
            places: (3,) mass times centre of mass.
        """
        account = self.account
        account[UNGIVEN : UNGIVEN + 3] += momentum[:3]
        account[UNGIVEN + 3 : UNGIVEN + 6] += momentum[3:] - cross(
            places / account[MASS], momentum[:3]
        )

    def give(self, impulse: Vector) -> None:
        """Enter an impulse on the bodies.

        Args:
            impulse: (6,) impulse, and its moment about the origin of the world.
        """
        self.account[IMPULSE:UNGIVEN] += impulse

    def close_motion(self, motion: list[float], dt: float) -> None:
        """Enter the momentum after a part of a step.

        Args:
            motion: (9,) as for ``begin_motion``.
            dt: Length of the part [s].
        """
        close_motion(self._entries, motion, dt)

    def report_motion(self, numbers: Vector) -> None:
        """Say what momentum nobody gave in a step, and begin the next one.

        Args:
            numbers: Numbers in and out.
        """
        report_motion(self._entries, cast("memoryview[float]", numbers.data))

    def close_whole_step(
        self, numbers: memoryview[float], motion: list[float], given: list[float], dt: float
    ) -> None:
        """Do what ``give``, ``close_motion`` and ``report_motion`` do, after a step of one part.

        Args:
            numbers: Numbers in and out, one by one.
            motion: (9,) as for ``begin_motion``.
            given: (6,) impulse, and its moment about the origin of the world.
            dt: Length of the step [s].
        """
        close_whole_step(self._entries, numbers, motion, given, dt)

    def enter(self, name: str, work: float) -> None:
        """Enter work.

        Args:
            name: Who did it, one of ``ENTRIES``.
            work: How much [J].
        """
        self.account[SUMS + ENTRIES.index(name)] += work
        self.account[TOTAL] += work

    def enter_step(self, numbers: Vector | memoryview[float]) -> None:
        """Enter the work of a step.

        Args:
            numbers: Numbers of the step.
        """
        account, total = self._entries, 0.0
        for k, work in enumerate(numbers[FIRST:LAST].tolist(), SUMS):
            if work:
                account[k] += work
                total += work
        account[TOTAL] += total

    def close_step(self, energy: float) -> float:
        """Enter the energy after a step; return what is missing.

        Args:
            energy: The energy [J].
        """
        account = self._entries
        missing = float(energy - account[START] - account[TOTAL])
        account[LARGEST] = max(account[LARGEST], missing - account[BEFORE])
        account[BEFORE], account[ENERGY] = missing, energy
        return missing

    def shift(self, change: float, *, at_start: bool) -> None:
        """Enter a change of energy that is no step.

        Args:
            change: How much [J].
            at_start: Whether it counts as there from the start.
        """
        self.account[ENERGY] += change
        if at_start:
            self.account[START] += change

    def copy(self) -> Books:
        """Return books of their own with the same entries."""
        other = Books.__new__(Books)
        other._open(self.account.copy())
        return other

    def __getstate__(self) -> Vector:
        """Return all numbers."""
        return self.account

    def __setstate__(self, account: Vector) -> None:
        """Take them over."""
        self._open(account)


def measure_energy(
    model: pin.Model, data: pin.Data, q: Vector, v: Vector, forgotten: Vector
) -> float:
    """Return kinetic and potential energy, rotors included [J]; poses and velocities of the work space are those of q and v afterwards.

    Args:
        model: The model.
        data: Its work space.
        q: (nq,) configuration.
        v: (nv,) velocity.
        forgotten: (nv,) from ``find_forgotten_rotors``, or none.
    """
    energy: float = pin.computeMechanicalEnergy(model, data, q, v)
    return energy + measure_rotors(v, forgotten)


def measure_kinetic(
    model: pin.Model, data: pin.Data, q: Vector, v: Vector, forgotten: Vector
) -> float:
    """Return the kinetic energy, rotors included [J]; the work space is as after ``measure_energy``.

    Args:
        model: The model.
        data: Its work space.
        q: (nq,) configuration.
        v: (nv,) velocity.
        forgotten: (nv,) from ``find_forgotten_rotors``, or none.
    """
    energy: float = pin.computeKineticEnergy(model, data, q, v)
    return energy + measure_rotors(v, forgotten)


def measure_rotors(v: Vector, forgotten: Vector) -> float:
    """Return the kinetic energy of rotors that Pinocchio leaves out [J].

    Args:
        v: (nv,) velocity.
        forgotten: (nv,) from ``find_forgotten_rotors``, or none.
    """
    return 0.5 * float((forgotten * v).dot(v)) if len(forgotten) else 0.0


def find_forgotten_rotors(model: pin.Model) -> Vector:
    """Return (nv,) the inertia of rotors that Pinocchio's kinetic energy leaves out, or (0,) where it leaves out none.

    Version 4.1 leaves out those of hinges about tilted axes.

    Args:
        model: The model.
    """
    bare, q, forgotten = model.copy(), pin.neutral(model), np.array(model.armature)
    bare.armature = np.zeros(model.nv)
    works = model.createData(), bare.createData()
    for k in np.flatnonzero(forgotten):
        unit = np.zeros(model.nv)
        unit[k] = 1.0
        whole, part = (
            pin.computeKineticEnergy(one, data, q, unit)
            for one, data in zip((model, bare), works, strict=True)
        )
        forgotten[k] = 0.0 if whole > part else forgotten[k]
    return forgotten if forgotten.any() else forgotten[:0]


def measure_momentum(model: pin.Model, data: pin.Data, q: Vector, v: Vector) -> Vector:
    """Return (6,) linear momentum [kg·m/s] and angular momentum about the origin of the world [kg·m²/s]."""
    h = pin.computeCentroidalMomentum(model, data, q, v)
    return np.concatenate((h.linear, h.angular + cross(data.com[0], h.linear)))
