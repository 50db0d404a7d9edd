# SPDX-License-Identifier: Apache-2.0
"""A walk along a script of velocities, and its report.

Use::

    script = VelocityScript.constant((0.3, 0.0, 0.0))
    frames, report = walk_script(WalkingFilter(robot), script, 10.0)
    report.finished, report.all_limits, report.velocity_rms
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_dynamics.errors import SourceError
from humanoid_dynamics.filtering.plan.settings import SCRIPT_STOP
from humanoid_dynamics.filtering.walking import WalkFrame, WalkingFilter, WalkStatus
from humanoid_dynamics.spatial.arrays import Matrix, Vector

COLUMNS = ("time", "forward", "sideways", "turning")


@dataclass(frozen=True, eq=False)
class VelocityScript:
    """Velocity commands over time; each holds until the next one.

    Attributes:
        times: (n,) instants [s], increasing.
        velocities: (n, 3) forward, sideways [m/s] and turning [rad/s].
    """

    times: Vector
    velocities: Matrix

    @staticmethod
    def constant(velocity: Sequence[float]) -> VelocityScript:
        """Return the script of one command."""
        return VelocityScript(np.zeros(1), np.array([velocity], dtype=np.float64))

    @staticmethod
    def read(path: Path) -> VelocityScript:
        """Read a CSV file with the columns time, forward, sideways, turning.

        Raises:
            SourceError: If the file cannot be read, or is not such a table.
        """
        expected = f"expected a CSV table with the columns {', '.join(COLUMNS)}, times increasing"
        try:
            with path.open(newline="", encoding="utf-8") as file:
                rows = [[float(row[name]) for name in COLUMNS] for row in csv.DictReader(file)]
        except (OSError, UnicodeDecodeError, KeyError, TypeError, ValueError) as cause:
            raise SourceError(f"{path}: {cause}; {expected}") from cause
        table = np.array(rows).reshape(-1, len(COLUMNS))
        if not len(table) or not np.isfinite(table).all() or (np.diff(table[:, 0]) <= 0.0).any():
            raise SourceError(f"{path}: {len(table)} rows of finite numbers; {expected}")
        return VelocityScript(table[:, 0], table[:, 1:])

    def at(self, time: float) -> Vector:
        """Return the command at a time; standing before the first one."""
        row = int(np.searchsorted(self.times, time, side="right")) - 1
        return np.asarray(self.velocities[row]) if row >= 0 else np.zeros(3)


@dataclass(frozen=True)
class WalkReport:
    """Report of a walk.

    Attributes:
        robot: Name of the robot.
        seconds: Duration [s].
        finished: Whether the robot stayed on its feet.
        fell_at: Time of the fall [s], or None.
        all_limits: Share of the frames in which all limits hold [-]; of joints and motors only where their limits are plausible.
        relaxed: Share of the frames with a relaxed limit of the tick [-].
        fallback: Share of the frames that follow a fall-back of the plan [-].
        steps: Steps made.
        distance: Way of the base over the ground [m].
        turn: Turn of the base [rad].
        velocity_rms: RMS difference of the velocity over a stride from the limited command: forward, sideways [m/s], turning [rad/s].
        capture_margin: Least capture margin of the plans [m].
        slack: Largest slack of the terminal constraint [m].
        cop_margin: Least distance of the centre of pressure from the rim of what bears [m].
        torque: Largest share of a torque limit [-].
        speed: Largest share of a speed limit [-].
        friction: Largest share of the friction coefficient [-].
        repairs: Changes of schedule and plan by feedback, by name.
    """

    robot: str
    seconds: float
    finished: bool
    fell_at: float | None
    all_limits: float
    relaxed: float
    fallback: float
    steps: int
    distance: float
    turn: float
    velocity_rms: tuple[float, float, float]
    capture_margin: float
    slack: float
    cop_margin: float
    torque: float
    speed: float
    friction: float
    repairs: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return asdict(self)


def walk_script(
    walking: WalkingFilter,
    script: VelocityScript,
    duration: float,
    watch: Callable[[float], None] | None = None,
) -> tuple[list[WalkFrame], WalkReport]:
    """Walk along a script on the filter's own state; the robot stops in the end.

    Args:
        walking: The filter, which is restarted.
        script: The commands.
        duration: Time in which the commands are followed [s]; a stop of some steps comes after it.
        watch: Called with the share that is done.
    """
    walking.restart()
    frames: list[WalkFrame] = []
    statuses: list[WalkStatus] = []
    count = round((duration + SCRIPT_STOP) / walking.dt)
    for k in range(count):
        time = k * walking.dt
        frames.append(walking.step(script.at(time) if time < duration else np.zeros(3)))
        statuses.append(walking.status)
        if watch is not None:
            watch((k + 1) / count)
        if walking.status is WalkStatus.FALLEN:
            break
    return frames, build_report(walking, frames, statuses)


def build_report(
    walking: WalkingFilter, frames: Sequence[WalkFrame], statuses: Sequence[WalkStatus]
) -> WalkReport:
    """Return the report of some frames."""
    certificates = [frame.certificate for frame in frames]
    fell = _find_fall(frames, statuses)
    headings = _headings(frames)
    return WalkReport(
        walking.robot.name,
        frames[-1].time + walking.dt,
        fell is None,
        fell,
        float(np.mean([c.holds for c in certificates])),
        float(np.mean([f.rung != 0 for f in frames])),
        float(np.mean([f.plan.status not in {"OPTIMAL", "SLACK"} for f in frames])),
        walking.steps,
        float(np.hypot(*np.diff([f.q[:2] for f in frames], axis=0).T).sum()),
        float(headings[-1] - headings[0]),
        _velocity_error(walking, frames, headings),
        _least(frame.plan.capture_margin for frame in frames),
        _largest(frame.plan.slack for frame in frames),
        _least(c.cop for c in certificates),
        _largest(c.torque for c in certificates),
        _largest(c.speed for c in certificates),
        _largest(c.friction for c in certificates),
        dict(walking.repairs),
    )


def _find_fall(frames: Sequence[WalkFrame], statuses: Sequence[WalkStatus]) -> float | None:
    for frame, status in zip(frames, statuses, strict=True):
        if status is WalkStatus.FALLEN:
            return frame.time
    return None


def _least(values: Iterable[float]) -> float:
    return float(min((v for v in values if np.isfinite(v)), default=0.0))


def _largest(values: Iterable[float]) -> float:
    return float(max((v for v in values if np.isfinite(v)), default=0.0))


def _headings(frames: Sequence[WalkFrame]) -> Vector:
    q = np.array([frame.q[3:7] for frame in frames])
    x, y, z, w = q.T
    return np.unwrap(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))


def _velocity_error(
    walking: WalkingFilter, frames: Sequence[WalkFrame], headings: Vector
) -> tuple[float, float, float]:
    """Return the RMS difference of velocities from limited commands, both averaged over a stride."""
    window = round(2.0 * walking.step_time / walking.dt)
    if len(frames) <= window:
        return 0.0, 0.0, 0.0
    way = np.diff([frame.q[:2] for frame in frames], axis=0) / walking.dt
    c, s = np.cos(headings[1:]), np.sin(headings[1:])
    rates = np.column_stack(
        (
            c * way[:, 0] + s * way[:, 1],
            c * way[:, 1] - s * way[:, 0],
            np.diff(headings) / walking.dt,
        )
    )
    error = rates - np.array([frame.velocity for frame in frames[1:]])
    total = np.vstack((np.zeros(3), np.cumsum(error, axis=0)))
    mean = (total[window:] - total[:-window]) / window
    forward, sideways, turning = np.sqrt(np.mean(mean**2, axis=0)).tolist()
    return forward, sideways, turning
