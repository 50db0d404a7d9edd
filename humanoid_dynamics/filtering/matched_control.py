# SPDX-License-Identifier: Apache-2.0
"""Motion that is possible and as lively as a clip: what the filter makes of it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.filtering.clip_feed import HOLD
from humanoid_dynamics.filtering.clip_filter import LADDER, build_clip_of, filter_clip
from humanoid_dynamics.motion.clip import FEWEST_FRAMES, Clip

LONGEST = 30.0  # s of a clip that are filtered


def make_matched_control(clip: Clip, watch: Callable[[float], None] | None = None) -> Clip | None:
    """Return what the filter makes of a clip, or of its beginning, at the first attempt, up to where a limit had to give way.

    Args:
        clip: The clip.
        watch: Called with the share that is done.

    Returns:
        Motion with velocities, accelerations and contacts, certified to be inside all limits; None where there is none.
    """
    rows = clip.times <= clip.times[0] + LONGEST
    beginning = (
        clip
        if rows.all()
        else clip.change(times=clip.times[rows], q=clip.q[rows], v=None, a=None, contacts={})
    )
    try:
        made = filter_clip(clip.robot, beginning, ladder=LADDER[:1], watch=watch)
    except HumanoidDynamicsError:
        return None
    during = (
        frame for frame in made.frames if HOLD <= frame.reference <= HOLD + beginning.duration
    )
    frames = tuple(takewhile(lambda frame: frame.rung == 0, during))
    return build_clip_of(clip.robot, frames, clip.origin) if len(frames) >= FEWEST_FRAMES else None
