# SPDX-License-Identifier: Apache-2.0
"""Contacts that fade under limits: a mean of the answers with and without contacts whose load fraction is small.

Limits can make torques jump where a contact comes or goes: a foot that touches may carry force, however small its load fraction.  A
contact with a fraction below ``fade`` therefore counts in part.  The force is the mean of the one with it, its fraction ``fade``, and the
one without it, weighed by the fraction.  Limits and the equation of motion are convex: what both fulfil the mean fulfils.

Where the others cannot carry the motion without the contact, the mean lacks a part of it.  A contact counts by p = fraction / fade, and by
p (1 + U g), at most one, where the others lack something without it.  What an answer lacks counts from nothing to one as it grows to
``URGENT``; g is how much of that the contact takes away, the mean over other fading contacts.  Weights are so continuous in load
fractions, and from a fifth of ``fade`` on nothing is lost.  Below that something is lost under any rule without a step.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from humanoid_dynamics.resolution.equation_kernels import FACE, Question
from humanoid_dynamics.resolution.memory import FADE, UNIT_FORCE, Memory
from humanoid_dynamics.spatial.arrays import Matrix, Vector

APART: tuple[str, ...] = (
    "weigh_halves",
)  # parts of kernels that are called, not copied to where they are called

LARGEST_FADE = 0.1
FADING_AT_ONCE = 0.5  # share of the load at most, so that a contact that bears more is always left


def fade_of(contacts: int) -> float:
    """Return the share below which a contact fades.

    Args:
        contacts: Number of contacts.
    """
    return min(LARGEST_FADE, FADING_AT_ONCE / max(contacts, 1))


def split_shares(shares: Vector, fade: float) -> Iterator[Vector]:
    """Return shares without contacts that fade: the answer to the given ones is a mean of the answers to these, see ``halves``.

    Args:
        shares: (contacts,) shares of sum one.
        fade: The share below which a contact fades.

    Yields:
        Shares of sum one; the digits of their number to the base of two tell which contacts are left out, none for the first.
    """
    fading = np.flatnonzero((shares > 0.0) & (shares < fade))
    for number in range(2 ** len(fading)):
        some = np.array(shares)
        some[fading] = np.where(number >> np.arange(len(fading)) & 1, 0.0, fade)
        yield some / some.sum()


HURRY = 4.0  # U: how much more a contact counts, where others lack what they need without it
URGENT = 1e-3  # of the weight of the robot; what is missing counts in full from here on


def count_halves(shares: Vector, M: Memory) -> int:
    """Return of how many answers the answer is the mean: two for each contact that fades, one by the other."""
    halves = 1
    for share in shares:
        if 0.0 < share < M.settings[FADE]:
            halves *= 2
    return halves


def take_half(question: Question, M: Memory, number: int, halves: int) -> tuple[Question, bool]:
    """Return the question without some of the contacts that fade.

    Args:
        question: What the tick asks.
        M: The memory.
        number: Which of the questions; its digits to the base of two tell which contacts are left out, none for the first.
        halves: How many there are; one is asked as it is.

    Returns:
        The question, and whether a face is left, without which equations have not their full rank.
    """
    J, tau_0, shares, x, forces, tau = question
    if halves == 1:
        return question, True
    fading, total, faces = 0, 0.0, 0
    for c in range(M.sizes.contacts):
        share = shares[c]
        if 0.0 < share < M.settings[FADE]:
            M.parts[fading] = share / M.settings[FADE]
            share = M.settings[FADE] if number // 2**fading % 2 == 0 else 0.0
            fading += 1
        total += share
        M.some[c] = share
        if share > 0.0 and M.firsts[c + 1] - M.firsts[c] == FACE:
            faces += 1
        write_rows(J, M, M.firsts[c], M.firsts[c + 1], share)
    write_rows(J, M, M.firsts[M.sizes.contacts], M.sizes.n, 1.0)
    for c in range(M.sizes.contacts):
        M.some[c] /= total
    return (M.some_J, tau_0, M.some, x, forces, tau), faces > 0


def write_rows(J: Matrix, M: Memory, first: int, end: int, share: float) -> None:
    """Write the rows of what pushes with some share of the load, zero where it has none."""
    for i in range(first, end):
        for k in range(J.shape[1]):
            M.some_J[i, k] = J[i, k] if share > 0.0 else 0.0


def keep_half(question: Question, M: Memory, number: int, way: int) -> None:
    """Remember the answer to one of the questions: its push, what it lacks of the motion, and how it was found."""
    _, _, _, x, forces, _ = question
    lacking = 0.0
    for k in range(M.sizes.m):
        lacking += M.misses[k] * forces[M.bearing[k]] ** 2
    M.lacking[number], M.ways[number] = lacking**0.5, way
    for i in range(len(x)):
        M.halves[number, i] = x[i]


def mix_halves(x: Vector, M: Memory, halves: int) -> int:
    """Write the mean of the pushes with and without contacts that fade; return the worst way in which one was found that counts."""
    weigh_halves(M.parts, M.lacking, M.shares_of_halves, halves, URGENT * M.settings[UNIT_FORCE])
    worst = 0
    for i in range(len(x)):
        x[i] = 0.0
    for number in range(halves):
        weight = M.shares_of_halves[number]
        if weight > 0.0:
            worst = max(worst, int(M.ways[number]))
            for i in range(len(x)):
                x[i] += weight * M.halves[number, i]
    return worst


def weigh_halves(
    parts: Vector, lacking: Vector, weights: Vector, halves: int, urgent: float
) -> None:
    """Write how much each answer counts.

    Args:
        parts: Share of each contact that fades, over that below which it does.
        lacking: (halves,) what each answer lacks of the motion [N].
        weights: (halves,) written, of sum one.
        halves: How many answers there are.
        urgent: What is missing counts in full from here on [N].
    """
    for number in range(halves):
        weights[number] = 1.0
    bit = 1
    for c in range(len(parts)):
        if bit < halves:
            gain = 0.0
            for number in range(halves):
                if number // bit % 2 == 0:
                    less = min(lacking[number + bit] / urgent, 1.0) - min(
                        lacking[number] / urgent, 1.0
                    )
                    gain += max(less, 0.0) * weight_of(parts, number, halves, bit)
            part = min(1.0, parts[c] * (1.0 + HURRY * gain))
            for number in range(halves):
                weights[number] *= part if number // bit % 2 == 0 else 1.0 - part
            bit *= 2


def weight_of(parts: Vector, number: int, halves: int, but: int) -> float:
    """Return the weight of an answer by shares alone, without one of the contacts, given as two to the power of its place."""
    weight, bit = 1.0, 1
    for part in parts:
        if bit < halves and bit != but:
            weight *= part if number // bit % 2 == 0 else 1.0 - part
        bit *= 2
    return weight
