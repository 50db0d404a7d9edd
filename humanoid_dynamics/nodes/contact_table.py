# SPDX-License-Identifier: Apache-2.0
"""Contacts that become known frame by frame, as the table of loads that ``reference/contacts`` carries."""

from __future__ import annotations

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from humanoid_dynamics.nodes.messages import write_joint_trajectory

FADE = (
    0.04  # s in which a load is taken off before a sole is lifted, or put on after it has touched
)
KEPT = 1.0  # s of what is over
APART = 1e-3  # s; rows are at least so far apart


class ContactTable:
    """Remembers which soles stood, and says so when it changes."""

    def __init__(self, surfaces: tuple[str, ...]) -> None:
        """Begin with nothing known.

        Args:
            surfaces: Names of the soles.
        """
        self.surfaces = surfaces
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._rows: list[tuple[float, tuple[bool, ...]]] = []

    def put(self, stamp: float, stands: tuple[bool, ...]) -> JointTrajectory | None:
        """Take which soles stand at a time later than all before.

        Args:
            stamp: The time [s].
            stands: For each sole.

        Returns:
            The table, where something has changed.
        """
        if not self._rows:
            self._rows = [(stamp, stands)]
        elif stands == self._rows[-1][1]:
            return None
        else:
            lands = any(
                now and not before for now, before in zip(stands, self._rows[-1][1], strict=True)
            )
            begin = max(stamp if lands else stamp - FADE, self._rows[-1][0] + APART)
            self._rows += [
                (begin, self._rows[-1][1]),
                (max(begin + APART, stamp + FADE if lands else stamp), stands),
            ]
            while len(self._rows) > 2 and self._rows[1][0] < stamp - KEPT:
                del self._rows[0]
        times = np.array([t for t, _ in self._rows])
        loads = np.array([bears for _, bears in self._rows], dtype=np.float64)
        return write_joint_trajectory(
            self.surfaces, float(times[0]), times - times[0], {"positions": loads}
        )
