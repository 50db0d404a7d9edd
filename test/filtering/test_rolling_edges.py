# SPDX-License-Identifier: Apache-2.0
"""Soles that roll: laws of a contact on an edge, the ticks around it, and walks whose heels rise."""

import numpy as np
import pinocchio as pin
import pytest
from recordings import find_recording, load_recorded

import humanoid_dynamics as hd
from humanoid_dynamics.filtering import Settings, filter_clip
from humanoid_dynamics.filtering.certificate import FrameJudge
from humanoid_dynamics.filtering.clip_filter import LADDER
from humanoid_dynamics.filtering.proportions import measure_proportions
from humanoid_dynamics.filtering.sole_edges import HEEL, TOE, find_edges
from humanoid_dynamics.filtering.ticks.step import TickAnswer
from humanoid_dynamics.filtering.ticks.target import stand_still
from humanoid_dynamics.filtering.ticks.tick import BalancedTick, TickSettings
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.motion.gait import plan_walk
from humanoid_dynamics.motion.walking.footsteps import WalkStyle

DT = 0.005
FIRST = LADDER[:1]


class Rolling:
    """A robot with its right foot behind, whose weight goes forward while one sole turns about an edge."""

    def __init__(self, name):
        self.robot = hd.load_robot(name)
        self.proportions = measure_proportions(self.robot)
        self.tick = BalancedTick(self.robot, TickSettings(edges=True), self.proportions)
        self.judge = FrameJudge(self.robot, self.proportions)
        self.q, self.v = (
            np.array(plan_walk(self.robot, WalkStyle(steps=1)).clip.q[-1]),
            np.zeros(self.robot.nv),
        )
        terms = self.tick.terms
        terms.update(self.q, self.v)
        self.start, self.com = self.q.copy(), terms.com.copy()
        self.place, self.turn = terms.place.copy(), terms.turn.copy()

    def target(self, forward=0.0, foot=1, kind=0, tilt=0.0):
        com = self.com.copy()
        com[:2] += forward * (self.place[0, :2] - com[:2])
        target = stand_still(self.start, self.robot.nv, com, self.place.copy(), self.turn.copy())
        if kind:
            target.edges = (0, kind) if foot else (kind, 0)
            target.sole_turn[foot] = self.turn[foot] @ pin.exp3(np.array([0.0, tilt, 0.0]))
        return target

    def go(self, target):
        q, v = self.q, self.v
        step = self.tick.step(target, q, v, DT)
        after = v + DT * step.vdot
        self.q, self.v = pin.integrate(self.robot.model, q, DT * after), after
        return q, v, step, self.judge.judge(q, v, (self.q, after), step)

    def roll(self, count=60, tilt=0.3):
        for k in range(50):
            self.go(self.target(0.7 * min(1.0, k / 40)))
        return [self.go(self.target(0.7, 1, TOE, tilt * min(1.0, k / 40))) for k in range(count)]


def edge_of(rolling, kind=TOE):
    """Return the middle of the edge of the right sole in its frame, and half its width."""
    rims = find_edges(np.array(find_soles(rolling.robot)[1].vertices))
    return rims.middle(kind), rims.half(kind)


@pytest.fixture(scope="module", params=["g1", "human28"])
def rolled(request):
    rolling = Rolling(request.param)
    return rolling, rolling.roll()


def test_edges_are_where_the_sole_ends():
    corners = np.array(
        [[-0.05, -0.03, 0.0], [0.12, -0.03, 0.0], [0.12, 0.03, 0.0], [-0.05, 0.03, 0.0]]
    )
    rims = find_edges(corners, 0.001)
    np.testing.assert_allclose(rims.middle(TOE), (0.12, 0.0, 0.0), atol=1e-9)
    np.testing.assert_allclose(rims.middle(HEEL), (-0.05, 0.0, 0.0), atol=1e-9)
    np.testing.assert_allclose(rims.halves, 0.029, atol=1e-8)
    pointed = np.array(
        [
            [-0.05, -0.03, 0.0],
            [0.10, -0.03, 0.0],
            [0.12, 0.0, 0.0],
            [0.10, 0.03, 0.0],
            [-0.05, 0.03, 0.0],
        ]
    )
    x, half = find_edges(pointed, 0.0).middle(TOE)[0], find_edges(pointed, 0.0).half(TOE)
    assert 0.10 <= x < 0.12
    assert half == pytest.approx(0.03 * (0.12 - x) / 0.02, abs=1e-6)


def test_the_heel_rises_inside_all_limits(rolled):
    rolling, frames = rolled
    for _, _, step, certificate in frames:
        assert step.rung == 0
        assert step.edges == (0, TOE)
        assert certificate.holds, certificate
        assert certificate.residual < 1e-12
        assert np.abs(step.vdot).max() < 600.0
    data, sole = rolling.robot.data(), rolling.proportions.soles[1]
    pin.framesForwardKinematics(rolling.robot.model, data, rolling.q)
    assert np.arcsin(-data.oMf[sole].rotation[2, 0]) > 0.2
    point = rolling.place[1] + rolling.turn[1] @ edge_of(rolling)[0]
    np.testing.assert_allclose(data.oMf[sole].act(edge_of(rolling)[0]), point, atol=1e-3)


def test_no_moment_and_no_power_about_the_edge(rolled):
    rolling, frames = rolled
    point, half = edge_of(rolling)
    robot, data = rolling.robot, rolling.robot.data()
    weight = robot.mass * 9.81
    turning = 0.0
    for q, v, step, _ in frames:
        pin.computeJointJacobians(robot.model, data, q)
        J = pin.getFrameJacobian(
            robot.model, data, rolling.proportions.soles[1], pin.ReferenceFrame.LOCAL
        )
        n = pin.updateFramePlacement(robot.model, data, rolling.proportions.soles[1]).rotation[2]
        f, m = step.wrenches[1, :3], step.wrenches[1, 3:]
        edge = np.array([0.0, 1.0, 0.0]) - n[1] * n
        moment, twist = m - np.cross(point, f), J @ v
        assert abs(moment @ edge) <= 1e-10 * weight  # about the edge nothing turns the sole
        assert abs(moment @ np.cross(edge, n)) <= half * (f @ n) + 1e-9 * weight
        turning = max(turning, abs(twist[4]))
        given = step.wrenches[1] @ twist - f @ (
            twist[:3] + np.cross(twist[3:], point)
        )  # beyond what moves the edge itself
        assert abs(given - moment @ (twist[3:] - (twist[3:] @ edge) * edge)) <= 1e-9 * weight
        assert abs(step.wrenches[1] @ twist) <= 1e-3 * weight
    assert turning > 0.5  # rad/s: the sole did turn


@pytest.mark.parametrize("count", [3, 20])
def test_a_sole_that_is_not_lifted_lies_down_again(count):
    rolling = Rolling("g1")
    rolling.roll(count)
    for _ in range(120):
        _, _, step, certificate = rolling.go(rolling.target(0.6))
        assert step.rung == 0
        assert certificate.holds, certificate
    assert step.edges == (0, 0)


@pytest.mark.parametrize("kind", [TOE, HEEL])
def test_a_sole_alone_or_both_on_edges_are_possible(kind):
    rolling = Rolling("human28")
    for feet in ((1,), (0, 1)):
        rolling.tick.restart()
        target = rolling.target()
        rolling.go(target)
        target = rolling.target(0.3 if kind == TOE else -0.3, 1, kind)
        rolling.tick.footing.edges = (kind if 0 in feet else 0, kind)
        target.edges = (kind if 0 in feet else 0, kind)
        target.touches = (0 in feet, True)
        _, _, step, certificate = rolling.go(target)
        assert step.edges[1] == kind
        assert certificate.forces_hold, certificate
        assert certificate.torque <= 1.0 + 1e-6


def test_pressure_off_the_edge_is_seen(rolled):
    rolling, frames = rolled
    q, v, step, _ = frames[30]
    point, half = edge_of(rolling)
    f = step.wrenches[1, :3]
    for away, wrong in (((-0.01, 0.0, 0.0), "off"), ((0.0, 1.2 * half, 0.0), "beyond the end")):
        wrenches = step.wrenches.copy()
        wrenches[1, 3:] = np.cross(point + np.array(away), f)
        planted = TickAnswer(step.vdot, step.tau, wrenches, step.stands, 0, edges=step.edges)
        assert rolling.judge.judge(q, v, (q, v), planted).cop < -1e-3, wrong


@pytest.mark.slow
def test_planned_walk_with_long_strides_keeps_them():
    """The limits of flat soles shorten these steps; the steps themselves are planned with flat soles, and none has to roll."""
    robot = hd.load_robot("g1")
    clip = plan_walk(
        robot, WalkStyle(steps=4, step_length=0.62 * measure_proportions(robot).leg)
    ).clip
    flat, rolled = (
        filter_clip(robot, clip, settings=Settings(toe_roll=toe_roll), ladder=FIRST).report
        for toe_roll in (False, True)
    )
    for verdict in (flat, rolled):
        assert verdict.finished
        assert verdict.all_limits == 1.0
    assert flat.rolled == 0.0
    assert rolled.stride > 0.97 > flat.stride
    assert rolled.joint_rms < flat.joint_rms


@pytest.mark.parametrize(
    ("name", "clip", "heels"),
    [
        ("g1", "g1_asap/walk_level1.npz", False),
        ("g1", "g1_asap/walk_level1.npz", True),
        ("human28", "deepmimic/humanoid3d_walk.txt", False),
    ],
)
def test_recorded_walk_with_toe_off_is_finished(name, clip, heels):
    robot = hd.load_robot(name)
    motion = load_recorded(find_recording(clip), robot)
    found = filter_clip(robot, motion, settings=Settings(toe_roll=True, heels=heels), ladder=FIRST)
    assert found.report.finished
    assert found.report.all_limits == 1.0
    assert found.report.residual <= 1e-8
    assert found.report.rolled > 0.02
    stood = {edge for frame in found.frames for edge in frame.edges}
    assert stood == ({0, TOE, HEEL} if heels else {0, TOE})
    assert (
        np.max([np.abs(frame.vdot).max() for frame in found.frames]) <= 1500.0
    )  # velocity never jumps


@pytest.mark.slow
def test_eleven_of_eleven_with_edges():
    robot = hd.load_robot("g1")
    asap = ("squat", "walk", "kick", "single_foot_balance", "step_forward_back", "side_jump")
    names = [f"g1_asap/{name}_level1.npz" for name in asap] + ["g1_asap/walk_level4.npz"]
    names += [
        f"g1_karate/{name}.csv"
        for name in ("B_HandsUp", "J_ShortDance16_JazzWalk", "M_ShortMove12", "M_Move18")
    ]
    verdicts = {}
    for name in names:
        clip = load_recorded(find_recording(name), robot)
        verdicts[name] = filter_clip(
            robot, clip, settings=Settings(toe_roll=True), ladder=FIRST
        ).report
    assert all(verdict.finished for verdict in verdicts.values()), verdicts
    assert all(verdict.all_limits == 1.0 for verdict in verdicts.values())


def test_sole_that_is_not_behind_is_lifted_as_soon_as_a_flat_one():
    """The time in which a heel rises is lost where none does: the side step of this clip then falls."""
    robot = hd.load_robot("g1")
    found = filter_clip(
        robot,
        load_recorded(find_recording("g1_karate/M_ShortMove12.csv"), robot),
        settings=Settings(toe_roll=True),
        ladder=FIRST,
    )
    assert found.report.finished
    assert found.report.all_limits == 1.0


def test_sole_that_comes_down_fast_and_late_on_flat_soles_is_stopped_before_it_bears_load():
    """It waits for its load."""
    robot = hd.load_robot("human28")
    verdict = filter_clip(
        robot, load_recorded(find_recording("cmu/35_05.bvh"), robot), ladder=FIRST
    ).report
    assert verdict.finished
    assert verdict.all_limits == 1.0


def test_control_falls_with_edges_too():
    """Negative control: rolling soles do not replace the bounded path of the centre of mass."""
    robot = hd.load_robot("g1")
    clip = load_recorded(find_recording("g1_asap/walk_level1.npz"), robot)
    assert not filter_clip(
        robot, clip, settings=Settings(balance=False, toe_roll=True), ladder=FIRST
    ).report.finished
