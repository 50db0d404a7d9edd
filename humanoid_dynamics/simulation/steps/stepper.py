# SPDX-License-Identifier: Apache-2.0
"""One step of a world: in one go, in pieces cut at impacts, in halves where it is too wild, or flown where it is smooth."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.simulation.balance import FREE, GAIN
from humanoid_dynamics.simulation.books import BRINGERS, ENTRIES
from humanoid_dynamics.simulation.contacts.slides import stops_within
from humanoid_dynamics.simulation.contacts.thresholds import WILD
from humanoid_dynamics.simulation.snapshot import Snapshot, go_back, take_snapshot
from humanoid_dynamics.simulation.steps.flying import FINE, TINY, Flying
from humanoid_dynamics.simulation.steps.kept_energy import take_back
from humanoid_dynamics.simulation.steps.rows import (
    BEFORE,
    DEPTH,
    FASTEST,
    LEAKED,
    MASS,
    MISSING,
    MOMENTUM,
    MOTOR,
    PULL,
    RESIDUAL,
    SAG,
    SPIN,
    STOPS,
    SUMS,
    TOTAL,
    TOUCHING,
    TURNED,
    UNGIVEN,
    V_MIDDLE,
    Z_END,
    Z_START,
)
from humanoid_dynamics.simulation.steps.step_kernel import DEEP, UNDONE
from humanoid_dynamics.spatial.arrays import Vector

MOST_IMPACTS = 8
SWING_PARTS, SPINNING, MOST_SWING_PARTS = (
    2,
    50.0,
    16,
)  # of a step in which only loops and gravity act, or one for so many rad/s
OFF = 3e-4  # share of the kinetic energy that a wild step, or one with an impact, may miss, and of the momentum that belongs to it
PRESSED = SUMS + ENTRIES.index(
    "contacts"
)  # their work, which is never more than that share: who touches brings no energy
CLOSED_OFF = (
    1e-5  # and a wild one with closed chains, of its energy: what closing them takes adds up
)
ALWAYS = ("impacts", "corrections")  # entries that are made without an audit too
HALVINGS = 5  # how often it may be halved
OPEN = 1e-11  # position error of ties above which a step closes them [m]
COARSE = 0.02  # way in a step above which it looks back at how deep it went [m, rad]
SUNK = 1e-3  # how deep it may go into the ground [m]


class Stepper(Flying):
    """Takes whole steps: in one go where nothing asks for attention, else piece by piece, cut wherever something hits."""

    owed = 0.0  # what rounding keeps back from the time [s]
    missed = 0.0  # energy that was missing before the last step [J]
    struck = False  # whether something hit in the last step: what it threw may move too fast for the next one

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
        self.worst = None
        self.length, self.missed = dt, float(self.books.account[BEFORE])
        self.engine.contacts.law.handed = ""
        self.parts_touched = None
        if (
            undisturbed
            and not (self.fresh or self.pushes or self.accurate or self.struck)
            and self._leap(dt)
        ):
            return 0
        self.worst, self.parts_touched = np.zeros(DEPTH + 1 - RESIDUAL), []
        return self._take(dt, HALVINGS)

    def _leap(self, dt: float) -> bool:
        """Take a step in one go; return False, and leave all as it was, where something asks for attention."""
        if self.closure > OPEN:
            return False
        came = self.engine.leap(dt, (self.q, self.v), self.books)
        if came == UNDONE:
            return False
        self.q, self.v = self._ends[0].copy(), self._ends[1].copy()
        self.span = dt
        if self.engine.tied:
            self.lam, self.closure = None, self.engine.measure_ties(self.q)
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

    def _close(self) -> float:
        """Measure the energy after a step, and say what momentum nobody gave; return the energy that the step made [J]."""
        before = float(self.books.account[BEFORE])
        if not self.audit:
            return 0.0
        self._numbers[MISSING] = missing = self.books.close_step(self.measure_energy())
        if self.weighs:
            self.books.report_motion(self._numbers)
        return missing - before

    def _take(self, dt: float, halvings: int) -> int:
        """Take a step; where it makes energy or momentum out of nothing, goes deep or runs away, in two halves instead."""
        before, entries, quality = (
            (self.q, self.v, self.t),
            self.books.account.copy(),
            self._numbers[RESIDUAL : SPIN + 1].copy(),
        )
        fastest, deepest = self._numbers[FASTEST], max(SUNK, float(self._numbers[DEPTH]))
        wild, coarse = fastest > WILD, fastest > min(WILD, COARSE / dt)
        kept, said = (
            take_snapshot(self) if halvings else None,
            (self.strayed, self.created, self.lifted, self.worst),
        )
        struck, self.struck = self.struck, False
        impacts, off = (
            self._watch(dt, wild=True, patient=kept is not None)
            if wild
            else self._try(dt, struck=struck)
        )
        if kept is not None and not (wild or self.reason):
            hard = impacts > 0 or struck or self.misjudged
            thrown = hard and bool(self._numbers[FASTEST] > WILD)
            if thrown or (hard and not self.audit):  # it is wild, or nobody measured what it made
                self._go_back(kept, said)
                impacts, off = self._watch(dt, wild=thrown, patient=True)
        if kept is not None and (
            off or (coarse and (self.reason or self._numbers[DEPTH] > deepest))
        ):
            self._go_back(kept, said)
            self.struck = struck
            impacts = sum(self._take(0.5 * dt, halvings - 1) for _ in range(2) if not self.reason)
            self._report_halves(entries)
        elif self.reason:
            self.q, self.v, self.t = before
            self._fall_silent(dt, entries, quality)
        self.struck, self.swing = impacts > 0, max(self.swing, self._kinetic)
        return impacts

    def _go_back(self, kept: Snapshot, said: tuple[float, float, float, Vector | None]) -> None:
        """Go back to the start of a step, and to what was said of impacts, pushes out and forces before it."""
        go_back(self, kept)
        self.strayed, self.created, self.lifted, self.worst = said

    def _report_halves(self, entries: Vector) -> None:
        """Say what momentum nobody gave in both halves of a step, by the entries there were before it."""
        if self.weighs and not self.reason:
            leaked = (self.books.account - entries)[LEAKED:TURNED]
            self._numbers[MOMENTUM], self._numbers[SPIN] = (
                np.linalg.norm(leaked[:3]),
                np.linalg.norm(leaked[3:]),
            )

    def _try(self, dt: float, *, struck: bool) -> tuple[int, bool]:
        """Take a step.

        Args:
            dt: Its length [s].
            struck: Whether something hit in the last one.

        Returns:
            The number of impacts, and whether it missed more than one with an impact, or after one, may, where somebody measures.
        """
        before = float(self.books.account[PRESSED])
        impacts = self._advance(dt)
        if self.reason:
            return impacts, False
        self._tick(dt)
        hard = impacts > 0 or struck or self.misjudged
        heavy = hard and self.audit and not self._keeps_momentum()
        created, pressed = self._close(), max(float(self.books.account[PRESSED]) - before, 0.0)
        well = (
            self._keeps_energy(created, OFF)
            and self._keeps_energy(pressed, OFF)
            and not self._makes_energy(created, dt)
        )
        return impacts, heavy or (hard and not well)

    def _watch(self, dt: float, *, wild: bool, patient: bool) -> tuple[int, bool]:
        """Take a step with an audit, and take back what energy a wild one made out of nothing.

        Args:
            dt: Its length [s].
            wild: Whether it is wild.
            patient: Whether it can be taken in halves.

        Returns:
            The number of impacts, and whether it missed so much that it is to be taken in halves.
        """
        books, audit, start = self.books, self.audit, self.measure_energy()
        before, self.audit = books.account.copy(), True
        books.account[SUMS : TOTAL + 1] = (
            0.0  # so that nothing is lost in rounding beside what came before
        )
        try:
            if not audit:
                self.begin_motion()
            impacts = self._advance(dt)
        finally:
            self.audit = audit
        if self.reason:
            return impacts, False
        self._tick(dt)
        energy, came, swings = (
            self.measure_energy(),
            books.account[SUMS : TOTAL + 1].copy(),
            wild and self.swings(),
        )
        books.account[SUMS : TOTAL + 1] += before[SUMS : TOTAL + 1]
        created, pressed = float(energy - start - came[-1]), max(float(came[PRESSED - SUMS]), 0.0)
        made, share = (
            not wild and self._makes_energy(created, dt),
            CLOSED_OFF if wild and self.is_closed() else OFF,
        )
        well = (
            self._keeps_energy(created, share)
            and self._keeps_energy(pressed, OFF)
            and self._keeps_momentum()
        )
        if patient and (made or not well):
            return impacts, True
        if wild:
            rise = max(created, float(energy - start - came[:BRINGERS].sum())) + (
                self.lent if swings else 0.0
            )
            taken = self._take_back(rise) if rise > FINE * self._kinetic else 0.0
            energy, self.lent = energy - taken, rise - taken if swings else 0.0
        if audit:
            self._numbers[MISSING] = books.close_step(energy)
        else:
            books.account[:], self._numbers[MISSING] = before, 0.0
            for name in ALWAYS:
                books.enter(name, float(came[ENTRIES.index(name)]))
        if self.weighs:
            self.close_motion(0.0)
            books.report_motion(self._numbers)
        return impacts, False

    @property
    def _kinetic(self) -> float:
        """Kinetic energy at the end of a part of a step [J]."""
        z = self._dofs[Z_END]
        return 0.5 * float(z.dot(z))

    @property
    def kinetic_before(self) -> float:
        """Kinetic energy at the start of the last part of the last step [J]."""
        z = self._dofs[Z_START]
        return 0.5 * float(z.dot(z))

    def _keeps_energy(self, created: float, share: float) -> bool:
        """Return whether energy from nowhere is no more than a share of the kinetic energy."""
        return abs(created) < share * self._kinetic + TINY

    def _makes_energy(self, created: float, dt: float) -> bool:
        """Return whether energy from nowhere is more than a step may make, where no drive brings and takes more than all moves with."""
        return (
            self.engine.joints.drive is None
            and created > (GAIN * self._kinetic + FREE / self.length) * dt
        )

    def _keeps_momentum(self) -> bool:
        """Return whether bodies got no more momentum from nowhere than rounding in time may make."""
        account = self.books.account
        most = OFF * np.sqrt(2.0 * account[MASS] * self._kinetic) + TINY
        return bool(np.linalg.norm(account[UNGIVEN : UNGIVEN + 3]) < most)

    def _take_back(self, rise: float) -> float:
        """Slow down by what nobody brought, without a change of momentum where nothing holds; return how much that took [J]."""
        free = not (self._numbers[TOUCHING] or self.mechanism.constraints.size)
        self.v, taken = take_back(
            self.robot, self._data, (self.q, self.v), rise, keep_momentum=free
        )
        return taken

    def _fall_silent(self, dt: float, entries: Vector, quality: Vector) -> None:
        """Leave no force of a step that failed behind, and say what the last good step said."""
        self.engine.contacts.rest(dt)
        self.worst = self.parts_touched = None
        self.strayed = self.created = self.lifted = 0.0
        self.span, self.lam, self.books.account[:] = (
            dt,
            np.zeros(self.mechanism.constraints.size),
            entries,
        )
        self._numbers[RESIDUAL : SPIN + 1] = quality
        self._dofs[[PULL, SAG]] = self._numbers[TOUCHING] = 0.0

    def _advance(self, dt: float) -> int:
        """Go through a step; return the number of impacts."""
        self.misjudged = False
        if self.accurate and self.is_smooth(dt):
            self.fly_step(dt)
            return 0
        parts = self._count_parts()
        impacts = 0
        for _ in range(parts):
            if not self.reason:
                impacts += self._go_and_slide(dt / parts)
        return impacts

    def _go_and_slide(self, dt: float) -> int:
        """Go through a part of a step, cut in two where a point that slides stands still; return the number of impacts."""
        stop = float(self._numbers[STOPS])
        if not stops_within(stop, dt):
            return self._go(dt)
        impacts = self._go(stop)
        if not self.reason:
            self._dofs[V_MIDDLE] = self.v
            impacts += self._go(dt - stop)
        return impacts

    def _count_parts(self) -> int:
        """Return in how many parts a step is taken: more than one where no energy may be lost, and the more the faster a top spins."""
        if self.pushes or not self.swings():
            return 1
        return int(
            min(max(SWING_PARTS, np.ceil(self._numbers[FASTEST] / SPINNING)), MOST_SWING_PARTS)
        )

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
