# SPDX-License-Identifier: Apache-2.0
"""The simulation under its public name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from humanoid_dynamics.constraints.block import ConstraintBlock
from humanoid_dynamics.control.pd import PdController
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import State
from humanoid_dynamics.simulation.contacts.shapes import Shape
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.steps.joint_forces import build_drive
from humanoid_dynamics.simulation.world import World


class Simulation(World):
    """Simulation of one or several robots with contacts, impacts and closed loops.

    Example:
        ```python
        simulation = hd.Simulation(robot, terrain=hd.Plane(), controller=hd.PdController(3000.0, 60.0))
        report = simulation.step(1e-3)
        ```

    Args:
        robot: The robot, or several joined into one tree.
        setup: Surroundings and solver settings; free space with gravity where None.
        state: Initial state; at rest in the standing posture where None.
        connections: Bilateral constraints that hold at the start, besides those of the robot.
        terrain: One or several terrain shapes, in place of those of the setup.
        controller: Joint position control, in place of that of the setup.

    Raises:
        UnknownNameError: If the setup names what does not exist.
        ShapeError: If the state does not fit, or starts with a joint beyond its limits, a body inside another or a loop that is open.
        SingularInertiaError: If a link moves without inertia.
    """

    def __init__(
        self,
        robot: RobotModel,
        setup: Setup | None = None,
        state: State | None = None,
        connections: Sequence[ConstraintBlock] = (),
        *,
        terrain: Shape | Sequence[Shape] | None = None,
        controller: PdController | None = None,
    ) -> None:
        setup = setup or Setup()
        if terrain is not None:
            setup = replace(
                setup, terrain=tuple(terrain) if isinstance(terrain, Sequence) else (terrain,)
            )
        if controller is not None:
            setup = replace(
                setup, drive=build_drive(robot, controller.kp, controller.kd, controller.q_ref)
            )
        super().__init__(robot, setup, state, connections)
