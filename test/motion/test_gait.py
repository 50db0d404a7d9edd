# SPDX-License-Identifier: Apache-2.0
"""A generated walk keeps what it promises, by the full dynamics of the whole robot."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from scipy.interpolate import CubicSpline

import humanoid_dynamics as hd
from humanoid_dynamics.motion import gait
from humanoid_dynamics.motion.checking.limits import limit_excess
from humanoid_dynamics.motion.checking.zmp import compute_reaction, support_margins
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.derivatives import central_differences, differentiate
from humanoid_dynamics.motion.gait import plan_walk
from humanoid_dynamics.motion.quintic import bump, quintic
from humanoid_dynamics.motion.walking.clearance import CLEARANCE, FootClearance
from humanoid_dynamics.motion.walking.footsteps import WalkStyle, plan_footsteps
from humanoid_dynamics.motion.walking.pendulum import solve_at_rest, solve_bounded

DT, W = 0.005, 3.7
TIMES = DT * np.arange(1001)
STYLES = {
    "straight": WalkStyle(steps=3, rate=100.0),
    "turn": WalkStyle(steps=4, turn=0.3, step_length=0.12, rate=100.0),
    "uphill": WalkStyle(steps=3, slope=0.1, step_length=0.1, rate=100.0),
    "backward": WalkStyle(steps=3, step_length=-0.1, first="right", rate=100.0),
    "sideways": WalkStyle(steps=4, step_length=0.0, side_step=0.05, rate=100.0),
}


@pytest.fixture(scope="module")
def walks():
    robot = hd.load_robot("g1")
    return {name: plan_walk(robot, style) for name, style in STYLES.items()}


@pytest.fixture(params=STYLES)
def walk(request, walks):
    return walks[request.param]


def place_soles(walk):
    robot, data = walk.clip.robot, walk.clip.robot.data()
    placed = {name: [] for name in walk.clip.contacts}
    for q in walk.clip.q:
        pin.framesForwardKinematics(robot.model, data, q)
        for name in placed:
            placed[name].append(pin.SE3(data.oMf[robot.surfaces[name].frame]))
    return placed


def test_standing_feet_do_not_slip_and_lie_flat(walk):
    for name, poses in place_soles(walk).items():
        labels = walk.clip.contacts[name]
        for row in np.flatnonzero(labels[1:] & labels[:-1]) + 1:
            assert np.abs(pin.log6(poses[row - 1].actInv(poses[row])).vector).max() < 1e-9
        for row in np.flatnonzero(labels):
            X_PC = walk.X_WP.actInv(poses[row])
            assert abs(X_PC.translation[2]) < 1e-9
            np.testing.assert_allclose(X_PC.rotation[:, 2], [0.0, 0.0, 1.0], atol=1e-9)


def test_swinging_feet_stay_above_the_ground(walk):
    for name, poses in place_soles(walk).items():
        heights = np.array([walk.X_WP.actInv(pose).translation[2] for pose in poses])
        assert heights.min() > -1e-9
        if not walk.clip.contacts[name].all():
            assert heights.max() > 0.015


def test_zero_moment_point_stays_inside_the_standing_feet(walk):
    assert walk.zmp_share == 1.0
    assert walk.zmp_margin.min() > 0.015
    assert np.abs(walk.zmp - walk.zmp_wanted).max() < 0.012


def test_ground_only_pushes_and_friction_suffices(walk):
    force = compute_reaction(walk.clip, walk.X_WP).force
    assert force[:, 2].min() > 0.5 * walk.clip.robot.mass * 9.81
    assert (np.linalg.norm(force[:, :2], axis=1) / force[:, 2]).max() < 0.5


def test_joints_stay_inside_their_limits(walk):
    assert limit_excess(walk.clip.robot, walk.clip.q) == {}
    robot = walk.clip.robot
    assert np.all(np.abs(walk.clip.v[:, 6:]) <= robot.limits.velocity[6:])


def test_velocities_and_accelerations_are_those_of_the_motion(walk):
    v, a = central_differences(walk.clip.robot.model, walk.clip.times, walk.clip.q)
    inner = slice(2, -2)
    assert np.abs(walk.clip.v[inner] - v[inner]).max() < 0.02
    assert np.sqrt(np.mean((walk.clip.a[inner] - a[inner]) ** 2)) < 0.1


def test_walk_starts_and_ends_at_rest_with_feet_together(walk):
    assert np.abs(walk.clip.v[[0, -1]]).max() < 1e-4
    assert all(walk.clip.contacts[name][[0, -1]].all() for name in walk.clip.contacts)
    first, last = walk.plan.landing_poses()[[0, -1]]
    for poses in (first, last):
        d = poses[0, :2] - poses[1, :2]
        heading = poses[0, 2]
        assert abs(d @ [np.cos(heading), np.sin(heading)]) < 1e-9
        assert d @ [-np.sin(heading), np.cos(heading)] == pytest.approx(
            np.linalg.norm(first[0, :2] - first[1, :2])
        )


def test_bodies_go_where_the_steps_say(walks):
    def going(name):
        first, last = walks[name].plan.landing_poses().mean(axis=1)[[0, -1]]
        return last - first

    assert going("turn")[2] == pytest.approx(0.9)
    assert going("backward")[:2] == pytest.approx([-0.2, 0.0])
    assert going("sideways")[:2] == pytest.approx([0.0, 0.15])
    R = pin.Quaternion(*walks["turn"].clip.q[-1, [6, 3, 4, 5]]).matrix()
    assert np.arctan2(R[1, 0], R[0, 0]) == pytest.approx(0.9, abs=0.02)
    assert walks["uphill"].clip.q[-1, 2] - walks["uphill"].clip.q[0, 2] == pytest.approx(
        0.2 * np.sin(0.1), abs=1e-3
    )


def test_schedule_is_the_labels(walk):
    labels = walk.schedule.labels(walk.clip.times)
    for name, touches in walk.clip.contacts.items():
        np.testing.assert_array_equal(labels[name], touches)
    assert {len(phase.surfaces) for phase in walk.schedule.phases()} == {1, 2}


def test_pendulum_alone_would_leave_the_feet(walks):
    """The control: without the correction by full dynamics the zero-moment point is far from where it was meant."""
    walk = walks["straight"]
    heavy = np.abs(walk.zmp - walk.zmp_wanted).max()
    com = np.array(
        [pin.centerOfMass(walk.clip.robot.model, walk.clip.robot.data(), q) for q in walk.clip.q]
    )
    c, z = com[:, :2], float(np.mean(com[:, 2]))
    acceleration = np.gradient(np.gradient(c, walk.clip.times, axis=0), walk.clip.times, axis=0)
    pendulum = c - acceleration * z / 9.81
    assert np.abs(pendulum - walk.zmp_wanted)[5:-5].max() > 4.0 * heavy


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "human28",
        "legs12",
        "human40",
        "human",
        "talos_reduced",
        "talos",
        "romeo",
        "icub",
        "alexander",
    ],
)
def test_every_humanoid_of_the_catalogue_walks(name):
    walk = plan_walk(hd.load_robot(name), WalkStyle(steps=4, rate=100.0))
    assert walk.zmp_share == 1.0
    assert walk.zmp_margin.min() > 0.015
    assert limit_excess(walk.clip.robot, walk.clip.q) == {}
    assert walk.miss < 1e-10


def test_point_feet_walk_too():
    walk = plan_walk(hd.load_robot("bolt"), WalkStyle(steps=3, rate=100.0))
    assert walk.miss < 1e-10
    assert walk.zmp_margin.min() > -0.005, (
        "a point has no inside; this is how far beside it the zero-moment point is"
    )


def test_limits_that_cannot_be_meant_are_not_kept_and_told():
    robot = hd.load_robot("legs12")
    effort = np.array(robot.limits.effort)
    for joint in robot.joints:
        if joint.name.startswith("left"):
            effort[joint.v] *= 3.0
    odd = replace(robot, limits=replace(robot.limits, effort=effort))
    walk = plan_walk(odd, WalkStyle(steps=1, step_length=0.05, lower=0.04, rate=25.0))
    assert "limits differ between left and right and are not kept: left_" in walk.clip.notices[0]


def test_what_cannot_walk_is_told():
    with pytest.raises(
        hd.UnsupportedRobotError,
        match="has 4 freedoms, a walk on its sole takes 6; its joints are: left_hip, left_knee",
    ):
        plan_walk(hd.load_robot("human16"))
    with pytest.raises(
        hd.UnsupportedRobotError,
        match=r"follow a step of 0.9 m \(1\.\d m/s\).*; a step of .* can be walked; at their limits are: ",
    ):
        plan_walk(hd.load_robot("g1"), WalkStyle(steps=2, step_length=0.9, lower=0.0))
    with pytest.raises(
        hd.UnsupportedRobotError,
        match=r"on a slope of 1.2 rad.*; a slope of 0.\d+ rad can be walked",
    ) as told:
        plan_walk(
            hd.load_robot("g1"),
            WalkStyle(steps=1, slope=1.2, step_length=0.05, step_height=0.02, lower=0.05),
        )
    assert "_knee_joint" in str(told.value)
    assert "_shoulder_" not in str(told.value), "arms are not in the way"
    for wrong in (
        {"steps": 0},
        {"steps": 2.5},
        {"first": "both"},
        {"rate": 0.0},
        {"turn": np.nan},
        {"step_time": -1.0},
    ):
        with pytest.raises(hd.ShapeError):
            WalkStyle(**wrong)


def least_gap(plan, soles):
    """Sample the edges of both soles in each double support."""
    along = np.linspace(0.0, 1.0, 40)[:, None]
    least = np.inf
    for pair in plan.landing_poses():
        edges = []
        for (x, y, yaw), corners in zip(pair, soles, strict=True):
            placed = corners @ np.array(
                [[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]]
            ) + [x, y]
            edges.append(
                np.vstack(
                    [
                        a + along * (b - a)
                        for a, b in zip(placed, np.roll(placed, -1, axis=0), strict=True)
                    ]
                )
            )
        least = min(least, np.linalg.norm(edges[0][:, None] - edges[1], axis=2).min())
    return least


def test_turns_and_sidesteps_that_cross_the_feet_are_refused():
    robot = hd.load_robot("human28")
    with pytest.raises(
        hd.ShapeError,
        match=r"turn: received 3 rad a step, expected at most 0\.\d+ rad, 0\.\d+ rad over 2 steps: else the feet",
    ):
        plan_walk(robot, WalkStyle(steps=2, turn=3.0))
    with pytest.raises(
        hd.ShapeError,
        match=r"turn: .* 3\.\d+ rad over 9 steps: else the feet cross or the hips turn too far; more steps",
    ):
        plan_walk(robot, WalkStyle(steps=9, turn=-1.5))
    with pytest.raises(
        hd.ShapeError, match=r"0\.3 m to the left in one step, expected a smaller sideways step"
    ):
        plan_walk(robot, WalkStyle(steps=2, step_length=0.1, side_step=-0.3))


@pytest.mark.parametrize("length", [0.05, 0.2, -0.1])
@pytest.mark.parametrize("turn", [0.2, -0.4, 0.8, 3.0])
def test_soles_of_clear_footsteps_are_apart(length, turn):
    robot = hd.load_robot("human28")
    soles = [robot.surfaces[name].vertices[:, :2] for name in ("left_foot", "right_foot")]
    stand, clearance = np.array([[0.0, 0.09, 0.0], [0.0, -0.09, 0.0]]), FootClearance(robot)
    plan = plan_footsteps(
        WalkStyle(steps=5, turn=turn), stand, length=length, times=(1.0, 1.0, 1.0, 1.0)
    )
    if clearance.crossing(plan) is None:
        assert least_gap(plan, soles) >= CLEARANCE
    else:
        assert abs(turn) > 0.3


def test_hips_bound_the_angle_between_the_feet():
    robot = hd.load_robot("legs12")
    clearance, free = FootClearance(robot), FootClearance(robot, keep_limits=False)
    hips = [robot.limits.upper[joint.q][0] for joint in robot.joints if "hip_yaw" in joint.name]
    assert clearance.most_yaw == pytest.approx(sum(hips))
    far = np.array([[0.0, 0.5, 0.0], [0.0, -0.5, 0.0]])
    plan = plan_footsteps(
        WalkStyle(steps=1, turn=1.1 * sum(hips)), far, length=0.0, times=(1.0, 1.0, 1.0, 1.0)
    )
    assert clearance.crossing(plan) == 0
    assert free.crossing(plan) is None


def step_path():
    return np.column_stack((quintic((TIMES - 2.0) / 0.4), -0.3 * quintic((TIMES - 2.5) / 0.3)))


def test_bounded_path_solves_the_pendulum_and_does_not_run_away():
    found = solve_bounded(step_path(), DT, W)
    inner = slice(20, -20)
    np.testing.assert_allclose(
        CubicSpline(TIMES, found.c)(TIMES, 1)[inner], found.rate[inner], atol=2e-6
    )
    np.testing.assert_allclose(found.acceleration, W * W * (found.c - found.p), atol=1e-12)
    kinks = (
        W * W * np.abs(np.diff(step_path(), n=2, axis=0)).max() / 12.0
    )  # p is straight between samples: what a spline cannot follow,
    kinks *= 1.01  # to the next order
    np.testing.assert_allclose(
        CubicSpline(TIMES, found.rate)(TIMES, 1)[inner], found.acceleration[inner], atol=kinks
    )
    assert found.c.min() > -0.31
    assert found.c.max() < 1.01
    np.testing.assert_allclose(found.c[-1], step_path()[-1], atol=1e-3)


def test_bounded_path_of_a_jump_is_the_known_exponential():
    p = np.where(TIMES[:, None] < 2.5 - 1e-9, 0.0, 1.0)
    found = solve_bounded(p, DT, W)
    before = TIMES < 2.4
    np.testing.assert_allclose(
        found.c[before, 0],
        0.5 * (np.exp(W * (TIMES[before] - 2.5)) - np.exp(-W * (TIMES[before] + 2.5))),
        atol=5e-3,
    )


def test_bounded_path_is_exact_for_straight_motion_at_any_step():
    for dt in (0.001, 0.1):
        times = np.arange(0.0, 4.0, dt)
        found = solve_bounded(times[:, None], dt, W)
        middle = (times > 1.9) & (times < 2.1)
        np.testing.assert_allclose(found.c[middle, 0], times[middle], atol=2e-3)
        np.testing.assert_allclose(found.rate[middle, 0], 1.0, atol=5e-3)


def test_path_at_rest_starts_and_ends_at_rest():
    bumps = np.column_stack((bump(TIMES / 1.5), bump((TIMES - 3.5) / 1.5)))
    found = solve_at_rest(step_path(), DT, W, bumps)
    np.testing.assert_allclose(found.rate[[0, -1]], 0.0, atol=1e-12)
    np.testing.assert_allclose(found.c[[0, -1]], step_path()[[0, -1]], atol=1e-12)
    assert np.abs(found.p - step_path()).max() < 0.1, "the bumps are small"


def test_reaction_of_standing_is_the_weight_through_the_centre_of_mass():
    robot = hd.load_robot("human28")
    clip = differentiate(Clip(robot, [0.0, 0.1, 0.2], np.tile(robot.posture, (3, 1))))
    found = compute_reaction(clip)
    com = pin.centerOfMass(robot.model, robot.data(), robot.posture)
    np.testing.assert_allclose(found.zmp, np.tile(com[:2], (3, 1)), atol=1e-9)
    np.testing.assert_allclose(
        found.force, np.tile([0.0, 0.0, 9.81 * robot.mass], (3, 1)), atol=1e-9
    )
    np.testing.assert_allclose(found.yaw_moment, 0.0, atol=1e-9)
    both = {name: np.ones(3, dtype=bool) for name in ("left_foot", "right_foot")}
    assert support_margins(clip, both, found.zmp).min() > 0.05
    assert np.all(np.isneginf(support_margins(clip, {}, found.zmp)))
    with pytest.raises(hd.ClipError, match="differentiate it first"):
        compute_reaction(Clip(robot, [0.0, 0.1, 0.2], clip.q))


def test_reaction_does_not_depend_on_where_the_world_is():
    rng = np.random.default_rng(8)
    robot = hd.load_robot("human28")
    q = np.array(pin.integrate(robot.model, robot.posture, rng.normal(scale=0.2, size=robot.nv)))
    v, a = rng.normal(size=(2, robot.nv))
    X = pin.SE3(pin.utils.rotate("z", 0.8), np.array([1.0, -2.0, 0.0]))
    moved = q.copy()
    moved[:7] = pin.SE3ToXYZQUAT(X * pin.XYZQUATToSE3(q[:7]))
    here, there = (
        compute_reaction(Clip(robot, [0.0, 0.1, 0.2], [one] * 3, [v] * 3, [a] * 3))
        for one in (q, moved)
    )
    np.testing.assert_allclose(there.zmp[0], X.act(np.array([*here.zmp[0], 0.0]))[:2], atol=1e-9)
    np.testing.assert_allclose(there.yaw_moment, here.yaw_moment, atol=1e-9)


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("rate", 1e9, "rate: received 1000000000.0, expected a rate of 5 to 10000 Hz"),
        ("rate", 1e-9, "expected a rate of 5 to"),
        ("stop_time", 1e9, "expected a positive time of at most 60 s"),
        ("step_length", -1e300, "expected a finite number of at most 100 m or rad"),
        ("turn", np.nan, "expected a finite number of at most 100 m or rad"),
        ("steps", 10**9, "expected a whole number, 1 to 1000"),
    ],
)
def test_walks_without_measure_are_refused_before_any_memory_is_taken(field, value, expected):
    with pytest.raises(hd.ShapeError, match=expected):
        WalkStyle(**{field: value})


def test_refusal_names_the_joints_that_are_in_the_way():
    robot, style = hd.load_robot("human28"), WalkStyle(step_length=20.0)
    error = gait._refusal(robot, style, gait._Frame(robot, style, 1.0), None)
    assert "no joint is at a limit: it is out of reach of: " in str(error)
    assert {"left_knee", "right_knee"} <= set(error.joints)


@pytest.mark.parametrize(("turn", "fast"), [(0.3, ["LHipYaw", "RHipYaw"]), (0.0, [])])
def test_joints_that_would_have_to_be_faster_than_they_can_are_told(turn, fast):
    robot = hd.load_robot("romeo")
    clip = plan_walk(robot, WalkStyle(steps=3, turn=turn, rate=60.0)).clip
    assert len(clip.notices) == bool(fast)
    told = "".join(clip.notices)
    beyond = np.abs(clip.v).max(axis=0) > robot.limits.velocity
    assert fast == [joint.name for joint in robot.joints[1:] if beyond[joint.v].any()]
    assert all(f"{name} (0.88 of 0.32)" in told for name in fast), told
