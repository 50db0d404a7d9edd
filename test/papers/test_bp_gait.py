# SPDX-License-Identifier: Apache-2.0
"""The biped paper: the reference step, its phases, all its torques, and what is refused."""

import numpy as np
import pytest
from steps import (
    BODY,
    DSP1,
    R1,
    STEP,
    T0,
    T1,
    T2,
    TIMES,
    chain_at,
)

from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.papers.biped.ground import compute_ground_wrench
from humanoid_dynamics.papers.biped.procedures import solve_procedure_3
from humanoid_dynamics.papers.biped.recursion import build_legs
from humanoid_dynamics.papers.biped.schedule import build_step, compute_step_torques
from humanoid_dynamics.papers.biped.step import PHASES, compute_torques, find_phase, find_points
from humanoid_dynamics.papers.biped.transition import (
    linear_share,
)

APPENDIX = """
.30  SSP  force_transition   47.658645 -73.080498  20.770877  14.451054  -3.145126   0.583016
.60  SSP  force_transition   87.980992 -48.352637  19.527822  16.689324  -0.115271   0.621727
.68  DSP1 pseudo_inverse    109.528873 -32.164465  11.520515   5.025393  -0.615737   2.056315
.68  DSP1 minimum_torque     33.786421 -34.191421  -3.271710  -9.766832  43.444394  20.618569
.68  DSP1 force_transition   73.648157 -35.068840   0.682656  -5.812466  17.769475  10.443513
.84  DSP2 pseudo_inverse      3.674488  -3.853419 -12.307225 -25.677348  98.617857  38.777891
.84  DSP2 minimum_torque     51.395203 -15.181839  -4.684617 -18.054740  43.732595   1.362929
.84  DSP2 force_transition   29.161226  -8.863368  -6.253724 -19.623847  70.686930  19.105825
1.10 SSP_NEXT force_transition -0.600850 3.235994 -6.713299 -23.924132  89.524745  -7.888316
"""
ROWS = [
    (float(t), phase, rule, np.array(tau, dtype=float))
    for t, phase, rule, *tau in (line.split() for line in APPENDIX.split("\n") if line)
]


# the reference gait


@pytest.mark.parametrize(("t", "phase", "rule", "tau"), ROWS)
def test_torques_of_the_reference_gait(t, phase, rule, tau):
    """All nine rows, to the last printed digit."""
    found = compute_torques(BODY, R1.at(t), PHASES[phase], rule, share=linear_share(t, T0, T2)).tau
    assert np.abs(found - tau).max() < 6e-7


def test_state_of_the_reference_gait():
    motion = R1.at(0.68)
    theta = [0, 0.965249, 1.780336, 1.518436, 2.212213, 1.442355, 0.043633]
    rate = [0, -0.256680, -0.705261, 0, -0.350416, -0.453311, -1.022654]
    acceleration = [0, 0.720467, -0.620796, 0, -0.713055, 0.386958, 0]
    for found, printed in (
        (motion.theta, theta),
        (motion.rate, rate),
        (motion.acceleration, acceleration),
    ):
        assert np.abs(found - printed).max() < 6e-7


@pytest.mark.parametrize(
    ("t", "base", "zmp"),
    [
        (T0, "rear", 0.1376),
        (0.68, "rear", 0.1879),
        (T1, "rear", 0.2414),
        (0.80, "front", 0.2398),
        (0.84, "front", 0.2841),
        (0.88, "front", 0.3251),
        (T2, "front", 0.3166),
    ],
)
def test_zero_moment_point(t, base, zmp):
    found = compute_ground_wrench(BODY, chain_at(R1, t, base))
    assert found.zmp + (0.35 if base == "front" else 0.0) == pytest.approx(zmp, abs=5.1e-5)
    assert abs(found.force[0] / found.force[1]) < 0.14


# phases, refusals


def test_phases_of_a_step():
    assert [find_phase(t, TIMES).name for t in (0.0, 0.599, 0.6, 0.759, 0.76, 0.92, 1.5)] == [
        "SSP",
        "SSP",
        "DSP1",
        "DSP1",
        "DSP2",
    ] + ["SSP_NEXT"] * 2
    for share, t in ((0.0, 0.3), (1.0, 1.2)):
        answer = compute_step_torques(STEP, t)
        assert answer.share == share


def test_what_is_refused():
    with pytest.raises(UnknownNameError, match="no rule named 'best'"):
        compute_step_torques(STEP, 0.7, "best")
    with pytest.raises(UnknownNameError, match="no rule named 'best'"):
        compute_torques(BODY, R1.at(0.7), DSP1, "best")
    with pytest.raises(UnknownNameError, match="no phase of double support named 'SSP'"):
        find_points(BODY, R1.at(0.3), PHASES["SSP"])
    with pytest.raises(ShapeError, match="three times in order"):
        build_step(BODY, R1.at, (0.6, 0.92, 0.76))
    with pytest.raises(ShapeError, match=r"lam: received shape \(3,\), expected \(2,\)"):
        solve_procedure_3(build_legs(BODY, chain_at(R1, 0.68), "heel"), np.zeros(3))
