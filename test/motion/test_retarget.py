# SPDX-License-Identifier: Apache-2.0
"""A human's motion on a robot."""

import numpy as np
import pinocchio as pin
import pytest
from clips import distance, load_recorded, recorded

import humanoid_dynamics as hd
from humanoid_dynamics.motion.editing import move_clip
from humanoid_dynamics.motion.formats.bvh_file import read_bvh
from humanoid_dynamics.motion.formats.deepmimic_file import read_deepmimic
from humanoid_dynamics.motion.load import retarget_file
from humanoid_dynamics.motion.retargeted import retarget
from humanoid_dynamics.motion.retargeting.skeleton import Skeleton, SkeletonMotion
from humanoid_dynamics.motion.retargeting.skeleton_map import (
    SkeletonMap,
    find_skeleton_map,
    shipped_skeleton_maps,
)

NAMES = ("pelvis", "left_hip", "left_knee", "left_ankle", "right_hip", "right_knee", "right_ankle")
OFFSETS = [
    [0, 0, 0],
    [0, 0.1, 0],
    [0, 0, -0.4],
    [0, 0, -0.4],
    [0, -0.1, 0],
    [0, 0, -0.4],
    [0, 0, -0.4],
]
LEGS = Skeleton(NAMES, (-1, 0, 1, 2, 0, 4, 5), np.array(OFFSETS, dtype=float))
MAP = SkeletonMap("made up", np.eye(3), "zero", {name: name for name in NAMES})
ROBOT = hd.load_robot("human28")


def squat(n=21, unit=1.0, X_W=None):
    """Two legs that bend and stretch, feet level and still, somewhere in the world."""
    X_W = X_W or pin.SE3.Identity()
    bend = 0.3 + 0.25 * (1.0 - np.cos(np.linspace(0.0, 2.0 * np.pi, n)))
    places = np.tile(LEGS.offsets, (n, 1, 1))
    turns = np.tile(np.eye(3), (n, 7, 1, 1))
    for row, angle in enumerate(bend):
        places[row, 0] = X_W.act(np.array([0.0, 0.0, 0.8 * np.cos(0.5 * angle) + 0.08]))
        turns[row, 0] = X_W.rotation
        for hip in (1, 4):
            for joint, part in ((hip, -0.5), (hip + 1, 1.0), (hip + 2, -0.5)):
                turns[row, joint] = pin.utils.rotate("y", part * angle)
    places *= unit
    skeleton = Skeleton(LEGS.names, LEGS.parents, unit * LEGS.offsets)
    return SkeletonMotion("squat", skeleton, 0.02 * np.arange(n), places, turns), bend


def test_made_up_squat_bends_the_knees_as_much_and_moves_no_foot():
    motion, bend = squat()
    found = retarget(motion, ROBOT, MAP)
    data = ROBOT.data()
    feet = []
    for row, q in enumerate(found.clip.q):
        pin.framesForwardKinematics(ROBOT.model, data, q)
        feet.append(
            [
                data.oMf[ROBOT.surfaces[name].frame].translation
                for name in ("left_foot", "right_foot")
            ]
        )
        np.testing.assert_allclose(q[ROBOT.joint("left_knee").q], bend[row], atol=0.02)
    assert np.ptp(np.array(feet), axis=0).max() < 2e-3
    np.testing.assert_allclose(np.array(feet)[:, :, 2], 0.0, atol=2e-3)
    assert found.excess == {}
    assert found.residuals["left_ankle"][1] < 1e-3


def test_units_of_the_file_do_not_matter():
    metres, _ = squat()
    inches, _ = squat(unit=1.0 / 0.0254)
    a, b = retarget(metres, ROBOT, MAP), retarget(inches, ROBOT, MAP)
    assert a.scale == pytest.approx(b.scale / 0.0254)
    assert distance(ROBOT, a.clip.q, b.clip.q) < 1e-9


def test_retargeting_commutes_with_moving_the_world():
    X = pin.SE3(pin.utils.rotate("z", 1.9), np.array([3.0, -2.0, 0.0]))
    here = retarget(squat()[0], ROBOT, MAP)
    there = retarget(squat(X_W=X)[0], ROBOT, MAP)
    scaled = pin.SE3(X.rotation, here.scale * X.translation)
    assert distance(ROBOT, move_clip(here.clip, scaled).q, there.clip.q) < 1e-6


def test_skeleton_without_the_joints_of_the_map_is_refused():
    motion, _ = squat()
    crooked = SkeletonMap("made up", np.eye(3), "zero", {**MAP.points, "chest": "Spine"})
    with pytest.raises(hd.ClipError, match="the skeleton has no joints Spine"):
        retarget(motion, ROBOT, crooked)
    with pytest.raises(
        hd.ClipError,
        match=r"no skeleton map fits \(cmu_bvh, deepmimic\); write one for the joints pelvis, left_hip",
    ):
        find_skeleton_map(LEGS, "squat")
    flat = SkeletonMotion(
        "squat",
        Skeleton(LEGS.names, LEGS.parents, 0 * LEGS.offsets),
        motion.times,
        0 * motion.places,
        motion.turns,
    )
    with pytest.raises(hd.ClipError, match="have no length"):
        retarget(flat, ROBOT, MAP)


def test_shipped_maps_load():
    assert {len(found.joints) for found in shipped_skeleton_maps()} == {0, 14}
    for found in shipped_skeleton_maps():
        assert np.linalg.det(found.R_WF) == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["human28", "g1"])
@pytest.mark.parametrize(
    ("file", "ahead", "turned"), [("cmu/16_17.bvh", None, 90.0), ("cmu/02_01.bvh", 0.5, 0.0)]
)
def test_recorded_walks(name, file, ahead, turned):
    robot = hd.load_robot(name)
    found = retarget_file(read_bvh(recorded(file)), robot)
    clip = found.clip
    assert found.excess == {}
    for side in ("left", "right"):
        assert found.residuals[f"{side}_ankle"][0] < 2e-3
        assert found.residuals[f"turn:{side}_foot"][0] < 0.03
        assert found.residuals[f"{side}_hand"][0] < 5e-3
    assert found.residuals["hips"][0] < 5e-3
    headings = [pin.Quaternion(*q[[6, 3, 4, 5]]).matrix() for q in clip.q]
    yaw = np.unwrap([np.arctan2(R[1, 0], R[0, 0]) for R in headings])
    assert np.degrees(yaw[-20:].mean() - yaw[:20].mean()) == pytest.approx(turned, abs=20.0)
    if ahead is not None:
        going = clip.q[-1, :2] - clip.q[0, :2]
        facing = np.array([np.cos(yaw.mean()), np.sin(yaw.mean())])
        assert going @ facing > ahead, "it walks where it looks"
    data = robot.data()
    lowest = []
    for q in clip.q[::5]:
        pin.framesForwardKinematics(robot.model, data, q)
        lowest.append(
            min(float(data.oMf[robot.surfaces[foot].frame].translation[2]) for foot in robot.stance)
        )
    assert abs(np.median(lowest)) < 0.03, "the lower foot is on the ground"


@pytest.mark.parametrize("name", ["human28", "g1"])
def test_recorded_kick_of_deepmimic(name):
    robot = hd.load_robot(name)
    found = retarget_file(read_deepmimic(recorded("deepmimic/humanoid3d_kick.txt")), robot)
    assert found.excess == {}
    assert found.residuals["left_ankle"][0] < 0.02
    knees = [joint for joint in robot.joints if "knee" in joint.name]
    assert max(float(np.ptp(found.clip.q[:, knee.q])) for knee in knees) > 0.5, "somebody kicks"


def turns_of(robot):
    """Return by how much the base is turned from the resting posture, row by row [rad]."""
    clip = load_recorded(recorded("deepmimic/humanoid3d_punch.txt"), robot)
    return np.array(
        [np.linalg.norm(pin.difference(robot.model, robot.posture, q)[3:6]) for q in clip.q]
    )


@pytest.mark.parametrize("name", ["icub", "human"])
def test_base_that_looks_backwards_or_points_up_along_y_turns_as_another_does(name):
    assert np.max(np.abs(turns_of(hd.load_robot(name)) - turns_of(ROBOT))) < 0.4


def test_arm_that_was_caught_behind_a_limit_is_freed_and_the_jump_is_told():
    found = retarget_file(read_deepmimic(recorded("deepmimic/humanoid3d_spin.txt")), ROBOT)
    assert found.residuals["left_hand"][0] < 0.06
    assert found.excess == {}
    assert "an arm was caught behind a limit and jumps at rows" in found.clip.notices[0]


def test_load_clip_takes_any_format():
    g1 = hd.load_robot("g1")
    for name, frames in (
        ("g1_karate/B_HandsUp.csv", 442),
        ("g1_asap/squat_level1.npz", 158),
        ("deepmimic/humanoid3d_walk.txt", 39),
    ):
        clip = load_recorded(recorded(name), g1)
        assert len(clip) == frames
    assert (
        "rest: left_wrist_roll_joint"
        in load_recorded(recorded("g1_asap/squat_level1.npz"), g1).notices[0]
    )
