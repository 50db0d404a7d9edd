"""One step of a world: to the middle of itself, all terms there, contact and constraint forces, and on with the mean velocity."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin

from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.model.state import State
from humanoid_dynamics.simulation.books import Books
from humanoid_dynamics.simulation.contacts.contact_rows import Touching
from humanoid_dynamics.simulation.contacts.thresholds import RUNAWAY, WILD
from humanoid_dynamics.simulation.push import Push, sum_pushes
from humanoid_dynamics.simulation.runaway import describe_runaway
from humanoid_dynamics.simulation.snapshot import go_back, take_snapshot
from humanoid_dynamics.simulation.steps.engine import Engine
from humanoid_dynamics.simulation.steps.fine_motion import fly, keep_energy
from humanoid_dynamics.simulation.steps.rows import (
    AUDIT,
    FASTEST,
    FORESEEN,
    LOWEST,
    MISSING,
    MOTOR,
    OVERLOADED,
    PUSH,
    Q_END,
    V_END,
    V_MIDDLE,
    WAY,
    WITHIN,
    Z_END,
    Z_FREE,
    V,
)
from humanoid_dynamics.simulation.steps.step_kernel import DEEP, UNDONE
from humanoid_dynamics.spatial.arrays import Vector

CLOSED, CLOSED_FINELY = 1e-11, 1e-13  # [m]
RECLOSE = 3
MOST_IMPACTS = 8
SWING_PARTS = 2  # of a step in which only loops and gravity act, and no energy may be lost
MOST_CUTS = 6
FINE = 1e-9  # energy a smooth step may miss, as a share of the largest kinetic energy so far
MOST_PARTS = 16
TINY = 1e-12
OFF = 2e-3  # share of the kinetic energy that such a step may miss
HALVINGS = 5  # how often it may be halved


class Stepper:
    """State and work space of one tree of bodies.

    Attributes:
        mechanism: The tree and its bilateral constraints.
        robot: Its robot.
        engine: What computes the phases of a step.
        q: (nq,) configuration.
        v: (nv,) velocity.
        t: Time at the start of the step [s].
        tau: (na,) motor torques of this step.
        pushes: Pushes that have not ended.
        books: Energy since the start.
        audit: Whether the books are kept.
        accurate: Whether smooth steps are taken to fourth order.
        fresh: Whether no last step tells the velocity in the middle of the next one.
        parts: In how many parts a smooth step is taken.
        swing: Largest kinetic energy so far [J].
        span: Length of the last part of the last step [s].
        lam: (k,) mean force of each bilateral row in it.
        closure: Largest position error of the bilateral rows [m].
        reason: Why nothing moves any more; empty while it does.
    """

    def __init__(
        self, mechanism: Mechanism, engine: Engine, state: State, run: Callable[[str], None], *, audit: bool = True, accurate: bool = False
    ) -> None:
        """Prepare.

        Args:
            mechanism: The tree and its bilateral constraints.
            engine: What computes the phases of a step.
            state: Where it is.
            run: Called with the name of each hook when its time has come.
            audit: Whether the books are kept.
            accurate: Whether smooth steps are taken to fourth order.
        """
        robot = mechanism.robot
        self.mechanism, self.robot, self.engine = mechanism, robot, engine
        self.q, self.v = np.array(state.q), np.array(state.v)
        self.t, self.reason, self.span, self.closure, self.audit, self.accurate = 0.0, "", 1.0, 0.0, audit, accurate
        self.tau = np.zeros(len(mechanism.actuated))
        self.pushes: list[Push] = []
        self.lam: Vector = np.zeros(mechanism.constraints.size)
        self._run, self.parts, self.swing, self.fresh = run, 1, 0.0, True
        self._data = robot.data()
        self._dofs, self._numbers = engine.tables.dofs, engine.tables.numbers
        self._numbers[AUDIT] = audit
        engine.joints.enter(self._dofs)
        self.forget()
        self.books = Books(self.measure_energy())

    @property
    def touching(self) -> Touching:
        """What touched in the last part of the last step."""
        return self.engine.contacts.touching

    def measure_energy(self) -> float:
        """Return the energy now [J]."""
        return self.engine.measure_energy(self.q, self.v)

    def forget(self) -> None:
        """Forget the last step, after a change of structure or of velocity."""
        self.engine.contacts.forget()
        self._dofs[V_MIDDLE], self.fresh = self.v, True

    def step(self, dt: float, tau: Vector, *, undisturbed: bool) -> int:
        """Take a step, and go back to its start where the motion runs away.

        Args:
            dt: Its length [s].
            tau: (na,) motor torques.
            undisturbed: Whether nobody looks in between its phases.

        Returns:
            The number of impacts in it.
        """
        if tau is not self.tau or tau.flags.writeable:
            self.tau = self._dofs[MOTOR, self.mechanism.actuated] = tau
        if undisturbed and not (self.fresh or self.pushes or self.accurate) and self._leap(dt):
            return 0
        return self._take(dt, HALVINGS)

    def _leap(self, dt: float) -> bool:
        """Take a step in one go; return False, and leave all as it was, where something asks for attention."""
        came = self.engine.leap(dt, (self.q, self.v), self.books)
        if came == UNDONE:
            return False
        self.q, self.v = self.engine.tables.configurations[Q_END].copy(), self._dofs[V_END].copy()
        self.span = dt
        self.t += dt
        if came == DEEP:
            self._correct()
            self._close()
        return True

    def _close(self) -> None:
        """Measure the energy after a step."""
        if self.audit:
            self.books.close_step(self.measure_energy())
            self._numbers[MISSING] = self.books.missing

    def _take(self, dt: float, halvings: int) -> int:
        """Take a step; where something is so fast that it makes energy out of nothing or runs away, in two halves of it instead."""
        before, missing = (self.q, self.v, self.t), self.books.missing
        wild = self.audit and halvings > 0 and self._numbers[FASTEST] > WILD
        kept = take_snapshot(self) if wild else None
        impacts = self._advance(dt)
        if not self.reason:
            self.t = before[2] + dt
            self._close()
        if kept is not None and (self.reason or self._is_off(self.books.missing - missing)):
            go_back(self, kept)
            return sum(self._take(0.5 * dt, halvings - 1) for _ in range(2) if not self.reason)
        if self.reason:
            self.q, self.v, self.t = before
        return impacts

    def _is_off(self, change: float) -> bool:
        """Return whether a step missed more energy than it should.

        Args:
            change: What it added to the energy that is missing [J].
        """
        z = self._dofs[Z_END]
        return not abs(change) < OFF * 0.5 * float(z.dot(z)) + TINY

    def _advance(self, dt: float) -> int:
        """Go through a step; return the number of impacts."""
        if self.accurate and self._is_smooth(dt):
            self._fly(dt)
            return 0
        parts = SWING_PARTS if self._swings() and not self.pushes else 1
        impacts = 0
        for _ in range(parts):
            if not self.reason:
                impacts += self._go(dt / parts)
        return impacts

    def _go(self, dt: float) -> int:
        """Go through a part of a step, cut in two wherever something hits; return the number of impacts."""
        left, impacts = dt, 0
        for impacts in range(MOST_IMPACTS):
            hit = self._smooth(left, stop_at_impact=True)
            if hit is None or self.reason:
                return impacts
            if hit > 1e-9 * dt:
                self._smooth(hit)
                left -= hit
            self._impact()
            if self.reason or left <= 1e-9 * dt:
                return impacts + 1
        self._smooth(left, all_slow=True)
        return impacts + 1

    def _is_smooth(self, dt: float) -> bool:
        """Return whether nothing but inertia, gravity, torques and bilateral rows can act in a step."""
        engine = self.engine
        if self.pushes or not engine.joints.idle:
            return False
        engine.set_step(dt, self.v, all_slow=False)
        engine.terms.place(pin.integrate(self.robot.model, self.q, (0.5 * dt) * self.v))
        return engine.is_nothing_near(self.q)

    def _fly(self, dt: float) -> None:
        """Take a smooth step to fourth order, in as many parts as the books of energy ask for."""
        start, before, work = (self.q, self.v), self.measure_energy(), 0.0
        self._run("after_terms")
        self._run("after_detect")
        while not self.reason:
            work = sum(self._fly_part(dt / self.parts) for _ in range(self.parts))
            kinetic = float(pin.computeKineticEnergy(self.robot.model, self._data, self.q, self.v))
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

    def _fly_part(self, dt: float) -> float:
        """Take a part of a smooth step; return the work of the motors."""
        engine, dofs = self.engine, self._dofs
        flight = fly(engine.terms, self.q, self.v, dofs[MOTOR], dt)
        if flight is None or not np.abs(flight.v).max(initial=0.0) < RUNAWAY:
            self._stop("the motion ran away", self.v if flight is None else flight.v)
            return 0.0
        self.q, self.v, self.lam = flight.q, flight.v, flight.lam
        if self.mechanism.constraints.size:
            engine.terms.evaluate(self.q)
            self._reclose(engine.terms.momentum(self.v))
        return float(dofs[MOTOR].dot(flight.way))

    def _smooth(self, dt: float, *, stop_at_impact: bool = False, all_slow: bool = False) -> float | None:
        """Take a step without impacts; with ``stop_at_impact`` only tell when one would come, if one comes."""
        engine = self.engine
        engine.set_step(dt, self.v, all_slow=all_slow)
        if not self._evaluate(dt):
            return None
        self._run("after_terms")
        hit = engine.detect()
        self._run("after_detect")
        if hit is not None and stop_at_impact:
            return hit
        if not self._find_forces(dt):
            return None
        self._run("after_forces")
        self._integrate(dt)
        self._run("after_integrate")
        self._correct()
        return None

    def _evaluate(self, dt: float) -> bool:
        """Evaluate all terms in the middle of the step; return whether they make sense."""
        q_M = pin.integrate(self.robot.model, self.q, (0.5 * dt) * self.v)
        if self.pushes:
            self.pushes = [push for push in self.pushes if not push.over(self.t)]
            self._dofs[PUSH] = sum_pushes(self.robot, self.engine.terms.data, self.pushes, q_M, (self.t, dt))
        self._numbers[FORESEEN] = self.fresh
        well = self.engine.evaluate(q_M)
        if well and self.fresh:
            well = self.engine.foresee()
        if not well:
            self._stop("the inertia is not positive definite", self.v)
        return not self.reason

    def _swings(self) -> bool:
        """Return whether only inertia, gravity, torques and bilateral rows act, so that energy is to be kept as well as can be."""
        if not (self.engine.joints.idle and self.mechanism.constraints.size):
            return False
        numbers = self._numbers
        return bool(numbers[LOWEST] >= numbers[WITHIN] and numbers[FASTEST] < RUNAWAY)

    def _find_forces(self, dt: float) -> bool:
        """Find all forces, with drives cut to what their motors can give; return whether the velocity after them makes sense."""
        engine, numbers, dofs = self.engine, self._numbers, self._dofs
        engine.find_forces()
        if self._swings():  # once more in the middle of what was found
            dofs[V_MIDDLE] = 0.5 * (dofs[V] + dofs[V_END])
            if not engine.evaluate(pin.integrate(self.robot.model, self.q, (0.5 * dt) * dofs[V_MIDDLE])):
                self._stop("the inertia is not positive definite", self.v)
                return False
            engine.find_forces()
        for _ in range(MOST_CUTS):
            if not numbers[OVERLOADED]:
                break
            engine.weigh()
            engine.find_forces()
        engine.commit()
        if numbers[FASTEST] < RUNAWAY:
            return True
        self._stop("the motion ran away", self._dofs[V_END])
        return False

    def _integrate(self, dt: float) -> None:
        """Move on with the mean velocity, and enter the work of all forces, which the kinetic energy feels exactly."""
        engine, dofs = self.engine, self._dofs
        if self.mechanism.constraints.size:
            engine.share_work()
            self.lam = engine.terms.multipliers(engine.terms.Q.T.dot(dofs[Z_END] - dofs[Z_FREE])) / dt
        if self.audit:
            self.books.enter_step(self._numbers)
        self.q = pin.integrate(self.robot.model, self.q, dofs[WAY])
        self.v, self.span, self.fresh = dofs[V_END].copy(), dt, False

    def _correct(self) -> None:
        """Push out what is too deep, and close what came apart."""
        terms = self.engine.terms
        push = self.engine.contacts.push_out()
        if push is not None:
            lift = terms.velocity(push)
            self.books.enter("corrections", float(pin.computeGeneralizedGravity(self.robot.model, self._data, self.q).dot(lift)))
            self.q = pin.integrate(self.robot.model, self.q, lift)
        if terms.Q.shape[1]:
            self._reclose(self._dofs[Z_END], keep=self._swings())

    def _reclose(self, z: Vector, *, keep: bool = False) -> None:
        """Close positions and velocities of bilateral rows, with the inertia of the middle of the step; take no energy where asked."""
        lifted = 0.0
        terms, constraints = self.engine.terms, self.mechanism.constraints
        for _ in range(RECLOSE):
            terms.hold(self.q)
            error = constraints.error(terms.kinematics)
            self.closure = float(np.abs(constraints.scale * error).max(initial=0.0))
            if self.closure <= (CLOSED_FINELY if self.accurate else CLOSED):
                break
            way = terms.velocity(terms.closing(error))
            if keep:
                lifted += float(pin.computeGeneralizedGravity(self.robot.model, self._data, self.q).dot(way))
            self.q = pin.integrate(self.robot.model, self.q, way)
        bound = terms.restrain(z)
        self.v = terms.velocity(keep_energy(z, bound, lifted) if keep else bound)
        terms.release()

    def _impact(self) -> None:
        """Let velocities jump where something hits, together with all that touches and all that holds."""
        terms, contacts = self.engine.terms, self.engine.contacts
        terms.evaluate(self.q)
        terms.hold(self.q)
        contacts.look(terms, 0.0)
        z, change = contacts.solve_impact(terms, self.q, self.v, terms.momentum(self.v))
        v_next = terms.velocity(z)
        terms.release()
        if np.abs(v_next).max(initial=0.0) < RUNAWAY:
            self.v = self._dofs[V_MIDDLE] = v_next
            self.fresh = True
            self.books.enter("impacts", change)
        else:
            self._stop("the motion ran away", v_next)
        self._run("after_impact")

    def _stop(self, what: str, v: Vector) -> None:
        """Say which body and which row, and take no more steps."""
        names, labels = self.engine.contacts.table.names, self.mechanism.constraints.labels
        where = describe_runaway(self.robot, v, self.touching, names, (labels, self.lam))
        self.reason = f"{what}: {where}, at t = {self.t:.6g} s"
