# SPDX-License-Identifier: Apache-2.0
"""A second opinion on frames of motion: pinocchio's mass matrix and numpy, none of the code that certifies frames.

A frame is judged in axes of the world: M vdot + h against torques and pushes through Jacobians in axes of the world; the centre of
pressure as the point without tangential moment, against the outline of the sole by the turning of its corners; limits as they stand in
the model.
"""

import itertools
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

KINDS = ("motion", "pull", "friction", "pressure", "torque", "joint", "speed", "slide", "path")
SLIDE, BEARS = (
    0.2,
    0.01,
)  # m/s, along the sole, of a corner of one that bears more than this share of the weight
MOTION, PULL, FRICTION, PRESSURE, LIMIT, PATH = (
    1e-8,
    1e-6,
    1e-6,
    1e-6,
    1e-6,
    1e-9,
)  # of the weight, twice; of the push; m; rad; of a step


@dataclass(frozen=True)
class Moment:
    """One frame as the scorer reads it; wrenches in axes of the soles, force before moment."""

    q: np.ndarray
    v: np.ndarray
    vdot: np.ndarray
    tau: np.ndarray
    wrenches: np.ndarray


class Scorer:
    """Scores frames of one robot with a free base."""

    def __init__(self, robot, frames, corners, friction):
        """Take the model, the frames of the soles, their corners (m, 3) and the friction coefficients."""
        self.model, self.data = robot.model, robot.model.createData()
        self.frames, self.corners, self.friction = frames, corners, friction
        self.weight = sum(inertia.mass for inertia in self.model.inertias) * 9.81
        single = [
            j
            for j in range(2, self.model.njoints)
            if self.model.joints[j].nq == self.model.joints[j].nv == 1
        ]
        self.places = np.array([self.model.joints[j].idx_q for j in single])

    def faults(self, moment, dt=0.0):
        """Return the kinds of what is impossible in a frame, whose velocity goes on for dt with its acceleration."""
        model, data = self.model, self.data
        M = np.array(pin.crba(model, data, moment.q))
        M = np.triu(M) + np.triu(M, 1).T
        missing = M @ moment.vdot + pin.nonLinearEffects(model, data, moment.q, moment.v)
        missing[6:] -= moment.tau
        pin.computeJointJacobians(model, data, moment.q)
        pin.updateFramePlacements(model, data)
        found = set()
        for frame, corners, mu, wrench in zip(
            self.frames, self.corners, self.friction, moment.wrenches, strict=True
        ):
            R = data.oMf[frame].rotation
            J = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            missing -= J.T @ np.concatenate((R @ wrench[:3], R @ wrench[3:]))
            found |= self._faults_of_sole(wrench, corners, mu)
            if (
                wrench[2] > BEARS * self.weight
                and fastest_corner(R, J @ (moment.v + dt * moment.vdot), corners) > SLIDE
            ):
                found.add("slide")
        if not np.isfinite(missing).all() or np.max(np.abs(missing)) > MOTION * self.weight:
            found.add("motion")
        return found | self._faults_of_joints(moment)

    def _faults_of_sole(self, wrench, corners, mu):
        found, (force, moment) = set(), (wrench[:3], wrench[3:])
        if force[2] < -PULL * self.weight:
            return {"pull"}
        if (
            np.sqrt(force[0] ** 2 + force[1] ** 2)
            > mu * force[2] * (1 + FRICTION) + PULL * self.weight
        ):
            found.add("friction")
        if force[2] > PULL * self.weight:
            z = corners[:, 2].mean()
            point = np.array([z * force[0] - moment[1], z * force[1] + moment[0]]) / force[2]
            if distance_outside(corners[:, :2], point) > PRESSURE:
                found.add("pressure")
        return found

    def _faults_of_joints(self, moment):
        model, found = self.model, set()
        q = moment.q[self.places]
        if np.any(q < model.lowerPositionLimit[self.places] - LIMIT) or np.any(
            q > model.upperPositionLimit[self.places] + LIMIT
        ):
            found.add("joint")
        if np.any(np.abs(moment.v[6:]) > model.velocityLimit[6:] * (1 + LIMIT)):
            found.add("speed")
        if np.any(np.abs(moment.tau) > model.effortLimit[6:] * (1 + LIMIT)):
            found.add("torque")
        return found

    def score(self, moments, dt=None):
        """Return the share of frames with each kind of fault; where dt is given, paths that do not follow from velocities count too."""
        table = [self.faults(moment, dt or 0.0) for moment in moments]
        if dt is not None:
            for k, (here, there) in enumerate(itertools.pairwise(moments)):
                v = here.v + dt * here.vdot
                way = pin.difference(self.model, pin.integrate(self.model, here.q, dt * v), there.q)
                if max(np.max(np.abs(way)), np.max(np.abs(v - there.v))) > PATH:
                    table[k].add("path")
        shares = {kind: sum(kind in row for row in table) / len(table) for kind in KINDS}
        return shares | {"any": sum(bool(row) for row in table) / len(table)}


def fastest_corner(R, twist, corners):
    """Return the largest speed of the corners of a sole along it, from its twist in axes of the world."""
    return max(
        float(np.linalg.norm((R.T @ (twist[:3] + np.cross(twist[3:], R @ corner)))[:2]))
        for corner in corners
    )


def distance_outside(corners, point):
    """Return how far a point is outside a convex outline, negative inside."""
    middle = corners.mean(axis=0)
    order = np.argsort(np.arctan2(*(corners - middle).T[::-1]))
    ring = corners[order]
    sides = np.roll(ring, -1, axis=0) - ring
    lengths = np.sqrt((sides**2).sum(axis=1))
    keep = lengths > 1e-9
    turns = (sides[:, 1] * (point[0] - ring[:, 0]) - sides[:, 0] * (point[1] - ring[:, 1]))[
        keep
    ] / lengths[keep]
    return float(turns.max())
