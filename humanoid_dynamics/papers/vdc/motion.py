# SPDX-License-Identifier: Apache-2.0
"""The way outward: frames and velocities of all links, from the base to the tips [BP, eq. 36]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.papers.vdc.decomposition import WORLD, Cut, Decomposition
from humanoid_dynamics.papers.vdc.transform import build_wrench_transform, motion_cross
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.records import Sealed


@dataclass(frozen=True, eq=False)
class Frames(Sealed):
    """Where all links are at one configuration.

    Attributes:
        U: (n, 6, 6) U_PB of every cut: takes wrenches at B to the frame of the link it hangs from [BP, eq. 31].
        S: (n) motion subspaces, (6, k) each: the velocity a joint adds to its link, axes of B; z of [BP, eq. 36].
        R_WB: (n, 3, 3) orientations of the links.
        p_WB: (n, 3) positions of their origins [m].
    """

    U: Matrix
    S: tuple[Matrix, ...]
    R_WB: Matrix
    p_WB: Matrix


@dataclass(frozen=True, eq=False)
class LinkMotion(Sealed):
    """How all links move; six-vectors in axes of each link, at its origin.

    Attributes:
        V: (n, 6) velocities [m/s, rad/s].
        A: (n, 6) derivatives of their components [m/s², rad/s²]; at rest the linear part is the acceleration of the origin.
    """

    V: Matrix
    A: Matrix


class FrameFinder:
    """Finds the frames of a robot's links; owns the work space for it, so one for each thread."""

    def __init__(self, decomposition: Decomposition) -> None:
        """Prepare.

        Args:
            decomposition: The robot, cut.
        """
        self._model = decomposition.robot.model
        self._cuts = decomposition.cuts
        self._data = self._model.createData()

    def at(self, q: Vector) -> Frames:
        """Find the frames.

        Args:
            q: (nq,) configuration.

        Returns:
            The frames.
        """
        data = self._data
        pin.forwardKinematics(self._model, data, q)
        count = len(self._cuts)
        R_PB, p_PB = np.empty((count, 3, 3)), np.empty((count, 3))
        R_WB, p_WB = np.empty((count, 3, 3)), np.empty((count, 3))
        for i in range(count):
            X_PB, X_WB = data.liMi[i + 1], data.oMi[i + 1]
            R_PB[i], p_PB[i] = X_PB.rotation, X_PB.translation
            R_WB[i], p_WB[i] = X_WB.rotation, X_WB.translation
        S = tuple(np.array(data.joints[i + 1].S).reshape(6, -1) for i in range(count))
        return Frames(build_wrench_transform(R_PB, p_PB), S, R_WB, p_WB)


def compute_link_motion(
    decomposition: Decomposition, frames: Frames, v: Vector, a: Vector
) -> LinkMotion:
    """Compute how the links move, outward.

    Args:
        decomposition: The robot, cut.
        frames: Where its links are.
        v: (nv,) velocity.
        a: (nv,) acceleration.

    Returns:
        Velocities and their derivatives.
    """
    return compute_required_motion(decomposition, frames, v, v, a)


def compute_required_motion(
    decomposition: Decomposition, frames: Frames, v: Vector, v_r: Vector, a_r: Vector
) -> LinkMotion:
    """Compute how the links would move at required rates, while their frames move as they do.

    With z the motion subspace and U the transform of a cut: V_r = z v_r + U' V_r,parent, and by components
    dV_r/dt = z a_r + (dz/dt) v_r + U' dV_r,parent/dt - (z v) x (U' V_r,parent).

    Args:
        decomposition: The robot, cut.
        frames: Where its links are.
        v: (nv,) measured velocity.
        v_r: (nv,) required velocity.
        a_r: (nv,) its derivative.

    Returns:
        Required velocities and the derivatives of their components.
    """
    own, V, A = (np.zeros((len(decomposition.cuts), 6)) for _ in range(3))
    for cut, S in zip(decomposition.cuts, frames.S, strict=True):
        i, part = cut.driven, cut.coordinates
        own[i], V[i], A[i] = S @ v[part], S @ v_r[part], S @ a_r[part]
        if len(cut.groups) > 1:
            A[i] += _subspace_rate(cut, S, v[part]) @ v_r[part]
    carried = _carry_outward(decomposition, frames, V)
    A -= (motion_cross(own) @ carried[..., None])[..., 0]
    _carry_outward(decomposition, frames, A)
    return LinkMotion(V, A)


def _carry_outward(decomposition: Decomposition, frames: Frames, values: Matrix) -> Matrix:
    """Add to every row U' times that of the link before it, in place; return what was added."""
    carried = np.zeros_like(values)
    for i, parent in enumerate(decomposition.parent):
        if parent != WORLD:
            carried[i] = values[parent] @ frames.U[i]
            values[i] += carried[i]
    return carried


def _subspace_rate(cut: Cut, S: Matrix, rate: Vector) -> Matrix:
    """Return dS/dt in axes of the child, (6, k): each part of a joint is turned by the parts that come after it."""
    S_rate = np.zeros_like(S)
    later = np.zeros(6)
    for group in reversed(cut.groups):
        S_rate[:, group] = -motion_cross(later) @ S[:, group]
        later += S[:, group] @ rate[group]
    return S_rate
