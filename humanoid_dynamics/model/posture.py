"""The pose a robot rests in: as described, or standing with slightly bent knees; loops closed, soles flat on z = 0.

A damped Gauss-Newton search on the manifold of configurations.  What must hold (loops, mimic joints, level soles) is met exactly, by the
smallest step; what is wished for (balance, an upright root, joints where they were) is minimised among the steps that are left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_dynamics.model.bending import bend_knees
from humanoid_dynamics.model.closing import Rows, loop_rows, mimic_rows
from humanoid_dynamics.model.coordinates import Coordinates
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.model.robot import Notice
from humanoid_dynamics.model.standing import Goal, Sole, flat_rows, goal_rows, pick_soles, support_margin, upright_rotation
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.model.tree import Replacement
from humanoid_dynamics.model.urdf import Urdf
from humanoid_dynamics.spatial.arrays import Vector, read_only

Flags: TypeAlias = NDArray[np.bool_]

MOST_STEPS = 30
MOST_REPAIRS = 15  # steps after that for what must hold alone
LONGEST_STEP = 0.3  # largest change of one coordinate in a step [rad or m]
CONVERGED = 1e-12  # error of what must hold [m or rad]
SETTLED = 1e-9  # last step [m or rad]
EXACT = 1e-9  # error that is none [m or rad]
ACCEPTED = 1e-4  # error that rounded numbers in a URDF may leave [m or rad]
SMALL_REPAIR = 0.05  # a described posture this near to level soles and closed loops is repaired [m or rad]
LIMIT_SHARE = 0.01  # of its range that a joint keeps from its limits, where the zero pose breaks them
LEG_WEIGHT, OTHER_WEIGHT = 0.02, 1.0  # joints where they were, per radian
RANK_TOLERANCE = 1e-4  # a motion this much weaker than the strongest is none: it would repair rounded numbers by large steps


@dataclass(frozen=True, eq=False)
class Problem:
    """The search for one resting posture.

    Attributes:
        model: The tree.
        coordinates: Its joints and limits.
        loops: Loops to close.
        goal: Where to stand, or None for a robot that hangs or is fixed.
        root_frame: Frame of the root link.
        reference: (nq,) posture to stay near.
        weight: (nv,) wish to stay near it; zero for the root.
        free: (nv,) whether a coordinate may move; those that neither a sole nor a loop depends on may not.
        lower: (nv,) lowest change from the reference.
        upper: (nv,) highest change from the reference.
    """

    model: pin.Model
    coordinates: Coordinates
    loops: tuple[LoopClosure, ...]
    goal: Goal | None
    root_frame: int
    reference: Vector
    weight: Vector
    free: Flags
    lower: Vector
    upper: Vector


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
        normals are up and they point along x; the knees bend slightly, unless the posture is described.
    """
    start = described_posture(model, coordinates, described, urdf, replacements)
    try:
        q, notices = _search(model, coordinates, described, surfaces, loops=loops, start=start)
    except (np.linalg.LinAlgError, ValueError, RuntimeError) as cause:
        return read_only(start), (Notice("warning", "posture", f"left at zero, as no resting posture was found: {cause}"),)
    if not np.isfinite(q).all():
        return read_only(start), (Notice("warning", "posture", "left at zero, as the search for a resting posture diverged"),)
    return read_only(q), notices


def described_posture(
    model: pin.Model, coordinates: Coordinates, described: Mapping[str, float], urdf: Urdf, replacements: tuple[Replacement, ...]
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
            v[joint.v] = described.get(joint.name, _inside(coordinates, joint.q) if joint.q.stop - joint.q.start == 1 else 0.0)
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
    return np.asarray(pin.log3(R @ placed.T))


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
    soles, q = _place(model, surfaces, start, snap=not described) if movable and surfaces else ((), start)
    if not described and soles:
        q = bend_knees(model, coordinates, q, tuple(sole.frame for sole in soles))
        q = _lift(model, q, soles)
    problem = _pose(model, coordinates, described, q, loops=loops, soles=soles)
    if described and _hard_error(problem, q) > SMALL_REPAIR and not loops:
        found, left = _solve(_fix(problem, described))
        aside = (Notice("info", "posture", "as described, with a sole that is not level on the ground"),)
        return (found, _tell_balance(model, found, soles)) if left < EXACT else (q, aside)
    stages = (_fix(problem, described), problem) if described else (problem,)
    best, error = q, np.inf
    for stage in stages:
        found, left = _solve(stage)
        best, error = (found, left) if left < error else (best, error)
        if error < EXACT:
            break
    if error < ACCEPTED:
        return best, _tell_balance(model, best, soles)
    text = f"left near zero: soles and loops could not be brought together, {error:.2g} m or rad are missing"
    return q, (Notice("warning", "posture", text),)


def _place(model: pin.Model, surfaces: Mapping[str, ContactSurface], q: Vector, *, snap: bool) -> tuple[tuple[Sole, ...], Vector]:
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
    low = min(float(data.oMf[sole.frame].act(corner)[2]) for sole in soles for corner in sole.corners)
    return _move_root(model, q, pin.SE3(np.eye(3), np.array([0.0, 0.0, -low])))


def _move_root(model: pin.Model, q: Vector, X: pin.SE3) -> Vector:
    """Move the root joint by a motion of the world; a planar root takes what lies in its plane."""
    q = q.copy()
    if model.nqs[1] == 7:
        q[:7] = pin.SE3ToXYZQUAT(X * pin.XYZQUATToSE3(q[:7]))
    else:
        x, z, pitch = q[:3]
        moved = X * pin.SE3(pin.utils.rotate("y", pitch), np.array([x, 0.0, z]))
        q[:3] = moved.translation[0], moved.translation[2], np.arctan2(moved.rotation[0, 2], moved.rotation[0, 0])
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
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    goal, legs, root_frame = None, frozenset[int](), 0
    if soles:
        root_frame = int(model.getFrameId(coordinates.joints[0].child, pin.FrameType.BODY))
        X_WB = data.oMf[root_frame]
        places = np.array([data.oMf[sole.frame].act(sole.centre)[:2] for sole in soles])
        places = places - places.mean(axis=0)
        if len(soles) == 2 and not described:
            places[:, 0] = 0.0
        goal = Goal(soles, places, X_WB.rotation.copy(), float(X_WB.translation[2]), balanced=not described)
        legs = frozenset(int(i) for sole in soles for i in model.supports[model.frames[sole.frame].parentJoint])
    movers = _movers(model, coordinates, loops) - (
        {1} if goal is None and coordinates.joints and coordinates.joints[0].index == 1 else set()
    )
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
        free[joint.v] = joint.index in legs or joint.index in movers
    return Problem(model, coordinates, loops, goal, root_frame, q, weight, free, lower, upper)


def _movers(model: pin.Model, coordinates: Coordinates, loops: tuple[LoopClosure, ...]) -> frozenset[int]:
    """Return the joints that loops and mimic joints depend on."""
    frames = [int(model.getFrameId(link, pin.FrameType.BODY)) for loop in loops for link in (loop.link_a, loop.link_b)]
    chains = {int(i) for frame in frames for i in model.supports[model.frames[frame].parentJoint]}
    names = {name for mimic in coordinates.mimics for name in (mimic.joint, mimic.leader)}
    return frozenset(chains | {joint.index for joint in coordinates.joints if joint.name in names})


def _fix(problem: Problem, described: Mapping[str, float]) -> Problem:
    """Return the same search with the described joints held."""
    free = problem.free.copy()
    for joint in problem.coordinates.joints:
        if joint.name in described:
            free[joint.v] = False
    return replace(problem, free=free)


def _rows(problem: Problem, data: pin.Data, q: Vector) -> tuple[Rows, Rows]:
    """Return what must hold and what is wished for, at a configuration."""
    model, goal = problem.model, problem.goal
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    joints = {joint.name: joint for joint in problem.coordinates.joints}
    hard = [loop_rows(model, data, loop) for loop in problem.loops]
    hard.append(mimic_rows(model, q, problem.coordinates.mimics, joints))
    moved = pin.difference(model, problem.reference, q)
    soft = [Rows((problem.weight * moved)[problem.free], np.diag(problem.weight)[problem.free])]
    if goal is not None:
        pin.jacobianCenterOfMass(model, data, q)
        hard.append(flat_rows(model, data, goal.soles))
        soft.append(goal_rows(model, data, goal, problem.root_frame))
    return Rows.stack(hard, model.nv), Rows.stack(soft, model.nv)


def _hard_error(problem: Problem, q: Vector) -> float:
    return float(np.abs(_rows(problem, problem.model.createData(), q)[0].error).max(initial=0.0))


def _solve(problem: Problem) -> tuple[Vector, float]:
    """Search from the reference; return the last configuration and the largest error of what must hold."""
    q, data = problem.reference, problem.model.createData()
    for number in range(MOST_STEPS + MOST_REPAIRS):
        hard, soft = _rows(problem, data, q)
        error = float(np.abs(hard.error).max(initial=0.0))
        if number >= MOST_STEPS:  # near a stretched leg or a dead centre only what must hold is worth searching for
            soft = Rows.stack([], problem.model.nv)
        dq = _bounded_step(problem, hard, soft, pin.difference(problem.model, problem.reference, q))
        longest = float(np.abs(dq).max(initial=0.0))
        if longest < SETTLED or (error < CONVERGED and number >= MOST_STEPS):
            return q, error
        q = np.asarray(pin.integrate(problem.model, q, dq * min(1.0, LONGEST_STEP / max(longest, 1e-12))))
    return q, _hard_error(problem, q)


def _bounded_step(problem: Problem, hard: Rows, soft: Rows, moved: Vector) -> Vector:
    """Return a step that keeps the limits: coordinates that would break them stop there, and the others make up for it."""
    lower, upper = problem.lower - moved, problem.upper - moved
    free = problem.free.copy()
    dq = np.zeros(len(moved))
    for _ in range(4):
        rest = Rows(hard.error + hard.J @ np.where(free, 0.0, dq), hard.J[:, free])
        wish = Rows(soft.error + soft.J @ np.where(free, 0.0, dq), soft.J[:, free])
        dq[free] = _step(rest, wish)
        broken = free & ((dq < lower - 1e-12) | (dq > upper + 1e-12))
        if not broken.any():
            break
        dq[broken] = np.clip(dq[broken], lower[broken], upper[broken])
        free &= ~broken
    return np.clip(dq, np.minimum(lower, 0.0), np.maximum(upper, 0.0))


def _step(hard: Rows, soft: Rows) -> Vector:
    """Return the step that meets the hard rows as nearly as can be, and among those the one that suits the soft rows best."""
    n = hard.J.shape[1]
    particular, null = np.zeros(n), np.eye(n)
    if len(hard.error) and n:
        U, sigma, Vt = np.linalg.svd(hard.J, full_matrices=True)
        rank = int(np.sum(sigma > RANK_TOLERANCE * sigma[0])) if sigma[0] > 0.0 else 0
        particular = -Vt[:rank].T @ ((U[:, :rank].T @ hard.error) / sigma[:rank])
        null = Vt[rank:].T
    if not null.shape[1] or not len(soft.error):
        return particular
    A = soft.J @ null
    return np.asarray(particular - null @ np.linalg.lstsq(A, soft.error + soft.J @ particular, rcond=None)[0])


def _tell_balance(model: pin.Model, q: Vector, soles: tuple[Sole, ...]) -> tuple[Notice, ...]:
    if not soles:
        return ()
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    pin.centerOfMass(model, data, q)
    margin = support_margin(data, soles)
    if margin >= 0.0:
        return ()
    return (Notice("warning", "posture", f"the centre of mass is {-margin:.3f} m outside the soles, so it cannot be held still"),)
