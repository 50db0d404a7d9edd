# SPDX-License-Identifier: Apache-2.0
"""Contacts that come early, late or never, or are lost: who bears the load, and how fast that changes."""

import numpy as np
import pytest

from humanoid_dynamics.contact.phases import ContactPhaseStatus, PhaseManager
from humanoid_dynamics.contact.schedule import ContactInterval, ContactSchedule
from humanoid_dynamics.errors import UnknownNameError

DT = 1e-3


def step():
    return ContactSchedule.of(
        [
            ContactInterval("left", -np.inf, 0.92, 0.1, 0.32),
            ContactInterval("right", 0.6, np.inf, 0.32, 0.1),
        ]
    )


def run(manager, events, end=1.6):
    """Ask at every millisecond; events are (time, surface, closed)."""
    times, phases, waiting = np.arange(0.0, end, DT), [], sorted(events)
    for t in times:
        while waiting and waiting[0][0] <= t:
            time, surface, closed = waiting.pop(0)
            manager.observe(surface, closed, time)
        phases.append(manager.phase(t))
    return times, phases


def check_speed(manager, phases, rates):
    shares = np.array([phase.shares for phase in phases])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)
    assert np.all(np.abs(np.diff(shares, axis=0)) <= rates * DT + 1e-12)
    return shares


# BP-21: the phase manager


def test_without_events_it_is_the_schedule():
    manager = PhaseManager(step())
    times, phases = run(manager, [])
    for t, phase in zip(times, phases, strict=True):
        np.testing.assert_array_equal(phase.shares, step().shares(t))
        assert (phase.status, phase.reason) == ("PLANNED", "")
        assert phase.schedule_time == pytest.approx(t)


def test_on_time():
    manager = PhaseManager(step())
    _, phases = run(manager, [(0.0, "right", False), (0.6, "right", True)])
    assert {phase.status for phase in phases} == {"PLANNED"}
    shares = check_speed(manager, phases, step().share_rates())
    np.testing.assert_allclose(shares[-1], [0.0, 1.0])


def test_late_touchdown_keeps_the_load_where_it_is():
    manager = PhaseManager(step())
    times, phases = run(manager, [(0.0, "right", False), (0.85, "right", True)])
    shares = check_speed(manager, phases, step().share_rates())
    late = (times > 0.601) & (times < 0.849)
    assert {phases[i].status for i in np.flatnonzero(late)} == {"WAITING"}
    assert "right was to touch" in phases[700].reason
    np.testing.assert_array_equal(shares[late], [[1.0, 0.0]] * late.sum())
    np.testing.assert_allclose(
        shares[times > 0.85 + 0.33], [[0.0, 1.0]] * (times > 0.85 + 0.33).sum(), atol=1e-12
    )


def test_early_touchdown_is_loaded_until_the_planned_time():
    manager = PhaseManager(step())
    rates = manager.share_rates()
    times, phases = run(manager, [(0.0, "right", False), (0.5, "right", True)])
    shares = check_speed(manager, phases, rates)
    assert shares[times < 0.499, 1].max() == 0.0
    assert shares[np.searchsorted(times, 0.58), 1] > 0.0
    np.testing.assert_allclose(
        shares[times > 0.921], [[0.0, 1.0]] * (times > 0.921).sum(), atol=1e-12
    )


def random_plan(rng):
    """Up to four contacts, one of which stays; some close and open together with others, or close once more, or a third time."""
    names = [f"contact {i}" for i in range(int(rng.integers(2, 5)))]
    intervals = [ContactInterval(names[0], -np.inf, np.inf, 0.0, 0.0, rng.uniform(0.3, 1.0))]
    together = rng.uniform(0.1, 0.4)
    for name in names[1:]:
        load, unload = rng.uniform(0.03, 0.3, 2)
        start = together if rng.random() < 0.5 else rng.uniform(0.1, 0.5)
        for _ in range(int(rng.integers(1, 4))):
            end = start + load + rng.uniform(0.0, 0.2) + unload
            intervals.append(ContactInterval(name, start, end, load, unload, rng.uniform(0.2, 1.5)))
            start = end + rng.uniform(0.02, 0.3)
    return ContactSchedule.of(intervals, str(rng.choice(["linear", "quintic"])))


class Ground:
    """What really touches: each closing of a plan on time, early or late, until its lift-off."""

    def __init__(self, plan, rng):
        self.plan = plan
        self.off = {
            interval: rng.choice([0.0, rng.uniform(-0.3, 0.3)]) for interval in plan.intervals
        }
        self.due = {}

    def touches(self, surface, schedule_time, t):
        opened = -np.inf
        for interval in (i for i in self.plan.intervals if i.surface == surface):
            if schedule_time >= interval.start:
                self.due.setdefault(interval, t)
            early = max(interval.start + min(self.off[interval], 0.0), opened) <= schedule_time
            late = (
                self.off[interval] > 0.0 and t < self.due.get(interval, np.inf) + self.off[interval]
            )
            if early and not late and schedule_time <= interval.end:
                return True
            opened = interval.end + 0.01
        return False


def follow_plan(rng, dt=4e-3):
    """Let touch-downs come early and late; return the largest change of a share in a tick over its bound, known beforehand."""
    plan = random_plan(rng)
    manager, ground = PhaseManager(plan), Ground(plan, rng)
    rates, used, before = manager.share_rates(), 0.0, None
    for t in np.arange(0.0, 2.4, dt):
        now = manager.phase(t).schedule_time
        for surface in plan.surfaces[1:]:
            manager.observe(surface, ground.touches(surface, now, t), t)
        phase = manager.phase(t)
        if before is not None and phase.status != "LOST":
            used = max(used, float(np.max(np.abs(phase.shares - before) / (rates * dt))))
        before = phase.shares
    return used


@pytest.mark.parametrize("seed", range(60))
def test_early_and_late_touchdowns_keep_the_bound_that_was_known_before(seed):
    assert 0.0 < follow_plan(np.random.default_rng(seed)) <= 1.0 + 1e-9


@pytest.mark.slow
def test_ten_thousand_plans_with_early_and_late_touchdowns_keep_their_bound():
    rng = np.random.default_rng(60)
    used = [follow_plan(rng, 1e-2) for _ in range(10_000)]
    assert max(used) <= 1.0 + 1e-9
    assert max(used) > 0.5


def walk():
    """The left foot touches twice, the right one stays."""
    again = [
        ContactInterval("left", start, end, 0.1, 0.1) for start, end in ((0.4, 1.0), (1.2, np.inf))
    ]
    return ContactSchedule.of([ContactInterval("right", -np.inf, np.inf, 0.0, 0.0), *again])


@pytest.mark.parametrize(
    ("first", "second"), [(a, b) for a in (-0.08, 0.0, DT, 0.05) for b in (-0.08, 0.0, 0.05)]
)
def test_foot_that_touches_twice_is_loaded_twice_early_on_time_or_late(first, second):
    manager = PhaseManager(walk())
    waited = max(first, 0.0)
    events = [(0.4 + first, True), (1.0 + waited, False), (1.2 + waited + second, True)]
    times, phases = run(
        manager, [(0.0, "left", False), *((t + 1e-9, "left", closed) for t, closed in events)], 2.0
    )
    shares = check_speed(manager, phases, walk().share_rates(events=True))
    lifted = (times > 1.0 + waited + DT) & (times < 1.2 + waited + min(second, 0.0))
    np.testing.assert_array_equal(shares[lifted], [[1.0, 0.0]] * int(lifted.sum()))
    np.testing.assert_allclose(shares[np.searchsorted(times, 0.6 + waited)], [0.5, 0.5], atol=1e-12)
    np.testing.assert_allclose(shares[-1], [0.5, 0.5], atol=1e-12)
    told = {phase.status for phase in phases}
    assert (
        told == {"PLANNED", "WAITING"}
        if max(first, second) > DT
        else told <= {"PLANNED", "WAITING"}
    )


@pytest.mark.parametrize("seed", range(40))
def test_nothing_that_a_sensor_tells_is_an_error(seed):
    rng = np.random.default_rng(seed)
    plan = random_plan(rng)
    manager = PhaseManager(plan)
    for t in rng.uniform(0.0, 3.0, 200) if seed % 2 else np.sort(rng.uniform(0.0, 3.0, 200)):
        manager.observe(
            str(rng.choice(plan.surfaces)),
            bool(rng.random() < 0.5),
            float(rng.choice([t, t, t, np.nan, np.inf, -np.inf])),
        )
        shares = manager.phase(float(t)).shares
        assert shares.min() >= 0.0
        assert shares.sum() == pytest.approx(1.0) or not shares.any()


def test_early_touchdown_of_a_contact_that_is_unloaded_as_soon_as_it_is_loaded():
    rng = np.random.default_rng(0)
    for _ in range(2000):
        start, load, unload = rng.uniform(0.0, 1.0), *rng.uniform(0.01, 0.3, 2)
        plan = ContactSchedule.of(
            [ContactInterval("hand", start, np.nextafter(start + load + unload, 9.0), load, unload)]
        )
        manager = PhaseManager(plan, -1.0)
        manager.observe("hand", False, -1.0)
        t = start - rng.uniform(0.0, 0.3)
        manager.observe("hand", True, t)
        assert manager.schedule.intervals[0].start == pytest.approx(t)


def test_missed_contact_waits_and_says_so():
    _, phases = run(PhaseManager(step()), [(0.0, "right", False)])
    assert phases[-1].status == "WAITING"
    assert phases[-1].schedule_time == pytest.approx(0.6)
    np.testing.assert_array_equal(phases[-1].shares, [1.0, 0.0])


def test_sensor_that_is_heard_at_every_tick_does_not_hide_who_is_waited_for():
    manager, told = PhaseManager(step()), {}
    for t in np.arange(0.0, 1.0, DT):
        manager.observe("right", t >= 0.85, t)
        phase = manager.phase(t)
        again = manager.phase(t)
        assert (again.status, again.reason, again.schedule_time) == (
            phase.status,
            phase.reason,
            phase.schedule_time,
        )
        told[round(t, 3)] = phase.status
    assert {told[t] for t in (0.0, 0.5, 0.6, 0.85, 0.999)} == {"PLANNED"}
    assert {status for t, status in told.items() if 0.601 <= t < 0.85} == {"WAITING"}


def test_nobody_is_waited_for_at_the_very_time_of_a_touchdown():
    hands = [
        ContactInterval(name, start, np.inf, 0.1, 0.1)
        for name, start in (("one", 0.5), ("other", 0.75))
    ]
    plan = ContactSchedule.of([ContactInterval("foot", -np.inf, np.inf, 0.0, 0.0), *hands])
    manager = PhaseManager(plan, 0.5)
    manager.observe("one", False, 0.5)
    assert manager.phase(0.5).status == "PLANNED"
    assert manager.phase(0.625).status == "WAITING"
    manager.observe("one", True, 0.625)
    assert manager.phase(0.875).schedule_time == 0.75
    manager.observe("other", False, 0.875)
    assert manager.phase(0.875).status == "PLANNED"
    assert manager.phase(0.9375).status == "WAITING"


def test_lost_contact_gives_its_load_at_once_and_takes_it_back_slowly():
    manager = PhaseManager(step())
    times, phases = run(
        manager,
        [(0.0, "right", False), (0.6, "right", True), (0.75, "right", False), (0.8, "right", True)],
    )
    lost = (times >= 0.751) & (times < 0.8)
    assert {phases[i].status for i in np.flatnonzero(lost)} == {"LOST"}
    assert "right opened under load at 0.750 s" in phases[760].reason
    shares = np.array([phase.shares for phase in phases])
    np.testing.assert_array_equal(shares[lost, 1], 0.0)
    back = shares[(times > 0.801) & (times < 0.92)]
    assert np.all(np.diff(back[:, 1]) >= 0.0)
    assert back[0, 1] < 1e-3
    assert phases[-1].status == "PLANNED"


def test_both_lost_is_flight():
    manager = PhaseManager(step())
    manager.observe("left", True, 0.0)
    manager.observe("left", False, 0.1)
    phase = manager.phase(0.2)
    assert phase.status == "LOST"
    assert not phase.shares.any()
    assert phase.status in set(ContactPhaseStatus)


def test_chatter_of_a_sensor_never_breaks_the_sum():
    rng = np.random.default_rng(1)
    manager = PhaseManager(step())
    for t in np.arange(0.0, 1.5, DT):
        if rng.random() < 0.2:
            manager.observe(str(rng.choice(["left", "right"])), bool(rng.random() < 0.5), t)
        shares = manager.phase(t).shares
        assert np.isfinite(shares).all()
        assert shares.min() >= 0.0
        assert shares.sum() == pytest.approx(1.0) or not shares.any()


def test_time_that_runs_backwards_stands_still():
    manager = PhaseManager(step())
    late = manager.phase(0.8).shares
    np.testing.assert_array_equal(manager.phase(0.2).shares, late)


NO_TIMES = pytest.mark.parametrize("no_time", [np.nan, np.inf, -np.inf])


@NO_TIMES
def test_time_that_is_no_finite_number_is_the_last_one(no_time):
    manager = PhaseManager(step())
    before = manager.phase(0.7)
    manager.observe("right", True, no_time)
    after = manager.phase(no_time)
    np.testing.assert_array_equal(after.shares, before.shares)
    assert (after.status, after.schedule_time) == ("PLANNED", before.schedule_time)
    np.testing.assert_array_equal(manager.phase(0.8).shares, step().shares(0.8))


@NO_TIMES
def test_contact_that_comes_back_at_no_finite_time_is_loaded_from_the_last_one(no_time):
    shares = []
    for back in (0.8, no_time):
        manager = PhaseManager(step())
        manager.observe("right", True, 0.7)
        manager.observe("right", False, 0.8)
        manager.observe("right", True, back)
        shares.append(manager.phase(0.85).shares)
    assert shares[0].min() > 0.0
    np.testing.assert_array_equal(*shares)


def test_unknown_surface():
    with pytest.raises(UnknownNameError, match="no scheduled surface named 'hand'"):
        PhaseManager(step()).observe("hand", True, 0.0)


def test_with_patience_a_late_contact_bears_nothing_and_the_schedule_goes_on_until_patience_ends():
    def manager():
        left, right = (
            ContactInterval("left", -np.inf, np.inf, 0.0, 0.0),
            ContactInterval("right", 1.0, np.inf, 0.1, 0.0),
        )
        found = PhaseManager(ContactSchedule.of((left, right)), 0.0, 0.2)
        found.observe("left", True, 0.0)
        found.observe("right", False, 0.0)
        return found

    phases = manager()
    assert phases.touches_within("right", 1.1)
    assert not phases.touches_within("right", 0.9)
    late = phases.phase(1.15)
    assert (late.status, late.schedule_time) == ("PLANNED", 1.15)
    np.testing.assert_array_equal(late.shares, [1.0, 0.0])
    assert phases.absent == {"right"}
    phases.observe("right", True, 1.16)
    assert not phases.absent
    assert 0.0 < phases.phase(1.2).shares[1] < 0.5
    assert phases.phase(1.3).shares[1] == pytest.approx(0.5)
    assert phases.phase(1.3).schedule_time == pytest.approx(1.3)

    waiting = manager()
    found = [waiting.phase(t) for t in (1.1, 1.19, 1.25, 1.5)]
    assert [phase.status for phase in found] == ["PLANNED", "PLANNED", "WAITING", "WAITING"]
    assert found[-1].schedule_time == pytest.approx(1.2)
    np.testing.assert_array_equal(found[-1].shares, [1.0, 0.0])
