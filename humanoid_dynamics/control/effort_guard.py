# SPDX-License-Identifier: Apache-2.0
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
from humanoid_dynamics.status import StatusEnum


class GuardStatus(StatusEnum):
    """Whether commands pass the guard, and which fault stopped it otherwise."""

    WAITING = (
        "WAITING",
        "no command has come: since the start, then torques are zero, or since arming, then they are those of the safe output",
    )
    PASSING = "PASSING", "commands pass unchanged"
    LIMITED = (
        "LIMITED",
        "commands pass, but a torque or its rate exceeded its limit and was clipped",
    )
    HELD = (
        "HELD",
        "commands are overdue, or too few bad ones came to stop; the last good one is repeated",
    )
    NOT_FINITE = "NOT_FINITE", "stopped: a command held NaN or infinity"
    WRONG_SIZE = (
        "WRONG_SIZE",
        "stopped: a command had a wrong number of torques, or not as many names as torques",
    )
    UNKNOWN_NAME = "UNKNOWN_NAME", "stopped: a command named a joint that is not guarded"
    REORDERED = "REORDERED", "stopped: a command named the joints in another order"
    STALE = "STALE", "stopped: no command came within the timeout"
    STAMP_IN_PAST = "STAMP_IN_PAST", "stopped: the stamp of a command is older than the timeout"
    STAMP_IN_FUTURE = (
        "STAMP_IN_FUTURE",
        "stopped: the stamp of a command is later than now by more than the permitted clock skew",
    )
    TIME_BACK = "TIME_BACK", "stopped: the clock went back"
    DUPLICATE_PUBLISHER = "DUPLICATE_PUBLISHER", "stopped: more than one node publishes commands"
    STOPPED = "STOPPED", "stopped on request"


RUNNING = (GuardStatus.WAITING, GuardStatus.PASSING, GuardStatus.LIMITED, GuardStatus.HELD)
FAULTS = tuple(status for status in GuardStatus if status not in RUNNING)


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
        check_vector(
            "timeout, skew, rate, period", (self.timeout, self.skew, self.rate, self.period), 4
        )
        if (
            min(self.timeout, self.rate, self.period) <= 0.0
            or self.skew < 0.0
            or self.bad_commands < 0
        ):
            raise ShapeError(
                "guard settings", str(self), "positive times and rate, no negative count"
            )

    @property
    def longest_hold(self) -> float:
        """Age up to which the last good command is held while bad ones come [s]."""
        return max(self.timeout, 1.5 * (self.bad_commands + 1) * self.period)


@dataclass(frozen=True, eq=False)
class Guarded:
    """What a guard lets out.

    Attributes:
        tau: (n,) torques in the order of its names [N·m or N]; always finite and within limits.
        status: Whether commands pass, and which fault stopped the guard otherwise.
        reason: What is wrong, in words; empty where nothing is.
    """

    tau: Vector
    status: GuardStatus
    reason: str = ""


class EffortGuard:
    """Limits what goes through, and stops for good where something is wrong; not for several threads at once.

    Attributes:
        names: The joints, in order.
        limits: (n,) largest torque of each [N·m or N].
    """

    def __init__(
        self,
        names: Sequence[str],
        limits: Vector,
        safe: SafeOutput,
        settings: GuardSettings | None = None,
    ) -> None:
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
        self._fault: GuardStatus | None = None
        self._reason = ""
        self._bad, self._complaint = 0, ""

    @property
    def fault(self) -> GuardStatus | None:
        """Status of the fault that stopped it; None while it is armed."""
        return self._fault

    @property
    def is_safe(self) -> bool:
        """Whether the safe output goes out: after a fault, until the next good command."""
        return self._fault is not None or bool(np.isfinite(self._stopped_at))

    def command(
        self, names: Sequence[str] | None, effort: Vector, stamp: float, now: float
    ) -> bool:
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
        found = self._object_to(names, effort) or self._object_to_time(stamp, now)
        if found is not None:
            self._count_bad(*found, now)
            return False
        if (
            self._fault or stamp < self._stamp - self.settings.skew
        ):  # overtaken on the way by one made later
            return False
        self._wanted = np.array(effort, dtype=np.float64)
        self._received, self._fresh = now, True
        self._stamp = stamp if stamp == stamp else self._stamp
        self._bad, self._complaint, self._stopped_at = 0, "", -np.inf
        return True

    def _count_bad(self, status: GuardStatus, reason: str, now: float) -> None:
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
            self.stop(
                GuardStatus.DUPLICATE_PUBLISHER, f"{count} nodes send commands, expected one", now
            )
        elif lost and np.isfinite(
            self._received
        ):  # a clock that waits for commands never makes the last one old
            self.stop(GuardStatus.STALE, "the node that sent commands is gone", now)

    def stop(
        self,
        status: GuardStatus = GuardStatus.STOPPED,
        reason: str = "asked for",
        now: float = -np.inf,
    ) -> None:
        """Stop, and stay stopped; the first reason is kept.

        Args:
            status: Status to stop with.
            reason: Why, in words.
            now: The time [s].

        Raises:
            UnknownNameError: If the status is no fault.
        """
        if status not in FAULTS:
            raise UnknownNameError("fault", status, FAULTS)
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
        self._fault, self._reason = None, ""
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
            self.stop(
                GuardStatus.STALE,
                f"no good command for {1e3 * age:.0f} ms, time-out {1e3 * longest:.0f} ms",
                now,
            )
        if self.is_safe:
            tau = self._within(self._safe.torques(max(now - self._stopped_at, 0.0), now))
            return self._send(
                tau, self._fault or GuardStatus.WAITING, self._reason or self._complaint, now
            )
        if not np.isfinite(self._received):
            # Zero for as long as one likes: how far the first command may go does not hang on when it was last said.
            return self._send(self._zero, GuardStatus.WAITING, self._complaint, -np.inf)
        tau, said = self._limit(now)
        if said:
            return self._send(tau, GuardStatus.LIMITED, said, now)
        late = (
            f"last good command {1e3 * age:.1f} ms ago" if age > 1.5 * self.settings.period else ""
        )
        reason = "; ".join(part for part in (self._complaint, late) if part)
        return self._send(tau, GuardStatus.HELD if reason else GuardStatus.PASSING, reason, now)

    def _send(self, tau: Vector, status: GuardStatus, reason: str, now: float) -> Guarded:
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
        step = (
            self.settings.rate
            * self.limits
            * min(max(now - self._sent_at, least), 2.0 * self.settings.period)
        )
        low, high = (
            np.maximum(-self.limits, self._sent - step),
            np.minimum(self.limits, self._sent + step),
        )
        tau = np.minimum(np.maximum(self._wanted, low), high)
        cut = np.abs(self._wanted - tau)
        if not cut.any():
            return tau, ""
        worst = int(np.argmax(cut))
        what = "limit" if abs(self._wanted[worst]) > self.limits[worst] else "rate"
        return (
            tau,
            f"{self.names[worst]}: {self._wanted[worst]:.4g} cut to {tau[worst]:.4g} by its {what}",
        )

    def _watch_clock(self, now: float) -> None:
        if now < self._now - self.settings.skew and not self._fault:
            self.stop(GuardStatus.TIME_BACK, f"the clock went back by {self._now - now:.3f} s", now)
        self._now = now

    def _object_to(
        self, names: Sequence[str] | None, effort: Vector
    ) -> tuple[GuardStatus, str] | None:
        if len(effort) != len(self.names) or (names is not None and len(names) != len(effort)):
            count = "" if names is None else f" and {len(names)} names"
            return (
                GuardStatus.WRONG_SIZE,
                f"received {len(effort)} torques{count}, expected {len(self.names)}",
            )
        if names is not None and tuple(names) != self.names:
            unknown = [name for name in names if name not in self._known]
            if unknown:
                return GuardStatus.UNKNOWN_NAME, str(
                    UnknownNameError("joint", unknown[0], self.names)
                )
            return (
                GuardStatus.REORDERED,
                f"received {', '.join(names[:4])}, ..., expected {', '.join(self.names[:4])}, ...",
            )
        if not np.isfinite(effort).all():
            broken = [self.names[i] for i in np.flatnonzero(~np.isfinite(effort))]
            return (
                GuardStatus.NOT_FINITE,
                f"received a torque that is not finite: {', '.join(broken[:4])}",
            )
        return None

    def _object_to_time(self, stamp: float, now: float) -> tuple[GuardStatus, str] | None:
        if stamp != stamp:
            return None
        age, settings = now - stamp, self.settings
        if age > settings.timeout:
            return (
                GuardStatus.STAMP_IN_PAST,
                f"made {1e3 * age:.0f} ms ago, time-out {1e3 * settings.timeout:.0f} ms",
            )
        if age < -settings.skew:
            return (
                GuardStatus.STAMP_IN_FUTURE,
                f"stamped {1e3 * -age:.0f} ms after now, clocks may differ by {1e3 * settings.skew:.0f} ms",
            )
        return None
