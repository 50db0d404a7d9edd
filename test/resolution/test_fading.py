# SPDX-License-Identifier: Apache-2.0
"""Contacts that fade under limits: they give what others lack, and the certificate tells where they cannot."""

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.resolution.fading import weigh_halves

RULE = "transition_limited"
KEPT = {
    "OK",
    "INCONSISTENT_CONTACT",
}  # inside all limits; what touches may move in the motions asked for here


def weights_of(parts, lacking):
    weights = np.full(len(lacking), np.nan)
    weigh_halves(np.array(parts), np.array(lacking), weights, len(lacking), 1.0)
    return weights


def test_a_contact_that_fades_gives_what_others_lack_down_to_a_fifth():
    robot = hd.load_robot("human28")
    solver = hd.InverseDynamics(robot, (*robot.stance, "right_palm"), RULE)
    rest, a, rng, told = np.zeros(robot.nv), np.zeros(robot.nv), np.random.default_rng(0), 0
    for _ in range(60):
        a[:2] = rng.uniform(-1.5, 1.5, 2)
        found = [
            solver.solve(robot.posture, rest, a, np.array([s, *2 * [0.5 - 0.5 * s]])).certificate
            for s in (0.0, 0.01, 0.02, 0.06)
        ]
        able = solver.resolve_with("minimum_torque_limited").certificate.status in KEPT
        if able and found[0].status == "UNSUPPORTED":
            told += 1
            assert found[1].status == "UNSUPPORTED"
            assert {certificate.status for certificate in found[2:]} <= KEPT
            assert found[1].residual == pytest.approx(0.5 * found[0].residual, rel=0.02)
            reason = next(
                reason
                for reason in found[1].reasons
                if reason.startswith(f"{robot.stance[0]}: fades with a share of 0.01")
            )
            assert reason.endswith("with it in full nothing")
            assert "without it the others lack " in reason
        assert not any("fades" in reason for reason in found[0].reasons)
    assert told > 1


def test_answers_count_by_shares_where_nothing_is_missing():
    assert weights_of([0.3], [0.0, 0.0]) == pytest.approx([0.3, 0.7])
    assert weights_of([0.3, 0.6], 4 * [5.0]) == pytest.approx(
        [0.18, 0.42, 0.12, 0.28]
    )  # nor where nothing helps
    assert weights_of([0.05], [0.0, 0.5]) == pytest.approx([0.15, 0.85])
    assert weights_of([0.2], [0.0, 9.0]) == pytest.approx([1.0, 0.0])


def test_weights_have_no_step_where_contacts_come_and_go():
    rng, h = np.random.default_rng(1), 1e-9
    for _ in range(100):
        lacking = 10.0 ** rng.uniform(-2.0, 1.0, 8)
        parts = rng.uniform(size=3)
        for place in range(3):
            bit = 2**place
            others = np.delete(parts, place)
            for part, kept in (
                (h, bit),
                (1.0 - h, 0),
            ):  # it leaves, or it stays: what is left is as if it did not fade
                here = weights_of(np.insert(others, place, part), lacking)
                number = [k for k in range(8) if k & bit == kept]
                assert here[number] == pytest.approx(weights_of(others, lacking[number]), abs=1e-7)
