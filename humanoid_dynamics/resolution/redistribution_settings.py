# SPDX-License-Identifier: Apache-2.0
"""Settings, status, answer and state of a torque redistribution."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.status import StatusEnum


class RedistributionStatus(StatusEnum):
    """What a redistribution did with the torques that it received."""

    ACTIVE = "ACTIVE", "internal forces are chosen with full authority"
    FADED = (
        "FADED",
        "authority is reduced: a contact carries little load or the torque change is capped",
    )
    NO_INTERNAL_FORCES = (
        "NO_INTERNAL_FORCES",
        "fewer than two contacts carry load; torques pass unchanged",
    )
    ENGAGING = "ENGAGING", "authority rises after the start or after a fade-out"
    OPPOSED = (
        "OPPOSED",
        "faded out: the controller builds up internal forces against the redistribution",
    )
    SLIPPING = "SLIPPING", "faded out: a loaded contact moves"
    CREEPING = "CREEPING", "faded out: loaded contacts changed their distance"
    INVALID_STATE = (
        "INVALID_STATE",
        "state or torques are not finite or have a wrong size; torques are limited only",
    )
    NOT_SOLVED = "NOT_SOLVED", "no reliable solution; torques are limited only"


@dataclass(frozen=True)
class RedistributionSettings:
    """Limits of a redistribution, relative to the robot.

    Attributes:
        authority: Share of the internal torque that is redistributed; the rest stays with the controller.
        inside: Share of the contact polygon and of the friction coefficient that is used.
        largest: Largest norm of the torque change, as a share of the norm of the torque limits of the joints involved.
        load_fade: Loads between which the authority of a contact rises from zero to one, as shares of the weight.
        probability_fade: Contact probabilities between which it rises from zero to one.
        flat: Height above the lowest vertex up to which a vertex counts as loaded [m].
        rate: Largest rate of change of a torque through redistribution, as a share of its limit in a second [1/s].
        engage: Time in which authority rises after the start or after a fade-out [s].
        fade_out: Time in which authority falls after a fault [s].
        wait: Time without a fault until authority rises again [s].
        opposed: Growth of the internal part of the received torque since engagement that counts as opposition.
        slip: Speed of a loaded contact that counts as slipping [m/s].
        creep: Change of the distance of two loaded contacts that counts as creeping [m].
    """

    authority: float = 0.7
    inside: float = 0.9
    largest: float = 0.09
    load_fade: tuple[float, float] = (0.12, 0.30)
    probability_fade: tuple[float, float] = (0.6, 0.9)
    flat: float = 0.004
    rate: float = 10.0
    engage: float = 0.5
    fade_out: float = 0.1
    wait: float = 2.0
    opposed: float = 3.0
    slip: float = 0.1
    creep: float = 0.01

    def __post_init__(self) -> None:
        shares = (self.authority, self.inside)
        times = (self.engage, self.fade_out, self.rate, self.flat, self.slip, self.creep)
        if not (all(0.0 < s <= 1.0 for s in shares) and min(times) > 0.0 and self.opposed > 1.0):
            raise ShapeError(
                "redistribution settings", str(self), "shares in (0, 1], positive times"
            )


@dataclass(frozen=True, eq=False)
class Redistribution:
    """Answer of a redistribution.

    Attributes:
        tau: (na,) torques to be sent, in the order of ``robot.actuated_v`` [N·m or N].
        delta: (na,) their change [N·m or N].
        status: What was done.
        authority: Authority after all fades, 0 to the setting [-].
        loss: Weighted sum of squares of the received torques.
        saving: Share of that loss that is saved at this instant; 0 without change.
        internal: Norm of the internal part of the received torques [N·m].
        engaged: Internal part at engagement, to which ``internal`` is compared [N·m].
        wrenches: (contacts, 6) contact wrenches of the rigid equation with the torques to be sent, in surface axes [N, N·m].
        margin: Smallest slack of the wrench cones with these wrenches [N]; negative where the received torques leave the cones.
        residual: Largest undriven row of J'(f* - f) by weight: the change of the acceleration's cause, zero up to rounding.
    """

    tau: Vector
    delta: Vector
    status: RedistributionStatus
    authority: float = 0.0
    loss: float = 0.0
    saving: float = 0.0
    internal: float = 0.0
    engaged: float = 0.0
    wrenches: Matrix = field(default_factory=lambda: np.zeros((0, 6)))
    margin: float = np.inf
    residual: float = 0.0


@dataclass
class RedistributionState:
    """What a redistribution remembers between calls.

    Attributes:
        delta: (na,) last torque change [N·m or N].
        gain: Authority between 0 and 1 after engagement and fade-outs.
        quiet: Time since the last fault [s].
        fault: Fault that holds the authority down, None without one.
        engaged: Low-pass of the internal torque until engagement is complete [N·m].
        internal: Low-pass of the internal torque [N·m].
        distances: Distances of loaded contacts at engagement [m], by pair.
    """

    delta: Vector
    gain: float = 0.0
    quiet: float = np.inf
    fault: RedistributionStatus | None = None
    engaged: float = 0.0
    internal: float = 0.0
    distances: dict[tuple[int, int], float] = field(default_factory=dict)
