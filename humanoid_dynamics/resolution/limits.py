"""Limits on what contacts and motors do, and the quadratic programs that keep them [DF, sec. 4].

Contacts may never pull, slip or tip: these rows are hard always.  Where no push inside them and inside the torque limits fulfils the
equation of motion, the equation gives way, as little as possible.  Only where limbs move so wildly that no push at all keeps their motors
inside their limits do these give way as well; commands are then cut to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from types import MappingProxyType

import numpy as np

from humanoid_dynamics.resolution.contact_dynamics import ContactDynamics, as_slice
from humanoid_dynamics.resolution.kernels import FRICTION, SOLID, YAW, Contacts, ask_hard
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel
from humanoid_dynamics.spatial.quadratic import QpStatus, QpWorkspace

MOST_ROWS = 28  # of one contact in the first attempt; where there are more, those of yaw follow only when they matter
SPARE_ROWS = 24  # for rows of yaw that turn out to matter
ROWS_AT_A_TIME = 6
NONE: Indices = np.zeros(0, dtype=np.intp)
ROW_KINDS = MappingProxyType({"friction": FRICTION, "yaw": YAW})
WRENCH = 6
MOMENT_LEVER = 0.3  # m; weighs a moment that is missing at the base against a force
CHOICE_WEIGHT = 1e-6  # of the rule's objective against the equation of motion, where that cannot be met
CHOICE_FLOOR = 1e-2  # of the mean curvature of the objective, so that the program stays well conditioned
TIGHT = 2e-7  # of the weight of the robot: a row counts as kept
BROKEN = 3e-7  # and from here on as broken


@dataclass(frozen=True, eq=False)
class LimitedPush:
    """A push inside limits.

    Attributes:
        x: (size,) the push.
        path: ``qp`` where the equation of motion is met, ``qp_soft`` where it gives way, ``none`` where no program had an answer.
    """

    x: Vector
    path: str


@dataclass(frozen=True, slots=True)
class Fault:
    """A limit of a contact that a push breaks.

    Attributes:
        contact: Index of the contact.
        kind: ``pulls``, ``overload``, ``slips``, ``tips`` or ``turns``.
    """

    contact: int
    kind: str


class ContactRows:
    """The rows of all contacts on the push x: A x <= b.

    Attributes:
        A: (m, size) rows.
        b: (m,) bounds.
        core: (c,) those that the first attempt takes.
        tight: What a row that counts as kept may be broken by.
    """

    def __init__(self, dynamics: ContactDynamics) -> None:
        """Stack the cones.

        Args:
            dynamics: What is asked.
        """
        count = sum(len(cone.A) for cone in dynamics.cones)
        self.A: Matrix = np.zeros((count, dynamics.size))
        self.b: Vector = np.concatenate([np.zeros(0), *(cone.b for cone in dynamics.cones)])
        core: list[int] = []
        at = 0
        for cone, part in zip(dynamics.cones, dynamics.parts, strict=True):
            self.A[at : at + len(cone.A), part] = cone.A
            core += [at + i for i, label in enumerate(cone.labels) if label != "yaw" or len(cone.A) <= MOST_ROWS]
            at += len(cone.A)
        self.core = np.array(core, dtype=np.intp)
        self._dynamics = dynamics
        self._bounded = bool(np.any(self.b))
        self.tight, self._broken = TIGHT * dynamics.unit_force, BROKEN * dynamics.unit_force
        self._kinds_of = [np.array([ROW_KINDS.get(label, SOLID) for label in cone.labels], dtype=np.intp) for cone in dynamics.cones]

    def transposed(self) -> Matrix:
        """Return the rows of each contact on its own unknowns, (6, m)."""
        blocks = [np.pad(cone.A.T, ((0, WRENCH - cone.A.shape[1]), (0, 0))) for cone in self._dynamics.cones]
        return np.ascontiguousarray(np.hstack([np.zeros((WRENCH, 0)), *blocks]))

    def for_kernel(self) -> Contacts:
        """Return what the compiled judge knows about contacts."""
        surfaces, cones = self._dynamics.surfaces, self._dynamics.cones
        return (
            np.array([0, *(part.stop for part in self._dynamics.parts)], dtype=np.intp),
            np.array([0, *accumulate(len(cone.A) for cone in cones)], dtype=np.intp),
            np.array([surface.friction for surface in surfaces], dtype=np.float64),
            np.array([surface.normal_force_limit for surface in surfaces], dtype=np.float64),
            np.concatenate([NONE, *self._kinds_of]),
            self._broken,
        )

    def are_kept(self, x: Vector) -> bool:
        """Whether a push keeps all rows."""
        if not len(self.A):
            return True
        y = self.A.dot(x)
        if self._bounded:
            y -= self.b
        return bool(y[y.argmax()] <= self.tight)

    def broken(self, x: Vector, most: int, scale: float = 1.0) -> Indices:
        """Return the rows that a push breaks, the worst of them where there are many.

        Args:
            x: (size,) the push.
            most: How many to return at most.
            scale: How large it is, in weights of the robot; one where it is not larger.
        """
        y: Vector = self.A.dot(x) - self.b
        if y[y.argmax()] <= self.tight * scale:
            return NONE
        worst = np.argpartition(y, -most)[-most:]
        return np.asarray(worst[y[worst] > self.tight * scale], dtype=np.intp)

    def faults(self, x: Vector) -> list[Fault]:
        """Return which limits a push breaks; friction by the round cone, of which the rows are the inside.

        Args:
            x: (size,) the push.
        """
        found = []
        for k, part in enumerate(self._dynamics.parts):
            found += [Fault(k, kind) for kind in self._kinds(k, x[part])]
        return found

    def _kinds(self, k: int, x: Vector) -> list[str]:
        surface, cone, rows, nothing = self._dynamics.surfaces[k], self._dynamics.cones[k], self._kinds_of[k], self._broken
        along, across, normal = x[:3].tolist()
        if normal < -nothing:
            return ["pulls"]
        over = cone.A.dot(x)
        over -= cone.b
        overload = normal > surface.normal_force_limit + nothing
        slips = (along * along + across * across) ** 0.5 > surface.friction * normal + nothing
        tips = bool((over[(rows == SOLID) & (cone.b == 0.0)] > nothing).any())
        kinds = [kind for kind, broken in (("overload", overload), ("slips", slips), ("tips", tips)) if broken]
        if not kinds and (over[rows == FRICTION] <= nothing).all() and (over[rows == YAW] > nothing).any():
            return ["turns"]
        return kinds


@dataclass(frozen=True, eq=False)
class _Program:
    """A quadratic program whose rows are those of contacts, places for more of them, and torques.

    Attributes:
        workspace: Its memory.
        spare: Places for more rows.
        checked: Whether rows are missing that an answer may break.
        torques: How many of its last rows are torques.
        bounds: Bounds of its rows of contacts.
    """

    workspace: QpWorkspace
    spare: slice
    checked: bool
    torques: int
    bounds: Vector


class LimitedChoice:
    """The push inside limits with the least cost [DF, eq. 1]: make once, ``choose`` many times."""

    def __init__(self, dynamics: ContactDynamics, rows: ContactRows, compiled: bool = False) -> None:
        """Take the memory of the quadratic programs.

        Args:
            dynamics: What is asked.
            rows: The rows of its contacts.
            compiled: Whether numba compiles how they are filled.
        """
        self._dynamics, self._rows = dynamics, rows
        effort = dynamics.robot.limits.effort
        limited = dynamics.acted_v[np.isfinite(effort[dynamics.acted_v])]
        self._torque, self._effort = as_slice(limited - dynamics.span.start), effort[limited]
        bearing = np.asarray(dynamics.bearing_v - dynamics.span.start, dtype=np.intp)
        self._places = (bearing, np.asarray(limited - dynamics.span.start, dtype=np.intp), self._effort)
        self._ask = compile_kernel(ask_hard) if compiled and dynamics.size else None
        # Where rows of yaw are many there is a first attempt with places for those that turn out to matter, and one with all.
        many = len(rows.core) < len(rows.A)
        stages = [(rows.core, SPARE_ROWS), (np.arange(len(rows.A)), 0)] if many else [(rows.core, 0)]
        m, torques = len(dynamics.bearing_v), len(self._effort)
        self._hard = [self._build_program(m, stage, spare, torques) for stage, spare in stages]
        self._soft = [self._build_program(0, stages[-1][0], 0, torques) for torques in dict.fromkeys((torques, 0))]
        lever = np.where(np.array([dynamics.units[i] == "N" for i in dynamics.bearing_v], dtype=bool), 1.0, MOMENT_LEVER)
        self._misses = 1.0 / lever**2

    def choose(self, H: Matrix, g: Vector) -> LimitedPush:
        """Choose the push of least cost x'Hx/2 - g'x.

        Args:
            H: (size, size) Hessian.
            g: (size,) linear term.

        Returns:
            The push; the closest one where no push fulfils everything.
        """
        for program in self._hard:
            self._ask_hard(program.workspace, H, g)
            x, hopeless = self._solve(program, 1.0)
            if x is not None:
                return LimitedPush(x, "qp")
            if hopeless:
                break
        for program in self._soft:
            scale = self._ask_soft(program, H, g)
            x, _ = self._solve(program, scale)
            if x is not None:
                return LimitedPush(x, "qp_soft")
        return LimitedPush(np.zeros(self._dynamics.size), "none")

    def _solve(self, program: _Program, scale: float) -> tuple[Vector | None, bool]:
        """Solve a program, taking in rows of yaw as they turn out to be broken.

        Args:
            program: It, filled.
            scale: Unit of force in which it is asked, in weights of the robot.

        Returns:
            The push, or None where there is none or the places for rows are full; and whether there is none.
        """
        qp, first, end = program.workspace, program.spare.start, program.spare.stop
        qp.upper[program.spare] = np.inf
        while True:
            solution = qp.solve()
            if solution.status is not QpStatus.OPTIMAL:
                return None, solution.status is QpStatus.INFEASIBLE
            x = solution.x * scale
            if not program.checked:
                return x, False
            worst = self._rows.broken(x, ROWS_AT_A_TIME, scale)
            if not len(worst):
                return x, False
            taken = slice(first, first + len(worst))
            if taken.stop > end:
                return None, False
            qp.A[taken], qp.upper[taken] = self._rows.A[worst], self._rows.b[worst] / scale
            first = taken.stop

    def _build_program(self, equations: int, rows: Indices, spare: int, torques: int) -> _Program:
        n = self._dynamics.size
        workspace = QpWorkspace(max(n, 1), equations, equations + len(rows) + spare + torques, self._dynamics.unit_force)
        end = equations + len(rows)
        workspace.A[equations:end, :n] = self._rows.A[rows]
        workspace.upper[equations:end] = self._rows.b[rows]
        return _Program(workspace, slice(end, end + spare), spare > 0, torques, self._rows.b[rows])

    def _ask_hard(self, program: QpWorkspace, H: Matrix, g: Vector) -> None:
        dynamics, m, torques = self._dynamics, len(self._dynamics.bearing_v), len(self._effort)
        if self._ask is not None:
            arrays = (program.H, program.f, program.A, program.lower, program.upper)
            self._ask((dynamics.J, dynamics.free, H, g), self._places, arrays)
            return
        program.H[:] = H
        np.negative(g, program.f)
        program.A[:m] = dynamics.J[:, dynamics.bearing].T
        program.upper[:m] = program.lower[:m] = dynamics.free[dynamics.bearing]
        if torques:
            free = dynamics.free[self._torque]
            program.A[-torques:] = dynamics.J[:, self._torque].T
            np.add(free, self._effort, program.upper[-torques:])
            np.subtract(free, self._effort, program.lower[-torques:])

    def _ask_soft(self, kind: _Program, H: Matrix, g: Vector) -> float:
        """Fill the program; return the unit of force in which it is asked, in weights of the robot, large in wild states."""
        dynamics, n, program, torques = self._dynamics, self._dynamics.size, kind.workspace, kind.torques
        J_u, missing = dynamics.J[:, dynamics.bearing], dynamics.free[dynamics.bearing]
        choice = CHOICE_WEIGHT / max(float(np.trace(H)) / max(n, 1), 1e-300)
        program.H[:] = (J_u * self._misses) @ J_u.T + choice * H
        program.H[range(n), range(n)] += CHOICE_WEIGHT * CHOICE_FLOOR
        largest = float(np.max(np.abs(missing), initial=0.0))
        free = dynamics.free[self._torque]
        if torques:
            largest = max(largest, float(np.max(np.abs(free))))
        scale = max(1.0, largest / dynamics.unit_force)
        np.multiply(J_u @ (self._misses * missing) + choice * g, -1.0 / scale, program.f)
        if torques:
            program.A[-torques:] = dynamics.J[:, self._torque].T
            program.upper[-torques:] = (free + self._effort) / scale
            program.lower[-torques:] = (free - self._effort) / scale
        np.multiply(kind.bounds, 1.0 / scale, program.upper[: len(kind.bounds)])
        return scale
