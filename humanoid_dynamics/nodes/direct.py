# SPDX-License-Identifier: Apache-2.0
"""Simulator and controller in one process that call each other: nothing waits for the middleware, and the topics tell others now and then.

The arithmetic is that of lock-step over topics, state by state, so that the same run gives the same bits.
"""

from __future__ import annotations

from humanoid_dynamics.nodes.inverse_dynamics import InverseDynamicsNode
from humanoid_dynamics.nodes.simulator import SimulatorNode

STATES = frozenset({"joint_states", "odom", "contact_wrenches/<surface>"})
COMMANDS = frozenset({"joint_torque_commands"})


class DirectLoop:
    """One simulator and its controller; references, pushes and services come over topics as ever."""

    def __init__(
        self, simulator: SimulatorNode, controller: InverseDynamicsNode, shown: float = 20.0
    ) -> None:
        """Join the nodes, before they are started.

        Args:
            simulator: The simulator, in lock-step.
            controller: Its controller.
            shown: How often a state and its command go out on their topics [Hz].
        """
        self._simulator, self._controller, self._shown = simulator, controller, shown
        simulator.deaf, controller.deaf = COMMANDS, STATES
        self._count = 0

    def advance(self) -> None:
        """Answer one state, and take the steps until the next."""
        simulator, controller = self._simulator, self._controller
        with simulator.lock, controller.lock:
            shown = self._count % max(1, round(1.0 / (self._shown * simulator.period))) == 0
            self._count += 1
            answer = controller.answer(simulator.observe(shown), shown)
            if answer is not None:
                simulator.drive(controller.motors, answer)
