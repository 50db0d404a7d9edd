# SPDX-License-Identifier: Apache-2.0
"""What is written is read again, equal to 1e-12, in every format; the format is told by content."""

import json

import numpy as np
import pytest
from clips import distance, recorded, smooth_clip

import humanoid_dynamics as hd
from humanoid_dynamics.motion.formats.bvh_file import read_bvh, write_bvh
from humanoid_dynamics.motion.formats.csv_file import read_csv, write_csv
from humanoid_dynamics.motion.formats.deepmimic_file import read_deepmimic, write_deepmimic
from humanoid_dynamics.motion.formats.detect import detect_format, read_motion
from humanoid_dynamics.motion.formats.joint_trajectory import (
    read_trajectory,
    recording_from_trajectory,
    trajectory_from_recording,
    write_trajectory,
)
from humanoid_dynamics.motion.formats.mapping import build_clip, build_recording
from humanoid_dynamics.motion.formats.npz_file import read_npz, read_pose_streams, write_npz

NAMES = ("human28", "human40", "biped7", "snake5", "fourbar")
ROBOTS = {name: hd.load_robot(name) for name in NAMES}
WRITERS = {
    "npz": (write_npz, read_npz),
    "csv": (write_csv, read_csv),
    "json": (write_trajectory, read_trajectory),
}

LITTLE_BVH = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT Left Leg
  {
    OFFSET 1 -2 0.5
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 -3 0
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.01
0 0 0 0 0 0 0 0 0
1 2 3 90 0 0 0 90 0
1 2 3 10 20 30 40 50 60
"""


def full_clip(robot):
    labels = {name: np.arange(101) % 7 < 3 for name in list(robot.surfaces)[:2]}
    return smooth_clip(robot, rates=True, contacts=labels, origin="made up")


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("name", NAMES)
def test_a_clip_comes_back_as_it_was(tmp_path, name, ending):
    write, read = WRITERS[ending]
    robot, path = ROBOTS[name], tmp_path / f"motion.{ending}"
    clip = full_clip(robot)
    if (name, ending) == ("human40", "json"):
        with pytest.raises(
            hd.ClipError,
            match="a JointTrajectory cannot hold joints of several degrees of freedom: left_hip, ",
        ):
            write(build_recording(clip), path)
        return
    write(build_recording(clip), path)
    back = build_clip(read(path), robot)
    np.testing.assert_allclose(back.times, clip.times, atol=1e-12)
    assert distance(robot, back.q, clip.q) < 1e-12
    np.testing.assert_allclose(back.v, clip.v, atol=1e-12)
    np.testing.assert_allclose(back.a, clip.a, atol=1e-12)
    if ending != "json":
        assert {name: list(labels) for name, labels in back.contacts.items()} == {
            n: list(x) for n, x in clip.contacts.items()
        }


def test_a_table_without_names_is_in_the_order_of_the_robot(tmp_path):
    robot, path = ROBOTS["human40"], tmp_path / "bare.csv"
    clip = smooth_clip(robot)
    write_csv(build_recording(clip), path, header=False)
    back = build_clip(read_csv(path), robot)
    assert distance(robot, back.q, clip.q) < 1e-12
    np.testing.assert_allclose(back.times, clip.times, atol=1e-12)
    assert read_csv(path).columns == ()


def test_extras_of_an_archive_are_kept(tmp_path):
    path = tmp_path / "extra.npz"
    clip = smooth_clip(ROBOTS["human28"])
    write_npz(build_recording(clip), path)
    with np.load(path) as archive:
        np.savez(path, **dict(archive), note=np.arange(4.0))
    again = read_npz(path)
    write_npz(again, path)
    np.testing.assert_array_equal(read_npz(path).extras["note"], np.arange(4.0))


def test_bvh_comes_back_and_means_what_the_format_says(tmp_path):
    path = tmp_path / "little.bvh"
    path.write_text(LITTLE_BVH)
    bvh = read_bvh(path)
    assert [joint.name for joint in bvh.joints] == ["Hips", "Left Leg", "Left Leg_end"]
    p, R = bvh.skeleton_motion().world()
    np.testing.assert_allclose(p[0], [[0, 0, 0], [1, -2, 0.5], [1, -5, 0.5]])
    # the root turns by 90 degrees about z, the leg then by 90 degrees about its own x
    np.testing.assert_allclose(p[1], [[1, 2, 3], [3, 3, 3.5], [3, 3, 0.5]], atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(R), 1.0)
    write_bvh(bvh, path)
    again = read_bvh(path)
    assert again.joints == bvh.joints
    assert again.frame_time == bvh.frame_time
    np.testing.assert_array_equal(again.values, bvh.values)


def test_recorded_bvh_and_deepmimic_come_back(tmp_path):
    bvh = read_bvh(recorded("cmu/02_01.bvh"))
    write_bvh(bvh, tmp_path / "copy.bvh")
    again = read_bvh(tmp_path / "copy.bvh")
    assert again.joints == bvh.joints
    np.testing.assert_array_equal(again.values, bvh.values)
    mimic = read_deepmimic(recorded("deepmimic/humanoid3d_walk.txt"))
    write_deepmimic(mimic, tmp_path / "copy.txt")
    again = read_deepmimic(tmp_path / "copy.txt")
    np.testing.assert_array_equal(again.frames, mimic.frames)
    assert again.loop == mimic.loop == "wrap"


def test_trajectory_dictionaries_have_the_fields_of_the_messages():
    recording = build_recording(full_clip(ROBOTS["human28"]))
    written = trajectory_from_recording(recording)
    json.dumps(written)
    point, base = (
        written["joint_trajectory"]["points"][1],
        written["multi_dof_joint_trajectory"]["points"][1],
    )
    assert set(point) == {"positions", "velocities", "accelerations", "effort", "time_from_start"}
    assert set(base) == {"transforms", "velocities", "accelerations", "time_from_start"}
    assert point["time_from_start"] == {"sec": 0, "nanosec": 20_000_000}
    assert len(point["positions"]) == 28
    joints = recording_from_trajectory(written["joint_trajectory"])
    assert joints.columns == recording.columns[7:]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("g1_karate/M_Move18.csv", "csv"),
        ("g1_asap/walk_level1.npz", "npz"),
        ("cmu/02_01.bvh", "bvh"),
        ("deepmimic/humanoid3d_walk.txt", "deepmimic"),
        ("human_id/gait2392_walk_q.csv", "csv"),
    ],
)
def test_format_is_told_by_content(tmp_path, name, found):
    copy = tmp_path / "no_ending"
    copy.write_bytes(recorded(name).read_bytes())
    assert detect_format(copy) == found


def test_what_is_no_motion_is_refused(tmp_path):
    path = tmp_path / "thing"
    for content in (
        b"",
        b"\x00\x01,\x02",
        b"hello world",
        b"{not json",
        b'{"a": 1}',
        b"<robot name='r'/>",
    ):
        path.write_bytes(content)
        with pytest.raises(hd.ClipError, match="thing"):
            detect_format(path)
    with pytest.raises(hd.ClipError, match="no such file"):
        read_motion(tmp_path / "absent.npz")


def test_hand_poses_are_streams():
    (stream,) = read_pose_streams(recorded("teleop_hand/avp_ep0.npz"))
    assert (stream.name, len(stream)) == ("hand", 1038)
    np.testing.assert_allclose(np.linalg.norm(stream.poses[:, 3:], axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(stream.pose(5).translation, stream.poses[5, :3])
    assert read_npz(recorded("teleop_hand/avp_ep0.npz")).values.shape == (1038, 7)
