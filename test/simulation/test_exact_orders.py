# SPDX-License-Identifier: Apache-2.0
"""Random masses, sizes, frictions and speeds in the motions with an exact answer, and what halving the step does to their errors."""

from itertools import pairwise

import numpy as np
import pytest

from humanoid_dynamics.simulation.audit import motions as analytic

CASES = {
    "free_fall": lambda rng: (
        analytic.free_fall,
        {
            "mass": rng.uniform(0.05, 300),
            "seconds": rng.uniform(0.3, 1.2),
            "speed": rng.uniform(-3, 6),
        },
    ),
    "falling_over": lambda rng: (
        analytic.falling_over,
        {
            "mass": rng.uniform(0.2, 200),
            "width": rng.uniform(0.15, 0.25),
            "height": rng.uniform(0.8, 1.5),
            "rate": rng.uniform(0.3, 1.2),
        },
    ),
    "torque_free": lambda rng: (
        analytic.torque_free,
        {
            "moments": rng.uniform(0.02, 6)
            * np.array([1.0, rng.uniform(1.2, 1.5), rng.uniform(1.7, 2.1)]),
            "rate": rng.uniform(1, 8),
        },
    ),
    "spinning_top": lambda rng: (
        analytic.spinning_top,
        {
            "mass": rng.uniform(0.2, 0.9),
            "arm": rng.uniform(0.02, 0.06),
            "spin": rng.uniform(55, 80),
            "tilt": rng.uniform(0.1, 0.9),
        },
    ),
    "pendulum": lambda rng: (
        analytic.pendulum,
        {
            "mass": rng.uniform(0.2, 40),
            "length": rng.uniform(0.3, 3),
            "angle": rng.uniform(0.1, 2.6),
        },
    ),
    "rolling": lambda rng: (
        analytic.rolling,
        {
            "mass": rng.uniform(0.1, 30),
            "radius": rng.uniform(0.01, 0.6),
            "slope": rng.uniform(0.05, 0.5),
            "friction": rng.uniform(0.05, 0.8),
        },
    ),
    "sliding": lambda rng: (
        analytic.sliding,
        {
            "mass": rng.uniform(0.1, 300),
            "size": rng.uniform(0.05, 1),
            "friction": rng.uniform(0.1, 0.9),
            "speed": rng.uniform(0.8, 4),
        },
    ),
    "bouncing": lambda rng: (
        analytic.bouncing,
        {
            "mass": rng.uniform(0.01, 9),
            "radius": rng.uniform(0.02, 0.3),
            "height": rng.uniform(0.2, 2),
            "e": rng.uniform(0.5, 0.95),
        },
    ),
    "tipping": lambda rng: (
        analytic.tipping,
        {
            "mass": rng.uniform(0.5, 90),
            "width": rng.uniform(0.1, 0.5),
            "height": rng.uniform(0.6, 1.5),
            "share": rng.uniform(1.05, 1.6),
        },
    ),
    "two_masses": lambda rng: (
        analytic.two_masses,
        {"first": rng.uniform(0.2, 9), "second": rng.uniform(0.2, 9), "speed": rng.uniform(0.5, 6)},
    ),
    "caught_rod": lambda rng: (
        analytic.caught_rod,
        {"mass": rng.uniform(0.2, 9), "length": rng.uniform(0.3, 3), "speed": rng.uniform(0.5, 6)},
    ),
}


# last: thrown up and back where it began; falls back onto its face
@pytest.mark.parametrize(
    ("name", "seed"),
    [
        *((name, seed) for name in CASES for seed in (1, 2)),
        ("free_fall", 9002),
        ("falling_over", 9007),
    ],
)
def test_random_masses_sizes_and_frictions(name, seed):
    case, options = CASES[name](np.random.default_rng(seed))
    assert [str(finding) for finding in case(**options) if not finding.passed] == [], options


@pytest.mark.parametrize(
    ("case", "options"),
    [
        (analytic.pendulum, {"mass": 9.0, "length": 1.7, "angle": 2.2}),
        (analytic.spinning_top, {"mass": 0.7, "arm": 0.04, "spin": 50.0, "tilt": 0.6}),
        (analytic.falling_over, {"mass": 31.0, "width": 0.3, "height": 1.6, "rate": 0.9}),
    ],
)
def test_halving_the_step_quarters_the_error(case, options):
    errors = [case(dt, **options)[0].error for dt in (8e-3, 4e-3, 2e-3)]
    for coarse, fine in pairwise(errors):
        assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.35)


def test_tops_that_spin_very_fast_precess_as_they_should():
    coarse, fine = (analytic.spinning_top(dt, spin=182.0)[0].error for dt in (4e-3, 2e-3))
    assert fine < 1.5e-3
    assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.35)


def test_small_balls_roll_with_an_error_of_second_order():
    errors = [
        analytic.rolling(dt, mass=0.7, radius=0.01, slope=0.5)[0].error for dt in (2e-3, 1e-3, 5e-4)
    ]
    assert errors[1] < 1e-5
    for coarse, fine in pairwise(errors):
        assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.35)


@pytest.mark.parametrize(("mass", "height", "e"), [(0.3, 0.5, 0.9), (7.0, 1.5, 0.6)])
def test_bouncing_is_at_least_of_first_order(mass, height, e):
    errors = [
        analytic.bouncing(dt, mass=mass, height=height, e=e)[0].error for dt in (4e-3, 2e-3, 1e-3)
    ]
    assert errors[2] < 1e-3
    assert errors[2] < 0.75 * errors[0]
