# SPDX-License-Identifier: Apache-2.0
"""How often what is possible is found wrong: motion that is consistent by construction, put through the same examination, kind by kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.checking.examination import Examined, examine
from humanoid_dynamics.motion.clip import FEWEST_FRAMES, Clip, Labels
from humanoid_dynamics.motion.gait import plan_walk
from humanoid_dynamics.motion.resampling import resample
from humanoid_dynamics.motion.walking.footsteps import WalkStyle

CONTROL = WalkStyle(steps=2, rate=60.0)
SPEEDS = {"walk": 1.0, "brisk walk": 1.3, "hasty walk": 1.7}
IMPOSSIBLE = "impossible"  # beside the kinds of findings: any of those that are about forces
ALL = slice(None)


@dataclass(frozen=True, eq=False)
class Control:
    """Motion that is possible.

    Attributes:
        clip: With velocities, accelerations and contacts.
        certain: Whether all of it is possible; else those samples are whose accelerations say so.
    """

    clip: Clip
    certain: bool = True


def build_controls(
    robot: RobotModel, watch: Callable[[float], None] | None = None
) -> dict[str, Control]:
    """Return walks that are consistent by construction, as they are and played faster.

    Args:
        robot: The robot.
        watch: Called with the share that is done.

    Returns:
        Kind of motion -> control; nothing where the robot cannot walk.
    """
    try:
        walk = plan_walk(robot, CONTROL, watch=watch).clip
    except HumanoidDynamicsError:
        return {}
    if walk.v is None or walk.a is None:
        return {}
    return {
        kind: Control(
            walk.change(times=walk.times / speed, v=speed * walk.v, a=speed**2 * walk.a),
            certain=speed == 1.0,
        )
        for kind, speed in SPEEDS.items()
    }


def measure_false_alarms(
    controls: Mapping[str, Control], rate: float, cutoff: float, *, given: bool
) -> dict[str, dict[str, float]]:
    """Return the shares of what is possible that are found wrong.

    Args:
        controls: Kind of motion -> control.
        rate: Samples per second of the clip they are compared with [Hz].
        cutoff: Low-pass before differences [Hz].
        given: Whether that clip brings its accelerations; then so do controls, and only what is possible for certain counts.

    Returns:
        Kind of motion -> kind of finding, or ``impossible`` -> share; no motion of which samples are too few to see it.
    """
    controls = {
        name: control
        for name, control in controls.items()
        if rate * control.clip.duration >= FEWEST_FRAMES
    }
    if given:
        return {
            name: _shares(examine(_thin(control.clip, rate), cutoff))
            for name, control in controls.items()
            if control.certain
        }
    return {
        name: found
        for name, control in controls.items()
        if (found := _count(control, rate, cutoff))
    }


def merge_alarms(alarms: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return for each kind of finding the largest share of false alarms.

    Args:
        alarms: Kind of motion -> kind of finding -> share.
    """
    kinds = dict.fromkeys(kind for shares in alarms.values() for kind in shares)
    return {kind: max(shares.get(kind, 0.0) for shares in alarms.values()) for kind in kinds}


def _count(control: Control, rate: float, cutoff: float) -> dict[str, float]:
    """Count what is found wrong where only configurations are known."""
    clip = control.clip
    bare = resample(clip.change(v=None, a=None, contacts={}), min(rate, clip.rate))
    seen = examine(bare, cutoff)
    if control.certain:
        return _shares(seen)
    exact = examine(clip, cutoff)
    beyond = exact.impossible | exact.wrong.get("velocity", np.zeros(len(clip), dtype=bool))
    possible = ~beyond[np.searchsorted(clip.times, bare.times - 1e-9).clip(max=len(clip) - 1)]
    return _shares(seen, possible) if possible.any() else {}


def _shares(seen: Examined, rows: Labels | slice = ALL) -> dict[str, float]:
    return {
        kind: float(np.mean(mask[rows]))
        for kind, mask in ({IMPOSSIBLE: seen.impossible} | seen.wrong).items()
    }


def _thin(clip: Clip, rate: float) -> Clip:
    """Return every so many samples of a clip, with all it brings."""
    if clip.v is None or clip.a is None:
        return clip
    every = slice(None, None, max(round(clip.rate / rate), 1))
    labels = {name: touches[every] for name, touches in clip.contacts.items()}
    return clip.change(
        times=clip.times[every], q=clip.q[every], v=clip.v[every], a=clip.a[every], contacts=labels
    )
