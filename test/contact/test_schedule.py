# SPDX-License-Identifier: Apache-2.0
"""Schedules of contacts: shares that sum to one, that never jump, and whose speed is bounded beforehand."""

import numpy as np
import pytest

from humanoid_dynamics.contact.schedule import ContactInterval, ContactSchedule
from humanoid_dynamics.contact.transfer import transfer_share
from humanoid_dynamics.errors import ShapeError, UnknownNameError

ALWAYS = (-np.inf, np.inf, 0.0, 0.0)


def step(profile="quintic"):
    """One double support from 0.6 to 0.92 s: left gives, right takes."""
    return ContactSchedule.of(
        [
            ContactInterval("left", -np.inf, 0.92, 0.1, 0.32),
            ContactInterval("right", 0.6, np.inf, 0.32, 0.1),
        ],
        profile,
    )


def random_schedule(rng, profile=None, contacts=4):
    """Random closings of up to four contacts; one bears load all the time, which of them changes."""
    names, end = [f"c{i}" for i in range(int(rng.integers(2, contacts + 1)))], 4.0
    intervals = [ContactInterval(names[0], *ALWAYS, weight=rng.uniform(0.3, 1.0))]
    for name in names[1:]:
        t = rng.uniform(-0.5, 1.5)
        while t < end and len(intervals) < 9:
            load, unload = rng.uniform(0.05, 0.6, 2)
            stay = rng.uniform(0.0, 0.8)
            intervals.append(
                ContactInterval(
                    name, t, t + load + stay + unload, load, unload, rng.uniform(0.1, 2.0)
                )
            )
            t += load + stay + unload + rng.uniform(0.01, 0.8)
    return ContactSchedule.of(intervals, profile or str(rng.choice(["linear", "quintic"])))


@pytest.mark.parametrize("profile", ["linear", "quintic"])
def test_two_feet_are_the_function_of_the_paper(profile):
    schedule = step(profile)
    for t in np.linspace(0.5, 1.0, 51):
        s = transfer_share(t, 0.6, 0.92, profile)
        np.testing.assert_allclose(schedule.shares(t), [1.0 - s, s], atol=1e-12)


def test_who_touches_before_and_after_a_switch():
    schedule = step()
    assert schedule.switches() == (0.6, 0.92)
    assert (schedule.closed(0.6, after=False), schedule.closed(0.6)) == (
        (True, False),
        (True, True),
    )
    assert (schedule.closed(0.92, after=False), schedule.closed(0.92)) == (
        (True, True),
        (False, True),
    )


def test_a_contact_that_is_unloaded_as_soon_as_it_is_loaded_is_not_refused_for_its_last_digit():
    """Three tenths after 0.1 s and three tenths before 0.7 s are 0.4 s both, and not the same number."""
    assert 0.1 + 0.3 != 0.7 - 0.3
    rng = np.random.default_rng(8)
    for start, load, unload in (
        (0.1, 0.3, 0.3),
        (0.3, 0.1, 0.2),
        *rng.uniform((-50.0, 0.0, 0.0), (50.0, 2.0, 2.0), (500, 3)).round(3),
    ):
        end = round(start + load + unload, 3)
        interval = ContactInterval("foot", start, end, load, unload)
        assert interval.value(start + load, step().profile) == pytest.approx(1.0, abs=1e-12)
        with pytest.raises(ShapeError, match="loaded before it is unloaded"):
            ContactInterval("foot", start, end - 1e-9, load, unload)
    schedule = ContactSchedule.of(
        [ContactInterval("floor", *ALWAYS), ContactInterval("foot", 0.1, 0.7, 0.3, 0.3)]
    )
    assert np.isfinite(schedule.share_rates()).all()


def test_shares_sum_to_one_and_keep_to_their_speed():
    rng = np.random.default_rng(1)
    for _ in range(60):
        schedule = random_schedule(rng)
        rates, dt = schedule.share_rates(), 1e-3
        times = np.arange(-0.6, 4.5, dt)
        shares = np.array([schedule.shares(t) for t in times])
        assert np.isfinite(rates).all()
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)
        assert shares.min() >= 0.0
        assert np.all(np.abs(np.diff(shares, axis=0)) <= rates * dt + 1e-12)


def test_bound_of_two_feet_is_nearly_reached():
    """Load passes at the slope of the profile over its time; the bound is within a fifth above."""
    for profile, slope in (("linear", 1.0), ("quintic", 1.875)):
        rates = step(profile).share_rates()
        assert np.all(rates >= slope / 0.32)
        assert np.all(rates <= 1.2 * slope / 0.32)


def test_three_transfers_at_once():
    schedule = ContactSchedule.of(
        [
            ContactInterval("left", -np.inf, 1.0, 0.1, 0.5),
            ContactInterval("right", 0.4, np.inf, 0.5, 0.1),
            ContactInterval("hand", 0.6, np.inf, 0.3, 0.1, weight=0.25),
            ContactInterval("knee", 0.7, 1.6, 0.2, 0.3, weight=0.5),
        ]
    )
    shares = schedule.shares(0.8)
    assert np.all(shares > 0.0)
    assert shares.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(schedule.shares(2.0), [0.0, 0.8, 0.2, 0.0], atol=1e-12)


def test_flight_has_no_shares_and_no_bound():
    schedule = ContactSchedule.of(
        [
            ContactInterval("foot", -np.inf, 1.0, 0.1, 0.2),
            ContactInterval("foot", 1.5, np.inf, 0.2, 0.1),
        ]
    )
    assert not schedule.shares(1.2).any()
    assert np.isinf(schedule.share_rates()).all()


def test_steps_of_load_have_no_bound():
    schedule = ContactSchedule.of(
        [ContactInterval("left", *ALWAYS), ContactInterval("right", 0.5, np.inf, 0.0, 0.1)]
    )
    assert np.isinf(schedule.share_rates()).all()


@pytest.mark.parametrize(
    "interval",
    [
        (1.0, 0.5, 0.1, 0.1),
        (0.0, 1.0, 0.7, 0.7),
        (0.0, 1.0, -0.1, 0.1),
        (0.0, np.nan, 0.1, 0.1),
        (0.0, 1.0, np.inf, 0.1),
        (0.0, 1.0, np.nan, 0.1),
        (-np.inf, 1.0, 0.1, np.nan),
        (0.0, np.inf, 0.1, np.nan),
    ],
)
def test_impossible_intervals(interval):
    with pytest.raises(ShapeError, match="interval of foot"):
        ContactInterval("foot", *interval)


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, np.inf])
def test_impossible_weights(weight):
    with pytest.raises(ShapeError, match="positive weight"):
        ContactInterval("foot", 0.0, 1.0, 0.1, 0.1, weight)


def test_overlapping_closings_and_unknown_names():
    with pytest.raises(ShapeError, match="schedule of foot"):
        ContactSchedule.of(
            [
                ContactInterval("foot", 0.0, 1.0, 0.1, 0.1),
                ContactInterval("foot", 0.9, 2.0, 0.1, 0.1),
            ]
        )
    with pytest.raises(UnknownNameError, match="no scheduled surface named 'hand'"):
        step().index("hand")


@pytest.mark.parametrize("name", ["start", "end", "load", "unload", "weight"])
def test_what_is_no_number_is_named(name):
    given = {"start": 0.0, "end": 1.0, "load": 0.1, "unload": 0.1, "weight": 1.0} | {name: "0"}
    with pytest.raises(
        ShapeError, match=f"interval of foot: {name}: received str '0', expected a number"
    ):
        ContactInterval("foot", **given)
