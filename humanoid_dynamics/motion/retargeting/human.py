# SPDX-License-Identifier: Apache-2.0
"""A human in motion, as retargeting sees it: points of the body and orientations of its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from humanoid_dynamics.spatial.arrays import Matrix, Vector

SIDES = ("left", "right")
LEG_BONES = (("hip", "knee"), ("knee", "ankle"))


@dataclass(frozen=True, eq=False)
class HumanMotion:
    """A human over time, in a world with z up, in units of the file.

    Attributes:
        origin: The file, for messages.
        times: (n,) instants [s].
        p: Body point -> (n, 3) positions.
        R: Body part -> (n, 3, 3) rotations from the pose in which it stands and faces along x.
        notices: Assumptions of the reader.
    """

    origin: str
    times: Vector
    p: Mapping[str, Matrix] = field(repr=False)
    R: Mapping[str, Matrix] = field(repr=False)
    notices: tuple[str, ...] = ()

    def leg(self) -> float:
        """Length of a leg, the mean of both."""
        bones = [
            np.linalg.norm(self.p[f"{s}_{b}"] - self.p[f"{s}_{a}"], axis=1).mean()
            for s in SIDES
            for a, b in LEG_BONES
        ]
        return 0.5 * float(np.sum(bones))
