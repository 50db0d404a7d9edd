# SPDX-License-Identifier: Apache-2.0
"""Walking by velocity commands on the filter's own state."""

import pickle
from functools import cache

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.filtering.plan.centroidal import CentroidalPlan
from humanoid_dynamics.filtering.plan.settings import PlanSettings
from humanoid_dynamics.filtering.walking import WalkStatus

FORWARD = (0.3, 0.0, 0.0)
ROUNDING = 1e-6  # m, rad, N·m


@cache
def walking_filter(name="g1"):
    return hd.WalkingFilter(hd.load_robot(name))


def walk(walking, velocity, duration, stop=0.0):
    """Return frames of a walk from standing that ends with a stop."""
    walking.restart()
    count = round(duration / walking.dt)
    rest = round(stop / walking.dt)
    return [walking.step(velocity if k < count else (0.0, 0.0, 0.0)) for k in range(count + rest)]


def mean_velocity(frames, start, end):
    """Return mean forward and sideways velocity in axes of the mean heading, and turning rate, between two times."""
    a, b = (next(f for f in frames if f.time >= t) for t in (start, end))
    turns = [2.0 * np.arctan2(f.q[5], f.q[6]) for f in frames if start <= f.time <= end]
    turns = np.unwrap(turns)
    heading = turns.mean()
    way = (b.q[:2] - a.q[:2]) / (b.time - a.time)
    c, s = np.cos(heading), np.sin(heading)
    return np.array(
        [
            c * way[0] + s * way[1],
            c * way[1] - s * way[0],
            (turns[-1] - turns[0]) / (b.time - a.time),
        ]
    )


@pytest.mark.parametrize(
    ("name", "velocity"),
    [
        ("g1", FORWARD),
        ("g1", (0.6, 0.0, 0.0)),
        ("g1", (0.0, 0.3, 0.0)),
        ("human28", (-0.3, 0.0, 0.0)),
        ("talos_reduced", (0.0, 0.0, 0.5)),
    ],
)
def test_a_robot_walks_at_the_commanded_velocity_within_all_limits(name, velocity):
    """Every frame is certified at level 0, and the robot stands in the end."""
    walking = walking_filter(name)
    frames = walk(walking, velocity, 5.0, stop=2.5)
    assert all(frame.certificate.holds and frame.rung == 0 for frame in frames)
    assert walking.status is WalkStatus.STANDING
    assert np.abs(mean_velocity(frames, 2.8, 5.0) - velocity).max() < 0.1
    assert sum(not all(frame.stands) for frame in frames) > 0.5 * len(frames) * 0.5


def test_a_state_that_is_restored_goes_on_as_before():
    """A pickled state in a fresh filter gives the same frames, but for the rounding of the tick's warm start."""
    walking = hd.WalkingFilter(hd.load_robot("g1"))
    for _ in range(370):
        walking.step(FORWARD)
    kept = pickle.dumps(walking.copy())
    first = [walking.step(FORWARD) for _ in range(200)]
    other = walking_filter("g1")
    other.restart()
    other.restore(pickle.loads(kept))
    for frame in first:
        again = other.step(FORWARD)
        assert np.abs(frame.q - again.q).max() < ROUNDING
        assert np.abs(frame.tau - again.tau).max() < ROUNDING


def test_a_stale_command_brings_the_robot_to_a_stop():
    """Without new commands the robot stops within some steps and stands."""
    walking = walking_filter()
    walk(walking, FORWARD, 2.0)
    seen = set()
    for _ in range(round(4.0 / walking.dt)):
        frame = walking.step()
        seen.add(walking.status)
        assert frame.certificate.holds
    assert seen <= {WalkStatus.WALKING, WalkStatus.COMMAND_STALE, WalkStatus.STANDING}
    assert WalkStatus.COMMAND_STALE in seen
    assert walking.status is WalkStatus.STANDING


@pytest.mark.parametrize("command", [[np.nan, 0.0, 0.0], [1.0], "forward", [np.inf] * 3])
def test_an_invalid_command_is_ignored(command):
    """The status names it, and the robot goes on standing."""
    walking = walking_filter()
    walking.restart()
    walking.step((0.0, 0.0, 0.0))
    frame = walking.step(command)
    assert walking.status is WalkStatus.COMMAND_INVALID
    assert frame.certificate.holds


def test_huge_commands_are_limited():
    """A command beyond all limits is followed as far as the robot can."""
    walking = walking_filter("human28")
    frames = walk(walking, (1e6, 0.0, 0.0), 3.0)
    assert all(frame.certificate.holds for frame in frames)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("bolt", "six joints"), ("biped7", "planar"), ("snake5", "fixed")],
)
def test_robots_that_cannot_walk_by_command_are_refused(name, reason):
    """The message names what is missing."""
    with pytest.raises(hd.UnsupportedRobotError, match=reason):
        hd.WalkingFilter(hd.load_robot(name))


def test_legs_that_do_not_bear_the_robot_are_refused(monkeypatch):
    """The message states how many weights one leg bears."""
    monkeypatch.setattr("humanoid_dynamics.filtering.walking.LEAST_FORCE", 1e3)
    with pytest.raises(hd.UnsupportedRobotError, match=r"legs that bear.*weights"):
        hd.WalkingFilter(hd.load_robot("g1"))


def test_without_the_terminal_constraint_the_robot_falls():
    """Negative control: a slack that costs nothing lets the centre of mass run away."""
    walking = hd.WalkingFilter(
        hd.load_robot("g1"),
        settings=PlanSettings(weight_slack=0.0, weight_slack_square=1e-6, footsteps=1),
    )
    frames = walk(walking, FORWARD, 4.0)
    assert walking.status is WalkStatus.FALLEN or not all(f.certificate.holds for f in frames)


def test_an_infeasible_plan_has_a_fallback(monkeypatch):
    """Without any plan for half a second, every tick still has a command."""
    walking = hd.WalkingFilter(hd.load_robot("g1"))
    for _ in range(300):
        walking.step(FORWARD)
    monkeypatch.setattr(CentroidalPlan, "solve", lambda *_, **__: None)
    seen = set()
    for _ in range(100):
        frame = walking.step(FORWARD)
        seen.add(frame.plan.status)
        assert np.isfinite(frame.tau).all()
    assert {"SHIFTED", "BOUNDED"} & set(map(str, seen))


def push_base(walking, impulse):
    """Add a share of a push at the base to the velocity; soles that stand keep their velocity."""
    q, v, robot = walking.q, walking.v, walking.robot
    data = robot.data()
    M = np.array(pin.crba(robot.model, data, q))
    M = np.triu(M) + np.triu(M, 1).T
    pin.computeJointJacobians(robot.model, data, q)
    pin.updateFramePlacements(robot.model, data)
    given = np.zeros(robot.nv)
    given[:3] = pin.Quaternion(q[3:7]).matrix().T @ impulse
    J = np.vstack(
        [
            pin.getFrameJacobian(robot.model, data, sole, pin.ReferenceFrame.LOCAL)
            for sole in walking.proportions.soles
        ]
    )
    change, reached = np.linalg.solve(M, given), np.linalg.solve(M, J.T)
    bound = np.linalg.lstsq(J @ reached, J @ change, rcond=1e-8)[0]
    v += change - reached @ bound


@pytest.mark.parametrize("angle", [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
def test_pushes_while_standing_are_captured(angle):
    """10 N·s at the base within 0.1 s, in six directions: new plans, no fall."""
    walking = walking_filter()
    walking.restart()
    count = round(0.1 / walking.dt)
    for k in range(500):
        if 100 <= k < 100 + count:
            push_base(walking, 10.0 / count * np.array([np.cos(angle), np.sin(angle), 0.0]))
        frame = walking.step((0.0, 0.0, 0.0))
    assert walking.status in {WalkStatus.STANDING, WalkStatus.WALKING}
    assert frame.plan.capture_margin > 0.0
