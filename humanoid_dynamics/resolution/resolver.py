"""From an objective and the limits to an answer, for one rule on one ``ContactDynamics``."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from scipy.linalg import lapack

from humanoid_dynamics.resolution.answer import Answer, Certificate
from humanoid_dynamics.resolution.contact_dynamics import LARGEST, ContactDynamics
from humanoid_dynamics.resolution.evidence import RESIDUAL_TOLERANCE, TORQUE_TOLERANCE, Evidence
from humanoid_dynamics.resolution.kernels import ALL_WELL, CONTACT, PARTS, SINGULAR, judge, share_tick
from humanoid_dynamics.resolution.limits import ContactRows, LimitedChoice
from humanoid_dynamics.resolution.rules import Rule
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import Kernel, compile_kernel
from humanoid_dynamics.spatial.least_squares import solve_constrained

UNKNOWN = SINGULAR  # something is wrong; what, is found out the long way
STATUS_OF = ("", "unsupported", "infeasible_contact", "saturated", "ok")  # by what the judge says
MOST_USED = 1.0 + TORQUE_TOLERANCE


class Resolver:
    """One rule, ready to answer at every tick."""

    def __init__(self, dynamics: ContactDynamics, rows: ContactRows, rule: Rule, compiled: bool = False) -> None:
        """Take the memory.

        Args:
            dynamics: What is asked.
            rows: Limits of its contacts.
            rule: The rule.
            compiled: Whether numba compiles the tick now, where the rule's objective has a kernel.
        """
        self.rule = rule
        self._dynamics = dynamics
        self._objective = rule.objective(dynamics)
        self._rows = rows
        self._limited = LimitedChoice(dynamics, rows, compiled) if rule.limited else None
        n, m = dynamics.size, len(dynamics.bearing_v)
        self._n, self._m, self._nv = n, m, dynamics.robot.nv
        self._K: Matrix = np.zeros((n + m, n + m), order="F")
        self._rhs: Vector = np.zeros(n + m)
        self._objective.place(self._K[:n, :n], self._rhs[:n])
        self._G, self._b = self._K[n:, :n], self._rhs[n:]
        self._effort = dynamics.robot.limits.effort[dynamics.driven_v]
        with np.errstate(divide="ignore"):
            self._per_limit = np.where(self._effort > 0.0, 1.0 / self._effort, 0.0)
        self._tolerance = (RESIDUAL_TOLERANCE * dynamics.unit_force) ** 2
        self._whole = not dynamics.robot.loops
        self._kernel_arguments: tuple[object, ...] = ()
        self._compiled_judge: Kernel | None = None
        self._no_shares = np.zeros(len(dynamics.parts))
        self._is_written = False
        self._kernel = self._compile() if compiled else None

    def answer(self, shares: Vector, start: float) -> Answer:
        """Answer for the last update of the dynamics; never an exception for a number.

        Args:
            shares: (contacts,) part of the load that each contact is to take.
            start: When the tick began, by ``perf_counter`` [s].

        Returns:
            The answer.
        """
        dynamics = self._dynamics
        x, forces, path, rank, verdict = self._start(shares)
        if verdict < CONTACT and path in {"closed", "kkt"} and not self._holds(forces):
            x, path, rank = self._choose_carefully(shares)
            forces, verdict = self._judge(x)
        if self._limited is not None and verdict != ALL_WELL:
            x, path = self._limit(shares, x, path)
            forces, verdict = self._judge(x)
        if not forces.dot(forces) < LARGEST:
            x, path = np.zeros(self._n), "none"
            forces, verdict = self._judge(x)
        tau = forces[dynamics.driven]
        if self._limited is not None:  # also where all is well: to the last digit
            tau = np.minimum(np.maximum(tau, -self._effort), self._effort)
        tau.setflags(write=False)
        evidence = Evidence(dynamics, self._rows, x, forces, tau)
        status = STATUS_OF[verdict] or evidence.status()
        certificate = Certificate(status, (path, rank, self._n - rank), perf_counter() - start, evidence)
        return Answer(tau, certificate, evidence)

    def _start(self, shares: Vector) -> tuple[Vector, Vector, str, int, int]:
        kernel = self._kernel
        return self._run(shares) if kernel is None or not self._dynamics.full_rank else self._run_kernel(kernel, shares)

    def _run(self, shares: Vector) -> tuple[Vector, Vector, str, int, int]:
        """Return push, forces, path, rank, and what is wrong."""
        x, path, rank = self._choose(shares)
        self._is_written = path != "closed"
        forces = self._forces(x)
        return x, forces, path, rank, ALL_WELL if self._is_fine(x, forces) else UNKNOWN

    def _run_kernel(self, kernel: Kernel, shares: Vector) -> tuple[Vector, Vector, str, int, int]:
        """Return the same, compiled."""
        dynamics, x, forces = self._dynamics, np.empty(self._n), np.empty(self._nv)
        found = kernel((dynamics.J, dynamics.free, dynamics.tau_0, shares, x, forces), *self._kernel_arguments)
        if not found:
            return self._run(shares)
        if self._limited is not None and found != ALL_WELL:
            self._objective.write_beside(x, shares)
        self._is_written = True
        return x, forces, self._kernel_path, self._m, found

    def _judge(self, x: Vector) -> tuple[Vector, int]:
        """Return the forces of a push, and what is wrong."""
        if self._kernel is None or self._compiled_judge is None:
            forces = self._forces(x)
            return forces, ALL_WELL if self._is_fine(x, forces) else UNKNOWN
        dynamics, forces = self._dynamics, np.empty(self._nv)
        question = (dynamics.J, dynamics.free, dynamics.tau_0, self._no_shares, x, forces)
        return forces, self._compiled_judge(question, dynamics.span.start, self._kernel_arguments[-1])

    def _compile(self) -> Kernel | None:
        """Compile the kernel of the objective by asking it once."""
        fast, dynamics, n, m = self._objective.fast(), self._dynamics, self._n, self._m
        if fast is None or not n or not self._whole:
            return None
        kernel = compile_kernel(fast[0], PARTS)
        self._kernel_path = "closed" if fast[0] is share_tick else "kkt"
        place = (np.zeros((n + m, n + m)), np.zeros(3 * n + 2 * m), dynamics.span.start)
        contacts = (self._rows.transposed(), np.array(self._rows.b), np.zeros(len(self._rows.b)), self._rows.tight)
        motors = (np.array(dynamics.driven_v), np.array(self._per_limit), MOST_USED)
        self._kernel_arguments = (
            fast[1],
            place,
            (np.array(dynamics.undriven_v), self._tolerance, *contacts, *motors, self._rows.for_kernel()),
        )
        question = (dynamics.J, np.array(dynamics.free), np.array(dynamics.tau_0), self._no_shares, np.zeros(n), np.zeros(self._nv))
        kernel(question, *self._kernel_arguments)
        if self._limited is not None:
            self._compiled_judge = compile_kernel(judge, PARTS)
            self._compiled_judge(question, dynamics.span.start, self._kernel_arguments[-1])
        return kernel

    def _forces(self, x: Vector) -> Vector:
        """Return what motors must give and what is missing, (nv,)."""
        forces: Vector = self._dynamics.tau_0.copy()
        forces[self._dynamics.span] -= x.dot(self._dynamics.J)
        return forces

    def _choose(self, shares: Vector) -> tuple[Vector, str, int]:
        """Choose a push that fulfils the equation of motion, without limits, the fast way where rank is no question."""
        if not self._dynamics.full_rank:
            return self._choose_carefully(shares)
        x = self._objective.choose(shares)
        if x is not None:
            return x, "closed", self._m
        self._objective.write(shares)
        self._G[:] = self._dynamics.J[:, self._dynamics.bearing].T
        self._b[:] = self._dynamics.free[self._dynamics.bearing]
        _, _, solution, info = lapack.dsysv(self._K, self._rhs, lower=1)
        return self._choose_carefully(shares) if info else (solution[: self._n], "kkt", self._m)

    def _choose_carefully(self, shares: Vector) -> tuple[Vector, str, int]:
        """Choose a push that fulfils the equation of motion as well as can be, whatever its rank."""
        dynamics = self._dynamics
        if not self._n:
            return np.zeros(0), "none", 0
        J_u, free = dynamics.J[:, dynamics.bearing], dynamics.free[dynamics.bearing]
        x = self._objective.choose(shares)
        if x is not None and self._misses(free - x.dot(J_u)):
            x = None
        self._objective.write(shares)
        self._is_written = True
        chosen = solve_constrained(self._objective.H, self._objective.g, J_u.T, free)
        return (chosen.x, chosen.path, chosen.rank) if x is None else (x, "closed", chosen.rank)

    def _holds(self, forces: Vector) -> bool:
        return not self._misses(forces[self._dynamics.undriven])

    def _misses(self, lacking: Vector) -> bool:
        return not lacking.dot(lacking) <= self._tolerance

    def _limit(self, shares: Vector, x: Vector, path: str) -> tuple[Vector, str]:
        if self._limited is None or not self._dynamics.size:
            return x, path
        if not self._is_written:
            self._objective.write(shares)
        push = self._limited.choose(self._objective.H, self._objective.g)
        return push.x, push.path

    def _is_fine(self, x: Vector, forces: Vector) -> bool:
        """Whether nothing at all is wrong."""
        if not (self._holds(forces) and self._whole and self._rows.are_kept(x)):
            return False
        used = forces[self._dynamics.driven] * self._per_limit
        if not used.size:
            return True
        return bool(used[used.argmax()] <= MOST_USED and used[used.argmin()] >= -MOST_USED)
