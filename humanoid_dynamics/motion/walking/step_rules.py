# SPDX-License-Identifier: Apache-2.0
"""All rules through one rolling step, and how far torques jump where contacts change [BP, sec. 3.1.3]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pinocchio as pin

from humanoid_dynamics.contact.transfer import (
    feasible_shares,
    switch_share,
    transfer_share,
    two_segment_share,
)
from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.walking.rolling_step import (
    CONTACTS,
    FRONT,
    HEEL,
    REAR,
    TOE,
    RollingStep,
)
from humanoid_dynamics.resolution.answer import Answer
from humanoid_dynamics.resolution.inverse import InverseDynamics
from humanoid_dynamics.spatial.arrays import Vector

LAWS: Mapping[str, str] = MappingProxyType(
    {
        "pseudo_inverse": "pseudo_inverse",
        "minimum_torque": "minimum_torque",
        "minimum_torque_limited": "minimum_torque_limited",
        "linear_transition": "transition",
        "smooth_transition": "transition",
        "recommended_transition": "transition",
    }
)
"""Laws of a step by name, and the rule each of them asks: least squares; least torque, without and with limits; the force handed over
linearly, smoothly, and in two segments so that feet stay flat and nothing jumps where the step rolls over."""


@dataclass(frozen=True)
class _Ground:
    """Where feet can press, along the way [m]."""

    rear_heel: float
    rear_toe: float
    front_heel: float
    front_toe: float
    zmp: float


class StepComparison:
    """A step under any law, at any time."""

    def __init__(self, step: RollingStep) -> None:
        """Prepare.

        Args:
            step: The step.
        """
        self.step = step
        self._solvers: dict[tuple[str, str], InverseDynamics] = {}
        ground = self._ground(step.switches[1])
        self._middle = switch_share(ground.zmp, ground.rear_toe, ground.front_heel)

    def answer(self, t: float, law: str, phase: str | None = None) -> Answer:
        """Return torques and wrenches at one instant.

        Args:
            t: Time [s].
            law: Of ``LAWS``.
            phase: The phase to take; that of the time where None.  At a switch both neighbours are possible.

        Raises:
            UnknownNameError: If there is no such law.
        """
        if law not in LAWS:
            raise UnknownNameError("law", law, LAWS)
        phase = phase or self.step.phase(t)
        names = CONTACTS[phase]
        if (phase, LAWS[law]) not in self._solvers:
            self._solvers[phase, LAWS[law]] = InverseDynamics(self.step.robot, names, LAWS[law])
        front = self.share(t, law, phase) if len(names) > 1 else 1.0
        touching = (
            front if LAWS[law] == "transition" else 0.5
        )  # other rules are told only who touches
        shares = np.array([1.0 - touching, touching]) if len(names) > 1 else np.ones(1)
        return self._solvers[phase, LAWS[law]].solve(*self.step.at(t), shares)

    def share(self, t: float, law: str, phase: str) -> float:
        """Return the share of the force that the front foot takes in double support under a law of transition.

        Args:
            t: Time [s].
            law: Of ``LAWS``.
            phase: ``DSP1`` or ``DSP2``.
        """
        t0, t1, t2 = self.step.switches
        if law != "recommended_transition":
            return transfer_share(t, t0, t2, "quintic" if law == "smooth_transition" else "linear")
        wanted, ground = two_segment_share(t, (t0, t1, t2), self._middle), self._ground(t)
        if not t0 < t < t2:
            return wanted
        rear, front = (ground.rear_heel, ground.rear_toe), (ground.front_heel, ground.front_heel)
        if phase == "DSP2":
            rear, front = (ground.rear_toe, ground.rear_toe), (ground.front_heel, ground.front_toe)
        low, high = feasible_shares(ground.zmp, rear, front)
        return (
            min(max(wanted, low), high) if low <= high else min(max(0.5 * (low + high), 0.0), 1.0)
        )

    def jumps(self, law: str) -> Vector:
        """Return the largest jump of a torque at each of the three switches, (3,) [N·m].

        Args:
            law: Of ``LAWS``.
        """
        phases, found = tuple(CONTACTS), np.zeros(3)
        for i, t in enumerate(self.step.switches):
            before, after = (self.answer(t, law, phase).tau for phase in phases[i : i + 2])
            found[i] = np.abs(after - before).max()
        return found

    def _ground(self, t: float) -> _Ground:
        robot, data = self.step.robot, self.step.robot.data()
        q, v, a = self.step.at(t)
        pin.framesForwardKinematics(robot.model, data, q)
        surfaces = [
            robot.surfaces[name] for name in (REAR + HEEL, REAR + TOE, FRONT + HEEL, FRONT + TOE)
        ]
        places = [
            float(data.oMf[surface.frame].act(np.mean(surface.vertices, axis=0))[0])
            for surface in surfaces
        ]
        rear_heel, rear_toe, front_heel, front_toe = places
        return _Ground(
            rear_heel, rear_toe, front_heel, front_toe, _zero_moment(robot, data, (q, v, a))
        )


def _zero_moment(robot: RobotModel, data: pin.Data, motion: tuple[Vector, Vector, Vector]) -> float:
    """Return where on the ground z = 0 the reaction has no moment across the way, along x [m]."""
    rate = pin.computeCentroidalMomentumTimeVariation(robot.model, data, *motion)
    force = rate.linear - robot.mass * robot.model.gravity.linear
    com = data.com[0]
    return float(com[0] - (rate.angular[1] + com[2] * force[0]) / force[2])
