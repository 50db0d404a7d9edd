# SPDX-License-Identifier: Apache-2.0
"""Batches: nothing lost, nothing done twice, whoever is killed."""

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from batch_jobs import (
    DiesOnceDone,
    Fake,
    NeverArrives,
    WritesHalf,
    count,
    kill_who_begins,
    read_lines,
    write_clips,
)

import humanoid_dynamics as hd
from humanoid_dynamics.errors import BatchError, ClipError, MissingExtraError
from humanoid_dynamics.filtering.batches.batch import run_batch
from humanoid_dynamics.filtering.batches.clips import find_clips
from humanoid_dynamics.filtering.batches.job import build_job, build_tasks
from humanoid_dynamics.filtering.batches.store import HIDDEN, Store
from humanoid_dynamics.filtering.batches.task import ClipTask, StoredJob
from humanoid_dynamics.filtering.batches.workers import run_on_workers


def run_here(job, tasks, jobs, beat):
    """Stand in for the workers where these are not what is tested."""
    for task in tasks:
        yield job(task)
        beat()


def assert_once(log, tasks, killed=()):
    """Every clip was ended once, and begun once, but for those whose worker was killed: these were begun once more."""
    names = {task.clip.name for task in tasks}
    assert count(log, "end") == dict.fromkeys(names, 1)
    assert count(log, "begin") == {name: 2 if name in killed else 1 for name in names}


def assert_results(store, tasks):
    results = sorted(
        path.relative_to(store.folder).as_posix() for path in store.folder.rglob("*.npz")
    )
    assert results == sorted(f"{task.name}.npz" for task in tasks)
    for task in tasks:
        assert store.result(task.name).read_bytes() == 2 * task.clip.read_bytes()


def test_a_thousand_clips_on_two_workers_of_which_one_is_killed_half_way(tmp_path):
    tasks, log, store = (
        write_clips(tmp_path / "clips", 1000),
        tmp_path / "log",
        Store(tmp_path / "out"),
    )
    told = []
    with ThreadPoolExecutor() as pool:
        killed = pool.submit(kill_who_begins, log, "clip500")
        outcomes = run_batch(
            Fake(log, waits="clip500"),
            tasks,
            jobs=2,
            store=store,
            watch=lambda *shares: told.append(shares),
        )
        killed = killed.result()
    assert [outcome.task for outcome in outcomes] == tasks
    assert {outcome.problem for outcome in outcomes} == {""}
    assert [outcome.task.clip.name for outcome in outcomes if outcome.tries > 1] == ["clip500"]
    assert_once(log, tasks, killed={"clip500"})
    assert_results(store, tasks)
    workers = [int(pid) for said, name, pid in read_lines(log) if name == "clip500"]
    assert workers[0] == killed
    assert workers[1] == workers[2] != killed
    assert told[-1] == (1000, 1000)
    assert told == sorted(told)
    once_more = run_batch(Fake(log), tasks, jobs=2, store=store)
    assert all(outcome.before for outcome in once_more)
    assert [outcome.facts for outcome in once_more] == [outcome.facts for outcome in outcomes]
    assert_once(log, tasks, killed={"clip500"})


def test_a_clip_that_kills_its_workers_fails_and_what_was_done_but_not_told_is_not_done_again(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("humanoid_dynamics.filtering.batches.workers.TRIES", 2)
    tasks, log, store = (
        write_clips(tmp_path / "clips", 5),
        tmp_path / "log",
        Store(tmp_path / "out"),
    )
    job = DiesOnceDone(StoredJob(Fake(log, kills="clip1"), store), tasks[3].name)
    outcomes = {outcome.task.clip.name: outcome for outcome in run_on_workers(job, tasks, 1)}
    assert sorted(outcomes) == [task.clip.name for task in tasks]
    assert {name: one.problem for name, one in outcomes.items() if one.problem} == {
        "clip1": "ended 2 workers, the last with signal SIGKILL",
    }
    assert {name: one.tries for name, one in outcomes.items() if one.tries > 1} == {
        "clip1": 2,
        "clip3": 2,
    }
    assert count(log, "begin") == {"clip0": 1, "clip1": 2, "clip2": 1, "clip3": 1, "clip4": 1}
    assert_results(store, [task for task in tasks if task is not tasks[1]])


def test_failures_are_collected_and_tried_again(tmp_path, monkeypatch):
    monkeypatch.setattr("humanoid_dynamics.filtering.batches.batch.run_on_workers", run_here)
    tasks, log, store = (
        write_clips(tmp_path / "clips", 4),
        tmp_path / "log",
        Store(tmp_path / "out"),
    )
    text = tasks[2].clip.read_text()
    tasks[2].clip.unlink()
    outcomes = run_batch(Fake(log), tasks, store=store)
    assert [outcome.problem for outcome in outcomes] == [
        "",
        "",
        f"{tasks[2].clip}: no such file",
        "",
    ]
    tasks[2].clip.write_text(text)
    outcomes = run_batch(Fake(log), tasks, store=store)
    assert [outcome.before for outcome in outcomes] == [True, True, False, True]
    assert count(log, "end") == {task.clip.name: 1 for task in tasks}
    assert_results(store, tasks)
    changed = [replace(tasks[0], key="other"), *tasks[1:]]
    assert [outcome.before for outcome in run_batch(Fake(log), changed, store=store)] == [
        False,
        True,
        True,
        True,
    ]
    assert not any(
        outcome.before for outcome in run_batch(Fake(log), tasks[:2], store=store, overwrite=True)
    )
    assert count(log, "end") == {"clip0": 3, "clip1": 2, "clip2": 1, "clip3": 1}
    assert all(
        outcome.problem == "" for outcome in run_batch(Fake(log), tasks)
    )  # nothing to remember it by
    assert count(log, "end") == {"clip0": 4, "clip1": 3, "clip2": 2, "clip3": 2}


def test_workers_that_never_begin_are_told(tmp_path, capfd, monkeypatch):
    tasks = write_clips(tmp_path / "clips", 2)
    monkeypatch.setattr("humanoid_dynamics.filtering.batches.workers.FALSE_STARTS", 1)
    with pytest.raises(BatchError, match="workers end before they begin \\(exit code 1\\)"):
        list(run_on_workers(NeverArrives(tmp_path), tasks, 1))
    assert "cannot be put together here" in capfd.readouterr().err


def test_a_result_counts_when_it_is_whole_and_of_the_same(tmp_path):
    store = Store(tmp_path)

    def write(key):
        with store.part("walk") as part:
            part.write_bytes(b"motion")
            store.commit("walk", key, part, {"finished": True})

    assert store.find("walk", "a") is None
    write("a")
    assert store.find("walk", "a") == {"finished": True}
    assert store.find("walk", "b") is None
    store.result("walk").write_bytes(b"mot")
    assert store.find("walk", "a") is None
    write("b")
    assert store.find("walk", "b") == {"finished": True}
    record = tmp_path / HIDDEN / "records" / "walk.json"
    record.write_text(record.read_text()[:-9])
    assert store.find("walk", "b") is None
    write("b")
    store.result("walk").unlink()
    assert store.find("walk", "b") is None


def test_what_fails_leaves_nothing_and_old_results_stay(tmp_path):
    store = Store(tmp_path)
    with store.part("walk") as part:
        part.write_bytes(b"motion")
        store.commit("walk", "a", part, {})
    outcome = StoredJob(WritesHalf(), store)(ClipTask("walk", tmp_path, "b"))
    assert outcome.problem == "ZeroDivisionError: half way"
    assert store.find("walk", "a") == {}
    assert store.result("walk").read_bytes() == b"motion"
    assert list((tmp_path / HIDDEN / "parts").iterdir()) == []


def test_one_batch_at_a_time_writes_into_a_folder(tmp_path):
    left = tmp_path / HIDDEN / "parts" / "left.npz"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")
    with Store(tmp_path).hold():
        assert not left.exists()
        with (
            pytest.raises(BatchError, match="another batch is writing into"),
            Store(tmp_path).hold(),
        ):
            pass
    with Store(tmp_path).hold():
        pass


def test_clips_of_folders_patterns_and_files_have_names_of_their_own(tmp_path):
    for name in (
        "a/walk.npz",
        "a/deep/run.csv",
        "a/.hidden/walk.npz",
        "a/notes.txt",
        "a/old.joblib",
        "a/older.pickle",
        "b/walk.npz",
        "b/walk.csv",
        "c/jump.dat",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "a/bag").mkdir()
    (tmp_path / "a/bag/metadata.yaml").write_text("")
    (tmp_path / "a/bag/bag_0.mcap").write_text("")

    def names(*sources, results=None):
        return {
            clip.name: clip.path.relative_to(tmp_path).as_posix()
            for clip in find_clips([str(s) for s in sources], results=results)
        }

    a = {"bag": "a/bag", "walk": "a/walk.npz", "deep/run": "a/deep/run.csv"}
    a |= {"old": "a/old.joblib", "older": "a/older.pickle"}
    assert names(tmp_path / "a") == a
    assert names(tmp_path / "a", tmp_path / "a" / "walk.npz") == a
    assert names(tmp_path / "c/jump.dat") == {"jump": "c/jump.dat"}
    assert names(tmp_path / "*/walk.npz") == {"a/walk": "a/walk.npz", "b/walk": "b/walk.npz"}
    assert names(tmp_path / "a/walk.npz", tmp_path / "b/walk.npz") == {
        "a/walk": "a/walk.npz",
        "b/walk": "b/walk.npz",
    }
    assert names(tmp_path / "b") == {"walk.csv": "b/walk.csv", "walk.npz": "b/walk.npz"}
    assert names(tmp_path / "**/run.csv") == {"a/deep/run": "a/deep/run.csv"}
    with pytest.raises(ClipError, match="would be overwritten by its own result"):
        names(tmp_path / "a", results=tmp_path / "a")
    for source, problem in (
        ("none.npz", "no such file"),
        ("c", "holds no motion files"),
        ("*/none*", "matches no files"),
    ):
        with pytest.raises(ClipError, match=problem):
            names(tmp_path / source)
    store = Store(tmp_path / "a")
    with store.part("walk") as part:
        part.write_text("result")
        store.commit("walk", "", part, {})
    assert "walk" not in names(tmp_path / "a" / "*", results=store.folder)


def test_key_is_that_of_content_robot_and_settings(tmp_path):
    path = tmp_path / "walk.npz"
    path.write_bytes(b"a")
    job = build_job("human28")
    clips = find_clips([str(path)])

    def key(job):
        return build_tasks(clips, job.key)[0].key

    first = key(job)
    assert key(build_job("human28")) == first
    others = {
        key(build_job("human16")),
        key(replace(job, offline=True)),
        key(replace(job, settings=replace(job.settings, lookahead=0.7))),
    }
    path.write_bytes(b"b")
    assert len({first, key(job), *others}) == 5


def test_what_is_refused_at_the_door(tmp_path):
    tasks, job = write_clips(tmp_path / "clips", 2), Fake(tmp_path / "log")
    for wrong, problem in (
        (
            {"tasks": [tasks[0], replace(tasks[1], name=tasks[0].name)]},
            "more than one clip is called 'part0/clip0'",
        ),
        ({"jobs": -1}, "received -1"),
    ):
        with pytest.raises(BatchError, match=problem):
            run_batch(**{"job": job, "tasks": tasks} | wrong)
    for robot, error in (
        ("biped7", hd.errors.UnsupportedRobotError),
        ("nobody", hd.errors.SourceError),
    ):
        with pytest.raises(error):
            build_job(robot)
    with pytest.raises(hd.errors.UnknownNameError, match="no filter mode"):
        build_job("human28", mode="other")
    assert read_lines(tmp_path / "log") == []


def test_cluster_needs_its_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"humanoid_dynamics\[batch\]"):
        run_batch(
            Fake(tmp_path / "log"), write_clips(tmp_path / "clips", 1), cluster="tcp://127.0.0.1:1"
        )
