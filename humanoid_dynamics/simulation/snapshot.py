# SPDX-License-Identifier: Apache-2.0
"""A world as it was at one instant, to go back to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from humanoid_dynamics.constraints.block import ConstraintBlock
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.simulation.books import Books
from humanoid_dynamics.simulation.contacts.contact_rows import Touching
from humanoid_dynamics.simulation.push import Push
from humanoid_dynamics.spatial.arrays import Matrix, Vector

if TYPE_CHECKING:
    from humanoid_dynamics.simulation.steps.stepper import Stepper


@dataclass(frozen=True, eq=False)
class Snapshot:
    """State and memory of a stepper; it fits as long as the structure stays the same.

    Attributes:
        q: (nq,) configuration.
        v: (nv,) velocity.
        t: Time [s], and what rounding keeps back from it [s].
        books: Energy since the start.
        pushes: Pushes that have not ended.
        tables: Coordinates, numbers, memory and limits of the tables of a step.
        reason: Why the world had stopped.
        fresh: Whether no last step tells the velocity in the middle of the next one.
        fine: In how many parts a smooth step is taken, the largest kinetic energy so far, and what fast steps created [J].
        struck: Whether something hit in the last step.
        span: Length of the last part of the last step [s].
        tau: (na,) torques of the last step.
        lam: (k,) mean force of each bilateral row in it.
        closure: Largest position error of the bilateral rows after it [m].
        touching: What touched in the last part of it.
        whole: Length of the last step [s], and what touched in each part of it; None where it was taken in one go.
        structure: Tree and bilateral constraints it belongs to.
    """

    q: Vector
    v: Vector
    t: tuple[float, float]
    books: Books
    pushes: tuple[Push, ...]
    tables: tuple[Matrix, Vector, Matrix, Matrix]
    reason: str
    fresh: bool
    fine: tuple[int, float, float]
    struck: bool
    span: float
    tau: Vector
    lam: Vector
    closure: float
    touching: Touching
    whole: tuple[float, tuple[Touching, ...] | None]
    structure: tuple[Mechanism, tuple[ConstraintBlock, ...]]

    def __getstate__(self) -> dict[str, object]:
        """Return all but the structure: the constraints of another world are others."""
        return self.__dict__ | {"structure": (None, ())}

    def fits(self, stepper: Stepper) -> bool:
        """Return whether the structure of a stepper is still the same.

        Args:
            stepper: The stepper.
        """
        mechanism, blocks = self.structure
        now = tuple(stepper.mechanism.constraints)
        return (
            mechanism is stepper.mechanism
            and len(now) == len(blocks)
            and all(a is b for a, b in zip(now, blocks, strict=True))
        )


def take_snapshot(stepper: Stepper) -> Snapshot:
    """Return where a stepper is.

    Args:
        stepper: The stepper.
    """
    tables, books, touching = stepper.engine.tables, stepper.books, stepper.touching
    kept = (tables.dofs.copy(), tables.numbers.copy(), tables.memory.copy(), tables.limits.copy())
    return Snapshot(
        q=stepper.q.copy(),
        v=stepper.v.copy(),
        t=(stepper.t, stepper.owed),
        books=books.copy(),
        pushes=tuple(stepper.pushes),
        tables=kept,
        reason=stepper.reason,
        fresh=stepper.fresh,
        fine=(stepper.parts, stepper.swing, stepper.lent),
        struck=stepper.struck,
        span=stepper.span,
        tau=stepper.tau.copy(),
        lam=stepper.lam.copy(),
        closure=stepper.closure,
        touching=touching._replace(place=touching.place.copy(), impulse=touching.impulse.copy()),
        whole=(
            stepper.length,
            None if stepper.parts_touched is None else tuple(stepper.parts_touched),
        ),
        structure=(stepper.mechanism, tuple(stepper.mechanism.constraints)),
    )


def go_back(stepper: Stepper, snapshot: Snapshot) -> None:
    """Put a stepper back.

    Args:
        stepper: The stepper.
        snapshot: Where it was.
    """
    stepper.q, stepper.v = snapshot.q.copy(), snapshot.v.copy()
    stepper.t, stepper.owed = snapshot.t
    stepper.books, stepper.pushes = snapshot.books.copy(), list(snapshot.pushes)
    stepper.closure = snapshot.closure
    stepper.reason, stepper.fresh, stepper.span = snapshot.reason, snapshot.fresh, snapshot.span
    stepper.struck = snapshot.struck
    (stepper.parts, stepper.swing, stepper.lent), stepper.tau, stepper.lam = (
        snapshot.fine,
        snapshot.tau.copy(),
        snapshot.lam.copy(),
    )
    tables = stepper.engine.tables
    for table, values in zip(
        (tables.dofs, tables.numbers, tables.memory, tables.limits), snapshot.tables, strict=True
    ):
        table[:] = values
    stepper.engine.contacts.go_back(snapshot.touching)
    stepper.length, parts = snapshot.whole
    stepper.parts_touched = None if parts is None else list(parts)
