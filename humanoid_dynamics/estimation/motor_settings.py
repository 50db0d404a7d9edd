# SPDX-License-Identifier: Apache-2.0
"""Thermal data of motors."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from humanoid_dynamics.spatial.arrays import Vector

COPPER = 3.93e-3  # 1/K; rise of the resistance of copper with temperature
NORMAL = 25.0  # degC; temperature at which motor constants hold
LONGEST_STEP = 1.0  # s; a longer time is taken in steps of this size
LONGEST_FORECAST = 1e5  # s; a limit that is reached later counts as never reached
BISECTIONS = 50


@dataclass(frozen=True, eq=False)
class MotorData:
    """Thermal data of motors; numbers hold for all, arrays (n,) for each.

    Attributes:
        constant: (n,) motor constants at the joint [N·m/sqrt(W)].
        winding_resistance: Thermal resistance from winding to housing [K/W].
        housing_resistance: Thermal resistance from housing to ambient [K/W].
        winding_capacity: Heat capacity of the winding [J/K].
        housing_capacity: Heat capacity of the housing [J/K].
        limit: Largest winding temperature [degC].
        ambient: Ambient temperature [degC].
        assumed: Whether constants were derived from torque limits.
    """

    constant: Vector
    winding_resistance: float | Vector = 0.6
    housing_resistance: float | Vector = 1.5
    winding_capacity: float | Vector = 40.0
    housing_capacity: float | Vector = 350.0
    limit: float | Vector = 120.0
    ambient: float = 25.0
    assumed: bool = False

    @staticmethod
    def from_torque_limits(limits: Vector, continuous: float = 0.3) -> MotorData:
        """Return data of motors that reach their temperature limit with a share of their torque limit.

        Args:
            limits: (n,) torque limits [N·m or N].
            continuous: Share of the limit that a motor holds for ever.
        """
        data = MotorData(np.ones(len(limits)), assumed=True)
        rise = float(np.max(data.limit)) - data.ambient
        loss = rise / (
            float(np.max(data.winding_resistance)) + float(np.max(data.housing_resistance))
        )
        copper = 1.0 + COPPER * (float(np.max(data.limit)) - NORMAL)
        return replace(
            data, constant=continuous * np.asarray(limits, float) * np.sqrt(copper / loss)
        )

    def compute_loss(self, tau: Vector, winding: Vector) -> Vector:
        """Return the copper loss of each motor, (n,) [W].

        Args:
            tau: (n,) torques [N·m or N].
            winding: (n,) winding temperatures [degC].
        """
        loss: Vector = (tau / self.constant) ** 2 * (1.0 + COPPER * (winding - NORMAL))
        return loss
