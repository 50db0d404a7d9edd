# SPDX-License-Identifier: Apache-2.0
"""The search for a resting posture: damped Gauss-Newton on the manifold of configurations.

What must hold (loops, mimic joints, level soles) is met exactly, by the smallest step; what is wished for (balance, an upright root,
joints where they were) is minimised among the steps that are left.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_dynamics.model.coordinates import Coordinates
from humanoid_dynamics.model.joint import Mimic
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.model.standing.closing import Rows, loop_rows, mimic_rows
from humanoid_dynamics.model.standing.standing import Goal, flat_rows, goal_rows, poise_rows
from humanoid_dynamics.spatial.arrays import Vector

Flags: TypeAlias = NDArray[np.bool_]

MOST_STEPS = 30
MOST_REPAIRS = 15  # steps after that for what must hold alone
LONGEST_STEP = 0.3  # largest change of one coordinate in a step [rad or m]
CONVERGED = 1e-12  # error of what must hold [m or rad]
SETTLED = 1e-9  # last step [m or rad]
RANK_TOLERANCE = 1e-4  # a motion this much weaker than the strongest is none: it would repair rounded numbers by large steps


@dataclass(frozen=True, eq=False)
class Problem:
    """The search for one resting posture.

    Attributes:
        model: The tree.
        coordinates: Its joints and limits.
        loops: Loops to close.
        mimics: Followers to keep in step with their leaders.
        goal: Where to stand, or None for a robot that hangs or is fixed.
        root_frame: Frame of the root link.
        reference: (nq,) posture to stay near.
        weight: (nv,) wish to stay near it; zero for the root.
        free: (nv,) whether a coordinate may move; those that neither a sole nor a loop depends on may not.
        lower: (nv,) lowest change from the reference.
        upper: (nv,) highest change from the reference.
    """

    model: pin.Model
    coordinates: Coordinates
    loops: tuple[LoopClosure, ...]
    mimics: tuple[Mimic, ...]
    goal: Goal | None
    root_frame: int
    reference: Vector
    weight: Vector
    free: Flags
    lower: Vector
    upper: Vector


def hold_joints(problem: Problem, names: Container[str]) -> Problem:
    """Return the same search with some joints held where they are.

    Args:
        problem: The search.
        names: Joints that may not move.
    """
    free = problem.free.copy()
    for joint in problem.coordinates.joints:
        if joint.name in names:
            free[joint.v] = False
    return replace(problem, free=free)


def _rows(problem: Problem, data: pin.Data, q: Vector) -> tuple[Rows, Rows]:
    """Return what must hold and what is wished for, at a configuration."""
    model, goal = problem.model, problem.goal
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    joints = {joint.name: joint for joint in problem.coordinates.joints}
    hard = [loop_rows(model, data, loop) for loop in problem.loops]
    hard.append(mimic_rows(model, q, problem.mimics, joints))
    moved = pin.difference(model, problem.reference, q)
    soft = [Rows((problem.weight * moved)[problem.free], np.diag(problem.weight)[problem.free])]
    if goal is not None:
        pin.jacobianCenterOfMass(model, data, q)
        hard.append(flat_rows(model, data, goal.soles))
        if goal.poised:
            hard.append(poise_rows(model, data, goal.soles))
        soft.append(goal_rows(model, data, goal, problem.root_frame))
    return Rows.stack(hard, model.nv), Rows.stack(soft, model.nv)


def hard_error(problem: Problem, q: Vector) -> float:
    """Return the largest error of what must hold, at a configuration [m or rad].

    Args:
        problem: The search.
        q: (nq,) configuration.
    """
    return float(np.abs(_rows(problem, problem.model.createData(), q)[0].error).max(initial=0.0))


def solve_posture(problem: Problem) -> tuple[Vector, float]:
    """Search from the reference.

    Args:
        problem: The search.

    Returns:
        (nq,) the last configuration, and the largest error of what must hold there [m or rad].
    """
    q, data = problem.reference, problem.model.createData()
    for number in range(MOST_STEPS + MOST_REPAIRS):
        hard, soft = _rows(problem, data, q)
        error = float(np.abs(hard.error).max(initial=0.0))
        if (
            number >= MOST_STEPS
        ):  # near a stretched leg or a dead centre only what must hold is worth searching for
            soft = Rows.stack([], problem.model.nv)
        dq = _bounded_step(problem, hard, soft, pin.difference(problem.model, problem.reference, q))
        longest = float(np.abs(dq).max(initial=0.0))
        if longest < SETTLED or (error < CONVERGED and number >= MOST_STEPS):
            return q, error
        q = np.asarray(
            pin.integrate(problem.model, q, dq * min(1.0, LONGEST_STEP / max(longest, 1e-12)))
        )
    return q, hard_error(problem, q)


def _bounded_step(problem: Problem, hard: Rows, soft: Rows, moved: Vector) -> Vector:
    """Return a step that keeps the limits: coordinates that would break them stop there, and the others make up for it."""
    lower, upper = problem.lower - moved, problem.upper - moved
    free = problem.free.copy()
    dq = np.zeros(len(moved))
    for _ in range(4):
        rest = Rows(hard.error + hard.J @ np.where(free, 0.0, dq), hard.J[:, free])
        wish = Rows(soft.error + soft.J @ np.where(free, 0.0, dq), soft.J[:, free])
        dq[free] = _step(rest, wish)
        broken = free & ((dq < lower - 1e-12) | (dq > upper + 1e-12))
        if not broken.any():
            break
        dq[broken] = np.clip(dq[broken], lower[broken], upper[broken])
        free &= ~broken
    return np.clip(dq, np.minimum(lower, 0.0), np.maximum(upper, 0.0))


def _step(hard: Rows, soft: Rows) -> Vector:
    """Return the step that meets the hard rows as nearly as can be, and among those the one that suits the soft rows best."""
    n = hard.J.shape[1]
    particular, null = np.zeros(n), np.eye(n)
    if len(hard.error) and n:
        U, sigma, Vt = np.linalg.svd(hard.J, full_matrices=True)
        rank = int(np.sum(sigma > RANK_TOLERANCE * sigma[0])) if sigma[0] > 0.0 else 0
        particular = -Vt[:rank].T @ ((U[:, :rank].T @ hard.error) / sigma[:rank])
        null = Vt[rank:].T
    if not null.shape[1] or not len(soft.error):
        return particular
    A = soft.J @ null
    return np.asarray(
        particular - null @ np.linalg.lstsq(A, soft.error + soft.J @ particular, rcond=None)[0]
    )
