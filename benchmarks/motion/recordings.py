# SPDX-License-Identifier: Apache-2.0
"""The folder of recorded motions, which is not part of the repository."""

from __future__ import annotations

import os
from pathlib import Path

from humanoid_dynamics.errors import HumanoidDynamicsError

FOLDER = "HUMANOID_DYNAMICS_DATA"


def data_folder() -> Path:
    """Return the folder of recordings: that of ``HUMANOID_DYNAMICS_DATA``, else ``../shared/data`` beside the repository."""
    return Path(os.environ.get(FOLDER) or Path(__file__).parents[3] / "shared" / "data")


def find_recording(name: str) -> Path:
    """Return the path of a recorded motion.

    Raises:
        HumanoidDynamicsError: If the file is absent.
    """
    path = data_folder() / name
    if not path.is_file():
        raise HumanoidDynamicsError(
            f"recording {name!r}: {path} is absent; {FOLDER} names the folder of recordings"
        )
    return path
