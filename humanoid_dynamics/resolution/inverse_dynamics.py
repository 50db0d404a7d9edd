"""Torques and contact wrenches for a wanted motion of a robot on any number of contacts."""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter
from types import MappingProxyType

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike
from scipy.linalg import block_diag

from humanoid_dynamics.contact.wrench import ContactWrench, measure_wrench, wrench_basis
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import State
from humanoid_dynamics.resolution.answer import Answer, Certificate
from humanoid_dynamics.resolution.rules import TYPICAL_LEVER, TYPICAL_TORQUE, Rule, find_rule
from humanoid_dynamics.resolution.units import coordinate_units
from humanoid_dynamics.spatial.arrays import Matrix, Vector, check_vector, read_only
from humanoid_dynamics.spatial.least_squares import ConstrainedMinimum, solve_constrained

RESIDUAL_TOLERANCE = 1e-8  # of the weight of the robot
MARGIN_TOLERANCE = 1e-9


def inverse_dynamics(
    robot: RobotModel, state: State, a: ArrayLike, contacts: str | Iterable[str] | None = None, rule: str | Rule = "minimum_torque"
) -> Answer:
    """Find joint torques and contact wrenches for an acceleration.

    Args:
        robot: The robot.
        state: Configuration and velocity.
        a: (nv,) wanted acceleration, in the coordinates of the velocity [m/s², rad/s²].
        contacts: Name or names of the contact surfaces that touch; those the robot rests on, ``robot.stance``, where None.
        rule: Name of a rule, or a rule, that chooses among the answers.

    Returns:
        Torques, wrenches and their certificate.

    Raises:
        ShapeError: If a size is wrong or an entry is not finite.
        UnknownNameError: If a surface or a rule does not exist.
    """
    state.check(robot)
    a = check_vector("a", a, robot.nv)
    return InverseDynamics(robot, contacts, rule).tick(state.q, state.v, a)


class InverseDynamics:
    """Inverse dynamics prepared for one set of contacts and one rule: make once, ``tick`` many times.

    With tau_0 the torques of free motion and J_c the Jacobian of the contacts, M a + h = tau_0 holds with tau = tau_0 - J_c' w.  Rows
    that no motor drives must vanish: they are equations for w.  What freedom they leave, the rule spends.  Gears between joints that
    mimic each other push like contacts, with one number each in w.
    """

    def __init__(self, robot: RobotModel, contacts: str | Iterable[str] | None = None, rule: str | Rule = "minimum_torque") -> None:
        """Prepare.

        Args:
            robot: The robot.
            contacts: Name or names of the surfaces that touch, each counted once; ``robot.stance`` where None.
            rule: The rule.

        Raises:
            UnknownNameError: If a surface or a rule does not exist.
        """
        names = robot.stance if contacts is None else (contacts,) if isinstance(contacts, str) else tuple(contacts)
        self._robot = robot
        self._rule = find_rule(rule)
        self._surfaces = tuple(robot.surface(name) for name in dict.fromkeys(names))
        self._bases = tuple(wrench_basis(surface) for surface in self._surfaces)
        self._data = robot.data()
        driven = np.zeros(robot.nv, dtype=bool)
        driven[robot.actuated_v] = True
        self._undriven = np.flatnonzero(~driven)
        self._weight = robot.mass * float(np.linalg.norm(robot.model.gravity.linear)) or 1.0
        self._units = coordinate_units(robot)
        self._J_mimic = _mimic_rows(robot)
        self._H_w = self._wrench_weights()

    def tick(self, q: Vector, v: Vector, a: Vector) -> Answer:
        """Answer for one instant; trouble with numbers is a status of the certificate, never an exception.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            a: (nv,) acceleration.

        Returns:
            Torques, wrenches and their certificate.
        """
        start = perf_counter()
        if not (np.isfinite(q).all() and np.isfinite(v).all() and np.isfinite(a).all()):
            return self._refuse("q, v or a holds a number that is not finite", perf_counter() - start)
        tau_0 = np.array(pin.rnea(self._robot.model, self._data, q, v, a))
        J = self._jacobian(q)
        if not (np.isfinite(tau_0).all() and np.isfinite(J).all()):
            return self._refuse("q, v or a holds a number too large to compute with", perf_counter() - start)
        chosen = self._choose(tau_0, J)
        tau_all = tau_0 - J.T @ chosen.x
        wrenches = self._measure(chosen.x)
        certificate = self._certify(tau_all, wrenches, chosen, start)
        return Answer(read_only(tau_all[self._robot.actuated_v]), MappingProxyType(wrenches), certificate)

    def _wrench_weights(self) -> Matrix:
        rule = self._rule
        force = rule.wrench_weight * (TYPICAL_TORQUE / self._weight) ** 2
        unit = np.concatenate((np.full(3, force), np.full(3, force / TYPICAL_LEVER**2)))
        blocks = [
            rule.wrench_weight * np.eye(basis.shape[1]) if rule.unit_wrench else basis.T @ (unit[:, None] * basis) for basis in self._bases
        ]
        return np.asarray(block_diag(*blocks, rule.wrench_weight * np.eye(len(self._J_mimic))))

    def _jacobian(self, q: Vector) -> Matrix:
        """Stack the Jacobians of the wrenches each surface can carry, in its own axes, and of the gears, (r, nv)."""
        model, data = self._robot.model, self._data
        pin.computeJointJacobians(model, data, q)
        rows = [
            basis.T @ pin.getFrameJacobian(model, data, surface.frame, pin.ReferenceFrame.LOCAL)
            for surface, basis in zip(self._surfaces, self._bases, strict=True)
        ]
        return np.vstack((*rows, self._J_mimic))

    def _choose(self, tau_0: Vector, J: Matrix) -> ConstrainedMinimum:
        """Choose the wrenches: undriven rows are equations, driven rows are what the rule makes small."""
        J_a = J[:, self._robot.actuated_v]
        bearing = self._undriven[np.any(J[:, self._undriven] != 0.0, axis=0)]
        return solve_constrained(J_a @ J_a.T + self._H_w, J_a @ tau_0[self._robot.actuated_v], J[:, bearing].T, tau_0[bearing])

    def _measure(self, w: Vector) -> dict[str, ContactWrench]:
        wrenches: dict[str, ContactWrench] = {}
        at = 0
        for surface, basis in zip(self._surfaces, self._bases, strict=True):
            R_WC = pin.updateFramePlacement(self._robot.model, self._data, surface.frame).rotation
            wrenches[surface.name] = measure_wrench(surface, basis @ w[at : at + basis.shape[1]], R_WC)
            at += basis.shape[1]
        return wrenches

    def _certify(self, tau_all: Vector, wrenches: dict[str, ContactWrench], chosen: ConstrainedMinimum, start: float) -> Certificate:
        limits = self._robot.limits.effort[self._robot.actuated_v]
        tau = tau_all[self._robot.actuated_v]
        residual = float(np.max(np.abs(tau_all[self._undriven]), initial=0.0))
        shares = np.abs(tau) / limits
        reasons: list[tuple[str, str]] = []
        if residual > RESIDUAL_TOLERANCE * self._weight:
            worst = int(self._undriven[np.argmax(np.abs(tau_all[self._undriven]))])
            reasons.append(("unsupported", f"{self._robot.coordinates[worst]} lacks {abs(tau_all[worst]):.3g} {self._units[worst]}"))
        if self._robot.loops:
            closures = ", ".join(loop.name for loop in self._robot.loops)
            reasons.append(("unsupported", f"the robot is taken as the tree it was cut into; forces of its loops are left out: {closures}"))
        reasons += [("infeasible_contact", reason) for wrench in wrenches.values() for reason in _contact_reasons(wrench)]
        for i in np.flatnonzero(shares > 1.0):
            unit = self._units[self._robot.actuated_v[i]]
            reasons.append(("saturated", f"{self._robot.actuated[i]} needs {tau[i]:.4g} {unit}, its limit is {limits[i]:.4g} {unit}"))
        return Certificate(
            status=reasons[0][0] if reasons else "ok",
            reasons=tuple(reason for _, reason in reasons),
            residual=residual,
            normal_margin=min((wrench.normal_margin for wrench in wrenches.values()), default=np.inf),
            friction_margin=min((wrench.friction_margin for wrench in wrenches.values()), default=np.inf),
            cop_margin=min((wrench.cop_margin for wrench in wrenches.values()), default=np.inf),
            torque_margin=float(1.0 - np.max(shares, initial=0.0)),
            redundancy=len(chosen.x) - chosen.rank,
            rank=chosen.rank,
            path=chosen.path,
            time=perf_counter() - start,
        )

    def _refuse(self, reason: str, time: float) -> Answer:
        worst = -np.inf
        certificate = Certificate("invalid_input", (reason,), np.inf, worst, worst, worst, worst, 0, 0, "none", time)
        return Answer(read_only(np.zeros(len(self._robot.actuated))), MappingProxyType({}), certificate)


def _mimic_rows(robot: RobotModel) -> Matrix:
    """Return the directions in which the gears between followers and leaders push, (mimics, nv)."""
    index = {joint.name: joint.v.start for joint in robot.joints}
    rows = np.zeros((len(robot.mimics), robot.nv))
    for row, mimic in zip(rows, robot.mimics, strict=True):
        row[index[mimic.joint]], row[index[mimic.leader]] = 1.0, -mimic.ratio
    return rows


def _contact_reasons(wrench: ContactWrench) -> list[str]:
    tolerance = MARGIN_TOLERANCE * (1.0 + abs(wrench.normal_force))
    name, normal = wrench.surface, wrench.normal_force
    if normal < -tolerance:
        return [f"{name}: pulls with {-normal:.4g} N"]
    reasons = []
    if wrench.normal_margin < -tolerance:
        reasons.append(f"{name}: normal force {normal:.4g} N is {-wrench.normal_margin:.4g} N beyond its limit")
    if wrench.friction_margin < -tolerance:
        reasons.append(f"{name}: slips, {-wrench.friction_margin:.4g} N beyond the friction cone")
    if np.isinf(wrench.cop_margin):
        reasons.append(f"{name}: tips, a moment of {np.linalg.norm(wrench.m_W):.4g} N·m without pressing")
    elif wrench.cop_margin * max(normal, 0.0) < -tolerance:
        reasons.append(f"{name}: tips, centre of pressure {-wrench.cop_margin * 1e3:.4g} mm outside")
    return reasons
