# SPDX-License-Identifier: Apache-2.0
"""Pickled motions of GMR, TWIST, ASAP and PHC, built as their writers build them, on robots of 23 and 29 joints."""

import pickle

import numpy as np
import pinocchio as pin
import pytest
from clips import recorded
from joblib_files import dump_joblib

import humanoid_dynamics as hd
from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.motion.load import load_clip

LEGS = [
    f"{side}_{part}_joint"
    for side in ("left", "right")
    for part in ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")
]
WAIST = ["waist_yaw_joint", "waist_roll_joint", "waist_pitch_joint"]
ARM = ["shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow"]
WRISTS = ["wrist_roll", "wrist_pitch", "wrist_yaw"]


def arms(*parts):
    return [f"{side}_{part}_joint" for side in ("left", "right") for part in parts]


ORDERS = {  # of the MuJoCo models of these projects
    "g1_29": LEGS + WAIST + arms(*ARM, *WRISTS),
    "g1_23": LEGS + WAIST[:1] + arms(*ARM, "wrist_roll"),
    "g1_23_fixed_wrists": LEGS + WAIST + arms(*ARM),
}


@pytest.fixture(scope="module")
def g1():
    return hd.load_robot("g1")


def motion(names, n=40, seed=2):
    """Joints that swing slowly about small angles, a base that turns and walks."""
    rng = np.random.default_rng(seed)
    t = np.arange(n)[:, None] / 30.0
    joints = 0.1 * np.sin(rng.uniform(1, 3, len(names)) * t + rng.uniform(0, 6, len(names)))
    root = np.column_stack((0.3 * t, 0.05 * np.sin(3 * t), 0.75 + 0.01 * np.cos(3 * t)))
    heading, lean = 0.4 + 0.6 * t[:, 0], 0.05 * np.sin(2 * t[:, 0])
    turns = np.column_stack(
        (
            np.zeros(n) - np.sin(heading / 2) * np.sin(lean / 2),
            np.cos(heading / 2) * np.sin(lean / 2),
            np.sin(heading / 2) * np.cos(lean / 2),
            np.cos(heading / 2) * np.cos(lean / 2),
        )
    )
    return root, turns, joints


def configurations(robot, names, root, turns, joints):
    q = np.tile(robot.posture, (len(root), 1))
    q[:, :3], q[:, 3:7] = root, turns
    for column, name in zip(joints.T, names, strict=True):
        if robot.model.existJointName(name):
            q[:, robot.joint(name).q.start] = column
    return q


def gmr(robot, order, *, bodies=True):
    """What scripts/smplx_to_robot_dataset.py of GMR dumps: float32 arrays, body positions for a base at the origin."""
    names = ORDERS[order]
    root, turns, joints = motion(names)
    q = configurations(robot, names, root, turns, joints)
    local, links = None, None
    if bodies:
        links = ["pelvis", "left_knee_link", "left_toe_link", "torso_link", "left_elbow_link"]
        links += ["right_ankle_roll_link", "right_elbow_link", "left_wrist_roll_link"]
        data, local = robot.data(), np.zeros((len(q), len(links), 3), np.float32)
        for row, values in enumerate(q):
            values = np.array(values)
            values[:7] = (0, 0, 0, 0, 0, 0, 1)
            pin.framesForwardKinematics(robot.model, data, values)
            for index, link in enumerate(links):
                if robot.model.existFrame(link):
                    local[row, index] = data.oMf[robot.model.getFrameId(link)].translation
    content = {
        "fps": 30,
        "root_pos": root,
        "root_rot": turns,
        "dof_pos": joints,
        "local_body_pos": local,
        "link_body_list": links,
    }
    return content, q


def dump(path, content):
    path.write_bytes(pickle.dumps(content))
    return path


@pytest.mark.parametrize("order", ["g1_29", "g1_23_fixed_wrists", "g1_23"])
def test_recorded_bodies_decide_the_joint_order(tmp_path, g1, order):
    content, q = gmr(g1, order)
    clip = load_clip(dump(tmp_path / "walk.pkl", content), g1)
    np.testing.assert_allclose(clip.q, q, atol=1e-9)
    assert clip.rate == pytest.approx(30.0)
    if order != "g1_29":
        assert f"joint order: {order}" in clip.notices
        assert any("rest" in notice for notice in clip.notices)


def test_an_order_that_the_data_leave_open_is_asked_for(tmp_path, g1):
    content, q = gmr(g1, "g1_23_fixed_wrists", bodies=False)
    path = dump(tmp_path / "walk.pkl", content)
    with pytest.raises(ClipError, match="g1_23, g1_23_fixed_wrists; choose one with joint_order="):
        load_clip(path, g1)
    clip = load_clip(path, g1, joint_order="g1_23_fixed_wrists")
    np.testing.assert_allclose(clip.q, q, atol=1e-12)
    named = load_clip(path, g1, joint_order=", ".join(ORDERS["g1_23_fixed_wrists"]))
    np.testing.assert_array_equal(named.q, clip.q)
    with pytest.raises(ClipError, match="29"):
        load_clip(path, g1, joint_order="g1_29")


def test_joint_limits_decide_where_only_one_order_keeps_them(tmp_path, g1):
    content, _ = gmr(g1, "g1_23_fixed_wrists", bodies=False)
    names = ORDERS["g1_23_fixed_wrists"]
    content["dof_pos"][:, names.index("left_elbow_joint")] = 1.2
    content["dof_pos"][:, names.index("right_shoulder_pitch_joint")] = -2.9
    clip = load_clip(dump(tmp_path / "walk.pkl", content), g1)
    assert clip.q[3, g1.joint("right_shoulder_pitch_joint").q.start] == -2.9
    assert "joint order: g1_23_fixed_wrists" in clip.notices


def test_a_quaternion_order_that_lays_the_robot_down_is_not_taken(tmp_path, g1):
    content, q = gmr(g1, "g1_29", bodies=False)
    content["root_rot"] = content["root_rot"][:, [3, 0, 1, 2]]
    clip = load_clip(dump(tmp_path / "walk.pkl", content), g1)
    np.testing.assert_allclose(clip.q, q, atol=1e-12)
    assert any("quaternions are w x y z here" in notice for notice in clip.notices)


def test_degrees_and_centimetres_are_converted(tmp_path, g1):
    content, q = gmr(g1, "g1_29", bodies=False)
    content["dof_pos"][:, 3] = 0.9
    content["dof_pos"], content["root_pos"] = (
        np.degrees(content["dof_pos"]),
        100.0 * content["root_pos"],
    )
    clip = load_clip(dump(tmp_path / "walk.pkl", content), g1)
    q[:, g1.joint("left_knee_joint").q.start] = 0.9
    np.testing.assert_allclose(clip.q, q, atol=1e-9)
    assert sum("degrees" in n or "centimetres" in n for n in clip.notices) == 2


def test_bodies_of_another_robot_are_refused(tmp_path, g1):
    content, _ = gmr(g1, "g1_23_fixed_wrists")
    content["local_body_pos"] = 1.4 * content["local_body_pos"]
    with pytest.raises(ClipError, match="not those of robot"):
        load_clip(dump(tmp_path / "walk.pkl", content), g1)


def library(robot, order, count=1):
    """What scripts/data_process/fit_smpl_motion.py of ASAP dumps, by joblib: rotation vectors beside the angles."""
    names, motions = ORDERS[order], {}
    for index in range(count):
        root, turns, joints = motion(names, seed=index)
        vectors = np.zeros((len(root), 1 + len(names) + 3, 3), np.float32)
        for column, name in enumerate(names):
            axis = "xyz".index({"roll": "x", "yaw": "z"}.get(name.split("_")[-2], "y"))
            vectors[:, column + 1, axis] = joints[:, column]
        motions[f"0-walk{index}"] = {
            "root_trans_offset": root.astype(np.float32),
            "pose_aa": vectors,
            "dof": joints.astype(np.float32),
            "root_rot": turns,
            "smpl_joints": np.zeros((len(root), 24, 3), np.float32),
            "fps": 30,
        }
    return motions


@pytest.mark.parametrize("order", ["g1_29", "g1_23_fixed_wrists", "g1_23"])
def test_axes_of_a_library_decide_the_joint_order(tmp_path, g1, order):
    clip = load_clip(dump_joblib(library(g1, order), tmp_path / "walk.pkl"), g1)
    expected = configurations(g1, ORDERS[order], *motion(ORDERS[order], seed=0))
    np.testing.assert_allclose(clip.q, expected, atol=1e-6)


def test_a_library_of_several_motions_asks_which(tmp_path, g1):
    path = dump(tmp_path / "library.pkl", library(g1, "g1_29", 3))
    asked = r"holds 3 motions, choose one with motion= \(--motion\): '0-walk0', '0-walk1'"
    with pytest.raises(ClipError, match=asked):
        load_clip(path, g1)
    with pytest.raises(ClipError, match="walk9"):
        load_clip(path, g1, motion="0-walk9")
    expected = configurations(g1, ORDERS["g1_29"], *motion(ORDERS["g1_29"], seed=1))
    np.testing.assert_allclose(load_clip(path, g1, motion="0-walk1").q, expected, atol=1e-6)


def test_joints_that_a_robot_does_not_have_are_left_out(tmp_path, g1):
    robot = hd.load_robot(str(recorded("robots/g1_23dof_rev_1_0.urdf")))
    content, _ = gmr(g1, "g1_29", bodies=False)
    clip = load_clip(dump(tmp_path / "walk.pkl", content), robot)
    column = ORDERS["g1_29"].index("left_elbow_joint")
    start = robot.joint("left_elbow_joint").q.start
    np.testing.assert_array_equal(clip.q[:, start], content["dof_pos"][:, column])
    left_out = next(notice for notice in clip.notices if "left out" in notice)
    assert "waist_roll_joint" in left_out
    assert "left_wrist_yaw_joint" in left_out


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda c: c.pop("fps"), "has no fps"),
        (lambda c: c.update(fps=0.0), "samples per second"),
        (lambda c: c.update(fps=[30, 30]), "has no fps"),
        (lambda c: c.update(dof_pos=c["dof_pos"][:-1]), "expected"),
        (lambda c: c.update(dof_pos=np.full((40, 29), np.nan)), "not finite"),
        (lambda c: c.update(root_rot=np.zeros((40, 4))), "quaternion of length 0"),
        (lambda c: c.update(root_pos="walk"), "has no numbers"),
        (lambda c: c.pop("root_rot"), "expected root_pos, root_rot, dof_pos"),
        (lambda c: c.update(dof_pos=np.zeros((40, 17))), "no known order"),
        (lambda c: c.update(dof_pos=np.zeros((40, 0))), "shape"),
    ],
)
def test_what_is_wrong_is_stated_in_one_line(tmp_path, g1, change, told):
    content, _ = gmr(g1, "g1_29", bodies=False)
    change(content)
    path = dump(tmp_path / "walk.pkl", content)
    with pytest.raises(ClipError, match=told) as error:
        load_clip(path, g1)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_does_not_exist_is_named_without_an_errno(g1):
    with pytest.raises(ClipError) as error:
        load_clip("missing.npz", g1)
    assert str(error.value) == "missing.npz: no such file"


def test_fps_that_contradict_the_file_are_refused(tmp_path, g1):
    content, _ = gmr(g1, "g1_29", bodies=False)
    with pytest.raises(ClipError, match="30 samples per second"):
        load_clip(dump(tmp_path / "walk.pkl", content), g1, fps=60.0)


def test_a_rate_is_given_where_fps_is_none(tmp_path, g1):
    content, _ = gmr(g1, "g1_29")
    path = dump(tmp_path / "walk.pkl", {**content, "fps": None})
    with pytest.raises(ClipError, match="give it as fps="):
        load_clip(path, g1)
    assert load_clip(path, g1, fps=25.0).rate == pytest.approx(25.0)
