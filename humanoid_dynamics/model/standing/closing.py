# SPDX-License-Identifier: Apache-2.0
"""Rows that a resting posture must satisfy: loops closed, mimic joints in step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.joint import Joint, Mimic
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.spatial.arrays import Matrix, Vector


@dataclass(frozen=True, eq=False)
class Rows:
    """Linearised equations: the error and its derivative by the velocity coordinates.

    Attributes:
        error: (m,) what should be zero.
        J: (m, nv) its derivative.
    """

    error: Vector
    J: Matrix

    @classmethod
    def stack(cls, parts: list[Rows], nv: int) -> Rows:
        """Return all rows of some parts, in their order; none where there are none."""
        errors, rows = [part.error for part in parts], [part.J for part in parts]
        return cls(np.concatenate([np.zeros(0), *errors]), np.vstack([np.zeros((0, nv)), *rows]))


def loop_rows(model: pin.Model, data: pin.Data, loop: LoopClosure) -> Rows:
    """Return the equations of one loop closure.

    Args:
        model: The tree.
        data: With joint Jacobians and frame placements computed.
        loop: The closure.

    Returns:
        Up to six rows; position rows in axes of frame A [m], then rotation rows [rad].
    """
    X_WA, J_A = _frame(model, data, loop.link_a, loop.X_LA)
    X_WB, J_B = _frame(model, data, loop.link_b, loop.X_LB)
    X_AB = X_WA.actInv(X_WB)
    R = X_AB.rotation
    J = J_B - X_AB.inverse().toActionMatrix() @ J_A
    J_p, J_w = R @ J[:3], R @ J[3:]
    p = X_AB.translation
    # Each rotation row is the derivative of its error for a turn w of B, in axes of A: d(z) = w x z.
    turned = Rows(pin.log3(R), pin.Jlog3(R) @ R.T @ J_w)
    aligned = Rows(R[:2, 2].copy(), -pin.skew(R[:, 2])[:2] @ J_w)
    crossed = Rows(R[:1, 1].copy(), (-pin.skew(R[:, 1])[:1]) @ J_w)
    together = {"planar": [2], "prismatic": [0, 1]}.get(loop.kind, [0, 1, 2])
    rotation = {
        "fixed": turned,
        "prismatic": turned,
        "revolute": aligned,
        "planar": aligned,
        "universal": crossed,
    }.get(loop.kind)
    parts = [Rows(p[together], J_p[together])] + ([] if rotation is None else [rotation])
    return Rows.stack(parts, model.nv)


def mimic_rows(
    model: pin.Model, q: Vector, mimics: tuple[Mimic, ...], joints: dict[str, Joint]
) -> Rows:
    """Return one row for each joint that follows another: position - ratio * leader - offset."""
    parts = []
    for mimic in mimics:
        follower, leader = joints[mimic.joint], joints[mimic.leader]
        if follower.q.stop - follower.q.start == leader.q.stop - leader.q.start == 1:
            J = np.zeros((1, model.nv))
            J[0, follower.v], J[0, leader.v] = 1.0, -mimic.ratio
            parts.append(Rows(q[follower.q] - mimic.ratio * q[leader.q] - mimic.offset, J))
    return Rows.stack(parts, model.nv)


def _frame(model: pin.Model, data: pin.Data, link: str, X_LF: pin.SE3) -> tuple[pin.SE3, Matrix]:
    """Return the pose of a frame in the world and its (6, nv) Jacobian in its own axes."""
    index = model.getFrameId(link, pin.FrameType.BODY)
    J = pin.getFrameJacobian(model, data, index, pin.ReferenceFrame.LOCAL)
    return data.oMf[index] * X_LF, X_LF.inverse().toActionMatrix() @ J
