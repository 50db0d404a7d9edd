# SPDX-License-Identifier: Apache-2.0
"""The command that lets a robot walk by velocity commands."""

import json

import numpy as np
import pytest

from humanoid_dynamics.cli import main


@pytest.fixture
def call(monkeypatch, capsys):
    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["humanoid-dynamics", "walk", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        return code, *capsys.readouterr()

    return call


def test_a_script_of_commands_is_walked_and_written(call, tmp_path):
    """Forward, backward and turning; the report counts steps and judges every frame, the file holds the motion."""
    script, out = tmp_path / "commands.csv", tmp_path / "walk.npz"
    script.write_text(
        "time,forward,sideways,turning\n0,0.3,0,0\n2.5,0.2,0,0.3\n4,-0.2,0.1,0\n", encoding="utf-8"
    )
    code, text, err = call("g1", "--script", script, "--duration", 6, "--out", out, "--json")
    assert code == 0, err
    report = json.loads(text)
    assert report["finished"]
    assert report["all_limits"] == 1.0
    assert report["steps"] > 8
    assert max(report["velocity_rms"]) < 0.1
    with np.load(out) as found:
        assert found["q"].shape[0] == round(9.0 * 200) if "q" in found else len(found.files) > 3


def test_the_table_names_the_measures(call):
    """Without --json a table is printed."""
    code, text, _ = call("human28", "--velocity", "-0.2,0,0", "--duration", 1)
    assert code == 0
    assert "velocity RMS forward, sideways" in text
    assert "finished" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--velocity", "fast"), "expected three finite numbers"),
        (("--velocity", "0.3,nan,0"), "expected three finite numbers"),
        (("--duration", "0"), "expected more than 0 s"),
        (("--script", "missing.csv"), "expected a CSV table"),
        (("--out", "walk.txt"), "expected the path of a .npz"),
    ],
)
def test_arguments_that_cannot_be_used_are_refused(call, arguments, message):
    """The message states what came and what was expected."""
    code, _, err = call("g1", *arguments)
    assert code == 2
    assert message in " ".join(err.split())
