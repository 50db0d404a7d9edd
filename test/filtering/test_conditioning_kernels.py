# SPDX-License-Identifier: Apache-2.0
"""Parts of the conditioning against pinocchio and the plain functions they stand for."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.filtering.conditioning.centre import pack_areas
from humanoid_dynamics.filtering.conditioning.centre_kernels import (
    find_moves,
    find_path,
    find_reach,
    follow_path,
    hold_inside,
    move_inside,
    move_pivots,
    shift_path,
)
from humanoid_dynamics.filtering.conditioning.contacts import drop_kind
from humanoid_dynamics.filtering.conditioning.footholds import Feet, offset_of_prints
from humanoid_dynamics.filtering.conditioning.labelling import find_longest
from humanoid_dynamics.filtering.conditioning.planner import count_until_lift
from humanoid_dynamics.filtering.conditioning.rows import ROOM, RingBuffer
from humanoid_dynamics.filtering.conditioning.support import SupportArea
from humanoid_dynamics.filtering.conditioning.swing import (
    Print,
    find_rates,
    swing_path,
    turn_rows,
)
from humanoid_dynamics.filtering.conditioning.track import ReferenceTrack, sample_cubic
from humanoid_dynamics.filtering.conditioning.window import find_speeds
from humanoid_dynamics.filtering.conditioning.windows import (
    bell_kernel,
    flat_kernel,
    smooth_columns,
)
from humanoid_dynamics.filtering.poses.pose_kernels import (
    bring_into_reach,
    coast,
    ease_joints,
    turn_between,
    turn_by,
)
from humanoid_dynamics.filtering.proportions import measure_proportions
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.filtering.ticks.stance_kernels import find_lowest, stop_sole, turn_level
from humanoid_dynamics.motion.quintic import bump
from humanoid_dynamics.spatial.compiling import compile_kernel
from humanoid_dynamics.spatial.polygon import half_planes, hull_of

DT = 0.005


def rotations(rng, count, size=1.0):
    return np.array([pin.exp3(size * rng.normal(size=3)) for _ in range(count)])


@pytest.mark.parametrize("grain", [0.0, 0.05])
def test_support_is_the_hull_of_its_corners(grain):
    rng = np.random.default_rng(0)
    for _ in range(200):
        corners = 0.1 * rng.normal(size=(rng.integers(4, 16), 2))
        corners = (
            np.round(corners / grain) * grain if grain else corners
        )  # points on lines and twice the same
        hull = hull_of(np.round(corners / 1e-6) * 1e-6)
        if len(hull) < 3:
            continue
        support, (A, b) = SupportArea(corners, 0.4), half_planes(hull)
        np.testing.assert_allclose(support.centre, hull.mean(axis=0), atol=1e-12)
        np.testing.assert_allclose(support.A, A, atol=1e-9)
        np.testing.assert_allclose(
            support.b, np.maximum(b - A @ hull.mean(axis=0), 1e-4), atol=1e-12
        )


def test_zero_moment_point_of_a_body_that_moves_evenly_is_below_it():
    t = DT * np.arange(80)
    level = np.column_stack((0.3 * t, 0.1 - 0.2 * t))
    smooth = level, np.full((80, 1), 0.8), np.zeros((80, 2))
    out = tuple(np.empty((79, size)) for size in (3, 3, 3, 2))
    find_path(smooth, np.array([DT, 30.0, 9.81, 0.0, 0.0, 4.0, 0.04]), out)
    np.testing.assert_allclose(out[3], level[1:], atol=1e-10)
    np.testing.assert_allclose(out[1], np.tile((0.3, -0.2, 0.0), (79, 1)), atol=1e-10)
    fast = level[:, :1] ** 2 * (1.0, 0.0) + level * (0.0, 1.0)
    find_path((fast, smooth[1], smooth[2]), np.array([DT, 30.0, 9.81, 0.0, 0.0, 4.0, 0.04]), out)
    np.testing.assert_allclose(out[3][:, 0], fast[1:, 0] - 0.8 / 9.81 * 2.0 * 0.09, atol=1e-9)


def test_shift_is_the_weighted_future():
    rng, w, count = np.random.default_rng(2), 3.7, 8
    d, x = rng.normal(size=(120, 2)), np.full(2, np.nan)
    out = tuple(np.empty((count, 2)) for _ in range(3))
    shift_path(d, x, (w, DT, 50), out)
    decay, middle = np.exp(-w * DT), 0.5 * (d[1:] + d[:-1])
    weights = (1.0 - decay) * decay ** np.arange(len(middle))
    xi = weights @ middle + decay ** len(middle) * d[-50:].mean(axis=0)
    np.testing.assert_allclose(out[0][0], xi, atol=1e-12)  # begins on the path that stays bounded
    np.testing.assert_allclose(out[2], w * w * (out[0] - d[:count]), atol=1e-12)


def test_sole_comes_to_rest_on_the_ground_and_looks_the_same_way():
    rng = np.random.default_rng(7)
    for _ in range(50):
        R, normal, place, ground = (
            rotations(rng, 1)[0],
            rng.normal(size=3),
            rng.normal(size=3),
            rng.normal(size=3),
        )
        normal /= np.linalg.norm(normal)
        corners, twist, out, turned = (
            rng.normal(size=(4, 3)),
            rng.normal(size=6),
            np.empty(3),
            np.empty((3, 3)),
        )
        level, lowest, _ = find_lowest(place, R, corners, normal, tuple(ground))
        assert level == pytest.approx(R[:, 2] @ normal)
        assert lowest == pytest.approx(np.min((place + corners @ R.T - ground) @ normal))
        stop_sole((place, R, twist), normal, tuple(ground), 0.025, out)
        assert (out - ground) @ normal == pytest.approx(0.0, abs=1e-12)
        along = out - place - 0.025 * R @ twist[:3]
        np.testing.assert_allclose(along, (along @ normal) * normal, atol=1e-12)
        turn_level(R, normal, turned)
        np.testing.assert_allclose(turned @ turned.T, np.eye(3), atol=1e-12)
        np.testing.assert_allclose(turned[:, 2], normal, atol=1e-12)
        assert turned[:, 0] @ R[:, 0] > 0.0
        assert turned[:, 1] @ R[:, 0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("needed", [600, ROOM])
def test_rows_keep_their_index_and_those_that_are_needed_stay(needed):
    one, other = RingBuffer(2), RingBuffer(2)
    numbers = np.arange(6.0 * ROOM).reshape(-1, 2)
    for row in numbers:
        one.append(row)
        one.forget(one.end - needed)
    for first in range(0, len(numbers), 700):
        other.extend(numbers[first : first + 700])
        other.forget(other.end - needed)
    for rows in (one, other):
        assert rows.end == len(numbers)
        np.testing.assert_array_equal(rows.between(rows.end - needed, rows.end), numbers[-needed:])
    assert one.first > 0


def test_goal_is_brought_into_reach_and_goes_no_farther_out():
    rng, cut = np.random.default_rng(18), 0
    for _ in range(100):
        p, rate, rest = rng.normal(size=3), rng.normal(size=6), 0.1 * rng.normal(size=3)
        at, asked, wanted = rest + 0.2 * rng.normal(size=3), p.copy(), rate.copy()
        start = rest + (at - rest) * min(1.0, 0.15 / np.linalg.norm(at - rest))
        far = np.linalg.norm(p - start)
        assert compile_kernel(bring_into_reach)(p, rate, (rest, at), 1.0, 0.15) == (far > 1.0)
        cut += far > 1.0
        np.testing.assert_allclose(p, start + (asked - start) * min(1.0, 1.0 / far), atol=1e-12)
        out = (asked - start) / far
        np.testing.assert_allclose(
            rate[:3], wanted[:3] - (far > 1.0) * max(wanted[:3] @ out, 0.0) * out, atol=1e-12
        )
        np.testing.assert_array_equal(rate[3:], wanted[3:])
    assert 20 < cut < 100


def test_joints_of_led_frames_are_drawn_less_to_where_they_rest():
    rng = np.random.default_rng(19)
    wish, way, shares, joints = (
        rng.normal(size=9),
        rng.normal(size=9),
        rng.uniform(size=3),
        rng.integers(0, 2, size=(3, 9)).astype(float),
    )
    eased = wish.copy()
    compile_kernel(ease_joints)(eased, way, shares, joints, (60.0, 0.9))
    np.testing.assert_allclose(
        eased, wish - 60.0 * 0.9 * np.minimum(shares @ joints, 1.0) * way, atol=1e-12
    )


def test_goal_coasts_at_its_velocity():
    rng = np.random.default_rng(10)
    p, R, rate = rng.normal(size=3), rotations(rng, 1)[0], rng.normal(size=6)
    moved = p.copy(), R.copy(), rate.copy()
    compile_kernel(coast)(0.3, 0.4, *moved)
    np.testing.assert_allclose(moved[0], p + 0.3 * rate[:3])
    np.testing.assert_allclose(moved[1], pin.exp3(0.3 * rate[3:]) @ R, atol=1e-12)
    np.testing.assert_allclose(moved[2], 0.4 * rate)


def test_pivots_are_moved_alike_in_one_go_and_step_by_step():
    rng, n = np.random.default_rng(16), 60
    com, spin, numbers = (
        0.1 * rng.normal(size=(n, 3)) + (0.0, 0.0, 0.8),
        rng.normal(size=(n, 3)),
        np.array([DT, 30.0, 9.81, 0.0, 0.0, 4.0, 0.04]),
    )
    calm, bell, short = flat_kernel(6), bell_kernel(2.0), bell_kernel(1.5)
    path, found = (tuple(np.empty((40, size)) for size in (3, 3, 3, 2)) for _ in range(2))
    smooth = [
        smooth_columns(*one, 41)
        for one in ((com[:, :2], calm), (com[:, 2:], bell), (spin[:, :2], calm))
    ]
    find_path(tuple(smooth), numbers, path)
    compile_kernel(follow_path)(com, spin, (calm, bell), numbers, found)
    for one, other in zip(path, found, strict=True):
        np.testing.assert_allclose(other, one, atol=1e-9 * np.abs(one).max())
    supports = [SupportArea(0.1 * rng.normal(size=(6, 2)), 0.4) for _ in range(3)]
    spans, areas, pendulum = (
        np.array([0, 11, 25, 40], dtype=np.intp),
        pack_areas(supports),
        np.array([3.5, 0.01, -0.02]),
    )
    moves, out = np.empty((40, 2)), np.empty((40, 2))
    trusted = move_inside(path[3], spans, areas, 0.9, moves)
    moves = smooth_columns(moves, short)
    hold_inside((path[0], path[2]), pendulum, spans, areas, moves)
    assert (
        compile_kernel(move_pivots)(path, short, pendulum, spans, areas, 0.9, True, out) == trusted
    )
    np.testing.assert_allclose(out, moves, atol=1e-12)
    pivots = path[0][:, :2] - path[2][:, :2] / 3.5**2 + pendulum[1:] + out
    for support, first, after in zip(supports, spans[:-1], spans[1:], strict=True):
        assert np.max(support.reach(pivots[first:after])) <= 1.0 + 1e-9


def test_clamped_points_are_at_the_share_of_the_area():
    rng = np.random.default_rng(1)
    support, points = SupportArea(rng.normal(size=(8, 2)), 0.5), rng.normal(scale=2.0, size=(60, 2))
    reach, moves = np.empty(60), np.empty((60, 2))
    find_reach(points, support.centre, support.A, support.b, reach)
    np.testing.assert_allclose(support.reach(points), reach, atol=1e-12)
    find_moves(points, support.centre, reach, 0.5, moves)
    np.testing.assert_allclose(support.clamp(points, 0.5), points + moves, atol=1e-12)
    np.testing.assert_allclose(support.reach(points + moves), np.minimum(reach, 0.5), atol=1e-12)


def test_soles_turn_as_pinocchio_says():
    rng = np.random.default_rng(3)
    for size in (1e-12, 1e-3, 1.0):
        A, (B,) = rotations(rng, 1)[0], rotations(rng, 1, size)
        np.testing.assert_allclose(turn_between(A, B @ A), pin.log3(B), atol=1e-9)
        turned, step = A.copy(), size * rng.normal(size=3)
        turn_by(*step, turned)
        np.testing.assert_allclose(turned, pin.exp3(step) @ A, atol=1e-12)
        np.testing.assert_allclose(turn_rows(step[None], A[None])[0], turned, atol=1e-12)


def test_rates_of_a_sole_that_spins_evenly_along_a_parabola():
    t, spin = DT * np.arange(12), np.array([0.3, -0.2, 0.5])
    places = np.column_stack((t, t * t, 0.0 * t))
    rate, second = find_rates(places, np.array([pin.exp3(spin * time) for time in t]), DT)
    moves = np.column_stack((np.ones(10), 2.0 * t[1:-1], np.zeros(10), np.tile(spin, (10, 1))))
    np.testing.assert_allclose(rate, moves, atol=1e-9)
    np.testing.assert_allclose(second, np.tile((0.0, 2.0, 0.0, 0.0, 0.0, 0.0), (10, 1)), atol=1e-7)


def test_offsets_go_straight_where_no_foot_stands():
    rest, labels = np.zeros((20, 2, 3)), np.zeros((20, 2), dtype=bool)
    feet = Feet(rest, np.zeros((20, 2)), np.zeros((20, 2)), labels, np.zeros((2, 2)))
    at = [Print(np.array([x, y, 0.0]), 0.0) for x, y in ((0.1, 0.0), (0.3, 0.0), (0.7, 1.0))]
    out = offset_of_prints(feet, [[(2, 6, at[0]), (12, 30, at[2])], [(4, 8, at[1])]])
    known = {0: 0.1, 3: 0.1, 5: 0.2, 7: 0.3, 9: 0.3 + 0.4 * 2 / 5, 12: 0.7, 19: 0.7}
    assert {row: pytest.approx(value) for row, value in known.items()} == {
        row: out[row, 0] for row in known
    }
    assert not offset_of_prints(feet, [[], []]).any()


def test_stretches_are_found_as_they_are():
    labels = np.array([1, 1, 0, 0, 0, 1, 0, 1, 1, 1], dtype=bool)
    drop_kind(labels, True, 2, False, 0)
    assert labels.tolist() == [True, True, False, False, False, True, True, True, True, True]
    both, places = np.column_stack((labels, np.ones(10, dtype=bool))), np.zeros((10, 2, 3))
    places[:, 0, 0] = 0.1 * np.arange(10)
    assert find_longest(places, both) == pytest.approx(0.4)
    until = count_until_lift(both, 8, DT)
    np.testing.assert_allclose(until[:, 0] / DT, [2, 1, 0, 0, 0, *[np.inf] * 3])
    assert np.isposinf(until[:, 1]).all()


def test_cubic_passes_its_samples_with_the_slopes_of_their_neighbours():
    knots = np.random.default_rng(4).normal(size=(4, 7))
    rows = sample_cubic(knots, (0.95, 1.0, 1.04, 1.1), np.linspace(0.0, 1.0, 401))
    slopes = np.gradient(rows, 1e-4, axis=0, edge_order=2)
    np.testing.assert_allclose(rows[[0, 400]], knots[1:3], atol=1e-12)
    np.testing.assert_allclose(slopes[0], (knots[2] - knots[0]) / 0.09, atol=1e-2)
    np.testing.assert_allclose(slopes[400], (knots[3] - knots[1]) / 0.1, atol=1e-2)
    np.testing.assert_allclose(np.diff(rows, 4, axis=0), 0.0, atol=1e-12)


def test_legs_are_seen_where_pinocchio_has_them():
    robot, rng = hd.load_robot("human28"), np.random.default_rng(5)
    p, data = measure_proportions(robot), robot.data()
    track, clock = ReferenceTrack(robot, p, Settings()), 0.0
    q = np.array(robot.posture)
    for _ in range(80):
        q = pin.integrate(robot.model, q, 0.01 * rng.normal(size=robot.nv))
        track.add(clock, q)
        clock += 0.02
    rows = track.end - 5, track.end
    seen = [each.between(*rows) for each in (track.place, track.turn, track.centre, track.stretch)]
    for k, now in enumerate(track.q.between(*rows)):
        pin.framesForwardKinematics(robot.model, data, now)
        for foot in (0, 1):
            X = data.oMf[p.soles[foot]]
            hip, ankle = (data.oMf[x[foot].frame].act(x[foot].p_F) for x in (p.hips, p.ankles))
            np.testing.assert_allclose(seen[0][k, foot], X.translation, atol=1e-12)
            np.testing.assert_allclose(seen[1][k, foot], X.rotation, atol=1e-12)
            np.testing.assert_allclose(seen[2][k, foot], X.act(p.centres[foot]), atol=1e-12)
            assert seen[3][k, foot] == pytest.approx(np.linalg.norm(hip - ankle) / p.leg)


def test_soles_that_slide_alike_stand_on_what_slides():
    way = np.outer(np.arange(5), (0.6, 0.2, 0.0)) * DT
    centre, speeds = np.stack((way, way + np.array((0.0, 0.2, 0.0))), axis=1), []
    for apart in (0.0, 0.3):  # m/s
        centre[:, 1, 0] += apart * np.arange(5) * DT
        speeds.append(find_speeds(centre, DT)[2])
    np.testing.assert_allclose(speeds[0], 0.0, atol=1e-9)
    np.testing.assert_allclose(speeds[1], np.hypot((0.6, 0.9), 0.2))


@pytest.mark.parametrize("lift", [-0.01, 0.02])
def test_swinging_sole_is_lifted_and_no_corner_is_below_the_ground(lift):
    rng = np.random.default_rng(22)
    places, turns = 0.03 * rng.normal(size=(9, 3)), rotations(rng, 9, 0.2)
    corners, moved = 0.1 * rng.normal(size=(4, 3)), places.copy()
    share = np.clip(-0.2 + 0.2 * np.arange(9), 0.0, 1.0)
    swing_path(moved, turns, lift, (-0.2, 0.2), corners)
    lifted = places + np.outer(max(lift, 0.0) * bump(share), (0.0, 0.0, 1.0))
    lowest = np.array([(lifted[k] + corners @ turns[k].T)[:, 2].min() for k in range(9)])
    assert (lowest < 0.0).any()
    kept = lifted - np.outer(np.minimum(lowest, 0.0), (0.0, 0.0, 1.0))
    np.testing.assert_allclose(moved, kept, atol=1e-12)
