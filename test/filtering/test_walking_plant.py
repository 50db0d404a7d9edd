# SPDX-License-Identifier: Apache-2.0
"""Walking by command with MuJoCo as the plant: the filter sees noisy states that are 5 ms old."""

import numpy as np
import pytest

import humanoid_dynamics as hd
from benchmarks.motion.walking import WalkConditions, build_filter, walk_in_plant

pytest.importorskip("mujoco")


def test_a_humanoid_stands_and_then_walks_in_an_independent_simulator():
    """G1 walks 0.3 m/s with noise and delay, and keeps its speed within 0.05 m/s."""
    walking = build_filter(hd.load_robot("g1"))
    found = walk_in_plant(walking, lambda t: (0.3, 0.0, 0.0) if t > 0.5 else (0.0, 0.0, 0.0), 6.0)
    assert found.fell is None
    assert walking.steps >= 6
    half = len(found.states) // 2
    way = found.states[-1][0][:2] - found.states[half][0][:2]
    assert abs(np.hypot(*way) / 3.0 - 0.3) < 0.05


def test_a_heavier_robot_on_other_ground_walks_too():
    """Human28 with 5 % more mass than the model, on ground of friction 0.7."""
    walking = build_filter(hd.load_robot("human28"))
    conditions = WalkConditions(seed=2, friction=0.7, mass=1.05)
    found = walk_in_plant(walking, lambda _: (0.2, 0.0, 0.0), 5.0, conditions)
    assert found.fell is None
    assert walking.steps >= 3
