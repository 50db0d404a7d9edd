"""One step of a world: in one go, in pieces cut at impacts, in halves where it is too wild, or flown where it is smooth."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.simulation.books import BRINGERS, ENTRIES, Books
from humanoid_dynamics.simulation.contacts.thresholds import RUNAWAY, WILD
from humanoid_dynamics.simulation.snapshot import go_back, take_snapshot
from humanoid_dynamics.simulation.steps.fine_motion import fly
from humanoid_dynamics.simulation.steps.kept_energy import take_back
from humanoid_dynamics.simulation.steps.phases import Phases
from humanoid_dynamics.simulation.steps.rows import (
    BEFORE,
    DEPTH,
    FASTEST,
    IMPULSE,
    MASS,
    MISSING,
    MOTOR,
    PULL,
    Q_END,
    RESIDUAL,
    SAG,
    SPIN,
    STOPS,
    SUMS,
    TOTAL,
    TOUCHING,
    UNGIVEN,
    V_END,
    V_MIDDLE,
    Z_END,
)
from humanoid_dynamics.simulation.steps.standing_axes import TURNING
from humanoid_dynamics.simulation.steps.step_kernel import DEEP, UNDONE
from humanoid_dynamics.spatial.arrays import Vector

MOST_IMPACTS = 8
SWING_PARTS, SPINNING, MOST_SWING_PARTS = 2, 50.0, 16  # of a step in which only loops and gravity act, or one for so many rad/s
FINE = 1e-9  # energy a smooth step may miss, as a share of the largest kinetic energy so far
MOST_PARTS = 16
TINY = 1e-12
OFF = 3e-4  # share of the kinetic energy that such a step may miss, and of the momentum that belongs to it
SWING_OFF = 1e-5  # and one of a chain that swings, of its energy
ALWAYS = ("impacts", "corrections")  # entries that are made without an audit too
HALVINGS = 5  # how often it may be halved
COARSE = 0.02  # way in a step above which it looks back at how deep it went [m, rad]
SUNK = 1e-3  # how deep it may go into the ground [m]
BESIDE_END = 1e-3  # share of a step next to its ends in which it is not cut where a slide stops


class Stepper(Phases):
    """Takes whole steps: in one go where nothing asks for attention, else piece by piece, cut wherever something hits."""

    owed = 0.0  # what rounding keeps back from the time [s]
    missed = 0.0  # energy that was missing before the last step [J]

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
        self.strayed = self.created = self.lifted = 0.0
        self.missed = float(self.books.account[BEFORE])
        self.engine.contacts.law.handed = ""
        calm = undisturbed and not (self.fresh or self.pushes or self.accurate or self._stops_within(dt))
        if calm and self._turns_slowly() and self._leap(dt):
            return 0
        return self._take(dt, HALVINGS)

    def _turns_slowly(self) -> bool:
        """Return whether no free body has to be seen along standing axes."""
        return bool(self._numbers[FASTEST] <= TURNING) or not self.turns_fast()

    def _leap(self, dt: float) -> bool:
        """Take a step in one go; return False, and leave all as it was, where something asks for attention."""
        came = self.engine.leap(dt, (self.q, self.v), self.books)
        if came == UNDONE:
            return False
        self.q, self.v = self.engine.tables.configurations[Q_END].copy(), self._dofs[V_END].copy()
        self.span = dt
        self._tick(dt)
        if came == DEEP:
            self.give_part(dt)
            self.correct()
            self.close_motion(dt)
            self._close()
        return True

    def _tick(self, dt: float) -> None:
        """Let time go on, with a sum that makes up for its own rounding: a thousand milliseconds are a second."""
        way, t = dt + self.owed, self.t
        self.t = t + way
        self.owed = way - (self.t - t)

    def _close(self) -> None:
        """Measure the energy after a step, and say what momentum nobody gave."""
        if self.audit:
            self._numbers[MISSING] = self.books.close_step(self.measure_energy())
        if self.weighs:
            self.books.report_motion(self._numbers)

    def _take(self, dt: float, halvings: int) -> int:
        """Take a step; where something is so fast that it makes energy out of nothing, goes deep or runs away, in two halves instead."""
        before, entries, quality = (self.q, self.v, self.t), self.books.account.copy(), self._numbers[RESIDUAL : SPIN + 1].copy()
        fastest, deepest = self._numbers[FASTEST], max(SUNK, float(self._numbers[DEPTH]))
        wild, coarse = fastest > WILD, fastest > min(WILD, COARSE / dt)
        kept, law = take_snapshot(self) if coarse and halvings else None, (self.strayed, self.created, self.lifted)
        impacts, off = self._watch(dt, patient=kept is not None) if wild else (self._try(dt), False)
        if kept is not None and (off or self.reason or self._numbers[DEPTH] > deepest):
            go_back(self, kept)
            self.strayed, self.created, self.lifted = law
            return sum(self._take(0.5 * dt, halvings - 1) for _ in range(2) if not self.reason)
        if self.reason:
            self.q, self.v, self.t = before
            self._fall_silent(dt, entries, quality)
        return impacts

    def _try(self, dt: float) -> int:
        """Take a step, whatever comes of it; return the number of impacts."""
        impacts = self._advance(dt)
        if not self.reason:
            self._tick(dt)
            self._close()
        return impacts

    def _watch(self, dt: float, *, patient: bool) -> tuple[int, bool]:
        """Take a step, and take back what energy it made out of nothing.

        Args:
            dt: Its length [s].
            patient: Whether it can be taken in halves.

        Returns:
            The number of impacts, and whether it missed so much that it is to be taken in halves.
        """
        books, audit, start = self.books, self.audit, self.measure_energy()
        before, self.audit = books.account.copy(), True
        try:
            if not audit:
                self.begin_motion()
            impacts = self._advance(dt)
        finally:
            self.audit = audit
        if self.reason:
            return impacts, False
        self._tick(dt)
        energy, z, came = self.measure_energy(), self._dofs[Z_END], books.account - before
        created, kinetic = float(energy - start - came[TOTAL]), 0.5 * float(z.dot(z))
        swings = self.swings()
        if patient and not (abs(created) < (SWING_OFF if swings else OFF) * kinetic + TINY and _keeps_momentum(books, kinetic)):
            return impacts, True
        rise = max(created, float(energy - start - came[SUMS : SUMS + BRINGERS].sum()))
        rise += self.lent if swings else 0.0
        taken = self._take_back(rise) if rise > FINE * kinetic else 0.0
        energy, self.lent = energy - taken, rise - taken if swings else 0.0
        if audit:
            self._numbers[MISSING] = books.close_step(energy)
        else:
            books.account[:], self._numbers[MISSING] = before, 0.0
            for name in ALWAYS:
                books.enter(name, float(came[SUMS + ENTRIES.index(name)]))
        if self.weighs:
            self.close_motion(0.0)
            books.report_motion(self._numbers)
        return impacts, False

    def _take_back(self, rise: float) -> float:
        """Slow down by what nobody brought, without a change of momentum where nothing holds; return how much that took [J]."""
        free = not (self._numbers[TOUCHING] or self.mechanism.constraints.size)
        self.v, taken = take_back(self.robot, self._data, (self.q, self.v), rise, keep_momentum=free)
        return taken

    def _fall_silent(self, dt: float, entries: Vector, quality: Vector) -> None:
        """Leave no force of a step that failed behind, and say what the last good step said."""
        self.engine.contacts.rest(dt)
        self.strayed = self.created = self.lifted = 0.0
        self.span, self.lam, self.books.account[:] = dt, np.zeros_like(self.lam), entries
        self._numbers[RESIDUAL : SPIN + 1] = quality
        self._dofs[[PULL, SAG]] = self._numbers[TOUCHING] = 0.0

    def _advance(self, dt: float) -> int:
        """Go through a step; return the number of impacts."""
        if self.accurate and self._is_smooth(dt):
            self._fly(dt)
            return 0
        parts = self._count_parts()
        impacts = 0
        for _ in range(parts):
            if not self.reason:
                impacts += self._go_and_slide(dt / parts)
        return impacts

    def _stops_within(self, dt: float) -> bool:
        """Return whether a point that slides is to stand still within a part of a step, and not next to an end of it."""
        return bool(BESIDE_END * dt < self._numbers[STOPS] < (1.0 - BESIDE_END) * dt)

    def _go_and_slide(self, dt: float) -> int:
        """Go through a part of a step, cut in two where a point that slides stands still; return the number of impacts."""
        if not self._stops_within(dt):
            return self._go(dt)
        stop = float(self._numbers[STOPS])
        impacts = self._go(stop)
        if not self.reason:
            self._dofs[V_MIDDLE] = self.v
            impacts += self._go(dt - stop)
        return impacts

    def _count_parts(self) -> int:
        """Return in how many parts a step is taken: more than one where no energy may be lost, and the more the faster a top spins."""
        if self.pushes or not self.swings():
            return 1
        return int(min(max(SWING_PARTS, np.ceil(self._numbers[FASTEST] / SPINNING)), MOST_SWING_PARTS))

    def _go(self, dt: float) -> int:
        """Go through a part of a step, cut in two wherever something hits; return the number of impacts."""
        left, impacts = dt, 0
        for impacts in range(MOST_IMPACTS):
            hit = self.advance_smoothly(left, stop_at_impact=True)
            if hit is None or self.reason:
                return impacts
            if hit > 1e-9 * dt:
                self.advance_smoothly(hit)
                left -= hit
            self.let_collide()
            if self.reason or left <= 1e-9 * dt:
                return impacts + 1
        self.advance_smoothly(left, all_slow=True)
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
        flight = fly(engine.terms, self.q, self.v, dofs[MOTOR], dt, outside=engine.outside if self.weighs else None)
        if flight is None or not np.abs(flight.v).max(initial=0.0) < RUNAWAY:
            self.stop("the motion ran away", self.v if flight is None else flight.v)
            return 0.0
        self.q, self.v, self.lam = flight.q, flight.v, flight.lam
        self.books.give(flight.given)
        if self.mechanism.constraints.size:
            engine.terms.evaluate(self.q)
            self.reclose(engine.terms.momentum(self.v))
        return float(dofs[MOTOR].dot(flight.way))


def _keeps_momentum(books: Books, kinetic: float) -> bool:
    """Return whether bodies get no more momentum from nowhere than rounding in time may make.

    Args:
        books: Its books.
        kinetic: Kinetic energy [J].
    """
    most = OFF * np.sqrt(2.0 * books.account[MASS] * kinetic) + TINY
    return bool(np.linalg.norm(books.account[UNGIVEN : UNGIVEN + 3]) < most)
