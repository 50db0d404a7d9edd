# SPDX-License-Identifier: Apache-2.0
"""The small functions of the filter: each does one thing, and these are the laws it keeps."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.filtering.conditioning.balance import BoundedShift
from humanoid_dynamics.filtering.conditioning.contacts import (
    PLANNED_FEET,
    RECORDED_FEET,
    choose_thresholds,
    drop_short,
    label_window,
)
from humanoid_dynamics.filtering.conditioning.footholds import lengthen_swings, soften_distance
from humanoid_dynamics.filtering.conditioning.gate import FASTEST, NEARER, OUT_OF_REACH, HoldGate
from humanoid_dynamics.filtering.conditioning.intake import InputStage
from humanoid_dynamics.filtering.conditioning.labelling import choose_scale
from humanoid_dynamics.filtering.conditioning.planner import Planner
from humanoid_dynamics.filtering.conditioning.rejoining import BACK
from humanoid_dynamics.filtering.conditioning.rolling import find_behind
from humanoid_dynamics.filtering.conditioning.support import SupportArea
from humanoid_dynamics.filtering.conditioning.swing import Print, go_on
from humanoid_dynamics.filtering.conditioning.track import ReferenceTrack
from humanoid_dynamics.filtering.conditioning.windows import flat_kernel, smooth_columns
from humanoid_dynamics.filtering.proportions import inner_rectangle, measure_proportions
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.filtering.ticks.joint_room import EMERGENCY, JointAccelerationBounds
from humanoid_dynamics.model.doubt import doubtful_limits
from humanoid_dynamics.motion.schedule import runs
from humanoid_dynamics.spatial.polygon import margin_inside

DT = 0.005


def test_nothing_to_move_moves_nothing():
    x, rate, second = BoundedShift(3.8, DT).advance(np.zeros((160, 2)), 8)
    assert not x.any()
    assert not rate.any()
    assert not second.any()


def test_shift_obeys_the_pendulum_and_ends_over_the_pivot():
    w, n = 3.8, 1200
    d = np.zeros((n, 2))
    d[400:, 0] = 0.1
    shift = BoundedShift(w, DT)
    xs, accelerations = [], []
    for row in range(0, n - 200, 8):
        x, _, second = shift.advance(d[row : row + 160], 8)
        xs.append(x)
        accelerations.append(second)
    x, second = np.vstack(xs)[:, 0], np.vstack(accelerations)[:, 0]
    assert abs(x[-1] - 0.1) < 2e-3
    assert np.max(np.abs(x)) < 0.101
    measured = np.diff(x, 2) / DT**2
    steady = slice(
        20, 230
    )  # before the step comes into sight, and while only the known future counts
    assert np.sqrt(np.mean((measured[steady] - second[1:-1][steady]) ** 2)) < 0.02


def test_window_leaves_parabolas_alone():
    t = np.arange(100) * DT
    parabola = 1.0 + 2.0 * t - 3.0 * t**2
    smooth = smooth_columns(parabola[:, None], flat_kernel(20))[:, 0]
    np.testing.assert_allclose(smooth[20:-20], parabola[20:-20], atol=1e-12)


def test_polynomial_meets_both_ends():
    rng = np.random.default_rng(0)
    state, goal = rng.normal(size=(3, 6)), rng.normal(size=(3, 6))
    states = go_on(state, goal, 0.3, np.array([0.0, 0.3]))
    np.testing.assert_allclose(states[0], state, atol=1e-12)
    np.testing.assert_allclose(states[1], goal, atol=1e-9)


def test_polynomial_replanned_on_the_way_stays_the_same():
    rng = np.random.default_rng(1)
    state, goal = rng.normal(size=(3, 2)), rng.normal(size=(3, 2))
    whole = go_on(state, goal, 0.4, np.array([0.1, 0.25]))
    again = go_on(whole[0], goal, 0.3, np.array([0.15]))
    np.testing.assert_allclose(again[0], whole[1], rtol=1e-8, atol=1e-8)


def test_before_now_a_way_that_is_about_to_end_was_as_its_rates_say():
    rng = np.random.default_rng(2)
    state, goal = rng.normal(size=(3, 6)), rng.normal(size=(3, 6))
    (before,) = go_on(state, goal, DT, np.array([-DT]))
    np.testing.assert_allclose(
        before[0], state[0] - DT * state[1] + 0.5 * DT**2 * state[2], atol=1e-12
    )
    np.testing.assert_allclose(before[1], state[1] - DT * state[2], atol=1e-12)


def test_clamped_points_are_inside_and_inner_ones_stay():
    rng = np.random.default_rng(2)
    support = SupportArea(rng.normal(size=(12, 2)), 0.4)
    points = rng.normal(scale=3.0, size=(200, 2))
    clamped = support.clamp(points, 0.4)
    assert np.max(support.reach(clamped)) <= 0.4 + 1e-12
    inside = support.reach(points) <= 0.4
    assert inside.any()
    np.testing.assert_allclose(clamped[inside], points[inside], atol=1e-12)


@pytest.mark.parametrize("name", ["g1", "talos_reduced", "human28", "icub"])
def test_rectangle_lies_inside_the_sole(name):
    try:
        robot = hd.load_robot(name)
    except hd.errors.HumanoidDynamicsError as missing:
        pytest.skip(str(missing))
    for corners in measure_proportions(robot).corners:
        rectangle = inner_rectangle(corners)
        assert min(margin_inside(corners[:, :2], corner[:2]) for corner in rectangle) > 0.0
        size = np.ptp(rectangle, axis=0)
        assert size[0] * size[1] > 0.35 * np.prod(np.ptp(corners, axis=0)[:2])


def test_joint_that_keeps_its_room_never_leaves_its_range():
    robot = hd.load_robot("human28")
    room = JointAccelerationBounds(robot)
    index, low, high = room.ranges
    rng = np.random.default_rng(3)
    q, v = np.array(robot.posture), np.zeros(robot.nv)
    for _ in range(400):
        room.update(q, v, DT, EMERGENCY)
        v[6:] += DT * np.where(rng.random(robot.nv - 6) < 0.5, room.lower, room.upper)
        q[7:] += DT * v[6:]
        assert (q[index] >= low - 1e-3).all()
        assert (q[index] <= high + 1e-3).all()
        assert (np.abs(v[6:]) <= robot.limits.velocity[6:] * (1.0 + 1e-9)).all()


@pytest.mark.parametrize("keeps", ["lower", "upper"])
def test_joint_with_one_limit_alone_is_limited(keeps):
    human = hd.load_robot("human28")
    place, lost = human.joints[-1].q.start, "upper" if keeps == "lower" else "lower"
    open_end = np.array(getattr(human.limits, lost))
    open_end[place] = np.inf if lost == "upper" else -np.inf
    robot = replace(human, limits=replace(human.limits, **{lost: open_end}))
    end = getattr(robot.limits, keeps)[place]
    q, v, row = np.array(robot.posture), np.zeros(robot.nv), human.joints[-1].v.start - 6
    q[place] = end
    room = JointAccelerationBounds(robot)
    room.update(q, v, DT)
    assert place in room.ranges[0]
    assert np.isfinite(room.bounds).all()
    assert (room.lower[row] > 0.0) if keeps == "lower" else (room.upper[row] < 0.0)


def test_short_swings_and_contacts_are_none():
    labels = np.ones(100, dtype=bool)
    labels[40:60] = False
    drop_short(labels, True, (32, 16))
    assert labels.all()
    labels[10:90] = False
    labels[48:53] = True
    drop_short(labels, True, (32, 16))
    assert not labels[10:90].any()
    assert labels[:10].all()


def test_one_foot_always_stands_and_load_is_handed_over_by_both():
    rows = np.arange(200)
    heights = np.column_stack((np.where(rows < 100, 0.0, 0.1), np.where(rows < 100, 0.1, 0.0)))
    labels = label_window(
        heights, np.where(heights > 0.0, 1.0, 0.0), RECORDED_FEET, ((True, False), (500, 0)), DT
    )
    assert labels.any(axis=1).all()
    assert labels.all(axis=1).sum() == round(0.06 / DT)


def test_sole_that_rolls_is_lifted_later_and_one_beside_the_other_is_not():
    rows, forward = np.arange(200), np.array([[0.0, 0.0, 0.0], [0.4, 0.0, 0.0]])
    heights = np.column_stack((np.where(rows < 100, 0.0, 0.1), np.where(rows < 100, 0.1, 0.0)))
    for known, way, both in (
        (0, forward, 0.11),
        (40, forward, 0.11),
        (0, forward[:, [1, 0, 2]], 0.06),
        (0, -forward, 0.06),
    ):
        place, turn = np.tile(way, (200, 1, 1)), np.tile(np.eye(3), (200, 2, 1, 1))
        rolls = find_behind(SimpleNamespace(place=place, turn=turn), 0.15)
        past = (True, False), (500, 0)
        labels = label_window(
            heights,
            np.where(heights > 0.0, 1.0, 0.0),
            RECORDED_FEET,
            past,
            DT,
            known=known,
            rolls=rolls,
        )
        assert labels.all(axis=1).sum() == round(both / DT)


def test_joint_that_had_to_brake_hard_goes_on_braking_and_stays_inside():
    robot = hd.load_robot("g1")
    joint = robot.joint("left_ankle_roll_joint")
    limit, at = robot.limits.lower[joint.q][0], joint.v.start - 6
    room, q, v = JointAccelerationBounds(robot), np.array(robot.posture), np.zeros(robot.nv)
    q[joint.q], v[joint.v] = limit + 0.002, -0.16  # in comfort it would pass the limit by 0.5 mrad
    for _ in range(60):
        room.update(q, v, DT)
        v[joint.v] += DT * room.lower[at]
        q[joint.q] += DT * v[joint.v]
        assert q[joint.q][0] >= limit
    q[joint.q], v[joint.v] = limit + 0.002, -0.16
    room.update(q, v, DT, measured=True)  # that of a robot has a stop
    assert room.lower[at] == pytest.approx(50.0 * 0.16 - 625.0 * (0.002 - 1e-4), abs=1e-9)


def test_a_swing_does_not_become_short_because_its_beginning_is_past():
    """A foot that was off but had to stand, since the other one was in the air: what is to come of it stays as it was seen before."""
    off = np.zeros((200, 2), dtype=bool)
    off[40:90, 0] = off[50:90, 1] = True
    heights, speeds = np.where(off, 0.01, 0.0) + np.array([0.0, 0.001]), np.where(off, 1.0, 0.0)
    seen = label_window(heights, speeds, RECORDED_FEET, ((True, True), (500, 500)), DT)
    for now in range(0, 90, 5):
        settled = (bool(seen[now - 1, 0]), bool(seen[now - 1, 1])) if now else (True, True)
        stood = tuple(
            500 if seen[:now, foot].all() else now - 1 - np.flatnonzero(~seen[:now, foot])[-1]
            for foot in (0, 1)
        )
        again = label_window(heights, speeds, RECORDED_FEET, (settled, stood), DT, known=now)
        np.testing.assert_array_equal(again, seen[now:], err_msg=str(now))


def test_feet_that_both_slide_do_not_swap_in_the_midst_of_a_swing():
    """Where both are too fast the slower one stands: which one that is may change, but two steps take longer than one."""
    heights, speeds = np.zeros((160, 2)), np.zeros((160, 2))
    speeds[60:100] = 0.6, 0.55
    speeds[60:64] = 0.55, 0.6
    labels = label_window(heights, speeds, RECORDED_FEET, ((True, True), (500, 500)), DT)
    np.testing.assert_array_equal(labels[:, 1], True)
    assert runs(labels[:, 0]) == [(0, 64, True), (64, 100, False), (100, 160, True)]


def test_what_two_feet_leave_of_a_swing_is_none_and_stays_none():
    """One foot comes down late, the other one is fast again soon: what is left between would be a swing of 0.06 s."""
    off = np.zeros((200, 2), dtype=bool)
    off[20:110, 0] = off[136:190, 0] = off[110:150, 1] = True
    heights, speeds = np.where(off, 0.01, 0.0) + np.array([0.001, 0.0]), np.where(off, 1.0, 0.0)
    seen = label_window(heights, speeds, RECORDED_FEET, ((True, True), (500, 500)), DT)
    np.testing.assert_array_equal(seen[:, 1], True)
    assert runs(seen[:, 0]) == [
        (0, 20, True),
        (20, 110, False),
        (110, 136, True),
        (136, 190, False),
        (190, 200, True),
    ]
    for now in range(100, 150, 2):
        stood = (min(now - 110, 500) if now > 110 else 500, 500)
        again = label_window(
            heights, speeds, RECORDED_FEET, ((bool(seen[now - 1, 0]), True), stood), DT, known=now
        )
        np.testing.assert_array_equal(again, seen[now:], err_msg=str(now))


def test_feet_that_do_not_move_while_the_base_does_were_planned():
    rows = np.arange(300) * DT
    base = np.column_stack((0.1 * np.sin(3.0 * rows), np.zeros(300)))
    centres = np.zeros((300, 2, 3))
    assert choose_thresholds(centres, base, DT) is PLANNED_FEET
    centres[:, :, 0] = 0.05 * np.sin(3.0 * rows)[:, None]
    assert choose_thresholds(centres, base, DT) is RECORDED_FEET
    assert choose_thresholds(np.zeros((300, 2, 3)), np.zeros((300, 2)), DT) is RECORDED_FEET


def test_strides_and_distances_are_only_made_smaller():
    assert choose_scale(0.3, 0.6) == 1.0
    assert choose_scale(1.0, 0.6) == pytest.approx(0.6)
    assert choose_scale(9.0, 0.6) == pytest.approx(0.5)
    distances = np.linspace(0.0, 3.0, 50)
    soft = np.array([soften_distance(distance, 0.45) for distance in distances])
    assert (soft <= distances + 1e-12).all()
    assert soft.max() <= 0.45
    assert (np.diff(soft) >= 0.0).all()


def test_left_out_samples_are_told_and_change_nothing():
    robot = hd.load_robot("human28")
    intake = InputStage(robot)
    assert intake.take(0.0, robot.posture) == "OK"
    kept = np.array(intake.q)
    bad = np.array(robot.posture)
    bad[9] = np.nan
    twisted = np.array(robot.posture)
    twisted[3:7] = 0.0
    assert intake.take(0.1, bad) == "NOT_FINITE"
    assert intake.take(0.1, twisted) == "NOT_UNIT"
    assert intake.take(0.1, robot.posture[:-1]) == "WRONG_SHAPE"
    assert intake.take(-1.0, robot.posture) == "STAMP_IN_PAST"
    np.testing.assert_array_equal(intake.q, kept)


@pytest.mark.parametrize(("entry", "value"), [(9, 1e6), (9, -31.0), (0, 2e4), (2, -1e9)])
def test_what_no_robot_reaches_is_left_out_in_its_own_words(entry, value):
    robot = hd.load_robot("human28")
    intake, far = InputStage(robot, keep_limits=False), np.array(robot.posture)
    intake.take(0.0, robot.posture)
    far[entry] = value
    assert intake.take(0.1, far) == "OUT_OF_RANGE"
    np.testing.assert_array_equal(intake.q, robot.posture)


def test_another_place_is_a_new_origin():
    robot = hd.load_robot("human28")
    intake = InputStage(robot)
    intake.take(0.0, robot.posture)
    away = np.array(robot.posture)
    away[:2] += (5.0, -3.0)
    assert intake.take(0.03, away) == "BASE_JUMP"
    np.testing.assert_allclose(intake.q[:2], robot.posture[:2], atol=1e-9)
    away[0] += 0.01
    assert intake.take(0.06, away) == "OK"
    assert intake.q[0] == pytest.approx(robot.posture[0] + 0.01)


def test_joint_that_jumps_runs_instead():
    robot = hd.load_robot("human28")
    intake = InputStage(robot)
    intake.take(0.0, robot.posture)
    jump = np.array(robot.posture)
    joint = next(j for j in robot.joints if "knee" in j.name)
    jump[joint.q] = robot.limits.upper[joint.q]
    assert intake.take(0.01, jump) == "VELOCITY_LIMITED"
    limit = robot.limits.velocity[joint.v][0]
    assert abs(intake.q[joint.q.start] - robot.posture[joint.q.start]) <= 0.01 * limit * (
        1.0 + 1e-9
    )


def test_posture_that_jumps_is_led_back_to_without_a_jump_in_velocity():
    robot = hd.load_robot("human28")
    intake, rng, rate = InputStage(robot), np.random.default_rng(0), 100.0
    goal = np.array(robot.posture)
    goal[7:] += rng.uniform(-0.6, 0.6, len(goal) - 7)
    goal = np.clip(goal, robot.limits.lower, robot.limits.upper)
    goal[:7] = robot.posture[:7]
    rows, said = [], []
    for k in range(130):
        wild = (
            goal
            if k >= 60
            else np.clip(
                robot.posture + 2.0 * rng.standard_normal(len(goal)),
                robot.limits.lower,
                robot.limits.upper,
            )
        )
        q = np.array(robot.posture) if k < 20 else np.array([*robot.posture[:7], *wild[7:]])
        said.append(intake.take(k / rate, q))
        rows.append(np.array(intake.q))
    rows = np.array(rows)
    assert set(said[20:60]) == {"POSTURE_JUMP"}
    np.testing.assert_allclose(
        rows[20:60], np.tile(robot.posture, (40, 1)), atol=0.02
    )  # nothing but noise is not followed
    np.testing.assert_allclose(rows[-1], goal, atol=1e-3)
    steps = np.abs(np.diff(rows[60:, 7:], axis=0)) * rate
    assert (
        np.max(steps) <= 1.875 * np.max(np.abs(goal - robot.posture)) / BACK[0] * 1.1
    )  # the peak of a quintic
    assert np.max(np.abs(np.diff(steps, axis=0))) < 0.25 * np.max(steps)


def test_far_steps_take_their_time_and_near_ones_stay():
    def prints(way):
        return [
            [(0, 2, Print(np.zeros(3), 0.0)), (12, 40, Print(np.array([way, 0.0, 0.0]), 0.0))],
            [(0, 40, Print(np.zeros(3), 0.0))],
        ]

    last, dt = [(Print(np.zeros(3), 0.0), 0)] * 2, 0.01
    for way, lands in ((0.1, 12), (0.36, 22), (9.0, 40)):
        labels = np.ones((40, 2), dtype=bool)
        labels[2:12, 0] = False
        assert lengthen_swings(labels, prints(way), last, dt) is (lands > 12)
        assert labels[:, 1].all()
        assert not labels[2:lands, 0].any()
        assert labels[lands:, 0].all()


def test_limits_of_other_joints_are_doubted():
    assert doubtful_limits(hd.load_robot("human28")) == ()
    try:
        robot = hd.load_robot("sr1")
    except hd.errors.HumanoidDynamicsError as missing:
        pytest.skip(str(missing))
    assert "LLEG_KNEE" in doubtful_limits(robot)


def test_gate_opens_when_balanced_or_after_a_while():
    gate = HoldGate(3.8, DT, active=True)
    sole = SupportArea(np.array([[-0.1, -0.03], [0.1, -0.03], [0.1, 0.03], [-0.1, 0.03]]), 0.4)
    assert not gate.closed(sole, np.zeros(2), np.zeros(2), landed=True)
    com, rate, rows = np.array([0.0, 0.15]), np.zeros(2), 0
    while gate.closed(sole, com, rate, landed=True):
        places, rates, seconds = gate.wait(sole, 8)
        np.testing.assert_allclose(
            np.diff(places, axis=0) / DT, 0.5 * (rates[1:] + rates[:-1]), atol=1e-4
        )
        assert np.isfinite(seconds).all()
        com, rate, rows = places[-1], rates[-1], rows + 8
    assert 40 < rows <= 300
    assert abs(gate.release()[1]) < 0.05
    far = HoldGate(3.8, DT, active=True)
    waited = 0
    while far.closed(sole, np.array([0.0, 9.0]), np.zeros(2), landed=True):
        far.wait(sole, 8)
        waited += 8
    assert waited * DT == pytest.approx(1.52, abs=0.05)


def test_gate_stays_closed_while_the_sole_that_stays_is_in_the_air():
    gate, sole, waited = (
        HoldGate(3.8, DT, active=True),
        SupportArea(np.array([[-0.1, -0.03], [0.1, -0.03], [0.1, 0.03], [-0.1, 0.03]]), 0.4),
        0,
    )
    for _ in range(10):
        assert gate.closed(sole, np.zeros(2), np.zeros(2), landed=False)
        gate.wait(sole, 8)
    assert not gate.closed(sole, np.zeros(2), np.zeros(2), landed=True)
    while gate.closed(sole, np.zeros(2), np.zeros(2), landed=False):
        gate.wait(sole, 8)
        waited += 8
    assert waited * DT == pytest.approx(1.52, abs=0.05)


@pytest.mark.parametrize("blind", [False, True])
def test_centre_of_mass_goes_to_a_sole_far_away_at_a_bounded_speed_and_slows_down(blind):
    gate, sole = (
        HoldGate(3.8, DT, active=True, blind=blind),
        SupportArea(np.array([[-0.1, -0.03], [0.1, -0.03], [0.1, 0.03], [-0.1, 0.03]]), 0.4),
    )
    far = sole.centre + np.array([0.3, 0.5])
    assert gate.closed(sole, far, np.zeros(2), landed=True)
    parts = [gate.wait(sole, 8) for _ in range(40)]
    places, rates, seconds = (np.vstack(part) for part in zip(*parts, strict=True))
    np.testing.assert_allclose(places[0], far, atol=1e-12)
    np.testing.assert_allclose(
        np.diff(places, axis=0) / DT, 0.5 * (rates[1:] + rates[:-1]), atol=3e-3
    )
    speeds = np.linalg.norm(rates, axis=1)
    assert speeds.max() == pytest.approx(FASTEST)
    assert (np.diff(speeds) <= 1e-12).all()
    changes = np.diff(rates, axis=0) / DT  # but for the row in which it begins to slow down
    assert np.abs(changes - 0.5 * (seconds[1:] + seconds[:-1])).max() < 1.0
    assert np.linalg.norm(places[-1] - sole.centre) < 0.12


def test_row_at_which_a_foot_came_down_is_known_also_where_a_plan_begins_with_it():
    robot = hd.load_robot("human28")
    proportions, settings = measure_proportions(robot), Settings(lookahead=0.3)
    track = ReferenceTrack(robot, proportions, settings)
    planner = Planner(proportions, settings, track)
    leaning = np.array(robot.posture)
    leaning[3:7] = np.sin(0.2), 0.0, 0.0, np.cos(0.2)
    for sample in range(30):  # a robot that leans aside lifts one foot
        track.add(sample / 25.0, leaning if 8 <= sample < 16 else robot.posture)
    track.finish()
    stood, came_down = [True, True], [-1, -1]
    while track.end - planner.now > 11:
        (target,) = planner.plan(1)
        for foot, stands in enumerate(target.touches):
            if stands and not stood[foot]:
                came_down[foot] = planner.now - 1
            stood[foot] = stands
    assert max(came_down) > 0
    assert [state.since for state, row in zip(planner.feet, came_down, strict=True) if row > 0] == [
        row for row in came_down if row > 0
    ]


def test_a_foot_that_does_not_come_down_comes_nearer_to_the_one_that_stands():
    """Not at first, while it may still be on its way; then evenly, and it does not go beyond."""
    gate = HoldGate(3.8, DT, active=True)
    sole = SupportArea(np.array([[-0.1, -0.03], [0.1, -0.03], [0.1, 0.03], [-0.1, 0.03]]), 0.4)
    late, stays, moved, rows = np.array([0.3, 0.4, 0.0]), np.zeros(3), [], 8
    for _ in range(20):
        gate.wait(sole, rows)
        moved.append(gate.nearer(late, stays, rows))
    waited = DT * rows * np.arange(1, 21)
    np.testing.assert_allclose(np.array(moved)[waited <= OUT_OF_REACH], 0.0)
    np.testing.assert_allclose(
        np.array(moved)[waited > OUT_OF_REACH + DT],
        np.tile(-NEARER * DT * rows * np.array([0.6, 0.8]), (13, 1)),
    )
    assert np.isfinite(gate.nearer(stays, stays, rows)).all()
