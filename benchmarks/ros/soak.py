# SPDX-License-Identifier: Apache-2.0
"""A closed loop that runs for long, as processes of their own: is a period lost, is memory lost, how even are the periods?"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from subprocess import Popen
from time import monotonic, time_ns

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import UInt8

from benchmarks.ros.processes import (
    Measured,
    end_nodes,
    read_cpu,
    read_memory,
    start_node,
    wait_until,
)
from humanoid_dynamics.control.balance_settings import BalanceStatus
from humanoid_dynamics.nodes.adapter import make_qos
from humanoid_dynamics.nodes.interfaces import INTERFACES, REPORTS
from humanoid_dynamics.nodes.messages import nanoseconds
from humanoid_dynamics.nodes.running import make_executor
from humanoid_dynamics.nodes.together import spin

RATE = 500.0  # Hz
NAMESPACE = "/soaked"
SETTLE = 2.0  # s before anything counts
LOOK = 0.5  # s between looks at memory
UNDER_WAY = 100_000_000  # ns; younger states may not have been answered yet
GROWTH = 2.0  # MB; a process whose memory is flat stays below
MEGABYTE = 1e6
QUEUE = QoSProfile(depth=1000)


class Witness(Node):
    """Notes the stamp of every state and of every command."""

    def __init__(self) -> None:
        super().__init__("witness", namespace=NAMESPACE)
        self.states: list[int] = []
        self.answers: list[int] = []
        self.status = ""
        self._statuses = tuple(INTERFACES["inverse_dynamics"].statuses)
        self.create_subscription(
            JointState,
            "joint_states",
            lambda m: self.states.append(nanoseconds(m.header.stamp)),
            QUEUE,
        )
        self.create_subscription(
            JointState,
            "unguarded/joint_torque_commands",
            lambda m: self.answers.append(nanoseconds(m.header.stamp)),
            QUEUE,
        )
        self.create_subscription(
            UInt8, "inverse_dynamics/status", self._on_status, make_qos(REPORTS[0])
        )

    def _on_status(self, message: UInt8) -> None:
        self.status = self._statuses[message.data]


def soak(seconds: float, robot: str = "human28") -> list[Measured]:
    """Run simulator, controller and guard, and watch them; ROS is initialised by the caller.

    Args:
        seconds: How long [s].
        robot: The robot.

    Returns:
        What they showed.
    """
    witness, executor = Witness(), make_executor()
    executor.add_node(witness)
    threading.Thread(target=spin, args=(executor,), daemon=True).start()
    processes = {
        "simulator": start_node("simulator", NAMESPACE, robot=robot, rate=RATE),
        "inverse_dynamics": start_node("inverse_dynamics", NAMESPACE, robot=robot),
        "effort_guard": start_node("effort_guard", NAMESPACE, robot=robot, rate=RATE),
    }
    try:
        wait_until(lambda: len(witness.answers) > RATE * SETTLE, "the loop is closed")
        memory, shares, span = _watch(processes, seconds)
        return [*_judge_periods(witness, span), *_judge_processes(memory, shares, witness.status)]
    finally:
        end_nodes(processes.values())
        executor.shutdown()


def _watch(
    processes: Mapping[str, Popen[bytes]], seconds: float
) -> tuple[dict[str, list[int]], dict[str, float], tuple[int, int]]:
    """Return memory over time and share of a core of each process, and the time it took [ns], on the clock of the stamps."""
    pause = threading.Event()
    memory: dict[str, list[int]] = {name: [] for name in processes}
    used = {name: read_cpu(process) for name, process in processes.items()}
    begin, start = monotonic(), time_ns()
    while monotonic() < begin + seconds:
        for name, process in processes.items():
            memory[name].append(read_memory(process))
        pause.wait(LOOK)
    took, end = monotonic() - begin, time_ns()
    return (
        memory,
        {name: (read_cpu(process) - used[name]) / took for name, process in processes.items()},
        (start, end),
    )


def _judge_periods(witness: Witness, span: tuple[int, int]) -> list[Measured]:
    states = np.array(
        sorted({stamp for stamp in witness.states if span[0] <= stamp < span[1]}), dtype=np.int64
    )
    answers = set(witness.answers)
    span = (span[0], span[1] - UNDER_WAY)
    states = states[states < span[1]]
    due = RATE * (span[1] - span[0]) * 1e-9
    missed = sum(stamp not in answers for stamp in states.tolist())
    error = np.abs(np.diff(states) * 1e-6 - 1e3 / RATE)
    tail = float(np.percentile(error, 99.9)) if error.size else np.inf
    middle = float(np.median(error)) if error.size else np.inf
    lost = max(0.0, due - len(states))
    return [
        Measured("time", (span[1] - span[0]) * 1e-9, "s", "beside it", True),
        Measured("periods of 500 Hz without a state", lost, "-", "<= 1", lost <= 1.0),
        Measured("states without a command", float(missed), "-", "0", missed == 0),
        Measured("error of a period, median", middle, "ms", "beside it", True),
        Measured("error of a period, p99.9", tail, "ms", "beside it", True),
    ]


def _judge_processes(
    memory: Mapping[str, list[int]], shares: Mapping[str, float], status: str
) -> list[Measured]:
    rows: list[Measured] = []
    for name, sizes in memory.items():
        quarter = max(1, len(sizes) // 4)
        growth = (
            float(np.mean(sizes[-quarter:]) - np.mean(sizes[quarter : 2 * quarter] or sizes))
            / MEGABYTE
        )
        rows.append(
            Measured(
                f"memory of {name}, growth since its first quarter",
                growth,
                "MB",
                f"<= {GROWTH:g} MB",
                growth <= GROWTH,
            )
        )
    for name, share in shares.items():
        goal = "<= 0.25" if name == "inverse_dynamics" else "beside it"
        rows.append(
            Measured(
                f"{name}, share of a core", share, "-", goal, goal == "beside it" or share <= 0.25
            )
        )
    rows.append(
        Measured(
            f"the controller ends {status}", 1.0, "-", "STANDING", status == BalanceStatus.STANDING
        )
    )
    return rows
