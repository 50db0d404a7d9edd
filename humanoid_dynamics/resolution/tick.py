# SPDX-License-Identifier: Apache-2.0
"""Whole-body control: tasks on the acceleration, resolved with contact forces and torques in one quadratic program.

    minimise sum w (A a - b)^2    with    M a + h = S' tau + J' f,   J a = gamma,   f in cones,   tau and a in bounds

Unknown are x = (a, f / unit).  The equations, J a = gamma and the rows of the equation of motion without motor, are eliminated:
x = C (y, 1); the program is in y.  Tasks alone decide the accelerations: of the contact forces only the part that moves nothing, the
internal forces, is weighed, so that they are the least ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import perf_counter
from traceback import format_exception_only

import numpy as np
import pinocchio as pin
from scipy.linalg import lapack

from humanoid_dynamics.contact.ground import AnyGround
from humanoid_dynamics.dynamics.joint_friction import compute_joint_friction, has_joint_friction
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.resolution.answer import Answer
from humanoid_dynamics.resolution.certificate import AnswerStatus, Certificate, RefusedCertificate
from humanoid_dynamics.resolution.certify import Certifier
from humanoid_dynamics.resolution.elimination import eliminate
from humanoid_dynamics.resolution.inverse import Resolver
from humanoid_dynamics.resolution.joint_bounds import JointBounds, WholeBodyLimits
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.resolution.rules import Rule, find_rule
from humanoid_dynamics.resolution.tasks import Task
from humanoid_dynamics.solvers.qp import QpStatus, QpWorkspace
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel
from humanoid_dynamics.status import StatusEnum

INTERNAL_WEIGHT = 1e-3  # of squared internal forces, in weights of the robot
REST_WEIGHTS = (1e-11, 1e-8)  # of the largest curvature: what no task decides stays small
CONTACT_WEIGHT = 1e4  # of the largest weight: contacts that cannot rest move as little as can be
SINGULAR = 1e-9  # of the trace, for rows of the base that contacts cannot press
LEVER = 0.1  # m; half a foot: a moment of the weight at this lever counts like the weight


class Relaxation(StatusEnum):
    """What an answer of whole-body control had to give up."""

    NONE = "NONE", "equations and all limits are kept"
    JOINT_BOUNDS = "JOINT_BOUNDS", "the bounds of positions and speeds could not be kept"
    CONTACTS = "CONTACTS", "contacts cannot rest inside friction cones and torque limits"
    HELD = "HELD", "no answer was found; the torques are the last good ones inside their limits"


class WholeBodyAnswer(Answer):
    """Torques, accelerations and contact wrenches of one tick.

    Attributes:
        a: (nv,) acceleration; zero where the torques are held.
        relaxation: What was given up.
    """

    __slots__ = ("a", "relaxation")

    def __init__(
        self, tau: Vector, certificate: Certificate, a: Vector, relaxation: Relaxation
    ) -> None:
        """Bind the acceleration to torques and proof."""
        super().__init__(tau, certificate)
        self.a, self.relaxation = a, relaxation


class WholeBody:
    """Whole-body control prepared for tasks and contacts: make once, ``solve`` at every tick.

    Tasks may be changed between ticks: their targets are attributes.

    Attributes:
        robot: The robot.
        tasks: The tasks.
        problem: The equation of motion.
    """

    def __init__(
        self,
        robot: RobotModel,
        tasks: Iterable[Task],
        contacts: str | Iterable[str | ContactSurface] | None = None,
        rule: str | Rule | None = None,
        *,
        limits: WholeBodyLimits | None = None,
        ground: AnyGround = None,
        joint_friction: bool = True,
    ) -> None:
        """Prepare; numba compiles two kernels, the first time on a machine.

        Args:
            robot: The robot.
            tasks: What is asked for.
            contacts: Name or names of the surfaces that may touch, or surfaces; ``robot.stance`` where None.
            rule: How contact forces are chosen for the acceleration, as in inverse dynamics; least internal forces where None.
            limits: Which limits of joints and motors are kept; all where None.
            ground: Ground that the contacts are on, as in inverse dynamics.
            joint_friction: Whether the torques overcome the friction of the joints that the robot model has.

        Raises:
            UnknownNameError: If a surface, a rule, a frame or a joint does not exist.
            ShapeError: If a target or a weight does not fit the robot.
        """
        self.robot, self.tasks = robot, tuple(tasks)
        self.problem = problem = DynamicsProblem(robot, contacts, ground)
        self._certifier = Certifier(problem)
        self._resolver = (
            None if rule is None else Resolver(problem, self._certifier, find_rule(rule))
        )
        for task in self.tasks:
            task.prepare(robot)
        self._strict = tuple(task for task in self.tasks if task.level == 1)
        self._others = tuple(task for task in self.tasks if task.level == 2)
        self._bounds = JointBounds(robot, limits or WholeBodyLimits())
        self._rubs = joint_friction and has_joint_friction(robot)
        self._eliminate = compile_kernel(eliminate)
        self._workspaces: dict[tuple[int, int], QpWorkspace] = {}
        self._weight, self._units = problem.unit_force, _list_units(problem)
        self._cones = problem.A * self._units
        self._rest = np.zeros(robot.nv)
        self._held: Vector = np.zeros(len(problem.driven_v))
        self._touching: Sequence[bool] | None = None
        self.solve(robot.posture, self._rest)
        self._held = np.zeros(len(problem.driven_v))
        for task in self.tasks:
            task.forget()

    def solve(
        self,
        q: Vector,
        v: Vector,
        active: Sequence[bool] | None = None,
        *,
        force: Vector | None = None,
    ) -> WholeBodyAnswer:
        """Answer for one instant; trouble with numbers, sizes or a task is a status, never an exception.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            active: Whether each contact touches; all where None.
            force: (nv,) known generalized force beside motors and contacts; none where None.

        Returns:
            The answer; torques are the last good ones where the question is not valid.
        """
        start = perf_counter()
        try:
            with np.errstate(all="ignore"):
                if self._rubs:
                    friction = compute_joint_friction(self.robot, v)
                    force = -friction if force is None else force - friction
                self._touching = active
                fault = self.problem.update(q, v, active=active, force=force)
                fault = fault or self._update_tasks()
                return self._refuse(fault, start) if fault else self._resolve(start)
        except Exception as trouble:  # noqa: BLE001 - a task may be a user's own, and arguments are examined only here
            return self._refuse(format_exception_only(trouble)[-1].strip(), start)

    def _update_tasks(self) -> str:
        """Write the rows of all tasks; return what is wrong with them."""
        problem = self.problem
        pin.centerOfMass(self.robot.model, problem.data, problem.q, problem.v, self._rest)
        for task in self.tasks:
            task.update(problem)
            if not np.isfinite(task.b.sum() + task.A.sum()):
                return f"{type(task).__name__}: rows hold a number that is not finite"
        return ""

    def _resolve(self, start: float) -> WholeBodyAnswer:
        problem, limits = self.problem, self._bounds.torques(self.problem.v)
        for relaxation in (Relaxation.NONE, Relaxation.JOINT_BOUNDS, Relaxation.CONTACTS):
            x = self._solve_levels(relaxation, limits)
            if x is not None:
                return self._answer(x, relaxation, limits, start)
        x = np.zeros(problem.robot.nv + problem.size)
        return self._answer(x, Relaxation.HELD, limits, start)

    def _answer(
        self, x: Vector, relaxation: Relaxation, limits: Matrix, start: float
    ) -> WholeBodyAnswer:
        problem, nv = self.problem, self.robot.nv
        a, f = x[:nv].copy(), x[nv:] * self._units
        for part, touches in zip(problem.parts, self._touching or (), strict=False):
            f[part] *= touches
        problem.accelerate(a)
        ruled = None if relaxation is Relaxation.HELD else self._ask_rule(limits, start)
        if ruled is not None:
            self._held = ruled.tau
            return WholeBodyAnswer(ruled.tau, ruled.certificate, a, relaxation)
        tau = problem.tau_0[problem.driven] - f @ problem.J[:, problem.driven]
        tau = np.clip(self._held if relaxation is Relaxation.HELD else tau, *limits)
        path = "qp" if relaxation is not Relaxation.CONTACTS else "qp_soft"
        found = (path, len(problem.undriven_v)) if len(f) else ("none", 0)
        certificate = self._certifier.certify(f, tau, found, start)
        if np.isfinite(tau).all():
            self._held = tau
        tau.flags.writeable = False
        return WholeBodyAnswer(tau, certificate, a, relaxation)

    def _ask_rule(self, limits: Matrix, start: float) -> Answer | None:
        """Return the answer of the rule for the acceleration; None where there is no rule or it keeps not all limits."""
        if self._resolver is None:
            return None
        count = len(self.problem.parts)
        shares = np.array(self._touching or (True,) * count, dtype=np.float64)
        ruled = self._resolver.answer(shares / max(shares.sum(), 1.0), start)
        inside = (limits[0] <= ruled.tau).all() and (ruled.tau <= limits[1]).all()
        return ruled if inside and ruled.certificate.status is AnswerStatus.OK else None

    def _refuse(self, reason: str, start: float) -> WholeBodyAnswer:
        """Answer a question that is not valid: the last torques, margins of minus infinity."""
        certificate = RefusedCertificate(self.problem, reason)
        certificate.time = perf_counter() - start
        return WholeBodyAnswer(self._held, certificate, self._rest.copy(), Relaxation.HELD)

    def _solve_levels(self, relaxation: Relaxation, limits: Matrix) -> Vector | None:
        """Return x of one or two programs: tasks of level 2 leave the accelerations of level 1 as they are."""
        E, soft = self._build_equations(relaxation)
        if not self._strict or not self._others:
            return self._solve_program(E, self.tasks, soft, relaxation, limits)
        x = self._solve_program(E.copy(), self._strict, soft, relaxation, limits)
        if x is None:
            return None
        nv = self.robot.nv
        A = np.concatenate([task.A for task in self._strict] + ([soft[0]] if len(soft[0]) else []))
        kept = np.zeros((len(A), E.shape[1]))
        kept[:, :nv], kept[:, -1] = A, A @ x[:nv]
        return self._solve_program(np.vstack((E, kept)), self._others, soft, relaxation, limits)

    def _build_equations(self, relaxation: Relaxation) -> tuple[Matrix, tuple[Matrix, Vector]]:
        """Return the equations of x with their right-hand sides, and the rows J, gamma of contacts that may move."""
        problem, nv, (k, u) = (
            self.problem,
            self.robot.nv,
            (self.problem.size, len(self.problem.undriven_v)),
        )
        first = 0 if relaxation is not Relaxation.CONTACTS or not k else problem.parts[-1].stop
        E = np.zeros((k - first + u, nv + k + 1))
        E[: k - first, :nv], E[: k - first, -1] = problem.J[first:], problem.gamma[first:]
        E[k - first :, :nv] = problem.M[problem.undriven]
        E[k - first :, nv:-1] = -(problem.J[:, problem.undriven].T * self._units)
        E[k - first :, -1] = -problem.tau_0[problem.undriven]
        E[k - first :] /= self._weight
        return E, (problem.J[:first], problem.gamma[:first])

    def _solve_program(
        self, E: Matrix, tasks: tuple[Task, ...], soft: tuple[Matrix, Vector], relaxation: Relaxation, limits: Matrix
    ) -> Vector | None:  # fmt: skip
        """Eliminate the equations, fill the program and solve it; None where no x keeps all rows."""
        C: Matrix = self._eliminate(E)
        n = C.shape[1] - 1
        if not n:
            return np.array(C[:, 0])
        program = self._find_workspace(n, relaxation)
        self._fill_objective(program, C, tasks, soft)
        self._fill_rows(program, C, relaxation, limits)
        curvature = max(1.0, float(program.H.diagonal().max()))
        for weight in REST_WEIGHTS:
            program.H.ravel()[:: n + 1] += weight * curvature
            solution = program.solve()
            if solution.status is QpStatus.OPTIMAL:
                return np.asarray(C[:, :n] @ solution.x + C[:, n])
            if solution.status is QpStatus.INFEASIBLE:
                return None
        return None

    def _fill_objective(
        self, program: QpWorkspace, C: Matrix, tasks: tuple[Task, ...], soft: tuple[Matrix, Vector]
    ) -> None:
        problem, (nv, n) = self.problem, (self.robot.nv, C.shape[1] - 1)
        A = np.concatenate([soft[0], *(task.A for task in tasks)])
        b = np.concatenate([soft[1], *(task.b for task in tasks)])
        w = np.concatenate([np.zeros(0), *(task.weight for task in tasks)])
        heavy = np.full(len(soft[1]), CONTACT_WEIGHT * max(1.0, float(w.max(initial=0.0))))
        errors = A @ C[:nv]
        errors[:, n] -= b
        errors *= np.sqrt(np.concatenate((heavy, w)))[:, None]
        B, F = problem.J[:, problem.undriven] * (self._units / self._weight)[:, None], C[nv:]
        G = B.T @ B
        G.ravel()[:: len(G) + 1] += SINGULAR * (1.0 + float(np.trace(G)))
        internal = F - B @ lapack.dposv(G, B.T @ F)[1] if len(G) and len(F) else F
        errors = np.concatenate((errors, np.sqrt(INTERNAL_WEIGHT) * internal))
        whole = errors.T @ errors
        program.H[:], program.f[:] = whole[:n, :n], whole[:n, n]

    def _fill_rows(
        self, program: QpWorkspace, C: Matrix, relaxation: Relaxation, limits: Matrix
    ) -> None:
        problem, (nv, n) = self.problem, (self.robot.nv, C.shape[1] - 1)
        cones = self._cones @ C[nv:]
        m, d = len(cones), len(problem.driven_v)
        program.A[:m] = cones[:, :n]
        program.upper[:m] = problem.b - cones[:, n]
        tau = problem.M[problem.driven] @ C[:nv]
        tau -= (problem.J[:, problem.driven].T * self._units) @ C[nv:]
        program.A[m : m + d] = tau[:, :n]
        still = tau[:, n] + problem.tau_0[problem.driven]
        program.lower[m : m + d], program.upper[m : m + d] = limits - still
        if relaxation is Relaxation.NONE:
            bounded = C[self._bounds.v]
            program.A[m + d :] = bounded[:, :n]
            room = self._bounds.accelerations(problem.q, problem.v) - bounded[:, n]
            program.lower[m + d :], program.upper[m + d :] = room

    def _find_workspace(self, n: int, relaxation: Relaxation) -> QpWorkspace:
        rows = len(self.problem.b) + len(self.problem.driven_v)
        rows += len(self._bounds.v) if relaxation is Relaxation.NONE else 0
        if (n, rows) not in self._workspaces:
            self._workspaces[n, rows] = QpWorkspace(n, 0, rows)
        return self._workspaces[n, rows]


def _list_units(problem: DynamicsProblem) -> Vector:
    """Return what counts as one of each number of f: the weight of the robot, or that at a lever."""
    units = np.full(problem.size, problem.unit_force)
    for contact in problem.contacts:
        is_moment = np.abs(contact.held[:3]).max(axis=0) == 0.0
        units[contact.part] *= np.where(is_moment, LEVER, 1.0)
    return units
