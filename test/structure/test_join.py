# SPDX-License-Identifier: Apache-2.0
"""Robots joined into one move as they did apart, and keep all they had under new names."""

import numpy as np
import pinocchio as pin
import pytest
from mechanisms import random_configuration

from humanoid_dynamics.constraints.contact import build_contact
from humanoid_dynamics.dynamics.forward import solve_forward
from humanoid_dynamics.dynamics.kkt import symmetric
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.errors import (
    HumanoidDynamicsError,
    ShapeError,
    UnknownNameError,
    UnsupportedRobotError,
)
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.structure.detachment import detach
from humanoid_dynamics.structure.joining import connect_points, join
from humanoid_dynamics.structure.links import Structure

PAIRS = (
    ("human16", "swing"),
    ("human28", "ropes"),
    ("human16", "highbar"),
    ("stewart", "snake5", "fourbar"),
    ("biped7", "two_arms_bar"),
)


@pytest.mark.parametrize("names", PAIRS)
def test_robots_that_do_not_touch_move_as_they_did_apart(names):
    robots = [load_robot(name) for name in names]
    whole = join(robots, names)
    assert whole.model.check(whole.data())
    assert (whole.nq, whole.nv) == (
        sum(robot.nq for robot in robots),
        sum(robot.nv for robot in robots),
    )
    assert np.isclose(whole.mass, sum(robot.mass for robot in robots), rtol=1e-14)
    rng = np.random.default_rng(0)
    states = [
        (
            random_configuration(robot.model, rng),
            rng.normal(size=robot.nv),
            rng.normal(size=robot.nv),
        )
        for robot in robots
    ]
    q, v, a = (np.concatenate(parts) for parts in zip(*states, strict=True))
    apart = [
        pin.rnea(robot.model, robot.data(), *state)
        for robot, state in zip(robots, states, strict=True)
    ]
    np.testing.assert_allclose(
        pin.rnea(whole.model, whole.data(), q, v, a), np.concatenate(apart), atol=1e-10
    )
    M, at = symmetric(pin.crba(whole.model, whole.data(), q)), 0
    for robot, (q_own, _, _) in zip(robots, states, strict=True):
        part = slice(at, at + robot.nv)
        np.testing.assert_allclose(
            M[part, part], symmetric(pin.crba(robot.model, robot.data(), q_own)), atol=1e-12
        )
        M[part, part] = 0.0
        at += robot.nv
    assert not M.any()


@pytest.mark.parametrize("names", PAIRS)
def test_everything_is_kept_under_new_names(names):
    robots = [load_robot(name) for name in names]
    whole = join(robots, names)
    assert np.array_equal(whole.posture, np.concatenate([robot.posture for robot in robots]))
    data = whole.data()
    pin.framesForwardKinematics(whole.model, data, whole.posture)
    for name, robot in zip(names, robots, strict=True):
        own = robot.data()
        pin.framesForwardKinematics(robot.model, own, robot.posture)
        for link in robot.links:
            assert data.oMf[whole.link_frame(f"{name}/{link}")].isApprox(
                own.oMf[robot.link_frame(link)], 1e-12
            )
        for surface in robot.surfaces.values():
            assert data.oMf[whole.surface(f"{name}/{surface.name}").frame].isApprox(
                own.oMf[surface.frame], 1e-12
            )
        for point in robot.control_points.values():
            assert data.oMf[whole.control_points[f"{name}/{point.name}"].frame].isApprox(
                own.oMf[point.frame], 1e-12
            )
        assert {f"{name}/{motor}" for motor in robot.actuated} <= set(whole.actuated)
        assert {
            f"{name}/{alias}": f"{name}/{link}" for alias, link in robot.aliases.items()
        }.items() <= whole.aliases.items()
    assert [whole.coordinates[index] for index in whole.actuated_v] == list(whole.actuated)
    assert len(whole.loops) == sum(len(robot.loops) for robot in robots)
    assert len(whole.wheels) == sum(len(robot.wheels) for robot in robots)


@pytest.mark.parametrize("names", PAIRS)
def test_joints_keep_their_kind_and_numbers(names):
    robots = [load_robot(name) for name in names]
    whole = join(robots, names)
    pairs = [
        (name, robot, joint)
        for name, robot in zip(names, robots, strict=True)
        for joint in robot.joints
    ]
    for name, robot, joint in pairs:
        there = whole.joint(f"{name}/{joint.name}")
        assert (there.kind, there.actuated, there.child) == (
            joint.kind,
            joint.actuated,
            f"{name}/{joint.child}",
        )
        for field in ("lower", "upper"):
            np.testing.assert_array_equal(
                getattr(whole.limits, field)[there.q], getattr(robot.limits, field)[joint.q]
            )
        for field in ("effort", "velocity"):
            np.testing.assert_array_equal(
                getattr(whole.limits, field)[there.v], getattr(robot.limits, field)[joint.v]
            )
        for field in ("armature", "upperEffortLimit", "lowerVelocityLimit"):
            np.testing.assert_array_equal(
                getattr(whole.model, field)[there.v], getattr(robot.model, field)[joint.v]
            )


def test_loops_of_the_parts_stay_closed_and_forces_stay_apart():
    robots = [load_robot("fourbar"), load_robot("stewart")]
    whole = join(robots, ["a", "b"])
    mechanism = Mechanism(whole)
    assert mechanism.mobility(whole.posture).rank == 2 + 15
    rng = np.random.default_rng(1)
    tau = rng.normal(size=len(whole.actuated))
    answer = solve_forward(mechanism, whole.posture, np.zeros(whole.nv), tau)
    alone = solve_forward(Mechanism(robots[0]), robots[0].posture, np.zeros(3), tau[:1])
    np.testing.assert_allclose(answer.a[:3], alone.a, atol=1e-9 * (1 + np.abs(alone.a).max()))


def test_an_empty_name_leaves_names_as_they_are():
    figure = load_robot("human28")
    whole = join([figure, load_robot("ropes")], ["", "ropes"])
    assert whole.coordinates[: figure.nv] == figure.coordinates
    assert whole.stance == figure.stance
    assert build_contact(whole, "left_foot").labels[0] == "left_foot.x"
    assert whole.joint("ropes/left_hinge").parent == "ropes/left_upper_rope"


def test_two_of_a_kind_take_each_other_by_the_hand():
    figure = load_robot("human16")
    whole = join([figure, figure], ["anna", "ben"])
    loop = connect_points(whole, "hands", "spherical", "anna/left_hand", "ben/right_hand")
    structure = Structure.of(whole)
    virtual = structure.connect(loop)
    assert (virtual.real.name, virtual.parent.name) == ("anna/left_forearm", "ben/right_forearm")
    assert [link.name for link in structure.around("hands")] == [
        *(
            "ben/right_forearm",
            "ben/right_upper_arm",
            "ben/trunk",
            "world",
            "anna/trunk",
            "anna/left_upper_arm",
            "anna/left_forearm",
        )
    ]


def test_a_joined_robot_can_break():
    whole = join([load_robot("human16"), load_robot("swing")], ["figure", "swing"])
    broken = detach(whole, "swing/right_ceiling_ball")
    assert broken.nv == whole.nv + 3
    assert broken.joint("swing/right_ceiling_ball").kind == "free_flyer"


def test_refusals():
    figure, swing = load_robot("human16"), load_robot("swing")
    with pytest.raises(ShapeError, match="1 names for 2 robots"):
        join([figure, swing], ["figure"])
    with pytest.raises(ShapeError):
        join([], [])
    with pytest.raises(HumanoidDynamicsError, match="different names"):
        join([figure, figure], ["a", "a"])
    with pytest.raises(HumanoidDynamicsError, match="share the names"):
        join([figure, join([figure], ["x"])], ["x", ""])
    with pytest.raises(UnknownNameError, match="left_wrist"):
        connect_points(
            join([figure, swing], ["f", "s"]), "grip", "spherical", "f/left_wrist", "s/left_grip"
        )
    light = load_robot("swing")
    light.model.gravity.linear = np.array([0.0, 0.0, -1.62])
    with pytest.raises(HumanoidDynamicsError, match="different gravity"):
        join([figure, light], ["figure", "swing"])


INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
TURN = '<axis xyz="0 0 1"/><limit lower="0" upper="1" effort="1" velocity="1"/>'
FOLLOWER = f"""<robot name="grip"><link name="base"/><link name="a">{INERTIAL}</link><link name="b">{INERTIAL}</link>
<joint name="finger" type="revolute"><parent link="base"/><child link="a"/>{TURN}</joint>
<joint name="tip" type="revolute"><parent link="a"/><child link="b"/>{TURN}<mimic joint="finger"/></joint></robot>"""


def test_followers_without_a_coordinate_are_refused():
    reduced, kept = load_robot(FOLLOWER, mimic="reduced"), load_robot(FOLLOWER, mimic="constraint")
    assert join([kept, kept], ["a", "b"]).mimics[1].leader == "b/finger"
    for question in (lambda: join([reduced], ["a"]), lambda: detach(reduced, "finger")):
        with pytest.raises(UnsupportedRobotError, match="tip"):
            question()
