# SPDX-License-Identifier: Apache-2.0
"""Humans from positions of joints alone: order and axes follow from the positions, and robots follow as from the skeleton."""

import numpy as np
import pytest
from clips import recorded

import humanoid_dynamics as hd
from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.motion.formats.detect import read_motion
from humanoid_dynamics.motion.load import load_clip, retarget_file
from humanoid_dynamics.motion.retargeting.joint_positions import (
    LAYOUTS,
    JointPositions,
    build_human,
)
from humanoid_dynamics.motion.retargeting.skeleton_map import find_skeleton_map

FPS = 20.0
FRAMES = slice(1, None, 6)  # the first one is the pose at rest


@pytest.fixture(scope="module")
def walk():
    """Positions of a recorded walk by body point, with y up, and the walk itself."""
    bvh = read_motion(recorded("cmu/35_05.bvh"))
    motion = bvh.skeleton_motion()
    points = find_skeleton_map(motion.skeleton, "bvh").points
    p, _ = motion.world()
    return {point: p[FRAMES, motion.skeleton.index(joint)] for point, joint in points.items()}


def arrange(walk, layout, joints):
    """Put body points into the order of a layout; other joints are somewhere near the pelvis."""
    rng = np.random.default_rng(0)
    table = walk["pelvis"][:, None] + rng.normal(size=(1, joints, 3))
    for point, index in LAYOUTS[layout].items():
        table[:, index] = walk[point]
    return table


@pytest.mark.parametrize(
    ("layout", "joints"),
    [
        ("SMPL, SMPL-X", 24),
        ("SMPL, SMPL-X", 55),
        ("SMPL-H, limb by limb", 52),
        ("LAFAN1", 22),
        ("LAFAN1, right side first", 22),
        ("skeleton with fingers, legs last", 53),
    ],
)
def test_bones_decide_the_order_of_joints(walk, layout, joints):
    table = arrange(walk, layout, joints)
    human = build_human(JointPositions("walk", np.arange(len(table)) / FPS, table))
    assert human.notices == (f"joints are those of {layout}: bones keep their lengths",)
    for point in LAYOUTS[layout]:
        expected = walk[point][:, [2, 0, 1]]  # y up and z forward to z up and x forward
        np.testing.assert_allclose(human.p[point], expected, atol=1e-9)


@pytest.fixture(scope="module")
def robot():
    return hd.load_robot("human28")


@pytest.fixture(scope="module")
def followed(robot):
    """The walk retargeted from its skeleton."""
    return retarget_file(read_motion(recorded("cmu/35_05.bvh")), robot).clip.q[::6]


@pytest.mark.parametrize(("axes", "unit"), [([2, 0, 1], 1.0), ([0, 1, 2], 25.4)])
def test_robots_follow_positions_as_they_follow_the_skeleton(
    tmp_path, walk, robot, followed, axes, unit
):
    path = tmp_path / "walk.npz"
    table = unit * arrange(walk, "SMPL, SMPL-X", 24)[..., axes]
    np.savez(path, global_joint_positions=table, height=1.7, mocap_framerate=FPS)
    clip = load_clip(path, robot)
    knees = [robot.joint(f"{side}_knee").q.start for side in ("left", "right")]
    np.testing.assert_allclose(clip.q[:, knees], followed[:, knees], atol=0.06)
    ways = [q[:, :2] - q[0, :2] for q in (clip.q, followed)]
    lengths = [np.linalg.norm(way, axis=1) for way in ways]
    np.testing.assert_allclose(*lengths, atol=0.02)
    assert np.abs(clip.q[:, 2] - followed[:, 2]).max() < 0.02


def test_a_single_array_needs_a_rate(tmp_path, walk, robot):
    path = tmp_path / "walk.npy"
    np.save(path, arrange(walk, "SMPL, SMPL-X", 24).astype(np.float32))
    assert load_clip(path, robot, fps=FPS).rate == pytest.approx(FPS)
    with pytest.raises(ClipError, match="--fps"):
        load_clip(path, robot)


def test_names_and_maps_decide_before_bones(tmp_path, walk, robot):
    from humanoid_dynamics.motion.retargeting.skeleton_map import load_skeleton_map

    points = list(walk)
    table = np.stack([walk[point] for point in points], axis=1)
    lines = "\n".join(f"  {point}: '{index}'" for index, point in enumerate(points))
    path = tmp_path / "map.yaml"
    path.write_text(f"up: y\nforward: z\nrest: zero\npoints:\n{lines}\n")
    np.savez(tmp_path / "walk.npz", positions=table, fps=FPS)
    mapped = load_clip(tmp_path / "walk.npz", robot, skeleton_map=load_skeleton_map(path))
    np.savez(tmp_path / "walk.npz", positions=arrange(walk, "LAFAN1", 22), fps=FPS)
    np.testing.assert_allclose(load_clip(tmp_path / "walk.npz", robot).q, mapped.q, atol=1e-6)


def test_positions_that_are_no_human_are_refused(tmp_path, walk):
    rng = np.random.default_rng(1)
    times = np.arange(60) / FPS
    n = len(walk["pelvis"])
    with pytest.raises(ClipError, match="no known order of joints"):
        build_human(JointPositions("noise", times, rng.normal(size=(60, 24, 3))))
    table = arrange(walk, "SMPL, SMPL-X", 24)
    table[7, 3] = np.nan
    with pytest.raises(ClipError, match="not finite"):
        JointPositions("hole", np.arange(n) / FPS, table)
    for shape in ((60, 24, 2), (60, 72), (4,)):
        np.save(tmp_path / "walk.npy", np.zeros(shape))
        with pytest.raises(ClipError, match=r"walk\.npy"):
            read_motion(tmp_path / "walk.npy", FPS)
    (tmp_path / "walk.npy").write_bytes(b"\x93NUMPY\x01\x00broken")
    with pytest.raises(ClipError, match="cannot be read"):
        read_motion(tmp_path / "walk.npy", FPS)
    np.save(tmp_path / "walk.npy", np.array([{}], dtype=object))
    with pytest.raises(ClipError, match="cannot be read"):
        read_motion(tmp_path / "walk.npy", FPS)
