# SPDX-License-Identifier: Apache-2.0
"""Node ``monitor``: a live table of rates, forces, certificate and statuses on the terminal, and a push now and then."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from time import monotonic
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from rich.console import Console
from rich.live import Live
from rich.table import Table
from std_msgs.msg import Float64MultiArray

from humanoid_dynamics.nodes.adapter import AdapterNode, Handler
from humanoid_dynamics.nodes.messages import write_wrench
from humanoid_dynamics.nodes.running import keep_rate, run
from humanoid_dynamics.nodes.statuses import MonitorStatus

WINDOW = 2.0  # s; the same for all topics, or their rates could not be compared
MOST = 10_000  # messages in it
RATE = 4.0  # Hz
PLAIN_PERIOD = 2.0  # s between tables where the output is no terminal
EVERY = 10.0  # s between pushes
AT_ONCE = 1e-5  # s; what clocks in lock-step differ by is no delay
LEVELS = {b"\x00": "green", b"\x01": "yellow", b"\x02": "red", b"\x03": "dim"}


class MonitorNode(AdapterNode):
    """Hears everything, and draws it."""

    good = (MonitorStatus.WATCHING,)

    def __init__(self, **keywords: Any) -> None:
        super().__init__("monitor", **keywords)
        self._times: dict[str, deque[float]] = {}
        self._forces: dict[str, float] = {}
        self._certificate: list[float] = []
        self._audit: list[float] = []
        self._nodes: dict[str, tuple[bytes, str, str]] = {}
        self._next_push = monotonic() + 0.5 * EVERY
        self._pushes = 0
        self._page = ""
        self._began = monotonic()
        self._next_plain = monotonic() + PLAIN_PERIOD

    def handlers(self) -> Mapping[str, Handler]:
        """Return what counts and remembers."""
        return {
            "joint_states": lambda _message: self._count("joint_states"),
            "unguarded/joint_torque_commands": lambda _message: self._count(
                "unguarded/joint_torque_commands"
            ),
            "joint_torque_commands": lambda _message: self._count("joint_torque_commands"),
            "reference/joints": lambda _message: self._count("reference/joints"),
            "contact_wrenches/<surface>": self._on_wrench,
            "certificate": self._on_certificate,
            "audit": self._on_audit,
            "/diagnostics": self._on_diagnostics,
        }

    def begin(self) -> None:
        """Begin to watch."""
        self._began = monotonic()
        self.tell(MonitorStatus.WATCHING)

    def draw(self, live: Live | None, console: Console) -> None:
        """Draw the table, and push where it is time.

        Args:
            live: Where the table is drawn on a terminal.
            console: Where it is printed elsewhere.
        """
        with self.lock:
            if not self.active:
                return
            if "joint_states" not in self._times:
                self._next_push = monotonic() + 0.5 * EVERY
            elif self.config.push and monotonic() >= self._next_push:
                self._push()
            if live is not None:
                live.update(self._draw(), refresh=True)
            elif monotonic() >= self._next_plain:
                self._next_plain += PLAIN_PERIOD
                console.print(self._draw())

    def _push(self) -> None:
        self._next_push = monotonic() + EVERY
        self._pushes += 1
        force = (
            np.array([self.config.push, 0.0, 0.0])
            if self._pushes % 2
            else np.array([0.0, self.config.push, 0.0])
        )
        base = self.robot.links[0] if self.robot is not None else ""
        self.out("push").publish(
            write_wrench(
                force, np.zeros(3), self.get_clock().now().to_msg(), self.frame_prefix + base
            )
        )

    def _count(self, topic: str) -> None:
        self._times.setdefault(topic, deque(maxlen=MOST)).append(monotonic())

    def _on_wrench(self, message: WrenchStamped, surface: str) -> None:
        self._forces[surface] = message.wrench.force.z

    def _on_certificate(self, message: Float64MultiArray) -> None:
        self._certificate = list(message.data)

    def _on_audit(self, message: Float64MultiArray) -> None:
        self._audit = list(message.data)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in (
            each for each in message.status if each.name.startswith(self.get_namespace())
        ):
            reason = next((pair.value for pair in status.values if pair.key == "reason"), "")
            self._nodes[status.name] = (status.level, status.message, reason)
            self._page = next(
                (pair.value for pair in status.values if pair.key == "page"), self._page
            )

    def _draw(self) -> Table:
        table = Table(
            title=f"{self.robot.name if self.robot is not None else ''} on topics",
            show_header=False,
            min_width=78,
        )
        table.add_column(width=26)
        table.add_column()
        for name, (level, status, reason) in sorted(self._nodes.items()):
            table.add_row(name, f"[{LEVELS.get(level, 'white')}]{status}[/] {reason[:60]}")
        now = monotonic()
        for topic, times in self._times.items():
            rate = count_rate(times, now, now - self._began)
            table.add_row(
                topic, f"{rate:8.1f} Hz" if rate else f"last heard {now - times[-1]:.0f} s ago"
            )
        for surface, force in self._forces.items():
            table.add_row(f"{surface} normal force", f"{force:8.1f} N")
        if len(self._certificate) == 6:
            residual, normal, friction, cop, torque, age = self._certificate
            table.add_row("equation of motion to", f"{residual:8.1e} N or N·m")
            table.add_row(
                "to lift-off, slip, rim", f"{normal:.0f} N, {friction:.0f} N, {1e3 * cop:.0f} mm"
            )
            table.add_row("torque left", f"{torque:8.0%}")
            table.add_row(
                "state to command",
                f"{1e3 * age:8.2f} ms" if age > AT_ONCE else "at once, as time waits for it",
            )  # lock-step
        if len(self._audit) == 6:
            table.add_row("time, energy error", f"{self._audit[0]:8.2f} s, {self._audit[2]:.1e} J")
        if self._page:
            table.add_row("page", self._page)
        table.add_row("pushes", f"{self._pushes} of {self.config.push:g} N")
        return table


def count_rate(times: deque[float], now: float, running: float) -> float:
    """Return how many messages came per second of the window that ends now; those before it are forgotten but the last.

    Args:
        times: When messages came [s]; it is changed.
        now: The time [s].
        running: How long messages have been counted [s].
    """
    while len(times) > 1 and times[0] < now - WINDOW:
        times.popleft()
    heard = sum(time >= now - WINDOW for time in times)
    return heard / min(max(running, 1.0 / RATE), WINDOW)


def main() -> None:
    """Run the node."""

    def loop(node: MonitorNode, stop: threading.Event) -> None:
        console = Console()
        if not console.is_terminal:
            keep_rate(RATE, stop, lambda: node.draw(None, console))
            return
        with Live(console=console, auto_refresh=False) as live:
            keep_rate(RATE, stop, lambda: node.draw(live, console))

    run(MonitorNode, loop)
