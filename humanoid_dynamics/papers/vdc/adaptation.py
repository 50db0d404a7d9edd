# SPDX-License-Identifier: Apache-2.0
"""Learning masses while moving: parameters follow the power a subsystem misses and keep their bounds [BP, remark 1]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only


@dataclass(frozen=True, eq=False)
class ParameterBounds:
    """What is known of parameters beforehand.

    Attributes:
        lower: Smallest values, any shape.
        upper: Largest values, the same shape; equal to ``lower`` where a parameter is known.
    """

    lower: Matrix
    upper: Matrix

    def __post_init__(self) -> None:
        lower, upper = read_only(self.lower), read_only(self.upper)
        if lower.shape != upper.shape:
            raise ShapeError("upper", f"shape {upper.shape}", f"that of lower, {lower.shape}")
        if not (np.isfinite(lower).all() and np.isfinite(upper).all()):
            raise ShapeError("bounds", "an entry that is not finite", "finite numbers")
        if (lower > upper).any():
            raise ShapeError(
                "upper", f"{float((upper - lower).min()):g} below lower", "numbers not below lower"
            )
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    @classmethod
    def around(cls, values: ArrayLike, share: float) -> ParameterBounds:
        """Return bounds some share of the magnitude below and above values.

        Args:
            values: Values, any shape.
            share: Half the width over the magnitude [-].
        """
        middle = np.asarray(values, dtype=np.float64)
        return cls(middle - share * np.abs(middle), middle + share * np.abs(middle))


def project_rates(estimate: Matrix, drive: Matrix, bounds: ParameterBounds) -> Matrix:
    """Return how fast parameters may follow their drive: not at all outward from a bound.

    Args:
        estimate: Values now.
        drive: What pulls at them, Y'(V_r - V).
        bounds: Of the values, the same shape.

    Returns:
        kappa drive, with kappa 0 where an estimate at its bound is pulled outward and 1 elsewhere.
    """
    stopped = ((estimate <= bounds.lower) & (drive < 0.0)) | (
        (estimate >= bounds.upper) & (drive > 0.0)
    )
    return np.where(stopped, 0.0, drive)


def update_parameters(
    estimate: Matrix, drive: Matrix, gain: Matrix | float, bounds: ParameterBounds, dt: float
) -> Matrix:
    """Advance estimates by one step of d/dt p_i = rho_i s_i kappa_i, without ever leaving their bounds.

    Args:
        estimate: Values now.
        drive: What pulls at them, Y'(V_r - V) [unit of power over that of the parameter].
        gain: rho, the same shape or one number [unit of the parameter squared over J].
        bounds: Of the values, the same shape.
        dt: Step [s].

    Returns:
        Values one step later.
    """
    step = gain * project_rates(estimate, drive, bounds) * dt
    return np.asarray(np.clip(estimate + step, bounds.lower, bounds.upper))


def scale_gains(bounds: ParameterBounds, time: float, power: float) -> Vector:
    """Return gains that cross the width of the bounds in a given time at a given missing power.

    A parameter p pulled by s has the unit of power over p; gains of width²/(power · time) give all parameters the same pace, and none to
    those that are known.

    Args:
        bounds: Of the parameters.
        time: To cross them [s].
        power: Typical missing power [W].

    Returns:
        Gains rho, the shape of the bounds.
    """
    return np.asarray((bounds.upper - bounds.lower) ** 2 / (power * time))
