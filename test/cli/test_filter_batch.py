# SPDX-License-Identifier: Apache-2.0
"""The verb filter on many clips: stopped from the keyboard half way, and gone on."""

import csv
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Event

import numpy as np
import pinocchio as pin
import pytest
from typer.testing import CliRunner

import humanoid_dynamics as hd
from humanoid_dynamics.cli.app import build_app
from humanoid_dynamics.filtering.batches.store import Store
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.formats.mapping import build_clip, build_recording
from humanoid_dynamics.motion.formats.npz_file import read_npz, write_npz
from humanoid_dynamics.motion.gait import plan_walk
from humanoid_dynamics.motion.walking.footsteps import WalkStyle


def call(*arguments):
    return CliRunner().invoke(build_app(["filter", "describe"]), ["filter", *map(str, arguments)])


def squat(robot, depth, seconds):
    """Bend the knees and straighten them, feet on the ground."""
    times = np.arange(0.0, seconds, 1.0 / 30.0)
    q = np.tile(robot.posture, (len(times), 1))
    bend = depth * np.sin(np.pi * times / times[-1]) ** 2
    for side in ("left", "right"):
        for joint, share in (("hip_pitch", -1.0), ("knee", 2.0), ("ankle_pitch", -1.0)):
            q[:, robot.joint(f"{side}_{joint}").q] += share * bend[:, None]
    sole, data = robot.surfaces["left_foot"].frame, robot.data()
    for row in q:
        pin.framesForwardKinematics(robot.model, data, row)
        row[2] -= data.oMf[sole].translation[2]
    return Clip(robot, times, q)


@pytest.fixture(scope="module")
def clips(tmp_path_factory):
    """Four motions of a second or two, a broken file, and a motion with a joint that nobody has."""
    folder, robot = tmp_path_factory.mktemp("batch") / "clips", hd.load_robot("human28")
    walk = plan_walk(robot, WalkStyle(steps=1, rate=50)).clip
    rows = walk.times <= 2.0
    motions = {
        "squat": squat(robot, 0.1, 1.0),
        "deep/squat": squat(robot, 0.2, 1.5),
        "walk": walk.change(times=walk.times[rows], q=walk.q[rows], v=None, a=None, contacts={}),
        "stand": Clip(robot, np.arange(30) / 30.0, np.tile(robot.posture, (30, 1))),
    }
    for name, motion in motions.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_npz(build_recording(motion), folder / f"{name}.npz")
    (folder / "broken.npz").write_bytes(b"PK\x03\x04 and no more")
    arrays = dict(np.load(folder / "stand.npz"))
    arrays["joint_names"] = np.array(["tail", *arrays["joint_names"][1:]])
    np.savez(folder / "tailed.npz", **arrays)
    return folder


def living(group):
    """Return the processes of a group that run."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, number = entry.read_text().rpartition(")")[2].split()[:3]
            if int(number) == group and state != "Z":
                found.append(entry.parent.name)
    return found


def stop_half_way(command, records):
    """Start a command, press Ctrl-C when the first record is there, and return how it ended."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(
            filter(None, (str(hd.__path__[0] + "/.."), os.environ.get("PYTHONPATH")))
        ),
    }
    running = subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    for _ in range(12000):
        if running.poll() is not None or list(records.glob("*.json")):
            break
        Event().wait(0.005)
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=60)
    for _ in range(500):
        if not living(running.pid):
            return running.returncode, out, err
        Event().wait(0.01)
    raise AssertionError(f"these are left: {living(running.pid)}")


def test_a_batch_that_is_stopped_goes_on_where_it_was(clips, tmp_path):
    out, table = tmp_path / "out", tmp_path / "table.csv"
    arguments = ["human28", str(clips), "--jobs", "2", "--out", str(out)]
    code, said, err = stop_half_way(
        [sys.executable, "-m", "humanoid_dynamics", "filter", *arguments],
        out / ".batch" / "records",
    )
    assert (code, said) == (130, ""), err
    assert err.startswith("stopped: ")
    assert err.endswith("of 6 clips were done; the same command without --overwrite continues\n")
    assert err.count("\n") == 1
    done = [
        name for name in ("deep/squat", "squat", "stand", "walk") if Store(out).remembers(name)
    ]  # the last thing written of a clip
    kept = {path: path.stat().st_mtime_ns for path in (Store(out).result(name) for name in done)}
    assert kept
    answer = call("human28", clips, "--out", out, "--report", table, "--json")
    assert answer.exit_code == 2, answer.output
    facts = json.loads(answer.stdout)
    assert facts["counts"] == {
        "preserved": 4,
        "finished": 0,
        "not_followed": 0,
        "fell": 0,
        "failed": 2,
        "done_before": len(kept),
    }
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    told = {one["name"]: one for one in facts["clips"]}
    assert set(told) == {"broken", "deep/squat", "squat", "stand", "tailed", "walk"}
    assert "cannot be read as a numpy archive" in told["broken"]["problem"]
    assert "has no joints for the columns tail" in told["tailed"]["problem"]
    robot = hd.load_robot("human28")
    for name in ("deep/squat", "squat", "stand", "walk"):
        assert told[name]["after"]["all_limits"] == 1.0
        assert (
            len(build_clip(read_npz(out / f"{name}.npz"), robot)) == told[name]["after"]["frames"]
        )
    with table.open(newline="") as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    assert {name: row["state"] for name, row in rows.items()} == {
        name: one["state"] for name, one in told.items()
    }
    assert float(rows["walk"]["joint_rms"]) == told["walk"]["after"]["joint_rms"]
    assert rows["tailed"]["problem"] == told["tailed"]["problem"]
    # The good ones once more: nothing is left to do, so no worker is started.
    again = call("human28", clips / "s*.npz", clips / "walk.npz", "--out", out)
    assert again.exit_code == 0, again.output
    assert "3 preserved; 3 were done before" in again.output


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("human28", "nowhere"), "nowhere: no such file or folder"),
        (
            ("human28", "CLIPS", "--report", "nowhere/table.csv"),
            "--report: no such folder: 'nowhere'",
        ),
        (("human28", "CLIPS", "--out", "CLIPS"), "would be overwritten by its own result"),
        (("biped7", "CLIPS"), "requires a floating base"),
    ],
)
def test_what_is_refused_at_the_door(clips, arguments, problem):
    answer = call(*(str(clips) if argument == "CLIPS" else argument for argument in arguments))
    assert isinstance(answer.exception, hd.errors.HumanoidDynamicsError)
    assert problem in str(answer.exception)
    assert not (clips / ".batch").exists()
