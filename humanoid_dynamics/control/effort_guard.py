"""What stands between commands and motors: torques are checked, limited and timed; after a fault the safe output goes out, latched.

A few bad commands in a row are tolerated: the last good one is held.  A fault is noticed when its message comes, or at the next period
where nothing comes.  From then on the safe output is sent, until a good command after ``rearm`` replaces it.  Times are arguments, so
that a node decides on its clock and tests need none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.spatial.arrays import Vector, check_vector, read_only

STATUSES = {
    "waiting": "no command has come: since the start, then the torques are zero, or since arming, then they are those of the safe output",
    "passing": "commands go through as they are",
    "limited": "commands go through, but a torque or its rate is larger than allowed and was cut",
    "held": "commands are overdue or bad by less than would stop it; the last good one is repeated",
    "not_finite": "stopped: a command held a number that is not finite",
    "wrong_size": "stopped: a command had too few or too many torques, or as many names as torques it had not",
    "unknown_name": "stopped: a command named a joint that is not guarded",
    "reordered": "stopped: a command named the joints in another order",
    "stale": "stopped: no command came for longer than the time-out",
    "old_stamp": "stopped: a command was made longer ago than the time-out",
    "future_stamp": "stopped: a command is stamped later than now, by more than clocks may differ",
    "time_back": "stopped: the clock went back",
    "duplicate_publisher": "stopped: more than one node sends commands",
    "stopped": "stopped: somebody asked for it",
}
RUNNING = ("waiting", "passing", "limited", "held")


class SafeOutput(Protocol):
    """What goes out after a fault."""

    def begin(self) -> None:
        """Called at a fault."""
        ...

    def torques(self, elapsed: float, now: float) -> Vector:
        """Return (n,) torques, so long after the fault, at this time [N·m or N]."""
        ...


@dataclass(frozen=True)
class GuardSettings:
    """How strict a guard is.

    Attributes:
        timeout: Age at which a command is stale, by receipt and by stamp [s].
        skew: How far a stamp may lie in the future; a command stamped further than that before the last one is passed over [s].
        rate: Largest change of a torque, as a share of its limit in a second [1/s].
        period: Time between commands; one that is overdue by half a period is told as held [s].
        bad_commands: How many bad commands in a row are tolerated; the last good one is held meanwhile.
    """

    timeout: float = 0.05
    skew: float = 0.01
    rate: float = 50.0
    period: float = 0.002
    bad_commands: int = 5

    def __post_init__(self) -> None:
        check_vector("timeout, skew, rate, period", (self.timeout, self.skew, self.rate, self.period), 4)
        if min(self.timeout, self.rate, self.period) <= 0.0 or self.skew < 0.0 or self.bad_commands < 0:
            raise ShapeError("guard settings", str(self), "positive times and rate, no negative count")

    @property
    def longest_hold(self) -> float:
        """Age up to which the last good command is held while bad ones come [s]."""
        return max(self.timeout, 1.5 * (self.bad_commands + 1) * self.period)


@dataclass(frozen=True, eq=False)
class Guarded:
    """What a guard lets out.

    Attributes:
        tau: (n,) torques in the order of its names [N·m or N]; always finite and within limits.
        status: One of ``STATUSES``.
        reason: What is wrong, in words; empty where nothing is.
    """

    tau: Vector
    status: str
    reason: str = ""


class EffortGuard:
    """Limits what goes through, and stops for good where something is wrong; not for several threads at once.

    Attributes:
        names: The joints, in order.
        limits: (n,) largest torque of each [N·m or N].
    """

    def __init__(self, names: Sequence[str], limits: Vector, safe: SafeOutput, settings: GuardSettings | None = None) -> None:
        """Begin, waiting for a command.

        Args:
            names: The joints, in the order in which commands must name them.
            limits: (n,) largest torque of each [N·m or N]; finite.
            safe: What goes out after a fault.
            settings: How strict it is.

        Raises:
            ShapeError: If there is not one positive limit for each joint, or a joint is named twice.
        """
        if len(set(names)) != len(names):
            raise ShapeError("names", ", ".join(names), "each joint once")
        self.names = tuple(names)
        self.limits = check_vector("limits", limits, len(self.names))
        if self.limits.size and self.limits.min() < 0.0:
            raise ShapeError("limits", str(self.limits.min()), "no negative limit")
        self.settings = settings or GuardSettings()
        self._safe = safe
        self._known = frozenset(self.names)
        self._zero = read_only(np.zeros(len(self.names)))
        self._wanted: Vector = self._zero
        self._sent: Vector = self._zero
        self._sent_at = self._received = self._stamp = -np.inf
        self._now = -np.inf
        self._publishers, self._fresh = 1, False
        self._stopped_at = -np.inf
        self._fault, self._reason = "", ""
        self._bad, self._complaint = 0, ""

    @property
    def fault(self) -> str:
        """Status of the fault that stopped it; empty while it is armed."""
        return self._fault

    @property
    def is_safe(self) -> bool:
        """Whether the safe output goes out: after a fault, until the next good command."""
        return bool(self._fault) or bool(np.isfinite(self._stopped_at))

    def command(self, names: Sequence[str] | None, effort: Vector, stamp: float, now: float) -> bool:
        """Take a command.

        Args:
            names: Joint names; None where the order is agreed on beforehand.
            effort: (n,) torques [N·m or N].
            stamp: When it was made [s]; ``nan`` where it tells no time.
            now: When it came [s], on the same clock.

        Returns:
            Whether it will go through; where not, the last good one is held, or the guard has stopped.
        """
        self._watch_clock(now)
        status, reason = self._object_to(names, effort) or self._object_to_time(stamp, now) or ("", "")
        if status:
            self._count_bad(status, reason, now)
            return False
        if self._fault or stamp < self._stamp - self.settings.skew:  # overtaken on the way by one made later
            return False
        self._wanted = np.array(effort, dtype=np.float64)
        self._received, self._fresh = now, True
        self._stamp = stamp if stamp == stamp else self._stamp
        self._bad, self._complaint, self._stopped_at = 0, "", -np.inf
        return True

    def _count_bad(self, status: str, reason: str, now: float) -> None:
        """Take a bad command: the last good one is held, until too many have come in a row."""
        if self._fault:
            return
        self._bad += 1
        many = f"; {self._bad} bad commands in a row" if self._bad > 1 else ""
        if self._bad > self.settings.bad_commands:
            self.stop(status, reason + many, now)
        else:
            self._complaint = f"{reason}{many}, {self.settings.bad_commands} are tolerated"

    def count_publishers(self, count: int, now: float) -> None:
        """Take how many nodes send commands; more than one stops the guard, and so does the loss of the only one.

        Args:
            count: How many.
            now: The time [s].
        """
        lost = self._publishers == 1 and not count
        self._publishers = count
        if count > 1:
            self.stop("duplicate_publisher", f"{count} nodes send commands, expected one", now)
        elif lost and np.isfinite(self._received):  # a clock that waits for commands never makes the last one old
            self.stop("stale", "the node that sent commands is gone", now)

    def stop(self, status: str = "stopped", reason: str = "asked for", now: float = -np.inf) -> None:
        """Stop, and stay stopped; the first reason is kept.

        Args:
            status: Status to stop with.
            reason: Why, in words.
            now: The time [s].

        Raises:
            UnknownNameError: If the status is none that stops.
        """
        if status not in STATUSES or status in RUNNING:
            raise UnknownNameError("fault", status, [name for name in STATUSES if name not in RUNNING])
        if not self._fault:
            self._fault, self._reason, self._stopped_at = status, reason, now
            self._safe.begin()

    def rearm(self, now: float) -> str:
        """Arm the guard again: the safe output stays until the next good command, which goes on from there.

        Args:
            now: The time [s].

        Returns:
            Why it cannot be armed; empty where it is.
        """
        if self._publishers > 1:
            return f"{self._publishers} nodes still send commands"
        self._fault = self._reason = ""
        self._received = self._stamp = -np.inf
        self._bad, self._complaint = 0, ""
        self._now = now
        return ""

    def forget(self, now: float) -> None:
        """Begin anew: the torques are zero until a command comes.

        Args:
            now: The time [s].
        """
        self._publishers = 1
        self.rearm(now)
        self._stopped_at = self._sent_at = -np.inf
        self._sent = self._wanted = self._zero

    def output(self, now: float) -> Guarded:
        """Return what goes to the motors now; to be asked at every command and at every period.

        Args:
            now: The time [s], never before the last one.
        """
        self._watch_clock(now)
        age = now - self._received
        longest = self.settings.longest_hold if self._bad else self.settings.timeout
        if not self._fault and np.isfinite(self._received) and age > longest:
            self.stop("stale", f"no good command for {1e3 * age:.0f} ms, time-out {1e3 * longest:.0f} ms", now)
        if self.is_safe:
            tau = self._within(self._safe.torques(max(now - self._stopped_at, 0.0), now))
            return self._send(tau, self._fault or "waiting", self._reason or self._complaint, now)
        if not np.isfinite(self._received):
            # Zero for as long as one likes: how far the first command may go does not hang on when it was last said.
            return self._send(self._zero, "waiting", self._complaint, -np.inf)
        tau, said = self._limit(now)
        if said:
            return self._send(tau, "limited", said, now)
        late = f"last good command {1e3 * age:.1f} ms ago" if age > 1.5 * self.settings.period else ""
        reason = "; ".join(part for part in (self._complaint, late) if part)
        return self._send(tau, "held" if reason else "passing", reason, now)

    def _send(self, tau: Vector, status: str, reason: str, now: float) -> Guarded:
        self._sent, self._sent_at = read_only(tau), now
        return Guarded(self._sent, status, reason)

    def _within(self, tau: Vector) -> Vector:
        """Return finite torques within limits, whatever came."""
        usable = np.where(np.isfinite(tau), tau, 0.0) if len(tau) == len(self.names) else self._zero
        return np.clip(usable, -self.limits, self.limits)

    def _limit(self, now: float) -> tuple[Vector, str]:
        """Return the wanted torques cut to limits and rates, and what was cut."""
        # A command is worth a period even where a simulated clock has not moved since the last one.
        least, self._fresh = (self.settings.period if self._fresh else 0.0), False
        step = self.settings.rate * self.limits * min(max(now - self._sent_at, least), 2.0 * self.settings.period)
        low, high = np.maximum(-self.limits, self._sent - step), np.minimum(self.limits, self._sent + step)
        tau = np.minimum(np.maximum(self._wanted, low), high)
        cut = np.abs(self._wanted - tau)
        if not cut.any():
            return tau, ""
        worst = int(np.argmax(cut))
        what = "limit" if abs(self._wanted[worst]) > self.limits[worst] else "rate"
        return tau, f"{self.names[worst]}: {self._wanted[worst]:.4g} cut to {tau[worst]:.4g} by its {what}"

    def _watch_clock(self, now: float) -> None:
        if now < self._now - self.settings.skew and not self._fault:
            self.stop("time_back", f"the clock went back by {self._now - now:.3f} s", now)
        self._now = now

    def _object_to(self, names: Sequence[str] | None, effort: Vector) -> tuple[str, str] | None:
        if len(effort) != len(self.names) or (names is not None and len(names) != len(effort)):
            count = "" if names is None else f" and {len(names)} names"
            return "wrong_size", f"received {len(effort)} torques{count}, expected {len(self.names)}"
        if names is not None and tuple(names) != self.names:
            unknown = [name for name in names if name not in self._known]
            if unknown:
                return "unknown_name", str(UnknownNameError("joint", unknown[0], self.names))
            return "reordered", f"received {', '.join(names[:4])}, ..., expected {', '.join(self.names[:4])}, ..."
        if not np.isfinite(effort).all():
            broken = [self.names[i] for i in np.flatnonzero(~np.isfinite(effort))]
            return "not_finite", f"received a torque that is not finite: {', '.join(broken[:4])}"
        return None

    def _object_to_time(self, stamp: float, now: float) -> tuple[str, str] | None:
        if stamp != stamp:
            return None
        age, settings = now - stamp, self.settings
        if age > settings.timeout:
            return "old_stamp", f"made {1e3 * age:.0f} ms ago, time-out {1e3 * settings.timeout:.0f} ms"
        if age < -settings.skew:
            return "future_stamp", f"stamped {1e3 * -age:.0f} ms after now, clocks may differ by {1e3 * settings.skew:.0f} ms"
        return None
