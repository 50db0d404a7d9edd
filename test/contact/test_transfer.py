# SPDX-License-Identifier: Apache-2.0
"""Functions of load transfer, and the shares that the centre of pressure allows."""

import numpy as np
import pytest

from humanoid_dynamics.contact.transfer import (
    PROFILES,
    feasible_shares,
    find_profile,
    switch_share,
    transfer_share,
    two_segment_share,
)
from humanoid_dynamics.errors import UnknownNameError

REAR, FRONT = (-0.0646, 0.1938), (0.2854, 0.5438)  # heel and toe of two feet, a step of 0.35 m


@pytest.mark.parametrize("name", PROFILES)
class TestProfiles:
    def test_ends_and_symmetry(self, name):
        profile = PROFILES[name]
        assert [profile(u) for u in (-1.0, 0.0, 1.0, 2.0)] == [0.0, 0.0, 1.0, 1.0]
        for u in np.linspace(0.0, 1.0, 21):
            assert profile(u) + profile(1.0 - u) == pytest.approx(1.0, abs=1e-15)

    def test_rises_and_never_faster_than_it_says(self, name):
        profile, u = PROFILES[name], np.linspace(0.0, 1.0, 2001)
        slopes = np.diff([profile(x) for x in u]) / np.diff(u)
        assert np.all(slopes > 0.0)
        assert np.max(slopes) <= profile.steepest * (1.0 + 1e-9)
        assert np.max(slopes) > 0.999 * profile.steepest
        assert (slopes[0] < 1e-5) == (slopes[-1] < 1e-5) == profile.smooth

    def test_no_number_is_no_load(self, name):
        assert PROFILES[name](np.nan) == 0.0


def test_times_are_absolute():
    """With the length of double support read as a time the printed formula gives -0.571 in its middle; with absolute times one half."""
    assert transfer_share(0.76, 0.6, 0.92) == pytest.approx(0.5)
    assert transfer_share(0.6, 0.6, 0.92) == 0.0
    assert transfer_share(0.92, 0.6, 0.92) == 1.0


def test_transfer_of_no_length_is_a_step():
    assert [transfer_share(t, 1.0, 1.0) for t in (0.99, 1.0, 1.01)] == [0.0, 1.0, 1.0]


def test_two_segments_pass_through_the_middle():
    times, middle = (0.6, 0.76, 0.92), 0.519184
    values = [two_segment_share(t, times, middle) for t in np.linspace(0.6, 0.92, 201)]
    assert two_segment_share(0.76, times, middle) == pytest.approx(middle)
    assert (values[0], values[-1]) == (0.0, 1.0)
    assert np.all(np.diff(values) >= 0.0)


def test_switch_share_puts_both_pressures_on_their_edges():
    zmp = 0.2414
    s = switch_share(zmp, REAR[1], FRONT[0])
    assert (1.0 - s) * REAR[1] + s * FRONT[0] == pytest.approx(zmp)
    assert switch_share(0.0, REAR[1], FRONT[0]) == 0.0
    assert switch_share(1.0, REAR[1], FRONT[0]) == 1.0


@pytest.mark.parametrize("front", [FRONT, (FRONT[0], FRONT[0])], ids=["flat", "on its heel"])
@pytest.mark.parametrize("rear", [REAR, (REAR[1], REAR[1])], ids=["flat", "on its toe"])
def test_feasible_shares_are_those_with_a_pair_of_pressures(rear, front):
    rng = np.random.default_rng(1)
    for zmp in rng.uniform(rear[0], front[1], 60):
        low, high = feasible_shares(zmp, rear, front)
        for s in rng.uniform(0.0, 1.0, 20):
            reach = ((1.0 - s) * rear[0] + s * front[0], (1.0 - s) * rear[1] + s * front[1])
            if min(abs(s - low), abs(s - high)) > 1e-9:
                assert (low <= s <= high) == (reach[0] <= zmp <= reach[1])


def test_unknown_profile():
    with pytest.raises(UnknownNameError, match=r"no profile named 'cubic'.*linear, quintic"):
        find_profile("cubic")
