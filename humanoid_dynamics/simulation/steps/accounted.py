# SPDX-License-Identifier: Apache-2.0
"""Where a tree of bodies is, and the books of energy and momentum of what moves it."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.constraints.loop import LoopBlock
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.model.state import State
from humanoid_dynamics.simulation.books import Books
from humanoid_dynamics.simulation.contacts.contact_rows import Touching, merge_touching
from humanoid_dynamics.simulation.steps.engine import Engine
from humanoid_dynamics.simulation.steps.motion_kernel import MOTIONS
from humanoid_dynamics.simulation.steps.rows import (
    AUDIT,
    MASS,
    PUSH,
    Q_END,
    RESIDUAL,
    SPIN,
    V_END,
    Z_END,
    Z_FREE,
)
from humanoid_dynamics.spatial.arrays import Indices, Vector


class AccountedTree:
    """State of one tree of bodies, and what its books are told.

    Attributes:
        mechanism: The tree and its bilateral constraints.
        robot: Its robot.
        engine: What computes the phases of a step.
        q: (nq,) configuration.
        v: (nv,) velocity.
        books: Energy and momentum since the start.
        audit: Whether the books are kept.
        quality: What the last part of the last step says of itself, from ``RESIDUAL`` to ``SPIN``.
        span: Length of the last part of the last step [s].
        length: Length of the last step, or of that which is being taken [s].
        parts_touched: What touched in each part of the last step and in its impacts; None after a step that was taken in one go.
    """

    def __init__(self, mechanism: Mechanism, engine: Engine, state: State, *, audit: bool) -> None:
        """Open the books.

        Args:
            mechanism: The tree and its bilateral constraints.
            engine: What computes the phases of a step.
            state: Where it is.
            audit: Whether the books are kept.
        """
        self.mechanism, self.robot, self.engine, self.audit = (
            mechanism,
            mechanism.robot,
            engine,
            audit,
        )
        self.q, self.v = np.array(state.q), np.array(state.v)
        self._lam: Vector | None = np.zeros(mechanism.constraints.size)
        self.span = self.length = 1.0
        self.parts_touched: list[Touching] | None = None
        self._giving: tuple[int, Indices] = (
            -1,
            np.zeros(0, dtype=np.intp),
        )  # of which constraints it is known which rows give momentum
        self._data = self.robot.data()
        self._dofs, self._numbers = engine.tables.dofs, engine.tables.numbers
        self._ends = (
            engine.tables.configurations[Q_END],
            self._dofs[V_END],
        )  # of a step that is taken in one go
        self.quality = self._numbers[RESIDUAL : SPIN + 1]
        self._numbers[AUDIT] = audit
        self._borne: tuple[Vector, Vector] | None = (
            None  # of a part of a step: what nobody gave, and how velocities jumped after it
        )
        self.books = Books(self.measure_energy())

    @property
    def lam(self) -> Vector:
        """(k,) mean force of each bilateral row in the last part of the last step; found when it is asked for after a step in one go."""
        if self._lam is None:
            self._lam = self._find_loops(self._dofs[Z_END] - self._dofs[Z_FREE]) / self.span
        return self._lam

    @lam.setter
    def lam(self, lam: Vector | None) -> None:
        self._lam = lam

    @property
    def touching(self) -> Touching:
        """What touched in the last part of the last step."""
        return self.engine.contacts.touching

    @property
    def whole_touching(self) -> Touching:
        """What touched in the last step: the impulses of all its parts and impacts."""
        return self.touching if self.parts_touched is None else merge_touching(self.parts_touched)

    def note_touching(self) -> None:
        """Keep what touched in a part of a step, or in an impact, for the forces of the whole step."""
        touching = self.touching
        if self.parts_touched is not None and len(touching.point):
            self.parts_touched.append(
                touching._replace(place=touching.place.copy(), impulse=touching.impulse.copy())
            )

    def measure_energy(self) -> float:
        """Return the energy now [J]."""
        return self.engine.measure_energy(self.q, self.v)

    def measure_kinetic(self) -> float:
        """Return the kinetic energy now, but for rotors about tilted axes [J]."""
        return float(pin.computeKineticEnergy(self.robot.model, self._data, self.q, self.v))

    @property
    def weighs(self) -> bool:
        """Whether the momentum of all bodies is audited."""
        return bool(self.audit and self.books.account[MASS] > 0.0)

    def begin_motion(self) -> None:
        """Let the books take the momentum as it is."""
        self._borne = None
        mass = self.engine.outside.mass if self.audit else 0.0
        motion = self.engine.measure_motion(self.q, self.v) if mass else np.zeros(MOTIONS)
        self.books.begin_motion(mass, self.robot.model.gravity.linear, motion)

    def close_motion(self, dt: float) -> None:
        """Enter the momentum after a part of a step.

        Args:
            dt: Length of the part [s].
        """
        if self._borne is not None:
            self.books.give(self.engine.bear(dt, *self._borne))
            self._borne = None
        if self.weighs:
            self.books.close_motion(self.engine.measure_motion(self.q, self.v).tolist(), dt)

    def give_part(self, dt: float) -> None:
        """Enter the impulses of a part of a step.

        Args:
            dt: Its length [s].
        """
        if not self.weighs:
            return
        engine, dofs = self.engine, self._dofs
        impulses = dt * self.lam
        loops = impulses.dot(engine.terms.rows) if len(self.lam) else np.zeros(len(self.v))
        self.books.give(engine.outside.sum_contacts(self.touching))
        self._give(dt * dofs[PUSH] + self.find_given(impulses))
        if engine.outside.carries:
            nobodys = (
                engine.terms.force(dofs[Z_END] - dofs[Z_FREE]) - self._spread_contacts() - loops
            )
            self._borne = nobodys, np.zeros(len(self.v))

    def give_impact(self, before: Vector, after: Vector, v_after: Vector) -> None:
        """Enter the impulses of an impact.

        Args:
            before: (nv,) whitened velocity.
            after: (nv,) the same after it.
            v_after: (nv,) the velocity of that.
        """
        if not self.weighs:
            return
        impulses = (
            self._find_loops(after - before) if self.mechanism.constraints.size else np.zeros(0)
        )
        self.books.give(self.engine.outside.sum_contacts(self.touching))
        self.give_jump(after - before, impulses, self._spread_contacts(), v_after - self.v)

    def give_jump(self, change: Vector, impulses: Vector, contacts: Vector, jump: Vector) -> None:
        """Enter the impulses of loops, and of what carries trees, in a jump of velocities.

        Args:
            change: (nv,) of the whitened velocity.
            impulses: (k,) impulses of the bilateral rows.
            contacts: (nv,) that of contacts and limits.
            jump: (nv,) of the velocity.
        """
        self._give(self.find_given(impulses))
        outside = self.engine.outside
        if not outside.carries:
            return
        loops = impulses.dot(self.engine.terms.rows) if len(impulses) else np.zeros(len(self.v))
        nobodys = self.engine.terms.force(change) - loops - contacts
        if self._borne is None:
            self.books.give(outside.bear((self.q, self.v, jump), nobodys, jump=True))
        else:
            self._borne = self._borne[0] + nobodys, self._borne[1] + jump

    def note_impact(self, v: Vector, impulses: Vector) -> None:
        """Enter what momentum a change of structure made out of nothing; the next step reports it.

        Args:
            v: (nv,) velocity before it.
            impulses: (k,) impulses of the bilateral rows, as the mechanism has them now.
        """
        engine, mechanism, giving = self.engine, self.mechanism, self._find_giving()
        if not self.weighs or engine.outside.carries:
            return
        change, places = -engine.measure_motion(self.q, v), engine.measure_motion(self.q, self.v)
        change += places
        given = engine.outside.sum_generalized(
            impulses[giving].dot(mechanism.J[giving]), mechanism.kinematics.data
        )
        self.books.lose(change[:6] - given, places[6:])

    def find_given(self, impulses: Vector) -> Vector:
        """Return (nv,) the generalized impulse of the bilateral rows that may change the momentum of all bodies.

        A loop between two bodies of one tree gives each what it takes from the other, so whatever momentum comes with it came from nowhere.

        Args:
            impulses: (k,) impulses of the bilateral rows.
        """
        constraints = self.mechanism.constraints
        if self._giving[0] != constraints.generation:
            self._giving = constraints.generation, self._find_giving()
        giving = self._giving[1]
        return (
            impulses[giving].dot(self.engine.terms.rows[giving])
            if len(giving)
            else np.zeros(len(self.v))
        )

    def _find_giving(self) -> Indices:
        """Return which bilateral rows may give momentum: all but those of loops within a tree."""
        supports, first, giving = self.robot.model.supports, 0, [np.zeros(0, dtype=np.intp)]
        for block in self.mechanism.constraints:
            if block.inert:
                continue
            within = isinstance(block, LoopBlock) and 0 not in {block.A.joint, block.B.joint}
            roots = (
                {supports[end.joint][1] for end in (block.A, block.B)}
                if isinstance(block, LoopBlock) and within
                else {0, 1}
            )
            if len(roots) > 1:
                giving.append(np.arange(first, first + len(block.labels)))
            first += len(block.labels)
        return np.concatenate(giving)

    def _find_loops(self, change: Vector) -> Vector:
        """Return impulses of the bilateral rows (k,), which hold against contacts too.

        Args:
            change: (nv,) of the whitened velocity by both.
        """
        terms = self.engine.terms
        contacts = self._spread_contacts()
        return terms.multipliers(
            terms.Q.T.dot(change - terms.whiten(contacts) if contacts.any() else change)
        )

    def _spread_contacts(self) -> Vector:
        """Return (nv,) generalized impulse of contacts and limits."""
        touching, engine = self.touching, self.engine
        if touching.answer is None or not len(touching.answer.p):
            return np.zeros(len(self.v))
        return engine.outside.spread_contacts(
            touching, engine.terms.data.J.reshape(6, -1, order="F")
        )

    def _give(self, impulse: Vector) -> None:
        """Enter a generalized impulse on trees that fly."""
        if impulse.any():
            self.books.give(self.engine.outside.sum_generalized(impulse, self.engine.terms.data))
