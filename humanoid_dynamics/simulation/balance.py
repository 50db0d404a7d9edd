# SPDX-License-Identifier: Apache-2.0
"""Whether the books of energy balance: what may come from nowhere, as a share of all that came and went."""

from __future__ import annotations

from math import sqrt

from humanoid_dynamics.simulation.books import Books

ENERGY = 1e-3  # of all energy there was at the start or came and went since
NONE = 1e-6  # what may be missing where there is none [J, N·s, N·m·s]
ROUND_OFF = 1e-9  # share of it that says nothing about a step
GAIN = 1e-2  # of the largest kinetic energy so far: what steps may make out of nothing in a second [1/s]
JOLT = (
    1e-2  # of the momentum that belongs to the kinetic energy: what a step may make out of nothing
)
FREE = 1e-4  # what a step may make wherever it is [J]


def sum_energy(books: Books) -> float:
    """Return the energy at the start and all work since, but for that of corrections [J].

    Args:
        books: The books.
    """
    return abs(books.start) + sum(
        abs(work) for name, work in books.work.items() if name != "corrections"
    )


def find_imbalance(books: Books, before: float, kinetic: float) -> str:
    """Return in words what a step lost or made, where that takes what is missing out of what may be; empty where it does not.

    Args:
        books: The books after the step.
        before: What was missing before it [J].
        kinetic: Kinetic energy, which counts where all began with none [J].
    """
    missing, came = books.missing, sum_energy(books) + kinetic
    if abs(missing) <= ENERGY * came + NONE or not abs(missing) > abs(before) + ROUND_OFF * came:
        return ""
    said = f"energy error of {missing - before:.1e} J in the step, {missing:.1e} J since the start"
    return f"{said}: more than {ENERGY:g} of the {came:.3g} J that came and went"


def find_jolt(momentum: float, mass: float, kinetic: float) -> str:
    """Return in words what momentum came from nowhere in a step, where that is more than one may; empty where it is not.

    Args:
        momentum: Momentum that no force of the step gave [N·s].
        mass: Mass of all bodies [kg].
        kinetic: Their kinetic energy [J].
    """
    whole = sqrt(2.0 * mass * kinetic)
    if not momentum > JOLT * whole + NONE:
        return ""
    return f"momentum error of {momentum:.1e} N·s in the step: more than {JOLT:g} of the {whole:.3g} N·s that move"


def find_gain(made: float, kinetic: float, dt: float) -> str:
    """Return in words what a step made out of nothing, where that is more than one may; empty where it is not.

    Args:
        made: Energy that it made out of nothing [J].
        kinetic: Largest kinetic energy so far [J].
        dt: Length of the step [s].
    """
    if not made > GAIN * dt * kinetic + FREE:
        return ""
    return f"the step made {made:.1e} J out of nothing: more than {GAIN * dt:g} of the {kinetic:.3g} J at which all moved most"
