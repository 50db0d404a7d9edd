# SPDX-License-Identifier: Apache-2.0
"""Motions with an exact answer, with masses, sizes and frictions other than those of the audit, and how errors shrink with the step."""

from itertools import pairwise

import numpy as np
import pytest

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.simulation.audit import motions as analytic


def check(findings):
    assert [str(finding) for finding in findings if not finding.passed] == []


def test_audit_passes_and_covers_every_case():
    findings = analytic.run_audit()
    check(findings)
    cases = {finding.case for finding in findings}
    for name in ("free fall", "pendulum", "rolling", "sliding to a stop", "bouncing", "box that tips", "box that stands", "spinning top",
                 "torque-free rotation", "two point masses", "pivot-caught rod"):  # fmt: skip
        assert name in cases


@pytest.mark.parametrize(
    ("case", "options"),
    [
        (analytic.free_fall, {"mass": 70.0, "seconds": 1.5, "speed": -1.0}),
        (analytic.pendulum, {"mass": 20.0, "length": 2.0, "angle": 2.5}),
        (analytic.pendulum, {"mass": 0.1, "length": 0.2, "angle": 0.1}),
        (analytic.rolling, {"mass": 0.1, "radius": 0.5, "slope": 0.05}),
        (analytic.rolling, {"mass": 10.0, "radius": 0.1, "slope": 0.6, "friction": 0.1}),
        (analytic.rolling, {"mass": 1.5, "radius": 0.01, "slope": 0.6}),
        (analytic.rolling, {"mass": 0.1, "radius": 0.01, "slope": 0.6, "friction": 0.05}),
        (analytic.sliding, {"mass": 0.2, "size": 0.05, "friction": 0.9, "speed": 1.0}),
        (analytic.sliding, {"mass": 200.0, "size": 1.0, "friction": 0.15, "speed": 4.0}),
        (analytic.bouncing, {"mass": 5.0, "radius": 0.3, "height": 2.0, "e": 0.5}),
        (analytic.bouncing, {"mass": 0.01, "radius": 0.02, "height": 0.3, "e": 0.95}),
        (analytic.tipping, {"mass": 1.0, "width": 0.1, "height": 1.0, "share": 1.3}),
        (analytic.tipping, {"mass": 60.0, "width": 0.5, "height": 0.6, "share": 1.05}),
        (analytic.falling_over, {"mass": 60.0, "width": 0.4, "height": 2.0, "rate": 0.8}),
        (analytic.torque_free, {"moments": (1.0, 1.4, 2.2), "rate": 3.0}),
        (analytic.spinning_top, {"mass": 0.8, "arm": 0.04, "tilt": 0.5}),
        (analytic.two_masses, {"first": 0.5, "second": 7.0, "speed": 1.1}),
        (analytic.caught_rod, {"mass": 0.4, "length": 2.5, "speed": 5.0}),
    ],
)
def test_other_masses_sizes_and_frictions(case, options):
    check(case(**options))


@pytest.mark.parametrize(
    ("case", "order"),
    [(analytic.pendulum, 2), (analytic.spinning_top, 2), (analytic.falling_over, 2)],
)
def test_error_shrinks_with_the_square_of_the_step(case, order):
    errors = [case(dt)[0].error for dt in (8e-3, 4e-3, 2e-3)]
    for coarse, fine in pairwise(errors):
        assert np.log2(coarse / fine) == pytest.approx(order, abs=0.35)


def test_a_wrong_answer_fails_the_audit():
    assert not analytic.Finding("x", "y", 1.002, 1.0).passed
    assert not analytic.Finding("x", "y", np.nan, 1.0).passed
    assert not analytic.Finding("x", "y", 0.01, 0.0).passed


@pytest.mark.parametrize("spin", [0.0, 3.0, -4.0, float("nan")])
def test_top_that_cannot_precess_steadily_is_refused(spin):
    with pytest.raises(
        ShapeError,
        match=r"spin: received .* rad/s, expected more than 4\.329 rad/s either way, below which no such top",
    ):
        analytic.spinning_top(spin=spin, mass=0.4, arm=0.05, tilt=0.3)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"rate": 6.0}, "rate"),
        ({"rate": -9.0}, "rate"),
        ({"rate": np.nan}, "rate"),
        ({"width": 0.0}, "width"),
        ({"height": -1.0}, "height"),
    ],
)
def test_box_that_does_not_stay_on_its_edge_is_refused(changes, field):
    with pytest.raises(ShapeError, match=f"{field}: received"):
        analytic.falling_over(**changes)


@pytest.mark.parametrize(
    "options",
    [{"width": 0.5, "height": 0.5, "rate": 4.0}, {"width": 0.4, "height": 0.5, "rate": 3.5}],
)
def test_box_that_falls_onto_its_other_face_is_watched_until_then(options):
    check(analytic.falling_over(**options))


def test_slow_precession_solves_its_equation_where_the_square_term_vanishes_too():
    for spin, lean in ((60.0, 2e-4), (60.0, 0.0), (60.0, -3e-4), (-60.0, 2e-4), (0.0, -3e-4)):
        slow = analytic.find_slow_precession(spin, 2e-3, lean, 0.2)
        assert abs(lean * slow**2 - 2e-3 * spin * slow + 0.2) < 1e-12
