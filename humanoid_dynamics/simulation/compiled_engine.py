"""The phases of a step by compiled kernels, on the same tables as ``engine.py``."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.simulation.branch_terms import BranchTerms
from humanoid_dynamics.simulation.compiled import StepKernels
from humanoid_dynamics.simulation.compiled_contacts import CompiledContacts
from humanoid_dynamics.simulation.engine import Engine
from humanoid_dynamics.simulation.joint_forces import JointForces
from humanoid_dynamics.simulation.rows import DT, FORESEEN, HIT, PAPER, ROUNDS
from humanoid_dynamics.simulation.step_kernel import ARRIVED, DETECTED, NOTHING, REMEMBERED, SOLVED
from humanoid_dynamics.simulation.tables import Tables
from humanoid_dynamics.spatial.arrays import Vector


class CompiledEngine(Engine):
    """The phases of a step; what the law of the paper lets go of, it finds with arrays."""

    terms: BranchTerms
    contacts: CompiledContacts

    def __init__(self, terms: BranchTerms, contacts: CompiledContacts, joints: JointForces, tables: Tables, kernels: StepKernels) -> None:
        """Prepare.

        Args:
            terms: The equation of motion.
            contacts: Contacts and limits.
            joints: What joints do by themselves.
            tables: Tables of the step.
            kernels: Compiled functions.
        """
        super().__init__(terms, contacts, joints, tables)
        self._kernels = kernels
        self._by_kernel, self._came = True, NOTHING
        tables.numbers[PAPER] = contacts.law == "paper"
        JT = terms.data.J.T.reshape(-1, 6)
        self._JT = JT
        self._weighing = (terms.L, tables.dofs)
        self._views = (terms.poses, JT)
        self._detecting = (tables.points, tables.shapes, tables.dofs, tables.near, tables.memory)
        self._solving = (*self._detecting, tables.limits, tables.answer)
        self._tree = (tables.joints, tables.parents, tables.chosen)
        self._equation = (terms.lower, terms.h, terms.L, np.zeros((0, len(tables.parents))))

    def evaluate(self, q_M: Vector) -> bool:
        """Compute what a step needs, and go through all of it where nobody looks in between; return whether the inertia makes sense.

        Args:
            q_M: (nq,) configuration in the middle.
        """
        numbers = self.tables.numbers
        if not self.undisturbed or numbers[FORESEEN] > 0.0 or len(self.terms.constraints):
            return super().evaluate(q_M)
        self._place(q_M)
        numbers[HIT] = -1.0
        self._came = self._kernels.take_step((*self._equation, q_M), self._views, self._solving, self._tree, numbers)
        self.terms.ok = self._came > NOTHING
        return self.terms.ok

    def is_done(self) -> bool:
        """Return whether ``evaluate`` went through the whole step."""
        if self._came < REMEMBERED:
            return False
        self.contacts.start_step(self.terms, self._q_M)
        return True

    def weigh(self) -> bool:
        """Factor the inertia and find the velocity without contacts; return whether the inertia is positive definite."""
        terms, self._came = self.terms, NOTHING
        terms.ok = bool(self._kernels.evaluate(terms.lower, terms.h, terms.parents, self._weighing, self.tables.numbers))
        if terms.ok and len(terms.constraints):
            terms.hold(self._q_M)
        return terms.ok

    def detect(self) -> float | None:
        """Find what is near, and return when the first point hits, None where none does [s]."""
        self._by_kernel = True
        numbers = self.tables.numbers
        if self._came < DETECTED:
            self._kernels.detect(self._views, self._detecting, self._tree[:2], numbers)
        self.contacts.start_step(self.terms, self._q_M)
        hit = float(numbers[HIT])
        return None if hit < 0.0 else hit

    def push_apart(self) -> None:
        """Find the whitened velocity at the end."""
        numbers = self.tables.numbers
        if self._by_kernel:
            if self._came < SOLVED:
                factors = (self._JT, self.terms.L, self.terms.Q.T)
                self._kernels.solve_contacts(factors, self._solving, self._tree, self._q_M, numbers)
            self._by_kernel = bool(numbers[ROUNDS] >= 0.0)
        if not self._by_kernel:  # what holds would pull: the procedure of the paper lets go of it
            self.contacts.look(self.terms, float(numbers[DT]))
            super().push_apart()

    def arrive(self) -> None:
        """Find velocity and way from the whitened velocity at the end, and what did how much work."""
        if self._came < ARRIVED:
            self._kernels.arrive(self.terms.parents, self.terms.L, self.tables.dofs, self.tables.numbers)

    def commit(self) -> None:
        """Remember what touched."""
        if not self._by_kernel:
            super().commit()
        elif self._came < REMEMBERED:
            self._kernels.remember(self._solving, self.tables.chosen, self.tables.numbers)
