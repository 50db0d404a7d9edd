# SPDX-License-Identifier: Apache-2.0
"""Anything at all on every topic: no node ends, and whatever leaves is finite and within limits."""

import os
from contextlib import suppress
from time import monotonic

import numpy as np
import pytest

rclpy = pytest.importorskip(
    "rclpy",
    reason="needs ROS 2: pip install 'humanoid_dynamics[ros]', or source a ROS installation",
)

from fuzzing import Fuzzer, spoil  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from wires import Wires  # noqa: E402

from humanoid_dynamics.model.load import load_robot  # noqa: E402
from humanoid_dynamics.nodes.dynamics_filter import DynamicsFilterNode  # noqa: E402
from humanoid_dynamics.nodes.effort_guard import EffortGuardNode  # noqa: E402
from humanoid_dynamics.nodes.inverse_dynamics import InverseDynamicsNode  # noqa: E402
from humanoid_dynamics.nodes.monitor import MonitorNode  # noqa: E402
from humanoid_dynamics.nodes.motion_player import MotionPlayerNode  # noqa: E402
from humanoid_dynamics.nodes.simulator import SimulatorNode  # noqa: E402
from humanoid_dynamics.nodes.snake_driver import SnakeDriverNode  # noqa: E402
from humanoid_dynamics.nodes.state_estimator import StateEstimatorNode  # noqa: E402

SECONDS = float(os.environ.get("FUZZ_SECONDS", "1.5"))
FEWEST = 20  # messages, however slow the machine
SPOILT = 0.1  # share of the messages whose bytes are none
NODES = {
    "effort_guard": (EffortGuardNode, "human28", {"safe_output": "balance_hold"}),
    "inverse_dynamics": (InverseDynamicsNode, "human28", {}),
    "state_estimator": (StateEstimatorNode, "human28", {}),
    "simulator": (SimulatorNode, "human28", {"rate": 100.0, "compiled": False}),
    "motion_player": (MotionPlayerNode, "human28", {"play": True, "repeat": True}),
    "dynamics_filter": (DynamicsFilterNode, "human28", {}),
    "leading": (DynamicsFilterNode, "human28", {"follow": "poses"}),
    "monitor": (MonitorNode, "human28", {}),
    "snake_driver": (SnakeDriverNode, "snake5", {}),
}


pytestmark = pytest.mark.usefixtures("ros")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numbers that overflow are part of it
@pytest.mark.parametrize("name", NODES)
def test_nothing_that_comes_ends_a_node_or_leaves_it_unlimited(name):
    make, source, parameters = NODES[name]
    robot = load_robot(source)
    wires = Wires(make, robot=source, **parameters).begin()
    worst = Worst(wires, robot)
    rng = np.random.default_rng(int(os.environ.get("FUZZ_SEED", "8")))
    fuzzer = Fuzzer(rng, robot.actuated, lambda: wires.node.get_clock().now().nanoseconds)
    kinds = {topic: publisher.msg_type for topic, publisher in wires.out.items()}
    topics = sorted(kinds)
    end, count = monotonic() + SECONDS, 0
    try:
        while monotonic() < end or count <= FEWEST:
            topic = topics[int(rng.integers(len(topics)))] if topics else ""
            if topic:
                message = fuzzer.message(kinds[topic])
                with suppress(RuntimeError):  # what is longer than a message can be does not go out
                    wires.out[topic].publish(
                        spoil(rng, serialize_message(message)) if rng.random() < SPOILT else message
                    )
            if hasattr(wires.node, "tick"):
                wires.node.tick()
            if count % 50 == 0 and hasattr(wires.node, "_rearm"):
                wires.node._rearm(None)
            count += 1
        assert wires.thread.is_alive(), "a handler raised, and the node would have ended"
        assert worst.share <= 1.0 + 1e-9, (worst.share, worst.joint)
        assert worst.broken == []
    finally:
        wires.end()


class Worst:
    """Hears everything a node says, and remembers the worst of it."""

    def __init__(self, wires, robot):
        limits = np.where(np.isfinite(robot.limits.effort), robot.limits.effort, 1000.0)
        self.limits = dict(zip(robot.actuated, limits[robot.actuated_v], strict=True))
        self.share, self.joint, self.broken = 0.0, "", []
        note, self._wires = wires._on_message, wires
        wires._on_message = lambda topic, message: (
            self.judge(topic, message),
            note(topic, message),
        )

    def judge(self, topic, message):
        if topic.endswith("torque_commands"):
            for joint, effort in zip(message.name, message.effort, strict=True):
                share = abs(effort) / self.limits[joint] if np.isfinite(effort) else np.inf
                if share > self.share:
                    self.share, self.joint = share, joint
        elif topic.startswith(("joint_states", "odom", "filtered/")) and not all(
            np.isfinite(value) for value in numbers(message)
        ):
            self.broken.append((topic, message))


def numbers(message):
    """Yield all numbers in a message."""
    if isinstance(message, float):
        yield message
    elif hasattr(message, "get_fields_and_field_types"):
        for field in message.get_fields_and_field_types():
            yield from numbers(getattr(message, field))
    elif hasattr(message, "__iter__") and not isinstance(message, (str, bytes)):
        for part in message:
            yield from numbers(part)
