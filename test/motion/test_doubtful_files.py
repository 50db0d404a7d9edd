# SPDX-License-Identifier: Apache-2.0
"""Files that say a part of what they should, or say it in other units: refused or told, never filled up in silence."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.clip_check import check_clip
from humanoid_dynamics.motion.derivatives import complete_rates
from humanoid_dynamics.motion.formats.columns import (
    configuration_columns,
    pack_table,
    velocity_columns,
)
from humanoid_dynamics.motion.formats.csv_file import read_csv
from humanoid_dynamics.motion.formats.mapping import (
    JointMap,
    build_clip,
    build_recording,
    order_velocities,
)
from humanoid_dynamics.motion.formats.npz_file import read_npz, write_npz
from humanoid_dynamics.motion.formats.recording import Recording
from humanoid_dynamics.motion.measured.force_plates import load_force_plates

TIMES = np.arange(5) / 50.0


@pytest.fixture(scope="module")
def legs():
    return hd.load_robot("legs12")


def recording_of(robot, without=()):
    columns = configuration_columns(robot)
    kept = [index for index, name in enumerate(columns) if name not in without]
    table = pack_table(robot, np.tile(robot.posture, (len(TIMES), 1)))
    return Recording("walk", TIMES, tuple(columns[index] for index in kept), table[:, kept])


def test_samples_that_are_far_apart_are_told(legs):
    for rate, told in (
        (1.0, ()),
        (1e-3, ("samples are 20 s apart; if the file holds milliseconds, write seconds",)),
    ):
        assert build_clip(replace(recording_of(legs), times=TIMES / rate), legs).notices == told


@pytest.mark.parametrize(
    ("name", "without", "joint"),
    [
        ("human16", "left_hip.qy", "joint 'left_hip' has no columns left_hip.qy"),
        ("human16", "base_qw", "has no columns base_qw"),
        ("biped7", "base_pitch", "has no columns base_pitch"),
    ],
)
def test_a_joint_of_which_a_part_is_missing_is_refused(name, without, joint):
    robot = hd.load_robot(name)
    build_clip(recording_of(robot), robot)
    with pytest.raises(hd.ClipError, match=joint):
        build_clip(recording_of(robot, (without,)), robot)
    ignored = JointMap(ignore=frozenset({without}))
    with pytest.raises(hd.ClipError, match=joint):
        build_clip(recording_of(robot), robot, ignored)


def test_rates_beside_configurations_without_names_have_every_column(legs):
    """As those beside the motion of a skeleton, which is retargeted."""
    names = velocity_columns(legs)
    bare = Recording(
        "dance.bvh", TIMES, (), np.tile(legs.posture, (5, 1)), names, np.ones((5, legs.nv))
    )
    assert (order_velocities(bare, legs) == 1.0).all()
    short = Recording("dance.bvh", TIMES, (), bare.values, names[:-1], np.ones((5, legs.nv - 1)))
    with pytest.raises(hd.ClipError, match=f"rates lack the column {names[-1]}"):
        order_velocities(short, legs)


def test_one_frame_has_no_rate(legs, tmp_path):
    zero = np.zeros((1, legs.nv))
    clip = Clip(legs, TIMES[:1], legs.posture[None], zero, zero, origin="pose")
    with pytest.raises(hd.ClipError, match="pose: has 1 frame, a rate needs at least 2"):
        _ = clip.rate
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert clip.is_even
        write_npz(build_recording(clip), tmp_path / "pose.npz")
        assert (build_clip(read_npz(tmp_path / "pose.npz"), legs).q == clip.q).all()
    with pytest.raises(hd.ClipError, match="has 1 frame, at least 3 are needed"):
        Clip(legs, TIMES[:1], legs.posture[None])
    with pytest.raises(hd.ClipError, match="has 0 frames, at least 1 is needed"):
        Clip(legs, TIMES[:0], legs.posture[None][:0], zero[:0], zero[:0])


def test_complex_numbers_are_refused_without_a_warning(legs, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.savez(
            tmp_path / "c.npz",
            fps=50.0,
            joint_pos=np.zeros((5, 1), dtype=complex),
            joint_names=np.array(["left_knee"]),
        )
        with pytest.raises(hd.ClipError, match="joint_pos holds complex128, expected numbers"):
            read_npz(tmp_path / "c.npz")
        with pytest.raises(hd.ClipError, match="q: received ndarray, expected numbers"):
            Clip(legs, TIMES, np.tile(legs.posture, (5, 1)).astype(complex))


@pytest.mark.parametrize(("unit", "told"), [(1.0, False), (100.0, True), (1000.0, True)])
def test_a_base_in_other_units_is_told(legs, unit, told):
    recording = recording_of(legs)
    scales = np.where(
        [name in {"base_x", "base_y", "base_z"} for name in recording.columns], unit, 1.0
    )
    clip = build_clip(replace(recording, values=recording.values * scales), legs)
    assert (
        any("if the file holds millimetres, convert them" in notice for notice in clip.notices)
        == told
    )
    assert check_clip(clip, control=False).notices == clip.notices


def test_gaps_are_told(legs, tmp_path):
    times = np.delete(np.arange(60) / 100.0, slice(20, 30))
    bare = Clip(legs, times, np.tile(legs.posture, (50, 1)))
    told = "nothing was measured from 0.190 to 0.300 s"
    for clip in (bare, bare.change(v=np.zeros((50, legs.nv)))):
        assert f"{told}; what was differentiated is rough there" in complete_rates(clip).notices
    whole = Clip(legs, times[:20], bare.q[:20])
    assert not any("nothing was measured" in notice for notice in complete_rates(whole).notices)
    link = legs.surfaces["left_foot"].link
    columns = {f"{link}_{part}{axis}": np.zeros(50) for part in "FPM" for axis in "xyz"}
    np.savez(tmp_path / "plates.npz", time=times, **columns)
    assert load_force_plates(tmp_path / "plates.npz", legs, {}).notices == (
        f"plates: {told}; forces go straight in between",
    )


def test_a_base_that_lies_is_told_and_w_suggested(legs):
    first = recording_of(legs)
    quaternion = [first.columns.index(f"base_q{axis}") for axis in "xyzw"]
    values = np.array(first.values)
    values[:, quaternion] = np.roll(values[:, quaternion], 1, axis=1)
    told = build_clip(replace(first, values=values), legs).notices
    assert told == (
        "the base lies or stands on its head in 5 of 5 rows; if its quaternions begin with w, write them as x y z w",
    )
    assert build_clip(first, legs).notices == ()


def test_holes_between_samples_are_told(legs):
    def told(*steps):
        times = np.concatenate(([0.0], np.cumsum(steps)))
        values = np.tile(recording_of(legs).values[:1], (len(times), 1))
        return build_clip(replace(recording_of(legs), times=times, values=values), legs).notices

    assert told(0.02, 0.02, 100.02, 0.02) == ("gap of 100 s after row 2",)
    assert told(0.02, 0.6, 0.02, 0.8, 0.02, 0.02) == (
        "gap of 0.8 s after row 3, the longest of 2 gaps",
    )
    assert told(0.02, 0.02, 0.4, 0.02) == ()
    assert told(1.0, 1.0, 2.0, 1.0) == ()


def test_a_table_of_decimal_commas_is_no_header(legs, tmp_path):
    path = tmp_path / "walk.csv"
    path.write_text("\n".join(";".join(["-0,013579", "0,5", "1,5e-3"]) for _ in range(4)))
    with pytest.raises(
        hd.ClipError,
        match=r"walk\.csv:1: received '-0,013579', expected a finite number with a point",
    ):
        read_csv(path)
