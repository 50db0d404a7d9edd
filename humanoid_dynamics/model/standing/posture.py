# SPDX-License-Identifier: Apache-2.0
"""The pose a robot rests in: as described, or standing with slightly bent knees; loops closed, soles flat on z = 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.coordinates import Coordinates
from humanoid_dynamics.model.joint import Mimic
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.model.reading.tree import Replacement
from humanoid_dynamics.model.reading.urdf import Urdf
from humanoid_dynamics.model.robot import Notice
from humanoid_dynamics.model.standing.bending import bend_knees
from humanoid_dynamics.model.standing.posture_search import (
    Problem,
    hard_error,
    hold_joints,
    solve_posture,
)
from humanoid_dynamics.model.standing.relief import relieve_joints
from humanoid_dynamics.model.standing.standing import (
    Goal,
    Sole,
    pick_soles,
    support_margin,
    upright_rotation,
)
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.spatial.arrays import Vector, read_only

GROUND_TOLERANCE = 2e-3  # m
EXACT = 1e-9  # error that is none [m or rad]
ACCEPTED = 1e-4  # error that rounded numbers in a URDF may leave [m or rad]
ROUNDED = 1e-3  # balance that a described posture may lack for its rounded numbers [m]
MARGIN_LEFT = 0.5  # of the margin of balance that relieving weak joints must leave
SMALL_REPAIR = (
    0.05  # a described posture this near to level soles and closed loops is repaired [m or rad]
)
LIMIT_SHARE = (
    0.01  # of its range that a joint keeps from its limits, where the zero pose breaks them
)
LEG_WEIGHT, OTHER_WEIGHT = 0.02, 1.0  # joints where they were, per radian


def resting_posture(
    model: pin.Model,
    coordinates: Coordinates,
    described: Mapping[str, float],
    surfaces: Mapping[str, ContactSurface],
    *,
    urdf: Urdf,
    replacements: tuple[Replacement, ...] = (),
    loops: tuple[LoopClosure, ...] = (),
) -> tuple[Vector, tuple[Notice, ...]]:
    """Return the configuration a robot rests in.

    Args:
        model: The tree, with the frames of the surfaces.
        coordinates: Its joints and limits.
        described: Joint of the URDF -> position [rad or m]; all others rest at zero, inside their limits.
        surfaces: Contact surfaces by name.
        urdf: The records, for the axes of replaced joints.
        replacements: Joints of the tree that stand for joints of the URDF.
        loops: Loops to close.

    Returns:
        (nq,) the configuration, and what could not be done.  Where the root is free, the middle of the soles is the origin, their
        normals are up and they point along x; the knees bend slightly, unless the posture is described, and
        joints that could not bear what they carry move until they can, unless they are described.
    """
    start = described_posture(model, coordinates, described, urdf, replacements)
    try:
        q, notices = _search(model, coordinates, described, surfaces, loops=loops, start=start)
    except (np.linalg.LinAlgError, ValueError, RuntimeError) as cause:
        return read_only(start), (
            Notice("warning", "posture", f"left at zero: no resting posture was found: {cause}"),
        )
    if not np.isfinite(q).all():
        return read_only(start), (
            Notice("warning", "posture", "left at zero: the search for a resting posture diverged"),
        )
    return read_only(q), notices


def described_posture(
    model: pin.Model,
    coordinates: Coordinates,
    described: Mapping[str, float],
    urdf: Urdf,
    replacements: tuple[Replacement, ...],
) -> Vector:
    """Return the zero pose, inside the limits, with the described joints where they are described.

    Args:
        model: The tree.
        coordinates: Its joints and limits.
        described: Joint of the URDF -> position [rad or m].
        urdf: The records.
        replacements: Joints of the tree that stand for joints of the URDF.

    Returns:
        (nq,) the configuration; followers of described joints follow.
    """
    v = np.zeros(model.nv)
    groups = {replacement.name: replacement for replacement in replacements}
    for joint in coordinates.joints:
        if joint.name in groups and joint.kind == "spherical":
            v[joint.v] = _turn_of_three(groups[joint.name], described, urdf)
        elif joint.name in groups and joint.kind == "universal":
            continue
        elif joint.v.stop - joint.v.start == 1:
            v[joint.v] = described.get(
                joint.name,
                _inside(coordinates, joint.q) if joint.q.stop - joint.q.start == 1 else 0.0,
            )
    owners = {joint.name: joint for joint in coordinates.joints}
    for mimic in coordinates.mimics:
        follower = owners[mimic.joint]
        if mimic.joint not in described and follower.v.stop - follower.v.start == 1:
            v[follower.v] = mimic.ratio * v[owners[mimic.leader].v] + mimic.offset
    return np.asarray(pin.integrate(model, pin.neutral(model), v))


def _turn_of_three(group: Replacement, described: Mapping[str, float], urdf: Urdf) -> Vector:
    """Return the rotation vector of a spherical joint from the angles of the three revolutes it stands for."""
    R, placed = np.eye(3), np.eye(3)
    for number, name in enumerate(group.joints):
        joint = urdf.joints[name]
        placement = joint.X_PJ.rotation if number else np.eye(3)
        R, placed = R @ placement, placed @ placement
        R = R @ pin.exp3(described.get(name, 0.0) * joint.axis / np.linalg.norm(joint.axis))
    return np.asarray(pin.log3(placed.T @ R))


def _inside(coordinates: Coordinates, q: slice) -> float:
    """Return zero, or the nearest position a little inside the limits of a joint that cannot be at zero."""
    lower, upper = float(coordinates.limits.lower[q][0]), float(coordinates.limits.upper[q][0])
    if lower <= 0.0 <= upper or not lower <= upper:
        return 0.0
    keep = LIMIT_SHARE * (upper - lower) if np.isfinite(upper - lower) else 0.0
    return float(np.clip(0.0, lower + keep, upper - keep))


def _search(
    model: pin.Model,
    coordinates: Coordinates,
    described: Mapping[str, float],
    surfaces: Mapping[str, ContactSurface],
    *,
    loops: tuple[LoopClosure, ...],
    start: Vector,
) -> tuple[Vector, tuple[Notice, ...]]:
    root = coordinates.joints[0] if coordinates.joints else None
    movable = root is not None and root.kind in {"free_flyer", "planar"} and root.index == 1
    soles, q = (
        _place(model, surfaces, start, snap=not described) if movable and surfaces else ((), start)
    )
    if not described and soles:
        q = bend_knees(model, coordinates, q, tuple(sole.frame for sole in soles))
        q = _lift(model, q, soles)
    problem = _pose(model, coordinates, described, q, loops=loops, soles=soles)
    if described and hard_error(problem, q) > SMALL_REPAIR and not loops:
        return q, (
            Notice("info", "posture", "as described, with a sole that is not level on the ground"),
        )
    stages = (hold_joints(problem, described), problem) if described else (problem,)
    best, error = q, np.inf
    for stage in stages:
        found, left = solve_posture(stage)
        best, error = (found, left) if left < error else (best, error)
        if error < EXACT:
            break
    if error < ACCEPTED:
        best = _relieve(problem, _poise(problem, best), described)
        return best, _tell_balance(model, best, soles)
    if loops and soles:
        closed, gap = solve_posture(_pose(model, coordinates, described, q, loops=loops, soles=()))
        if gap < ACCEPTED:
            return closed, (
                Notice(
                    "warning",
                    "posture",
                    f"the loops close, but the soles do not become level ({error:.2g} m or rad)",
                ),
            )
    text = f"left near zero: soles and loops could not be brought together, {error:.2g} m or rad are missing"
    return q, (Notice("warning", "posture", text),)


def _poise(problem: Problem, q: Vector) -> Vector:
    """Return a posture near one that stands on points or one line, the centre of mass exactly over them; that one where there is none."""
    if problem.goal is None:
        return q
    poised = replace(problem, goal=replace(problem.goal, poised=True))
    if not EXACT < hard_error(poised, q) < (SMALL_REPAIR if problem.goal.balanced else ROUNDED):
        return q
    found, error = solve_posture(poised)
    return found if error < EXACT else q


def _relieve(problem: Problem, q: Vector, described: Mapping[str, float]) -> Vector:
    """Return a posture whose joints bear what they carry, soles and loops as they are; the same one where balance would not bear that."""
    model, goal = problem.model, problem.goal
    if goal is None:
        return q
    bound = {
        name for mimic in problem.coordinates.mimics for name in (mimic.joint, mimic.leader)
    } | set(described)
    held = {
        joint.index
        for joint in problem.coordinates.joints
        if joint.name in bound or problem.free[joint.v].any()
    }
    relieved = relieve_joints(model, problem.coordinates, q, held)
    before, after = (_margin(model, each, goal.soles) for each in (q, relieved))
    return relieved if np.isfinite(after) and after >= MARGIN_LEFT * before else q


def _margin(model: pin.Model, q: Vector, soles: tuple[Sole, ...]) -> float:
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    pin.centerOfMass(model, data, q)
    return support_margin(data, soles)


def _place(
    model: pin.Model, surfaces: Mapping[str, ContactSurface], q: Vector, *, snap: bool
) -> tuple[tuple[Sole, ...], Vector]:
    """Find the soles and set the robot on them: upright, soles forward, their middle at the origin, the lowest corner at zero."""
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    soles = pick_soles(data, surfaces)
    R_WB = upright_rotation(model, data, soles, snap=snap)
    q = _move_root(model, q, pin.SE3(R_WB, np.zeros(3)))
    pin.framesForwardKinematics(model, data, q)
    middle = np.mean([data.oMf[sole.frame].act(sole.centre) for sole in soles], axis=0)
    q = _move_root(model, q, pin.SE3(np.eye(3), -np.array([*middle[:2], 0.0])))
    return soles, _lift(model, q, soles)


def _lift(model: pin.Model, q: Vector, soles: tuple[Sole, ...]) -> Vector:
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    low = min(
        float(data.oMf[sole.frame].act(corner)[2]) for sole in soles for corner in sole.corners
    )
    return _move_root(model, q, pin.SE3(np.eye(3), np.array([0.0, 0.0, -low])))


def _move_root(model: pin.Model, q: Vector, X: pin.SE3) -> Vector:
    """Move the root joint by a motion of the world; a planar root takes what lies in its plane."""
    q = q.copy()
    if model.nqs[1] == 7:
        q[:7] = pin.SE3ToXYZQUAT(X * pin.XYZQUATToSE3(q[:7]))
    else:
        x, z, pitch = q[:3]
        moved = X * pin.SE3(pin.utils.rotate("y", pitch), np.array([x, 0.0, z]))
        q[:3] = (
            moved.translation[0],
            moved.translation[2],
            np.arctan2(moved.rotation[0, 2], moved.rotation[0, 0]),
        )
    return np.asarray(q)


def _pose(
    model: pin.Model,
    coordinates: Coordinates,
    described: Mapping[str, float],
    q: Vector,
    *,
    loops: tuple[LoopClosure, ...],
    soles: tuple[Sole, ...],
) -> Problem:
    """Write the search down: where to stand, which coordinates may move, and how far."""
    root_frame = (
        int(model.getFrameId(coordinates.joints[0].child, pin.FrameType.BODY)) if soles else 0
    )
    goal = _goal(model, q, soles, root_frame, balanced=not described) if soles else None
    legs = frozenset(
        int(i) for sole in soles for i in model.supports[model.frames[sole.frame].parentJoint]
    )
    movers, mimics = _movers(model, coordinates, loops, legs)
    if goal is None:
        movers -= {
            joint.index
            for joint in coordinates.joints[:1]
            if joint.kind in {"free_flyer", "planar"}
        }
    weight = np.full(model.nv, OTHER_WEIGHT)
    lower, upper = np.full(model.nv, -np.inf), np.full(model.nv, np.inf)
    for joint in coordinates.joints:
        if joint.kind in {"free_flyer", "planar"} and joint.index == 1:
            weight[joint.v] = 0.0
        elif joint.index in legs:
            weight[joint.v] = LEG_WEIGHT
        if joint.q.stop - joint.q.start == joint.v.stop - joint.v.start == 1:
            lower[joint.v] = np.minimum(coordinates.limits.lower[joint.q] - q[joint.q], 0.0)
            upper[joint.v] = np.maximum(coordinates.limits.upper[joint.q] - q[joint.q], 0.0)
    free = np.zeros(model.nv, dtype=bool)
    for joint in coordinates.joints:
        free[joint.v] = joint.index in movers
    return Problem(
        model, coordinates, loops, mimics, goal, root_frame, q, weight, free, lower, upper
    )


def _goal(
    model: pin.Model, q: Vector, soles: tuple[Sole, ...], root_frame: int, *, balanced: bool
) -> Goal:
    """Wish for what there is: the root as it stands, the soles where they are; two feet of a free choice side by side."""
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    X_WB = data.oMf[root_frame]
    places = np.array([data.oMf[sole.frame].act(sole.centre)[:2] for sole in soles])
    places = places - places.mean(axis=0)
    if len(soles) == 2 and balanced:
        places[:, 0] = 0.0
    return Goal(soles, places, X_WB.rotation.copy(), float(X_WB.translation[2]), balanced=balanced)


def _movers(
    model: pin.Model, coordinates: Coordinates, loops: tuple[LoopClosure, ...], legs: frozenset[int]
) -> tuple[frozenset[int], tuple[Mimic, ...]]:
    """Return the joints that soles and loops depend on, with those that follow or lead them, and the mimic joints among these."""
    frames = [
        int(model.getFrameId(link, pin.FrameType.BODY))
        for loop in loops
        for link in (loop.link_a, loop.link_b)
    ]
    movers = set(legs) | {
        int(i) for frame in frames for i in model.supports[model.frames[frame].parentJoint]
    }
    index = {joint.name: joint.index for joint in coordinates.joints}
    pairs = {mimic: {index[mimic.joint], index[mimic.leader]} for mimic in coordinates.mimics}
    for _ in pairs:  # followers may lead others
        movers.update(*(pair for pair in pairs.values() if pair & movers))
    return frozenset(movers), tuple(mimic for mimic, pair in pairs.items() if pair & movers)


def _tell_balance(model: pin.Model, q: Vector, soles: tuple[Sole, ...]) -> tuple[Notice, ...]:
    if not soles:
        return ()
    margin = _margin(model, q, soles)
    if margin >= 0.0:
        return ()
    return (
        Notice(
            "warning",
            "posture",
            f"the centre of mass is {-margin:.3f} m outside the soles, so the posture is not statically balanced",
        ),
    )


def find_stance(
    model: pin.Model, q: Vector, surfaces: Mapping[str, ContactSurface]
) -> tuple[str, ...]:
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
    return tuple(
        name
        for name, s in surfaces.items()
        if all(abs(data.oMf[s.frame].act(v)[2]) < GROUND_TOLERANCE for v in s.vertices)
    )
