# SPDX-License-Identifier: Apache-2.0
"""Two supporting limbs that hold one body, in three dimensions: the internal wrench between them, and four ways to choose it.

The limbs are the ways from two contacts to the link where they meet, the trunk of [BP, eq. 61-74].  With T1 the wrench of the first limb on
the trunk and f4* = T1 + T2 what the rest of the robot needs, all torques and both contact wrenches are affine in T1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.errors import HumanoidDynamicsError, ShapeError
from humanoid_dynamics.papers.vdc.adaptive_gains import check_array
from humanoid_dynamics.papers.vdc.decomposition import WORLD, Decomposition
from humanoid_dynamics.papers.vdc.inverse import SubsystemAnswer
from humanoid_dynamics.papers.vdc.transform import build_wrench_transform
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector, check_vector, read_only
from humanoid_dynamics.spatial.records import Sealed


@dataclass(frozen=True, eq=False)
class Limb(Sealed):
    """A limb as a function of its wrench T on the trunk.

    Attributes:
        coordinates: (k,) coordinates of its joints in the velocity.
        B: (k, 6) loads of the joints: B T + b.
        b: (k,) [N·m or N].
        B_tip: (6, 6) contact wrench on its last link, B_tip T + b_tip, about the origin and in axes of the contact; determinant 1.
        b_tip: (6,) [N, N·m].
    """

    coordinates: Indices
    B: Matrix
    b: Vector
    B_tip: Matrix
    b_tip: Vector


@dataclass(frozen=True, eq=False)
class DoubleSupport(Sealed):
    """Two limbs and a trunk at one instant.

    Attributes:
        trunk: Name of the link where the limbs meet.
        first: The limb T1 belongs to.
        second: The other one, with T2 = f4* - T1.
        f4: (6,) f4*, at the origin and in axes of the trunk [N, N·m].
    """

    trunk: str
    first: Limb
    second: Limb
    f4: Vector

    def affine(self) -> tuple[Matrix, Vector]:
        """Return B, b with the loads of all joints of both limbs B T1 + b, first limb first."""
        return np.vstack((self.first.B, -self.second.B)), np.concatenate(
            (self.first.b, self.second.b + self.second.B @ self.f4)
        )


@dataclass(frozen=True, eq=False)
class SupportChoice(Sealed):
    """A choice of the internal wrench.

    Attributes:
        loads: (k1 + k2,) loads of the joints of both limbs [N·m or N].
        T1: (6,) wrench of the first limb on the trunk, at its origin, its axes [N, N·m].
        first_wrench: (6,) contact wrench of the first limb, about the origin and in axes of its contact [N, N·m].
        second_wrench: (6,) the same of the second limb.
        split: Share of f4* given to the first limb beforehand [-]; loads do not depend on it.
        eta: (6,) internal wrench that goes with the split [N, N·m].
    """

    loads: Vector
    T1: Vector
    first_wrench: Vector
    second_wrench: Vector
    split: float
    eta: Vector


def build_double_support(answer: SubsystemAnswer, first: str, second: str) -> DoubleSupport:
    """Cut a robot on two contacts into two limbs and a trunk.

    Args:
        answer: Its recursion without these two contacts; others may be in it.
        first: Contact surface at the end of the first limb.
        second: Contact surface at the end of the second limb.

    Returns:
        Limbs and trunk.

    Raises:
        UnknownNameError: If there is no such surface.
        HumanoidDynamicsError: If the base is not free, or one contact is on the way from the other to the base.
    """
    body = answer.decomposition
    if body.cuts[0].kind not in {"free_flyer", "planar"}:
        raise HumanoidDynamicsError(
            f"double support needs a free base, and {body.robot.name} hangs on a joint of kind {body.cuts[0].kind!r}"
        )
    ways = [_way_to_root(body, surface) for surface in (first, second)]
    shared = [link for link in ways[0] if link in ways[1]]
    if not shared or shared[0] in {ways[0][0], ways[1][0]}:
        raise HumanoidDynamicsError(
            f"contacts {first!r} and {second!r} are not at the ends of two limbs"
        )
    trunk = shared[0]
    paths = [way[: way.index(trunk)][::-1] for way in ways]
    carried = sum(
        (answer.frames.U[path[0]] @ answer.cut_wrenches[path[0]] for path in paths),
        start=np.zeros(6),
    )
    f4 = _move_to(answer, 0, trunk) @ answer.cut_wrenches[0] - carried
    limbs = [
        _build_limb(answer, path, surface)
        for path, surface in zip(paths, (first, second), strict=True)
    ]
    return DoubleSupport(body.links[trunk], limbs[0], limbs[1], read_only(f4))


def choose_minimum_torque(
    support: DoubleSupport,
    released: Matrix | None = None,
    weight: Matrix | None = None,
    split: float = 0.0,
) -> SupportChoice:
    """Choose the internal wrench so that the loads of the joints are least (procedures 1 and 2).

    Args:
        support: Limbs and trunk.
        released: (p, 6) directions in which the second contact carries nothing, its axes; none where None [-].
        weight: (k, k) symmetric positive definite weight of the loads; equal weights where None.
        split: sigma of (61); loads do not depend on it [-].

    Returns:
        The least loads.

    Raises:
        ShapeError: If sizes are wrong, an entry is not finite, or the weight is not symmetric and positive definite.
    """
    B, b = support.affine()
    rows = (
        np.zeros((0, 6))
        if released is None
        else check_array("released", released, (np.shape(released)[:1] or (1,)) + (6,))
    )
    W = np.eye(len(b)) if weight is None else _check_weight(weight, len(b))
    split = float(check_vector("split", [split], 1)[0])
    tip, tip_0 = _second_tip(support)
    b_1, a_2 = b + split * B @ support.f4, rows @ (tip_0 + split * tip @ support.f4)
    A_1 = rows @ tip
    K = np.block([[B.T @ W @ B, A_1.T], [A_1, np.zeros((len(rows), len(rows)))]])
    solution, *_ = np.linalg.lstsq(K, -np.concatenate((B.T @ W @ b_1, a_2)), rcond=None)
    return _describe(support, solution[:6], split)


def choose_contact_wrench(
    support: DoubleSupport, wanted: Vector, *, least_internal: bool = False
) -> SupportChoice:
    """Let the second contact carry a wanted wrench (procedure 3), or the same with the least internal wrench and split (procedure 4).

    Args:
        support: Limbs and trunk.
        wanted: (6,) wrench about the origin and in axes of the second contact [N, N·m].
        least_internal: Whether to choose a split within 0 and 1 for which the internal wrench is small; loads do not change.

    Returns:
        The one answer with this wrench.
    """
    tip, tip_0 = _second_tip(support)
    missing, split = check_vector("wanted", wanted, 6) - tip_0, 0.0
    if least_internal:
        least, *_ = np.linalg.lstsq(np.column_stack((tip, tip @ support.f4)), missing, rcond=None)
        split = float(min(max(least[6], 0.0), 1.0))
    eta = np.linalg.solve(tip, missing - split * tip @ support.f4)
    return _describe(support, np.asarray(eta, dtype=np.float64), split)


def _second_tip(support: DoubleSupport) -> tuple[Matrix, Vector]:
    """Return the wrench on the second contact as a function of T1."""
    second = support.second
    return -second.B_tip, second.b_tip + second.B_tip @ support.f4


def _check_weight(weight: Matrix, size: int) -> Matrix:
    W = check_array("weight", weight, (size, size))
    if not np.allclose(W, W.T) or np.linalg.eigvalsh(W)[0] <= 0.0:
        raise ShapeError("weight", "another matrix", "a symmetric, positive definite one")
    return W


def _describe(support: DoubleSupport, eta: Vector, split: float) -> SupportChoice:
    B, b = support.affine()
    T1 = split * support.f4 + eta
    tip, tip_0 = _second_tip(support)
    return SupportChoice(
        B @ T1 + b, T1, support.first.B_tip @ T1 + support.first.b_tip, tip @ T1 + tip_0, split, eta
    )


def _way_to_root(body: Decomposition, surface: str) -> list[int]:
    frame = body.robot.model.frames[body.robot.surface(surface).frame]
    way = [int(frame.parentJoint) - 1]
    while way[-1] != WORLD:
        way.append(int(body.parent[way[-1]]))
    return way[:-1]


def _build_limb(answer: SubsystemAnswer, path: list[int], surface: str) -> Limb:
    """Go from the trunk to the contact: f of the next cut is U^-1 (f - f*), where f* has all that hangs on the link beside the way."""
    body, U, free = answer.decomposition, answer.frames.U, answer.cut_wrenches
    G, g = -np.linalg.solve(U[path[0]], np.eye(6)), np.zeros(6)
    rows, offsets, coordinates = [], [], []
    for i, link in enumerate(path):
        S, part = answer.frames.S[link], body.cuts[link].coordinates
        rows.append(S.T @ G)
        offsets.append(S.T @ g)
        coordinates += list(range(part.start, part.stop))
        following = path[i + 1] if i + 1 < len(path) else None
        own = free[link] if following is None else free[link] - U[following] @ free[following]
        g = g - own
        if following is not None:
            G, g = np.linalg.solve(U[following], G), np.linalg.solve(U[following], g)
    X_CB = body.robot.model.frames[body.robot.surface(surface).frame].placement.inverse()
    to_contact = build_wrench_transform(X_CB.rotation, X_CB.translation)
    return Limb(
        np.array(coordinates, dtype=np.intp),
        np.vstack(rows),
        np.concatenate(offsets),
        -to_contact @ G,
        -to_contact @ g,
    )


def _move_to(answer: SubsystemAnswer, link: int, target: int) -> Matrix:
    """Return the matrix that takes wrenches at one link to another link."""
    R_WA, R_WB = answer.frames.R_WB[link], answer.frames.R_WB[target]
    return build_wrench_transform(
        R_WB.T @ R_WA, R_WB.T @ (answer.frames.p_WB[link] - answer.frames.p_WB[target])
    )
