# SPDX-License-Identifier: Apache-2.0
"""Processes that run together: started, watched, started once more where one dies, and ended in an orderly way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from time import monotonic
from typing import Any

from humanoid_dynamics.graphs.description import GraphNode
from humanoid_dynamics.program import ENDING, READY, wait_for_end

LOOK = 0.2  # s
PATIENCE = 5.0  # s; how long a process may take to end
QUICK = 8.0  # s; a start that takes longer is explained
PROGRAMS = "humanoid_dynamics.nodes.programs"
PROFILES = (
    "FASTRTPS_DEFAULT_PROFILES_FILE",
    "FASTDDS_DEFAULT_PROFILES_FILE",
)  # names of Fast DDS 2 and 3
REFUSAL = "cannot start: "  # what the log line of such a program begins with
REFUSED = 2  # exit code of a program that refuses to start: starting it again changes nothing
Tell = Callable[[str], None]


@dataclass(eq=False)
class Running:
    """A process that is looked after.

    Attributes:
        node: What runs.
        process: The process.
        restarts: How often it was started again.
    """

    node: GraphNode
    process: subprocess.Popen[bytes]
    restarts: int = 0


def node_command(node: GraphNode) -> list[str]:
    """Return the command that starts a node.

    Args:
        node: The node.
    """
    command = [
        sys.executable,
        "-m",
        PROGRAMS,
        node.node,
        "--ros-args",
        "--disable-external-lib-logs",
        "-r",
        f"__node:={node.name}",
    ]
    if node.namespace.strip("/"):
        command += ["-r", f"__ns:=/{node.namespace.strip('/')}"]
    for name, value in node.parameters.items():
        command += ["-p", f"{name}:={as_argument(value)}"]
    for topic, new in node.remappings.items():
        command += ["-r", f"{topic}:={new}"]
    return command


def as_argument(value: Any) -> str:
    """Return a parameter as ROS reads it on a command line."""
    if isinstance(value, str):
        return f"'{value}'"
    return json.dumps(value)


def local_environment() -> dict[str, str]:
    """Return the environment of the nodes: discovery stays on this machine, unless the user has said otherwise."""
    environment = dict(os.environ)
    environment.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    environment.setdefault("AMENT_PREFIX_PATH", sys.prefix)
    environment["PYTHONUNBUFFERED"] = "1"
    return with_short_lease(environment)


def with_short_lease(environment: dict[str, str]) -> dict[str, str]:
    """Return an environment in which Fast DDS soon forgets a process that was killed, unless the user has a profile already.

    Args:
        environment: The environment; it is changed.
    """
    profile = str(files("humanoid_dynamics") / "config" / "dds" / "fast_dds.xml")
    if not set(PROFILES) & set(environment):
        environment.update(dict.fromkeys(PROFILES, profile))
    return environment


class Supervisor:
    """Runs nodes as processes of their own."""

    def __init__(
        self, nodes: Sequence[GraphNode], folder: Path, tell: Tell, *, restarts: int = 1
    ) -> None:
        """Prepare.

        Args:
            nodes: What runs.
            folder: Where the logs go.
            tell: Called with what happens, in sentences.
            restarts: How often a process that dies is started again.
        """
        self._nodes, self._folder, self._tell, self._most = nodes, folder, tell, restarts
        self._running: list[Running] = []
        self._began, self._explained = 0.0, False

    def run(self, seconds: float = float("inf")) -> int:
        """Run all until a signal to end comes, the time is over, or one has died too often.

        Args:
            seconds: How long, from when every process is ready [s].

        Returns:
            Exit code: 0, or that of the process that died.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        self._began, end = monotonic(), float("inf")
        code = 0
        try:
            self._running = [Running(node, self._start(node)) for node in self._nodes]
            while not code and monotonic() < end and not wait_for_end(min(LOOK, end - monotonic())):
                code = self._look()
                if end == float("inf") and not self._waited_for():
                    end = monotonic() + seconds
        finally:
            self._end()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        return code

    def _look(self) -> int:
        """Start again what has died; return the exit code of what has died too often."""
        for running in tuple(self._running):
            code = running.process.poll()
            if code is None:
                continue
            if code == REFUSED or running.restarts >= self._most:
                left_out = code == REFUSED and running.node.optional
                what = "is left out, the others go on" if left_out else f"ended with {code}"
                self._tell(
                    f"{running.node.name} {what}{self._find_refusal(running.node)}; see {self._log(running.node)}"
                )
                if not left_out:
                    return code if code > 0 else 1
                self._running.remove(running)
                continue
            running.restarts += 1
            self._tell(f"{running.node.name} ended with {code}; it is started again")
            running.process = self._start(running.node)
        return 0

    def _waited_for(self) -> list[str]:
        """Return the processes that are not ready yet; say what they do where that takes long."""
        late = [
            running.node.name for running in self._running if not self._mark(running.node).exists()
        ]
        if late and not self._explained and monotonic() > self._began + QUICK:
            self._explained = True
            self._tell(
                f"getting ready: {', '.join(late)} (code is compiled once on a machine, which takes half a minute)"
            )
        return late

    def _start(self, node: GraphNode) -> subprocess.Popen[bytes]:
        self._mark(node).unlink(missing_ok=True)
        environment = {**local_environment(), READY: str(self._mark(node))}
        with self._log(node).open("ab") as log:
            out = None if node.console else log
            return subprocess.Popen(  # noqa: S603 - the command is ours, its arguments are passed as they are
                node_command(node),
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=log,
                start_new_session=True,
            )

    def _mark(self, node: GraphNode) -> Path:
        return self._folder / f"{node.name}.ready"

    def _log(self, node: GraphNode) -> Path:
        return self._folder / f"{node.name}.log"

    def _find_refusal(self, node: GraphNode) -> str:
        """Return why a process refused to start, as the last such line of its log states it; empty where none does."""
        lines = self._log(node).read_text(encoding="utf-8", errors="replace").splitlines()
        return next(
            (f": {line.partition(REFUSAL)[2]}" for line in reversed(lines) if REFUSAL in line), ""
        )

    def _end(self) -> None:
        """End all, the last one first; what does not end in time is killed, and what is not ready yet has nothing to put in order."""
        for running in reversed(self._running):
            if running.process.poll() is None:
                running.process.send_signal(
                    signal.SIGINT if self._mark(running.node).exists() else signal.SIGKILL
                )
        deadline = monotonic() + PATIENCE
        for running in self._running:
            self._mark(running.node).unlink(missing_ok=True)
            try:
                running.process.wait(max(0.1, deadline - monotonic()))
            except subprocess.TimeoutExpired:
                self._tell(f"{running.node.name} did not end within {PATIENCE:g} s and was killed")
                running.process.kill()
                running.process.wait()
