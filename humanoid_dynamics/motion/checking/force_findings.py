# SPDX-License-Identifier: Apache-2.0
"""What forces a motion lacks, in words."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.motion.checking.findings import Finding, group, tell
from humanoid_dynamics.motion.checking.forces import MISS, ForceNeeds
from humanoid_dynamics.motion.clip import Clip, Labels

PULLS = -0.02  # share of the weight


def judge_forces(
    clip: Clip, needs: ForceNeeds, soles: list[str], strongest: float
) -> tuple[dict[str, Labels], list[Finding]]:
    """Say of each sample what its forces lack.

    Args:
        clip: The clip.
        needs: What it asks of the ground and of motors.
        soles: Names of what may touch.
        strongest: Share of a torque limit that counts as no more than it.

    Returns:
        Kind -> (n,) whether it is wrong, and the findings.
    """
    bad = needs.miss > MISS
    sticky = bad & np.isfinite(needs.friction) & (needs.friction > 0.0)
    pulls = bad & ~sticky & ~needs.alone & (needs.push < PULLS)
    wrong = {
        "friction": sticky,
        "pull": pulls,
        "tip": bad & ~sticky & ~pulls & ~needs.alone,
        "flight": bad & needs.alone,
    }
    findings: list[Finding] = []
    for first, last, worst in group(clip.times, np.where(wrong["friction"], needs.friction, 0.0)):
        foot, value = soles[int(needs.foot[worst])], float(needs.friction[worst])
        findings.append(
            tell(
                clip,
                ("friction", foot, "-"),
                (first, last, worst),
                value,
                f"{foot} would need friction {value:.1f}",
            )
        )
    for first, last, worst in group(clip.times, np.where(wrong["pull"], -needs.push, 0.0)):
        value = -float(needs.push[worst])
        findings.append(
            tell(
                clip,
                ("pull", "", "weights"),
                (first, last, worst),
                value,
                f"the ground would have to pull by {value:.2f} weights",
            )
        )
    far = np.minimum(needs.outside, 1.0)
    for first, last, worst in group(clip.times, np.where(wrong["tip"], np.maximum(far, 1e-6), 0.0)):
        value = float(far[worst])
        distance = f"{100.0 * value:.1f} cm" if value < 1.0 else "more than 1 m"
        said = f"the centre of pressure would have to be {distance} outside the feet"
        said = (
            said
            if value > 5e-4
            else f"the feet cannot give the turning moment, {needs.miss[worst]:.2f} weights are missing"
        )
        findings.append(tell(clip, ("tip", "", "m"), (first, last, worst), value, said))
    for first, last, worst in group(clip.times, np.where(wrong["flight"], needs.miss, 0.0)):
        value = float(needs.miss[worst])
        findings.append(
            tell(
                clip,
                ("flight", "", "weights"),
                (first, last, worst),
                value,
                f"nothing touches, and {value:.2f} weights are missing",
            )
        )
    over = np.abs(needs.torque) - strongest
    wrong["torque"] = np.any(over > 0.0, axis=1)
    for k in np.flatnonzero(np.any(over > 0.0, axis=0)):
        name = clip.robot.actuated[int(k)]
        for first, last, worst in group(clip.times, over[:, k]):
            value = strongest + float(over[worst, k])
            findings.append(
                tell(
                    clip,
                    ("torque", name, "limits"),
                    (first, last, worst),
                    value,
                    f"{name} would need {value:.2f} times its torque",
                )
            )
    return wrong, findings
