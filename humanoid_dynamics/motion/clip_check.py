# SPDX-License-Identifier: Apache-2.0
"""The doctor of clips: where, when and why a motion is impossible, and how often the doctor himself is wrong.

How it is looked for is told in ``checking/examination.py``.  How many alarms are false is measured, kind by kind, on motion of the same
robot that is possible by construction, put through the same: walks, and what else is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from humanoid_dynamics.errors import UnsupportedRobotError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.checking.examination import examine, has_rates
from humanoid_dynamics.motion.checking.false_alarms import (
    Control,
    build_controls,
    measure_false_alarms,
    merge_alarms,
)
from humanoid_dynamics.motion.checking.findings import Finding
from humanoid_dynamics.motion.clip import Clip, check_duration

CUTOFF = 6.0  # Hz
EXAMINED = 0.2  # of the work; the rest is the control


@dataclass(frozen=True, eq=False)
class ClipReport:
    """What the doctor found.

    Attributes:
        robot: The robot.
        origin: The clip.
        seconds: How long it is.
        frames: How many samples.
        level: Height of the ground it stands on [m].
        findings: Everything that is wrong, in order of time.
        shares: Kind -> share of the samples where it is wrong.
        impossible: Share of the samples that no forces inside the limits can make.
        alarms: Kind of motion that is possible -> kind of finding, or ``impossible`` -> share of its samples; all of it is false alarm.
        smoothed: Cut-off of the low-pass before the differences [Hz]; None where the clip brought its accelerations.
        notices: What was assumed when the clip was read, and doubts about its units.
        doubtful: Joints whose limits cannot be meant; where there are any no limits of joints and motors are judged.
    """

    robot: RobotModel
    origin: str
    seconds: float
    frames: int
    level: float
    findings: tuple[Finding, ...] = field(repr=False)
    shares: dict[str, float]
    impossible: float
    alarms: dict[str, dict[str, float]]
    smoothed: float | None
    notices: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()

    @property
    def false_alarms(self) -> dict[str, float]:
        """Kind of finding, or ``impossible`` -> the largest share of ``alarms``; empty where no motion could be made to compare with."""
        return merge_alarms(self.alarms)


def check_clip(
    clip: Clip,
    *,
    cutoff: float = CUTOFF,
    control: bool = True,
    others: Mapping[str, Clip] | None = None,
    watch: Callable[[float], None] | None = None,
) -> ClipReport:
    """Check the physical feasibility of a clip and report where, when and why it is violated.

    Args:
        clip: A clip of a robot that stands on two soles; its contacts, velocities and accelerations are used where it has any.
        cutoff: Low-pass before differences, where accelerations are missing [Hz].
        control: Whether the false alarms are measured too.
        others: Kind of motion -> motion of the robot that is possible, with velocities, accelerations and contacts: more to measure
            false alarms on, beside walks.
        watch: Called with the share that is done.

    Returns:
        The report.

    Raises:
        UnsupportedRobotError: If the robot has no free base or no two soles.
        ClipError: If the clip lasts more than a day.
    """
    if clip.robot.root != "free_flyer":
        raise UnsupportedRobotError(
            "checking a clip",
            [clip.robot.name],
            f"needs a free base, this root is {clip.robot.root}",
        )
    check_duration(clip)
    found = examine(clip, cutoff, watch and (lambda share: watch(EXAMINED * share)))
    if watch is not None:
        watch(EXAMINED)
    alarms = {}
    if control:
        rest = watch and (lambda share: watch(EXAMINED + (1.0 - EXAMINED) * share))
        controls = build_controls(clip.robot, rest) | {
            kind: Control(made) for kind, made in (others or {}).items()
        }
        alarms = measure_false_alarms(controls, clip.rate, cutoff, given=has_rates(clip))
    return ClipReport(
        clip.robot, clip.origin, clip.duration, len(clip), found.level, found.findings, found.shares, float(np.mean(found.impossible)),
        alarms, found.smoothed, clip.notices, found.doubtful,
    )  # fmt: skip
