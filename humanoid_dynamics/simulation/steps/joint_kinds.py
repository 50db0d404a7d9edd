# SPDX-License-Identifier: Apache-2.0
"""Kinds of joints that the compiled sweeps know, and the columns of their tables."""

from __future__ import annotations

from typing import Final

HINGE: Final = 0  # about x, y, z of its frame: HINGE, HINGE + 1, HINGE + 2
TILTED: Final = 3  # hinge about any other axis
SLIDER: Final = 4
WHEEL: Final = 5  # hinge without limits, of which the configuration holds cosine and sine
BALL: Final = 6
FREE: Final = 7

# one row per joint, whole numbers
KIND: Final = 0
ABOVE: Final = 1  # joint that carries it
FIRST_Q: Final = 2
FIRST_V: Final = 3
DOFS: Final = 4
PLAIN: Final = 5  # one for a hinge about an axis of its frame, if that is not turned against the frame of the joint above
JOINT_COLUMNS: Final = 6

# one row per joint, real numbers
B_R: Final = 0  # rotation against the joint above, column by column, nine columns
B_T: Final = 9  # translation, three columns
B_AXIS: Final = 12  # of a hinge or slider, three columns
B_MASS: Final = 15
B_C: Final = 16  # centre of mass, three columns
B_I: Final = 19  # inertia about it: xx, xy, yy, xz, yz, zz
B_FLIES: Final = 25  # one where nothing but contacts and loops ties it to the world, zero elsewhere
BODY_COLUMNS: Final = 26
