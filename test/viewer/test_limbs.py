# SPDX-License-Identifier: Apache-2.0
"""Motors by limb: every motor is in one group and can be chosen alone, whatever its maker calls it."""

import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.viewer.limbs import MOST, group_motors


@pytest.mark.parametrize("name", ["human28", "human", "sr1", "snake5", "stewart", "two_arms_bar"])
def test_every_motor_is_in_one_group_and_alone(name: str) -> None:
    motors = hd.load_robot(name).actuated
    groups = group_motors(motors)
    limbs = [
        motor
        for group, plots in groups.items()
        if group not in motors
        for plot in plots.values()
        for motor in plot
    ]
    assert sorted(limbs) == sorted(motors)
    assert set(motors) <= set(groups)
    assert all(
        len(plot) <= MOST and len(set(plot.values())) == len(plot)
        for plots in groups.values()
        for plot in plots.values()
    )


@pytest.mark.parametrize(
    "names",
    [
        ("left_hip_yaw", "right_hip_yaw"),
        ("LHipYaw", "RHipYaw"),
        ("l_hip_yaw", "r_hip_yaw"),
        ("LLEG_HIP_YAW", "RLEG_HIP_YAW"),
    ],
)
def test_legs_of_each_side_have_a_plot(names: tuple[str, str]) -> None:
    legs = group_motors(names)["legs"]
    assert legs == {"left leg": {names[0]: "hip yaw"}, "right leg": {names[1]: "hip yaw"}}


def test_no_motor_no_group() -> None:
    assert group_motors(()) == {}
