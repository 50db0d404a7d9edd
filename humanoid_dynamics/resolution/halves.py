"""Contacts that fade, compiled: the questions with and without them, one after the other; see ``fading``."""

from __future__ import annotations

from humanoid_dynamics.resolution.memory import FADE, Memory
from humanoid_dynamics.resolution.parallel import FACE, Question
from humanoid_dynamics.spatial.arrays import Matrix, Vector

APART: tuple[str, ...] = ()  # of the parts of kernels here, those that are not copied to where they are called


def count_halves(shares: Vector, M: Memory) -> int:
    """Return of how many answers the answer is the mean: two for each contact that fades, one by the other."""
    halves = 1
    for share in shares:
        if 0.0 < share < M.settings[FADE]:
            halves *= 2
    return halves


def take_half(question: Question, M: Memory, number: int, halves: int) -> tuple[Question, float]:
    """Return the question without some of the contacts that fade, and the weight of its answer.

    Args:
        question: What the tick asks.
        M: The memory.
        number: Which of the questions; its digits to the base of two tell which contacts are left out, none for the first.
        halves: How many there are; one is asked as it is.

    Returns:
        The question, and its weight: negative where no face is left, whose equations have not their full rank.
    """
    J, tau_0, shares, x, forces, tau = question
    if halves == 1:
        return question, 1.0
    weight, total, faces = 1.0, 0.0, 0
    for c in range(M.sizes.contacts):
        share = shares[c]
        if 0.0 < share < M.settings[FADE]:
            part, stays = share / M.settings[FADE], number % 2 == 0
            weight, share, number = weight * (part if stays else 1.0 - part), M.settings[FADE] if stays else 0.0, number // 2
        total += share
        M.some[c] = share
        if share > 0.0 and M.firsts[c + 1] - M.firsts[c] == FACE:
            faces += 1
        write_rows(J, M, M.firsts[c], M.firsts[c + 1], share)
    write_rows(J, M, M.firsts[M.sizes.contacts], M.sizes.n, 1.0)
    for c in range(M.sizes.contacts):
        M.some[c] /= total
    return (M.some_J, tau_0, M.some, x, forces, tau), weight if faces else -1.0


def write_rows(J: Matrix, M: Memory, first: int, end: int, share: float) -> None:
    """Write the rows of what pushes with some share of the load, zero where it has none."""
    for i in range(first, end):
        for k in range(J.shape[1]):
            M.some_J[i, k] = J[i, k] if share > 0.0 else 0.0


def add_half(x: Vector, mean: Vector, weight: float, number: int) -> None:
    """Add a push to the mean; the first begins it."""
    for i in range(len(x)):
        mean[i] = weight * x[i] + (mean[i] if number else 0.0)
