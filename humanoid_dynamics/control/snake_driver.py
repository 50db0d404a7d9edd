# SPDX-License-Identifier: Apache-2.0
"""Driving a snake robot: measured state and a heading in, joint torques out, at every tick of a control loop."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from humanoid_dynamics.errors import ShapeError, UnsupportedRobotError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.papers.snake.dynamics import SnakeStatus
from humanoid_dynamics.papers.snake.inverse import SnakeTorques
from humanoid_dynamics.papers.snake.robot import find_snake
from humanoid_dynamics.papers.snake.steering import (
    SerpentineGait,
    compute_steering_torques,
    hold_grip,
)
from humanoid_dynamics.papers.snake.wheels import compute_slip_margins
from humanoid_dynamics.spatial.arrays import Vector, read_only
from humanoid_dynamics.status import StatusEnum


class SnakeDriverStatus(StatusEnum):
    """How the driver follows its heading."""

    DRIVING = "DRIVING", "the head swings about the heading"
    WAITING = "WAITING", "no heading has come; torques are zero"
    SINGULAR = (
        "SINGULAR",
        "torques are reduced near a straight or circular shape, where they produce no propulsion",
    )
    GRIPPING = "GRIPPING", "torques are reduced so that no wheel slips"
    SLIPPING = (
        "SLIPPING",
        "a wheel needs more side force than its friction allows and slips sideways",
    )
    SATURATED = (
        "SATURATED",
        "a joint needs more torque than its limit; all torques are scaled down together",
    )
    STALE = "STALE", "the state is older than the timeout; the last torques fade to zero"
    INVALID_INPUT = (
        "INVALID_INPUT",
        "a number is not finite: after a bad heading the last good one is kept, after a bad state torques are zero",
    )


GAIT = SerpentineGait(singular_value=3.0)
"""The gait where none is given: held back near singular shapes so that wheels keep their grip."""

GRIP = 0.95
"""Part of the friction of a wheel that the driver makes use of."""

MOST_MISSING = 0.2
"""Part of the wanted force that may be left out near a singular shape before the status says so."""

LONGEST_TICK = 0.1  # s; after a longer pause the aim does not jump


@dataclass(frozen=True, eq=False)
class Drive:
    """Torques to send, and how things stand.

    Attributes:
        tau: (na,) torques in the order of ``robot.actuated`` [N·m]; always finite, always within limits.
        status: How the driver follows its heading.
        reason: What is wrong, in words; empty while driving.
        aim: Heading the head swings about now; it follows the wanted heading no faster than the turn rate [rad].
        head: Angle of the head, the last link [rad].
        side_forces: (n,) what the wheels have to carry [N]; empty where nobody drives.
        slip_margin: The least that any wheel has left before it slips [N]; negative where it slips, infinite where nobody drives.
    """

    tau: Vector
    status: SnakeDriverStatus
    reason: str = ""
    aim: float = 0.0
    head: float = 0.0
    side_forces: Vector = field(default_factory=lambda: read_only(np.zeros(0)))
    slip_margin: float = float("inf")


class SnakeDriver:
    """Drives one snake.

    The wanted heading is a set point: the last one holds until another comes.
    """

    def __init__(
        self,
        robot: RobotModel,
        gait: SerpentineGait = GAIT,
        *,
        friction: float = 0.6,
        turn_rate: float = 0.5,
        ease: float = 4.0,
        timeout: float = 0.1,
        fade_out_duration: float = 0.5,
    ) -> None:
        """Prepare.

        Args:
            robot: A robot whose wheels make it a snake of three links or more.
            gait: How to drive.
            friction: Coulomb coefficient of the wheels against the ground, for the slip margin [-].
            turn_rate: How fast the aim follows the wanted heading [rad/s].
            ease: Time in which swing and speed grow to their full size at the start [s].
            timeout: Age at which a state is stale [s].
            fade_out_duration: Time in which the torques of a stale state fade to zero [s].

        Raises:
            UnsupportedRobotError: If its wheels do not make it a snake, it is too short, or a joint of it has no motor.
            ShapeError: If a number makes no sense.
        """
        for name, value in (
            ("friction", friction),
            ("turn_rate", turn_rate),
            ("ease", ease),
            ("timeout", timeout),
            ("fade_out_duration", fade_out_duration),
        ):
            if not 0.0 < value < np.inf:
                raise ShapeError(name, f"{value}", "a positive number")
        self._snake = find_snake(robot)
        idle = [joint.name for joint in self._snake.joints if joint.name not in robot.actuated]
        if idle or self._snake.model.n < 3:
            raise UnsupportedRobotError(
                "driving a snake",
                idle or [robot.name],
                "requires two or more joints, each with a motor",
            )
        self.robot, self._gait = robot, gait
        self._friction, self._turn_rate, self._ease, self._timeout, self._fade_out_duration = (
            friction,
            turn_rate,
            ease,
            timeout,
            fade_out_duration,
        )
        self._places = [robot.actuated.index(joint.name) for joint in self._snake.joints]
        self._limits = robot.limits.effort[self._snake.motors]
        self._data = robot.data()
        self._goal: float | None = None
        self.reset()

    def reset(self) -> None:
        """Forget the motion until now, not the wanted heading: the next tick eases in."""
        self._aim: float | None = None
        self._began = self._last = 0.0
        self._sent = read_only(np.zeros(len(self.robot.actuated)))

    def tick(
        self, t: float, q: Vector, v: Vector, heading: float | None = None, age: float = 0.0
    ) -> Drive:
        """Return the torques of this period.

        Args:
            t: Time; where it runs backwards the motion begins anew [s].
            q: (nq,) configuration.
            v: (nv,) velocity.
            heading: Where to go, angle from the world x axis; None to keep the last one [rad].
            age: How old the state is [s].

        Returns:
            The torques.

        Raises:
            ShapeError: If the state has the wrong size.
        """
        if q.shape != (self.robot.nq,) or v.shape != (self.robot.nv,):
            raise ShapeError(
                "q, v", f"shapes {q.shape}, {v.shape}", f"({self.robot.nq},), ({self.robot.nv},)"
            )
        complaint = self._take_heading(heading)
        if not age <= self._timeout:
            return self._fade(age)
        if not (np.isfinite(t) and np.isfinite(q).all() and np.isfinite(v).all()):
            return self._stand_by(SnakeDriverStatus.INVALID_INPUT, "the state is not finite")
        if self._goal is None:
            status = SnakeDriverStatus.INVALID_INPUT if complaint else SnakeDriverStatus.WAITING
            return self._stand_by(status, complaint or status.description)
        with np.errstate(all="ignore"):  # numbers beyond all bounds have a status
            drive = self._drive(t, q, v, self._goal)
        return (
            replace(drive, status=SnakeDriverStatus.INVALID_INPUT, reason=complaint)
            if complaint
            else drive
        )

    def _take_heading(self, heading: float | None) -> str:
        """Take a heading; return what is wrong with it."""
        if heading is None:
            return ""
        if not np.isfinite(heading):
            return f"the heading is {heading}; the last good one is kept"
        self._goal = float(heading)
        return ""

    def _drive(self, t: float, q: Vector, v: Vector, goal: float) -> Drive:
        model = self._snake.model
        theta, u, _ = self._snake.read(q, v, self._data)
        aim, gait = self._advance(t, float(theta[-1]), goal)
        answer = compute_steering_torques(model, gait, t, aim, (theta, u))
        peak = float((np.abs(answer.torques) / self._limits).max())
        torques = answer.torques if peak <= 1.0 else answer.torques / peak
        part, lam = hold_grip(model, (theta, u), torques, GRIP * self._friction)
        torques = part * torques
        if not (np.isfinite(torques).all() and np.isfinite(lam).all()):
            return self._stand_by(SnakeDriverStatus.INVALID_INPUT, "the state is beyond all bounds")
        margins = compute_slip_margins(model, lam, self._friction)
        status, reason = self._judge(answer, peak, part, margins)
        tau = np.zeros(len(self.robot.actuated))
        tau[self._places] = torques
        self._sent = read_only(tau)
        return Drive(
            self._sent, status, reason, aim, float(theta[-1]), read_only(lam), float(margins.min())
        )

    def _advance(self, t: float, head: float, goal: float) -> tuple[float, SerpentineGait]:
        """Move the aim toward the goal, the short way round, and return it with the gait of this moment."""
        if self._aim is None or t < self._last:
            self._aim, self._began, self._last = head, t, t
        most = self._turn_rate * min(t - self._last, LONGEST_TICK)
        off = float(np.arctan2(np.sin(goal - self._aim), np.cos(goal - self._aim)))
        self._aim += float(np.clip(off, -most, most))
        self._last = t
        share = (t - self._began) / self._ease
        gait = self._gait
        return self._aim, gait if share >= 1.0 else replace(
            gait, swing=share * gait.swing, speed=share * gait.speed
        )

    def _judge(
        self, answer: SnakeTorques, peak: float, part: float, margins: Vector
    ) -> tuple[SnakeDriverStatus, str]:
        if peak > 1.0:
            return SnakeDriverStatus.SATURATED, f"{peak:.3g} times what a motor gives"
        if answer.status is SnakeStatus.SATURATED:
            return SnakeDriverStatus.SATURATED, answer.reason
        worst = int(np.argmin(margins))
        if margins[worst] < 0.0:
            return (
                SnakeDriverStatus.SLIPPING,
                f"{self.robot.wheels[worst].name} lacks {-margins[worst]:.3g} N",
            )
        if part < 1.0:
            return SnakeDriverStatus.GRIPPING, f"{part:.0%} of the torques are given"
        if answer.missing_share > MOST_MISSING:
            return (
                SnakeDriverStatus.SINGULAR,
                f"{answer.missing_share:.0%} of the wanted force is left out: {answer.reason}",
            )
        return SnakeDriverStatus.DRIVING, ""

    def _fade(self, age: float) -> Drive:
        left = (
            max(0.0, 1.0 - (age - self._timeout) / self._fade_out_duration)
            if np.isfinite(age)
            else 0.0
        )
        self._aim = None  # the next good state eases in
        return Drive(
            read_only(left * self._sent), SnakeDriverStatus.STALE, f"the state is {age:.3g} s old"
        )

    def _stand_by(self, status: SnakeDriverStatus, reason: str) -> Drive:
        self.reset()
        return Drive(self._sent, status, reason)
