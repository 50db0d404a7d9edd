# SPDX-License-Identifier: Apache-2.0
"""A measuring device in a world: named numbers that recorders take besides the state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from humanoid_dynamics.spatial.arrays import Vector


@dataclass(frozen=True)
class Gauge:
    """Numbers to be recorded.

    Attributes:
        columns: What each number is.
        read: Returns the numbers now.
    """

    columns: tuple[str, ...]
    read: Callable[[], Vector]
