# SPDX-License-Identifier: Apache-2.0
"""``humanoid-dynamics mobility`` as a user meets it."""

import json
import re
import sys
from pathlib import Path

import pytest

from humanoid_dynamics.cli import main
from humanoid_dynamics.model.load import load_robot

ROBOTS = Path(__file__).parents[2] / "../shared/data/robots"
CLOSURE = """
loops:
  tip: {kind: spherical, a: {link: left_shank}, b: {link: right_shank, xyz: [0, 0, 5]}}
motors: [left_knee]
"""


@pytest.fixture
def call(monkeypatch, capsys):
    """Run the command in this process; return exit code, stdout and stderr."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["humanoid-dynamics", "mobility", *map(str, arguments)])
        for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name, raising=False)
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        return code, *capsys.readouterr()

    return call


def test_table(call):
    code, out, err = call("stewart")
    assert (code, err) == (0, "")
    assert "stewart  21 freedoms of the tree - rank 15 = mobility 6" in out
    assert re.search(r"leg1_ball +spherical +3 +3 +\d\.\de-1\d m", out)
    assert "15 of 15 rows count" in out
    assert "generalized coordinates  6\n  leg0_length, leg1_length" in out
    assert (
        "motors drive 6 of 6 freedoms; internal forces: 0 of the motors, 0 of the constraints"
        in out
    )
    assert "status  OK" in out


@pytest.mark.parametrize(
    "name", ["fourbar", "two_arms_bar", "human28", "snake5", "highbar", "swing"]
)
def test_json(call, name):
    code, out, err = call(name, "--json")
    told = json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    robot = load_robot(name)
    assert (code, err) == (0, "")
    assert told["freedoms"] - told["rank"] == told["mobility"] == len(told["generalized"])
    assert {*told["generalized"], *told["dependent"]} == set(robot.coordinates)
    assert [block["name"] for block in told["constraints"]][: len(robot.loops)] == [
        loop.name for loop in robot.loops
    ]
    assert told["status"] in {"OK", "RANK_DEFICIENT"}


def test_loops_from_a_file(call, tmp_path):
    path = tmp_path / "loops.yaml"
    path.write_text(CLOSURE)
    told = json.loads(call("legs12", "--loops", path, "--json")[1])
    assert (told["freedoms"], told["rank"], told["motors"]) == (18, 3, ["left_knee"])
    assert told["status"] == "INCONSISTENT_INPUT"
    assert "not met" in told["reasons"][0]
    assert "generalized" in call("legs12", "--loops", path)[1]


def test_loops_of_a_robot_are_kept_beside_those_of_the_file(call, tmp_path):
    path = tmp_path / "loops.yaml"
    path.write_text("loops:\n  weld: {kind: fixed, a: {link: crank}, b: {link: crank}}\n")
    told = json.loads(call("fourbar", "--loops", path, "--json")[1])
    assert [(block["name"], block["rows"]) for block in told["constraints"]] == [
        ("rocker_tip", 5),
        ("weld", 0),
    ]
    assert (told["mobility"], told["motors"]) == (1, ["crank_joint"])


@pytest.mark.parametrize(
    ("name", "counts"),
    [("digit_like_2legs", (54, 36, 18, 12, 12)), ("cassie_like", (25, 12, 13, 7, 5))],
)
def test_files_of_example_parallel_robots(call, tmp_path, name, counts):
    urdf, loops = ROBOTS / f"{name}.urdf", ROBOTS / f"{name}.yaml"
    if not urdf.is_file():
        pytest.skip(f"{name}.urdf of example-parallel-robots is not beside the project")
    alone = tmp_path / "alone.urdf"
    alone.write_text(urdf.read_text())
    told = json.loads(call(alone, "--loops", loops, "--json")[1])
    assert (
        told["freedoms"],
        told["rank"],
        told["mobility"],
        told["internal_mobility"],
        told["actuation_rank"],
    ) == counts
    assert told["closure"] < 1e-9


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("stewart", "--loops", "/nowhere/loops.yaml"), "no loop file /nowhere/loops.yaml"),
        (("stuart",), "Did you mean 'stewart'?"),
    ],
)
def test_refusals(call, arguments, text):
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert text in err


def test_a_file_that_names_what_is_not_there(call, tmp_path):
    path = tmp_path / "loops.yaml"
    path.write_text("loops:\n  tip: {kind: fixed, a: {link: crank}, b: {link: beak}}\n")
    code, _, err = call("fourbar", "--loops", path)
    assert code == 2
    assert str(path) in err
    assert "beak" in err
