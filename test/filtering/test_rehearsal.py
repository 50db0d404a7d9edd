# SPDX-License-Identifier: Apache-2.0
"""Whoever makes a filter waits for its kernels; no sample and no tick does."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

WATCH = """
import numpy as np
import humanoid_dynamics as hd
from humanoid_dynamics.spatial import compiling

made, compile_known = [], compiling.compile_known

def watch(kernel, parts, **options):
    made.append(compile_known(kernel, parts, **options))
    return made[-1]

compiling.compile_known = watch
from humanoid_dynamics.filtering import DynamicsFilter, Teleoperation
from humanoid_dynamics.motion.gait import plan_walk
from humanoid_dynamics.motion.walking.footsteps import WalkStyle

def known():
    return {kernel.py_func.__qualname__: len(kernel.signatures) for kernel in made}

robot = hd.load_robot("human28")
"""
STREAM = """
clip = plan_walk(robot, WalkStyle(steps=2, rate=50.0)).clip
flow = DynamicsFilter(robot)
before = known()
for k, q in enumerate(np.vstack((np.tile(clip.q[0], (60, 1)), clip.q))):
    slid = q.copy()
    slid[:2] += 0.004 * max(k - 120, 0)  # both soles slide
    flow.update(0.02 * k, slid)
    while flow.ready:
        flow.step()
"""
HANDS = """
tool = Teleoperation(robot, ("left_hand", "right_foot"), rate=200.0)
before, start = known(), tool.pose("left_hand")
for k in range(300):
    goal = start.copy()
    goal.translation += 0.005 * k * np.array((1.0, 0.3, 0.5))
    tool.update("left_hand", 0.005 * k, goal, 0.005 * k)
    foot = tool.pose("right_foot")
    foot.translation += np.array((0.0, 0.0, 0.05))
    tool.update("right_foot", 0.005 * k, foot, 0.005 * k)
    tool.step(0.005 * k)
"""
TELL = "print(sorted(name for name, count in known().items() if count != before.get(name)), len(before) > 10)"


@pytest.mark.parametrize("what", [STREAM, HANDS], ids=["stream", "hands"])
def test_nothing_is_compiled_once_a_filter_is_made(what):
    code = textwrap.dedent(WATCH + what + TELL)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
        timeout=300,
    )
    assert done.stdout.strip() == "[] True"
