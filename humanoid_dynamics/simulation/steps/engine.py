# SPDX-License-Identifier: Apache-2.0
"""What a step computes, phase by phase, on the tables of ``tables.py``: with arrays here, by compiled kernels in ``compiled_engine.py``."""

from __future__ import annotations

from typing import cast

import numpy as np
import pinocchio as pin

from humanoid_dynamics.simulation.books import Books, find_forgotten_rotors, measure_rotors
from humanoid_dynamics.simulation.contacts.friction import FrictionContacts
from humanoid_dynamics.simulation.contacts.thresholds import (
    FASTEST_APPROACH,
    LONG,
    NEAR,
    slowest_impact,
)
from humanoid_dynamics.simulation.steps.joint_forces import Drive, JointForces
from humanoid_dynamics.simulation.steps.outside import Outside
from humanoid_dynamics.simulation.steps.rows import (
    ALL_SLOW,
    DT,
    EXTRA,
    FASTEST,
    LOST,
    MISJUDGED,
    MOTOR,
    OFFSET,
    PUSH,
    Q_MIDDLE,
    SLOWEST,
    V_END,
    V_MIDDLE,
    W_CONTACTS,
    W_LOOPS,
    W_LOSSES,
    W_MOTORS,
    WAY,
    WITHIN,
    Z_END,
    Z_FREE,
    Z_START,
    V,
)
from humanoid_dynamics.simulation.steps.standing_axes import straighten
from humanoid_dynamics.simulation.steps.step_kernel import UNDONE
from humanoid_dynamics.simulation.steps.tables import Tables
from humanoid_dynamics.simulation.steps.terms import Terms
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only


class Engine:
    """The phases of a step.

    Attributes:
        terms: The equation of motion.
        contacts: Contacts and limits.
        joints: What joints do by themselves.
        tables: Tables of the step.
        outside: What acts on the trees from outside.
        tied: Whether a step that is taken in one go keeps joints together, as those that mimic others.
    """

    tied = False

    def __init__(
        self, terms: Terms, contacts: FrictionContacts, joints: JointForces, tables: Tables
    ) -> None:
        """Prepare.

        Args:
            terms: The equation of motion.
            contacts: Contacts and limits.
            joints: What joints do by themselves.
            tables: Tables of the step.
        """
        self.terms, self.contacts, self.joints, self.tables = terms, contacts, joints, tables
        self._q_M: Vector = tables.configurations[Q_MIDDLE]
        self._rows: list[Vector] = list(
            tables.dofs
        )  # to take a row out of a table costs as much as to add two
        self._forces: Matrix = tables.dofs[MOTOR : LOST + 1]
        self._works: Vector = tables.numbers[W_MOTORS : W_LOSSES + 1]
        self._numbers = cast(
            "memoryview[float]", tables.numbers.data
        )  # for those who read and write them one by one
        self._sizes: Vector = np.zeros(terms.model.nv)
        self.columns: tuple[
            int, ...
        ] = ()  # where velocities begin that are seen along standing axes in this step
        self._step = 0.0
        self._dt = self._half_dt = self._per_dt = read_only(
            0.0
        )  # as arrays, by which numpy multiplies twice as fast as by numbers
        ends, self._goes_on = (
            tables.dofs[V : V_END + 1 : V_END - V],
            tables.dofs[WAY : V_MIDDLE + 1],
        )
        self._ends: Matrix = ends  # velocities at the start and at the end; next, the way and the velocity to expect in the middle
        self._going = np.zeros((2, 2))
        self._energy, self._forgotten = terms.model.createData(), find_forgotten_rotors(terms.model)
        self._forgets = len(self._forgotten) > 0
        robot, drive = terms.constraints.robot, joints.drive
        own = robot.damping + robot.friction + (0.0 if drive is None else drive.kp + drive.kd)
        driven = None if drive is None else find_driven(terms.model, drive)
        self._driven: slice
        self._driven, at = (slice(0), slice(0)) if driven is None else driven
        self._held = (
            None if drive is None or driven is None else drive.q_ref[self._driven]
        )  # None where joints have more than one number
        self._driven_offset = self._rows[OFFSET][at]
        self.outside = Outside(terms.model, self._energy, contacts, own)

    def warm_up(self) -> None:
        """Compile, or load, what a step calls only now and then; the tables stay as they are."""
        self.terms.warm_up()
        self.contacts.warm_up()

    def set_step(self, dt: float, v: Vector, *, all_slow: bool) -> None:
        """Begin a step.

        Args:
            dt: Its length [s].
            v: (nv,) velocity at its start.
            all_slow: Whether even fast points stop dead.
        """
        self._rows[V][:] = v
        self.columns = ()
        numbers = self._numbers
        if self._step != dt or numbers[DT] != dt:
            numbers[DT], numbers[WITHIN], numbers[SLOWEST] = (
                dt,
                max(NEAR, dt * FASTEST_APPROACH),
                slowest_impact(dt),
            )
            self._step, self._dt, self._half_dt, self._per_dt = (
                dt,
                read_only(dt),
                read_only(0.5 * dt),
                read_only(-1.0 / dt),
            )
            self._going = read_only([[0.5 * dt, 0.5 * dt], [-0.5, 1.5]])
        numbers[ALL_SLOW] = all_slow

    def leap(self, dt: float, state: tuple[Vector, Vector], books: Books) -> int:  # noqa: ARG002
        """Take a whole step in one go, with its energy in the books, or leave all as it was.

        Args:
            dt: Its length [s].
            state: Configuration (nq,) and velocity (nv,) at its start.
            books: Energy since the start.

        Returns:
            ``UNDONE``, ``DONE``, or ``DEEP``: it was taken, something may have to be pushed out, and its energy is still to be measured.
        """
        return UNDONE

    def measure_ties(self, q: Vector) -> float:  # noqa: ARG002
        """Return the largest position error of the bilateral rows with which a step was taken in one go [m].

        Args:
            q: (nq,) configuration.
        """
        return 0.0

    def measure_energy(self, q: Vector, v: Vector) -> float:
        """Return kinetic and potential energy [J].

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
        """
        energy: float = pin.computeMechanicalEnergy(self.terms.model, self._energy, q, v)
        return energy + measure_rotors(v, self._forgotten) if self._forgets else energy

    def measure_motion(self, q: Vector, v: Vector) -> Vector:
        """Return (9,) momentum of all bodies, linear and angular about the origin of the world, and mass times centre of mass.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
        """
        return self.outside.measure(q, v)

    def bear(self, dt: float, nobodys: Vector, jump: Vector) -> Vector:
        """Return (6,) the impulse of a part of a step on trees that do not fly of all but gravity, about the origin of the world.

        Args:
            dt: Length of the part [s].
            nobodys: (nv,) generalized impulse that nobody gave.
            jump: (nv,) by how much velocities jumped after it.
        """
        (start, end), per_dt = self._ends, 1.0 / dt
        return dt * self.outside.bear(
            (self._q_M, 0.5 * (start + end), per_dt * (end - start + jump)), per_dt * nobodys
        )

    def evaluate(self, q_M: Vector) -> bool:
        """Compute poses, inertia, bias and the way of the drives; return whether the inertia is positive definite.

        Args:
            q_M: (nq,) configuration in the middle.
        """
        self._place(q_M)
        return self.weigh()

    def foresee(self) -> bool:
        """Find the velocity to expect in the middle, where no last step tells it, and evaluate once more; return as ``evaluate`` does."""
        terms, dofs = self.terms, self.tables.dofs
        z = dofs[Z_FREE]
        if terms.Q.shape[1]:
            z = z - terms.Q.dot(terms.Q.T.dot(z + dofs[Z_START]))
        dofs[V_MIDDLE] = 0.5 * (dofs[V] + terms.velocity(z))
        return self.evaluate_again()

    def evaluate_again(self) -> bool:
        """Evaluate for another velocity in the middle; return as ``evaluate`` does."""
        return self.evaluate(self._q_M)

    def weigh(self) -> bool:
        """Factor the inertia and find the velocity without contacts; return whether the inertia is positive definite."""
        terms, rows, dt = self.terms, self._rows, self._dt
        v, start = rows[V], rows[Z_START]
        force = rows[MOTOR] + rows[PUSH]
        force -= terms.h
        if self.joints.idle:
            terms.factor()
        else:
            force += self.joints.prepare(rows, dt)
            terms.factor(rows[EXTRA])
        if not terms.ok:
            return False
        terms.hold(self._q_M)
        start[:] = terms.momentum(v)
        np.add(start, dt * terms.whiten(force), rows[Z_FREE])
        return True

    def detect(self) -> float | None:
        """Find what is near, and return when the first point hits or the first joint its limit, None where none does [s]."""
        dt = float(self.tables.numbers[DT])
        self.contacts.look(self.terms, dt)
        return self.contacts.find_impact(self._q_M, dt)

    def is_nothing_near(self, q: Vector) -> bool:
        """Return whether no point is near a shape and no joint near its limit; poses have to be there.

        Args:
            q: (nq,) configuration.
        """
        dofs, dt = self.tables.dofs, float(self.tables.numbers[DT])
        self.contacts.look(self.terms, dt)
        limits = self.contacts.limits
        return self.contacts.near is None and (
            limits is None or limits.find_near(q, dofs[V], dt) is None
        )

    def find_forces(self) -> None:
        """Find the forces of contacts and bilateral rows, and the velocity at the end."""
        self.push_apart()
        self.arrive()

    def push_apart(self) -> None:
        """Find the whitened velocity at the end."""
        terms, dofs, numbers = self.terms, self.tables.dofs, self.tables.numbers
        z = dofs[Z_FREE]
        if terms.Q.shape[1]:
            z = z - terms.Q.dot(terms.Q.T.dot(z + dofs[Z_START]))
        dofs[Z_END] = self.contacts.solve(
            terms, self._q_M, dofs[V], z, float(numbers[DT]), all_slow=bool(numbers[ALL_SLOW])
        )

    def arrive(self) -> None:
        """Find velocity and way from the whitened velocity at the end, and what did how much work."""
        self.move()
        rows, z = self._rows, self._rows[Z_END]
        self.tables.numbers[W_CONTACTS] = 0.5 * (rows[Z_START] + z).dot(z - rows[Z_FREE])

    def move(self) -> None:
        """Find velocity and way from the whitened velocity at the end, and the work of all but contacts."""
        rows = self._rows
        self.find_way()
        if not self.joints.idle:
            self.joints.end(rows)
            self.joints.check(rows, self.tables.numbers)
        np.dot(self._forces, rows[WAY], self._works)

    def find_way(self) -> None:
        """Find velocity and way from the whitened velocity at the end."""
        self.find_end()
        self.judge_middle()
        self.go_on()

    def go_on(self) -> None:
        """Find the way of the step, and the velocity to expect in the middle of the next one."""
        np.dot(self._going, self._ends, self._goes_on)

    def find_end(self) -> None:
        """Find the velocity from the whitened velocity at the end."""
        rows = self._rows
        end = rows[V_END]
        end[:] = self.terms.velocity(rows[Z_END])
        sizes = np.abs(end, self._sizes)
        self._numbers[FASTEST] = sizes[sizes.argmax()] if len(end) else 0.0

    def judge_middle(self) -> float:
        """Return by which velocity the step is off, since its middle was not as expected [m/s, rad/s]."""
        rows, numbers = self._rows, self._numbers
        off = 0.5 * (rows[V] + rows[V_END]) - rows[V_MIDDLE]
        dt = numbers[DT]
        missed = (
            float(dt * numbers[FASTEST] * np.abs(off).max(initial=0.0)) / max(1.0, dt / LONG) ** 3
        )
        numbers[MISJUDGED] = missed
        return missed

    def share_work(self) -> None:
        """Tell the work of bilateral rows from that of contacts."""
        terms, dofs, numbers = self.terms, self.tables.dofs, self.tables.numbers
        numbers[W_LOOPS] = 0.0
        if terms.Q.shape[1]:
            held = terms.Q.T.dot(dofs[Z_END] - dofs[Z_FREE])
            numbers[W_LOOPS] = 0.5 * terms.Q.T.dot(dofs[Z_START] + dofs[Z_END]).dot(held)
            numbers[W_CONTACTS] -= numbers[W_LOOPS]

    def commit(self) -> None:
        """Remember what touched."""
        self.contacts.commit(float(self.tables.numbers[DT]))

    def _place(self, q_M: Vector) -> None:
        """Compute poses, inertia, bias and the way of the drives."""
        self._q_M = q_M
        terms = self.terms
        terms.place(q_M, self._rows[V_MIDDLE])
        if self.columns:
            straighten(self.columns, terms.M, self._rows[V_MIDDLE], terms.h)
        self.find_offset(q_M)

    def find_offset(self, q_M: Vector) -> None:
        """Write the way to the configuration that drives hold.

        Args:
            q_M: (nq,) configuration in the middle of the step.
        """
        drive = self.joints.drive
        if drive is None:
            return
        if self._held is None:
            self._rows[OFFSET][:] = pin.difference(self.terms.model, q_M, drive.q_ref)
        else:
            np.subtract(self._held, q_M[self._driven], self._driven_offset)


def find_driven(model: pin.Model, drive: Drive) -> tuple[slice, slice] | None:
    """Return where in configuration and velocity the joints stand that a drive moves, if they stand in a row and have one number each.

    Args:
        model: The model.
        drive: The drive.
    """
    driven = np.flatnonzero(drive.kp + drive.kd)
    if not len(driven):
        return None
    first, last = int(driven[0]), int(driven[-1]) + 1
    joints = [
        joint
        for joint in list(model.joints)[1:]
        if joint.idx_v < last and first < joint.idx_v + joint.nv
    ]
    if any(joint.nq != 1 or joint.nv != 1 for joint in joints):
        return None
    shift = int(joints[0].idx_q) - int(
        joints[0].idx_v
    )  # the same for all: each has one number in either
    return slice(first + shift, last + shift), slice(first, last)
