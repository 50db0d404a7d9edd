# SPDX-License-Identifier: Apache-2.0
"""The step that rolls over when the rear foot presses at its toe: continuous, feet flat, early and late, refusals."""

import numpy as np
import pytest

from humanoid_dynamics.contact.rolling_transfer import RollingTransfer
from humanoid_dynamics.contact.transfer import feasible_shares, switch_share, two_segment_share
from humanoid_dynamics.errors import ShapeError

REAR, FRONT = (0.0, 0.2), (0.4, 0.6)
DURATIONS = (0.16, 0.16)
DT = 1e-4


def follow(rolling, zmp, end=0.6, rear=REAR, front=FRONT):
    """Return times, points and answers of a step, tick by tick."""
    times = np.arange(0.0, end, DT)
    return times, [zmp(t) for t in times], [rolling.tick(t, zmp(t), rear, front) for t in times]


def moving(event, end=0.6):
    """A zero-moment point that starts under the rear foot and is where the planned share wants it at the event."""
    return lambda t: float(np.interp(t, (0.0, event, end), (0.12, 0.3, 0.55)))


@pytest.mark.parametrize("event", [0.08, 0.16, 0.3])
def test_early_and_late_events_leave_no_step(event):
    """The rear foot presses at its toe and the front one at its heel when the step rolls over, whenever that is."""
    middle = switch_share(0.3, REAR[1], FRONT[0])
    times, zmps, answers = follow(RollingTransfer(0.0, DURATIONS, middle), moving(event))
    shares = np.array([answer.share for answer in answers])
    rolled = [answer.rolled for answer in answers].index(True)
    assert abs(times[rolled] - event) < 0.04
    assert (1.0 - shares[rolled]) * REAR[1] + shares[rolled] * FRONT[0] == pytest.approx(
        zmps[rolled], abs=1e-12
    )
    assert np.abs(np.diff(shares)).max() < 40.0 * DT
    assert all(answer.feasible for answer in answers)
    assert shares[0] == 0.0
    for k in range(1, len(times)):
        pair = ((REAR[1],) * 2, FRONT) if k >= rolled else (REAR, (FRONT[0],) * 2)
        low, high = feasible_shares(zmps[k], *pair)
        assert low - 1e-12 <= shares[k] <= high + 1e-12
    assert sum(np.diff([answer.rolled for answer in answers]).astype(bool)) == 1


def test_an_event_as_planned_is_the_planned_share():
    """The point crosses from under the rear foot to between the feet just at the planned time."""
    middle = switch_share(0.3, REAR[1], FRONT[0])
    times, _, answers = follow(
        RollingTransfer(0.0, DURATIONS, middle),
        lambda t: 0.19999 if t < 0.16 else 0.3 if t < 0.2 else 0.41,
        end=0.32,
    )
    for t, answer in zip(times, answers, strict=True):
        planned = two_segment_share(t, (0.0, 0.16, 0.32), middle)
        if t < 0.16 or t > 0.21:
            assert answer.share == pytest.approx(planned, abs=2e-3), t
    assert answers[-1].share == pytest.approx(1.0, abs=1e-6)


def test_without_the_event_the_load_waits():
    rolling = RollingTransfer(1.0, DURATIONS, 0.5)
    for t in np.arange(1.0, 2.0, 0.01):
        answer = rolling.tick(t, 0.18, REAR, FRONT)
    assert (answer.share, answer.rolled) == (feasible_shares(0.18, REAR, (0.4, 0.4))[1], False)


def test_points_outside_the_feet_are_told_and_the_share_stays_slow():
    """A push throws the point in front of both feet, then behind them: the share is no faster than asked for, and said not to fit."""
    rolling = RollingTransfer(0.0, DURATIONS, 0.5, fastest=6.0)
    answers = [
        rolling.tick(t, zmp, REAR, FRONT)
        for t, zmp in zip(
            np.arange(0.0, 0.3, 0.01), [0.1] * 10 + [0.9] * 10 + [-0.5] * 10, strict=True
        )
    ]
    shares = np.array([answer.share for answer in answers])
    assert np.abs(np.diff(shares)).max() <= 6.0 * 0.01 + 1e-12
    assert np.all((shares >= 0.0) & (shares <= 1.0))
    assert not any(answer.feasible for answer in answers[11:])
    assert all(answer.feasible for answer in answers[:10])


def test_a_point_that_is_no_number_leaves_the_share_to_time():
    rolling = RollingTransfer(0.0, DURATIONS, 0.5)
    assert rolling.tick(0.08, float("nan"), REAR, FRONT).share == pytest.approx(0.25)
    assert rolling.tick(0.05, float("nan"), REAR, FRONT).share >= 0.0


@pytest.mark.parametrize(
    "arguments",
    [
        (0.0, (0.0, 0.1), 0.5),
        (0.0, (0.1, np.inf), 0.5),
        (np.nan, (0.1, 0.1), 0.5),
        (0.0, (0.1, 0.1), 1.5),
        (0.0, (0.1, 0.1), 0.5, 0.0),
    ],
)
def test_what_is_no_transfer_is_refused(arguments):
    with pytest.raises(ShapeError, match="rolling transfer"):
        RollingTransfer(*arguments)
