# SPDX-License-Identifier: Apache-2.0
"""Torque redistribution: the same acceleration with cooler motors, in front of any controller.

Torques tau of a policy or of PD targets leave internal forces between the contacts that do not move the robot.  With contact forces
f(tau) of the rigid equation of motion and N the null space of its undriven rows, T'J_u' N = 0,

    tau* = tau + delta,    delta = -J_d' T N z,    f* = f(tau) + T N z

minimizes sum w_j tau*_j^2 inside wrench cones, torque limits and the authority of the settings.  z = 0 is always feasible, so that the
answer is never worse than the torques received.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from scipy.linalg import lapack

from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.resolution.internal_forces import (
    InternalForces,
    LoadedContact,
    reduce_contact,
    span_internal_forces,
)
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.resolution.redistribution_settings import (
    Redistribution,
    RedistributionSettings,
    RedistributionState,
    RedistributionStatus,
)
from humanoid_dynamics.solvers.qp import QpStatus, QpWorkspace
from humanoid_dynamics.spatial.arrays import Vector, read_only

OBJECTIVES = ("copper_loss", "temperature", "least_peak")
REGULARIZATION = 1e-6  # of the mean diagonal of the Hessian
LEVEL = 0.8  # cosine of the inclination beyond which all vertices of a contact count as loaded
PEAK_POWER, PEAK_FLOOR = 4, 0.05  # weights of ``least_peak``
HOTTEST = 1.05  # share of the largest temperature at which the weight of a motor would be infinite
BEARING = 0.5  # fade from which a contact is watched for slip and creep
NEARLY_OUT = 1e-3  # share of a faded contact below which it is left out


class TorqueRedistribution:
    """Redistribution of received torques over the internal forces of a robot: make once, ``solve`` at every tick.

    Attributes:
        robot: The robot.
        settings: Its limits.
        weights: (na,) weight of each squared torque.
        state: What it remembers; ``reset`` makes it anew.
    """

    def __init__(
        self,
        robot: RobotModel,
        contacts: str | Iterable[str | ContactSurface] | None = None,
        objective: str = "copper_loss",
        settings: RedistributionSettings | None = None,
        motor_constants: Vector | None = None,
    ) -> None:
        """Prepare.

        Args:
            robot: The robot.
            contacts: Names of contact surfaces that may touch, or surfaces; ``robot.stance`` where None.
            objective: ``copper_loss`` (sum of squared currents), ``temperature`` (weights rise with motor temperature) or ``least_peak``
                (the motor nearest to its limit).
            settings: Limits.
            motor_constants: (na,) motor constants at the joint [N·m/sqrt(W)]; torque limits stand in for them where None.

        Raises:
            UnknownNameError: If a surface or the objective does not exist.
            ShapeError: If there is not one positive motor constant for each motor.
        """
        if objective not in OBJECTIVES:
            raise UnknownNameError("objective", objective, OBJECTIVES)
        self.robot, self.settings = robot, settings or RedistributionSettings()
        self._objective = objective
        self._problem = DynamicsProblem(robot, contacts)
        effort = np.where(np.isfinite(self._problem.effort), self._problem.effort, np.inf)
        self._effort: Vector = np.asarray(effort)
        finite = np.isfinite(effort)
        self._scale: Vector = np.where(finite, effort, np.max(effort[finite], initial=1.0))
        constants = self._scale if motor_constants is None else np.asarray(motor_constants, float)
        if constants.shape != self._scale.shape or not (constants > 0.0).all():
            raise ShapeError(
                "motor_constants", str(constants), f"{len(self._scale)} positive numbers"
            )
        self.assumed_motors = motor_constants is None
        unit = 1.0 / constants**2
        self.weights: Vector = read_only(unit / np.mean(unit))
        acted = np.isin(self._problem.driven_v, self._problem.acted_v)
        self._cap = self.settings.largest * float(np.linalg.norm(self._scale[acted]))
        self._programs: dict[tuple[int, int], QpWorkspace] = {}  # by unknowns and cone rows
        self._vertices = [np.asarray(c.surface.vertices) for c in self._problem.contacts]
        self.reset()

    def reset(self) -> None:
        """Start anew with no authority."""
        self.state = RedistributionState(np.zeros(len(self._scale)))

    def solve(
        self,
        q: Vector,
        v: Vector,
        tau: Vector,
        dt: float,
        *,
        loads: Sequence[float] | Vector | None = None,
        probabilities: Sequence[float] | Vector | None = None,
        temperatures: Vector | None = None,
    ) -> Redistribution:
        """Redistribute torques; nothing raises.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            tau: (na,) torques of the controller, in the order of ``robot.actuated_v`` [N·m or N].
            dt: Time since the last call [s].
            loads: (contacts,) measured or estimated normal forces [N]; those of the rigid equation where None.
            probabilities: (contacts,) probability that each contact touches; 1 where None.
            temperatures: (na,) share of the way from ambient to largest temperature of each motor, 0 to 1; used by ``temperature``.

        Returns:
            Torques to be sent, with the certificate.
        """
        tau, safe = self._read_torques(tau)
        fault = self._problem.update(q, v) if self._fits(q, v) else "wrong size"
        if fault or not safe or not 0.0 < dt < np.inf:
            self.state.gain, self.state.delta = 0.0, np.zeros_like(tau)
            return Redistribution(tau, np.zeros_like(tau), RedistributionStatus.INVALID_STATE)
        with np.errstate(all="ignore"):
            answer = self._redistribute(tau, dt, loads, probabilities, temperatures)
        if answer is None or not np.isfinite(answer.tau).all():
            self.state.gain, self.state.delta = 0.0, np.zeros_like(tau)
            return Redistribution(tau, np.zeros_like(tau), RedistributionStatus.NOT_SOLVED)
        return answer

    def _redistribute(
        self,
        tau: Vector,
        dt: float,
        loads: Sequence[float] | Vector | None,
        probabilities: Sequence[float] | Vector | None,
        temperatures: Vector | None,
    ) -> Redistribution | None:
        """Answer where state and torques are numbers; None where no number comes out."""
        parts = self._find_loaded(loads, probabilities)
        system = span_internal_forces(self._problem, tau, parts)
        if system is None:
            return None
        fades = self._fade_contacts(parts, system, loads)
        weights = self._weigh(tau, temperatures)
        loss = float(weights @ tau**2)
        if np.count_nonzero(fades) < 2 or not system.B.size:
            self.state.delta = np.zeros_like(tau)
            self._engage(dt, None)
            return self._certify(
                tau,
                system,
                np.zeros(system.B.shape[1]),
                loss,
                RedistributionStatus.NO_INTERNAL_FORCES,
            )
        gram = system.B.T @ system.B
        gram[np.diag_indices_from(gram)] += REGULARIZATION * np.trace(gram) / len(gram) + 1e-300
        inner = np.linalg.solve(gram, system.B.T @ np.column_stack((tau, self.state.delta)))
        internal = max(float(inner[:, 0] @ (system.B.T @ tau)), 0.0) ** 0.5
        gain = self._engage(dt, self._find_fault(parts, system, fades, internal, dt))
        z = self._minimize(tau, weights, system, fades)
        if z is None:
            return None
        status, z = self._limit(
            system, z, np.asarray(inner[:, 1], float), gain, dt, float(np.min(fades[fades > 0.0]))
        )
        self.state.delta = system.B @ z
        answer = self._certify(tau, system, z, loss, status)
        return replace(answer, internal=internal, authority=gain * self.settings.authority)

    def _read_torques(self, tau: Vector) -> tuple[Vector, bool]:
        """Return finite torques within limits, and whether they came so."""
        received = np.asarray(tau, dtype=np.float64)
        if received.shape != self._scale.shape:
            return np.zeros_like(self._scale), False
        finite = bool(np.isfinite(received).all())
        if not finite:
            received = np.where(np.isfinite(received), received, 0.0)
        return np.clip(received, -self._effort, self._effort), finite

    def _fits(self, q: Vector, v: Vector) -> bool:
        return np.shape(q) == (self.robot.nq,) and np.shape(v) == (self.robot.nv,)

    def _find_loaded(
        self, loads: Sequence[float] | Vector | None, probabilities: Sequence[float] | Vector | None
    ) -> list[LoadedContact]:
        """Return the contacts that may carry load, each reduced to its lowest vertices."""
        low, high = self.settings.probability_fade
        found = []
        for k, contact in enumerate(self._problem.contacts):
            trust = 1.0 if probabilities is None else (float(probabilities[k]) - low) / (high - low)
            empty = loads is not None and not float(loads[k]) > 0.0
            if not trust > 0.0 or empty:
                continue
            turn, place = self._problem.place(k)
            heights = (
                self._vertices[k] @ turn[2]
                if turn[2, 2] > LEVEL
                else np.zeros(len(self._vertices[k]))
            )
            loaded = heights <= heights.min() + self.settings.flat
            T, cone = reduce_contact(contact.surface, tuple(loaded.tolist()), self.settings.inside)
            found.append(
                LoadedContact(k, contact.part, T, cone, min(trust, 1.0), place, bool(loaded.all()))
            )
        return found

    def _fade_contacts(
        self,
        parts: list[LoadedContact],
        system: InternalForces,
        loads: Sequence[float] | Vector | None,
    ) -> Vector:
        """Return how much each contact takes part in internal forces, 0 to 1."""
        low, high = self.settings.load_fade
        weight = self._problem.unit_force
        normals = [
            system.f[at + 2] if loads is None else float(loads[part.contact])
            for part, at in zip(parts, system.starts, strict=True)
        ]
        shares = np.clip((np.array(normals) / weight - low) / (high - low), 0.0, 1.0)
        fades: Vector = shares * np.array([part.trust for part in parts])
        fades[~(fades > NEARLY_OUT)] = 0.0
        return fades

    def _weigh(self, tau: Vector, temperatures: Vector | None) -> Vector:
        """Return the weight of each squared torque at this instant."""
        if self._objective == "least_peak":
            used = np.abs(tau + self.state.delta) / self._scale
            peaks: Vector = self.weights * (
                PEAK_FLOOR + (used / max(used.max(), 1e-12)) ** PEAK_POWER
            )
            return peaks
        if self._objective == "temperature" and temperatures is not None:
            warm = np.clip(np.nan_to_num(np.asarray(temperatures, float), nan=1.0), 0.0, 1.0)
            cool: Vector = self.weights / (HOTTEST - warm) ** 2
            return cool
        return self.weights

    def _find_fault(
        self,
        parts: list[LoadedContact],
        system: InternalForces,
        fades: Vector,
        internal: float,
        dt: float,
    ) -> RedistributionStatus | None:
        """Return what speaks against going on: a controller that opposes, a contact that slips, contacts that creep apart."""
        settings, state = self.settings, self.state
        mix = min(1.0, dt / settings.engage)
        if state.gain < 1.0:
            state.engaged += mix * (internal - state.engaged)
        state.internal += mix * (internal - state.internal)
        opposed = max(settings.opposed * state.engaged, self._cap)
        if state.gain >= 1.0 and state.internal > opposed:
            return RedistributionStatus.OPPOSED
        bearing = [k for k, fade in enumerate(fades) if fade >= BEARING]
        speeds = [system.speed[system.starts[k] : system.starts[k] + 3] for k in bearing]
        if any(float(np.linalg.norm(speed)) > settings.slip for speed in speeds):
            return RedistributionStatus.SLIPPING
        flat = [parts[k] for k in bearing if parts[k].flat]
        return RedistributionStatus.CREEPING if self._has_crept(flat) else None

    def _has_crept(self, flat: list[LoadedContact]) -> bool:
        """Return whether the distance of two contacts has changed since both were loaded."""
        distances = {
            (one.contact, other.contact): float(np.linalg.norm(one.place - other.place))
            for one, other in combinations(flat, 2)
        }
        known = self.state.distances
        self.state.distances = {pair: known.get(pair, far) for pair, far in distances.items()}
        return any(
            abs(far - self.state.distances[pair]) > self.settings.creep
            for pair, far in distances.items()
        )

    def _engage(self, dt: float, fault: RedistributionStatus | None) -> float:
        """Let authority fall after a fault, and rise again after a time without; return it."""
        state, settings = self.state, self.settings
        if fault is not None:
            state.fault, state.quiet, state.distances = fault, 0.0, {}
        else:
            state.quiet += dt
        if state.fault is not None and state.quiet > settings.wait:
            state.fault = None
        step = dt / settings.engage if state.fault is None else -dt / settings.fade_out
        state.gain = min(max(state.gain + step, 0.0), 1.0)
        return state.gain

    def _minimize(
        self, tau: Vector, weights: Vector, system: InternalForces, fades: Vector
    ) -> Vector | None:
        """Return the internal forces of least loss inside cones and torque limits."""
        B, n = system.B, system.B.shape[1]
        H = B.T @ (weights[:, None] * B)
        mean = float(np.trace(H)) / n
        stiff = np.zeros(len(system.f))
        for at, size, fade in zip(system.starts, system.sizes, fades, strict=True):
            stiff[at : at + size] = 1.0 / max(fade, NEARLY_OUT) - 1.0
        H += mean * (system.N.T @ (stiff[:, None] * system.N))
        H[np.diag_indices(n)] += REGULARIZATION * mean
        g = B.T @ (weights * tau)
        _, z, failed = lapack.dposv(H, -g)
        if failed:
            return None
        if self._excess(system, tau, z) <= 0.0:
            return np.asarray(z)
        rows = len(system.A)
        qp = self._programs.get((n, rows))
        if qp is None:
            qp = QpWorkspace(n, 0, rows + len(tau), size=self._problem.unit_force)
            self._programs[n, rows] = qp
        qp.H[:], qp.f[:] = H, g
        qp.A[:rows], qp.A[rows:] = system.A, B
        qp.upper[:rows] = system.b
        qp.upper[rows:], qp.lower[rows:] = self._effort - tau, -self._effort - tau
        solution = qp.solve()
        return solution.x if solution.status is QpStatus.OPTIMAL else None

    def _excess(self, system: InternalForces, tau: Vector, z: Vector) -> float:
        return float(
            max(
                np.max(system.A @ z - system.b, initial=-np.inf),
                np.max(
                    np.abs(tau + np.asarray(system.B @ z, float)) - self._effort, initial=-np.inf
                ),
            )
        )

    def _limit(
        self, system: InternalForces, z: Vector, before: Vector, gain: float, dt: float, fade: float
    ) -> tuple[RedistributionStatus, Vector]:
        """Return the status and internal forces within authority, largest change and rate of change."""
        settings, state = self.settings, self.state
        size = float(np.linalg.norm(system.B @ z))
        capped = min(1.0, self._cap / max(size, 1e-12))
        wanted = settings.authority * gain * capped * z
        step = np.abs(system.B @ (wanted - before))
        allowed = settings.rate * self._scale * dt
        z = before + min(1.0, float(np.min(allowed / np.maximum(step, 1e-12)))) * (wanted - before)
        push = system.A @ z
        over = push > 0.0  # received torques are feasible by construction of b: shrink towards them
        z = z * min(1.0, float(np.min(system.b[over] / push[over], initial=1.0)))
        if state.fault is not None:
            return state.fault, z
        if gain < 1.0:
            return RedistributionStatus.ENGAGING, z
        reduced = fade < 1.0 or capped < 1.0
        return (RedistributionStatus.FADED if reduced else RedistributionStatus.ACTIVE), z

    def _certify(
        self,
        tau: Vector,
        system: InternalForces,
        z: Vector,
        loss: float,
        status: RedistributionStatus,
    ) -> Redistribution:
        """Return the answer with what it does to loss, wrenches and acceleration."""
        delta, push = system.B @ z, system.N @ z
        sent = np.clip(tau + delta, -self._effort, self._effort)
        wrenches = np.zeros((len(self._problem.contacts), 6))
        for part, at, size in zip(system.parts, system.starts, system.sizes, strict=True):
            held = self._problem.contacts[part.contact].held
            wrenches[part.contact] = held @ (part.T @ (system.f + push)[at : at + size])
        return Redistribution(
            sent,
            sent - tau,
            status,
            loss=loss,
            saving=1.0 - float(self.weights @ sent**2) / max(float(self.weights @ tau**2), 1e-12),
            engaged=self.state.engaged,
            wrenches=wrenches,
            margin=float(np.min(system.slack - system.A @ z, initial=np.inf)),
            residual=float(np.max(np.abs(system.undriven @ push), initial=0.0))
            / self._problem.unit_force,
        )
