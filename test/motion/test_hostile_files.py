# SPDX-License-Identifier: Apache-2.0
"""Broken motion files are refused, and the message names file, row and column."""

import json

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.motion.formats.bvh_file import read_bvh
from humanoid_dynamics.motion.formats.csv_file import read_csv
from humanoid_dynamics.motion.formats.deepmimic_file import read_deepmimic
from humanoid_dynamics.motion.formats.detect import read_motion
from humanoid_dynamics.motion.formats.joint_trajectory import recording_from_trajectory
from humanoid_dynamics.motion.formats.mapping import JointMap, build_clip, load_joint_map
from humanoid_dynamics.motion.formats.npz_file import read_npz, read_pose_streams
from humanoid_dynamics.motion.load import load_clip
from humanoid_dynamics.motion.measured.series import load_measured_motion
from humanoid_dynamics.motion.playback import build_playback
from humanoid_dynamics.motion.retargeting.skeleton_map import (
    load_skeleton_map,
    shipped_skeleton_maps,
)

ROBOT = hd.load_robot("legs12")
HEADER = "time,base_x,base_y,base_z,base_qx,base_qy,base_qz,base_qw,left_knee"
ROWS = ["0,0,0,1,0,0,0,1,0.4", "0.1,0,0,1,0,0,0,1,0.5", "0.2,0,0,1,0,0,0,1,0.6"]


def table(tmp_path, *lines):
    path = tmp_path / "clip.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def spoil(row, column, value):
    rows = [line.split(",") for line in ROWS]
    rows[row][column] = value
    return [",".join(cells) for cells in rows]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            [HEADER, *spoil(1, 8, "nan")],
            r"clip\.csv:3: row 1, column 'left_knee': received 'nan', expected a finite number",
        ),
        ([HEADER, *spoil(2, 3, "high")], r"clip\.csv:4: row 2, column 'base_z': received 'high'"),
        (
            [HEADER, *spoil(2, 7, "0.9")],
            r"row 2, column 'base_qx\.\.base_qw': quaternion of length 0\.9",
        ),
        ([HEADER, *ROWS[:2]], "has 2 frames, at least 3"),
        ([HEADER, ROWS[0], ROWS[2], ROWS[1]], "row 2, column 'time': 0.1 s comes after 0.2 s"),
        (
            [HEADER, ROWS[0], ROWS[1] + ",7", ROWS[2]],
            r"clip\.csv:3: row 1: has 10 columns, expected 9",
        ),
        ([HEADER.replace("base_x", "base_y"), *ROWS], "column 'base_y': comes twice"),
        ([], "is empty"),
    ],
)
def test_hostile_table(tmp_path, lines, message):
    with pytest.raises(hd.ClipError, match=message):
        read_csv(table(tmp_path, *lines))


def test_columns_nobody_knows_are_listed_with_those_still_free(tmp_path):
    path = table(tmp_path, HEADER.replace("left_knee", "left_kneee"), *ROWS)
    with pytest.raises(
        hd.ClipError,
        match=r"no joints for the columns left_kneee; its joints without a column: left_hip_yaw, ",
    ):
        build_clip(read_csv(path), ROBOT)
    with pytest.raises(
        hd.ClipError, match=r"mapping file \(--joint-map\) with ignore: \[left_kneee\]"
    ):
        build_clip(read_csv(path), ROBOT)
    mapped = tmp_path / "map.yaml"
    mapped.write_text("joints: {left_knee: {from: left_kneee, sign: -1, offset: 1.0}}\n")
    clip = build_clip(read_csv(path), ROBOT, load_joint_map(mapped))
    np.testing.assert_allclose(clip.q[:, ROBOT.joint("left_knee").q].ravel(), [0.6, 0.5, 0.4])
    ignored = build_clip(read_csv(path), ROBOT, JointMap(ignore=frozenset({"left_kneee"})))
    np.testing.assert_array_equal(ignored.q[0, 7:], ROBOT.posture[7:])
    assert "left_knee" in ignored.notices[0]


def test_lines_may_end_with_a_separator(tmp_path):
    lines = [HEADER, *ROWS]
    plain = read_csv(table(tmp_path, *lines))
    ended = read_csv(table(tmp_path, *(line.replace(",", ";") + ";" for line in lines)))
    assert ended.columns == plain.columns
    np.testing.assert_array_equal(ended.values, plain.values)
    with pytest.raises(hd.ClipError, match=r"clip\.csv:2: row 0: received '', expected"):
        read_csv(table(tmp_path, lines[0] + ",", lines[1] + ",", lines[2] + ",7"))


def test_half_a_base_is_refused(tmp_path):
    lines = [",".join(line.split(",")[:7] + line.split(",")[8:]) for line in (HEADER, *ROWS)]
    with pytest.raises(hd.ClipError, match="joint 'root_joint' has no columns base_qw"):
        build_clip(read_csv(table(tmp_path, *lines)), ROBOT)


def test_table_without_names_must_be_as_wide_as_the_robot(tmp_path):
    with pytest.raises(
        hd.ClipError,
        match="has 9 columns without names; a configuration of 'legs12' has 19: base_x",
    ):
        build_clip(read_csv(table(tmp_path, *ROWS), rate=60.0), ROBOT)


def test_clock_of_a_table(tmp_path):
    with pytest.raises(hd.ClipError, match="its rate is unknown; give it as fps="):
        read_csv(table(tmp_path, *ROWS))
    assert read_csv(table(tmp_path, *ROWS), rate=30.0).times[1] == pytest.approx(1.0 / 30.0)
    assert read_csv(table(tmp_path, "# fps: 120", *ROWS)).times[2] == pytest.approx(1.0 / 60.0)
    with pytest.raises(hd.ClipError, match="has 10 samples per second, received a rate of 60"):
        read_csv(table(tmp_path, HEADER, *ROWS), rate=60.0)
    for rate in (0.0, -1.0, np.nan):
        with pytest.raises(hd.ClipError, match="expected a positive number"):
            read_csv(table(tmp_path, *ROWS), rate=rate)


def test_velocities_beside_a_table_must_fit_it(tmp_path):
    path = table(tmp_path, HEADER, *ROWS)
    beside = tmp_path / "clip_v.csv"
    beside.write_text("time,left_knee\n0,1\n0.1,1\n0.25,1\n")
    with pytest.raises(
        hd.ClipError, match=r"clip_v\.csv: column 'time': has other instants than clip\.csv"
    ):
        read_csv(path)
    beside.write_text("time,left_knee\n0,1\n0.1,1\n0.2,1\n")
    with pytest.raises(hd.ClipError, match="rates lack the columns base_vx, base_vy"):
        build_clip(read_csv(path), ROBOT)


def archive(tmp_path, **changes):
    n = 4
    arrays = {
        "fps": np.array(50.0),
        "base_pos": np.zeros((n, 3)),
        "base_quat_xyzw": np.tile([0.0, 0.0, 0.0, 1.0], (n, 1)),
        "joint_pos": np.zeros((n, 2)),
        "joint_names": np.array(["left_knee", "right_knee"]),
    } | changes
    path = tmp_path / "clip.npz"
    np.savez(
        path,
        **{key: value for key, value in arrays.items() if value is not None},
        allow_pickle=True,
    )
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"fps": np.array(0.0)}, "received fps 0.0, expected one positive number"),
        ({"fps": np.array(np.nan)}, "received fps nan"),
        (
            {"fps": None},
            "has no instants, expected one of the keys times, time, t, fps; its keys are base_pos",
        ),
        (
            {"joint_names": np.array(["left_knee"])},
            r"joint_pos has shape \(4, 2\), but joint_names has 1 name",
        ),
        ({"joint_names": np.array(["left_knee", "left_knee"])}, "column 'left_knee': comes twice"),
        ({"joint_names": None}, "has no list of names joint_names"),
        ({"joint_pos": None}, "has no joint_pos; its keys are fps"),
        (
            {"joint_pos": np.array([[0, 0], [0, np.inf], [0, 0], [0, 0]])},
            "row 1, column 'right_knee': received inf",
        ),
        ({"joint_pos": np.array([["a", "b"]] * 4)}, "joint_pos holds <U1, expected numbers"),
        ({"base_pos": np.zeros((4, 2))}, r"base_pos has shape \(4, 2\), expected \(4, 3\)"),
        (
            {"base_pos": np.zeros((3, 3)), "base_quat_xyzw": np.tile([0.0, 0.0, 0.0, 1.0], (3, 1))},
            "base_pos has 3 rows, joint_pos has 4",
        ),
        (
            {"base_quat_xyzw": np.zeros((4, 4))},
            r"row 0, column 'base_qx\.\.base_qw': quaternion of length 0",
        ),
        ({"base_quat_xyzw": None}, "has no base_quat_xyzw"),
        ({"times": np.array([0.0, 1.0, 0.5, 2.0])}, "row 2, column 'time'"),
        ({"times": np.arange(3.0)}, r"times has shape \(3,\), expected \(4,\)"),
        ({"joint_vel": np.zeros((4, 3))}, r"joint_vel has shape \(4, 3\), expected \(4, 2\)"),
        ({"note": np.array([{}], dtype=object)}, "cannot be read as a numpy archive"),
    ],
)
def test_hostile_archive(tmp_path, changes, message):
    with pytest.raises(hd.ClipError, match=message):
        read_npz(archive(tmp_path, **changes))


def test_what_is_no_archive(tmp_path):
    path = tmp_path / "clip.npz"
    for content in (b"", b"PK\x03\x04 truncated", b"not an archive"):
        path.write_bytes(content)
        with pytest.raises(hd.ClipError, match=r"clip\.npz: cannot be read as a numpy archive"):
            read_npz(path)
    np.save(tmp_path / "one.npy", np.zeros(3))
    with pytest.raises(hd.ClipError, match="is a single array"):
        read_npz(tmp_path / "one.npy")
    with pytest.raises(hd.ClipError, match="holds no poses"):
        read_pose_streams(archive(tmp_path, base_quat_xyzw=None))


BVH = [
    "HIERARCHY", "ROOT Hips", "{", "OFFSET 0 0 0", "CHANNELS 3 Xposition Yposition Zrotation", "End Site", "{", "OFFSET 0 1 0", "}", "}",
    "MOTION", "Frames: 3", "Frame Time: 0.01", "0 0 0", "1 1 1", "2 2 2",
]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "text", "message"),
    [
        (0, "HIERACHY", r"clip\.bvh:1: received 'HIERACHY', expected HIERARCHY"),
        (3, "OFFSET 0 x 0", r"clip\.bvh:4: received 'x', expected a number"),
        (
            4,
            "CHANNELS 3 Xposition Yposition Wrotation",
            r"clip\.bvh:5: received 'Wrotation', expected Xposition or ",
        ),
        (9, "", r"received the end of the file|received 'the end"),
        (9, "} ROOT Second { }", "received 'ROOT' after the root joint"),
        (10, "MOVE", "has no line MOTION"),
        (11, "Frames: 4", "has 3 frames, the header declares 4"),
        (12, "Frame Time: 0", r"clip\.bvh:13: received a frame time of 0\.0 s"),
        (14, "1 1", r"clip\.bvh:15: row 1: has 2 channels, expected 3"),
        (15, "2 nan 2", r"clip\.bvh:16: row 2, column 'Hips\.Yposition': received 'nan'"),
    ],
)
def test_hostile_bvh(tmp_path, line, text, message):
    path = tmp_path / "clip.bvh"
    path.write_text("\n".join([*BVH[:line], text, *BVH[line + 1 :]]))
    with pytest.raises(hd.ClipError, match=message):
        read_bvh(path)


def test_two_frames_of_a_skeleton_are_too_few(tmp_path):
    path = tmp_path / "clip.bvh"
    path.write_text("\n".join([*BVH[:11], "Frames: 2", *BVH[12:15]]))
    with pytest.raises(hd.ClipError, match="has 2 frames"):
        read_bvh(path).skeleton_motion()


def mimic(tmp_path, frames, **changes):
    path = tmp_path / "mimic.txt"
    path.write_text(json.dumps({"Loop": "none", "Frames": frames} | changes))
    return path


def test_hostile_deepmimic(tmp_path):
    shipped = next(found for found in shipped_skeleton_maps() if found.joints)
    row = [
        0.1,
        0,
        1,
        0,
        1,
        0,
        0,
        0,
        *([1, 0, 0, 0] * 3),
        0,
        *([1, 0, 0, 0] * 2),
        0,
        *([1, 0, 0, 0]),
        0,
        *([1, 0, 0, 0] * 2),
        0,
    ]
    read_deepmimic(mimic(tmp_path, [row] * 3)).skeleton_motion(shipped)
    hostile = [
        ({"Frames": []}, "has no list Frames"),
        ({"Loop": "often"}, "received Loop 'often'"),
        ({"Frames": [row, row[:-1], row]}, "row 1: has 43 numbers, the first row has 44"),
        ({"Frames": [row, [*row[:-1], "x"], row]}, "row 1, column '43': received 'x'"),
    ]
    for changes, message in hostile:
        with pytest.raises(hd.ClipError, match=message):
            read_deepmimic(mimic(tmp_path, [row] * 3, **changes))
    late = [
        ([row, [0.0, *row[1:]], row], "row 1, column 'duration'"),
        (
            [row, [*row[:4], 0.25, *row[5:]], row],
            r"row 1, column 'root\.qw\.\.root\.qz': quaternion of length 0\.25",
        ),
        ([row[:-1]] * 3, r"frames has shape \(3, 43\), expected \(3, 44\)"),
        ([row] * 2, "has 2 frames"),
    ]
    for frames, message in late:
        with pytest.raises(hd.ClipError, match=message):
            read_deepmimic(mimic(tmp_path, frames)).skeleton_motion(shipped)


POINT = {"positions": [0.1, 0.2], "time_from_start": {"sec": 0, "nanosec": 0}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"positions": [0.1]}, "row 1: has 1 positions, expected 2"),
        ({"positions": [0.1, None]}, "row 1, column 'b': received nan"),
        ({"positions": [0.1, "x"]}, "row 1, column 'b': received 'x', expected a number"),
        ({"positions": [[0.1], 0.2]}, r"row 1, column 'a': received \[0\.1\], expected a number"),
        ({"time_from_start": "soon"}, "row 1, column 'time_from_start': received 'soon'"),
        ({"time_from_start": {"sec": 0, "nanosec": 0}}, "row 1, column 'time'"),
    ],
)
def test_hostile_trajectory(change, message):
    points = [{**POINT, "time_from_start": {"sec": k, "nanosec": 0}} for k in range(3)]
    points[1] |= change
    with pytest.raises(hd.ClipError, match=message):
        recording_from_trajectory({"joint_names": ["a", "b"], "points": points})


@pytest.mark.parametrize("positions", [3, "abc", {"a": 1.0}])
def test_positions_that_are_no_list(positions):
    point = {"positions": [0.0], "time_from_start": {"sec": 0}}
    with pytest.raises(
        hd.ClipError, match=r"row 1, column 'positions': received .*, expected a list of numbers"
    ):
        recording_from_trajectory(
            {"joint_names": ["a"], "points": [point, {**point, "positions": positions}]}
        )


def test_points_that_are_none():
    with pytest.raises(
        hd.ClipError, match="trajectory: row 1: received None, expected a point of joint_trajectory"
    ):
        recording_from_trajectory({"joint_names": ["a", "b"], "points": [POINT, None, POINT]})


def test_a_base_that_is_no_number():
    at = {"sec": 0, "nanosec": 0}
    still = {
        "translation": dict.fromkeys("xyz", 0.0),
        "rotation": {"x": 0.0, "y": "up", "z": 0.0, "w": 1.0},
    }
    base = {
        "joint_names": ["root_joint"],
        "points": [{"transforms": [still], "time_from_start": at}],
    }
    joints = {"joint_names": ["a", "b"], "points": [POINT]}
    with pytest.raises(
        hd.ClipError,
        match=r"row 0, column 'transforms\.rotation\.y': received 'up', expected a number",
    ):
        recording_from_trajectory({"joint_trajectory": joints, "multi_dof_joint_trajectory": base})


def test_trajectory_without_parts():
    for content in (
        {},
        {"points": []},
        {"joint_names": ["a"], "points": 3},
        {"joint_trajectory": 7},
    ):
        with pytest.raises(hd.ClipError):
            recording_from_trajectory(content)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("joints: 3", "joints: received int"),
        ("ignore: [1]", "ignore: expected a list of columns"),
        ("joint: {}", "expected the keys joints and ignore"),
        ("joints: {left_knee: {from: a, sign: 2}}", r"joints\.left_knee\.sign: received 2"),
        ("joints: {left_knee: {from: a, offset: x}}", r"joints\.left_knee\.offset: received 'x'"),
        ("joints: {left_knee: {sign: 1}}", r"joints\.left_knee: expected a column"),
    ],
)
def test_hostile_joint_map(tmp_path, text, message):
    path = tmp_path / "map.yaml"
    path.write_text(text)
    with pytest.raises(hd.DescriptionError, match=message):
        load_joint_map(path)


def test_joint_map_that_names_what_does_not_exist(tmp_path):
    recording = read_csv(table(tmp_path, HEADER, *ROWS))
    path = tmp_path / "map.yaml"
    for text, message in (
        ("left_kne: left_knee", "no joint named 'left_kne'"),
        ("left_knee: knee", "no column named 'knee'"),
    ):
        path.write_text(f"joints: {{{text}}}")
        with pytest.raises(hd.ClipError, match=message):
            build_clip(recording, ROBOT, load_joint_map(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("up: w", "up: received 'w'"),
        ("{up: y, forward: y, points: {}}", "forward: is the axis that points up"),
        ("points: {}", "unknown none; missing pelvis, left_hip"),
        ("points: {tail: Tail}", "points: unknown tail; missing pelvis"),
        ("rest: sitting", "rest: received 'sitting'"),
        ("[1, 2]", "expected the keys up, forward"),
    ],
)
def test_hostile_skeleton_map(tmp_path, text, message):
    path = tmp_path / "skeleton.yaml"
    path.write_text(text)
    with pytest.raises(hd.DescriptionError, match=message):
        load_skeleton_map(path)


@pytest.mark.parametrize("head", [b"", b"{", b"a,b,c\n"])
def test_bytes_that_are_no_text_are_in_no_known_format(tmp_path, head):
    path = tmp_path / "walk.npz"
    path.write_bytes(head + b"\xff,\xfe" + bytes(range(128, 256)) + b",")
    with pytest.raises(hd.ClipError, match="in no known format"):
        read_motion(path)


def test_files_without_a_clock_are_given_their_rate_and_no_other(tmp_path):
    """A guess between 30 and 60 Hz changes every torque by four; where the file says its rate, another one is refused."""
    robot, n = hd.load_robot("legs12"), 5
    rows = [",".join(map(repr, robot.posture.tolist())) for _ in range(n)]
    bare, plain = table(tmp_path, *rows), tmp_path / "plain.npz"
    np.savez(plain, q=np.tile(robot.posture, (n, 1)))
    for path in (bare, plain):
        with pytest.raises(hd.ClipError, match="fps="):
            load_clip(path, robot)
        with pytest.raises(hd.ClipError, match="expected a positive number"):
            load_clip(path, robot, fps=0.0)
        assert load_clip(path, robot, fps=30.0).rate == pytest.approx(30.0)
        assert load_measured_motion(path, robot, fps=30.0).rate == pytest.approx(30.0)
        assert build_playback(robot, str(path), 50.0, fps=30.0).times[-1] == pytest.approx(
            (n - 1) / 30.0, abs=0.021
        )
    told = tmp_path / "told.npz"
    np.savez(told, q=np.tile(robot.posture, (n, 1)), fps=60.0)
    assert load_clip(told, robot, fps=60.0).rate == pytest.approx(60.0)
    with pytest.raises(hd.ClipError, match="has 60 samples per second, received a rate of 30"):
        load_clip(told, robot, fps=30.0)
