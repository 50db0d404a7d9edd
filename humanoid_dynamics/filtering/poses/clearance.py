"""Parts of the body keep clear of each other: capsules around limbs, and how fast they may approach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import SIDES, Body, find_body, find_soles
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector, read_only

KEPT = 0.02  # m; distance that is kept between surfaces
SEEN = 0.08  # m; surfaces nearer than this are watched
LESS = 0.003  # m; where parts are nearer in the resting posture, they may come nearer than that by this
BRAKING = 25.0  # 1/s; how parts come to rest before they touch
HARDEST = 150.0  # m/s^2
MOST = 6  # pairs that are watched at once, the nearest ones
ENDS = read_only([-1.0, 1.0])  # of a line, from the first part to the second
# Radii by what they are part of: of the distance between the shoulders, or of the length of the limb.
TRUNK, HEAD, ARM, HAND, LEG = 0.3, 0.25, 0.13, 0.16, 0.15


@dataclass(frozen=True, eq=False)
class Capsule:
    """A part of the body.

    Attributes:
        name: Its name, such as ``left_forearm``.
        joint: Joint of the pinocchio model it moves with.
        ends: (2, 3) ends of its middle line in the resting posture, in the world [m].
        radius: How thick it is [m].
    """

    name: str
    joint: int
    ends: Matrix
    radius: float


class Clearance:
    """Rows that keep parts of a robot from touching: (J_A - J_B) along the line between the nearest points.

    Attributes:
        rows: (``MOST``, nv) rows on the accelerations; those beyond ``count`` are not used.
        lower: (``MOST``,) what the rows must at least be [m/s^2].
        count: How many pairs are near.
        distance: Smallest distance of all pairs over what is kept of it [m]; negative where parts are too near.
        over: By how much each pair is farther apart than is kept [m].
        pairs: Names of all pairs.
    """

    def __init__(self, robot: RobotModel, *, legs: bool = False) -> None:
        """Prepare.

        Args:
            robot: A robot on two soles.
            legs: Whether the legs are watched as well, for feet that are led.
        """
        self._model = robot.model
        capsules = body_capsules(robot)
        self.geometry, self.pairs = _build_geometry(robot, capsules, legs=legs)
        self._data = self.geometry.createData()
        data = robot.data()
        pin.forwardKinematics(robot.model, data, robot.posture)
        resting = self._distances(data)
        self._kept = np.minimum(KEPT, resting - LESS)
        joints = [
            [int(self.geometry.geometryObjects[i].parentJoint) for i in (pair.first, pair.second)] for pair in self.geometry.collisionPairs
        ]
        self._moved = sorted({joint for pair in joints for joint in pair})
        self._place = np.array([[self._moved.index(joint) for joint in pair] for pair in joints], dtype=np.intp).reshape(-1, 2)
        self._carried = np.zeros((len(self._moved), robot.nv))
        for k, joint in enumerate(self._moved):
            for support in robot.model.supports[joint]:
                self._carried[k, robot.model.idx_vs[support] : robot.model.idx_vs[support] + robot.model.nvs[support]] = support > 0
        radius = {part.name: part.radius for part in capsules}
        self._to_middle = np.array([[-radius[a], radius[b]] for a, b in self.pairs]).reshape(-1, 2)
        self._rates, self._drifts = np.zeros((6, len(self._moved))), np.zeros((6, len(self._moved)))
        self.rows, self.lower = np.zeros((MOST, robot.nv)), np.zeros(MOST)
        self.count, self.distance = 0, np.inf
        self.over: Vector = resting - self._kept

    def _distances(self, data: pin.Data) -> Vector:
        if not self.pairs:
            return np.zeros(0)
        pin.updateGeometryPlacements(self._model, data, self.geometry, self._data)
        pin.computeDistances(self.geometry, self._data)
        return np.array([result.min_distance for result in self._data.distanceResults])

    def update(self, data: pin.Data, v: Vector) -> None:
        """Find what is near and how fast it may come nearer.

        Args:
            data: Joints placed, with Jacobians, velocities, and the accelerations they have where no coordinate accelerates.
            v: (nv,) velocity.
        """
        over = self.over = self._distances(data) - self._kept
        self.distance = float(over.min(initial=np.inf))
        near = np.flatnonzero(over < SEEN)
        if len(near) > MOST:
            near = near[np.argsort(over[near], kind="stable")[:MOST]]
        results = [(k, self._data.distanceResults[k]) for k in near.tolist()]
        # Where middle lines cross there is no way out to tell.
        results = [(k, result) for k, result in results if abs(float(result.normal @ result.normal) - 1.0) < 1e-6]
        self.count = len(results)
        if results:
            pairs = [k for k, _ in results]
            n = np.array([result.normal for _, result in results]).T
            points = np.array([(result.getNearestPoint1(), result.getNearestPoint2()) for _, result in results]).transpose(2, 0, 1)
            # On the middle lines, whose distance differs by the radii and does not slide.
            points = points + n[:, :, None] * self._to_middle[pairs]
            self.lower[: self.count] = -(BRAKING**2) * over[pairs]
            self._write(self._place[pairs], n, points, data, v)

    def _write(self, ends: Indices, n: Matrix, points: Matrix, data: pin.Data, v: Vector) -> None:
        """Write rows from joints (m, 2) and points (3, m, 2) of pairs, and lines n (3, m) from the first to the second."""
        model, world, m = self._model, pin.ReferenceFrame.WORLD, len(ends)
        for k in set(ends.ravel().tolist()):
            joint = self._moved[k]
            self._rates[:, k] = pin.getVelocity(model, data, joint, world).vector
            self._drifts[:, k] = pin.getAcceleration(model, data, joint, world).vector
        lines = n[:, :, None] * ENDS
        wrenches = np.concatenate((lines, _cross(points, lines)))
        np.sum((wrenches.transpose(1, 2, 0) @ data.J) * self._carried[ends], axis=1, out=self.rows[:m])
        rates, drifts = self._rates[:, ends], self._drifts[:, ends]
        turning = _cross(rates[3:], rates[:3] + _cross(rates[3:], points))
        drift = (wrenches * drifts).sum(axis=(0, 2)) + (lines * turning).sum(axis=(0, 2))
        approach = self.rows[:m] @ v
        np.minimum(self.lower[:m] - 2.0 * BRAKING * approach - drift, HARDEST, out=self.lower[:m])


def body_capsules(robot: RobotModel) -> tuple[Capsule, ...]:
    """Return capsules around trunk, head, hands, forearms, thighs and shanks, as far as the robot has them.

    Args:
        robot: A robot on two soles.
    """
    body, model, data = find_body(robot), robot.model, robot.data()
    pin.framesForwardKinematics(model, data, robot.posture)
    at = {name: np.asarray(data.oMf[point.frame].act(point.p_F)) for name, point in body.points.items()}
    parts = [*_leg_capsules(robot, body, at)]
    if "left_hand" in at:
        parts += _upper_capsules(robot, data, body, at)
    return tuple(parts)


def _leg_capsules(robot: RobotModel, body: Body, at: dict[str, Vector]) -> list[Capsule]:
    model, parts = robot.model, []
    for side, sole in zip(SIDES, find_soles(robot), strict=True):
        hip, knee, ankle = (at[f"{side}_{name}"] for name in ("hip", "knee", "ankle"))
        shank = int(model.frames[body.points[f"{side}_knee"].frame].parentJoint)
        thigh = int(model.parents[shank])
        parts.append(Capsule(f"{side}_thigh", thigh, np.array([hip, knee]), LEG * float(np.linalg.norm(knee - hip))))
        parts.append(Capsule(f"{side}_shank", shank, np.array([knee, ankle]), LEG * float(np.linalg.norm(ankle - knee))))
        data = robot.data()
        pin.framesForwardKinematics(model, data, robot.posture)
        corners = np.array([data.oMf[sole.frame].act(corner) for corner in sole.vertices])
        half = 0.5 * float(np.ptp(corners[:, 1]))
        middle = corners.mean(axis=0)
        ends = np.array([[corners[:, 0].min() + half, middle[1], middle[2]], [corners[:, 0].max() - half, middle[1], middle[2]]])
        parts.append(Capsule(f"{side}_foot", int(model.frames[sole.frame].parentJoint), ends, half))
    return parts


def _upper_capsules(robot: RobotModel, data: pin.Data, body: Body, at: dict[str, Vector]) -> list[Capsule]:
    model = robot.model
    shoulders = [at[f"{side}_shoulder"] for side in SIDES]
    width = float(np.linalg.norm(shoulders[0] - shoulders[1]))
    chest = int(model.frames[body.chest].parentJoint) if body.chest is not None else 1
    hips = 0.5 * (at["left_hip"] + at["right_hip"])
    middle = 0.5 * (shoulders[0] + shoulders[1])
    parts = [Capsule("trunk", chest, np.array([hips, middle - 0.3 * width * _unit(middle - hips)]), TRUNK * width)]
    if "head" in at:
        joint = int(model.frames[body.points["head"].frame].parentJoint)
        above = middle + max(float((at["head"] - middle) @ _unit(middle - hips)), 0.5 * width) * _unit(middle - hips)
        parts.append(Capsule("head", joint, np.array([above, above]), HEAD * width))
    for side in SIDES:
        elbow, hand = at[f"{side}_elbow"], at[f"{side}_hand"]
        length = float(np.linalg.norm(hand - elbow))
        fore = int(model.frames[body.points[f"{side}_elbow"].frame].parentJoint)
        end = int(model.frames[body.points[f"{side}_hand"].frame].parentJoint)
        wrist = np.asarray(data.oMi[end].translation)
        parts.append(Capsule(f"{side}_forearm", fore, np.array([elbow, wrist]), ARM * length))
        parts.append(Capsule(f"{side}_hand", end, np.array([hand, hand]), HAND * length))
    return parts


def _build_geometry(
    robot: RobotModel, capsules: tuple[Capsule, ...], *, legs: bool
) -> tuple[pin.GeometryModel, tuple[tuple[str, str], ...]]:
    geometry, data = pin.GeometryModel(), robot.data()
    pin.forwardKinematics(robot.model, data, robot.posture)
    index = {}
    for part in capsules:
        X_WC = pin.SE3(_upright(part.ends[1] - part.ends[0]), part.ends.mean(axis=0))
        shape = pin.coal.Capsule(part.radius, float(np.linalg.norm(part.ends[1] - part.ends[0])))
        X_JC = data.oMi[part.joint].inverse() * X_WC
        index[part.name] = geometry.addGeometryObject(pin.GeometryObject(part.name, part.joint, X_JC, shape))
    pairs = tuple((a, b) for a, b in _watched(legs) if a in index and b in index)
    for a, b in pairs:
        geometry.addCollisionPair(pin.CollisionPair(index[a], index[b]))
    return geometry, pairs


def _watched(legs: bool) -> list[tuple[str, str]]:
    pairs = [("left_hand", "right_hand"), ("left_hand", "right_forearm"), ("left_forearm", "right_hand"), ("left_forearm", "right_forearm")]
    for side in SIDES:
        pairs += [(f"{side}_{part}", other) for part in ("hand", "forearm") for other in ("trunk", "head")]
        pairs += [(f"{side}_hand", f"{other}_{part}") for other in SIDES for part in ("thigh", "shank")]
    if legs:
        pairs += [(f"left_{part}", f"right_{part}") for part in ("thigh", "shank", "foot")]
        pairs += [("left_foot", "right_shank"), ("right_foot", "left_shank")]
    return pairs


def _upright(z: Vector) -> Matrix:
    """Return an orientation whose z axis is that way."""
    if float(np.linalg.norm(z)) < 1e-9:
        return np.eye(3)
    return np.asarray(pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), _unit(z)).matrix())


def _unit(x: Vector) -> Vector:
    return np.asarray(x / np.linalg.norm(x))


def _cross(a: Matrix, b: Matrix) -> Matrix:
    """Return a x b for vectors (3, ...)."""
    c = np.empty(b.shape)
    c[0] = a[1] * b[2] - a[2] * b[1]
    c[1] = a[2] * b[0] - a[0] * b[2]
    c[2] = a[0] * b[1] - a[1] * b[0]
    return c
