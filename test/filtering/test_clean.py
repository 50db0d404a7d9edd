# SPDX-License-Identifier: Apache-2.0
"""Data sets: clips are scored, filtered, scored again and written for a trainer, and a batch that ended goes on."""

import csv
import json
import pickle

import numpy as np
import pytest
from typer.testing import CliRunner

import humanoid_dynamics as hd
from humanoid_dynamics.cli.app import build_app
from humanoid_dynamics.cli.filter_batch import BatchOptions, is_batch
from humanoid_dynamics.filtering.batches.batch import filter_clips
from humanoid_dynamics.filtering.batches.clean import COLUMNS, CleanJob, rank_clips
from humanoid_dynamics.filtering.batches.clips import find_clips
from humanoid_dynamics.filtering.batches.job import build_job, build_tasks
from humanoid_dynamics.filtering.batches.parts import WHOLE, find_cuts, list_parts
from humanoid_dynamics.filtering.batches.task import ClipOutcome, ClipTask
from humanoid_dynamics.filtering.feasibility import score_certificates, score_frames
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.formats.mapping import build_recording
from humanoid_dynamics.motion.formats.npz_file import write_npz
from humanoid_dynamics.motion.gait import plan_walk
from humanoid_dynamics.motion.load import load_clip
from humanoid_dynamics.motion.save import save_clip
from humanoid_dynamics.motion.walking.footsteps import WalkStyle


@pytest.fixture(scope="module")
def robot():
    return hd.load_robot("human28")


@pytest.fixture(scope="module")
def walk(robot):
    return plan_walk(robot, WalkStyle(steps=2, rate=60)).clip.change(v=None, a=None, contacts={})


@pytest.fixture(scope="module")
def folder(tmp_path_factory, robot, walk):
    """Two motions, a broken file and a pickle that names a function."""
    folder = tmp_path_factory.mktemp("set") / "clips"
    (folder / "deep").mkdir(parents=True)
    rows = walk.times <= 2.0
    part = walk.change(times=walk.times[rows], q=walk.q[rows])
    write_npz(build_recording(part), folder / "deep/walk.npz")
    stand = Clip(robot, np.arange(30) / 30.0, np.tile(robot.posture, (30, 1)))
    write_npz(build_recording(stand), folder / "stand.npz")
    (folder / "broken.npz").write_bytes(b"PK\x03\x04 and no more")
    (folder / "evil.pkl").write_bytes(pickle.dumps({"root_pos": eval}))
    return folder


def call(*arguments):
    return CliRunner().invoke(build_app(["clean"]), ["clean", *map(str, arguments)])


def test_a_planned_walk_is_feasible_and_a_hasty_or_leaning_one_is_not(robot, walk):
    scores = score_frames(walk)
    assert scores.shape == walk.times.shape
    assert scores.min() > 0.0
    assert scores.max() <= 1.0
    assert np.mean(scores) > 0.97
    hasty = walk.change(times=walk.times / 2.5)
    assert np.mean(score_frames(hasty)) < np.mean(scores) - 0.1
    q = np.array(walk.q)
    q[:, 3:7] = np.array([0.0, np.sin(0.3), 0.0, np.cos(0.3)])
    assert np.mean(score_frames(walk.change(q=q))) < 0.8
    bent = np.array(walk.q)
    knee = robot.joint("left_knee").q.start
    bent[40, knee] = robot.limits.upper[knee] + 0.2
    assert score_frames(walk.change(q=bent))[40] < 0.6


def test_what_is_certified_is_feasible(robot, walk):
    rows = walk.times <= 1.0
    found = hd.filter_clip(robot, walk.change(times=walk.times[rows], q=walk.q[rows]))
    scores = score_certificates([frame.certificate for frame in found.frames])
    holds = np.array([frame.certificate.holds for frame in found.frames])
    np.testing.assert_array_equal(scores == 1.0, holds)


def test_a_folder_is_cleaned_once_and_goes_on(folder, tmp_path, robot):
    out = folder / "cleaned"  # below the clips: results and table are no clips
    result = call(folder, "--robot", "human28", "--to", "mjlab", "--out", out, "--json")
    assert result.exit_code == 2, result.output
    told = json.loads(result.stdout)
    rows = {row["clip"]: row for row in told["clips"]}
    assert set(rows) == {"deep/walk", "stand", "broken", "evil"}
    assert "cannot be read" in rows["broken"]["problem"]
    assert "was not executed" in rows["evil"]["problem"]
    assert "\n" not in rows["evil"]["problem"]
    assert {rows[name]["rank"] for name in ("deep/walk", "stand")} == {1, 2}
    assert rows["stand"]["feasibility_after"] == 1.0
    with (out / "clean.csv").open() as file:
        reader = csv.DictReader(file)
        table = {row["clip"]: row for row in reader}
    assert tuple(reader.fieldnames) == COLUMNS
    assert set(table) == set(rows)
    assert float(table["stand"]["feasibility_before"]) == rows["stand"]["feasibility_before"]

    written = next(path for path in (out / "deep").iterdir() if path.suffix == ".npz")
    found = np.load(written)
    source = load_clip(folder / "deep/walk.npz", robot)
    n = len(found["joint_pos"])
    assert float(found["fps"][0]) == pytest.approx(50.0)
    assert (n - 1) / 50.0 == pytest.approx(source.duration, abs=0.06)  # no hold before or after
    assert found["feasibility"].shape == (n,)
    verdict = json.loads(str(found["verdict"]))
    assert verdict["feasibility"]["after"]["mean"] == rows["deep/walk"]["feasibility_after"]
    assert isinstance(verdict["preserved"], bool)

    stamps = {path: path.stat().st_mtime_ns for path in out.rglob("*.npz")}
    again = call(folder, "--robot", "human28", "--to", "mjlab", "--out", out)
    assert again.exit_code == 2
    assert "2 were done before" in again.stdout
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.npz")} == stamps


def test_other_formats_and_settings_are_other_results():
    job = build_job("human28")
    keys = {CleanJob(job, to, rate).key for to in ("gmr", "mjlab") for rate in (None, 30.0)}
    assert len(keys) == 4
    assert len({build_job("human28", joint_order=order).key for order in ("", "g1_29")}) == 2
    assert CleanJob(job, "gmr").ending == ".pkl"


def test_long_clips_are_cut_where_they_move_least(robot, tmp_path):
    times = np.arange(0.0, 25.0, 1.0 / 30.0)
    q = np.tile(robot.posture, (len(times), 1))
    q[:, robot.joint("left_elbow").q.start] += 0.3 * np.cos(0.5 * np.pi * times)
    clip = Clip(robot, times, q)
    cuts = find_cuts(clip, 9.0)
    assert (cuts[0], cuts[-1]) == (0.0, times[-1])
    assert np.diff(cuts).max() <= 9.0
    np.testing.assert_allclose(np.mod(cuts[1:-1], 2.0), 0.0, atol=0.04)  # where the elbow turns
    assert find_cuts(clip, 30.0) == [0.0, times[-1]]
    path = tmp_path / "long.npz"
    write_npz(build_recording(clip), path)
    pieces = dict(list_parts(path, lambda _: clip, 9.0))
    assert list(pieces) == ["_001", "_002", "_003"]
    lengths = [len(part.cut(clip)) for part in pieces.values()]
    assert sum(lengths) == len(clip) + len(pieces) - 1  # the instants of the cuts twice
    assert dict(list_parts(path, lambda _: clip)) == {"": WHOLE}


def test_motions_of_a_library_are_clips_of_their_own(robot, tmp_path, walk):
    source = tmp_path / "set"
    source.mkdir()
    stand = Clip(robot, np.arange(30) / 30.0, np.tile(robot.posture, (30, 1)))
    motions = {}
    for name in ("0-walk/a b", "0-stand"):
        save_clip(stand, tmp_path / "one.pkl", "motion_lib")
        motions[name] = pickle.loads((tmp_path / "one.pkl").read_bytes())["one"]
    (source / "library.pkl").write_bytes(pickle.dumps(motions))
    alone = BatchOptions(1, "", False, "", "", False)
    assert is_batch([str(source / "library.pkl")], alone)
    assert not is_batch([str(tmp_path / "one.pkl")], alone)
    job = CleanJob(build_job("human28"), "motion_lib")
    clips = find_clips([str(source)])
    parts = [part for clip in clips for part in job.split(clip)]
    assert [part.name for part in parts] == ["library/0000_0-walk_a_b", "library/0001_0-stand"]
    assert len({task.key for task in build_tasks(parts, job.key)}) == 2
    outcomes = filter_clips(job, clips, out=tmp_path / "out")
    assert [outcome.problem for outcome in outcomes] == ["", ""]
    back = load_clip(tmp_path / "out/library/0001_0-stand.pkl", robot)
    assert back.duration == pytest.approx(stand.duration, abs=0.04)
    written = pickle.loads((tmp_path / "out/library/0001_0-stand.pkl").read_bytes())
    assert list(written) == ["0001_0-stand"]  # a motion has the name of its file


def test_ranks_follow_the_raw_motion():
    def outcome(name, score, problem=""):
        facts = {"feasibility": {"before": {"mean": score}}}
        return ClipOutcome(ClipTask(name, None, ""), facts, problem=problem)

    outcomes = [
        outcome("a", 0.5),
        outcome("b", 0.9),
        outcome("c", 0.0, "broken"),
        outcome("d", 0.7),
    ]
    assert rank_clips(outcomes) == {"b": 1, "d": 2, "a": 3}


def test_formats_and_orders_that_do_not_exist_are_refused_at_once(folder, tmp_path):
    for option, name, known in (("--to", "isaac", "mjlab"), ("--joint-order", "g1_30", "g1_29")):
        result = call(folder, "--robot", "human28", option, name, "--out", tmp_path / "out")
        assert isinstance(result.exception, hd.UnknownNameError)
        assert known in str(result.exception)
    assert not (tmp_path / "out").exists()
