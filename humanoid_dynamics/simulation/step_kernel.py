"""A whole step in one call, as long as nothing asks for anybody's attention: what numba compiles in place of five calls."""

from __future__ import annotations

from typing import Final

from humanoid_dynamics.simulation.contact_kernel import remember, solve_contacts
from humanoid_dynamics.simulation.detect_kernel import detect
from humanoid_dynamics.simulation.rows import HIT, OVERLOADED, ROUNDS
from humanoid_dynamics.simulation.tree_kernels import arrive, evaluate
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

# how far a step came
NOTHING: Final = 0
DETECTED: Final = 1  # something hits
SOLVED: Final = 2  # what holds would pull
ARRIVED: Final = 3  # a drive is beyond its limit
REMEMBERED: Final = 4


def take_step(
    equation: tuple[Matrix, Vector, Matrix, Matrix, Vector],
    views: tuple[Matrix, ...],
    tables: tuple[Matrix, ...],
    tree: tuple[Indices, ...],
    numbers: Vector,
) -> int:
    """Go through a step without bilateral rows until it ends or something happens; return how far it came.

    Args:
        equation: Inertia (nv, nv), bias forces (nv,), factor (nv, nv), overwritten, no bilateral rows (0, nv),
            and the configuration (nq,) in the middle of the step.
        views: (nj, 12) poses of all joints, and (nv, 6) joint Jacobian of the world.
        tables: Tables of points, shapes, coordinates, near points, memory, limits and answers.
        tree: Joints, coordinate that carries each, and which points and limits take part (overwritten).
        numbers: Numbers in and out.
    """
    M, h, L, Q, q = equation
    points, shapes, dofs, near, memory, _, _ = tables
    joints, parents, chosen = tree
    if not evaluate(M, h, parents, (L, dofs), numbers):
        return NOTHING
    detect(views, (points, shapes, dofs, near, memory), (joints, parents), numbers)
    if numbers[HIT] >= 0.0:
        return DETECTED
    solve_contacts((views[1], L, Q), tables, tree, q, numbers)
    if numbers[ROUNDS] < 0.0:
        return SOLVED
    arrive(parents, L, dofs, numbers)
    if numbers[OVERLOADED] > 0.0:
        return ARRIVED
    remember(tables, chosen, numbers)
    return REMEMBERED


PARTS = (evaluate, detect, solve_contacts, arrive, remember)
