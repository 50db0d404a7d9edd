# SPDX-License-Identifier: Apache-2.0
"""How far torques can move while load passes between faces, whatever their shares: see ``bound_torque_step``."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.resolution.fading import fade_of
from humanoid_dynamics.resolution.halves import HURRY, URGENT
from humanoid_dynamics.resolution.limits import CHOICE_WEIGHT
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.spatial.arrays import Matrix, Vector


def bound_limited(problem: DynamicsProblem, steps: Vector) -> Vector:
    """Bound the steps of torques, (na,), where pushes are the nearest inside limits, and fade.

    A contact that fades counts by p (1 + U g), see ``halves``: this changes by 1 + U for its own share, and by U for those of others that
    fade.  What an answer lacks of the motion is least but for a small weight w of the distance, so that it changes by at most half the
    root of w times what is wanted.

    Args:
        problem: What is asked, updated.
        steps: (contacts,) largest change of each share.
    """
    contacts, total = len(steps), float(steps.sum())
    fade = fade_of(contacts)
    rates = push_rates(problem)
    middle = 0.5 * (rates.max(axis=(0, 1)) + rates.min(axis=(0, 1)))
    farthest = float(np.max(np.linalg.norm(rates - middle, axis=2)))
    least = 1.0 - fade * (
        contacts - 1
    )  # sum of the shares that stay when contacts that fade are left out
    moved = 2.0 * total / least * farthest
    hurried = (
        (contacts - 1) * HURRY * np.sqrt(CHOICE_WEIGHT) * moved / (URGENT * problem.unit_force)
    )
    passed = (1.0 + HURRY * (contacts - 1)) * total / fade + hurried
    effort = problem.robot.limits.effort[problem.driven_v]
    levers = np.linalg.norm(problem.J[:, problem.driven_v], axis=0)
    return np.asarray(levers * moved + np.where(levers > 0.0, 2.0 * effort, 0.0) * passed)


def push_rates(problem: DynamicsProblem) -> Matrix:
    """Return how fast the push changes with the share of each contact while one bears all, (contacts, contact that bears all, size).

    Args:
        problem: What is asked, updated.
    """
    F, M = problem.free[:3], problem.free[3:6]
    rates = np.zeros((len(problem.parts), len(problem.parts), problem.size))
    turns = [problem.J_span[part.start + 3 : part.stop, 3:6] for part in problem.parts]
    forces = [problem.J_span[part.start : part.start + 3] for part in problem.parts]
    push = [J_f[:, :3] @ F for J_f in forces]  # the total force, in the axes of each contact
    arms = [
        J_f[:, 3:6].T @ f for J_f, f in zip(forces, push, strict=True)
    ]  # its moment about the base
    for k, part in enumerate(problem.parts):
        rates[k, :, part.start : part.start + 3] = push[k]
        for bearer, other in enumerate(problem.parts):
            rates[k, bearer, part.start + 3 : part.stop] += turns[k] @ (M - arms[bearer])
            rates[k, bearer, other.start + 3 : other.stop] -= turns[bearer] @ arms[k]
    return rates


def find_farthest(effects: Matrix) -> Vector:
    """Bound the change of each torque per change of each share, (contacts, width), a constant taken from all.

    Args:
        effects: (contacts, contact that bears all, width) change per change of each share.
    """
    middle = 0.5 * (effects.max(axis=(0, 1)) + effects.min(axis=(0, 1)))
    return np.asarray(np.max(np.abs(effects - middle), axis=1))
