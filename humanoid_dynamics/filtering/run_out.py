# SPDX-License-Identifier: Apache-2.0
"""Clips that end in motion: nobody stands still from one sample to the next, so their last part runs out to a stand."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.motion.clip import Clip

FAST = 0.25  # speed of the base, of sqrt(g height); what is slower stops by itself
SEEN = 0.1  # s at the end that tell how fast it is
LAST = 0.8  # s that run out, in twice that time


def run_out(clip: Clip, proportions: Proportions) -> Clip:
    """Let the end of a clip run out where it is in motion: samples come ever later, down to no pace at all.

    Args:
        clip: The clip.
        proportions: Measures of the robot.

    Returns:
        The clip with later last instants, and a notice of it; itself where it ends slowly, or is too short.
    """
    times = np.array(clip.times)
    first = int(np.searchsorted(times, times[-1] - SEEN, side="right")) - 1
    if clip.duration <= LAST or first < 0:
        return clip
    speed = float(np.hypot(*(clip.q[-1, :2] - clip.q[first, :2]))) / (times[-1] - times[first])
    if speed < FAST * np.sqrt(proportions.gravity * proportions.height):
        return clip
    start = times[-1] - LAST
    late = times > start
    times[late] = start + 2.0 * LAST * (
        1.0 - np.sqrt(1.0 - np.minimum((times[late] - start) / LAST, 1.0))
    )
    notice = f"ends at {speed:.2g} m/s: its last {LAST:g} s run out to a stand, in {2.0 * LAST:g} s"
    return clip.change(times=times, v=None, a=None, notices=(*clip.notices, notice))
