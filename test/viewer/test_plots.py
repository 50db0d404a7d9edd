# SPDX-License-Identifier: Apache-2.0
"""Plots: no rounding error fills one, and a record is shown whole with a cursor."""

import numpy as np
import pytest

pytest.importorskip("viser", reason="the page's extra is not installed")

from visitors import Diary, shown, wait_for

import humanoid_dynamics as hd
from humanoid_dynamics.viewer.playback import Forces, Playback
from humanoid_dynamics.viewer.plots import CURSOR, add_cursor, fit_range

RNG = np.random.default_rng(5)


def test_rounding_errors_do_not_fill_a_plot() -> None:
    low, high = fit_range([300.0 + 1e-9 * RNG.normal(size=50)], 6.0)
    assert high - low == pytest.approx(6.0)
    assert low < 300.0 < high


def test_values_fill_a_plot() -> None:
    values = RNG.uniform(-50.0, 80.0, 200)
    low, high = fit_range([values, np.zeros(200)], 6.0)
    assert low < values.min()
    assert values.max() < high
    assert high - low < 1.3 * np.ptp(values)


def test_a_range_stays_until_values_leave_it_or_use_little_of_it() -> None:
    before = fit_range([np.array([0.0, 100.0])], 1.0)
    assert fit_range([np.array([10.0, 90.0])], 1.0, before) == before
    assert fit_range([np.array([0.0, 120.0])], 1.0, before)[1] > 120.0
    assert np.ptp(fit_range([np.array([49.0, 51.0])], 1.0, before)) < 5.0


def test_what_is_not_a_number_sets_no_range() -> None:
    assert fit_range([np.array([np.nan, np.inf, 2.0])], 1.0) == (1.5, 2.5)
    assert fit_range([np.full(3, np.nan)], 1.0) == (-0.5, 0.5)
    assert fit_range([], 1.0) == (-0.5, 0.5)


@pytest.mark.parametrize("now", [-1.0, 0.0, 0.33, 1.0, 7.0])
def test_the_cursor_is_a_line_at_the_present_time(now: float) -> None:
    times = np.linspace(0.0, 1.0, 11)
    placed, curve, line = add_cursor((times, times**2), now, -1.0, 3.0)
    assert (np.diff(placed) >= 0.0).all()
    assert len(placed) == len(curve) == len(line) == 14
    assert placed[line == 3.0] == pytest.approx([np.clip(now, 0.0, 1.0)])
    assert sorted(set(line)) == [-1.0, 3.0]
    assert np.interp(times, placed, curve) == pytest.approx(times**2)


def test_a_record_keeps_its_whole_plots_wherever_it_goes() -> None:
    robot = hd.load_robot("human28")
    times = np.linspace(0.0, 4.0, 401)
    torques = np.outer(np.sin(times), np.ones(len(robot.actuated)))
    session = Playback(
        robot,
        times,
        np.tile(robot.posture, (401, 1)),
        title="A record",
        numbers=lambda row: {"normal force, left [N]": 300.0 + 1e-9 * row},
        forces=Forces(lambda row, data: [], robot.actuated, torques),
    )
    with shown(session, rate=30.0) as page:
        plots = page._panel._plots
        assert wait_for(lambda: "left leg [N·m]" in plots._plots)
        for t in (3.0, 0.5, 4.0, 0.0):
            page.wish(None, lambda own, t=t: own.seek(t))
            assert wait_for(lambda t=t: abs(plots._now - t) < 0.01)
            page.wish(None, lambda own, t=t: own.seek(t))
            assert wait_for(
                lambda t=t: (
                    find_cursor(plots._plots["left leg [N·m]"].data) == pytest.approx(t, abs=0.01)
                )
            )
            data = plots._plots["left leg [N·m]"].data
            assert data[0][0] == 0.0
            assert data[0][-1] == pytest.approx(4.0)
            assert np.interp(times, data[0], data[1]) == pytest.approx(np.sin(times), abs=1e-9)
        force = plots._plots["normal force [N]"]
        assert force.series[-1]["label"] == CURSOR
        low, high = force.scales["y"]["range"]
        assert high - low == pytest.approx(0.01 * robot.mass * 9.81, rel=1e-3)


def test_time_that_stands_still_fills_no_plot() -> None:
    session = Diary()
    with shown(session) as page:
        plots = page._panel._plots
        assert wait_for(lambda: session.t > 0.5)
        session.advance = lambda seconds: None
        for _ in range(2):
            seen = len(plots._history)
            assert not wait_for(lambda seen=seen: len(plots._history) > seen + 2, 0.5)
        times = [t for t, _, _ in plots._history]
        assert len(set(times)) == len(times)


def find_cursor(data: tuple[np.ndarray, ...]) -> float:
    return float(data[0][np.argmax(data[-1])])
