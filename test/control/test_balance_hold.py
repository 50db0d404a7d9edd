# SPDX-License-Identifier: Apache-2.0
"""Bad, late and missing commands of a free-standing robot: a few pass, more latch the guard, and the robot stays on its feet."""

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.control.balance import BalanceController
from humanoid_dynamics.control.balance_hold import BalanceHold
from humanoid_dynamics.control.effort_guard import EffortGuard, GuardSettings
from humanoid_dynamics.errors import UnsupportedRobotError
from humanoid_dynamics.simulation.live import LiveWorld

PERIOD = 0.002  # s


@pytest.fixture(scope="module")
def robot():
    return hd.load_robot("human28")


class Loop:
    """World, controller and guard; ``send`` decides what becomes of a command on its way to the guard."""

    def __init__(self, robot, limits=None):
        self.robot, self.live = robot, LiveWorld.of_robot(robot)
        self.controller = BalanceController(robot)
        limits = robot.limits.effort[robot.actuated_v] if limits is None else limits
        self.safe = BalanceHold(robot, robot.actuated, limits)
        self.guard = EffortGuard(
            robot.actuated, limits, self.safe, GuardSettings(rate=1e6, period=PERIOD)
        )
        self.q_at = [robot.joint(name).q.start for name in robot.actuated]
        self.statuses, self.largest = set(), 0.0

    @property
    def rise(self):
        return float(self.live.world.q[2] - self.robot.posture[2])

    def run(self, seconds, send=lambda tau: tau, sensed=True):
        """Run so long; a command that ``send`` makes None does not come."""
        robot, world = self.robot, self.live.world
        for _ in range(round(seconds / PERIOD)):
            t = world.t + 1.0
            for receiver in (self.controller, self.safe):
                if self.live.begun:
                    for felt in self.live.feel():
                        receiver.observe_contact(felt.surface, felt.force[2], t)
            self.controller.observe_base(world.q[:7], world.v[:6], t, t)
            joints = robot.actuated, world.q[self.q_at], world.v[robot.actuated_v]
            self.controller.observe_joints(*joints, t, t)
            if sensed:
                self.safe.observe_base(world.q[:7], world.v[:6], t)
                self.safe.observe(*joints, t)
            command = send(self.controller.command(t).tau)
            if command is not None:
                self.guard.command(robot.actuated, command, t, t)
            out = self.guard.output(t)
            assert np.isfinite(out.tau).all()
            self.statuses.add(out.status)
            self.largest = float(np.abs(out.tau).max())
            self.live.command(robot.actuated, out.tau)
            self.live.advance(0.001, 2)


def broken(tau):
    return np.full(len(tau), np.nan)


@pytest.mark.parametrize(
    ("seconds", "send"), [(PERIOD, broken), (5 * PERIOD, broken), (0.02, lambda _: None)]
)
def test_a_few_bad_or_missing_commands_pass(robot, seconds, send):
    loop = Loop(robot)
    loop.run(0.1)
    loop.run(seconds, send)
    assert loop.guard.fault is None
    assert "HELD" in loop.statuses
    loop.run(0.2)
    assert loop.guard.output(loop.live.world.t + 1.0).status == "PASSING"
    assert abs(loop.rise) < 1e-3


@pytest.mark.parametrize(
    ("fault", "seconds", "send"),
    [("NOT_FINITE", 6 * PERIOD, broken), ("STALE", 0.1, lambda _: None)],
)
def test_latched_it_stands_until_a_command_after_arming(robot, fault, seconds, send):
    loop = Loop(robot)
    loop.live.push("pelvis", np.array([30.0, 10.0, 0.0]), np.zeros(3), 0.1)
    loop.run(0.1)
    loop.run(seconds, send)
    assert loop.guard.fault == fault
    loop.run(0.6, lambda _: None)
    assert abs(loop.rise) < 5e-3
    assert loop.guard.rearm(loop.live.world.t + 1.0) == ""
    loop.run(0.2, lambda _: None)
    assert loop.guard.output(loop.live.world.t + 1.0).status == "WAITING"
    assert abs(loop.rise) < 5e-3
    loop.run(0.2)
    assert loop.guard.output(loop.live.world.t + 1.0).status == "PASSING"
    assert abs(loop.rise) < 5e-3


def test_without_state_the_torques_fade_and_with_it_they_come_back(robot):
    loop = Loop(robot)
    loop.run(0.1)
    loop.guard.stop(now=loop.live.world.t + 1.0)
    loop.run(0.1)
    held = loop.largest
    loop.run(0.1, sensed=False)
    assert 0.5 * held < loop.largest < held
    loop.run(0.1)
    assert abs(loop.rise) < 0.02
    loop.run(0.6, sensed=False)
    assert loop.largest < 0.7 * held


def test_before_the_first_state_there_is_no_torque(robot):
    safe = BalanceHold(robot, robot.actuated, robot.limits.effort[robot.actuated_v])
    safe.begin()
    assert not safe.torques(0.0, 1.0).any()


def test_bad_commands_that_come_slowly_do_not_hold_for_long(robot):
    guard = EffortGuard(
        robot.actuated, np.full(len(robot.actuated), 100.0), Loop(robot).safe, GuardSettings()
    )
    guard.command(robot.actuated, np.ones(len(robot.actuated)), 0.0, 0.0)
    guard.output(0.0)
    for t in (0.03, 0.06):
        guard.command(robot.actuated, broken(robot.actuated), t, t)
    assert guard.output(0.06).status == "STALE"


def test_it_needs_a_free_standing_robot():
    with pytest.raises(UnsupportedRobotError, match="requires a robot model"):
        BalanceHold(None, ("a",), np.ones(1))
    arms = hd.load_robot("snake5")
    with pytest.raises(UnsupportedRobotError, match="root"):
        BalanceHold(arms, arms.actuated, np.ones(len(arms.actuated)))


def test_a_foot_in_the_air_is_put_down_and_one_that_touches_stays(robot):
    safe = BalanceHold(robot, robot.actuated, robot.limits.effort[robot.actuated_v])
    q_at = [robot.joint(name).q.start for name in robot.actuated]
    safe.begin()
    depths = []
    for k in range(200):
        t = 1.0 + k * PERIOD
        for sole, force in zip(safe.soles, (300.0, 0.0 if k < 180 else 300.0), strict=True):
            safe.observe_contact(sole, force, t)
        safe.observe_base(robot.posture[:7], np.zeros(6), t)
        safe.observe(robot.actuated, robot.posture[q_at], np.zeros(len(q_at)), t)
        assert np.isfinite(safe.torques(k * PERIOD, t)).all()
        depths.append(safe._controller.law.sink.copy())
    assert not np.array(depths)[:, 0].any()
    assert 0.03 < depths[179][1] <= 0.1
    assert depths[-1][1] == 0.0
