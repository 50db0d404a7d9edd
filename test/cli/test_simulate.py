# SPDX-License-Identifier: Apache-2.0
"""The verbs simulate and audit as a user meets them."""

import json
import sys

import numpy as np
import pytest

from humanoid_dynamics.cli import main
from humanoid_dynamics.simulation.audit.motions import Finding

WALL = """figures:
  human: {robot: human28, points: body, xyz: [0, 0, 1.3], rpy: [0, 1.57, 0]}
terrain:
  - plane: {}
  - box: {size: [0.06, 3, 0.6], xyz: [-0.2, 0, 0.3]}
seconds: 0.45
"""


@pytest.fixture
def call(monkeypatch, capsys):
    """Run the command in this process; return exit code, stdout and stderr."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["humanoid-dynamics", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        return code, *capsys.readouterr()

    return call


def test_simulate_tells_what_happened_and_records_it(call, tmp_path):
    code, out, err = call("simulate", "sliding_box", "--json", "--record", tmp_path / "run.npz")
    assert (code, err) == (0, "")
    facts = json.loads(out)
    assert facts["centre_of_mass"][0] == pytest.approx(0.5097, abs=1e-4)
    assert facts["statuses"] == {"OK": 1000}
    assert facts["energy"]["work"]["contacts"] == pytest.approx(-8.0, abs=1e-3)
    assert abs(facts["energy"]["missing"]) < 1e-6
    assert 0.0 < facts["complementarity"] < 1e-9
    assert facts["passed"]
    figures = {check["name"]: check for check in facts["checks"]}
    assert all(
        check["figure"] <= check["allowed"] and check["passed"] for check in figures.values()
    )
    assert set(figures) >= {"complementarity", "closure", "penetration", "energy error"}
    assert figures["penetration"]["figure"] == facts["depth"]
    with np.load(tmp_path / "run.npz") as record:
        assert record["q"].shape == (1001, 7)
        assert record["t"][-1] == pytest.approx(1.0)


def test_simulate_for_people(call):
    code, out, err = call("simulate", "standing", "--duration", "0.05")
    assert (code, err) == (0, "")
    for words in (
        "times real time",
        "freedoms",
        "energy error",
        "weight 637.6 N",
        "sha256",
        "the run: pass",
        "penetration",
    ):
        assert words in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("standin",), "Did you mean 'standing'"),
        (("standing", "--duration", "0"), "--duration"),
        (("standing", "--duration", "nan"), "--duration"),
        (("standing", "--duration", "0.0004"), "no step"),
        (
            ("standing", "--record", "run.csv"),
            "ends in '.csv', expected a numpy archive (.npz), an MCAP file (.mcap)",
        ),
    ],
)
def test_simulate_refuses_with_a_sentence(call, arguments, said):
    code, out, err = call("simulate", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert said in err


def test_scene_file_with_a_typo(call, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("objects: {a: {mas: 2, ball: 0.1}}\n")
    code, _, err = call("simulate", path)
    assert code == 2
    assert "objects.a.mas" in err
    path.write_text("objects: [unclosed\n")
    assert call("simulate", path)[0] == 2


def test_audit_passes(call):
    code, out, err = call("audit")
    assert (code, err) == (0, "")
    assert "FAIL" not in out
    assert out.count("pass") > 20
    assert "way fallen [m]" in out


def test_audit_fails_where_a_number_is_wrong(call, monkeypatch):
    monkeypatch.setattr(
        "humanoid_dynamics.simulation.audit.motions.run_audit",
        lambda watch: (Finding("x", "way [m]", np.float64(1.1), np.float64(1.0)),),
    )
    code, out, _ = call("audit", "--json")
    assert code == 1
    assert json.loads(out)["passed"] is False


STACK = """
objects: {a: {mass: 5, box: [1, 1, 1], xyz: [0, 0, 0.5]}, b: {mass: 5, box: [0.8, 0.8, 1], xyz: [0, 0, 1.5]}}
terrain: [{plane: {}}]
seconds: 0.3
"""
KICKED = """
objects: {crate: {mass: 5, box: [1, 1, 1], xyz: [0, 0, 0.5]}}
terrain: [{plane: {}}]
events: [{at: 0.01, push: {link: body, force: [1.0e+18, 0, 0], duration: 0.1}}]
seconds: 0.1
"""


def test_a_run_that_stops_is_told_with_finite_numbers(call, tmp_path):
    path = tmp_path / "scene.yaml"
    path.write_text(KICKED)
    code, out, err = call("simulate", path, "--json")
    facts = json.loads(out)
    assert (code, err) == (1, "")
    assert not facts["passed"]
    assert facts["statuses"] == {"OK": 10, "STOPPED": 1}
    assert facts["seconds"] == 0.01
    assert "ran away" in facts["reason"]
    assert 0.0 < facts["depth"] < 1e-3
    assert facts["energy"]["work"]["pushes"] == 0.0
    assert np.abs(facts["ground_force"]).max() < 1e4


def test_a_check_that_fails_is_said_and_changes_the_exit_code(call, tmp_path):
    """A scene may state its own limit with its reason; here one that nothing keeps."""
    path = tmp_path / "scene.yaml"
    path.write_text(STACK + "tolerated: {penetration: {limit: 0, why: Nothing may sink here.}}")
    code, out, err = call("simulate", path)
    assert (code, err) == (1, "")
    words = " ".join(out.split())
    assert "FAIL: penetration is" in words
    assert "penetration: Nothing may sink here." in words
    assert "stopped" not in words.replace("steps that stopped", "")


def test_a_figure_that_went_into_a_wall_is_told_and_fails_the_run(call, tmp_path):
    """It falls flat across the wall, which is thinner than its shapes are long: points on both sides, none meets it."""
    path = tmp_path / "scene.yaml"
    path.write_text(WALL)
    code, out, _ = call("simulate", path, "--json")
    facts = json.loads(out)
    assert code == 1
    assert [check["name"] for check in facts["checks"] if not check["passed"]] == [
        "inside boxes and bodies"
    ]
    assert facts["depth"] < 1e-3
    assert 0.01 < facts["inside"]["depth"] <= 0.03
    assert "went in past an edge and was let pass" in facts["warnings"][0]


def test_ground_force_is_what_stands_still(call, tmp_path):
    path = tmp_path / "stack.yaml"
    path.write_text(STACK)
    facts = json.loads(call("simulate", path, "--json")[1])
    assert facts["ground_force"][2] == pytest.approx(98.1, rel=1e-6)
    assert facts["seconds"] == 0.3


HINGED = """
objects: {a: {ball: 0.1, xyz: [0, 0, 1]}}
connections: {pin: {kind: spherical, here: true, a: {link: body}, b: {link: world, xyz: [0, 0, 1]}}}
seconds: 0.01
"""


@pytest.mark.parametrize(
    ("scene", "said"),
    [
        ("objects: {crate: {box: [1, 1, 0]}}", "objects.crate.box[2]"),
        (
            "objects: {a: {ball: 0.1}}\nterrain: [{box: {size: [1, 1, 0], xyz: [0, 0, 0]}}]",
            "terrain[0].box.size[2]",
        ),
        (
            "objects: {a: {ball: 0.1}}\ntolerated: {depth: {limit: 1, why: so}}",
            "tolerated.depth: is unknown",
        ),
        ("objects: {a: {ball: 0.1}}\ntolerated: {closure: {limit: 1}}", "tolerated.closure.why"),
        ("figures: {human: {robot: human82}}", "figures.human.robot"),
        (
            "objects: {a: {ball: 0.1, mass: .inf}}",
            "objects.a.mass: received inf, expected a finite number of at least 1e-09",
        ),
        ("objects: {a: {ball: 0.1}, a: {ball: 0.2}}", "key 'a' comes twice"),
        (
            HINGED + "events: [{at: 1, cut: pin}, {at: 0.5, connect: pin}]",
            "events[1].connect: 'pin' is closed already",
        ),
        (
            HINGED + "events: [{at: 1, cut: pin}, {at: 2, cut: pin}]",
            "events[1].cut: 'pin' is open already",
        ),
    ],
)
def test_scene_errors_say_where(call, tmp_path, scene, said):
    path = tmp_path / "mine.yaml"
    path.write_text(scene)
    code, out, err = call("simulate", path)
    assert (code, out) == (2, "")
    words = " ".join(err.split())
    assert said in words
    assert "mine.yaml" in words


def test_numbers_with_a_bare_exponent(call, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(HINGED + "dt: 1e-3\nevents: [{at: 5e-3, cut: pin}, {at: 5e-3, connect: pin}]\n")
    code, out, err = call("simulate", path, "--json")
    assert (code, err) == (0, "")
    assert [phase["t"] for phase in json.loads(out)["phases"]] == [0.0, 0.005]
