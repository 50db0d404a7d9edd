# SPDX-License-Identifier: Apache-2.0
"""The verb filter, on a motion that is written here."""

import json

import numpy as np
import pinocchio as pin
import pytest
from typer.testing import CliRunner

import humanoid_dynamics as hd
from humanoid_dynamics.cli.app import build_app
from humanoid_dynamics.cli.filter_table import HEADS, compare, figures
from humanoid_dynamics.filtering.batches.clips import find_clips
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.filtering.slope import GroundSlope, normal_of
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.formats.mapping import build_clip, build_recording
from humanoid_dynamics.motion.formats.npz_file import read_npz, write_npz


def write_standing(path):
    robot = hd.load_robot("human28")
    times = np.arange(0.0, 0.5, 1.0 / 30.0)
    write_npz(build_recording(Clip(robot, times, np.tile(robot.posture, (len(times), 1)))), path)
    return robot


def call(*arguments):
    return CliRunner().invoke(build_app(["filter", "describe"]), ["filter", *arguments])


def test_clip_is_filtered_written_and_reported(tmp_path):
    robot = write_standing(tmp_path / "stand.npz")
    report = tmp_path / "out" / "report.json"  # in the folder that --out makes
    answer = call(
        "human28",
        str(tmp_path / "stand.npz"),
        "--out",
        str(tmp_path / "out"),
        "--report",
        str(report),
        "--json",
    )
    assert answer.exit_code == 0, answer.output
    facts = json.loads(report.read_text(encoding="utf-8"))
    one = facts["clips"][0]
    assert one["after"]["finished"]
    assert one["after"]["all_limits"] == 1.0
    assert one["false_alarms"]["impossible"] == 0.0
    written = build_clip(read_npz(tmp_path / "out" / "stand.npz"), robot)
    assert written.duration > 2.0


def test_file_is_told_where_the_robot_falls_too(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "humanoid_dynamics.filtering.batches.table.name_state", lambda outcome: "fell"
    )
    write_standing(tmp_path / "stand.npz")
    answer = call("human28", str(tmp_path / "stand.npz"), "--out", str(tmp_path / "out"))
    assert answer.exit_code == 1
    assert "wrote " in answer.output
    assert "humanoid-dynamics view" in answer.output


@pytest.mark.parametrize("way", [(), ("--overwrite",)])
def test_clip_that_is_not_followed_is_rejected(tmp_path, way):
    """In one process and as a batch: exit status 1, and no file of the normal name, not even one of an earlier run."""
    robot = hd.load_robot("human28")
    times = np.arange(0.0, 2.0, 1.0 / 30.0)
    q = np.tile(robot.posture, (len(times), 1))
    for row, angle in enumerate(1.2 * np.clip(3.0 * np.sin(np.pi * times / times[-1]), 0.0, 1.0)):
        q[row, 3:7] = pin.Quaternion(pin.utils.rotate("x", angle)).coeffs()
    write_npz(build_recording(Clip(robot, times, q)), tmp_path / "wheel.npz")
    out = tmp_path / "out"
    out.mkdir()
    (out / "wheel.npz").write_bytes(b"of an earlier run")
    answer = call("human28", str(tmp_path / "wheel.npz"), "--out", str(out), "--json", *way)
    assert answer.exit_code == 1, answer.output
    one = json.loads(answer.output[answer.output.index("{") :])["clips"][0]
    assert one["state"] in {"not_followed", "fell"}
    assert one["preserved"] is False
    assert {"finished", "followed"} <= set(one["after"]["broken"])
    assert [path.name for path in sorted(out.glob("*.npz"))] == ["wheel.rejected.npz"]
    with np.load(out / "wheel.rejected.npz") as written:
        assert not written["finished"]
    if way:  # what is rejected is remembered, and is no clip of a later batch
        again = call(
            "human28", str(tmp_path / "wheel.npz"), "--out", str(out), "--json", "--jobs", "2"
        )
        assert json.loads(again.stdout)["clips"][0]["done_before"]
        assert find_clips([str(tmp_path)], results=out)[0].name == "wheel"
        assert len(find_clips([str(tmp_path)], results=out)) == 1


def test_clip_nothing_comes_of_names_file_row_and_reason(tmp_path):
    robot = hd.load_robot("human28")
    times, q = np.arange(0.0, 0.5, 1.0 / 30.0), np.tile(robot.posture, (15, 1))
    q[:, 3:7] = 1.0, 0.0, 0.0, 0.0  # w first
    write_npz(build_recording(Clip(robot, times, q)), tmp_path / "w_first.npz")
    answer = call("human28", str(tmp_path / "w_first.npz"))
    assert answer.exit_code != 0
    assert "w_first.npz: row 0: LEANING: the base leans" in str(answer.exception)


def test_delay_in_the_report_is_no_less_than_that_of_the_stream(tmp_path):
    write_standing(tmp_path / "stand.npz")
    facts = json.loads(
        call("human28", str(tmp_path / "stand.npz"), "--lookahead", "0.3", "--json").output
    )
    assert facts["delay"] == pytest.approx(0.37 + 2.0 / 30.0)


def test_one_tick_of_look_ahead_is_the_shortest(tmp_path):
    write_standing(tmp_path / "stand.npz")
    facts = json.loads(
        call(
            "human28", str(tmp_path / "stand.npz"), "--lookahead", f"{Settings().dt}", "--json"
        ).output
    )
    assert facts["counts"]["preserved"] == 1
    refused = call(
        "human28", str(tmp_path / "stand.npz"), "--lookahead", f"{0.9 * Settings().dt}"
    ).exception
    assert isinstance(refused, hd.errors.HumanoidDynamicsError)
    assert "--lookahead: received 0.0045, expected 0.005 s" in str(refused)


def write_slope(path, slope):
    robot = hd.load_robot("human28")
    times = np.arange(0.0, 0.3, 1.0 / 30.0)
    q = GroundSlope(robot, normal_of(slope)).to_world(robot.posture)
    write_npz(build_recording(Clip(robot, times, np.tile(q, (len(times), 1)))), path)
    return robot, q


def test_slope_is_told(tmp_path):
    """What stands aslant on level ground stands still on a slope, in one process, as a batch, and in a picture."""
    robot, q = write_slope(tmp_path / "up.npz", 0.1)
    for way in ((), ("--overwrite",)):
        out = tmp_path / f"out{len(way)}"
        answer = call(
            "human28", str(tmp_path / "up.npz"), "--slope", "0.1", "--out", str(out), "--json", *way
        )
        assert answer.exit_code == 0, answer.output
        facts = json.loads(answer.output[answer.output.index("{") :])
        assert facts["normal"] == pytest.approx([-np.sin(0.1), 0.0, np.cos(0.1)])
        assert facts["clips"][0]["before"]["impossible"] == 0.0
        assert facts["clips"][0]["after"]["all_limits"] == 1.0
        written = build_clip(read_npz(out / "up.npz"), robot).q
        np.testing.assert_allclose(written, np.tile(q, (len(written), 1)), atol=1e-6)
    level = call(
        "human28", str(tmp_path / "up.npz"), "--json"
    )  # control: nobody said that the ground is aslant
    assert (
        json.loads(level.output[level.output.index("{") :])["clips"][0]["after"]["joint_rms"] > 0.01
    )


@pytest.mark.parametrize("columns", ["", "60", "80"])
def test_table_is_printed_whole(tmp_path, monkeypatch, columns):
    """On a terminal that is too narrow lines break, and no figure loses its end."""
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns:
        monkeypatch.setenv("COLUMNS", columns)
    write_standing(tmp_path / "stand.npz")
    answer = call("human28", str(tmp_path / "stand.npz"))
    assert answer.exit_code == 0, answer.output
    assert "yes" in answer.output
    assert "100.0 %" in answer.output
    assert "0 %, false alarms" in answer.output


ASLANT = (
    ("--slope", "1.2"),
    ("--slope", "nan"),
    ("--slope", "0.1", "--uphill", "7"),
    ("--uphill", "1"),
)


def test_what_is_refused(tmp_path):
    write_standing(tmp_path / "stand.npz")
    for wrong in (
        ("--lookahead", "0"),
        ("--mode", "other"),
        ("--out", str(tmp_path / "stand.npz")),
        ("--out", "/proc/none"),
        *ASLANT,
    ):
        answer = call("human28", str(tmp_path / "stand.npz"), *wrong)
        assert answer.exit_code != 0
        assert isinstance(answer.exception, hd.errors.HumanoidDynamicsError), wrong


def test_pictures_are_drawn(tmp_path):
    image = pytest.importorskip("PIL.Image", reason="matplotlib is not installed")
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    write_standing(tmp_path / "stand.npz")
    picture, film = tmp_path / "stand.png", tmp_path / "stand.gif"
    answer = call(
        "human28", str(tmp_path / "stand.npz"), "--picture", str(picture), "--film", str(film)
    )
    assert answer.exit_code == 0, answer.output
    assert answer.output.count("wrote ") == 2
    with image.open(picture) as drawn, image.open(film) as moving:
        assert min(drawn.size) > 400
        assert moving.n_frames > 20
    wrong = call("human28", str(tmp_path / "stand.npz"), "--picture", str(tmp_path / "stand.jpg"))
    assert "expected the path of a .png file" in str(wrong.exception)
    wrong = call(
        "human28", str(tmp_path / "stand.npz"), "--film", str(tmp_path / "no" / "stand.gif")
    )
    assert "no such folder" in str(wrong.exception)


def test_one_clip_is_compared_before_and_after_with_every_margin():
    score = {"impossible": 0.5, "outside": 0.4, "slippery": 0.1, "pulled": 0.0, "joint_excess": 0.2}
    after = {
        **dict.fromkeys(("all_limits", "worst_friction"), 1.0),
        "stride": None,
        "headline": "preserved (nominal run only)",
        "measures": None,
        **dict.fromkeys(
            ("joint_rms", "joint_max", "com_rms", "base_max", "slip", "microseconds", "residual"),
            0.01,
        ),
        "finished": True,
        "cop_margin": 0.001,
        "worst_torque": None,
        "joint_margin": None,
        "rungs": {"all": 7},
    }
    facts = {
        "before": score,
        "false_alarms": dict.fromkeys(score, 0.0),
        "after": after,
        "attempt": "as it is",
    }
    table = {row[0].strip(): row[1:] for row in compare(facts)}
    assert table["preserved"] == ("", "preserved (nominal run only)")
    assert table["finished"] == ("", "yes")
    assert table["joints, least margin"] == ("-0.200 rad or m", "not judged")
    assert table["centre of pressure, least margin"] == ("", "1 mm")
    assert table["torque, most used"] == ("", "not judged")
    assert table["rungs of the ladder"] == ("", "all 7")
    assert len(figures(facts)) == len(HEADS) - 1
