# SPDX-License-Identifier: Apache-2.0
"""What is to be connected has to be together, and able to stay so: nothing is pulled through the air, or into two places."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from humanoid_dynamics.constraints.block import ConstraintBlock
from humanoid_dynamics.constraints.kinematics import Kinematics
from humanoid_dynamics.constraints.loop import build_loop
from humanoid_dynamics.dynamics.closure import close_position
from humanoid_dynamics.dynamics.impact import project_velocity
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.structure.events import Connect, Event

REACH = 5e-3  # [m, rad]
OPEN = 1e-6  # what is open by less is left to the steps to close [m, rad]
CLOSURE = 1e-9  # what a step may leave open [m]
OPENING = 1e-6  # what opens slower is left to the steps [m/s, rad/s]


def check_reach(mechanism: Mechanism, q: Vector, events: Sequence[Event]) -> None:
    """Refuse to connect what is apart.

    Args:
        mechanism: The tree.
        q: (nq,) configuration.
        events: What is to happen.

    Raises:
        HumanoidDynamicsError: If a connection is open by more than a little, or at all where no joint can close it.
    """
    mechanism.kinematics.place(q)
    for event in events:
        if isinstance(event, Connect):
            label, gap, most = measure_gap(
                mechanism.kinematics, [build_loop(mechanism.robot, event.loop)]
            )
            if gap > most:
                said = f"{label!r} is {gap:.3g} (m or rad) away from where it would be"
                raise HumanoidDynamicsError(
                    f"connection {event.loop.name!r} cannot close: {said}, expected at most {most:g}"
                )


def close_up(mechanism: Mechanism, q: Vector) -> Vector:
    """Return where all bilateral rows are closed, by the way that moves the least mass; the same where they are.

    Args:
        mechanism: The tree and its rows.
        q: (nq,) configuration.

    Raises:
        HumanoidDynamicsError: If they cannot be closed together, naming the row that is open farthest.
    """
    mechanism.kinematics.place(q)
    label, gap, _ = measure_gap(mechanism.kinematics, mechanism.constraints)
    if gap <= OPEN:
        return q
    closed = close_position(mechanism, q, weighed=True)
    if closed.residual > OPEN:
        said = f"row {label!r} is open by {gap:.3g} (m or rad), and together with the others it stays open by {closed.residual:.3g} m"
        raise HumanoidDynamicsError(f"connections cannot close: {said} or more")
    return closed.q


def move_along(mechanism: Mechanism, q: Vector, v: Vector) -> Vector:
    """Return the velocity nearest to one, by inertia, that opens no bilateral row; the same where it opens none.

    Args:
        mechanism: The tree and its rows.
        q: (nq,) configuration.
        v: (nv,) velocity.
    """
    if not mechanism.constraints.size:
        return v
    mechanism.place(q)
    if np.abs(mechanism.J @ v).max() <= OPENING:
        return v
    return project_velocity(mechanism, q, v)


def measure_gap(
    kinematics: Kinematics, blocks: Iterable[ConstraintBlock]
) -> tuple[str, float, float]:
    """Return the row that is open farthest of what it may be, by how much, and what it may be [m, rad].

    Args:
        kinematics: Where all is.
        blocks: The constraints.
    """
    worst = ("", 0.0, REACH)
    for block in blocks:
        error, most = np.zeros(len(block.labels)), OPEN if block.inert else REACH
        block.write_error(kinematics, error)
        gaps = np.where(np.isnan(error), np.inf, np.abs(error))
        if gaps.max(initial=0.0) > worst[1] / worst[2] * most:
            worst = (block.labels[int(np.argmax(gaps))], float(gaps.max()), most)
    return worst
