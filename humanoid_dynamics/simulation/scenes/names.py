# SPDX-License-Identifier: Apache-2.0
"""Which scenes there are: every file in ``config/scenes``."""

from __future__ import annotations

from importlib import resources
from pathlib import Path


def scene_folder() -> Path:
    """Return the folder of the scenes that come with the package."""
    return Path(str(resources.files("humanoid_dynamics"))) / "config" / "scenes"


def scene_names() -> tuple[str, ...]:
    """Return the names of all scenes that come with the package, sorted."""
    return tuple(sorted(path.stem for path in scene_folder().glob("*.yaml")))
