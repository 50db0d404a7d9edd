# SPDX-License-Identifier: Apache-2.0
"""Standing: where the soles are, what flat and balanced mean, as rows of a least-squares problem."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.standing.closing import Rows
from humanoid_dynamics.model.standing.footprint import convex_hull
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.spatial.arrays import Matrix, Vector

SOLE_WORDS = re.compile(r"foot|feet|sole|ankle", re.IGNORECASE)
NEAR_LOWEST = 0.05  # surfaces this near to the lowest one are soles where no name says so [m]
SNAPPED = np.cos(np.deg2rad(45.0))

ONE_LINE = 1e-3  # spread of corners that lie on one line, or are one point [m]

PLACE_WEIGHT = 10.0  # soles where they were, per metre and per radian
BALANCE_WEIGHT = 30.0  # centre of mass over the middle of the soles, per metre
UPRIGHT_WEIGHT = 3.0  # root link upright, per radian, and at its height, per metre


@dataclass(frozen=True, eq=False)
class Sole:
    """A surface that stands on the ground.

    Attributes:
        frame: Index of its frame.
        centre: (3,) middle of its corners in its frame [m].
        tilts: (k, 3) directions in its frame that must be level: both axes of a face, the line of an edge, none of a point.
        corners: (n, 3) corners in its frame [m].
    """

    frame: int
    centre: Vector
    tilts: Matrix
    corners: Matrix


@dataclass(frozen=True, eq=False)
class Goal:
    """Where a standing robot should be.

    Attributes:
        soles: The soles.
        places: (n, 2) where the middles of the soles should be on the ground [m].
        R_WB: Orientation of the root link.
        height: Height of the root link [m].
        balanced: Whether the centre of mass goes over the middle of the soles.
        poised: Whether it must be over them where they are points of one line, which bear no moment across.
    """

    soles: tuple[Sole, ...]
    places: Matrix
    R_WB: Matrix
    height: float
    balanced: bool
    poised: bool = False


def pick_soles(data: pin.Data, surfaces: Mapping[str, ContactSurface]) -> tuple[Sole, ...]:
    """Return the surfaces to stand on: those called feet or soles, or else the lowest ones.

    Args:
        data: With frames placed at the posture asked about.
        surfaces: Contact surfaces by name.
    """
    named = [
        surface
        for name, surface in surfaces.items()
        if SOLE_WORDS.search(name) and "toe" not in name.lower()
    ]
    if not named and surfaces:
        heights = {
            name: float(data.oMf[surface.frame].translation[2])
            for name, surface in surfaces.items()
        }
        named = [
            surface
            for name, surface in surfaces.items()
            if heights[name] < min(heights.values()) + NEAR_LOWEST
        ]
    return tuple(_as_sole(surface) for surface in named)


def upright_rotation(
    model: pin.Model, data: pin.Data, soles: tuple[Sole, ...], *, snap: bool
) -> Matrix:
    """Return R_WB that sets the root link upright: soles level and pointing forward; over points, the mass above them.

    Args:
        model: The tree.
        data: With frames placed, the root at the origin.
        soles: The soles.
        snap: Whether the axes of the root link that are nearest to upright and forward count, not the soles themselves.
    """
    R = sum((data.oMf[sole.frame].rotation for sole in soles), np.zeros((3, 3)))
    faces = any(len(sole.tilts) == 2 for sole in soles)
    level = faces and not snap
    rise = pin.centerOfMass(model, data) - np.mean(
        [data.oMf[sole.frame].act(sole.centre) for sole in soles], axis=0
    )
    z = _unit(R[:, 2]) if level else _snap(R[:, 2] if faces else rise)
    x = R[:, 0] if level else _snap(R[:, 0] - (R[:, 0] @ z) * z)
    x = _unit(x - (x @ z) * z)
    return np.array([x, np.cross(z, x), z])


def flat_rows(model: pin.Model, data: pin.Data, soles: tuple[Sole, ...]) -> Rows:
    """Return what must hold: every sole level, at height zero."""
    parts = []
    for sole in soles:
        R, p, J = _sole_motion(model, data, sole)
        tilts = sole.tilts @ R.T
        J_tilts = (
            np.array([np.cross(tilt, [0.0, 0.0, 1.0]) for tilt in tilts]).reshape(-1, 3) @ J[3:]
        )
        parts.append(Rows(np.array([p[2], *tilts[:, 2]]), np.vstack([J[2:3], J_tilts])))
    return Rows.stack(parts, model.nv)


def poise_rows(model: pin.Model, data: pin.Data, soles: tuple[Sole, ...]) -> Rows:
    """Return what must hold on soles that span no polygon: the centre of mass over their line or point.

    The derivative leaves out how the line turns; the soles have their places, so it hardly does.
    """
    corners = _ground_corners(data, soles)
    _, sigma, Vt = np.linalg.svd(corners - corners.mean(axis=0))
    across = Vt[int(np.sum(sigma > ONE_LINE)) :]
    offset, J = balance(model, data, soles)
    return Rows(across @ offset, across @ J)


def goal_rows(model: pin.Model, data: pin.Data, goal: Goal, root_frame: int) -> Rows:
    """Return what is wished for, weighted: soles in their places, root upright, balance."""
    parts = []
    for sole, place in zip(goal.soles, goal.places, strict=True):
        R, p, J = _sole_motion(model, data, sole)
        parts.append(Rows(PLACE_WEIGHT * (p[:2] - place), PLACE_WEIGHT * J[:2]))
        if len(sole.tilts):
            parts.append(
                Rows(
                    PLACE_WEIGHT * R[1:2, 0],
                    PLACE_WEIGHT * np.cross(R[:, 0], [0.0, 1.0, 0.0])[None] @ J[3:],
                )
            )
    X_WB = data.oMf[root_frame]
    J_B = pin.getFrameJacobian(model, data, root_frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    turn = X_WB.rotation @ goal.R_WB.T
    parts.append(
        Rows(UPRIGHT_WEIGHT * pin.log3(turn), UPRIGHT_WEIGHT * pin.Jlog3(turn) @ turn.T @ J_B[3:])
    )
    parts.append(
        Rows(UPRIGHT_WEIGHT * (X_WB.translation[2:] - goal.height), UPRIGHT_WEIGHT * J_B[2:3])
    )
    if goal.balanced:
        offset, J_com = balance(model, data, goal.soles)
        parts.append(Rows(BALANCE_WEIGHT * offset, BALANCE_WEIGHT * J_com))
    return Rows.stack(parts, model.nv)


def balance(model: pin.Model, data: pin.Data, soles: tuple[Sole, ...]) -> tuple[Vector, Matrix]:
    """Return how far the centre of mass is from over the middle of the soles (2,) [m], and its (2, nv) derivative."""
    middles = [_sole_motion(model, data, sole) for sole in soles]
    middle = np.mean([p for _, p, _ in middles], axis=0)
    J_middle = np.mean([J[:3] for _, _, J in middles], axis=0)
    J_com = pin.jacobianCenterOfMass(model, data, False)
    return (data.com[0] - middle)[:2], (J_com - J_middle)[:2]


def support_margin(data: pin.Data, soles: tuple[Sole, ...]) -> float:
    """Return how far inside the support polygon the centre of mass is, negative outside [m]; infinite without a polygon."""
    hull = convex_hull(_ground_corners(data, soles))
    if len(hull) < 3:
        return np.inf
    edges = np.roll(hull, -1, axis=0) - hull
    normals = np.column_stack([-edges[:, 1], edges[:, 0]]) / np.linalg.norm(edges, axis=1)[:, None]
    return float(np.min(np.sum(normals * (data.com[0][:2] - hull), axis=1)))


def _ground_corners(data: pin.Data, soles: tuple[Sole, ...]) -> Matrix:
    """Return all corners of the soles, seen from above (n, 2) [m]."""
    return np.vstack(
        [
            sole.corners @ data.oMf[sole.frame].rotation.T + data.oMf[sole.frame].translation
            for sole in soles
        ]
    )[:, :2]


def _as_sole(surface: ContactSurface) -> Sole:
    tilts = {"point": np.zeros((0, 3)), "face": np.eye(3)[:2]}.get(surface.kind)
    if tilts is None:
        tilts = _unit(surface.vertices[1] - surface.vertices[0])[None]
    middle = 0.5 * (surface.vertices.min(axis=0) + surface.vertices.max(axis=0))
    return Sole(surface.frame, middle, tilts, surface.vertices)


def _sole_motion(model: pin.Model, data: pin.Data, sole: Sole) -> tuple[Matrix, Vector, Matrix]:
    """Return orientation and middle of a sole in the world, and the (6, nv) Jacobian of the middle in axes of the world."""
    X = data.oMf[sole.frame]
    arm = X.rotation @ sole.centre
    J = np.array(
        pin.getFrameJacobian(model, data, sole.frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    )
    J[:3] -= pin.skew(arm) @ J[3:]
    return X.rotation, X.translation + arm, J


def _snap(direction: Vector) -> Vector:
    """Return the axis nearest to a direction, or the direction itself where none is near."""
    direction = _unit(direction)
    axis = int(np.argmax(np.abs(direction)))
    return (
        np.asarray(np.sign(direction[axis]) * np.eye(3)[axis])
        if abs(direction[axis]) > SNAPPED
        else direction
    )


def _unit(vector: Vector) -> Vector:
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-12))
