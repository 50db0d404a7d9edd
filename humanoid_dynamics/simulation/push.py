"""A wrench on a link for a while."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.spatial.arrays import Vector


@dataclass(frozen=True, eq=False)
class Push:
    """A constant force and moment, in axes of the world, that rides on a link.

    Attributes:
        link: The link.
        force: (3,) force [N].
        moment: (3,) moment about the point [N·m].
        point: (3,) where it acts, in the link [m].
        start: When it begins [s].
        duration: How long it lasts [s].
    """

    link: str
    force: Vector
    moment: Vector
    point: Vector
    start: float
    duration: float

    def share(self, t: float, dt: float) -> float:
        """Return the share of a step from t to t + dt during which it acts, so that its impulse is exact."""
        overlap = min(t + dt, self.start + self.duration) - max(t, self.start)
        return max(0.0, overlap) / dt

    def over(self, t: float) -> bool:
        """Return whether it has ended."""
        return t >= self.start + self.duration


def shifted(push: Push, place: Vector) -> Vector:
    """Return the wrench of a push about the origin of the world (6,), for a point that is now at a place (3,)."""
    moment = push.moment + np.array(
        [
            place[1] * push.force[2] - place[2] * push.force[1],
            place[2] * push.force[0] - place[0] * push.force[2],
            place[0] * push.force[1] - place[1] * push.force[0],
        ]
    )
    return np.concatenate((push.force, moment))
