# SPDX-License-Identifier: Apache-2.0
"""Leaning the trunk of a robot whose joints could not hold it up as it rests, so that it starts where its motors can bear its weight."""

from __future__ import annotations

from collections.abc import Container

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.coordinates import Coordinates
from humanoid_dynamics.spatial.arrays import Vector

BEARABLE = 0.9  # of the effort of a joint that its weight may take at rest
WANTED = 0.5  # of it that is left to a joint that leans
MOST_STEPS = 10
LONGEST_STEP = 0.1  # rad or m
SETTLED = 1e-9  # rad or m


def relieve_joints(
    model: pin.Model, coordinates: Coordinates, q: Vector, held: Container[int]
) -> Vector:
    """Move joints that bear more weight than their motors can, until these have half of their effort left.

    Args:
        model: The tree.
        coordinates: Its joints and limits.
        q: (nq,) configuration, upright.
        held: Indices of joints that stay: those between soles and root bear what the ground gives, and not what they carry alone.

    Returns:
        (nq,) the configuration; the same where all can be borne, or where no position can be.
    """
    data, relieved = model.createData(), np.array(q)
    for joint in coordinates.joints:
        effort = coordinates.limits.effort[joint.v]
        hinge = joint.q.stop - joint.q.start == joint.v.stop - joint.v.start == 1
        if not hinge or joint.index in held or not 0.0 < effort[0] < np.inf:
            continue
        if abs(_load(model, data, relieved, joint.v.start)) > BEARABLE * effort[0]:
            relieved = _lean(model, data, relieved, (joint.q.start, joint.v.start), coordinates)
    return relieved


def _load(model: pin.Model, data: pin.Data, q: Vector, i: int) -> float:
    return float(pin.computeGeneralizedGravity(model, data, q)[i])


def _lean(
    model: pin.Model, data: pin.Data, q: Vector, place: tuple[int, int], coordinates: Coordinates
) -> Vector:
    """Search for the position of one joint by Newton's method; where it finds none the posture stays."""
    at, i = place
    limits = coordinates.limits
    wanted = WANTED * float(limits.effort[i])
    moved = np.array(q)
    for _ in range(MOST_STEPS):
        load = _load(model, data, moved, i)
        slope = float(pin.computeGeneralizedGravityDerivatives(model, data, moved)[i, i])
        step = (np.sign(load) * wanted - load) / slope if slope else 0.0
        step = float(np.clip(step, -LONGEST_STEP, LONGEST_STEP))
        moved[at] = np.clip(moved[at] + step, limits.lower[at], limits.upper[at])
        if abs(step) < SETTLED:
            break
    return moved if abs(_load(model, data, moved, i)) <= BEARABLE * limits.effort[i] else q
