# SPDX-License-Identifier: Apache-2.0
"""The dynamics filter of the paper: prepared once, asked tick by tick [DF, sec. 4].

Feedback gives a wanted acceleration; of all motions that the equation of motion allows the nearest is taken; it is integrated.  The answer
is motion, torques and simulation at once.  The filter is local: nothing in it looks ahead, and a reference whose zero-moment point leaves
the feet makes it fall, consistently.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite

import numpy as np
import pinocchio as pin
from scipy.linalg import blas

from humanoid_dynamics.constraints.block import ConstraintBlock
from humanoid_dynamics.constraints.constraint_set import ConstraintSet
from humanoid_dynamics.dynamics.closure import close_position
from humanoid_dynamics.dynamics.impact import project_velocity, solve_impact
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import State
from humanoid_dynamics.papers.dynamics_filter.collision import COLLIDES, find_speed, solve_collision
from humanoid_dynamics.papers.dynamics_filter.contact_procedure import ContactProcedure, Settled
from humanoid_dynamics.papers.dynamics_filter.contacts import (
    DRIFT_RATE,
    MOMENT_ARM,
    Held,
    build_soles,
)
from humanoid_dynamics.papers.dynamics_filter.differentiator import Differentiator, EstimateStatus
from humanoid_dynamics.papers.dynamics_filter.feedback import (
    ControlPoint,
    JointFeedback,
    PaperReference,
)
from humanoid_dynamics.papers.dynamics_filter.frame import (
    PaperCertificate,
    PaperFilterStatus,
    PaperFrame,
    least_margins,
)
from humanoid_dynamics.papers.dynamics_filter.ground import Ground, Slope
from humanoid_dynamics.papers.dynamics_filter.rows import Instant
from humanoid_dynamics.papers.dynamics_filter.style import PaperStyle
from humanoid_dynamics.spatial.arrays import Matrix, Vector

__all__ = ["PaperFilter", "PaperReference"]

FASTEST = 1e3  # rad/s or m/s; beyond it a motion has diverged
UNIT = 1e-3  # how far a quaternion of a reference may be from unit length
CLOSED = 1e-12
STANDING = 1e3  # times the mass: what it costs the correction of the control point to move a sole that stands


class PaperFilter:
    """Turns references into consistent motion; integrates its own state.

    Attributes:
        robot: The robot.
        style: How it is run.
        mechanism: Loops of the robot and grasps; ``connect`` and ``cut`` change them while it runs.
        q: (nq,) where it is.
        v: (nv,) how fast it moves.
        time: How long it has run [s].
        delay: What the causal differentiator adds where references come without rates [s].
    """

    def __init__(
        self, robot: RobotModel, state: State | None = None, style: PaperStyle | None = None, ground: Ground | None = None,
        surfaces: Iterable[str] | None = None,
    ) -> None:  # fmt: skip
        """Prepare.

        Args:
            robot: The robot.
            state: Where it starts; at rest in its posture where left out.
            style: How it is run.
            ground: What it stands on; level where left out.
            surfaces: Contact surfaces that may touch; those it stands on where left out.

        Raises:
            UnknownNameError: If a surface or the control point does not exist.
            ShapeError: If the state does not fit.
            SingularInertiaError: If links move without inertia.
        """
        robot.check_inertia("the dynamics filter")
        self.robot, self.style = robot, style or PaperStyle()
        state = (state or State.at_rest(robot)).check(robot)
        self.mechanism = Mechanism(robot, ConstraintSet.of(robot))
        self._ground = ground or Slope()
        self._soles = build_soles(
            robot, tuple(robot.stance if surfaces is None else surfaces), self.style.dt
        )
        self._planes = [(sole.A, sole.b) for sole in self._soles]
        self._surfaces = [sole.surface for sole in self._soles]
        self._driven = robot.actuated_v
        limit = np.array(robot.limits.effort)[self._driven]
        self._limit = np.where(limit > 0.0, limit, np.inf)
        self._procedure = ContactProcedure(robot.nv, self._driven, self._limit, self.style)
        self._feedback = JointFeedback(robot, self.style.gains)
        self._point = (
            ControlPoint(robot, self.style.gains, self.style.point)
            if self.style.gains.share > 0.0
            else None
        )
        self._weight = robot.mass * float(np.linalg.norm(robot.model.gravity.linear)) or 1.0
        self._mask = np.triu(np.ones((robot.nv, robot.nv))) - 0.5 * np.eye(robot.nv)
        self._no_rows = np.zeros((0, robot.nv))
        self._differentiator = Differentiator(robot, 1.0 / (6.0 * self.style.dt))
        self.delay = 0.0
        self._pushes: list[tuple[int, Vector, float]] = []
        self.reset(state)

    def reset(self, state: State) -> None:
        """Start anew.

        Args:
            state: Where.
        """
        state.check(self.robot)
        self.q, self.v, self.time = np.array(state.q), np.array(state.v), 0.0
        self._good: tuple[Vector, Vector, Vector] = (
            self.q,
            np.zeros(self.robot.nv),
            np.zeros(self.robot.nv),
        )
        for sole in self._soles:
            sole.touching = ()

    def push(self, link: str, force_W: Sequence[float], seconds: float) -> None:
        """Push a link at its origin from now on.

        Args:
            link: Link or alias.
            force_W: (3,) force in axes of the world [N].
            seconds: How long.

        Raises:
            UnknownNameError: If the link does not exist.
        """
        frame = self.robot.link_frame(link)
        self._pushes.append((frame, np.array(force_W, dtype=np.float64), self.time + seconds))

    def connect(self, block: ConstraintBlock) -> float:
        """Let a grasp or a loop hold from now on; velocities jump so that it does.

        Args:
            block: Its rows.

        Returns:
            Change of kinetic energy [J].
        """
        self.mechanism.constraints.add(block)
        jump = solve_impact(self.mechanism, self.q, self.v)
        self.v = jump.v_plus
        return jump.energy_change

    def cut(self, name: str) -> None:
        """Let go of a grasp or a loop.

        Args:
            name: Its name.

        Raises:
            UnknownNameError: If there is none of that name.
        """
        self.mechanism.constraints.remove(name)

    def step(self, reference: PaperReference) -> PaperFrame:
        """Filter one instant and go on to the next.

        Args:
            reference: What is wanted now.

        Returns:
            The instant, consistent; never an exception for numbers.
        """
        wanted_motion, fault = self._read(reference)
        q, v = self.q, self.v
        instant, energy, held = self._observe(q, v, reference.contacts)
        wanted = self._feedback.want(q, instant.v, wanted_motion)
        if self._point is not None:
            wanted += self._point.correct(
                self.mechanism.kinematics, self._weigh(instant), wanted, wanted_motion
            )
        settled = self._procedure.settle(instant, held, wanted)
        fault = self._advance(instant.v, settled.solution.a, fault)
        frame = PaperFrame(
            self.time, q, instant.v, settled.solution.a, settled.solution.tau, settled.wrenches, settled.loops, settled.held,
            self._certify(instant, settled, energy, fault), self._surfaces, np.array([sole.R for sole in self._soles]).reshape(-1, 3, 3),
        )  # fmt: skip
        self.time += self.style.dt
        return frame

    def _read(
        self, reference: PaperReference
    ) -> tuple[tuple[Vector, Vector, Vector], PaperFilterStatus | None]:
        """Return configuration, velocity and acceleration that are wanted; the last good ones where these are none."""
        q, v, a = reference.q, reference.v, reference.a
        if v is None or a is None:
            estimate = self._differentiator.update(self.time + self.style.dt, q)
            self.delay = self._differentiator.delay
            fault = (
                PaperFilterStatus.INVALID_INPUT
                if estimate.status in {EstimateStatus.NOT_FINITE, EstimateStatus.NOT_UNIT}
                else None
            )
            return (np.array(estimate.q), np.array(estimate.v), np.array(estimate.a)), fault
        fits = len(q) == self.robot.nq and len(v) == len(a) == self.robot.nv
        if (
            not fits
            or not isfinite(q.dot(q) + v.dot(v) + a.dot(a))
            or not pin.isNormalized(self.robot.model, q, UNIT)
        ):
            return (
                self._good[0],
                np.zeros(self.robot.nv),
                np.zeros(self.robot.nv),
            ), PaperFilterStatus.INVALID_INPUT
        self._good = (q, v, a)
        return self._good, None

    def _observe(
        self, q: Vector, v: Vector, flags: Mapping[str, bool] | None
    ) -> tuple[Instant, float, tuple[Held, ...]]:
        """Look at soles and loops, and let what comes down collide."""
        kinematics = self.mechanism.kinematics
        upper, h = kinematics.weigh(q, v)
        M = upper * self._mask
        M += M.T
        for sole in self._soles:
            sole.look(
                kinematics,
                self._ground,
                may_touch=flags is None or flags.get(sole.surface.name, True),
            )
        instant = self._gather(M, h, v)
        held = tuple(sole.touching for sole in self._soles)
        if not self.style.collisions or find_speed(instant) <= COLLIDES:
            return instant, 0.0, held
        jump = solve_collision(instant)
        _, h = kinematics.weigh(q, jump.v)
        for sole in self._soles:
            if sole.touching:
                sole.measure(kinematics)
        return self._gather(M, h, jump.v), jump.energy, jump.held

    def _gather(self, M: Matrix, h: Vector, v: Vector) -> Instant:
        constraints, kinematics = self.mechanism.constraints, self.mechanism.kinematics
        if self._lasting():
            h = h - self._push_forces()
        if not len(constraints):
            return Instant(M, h, v, self._no_rows, _NONE, _NONE, self._soles, self._weight)
        J = np.array(constraints.jacobian(kinematics))
        phi = np.array(constraints.error(kinematics))
        gamma = constraints.drift(kinematics) + DRIFT_RATE * J.dot(v) + 0.25 * DRIFT_RATE**2 * phi
        unit = self._weight * np.where(constraints.scale < 1.0, MOMENT_ARM, 1.0)
        return Instant(M, h, v, J, gamma, unit, self._soles, self._weight)

    def _weigh(self, instant: Instant) -> Matrix:
        """Return the inertia, and so much more where a sole that stands would have to move that it does not."""
        standing = [sole.J for sole in self._soles if len(sole.touching) > 2]
        if not standing:
            return instant.M
        J = np.concatenate(standing)
        return np.asarray(blas.dsyrk(STANDING * self.robot.mass, J, trans=1, beta=1.0, c=instant.M))

    def _lasting(self) -> list[tuple[int, Vector, float]]:
        """Return the pushes that still last; forget the others."""
        if self._pushes:
            self._pushes = [push for push in self._pushes if push[2] > self.time + 1e-9]
        return self._pushes

    def _push_forces(self) -> Vector:
        """Return the generalized force of all pushes that still last."""
        total = np.zeros(self.robot.nv)
        for frame, force, _ in self._pushes:
            J = pin.getFrameJacobian(
                self.robot.model, self.mechanism.kinematics.data, frame, pin.LOCAL_WORLD_ALIGNED
            )
            total += J[:3].T.dot(force)
        return total

    def _advance(
        self, v: Vector, a: Vector, fault: PaperFilterStatus | None
    ) -> PaperFilterStatus | None:
        """Integrate, velocity first [DF, sec. 4]; loops are closed again."""
        dt = self.style.dt
        v_next = v + dt * a
        if not (
            v_next.dot(v_next) < FASTEST**2 or float(np.abs(v_next).max()) < FASTEST
        ):  # NaN too
            self.v = np.zeros_like(v)
            return PaperFilterStatus.DIVERGED
        self.q, self.v = pin.integrate(self.robot.model, self.q, dt * v_next), v_next
        if len(self.mechanism.constraints):
            closed = close_position(self.mechanism, self.q, tolerance=CLOSED, most=5)
            self.q, self.v = closed.q, project_velocity(self.mechanism, closed.q, v_next)
        return fault

    def _certify(
        self, instant: Instant, settled: Settled, energy: float, fault: PaperFilterStatus | None
    ) -> PaperCertificate:
        solution, loops = settled.solution, settled.loops
        force = instant.M.dot(solution.a) + instant.h
        force[self._driven] -= solution.tau
        for sole, w in zip(self._soles, settled.wrenches, strict=True):
            if w.any():
                force -= sole.J.T.dot(np.concatenate((sole.R.dot(w[:3]), sole.R.dot(w[3:]))))
        constraint = 0.0
        if len(loops):
            force -= instant.J_loops.T.dot(loops)
            constraint = float(np.abs(instant.J_loops.dot(solution.a) + instant.gamma_loops).max())
        residual = float(np.abs(force).max())
        normal, inside, friction = least_margins(self._surfaces, settled.wrenches, self._planes)
        torque = 1.0 - float((np.abs(solution.tau) / self._limit).max(initial=0.0))
        depth = max((-float(sole.gap.min()) for sole in self._soles if sole.touching), default=0.0)
        status = fault or _judge(friction, torque, max(settled.left, residual / self._weight))
        reason = "" if status is PaperFilterStatus.OK else status.description
        return PaperCertificate(
            status,
            reason,
            residual,
            constraint,
            normal,
            inside,
            friction,
            torque,
            depth,
            energy,
            settled.solves,
            settled.way,
        )


def _judge(friction: float, torque: float, miss: float) -> PaperFilterStatus:
    if miss > 1e-6:
        return PaperFilterStatus.INFEASIBLE_CONTACT
    if torque < -1e-9:
        return PaperFilterStatus.SATURATED
    return PaperFilterStatus.SLIPPING if friction < -1e-6 else PaperFilterStatus.OK


_NONE = np.zeros(0)
