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
