# SPDX-License-Identifier: Apache-2.0
"""A state as a simulator hands it to a controller in the same process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from humanoid_dynamics.spatial.arrays import Vector


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """What the topics of a robot tell at one instant.

    Attributes:
        at: When it was measured [ns].
        names: Joint names.
        position: (len(names),) positions [rad or m].
        velocity: (len(names),) velocities [rad/s or m/s].
        pose: (7,) position and quaternion x y z w of the root link [m]; None where the root is not free.
        twist: (6,) its velocity in its own axes [m/s, rad/s].
        forces: Names of surfaces, and the normal force on each [N].
    """

    at: int
    names: Sequence[str]
    position: Vector
    velocity: Vector
    pose: Vector | None
    twist: Vector
    forces: Sequence[tuple[str, float]]
