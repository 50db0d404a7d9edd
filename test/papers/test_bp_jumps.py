"""The biped paper: how far torques jump where contacts change, rule by rule."""

import numpy as np
import pytest
from steps import (
    DSP1,
    STEP,
    other_gait,
)

from humanoid_dynamics.biped.chain import view_from
from humanoid_dynamics.biped.ground import compute_ground_wrench, compute_moment_left
from humanoid_dynamics.biped.schedule import STEP_RULES, build_step, measure_jumps
from humanoid_dynamics.biped.step import find_points
from humanoid_dynamics.biped.transition import (
    linear_share,
)

# BP-18: the jump table


@pytest.mark.parametrize(
    ("rule", "jumps"),
    [
        ("pseudo_inverse", (7.04, 135.2, 14.0)),
        ("minimum_torque", (65.1, 17.1, 62.1)),
        ("linear_transition", (0.0, 1.12, 0.0)),
        ("smooth_transition", (0.0, 1.12, 0.0)),
        ("recommended_transition", (0.0, 0.0, 0.0)),
    ],
)
def test_jump_table(rule, jumps):
    found = measure_jumps(STEP, rule)
    for value, printed in zip(found, jumps, strict=True):
        assert value == pytest.approx(printed, abs=0.05 if printed > 2 else 5e-3) if printed else value < 1e-9


@pytest.mark.parametrize("seed", range(1, 25))
def test_jumps_of_other_steps(seed):
    """Any body, any times: the first two rules jump, transitions jump at t1 by the couple left, the recommended one not at all."""
    gait = other_gait(seed)
    body, times = gait.parameters.body, gait.switches
    step = build_step(body, gait.at, times)
    motion = gait.at(times[1])
    total, points = compute_ground_wrench(body, view_from(motion, "rear")), find_points(body, motion, DSP1)
    jumps = {rule: measure_jumps(step, rule) for rule in STEP_RULES}
    assert jumps["pseudo_inverse"].max() > 5.0
    assert jumps["minimum_torque"].max() > 5.0
    for rule, share in (("linear_transition", linear_share(times[1], times[0], times[2])), ("recommended_transition", step.balanced)):
        left = compute_moment_left(total.force[1], total.zmp, share, points.toe_rear, points.heel_front)
        assert jumps[rule] == pytest.approx([0.0, abs(left), 0.0], abs=1e-9)
    if points.toe_rear < total.zmp < points.heel_front:
        assert jumps["recommended_transition"].max() < 1e-9
    assert np.abs(jumps["smooth_transition"][[0, 2]]).max() < 1e-9


def test_most_other_steps_satisfy_the_proposition():
    inside = [0.0 < build_step(gait.parameters.body, gait.at, gait.switches).balanced < 1.0 for gait in map(other_gait, range(1, 25))]
    assert sum(inside) >= 12
