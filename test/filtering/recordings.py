# SPDX-License-Identifier: Apache-2.0
"""The folder of recorded motions that tests of the filter read."""

from pathlib import Path

import pytest

from humanoid_dynamics.motion.load import load_clip

RECORDINGS = Path(__file__).parents[3] / "shared" / "data"  # beside the project


def find_recording(name):
    """Return the path of a recorded motion, or skip where the recordings are absent."""
    path = RECORDINGS / name
    if not path.exists():
        pytest.skip(f"no recorded motions: {path} is absent")
    return path


def load_recorded(path, robot, **choices):
    """Load a clip; tables of g1_karate hold bare rows at 60 Hz, as their source states."""
    return load_clip(
        path, robot, **({"fps": 60.0} if path.parent.name == "g1_karate" else {}), **choices
    )
