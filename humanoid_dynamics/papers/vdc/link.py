# SPDX-License-Identifier: Apache-2.0
"""The link subsystem: M_B dV/dt + C_B V + g_B = f*, in axes of the link about its own origin [BP, eq. 45].

f* is the net wrench without gravity; gravity stands on the left, with the upward vector (0, 0, +9.81) [BP, eq. 38].
"""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.rotation import skew

LINK_PARAMETERS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")


def build_link_mass(m: Vector, r: Vector, I_com: Matrix) -> Matrix:
    """Build M_B = [[m E, -m r x], [m r x, I - m (r x)²]].

    Args:
        m: (...) masses [kg].
        r: (..., 3) centres of mass in the link frame [m].
        I_com: (..., 3, 3) moments of inertia about the centre of mass, axes of the link [kg·m²].

    Returns:
        (..., 6, 6) mass matrices, symmetric.
    """
    M = np.zeros((*r.shape[:-1], 6, 6))
    lever = m[..., None, None] * skew(r)
    M[..., :3, :3] = m[..., None, None] * np.eye(3)
    M[..., :3, 3:] = -lever
    M[..., 3:, :3] = lever
    M[..., 3:, 3:] = I_com - lever @ skew(r)
    return M


def build_link_coriolis(m: Vector, r: Vector, I_com: Matrix, w: Vector) -> Matrix:
    """Build C_B = [[m w x, -m w x r x], [m r x w x, w x I + I w x - m r x w x r x]]; skew because of I w x, which adds I (w x w) = 0.

    Args:
        m: (...) masses [kg].
        r: (..., 3) centres of mass in the link frame [m].
        I_com: (..., 3, 3) moments of inertia about the centre of mass, axes of the link [kg·m²].
        w: (..., 3) angular velocities of the links, their own axes [rad/s].

    Returns:
        (..., 6, 6) matrices of centrifugal and Coriolis wrenches, skew-symmetric.
    """
    C = np.zeros((*r.shape[:-1], 6, 6))
    W, lever = skew(w), m[..., None, None] * skew(r)
    C[..., :3, :3] = m[..., None, None] * W
    C[..., :3, 3:] = -W @ lever
    C[..., 3:, :3] = lever @ W
    C[..., 3:, 3:] = W @ I_com + I_com @ W - lever @ W @ skew(r)
    return C


def build_link_gravity(m: Vector, r: Vector, up: Vector) -> Vector:
    """Build g_B = [m R g; m r x R g], the wrench that holds a link at rest.

    Args:
        m: (...) masses [kg].
        r: (..., 3) centres of mass in the link frame [m].
        up: (..., 3) R_BW g: minus the acceleration of gravity, axes of the link [m/s²].

    Returns:
        (..., 6) wrenches about the origin of the link, its own axes [N, N·m].
    """
    force = m[..., None] * up
    return np.concatenate((force, np.cross(r, force)), axis=-1)


def build_link_regressor(acceleration: Vector, velocity: Vector, w: Vector, up: Vector) -> Matrix:
    """Build Y with f* = Y p for the ten parameters p of a link: m, m r, and the six moments about the origin of its frame.

    With the velocity of the link itself, Y p equals M_B dV/dt + C_B V + g_B.  With another, required velocity it equals the same with
    a C_B whose corner is -(I_B w) x in place of w x I + I w x - m r x w x r x.  Both are skew and agree on the velocity
    of the link, but only this one is linear in ten parameters: the other needs m |r|² as a parameter of its own.

    Args:
        acceleration: (..., 6) derivatives of the components of ``velocity`` [m/s², rad/s²].
        velocity: (..., 6) velocity of the link, or a required one, axes of the link [m/s, rad/s].
        w: (..., 3) angular velocity of the link, its own axes [rad/s].
        up: (..., 3) minus the acceleration of gravity, axes of the link [m/s²].

    Returns:
        (..., 6, 10) matrices, columns in the order of ``LINK_PARAMETERS``.
    """
    Y = np.zeros((*velocity.shape, 10))
    W = skew(w)
    turning, required = skew(acceleration[..., 3:]), velocity[..., 3:]
    linear = acceleration[..., :3] + np.cross(w, velocity[..., :3]) + up
    Y[..., :3, 0] = linear
    Y[..., :3, 1:4] = turning + W @ skew(required)
    Y[..., 3:, 1:4] = -skew(linear)
    Y[..., 3:, 4:] = _times_inertia(acceleration[..., 3:]) + skew(required) @ _times_inertia(w)
    return Y


def _times_inertia(x: Vector) -> Matrix:
    """Return L(x) with I x = L(x) (Ixx, Ixy, Iyy, Ixz, Iyz, Izz), (..., 3, 6)."""
    L = np.zeros((*x.shape, 6))
    L[..., 0, 0], L[..., 0, 1], L[..., 0, 3] = x[..., 0], x[..., 1], x[..., 2]
    L[..., 1, 1], L[..., 1, 2], L[..., 1, 4] = x[..., 0], x[..., 1], x[..., 2]
    L[..., 2, 3], L[..., 2, 4], L[..., 2, 5] = x[..., 0], x[..., 1], x[..., 2]
    return L
