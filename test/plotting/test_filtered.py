# SPDX-License-Identifier: Apache-2.0
"""What the picture of the filter shows is what the filter made."""

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.filtering import filter_clip
from humanoid_dynamics.motion.checking.zmp import compute_reaction, support_margins
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.gait import plan_walk
from humanoid_dynamics.motion.walking.footsteps import WalkStyle

pytest.importorskip("matplotlib", reason="the extra plot is not installed")
from humanoid_dynamics.plotting import filtered


def test_zero_moment_points_after_the_filter_are_inside_the_soles_that_stand():
    """They follow from the accelerations of the frames; a low-pass and two differences show others, of kicks some a metre outside."""
    robot = hd.load_robot("human28")
    walk = plan_walk(robot, WalkStyle(steps=1, rate=60.0)).clip
    found = filter_clip(robot, walk)
    before, after = filtered._courses(walk, found)
    assert before.zmp.shape == after.zmp.shape
    rows = np.searchsorted(found.clip.times, after.t - 1e-9)
    labels = {name: touches[rows] for name, touches in found.clip.contacts.items()}
    margins = support_margins(Clip(robot, after.t, after.q), labels, after.zmp)
    assert len(margins) > 200
    np.testing.assert_allclose(after.zmp, compute_reaction(found.clip).zmp[rows], atol=1e-9)
    assert margins.min() > 0.0


@pytest.mark.parametrize(("name", "height"), [("icub", 0.8), ("human28", 1.8)])
def test_films_are_as_high_as_their_figures(name, height):
    robot = hd.load_robot(name)
    wide = filtered._measure_width(robot, np.array([robot.posture]))
    assert height <= 2.0 * wide <= 1.4 * height
