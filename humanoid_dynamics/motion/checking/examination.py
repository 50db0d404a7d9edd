# SPDX-License-Identifier: Apache-2.0
"""All that is looked at in a clip: forces at two cut-offs, limits, jumps, soles.

Nothing of the dynamics filter is used here: inverse dynamics by Pinocchio, contact forces by least squares over corners.  Recorded motion
has no accelerations; they come from a low-pass and two differences, which raises false alarms near impacts.  So what is wrong must be so
at two cut-offs, torques by more than the two differ and a twentieth of the limit, near to a touch-down or a lift-off a sole may bear load
or not, and near to both ends of a clip no forces are looked for.  A foot slides where the motion cannot do without what it bears: one that
skims the ground beside another does not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.ndimage import binary_dilation, binary_erosion

from humanoid_dynamics.model.doubt import doubtful_limits
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.motion.checking.findings import DYNAMIC, LIMITS, Finding
from humanoid_dynamics.motion.checking.force_findings import judge_forces
from humanoid_dynamics.motion.checking.forces import MISS, ForceNeeds, compute_needs, merge_needs
from humanoid_dynamics.motion.checking.geometry import SLIDES, judge_geometry, measure_corners
from humanoid_dynamics.motion.clip import Clip, Labels
from humanoid_dynamics.motion.contact_detection import detect_contacts
from humanoid_dynamics.motion.derivatives import differentiate
from humanoid_dynamics.motion.resampling import resample
from humanoid_dynamics.spatial.arrays import Vector

OFF = 5e-3  # m; a foot that is higher does not slide
UNSURE = 0.08  # s; slides are not looked for so near to a touch-down or a lift-off
SECOND = 1.5  # times the cut-off: what is wrong must be so at both
END = 0.05  # s; forces are not looked for so near to an end of a clip that brings no accelerations
LIKELY = 0.05  # s; so near to a touch-down or a lift-off a sole may bear load
BLURRED = 0.05  # share of a torque limit that is put down to differences, where a clip brings no accelerations


@dataclass(frozen=True, eq=False)
class Examined:
    """What was found in a clip.

    Attributes:
        level: Height of the ground [m].
        findings: What is wrong, in order of time.
        wrong: Kind -> (n,) whether it is wrong.
        smoothed: Cut-off of the low-pass [Hz]; None where the clip brought its accelerations.
        doubtful: Joints whose limits cannot be meant.
    """

    level: float
    findings: tuple[Finding, ...]
    wrong: dict[str, Labels] = field(repr=False)
    smoothed: float | None
    doubtful: tuple[str, ...]

    @property
    def impossible(self) -> Labels:
        """(n,) whether no forces inside the limits can make a sample."""
        return np.asarray(
            np.any([self.wrong[kind] for kind in DYNAMIC if kind in self.wrong], axis=0)
        )

    @property
    def shares(self) -> dict[str, float]:
        """Kind -> share of the samples where it is wrong."""
        return {kind: float(np.mean(mask)) for kind, mask in self.wrong.items()}


def has_rates(clip: Clip) -> bool:
    """Return whether a clip brings its velocities and accelerations.

    Args:
        clip: The clip.
    """
    return clip.v is not None and clip.a is not None


def examine(clip: Clip, cutoff: float, watch: Callable[[float], None] | None = None) -> Examined:
    """Look for all that is wrong with a clip.

    Args:
        clip: A clip of a robot that stands on two soles; its contacts, velocities and accelerations are used where it has any.
        cutoff: Low-pass before differences, where accelerations are missing [Hz].
        watch: Called with the share that is done.

    Returns:
        What was found.
    """
    soles, given = find_soles(clip.robot), has_rates(clip)
    even = (
        clip
        if given or clip.is_even
        else resample(clip.change(v=None, a=None, contacts={}), clip.rate)
    )
    low = min(cutoff, 0.4 * even.rate)
    bare = even.change(v=None, a=None)
    cutoffs = (low, min(SECOND * low, 0.4 * even.rate))
    motions = [even] if given else [differentiate(bare, hertz) for hertz in cutoffs]
    labels = (
        even.contacts
        if {s.name for s in soles} <= set(even.contacts)
        else detect_contacts(even).labels(even.times)
    )
    stands = np.column_stack([labels[sole.name] for sole in soles])
    heights, speeds = measure_corners(motions[0])
    level = float(np.median(heights[stands])) if stands.any() else float(np.min(heights))
    may_bear = stands if given else _dilate(stands, even.rate)
    slides = np.where(_erode(stands & (heights - level < OFF), even.rate), speeds, 0.0)
    touches, parts = (
        (may_bear, slides > SLIDES),
        [_part(watch, k, len(motions)) for k in range(len(motions))],
    )
    needs = merge_needs(
        [
            compute_needs(motion, soles, touches, level, part)
            for motion, part in zip(motions, parts, strict=True)
        ]
    )
    needs = needs if given else _forget_ends(needs, even.times)
    wrong, findings = judge_forces(
        motions[0], needs, [sole.name for sole in soles], 1.0 if given else 1.0 + BLURRED
    )
    for kind, (mask, found) in judge_geometry(
        even, heights - level, np.where(needs.firm[:, None] > MISS, slides, 0.0)
    ).items():
        wrong[kind] = mask
        findings += found
    doubtful = doubtful_limits(clip.robot)
    wrong = {kind: mask for kind, mask in wrong.items() if not (doubtful and kind in LIMITS)}
    ordered = tuple(
        sorted(
            (each for each in findings if each.kind in wrong),
            key=lambda finding: (finding.start, finding.kind),
        )
    )
    return Examined(level, ordered, wrong, None if given else low, doubtful)


def _part(
    watch: Callable[[float], None] | None, k: int, count: int
) -> Callable[[float], None] | None:
    """Return who is told the share that is done of one of so many parts."""
    return watch and (lambda share: watch((k + share) / count))


def _erode(stands: Labels, rate: float) -> Labels:
    """Return stands without their beginnings and ends, of which detection is not sure."""
    least = max(1, round(UNSURE * rate))
    sure: Labels = binary_erosion(stands, np.ones((2 * least + 1, 1)), border_value=1)
    return sure


def _forget_ends(needs: ForceNeeds, times: Vector) -> ForceNeeds:
    """Return needs without those near the ends of a clip, beyond which differences and low-pass know nothing."""
    known = (times > times[0] + END) & (times < times[-1] - END)
    return replace(
        needs,
        miss=known * needs.miss,
        firm=known * needs.firm,
        torque=known[:, None] * needs.torque,
    )


def _dilate(stands: Labels, rate: float) -> Labels:
    """Return stands with what is near to their beginnings and ends, where detection and low-pass are not sure."""
    near: Labels = binary_dilation(stands, np.ones((2 * max(1, round(LIKELY * rate)) + 1, 1)))
    return near
