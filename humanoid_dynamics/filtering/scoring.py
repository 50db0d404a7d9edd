# SPDX-License-Identifier: Apache-2.0
"""How impossible a motion is, measured from its configurations alone, as for motion nobody knows forces of.

Differentiating twice is noisy: the same measure taken of motion that is consistent by construction is never zero.  That is its false-alarm
rate, and it belongs beside every figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.motion.checking.limits import limit_excess
from humanoid_dynamics.motion.checking.zmp import compute_reaction, support_margins
from humanoid_dynamics.motion.clip import Clip, Labels
from humanoid_dynamics.motion.contact_detection import detect_contacts
from humanoid_dynamics.motion.derivatives import differentiate
from humanoid_dynamics.motion.resampling import resample

CUTOFF = 6.0  # Hz
BESIDE = 0.005  # m; a zero-moment point farther outside the feet counts
FEWEST_PER_CUTOFF = 2.2  # samples per second, in cut-offs, that a clip must have to be smoothed


@dataclass(frozen=True)
class Score:
    """How impossible a motion is.

    Attributes:
        outside: Share of samples with the zero-moment point outside the feet that stand.
        pulled: Share of samples in which the ground would have to pull.
        slippery: Share of samples that need more friction than there is.
        joint_excess: How far the worst joint leaves its range [rad or m].
        impossible: Share of samples with any of the first three.
    """

    outside: float
    pulled: float
    slippery: float
    joint_excess: float
    impossible: float


def prepare_motion(clip: Clip) -> tuple[Clip, Mapping[str, Labels]]:
    """Return a clip at an even rate with velocities and accelerations, and its contacts.

    Args:
        clip: A clip; without contacts these are detected.
    """
    even = clip if clip.is_even else resample(clip, clip.rate)
    contacts = even.contacts or detect_contacts(even).labels(even.times)
    cutoff = CUTOFF if even.rate > FEWEST_PER_CUTOFF * CUTOFF else None
    return differentiate(even.change(v=None, a=None), cutoff), contacts


def score_motion(clip: Clip) -> Score:
    """Measure how impossible a motion is.

    Args:
        clip: A clip of a robot with a free base and two soles; without contacts these are detected.

    Returns:
        The score.
    """
    moving, contacts = prepare_motion(clip)
    reaction = compute_reaction(moving)
    margins = support_margins(moving, contacts, reaction.zmp)
    standing = np.isfinite(margins)
    pulled = reaction.force[:, 2] <= 0.0
    outside = standing & (margins < -BESIDE) & ~pulled
    friction = min(surface.friction for surface in clip.robot.surfaces.values())
    slippery = np.hypot(reaction.force[:, 0], reaction.force[:, 1]) > friction * np.maximum(
        reaction.force[:, 2], 0.0
    )
    excess = limit_excess(clip.robot, clip.q)
    impossible = outside | (pulled & standing) | (slippery & standing)
    return Score(
        float(np.mean(outside)),
        float(np.mean(pulled & standing)),
        float(np.mean(slippery & standing)),
        max(excess.values(), default=0.0),
        float(np.mean(impossible)),
    )


def false_alarms(filtered: Clip, rate: float) -> Score:
    """Measure consistent motion as if it had been recorded.

    Args:
        filtered: Motion that is consistent by construction.
        rate: Samples per second of the recording [Hz].

    Returns:
        The score it gets: all of it is false alarm.
    """
    recorded = resample(filtered.change(v=None, a=None), min(rate, filtered.rate))
    return score_motion(recorded)
