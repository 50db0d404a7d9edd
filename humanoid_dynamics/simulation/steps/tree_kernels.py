# SPDX-License-Identifier: Apache-2.0
"""A step but for its contacts, on the branches of the tree: what numba compiles in place of ``terms.py``.

Tables and their rows are named in ``rows.py``.
"""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.simulation.contacts.thresholds import LONG
from humanoid_dynamics.simulation.steps.branches import (
    factor,
    find_momentum,
    find_velocity,
    whiten_all,
)
from humanoid_dynamics.simulation.steps.rows import (
    CUT,
    DAMPING,
    DRAG,
    DRY,
    DT,
    EFFORT,
    EXTRA,
    FASTEST,
    INERTIA,
    KD,
    KP,
    LOSS,
    MISJUDGED,
    MOTOR,
    OFFSET,
    OVERLOADED,
    PULL,
    PUSH,
    SAG,
    V_END,
    V_MIDDLE,
    W_CONTACTS,
    W_DRIVE,
    W_LOSSES,
    W_MOTORS,
    W_PUSHES,
    WAY,
    Z_END,
    Z_FREE,
    Z_START,
    V,
)
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

CREEP = 1e-4  # speed below which dry friction becomes a stiff damper [rad/s, m/s]
SLACK = 1e-9  # share of its limit by which a drive may miss it
CARE = 4.0  # by how much lighter than in the posture a joint may become before it is too light to be taken in the middle


def find_share(drag: float, inertia: float) -> float:
    """Return where in a step what resists a joint is taken: in the middle of it, but the nearer to its end the stiffer the joint is.

    Args:
        drag: What resists it per velocity, times the length of the step.
        inertia: Of the coordinate.
    """
    return 0.5 if CARE * drag <= 2.0 * inertia else 1.0 - inertia / (CARE * drag)


def prepare_joints(dofs: Matrix, dt: float) -> None:
    """Write what drives, damping and dry friction do in a step.

    Args:
        dofs: Table of the coordinates.
        dt: Length of the step [s].
    """
    for i in range(dofs.shape[1]):
        loss, sag = dofs[DAMPING, i] + dofs[DRY, i] / max(abs(dofs[V_MIDDLE, i]), CREEP), 0.0
        cut = dofs[CUT, i]
        if cut == 0.0:
            sag = 0.5 * dt * dofs[KP, i] + dofs[KD, i]
        share = find_share(dt * (loss + sag), dofs[INERTIA, i])
        early = (1.0 - share) * dofs[V, i]
        if cut == 0.0:
            dofs[PULL, i] = (
                dofs[KP, i] * dofs[OFFSET, i] + (0.5 * dt * dofs[KP, i] - dofs[KD, i]) * early
            )
        else:
            dofs[PULL, i] = cut * dofs[EFFORT, i] - dofs[MOTOR, i]
        dofs[DRAG, i] = -loss * early
        dofs[SAG, i], dofs[LOSS, i], dofs[EXTRA, i] = (
            share * sag,
            share * loss,
            share * dt * (loss + sag),
        )


def evaluate(
    M: Matrix, h: Vector, parents: Indices, tables: tuple[Matrix, ...], numbers: Vector
) -> bool:
    """Factor the inertia and find the velocity a step would end with if nothing touched and nothing held.

    Args:
        M: (nv, nv) inertia, of which the lower triangle counts.
        h: (nv,) Coriolis, centrifugal and gravity forces.
        parents: (nv,) the tree.
        tables: The factor (nv, nv), overwritten, and the table of the coordinates.
        numbers: Numbers in and out.

    Returns:
        Whether the inertia is positive definite.
    """
    L, dofs = tables
    dt = numbers[DT]
    prepare_joints(dofs, dt)
    if not factor(M, dofs[EXTRA], parents, L):
        return False
    find_momentum(L, parents, dofs[V], dofs[Z_START])
    free = dofs[Z_FREE]
    for i in range(len(h)):
        pulled = dofs[PULL, i] + dofs[DRAG, i] - (dofs[SAG, i] + dofs[LOSS, i]) * dofs[V, i]
        free[i] = dt * (dofs[MOTOR, i] + dofs[PUSH, i] + pulled - h[i])
    whiten_all(L, parents, free)
    for i in range(len(h)):
        free[i] += dofs[Z_START, i]
        dofs[Z_END, i] = free[i]
    return True


def arrive(parents: Indices, L: Matrix, dofs: Matrix, numbers: Vector) -> None:
    """Find velocity and way from the whitened velocity at the end, and what did how much work.

    Args:
        parents: (nv,) the tree.
        L: (nv, nv) factor.
        dofs: Table of the coordinates.
        numbers: Numbers in and out.
    """
    dt, fastest, off = numbers[DT], 0.0, 0.0
    motors, pushes, drive, losses, contacts = 0.0, 0.0, 0.0, 0.0, 0.0
    find_velocity(L, parents, dofs[Z_END], dofs[V_END])
    for i in range(dofs.shape[1]):
        end = dofs[V_END, i]
        way = 0.5 * dt * (dofs[V, i] + end)
        dofs[WAY, i] = way
        off = max(off, abs(0.5 * (dofs[V, i] + end) - dofs[V_MIDDLE, i]))
        dofs[V_MIDDLE, i] = end + 0.5 * (end - dofs[V, i])
        if not abs(end) <= fastest and fastest == fastest:  # what is not a number stays
            fastest = abs(end)
        motors += dofs[MOTOR, i] * way
        pushes += dofs[PUSH, i] * way
        drive += (dofs[PULL, i] - dofs[SAG, i] * end) * way
        losses += (dofs[DRAG, i] - dofs[LOSS, i] * end) * way
        contacts += (dofs[Z_START, i] + dofs[Z_END, i]) * (dofs[Z_END, i] - dofs[Z_FREE, i])
    numbers[FASTEST], numbers[MISJUDGED] = fastest, dt * fastest * off / max(1.0, dt / LONG) ** 3
    numbers[W_MOTORS], numbers[W_PUSHES], numbers[W_DRIVE], numbers[W_LOSSES] = (
        motors,
        pushes,
        drive,
        losses,
    )
    numbers[W_CONTACTS] = 0.5 * contacts
    check_drives(dofs, numbers)


def check_drives(dofs: Matrix, numbers: Vector) -> None:
    """Find drives that would have to give more than their motor can, and those that no longer would.

    Args:
        dofs: Table of the coordinates; its row CUT is changed.
        numbers: Numbers in and out; OVERLOADED says whether it was.
    """
    dt, changed = numbers[DT], 0.0
    for i in range(dofs.shape[1]):
        stiff, limit = 0.5 * dt * dofs[KP, i] + dofs[KD, i], dofs[EFFORT, i]
        if stiff == 0.0 or limit == np.inf:
            continue
        cut, wanted = dofs[CUT, i], dofs[PULL, i] - dofs[SAG, i] * dofs[V_END, i] + dofs[MOTOR, i]
        if cut != 0.0:
            share = find_share(dt * stiff, dofs[INERTIA, i])
            early, late = (1.0 - share) * dofs[V, i], share * dofs[V_END, i]
            wanted = (
                dofs[KP, i] * (dofs[OFFSET, i] + dt * early)
                - stiff * (early + late)
                + dofs[MOTOR, i]
            )
        if cut == 0.0 and abs(wanted) > limit * (1.0 + SLACK):
            dofs[CUT, i] = 1.0 if wanted > 0.0 else -1.0
            changed = 1.0
        elif cut * wanted < limit and cut != 0.0:
            dofs[CUT, i] = 0.0
            changed = 1.0
    numbers[OVERLOADED] = changed


PARTS = (find_share, prepare_joints, check_drives)
