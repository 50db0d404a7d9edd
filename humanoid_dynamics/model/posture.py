"""The pose a robot rests in."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.coordinates import Coordinates
from humanoid_dynamics.model.robot import Notice
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.spatial.arrays import Vector, read_only

GROUND_TOLERANCE = 2e-3  # m


def resting_posture(
    model: pin.Model,
    root: str,
    coordinates: Coordinates,
    described: Mapping[str, float],
    surfaces: Mapping[str, ContactSurface],
) -> tuple[Vector, tuple[Notice, ...]]:
    """Return the resting configuration."""
    q = pin.neutral(model)
    for joint in coordinates.joints:
        if joint.name in described and joint.q.stop - joint.q.start == 1:
            q[joint.q] = described[joint.name]
    if root == "free_flyer" and surfaces:
        data = model.createData()
        pin.framesForwardKinematics(model, data, q)
        low = min((data.oMf[s.frame].act(v))[2] for s in surfaces.values() for v in s.vertices)
        q[2] -= low
    return read_only(np.asarray(q)), ()


def find_stance(model: pin.Model, q: Vector, surfaces: Mapping[str, ContactSurface]) -> tuple[str, ...]:
    """Return the surfaces that lie on the ground z = 0 as a whole.

    Args:
        model: The tree.
        q: (nq,) configuration.
        surfaces: The surfaces.

    Returns:
        Their names.
    """
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    return tuple(name for name, s in surfaces.items() if all(abs(data.oMf[s.frame].act(v)[2]) < GROUND_TOLERANCE for v in s.vertices))
