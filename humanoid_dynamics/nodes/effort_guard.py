# SPDX-License-Identifier: Apache-2.0
"""Node ``effort_guard``: commands in, guarded commands out, a safe output for as long as something is wrong."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from humanoid_dynamics.control.balance_hold import BalanceHold
from humanoid_dynamics.control.effort_guard import (
    FAULTS,
    RUNNING,
    EffortGuard,
    Guarded,
    GuardSettings,
    GuardStatus,
)
from humanoid_dynamics.control.safe_output import SafeTorques
from humanoid_dynamics.errors import HumanoidDynamicsError, ShapeError
from humanoid_dynamics.nodes.adapter import Act, AdapterNode, Handler
from humanoid_dynamics.nodes.messages import SECOND, doubles, seconds, to_stamp, write_efforts
from humanoid_dynamics.nodes.running import keep_rate, run
from humanoid_dynamics.nodes.wire import JointStateReader, NumbersReader, OdometryReader

UNGUARDED = "unguarded/joint_torque_commands"


class EffortGuardNode(AdapterNode):
    """Guards the efforts of a robot, or of joints named by parameter."""

    good = RUNNING
    raw = ("joint_states", "odom", "contact_wrenches/<surface>")
    failed = FAULTS

    def __init__(self, **keywords: Any) -> None:
        super().__init__("effort_guard", **keywords)
        self._guard: EffortGuard | None = None
        self._due = 0.0
        self._stamp: Any = None
        self._counts = {"commands": 0, "refused": 0}

    def needs_robot(self) -> bool:
        """Return whether joints and limits were not named by parameter."""
        return not (self.config.joints and self.config.effort_limits)

    def prepare(self) -> None:
        """Make the guard."""
        config = self.config
        names = config.joints or (self.robot.actuated if self.robot is not None else ())
        limits = np.array(config.effort_limits)
        if self.robot is not None and not len(limits):
            known = dict(
                zip(
                    self.robot.actuated,
                    self.robot.limits.effort[self.robot.actuated_v],
                    strict=True,
                )
            )
            unknown = [name for name in names if name not in known]
            if unknown:
                raise ShapeError("joints", unknown[0], f"joints of {self.robot.name}")
            limits = np.array([known[name] for name in names])
        if len(limits) != len(names):
            raise HumanoidDynamicsError(
                f"effort_limits: received {len(limits)} limits for {len(names)} joints"
            )
        self._limits = np.where(np.isfinite(limits), limits, config.default_effort_limit)
        fading = {
            "damping": config.damping,
            "fade_out_duration": config.fade_out_duration,
            "period": 1.0 / config.rate,
        }
        self._balance: BalanceHold | None = None
        self._safe: SafeTorques | BalanceHold
        if config.safe_output == "balance_hold":
            self._safe = self._balance = BalanceHold(
                self.robot, names, self._limits, timeout=config.state_timeout, **fading
            )
        else:
            self._safe = SafeTorques(
                names, self._limits, kind=config.safe_output, robot=self.robot, **fading
            )
        self._joint_reader, self._base_reader = JointStateReader(), OdometryReader()
        self._wrench_readers = {
            name: NumbersReader(WrenchStamped, 1, 6) for name in self.names("surface")
        }
        self._guard = EffortGuard(names, self._limits, self._safe, self._settings())

    def change(self) -> None:
        """Take other time-outs."""
        if self._guard is not None:
            self._guard.settings = self._settings()

    def handlers(self) -> Mapping[str, Handler]:
        """Return what hears commands and states."""
        handlers: dict[str, Handler] = {
            UNGUARDED: self._on_command,
            "joint_states": self._on_joints,
        }
        if self._balance is not None:
            handlers |= {"odom": self._on_base, "contact_wrenches/<surface>": self._on_wrench}
        return handlers

    def names(self, placeholder: str) -> tuple[str, ...]:
        """Return the soles, where balance depends on them."""
        return self._balance.soles if self._balance is not None and placeholder == "surface" else ()

    def acts(self) -> Mapping[str, Act]:
        """Return what stops and arms."""
        return {"stop": self._stop, "rearm": self._rearm}

    def facts(self) -> Mapping[str, Any]:
        """Return how many commands came and were refused."""
        return self._counts

    def begin(self) -> None:
        """Wait for the first command."""
        if self._guard is not None:
            self._guard.forget(self.now())
            self._stamp = None

    def end(self) -> None:
        """Send nothing but zero from now on."""
        if self._guard is not None:
            self._publish(
                Guarded(np.zeros(len(self._guard.names)), GuardStatus.WAITING),
                self.get_clock().now().to_msg(),
            )

    def tick(self) -> None:
        """Send what is due where no command has come for a period."""
        with self.lock:
            if self.active and self._guard is not None:
                now = self.now()
                self._watch_publishers(now)
                if now >= self._due or now < self._due - 1.0:
                    self._send(now)

    def _settings(self) -> GuardSettings:
        config = self.config
        return GuardSettings(
            config.timeout, config.skew, config.effort_rate, 1.0 / config.rate, config.bad_commands
        )

    def _on_command(self, message: JointState) -> None:
        if self._guard is None:
            return
        now, self._counts["commands"] = self.now(), self._counts["commands"] + 1
        stamped = message.header.stamp.sec or message.header.stamp.nanosec
        stamp = seconds(message.header.stamp) if stamped else np.nan
        taken = self._guard.command(message.name, np.asarray(message.effort), stamp, now)
        self._counts["refused"] += not taken
        self._stamp = message.header.stamp if taken and stamped else None
        self._send(now)

    def _on_joints(self, message: bytes) -> None:
        """Take a joint state; the safe output answers it, so that a simulator in lock-step goes on."""
        found = self._joint_reader.read(message)
        if found is None or self._guard is None:
            return
        names, position, velocity, _, stamp = found
        now = self.now()
        self._safe.observe(names, position, velocity, now)
        if self._guard.is_safe:
            self._send(now, Time(sec=stamp // SECOND, nanosec=stamp % SECOND) if stamp else None)

    def _on_base(self, message: bytes) -> None:
        found = self._base_reader.read(message)
        if found is not None and self._balance is not None:
            self._balance.observe_base(found[0], found[1], self.now())

    def _on_wrench(self, message: bytes, surface: str) -> None:
        found = self._wrench_readers[surface].read(message)
        if found is not None and self._balance is not None:
            self._balance.observe_contact(surface, float(found[0][2]), self.now())

    def _watch_publishers(self, now: float) -> None:
        if self._guard is not None:
            self._guard.count_publishers(self._count_senders(), now)

    def _count_senders(self) -> int:
        return int(self.count_publishers(self.resolve_topic_name(UNGUARDED)))

    def _send(self, now: float, state_stamp: Any = None) -> None:
        """Send what goes out now: a command with its own stamp, the safe output with that of the state, all else with the time."""
        if self._guard is None:
            return
        self._due = now + 1.0 / self.config.rate
        out = self._guard.output(now)
        stamp = state_stamp if self._guard.is_safe else self._stamp
        self._publish(out, to_stamp(now) if stamp is None else stamp)
        self.tell(out.status, out.reason)

    def _publish(self, out: Guarded, stamp: Any) -> None:
        if self._guard is not None:
            self.out("joint_torque_commands").publish(
                write_efforts(self._guard.names, out.tau, stamp)
            )
            if self.is_heard("effort_commands"):
                self.out("effort_commands").publish(Float64MultiArray(data=doubles(out.tau)))

    def _stop(self, _request: Any) -> str:
        if self._guard is not None:
            self._guard.stop(now=self.now())
            self._send(self.now())
        return ""

    def _rearm(self, _request: Any) -> str:
        return self._guard.rearm(self.now()) if self._guard is not None else "not configured"


def main() -> None:
    """Run the node."""

    def loop(node: EffortGuardNode, stop: threading.Event) -> None:
        keep_rate(node.config.rate, stop, node.tick, node.wait)

    run(EffortGuardNode, loop)
