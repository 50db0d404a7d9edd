# SPDX-License-Identifier: Apache-2.0
"""Motion of frame A as seen from frame B, in axes of B: the common ground of every loop closure [CK, eq. 10].

Rows are J_A - J_B with both Jacobians taken at one material point, the origin of A, and in one set of axes, those of B.  They are the
exact derivative of the position of A in B, also where B turns and where A slides along B; so is the drift.
"""

from __future__ import annotations

import pinocchio as pin

from humanoid_dynamics.constraints.kinematics import Attachment, Kinematics
from humanoid_dynamics.spatial.arrays import Matrix, Vector


def relative_jacobian(kinematics: Kinematics, A: Attachment, B: Attachment) -> Matrix:
    """Return the Jacobian of the twist of A relative to B.

    Args:
        kinematics: Poses and joint Jacobians.
        A: Frame that moves.
        B: Frame it is seen from.

    Returns:
        (6, nv) rows, linear then angular, at the origin of A in axes of B.
    """
    X_BA = kinematics.relative(A, B)
    X_AP = pin.SE3(X_BA.rotation.T, _ORIGIN)  # P: origin of A, axes of B
    rows = kinematics.jacobian(Attachment(A.joint, A.X_JF * X_AP), pin.LOCAL)
    if B.joint:
        rows -= kinematics.jacobian(
            Attachment(B.joint, B.X_JF * pin.SE3(_AXES, X_BA.translation)), pin.LOCAL
        )
    return rows


def relative_drift(
    kinematics: Kinematics, A: Attachment, B: Attachment
) -> tuple[Vector, Vector, Vector]:
    """Return the acceleration of A seen from B at zero generalized acceleration, and the angular velocity it goes with.

    With V = V_A - X_AB V_B in axes of A, the derivative of X_AB is -V x X_AB, hence V' = A_A - X_AB A_B + V x X_AB V_B; turning the
    linear part into axes of B adds omega x v.

    Args:
        kinematics: Poses, velocities and accelerations.
        A: Frame that moves.
        B: Frame it is seen from.

    Returns:
        (3,) linear drift, (3,) angular drift and (3,) relative angular velocity, all in axes of B.
    """
    model, data = kinematics.model, kinematics.data
    V = pin.getFrameVelocity(model, data, A.joint, A.X_JF, pin.LOCAL)
    drift = pin.getFrameAcceleration(model, data, A.joint, A.X_JF, pin.LOCAL)
    X_BA = kinematics.relative(A, B)
    if B.joint:
        V_B = X_BA.actInv(pin.getFrameVelocity(model, data, B.joint, B.X_JF, pin.LOCAL))
        A_B = X_BA.actInv(pin.getFrameAcceleration(model, data, B.joint, B.X_JF, pin.LOCAL))
        V -= V_B
        drift = (
            drift - A_B + V.cross(V_B)
        )  # gravity, where the accelerations hold it, is in both and goes out
    else:
        drift.linear += kinematics.pose(A).rotation.T.dot(kinematics.lift_W[:3])
    R_BA = X_BA.rotation
    return R_BA.dot(pin.classicAcceleration(V, drift)), R_BA.dot(drift.angular), R_BA.dot(V.angular)


_ORIGIN = pin.SE3.Identity().translation
_AXES = pin.SE3.Identity().rotation
