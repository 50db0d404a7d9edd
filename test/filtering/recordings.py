"""The folder of recorded motions that tests of the filter read."""

from pathlib import Path

import pytest

RECORDINGS = Path(__file__).parents[3] / "shared" / "data"  # beside the project


def find_recording(name):
    """Return the path of a recorded motion, or skip where the recordings are absent."""
    path = RECORDINGS / name
    if not path.exists():
        pytest.skip(f"no recorded motions: {path} is absent")
    return path
