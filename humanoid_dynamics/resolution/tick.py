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

from humanoid_dynamics.contact.ground import AnyGround
from humanoid_dynamics.dynamics.joint_friction import compute_joint_friction, has_joint_friction
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.resolution.answer import Answer, RelaxationStatus, WholeBodyAnswer
from humanoid_dynamics.resolution.certificate import AnswerStatus, RefusedCertificate
from humanoid_dynamics.resolution.certify import Certifier
from humanoid_dynamics.resolution.inverse import Resolver
from humanoid_dynamics.resolution.joint_bounds import JointBounds, WholeBodyLimits
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.resolution.rules import Rule, find_rule
from humanoid_dynamics.resolution.tasks import Task
from humanoid_dynamics.resolution.tick_kernels import (
    eliminate,
    write_equations,
    write_objective,
    write_rows,
)
from humanoid_dynamics.solvers.qp import QpStatus, QpWorkspace
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel

REST_WEIGHTS = (1e-11, 1e-8)  # of the largest curvature: what no task decides stays small
CONTACT_WEIGHT = 1e4  # of the largest weight: contacts that cannot rest move as little as can be
LEVER = 0.1  # m; half a foot: a moment of the weight at this lever counts like the weight


Rows = tuple[Matrix, Vector, Vector]  # A, b and weights of tasks


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
        self._stack = _stack_rows(robot, self.tasks)
        self._split = int(sum(len(task.b) for task in self.tasks if task.level == 1))
        self._bounds = JointBounds(robot, limits or WholeBodyLimits())
        self._rubs = joint_friction and has_joint_friction(robot)
        self._eliminate, self._write_equations, self._write_objective, self._write_rows = map(
            compile_kernel, (eliminate, write_equations, write_objective, write_rows)
        )
        self._none = np.zeros(0, dtype=np.intp)
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
        A, b, _ = self._stack
        if np.isfinite(A.sum() + b.sum()):
            return ""
        wrong = [t for t in self.tasks if not np.isfinite(t.A.sum() + t.b.sum())]
        return f"{type(wrong[0]).__name__}: rows hold a number that is not finite"

    def _resolve(self, start: float) -> WholeBodyAnswer:
        problem, limits = self.problem, self._bounds.torques(self.problem.v)
        for relaxation in (
            RelaxationStatus.NONE,
            RelaxationStatus.JOINT_BOUNDS,
            RelaxationStatus.CONTACTS,
        ):
            x = self._solve_levels(relaxation, limits)
            if x is not None:
                return self._answer(x, relaxation, limits, start)
        x = np.zeros(problem.robot.nv + problem.size)
        return self._answer(x, RelaxationStatus.HELD, limits, start)

    def _answer(
        self, x: Vector, relaxation: RelaxationStatus, limits: Matrix, start: float
    ) -> WholeBodyAnswer:
        problem, nv = self.problem, self.robot.nv
        a, f = x[:nv].copy(), x[nv:] * self._units
        for part, touches in zip(problem.parts, self._touching or (), strict=False):
            f[part] *= touches
        problem.accelerate(a)
        ruled = None if relaxation is RelaxationStatus.HELD else self._ask_rule(limits, start)
        if ruled is not None:
            self._held = ruled.tau
            return WholeBodyAnswer(ruled.tau, ruled.certificate, a, relaxation)
        tau = problem.tau_0[problem.driven_v] - f @ problem.J[:, problem.driven_v]
        tau = np.clip(self._held if relaxation is RelaxationStatus.HELD else tau, *limits)
        path = "qp" if relaxation is not RelaxationStatus.CONTACTS else "qp_soft"
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
        return WholeBodyAnswer(self._held, certificate, self._rest.copy(), RelaxationStatus.HELD)

    def _solve_levels(self, relaxation: RelaxationStatus, limits: Matrix) -> Vector | None:
        """Return x of one or two programs: tasks of level 2 leave the accelerations of level 1 as they are."""
        problem, (k, nv), u = self.problem, self.problem.J.shape, self.problem.undriven_v
        first = problem.parts[-1].stop if relaxation is RelaxationStatus.CONTACTS and k else 0
        terms = (problem.J, problem.gamma, problem.M, problem.tau_0)
        E = np.zeros((k - first + len(u), nv + k + 1))
        self._write_equations(terms, u, self._units, self._weight, first, E)
        A, b, w = self._stack
        rows = [(A[: self._split], b[: self._split], w[: self._split])]
        rows.append((A[self._split :], b[self._split :], w[self._split :]))
        if first:
            rows = [_add_contacts(each, problem, first) for each in rows]
        if not self._split or self._split == len(b):
            return self._solve_program(E, rows[1 if not self._split else 0], relaxation, limits)
        x = self._solve_program(E.copy(), rows[0], relaxation, limits)
        if x is None:
            return None
        kept = np.zeros((len(rows[0][1]), E.shape[1]))
        kept[:, :nv], kept[:, -1] = rows[0][0], rows[0][0] @ x[:nv]
        return self._solve_program(np.vstack((E, kept)), rows[1], relaxation, limits)

    def _solve_program(
        self, E: Matrix, tasks: Rows, relaxation: RelaxationStatus, limits: Matrix
    ) -> Vector | None:
        """Eliminate the equations, fill the program and solve it; None where no x keeps all rows."""
        problem, C = self.problem, self._eliminate(E)
        n = C.shape[1] - 1
        if not n:
            return np.array(C[:, 0])
        program = self._find_workspace(n, relaxation)
        pressed = (problem.J, problem.undriven_v, self._units)
        self._write_objective(C, tasks, *pressed, program.H, program.f)
        bounded = self._bounds.v if relaxation is RelaxationStatus.NONE else self._none
        room = self._bounds.accelerations(problem.q, problem.v)
        terms = (problem.J, problem.gamma, problem.M, problem.tau_0)
        limited = (self._cones, problem.b, problem.driven_v, limits, bounded, room)
        rows = (program.A, program.lower, program.upper)
        self._write_rows(C, terms, self._units, limited, rows)
        curvature = max(1.0, float(program.H.diagonal().max()))
        for weight in REST_WEIGHTS:
            program.H.ravel()[:: n + 1] += weight * curvature
            solution = program.solve()
            if solution.status is QpStatus.OPTIMAL:
                return np.asarray(C[:, :n] @ solution.x + C[:, n])
            if solution.status is QpStatus.INFEASIBLE:
                return None
        return None

    def _find_workspace(self, n: int, relaxation: RelaxationStatus) -> QpWorkspace:
        rows = len(self.problem.b) + len(self.problem.driven_v)
        rows += len(self._bounds.v) if relaxation is RelaxationStatus.NONE else 0
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


def _stack_rows(robot: RobotModel, tasks: Sequence[Task]) -> Rows:
    """Prepare tasks and put their rows into one memory, those of level 1 first."""
    ordered = sorted(tasks, key=lambda task: task.level)
    ends = np.cumsum([0, *(task.prepare(robot) for task in ordered)])
    A, b, w = np.zeros((ends[-1], robot.nv)), np.zeros(ends[-1]), np.zeros(ends[-1])
    for task, start, end in zip(ordered, ends, ends[1:], strict=False):
        A[start:end], w[start:end] = task.A, task.weight
        task.A, task.b = A[start:end], b[start:end]
    return A, b, w


def _add_contacts(rows: Rows, problem: DynamicsProblem, count: int) -> Rows:
    """Add rows of contacts that may move: they move as little as can be."""
    A, b, w = rows
    heavy = np.full(count, CONTACT_WEIGHT * max(1.0, float(w.max(initial=0.0))))
    return (
        np.vstack((A, problem.J[:count])),
        np.append(b, problem.gamma[:count]),
        np.append(w, heavy),
    )
