# SPDX-License-Identifier: Apache-2.0
"""Recorded motions are read as they are."""

import numpy as np
import pinocchio as pin
import pytest
from clips import DATA, distance, load_recorded, recorded

import humanoid_dynamics as hd
from humanoid_dynamics.motion.derivatives import differentiate
from humanoid_dynamics.motion.formats.csv_file import read_csv, write_csv
from humanoid_dynamics.motion.formats.mapping import build_clip, build_recording
from humanoid_dynamics.motion.formats.npz_file import read_npz, write_npz

CLIPS = {
    "g1_karate/M_Move18.csv": ("g1", 60.0),
    "g1_asap/walk_level1.npz": ("g1", 30.0),
    "talos_walk/one_step_20cm_ssp900_dsp400.npz": ("talos_reduced", 200.0),
    "sr1_walk/SR1WalkPattern1.npz": ("sr1", 500.0),
    "cmu/16_17__humanSubject01_66dof.npz": ("robots/humanSubject01_66dof.urdf", 60.0),
    "human_id/gait2392_walk_q.csv": ("human_id/gait2392_walk.urdf", 60.0),
}


def load_either(name):
    return hd.load_robot(str(recorded(name)) if name.endswith(".urdf") else name)


@pytest.mark.parametrize("name", CLIPS)
def test_recorded_clip_is_read_and_comes_back(tmp_path, name):
    path = recorded(name)
    robot, rate = load_either(CLIPS[name][0]), CLIPS[name][1]
    clip = load_recorded(path, robot)
    assert clip.rate == pytest.approx(rate, rel=1e-3)
    assert len(clip) > 50
    short = clip.change(times=clip.times[:60], q=clip.q[:60], v=None, a=None)
    for write, read, ending in ((write_npz, read_npz, "npz"), (write_csv, read_csv, "csv")):
        write(build_recording(short), tmp_path / f"copy.{ending}")
        again = build_clip(read(tmp_path / f"copy.{ending}"), robot)
        assert distance(robot, again.q, short.q) < 1e-12
        np.testing.assert_allclose(again.times, short.times, atol=1e-12)


def test_rows_of_the_karate_table_are_configurations():
    path = recorded("g1_karate/M_Move18.csv")
    clip = load_recorded(path, hd.load_robot("g1"))
    np.testing.assert_allclose(clip.q, np.loadtxt(path, delimiter=","), atol=1e-6)
    assert clip.rate == pytest.approx(60.0)


def test_measured_velocities_and_accelerations_are_the_derivatives():
    robot = load_either("human_id/gait2392_walk.urdf")
    clip = load_recorded(recorded("human_id/gait2392_walk_q.csv"), robot)
    found = differentiate(clip)
    inner = slice(2, -2)
    assert np.sqrt(np.mean((found.v[inner] - clip.v[inner]) ** 2)) < 0.03 * np.sqrt(
        np.mean(clip.v**2)
    )
    assert np.sqrt(np.mean((found.a[inner] - clip.a[inner]) ** 2)) < 0.15 * np.sqrt(
        np.mean(clip.a**2)
    )


def test_velocity_of_the_talos_walk_moves_its_centre_of_mass():
    robot = hd.load_robot("talos_reduced")
    path = recorded("talos_walk/one_step_20cm_ssp900_dsp400.npz")
    clip = differentiate(load_recorded(path, robot))
    reference = read_npz(path).extras["com"][::5]
    data = robot.data()
    rows = range(300, 1200, 50)
    found = [np.concatenate(com_of(robot, data, clip.q[row], clip.v[row])) for row in rows]
    np.testing.assert_allclose(found, reference[rows][:, :6], atol=2e-3)


def com_of(robot, data, q, v):
    pin.centerOfMass(robot.model, data, q, v)
    return np.array(data.com[0]), np.array(data.vcom[0])


def test_wrong_robot_is_told_by_name():
    with pytest.raises(
        hd.ClipError, match="robot 'human28' has no joints for the columns left_hip_pitch_joint"
    ):
        load_recorded(recorded("g1_asap/walk_level1.npz"), hd.load_robot("human28"))
    with pytest.raises(
        hd.ClipError,
        match=r"has 29 joints without names, and no known order .* fits robot 'human28'",
    ):
        load_recorded(recorded("g1_karate/M_Move18.csv"), hd.load_robot("human28"))


def test_every_recorded_motion_is_refused_by_name_on_a_robot_it_is_not_for():
    recorded("README.md")
    folders = ("g1_karate", "g1_asap", "talos_walk", "sr1_walk", "teleop_hand", "human_id")
    motions = [
        path
        for folder in folders
        for path in (DATA / folder).iterdir()
        if path.suffix in {".csv", ".npz"}
    ]
    robot = hd.load_robot("legs12")
    for path in motions:
        with pytest.raises(hd.ClipError, match=path.stem):
            load_recorded(path, robot)
    assert len(motions) > 20
