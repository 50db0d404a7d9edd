# SPDX-License-Identifier: Apache-2.0
"""The commands that make a walk and that examine a clip."""

import json
import pickle

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.cli import main
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.load import load_clip
from humanoid_dynamics.motion.save import save_clip


@pytest.fixture
def call(monkeypatch, capsys):
    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["humanoid-dynamics", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        return code, *capsys.readouterr()

    return call


@pytest.mark.parametrize("suffix", ["csv", pytest.param("npz", marks=pytest.mark.slow)])
def test_gait_writes_a_reference_that_check_finds_possible(call, tmp_path, suffix):
    path = tmp_path / f"walk.{suffix}"
    code, out, err = call(
        "gait", "human28", "--steps", 2, "--turn", 0.2, "--sample-rate", 50, "--out", path, "--json"
    )
    assert (code, err) == (0, "")
    facts = json.loads(out)
    assert facts["turn"] == pytest.approx(0.2)
    assert facts["zmp_inside"] == 1.0
    assert [phase["name"] for phase in facts["phases"]][1:4] == [
        "single support",
        "double support 1",
        "single support",
    ]
    robot = hd.load_robot("human28")
    clip = load_clip(path, robot)
    assert clip.a is not None
    assert set(clip.contacts) == {"left_foot", "right_foot"}
    assert len(clip) == facts["frames"]
    code, out, err = call("check", "human28", path, "--no-control", "--json")
    assert (code, err) == (0, "")
    report = json.loads(out)
    assert report["impossible"] == 0.0
    assert report["false_alarms"] is None


@pytest.mark.parametrize(
    "option", ["--speed", "--stop", "--heading", "--turn-time", "--turn-duration", "--blend"]
)
@pytest.mark.parametrize("value", ["nan", "inf"])
def test_a_number_that_is_none_is_refused(call, option, value):
    code, _, err = call("gait", "human28", option, value)
    assert code != 0
    assert f"{option}: received {value}" in err


def test_speed_is_that_of_the_steps(call):
    code, out, _ = call("gait", "human28", "--steps", 3, "--speed", 0.1, "--sample-rate", 50)
    assert code == 0
    assert "single support" in out
    assert "zero-moment point inside the feet in 100.0 %" in out


def test_check_tells_what_is_wrong_in_words(call, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    robot = hd.load_robot("human28")
    times = np.arange(100) / 50.0
    q = np.tile(robot.posture, (100, 1))
    q[40:60, 2] -= 0.1
    path = tmp_path / "sunk.npz"
    from humanoid_dynamics.motion.formats.mapping import build_recording
    from humanoid_dynamics.motion.formats.npz_file import write_npz

    write_npz(build_recording(Clip(robot, times, q)), path)
    code, out, err = call("check", "human28", path)
    assert (code, err) == (0, "")
    assert "left_foot is 0.100 m in the ground" in out
    assert "false alarms on possible motion: walk 0.0 %" in out
    assert "this clip filtered" not in out
    code, out, err = call("check", "human28", path, "--filtered-control")
    assert (code, err) == (0, "")
    assert "this clip filtered" in out
    assert "false alarms, at most" in out
    (row,) = (line for line in out.splitlines() if line.startswith("a foot is in the ground"))
    assert row.endswith(" 0.0 %")


def test_check_tells_how_far_it_is_while_it_filters(call, tmp_path, monkeypatch):
    from humanoid_dynamics.cli.progress import ProgressBar
    from humanoid_dynamics.filtering import matched_control
    from humanoid_dynamics.motion.formats.mapping import build_recording
    from humanoid_dynamics.motion.formats.npz_file import write_npz

    robot, told, filtered = hd.load_robot("human28"), [], []
    write_npz(
        build_recording(Clip(robot, np.arange(30) / 30.0, np.tile(robot.posture, (30, 1)))),
        tmp_path / "still.npz",
    )
    make = matched_control.make_matched_control

    def watched(*arguments):
        made = make(*arguments)
        filtered.extend(told)
        return made

    monkeypatch.setattr(ProgressBar, "tell", lambda bar, share: told.append(share))
    monkeypatch.setattr(matched_control, "make_matched_control", watched)
    assert call("check", "human28", tmp_path / "still.npz", "--filtered-control", "--json")[0] == 0
    assert 0.5 < max(filtered) < 1.0
    assert told == sorted(told)
    assert told[-1] > 0.9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("gait", "human28", "--out", "walk.txt"),
            "--out: received 'walk.txt', expected the path of a .npz, .csv or .mcap file",
        ),
        (("gait", "human28", "--steps", "0"), "steps: received 0, expected a whole number"),
        (
            (
                "gait",
                "human28",
                "--steps",
                "1",
                "--sample-rate",
                "50",
                "--heading",
                "1",
                "--turn-time",
                "90",
            ),
            "--turn-time: received 90 s, expected 0 to",
        ),
        (("gait", "biped7"), "walking on two feet"),
        (("check", "human28", "nowhere.npz"), "nowhere.npz: no such file"),
        (("check", "nowhere.npz", "human28"), "nowhere.npz: no such file"),
        (("check", "human28", __file__, "--cutoff", "0"), "--cutoff: received 0"),
    ],
)
def test_nonsense_is_refused(call, arguments, message):
    code, out, err = call(*arguments)
    assert code == 2
    assert out == ""
    assert message in err


def test_walk_stops_turns_and_goes_over_into_another(call, tmp_path):
    first, both = tmp_path / "first.npz", tmp_path / "both.npz"
    code, out, err = call(
        "gait",
        "human28",
        "--steps",
        1,
        "--sample-rate",
        50,
        "--stop",
        1.5,
        "--out",
        first,
        "--json",
    )
    assert (code, err) == (0, "")
    alone = json.loads(out)
    stand = alone["phases"][-1]
    assert stand["to"] - stand["from"] == pytest.approx(1.5, abs=0.05)
    arguments = (
        "--steps",
        1,
        "--sample-rate",
        50,
        "--heading",
        0.5,
        "--turn-time",
        0.5,
        "--turn-duration",
        0.8,
        "--append",
        first,
        "--blend",
        0.4,
    )
    code, out, err = call("gait", "human28", *arguments, "--out", both, "--json")
    assert (code, err) == (0, "")
    robot = hd.load_robot("human28")
    one, joined = load_clip(first, robot), load_clip(both, robot)
    assert json.loads(out)["seconds"] == pytest.approx(joined.duration)
    assert joined.duration > one.duration + 1.0
    assert (
        np.abs(np.diff(joined.q[:, 7:], axis=0)).max() < 0.1
    )  # no jump where one goes over into the other
    turns = [2.0 * np.arctan2(row[5], row[6]) for row in (joined.q[0], joined.q[-1])]
    assert turns[1] - turns[0] == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("name", ["talos_reduced", "g1"])
def test_gait_of_robots_of_others(call, name):
    code, out, err = call("gait", name, "--steps", 2, "--sample-rate", 50, "--json")
    if "example-robot-data" in err:
        pytest.skip(err)
    assert (code, err) == (0, "")
    facts = json.loads(out)
    assert facts["zmp_inside"] == 1.0
    assert facts["way"] > 0.1


def test_check_takes_the_map_that_its_refusal_asks_for(call, tmp_path):
    robot = hd.load_robot("human28")
    table, joints = tmp_path / "named.csv", tmp_path / "map.yaml"
    times = np.arange(30) / 50.0
    from humanoid_dynamics.motion.formats.csv_file import write_csv
    from humanoid_dynamics.motion.formats.mapping import build_recording

    write_csv(build_recording(Clip(robot, times, np.tile(robot.posture, (30, 1)))), table)
    head, _, rest = table.read_text().partition("\n")
    table.write_text(
        head
        + ",room_temperature\n"
        + "\n".join(f"{line},20.0" for line in rest.splitlines())
        + "\n"
    )
    refused = call("check", "human28", table, "--no-control")
    assert refused[0] != 0
    assert "room_temperature" in refused[2]
    assert "--joint-map" in refused[2]
    joints.write_text("ignore: [room_temperature]\n")
    assert call("check", "human28", table, "--no-control", "--joint-map", joints)[0] == 0


def test_one_motion_of_a_library_is_checked(call, tmp_path):
    robot = hd.load_robot("human28")
    library, path = {}, tmp_path / "library.pkl"
    for name, n in (("short", 20), ("long", 40)):
        stand = Clip(robot, np.arange(n) / 30.0, np.tile(robot.posture, (n, 1)))
        save_clip(stand, path.with_stem(name), "motion_lib")
        library |= pickle.loads(path.with_stem(name).read_bytes())
    path.write_bytes(pickle.dumps(library))
    code, _, err = call("check", "human28", path)
    assert code != 0
    assert "(--motion): 'short', 'long'" in err
    code, out, _ = call("check", "human28", path, "--motion", "long", "--no-control", "--json")
    assert (code, json.loads(out)["frames"]) == (0, 40)
