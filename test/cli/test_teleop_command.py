"""The verb teleop, on poses that are written here."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import humanoid_dynamics as hd
from humanoid_dynamics.cli.app import build_app
from humanoid_dynamics.motion.formats.mapping import build_clip
from humanoid_dynamics.motion.formats.npz_file import read_npz

HAND = ("--frame", "right_hand", "--rate", "200")


def call(*arguments):
    return CliRunner().invoke(build_app(["teleop", "describe"]), ["teleop", *arguments])


@pytest.fixture
def hand(tmp_path):
    t = np.arange(0.0, 2.0, 0.01)
    place = np.array([3.0, -2.0, 1.0]) + np.column_stack((0.1 * np.sin(2.0 * t), 0.0 * t, 0.1 - 0.1 * np.cos(2.0 * t)))
    path = tmp_path / "hand.npz"
    np.savez(path, times=t, hand_pos=place, hand_quat_xyzw=np.tile([0.0, 0.0, 0.0, 1.0], (len(t), 1)))
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
    assert "gap" in answer.output


def test_distance_to_the_operator_is_told_beside_that_to_the_goal_in_reach(hand):
    """A motion eight times as large leaves the reach: the goal is met, the operator's own pose is not."""
    facts = json.loads(call("human28", hand, *HAND, "--scale", "8", "--json").output)["frames"]["right_hand"]
    assert facts["statuses"]["out_of_reach"] > 100
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
    np.savez(path, times=t, hand_pos=place, hand_quat_xyzw=np.tile([0.0, 0.0, 0.0, 1.0], (len(t), 1)))
    facts = json.loads(call(name, str(path), *HAND, "--json").output)
    assert (facts["in_limits"], facts["notices"]) == (1.0, [])
    assert facts["frames"]["right_hand"]["followed"] > 0.9
    assert facts["frames"]["right_hand"]["rms_to_operator"] < 0.02


def test_scale_that_is_enough_is_told(hand):
    facts = json.loads(call("human28", hand, *HAND, "--scale", "8", "--json").output)
    (notice,) = facts["notices"]
    assert "right_hand is led farther than its limb reaches: --scale" in notice
    scale = notice.split("--scale ")[1].split()[0]
    enough = json.loads(call("human28", hand, *HAND, "--scale", scale, "--json").output)
    assert "out_of_reach" not in enough["frames"]["right_hand"]["statuses"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("--frame", "foot=right_hand"), "NAME out of hand"),
        (("--frame", "nowhere"), "nowhere"),
        (("--rate", "1"), "--rate"),
        (("--loss", "1"), "line"),
        (("--out", "motion.csv"), "--out"),
    ],
)
def test_what_is_refused(hand, wrong, said):
    answer = call("human28", hand, *wrong)
    assert answer.exit_code != 0
    assert isinstance(answer.exception, hd.errors.HumanoidDynamicsError), answer.output
    assert said in str(answer.exception)
