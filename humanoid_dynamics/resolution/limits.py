# SPDX-License-Identifier: Apache-2.0
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

from humanoid_dynamics.contact.cone import build_pushes
from humanoid_dynamics.resolution.kernels import FRICTION, SOLID, YAW
from humanoid_dynamics.resolution.problem import DynamicsProblem, as_slice
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.least_distance import solve_from_zero
from humanoid_dynamics.spatial.quadratic import QpStatus, QpWorkspace

NONE: Indices = np.zeros(0, dtype=np.intp)
ROW_KINDS = MappingProxyType({"friction": FRICTION, "yaw": YAW})
WRENCH = 6
MOMENT_LEVER = 0.3  # m; weighs a moment that is missing at the base against a force
CHOICE_WEIGHT = (
    1e-6  # of the rule's objective against the equation of motion, where that cannot be met
)
CHOICE_FLOOR = (
    1e-2  # of the mean curvature of the objective, so that the program stays well conditioned
)
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


@dataclass(frozen=True, eq=False)
class KernelRows:
    """Rows of contacts as the compiled tick reads them.

    Attributes:
        indices: Where the unknowns of each contact start (contacts + 1,), where its rows do (2 contacts + 1,), the kind of each row (m,);
            first the rows of pressure, load and friction of all contacts, then those about their normals.
        rows: (6, m) rows of each contact on its own unknowns, transposed.
        b: (m,) their bounds.
        friction: (contacts,) coefficients.
        load: (contacts,) largest normal forces.
        corner_ends: Where the forces of the corners of each contact start (contacts + 1,).
        corners: (6, k) those forces as pushes of each contact.
    """

    indices: tuple[Indices, Indices, Indices]
    rows: Matrix
    b: Vector
    friction: Vector
    load: Vector
    corner_ends: Indices
    corners: Matrix


class ContactRows:
    """The rows of all contacts on the push x: A x <= b.

    Attributes:
        A: (m, size) rows.
        b: (m,) bounds.
        tight: What a row that counts as kept may be broken by.
        broken: From where on a limit of a contact counts as broken.
    """

    def __init__(self, problem: DynamicsProblem) -> None:
        """Stack the cones.

        Args:
            problem: What is asked.
        """
        self.A, self.b = problem.A, problem.b
        self._problem = problem
        self._bounded = bool(np.any(self.b))
        self.tight, self.broken = TIGHT * problem.unit_force, BROKEN * problem.unit_force
        self._kinds_of = [
            np.array([ROW_KINDS.get(label, SOLID) for label in contact.cone.labels], dtype=np.intp)
            for contact in problem.contacts
        ]

    def for_kernel(self) -> KernelRows:
        """Return what the compiled tick knows about contacts."""
        surfaces = self._problem.surfaces
        pushes = [build_pushes(surface) for surface in surfaces]
        groups = [
            (contact.cone, kinds, (kinds == YAW) == turns)
            for turns in (False, True)
            for contact, kinds in zip(self._problem.contacts, self._kinds_of, strict=True)
        ]
        firsts = np.array([0, *(part.stop for part in self._problem.parts)], dtype=np.intp)
        ends = np.array(
            [0, *accumulate(int(chosen.sum()) for _, _, chosen in groups)], dtype=np.intp
        )
        return KernelRows(
            indices=(
                firsts,
                ends,
                np.concatenate([NONE, *(kinds[chosen] for _, kinds, chosen in groups)]),
            ),
            rows=np.hstack(
                [np.zeros((WRENCH, 0)), *(_fill_up(cone.A[chosen].T) for cone, _, chosen in groups)]
            ),
            b=np.concatenate([np.zeros(0), *(cone.b[chosen] for cone, _, chosen in groups)]),
            friction=np.array([surface.friction for surface in surfaces], dtype=np.float64),
            load=np.array([surface.normal_force_limit for surface in surfaces], dtype=np.float64),
            corner_ends=np.array([0, *accumulate(part.shape[1] for part in pushes)], dtype=np.intp),
            corners=np.hstack([np.zeros((WRENCH, 0)), *map(_fill_up, pushes)]),
        )

    def are_kept(self, x: Vector) -> bool:
        """Whether a push keeps all rows."""
        if not len(self.A):
            return True
        y = self.A.dot(x)
        if self._bounded:
            y -= self.b
        return bool(y[y.argmax()] <= self.tight)

    def faults(self, x: Vector) -> list[Fault]:
        """Return which limits a push breaks; friction by the round cone, of which the rows are the inside.

        Args:
            x: (size,) the push.
        """
        found = []
        for k, part in enumerate(self._problem.parts):
            found += [Fault(k, kind) for kind in self._kinds(k, x[part])]
        return found

    def reached(self, x: Vector) -> list[Fault]:
        """Return which limits a push has come to without breaking them, at most one of a kind for each contact.

        Args:
            x: (size,) the push.
        """
        found = []
        for k, part in enumerate(self._problem.parts):
            cone, kinds = self._problem.contacts[k].cone, self._kinds_of[k]
            at = cone.A.dot(x[part]) > cone.b - self.broken
            if x[part][2] <= self.broken:
                found.append(Fault(k, "pulls"))
                continue
            names = (
                ("overload", at & (cone.b > 0.0)),
                ("tips", at & (kinds == SOLID) & (cone.b == 0.0)),
            )
            rubs = (("slips", at & (kinds == FRICTION)), ("turns", at & (kinds == YAW)))
            found += [Fault(k, kind) for kind, rows in (*names, *rubs) if rows.any()]
        return found

    def _kinds(self, k: int, x: Vector) -> list[str]:
        surface, cone, rows, nothing = (
            self._problem.surfaces[k],
            self._problem.contacts[k].cone,
            self._kinds_of[k],
            self.broken,
        )
        along, across, normal = x[:3].tolist()
        if normal < -nothing:
            return ["pulls"]
        over = cone.A.dot(x)
        over -= cone.b
        overload = normal > surface.normal_force_limit + nothing
        slips = (along * along + across * across) ** 0.5 > surface.friction * normal + nothing
        tips = bool((over[(rows == SOLID) & (cone.b == 0.0)] > nothing).any())
        kinds = [
            kind
            for kind, broken in (("overload", overload), ("slips", slips), ("tips", tips))
            if broken
        ]
        if (
            not kinds
            and (over[rows == FRICTION] <= nothing).all()
            and (over[rows == YAW] > nothing).any()
        ):
            return ["turns"]
        return kinds


@dataclass(frozen=True, eq=False)
class _Program:
    """A quadratic program whose first rows are equations, if any, then those of contacts, then torques.

    Attributes:
        workspace: Its memory.
        torques: How many of its last rows are torques.
    """

    workspace: QpWorkspace
    torques: int


class LimitedChoice:
    """The push inside limits with the least cost [DF, eq. 1]: make once, ``choose`` many times."""

    def __init__(self, problem: DynamicsProblem, rows: ContactRows) -> None:
        """Take the memory of the quadratic programs.

        Args:
            problem: What is asked.
            rows: The rows of its contacts.
        """
        self._problem, self._rows = problem, rows
        effort = problem.robot.limits.effort
        limited = problem.acted_v[np.isfinite(effort[problem.acted_v])]
        self._torque, self._effort = as_slice(limited - problem.span.start), effort[limited]
        self._hard = self._build_program(len(problem.bearing_v), len(limited))
        self._soft = [
            self._build_program(0, torques) for torques in dict.fromkeys((len(limited), 0))
        ]
        self._misses = miss_weights(problem)

    def choose(self, H: Matrix, g: Vector) -> LimitedPush:
        """Choose the push of least cost x'Hx/2 - g'x.

        Args:
            H: (size, size) Hessian.
            g: (size,) linear term.

        Returns:
            The push; the closest one where no push fulfils everything.
        """
        self._ask_hard(self._hard, H, g)
        solution = self._hard.workspace.solve()
        if solution.status is QpStatus.OPTIMAL:
            return LimitedPush(solution.x, "qp")
        for program in self._soft:
            scale = self._ask_soft(program, H, g)
            solution = program.workspace.solve()
            if solution.status is QpStatus.OPTIMAL:
                return LimitedPush(solution.x * scale, "qp_soft")
            x = self._choose_surely(program)
            if x is not None:
                return LimitedPush(x * scale, "qp_soft")
        return LimitedPush(np.zeros(self._problem.size), "none")

    def _choose_surely(self, kind: _Program) -> Vector | None:
        """Choose slowly what a soft program asks to which no push at all is an answer, if not the nearest."""
        program, m = kind.workspace, len(self._rows.b)
        if not self._problem.size or (program.upper < 0.0).any() or (program.lower > 0.0).any():
            return None
        A, b = (
            np.vstack((program.A, -program.A[m:])),
            np.concatenate((program.upper, -program.lower[m:])),
        )
        return solve_from_zero(program.H, -program.f, A, b)

    def _build_program(self, equations: int, torques: int) -> _Program:
        n, A, b = self._problem.size, self._rows.A, self._rows.b
        workspace = QpWorkspace(
            max(n, 1), equations, equations + len(b) + torques, self._problem.unit_force
        )
        workspace.A[equations : equations + len(b), :n] = A
        workspace.upper[equations : equations + len(b)] = b
        return _Program(workspace, torques)

    def _ask_hard(self, kind: _Program, H: Matrix, g: Vector) -> None:
        problem, program, m = self._problem, kind.workspace, len(self._problem.bearing_v)
        program.H[:] = H
        np.negative(g, program.f)
        program.A[:m] = problem.J_span[:, problem.bearing].T
        program.upper[:m] = program.lower[:m] = problem.free[problem.bearing]
        self._ask_torques(kind, 1.0)

    def _ask_torques(self, kind: _Program, scale: float) -> None:
        if kind.torques:
            free, program = self._problem.free[self._torque], kind.workspace
            program.A[-kind.torques :] = self._problem.J_span[:, self._torque].T
            program.upper[-kind.torques :] = (free + self._effort) / scale
            program.lower[-kind.torques :] = (free - self._effort) / scale

    def _ask_soft(self, kind: _Program, H: Matrix, g: Vector) -> float:
        """Fill the program; return the unit of force in which it is asked, in weights of the robot, large in wild states."""
        problem, n, program = self._problem, self._problem.size, kind.workspace
        J_u, missing = problem.J_span[:, problem.bearing], problem.free[problem.bearing]
        choice = CHOICE_WEIGHT / max(float(np.trace(H)) / max(n, 1), 1e-300)
        program.H[:] = (J_u * self._misses) @ J_u.T + choice * H
        program.H[range(n), range(n)] += CHOICE_WEIGHT * CHOICE_FLOOR
        asked = np.concatenate((missing, problem.free[self._torque] if kind.torques else NONE))
        scale = max(1.0, float(np.max(np.abs(asked), initial=0.0)) / problem.unit_force)
        np.multiply(J_u @ (self._misses * missing) + choice * g, -1.0 / scale, program.f)
        np.multiply(self._rows.b, 1.0 / scale, program.upper[: len(self._rows.b)])
        self._ask_torques(kind, scale)
        return scale


def _fill_up(part: Matrix) -> Matrix:
    return np.pad(part, ((0, WRENCH - len(part)), (0, 0)))


def miss_weights(problem: DynamicsProblem) -> Vector:
    """Return how much what each equation misses weighs, squared, where not all can be met; a force on a slide weighs one.

    Args:
        problem: What is asked.
    """
    slides = np.array([problem.units[i] == "N" for i in problem.bearing_v], dtype=bool)
    return np.where(slides, 1.0, MOMENT_LEVER**-2)
