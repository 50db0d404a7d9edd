"""A world as it was at one instant, to go back to."""

from __future__ import annotations

from dataclasses import dataclass, replace

from humanoid_dynamics.simulation.books import Books
from humanoid_dynamics.simulation.push import Push
from humanoid_dynamics.simulation.stepper import Stepper
from humanoid_dynamics.spatial.arrays import Matrix, Vector


@dataclass(frozen=True, eq=False)
class Snapshot:
    """State and memory of a stepper; it fits as long as the structure stays the same.

    Attributes:
        q: (nq,) configuration.
        v: (nv,) velocity.
        t: Time [s].
        books: Energy since the start.
        pushes: Pushes that have not ended.
        tables: Coordinates, numbers, memory and limits of the tables of a step.
        reason: Why the world had stopped.
    """

    q: Vector
    v: Vector
    t: float
    books: Books
    pushes: tuple[Push, ...]
    tables: tuple[Matrix, Vector, Matrix, Matrix]
    reason: str


def take_snapshot(stepper: Stepper) -> Snapshot:
    """Return where a stepper is.

    Args:
        stepper: The stepper.
    """
    tables, books = stepper.engine.tables, stepper.books
    kept = (tables.dofs.copy(), tables.numbers.copy(), tables.memory.copy(), tables.limits.copy())
    copied = replace(books, work=dict(books.work))
    return Snapshot(stepper.q.copy(), stepper.v.copy(), stepper.t, copied, tuple(stepper.pushes), kept, stepper.reason)


def go_back(stepper: Stepper, snapshot: Snapshot) -> None:
    """Put a stepper back.

    Args:
        stepper: The stepper.
        snapshot: Where it was.
    """
    stepper.q, stepper.v, stepper.t = snapshot.q.copy(), snapshot.v.copy(), snapshot.t
    stepper.books, stepper.pushes = replace(snapshot.books, work=dict(snapshot.books.work)), list(snapshot.pushes)
    stepper.reason = snapshot.reason
    tables = stepper.engine.tables
    for table, values in zip((tables.dofs, tables.numbers, tables.memory, tables.limits), snapshot.tables, strict=True):
        table[:] = values
