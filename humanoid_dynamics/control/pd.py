# SPDX-License-Identifier: Apache-2.0
"""Joint position control."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False)
class PdController:
    """Proportional-derivative control of every motor, tau = kp (q_ref - q) - kd v.

    A simulation integrates it implicitly, so any gains are stable.

    Attributes:
        kp: Stiffness of every motor, or coordinate name -> stiffness [N·m/rad, N/m].
        kd: Damping likewise [N·m·s/rad, N·s/m].
        q_ref: (nq,) configuration to hold; the standing posture where None.
    """

    kp: float | Mapping[str, float]
    kd: float | Mapping[str, float]
    q_ref: ArrayLike | None = None
