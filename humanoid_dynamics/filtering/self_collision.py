# SPDX-License-Identifier: Apache-2.0
"""How deep links of a robot penetrate each other: convex shapes of the description, and capsules around limbs that have none."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin
from scipy.spatial import ConvexHull

from humanoid_dynamics.filtering.poses.clearance import body_capsules
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.shape import Geometry
from humanoid_dynamics.model.standing.mesh_points import read_mesh_points
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

SOLE = 0.005  # m; thickness of a sole that is added to what its link has


class SelfCollision:
    """Penetration of pairs of bodies of one robot, beyond what they penetrate in the resting posture.

    A body is what moves with one joint.  Neighbours in the tree are left out: the shapes of a description overlap where links meet.

    Attributes:
        pairs: Joints of the pinocchio model of each pair.
    """

    def __init__(self, robot: RobotModel) -> None:
        """Prepare.

        Args:
            robot: A robot on two soles.
        """
        self._model, self._data = robot.model, robot.data()
        self._shapes = _build_shapes(robot)
        self._objects = [coal.CollisionObject(shape) for _, _, shape in self._shapes]
        joints = [joint for joint, _, _ in self._shapes]
        bodies = sorted(set(joints))
        parents = {joint: _find_parent(robot.model, joint, set(bodies)) for joint in bodies}
        self.pairs = tuple(
            (a, b) for a, b in combinations(bodies, 2) if parents[b] != a and parents[a] != b
        )
        index = {pair: k for k, pair in enumerate(self.pairs)}
        found = [
            (i, j, index[min(a, b), max(a, b)])
            for (i, a), (j, b) in combinations(enumerate(joints), 2)
            if (min(a, b), max(a, b)) in index
        ]
        self._first, self._second, self._pair = np.array(found, dtype=np.intp).reshape(-1, 3).T
        spheres = [_bound(shape) for _, _, shape in self._shapes]
        self._centres: Matrix = np.array(
            [X.act(c) for (_, X, _), (c, _) in zip(self._shapes, spheres, strict=True)]
        ).reshape(-1, 3)
        self._reach: Vector = (
            np.array([radius for _, radius in spheres])[self._first]
            + np.array([r for _, r in spheres])[self._second]
        )
        self._joints: Indices = np.array(joints, dtype=np.intp)
        self._request = coal.CollisionRequest(coal.CollisionRequestFlag.CONTACT, 1)
        self._resting: Vector = np.zeros(len(self.pairs))
        self._resting = self.measure(robot.posture)

    def measure(self, q: Vector) -> Vector:
        """Return how deep each pair penetrates beyond the resting posture, (pairs,), zero where it does not [m].

        Args:
            q: (nq,) configuration.
        """
        pin.forwardKinematics(self._model, self._data, q)
        places = self._data.oMi
        centres = np.array(
            [
                places[joint].act(centre)
                for joint, centre in zip(self._joints.tolist(), self._centres, strict=True)
            ]
        )
        near = (
            np.linalg.norm(centres[self._first] - centres[self._second], axis=1) < self._reach
            if len(centres)
            else np.zeros(0, bool)
        )
        depths = np.zeros(len(self.pairs))
        placed: set[int] = set()
        for row in np.flatnonzero(near).tolist():
            both = int(self._first[row]), int(self._second[row])
            for shape in both:
                if shape not in placed:
                    placed.add(shape)
                    joint, X, _ = self._shapes[shape]
                    W = places[joint] * X
                    self._objects[shape].setTransform(coal.Transform3s(W.rotation, W.translation))
            result = coal.CollisionResult()
            if coal.collide(self._objects[both[0]], self._objects[both[1]], self._request, result):
                k = self._pair[row]
                depths[k] = max(
                    depths[k], -min(contact.penetration_depth for contact in result.getContacts())
                )
        return np.maximum(depths - self._resting, 0.0)


@lru_cache(maxsize=4)
def find_self_collision(robot: RobotModel) -> SelfCollision:
    """Return what measures a robot, made once.

    Args:
        robot: A robot on two soles.
    """
    return SelfCollision(robot)


def _build_shapes(robot: RobotModel) -> list[tuple[int, pin.SE3, coal.CollisionGeometry]]:
    """Return joint, place in its frame, and convex shape of all that can touch."""
    model, shapes = robot.model, []
    for link, solids in robot.solids.items():
        frame = model.frames[robot.link_frame(link)]
        for solid in solids:
            shape = _build_shape(solid)
            if shape is not None:
                shapes.append((int(frame.parentJoint), frame.placement * solid.X_LG, shape))
    for sole in (robot.surfaces[name] for name in robot.stance):
        if len(sole.vertices) > 2:
            frame = model.frames[sole.frame]
            corners = np.vstack((sole.vertices, sole.vertices + np.array([0.0, 0.0, SOLE])))
            shapes.append((int(frame.parentJoint), frame.placement, _hull(corners)))
    known = {joint for joint, _, _ in shapes}
    data = robot.data()
    pin.forwardKinematics(model, data, robot.posture)
    for part in body_capsules(robot):
        if part.joint not in known:
            a, b = (data.oMi[part.joint].actInv(end) for end in part.ends)
            axis = (
                (b - a) / max(float(np.linalg.norm(b - a)), 1e-9)
                if np.any(a != b)
                else np.array([0.0, 0.0, 1.0])
            )
            turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), axis).matrix()
            capsule = coal.Capsule(part.radius, max(float(np.linalg.norm(b - a)), 1e-6))
            shapes.append((part.joint, pin.SE3(turn, 0.5 * (a + b)), capsule))
    return shapes


def _build_shape(solid: Geometry) -> coal.CollisionGeometry | None:
    size = solid.size
    if solid.kind == "box":
        return coal.Box(*size)
    if solid.kind == "sphere":
        return coal.Sphere(*size)
    if solid.kind == "cylinder":
        return coal.Cylinder(*size)
    if solid.kind == "capsule":
        return coal.Capsule(*size)
    if not solid.filename or not Path(solid.filename).is_file():
        return None
    try:
        return _hull(read_mesh_points(Path(solid.filename)) * np.array(size))
    except (
        RuntimeError,
        ValueError,
        OSError,
    ):  # a mesh that cannot be read, or is flat, has no shape
        return None


def _hull(points: Matrix) -> coal.CollisionGeometry:
    corners = coal.StdVec_Vec3s()
    for point in points[ConvexHull(points).vertices]:
        corners.append(point)
    return coal.Convex.convexHull(corners, True, "Qt")


def _bound(shape: coal.CollisionGeometry) -> tuple[Vector, float]:
    """Return middle and radius of a sphere around a shape [m]."""
    shape.computeLocalAABB()
    return np.array(shape.aabb_center).ravel(), float(shape.aabb_radius)


def _find_parent(model: pin.Model, joint: int, bodies: set[int]) -> int:
    """Return the nearest joint towards the root that carries a shape; 0 where none does."""
    parent = int(model.parents[joint])
    while parent > 0 and parent not in bodies:
        parent = int(model.parents[parent])
    return parent
