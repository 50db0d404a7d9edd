# SPDX-License-Identifier: Apache-2.0
"""The poses of all joints as one array on Pinocchio's own memory: a list of poses costs half a microsecond each to read."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.spatial.arrays import Matrix

NUMBERS = 12  # of a pose: rotation, column by column, then translation
BYTES = 8


class Placements:
    """Poses of all joints of a work space.

    Attributes:
        poses: (nj, 12) rotation, column by column, and translation of each; what Pinocchio computes appears here after ``refresh``.
    """

    def __init__(self, model: pin.Model, data: pin.Data) -> None:
        """Look at the memory of a work space, if it is laid out as expected.

        Args:
            model: The model.
            data: Its work space, which has to live as long as this object.
        """
        self._data = data
        shared = _look(data, int(model.njoints))
        self.shared = shared is not None and _is_right(model, data, shared)
        self.poses: Matrix = (
            shared if shared is not None and self.shared else np.zeros((model.njoints, NUMBERS))
        )
        self.refresh()

    def refresh(self) -> None:
        """Take over what Pinocchio computed last; nothing is to be done where the memory is shared."""
        if not self.shared:
            for row, pose in zip(self.poses, self._data.oMi, strict=True):
                row[:9], row[9:] = pose.rotation.ravel(order="F"), pose.translation


def _look(data: pin.Data, count: int) -> Matrix | None:
    """Return the memory of all poses as an array (count, 12), None where poses do not follow one another without gaps."""
    places = [data.oMi[k].rotation.__array_interface__["data"][0] for k in range(count)]
    ends = [data.oMi[k].translation.__array_interface__["data"][0] for k in range(count)]
    regular = all(place - places[0] == k * NUMBERS * BYTES for k, place in enumerate(places))
    if not regular or any(
        end - place != 9 * BYTES for place, end in zip(places, ends, strict=True)
    ):
        return None
    first = data.oMi[0].rotation
    if first.dtype != np.float64 or first.flags.owndata or first.strides != (BYTES, 3 * BYTES):
        return None
    return np.lib.stride_tricks.as_strided(
        first[0], shape=(count, NUMBERS), strides=(NUMBERS * BYTES, BYTES)
    )


def _is_right(model: pin.Model, data: pin.Data, poses: Matrix) -> bool:
    """Return whether the array holds the poses of a configuration that nothing else would give."""
    q = pin.integrate(model, pin.neutral(model), np.linspace(0.1, 0.9, model.nv))
    pin.forwardKinematics(model, data, q)
    return all(
        np.array_equal(row[:9], pose.rotation.ravel(order="F"))
        and np.array_equal(row[9:], pose.translation)
        for row, pose in zip(poses, data.oMi, strict=True)
    )
