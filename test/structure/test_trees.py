# SPDX-License-Identifier: Apache-2.0
"""Other trees of the same bodies: depth-first, every pose, twist and momentum kept."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from mechanisms import Tree, random_configuration, random_inertia, random_pose, random_tree

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.model.joint import Mimic
from humanoid_dynamics.model.state import State
from humanoid_dynamics.structure.detachment import detach, make_breakable, transfer


def bodies(robot, state):
    """Pose, twist in the world, of every link; and momentum about the world origin."""
    data = robot.data()
    pin.forwardKinematics(robot.model, data, state.q, state.v)
    pin.updateFramePlacements(robot.model, data)
    poses = {link: data.oMf[robot.link_frame(link)].homogeneous for link in robot.links}
    twists = {
        link: pin.getFrameVelocity(robot.model, data, robot.link_frame(link), pin.WORLD).vector
        for link in robot.links
    }
    momentum = pin.computeCentroidalMomentum(robot.model, data, state.q, state.v)
    about_origin = np.r_[momentum.linear, momentum.angular + np.cross(data.com[0], momentum.linear)]
    return poses, twists, about_origin


@pytest.mark.parametrize("make", [detach, make_breakable])
@pytest.mark.parametrize("seed", range(25))
def test_bodies_do_not_notice(make, seed):
    rng = np.random.default_rng(seed)
    robot = random_tree(rng, int(rng.integers(2, 10)))
    joint = robot.joints[int(rng.integers(1, len(robot.joints)))]
    if make is make_breakable and joint.kind == "free_flyer":
        pytest.skip("a free joint holds nothing together")
    state = State(random_configuration(robot.model, rng), rng.normal(size=robot.nv))
    other = make(robot, joint.name)
    assert other.model.check(other.data())
    assert other.links == robot.links
    for before, after in zip(
        bodies(robot, state), bodies(other, transfer(robot, other, state)), strict=True
    ):
        if isinstance(before, dict):
            for link, value in before.items():
                np.testing.assert_allclose(after[link], value, atol=1e-12)
        else:
            np.testing.assert_allclose(after, before, atol=1e-12 * (1 + np.abs(before).max()))
    carried = State(other.posture, np.zeros(other.nv))
    for link, pose in bodies(robot, State.at_rest(robot))[0].items():
        np.testing.assert_allclose(bodies(other, carried)[0][link], pose, atol=1e-12)


def test_inertia_of_the_rebuilt_tree_is_right():
    """crba against rnea, which differ where joints are not depth-first."""
    rng = np.random.default_rng(1)
    robot = random_tree(rng, 10)
    other = detach(robot, robot.joints[3].name)
    q = random_configuration(other.model, rng)
    data = other.data()
    M = np.triu(pin.crba(other.model, data, q))
    M = M + np.triu(M, 1).T
    rest = pin.rnea(other.model, data, q, np.zeros(other.nv), np.zeros(other.nv))
    columns = [
        pin.rnea(other.model, data, q, np.zeros(other.nv), unit) - rest for unit in np.eye(other.nv)
    ]
    np.testing.assert_allclose(M, np.column_stack(columns), atol=1e-10)


def test_limits_motors_and_names_follow_their_joints():
    rng = np.random.default_rng(2)
    tree = Tree().add("a", pin.JointModelRX(), inertia=random_inertia(rng))
    tree.add("b", pin.JointModelRY(), parent="a", X=random_pose(rng), inertia=random_inertia(rng))
    robot = tree.add(
        "c", pin.JointModelPZ(), parent="b", X=random_pose(rng), inertia=random_inertia(rng)
    ).robot()
    other = detach(robot, "b")
    assert other.actuated == ("a", "c")
    assert [other.coordinates[index] for index in other.actuated_v] == ["a", "c"]
    assert other.joint("b").kind == "free_flyer"
    assert other.coordinates == ("a", "b.x", "b.y", "b.z", "b.rx", "b.ry", "b.rz", "c")
    assert other.loops == ()
    assert [loop.name for loop in make_breakable(robot, "b").loops] == ["b"]


def test_only_joints_that_hold_something_can_be_breakable():
    rng = np.random.default_rng(3)
    robot = Tree().add("base", pin.JointModelFreeFlyer(), inertia=random_inertia(rng)).robot()
    with pytest.raises(HumanoidDynamicsError, match="free_flyer"):
        make_breakable(robot, "base")


def test_a_joint_that_breaks_no_longer_leads():
    rng = np.random.default_rng(4)
    tree = (
        Tree()
        .add("a", pin.JointModelRX(), inertia=random_inertia(rng))
        .add("b", pin.JointModelRX(), inertia=random_inertia(rng))
    )
    robot = dataclasses.replace(tree.robot(), mimics=(Mimic("b", "a", 2.0, 0.0),))
    assert detach(robot, "a").mimics == ()
    with pytest.raises(HumanoidDynamicsError, match="part of a mimic pair"):
        make_breakable(robot, "a")
