# SPDX-License-Identifier: Apache-2.0
"""A whole step in one call, as long as nothing asks for anybody's attention: what numba compiles in place of a dozen calls."""

from __future__ import annotations

from typing import Final

import numpy as np

from humanoid_dynamics.simulation.contacts.contact_kernel import remember, solve_contacts
from humanoid_dynamics.simulation.contacts.detect_kernel import detect
from humanoid_dynamics.simulation.contacts.limit_rows import stops
from humanoid_dynamics.simulation.contacts.slides import stops_within
from humanoid_dynamics.simulation.contacts.thresholds import MISJUDGES, RUNAWAY, SLOP, WILD
from humanoid_dynamics.simulation.steps.bench import Bench, Tables, open_bench, take_bench
from humanoid_dynamics.simulation.steps.body_kernel import sweep_bodies
from humanoid_dynamics.simulation.steps.body_table import Body, take_body
from humanoid_dynamics.simulation.steps.joint_kinds import FIRST_V, FREE, KIND
from humanoid_dynamics.simulation.steps.lending import lend
from humanoid_dynamics.simulation.steps.loop_kernel import hold_rows
from humanoid_dynamics.simulation.steps.momentum_kernel import (
    close_motion,
    enter_contacts,
    report_motion,
)
from humanoid_dynamics.simulation.steps.motion_kernel import (
    MOTIONS,
    find_offsets,
    measure_motion,
    move_configuration,
)
from humanoid_dynamics.simulation.steps.rows import (
    ALL_SLOW,
    AUDIT,
    BEFORE,
    CUT,
    DEPTH,
    DT,
    ENERGY,
    FASTEST,
    FORESEEN,
    HIT,
    KEPT_CUT,
    KEPT_MIDDLE,
    LARGEST,
    MASS,
    MISJUDGED,
    MISSING,
    OFFSET,
    OVERLOADED,
    PASSED,
    Q_END,
    Q_HELD,
    Q_MIDDLE,
    ROUNDS,
    START,
    STOPS,
    SUMS,
    TOTAL,
    V_END,
    V_MIDDLE,
    W_LOOPS,
    W_MOTORS,
    WAY,
    V,
)
from humanoid_dynamics.simulation.steps.shelf import (
    take_indices,
    take_matrix,
    take_table,
    take_vector,
)
from humanoid_dynamics.simulation.steps.standing_axes import TURNING
from humanoid_dynamics.simulation.steps.tree_kernels import arrive, evaluate
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

# what stands on the shelf after the tables of a bench
TREE: Final = 16
EQUATION: Final = 21
TIES: Final = 25

# what became of a step
UNDONE: Final = 0  # it is as if it had not been tried
DEEP: Final = 1  # it was taken, and something is to be pushed out; the books are still open
DONE: Final = 2


def take_step(shelf: Indices, account: Vector, q: Vector, v: Vector, dt: float) -> int:
    """Go through a step without bilateral rows but ties, or leave all as it was where something asks for attention.

    Args:
        shelf: All tables in the order of ``Bench``, the tree in that of ``BodyTable``, inertia (nv, nv), bias (nv,) and poses of all
            joints (nj, 12), overwritten, the table of configurations, and rows, scale, factor and order of ``TieTable``.
        account: Account of energy and momentum.
        q: (nq,) configuration at the start.
        v: (nv,) velocity there.
        dt: Length of the step [s].

    Returns:
        What became of it.
    """
    bench, tree, joints = take_bench(shelf), take_body(shelf, TREE), take_table(shelf, TREE)
    M, h, poses = (
        take_matrix(shelf, EQUATION),
        take_vector(shelf, EQUATION + 1),
        take_matrix(shelf, EQUATION + 2),
    )
    configurations, account, q, v = (
        take_matrix(shelf, EQUATION + 3),
        lend(account),
        lend(q),
        lend(v),
    )
    dofs, numbers = bench.dofs, bench.numbers
    audit, fastest = numbers[AUDIT] > 0.0, numbers[FASTEST]
    if (
        numbers[DT] != dt
        or fastest > WILD
        or stops_within(numbers[STOPS], dt)
        or (fastest > TURNING and turns_fast(joints, v))
    ):
        return UNDONE
    keep_guess(dofs, v)
    numbers[ALL_SLOW] = numbers[FORESEEN] = 0.0
    q_M = configurations[Q_MIDDLE]
    move_configuration(joints, q, (v, 0.5 * dt), q_M)
    sweep_bodies(tree, (q_M, dofs[V_MIDDLE]), (poses, bench.JT), (M, h))
    find_offsets(joints, q_M, configurations[Q_HELD], dofs[OFFSET])
    ties = (
        take_matrix(shelf, TIES),
        take_vector(shelf, TIES + 1),
        take_matrix(shelf, TIES + 2),
        take_indices(shelf, TIES + 3),
    )
    if not find_end(bench, (M, h, poses), ties, q_M):
        dofs[V_MIDDLE], dofs[CUT] = dofs[KEPT_MIDDLE], dofs[KEPT_CUT]
        numbers[FASTEST] = max(fastest, numbers[FASTEST]) if numbers[FASTEST] < RUNAWAY else fastest
        return UNDONE
    move_configuration(joints, q, (dofs[WAY], 1.0), configurations[Q_END])
    if audit:
        enter_work(numbers, account)
    if numbers[DEPTH] > SLOP or numbers[PASSED] > SLOP:
        return DEEP
    if audit:
        close_books(bench, tree, (configurations[Q_END], dofs[V_END]), account)
    return DONE


def turns_fast(joints: Indices, v: Vector) -> bool:
    """Return whether a free body turns so fast that a step sees it along standing axes.

    Args:
        joints: Table of joints.
        v: (nv,) velocity.
    """
    for i in range(1, len(joints)):
        d = joints[i, FIRST_V]
        if joints[i, KIND] == FREE and max(abs(v[d + 3]), abs(v[d + 4]), abs(v[d + 5])) > TURNING:
            return True
    return False


def solve_alone(tables: Tables, q: Vector) -> None:
    """Do what ``solve_contacts`` does.

    Args:
        tables: All tables, in the order of ``Bench``.
        q: (nq,) configuration in the middle of the step.
    """
    solve_contacts(open_bench(tables), q)


def remember_alone(tables: Tables) -> None:
    """Do what ``remember`` does.

    Args:
        tables: All tables, in the order of ``Bench``.
    """
    remember(open_bench(tables))


def keep_guess(dofs: Matrix, v: Vector) -> None:
    """Write the velocity at the start, and what a step has to go back to.

    Args:
        dofs: Table of the coordinates.
        v: (nv,) velocity at the start.
    """
    for i in range(len(v)):
        dofs[V, i] = v[i]
        dofs[KEPT_MIDDLE, i], dofs[KEPT_CUT, i] = dofs[V_MIDDLE, i], dofs[CUT, i]


def hold_ties(bench: Bench, ties: tuple[Matrix, Vector, Matrix, Indices]) -> bool:
    """Write a basis of what ties hold; return whether none of them depends on others.

    Args:
        bench: All tables.
        ties: Rows, scale, factor and order of ``TieTable``; all but the rows are overwritten.
    """
    rows, scale, R, order = ties
    scale[:] = 1.0
    return hold_rows(rows, scale, (bench.L, bench.parents), (bench.Q, R, order)) == len(rows)


def find_end(
    bench: Bench,
    equation: tuple[Matrix, Vector, Matrix],
    ties: tuple[Matrix, Vector, Matrix, Indices],
    q: Vector,
) -> bool:
    """Find the velocity at the end of a step; return whether nothing hits, is let go of, is beyond its limit, wild or misjudged.

    Args:
        bench: All tables.
        equation: Inertia (nv, nv), bias forces (nv,), and poses of all joints (nj, 12).
        ties: Rows, scale, factor and order of ``TieTable``.
        q: (nq,) configuration in the middle.
    """
    M, h, poses = equation
    numbers, dofs = bench.numbers, bench.dofs
    if not evaluate(M, h, bench.parents, (bench.L, dofs), numbers):
        return False
    if len(bench.Q) and not hold_ties(bench, ties):
        return False
    detect(
        (poses, bench.JT),
        (bench.points, bench.shapes, dofs, bench.near, bench.memory),
        (bench.joints, bench.parents),
        numbers,
    )
    if numbers[HIT] >= 0.0 or stops(bench.limits, dofs, q, numbers):
        return False
    solve_contacts(bench, q)
    if numbers[ROUNDS] < 0.0:
        return False
    arrive(bench.parents, bench.L, dofs, numbers)
    if numbers[OVERLOADED] > 0.0 or not (
        numbers[FASTEST] <= WILD and numbers[MISJUDGED] <= MISJUDGES
    ):
        return False
    remember(bench)
    return True


def enter_work(numbers: Vector, account: Vector) -> None:
    """Enter the work of a step.

    Args:
        numbers: Numbers in and out.
        account: Account of energy.
    """
    for k in range(W_LOOPS - W_MOTORS):
        account[SUMS + k] += numbers[W_MOTORS + k]
        account[TOTAL] += numbers[W_MOTORS + k]


def close_books(bench: Bench, tree: Body, state: tuple[Vector, Vector], account: Vector) -> None:
    """Enter energy and momentum after a step.

    Args:
        bench: All tables.
        tree: The tree, in the order of ``BodyTable``.
        state: Configuration (nq,) and velocity (nv,) at its end.
        account: Account of energy and momentum.
    """
    motion, numbers = np.empty(MOTIONS), bench.numbers
    close_account(numbers, account, measure_motion(tree, state[0], state[1], motion))
    if account[MASS] > 0.0:
        enter_contacts(bench, tree[1], account)
        close_motion(account, motion, numbers[DT])
        report_motion(account, numbers)


def close_account(numbers: Vector, account: Vector, energy: float) -> None:
    """Enter the energy after a step.

    Args:
        numbers: Numbers in and out.
        account: Account of energy.
        energy: The energy [J].
    """
    missing = energy - account[START] - account[TOTAL]
    account[ENERGY], account[LARGEST] = energy, max(account[LARGEST], missing - account[BEFORE])
    account[BEFORE] = numbers[MISSING] = missing


PARTS = (
    evaluate,
    detect,
    solve_contacts,
    arrive,
    remember,
    turns_fast,
    keep_guess,
    hold_ties,
    find_end,
    enter_work,
    close_account,
    close_books,
)
