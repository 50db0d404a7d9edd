# SPDX-License-Identifier: Apache-2.0
"""Torques as they come in: checked, cut to what motors can give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.simulation.setup import SimulationStatus
from humanoid_dynamics.spatial.arrays import Vector, as_real, read_only


@dataclass(frozen=True, eq=False)
class Torque:
    """Torques that can be used, and what was wrong with those that came.

    Attributes:
        tau: (na,) finite torques within limits.
        status: ``OK``, ``SATURATED`` or ``INVALID_INPUT``.
        reason: Which joint, and what; empty where nothing is wrong.
    """

    tau: Vector
    status: SimulationStatus = SimulationStatus.OK
    reason: str = ""


def read_torque(
    names: Sequence[str], effort: Vector, given: Vector | Mapping[str, float] | None
) -> Torque:
    """Return usable torques: what is not a number counts as zero, what is too large is cut.

    Args:
        names: Coordinates with a motor.
        effort: (na,) the most each can give.
        given: (na,) torques, or name -> torque; none where left out.

    Returns:
        The torques.

    Raises:
        ShapeError: If there are too many or too few, or what is no real number.
        UnknownNameError: If a name has no motor.
    """
    if given is None:
        return Torque(read_only(np.zeros(len(names))))
    try:
        tau = as_real(_in_order(names, given) if isinstance(given, Mapping) else given)
    except (TypeError, ValueError, OverflowError) as cause:
        raise ShapeError("tau", f"{given!r:.80}", f"{len(names)} real numbers") from cause
    if tau.shape != (len(names),):
        raise ShapeError("tau", f"shape {tau.shape}", f"({len(names)},)")
    size = np.abs(tau)
    if (size <= effort).all():
        return Torque(read_only(tau))
    wrong = np.flatnonzero(~np.isfinite(tau))
    if len(wrong):
        usable = np.clip(np.where(np.isfinite(tau), tau, 0.0), -effort, effort)
        return Torque(
            usable,
            SimulationStatus.INVALID_INPUT,
            f"torque of {names[wrong[0]]!r} is {tau[wrong[0]]}; zero was taken",
        )
    worst = int(np.argmax(size - effort))
    said = f"torque of {names[worst]!r} is {tau[worst]:.6g}, its motor gives {effort[worst]:.6g}; it was cut"
    return Torque(np.clip(tau, -effort, effort), SimulationStatus.SATURATED, said)


def _in_order(names: Sequence[str], given: Mapping[str, float]) -> list[float]:
    tau = [0.0] * len(names)
    for name, value in given.items():
        if name not in names:
            raise UnknownNameError("motor", name, names)
        tau[names.index(name)] = value
    return tau
