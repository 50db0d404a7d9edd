# SPDX-License-Identifier: Apache-2.0
"""The verb teleop, on poses that are written here."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import humanoid_dynamics as hd
from humanoid_dynamics.cli.app import build_app
from humanoid_dynamics.motion.formats.mapping import build_clip
from humanoid_dynamics.motion.formats.npz_file import read_npz

HAND = ("--frame", "right_hand", "--control-rate", "200")


def call(*arguments):
    return CliRunner().invoke(build_app(["teleop", "describe"]), ["teleop", *arguments])


@pytest.fixture
def hand(tmp_path):
    t = np.arange(0.0, 2.0, 0.01)
    place = np.array([3.0, -2.0, 1.0]) + np.column_stack(
        (0.1 * np.sin(2.0 * t), 0.0 * t, 0.1 - 0.1 * np.cos(2.0 * t))
    )
    path = tmp_path / "hand.npz"
    np.savez(
        path, times=t, hand_pos=place, hand_quat_xyzw=np.tile([0.0, 0.0, 0.0, 1.0], (len(t), 1))
    )
    return str(path)


def test_a_hand_is_followed_inside_all_limits(tmp_path, hand):
    out = tmp_path / "motion.npz"
    answer = call("human28", hand, *HAND, "--json", "--out", str(out))
    assert answer.exit_code == 0, answer.output
    facts = json.loads(answer.output)
    assert (facts["fell"], facts["in_limits"]) == (False, 1.0)
    assert facts["residual"] < 1e-8
    assert facts["frames"]["right_hand"]["rms"] < 0.02
    assert facts["frames"]["right_hand"]["followed"] > 0.5
    robot = hd.load_robot("human28")
    assert build_clip(read_npz(out), robot).duration == pytest.approx(2.0, abs=0.03)


def test_table_is_printed_and_losses_are_told(hand):
    answer = call("human28", hand, *HAND, "--latency", "0.05", "--loss", "0.9", "--seed", "3")
    assert answer.exit_code == 0, answer.output
    assert "stood" in answer.output
    assert "GAP" in answer.output


def test_distance_to_the_operator_is_told_beside_that_to_the_goal_in_reach(hand):
    """A motion eight times as large leaves the reach: the goal is met, the operator's own pose is not."""
    facts = json.loads(call("human28", hand, *HAND, "--scale", "8", "--json").output)["frames"][
        "right_hand"
    ]
    assert facts["statuses"]["OUT_OF_REACH"] > 100
    assert facts["rms"] < 0.05
    assert facts["rms_to_operator"] > 0.1
    assert facts["largest_to_operator"] >= facts["rms_to_operator"]
    near = json.loads(call("human28", hand, *HAND, "--json").output)["frames"]["right_hand"]
    assert near["rms_to_operator"] == pytest.approx(near["rms"], abs=1e-3)


@pytest.mark.parametrize("name", ["g1", "human28"])
def test_an_operator_who_begins_with_a_raised_hand_is_followed(tmp_path, name):
    """The hand of a robot at rest hangs: what goes down from there would be out of reach."""
    t = np.arange(0.0, 4.0, 0.01)
    place = np.column_stack((0.1 * np.sin(2.0 * t), 0.0 * t, -0.25 + 0.25 * np.cos(1.5 * t)))
    path = tmp_path / "hand.npz"
    np.savez(
        path, times=t, hand_pos=place, hand_quat_xyzw=np.tile([0.0, 0.0, 0.0, 1.0], (len(t), 1))
    )
    facts = json.loads(call(name, str(path), *HAND, "--json").output)
    assert (facts["in_limits"], facts["notices"]) == (1.0, [])
    assert facts["frames"]["right_hand"]["followed"] > 0.9
    assert facts["frames"]["right_hand"]["rms_to_operator"] < 0.02


def spoil(hand, tmp_path, **changes):
    """The recording with something done to its arrays."""
    with np.load(hand) as arrays:
        content = {name: np.array(array) for name, array in arrays.items()}
    for name, change in changes.items():
        content[name] = change(content[name])
    path = tmp_path / "spoilt.npz"
    np.savez(path, **content)
    return str(path)


def put(rows, value):
    def change(array):
        array[rows] = value
        return array

    return change


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"hand_pos": put([50, 51], np.nan)},
            "2 of 200 poses are lost and ignored, the first is row 50, column 'hand.x': received nan",
        ),
        (
            {"hand_pos": put(0, np.inf)},
            "1 of 200 poses are lost and ignored, the first is row 0, column 'hand.x': received inf",
        ),
        (
            {"hand_quat_xyzw": put(slice(60, 65), 0.0)},
            "5 of 200 poses are lost and ignored, the first is row 60, column 'hand.qx..hand.qw'",
        ),
        (
            {"times": put([20, 30], np.nan)},
            "2 of 200 poses are lost and ignored, the first is row 20, column 'time': received nan",
        ),
        (
            {"times": put([20, 30], 77.0)},
            "2 of 200 poses are lost and ignored, the first is row 20, column 'time': 77 s comes before 0.21 s",
        ),
        (
            {"times": put(20, 1e7)},
            "1 of 200 poses are lost and ignored, the first is row 20, column 'time': 10000000 s comes before 0.21 s",
        ),
        (
            {"times": put(21, 0.1)},
            "1 of 200 poses are lost and ignored, the first is row 21, column 'time': 0.1 s comes after 0.2 s",
        ),
    ],
)
def test_a_lost_row_is_a_lost_sample(hand, tmp_path, changes, said):
    answer = call("human28", spoil(hand, tmp_path, **changes), *HAND, "--json")
    assert answer.exit_code == 0, answer.output
    facts = json.loads(answer.output)
    (notice,) = facts["notices"]
    assert notice.startswith(f"hand: {said}")
    assert facts["in_limits"] == 1.0
    assert facts["frames"]["right_hand"]["rms_to_operator"] < 0.01


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"hand_pos": put(slice(None), np.nan)},
            "holds no pose of hand: row 0, column 'hand.x': received nan",
        ),
        ({"times": lambda times: 1e9 * times}, "column 'time': lasts 1.99e+09 s, more than a day"),
        (
            {"times": lambda times: 1e-6 * times},
            "200 poses of 1.99e-06 s, less than one tick of 0.005 s",
        ),
        (
            dict.fromkeys(("times", "hand_pos", "hand_quat_xyzw"), lambda array: array[:0]),
            "holds no pose of hand: it has 0 rows",
        ),
        (
            dict.fromkeys(("times", "hand_pos", "hand_quat_xyzw"), lambda array: array[:1]),
            "1 pose of 0 s, less than one tick of 0.005 s",
        ),
    ],
)
def test_recordings_without_poses_are_refused(hand, tmp_path, changes, said):
    answer = call("human28", spoil(hand, tmp_path, **changes), *HAND)
    assert isinstance(answer.exception, hd.ClipError), answer.output
    assert f"spoilt.npz: {said}" in str(answer.exception)


def test_two_rows_are_enough(hand, tmp_path):
    two = dict.fromkeys(("times", "hand_pos", "hand_quat_xyzw"), lambda array: array[:2])
    facts = json.loads(call("human28", spoil(hand, tmp_path, **two), *HAND, "--json").output)
    assert (facts["ticks"], facts["in_limits"], facts["frames"]["right_hand"]["rms"]) == (
        2,
        1.0,
        None,
    )


def test_poses_that_are_no_metres_are_told(hand, tmp_path):
    facts = json.loads(
        call(
            "human28", spoil(hand, tmp_path, hand_pos=lambda places: 1e3 * places), *HAND, "--json"
        ).output
    )
    assert facts["in_limits"] == 1.0
    assert any(
        "of 200 poses jump and are ignored; positions are in metres" in notice
        for notice in facts["notices"]
    )
    far = json.loads(
        call(
            "human28", spoil(hand, tmp_path, hand_pos=lambda places: places + 5e6), *HAND, "--json"
        ).output
    )
    assert (far["notices"], far["frames"]["right_hand"]["rms_to_operator"] < 0.01) == ([], True)


def test_hands_of_which_one_is_lost_at_first_keep_their_instants(hand, tmp_path):
    """The left hand does what the right one does, and its first half second is lost."""
    with np.load(hand) as arrays:
        places, turns, times = arrays["hand_pos"], arrays["hand_quat_xyzw"], arrays["times"]
    path = tmp_path / "both.npz"
    late = np.where(times[:, None] < 0.5, np.nan, places)
    np.savez(
        path,
        times=times,
        right_pos=places,
        right_quat_xyzw=turns,
        left_pos=late,
        left_quat_xyzw=turns,
    )
    frames = (
        "--frame",
        "right=right_hand",
        "--frame",
        "left=left_hand",
        "--control-rate",
        "200",
        "--json",
    )
    facts = json.loads(call("human28", str(path), *frames).output)
    assert facts["frames"]["left_hand"]["statuses"]["WAITING"] == pytest.approx(100, abs=2)
    assert facts["ticks"] == pytest.approx(398, abs=1)


def test_poses_with_times_in_milliseconds_are_told(hand, tmp_path):
    few = {name: lambda array: array[:5] for name in ("hand_pos", "hand_quat_xyzw")}
    path = spoil(hand, tmp_path, times=lambda times: 3e2 * times[:5], **few)
    facts = json.loads(
        call("human28", path, "--frame", "right_hand", "--control-rate", "10", "--json").output
    )
    assert (
        "hand: samples are 3 s apart; if the file holds milliseconds, write seconds"
        in facts["notices"]
    )


def test_holes_are_told_with_their_row_in_the_file(hand, tmp_path):
    path = spoil(hand, tmp_path, hand_pos=put([10, 11, *range(100, 160)], np.nan))
    (_, hole) = json.loads(call("human28", path, *HAND, "--json").output)["notices"]
    assert hole == "hand: gap of 0.61 s after row 99"


def test_a_frame_is_led_once(hand, tmp_path):
    with np.load(hand) as arrays:
        places, turns, times = arrays["hand_pos"], arrays["hand_quat_xyzw"], arrays["times"]
    path = tmp_path / "both.npz"
    np.savez(
        path,
        times=times,
        right_pos=places,
        right_quat_xyzw=turns,
        left_pos=places,
        left_quat_xyzw=turns,
    )
    answer = call("human28", str(path), "--frame", "right=right_hand", "--frame", "left=right_hand")
    assert (
        str(answer.exception)
        == "--frame: 'left=right_hand', but right_hand is led by right already"
    )


def test_scale_that_is_enough_is_told(hand):
    facts = json.loads(call("human28", hand, *HAND, "--scale", "8", "--json").output)
    (notice,) = facts["notices"]
    assert "right_hand is led farther than its limb reaches: --scale" in notice
    scale = notice.split("--scale ")[1].split()[0]
    enough = json.loads(call("human28", hand, *HAND, "--scale", scale, "--json").output)
    assert "OUT_OF_REACH" not in enough["frames"]["right_hand"]["statuses"]


def test_what_leads_is_told_where_nobody_said_it(hand):
    facts = json.loads(call("human28", hand, "--control-rate", "200", "--json").output)
    assert list(facts["frames"]) == ["right_hand"]
    assert facts["notices"] == ["right_hand follows the poses of 'hand'; --frame selects others"]


def test_a_file_that_is_not_there_is_told(tmp_path):
    answer = call("human28", str(tmp_path / "absent.npz"))
    assert str(answer.exception).endswith("absent.npz: no such file")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("--frame", "foot=right_hand"), "NAME out of hand"),
        (
            ("--frame", "nowhere"),
            "--frame: expected NAME=FRAME: no control point, surface, link or alias named 'nowhere'",
        ),
        (("--control-rate", "1"), "--control-rate"),
        (("--loss", "1"), "line"),
        (("--out", "motion.csv"), "--out"),
    ],
)
def test_what_is_refused(hand, wrong, said):
    answer = call("human28", hand, *wrong)
    assert answer.exit_code != 0
    assert isinstance(answer.exception, hd.errors.HumanoidDynamicsError), answer.output
    assert said in str(answer.exception)
