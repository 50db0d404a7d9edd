# SPDX-License-Identifier: Apache-2.0
"""Simulator, controller and guard in lock-step: without the controller the robot stands under the guard, and time goes on."""

import threading
from time import monotonic

import pytest

pytest.importorskip(
    "rclpy",
    reason="needs ROS 2: pip install 'humanoid_dynamics[ros]', or source a ROS installation",
)

from humanoid_dynamics.nodes.effort_guard import EffortGuardNode
from humanoid_dynamics.nodes.inverse_dynamics import InverseDynamicsNode
from humanoid_dynamics.nodes.running import make_executor
from humanoid_dynamics.nodes.simulator import SimulatorNode
from humanoid_dynamics.nodes.together import spin

PATIENCE = 60.0  # s
BASE = ["--ros-args", "-r", "__ns:=/guarded", "-p", "robot:=human28"]
SLOW = ["-p", "use_sim_time:=true"]


def test_the_controller_is_gone(ros):
    simulator = SimulatorNode(
        cli_args=[*BASE, "-p", "lock_step:=true", "-p", "real_time_factor:=0.0"],
        use_global_arguments=False,
    )
    controller = InverseDynamicsNode(cli_args=[*BASE, *SLOW], use_global_arguments=False)
    guard = EffortGuardNode(
        cli_args=[*BASE, *SLOW, "-p", "safe_output:=balance_hold"], use_global_arguments=False
    )
    executor, nodes = make_executor(), [simulator, guard, controller]
    try:
        for node in nodes:
            node.start()
            executor.add_node(node)
        threading.Thread(target=spin, args=(executor,), daemon=True).start()

        def run_until(condition, what):
            end = monotonic() + PATIENCE
            while not condition():
                assert monotonic() < end, (
                    f"{what}: {[(node.get_name(), node.status, node.reason) for node in nodes]}"
                )
                threading.Event().wait(0.002)
                for node in nodes:
                    node.tick()

        world = simulator._live.world
        run_until(lambda: world.t > 0.2 and guard.status == "PASSING", "commands pass")
        executor.remove_node(controller)
        nodes.remove(controller)
        controller.silence()
        controller.destroy_node()
        run_until(lambda: guard.status == "STALE", "the guard is latched")
        begin = world.t
        run_until(lambda: world.t > begin + 0.5, "time goes on")
        assert abs(world.q[2] - simulator.robot.posture[2]) < 5e-3
    finally:
        for node in nodes:
            node.silence()
        executor.shutdown()
        for node in nodes:
            node.destroy_node()
