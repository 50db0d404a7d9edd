"""Torques and contact wrenches for a wanted motion of a robot on any number of contacts."""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter
from types import MappingProxyType

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_dynamics.contact.wrench import ContactWrench, measure_wrench, wrench_basis
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import State
from humanoid_dynamics.resolution.answer import Answer, Certificate
from humanoid_dynamics.resolution.rules import TYPICAL_LEVER, TYPICAL_TORQUE, Rule, find_rule
from humanoid_dynamics.spatial.arrays import Matrix, Vector, check_vector, read_only
from humanoid_dynamics.spatial.least_squares import ConstrainedMinimum, solve_constrained

RESIDUAL_TOLERANCE = 1e-8  # of the weight of the robot
MARGIN_TOLERANCE = 1e-9


def inverse_dynamics(
    robot: RobotModel, state: State, a: ArrayLike, contacts: Iterable[str] | None = None, rule: str | Rule = "minimum_torque"
) -> Answer:
    """Find joint torques and contact wrenches for an acceleration.

    Args:
        robot: The robot.
        state: Configuration and velocity.
        a: (nv,) wanted acceleration, in the coordinates of the velocity [m/s², rad/s²].
        contacts: Names of the contact surfaces that touch; those the robot rests on, ``robot.stance``, where None.
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
    that no motor drives must vanish: they are equations for w.  What freedom they leave, the rule spends.
    """

    def __init__(self, robot: RobotModel, contacts: Iterable[str] | None = None, rule: str | Rule = "minimum_torque") -> None:
        """Prepare.

        Args:
            robot: The robot.
            contacts: Names of the surfaces that touch; ``robot.stance`` where None.
            rule: The rule.
        """
        names = robot.stance if contacts is None else tuple(contacts)
        self._robot = robot
        self._rule = find_rule(rule)
        self._surfaces = tuple(robot.surface(name) for name in names)
        self._bases = tuple(wrench_basis(surface) for surface in self._surfaces)
        self._data = robot.data()
        driven = np.zeros(robot.nv, dtype=bool)
        driven[robot.actuated_v] = True
        self._undriven = np.flatnonzero(~driven)
        self._weight = robot.mass * float(np.linalg.norm(robot.model.gravity.linear)) or 1.0
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
            return self._refuse(perf_counter() - start)
        tau_0 = np.array(pin.rnea(self._robot.model, self._data, q, v, a))
        J = self._contact_jacobian(q)
        chosen = self._choose(tau_0, J)
        tau_all = tau_0 - J.T @ chosen.x
        wrenches = self._measure(chosen.x)
        certificate = self._certify(tau_all, wrenches, chosen, start)
        return Answer(read_only(tau_all[self._robot.actuated_v]), MappingProxyType(wrenches), certificate)

    def _wrench_weights(self) -> Matrix:
        rule = self._rule
        if rule.unit_wrench:
            return np.eye(sum(basis.shape[1] for basis in self._bases)) * rule.wrench_weight
        force = rule.wrench_weight * (TYPICAL_TORQUE / self._weight) ** 2
        unit = np.concatenate((np.full(3, force), np.full(3, force / TYPICAL_LEVER**2)))
        blocks = [basis.T @ (unit[:, None] * basis) for basis in self._bases]
        weights = np.zeros((sum(block.shape[0] for block in blocks),) * 2)
        at = 0
        for block in blocks:
            weights[at : at + len(block), at : at + len(block)] = block
            at += len(block)
        return weights

    def _contact_jacobian(self, q: Vector) -> Matrix:
        """Stack the Jacobians of the wrenches each surface can carry, in its own axes, (r, nv)."""
        model, data = self._robot.model, self._data
        pin.computeJointJacobians(model, data, q)
        rows = [
            basis.T @ pin.getFrameJacobian(model, data, surface.frame, pin.ReferenceFrame.LOCAL)
            for surface, basis in zip(self._surfaces, self._bases, strict=True)
        ]
        return np.vstack(rows) if rows else np.zeros((0, self._robot.nv))

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
            reasons.append(("unsupported", f"{tau_all[worst]:.3g} missing at {self._robot.coordinates[worst]}"))
        reasons += [("infeasible_contact", reason) for wrench in wrenches.values() for reason in _contact_reasons(wrench)]
        for i in np.flatnonzero(shares > 1.0):
            reasons.append(("saturated", f"{self._robot.actuated[i]} needs {tau[i]:.1f} of {limits[i]:.1f} N·m"))
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

    def _refuse(self, time: float) -> Answer:
        certificate = Certificate(
            "invalid_input",
            ("q, v or a holds a number that is not finite",),
            np.inf,
            -np.inf,
            -np.inf,
            -np.inf,
            -np.inf,
            0,
            0,
            "none",
            time,
        )
        return Answer(read_only(np.zeros(len(self._robot.actuated))), MappingProxyType({}), certificate)


def _contact_reasons(wrench: ContactWrench) -> list[str]:
    reasons = []
    tolerance = MARGIN_TOLERANCE * (1.0 + abs(wrench.normal_force))
    if wrench.normal_margin < -tolerance:
        reasons.append(f"{wrench.surface}: normal force {wrench.normal_force:.1f} N")
    if wrench.friction_margin < -tolerance:
        reasons.append(f"{wrench.surface}: {-wrench.friction_margin:.1f} N beyond the friction cone")
    if wrench.normal_margin >= 0.0 and wrench.cop_margin < -tolerance:
        reasons.append(f"{wrench.surface}: centre of pressure {-wrench.cop_margin * 1e3:.1f} mm outside")
    return reasons
