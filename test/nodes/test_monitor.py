# SPDX-License-Identifier: Apache-2.0
"""Rates of the live table: all over the same window."""

from collections import deque

import pytest

pytest.importorskip(
    "rclpy",
    reason="needs ROS 2: pip install 'humanoid_dynamics[ros]', or source a ROS installation",
)

from humanoid_dynamics.nodes.monitor import WINDOW, count_rate


@pytest.mark.parametrize("rate", [1000.0, 500.0, 20.0])
def test_rates_are_those_of_the_window(rate):
    times = deque(k / rate for k in range(int(10.0 * rate)))
    assert count_rate(times, 10.0, 10.0) == pytest.approx(rate, abs=1.0 / WINDOW)


def test_what_stopped_falls_silent_and_what_has_just_begun_counts_from_there():
    times = deque([1.0, 1.1])
    assert count_rate(times, 10.0, 10.0) == 0.0
    assert list(times) == [1.1]  # when it was last heard is still known
    assert count_rate(deque([0.1, 0.2, 0.3, 0.4, 0.5]), 0.5, 0.5) == 10.0
