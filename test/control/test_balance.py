# SPDX-License-Identifier: Apache-2.0
"""The balance controller in the world: it stands, is pushed, follows, changes rules and passes its load, without ROS."""

from collections import deque
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.contact.planned import loads_of_schedule, schedule_from_loads
from humanoid_dynamics.contact.schedule import ContactInterval, ContactSchedule
from humanoid_dynamics.control.balance import BalanceController
from humanoid_dynamics.control.balance_settings import BalanceSettings, BalanceStatus
from humanoid_dynamics.control.contact_state import ContactState, ContactThresholds
from humanoid_dynamics.control.measured import MeasuredState
from humanoid_dynamics.control.reference import Reference, joint_position
from humanoid_dynamics.control.support import Support
from humanoid_dynamics.control.whole_body import Wanted, WholeBodyLaw
from humanoid_dynamics.errors import (
    MissingExtraError,
    ShapeError,
    UnknownNameError,
    UnsupportedRobotError,
)
from humanoid_dynamics.motion.playback import build_playback
from humanoid_dynamics.motion.scenarios import build_scenario
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.resolution.rules import RULES
from humanoid_dynamics.simulation.live import LiveWorld
from humanoid_dynamics.spatial.compiling import compile_kernel

DT = 0.001


@pytest.fixture(scope="module")
def robot():
    return hd.load_robot("human28")


class Loop:
    """World and controller, joined without delay."""

    def __init__(self, robot, every=2, **settings):
        self.robot, self.every = robot, every
        self.live = LiveWorld.of_robot(robot)
        self.controller = BalanceController(robot, BalanceSettings(**settings))
        self.names = robot.actuated
        self.q_at = [robot.joint(name).q.start for name in self.names]
        self.seen, self.steps, self.tau = {}, [], None

    @property
    def t(self):
        return self.live.world.t

    def run(self, seconds):
        world, controller = self.live.world, self.controller
        for _ in range(round(seconds / (DT * self.every))):
            if self.live.begun:
                for felt in self.live.feel():
                    controller.observe_contact(felt.surface, felt.force[2], self.t)
            assert controller.observe_base(world.q[:7], world.v[:6], self.t, self.t)
            assert controller.observe_joints(
                self.names, world.q[self.q_at], world.v[self.robot.actuated_v], self.t, self.t
            )
            torques = controller.command(self.t)
            assert np.isfinite(torques.tau).all()
            assert np.all(np.abs(torques.tau) <= controller.limits)
            self.steps.append(
                0.0 if self.tau is None else float(np.abs(torques.tau - self.tau).max())
            )
            self.tau = torques.tau
            self.seen.setdefault(torques.status, (self.t, torques.reason))
            self.live.command(self.names, torques.tau)
            self.live.advance(DT, self.every)
        return torques

    def play(self, motion, lead=0.1):
        playback = build_playback(self.robot, motion)
        start = self.t + lead
        times = [round((start + t) * 1e9) for t in playback.times]
        reference = self.controller.reference
        assert reference.put_joints(playback.joints, times, playback.tables), reference.fault
        assert reference.put_base(times, playback.base), reference.fault
        moved = (
            replace(i, start=i.start + start, end=i.end + start)
            for i in playback.schedule.intervals
        )
        self.controller.schedule(ContactSchedule.of(moved), self.t)
        return playback

    def com(self):
        return pin.centerOfMass(self.robot.model, self.robot.data(), self.live.world.q)


def test_it_stands_still(robot):
    loop = Loop(robot)
    before = loop.com()
    torques = loop.run(0.5)
    assert torques.status == "STANDING"
    assert np.abs(loop.live.world.v).max() < 1e-3
    assert np.abs(loop.com() - before).max() < 1e-4
    still = hd.inverse_dynamics(
        robot, hd.State.at_rest(robot), np.zeros(robot.nv), rule="transition_limited"
    ).tau
    np.testing.assert_allclose(torques.tau, still, atol=0.5)


@pytest.mark.parametrize("force", [(60.0, 0.0, 0.0), (0.0, 60.0, 0.0), (-40.0, -40.0, 0.0)])
def test_pushed_it_comes_back(robot, force):
    loop = Loop(robot)
    loop.run(0.2)
    before = loop.com()
    loop.live.push("pelvis", np.array(force), np.zeros(3), 0.1)
    loop.run(0.3)
    assert np.abs(loop.com() - before).max() > 3e-3
    loop.run(1.7)
    assert np.abs(loop.com() - before).max() < 2e-3
    assert "FALLEN" not in loop.seen


def test_noise_delay_and_loss_do_not_bring_it_down(robot):
    """1 mm, 0.2 degrees, 5 mm/s and 5 mrad/s of noise, states of 10 ms ago, one in a hundred lost, and a push."""
    rng = np.random.default_rng(0)
    loop, line = Loop(robot), deque()
    before, world = loop.com(), loop.live.world
    for k in range(600):
        line.append((loop.t, world.q.copy(), world.v.copy()))
        if len(line) > 5:
            t, q, v = line.popleft()
            R = pin.Quaternion(q[3:7]).matrix() @ pin.exp3(np.deg2rad(0.2) * rng.normal(size=3))
            pose = np.concatenate((q[:3] + 1e-3 * rng.normal(size=3), pin.Quaternion(R).coeffs()))
            if rng.random() > 0.01:
                loop.controller.observe_base(pose, v[:6] + 5e-3 * rng.normal(size=6), t, loop.t)
                loop.controller.observe_joints(
                    loop.names, q[loop.q_at], v[robot.actuated_v], t, loop.t
                )
                loop.live.command(loop.names, loop.controller.command(t).tau)
        if k == 100:
            loop.live.push("pelvis", np.array([0.0, 30.0, 0.0]), np.zeros(3), 0.1)
        if loop.live.begun:
            loop.live.advance(DT, 2)
        else:
            world._stepper.t += 2 * DT
    assert np.abs(loop.com() - before).max() < 0.02
    assert np.abs(world.v).max() < 0.3


def load(name):
    try:
        return hd.load_robot(name)
    except MissingExtraError as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("name", ["g1", "talos_reduced"])
def test_robots_of_others_stand(name):
    loop = Loop(load(name))
    assert loop.run(0.3).status == "STANDING"
    assert np.abs(loop.live.world.v).max() < 2e-3


def test_it_squats(robot):
    loop = Loop(robot)
    loop.run(0.1)
    before = loop.com()[2]
    playback = loop.play("squat")
    loop.run(1.85)
    assert before - loop.com()[2] == pytest.approx(0.08 * before, abs=0.01)
    loop.run(playback.times[-1] - 1.5)
    assert loop.com()[2] == pytest.approx(before, abs=2e-3)
    assert set(loop.seen) == {"STANDING", "FOLLOWING", "REFERENCE_ENDED"}, loop.seen


def test_joints_that_rub_follow_all_the_same(robot):
    """Wrists whose friction is many times what their inertia asks for."""
    wrists = [
        robot.joint(f"{side}_wrist_{axis}").v.start
        for side in ("left", "right")
        for axis in ("yaw", "pitch")
    ]
    damping, friction = np.zeros(robot.nv), np.zeros(robot.nv)
    damping[wrists], friction[wrists] = 0.3, 0.3
    loop = Loop(replace(robot, damping=damping, friction=friction))
    loop.run(0.1)
    t = np.linspace(0.0, 2.0, 101)
    names = [robot.actuated[list(robot.actuated_v).index(v)] for v in wrists]
    positions = np.tile(0.4 * np.sin(np.pi * t) ** 2, (4, 1)).T
    velocities = np.tile(0.4 * np.pi * np.sin(2.0 * np.pi * t), (4, 1)).T
    times = [round((loop.t + 0.1 + each) * 1e9) for each in t]
    assert loop.controller.reference.put_joints(
        names, times, {"positions": positions, "velocities": velocities}
    )
    loop.run(0.6)
    q = [robot.joint(name).q.start for name in names]
    wanted = loop.controller.reference.at(loop.t).q[q]
    assert np.all(wanted > 0.3)
    np.testing.assert_allclose(loop.live.world.q[q], wanted, atol=0.05)
    assert set(loop.seen) == {"STANDING", "FOLLOWING"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["human28", "g1", "talos_reduced"])
def test_it_lifts_a_foot_and_puts_it_down(name):
    loop = Loop(load(name))
    loop.run(0.1)
    loop.play("step")
    loop.run(3.1)
    felt = {wrench.surface: wrench.force[2] for wrench in loop.live.feel()}
    weight = loop.robot.mass * 9.81
    assert felt["right_foot"] == 0.0
    assert felt["left_foot"] == pytest.approx(weight, rel=0.05)
    loop.run(3.9)
    felt = {wrench.surface: wrench.force[2] for wrench in loop.live.feel()}
    assert felt["right_foot"] == pytest.approx(0.5 * weight, rel=0.1)
    assert "FALLEN" not in loop.seen
    assert "REFERENCE_ENDED" in loop.seen


def test_rules_change_within_the_stated_bound(robot):
    """The step of a torque in a period is at most 1 / (blend * rate) of the difference of the rules, and what standing itself asks."""
    loop = Loop(robot, rule_blend=0.2)
    loop.run(0.2)
    first = loop.tau
    loop.live.push("pelvis", np.array([0.0, 20.0, 0.0]), np.zeros(3), 0.02)
    loop.steps.clear()
    loop.controller.change(BalanceSettings(rule="minimum_torque_limited", rule_blend=0.2))
    loop.run(0.4)
    assert np.abs(loop.tau - first).max() > 0.1
    both = loop.controller._solver
    difference = np.abs(
        both.resolve_with("minimum_torque_limited").tau
        - both.resolve_with("transition_limited").tau
    ).max()
    own = max(loop.steps[-50:])
    assert max(loop.steps) <= 1.5 * difference / (0.2 * 500) + own + 0.5


def test_rules_are_ready_before_they_are_asked_for(robot, monkeypatch):
    """To make one ready takes seconds where it has to be compiled, and the robot would not wait."""
    loop = Loop(robot)
    loop.run(0.02)

    def make(*_):
        raise AssertionError("a rule was made ready while the robot waited")

    monkeypatch.setattr("humanoid_dynamics.resolution.inverse.Resolver", make)
    for rule in RULES:
        loop.controller.change(BalanceSettings(rule=rule, rule_blend=0.01))
        loop.run(0.02)


def test_the_recommended_transition_keeps_feet_flat_where_shares_would_tip_them(robot):
    """Nearly all load is scheduled on one foot while the robot stands in the middle; chosen live, the rule gives it what it can press."""
    loop = Loop(robot, rule="transition", rule_blend=0.02)
    loop.run(0.1)
    loads = (
        ContactInterval(name, -np.inf, np.inf, 0.0, 0.0, weight)
        for name, weight in (("left_foot", 1.0), ("right_foot", 0.15))
    )
    loop.controller.schedule(ContactSchedule.of(loads), loop.t)
    tipped = loop.run(0.004)
    assert tipped.answer.certificate.cop_margin < -0.01
    assert tipped.status == "LIMITED"
    loop.controller.change(BalanceSettings(rule="recommended_transition", rule_blend=0.02))
    pressed = loop.run(0.1)
    assert 0.0 < pressed.answer.certificate.cop_margin < 4e-3
    assert pressed.status == "STANDING", pressed.reason


def test_a_foot_that_finds_no_ground_waits(robot):
    loop = Loop(robot)
    loop.run(0.1)
    controller = loop.controller
    schedule = (
        ContactInterval("left_foot", -np.inf, np.inf, 0.0, 0.0),
        ContactInterval("right_foot", -np.inf, 0.15, 0.0, 0.0),
        ContactInterval("right_foot", 0.25, np.inf, 0.1, 0.0),
    )
    controller.schedule(ContactSchedule.of(schedule), loop.t)
    for k in range(300):
        t = 0.1 + 0.002 * k
        controller.observe_contact("right_foot", 0.0, t)
        controller.observe_base(robot.posture[:7], np.zeros(6), t, t)
        controller.observe_joints(loop.names, robot.posture[loop.q_at], np.zeros(28), t, t)
        torques = controller.command(t)
    assert torques.status == "CONTACT_WAITING", torques.reason
    assert "right_foot" in torques.reason
    assert torques.answer.wrenches["left_foot"].normal_force == pytest.approx(
        robot.mass * 9.81, rel=0.1
    )
    assert controller.law.sink[1] > 0.0


def test_stale_states_fade_and_come_back(robot):
    loop = Loop(robot, timeout=0.02, fade_out_duration=0.1)
    loop.run(0.1)
    assert loop.controller.watch(loop.t) is None
    half = loop.controller.watch(loop.t - 0.002 + 0.07)
    assert half.status == "STATE_STALE"
    np.testing.assert_allclose(half.tau, 0.5 * loop.tau)
    assert not loop.controller.watch(loop.t + 1.0).tau.any()
    assert loop.run(0.01).status == "STANDING"


def test_whatever_comes_torques_are_finite_and_within_limits(robot):
    rng = np.random.default_rng(3)
    loop = Loop(robot)
    controller, pool = loop.controller, np.array([np.nan, np.inf, -1e300, 1e12, 0.0, 3.0])
    seen = set()
    for k in range(400):
        t = 0.002 * k
        q, v = robot.posture[loop.q_at] + 0.05 * rng.normal(size=28), rng.normal(size=28)
        base, twist = np.array(robot.posture[:7]), 0.2 * rng.normal(size=6)
        for values in (q, v, base, twist):
            if rng.random() < 0.1:
                values[rng.integers(len(values))] = rng.choice(pool)
        controller.observe_base(base, twist, t, t + float(rng.choice([0.0, 0.0, 0.5])))
        controller.observe_contact(
            str(rng.choice(["left_foot", "nose"])), float(rng.choice(pool)), t
        )
        taken = controller.observe_joints(loop.names, q, v, t, t)
        torques = controller.command(t) if taken else controller.refused() or controller.watch(t)
        if torques is not None:
            seen.add(torques.status)
            assert np.isfinite(torques.tau).all()
            assert np.all(np.abs(torques.tau) <= controller.limits)
    assert seen <= set(BalanceStatus)
    assert len(seen) >= 3


def test_accelerations_keep_standing_soles_still_and_give_the_centre_of_mass_its_own(robot):
    law = WholeBodyLaw(DynamicsProblem(robot))
    rng = np.random.default_rng(0)
    q = pin.integrate(robot.model, robot.posture, 0.02 * rng.normal(size=robot.nv))
    wanted = Wanted(robot.posture, np.zeros(robot.nv), np.zeros(robot.nv))
    a = law.accelerate(q, np.zeros(robot.nv), wanted, (True, True))
    data = robot.data()
    pin.forwardKinematics(robot.model, data, q, np.zeros(robot.nv), a)
    for name in robot.stance:
        assert (
            np.abs(
                pin.getFrameAcceleration(
                    robot.model, data, robot.surface(name).frame, pin.LOCAL
                ).vector
            ).max()
            < 1e-4
        )


@pytest.mark.parametrize("name", ["human28", pytest.param("g1", marks=pytest.mark.slow)])
def test_a_pressure_that_is_planned_at_the_rim_leaves_the_posture_alone(name):
    """Over one sole, with both on the ground, all joints follow the reference as they do in the middle: nothing is wrong there."""
    loop = Loop(load(name))
    loop.run(0.1)
    loop.play("step")
    loop.run(2.2)
    wanted = loop.controller.reference.at(loop.t)
    assert np.abs(pin.difference(loop.robot.model, wanted.q, loop.live.world.q)[6:]).max() < 0.03
    assert set(loop.seen) == {"STANDING", "FOLLOWING"}, loop.seen


def test_a_robot_without_a_free_root_is_refused():
    with pytest.raises(UnsupportedRobotError):
        WholeBodyLaw(DynamicsProblem(hd.load_robot("fourbar")))


def test_the_nearest_point_of_a_support():
    support = Support(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.5, 0.5]]), 0.1)
    np.testing.assert_allclose(support.nearest(np.array([0.5, 0.7])), [0.5, 0.7])
    np.testing.assert_allclose(support.nearest(np.array([0.5, 9.0])), [0.5, 0.9])
    assert len(Support(np.zeros((0, 2)), 0.1).corners) == 0


def test_contacts_have_two_thresholds_and_take_time():
    contact = ContactState(ContactThresholds(20.0, 10.0, 0.01))
    assert contact.closed
    for t, force, closed in (
        (0.0, 5.0, True),
        (0.005, 15.0, True),
        (0.01, 5.0, True),
        (0.019, 5.0, True),
        (0.021, 5.0, False),
        (0.03, 15.0, False),
    ):
        contact.observe(force, t)
        assert contact.closed == closed, t
    contact.observe(np.nan, 0.04)
    contact.observe(25.0, 0.05)
    contact.observe(25.0, 0.07)
    assert contact.closed


def test_reference_meets_its_points_and_moves_as_they_say(robot):
    reference = Reference(
        robot, blend=0.1, checked=False
    )  # read at instants too far apart for one that looks for jumps
    scenario = build_scenario(robot, "squat").clip
    playback = build_playback(robot, "squat")
    times = [round(t * 1e9) for t in playback.times]
    assert reference.put_joints(playback.joints, times, playback.tables)
    assert reference.put_base(times, playback.base)
    reference.hold(robot.posture)
    assert reference.put_joints(playback.joints, times, playback.tables)
    assert reference.put_base(times, playback.base)
    for row in (0, 10, 30, 60):
        wanted = reference.at(float(playback.times[row]))
        np.testing.assert_allclose(
            pin.difference(robot.model, wanted.q, scenario.q[row]), 0.0, atol=1e-6
        )
    h = 1e-5
    for t in (0.513, 1.207):
        before, now, after = (reference.at(t + k * h) for k in (-1, 0, 1))
        slope = pin.difference(robot.model, before.q, after.q) / (2 * h)
        np.testing.assert_allclose(slope[6:], now.v[6:], atol=1e-3)
        np.testing.assert_allclose(
            slope[:6], now.v[:6], atol=0.01 * np.abs(scenario.a[:, :6]).max()
        )  # half a step between points


def test_pieces_overwrite_what_follows_them(robot):
    name = robot.actuated[0]
    reference = Reference(robot, blend=1e-3, checked=False)  # the places are beyond the joint
    rows = {"positions": np.array([[0.0], [1.0]]), "velocities": np.zeros((2, 1))}
    assert reference.put_joints((name,), [0, 10**9], rows)
    assert reference.put_joints(
        (name,), [5 * 10**8, 6 * 10**8], {"positions": np.array([[0.2], [0.2]])}
    )
    reference.at(0.5)
    assert joint_position(robot.joint(name), reference.at(0.6).q) == pytest.approx(0.2)
    assert reference.end == pytest.approx(0.6)


def test_schedules_survive_being_tables():
    schedule = ContactSchedule.of(
        (
            ContactInterval("left", -np.inf, np.inf, 0.0, 0.0),
            ContactInterval("right", -np.inf, 1.0, 0.0, 0.3),
            ContactInterval("right", 2.0, 3.0, 0.2, 0.1),
        )
    )
    again = schedule_from_loads(schedule.surfaces, *loads_of_schedule(schedule, -1.0, 5.0))
    for t in np.linspace(-1.0, 5.0, 301):
        np.testing.assert_allclose(again.shares(t), schedule.shares(t), atol=1e-9)


@pytest.mark.parametrize(
    "loads",
    [
        np.full((2, 1), np.nan),
        np.full((2, 1), -1.0),
        np.zeros((3, 1)),
        np.zeros((2, 0)),
        np.array([[0.3], [1.0]])[:, [0, 0]],
    ],
)
def test_tables_that_are_no_schedule_are_refused(loads):
    with pytest.raises(ShapeError):
        schedule_from_loads(["foot"], [0.0, 1.0], loads)


def test_a_schedule_of_no_surface_is_one_that_nothing_touches():
    assert not schedule_from_loads([], [0.0, 1.0], np.zeros((2, 0))).surfaces


def test_unknown_names_are_told(robot):
    with pytest.raises(UnknownNameError, match="squat"):
        build_scenario(robot, "squt")
    with pytest.raises(UnknownNameError, match="wrench"):
        BalanceSettings(contact_source="hope")
    controller = BalanceController(robot)
    with pytest.raises(UnknownNameError, match="left_foot"):
        controller.schedule(ContactSchedule.of((ContactInterval("tail", 0.0, 1.0, 0.0, 0.0),)), 0.0)


def test_no_tick_waits_for_a_compiler(robot):
    """Neither at the first tick nor where load passes, a foot is lifted, a push or another rule comes: all is compiled before."""
    event = pytest.importorskip("numba.core.event", reason="numba is not installed")
    compile_kernel.cache_clear()
    loop = Loop(robot)
    loop.controller = BalanceController(robot, BalanceSettings())
    with event.install_recorder("numba:compiler_lock") as compiled:
        loop.run(0.1)
        loop.play("step")
        loop.live.push("pelvis", np.array([0.0, 60.0, 0.0]), np.zeros(3), 0.1)
        loop.run(1.6)
        loop.live.push("torso", np.array([300.0, 0.0, 0.0]), np.zeros(3), 0.2)
        loop.controller.change(BalanceSettings(rule="minimum_torque"))
        while "INFEASIBLE" not in loop.seen and loop.t < 2.3:  # it falls, and nobody could say how
            loop.run(0.01)
    assert {"STANDING", "FOLLOWING", "LIMITED", "INFEASIBLE"} <= set(loop.seen)
    assert not compiled.buffer


def observe(loop, part=slice(None), *, velocities=True, t=None):
    """Show some of the joints, and the base, and return what answers them."""
    t = loop.t if t is None else t
    world, robot = loop.live.world, loop.robot
    loop.controller.observe_base(world.q[:7], world.v[:6], t, t)
    rates = world.v[robot.actuated_v][part] if velocities else np.zeros(0)
    assert loop.controller.observe_joints(loop.names[part], world.q[loop.q_at][part], rates, t, t)
    return loop.controller.command(t)


@pytest.mark.parametrize("part", [slice(0, 14), slice(1, None, 2), slice(0, 27)])
def test_joints_that_are_not_measured_any_more_make_the_state_stale(robot, part):
    loop = Loop(robot, timeout=0.02, fade_out_duration=0.1)
    loop.run(0.05)
    before = loop.tau
    answers = [observe(loop, part, t=loop.t + 0.002 * k) for k in range(60)]
    assert answers[8].status == "STANDING"
    assert answers[12].status == "STATE_STALE"
    missing = [name for name in loop.names if name not in loop.names[part]]
    assert missing[0] in answers[12].reason
    assert f"{len(missing)} of 28 joints" in answers[12].reason
    assert not answers[-1].tau.any()
    watched = loop.controller.watch(loop.t + 0.05)
    assert (watched.status, missing[0] in watched.reason) == ("STATE_STALE", True)
    steps = np.abs(np.diff([before, *(answer.tau for answer in answers)], axis=0)).max()
    assert steps < 0.1 * np.abs(before).max()
    assert observe(loop, t=loop.t + 0.13).status == "STANDING"


def test_odometry_that_stops_makes_the_state_stale(robot):
    loop = Loop(robot, timeout=0.02, fade_out_duration=0.1)
    loop.run(0.05)
    world = loop.live.world
    for k in range(20):
        t = loop.t + 0.002 * k
        loop.controller.observe_joints(
            loop.names, world.q[loop.q_at], world.v[robot.actuated_v], t, t
        )
        torques = loop.controller.command(t)
    assert torques.status == "STATE_STALE"
    assert "odometry" in torques.reason


def test_joint_states_may_come_in_parts_of_different_age(robot):
    """Legs at 500 Hz, arms at 100 Hz and 15 ms late, and stamps of one are no stamps of the other that went back."""
    loop, arms = Loop(robot), slice(14, None)
    loop.run(0.05)
    loop.controller.forget()
    for k in range(100):
        torques = observe(loop, slice(0, 14))
        world, t = loop.live.world, loop.t
        if k % 5 == 0:
            late = t - 0.015
            assert loop.controller.observe_joints(
                loop.names[arms], world.q[loop.q_at][arms], world.v[robot.actuated_v][arms], late, t
            )
        assert torques.status == ("WAITING" if k == 0 else "STANDING"), torques.reason
        loop.live.command(loop.names, torques.tau if k else loop.tau)
        loop.live.advance(DT, 2)
    assert np.abs(loop.live.world.v).max() < 1e-2


@pytest.mark.parametrize("name", ["human28", "g1"])
def test_velocities_that_do_not_come_are_differentiated(name):
    """It stands, bears a push, and the status names it."""
    loop = Loop(load(name))
    loop.run(0.02)
    before = loop.com()
    loop.live.push(loop.robot.links[0], np.array([0.0, loop.robot.mass, 0.0]), np.zeros(3), 0.1)
    for _ in range(600):
        torques = observe(loop, velocities=False)
        loop.live.command(loop.names, torques.tau)
        loop.live.advance(DT, 2)
    assert (torques.status, "STANDING; " in torques.reason) == ("VELOCITIES_ESTIMATED", True)
    assert np.abs(loop.com() - before).max() < 0.02
    rates = loop.live.world.v[loop.robot.actuated_v]
    np.testing.assert_allclose(loop.controller.measured.v[loop.robot.actuated_v], rates, atol=0.02)
    assert observe(loop).status == "STANDING"


def test_joints_without_end_are_differentiated_across_the_turn():
    """From just below half a turn to just above minus half a turn is a small way."""
    joint = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>'
    body = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    robot = hd.load_robot(
        f'<robot name="wheel"><link name="a">{body}</link><link name="b">{body}</link>{joint}</robot>'
    )
    state = MeasuredState(robot)
    for k in range(100):
        angle = np.remainder(3.0 + 0.01 * k + np.pi, 2.0 * np.pi) - np.pi
        assert state.put_joints(["j"], np.array([angle]), np.zeros(0), 0.01 * k)
    np.testing.assert_allclose(state.v[robot.joint("j").v], 1.0, atol=1e-3)


def ask(loop, shift, *, at=0.02, points=1, period=0.02, joint="left_shoulder_pitch"):
    """Ask for a posture with one joint elsewhere, in one piece or as a stream, and return whether all was taken."""
    place = loop.names.index(joint)
    posture = loop.robot.posture[loop.q_at]
    there = posture + shift * (np.arange(len(posture)) == place)
    rows = np.array([posture] * (points // 2) + [there] * (points - points // 2))
    times = [round((loop.t + at + period * k) * 1e9) for k in range(points)]
    pieces = (
        [(times, rows)]
        if points == 1
        else [([t], row[None]) for t, row in zip(times, rows, strict=True)]
    )
    return all(
        loop.controller.reference.put_joints(loop.names, t, {"positions": row}) for t, row in pieces
    )


@pytest.mark.parametrize("points", [1, 40])
@pytest.mark.parametrize("period", [0.005, 0.02])
def test_a_reference_that_jumps_by_a_radian_moves_the_torques_by_less_than_a_newton_metre_a_tick(
    robot, points, period
):
    loop = Loop(robot)
    loop.run(0.05)
    assert ask(loop, -1.0, points=points, period=period)
    loop.steps.clear()
    loop.run(1.0)
    assert max(loop.steps) < 1.0
    assert "FALLEN" not in loop.seen
    place = loop.q_at[loop.names.index("left_shoulder_pitch")]
    assert loop.live.world.q[place] - robot.posture[place] < -0.02


BEYOND = {
    "a thousand turns": {"positions": np.array([[1e9]])},
    "a tenth beyond the limit": {"positions": np.array([[-3.07]])},
    "velocities beyond the limit": {
        "positions": np.array([[0.0]]),
        "velocities": np.array([[20.0]]),
    },
    "points too near in time": {"positions": np.array([[0.0], [0.5]])},
}


@pytest.mark.parametrize("case", BEYOND)
def test_references_beyond_the_limits_of_a_joint_are_refused(robot, case):
    """And what was followed before is followed still."""
    table = BEYOND[case]
    loop = Loop(robot)
    loop.run(0.02)
    before = loop.tau
    reference = loop.controller.reference
    times = [round((loop.t + 0.1) * 1e9) + 10**7 * k for k in range(len(table["positions"]))]
    assert not reference.put_joints(["left_shoulder_pitch"], times, table)
    assert "left_shoulder_pitch" in reference.fault
    assert "expected" in reference.fault
    assert loop.run(0.2).status == "REFERENCE_REJECTED"
    np.testing.assert_allclose(loop.tau, before, atol=0.5)
    row = np.concatenate((robot.posture[:7], np.zeros(6)))
    assert not reference.put_base(times[:1], (row + 1e9 * (np.arange(13) == 2))[None])
    assert not reference.put_base(times[:1], (row + 100.0 * (np.arange(13) == 8))[None])
    assert reference.put_base(times[:1], row[None])


def test_a_reference_that_a_robot_can_follow_is_followed_to_the_last_bit(robot):
    plain, checked = Reference(robot, checked=False), Reference(robot)
    playback = build_playback(robot, "step")
    times = [round(t * 1e9) for t in playback.times]
    for reference in (plain, checked):
        reference.hold(robot.posture)
        assert reference.put_joints(playback.joints, times, playback.tables)
        assert reference.put_base(times, playback.base)
    for t in np.arange(0.0, playback.times[-1], 0.002):
        one, other = plain.at(t), checked.at(t)
        np.testing.assert_array_equal(
            np.concatenate((one.q, one.v, one.a)), np.concatenate((other.q, other.v, other.a))
        )


def test_a_base_reference_that_slides_under_soles_that_stand_moves_nothing(robot):
    loop = Loop(robot)
    loop.run(0.05)
    before = loop.tau
    start = np.concatenate((robot.posture[:7], np.zeros(6)))
    rows, times = np.array([start, start]), [round((loop.t + shift) * 1e9) for shift in (0.02, 0.5)]
    rows[1, 0] += 1.0
    assert ask(loop, 0.0)
    assert loop.controller.reference.put_base(times, rows)
    loop.run(0.6)
    np.testing.assert_allclose(loop.tau, before, atol=0.5)


def test_a_foot_that_touches_late_is_led_to_the_ground_and_stops_nothing(robot):
    """A sole goes down before it is to touch, faster while it is late, and only after a while the motion waits for it."""
    loop = Loop(robot)
    controller = loop.controller
    schedule = (
        ContactInterval("left_foot", -np.inf, np.inf, 0.0, 0.0),
        ContactInterval("right_foot", -np.inf, 0.01, 0.0, 0.0),
        ContactInterval("right_foot", 0.1, np.inf, 0.05, 0.0),
    )
    controller.schedule(ContactSchedule.of(schedule), 0.0)
    seen = {}
    for k in range(140):
        t = 0.002 * k
        controller.observe_contact("right_foot", 0.0, t)
        controller.observe_base(robot.posture[:7], np.zeros(6), t, t)
        controller.observe_joints(loop.names, robot.posture[loop.q_at], np.zeros(28), t, t)
        seen[k] = (controller.command(t).status, controller.law.sink[1], controller.law.sinking[1])
    assert seen[15] == ("STANDING", 0.0, 0.0)
    assert 0.0 < seen[45][1] <= 3e-3
    assert seen[100][0] == "STANDING"
    assert seen[100][1] > 5e-3
    assert seen[100][2] > 0.0
    assert seen[139][0] == "CONTACT_WAITING"


def test_accelerations_between_close_points_are_their_mean(robot):
    """Frames of a filter come 5 ms apart; a velocity that differs a little from their difference is no acceleration of hundreds."""
    reference = Reference(robot, checked=False)
    name = robot.actuated[0]
    times = [0, 5_000_000, 10_000_000]
    table = {
        "positions": np.array([[0.0], [0.005], [0.0125]]),
        "velocities": np.array([[1.0], [1.25], [1.5]]),
    }
    assert reference.put_joints([name], times, table)
    for t in (0.0, 0.002, 0.004, 0.006):
        wanted = reference.at(t)
        assert wanted.a[robot.joint(name).v] == pytest.approx(50.0)


def test_a_contact_that_flickers_is_not_lost(robot):
    """A sole that bears load without a force for 20 ms is on the ground still; one without a force for long is not."""
    loop = Loop(robot)
    controller = loop.controller
    controller.schedule(
        ContactSchedule.of(
            [ContactInterval(name, -np.inf, np.inf, 0.0, 0.0) for name in robot.stance]
        ),
        0.0,
    )
    seen = {}
    for k in range(60):
        t = 0.002 * k
        opened = 10 <= k < 20 or k >= 30
        controller.observe_contact("right_foot", 0.0 if opened else 300.0, t)
        controller.observe_base(robot.posture[:7], np.zeros(6), t, t)
        controller.observe_joints(loop.names, robot.posture[loop.q_at], np.zeros(28), t, t)
        seen[k] = controller.command(t).status
    assert {seen[k] for k in range(40)} == {"STANDING"}
    assert seen[59] == "CONTACT_LOST"
