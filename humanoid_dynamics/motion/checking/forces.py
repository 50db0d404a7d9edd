# SPDX-License-Identifier: Apache-2.0
"""Which contact forces a motion needs: inverse dynamics, and non-negative least squares over the corners of the soles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pinocchio as pin
from scipy.optimize import linprog, nnls

from humanoid_dynamics.contact.cone import build_generators
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.standing.footprint import convex_hull
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.motion.clip import Clip, Labels
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.polygon import margin_inside

LENGTH = 0.3  # m; what makes moments comparable with forces
MISS = 0.02  # share of the weight that is put down to measuring
STICKIEST = 5.0
HALVINGS = 7


@dataclass(frozen=True, eq=False)
class ForceNeeds:
    """What a motion asks of the ground and of its motors.

    Attributes:
        miss: (n,) what no forces inside the cones can give, as a share of the weight.
        push: (n,) vertical force on the body, as a share of the weight.
        outside: (n,) how far the centre of pressure lies outside the standing feet [m]; zero inside.
        friction: (n,) coefficient of friction that would do; not finite where none would.
        foot: (n,) surface that needs it, as an index; -1 where none does.
        torque: (n, na) torques as shares of their limits, for the forces that need least; zero where there is no limit.
        alone: (n,) whether nothing touches.
        firm: (n,) what is missed where feet that slide bear nothing; zero where none slides.
    """

    miss: Vector
    push: Vector
    outside: Vector
    friction: Vector
    foot: Vector
    torque: Matrix = field(repr=False)
    alone: Labels = field(repr=False)
    firm: Vector = field(repr=False)


class ForceSearch:
    """Finds contact forces for one instant, prepared for a robot."""

    def __init__(self, robot: RobotModel, surfaces: tuple[ContactSurface, ...]) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base.
            surfaces: What may touch.
        """
        self.robot, self.surfaces, self._data = robot, surfaces, robot.data()
        self._weight = robot.mass * float(np.linalg.norm(robot.model.gravity.linear))
        self._scale = (
            np.array([1.0, 1.0, 1.0, 1.0 / LENGTH, 1.0 / LENGTH, 1.0 / LENGTH]) / self._weight
        )
        self._facets = {True: self._generators(None), False: self._generators(STICKIEST)}
        limit = np.array(robot.limits.effort)[robot.actuated_v]
        self._limit = np.where(limit > 0.0, limit, np.inf)

    def _generators(self, friction: float | None) -> list[Matrix]:
        return [
            build_generators(s if friction is None else replace(s, friction=friction))
            for s in self.surfaces
        ]

    def move(self, q: Vector, v: Vector, a: Vector) -> Vector:
        """Return the generalized forces of a motion without contacts.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            a: (nv,) acceleration.

        Returns:
            (nv,) forces.
        """
        forces = np.array(pin.rnea(self.robot.model, self._data, q, v, a))
        pin.computeJointJacobians(self.robot.model, self._data, q)
        pin.updateFramePlacements(self.robot.model, self._data)
        return forces

    def fit(
        self, forces: Vector, standing: list[int], friction: float | None = None
    ) -> tuple[float, Matrix, list[Vector]]:
        """Return what forces of the standing corners leave undone.

        Args:
            forces: (nv,) of ``move``.
            standing: Which surfaces stand.
            friction: Coefficient of all; their own where None.

        Returns:
            Share of the weight that is missed, (nv, m) generalized forces of unit corner forces, and these per surface.
        """
        known = friction is None or friction == STICKIEST
        cones = self._facets[friction is None] if known else self._generators(friction)
        columns = [self._jacobian(k).T @ cones[k] for k in standing]
        W = np.hstack(columns) if columns else np.zeros((len(forces), 0))
        if not W.shape[1]:
            return float(np.linalg.norm(self._scale * forces[:6])), W, []
        share, miss = nnls(self._scale[:, None] * W[:6], self._scale * forces[:6])
        ends = np.cumsum([column.shape[1] for column in columns])[:-1]
        return (
            float(miss),
            W,
            [cones[k] @ part for k, part in zip(standing, np.split(share, ends), strict=True)],
        )

    def find_friction(self, forces: Vector, standing: list[int]) -> tuple[float, int]:
        """Return the least coefficient of friction that does, and the surface that needs it.

        Args:
            forces: (nv,) of ``move``.
            standing: Which surfaces stand.

        Returns:
            The coefficient, not finite where none does, and the index of the surface.
        """
        if self.fit(forces, standing, STICKIEST)[0] > MISS:
            return np.inf, -1
        low, high = 0.0, STICKIEST
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (
                (low, middle) if self.fit(forces, standing, middle)[0] <= MISS else (middle, high)
            )
        wrenches = self.fit(forces, standing, high)[2]
        ratios = [
            np.hypot(w[0], w[1]) / max(w[2], 1e-9) if w[2] > 1e-3 * self._weight else 0.0
            for w in wrenches
        ]
        return high, standing[int(np.argmax(ratios))]

    def find_torque(
        self, forces: Vector, standing: list[int], W: Matrix, wrenches: list[Vector]
    ) -> Vector:
        """Return torques as shares of their limits, for contact forces that need the least largest share.

        Args:
            forces: (nv,) of ``move``.
            standing: Which surfaces stand.
            W: (nv, m) of ``fit``.
            wrenches: Wrenches of ``fit``.

        Returns:
            (na,) shares.
        """
        motors, finite = self.robot.actuated_v, np.isfinite(self._limit)
        total = forces - sum(
            (self._jacobian(k).T @ w for k, w in zip(standing, wrenches, strict=True)),
            np.zeros(len(forces)),
        )
        share = np.where(finite, total[motors] / np.where(finite, self._limit, 1.0), 0.0)
        if len(standing) < 2 or np.abs(share).max(initial=0.0) <= 1.0:
            return share
        rows, limit = motors[finite], self._limit[finite]
        m = W.shape[1]
        A = np.block(
            [
                [-W[rows] / limit[:, None], -np.ones((len(rows), 1))],
                [W[rows] / limit[:, None], -np.ones((len(rows), 1))],
            ]
        )
        b = np.concatenate((-forces[rows] / limit, forces[rows] / limit))
        base = forces[:6] - (forces - total)[:6]  # what even the best forces miss stays missed
        E, e = (
            np.hstack((self._scale[:, None] * W[:6], np.zeros((6, 1)))),
            self._scale * (forces[:6] - base),
        )
        answer = linprog(
            np.eye(m + 1)[m], A_ub=A, b_ub=b, A_eq=E, b_eq=e, bounds=(0.0, None), method="highs"
        )
        if answer.status != 0:
            return share
        best = (forces - W @ answer.x[:m])[motors]
        return np.where(finite, best / np.where(finite, self._limit, 1.0), 0.0)

    def find_outside(
        self, forces: Vector, standing: list[int], X_WB: pin.SE3, level: float
    ) -> float:
        """Return how far the centre of pressure on level ground lies outside the standing feet [m].

        Args:
            forces: (nv,) of ``move``.
            standing: Which surfaces stand.
            X_WB: Pose of the base.
            level: Height of the ground [m].
        """
        on_ground = pin.SE3(np.eye(3), np.array([0.0, 0.0, -level])) * X_WB
        f = on_ground.act(pin.Force(forces[:6])).vector
        if f[2] <= 1e-3 * self._weight or not standing:
            return np.inf
        zmp = np.array([-f[4], f[3]]) / f[2]
        corners = [
            self._data.oMf[self.surfaces[k].frame].act(c)[:2]
            for k in standing
            for c in self.surfaces[k].vertices
        ]
        return max(0.0, -margin_inside(convex_hull(np.round(corners, 9)), zmp))

    def _jacobian(self, k: int) -> Matrix:
        rows: Matrix = pin.getFrameJacobian(
            self.robot.model, self._data, self.surfaces[k].frame, pin.LOCAL
        )
        return rows


def compute_needs(
    clip: Clip,
    surfaces: tuple[ContactSurface, ...],
    touches: tuple[Labels, Labels],
    level: float,
    watch: Callable[[float], None] | None = None,
) -> ForceNeeds:
    """Ask every sample of a clip what forces it needs.

    Args:
        clip: A clip of a robot with a free base, with velocities and accelerations.
        surfaces: What may touch.
        touches: (n, s) whether each touches, and whether it moves over the ground meanwhile.
        level: Height of the ground [m].
        watch: Called with the share that is done.

    Returns:
        The needs.
    """
    robot, n = clip.robot, len(clip)
    search = ForceSearch(robot, surfaces)
    weight = robot.mass * float(np.linalg.norm(robot.model.gravity.linear))
    miss, push, outside, friction, firm = np.zeros((5, n))
    foot, torque, alone = (
        np.full(n, -1.0),
        np.zeros((n, len(robot.actuated))),
        np.zeros(n, dtype=bool),
    )
    v, a = clip.v, clip.a
    if v is None or a is None:
        v, a = np.zeros((2, n, robot.nv))
    for row, q in enumerate(clip.q):
        standing = [k for k in range(len(surfaces)) if touches[0][row, k]]
        resting = [k for k in standing if not touches[1][row, k]]
        forces = search.move(q, v[row], a[row])
        miss[row], W, wrenches = search.fit(forces, standing)
        firm[row] = search.fit(forces, resting)[0] if len(resting) < len(standing) else 0.0
        alone[row] = not standing
        X_WB = pin.XYZQUATToSE3(np.array(q[:7]))
        push[row] = float((X_WB.rotation @ forces[:3])[2]) / weight
        if miss[row] > MISS and standing:
            friction[row], foot[row] = search.find_friction(forces, standing)
            outside[row] = search.find_outside(forces, standing, X_WB, level)
        if standing:
            torque[row] = search.find_torque(forces, standing, W, wrenches)
        if watch is not None:
            watch((row + 1) / n)
    return ForceNeeds(miss, push, outside, friction, foot, torque, alone, firm)


def merge_needs(needs: Sequence[ForceNeeds]) -> ForceNeeds:
    """Return what a motion needs at least, by several estimates of its accelerations.

    Args:
        needs: The needs by each; the first is the one that is told.

    Returns:
        The needs, with the least miss, and the least torques, those beyond the limits less by how far the estimates differ.
    """
    first = needs[0]
    miss, firm = np.min([(need.miss, need.firm) for need in needs], axis=0)
    shares = np.abs([need.torque for need in needs])
    share = np.maximum(
        shares.min(axis=0) - np.ptp(shares, axis=0), np.minimum(shares.min(axis=0), 1.0)
    )
    return replace(first, miss=miss, firm=firm, torque=np.copysign(share, first.torque))
