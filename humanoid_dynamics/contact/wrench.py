# SPDX-License-Identifier: Apache-2.0
"""The wrench of one contact, with its margins to the limits of a unilateral, dry, convex patch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only
from humanoid_dynamics.spatial.polygon import margin_inside

NOTHING = 1e-9  # N or N·m; a contact with less carries nothing


@dataclass(frozen=True, eq=False)
class ContactWrench:
    """What the environment does to the robot at one surface.

    Attributes:
        surface: Name of the surface.
        f_W: (3,) force, axes of the world [N].
        m_W: (3,) moment about the origin of the surface, axes of the world [N·m].
        normal_force: Force along the inward normal [N].
        friction_force: Size of the force in the plane of the surface [N].
        cop: (2,) centre of pressure in the surface frame [m]; the origin where nothing presses.
        normal_margin: Distance to lift-off and, where a limit is set, to overload [N].
        friction_margin: Distance to slipping, mu times normal force less friction force [N].
        cop_margin: Distance of the centre of pressure inside the patch [m]; zero for a contact that carries nothing, minus infinity
            where the surface pulls or tips without pressing.
    """

    surface: str
    f_W: Vector
    m_W: Vector
    normal_force: float
    friction_force: float
    cop: Vector
    normal_margin: float
    friction_margin: float
    cop_margin: float


def measure_wrench(surface: ContactSurface, w_C: Vector, R_WC: Matrix) -> ContactWrench:
    """Tell how a wrench stands against what its surface can carry.

    The centre of pressure is where the moment in the plane of the surface vanishes: p = (-m_y, m_x) / f_z.

    Args:
        surface: The surface.
        w_C: (6,) force and moment at the origin of the surface, its own axes [N, N·m].
        R_WC: (3, 3) orientation of the surface in the world [-].

    Returns:
        The wrench in world axes, and its margins.
    """
    f, m = w_C[:3], w_C[3:]
    normal, friction = float(f[2]), float(np.hypot(f[0], f[1]))
    pressed = normal > NOTHING
    cop = np.array([-m[1], m[0]]) / normal if pressed else np.zeros(2)
    idle = not pressed and float(np.max(np.abs(w_C))) <= NOTHING
    return ContactWrench(
        surface=surface.name,
        f_W=read_only(R_WC @ f),
        m_W=read_only(R_WC @ m),
        normal_force=normal,
        friction_force=friction,
        cop=read_only(cop),
        normal_margin=min(normal, surface.normal_force_limit - normal),
        friction_margin=surface.friction * normal - friction,
        cop_margin=margin_inside(surface.vertices[:, :2], cop)
        if pressed
        else 0.0
        if idle
        else -np.inf,
    )


def find_pressure(w_C: Matrix, least: float) -> Matrix:
    """Return where a surface is pressed (n, 2), in its own axes [m]; NaN where it is not.

    It is not where less presses than counts, nor where more acts along the surface than against it: then a side or the back of its link
    touches, and the line of the force meets the plane of the surface far from what touches.

    Args:
        w_C: (n, 6) forces and moments at the origin of the surface, its own axes [N, N·m].
        least: The least force that counts [N].
    """
    pressed = w_C[:, 2] > np.maximum(least, np.hypot(w_C[:, 0], w_C[:, 1]))
    cop: Matrix = np.full((len(w_C), 2), np.nan)
    cop[pressed] = np.column_stack((-w_C[pressed, 4], w_C[pressed, 3])) / w_C[pressed, 2:3]
    return cop


def reference_point(surface: ContactSurface) -> Vector:
    """Return where the forces of ``wrench_basis`` act: the origin of a face, the middle of an edge, the point; (3,) surface frame [m]."""
    return np.zeros(3) if surface.kind == "face" else np.asarray(np.mean(surface.vertices, axis=0))


def wrench_basis(surface: ContactSurface) -> Matrix:
    """Return the wrenches a surface can carry when pressed, as columns: three forces at the reference point, then moments.

    A face carries all six; an edge no moment about itself; a point no moment at all.

    Args:
        surface: The surface; the corners of an edge or a point lie anywhere in its plane.

    Returns:
        (6, r) basis at the origin of the surface, its own axes [-].
    """
    if surface.kind == "face":
        return np.eye(6)
    forces = np.vstack((np.eye(3), pin.skew(reference_point(surface))))
    if surface.kind == "point":
        return forces
    along = surface.vertices[1] - surface.vertices[0]
    along = along / np.linalg.norm(along)
    across = np.array([-along[1], along[0], 0.0])
    moments = np.vstack((np.zeros((3, 2)), np.column_stack((across, [0.0, 0.0, 1.0]))))
    return np.hstack((forces, moments))
