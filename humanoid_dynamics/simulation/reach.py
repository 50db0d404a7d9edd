"""What is to be connected has to be together: nothing is pulled through the air."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from humanoid_dynamics.constraints.loop import build_loop
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.structure.events import Connect, Event

REACH = 5e-3  # [m, rad]


def check_reach(mechanism: Mechanism, q: Vector, events: Sequence[Event]) -> None:
    """Refuse to connect what is apart.

    Args:
        mechanism: The tree.
        q: (nq,) configuration.
        events: What is to happen.

    Raises:
        HumanoidDynamicsError: If a connection is open by more than a little.
    """
    mechanism.kinematics.place(q)
    for event in events:
        if isinstance(event, Connect):
            block = build_loop(mechanism.robot, event.loop)
            error = np.zeros(len(block.labels))
            block.write_error(mechanism.kinematics, error)
            if np.abs(error).max(initial=0.0) > REACH:
                worst = int(np.argmax(np.abs(error)))
                said = f"{block.labels[worst]!r} is {abs(error[worst]):.3g} (m or rad) away from where it would be"
                raise HumanoidDynamicsError(f"connection {event.loop.name!r} cannot close: {said}, expected at most {REACH:g}")
