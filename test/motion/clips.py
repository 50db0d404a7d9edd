# SPDX-License-Identifier: Apache-2.0
"""Motions that tests share: smooth ones of any robot, and the folder of recorded ones."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.load import load_clip

DATA = Path(__file__).parents[3] / "shared" / "data"  # beside the project


def recorded(name):
    """Return the path of a recorded motion, or skip where the recordings are absent."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"no recorded motions: {path} is absent")
    return path


def smooth_motion(robot, times, seed=0, size=0.3):
    """Configurations, velocities and accelerations of a motion along one tangent vector: q = q0 + s(t) d, exactly."""
    rng = np.random.default_rng(seed)
    d = rng.normal(scale=size, size=robot.nv)
    s, rate, second = np.sin(2.0 * times), 2.0 * np.cos(2.0 * times), -4.0 * np.sin(2.0 * times)
    q = np.array([pin.integrate(robot.model, robot.posture, part * d) for part in s])
    return q, rate[:, None] * d, second[:, None] * d


def smooth_clip(robot, n=101, rate=50.0, seed=0, **fields):
    times = np.arange(n) / rate
    q, v, a = smooth_motion(robot, times, seed)
    given = {"v": v, "a": a} if fields.pop("rates", False) else {}
    return Clip(robot, times, q, **given, **fields)


def distance(robot, q_1, q_2):
    """The largest step, in any coordinate and row, from one table of configurations to another."""
    return max(
        float(np.abs(pin.difference(robot.model, a, b)).max(initial=0.0))
        for a, b in zip(q_1, q_2, strict=True)
    )


def load_recorded(path, robot, **choices):
    """Load a clip; tables of g1_karate hold bare rows at 60 Hz, as their source states."""
    return load_clip(
        path, robot, **({"fps": 60.0} if path.parent.name == "g1_karate" else {}), **choices
    )
