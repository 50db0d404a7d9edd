# SPDX-License-Identifier: Apache-2.0
"""Smooth steps of a world, flown to fourth order in as many parts as the books of energy ask for."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.simulation.contacts.thresholds import RUNAWAY
from humanoid_dynamics.simulation.steps.fine_motion import fly
from humanoid_dynamics.simulation.steps.phases import Phases
from humanoid_dynamics.simulation.steps.rows import IMPULSE, MOTOR, UNGIVEN, V_MIDDLE

FINE = 1e-9  # energy a smooth step may miss, as a share of the largest kinetic energy so far
MOST_PARTS = 16
TINY = 1e-12


class Flying(Phases):
    """Takes steps in which nothing but inertia, gravity, torques and bilateral rows can act."""

    def is_smooth(self, dt: float) -> bool:
        """Return whether nothing but inertia, gravity, torques and bilateral rows can act in a step."""
        engine = self.engine
        if self.pushes or not engine.joints.idle:
            return False
        engine.set_step(dt, self.v, all_slow=False)
        engine.terms.place(pin.integrate(self.robot.model, self.q, (0.5 * dt) * self.v))
        return engine.is_nothing_near(self.q)

    def fly_step(self, dt: float) -> None:
        """Take a smooth step to fourth order, in as many parts as the books of energy ask for."""
        start, before, work = (self.q, self.v), self.measure_energy(), 0.0
        self._run("after_terms")
        self._run("after_detect")
        while not self.reason:
            self.books.account[IMPULSE:UNGIVEN] = 0.0
            work = sum(self._fly_part(dt / self.parts) for _ in range(self.parts))
            kinetic = self.measure_kinetic()
            self.swing = max(self.swing, kinetic)
            error = abs(self.measure_energy() - before - work) / max(self.swing, TINY)
            if error <= FINE or self.parts >= MOST_PARTS:
                self.parts = max(1, self.parts // 2) if error < FINE / 64.0 else self.parts
                break
            self.parts *= 2
            self.q, self.v = start
        self._run("after_forces")
        self._dofs[V_MIDDLE], self.span = self.v, dt
        self.books.enter("motors", work)
        self.engine.contacts.rest(dt)
        self._run("after_integrate")
        self.close_motion(dt)

    def _fly_part(self, dt: float) -> float:
        """Take a part of a smooth step; return the work of the motors."""
        engine, dofs = self.engine, self._dofs
        flight = fly(
            engine.terms,
            self.q,
            self.v,
            dofs[MOTOR],
            dt,
            outside=engine.outside if self.weighs else None,
        )
        if flight is None or not np.abs(flight.v).max(initial=0.0) < RUNAWAY:
            self.stop("the motion ran away", self.v if flight is None else flight.v)
            return 0.0
        self.q, self.v, self.lam = flight.q, flight.v, flight.lam
        self.books.give(flight.given)
        if self.mechanism.constraints.size:
            engine.terms.evaluate(self.q)
            self.reclose(engine.terms.momentum(self.v))
        return float(dofs[MOTOR].dot(flight.way))
