# SPDX-License-Identifier: Apache-2.0
"""How fast the graph is: state in to torque out beside a bare echo, processor time, and lock-step against real time; written as JSON."""

from __future__ import annotations

import json
import sys
import threading
from dataclasses import asdict
from functools import partial
from time import monotonic, perf_counter
from typing import Any

import numpy as np
import rclpy
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from benchmarks.goals import GOAL_ROBOT
from benchmarks.ros.processes import Measured, end_nodes, read_cpu, start_node, wait_until
from benchmarks.ros.soak import soak
from humanoid_dynamics.errors import MissingExtraError
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.nodes.adapter import make_qos
from humanoid_dynamics.nodes.interfaces import STATES, UNGUARDED, turned
from humanoid_dynamics.nodes.messages import doubles, nanoseconds, write_odometry
from humanoid_dynamics.nodes.running import keep_rate, make_executor
from humanoid_dynamics.nodes.together import LockStepRun, run_in_lock_step, spin

ROBOT = "human28"
BLOCK, BLOCKS = 1.0, 4  # s and number of blocks of each, in turn
SETTLED = 0.02  # s until the last answer has come
LOCK_STEP = 4.0  # s of simulated time
SETTLED_CLOCK = 0.5  # s of simulated time before lock-step counts
STANDING = {GOAL_ROBOT: "talos_drop"}  # scene in which a robot is held up by drives of its own
FASTEST = 100.0  # times real time a simulator is asked for, which it does not reach


class EchoNode(Node):
    """Answers each joint state with a message of the same size: what the middleware and rclpy alone take."""

    def __init__(self) -> None:
        super().__init__("echo")
        self._out = self.create_publisher(JointState, UNGUARDED[0].name, make_qos(UNGUARDED[0]))
        self.create_subscription(Odometry, "odom", lambda _message: None, make_qos(STATES[1]))
        self.create_subscription(JointState, "joint_states", self._on_state, make_qos(STATES[0]))

    def _on_state(self, message: JointState) -> None:
        answer = JointState(name=message.name, effort=message.position)
        answer.header.stamp = message.header.stamp
        self._out.publish(answer)


class Prober(Node):
    """Sends states into a namespace and notes when they are answered."""

    def __init__(self) -> None:
        super().__init__("prober")
        robot = load_robot(ROBOT)
        self._names = list(robot.actuated)
        self._position = doubles(
            np.array([robot.posture[robot.joint(name).q.start] for name in self._names])
        )
        self._velocity = doubles(np.zeros(len(self._names)))
        self._pose, self._still = np.array(robot.posture[:7]), np.zeros(6)
        self._ways: dict[str, tuple[Any, Any]] = {}
        self._sent: dict[int, float] = {}
        self.asked: dict[str, int] = {}
        self.times: dict[str, list[float]] = {}
        self.clock = 0.0

    def join(self, namespace: str) -> None:
        """Make the topics of a namespace."""
        joint_states, odom, _ = turned(STATES)
        self._ways[namespace] = (
            self.create_publisher(Odometry, f"{namespace}/odom", make_qos(odom)),
            self.create_publisher(JointState, f"{namespace}/joint_states", make_qos(joint_states)),
        )
        self.times[namespace], self.asked[namespace] = [], 0
        command = turned(UNGUARDED)[0]
        self.create_subscription(
            JointState,
            f"{namespace}/{command.name}",
            lambda message: self._on_answer(namespace, message),
            make_qos(command),
        )

    def watch(self, topic: str) -> None:
        """Note the time of a world, by its audit: to hear every state would cost what is measured."""
        self.create_subscription(Float64MultiArray, topic, self._on_audit, 1)

    def send(self, namespace: str) -> None:
        """Send one state."""
        stamp = self.get_clock().now().to_msg()
        base, joints = self._ways[namespace]
        message = JointState(name=self._names, position=self._position, velocity=self._velocity)
        message.header.stamp = stamp
        base.publish(write_odometry(self._pose, self._still, stamp, ("odom", "pelvis")))
        self._sent[nanoseconds(stamp)] = perf_counter()
        joints.publish(message)
        self.asked[namespace] += 1

    def ask(self, namespace: str) -> bool:
        """Send one state, and return whether one was ever answered."""
        self.send(namespace)
        return bool(self.times[namespace])

    def _on_answer(self, namespace: str, message: JointState) -> None:
        sent = self._sent.pop(nanoseconds(message.header.stamp), None)
        if sent is not None:
            self.times[namespace].append(perf_counter() - sent)

    def _on_audit(self, message: Float64MultiArray) -> None:
        self.clock = message.data[0]


def measure() -> list[Measured]:
    """Measure everything; ROS is initialised by the caller.

    Returns:
        The numbers.
    """
    run = run_in_lock_step(_find_robot(), LOCK_STEP, rate=1000.0, link="call")
    prober, executor = Prober(), make_executor()
    executor.add_node(prober)
    threading.Thread(target=spin, args=(executor,), daemon=True).start()
    try:
        return [
            *_measure_latency(prober),
            *_measure_lock_step(prober, run),
            _measure_free_run(prober),
        ]
    finally:
        executor.shutdown()


def _find_robot() -> str:
    """Return the robot of the goals of lock-step, with 38 freedoms, or ours where its files are not installed."""
    try:
        load_robot(GOAL_ROBOT)
    except MissingExtraError:
        return ROBOT
    return GOAL_ROBOT


def _measure_latency(prober: Prober) -> list[Measured]:
    ours, echo = "/measured", "/echoed"
    for namespace in (ours, echo):
        prober.join(namespace)
    processes = [
        start_node(
            "inverse_dynamics", ours, robot=ROBOT, contact_source="assumed", detail_rate=10.0
        ),
        start_node("echo", echo),
    ]
    try:
        for namespace in (ours, echo):
            wait_until(partial(prober.ask, namespace), f"{namespace} answers")
        found = {}
        for rate in (1000.0, 500.0):
            for namespace, times in prober.times.items():
                times.clear()
                prober.asked[namespace] = 0
            used = 0.0
            for _ in range(BLOCKS):
                for namespace in (echo, ours):
                    before = read_cpu(processes[0])
                    keep_rate(rate, _after(BLOCK), partial(prober.send, namespace))
                    threading.Event().wait(SETTLED)
                    used += read_cpu(processes[0]) - before if namespace == ours else 0.0
            found[rate] = (
                {name: np.array(times) for name, times in prober.times.items()},
                used / (BLOCK * BLOCKS),
            )
    finally:
        end_nodes(processes)
    fast, (slow, share) = found[1000.0][0], found[500.0]
    median, p99 = 1e3 * np.median(fast[ours]), 1e3 * np.percentile(fast[ours], 99)
    bare, bare_p99 = 1e3 * np.median(fast[echo]), 1e3 * np.percentile(fast[echo], 99)
    answered = len(slow[ours]) / prober.asked[ours]
    return [
        Measured(
            "state to torque at 1 kHz, median",
            float(median),
            "ms",
            "<= 0.4 ms",
            bool(median <= 0.4),
        ),
        Measured("state to torque at 1 kHz, p99", float(p99), "ms", "<= 1.5 ms", bool(p99 <= 1.5)),
        Measured("bare echo at 1 kHz, median", float(bare), "ms", "beside it", True),
        Measured("bare echo at 1 kHz, p99", float(bare_p99), "ms", "beside it", True),
        Measured(
            "median against that of the echo",
            float(median / bare),
            "x",
            "<= 2 x",
            bool(median <= 2.0 * bare),
        ),
        Measured("states answered at 500 Hz", answered, "-", ">= 0.999", answered >= 0.999),
        Measured("controller at 500 Hz, share of a core", share, "-", "<= 0.25", share <= 0.25),
    ]


def _measure_lock_step(prober: Prober, run_one: LockStepRun) -> list[Measured]:
    prober.watch("/stepped/audit")
    shared: dict[str, Any] = {"robot": _find_robot(), "busy_wait": True}
    processes = [
        start_node(
            "simulator", "/stepped", **shared, lock_step=True, real_time_factor=0.0, rate=1000.0
        ),
        start_node("inverse_dynamics", "/stepped", **shared, use_sim_time=True),
    ]
    try:
        wait_until(lambda: prober.clock > SETTLED_CLOCK, "lock-step in two processes runs")
        factor = _watch_pace(prober)
    finally:
        end_nodes(processes)
    return [
        Measured(
            "lock-step at 1 kHz, one process",
            run_one.factor,
            "x real time",
            ">= 6 x",
            run_one.factor >= 6.0,
        ),
        Measured(
            "  by processor time alone",
            run_one.seconds / run_one.cpu,
            "x real time",
            "beside it",
            True,
        ),
        Measured(
            "lock-step at 1 kHz, two processes", factor, "x real time", ">= 3 x", factor >= 3.0
        ),
    ]


def _measure_free_run(prober: Prober) -> Measured:
    """Let a simulator run as fast as it can, a state for every step, with a robot that its own drives hold up."""
    prober.clock = 0.0
    prober.watch("/free/audit")
    scene = STANDING.get(_find_robot(), "standing")
    processes = [
        start_node(
            "simulator",
            "/free",
            scene=scene,
            rate=1000.0,
            real_time_factor=FASTEST,
            wait_for_command=False,
        )
    ]
    try:
        wait_until(lambda: prober.clock > SETTLED_CLOCK, "a free simulator runs")
        factor = _watch_pace(prober)
    finally:
        end_nodes(processes)
    return Measured(
        "simulator alone at 1 kHz, standing", factor, "x real time", ">= 8 x", factor >= 8.0
    )


def _watch_pace(prober: Prober) -> float:
    """Return how many times faster than real time a world is for a while."""
    begin, at = monotonic(), prober.clock
    threading.Event().wait(BLOCK * BLOCKS)
    return (prober.clock - at) / (monotonic() - begin)


def _after(seconds: float) -> threading.Event:
    event = threading.Event()
    timer = threading.Timer(seconds, event.set)
    timer.daemon = True
    timer.start()
    return event


def main() -> None:
    """Measure, and write the numbers: of a soak, where its length in seconds is the last argument."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        rows = soak(float(sys.argv[-1])) if len(sys.argv) > 1 else measure()
        json.dump([asdict(row) for row in rows], sys.stdout)
    finally:
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
