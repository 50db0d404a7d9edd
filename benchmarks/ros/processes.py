# SPDX-License-Identifier: Apache-2.0
"""Nodes as processes that are measured: started, watched from outside, and what they showed."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from humanoid_dynamics.graphs.description import GraphNode
from humanoid_dynamics.graphs.supervisor import local_environment, node_command

START = 180.0  # s; how long a process may take until it answers
ROOT = Path(__file__).parents[2]  # where the package ``benchmarks`` is found
PATIENCE = 10.0  # s; how long it may take to end
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")  # bytes


@dataclass(frozen=True)
class Measured:
    """One number and its goal.

    Attributes:
        name: What was measured.
        value: The number.
        unit: Its unit.
        goal: What is to be reached, in words.
        reached: Whether it was.
    """

    name: str
    value: float
    unit: str
    goal: str
    reached: bool


def start_node(node: str, namespace: str, **parameters: Any) -> subprocess.Popen[bytes]:
    """Start a node as a process of its own.

    Args:
        node: Its program.
        namespace: Its namespace.
        **parameters: Its parameters.
    """
    command = node_command(GraphNode(node, node, parameters, {}, namespace=namespace))
    if node == "echo":  # not a node of the package
        command[1:4] = ["-m", "benchmarks.ros.echo"]
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env=local_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def end_nodes(processes: Iterable[subprocess.Popen[bytes]]) -> None:
    """End nodes; one that does not is killed, so that what was measured is not lost.

    Args:
        processes: Their processes.
    """
    ending = list(processes)
    for process in ending:
        process.send_signal(signal.SIGINT)
    for process in ending:
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def read_cpu(process: subprocess.Popen[bytes]) -> float:
    """Return the processor time a process has used [s]."""
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def wait_until(condition: Any, what: str) -> None:
    """Wait until something is so.

    Args:
        condition: Returns whether it is.
        what: What it is, in words.

    Raises:
        TimeoutError: If it takes too long.
    """
    end, pause = monotonic() + START, threading.Event()
    while not condition():
        if monotonic() > end:
            raise TimeoutError(f"waited {START:g} s until {what}")
        pause.wait(0.05)


def read_memory(process: subprocess.Popen[bytes]) -> int:
    """Return the memory a process holds [bytes]."""
    with open(f"/proc/{process.pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * PAGE
