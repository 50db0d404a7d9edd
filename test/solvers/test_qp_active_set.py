# SPDX-License-Identifier: Apache-2.0
"""The compiled active set beside daqp: recorded ticks, degenerate, ill-conditioned and infeasible programs."""

import numpy as np
import pytest

from benchmarks import qp
from humanoid_dynamics.solvers.qp import QpStatus, QpWorkspace


@pytest.mark.parametrize("family", ["inverse", "filter"])
def test_programs_of_ticks(family):
    programs = qp.read_programs(qp.TICKS)[family]
    result = qp.run_race(programs, looks=1)
    assert result.programs > 20
    assert result.wrong[qp.OURS] == 0


@pytest.mark.parametrize("kind", ["random", "degenerate", "ill", "infeasible"])
def test_families(kind):
    rng = np.random.default_rng(1)
    programs = [qp.build_random(rng, kind) for _ in range(40)]
    assert qp.run_race(programs, looks=1).wrong[qp.OURS] == 0


def test_a_wrong_answer_is_counted():
    program = qp.build_random(np.random.default_rng(2), "random")
    x = qp.solve_by_active_set(program)[0]
    for wrong in (None, x + 1e-3, x * np.nan):
        assert qp.count_wrong(program, {"right": x, "wrong": wrong}) == {
            "right": False,
            "wrong": True,
        }
    impossible = qp.build_random(np.random.default_rng(3), "infeasible")
    assert qp.count_wrong(
        impossible, {"denied": None, "given": np.zeros(len(impossible.workspace.f))}
    ) == {
        "denied": False,
        "given": True,
    }


def test_nothing_is_compiled_once_a_workspace_is_made():
    workspace = QpWorkspace(3, 0, 2)
    known = len(workspace._kernel.signatures)
    assert known == 1
    workspace.H[:] = np.eye(3)
    workspace.solve()
    assert len(workspace._kernel.signatures) == known


def test_active_rows_are_met_to_round_off_with_an_ill_conditioned_hessian():
    """Without the last correction the rows are missed by 1e-7."""
    rng = np.random.default_rng(4)
    for _ in range(10):
        program = qp.build_random(rng, "ill")
        found = program.workspace.solve()
        assert found.status is QpStatus.OPTIMAL
        assert found.violation < 1e-11 * np.linalg.norm(found.x)
