# SPDX-License-Identifier: Apache-2.0
"""A mechanism refuses states of another robot with both sizes."""

import numpy as np
import pytest

import humanoid_dynamics as hd


@pytest.mark.parametrize(
    "call",
    [
        lambda m, q, v: m.place(q[:-1]),
        lambda m, q, v: m.update(q[:-1], v),
        lambda m, q, v: m.update(q, v[:-1]),
    ],
)
def test_sizes_are_checked(call):
    robot = hd.load_robot("fourbar")
    with pytest.raises(hd.ShapeError, match="received shape"):
        call(hd.Mechanism(robot), np.array(robot.posture), np.zeros(robot.nv))
