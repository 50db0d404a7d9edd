# SPDX-License-Identifier: Apache-2.0
"""Robots whose base is not upright along its own z axis, or looks backwards: what counts is how it is in the resting posture."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.filtering import Teleoperation, filter_clip
from humanoid_dynamics.filtering.clip_filter import LADDER
from humanoid_dynamics.filtering.conditioning.posture_bound import PostureBound
from humanoid_dynamics.filtering.conditioning.sight import FaultFinder
from humanoid_dynamics.filtering.fallen import has_fallen
from humanoid_dynamics.filtering.proportions import measure_proportions
from humanoid_dynamics.motion.gait import plan_walk
from humanoid_dynamics.motion.walking.footsteps import WalkStyle

ROBOTS = (
    "human",
    "icub",
    "human28",
)  # the y axis of the base points up; it looks backwards; neither


def turned(q, axis, degrees):
    """Return a configuration whose base is turned about an axis of the world."""
    moved = np.array(q)
    turn = pin.Quaternion(pin.exp3(np.deg2rad(degrees) * np.array(axis)))
    moved[3:7] = (turn * pin.Quaternion(q[3:7])).coeffs()
    return moved


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("heading", [0.0, 100.0, 180.0])
@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.6, 0.8, 0.0)])
def test_lean_counts_from_the_resting_posture_whatever_the_heading(name, heading, axis):
    robot = hd.load_robot(name)
    p = measure_proportions(robot)
    q = turned(robot.posture, (0.0, 0.0, 1.0), heading)
    assert not has_fallen(turned(q, axis, 69.0), p.pelvis, p.up)
    assert has_fallen(turned(q, axis, 71.0), p.pelvis, p.up)
    assert FaultFinder(robot).find(turned(q, axis, 74.0)) is None
    assert FaultFinder(robot).find(turned(q, axis, 76.0)) == "LEANING"
    assert PostureBound(robot, p).see(turned(q, axis, 40.0)).lean == pytest.approx(np.deg2rad(40.0))


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("heading", [0.0, 100.0, -170.0])
def test_resting_posture_at_the_heading_of_itself_is_itself(name, heading):
    robot = hd.load_robot(name)
    q = turned(robot.posture, (0.0, 0.0, 1.0), heading)
    rest = PostureBound(robot, measure_proportions(robot)).rest_at(q)
    np.testing.assert_allclose(pin.difference(robot.model, rest, q), 0.0, atol=1e-9)


def test_robot_whose_base_points_up_along_y_walks():
    robot = hd.load_robot("human")
    verdict = filter_clip(
        robot, plan_walk(robot, WalkStyle(steps=1)).clip, ladder=LADDER[:1]
    ).report
    assert verdict.finished
    assert verdict.all_limits == 1.0
    assert np.rad2deg(verdict.joint_rms) < 0.5


def test_robot_whose_base_points_up_along_y_is_led():
    robot = hd.load_robot("human")
    tele = Teleoperation(robot, frames=("left_hand",), rate=200.0)
    pose = tele.pose("left_hand")
    pose.translation += np.array([0.05, 0.0, 0.05])
    for k in range(200):
        if k % 4 == 0:
            tele.update("left_hand", k / 200.0, pose, k / 200.0)
        frame = tele.step(k / 200.0)
        assert frame.status == "OK", (k, frame.status)
        assert frame.certificate.holds
    assert np.linalg.norm(tele.pose("left_hand").translation - pose.translation) < 0.01
