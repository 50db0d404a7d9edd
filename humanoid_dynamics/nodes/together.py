# SPDX-License-Identifier: Apache-2.0
"""Simulator, controller and guard in one process and one executor, in lock-step: the fastest way over topics, and bit-reproducible."""

from __future__ import annotations

import gc
import hashlib
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter, process_time
from typing import Any

import numpy as np
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.nodes.adapter import AdapterNode
from humanoid_dynamics.nodes.direct import DirectLoop
from humanoid_dynamics.nodes.dynamics_filter import DynamicsFilterNode
from humanoid_dynamics.nodes.effort_guard import EffortGuardNode
from humanoid_dynamics.nodes.inverse_dynamics import InverseDynamicsNode
from humanoid_dynamics.nodes.motion_player import MotionPlayerNode
from humanoid_dynamics.nodes.polling import Poller
from humanoid_dynamics.nodes.running import FOREVER, make_executor
from humanoid_dynamics.nodes.simulator import SimulatorNode

NEXT = 1e-6  # s
FILTERED = [
    word
    for topic in ("joints", "base", "contacts", "heartbeat")
    for word in ("-r", f"reference/{topic}:=filtered/{topic}")
]
STATES = 10  # between looks at who is late, where the nodes call each other
BY_OTHERS = "by others"
SLICE = 0.02  # s between looks at who is late


@dataclass(frozen=True)
class LockStepRun:
    """What a run in lock-step showed.

    Attributes:
        seconds: Simulated time [s].
        wall: Real time it took [s].
        cpu: Processor time of this process it took, all threads together [s].
        digest: SHA-256 of all states, equal for equal runs.
        statuses: Status of each node at the end.
        seen: Statuses the controller had, with how many states.
        height: Height of the base at the end, against the beginning [m].
    """

    seconds: float
    wall: float
    cpu: float
    digest: str
    statuses: Mapping[str, str]
    seen: Mapping[str, int]
    height: float

    @property
    def factor(self) -> float:
        """How many times faster than real time it was."""
        return self.seconds / self.wall


def make_nodes(
    robot: str, rate: float, motion: str, guarded: bool, namespace: str, *, follow: str = ""
) -> list[AdapterNode]:
    """Return the nodes of a closed loop, not yet configured.

    Args:
        robot: The robot.
        rate: States per second [Hz].
        motion: What the player plays; no player where empty, or where it comes ``BY_OTHERS``.
        guarded: Whether the guard stands between controller and simulator.
        namespace: Namespace of all.
        follow: What the filter before the controller follows, ``motion`` or ``poses``; no filter where empty.
    """
    commands = [] if guarded else ["-r", "unguarded/joint_torque_commands:=joint_torque_commands"]
    base = ["--ros-args", "-r", f"__ns:={namespace}", "-p", f"robot:={robot}"]
    slow = ["-p", "use_sim_time:=true"]
    waits = ["-p", "await_reference:=true"] if motion and not follow else []
    nodes: list[AdapterNode] = [
        _make(
            SimulatorNode,
            [*base, "-p", "lock_step:=true", "-p", "real_time_factor:=0.0", "-p", f"rate:={rate}"],
        ),
        _make(
            InverseDynamicsNode,
            [
                *base,
                *commands,
                *(FILTERED if follow else []),
                *slow,
                *waits,
                "-p",
                "detail_rate:=20.0",
            ],
        ),
    ]
    if follow:
        lead = 0.02 if follow == "poses" else 0.1
        nodes.append(
            _make(
                DynamicsFilterNode,
                [*base, *slow, "-p", f"follow:={follow}", "-p", f"publish_lead_time:={lead}"],
            )
        )
    if guarded:
        nodes.append(_make(EffortGuardNode, [*base, *slow, "-p", f"rate:={rate}"]))
    if motion not in {"", BY_OTHERS}:
        nodes.append(
            _make(
                MotionPlayerNode,
                [
                    *base,
                    *slow,
                    "-p",
                    f"motion:={motion}",
                    "-p",
                    "play:=true",
                    "-p",
                    "publish_lead_time:=0.1",
                ],
            )
        )
    return nodes


def run_in_lock_step(
    robot: str,
    seconds: float,
    *,
    rate: float = 1000.0,
    motion: str = "",
    patience: float = 120.0,
    follow: str = "",
    others: Sequence[Node] = (),
    link: str = "guard",
) -> LockStepRun:
    """Run a closed loop in this process; ROS is initialised by the caller.

    Args:
        robot: The robot.
        seconds: Simulated time [s].
        rate: States per second [Hz].
        motion: What is played; the world waits for it, and ``BY_OTHERS`` for what other nodes play.
        patience: Real time after which it is given up [s].
        follow: What the filter before the controller follows, ``motion`` or ``poses``; no filter where empty.
        others: Nodes that run along.
        link: How torques reach the simulator: through the ``guard``, over ``topics``, or by ``call``, and the topics are told at times.

    Returns:
        What it showed.

    Raises:
        HumanoidDynamicsError: If it takes too long.
    """
    nodes = make_nodes(robot, rate, motion, link == "guard", "/together", follow=follow)
    watch = _Watch(nodes[0], nodes[1])
    way = _ByCall(nodes, others, watch) if link == "call" else _ByTopic(nodes, others)
    try:
        for node in nodes:
            node.start()
        done = threading.Event()
        watch.until(seconds, done)
        gc.collect()
        gc.freeze()
        begin, used = perf_counter(), process_time()
        way.begin()
        while not way.go_on(done):
            if perf_counter() - begin > patience:
                raise HumanoidDynamicsError(
                    f"lock-step: {watch.time:.3f} s of {seconds:g} s after {patience:g} s; {_tell(nodes)}"
                )
            for node in (
                *(nodes[2:] if link == "call" else nodes),
                *(other for other in others if isinstance(other, AdapterNode)),
            ):
                node.tick()
        wall, cpu = perf_counter() - begin, process_time() - used
        statuses = {node.get_name(): str(node.status or "") for node in nodes}
        return LockStepRun(
            watch.time, wall, cpu, watch.digest.hexdigest(), statuses, watch.seen, watch.rise
        )
    finally:
        gc.unfreeze()
        for node in nodes:
            node.silence()
        way.end()
        for node in nodes:
            node.destroy_node()


class _ByTopic:
    """Callbacks run in a thread of their own."""

    def __init__(self, nodes: Sequence[Node], others: Sequence[Node]) -> None:
        self._executor, self._nodes = make_executor(), (*nodes, *others)

    def begin(self) -> None:
        """Let callbacks run."""
        for node in self._nodes:
            self._executor.add_node(node)
        threading.Thread(target=spin, args=(self._executor,), daemon=True).start()

    def go_on(self, done: threading.Event) -> bool:
        """Leave the states to the topics for a while, and return whether time is up."""
        return done.wait(SLICE)

    def end(self) -> None:
        """Let no callback run any more."""
        self._executor.shutdown()


class _ByCall:
    """The nodes call each other, and callbacks run in the same thread now and then: nobody waits for the interpreter."""

    def __init__(self, nodes: Sequence[Any], others: Sequence[Node], watch: _Watch) -> None:
        self._loop, self._watch, self._nodes = (
            DirectLoop(nodes[0], nodes[1]),
            watch,
            (*nodes, *others),
        )
        self._pollers: list[Poller] = []

    def begin(self) -> None:
        """Prepare for callbacks."""
        self._pollers = [Poller(node) for node in self._nodes]

    def go_on(self, done: threading.Event) -> bool:
        """Take some states, and return whether time is up."""
        for _ in range(STATES):
            self._loop.advance()
            if self._watch.look():
                break
        for poller in self._pollers:
            poller.wait(0.0)
        return done.is_set()

    def end(self) -> None:
        """Let no callback run any more."""
        for poller in self._pollers:
            poller.close()


class _Watch:
    """Looks at the simulator each time it shows a state."""

    def __init__(self, simulator: Any, controller: Any) -> None:
        self.time, self.rise = 0.0, 0.0
        self._live: Any = None
        self._end, self._done = np.inf, threading.Event()
        self.digest = hashlib.sha256()
        self.seen: dict[str, int] = {}
        self._simulator, self._controller = simulator, controller
        show = simulator.show

        def watched(live: Any, t: float) -> None:
            self._live = live
            if not self.look():
                show(live, t)

        simulator.show = watched

    def look(self) -> bool:
        """Look at the world, and return whether time is up."""
        world = self._live.world
        if self.time < world.t < self._end + 3.0 * NEXT:
            self.time = world.t
            self.digest.update(world.q.tobytes() + world.v.tobytes())
            self.rise = float(world.q[2] - self._simulator.robot.posture[2])
            self.seen[self._controller.status] = self.seen.get(self._controller.status, 0) + 1
        if self.time >= self._end:
            self._done.set()
        return self.time >= self._end

    def until(self, seconds: float, done: threading.Event) -> None:
        """Let time stand still after so much simulated time, and tell."""
        self._end, self._done = seconds - NEXT, done


def _make(kind: Any, arguments: list[str]) -> AdapterNode:
    made: AdapterNode = kind(cli_args=arguments, use_global_arguments=False)
    return made


def spin(executor: SingleThreadedExecutor) -> None:
    """Let callbacks run until the executor or ROS ends."""
    with suppress(ExternalShutdownException):
        executor.spin_until_future_complete(Future(), timeout_sec=FOREVER)


def _tell(nodes: list[AdapterNode]) -> str:
    return ", ".join(f"{node.get_name()} {node.status} {node.reason}" for node in nodes)
