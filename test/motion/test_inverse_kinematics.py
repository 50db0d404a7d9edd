# SPDX-License-Identifier: Apache-2.0
"""The search for joints: goals that can be met are met, limits are kept, rows are derivatives."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.motion.body_points import find_body
from humanoid_dynamics.motion.inverse_kinematics import COM, InverseKinematics, Task

ROBOTS = {name: hd.load_robot(name) for name in ("human28", "human40", "legs12")}
STEP = 1e-6


def hard_tasks(robot):
    soles = [robot.surfaces[name].frame for name in ("left_foot", "right_foot")]
    return [
        Task("com", COM, place=1.0, hard=True),
        *(Task(str(f), f, place=1.0, turn=1.0, hard=True) for f in soles),
    ]


def moved(robot, size, seed=0):
    rng = np.random.default_rng(seed)
    q = np.asarray(pin.integrate(robot.model, robot.posture, rng.normal(scale=size, size=robot.nv)))
    for joint in robot.joints:
        if joint.kind == "revolute":
            q[joint.q] = np.clip(
                q[joint.q], robot.limits.lower[joint.q], robot.limits.upper[joint.q]
            )
    return q


def goals_at(robot, tasks, q):
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, q)
    pin.centerOfMass(robot.model, data, q)
    places = np.array(
        [data.com[0] if t.frame == COM else data.oMf[t.frame].act(t.p_F) for t in tasks]
    )
    turns = np.array([np.eye(3) if t.frame == COM else data.oMf[t.frame].rotation for t in tasks])
    return places, turns


@pytest.mark.parametrize("name", ROBOTS)
def test_goals_that_can_be_met_are_met_exactly_inside_the_limits(name):
    robot = ROBOTS[name]
    tasks = hard_tasks(robot)
    search = InverseKinematics(robot, tasks, np.full(robot.nv, 0.1))
    for seed in range(4):
        found = search.solve(
            robot.posture, *goals_at(robot, tasks, moved(robot, 0.15, seed)), most=60
        )
        assert found.hard_error < 1e-12
        assert np.all(found.q[7:] >= robot.limits.lower[7:])
        assert np.all(found.q[7:] <= robot.limits.upper[7:])


def test_rows_are_derivatives_and_drift_is_what_constant_velocity_leaves():
    robot = ROBOTS["human40"]
    tasks = hard_tasks(robot)
    search = InverseKinematics(robot, tasks, np.full(robot.nv, 0.1))
    q = moved(robot, 0.4)
    v = np.random.default_rng(1).normal(size=robot.nv)
    ends = [np.asarray(pin.integrate(robot.model, q, sign * STEP * v)) for sign in (-1.0, 1.0)]
    (p_0, R_0), (p_1, R_1) = (goals_at(robot, tasks, end) for end in ends)
    rows = []
    for k, task in enumerate(tasks):
        rows.append((p_1[k] - p_0[k]) / (2 * STEP))
        if task.turn:
            rows.append(pin.log3(R_1[k] @ R_0[k].T) / (2 * STEP))
    np.testing.assert_allclose(search.jacobian(q) @ v, np.concatenate(rows), atol=1e-7)
    before, after = (search.jacobian(end) @ v for end in ends)
    np.testing.assert_allclose(search.drift(q, v), (after - before) / (2 * STEP), atol=1e-6)


def test_goal_beyond_reach_leaves_a_residual_and_no_broken_limit():
    robot = ROBOTS["human28"]
    hand = robot.control_points["left_hand"].frame
    task = Task("hand", hand, place=1.0)
    found = InverseKinematics(robot, [task], np.full(robot.nv, 0.05)).solve(
        robot.posture, np.array([[9.0, 0, 0]]), np.eye(3)[None]
    )
    assert np.isfinite(found.q).all()
    low = InverseKinematics(
        robot, [Task("knee", robot.link_frame("left_shank"), turn=1.0)], np.full(robot.nv, 0.1)
    )
    wanted = pin.utils.rotate(
        "y", -1.5
    )  # a knee that would have to bend backwards, or a hip that lifts the thigh
    bent = low.solve(robot.posture, np.zeros((1, 3)), wanted[None])
    assert np.all(bent.q[7:] >= robot.limits.lower[7:])
    assert np.all(bent.q[7:] <= robot.limits.upper[7:])


def test_limits_stop_a_joint_and_the_others_go_on():
    robot = ROBOTS["legs12"]
    tasks = hard_tasks(robot)
    q = np.array(robot.posture)
    places, turns = goals_at(robot, tasks, q)
    places[0, 2] += 0.01  # near to straight knees
    kept = InverseKinematics(robot, tasks, np.full(robot.nv, 0.1)).solve(q, places, turns, most=60)
    assert kept.hard_error < 1e-12
    places[0, 2] += 0.2  # beyond them
    stuck = InverseKinematics(robot, tasks, np.full(robot.nv, 0.1)).solve(q, places, turns, most=60)
    assert stuck.hard_error > 0.01
    assert np.all(stuck.q[7:] >= robot.limits.lower[7:])


@pytest.mark.parametrize("name", ["human28", "human16", "human40", "legs12"])
def test_body_points_are_where_the_generator_put_the_joints(name):
    robot = hd.load_robot(name)
    body = find_body(robot)
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, robot.posture)
    for name in ("left_knee", "right_knee", "left_elbow", "right_hand"):
        if name in body.points and name in robot.control_points:
            point = body.points[name]
            np.testing.assert_allclose(
                data.oMf[point.frame].act(point.p_F),
                data.oMf[robot.control_points[name].frame].translation,
                atol=1e-12,
            )
    assert [sole.name for sole in body.soles] == ["left_foot", "right_foot"]
    hips = [
        data.oMf[body.points[f"{side}_hip"].frame].act(body.points[f"{side}_hip"].p_F)
        for side in ("left", "right")
    ]
    np.testing.assert_allclose(hips[0] * [1, -1, 1], hips[1], atol=1e-9)


def test_robots_without_two_soles_are_told():
    for name in ("biped7", "fourbar", "snake5"):
        with pytest.raises(hd.UnsupportedRobotError, match="needs a free base and two soles"):
            find_body(hd.load_robot(name))
