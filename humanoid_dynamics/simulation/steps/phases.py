# SPDX-License-Identifier: Apache-2.0
"""What happens in a piece of a step: to the middle of it, all terms there, contact and constraint forces, and on with the mean velocity.

A hit ends a piece: velocities jump, and the next one begins.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin

from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.model.state import State
from humanoid_dynamics.simulation.contacts.thresholds import MISJUDGES, RUNAWAY, WILD
from humanoid_dynamics.simulation.push import Push, sum_pushes
from humanoid_dynamics.simulation.reach import CLOSURE
from humanoid_dynamics.simulation.runaway import describe_causes, describe_runaway, find_weakest
from humanoid_dynamics.simulation.setup import fastest_coordinate
from humanoid_dynamics.simulation.steps.accounted import AccountedTree
from humanoid_dynamics.simulation.steps.engine import Engine
from humanoid_dynamics.simulation.steps.kept_energy import keep_energy, take_back
from humanoid_dynamics.simulation.steps.rows import (
    DEPTH,
    EXTRA,
    FASTEST,
    FORESEEN,
    LOWEST,
    MISJUDGED,
    OVERLOADED,
    PUSH,
    RESIDUAL,
    V_END,
    V_MIDDLE,
    W_LOOPS,
    WAY,
    WITHIN,
    Z_END,
    Z_FREE,
    V,
)
from humanoid_dynamics.simulation.steps.standing_axes import TURNING, StandingAxes, list_free_bodies
from humanoid_dynamics.simulation.steps.tie_table import is_tie
from humanoid_dynamics.spatial.arrays import Vector

CLOSED, CLOSED_FINELY = 1e-11, 1e-13  # [m]
RECLOSE = 6  # looks; the third finds all closed but where rows nearly depend on one another
BESIDE = 1e-8  # [m, rad] next to where rows were taken, where they are the same
MOST_CUTS = 6


class Phases(AccountedTree):
    """State and work space of one tree of bodies, and the phases of a piece of a step.

    Attributes:
        t: Time at the start of the step [s].
        tau: (na,) motor torques of this step.
        pushes: Pushes that have not ended.
        accurate: Whether smooth steps are taken to fourth order.
        misjudged: Whether a part of the last step was found once more, since its middle was not as expected.
        fresh: Whether no last step tells the velocity in the middle of the next one.
        parts: In how many parts a smooth step is taken.
        swing: Largest kinetic energy so far [J].
        lent: Energy that fast steps of a chain that swings created [J]; what one of them loses the next may create.
        closure: Largest position error of the bilateral rows [m].
        apart: The row that a step left open; empty where it closed them all.
        reason: Why nothing moves any more; empty while it does.
        strayed: Largest velocity by which an impact of the last step missed its law [m/s].
        created: Largest energy that one made [J].
        lifted: Largest work by which a push out of the ground in it exceeded that of lifting all by the depth [J].
        worst: (5,) largest numbers from ``RESIDUAL`` to ``DEPTH`` of all parts of a step; None of one that was taken in one go.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        engine: Engine,
        state: State,
        run: Callable[[str], None],
        *,
        audit: bool = True,
        accurate: bool = False,
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
        engine.joints.enter(engine.tables.dofs)
        super().__init__(mechanism, engine, state, audit=audit)
        self.t, self.reason, self.closure, self.accurate = 0.0, "", 0.0, accurate
        self.strayed = self.created = self.lifted = 0.0
        self.misjudged = False
        self.worst: Vector | None = None
        self.tau = np.zeros(len(mechanism.actuated))
        self.pushes: list[Push] = []
        self._run, self.parts, self.swing, self.fresh = run, 1, 0.0, True
        self._free = list_free_bodies(self.robot)
        self._axes: StandingAxes | None = None
        self._tied = (-1, True)  # of which constraints it is known that all are ties
        self.forget()

    def forget(self) -> None:
        """Forget the last step, after a change of structure or of velocity."""
        self.engine.contacts.forget()
        self._dofs[V_MIDDLE], self.fresh, self.lent = self.v, True, 0.0
        self.lam = np.zeros(self.mechanism.constraints.size)
        self._numbers[W_LOOPS], self.closure, self.apart = 0.0, 0.0, ""
        self.begin_motion()

    def advance_smoothly(
        self, dt: float, *, stop_at_impact: bool = False, all_slow: bool = False
    ) -> float | None:
        """Go on without impacts: terms, detection, contact and constraint forces, motion, closing.

        Args:
            dt: How long [s].
            stop_at_impact: Whether to go nowhere where something would hit.
            all_slow: Whether even fast points stop dead.

        Returns:
            When something hits [s]; None where nothing does.
        """
        engine = self.engine
        engine.set_step(dt, self.v, all_slow=all_slow)
        guess = self._let_axes_stand(dt)
        if not self._evaluate(dt):
            return None
        self._run("after_terms")
        hit = engine.detect()
        self._run("after_detect")
        if hit is not None and stop_at_impact:
            if guess is not None:
                self._dofs[V_MIDDLE], self._axes = guess, None
            return hit
        if not self._find_forces(dt):
            return None
        self._run("after_forces")
        self._integrate(dt)
        self._run("after_integrate")
        self.correct()
        self.close_motion(dt)
        self._axes = None
        return None

    def turns_fast(self) -> bool:
        """Return whether a free body turns so fast that a step sees it along standing axes."""
        return any(np.abs(self.v[c + 3 : c + 6]).max() > TURNING for _, c in self._free)

    def _let_axes_stand(self, dt: float) -> Vector | None:
        """See bodies that turn fast along standing axes; return the velocity to expect in the middle as it was, None where none does."""
        self._axes = None
        if not self.turns_fast():
            return None
        axes, dofs = StandingAxes(self._free, self.q, self.v, dt), self._dofs
        guess: Vector = dofs[V_MIDDLE].copy()
        axes.see_from_middle(dofs[V])
        axes.see_from_middle(dofs[V_MIDDLE])
        self._axes, self.engine.columns = axes, axes.columns
        return guess

    def _evaluate(self, dt: float) -> bool:
        """Evaluate all terms in the middle of the step; return whether they make sense."""
        q_M = pin.integrate(self.robot.model, self.q, (0.5 * dt) * self.v)
        if self._axes is not None:
            self._axes.go_to_middle(q_M)
        if self.pushes:
            self.pushes = [push for push in self.pushes if not push.over(self.t)]
            self._dofs[PUSH] = sum_pushes(
                self.robot, self.engine.terms.data, self.pushes, q_M, (self.t, dt)
            )
        self._numbers[FORESEEN] = self.fresh
        well = self.engine.evaluate(q_M)
        if well and self.fresh:
            well = self.engine.foresee()
        if not well:
            self._stop_without_inertia(q_M)
        return not self.reason

    def _find_forces(self, dt: float) -> bool:
        """Find all forces, with drives cut to what their motors can give; return whether the velocity after them makes sense."""
        engine, numbers, dofs = self.engine, self._numbers, self._dofs
        engine.find_forces()
        if self.swings() and self._axes is None:  # once more in the middle of what was found
            dofs[V_MIDDLE] = 0.5 * (dofs[V] + dofs[V_END])
            q_M = pin.integrate(self.robot.model, self.q, (0.5 * dt) * dofs[V_MIDDLE])
            if not engine.evaluate(q_M):
                self._stop_without_inertia(q_M)
                return False
            engine.find_forces()
        elif self._axes is not None or numbers[FASTEST] > WILD or numbers[MISJUDGED] > MISJUDGES:
            # Once more with the velocity that was found.
            self.misjudged = True
            dofs[V_MIDDLE] = 0.5 * (dofs[V] + dofs[V_END])
            if not engine.evaluate_again():
                self._stop_without_inertia(self.q)
                return False
            engine.find_forces()
        for _ in range(MOST_CUTS):
            if not numbers[OVERLOADED]:
                break
            engine.weigh()
            engine.find_forces()
        engine.commit()
        self.note_worst()
        if numbers[FASTEST] < RUNAWAY:
            return True
        self.stop("the motion ran away", self._dofs[V_END])
        return False

    @property
    def certificate(self) -> list[float]:
        """Largest residual, complementarity, force outside its cone, rounds and depth of all parts of the last step."""
        worst = self.quality[: DEPTH + 1 - RESIDUAL] if self.worst is None else self.worst
        return [float(number) for number in worst]

    def note_worst(self) -> None:
        """Note what the part of a step that was just solved says of itself, where it is worse than those before it."""
        if self.worst is not None:
            self.worst = np.maximum(self.worst, self._numbers[RESIDUAL : DEPTH + 1])

    def swings(self) -> bool:
        """Return whether only inertia, gravity, torques and bilateral rows act, so that energy is to be kept as well as can be."""
        if not (self.engine.joints.idle and self.is_closed()):
            return False
        numbers = self._numbers
        return bool(numbers[LOWEST] >= numbers[WITHIN] and numbers[FASTEST] < RUNAWAY)

    def is_closed(self) -> bool:
        """Return whether bilateral rows other than ties hold."""
        return bool(self.mechanism.constraints.size) and not self.is_tied()

    def is_tied(self) -> bool:
        """Return whether all bilateral rows are ties, which are the same wherever the tree is."""
        constraints = self.mechanism.constraints
        if self._tied[0] != constraints.generation:
            self._tied = (
                constraints.generation,
                all(is_tie(self.robot, block) for block in constraints if not block.inert),
            )
        return self._tied[1]

    def _integrate(self, dt: float) -> None:
        """Move on with the mean velocity, and enter the work of all forces, which the kinetic energy feels exactly."""
        engine, dofs = self.engine, self._dofs
        if self.mechanism.constraints.size:
            engine.share_work()
            self.lam = self._find_loops(dofs[Z_END] - dofs[Z_FREE]) / dt
        if self.audit:
            self.books.enter_step(self._numbers)
        self.give_part(dt)
        self.note_touching()
        q = pin.integrate(self.robot.model, self.q, dofs[WAY])
        if self._axes is not None:
            self._axes.go_to_end(dofs[WAY], q)
            self._axes.see_from_end(dofs[V_END])
            self._axes.see_from_end(dofs[V_MIDDLE])
        self.q = q
        self.v, self.span, self.fresh = dofs[V_END].copy(), dt, False

    def correct(self) -> None:
        """Push out what is too deep, and close what came apart."""
        terms = self.engine.terms
        push = self.engine.contacts.push_out()
        if push is not None:
            lift = terms.velocity(push[0])
            work = float(
                pin.computeGeneralizedGravity(self.robot.model, self._data, self.q).dot(lift)
            )
            bound = (
                self.robot.mass * float(np.linalg.norm(self.robot.model.gravity.linear)) * push[1]
            )
            self.lifted = max(self.lifted, abs(work) - bound)
            self.books.enter("corrections", self._move_out(lift, work))
        if terms.Q.shape[1]:
            self.reclose(self._dofs[Z_END], keep=self.swings())

    def _move_out(self, lift: Vector, work: float) -> float:
        """Push out, and slow down by the kinetic energy that what moves has more elsewhere; return the work of it all [J]."""
        start = self.measure_energy()
        self.q = pin.integrate(self.robot.model, self.q, lift)
        change = self.measure_energy() - start
        if self.engine.terms.Q.shape[1] or change <= work:
            return change
        self.v, taken = take_back(
            self.robot, self._data, (self.q, self.v), change - work, keep_momentum=True
        )
        return change - taken

    def reclose(self, z: Vector, *, keep: bool = False) -> None:
        """Close positions and velocities of bilateral rows, with the inertia of the middle of the step.

        Args:
            z: (nv,) whitened velocity.
            keep: Whether this is to take no energy.
        """
        lifted, moved = 0.0, np.inf
        terms = self.engine.terms
        for left in reversed(range(RECLOSE)):
            terms.look(self.q)
            error, self.closure = terms.find_error()
            if moved > BESIDE:
                terms.hold_here()
            if not left or self.closure <= (CLOSED_FINELY if self.accurate else CLOSED):
                break
            way = terms.velocity(terms.closing(error))
            if keep:
                lifted += float(
                    pin.computeGeneralizedGravity(self.robot.model, self._data, self.q).dot(way)
                )
            self.q, moved = pin.integrate(self.robot.model, self.q, way), float(np.abs(way).max())
        self.apart = (
            self.mechanism.constraints.labels[int(np.argmax(np.abs(error)))]
            if self.closure > CLOSURE
            else ""
        )
        bound = terms.restrain(z)
        self.v = terms.velocity(keep_energy(z, bound, lifted) if keep else bound)
        if self.weighs:
            impulses = terms.multipliers(terms.Q.T.dot(bound - z))
            self.give_jump(
                (terms.momentum(self.v) - z), impulses, 0.0 * z, self.v - terms.velocity(z)
            )
        if self._axes is not None:
            self._axes.see_from_end(self.v)
        terms.release()

    def let_collide(self) -> None:
        """Let velocities jump where something hits, together with all that touches and all that holds."""
        terms, contacts = self.engine.terms, self.engine.contacts
        terms.evaluate(self.q)
        terms.hold(self.q)
        contacts.look(terms, 0.0)
        start = terms.momentum(self.v)
        before = terms.restrain(
            start
        )  # what connections that nearly depend on one another left open stops with the impact
        v = terms.velocity(before) if terms.Q.shape[1] else self.v
        z, change = contacts.solve_impact(terms, self.q, v, before)
        stopped = 0.5 * float((before + start).dot(before - start))
        self.note_worst()
        v_next = terms.velocity(z)
        if contacts.impact is not None:
            self.strayed = max(self.strayed, contacts.impact.miss(contacts.normals.dot(v_next)))
            self.created = max(self.created, 0.5 * float((z + before).dot(z - before)))
        self.give_impact(start, z, v_next)
        self.note_touching()
        terms.release()
        contacts.let_go()
        if np.abs(v_next).max(initial=0.0) < RUNAWAY:
            self.v = self._dofs[V_MIDDLE] = v_next
            self.fresh = True
            self.books.enter("impacts", change + stopped)
        else:
            self.stop("the motion ran away", v_next)
        self.close_motion(0.0)
        self._run("after_impact")

    def _stop_without_inertia(self, q: Vector) -> None:
        """Stop where the inertia cannot be factored, and say along which coordinate."""
        weakest = None
        if np.isfinite(q).all():
            weakest = find_weakest(
                pin.crba(self.robot.model, self.robot.data(), q) + np.diag(self._dofs[EXTRA])
            )
        self.stop("the inertia is not positive definite", self.v, weakest)

    def stop(self, what: str, v: Vector, index: int | None = None) -> None:
        """Say which body and which row, and take no more steps.

        Args:
            what: What went wrong.
            v: (nv,) velocity it went wrong with.
            index: The coordinate that is to blame; the fastest where left out.
        """
        names, labels = self.engine.contacts.table.names, self.mechanism.constraints.labels
        worst = fastest_coordinate(v) if index is None else index
        where = describe_runaway(self.robot, worst, self.touching, names, (labels, self.lam))
        where += describe_causes(
            self.robot,
            self.engine.tables.limits,
            [push for push in self.pushes if push.acts(self.t)],
        )
        self.reason = f"{what}: {where}, at t = {self.t:.6g} s"
