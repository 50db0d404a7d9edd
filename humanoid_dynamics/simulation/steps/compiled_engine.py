# SPDX-License-Identifier: Apache-2.0
"""The phases of a step by compiled kernels, on the same tables as ``engine.py``."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.simulation.books import Books
from humanoid_dynamics.simulation.contacts.compiled_contacts import CompiledContacts
from humanoid_dynamics.simulation.steps.bench import Bench
from humanoid_dynamics.simulation.steps.branch_terms import BranchTerms
from humanoid_dynamics.simulation.steps.compiled import StepKernels
from humanoid_dynamics.simulation.steps.engine import Engine
from humanoid_dynamics.simulation.steps.joint_forces import JointForces
from humanoid_dynamics.simulation.steps.motion_kernel import MOTIONS
from humanoid_dynamics.simulation.steps.rows import AUDIT, DT, HIT, PAPER, Q_HELD, Q_MIDDLE, ROUNDS
from humanoid_dynamics.simulation.steps.shelf import put_on_shelf
from humanoid_dynamics.simulation.steps.step_kernel import DEEP, UNDONE
from humanoid_dynamics.simulation.steps.tables import Tables
from humanoid_dynamics.simulation.steps.tie_table import TieTable
from humanoid_dynamics.spatial.arrays import Vector


class CompiledEngine(Engine):
    """The phases of a step; what the law of the paper lets go of, it finds with arrays."""

    terms: BranchTerms
    contacts: CompiledContacts

    def __init__(
        self,
        terms: BranchTerms,
        contacts: CompiledContacts,
        joints: JointForces,
        tables: Tables,
        kernels: StepKernels,
    ) -> None:
        """Prepare.

        Args:
            terms: The equation of motion.
            contacts: Contacts and limits.
            joints: What joints do by themselves.
            tables: Tables of the step.
            kernels: Compiled functions.
        """
        super().__init__(terms, contacts, joints, tables)
        self._kernels, self._by_kernel = kernels, True
        tables.numbers[PAPER] = contacts.law.name == "paper"
        self._weighing = (terms.L, tables.dofs)
        self._views = (terms.poses, terms.JT)
        self._detecting = (tables.points, tables.shapes, tables.dofs, tables.near, tables.memory)
        self._tree = (tables.joints, tables.parents)
        self._bench = build_bench(tables, terms)
        self._simple = terms.body is not None and self._drives_simply()
        self._tie()
        self._middle = tables.configurations[Q_MIDDLE]

    def _tie(self) -> None:
        """Look whether steps can be taken in one go with the bilateral rows there are, and put all on the shelf that these work on."""
        terms = self.terms
        self._ties = ties = TieTable(terms.constraints)
        self.tied = len(ties.rows) > 0
        self._leaps = self._simple and ties.alone and not (self.tied and self.outside.carries)
        held = (ties.rows, ties.scale, ties.R, ties.order)
        body, equation = (
            terms.body or (),
            (terms.lower, terms.h, terms.poses, self.tables.configurations),
        )
        self._shelved = (*self._bench._replace(Q=ties.basis), *body, *equation, *held)
        self._shelf = (
            put_on_shelf(self._shelved) if self._leaps else np.zeros((0, 3), dtype=np.intp)
        )

    def measure_ties(self, q: Vector) -> float:
        """Return the largest position error of the bilateral rows with which a step was taken in one go [m].

        Args:
            q: (nq,) configuration.
        """
        return self._ties.measure(q)

    def _drives_simply(self) -> bool:
        """Return whether drives, if there are any, only hold joints of one coordinate each; what they hold is noted."""
        drive = self.joints.drive
        if drive is None:
            return True
        self.tables.configurations[Q_HELD] = drive.q_ref
        alone = np.array(
            [joint.nv == 1 for joint in list(self.terms.model.joints)[1:] for _ in range(joint.nv)],
            dtype=bool,
        )
        return not (drive.kp + drive.kd)[~alone].any()

    def warm_up(self) -> None:
        """Compile, or load, what a step calls only now and then; the tables stay as they are."""
        super().warm_up()
        tables = (self.tables.memory, self.tables.limits, self.tables.numbers)
        kept = [table.copy() for table in tables]
        self._kernels.remember(tuple(self._bench))
        for table, values in zip(tables, kept, strict=True):
            table[:] = values

    def leap(self, dt: float, state: tuple[Vector, Vector], books: Books) -> int:
        """Take a whole step in one go, with its energy in the books, or leave all as it was.

        Args:
            dt: Its length [s].
            state: Configuration (nq,) and velocity (nv,) at its start.
            books: Energy since the start.

        Returns:
            ``UNDONE``, ``DONE``, or ``DEEP``: it was taken, something may have to be pushed out, and its energy is still to be measured.
        """
        terms = self.terms
        if self._ties.generation != terms.constraints.generation:
            self._tie()
        if not self._leaps:
            return UNDONE
        if self.outside.carries:  # noqa: SIM108
            came = self._leap_carried(dt, state, books)
        else:
            came = self._kernels.take_step(self._shelf, books.account, *state, dt)
        if came:
            terms.ok, self._q_M = True, self._middle
            self.contacts.start_step(terms, self._q_M)
            if self.tied:
                terms.hold_ties(self._ties)
        return came

    def _leap_carried(self, dt: float, state: tuple[Vector, Vector], books: Books) -> int:
        """Do what ``leap`` does where something carries trees, of which kernels cannot tell: the books are entered here."""
        numbers = self.tables.numbers
        audit, numbers[AUDIT] = float(numbers[AUDIT]), 0.0
        came: int = self._kernels.take_step(self._shelf, books.account, *state, dt)
        numbers[AUDIT] = audit
        if not (came and audit):
            return came
        books.enter_step(numbers)
        return DEEP

    def measure_energy(self, q: Vector, v: Vector) -> float:
        """Return kinetic and potential energy [J].

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
        """
        body = self.terms.body
        return (
            super().measure_energy(q, v)
            if body is None
            else float(self._kernels.measure_energy(body, q, v))
        )

    def measure_motion(self, q: Vector, v: Vector) -> Vector:
        """Return (9,) momentum of all bodies, linear and angular about the origin of the world, and mass times centre of mass.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
        """
        body, motion = self.terms.body, np.empty(MOTIONS)
        if body is None:
            return super().measure_motion(q, v)
        self._kernels.measure_motion(body, q, v, motion)
        return motion

    def weigh(self) -> bool:
        """Factor the inertia and find the velocity without contacts; return whether the inertia is positive definite."""
        terms = self.terms
        terms.ok = bool(
            self._kernels.evaluate(
                terms.lower, terms.h, terms.parents, self._weighing, self.tables.numbers
            )
        )
        if terms.ok and len(terms.constraints):
            terms.hold_placed(self._q_M)
        return terms.ok

    def detect(self) -> float | None:
        """Find what is near, and return when the first point hits or the first joint its limit, None where none does [s]."""
        self._by_kernel = True
        numbers = self.tables.numbers
        self._kernels.detect(self._views, self._detecting, self._tree, numbers)
        self.contacts.start_step(self.terms, self._q_M)
        hit, stop = float(numbers[HIT]), self.contacts.find_stop(self._q_M, float(numbers[DT]))
        return stop if hit < 0.0 else min(hit, hit if stop is None else stop)

    def push_apart(self) -> None:
        """Find the whitened velocity at the end."""
        numbers = self.tables.numbers
        if self._by_kernel:
            self._kernels.solve_contacts(tuple(self._bench._replace(Q=self.terms.Q.T)), self._q_M)
            self._by_kernel = bool(numbers[ROUNDS] >= 0.0)
        if not self._by_kernel:  # what holds would pull: the procedure of the paper lets go of it
            self.contacts.look(self.terms, float(numbers[DT]))
            super().push_apart()

    def arrive(self) -> None:
        """Find velocity and way from the whitened velocity at the end, and what did how much work."""
        self._kernels.arrive(
            self.terms.parents, self.terms.L, self.tables.dofs, self.tables.numbers
        )

    def commit(self) -> None:
        """Remember what touched."""
        if not self._by_kernel:
            super().commit()
        else:
            self._kernels.remember(tuple(self._bench))


def build_bench(tables: Tables, terms: BranchTerms) -> Bench:
    """Return all tables in one record.

    Args:
        tables: Tables of the step.
        terms: The equation of motion.
    """
    parts = {name: getattr(tables, name) for name in Bench._fields if hasattr(tables, name)}
    return Bench(JT=terms.JT, L=terms.L, Q=terms.Q.T, **parts)
