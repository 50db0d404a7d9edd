"""Contacts that fade under limits: the certificate tells where they are why a motion lacks something."""

import numpy as np
import pytest

import humanoid_dynamics as hd

RULE = "transition_limited"


@pytest.mark.parametrize("compiled", [False, None])
def test_reasons_name_a_contact_without_which_the_others_cannot_bear(compiled):
    robot = hd.load_robot("human28")
    solver = hd.InverseDynamics(robot, (*robot.stance, "right_palm"), RULE, compiled=compiled)
    rest, a, rng, told = np.zeros(robot.nv), np.zeros(robot.nv), np.random.default_rng(0), 0
    for _ in range(40):
        a[:2] = rng.uniform(-1.5, 1.5, 2)
        faded = solver.tick(robot.posture, rest, a, np.array([0.06, 0.47, 0.47]))
        able = solver.also("minimum_torque_limited").certificate.status == "ok"
        if able and faded.certificate.status == "unsupported":
            told += 1
            assert any(reason.startswith(f"{robot.stance[0]}: fades with a share of 0.06") for reason in faded.certificate.reasons)
        whole = solver.tick(robot.posture, rest, a, np.array([0.2, 0.4, 0.4]))
        assert not any("fades" in reason for reason in whole.certificate.reasons)
    assert told > 1
