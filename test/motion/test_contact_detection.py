# SPDX-License-Identifier: Apache-2.0
"""Contact schedules, and finding them in motions."""

import numpy as np
import pytest
from clips import load_recorded, recorded

import humanoid_dynamics as hd
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.contact_detection import (
    ContactThresholds,
    detect_contacts,
    measure_soles,
)
from humanoid_dynamics.motion.gait import plan_walk
from humanoid_dynamics.motion.resampling import resample
from humanoid_dynamics.motion.schedule import TouchTimes, runs, schedule_from_labels

G1 = hd.load_robot("g1")


def test_labels_and_intervals_say_the_same():
    rng = np.random.default_rng(4)
    times = np.cumsum(rng.uniform(0.01, 0.05, size=300))
    for _ in range(20):
        labels = {name: np.repeat(rng.random(50) < 0.5, 6) for name in ("left", "right")}
        for touches in labels.values():
            touches[-1] = touches[-2]
        again = schedule_from_labels(times, labels).labels(times)
        for name, touches in labels.items():
            np.testing.assert_array_equal(again[name], touches)


def test_phases_are_the_times_between_changes():
    schedule = TouchTimes(
        0.0, 4.0, {"left": ((0.0, 2.0), (3.0, 4.0)), "right": ((0.0, 1.0), (2.0, 4.0))}
    )
    found = [(phase.start, phase.end, sorted(phase.surfaces)) for phase in schedule.phases()]
    assert found == [
        (0, 1, ["left", "right"]),
        (1, 2, ["left"]),
        (2, 3, ["right"]),
        (3, 4, ["left", "right"]),
    ]
    assert schedule.labels(np.array([0.0, 2.0, 4.0]))["left"].tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("start", "end", "intervals"),
    [
        (0.0, 1.0, ((0.5, 0.4),)),
        (0.0, 1.0, ((0.0, 0.5), (0.4, 0.6))),
        (0.0, 1.0, ((0.5, 1.5),)),
        (1.0, 1.0, ()),
        (0.0, np.nan, ()),
    ],
)
def test_senseless_schedule_is_refused(start, end, intervals):
    with pytest.raises(hd.ClipError, match="schedule"):
        TouchTimes(start, end, {"left": intervals})


def test_runs_of_labels():
    assert runs(np.array([True, True, False, True])) == [(0, 2, True), (2, 3, False), (3, 4, True)]
    assert runs(np.zeros(0, dtype=bool)) == []


@pytest.fixture(scope="module")
def walk():
    return plan_walk(G1)


def test_contacts_of_a_generated_walk_are_found(walk):
    found = detect_contacts(walk.clip)
    phases = [sorted(phase.surfaces) for phase in found.phases()]
    assert phases == [sorted(phase.surfaces) for phase in walk.schedule.phases()]
    for name, labels in found.labels(walk.clip.times).items():
        assert np.mean(labels == walk.clip.contacts[name]) > 0.92
        assert not np.any(~labels & walk.clip.contacts[name]), "no standing foot is missed"


def test_contacts_do_not_depend_on_a_drift_of_the_base(walk):
    """Recorded bases float: here by 5 cm, slowly."""
    q = np.array(walk.clip.q)
    q[:, 2] += 0.05 * np.sin(0.8 * walk.clip.times)
    drifting = detect_contacts(walk.clip.change(q=q, v=None, a=None))
    assert [sorted(p.surfaces) for p in drifting.phases()] == [
        sorted(p.surfaces) for p in walk.schedule.phases()
    ]


def test_standing_still_is_double_support_even_with_one_foot_higher():
    q = np.tile(G1.posture, (200, 1))
    q[:, G1.joint("left_knee_joint").q] += 0.1
    q[:, G1.joint("left_hip_pitch_joint").q] -= 0.05
    schedule = detect_contacts(Clip(G1, np.arange(200) / 100.0, q))
    assert [len(phase.surfaces) for phase in schedule.phases()] == [2]


def test_flight_is_found_only_where_it_is_allowed():
    times = np.arange(200) / 100.0
    q = np.tile(G1.posture, (200, 1))
    fly = (times > 0.8) & (times < 1.2)
    q[fly, 2] += 0.5 * 9.81 * (times[fly] - 0.8) * (1.2 - times[fly])
    clip = Clip(G1, times, q)
    assert all(phase.surfaces for phase in detect_contacts(clip).phases())
    jump = [phase for phase in detect_contacts(clip, flight=True).phases() if not phase.surfaces]
    assert len(jump) == 1
    assert jump[0].start == pytest.approx(0.8, abs=0.08)
    assert jump[0].end == pytest.approx(1.2, abs=0.08)


def test_given_thresholds_are_used(walk):
    none = detect_contacts(walk.clip, ContactThresholds(1.0, 2.0, 50.0, 100.0))
    assert [len(phase.surfaces) for phase in none.phases()] == [2]


def test_recorded_talos_walk_has_its_two_swings():
    path = recorded("talos_walk/one_step_20cm_ssp900_dsp400.npz")
    clip = load_recorded(path, hd.load_robot("talos_reduced"))
    with np.load(path) as archive:
        lifted = {
            side: archive[f"{side}_foot_pos"][::5, 2]
            > archive[f"{side}_foot_pos"][:, 2].min() + 1e-6
            for side in ("left", "right")
        }
    labels = detect_contacts(clip).labels(clip.times)
    for side, up in lifted.items():
        assert np.mean(labels[f"{side}_foot"] == ~up) > 0.96
        assert sum(not stands for *_, stands in runs(labels[f"{side}_foot"])) == 1


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("g1_karate/B_HandsUp.csv", 0, 0),
        ("g1_asap/squat_level1.npz", 0, 1),
        ("g1_asap/single_foot_balance_level1.npz", 1, 3),
        ("g1_asap/walk_level1.npz", 4, 6),
        ("g1_karate/J_ShortDance16_JazzWalk.csv", 10, 16),
    ],
)
def test_swings_of_recorded_clips(name, least, most):
    clip = resample(load_recorded(recorded(name), G1), 100.0)
    phases = detect_contacts(clip).phases()
    assert least <= sum(len(phase.surfaces) == 1 for phase in phases) <= most
    assert all(phase.surfaces for phase in phases)


def test_standing_leg_of_sr1_is_one_that_stands():
    path = recorded("sr1_walk/SR1WalkPattern1.npz")
    clip = resample(load_recorded(path, hd.load_robot("sr1")), 100.0)
    with np.load(path) as archive:
        left = archive["stance_is_left"][::5][: len(clip)]
    labels = detect_contacts(clip).labels(clip.times)
    stands = np.where(left, labels["left_foot"], labels["right_foot"])
    assert np.mean(stands) > 0.98


def test_heights_count_from_the_lower_foot():
    heights, speeds = measure_soles(Clip(G1, np.arange(100) / 50.0, np.tile(G1.posture, (100, 1))))
    np.testing.assert_allclose(heights, 0.0, atol=1e-9)
    np.testing.assert_allclose(speeds, 0.0, atol=1e-9)
