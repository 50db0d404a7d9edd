"""What an answer is measured by: kept as copies, worked out when asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from humanoid_dynamics.contact.cone import WrenchCone
from humanoid_dynamics.contact.wrench import ContactWrench, measure_wrench
from humanoid_dynamics.resolution.contact_dynamics import ContactDynamics
from humanoid_dynamics.resolution.limits import ContactRows
from humanoid_dynamics.spatial.arrays import Indices, Vector

RESIDUAL_TOLERANCE = 1e-8  # of the weight of the robot
TORQUE_TOLERANCE = 1e-9  # of the limit
REACHED = MappingProxyType(
    {
        "pulls": "bears nothing, and cannot pull",
        "overload": "bears as much as it may",
        "tips": "the centre of pressure is at the rim",
        "slips": "friction is used up",
        "turns": "friction about the normal is used up",
    }
)


@dataclass(frozen=True, slots=True)
class Margins:
    """The smallest distance to each kind of limit; infinite where there is none of the kind.

    Attributes:
        normal: To lift-off or overload [N].
        friction: To slipping [N].
        cop: To the rim of a patch [m].
        yaw: To turning about a normal [N·m].
        torque: Share of a torque limit that is left [-].
    """

    normal: float
    friction: float
    cop: float
    yaw: float
    torque: float


class Evidence:
    """The push and the forces of one answer.

    Attributes:
        fading: Of the contacts that faded, where the motion lacks something, what it lacks without them; see ``fading``.
        shares: Of the contacts, where the motion lacks something; those with none did not touch.
    """

    __slots__ = ("_dynamics", "_forces", "_generation", "_q", "_rows", "_tau", "_torn", "_x", "fading", "shares")

    def __init__(self, dynamics: ContactDynamics, rows: ContactRows, x: Vector, forces: Vector, tau: Vector) -> None:
        """Keep what belongs to this answer alone.

        Args:
            dynamics: What was asked.
            rows: Limits of its contacts.
            x: (size,) the push.
            forces: (nv,) tau_0 - J'x, what motors must give; what is beyond ``tau`` is missing.
            tau: (na,) what they give.
        """
        self._dynamics, self._rows, self._x, self._forces, self._tau = dynamics, rows, x, forces, tau
        self._q, self._generation = dynamics.q, dynamics.generation
        self._torn = dynamics.loops.torn if dynamics.loops else ""
        self.fading: tuple[str, ...] = ()
        self.shares: list[float] = []

    @classmethod
    def of_nothing(cls, dynamics: ContactDynamics, rows: ContactRows, reason: str) -> Evidence:
        """Return what there is for a question that could not be computed with: no wrench, every margin minus infinity."""
        nothing = _Nothing(dynamics, rows, np.zeros(0), np.zeros(0), np.zeros(0))
        nothing.reason = reason
        return nothing

    def missing(self) -> Vector:
        """Return the forces that the motion lacks, (nv,) [N or N·m]."""
        lacking = np.array(self._forces)
        lacking[self._dynamics.driven_v] -= self._tau
        return lacking

    def residual(self) -> float:
        """Return the largest of them."""
        return float(np.max(np.abs(self.missing()), initial=0.0))

    def wrenches(self) -> Mapping[str, ContactWrench]:
        """Return the wrench of each contact."""
        dynamics, found = self._dynamics, {}
        for k, (surface, cone, part) in enumerate(zip(dynamics.surfaces, dynamics.cones, dynamics.parts, strict=True)):
            R_WC = dynamics.rotation(k, self._q, self._generation)
            found[surface.name] = measure_wrench(surface, cone.basis @ self._x[part], R_WC)
        return MappingProxyType(found)

    def margins(self) -> Margins:
        """Return the distances to all limits."""
        wrenches = self._local_wrenches()
        shares = np.abs(self._tau) / self._dynamics.robot.limits.effort[self._dynamics.driven_v]
        yaws = [yaw_margin(cone, self._x[part]) for cone, part in zip(self._dynamics.cones, self._dynamics.parts, strict=True)]
        return Margins(
            normal=min((wrench.normal_margin for wrench in wrenches), default=np.inf),
            friction=min((wrench.friction_margin for wrench in wrenches), default=np.inf),
            cop=min((wrench.cop_margin for wrench in wrenches), default=np.inf),
            yaw=min(yaws, default=np.inf),
            torque=float(1.0 - np.max(shares, initial=0.0)),
        )

    def status(self) -> str:
        """Return the first of what is wrong, as a status."""
        dynamics = self._dynamics
        lacking = self._forces[dynamics.undriven_v]
        if self._torn or not np.max(np.abs(lacking), initial=0.0) <= RESIDUAL_TOLERANCE * dynamics.unit_force:
            return "unsupported"
        if self._rows.faults(self._x):
            return "infeasible_contact"
        return "saturated" if len(self._overloads()) else "ok"

    def reasons(self) -> tuple[str, ...]:
        """Return all that is wrong, in words."""
        return (*self._missing_reasons(), *self._contact_reasons(), *self._torque_reasons())

    def _local_wrenches(self) -> list[ContactWrench]:
        dynamics = self._dynamics
        triples = zip(dynamics.surfaces, dynamics.cones, dynamics.parts, strict=True)
        return [measure_wrench(surface, cone.basis @ self._x[part], np.eye(3)) for surface, cone, part in triples]

    def _missing_reasons(self) -> list[str]:
        dynamics, lacking, reasons = self._dynamics, np.abs(self._forces), []
        lacking[dynamics.driven_v] = 0.0
        if np.max(lacking, initial=0.0) > RESIDUAL_TOLERANCE * dynamics.unit_force:
            worst = int(np.argmax(lacking))
            reasons.append(f"{dynamics.robot.coordinates[worst]} lacks {lacking[worst]:.3g} {dynamics.units[worst]}")
            reasons += self._reached()
            reasons += self.fading
        if self._torn:
            reasons.append(self._torn)
        return reasons

    def _reached(self) -> list[str]:
        """Tell which limits the push has come to, where it misses the motion: they are what keeps it from it."""
        dynamics, limits = self._dynamics, self._dynamics.robot.limits.effort[self._dynamics.driven_v]
        reached = [at for at in self._rows.reached(self._x) if not self.shares or self.shares[at.contact] != 0.0]
        told = [f"{dynamics.surfaces[at.contact].name}: {REACHED[at.kind]}" for at in reached]
        for i in np.flatnonzero(np.abs(self._tau) >= limits * (1.0 - TORQUE_TOLERANCE)):
            told.append(f"{dynamics.robot.actuated[i]} gives all of its {limits[i]:.4g} {dynamics.units[dynamics.driven_v[i]]}")
        return told

    def _contact_reasons(self) -> list[str]:
        faults, reasons = self._rows.faults(self._x), []
        wrenches = self._local_wrenches() if faults else []
        for fault in faults:
            cone, part = self._dynamics.cones[fault.contact], self._dynamics.parts[fault.contact]
            reasons.append(tell_fault(fault.kind, wrenches[fault.contact], yaw_margin(cone, self._x[part])))
        return reasons

    def _overloads(self) -> Indices:
        limits = self._dynamics.robot.limits.effort[self._dynamics.driven_v]
        return np.flatnonzero(np.abs(self._forces[self._dynamics.driven_v]) > limits * (1.0 + TORQUE_TOLERANCE))

    def _torque_reasons(self) -> list[str]:
        dynamics, reasons = self._dynamics, []
        needed, limits = self._forces[dynamics.driven_v], dynamics.robot.limits.effort[dynamics.driven_v]
        for i in self._overloads():
            unit = dynamics.units[dynamics.driven_v[i]]
            reasons.append(f"{dynamics.robot.actuated[i]} needs {needed[i]:.4g} {unit}, its limit is {limits[i]:.4g} {unit}")
        return reasons


class _Nothing(Evidence):
    """No evidence at all."""

    __slots__ = ("reason",)

    reason: str

    def missing(self) -> Vector:
        return np.full(self._dynamics.robot.nv, np.inf)

    def status(self) -> str:
        return "invalid_input"

    def reasons(self) -> tuple[str, ...]:
        return (self.reason,)

    def residual(self) -> float:
        return np.inf

    def wrenches(self) -> Mapping[str, ContactWrench]:
        return MappingProxyType({})

    def margins(self) -> Margins:
        return Margins(-np.inf, -np.inf, -np.inf, -np.inf, -np.inf)


def yaw_margin(cone: WrenchCone, x: Vector) -> float:
    """Return how far the moment about the normal may still grow, either way, before the patch turns [N·m].

    Infinite for a point, and where the friction force alone is outside the pyramid that the rows are made of.

    Args:
        cone: What the surface can carry.
        x: (r,) push in the basis of the cone.
    """
    labels = np.array(cone.labels)
    rows = labels == "yaw"
    slack = cone.b - cone.A @ x
    if not rows.any() or np.any(slack[labels == "friction"] < 0.0):
        return np.inf
    turning = np.abs(cone.A[rows, -1])
    turns = turning > 0.0
    return float(np.min(slack[rows][turns] / turning[turns], initial=np.inf))


def tell_fault(kind: str, wrench: ContactWrench, yaw: float) -> str:
    """Tell in words what a contact cannot do of what it would have to.

    Args:
        kind: The fault.
        wrench: The wrench it has.
        yaw: Its margin about the normal [N·m].
    """
    if kind == "pulls":
        text = f"pulls with {-wrench.normal_force:.4g} N"
    elif kind == "overload":
        text = f"normal force {wrench.normal_force:.4g} N is {-wrench.normal_margin:.4g} N beyond its limit"
    elif kind == "slips":
        text = f"slips, {-wrench.friction_margin:.4g} N beyond the friction cone"
    elif kind == "turns":
        text = f"turns, {-yaw:.4g} N·m beyond the friction about its normal"
    elif np.isinf(wrench.cop_margin):
        text = f"tips, a moment of {float(np.linalg.norm(wrench.m_W)):.4g} N·m without pressing"
    else:
        text = f"tips, centre of pressure {-wrench.cop_margin * 1e3:.4g} mm outside"
    return f"{wrench.surface}: {text}"
