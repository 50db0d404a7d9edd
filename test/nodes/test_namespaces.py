# SPDX-License-Identifier: Apache-2.0
"""Two robots in two namespaces, each with its own simulator and clock: both stand, and move as one alone does, bit by bit."""

import threading
from time import monotonic

import numpy as np
import pytest

pytest.importorskip(
    "rclpy",
    reason="needs ROS 2: pip install 'humanoid_dynamics[ros]', or source a ROS installation",
)

from nav_msgs.msg import Odometry
from rclpy.node import Node

from humanoid_dynamics.nodes.effort_guard import EffortGuardNode
from humanoid_dynamics.nodes.interfaces import ANY, INTERFACES
from humanoid_dynamics.nodes.inverse_dynamics import InverseDynamicsNode
from humanoid_dynamics.nodes.running import make_executor
from humanoid_dynamics.nodes.simulator import SimulatorNode
from humanoid_dynamics.nodes.together import spin

PATIENCE = 60.0  # s
UNTIL = 0.15  # s


class Robot:
    """Simulator, controller and guard in a namespace, as a launch file starts them below ``PushRosNamespace``."""

    def __init__(self, namespace):
        arguments = ["--ros-args", "-r", f"__ns:={namespace}", "-p", "robot:=human28"]
        slow = [*arguments, "-p", "use_sim_time:=true"]
        self.simulator = SimulatorNode(
            cli_args=[*arguments, "-p", "lock_step:=true", "-p", "real_time_factor:=0.0"],
            use_global_arguments=False,
        )
        self.controller = InverseDynamicsNode(cli_args=slow, use_global_arguments=False)
        self.guard = EffortGuardNode(cli_args=slow, use_global_arguments=False)
        self.nodes = [self.simulator, self.controller, self.guard]
        self.states = []

    def start(self):
        for node in self.nodes:
            node.start()
        show = self.simulator.show

        def watch(live, t):
            if (
                live.begun
                and live.world.t <= UNTIL
                and (not self.states or live.world.t > self.states[-1][0])
            ):
                self.states.append((live.world.t, *live.world.q))
            show(live, t)

        self.simulator.show = watch

    @property
    def is_done(self):
        return self.simulator._live.world.t > UNTIL


def run(namespaces, *, prober=None):
    robots, executor = [Robot(namespace) for namespace in namespaces], make_executor()
    try:
        for robot in robots:
            robot.start()
            for node in robot.nodes:
                executor.add_node(node)
        if prober is not None:
            executor.add_node(prober)
        threading.Thread(target=spin, args=(executor,), daemon=True).start()
        end = monotonic() + PATIENCE
        while not all(robot.is_done for robot in robots):
            statuses = [
                (node.get_fully_qualified_name(), node.status, node.reason)
                for robot in robots
                for node in robot.nodes
            ]
            assert monotonic() < end, statuses
            threading.Event().wait(0.005)
            for robot in robots:
                for node in robot.nodes:
                    node.tick()
        return [
            (np.array(robot.states), {node.get_name(): node.status for node in robot.nodes})
            for robot in robots
        ]
    finally:
        for robot in robots:
            for node in robot.nodes:
                node.silence()
        executor.shutdown()
        for robot in robots:
            for node in robot.nodes:
                node.destroy_node()


def test_two_robots_are_each_as_one_alone(ros):
    frames = {}
    prober = Node("prober")
    for name in ("/a/odom", "/b/odom"):
        prober.create_subscription(
            Odometry,
            name,
            lambda m, name=name: frames.update({name: (m.header.frame_id, m.child_frame_id)}),
            10,
        )
    ((alone, _),) = run(["/"])
    pair = run(["/a", "/b"], prober=prober)
    assert len(alone) > 50
    for states, statuses in pair:
        np.testing.assert_array_equal(states, alone)
        assert statuses == {
            "simulator": "RUNNING",
            "inverse_dynamics": "STANDING",
            "effort_guard": "PASSING",
        }
    assert frames == {"/a/odom": ("a/odom", "a/pelvis"), "/b/odom": ("b/odom", "b/pelvis")}
    prober.destroy_node()


@pytest.mark.parametrize(
    ("arguments", "topic"),
    [
        ([], "/clock"),
        (["-r", "__ns:=/a"], "/a/clock"),
        (["-r", "__ns:=/a", "-r", "clock:=/clock"], "/clock"),
        (["-r", "__ns:=/a", "-r", "/clock:=/other"], "/other"),
        (["-r", "/clock:=/other"], "/other"),
    ],
)
def test_time_comes_on_the_clock_of_the_namespace(ros, arguments, topic):
    node = EffortGuardNode(
        cli_args=["--ros-args", *arguments, "-p", "use_sim_time:=true"], use_global_arguments=False
    )
    assert topic in {subscription.topic_name for subscription in node.subscriptions}
    assert node.resolve_topic_name(node.clock_topic) == topic
    node.destroy_node()


@pytest.mark.parametrize(
    ("arguments", "prefix"),
    [
        ([], ""),
        (["-r", "__ns:=/a/b"], "a/b/"),
        (["-r", "__ns:=/a", "-p", "frame_prefix:=x_"], "x_"),
    ],
)
def test_frames_begin_with_the_namespace_or_what_is_chosen(ros, arguments, prefix):
    node = EffortGuardNode(cli_args=["--ros-args", *arguments], use_global_arguments=False)
    assert node.frame_prefix == prefix
    node.destroy_node()


def test_topics_are_relative_but_those_that_robots_share():
    absolute = {
        topic.name
        for interface in INTERFACES.values()
        for topic in interface.topics
        if topic.name.startswith("/")
    }
    assert absolute == {"/diagnostics"}
    assert ANY == "*"
