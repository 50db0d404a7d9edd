# SPDX-License-Identifier: Apache-2.0
"""How consistent one frame is: measured on the answer, not taken from the program that made it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.sole_edges import FLAT, HEEL, TOE, find_edges
from humanoid_dynamics.filtering.ticks.joint_room import limited_positions
from humanoid_dynamics.filtering.ticks.judge_kernels import (
    judge_edge,
    judge_forces,
    judge_limits,
    judge_place,
)
from humanoid_dynamics.filtering.ticks.sliding import BEARS, SLIDE
from humanoid_dynamics.filtering.ticks.step import TickAnswer
from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.filtering.ticks.terms import BASE, LOCAL
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel
from humanoid_dynamics.spatial.polygon import half_planes, margin_inside

FOUND, MEASURED = (
    10,
    4,
)  # numbers that the kernel writes for a sole, and those of them that are read
LOADED = 1e-6  # of the weight: a sole that bears less has no centre of pressure
HEIGHT, TILT = (
    0.002,
    0.035,
)  # m and rad, 2 degrees; what bears is so near to its ground, and a whole sole so parallel to it
LEVEL = (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)  # normal and a point of level ground
EOM, PULL, COP, FRICTION, SHARE = (
    1e-8,
    1e-6,
    1e-6,
    1e-6,
    1e-6,
)  # of the weight, twice; m; of the friction coefficient; of a limit


@dataclass(frozen=True, slots=True)
class FrameCertificate:
    """What is true of one frame.

    Attributes:
        residual: Largest entry of what the equation of motion misses, over the weight, lengths in metres [-].
        cop: How far the centre of pressure is inside the soles that bear load, the least of them [m]; infinite in flight.  Of a sole that
            stands on an edge, how far it is from the ends of the edge, or off the edge and then negative.
        friction: Largest share of the friction coefficient that is used, about the normal of the sole, or that of the ground where it
            stands on an edge [-].
        pull: Largest pull of the ground on a sole, over the weight; zero where it only pushes [-].
        torque: Largest share of a torque limit [-].
        joint: Smallest distance to a position limit [rad or m]; negative outside.
        speed: Largest share of a speed limit [-].
        slip: Largest speed along the ground, after the step, of the middle of a sole that bears load, or of the edge it stands on [m/s].
        height: Largest distance from its ground, above or below, of what is declared to bear: the middle of a sole, or the ends of an
            edge [m].
        tilt: Largest angle between a whole sole that is declared to bear and its ground [rad].
        undeclared: Largest force or moment, lengths in metres, on a sole that is not declared to bear, over the weight [-].
    """

    residual: float
    cop: float
    friction: float
    pull: float
    torque: float
    joint: float
    speed: float
    slip: float
    height: float = 0.0
    tilt: float = 0.0
    undeclared: float = 0.0

    @property
    def forces_hold(self) -> bool:
        """Whether the forces are possible: motion, unilateral contact, friction, centre of pressure."""
        moves = self.residual <= EOM and self.pull <= PULL
        return moves and self.cop >= -COP and self.friction <= 1.0 + FRICTION

    @property
    def limits_hold(self) -> bool:
        """Whether torques, positions and speeds of joints are inside their limits."""
        return self.torque <= 1.0 + SHARE and self.joint >= -SHARE and self.speed <= 1.0 + SHARE

    @property
    def soles_rest(self) -> bool:
        """Whether no sole slides that bears load."""
        return self.slip <= SLIDE

    @property
    def contacts_hold(self) -> bool:
        """Whether what is declared to bear is on its ground, whole soles parallel to it, and nothing else bears."""
        return self.height <= HEIGHT and self.tilt <= TILT and self.undeclared <= LOADED

    @property
    def holds(self) -> bool:
        """Whether all is well."""
        return self.forces_hold and self.contacts_hold and self.soles_rest and self.limits_hold


class FrameJudge:
    """Judge frames of one robot."""

    def __init__(
        self,
        robot: RobotModel,
        proportions: Proportions,
        *,
        trust_limits: bool = True,
    ) -> None:
        """Prepare.

        Args:
            robot: The robot.
            proportions: Its measures.
            trust_limits: Whether joints have the limits their description says; where not, frames count as inside them.
        """
        self._trust = trust_limits
        self._model, self._data = robot.model, robot.data()
        self._soles, surfaces = proportions.soles, find_soles(robot)
        self._outlines = [np.array(surface.vertices[:, :2]) for surface in surfaces]
        self._whole = [len(outline) > 2 for outline in self._outlines]
        planes = [
            half_planes(outline) if whole else (np.zeros((0, 2)), np.zeros(0))
            for outline, whole in zip(self._outlines, self._whole, strict=True)
        ]
        self._weight = proportions.mass * proportions.gravity
        middles = np.array([corners.mean(axis=0) for corners in proportions.corners])
        self._given = middles, tuple(planes), LOADED * self._weight
        self._found, self._shares, self._placed = np.zeros((2, FOUND)), np.zeros(3), np.zeros(2)
        self._rims: dict[tuple[int, int], Vector] = {}
        self._bearing: dict[tuple[int, int], Matrix] = {}  # points of a sole, by what it stands on
        for foot, whole in enumerate(self._whole):
            self._bearing[foot, FLAT] = np.array(
                middles[foot][None] if whole else surfaces[foot].vertices
            )
            if whole:
                rims = find_edges(np.array(surfaces[foot].vertices), 0.0)
                self._rims |= {
                    (foot, kind): np.array([*rims.middle(kind), rims.half(kind)])
                    for kind in (TOE, HEEL)
                }
                self._bearing |= {(foot, kind): rims.ends(kind) for kind in (TOE, HEEL)}
        self._mu = [surface.friction for surface in surfaces]
        self._index, low, high = limited_positions(robot)
        self._ranges = np.zeros((4, robot.nv - BASE))
        self._ranges[0, : len(low)], self._ranges[1, : len(high)] = low, high
        effort, speed = robot.limits.effort[BASE:], robot.limits.velocity[BASE:]
        limited = np.isfinite(effort) & (effort > 0.0)
        np.divide(1.0, effort, out=self._ranges[2], where=limited)
        np.divide(1.0, speed, out=self._ranges[3], where=speed > 0.0)
        self._judge_forces, self._judge_edge, self._judge_place, self._judge_limits = (
            compile_kernel(kernel)
            for kernel in (judge_forces, judge_edge, judge_place, judge_limits)
        )
        self._warm_up(robot)

    def _warm_up(self, robot: RobotModel) -> None:
        """Compile the kernels, or load them, before a robot waits for them."""
        nothing, still = np.zeros((2, 6)), np.zeros(robot.nv)
        step = TickAnswer(still, still[BASE:], nothing, (True, True), 0)
        self.judge(np.array(robot.posture), still, (np.array(robot.posture), still), step)
        turn = self._data.oMf[self._soles[0]].rotation
        rim = np.zeros(4)
        self._judge_edge(nothing[0], nothing[1], turn, rim, 1.0, self._found[0])

    def judge(
        self,
        q: Vector,
        v: Vector,
        after: tuple[Vector, Vector],
        step: TickAnswer,
        target: Target | None = None,
    ) -> FrameCertificate:
        """Judge one frame.

        Args:
            q: (nq,) configuration in which the step was asked.
            v: (nv,) velocity.
            after: Configuration and velocity after the step.
            step: The answer.
            target: What was wanted: its ground is what soles stand on; the level plane through the origin where None.

        Returns:
            The certificate.
        """
        model, data = self._model, self._data
        miss = pin.rnea(model, data, q, v, step.vdot)
        pin.computeJointJacobians(model, data, q)
        J = (
            pin.getFrameJacobian(model, data, self._soles[0], LOCAL),
            pin.getFrameJacobian(model, data, self._soles[1], LOCAL),
        )
        answer = step.wrenches, step.tau
        largest = self._judge_forces(J, after[1], answer, self._given, miss, self._found)
        cop, friction, pull, slip = np.inf, 0.0, 0.0, 0.0
        height, tilt, undeclared = 0.0, 0.0, 0.0
        for foot in (0, 1):
            if not step.stands[foot]:
                undeclared = max(
                    undeclared, max(map(abs, step.wrenches[foot].tolist())) / self._weight
                )
                continue
            far, aslant = self._measure_place(foot, step.edges[foot], target)
            height, tilt = max(height, far), max(tilt, aslant)
            speed, margin, pulled, push = self._measure_forces(foot, step, J[foot], after[1])
            slip = max(slip, speed) if push > BEARS * self._weight else slip
            pull = max(pull, -push / self._weight)
            if push > LOADED * self._weight:
                cop = min(cop, margin)
                friction = max(friction, pulled / (self._mu[foot] * push))
        torque, joint, rate = 0.0, np.inf, 0.0
        if self._trust:
            self._judge_limits(*after, step.tau, self._index, self._ranges, self._shares)
            torque, joint, rate = self._shares.tolist()
        return FrameCertificate(
            largest / self._weight,
            cop,
            friction,
            max(pull, 0.0),
            torque,
            joint,
            rate,
            slip,
            height,
            tilt,
            undeclared,
        )

    def _measure_place(self, foot: int, kind: int, target: Target | None) -> tuple[float, float]:
        """Return how far what bears of a sole is from its ground, and how far a whole sole is tilted against it."""
        X, plane = pin.updateFramePlacement(self._model, self._data, self._soles[foot]), LEVEL
        if target is not None:
            plane = (
                *target.normal[foot].tolist(),
                *target.sole_place[foot, :2].tolist(),
                float(target.ground[foot]),
            )
        self._judge_place(
            X.translation, X.rotation, self._bearing[foot, kind], np.array(plane), self._placed
        )
        far, aslant = self._placed.tolist()
        return far, aslant if kind == FLAT and self._whole[foot] else 0.0

    def _measure_forces(self, foot: int, step: TickAnswer, J: Matrix, v: Vector) -> list[float]:
        """Return speed along a sole, how far the pressure is inside, tangential and normal force; those of an edge where it stands on one."""
        found, w, loaded = self._found[foot], step.wrenches[foot], LOADED * self._weight
        if step.edges[foot]:
            turn = pin.updateFramePlacement(self._model, self._data, self._soles[foot]).rotation
            rim = self._rims[foot, step.edges[foot]]
            self._judge_edge(w, np.dot(J, v), turn, rim, loaded, found)
        elif not self._whole[foot] and w[2] > loaded:
            found[1] = margin_inside(self._outlines[foot], np.array([-w[4], w[3]]) / w[2])
        measured: list[float] = found[:MEASURED].tolist()
        return measured
