# SPDX-License-Identifier: Apache-2.0
"""The phases of a step with arrays, and a whole step in one go as long as all that touches goes on to stand on level ground."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.simulation.books import Books
from humanoid_dynamics.simulation.contacts.calm_contacts import CalmContacts
from humanoid_dynamics.simulation.contacts.slides import stops_within
from humanoid_dynamics.simulation.contacts.standing import StandingPoints
from humanoid_dynamics.simulation.contacts.thresholds import MISJUDGES, QUIET, WILD
from humanoid_dynamics.simulation.steps.engine import Engine
from humanoid_dynamics.simulation.steps.joint_forces import JointForces
from humanoid_dynamics.simulation.steps.rows import (
    AUDIT,
    CUT,
    EXTRA,
    FASTEST,
    MASS,
    MISSING,
    MOTOR,
    OVERLOADED,
    Q_END,
    STOPS,
    V_END,
    V_MIDDLE,
    W_CONTACTS,
    WAY,
    Z_END,
    Z_FREE,
)
from humanoid_dynamics.simulation.steps.standing_axes import TURNING
from humanoid_dynamics.simulation.steps.step_kernel import DEEP, DONE, UNDONE
from humanoid_dynamics.simulation.steps.tables import Tables
from humanoid_dynamics.simulation.steps.terms import Terms
from humanoid_dynamics.spatial.arrays import Vector


class CalmEngine(Engine):
    """The phases of a step, and the calm step: bodies stand, nothing hits, slides, is let go of or is at its limit."""

    contacts: CalmContacts

    def __init__(
        self, terms: Terms, contacts: CalmContacts, joints: JointForces, tables: Tables
    ) -> None:
        """Prepare.

        Args:
            terms: The equation of motion.
            contacts: Contacts and limits.
            joints: What joints do by themselves.
            tables: Tables of the step.
        """
        super().__init__(terms, contacts, joints, tables)
        self._uncut = np.zeros(
            len(self._rows[CUT])
        ).tobytes()  # what no drive at its limit looks like, which is quickly compared

    def leap(self, dt: float, state: tuple[Vector, Vector], books: Books) -> int:
        """Take a calm step, with its energy in the books, or leave all as it was.

        Args:
            dt: Its length [s].
            state: Configuration (nq,) and velocity (nv,) at its start.
            books: Energy since the start.

        Returns:
            ``UNDONE``, ``DONE``, or ``DEEP``: it was taken, something may have to be pushed out, and its energy is still to be measured.
        """
        (q, v), rows, numbers, terms = state, self._rows, self._numbers, self.terms
        fast = numbers[FASTEST]
        if (
            fast > TURNING
            or len(terms.constraints)
            or stops_within(numbers[STOPS], dt)
            or rows[CUT].tobytes() != self._uncut
        ):
            return UNDONE
        self.set_step(dt, v, all_slow=False)
        q_M = pin.integrate(terms.model, q, self._half_dt * v)
        points = self.contacts.may_stand(q_M, v, dt)
        force = None if points is None else self._coast(q_M, v)
        if (
            points is None
            or force is None
            or not self.contacts.stand(points, terms, v, force, self._dt)
        ):
            return UNDONE
        points.write_end(rows[Z_END])
        if self.outside.carries:
            rows[Z_FREE][:] = points.free
        if not self._go_on():
            numbers[FASTEST] = fast
            return UNDONE
        numbers[W_CONTACTS] = points.measure_work()
        return self._finish(points, pin.integrate(terms.model, q, rows[WAY]), books, dt)

    def _coast(self, q_M: Vector, v: Vector) -> Vector | None:
        """Return the force (nv,) of all but contacts, and that which gave the momentum at the start; None without a factor of the inertia.

        M v, which the inverse dynamics find along with the bias, holds what implicit forces at the start would take back:
        U v + dt U^-T f = dt U^-T (M v / dt + g), where g is f without that which resists the velocity at the start.
        """
        terms, rows, joints = self.terms, self._rows, self.joints
        self._q_M = q_M
        terms.place(q_M)
        self.find_offset(q_M)
        bias = pin.rnea(terms.model, terms.data, q_M, rows[V_MIDDLE], self._per_dt * v)
        force: Vector = rows[MOTOR] - bias  # nobody pushes in a step that is taken in one go
        if joints.idle:
            terms.factor_here()
        else:
            force += joints.pull(rows, self._dt, free=True)
            terms.factor_here(rows[EXTRA])
        return force if terms.ok else None

    def _go_on(self) -> bool:
        """Do what ``move`` does, or leave the velocity to expect as it was.

        Returns:
            Whether nothing is wild, and no drive would have to give more than its motor can.
        """
        rows, numbers, joints = self._rows, self._numbers, self.joints
        self.find_end()
        fast = numbers[FASTEST]
        if not (fast <= QUIET or (fast <= WILD and self.judge_middle() <= MISJUDGES)):
            return False
        if not joints.idle:
            joints.end(rows)
            if joints.is_too_much(rows):
                return False
        self.go_on()
        numbers[OVERLOADED] = 0.0
        np.dot(self._forces, rows[WAY], self._works)
        return True

    def _finish(self, points: StandingPoints, q: Vector, books: Books, dt: float) -> int:
        """Remember what touched, and enter the step into the books; return what became of it."""
        numbers = self._numbers
        self.tables.configurations[Q_END] = q
        deep = self.contacts.remain(points, self.terms)
        if not numbers[AUDIT]:
            return DEEP if deep else DONE
        books.enter_step(numbers)
        if deep or self.outside.carries:
            return DEEP
        numbers[MISSING] = books.close_step(self.measure_energy(q, self._rows[V_END]))
        if books.account[MASS] > 0.0:
            books.close_whole_step(numbers, self.outside.list_motion(), points.sum_impulses(), dt)
        return DONE
