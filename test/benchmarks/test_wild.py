# SPDX-License-Identifier: Apache-2.0
"""Wild states: every one is answered, and what is looked for would be found."""

import numpy as np
import pytest

import humanoid_dynamics as hd
from benchmarks.wild import run_wild


@pytest.mark.parametrize("name", ["human28", "biped7"])
def test_every_wild_state_is_answered(name):
    report = run_wild(hd.load_robot(name), 300, 1)
    assert report.faults == ()
    assert report.answers == 600
    assert {"INCONSISTENT_CONTACT", "UNSUPPORTED", "INVALID_INPUT"} <= set(report.statuses)
    assert report.residual < 1e-8


def test_a_torque_that_is_none_would_be_found(monkeypatch):
    class Poisoned(hd.InverseDynamics):
        def solve(self, *question):
            answer = super().solve(*question)
            answer.tau = np.full(len(answer.tau), np.nan)
            return answer

    monkeypatch.setattr("benchmarks.wild.InverseDynamics", Poisoned)
    assert any("not finite" in fault for fault in run_wild(hd.load_robot("legs12"), 20, 1).faults)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["human28", "human40", "legs12", "biped7"])
def test_many_wild_states_are_answered(name):
    assert run_wild(hd.load_robot(name), 20_000, 2).faults == ()
