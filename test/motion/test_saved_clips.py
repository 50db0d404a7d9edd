# SPDX-License-Identifier: Apache-2.0
"""Clips written for trainers: they come back to 1e-6, and bodies and velocities are those of the positions."""

import json
import pickle

import numpy as np
import pinocchio as pin
import pytest
from clips import recorded
from test_trainer_archives import ISAAC
from test_trainer_pickles import ORDERS, configurations, motion

import humanoid_dynamics as hd
from humanoid_dynamics.errors import ClipError, UnknownNameError
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.formats.joint_orders import order_joints
from humanoid_dynamics.motion.load import load_clip
from humanoid_dynamics.motion.save import WRITABLE, save_clip


def make_clip(robot):
    names = order_joints(robot)
    root, turns, joints = motion(names, n=60)
    root[:, 0] += 12.0  # far from the origin, where single precision has fewer digits
    q = configurations(robot, names, root, turns, joints)
    for index, name in enumerate(names):
        q[:, robot.joint(name).q.start] += 0.3 * (index % 3)
    return Clip(robot, 0.5 + np.arange(60) / 30.0, q)


@pytest.fixture(scope="module")
def clip():
    return make_clip(hd.load_robot("g1"))


@pytest.mark.parametrize("to", WRITABLE)
def test_clips_come_back(tmp_path, clip, to):
    path = tmp_path / f"walk{WRITABLE[to].ending}"
    verdict = json.dumps({"preserved": True})
    save_clip(clip, path, to, fps=30.0, feasibility=np.linspace(0, 1, 60), verdict=verdict)
    back = load_clip(path, clip.robot)
    np.testing.assert_allclose(back.q, clip.q, atol=1e-9)
    np.testing.assert_allclose(back.times - back.times[0], clip.times - clip.times[0], atol=1e-9)
    assert b'"preserved": true' in path.read_bytes().replace(b"\x00", b"")


@pytest.mark.parametrize("to", ["gmr", "mjlab", "beyondmimic", "holosoma", "lafan1", "motion_lib"])
@pytest.mark.parametrize("name", ["h1.urdf", "t1_serial.urdf", "g1_23dof_rev_1_0.urdf"])
def test_clips_of_other_robots_come_back(tmp_path, name, to):
    clip = make_clip(hd.load_robot(str(recorded(f"robots/{name}"))))
    path = tmp_path / f"walk{WRITABLE[to].ending}"
    save_clip(clip, path, to, fps=30.0)
    back = load_clip(path, clip.robot)
    np.testing.assert_allclose(back.q, clip.q, atol=1e-9)


@pytest.mark.parametrize(("to", "order"), [("mjlab", ORDERS["g1_29"]), ("beyondmimic", ISAAC)])
def test_archives_have_what_their_trainers_read(tmp_path, clip, to, order):
    path = tmp_path / "walk.npz"
    save_clip(clip, path, to)
    found = np.load(path)
    assert float(found["fps"][0]) == pytest.approx(50.0)
    n, dt = len(found["joint_pos"]), 0.02
    assert n == 1 + int(clip.duration / dt + 1e-9)
    assert list(found["joint_names"]) == order
    assert found["body_pos_w"].shape == (n, 30, 3)
    assert found["body_quat_w"].shape == (n, 30, 4)
    # bodies by forward kinematics of the joints in the file, velocities by differences of its positions
    robot, row = clip.robot, 31
    q = np.array(robot.posture)
    q[:3], q[3:7] = found["body_pos_w"][row, 0], np.roll(found["body_quat_w"][row, 0], -1)
    for name, angle in zip(order, found["joint_pos"][row], strict=True):
        q[robot.joint(name).q.start] = angle
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, q)
    for index, link in enumerate(found["body_names"]):
        pose = data.oMf[robot.model.getFrameId(str(link))]
        np.testing.assert_allclose(pose.translation, found["body_pos_w"][row, index], atol=1e-9)
        turn = pin.Quaternion(*found["body_quat_w"][row, index]).matrix()
        np.testing.assert_allclose(pose.rotation, turn, atol=1e-9)
    for key, rate in (("joint_pos", "joint_vel"), ("body_pos_w", "body_lin_vel_w")):
        steps = np.gradient(found[key], dt, axis=0)[1:-1]
        assert np.abs(steps - found[rate][1:-1]).max() < 0.02
    turns = found["body_quat_w"]
    assert (np.einsum("nmi,nmi->nm", turns[1:], turns[:-1]) > 0.0).all()
    step = 2.0 * (turns[2:, 0, 1:] - turns[:-2, 0, 1:]) * np.sign(turns[1:-1, 0, :1]) / (2 * dt)
    assert found["body_ang_vel_w"].shape == (n, 30, 3)
    heading = 2.0 * np.unwrap(np.arctan2(turns[:, 0, 3], turns[:, 0, 0]))
    spin = np.gradient(heading, dt)[5:-5]
    assert np.abs(spin - found["body_ang_vel_w"][5:-5, 0, 2]).max() < 0.05
    assert np.isfinite(step).all()


def test_nothing_is_held_before_or_after_a_clip(tmp_path, clip):
    path = tmp_path / "walk.npz"
    save_clip(clip, path, "mjlab")
    back = load_clip(path, clip.robot)
    assert np.linalg.norm(back.q[1] - back.q[0]) > 1e-4
    assert np.linalg.norm(back.q[-1] - back.q[-2]) > 1e-4
    assert back.duration <= clip.duration < back.duration + 0.02


def test_pickles_load_with_the_standard_library_and_old_names_of_numpy(tmp_path, clip):
    path = tmp_path / "walk.pkl"
    save_clip(clip, path, "gmr", feasibility=np.ones(60))
    assert b"numpy._core" not in path.read_bytes()
    content = pickle.loads(path.read_bytes())
    assert content["root_rot"].shape == (60, 4)
    assert content["local_body_pos"].shape == (60, len(content["link_body_list"]), 3)
    assert np.abs(content["local_body_pos"][:, 0]).max() < 1e-12
    save_clip(clip, path, "motion_lib")
    library = pickle.loads(path.read_bytes())
    part = library["walk"]
    np.testing.assert_allclose(
        pin.exp3(part["pose_aa"][7, 0]), pin.Quaternion(part["root_rot"][7]).matrix(), atol=1e-9
    )
    np.testing.assert_allclose(
        np.linalg.norm(part["pose_aa"][:, 1:30], axis=2), np.abs(part["dof"]), atol=1e-12
    )


def test_scores_follow_the_frames_of_the_file(tmp_path, clip):
    path = tmp_path / "walk.npz"
    save_clip(clip, path, "mjlab", feasibility=(np.arange(60) >= 30).astype(float))
    score = np.load(path)["feasibility"]
    assert score.shape == np.load(path)["joint_pos"].shape[:1]
    np.testing.assert_array_equal(score, (np.arange(len(score)) * 0.02 >= 1.0 - 1e-9).astype(float))


def test_formats_and_robots_that_do_not_fit_are_refused(tmp_path, clip):
    with pytest.raises(UnknownNameError, match="mjlab"):
        save_clip(clip, tmp_path / "walk.x", "isaac")
    with pytest.raises(ClipError, match=r"feasibility has shape \(3,\), expected \(60,\)"):
        save_clip(clip, tmp_path / "walk.npz", feasibility=np.ones(3))
    fixed = hd.load_robot("highbar")
    swing = Clip(fixed, np.arange(4) / 10.0, np.tile(fixed.posture, (4, 1)))
    with pytest.raises(ClipError, match="free base"):
        save_clip(swing, tmp_path / "walk.pkl", "gmr")
