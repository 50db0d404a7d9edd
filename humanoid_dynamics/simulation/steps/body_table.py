# SPDX-License-Identifier: Apache-2.0
"""The tree as compiled sweeps read it: kinds of joints, bodies, and the chains of coordinates that carry one another."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pinocchio as pin

from humanoid_dynamics.simulation.steps.joint_kinds import (
    B_AXIS,
    B_C,
    B_FLIES,
    B_I,
    B_MASS,
    B_R,
    B_T,
    BALL,
    BODY_COLUMNS,
    FREE,
    HINGE,
    JOINT_COLUMNS,
    SLIDER,
    TILTED,
    WHEEL,
)
from humanoid_dynamics.simulation.steps.shelf import take_matrix, take_table, take_vector
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

KINDS = MappingProxyType(
    {
        "JointModelFreeFlyer": FREE,
        "JointModelSpherical": BALL,
        "JointModelRevoluteUnaligned": TILTED,
        "JointModelRevoluteUnboundedUnaligned": WHEEL,
        "JointModelPrismaticUnaligned": SLIDER,
        **{f"JointModelR{letter}": HINGE + k for k, letter in enumerate("XYZ")},
        **{f"JointModelRUB{letter}": WHEEL for letter in "XYZ"},
        **{f"JointModelP{letter}": SLIDER for letter in "XYZ"},
    }
)


Body: TypeAlias = tuple[
    Indices, Matrix, Indices, Vector, Vector
]  # a plain tuple costs less to hand to a compiled function


class BodyTable(NamedTuple):
    """A tree as compiled sweeps read it.

    Attributes:
        joints: Table of joints.
        bodies: Table of bodies.
        chains: (nv, 1 + 2r) for each coordinate, those that carry it and itself as runs: number of columns in use, then first and one
            after the last of each run.
        gravity: (3,) gravity [m/s²].
        rotors: (nv,) inertia of rotors.
    """

    joints: Indices
    bodies: Matrix
    chains: Indices
    gravity: Vector
    rotors: Vector


def take_body(shelf: Any, k: int) -> Body:
    """Return the tables of a tree, in the order of ``BodyTable``, from a shelf.

    Args:
        shelf: The shelf.
        k: Where they begin.
    """
    joints, bodies, chains = (
        take_table(shelf, k),
        take_matrix(shelf, k + 1),
        take_table(shelf, k + 2),
    )
    return joints, bodies, chains, take_vector(shelf, k + 3), take_vector(shelf, k + 4)


def list_bodies(model: pin.Model, parents: Indices) -> BodyTable | None:
    """Return the tables of a tree; None where it has a joint of a kind that the sweeps do not know.

    Args:
        model: The model.
        parents: (nv,) coordinate that carries each.
    """
    kinds = [model.joints[k].shortname() for k in range(1, model.njoints)]
    if not KINDS.keys() >= set(kinds):
        return None
    joints, bodies = (
        np.zeros((model.njoints, JOINT_COLUMNS), dtype=np.intp),
        np.zeros((model.njoints, BODY_COLUMNS)),
    )
    data = model.createData()
    pin.computeJointJacobians(model, data, pin.neutral(model))
    for k, kind in enumerate(kinds, start=1):
        joint, placement = model.joints[k], model.jointPlacements[k]
        plain = KINDS[kind] < TILTED and np.array_equal(placement.rotation, np.eye(3))
        joints[k] = KINDS[kind], model.parents[k], joint.idx_q, joint.idx_v, joint.nv, plain
        S = pin.getJointJacobian(model, data, k, pin.LOCAL).reshape(6, -1)[
            :, joint.idx_v : joint.idx_v + joint.nv
        ]
        bodies[k] = _describe_body(placement, S, model.inertias[k])
    bodies[:, B_FLIES] = find_flying(model)
    return BodyTable(
        joints,
        bodies,
        list_chains(parents),
        np.array(model.gravity.linear),
        np.array(model.armature),
    )


def find_flying(model: pin.Model) -> Vector:
    """Return (nj,) one for each joint that a free joint at the root carries, itself included, and zero for the others.

    Args:
        model: The model.
    """
    flies: Vector = np.zeros(model.njoints)
    for k in range(1, model.njoints):
        above = int(model.parents[k])
        flies[k] = (
            flies[above] if above else float(model.joints[k].shortname() == "JointModelFreeFlyer")
        )
    return flies


def list_chains(parents: Indices) -> Indices:
    """Return (nv, 1 + 2r) runs of the coordinates that carry each, itself included.

    Args:
        parents: (nv,) coordinate that carries each, -1 for none.
    """
    runs: list[list[int]] = []
    for k, above in enumerate(parents.tolist()):
        before = list(runs[above]) if above >= 0 else []
        if before and before[-1] == k:
            before[-1] = k + 1
        else:
            before += [k, k + 1]
        runs.append(before)
    chains = np.zeros((len(runs), 1 + max(map(len, runs), default=0)), dtype=np.intp)
    for row, run in zip(chains, runs, strict=True):
        row[0], row[1 : 1 + len(run)] = 1 + len(run), run
    return chains


def _describe_body(placement: pin.SE3, S: Matrix, inertia: pin.Inertia) -> Vector:
    row = np.zeros(BODY_COLUMNS)
    row[B_R:B_T], row[B_T:B_AXIS] = placement.rotation.ravel(order="F"), placement.translation
    if S.shape[1] == 1:
        row[B_AXIS:B_MASS] = S[:3, 0] + S[3:, 0]
    row[B_MASS], row[B_C:B_I] = inertia.mass, inertia.lever
    row[B_I:B_FLIES] = inertia.inertia[(0, 0, 1, 0, 1, 2), (0, 1, 1, 2, 2, 2)]
    return row


PARTS = (take_body,)
