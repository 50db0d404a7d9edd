# SPDX-License-Identifier: Apache-2.0
"""Archives of mjlab, BeyondMimic and holosoma and tables of LAFAN1, built as the tools of these projects build them."""

import zipfile

import numpy as np
import pinocchio as pin
import pytest
from test_trainer_pickles import ORDERS, configurations, motion

import humanoid_dynamics as hd
from humanoid_dynamics.cli.options import JointOrderOption
from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.motion.formats.joint_orders import KNOWN_ORDERS
from humanoid_dynamics.motion.load import load_clip

ISAAC = [  # joints of G1 as Isaac Lab lists them
    *("left_hip_pitch_joint", "right_hip_pitch_joint", "waist_yaw_joint", "left_hip_roll_joint"),
    *("right_hip_roll_joint", "waist_roll_joint", "left_hip_yaw_joint", "right_hip_yaw_joint"),
    *("waist_pitch_joint", "left_knee_joint", "right_knee_joint", "left_shoulder_pitch_joint"),
    *("right_shoulder_pitch_joint", "left_ankle_pitch_joint", "right_ankle_pitch_joint"),
    *("left_shoulder_roll_joint", "right_shoulder_roll_joint", "left_ankle_roll_joint"),
    *("right_ankle_roll_joint", "left_shoulder_yaw_joint", "right_shoulder_yaw_joint"),
    *("left_elbow_joint", "right_elbow_joint", "left_wrist_roll_joint", "right_wrist_roll_joint"),
    *("left_wrist_pitch_joint", "right_wrist_pitch_joint", "left_wrist_yaw_joint"),
    "right_wrist_yaw_joint",
]


@pytest.fixture(scope="module")
def g1():
    return hd.load_robot("g1")


def tracked(robot, order, *, fps=50):
    """What csv_to_npz.py of both projects logs: joints and bodies in the order of the simulator, float32, w x y z."""
    names = ORDERS["g1_29"]
    root, turns, joints = motion(names, n=60)
    joints[:, names.index("left_knee_joint")] += 0.6  # nobody stands with all joints at zero
    joints[:, names.index("right_elbow_joint")] += 0.9
    q = configurations(robot, names, root, turns, joints)
    links = ["pelvis", *(name.replace("_joint", "_link") for name in order)]
    links = ["torso_link" if link == "waist_pitch_link" else link for link in links]
    data = robot.data()
    places, quaternions = np.zeros((60, 30, 3)), np.zeros((60, 30, 4))
    for row, values in enumerate(q):
        pin.framesForwardKinematics(robot.model, data, values)
        for index, link in enumerate(links):
            pose = data.oMf[robot.model.getFrameId(link)]
            x, y, z, w = pin.Quaternion(pose.rotation).coeffs()
            places[row, index], quaternions[row, index] = pose.translation, (w, x, y, z)
    log = {
        "fps": [fps],
        "joint_pos": joints[:, [names.index(name) for name in order]],
        "body_pos_w": places,
        "body_quat_w": quaternions,
        "body_lin_vel_w": np.gradient(places, 1.0 / fps, axis=0),
        "body_ang_vel_w": np.zeros((60, 30, 3)),
    }
    log["joint_vel"] = np.gradient(log["joint_pos"], 1.0 / fps, axis=0)
    return {key: np.asarray(part, np.float32) for key, part in log.items() if key != "fps"} | {
        "fps": log["fps"]
    }, q


def save(path, content):
    np.savez(path, **content)
    return path


@pytest.mark.parametrize("order", ["mujoco", "isaac"])
def test_bodies_decide_the_order_of_mjlab_and_beyondmimic(tmp_path, g1, order):
    content, q = tracked(g1, ORDERS["g1_29"] if order == "mujoco" else ISAAC)
    clip = load_clip(save(tmp_path / "motion.npz", content), g1)
    np.testing.assert_allclose(clip.q, q, atol=1e-6)
    assert clip.rate == pytest.approx(50.0)
    found = "joint order: g1_29" if order == "mujoco" else "joint order: g1_29_breadth_first"
    assert clip.notices == (found,)


def test_bodies_decide_the_order_of_quaternions(tmp_path, g1):
    content, q = tracked(g1, ISAAC)
    content["body_quat_w"] = content["body_quat_w"][..., [1, 2, 3, 0]]
    clip = load_clip(save(tmp_path / "motion.npz", content), g1)
    np.testing.assert_allclose(clip.q, q, atol=1e-6)
    assert "quaternions are x y z w here, by the data" in clip.notices


def write_sonic(folder, content, bodies):
    """What convert_motions.py of SONIC writes, for some of the bodies."""
    folder.mkdir(parents=True)
    for name, table, parts in (
        ("joint_pos", content["joint_pos"], ["joint_{i}"]),
        ("joint_vel", content["joint_vel"], ["joint_vel_{i}"]),
        ("body_pos", content["body_pos_w"][:, bodies], ["body_{i}_x", "body_{i}_y", "body_{i}_z"]),
        ("body_quat", content["body_quat_w"][:, bodies], [f"body_{{i}}_{c}" for c in "wxyz"]),
    ):
        rows = table.reshape(len(table), -1)
        head = [p.format(i=i) for i in range(rows.shape[1] // len(parts)) for p in parts]
        np.savetxt(folder / f"{name}.csv", rows, delimiter=",", header=",".join(head), comments="")
    (folder / "metadata.txt").write_text(f"Body part indexes:\n{bodies}\n")
    return folder


def test_folders_of_sonic_are_clips(tmp_path, g1):
    from humanoid_dynamics.filtering.batches.clips import find_clips

    content, q = tracked(g1, ISAAC)
    bodies = [0, 4, 10, 18, 5, 11, 19, 9, 16, 22, 28, 17, 23, 29]
    folder = write_sonic(tmp_path / "set" / "walk", content, bodies)
    clip = load_clip(folder, g1)
    np.testing.assert_allclose(clip.q, q, atol=1e-5)
    assert clip.rate == pytest.approx(50.0)
    assert "joint order: g1_29_breadth_first" in clip.notices
    assert [found.path for found in find_clips([str(tmp_path)])] == [folder]
    (folder / "body_quat.csv").write_text("body_0_w,body_0_x,body_0_y\n1,0,0\n")
    with pytest.raises(ClipError, match=r"body_quat\.csv"):
        load_clip(folder, g1)


def test_velocities_of_another_rate_are_noticed(tmp_path, g1):
    content, _ = tracked(g1, ISAAC)
    content["fps"] = [30]
    clip = load_clip(save(tmp_path / "motion.npz", content), g1)
    assert any("fit 50" in notice and "has 30" in notice for notice in clip.notices)


def test_named_archives_of_holosoma_hold_the_root_among_the_joints(tmp_path, g1):
    content, q = tracked(g1, ORDERS["g1_29"])
    n = len(q)
    pose = np.column_stack((q[:, :3], q[:, [6, 3, 4, 5]]))
    content["joint_pos"] = np.column_stack((pose, content["joint_pos"].astype(float)))
    content["joint_vel"] = np.column_stack((np.zeros((n, 6)), content["joint_vel"]))
    world = np.zeros((n, 1, 3))
    for key in ("body_pos_w", "body_lin_vel_w", "body_ang_vel_w"):
        content[key] = np.concatenate((world, content[key]), axis=1)
    content["body_quat_w"] = np.concatenate(
        (np.tile([1.0, 0, 0, 0], (n, 1, 1)), content["body_quat_w"]), axis=1
    )
    links = [name.replace("_joint", "_link") for name in ORDERS["g1_29"]]
    links = ["torso_link" if link == "waist_pitch_link" else link for link in links]
    content |= {"joint_names": ORDERS["g1_29"], "body_names": ["world", "pelvis", *links]}
    content |= {"object_pos_w": np.ones((n, 3)), "object_quat_w": np.tile([1.0, 0, 0, 0], (n, 1))}
    clip = load_clip(save(tmp_path / "motion.npz", content), g1)
    np.testing.assert_allclose(clip.q, q, atol=1e-6)
    assert clip.notices == ()


@pytest.mark.parametrize("carried", [False, True])
def test_retargeted_archives_of_holosoma_are_configurations(tmp_path, g1, carried):
    names = ORDERS["g1_29"]
    root, turns, joints = motion(names)
    parts = [root, turns[:, [3, 0, 1, 2]], joints]
    if carried:
        parts += [np.ones((40, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (40, 1))]
    content = {
        "qpos": np.hstack(parts),
        "human_joints": np.zeros((40, 52, 3)),
        "fps": 30,
        "cost": 1.0,
    }
    clip = load_clip(save(tmp_path / "sub3_original.npz", content), g1)
    np.testing.assert_allclose(clip.q, configurations(g1, names, root, turns, joints), atol=1e-12)


def test_tables_of_lafan1_are_configurations_at_a_rate_that_is_given(tmp_path, g1):
    names = ORDERS["g1_29"]
    root, turns, joints = motion(names)
    path = tmp_path / "walk1_subject1.csv"
    np.savetxt(path, np.hstack((root, turns, joints)), delimiter=",")
    clip = load_clip(path, g1, fps=30)
    np.testing.assert_allclose(clip.q, configurations(g1, names, root, turns, joints), atol=1e-12)
    with pytest.raises(ClipError, match="--fps"):
        load_clip(path, g1)


def test_tables_of_a_robot_with_fixed_wrists_fit_the_whole_robot(tmp_path, g1):
    names = ORDERS["g1_23_fixed_wrists"]
    root, turns, joints = motion(names)
    path = tmp_path / "walk.csv"
    np.savetxt(path, np.hstack((root, turns, joints)), delimiter=",")
    with pytest.raises(ClipError, match="joint_order="):
        load_clip(path, g1, fps=30)
    clip = load_clip(path, g1, fps=30, joint_order="g1_23_fixed_wrists")
    np.testing.assert_allclose(clip.q, configurations(g1, names, root, turns, joints), atol=1e-12)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda c: c.pop("body_quat_w"), "joint_names"),
        (lambda c: c.update(body_pos_w=c["body_pos_w"][:, :, :2]), "body_pos_w has shape"),
        (lambda c: c.update(body_quat_w=c["body_quat_w"][:-1]), "body_quat_w has shape"),
        (lambda c: c.pop("fps"), "has no fps"),
        (lambda c: c.update(body_pos_w=np.zeros((60, 30, 3))), "not those of robot"),
        (lambda c: c.update(joint_pos=np.array([{}], dtype=object)), "cannot be read"),
    ],
)
def test_archives_that_are_wrong_are_refused(tmp_path, g1, change, told):
    content, _ = tracked(g1, ISAAC)
    change(content)
    with pytest.raises(ClipError, match=told) as error:
        load_clip(save(tmp_path / "motion.npz", content), g1)
    assert "\n" not in str(error.value)


def test_every_order_that_a_message_names_can_be_chosen(tmp_path, g1):
    content, q = tracked(g1, ISAAC)
    names = ("robot", "robot_breadth_first", "g1_29_breadth_first")
    path = save(tmp_path / "motion.npz", content)
    for order in names[1:]:
        np.testing.assert_allclose(load_clip(path, g1, joint_order=order).q, q, atol=1e-6)
    with pytest.raises(hd.UnknownNameError) as refused:
        load_clip(path, g1, joint_order="isaac")
    assert all(name in str(refused.value) for name in names)
    described = next(part for part in JointOrderOption.__metadata__).help
    assert all(name in described for name in (*KNOWN_ORDERS, "robot", "_breadth_first"))


def test_archives_of_other_things_are_refused_with_the_reason(tmp_path, g1):
    path = tmp_path / "motion.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02}.")
    with pytest.raises(ClipError, match=r"1 member that are no arrays: 'archive/data.pkl'; torch"):
        load_clip(path, g1)
    body = {"poses": np.zeros((9, 156)), "trans": np.zeros((9, 3)), "mocap_framerate": 120.0}
    with pytest.raises(ClipError, match=r"parameters of a body model \(AMASS, SMPL-X\)"):
        load_clip(save(tmp_path / "amass.npz", body), g1, fps=120.0)
