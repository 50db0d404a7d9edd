# SPDX-License-Identifier: Apache-2.0
"""Motions ready to be sent: a scenario that motors cannot do is refused with what is lacking, before a robot falls over it."""

from dataclasses import replace

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.errors import UnsupportedRobotError
from humanoid_dynamics.motion.playback import build_playback


def test_a_scenario_beyond_the_motors_is_refused():
    robot = hd.load_robot("legs12")
    weak = replace(
        robot, limits=replace(robot.limits, effort=np.minimum(robot.limits.effort, 25.0))
    )
    assert (build_playback(robot, "step").name, build_playback(weak, "stand").name) == (
        "step",
        "stand",
    )
    with pytest.raises(
        UnsupportedRobotError,
        match=r"scenario step: .* at \d\.\d\d s .*gives all of its 25 N·m.*legs12",
    ):
        build_playback(weak, "step")
